"""Which group of the operating system the store belongs to, so that others of it may watch."""

from __future__ import annotations

import grp
import os
from pathlib import Path

from mqvitals_agent.store.error import StoreError


def give_to_group(path: Path, group: str) -> None:
    """Give the store and SQLite's two files beside it to ``group``. Raises StoreError for a group we cannot give it to.

    SQLite passes the store's group on to its own files only when it runs as root; a reader needs them all.
    """
    try:
        number = grp.getgrnam(group).gr_gid
    except KeyError:
        raise StoreError(f"there is no group {group} on this system", "name another one in store.group") from None
    for file in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        try:
            if file.stat().st_gid != number:
                os.chown(file, -1, number)
        except FileNotFoundError:
            continue  # SQLite makes its files when it needs them
        except OSError as error:
            raise StoreError(
                f"{file} cannot be given to the group {group} ({error.strerror})",
                "run as a member of that group, or take store.group out of the settings",
            ) from None
