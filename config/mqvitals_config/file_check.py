"""What the settings name outside of their file: secrets, folders, a group, keys. Looked at for ``mqvitals config check``."""

from __future__ import annotations

import grp
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from mqvitals_config.load import place_of
from mqvitals_config.problem import Place, Problem
from mqvitals_config.secret import Secret, SecretError
from mqvitals_config.settings import Settings
from mqvitals_config.walk import walk
from mqvitals_config.web_address import WebAddress, checked_address

_KEY_REPOSITORY_ENDS = ("", ".kdb", ".p12", ".pfx")
"""The MQ client takes the path with or without the end of its file."""


class _Finding(NamedTuple):
    """What is wrong with what the setting ``key`` names."""

    key: str
    message: str
    warning: bool = False


class FileCheck(NamedTuple):
    """``problems`` keep the agent from working as it is configured; ``warnings`` may be meant so."""

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def check_files(settings: Settings, origins: Mapping[str, str]) -> FileCheck:
    """Look at every file, folder and group that ``settings`` name, as the user who runs this process.

    ``origins`` are those of ``load_settings``; they say where a setting stands. Nothing is written, and no secret's
    text goes into a message.
    """
    found = [
        (Problem(_place(finding.key, origins), finding.key, finding.message), finding.warning)
        for finding in (*_secrets(settings), *_store(settings), *_inputs(settings), *_connections(settings))
    ]
    return FileCheck(
        tuple(sorted(problem for problem, warning in found if not warning)),
        tuple(sorted(replace(problem, message=f"warning: {problem.message}") for problem, warning in found if warning)),
    )


def _place(key: str, origins: Mapping[str, str]) -> Place:
    """Where a setting stands: in a file, or what its origin says."""
    origin = origins.get(key, "")
    return place_of(origin) or Place(origin)


def _secrets(settings: Settings) -> Iterator[_Finding]:
    """Secrets that cannot be read, webhook addresses that are none, and files that every user of the machine can read."""
    for key, secret in walk(settings):
        if not isinstance(secret, Secret) or isinstance(secret, WebAddress):
            continue
        try:
            text = secret.reveal()
            if key.endswith("url_file"):
                checked_address(text)
        except SecretError as error:
            yield _Finding(key, str(error))
        except ValueError as error:
            yield _Finding(key, f"in {secret.origin}: {error}")
        path = Path(secret.origin.removeprefix("file "))
        with suppress(OSError):
            if path.is_absolute() and path.stat().st_mode & stat.S_IROTH:
                yield _Finding(key, f"every user can read {path}; take that right away: chmod o-r {path}", warning=True)


def _store(settings: Settings) -> Iterator[_Finding]:
    group = settings.store.group
    if group is not None and not _group_exists(group):
        yield _Finding("store.group", f"there is no group {group} on this machine")
    if settings.store.path is None:
        return
    path = Path(settings.store.path)
    if not path.parent.is_dir():
        message = f"the folder {path.parent} does not exist; make it, owned by the user who runs the agent"
    elif not os.access(path.parent, os.W_OK | os.X_OK):
        message = f"{_user()} cannot write into the folder {path.parent}; check as the user who runs the agent"
    elif path.exists() and not os.access(path, os.R_OK | os.W_OK):
        message = f"{_user()} cannot write {path}; check as the user who runs the agent"
    else:
        return
    yield _Finding("store.path", message)


def _inputs(settings: Settings) -> Iterator[_Finding]:
    """The folder of SMF data, and files of console lines."""
    if settings.smf.watch is not None:
        folder = Path(settings.smf.watch)
        if not folder.is_dir():
            yield _Finding("smf.watch", f"there is no folder {folder}; make it")
        elif not os.access(folder, os.R_OK | os.X_OK):
            yield _Finding("smf.watch", f"{_user()} cannot read the folder {folder}")
    for index, followed in enumerate(settings.console.follow):
        key, path = f"console.follow[{index}].path", Path(followed.path)
        if not path.exists():
            yield _Finding(key, "this file is not there yet; it is followed as soon as it is", warning=True)
        elif (why := _unreadable(path)) is not None:
            yield _Finding(key, why)


def _connections(settings: Settings) -> Iterator[_Finding]:
    """Key repositories and channel tables. What the MQ client makes of them it says itself: these are warnings."""
    for key, value in walk(settings):
        if value is None:
            continue
        if key.endswith("tls.key_repository"):
            if not any(Path(f"{value}{end}").exists() for end in _KEY_REPOSITORY_ENDS):
                yield _Finding(key, f"there is no key repository {value} (.kdb or .p12)", warning=True)
        elif key.endswith("ccdt_url") and str(value).startswith("file:///"):
            why = _unreadable(Path(str(value).removeprefix("file://")))
            if why is not None:
                yield _Finding(key, f"the client channel definition table {why}", warning=True)


def _unreadable(path: Path) -> str | None:
    """Why the file cannot be read as one; None when it can."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}"
    if not stat.S_ISREG(mode):
        return f"{path} is not a regular file"
    return None if os.access(path, os.R_OK) else f"{_user()} cannot read {path}"


def _user() -> str:
    return f"the user {os.environ.get('USER') or os.geteuid()}"


def _group_exists(name: str) -> bool:
    try:
        grp.getgrnam(name)
    except KeyError:
        return False
    return True
