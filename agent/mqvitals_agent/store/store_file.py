"""The file of a store as its writer watches it: still there, still the same, still whole; and how it is set aside."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from mqvitals_agent.store.error import UNDECODABLE, StoreError, Trouble, damaged, explained
from mqvitals_agent.store.lock import WriterLock
from mqvitals_agent.store.schema import APPLICATION_ID, connect_reader

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_STEPS = 20_000
_LOOK_S = 1.0
"""So long a file that looks strange is read to see whether it is whole; a large one is not read to its end."""


class _Mark(NamedTuple):
    """What the file and its log were like after our last transaction: sizes in bytes, times in ns, inode of the log."""

    size: int
    changed: int
    log: tuple[int, int] | None


class WatchedFile:
    """Looks before each transaction whether somebody else has touched the file that we write.

    ``lock`` is the writer's, whose descriptor reads the file.
    """

    def __init__(self, path: Path, lock: WriterLock) -> None:
        self._path = path
        self._lock = lock
        self._file = lock.file
        self._header = _constant(os.pread(lock.descriptor, _HEADER_BYTES, 0))
        self._mark = self._look()

    def note(self) -> None:
        """Everything is as we have just written it."""
        self._mark = self._look()

    def check(self) -> None:
        """Raises StoreError when the file is no longer reached, there, the same or whole. Costs microseconds as a rule."""
        try:
            same = self.is_at(self._path.stat())
        except FileNotFoundError:
            if not self._path.parent.is_dir():
                raise StoreError(
                    f"the folder of the store {self._path} is not there any more", "put it back", Trouble.UNREACHABLE
                ) from None
            raise StoreError(
                f"the store {self._path} has been deleted while it was written",
                "begin anew; what was in it is gone",
                Trouble.GONE,
            ) from None
        except OSError as error:
            raise StoreError(
                f"the store {self._path} cannot be reached any more ({error.strerror})", trouble=Trouble.UNREACHABLE
            ) from None
        if not same:
            raise StoreError(
                f"the store {self._path} has been replaced by another file while it was written",
                "begin anew, into a file of its own",
                Trouble.REPLACED,
            )
        if self.overwritten:
            raise damaged(self._path, "its beginning was overwritten")
        now, before = self._look(), self._mark
        log_is_less = before.log is not None and (
            now.log is None or now.log[0] != before.log[0] or now.log[1] < before.log[1]
        )
        if now.size < before.size or now.changed != before.changed or log_is_less:
            verify(self._path)
            self._mark = now

    @property
    def overwritten(self) -> bool:
        """Whether the first bytes are no longer those of our store: somebody else has written into the file."""
        try:
            return _constant(os.pread(self._lock.descriptor, _HEADER_BYTES, 0)) != self._header
        except OSError:
            return False

    def is_at(self, facts: os.stat_result) -> bool:
        """Whether these are the facts of the file that we write."""
        return os.path.samestat(facts, self._file)

    def has_log(self) -> bool:
        """Whether the log beside the store's name is the one that we write."""
        try:
            return self._mark.log is not None and _log(self._path).lstat().st_ino == self._mark.log[0]
        except OSError:
            return False

    def forget_log(self) -> None:
        """Keep SQLite from copying its log into a file that somebody else has written over. Never fails."""
        with suppress(OSError):
            os.truncate(_log(self._path), 0)

    def _look(self) -> _Mark:
        facts = os.fstat(self._lock.descriptor)
        try:
            log = _log(self._path).lstat()
        except OSError:
            return _Mark(facts.st_size, facts.st_mtime_ns, None)
        return _Mark(facts.st_size, facts.st_mtime_ns, (log.st_ino, log.st_size))


def verify(path: Path, limit_s: float = _LOOK_S) -> None:
    """Raises StoreError when SQLite finds the file at ``path`` damaged within so many seconds."""
    try:
        connection = connect_reader(path)
        try:
            ends = time.monotonic() + limit_s
            connection.set_progress_handler(lambda: time.monotonic() > ends, _STEPS)
            found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(1)")]
        finally:
            connection.close()
    except (sqlite3.Error, *UNDECODABLE) as error:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
            return
        wrong = explained(path, error, "reading")
        if wrong.trouble in {Trouble.PERMISSION, Trouble.IO}:
            # Its log or the index of that is away: SQLite cannot say it better.
            raise damaged(path, str(error)) from error
        raise wrong from error
    if found != ["ok"]:
        raise damaged(path, found[0] if found else "no answer")


def set_aside(path: Path, now: int, watched: WatchedFile) -> Path | None:
    """Rename the store at ``path`` and what SQLite keeps beside it; returns the new name, None where nothing was there.

    ``watched`` is the file that we wrote; another one is only renamed when it is a store, too. ``now``, ms UTC, is part of
    the new name. SQLite's connections must be closed. Needs no space. Raises StoreError when it cannot be renamed or is not
    ours: then only our own log is.
    """
    try:
        facts = path.lstat()
    except OSError:
        facts = None
    foreign = facts is not None and not watched.is_at(facts) and not is_store(path)
    at = datetime.fromtimestamp(now / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")
    aside = path.with_name(f"{path.name}.damaged-{at}")
    number = 1
    while aside.exists() or _log(aside).exists():
        number += 1
        aside = path.with_name(f"{path.name}.damaged-{at}-{number}")
    try:
        # A log that stayed would be taken for that of the next file of this name, and written into it.
        if not foreign or watched.has_log():
            with suppress(FileNotFoundError):
                _log(path).rename(_log(aside))
            path.with_name(path.name + "-shm").unlink(missing_ok=True)
        if facts is not None and not foreign:
            path.rename(aside)
    except OSError as error:
        raise StoreError(
            f"the store {path} cannot be renamed ({error.strerror})",
            "its folder must be writable for the agent; or move the file away",
            Trouble.PERMISSION,
        ) from None
    if foreign:
        raise StoreError(
            f"{path} is another file now, and no mqvitals store: it is left alone",
            "move it away, and the agent begins a new store",
            Trouble.REPLACED,
        )
    return None if facts is None else aside


def is_store(path: Path) -> bool:
    """Whether a file of ours, as far as its first bytes tell, is at ``path``. Not for a file that SQLite has open here."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            header = os.pread(file, _HEADER_BYTES, 0) if stat.S_ISREG(os.fstat(file).st_mode) else b""
        finally:
            os.close(file)
    except OSError:
        return False
    return header[:16] == _MAGIC and header[68:72] == APPLICATION_ID.to_bytes(4, "big")


def _constant(header: bytes) -> bytes:
    """What of a file's header never changes: the magic, the page size, that it has a log, and whose it is."""
    return header[:20] + header[68:72]


def _log(path: Path) -> Path:
    return path.with_name(path.name + "-wal")
