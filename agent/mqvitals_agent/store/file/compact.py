"""Gives the space of deleted rows back to the disk: the whole file of a store is written anew."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mqvitals_agent.store.error import StoreError, StoreErrorKind, store_error
from mqvitals_agent.store.file.database import explained
from mqvitals_agent.store.file.long_work import LongWork
from mqvitals_agent.store.file.page_counts import pages_of
from mqvitals_agent.store.file.schema import open_as_it_is, refuse_foreign_objects
from mqvitals_agent.store.file.store_file import WriterLock
from mqvitals_agent.text.figure import size

_UNUSED_LAYOUTS: Final = (
    "DELETE FROM chunk_layout WHERE id NOT IN (SELECT layout FROM chunk) AND id < (SELECT max(id) FROM chunk_layout)"
)
"""Here, where all of the store is read anyway; the newest stays, so that no number is given twice."""


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes of a store's file, of its free pages, and of what ``compact`` needs in each folder beside what is there."""

    file: int
    free: int
    needed: dict[Path, int]


def room_of(path: Path) -> Room:
    """What it takes to compact the store at ``path``. Raises StoreError."""
    with closing(open_as_it_is(path)) as connection, explained(path, "reading"):
        pages = pages_of(connection)
    # SQLite makes the new file among its temporary ones, then writes all of it into the log, beside the store.
    needed = {path.parent: pages.used}
    temporary = temporary_folder()
    if temporary.stat().st_dev == path.parent.stat().st_dev:
        needed[path.parent] += pages.used
    else:
        needed[temporary] = pages.used
    return Room(pages.count * pages.size, pages.free * pages.size, needed)


def temporary_folder() -> Path:
    """Where SQLite makes temporary files, as its documentation has it."""
    named = [os.environ.get(name, "") for name in ("SQLITE_TMPDIR", "TMPDIR")]
    for each in (*named, "/var/tmp", "/usr/tmp", "/tmp"):  # noqa: S108 - it is SQLite that writes there
        if each and Path(each).is_dir() and os.access(each, os.W_OK | os.X_OK):
            return Path(each)
    return Path.cwd()


def compact(
    path: Path,
    work: LongWork | None = None,
    *,
    free_on: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
) -> tuple[int, int]:
    """Write the store at ``path`` anew, without free pages and layouts that no chunk has; returns the bytes of the file before and after.

    ``free_on`` gives the free bytes of the disk of a folder. Readers may go on; the file shrinks once the last one of the state
    before has ended. A process that dies meanwhile leaves the store as it was. Raises StoreError: another process writes
    it, there is no room, it is no store or damaged.
    """
    work = work or LongWork()
    open_as_it_is(path).close()
    lock = WriterLock(path)
    try:
        room = room_of(path)
        for folder, needed in room.needed.items():
            if free_on(folder) < needed:
                raise StoreError(
                    f"compacting the store {path} needs {size(needed)} free in {folder}, where {size(free_on(folder))} are",
                    "free some space there; nothing was changed",
                    StoreErrorKind.FULL,
                )
        work.begin("compacting")
        with closing(open_as_it_is(path, writing=True)) as connection:
            try:
                with work.on(connection):
                    refuse_foreign_objects(path, connection)
                    connection.execute(_UNUSED_LAYOUTS)
                    connection.execute("VACUUM")
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
                    raise StoreError(
                        f"the disk is full: the store {path} is as it was", "free some space", StoreErrorKind.FULL
                    ) from error
                raise store_error(path, error, "writing") from error
        return room.file, path.stat().st_size
    finally:
        lock.release()
