"""The file of a store: one writer at a time, and a file that was replaced, deleted or damaged.

The lock is ``flock`` on the store's inode, so it holds under every name of the file. It does not meet SQLite's own
locks, which are ``fcntl`` locks: those are lost when a process closes any descriptor of the file, so the descriptor
with the lock is closed after SQLite's connections, and a process that only asks whether a store has a writer reads
the note beside it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import stat
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from mqvitals_agent.store.error import UNDECODABLE, StoreError, StoreErrorKind, damaged_error, store_error
from mqvitals_agent.store.file.schema import APPLICATION_ID, connect_reader

_held: set[tuple[int, int]] = set()
"""Device and inode of the stores that this process writes: closing another descriptor of one would drop
SQLite's locks.
"""

_NOTE_BYTES = 1024
"""The note is always this long: rewriting it needs no space, so it can also say that the disk is full."""


class WriterLock:
    """Held by the process that writes a store; the kernel releases it when the process ends, however it ends."""

    def __init__(self, store: Path) -> None:
        """Take the lock of the file ``store``, which must exist.

        Raises StoreError: another writer has it, no permission.
        """
        self.store = store
        self.path = store.with_name(store.name + ".lock")
        self._file = _locked(store)
        try:
            self._note = _open_note(self.path)
        except BaseException:  # raised again; the descriptor has no other owner
            os.close(self._file)
            raise
        self.file = facts = os.fstat(self._file)
        """The file that is locked."""
        self._inode = facts.st_dev, facts.st_ino
        _held.add(self._inode)
        self.note("")

    @property
    def descriptor(self) -> int:
        """The open file of the store; read it with ``os.pread``, never close it."""
        return self._file

    def note(self, trouble: str) -> None:
        """Say in the note what keeps the writer from storing; empty: nothing does. Never fails."""
        if self._note >= 0:
            text = f"{os.getpid()}\n{' '.join(trouble.split())}".encode()[: _NOTE_BYTES - 1]
            with suppress(OSError):
                os.pwrite(self._note, text.ljust(_NOTE_BYTES - 1) + b"\n", 0)

    def release(self) -> None:
        """Release it; a second call does nothing. SQLite's connections to the store must be closed before."""
        if self._file < 0:
            return
        if self._note >= 0:
            # Where ours was deleted, a file of that name is another process's note.
            with suppress(OSError):
                if os.path.samestat(os.fstat(self._note), self.path.lstat()):
                    self.path.unlink()
            os.close(self._note)
        os.close(self._file)
        _held.discard(self._inode)
        self._file = self._note = -1


def _locked(store: Path) -> int:
    """A descriptor of the store that holds its lock."""
    while True:
        with suppress(OSError):
            facts = store.stat()
            if (facts.st_dev, facts.st_ino) in _held:
                raise _taken(store, str(os.getpid()))
        try:
            file = os.open(store, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError as error:
            raise StoreError(
                f"no permission for writing the store {store} ({error.strerror})",
                "the file and its folder must be accessible to you",
                StoreErrorKind.GONE if isinstance(error, FileNotFoundError) else StoreErrorKind.PERMISSION,
            ) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            raise _taken(store, writer_of(store) or "unknown") from None
        # The file may have been renamed or replaced between the two steps: then we hold the lock of another one.
        try:
            if os.path.samestat(os.fstat(file), store.stat()):
                return file
        except OSError:
            pass
        os.close(file)


def _taken(store: Path, holder: str) -> StoreError:
    return StoreError(
        f"process {holder} is writing the store {store}",
        "only one may: stop it first, or name another store",
        StoreErrorKind.LOCKED,
    )


def _open_note(path: Path) -> int:
    """A descriptor of the note, locked; -1 where a file that is not ours has its name."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except OSError as error:
        if path.is_symlink() or path.exists():
            return -1
        raise StoreError(
            f"no permission for writing the store {path.with_suffix('')}: the file {path} cannot be made ({error.strerror})",
            "name a store in a folder that you may write to",
            StoreErrorKind.FULL if error.errno in {errno.ENOSPC, errno.EDQUOT} else StoreErrorKind.PERMISSION,
        ) from None
    with suppress(OSError):
        facts = os.fstat(file)
        # Another name of the same file would put our text into other data.
        if stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(file, 0)
            return file
    os.close(file)
    return -1


def may_be_written(store: Path) -> bool:
    """Whether a process writes a store, as far as its note shows: also where we may not read it."""
    try:
        return _note_of(store) is not None
    except PermissionError:
        return True
    except OSError:
        return False


def writer_of(store: Path) -> str | None:
    """The number of the process that writes a store, as text; None when there is none, or none that we may know of."""
    try:
        lines = _note_of(store)
    except OSError:
        return None
    return None if lines is None else lines[0]


def trouble_of(store: Path) -> str:
    """What keeps the process that writes a store from storing, in its own words; empty: nothing that we may know of."""
    try:
        lines = _note_of(store)
    except OSError:
        return ""
    return "" if lines is None else lines[1]


def _note_of(store: Path) -> tuple[str, str] | None:
    """The process that holds the note's lock, and its trouble.

    Raises OSError when there is no note that may be read.
    """
    file = os.open(store.with_name(store.name + ".lock"), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            text = os.read(file, _NOTE_BYTES).decode("utf-8", "replace")
            holder, _, trouble = text.partition("\n")
            return holder.strip() or "unknown", trouble.strip()
    finally:
        os.close(file)
    return None


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
    """Looks before each transaction whether another process has changed the file that we write.

    ``lock`` is the writer's, whose descriptor reads the file.
    """

    def __init__(self, path: Path, lock: WriterLock) -> None:
        self._path = path
        self._log = _log(path)
        self._lock = lock
        self._file = lock.file
        self._header = _constant(os.pread(lock.descriptor, _HEADER_BYTES, 0))
        self._mark = self._look()

    def note(self) -> None:
        """Everything is as we have just written it."""
        self._mark = self._look()

    def check(self) -> None:
        """Raises StoreError when the file is no longer reached, there, the same or whole.

        Costs microseconds as a rule.
        """
        try:
            same = self.is_at(self._path.stat())
        except FileNotFoundError:
            if not self._path.parent.is_dir():
                raise StoreError(
                    f"the folder of the store {self._path} is not there any more",
                    "put it back",
                    StoreErrorKind.UNREACHABLE,
                ) from None
            raise StoreError(
                f"the store {self._path} has been deleted while it was written",
                "begin anew; what was in it is gone",
                StoreErrorKind.GONE,
            ) from None
        except OSError as error:
            raise StoreError(
                f"the store {self._path} cannot be reached any more ({error.strerror})",
                kind=StoreErrorKind.UNREACHABLE,
            ) from None
        if not same:
            raise StoreError(
                f"the store {self._path} has been replaced by another file while it was written",
                "begin anew, into a file of its own",
                StoreErrorKind.REPLACED,
            )
        if self.overwritten:
            raise damaged_error(self._path, "its beginning was overwritten")
        now, before = self._look(), self._mark
        log_is_less = before.log is not None and (
            now.log is None or now.log[0] != before.log[0] or now.log[1] < before.log[1]
        )
        if now.size < before.size or now.changed != before.changed or log_is_less:
            verify(self._path)
            self._mark = now

    @property
    def overwritten(self) -> bool:
        """Whether the first bytes are no longer those of our store: another process has written into the file."""
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
            return self._mark.log is not None and self._log.lstat().st_ino == self._mark.log[0]
        except OSError:
            return False

    def forget_log(self) -> None:
        """Keep SQLite from copying its log into a file that another process has overwritten. Never fails."""
        with suppress(OSError):
            os.truncate(self._log, 0)

    def _look(self) -> _Mark:
        facts = os.fstat(self._lock.descriptor)
        try:
            log = self._log.lstat()
        except OSError:
            return _Mark(facts.st_size, facts.st_mtime_ns, None)
        return _Mark(facts.st_size, facts.st_mtime_ns, (log.st_ino, log.st_size))


def verify(path: Path) -> None:
    """Raises StoreError when SQLite finds the file at ``path`` damaged, as far as a short look shows."""
    try:
        connection = connect_reader(path)
        try:
            ends = time.monotonic() + _LOOK_S
            connection.set_progress_handler(lambda: time.monotonic() > ends, _STEPS)
            found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(1)")]
        finally:
            connection.close()
    except (sqlite3.Error, *UNDECODABLE) as error:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
            return
        wrong = store_error(path, error, "reading")
        if wrong.kind in {StoreErrorKind.PERMISSION, StoreErrorKind.IO}:
            # Its log or the index of that is away: SQLite cannot say it better.
            raise damaged_error(path, str(error)) from error
        raise wrong from error
    if found != ["ok"]:
        raise damaged_error(path, found[0] if found else "no answer")


def set_aside(path: Path, now: int, watched: WatchedFile) -> Path | None:
    """Rename the store at ``path`` and what SQLite keeps beside it; returns the new name, None where nothing was there.

    ``watched`` is the file that we wrote; another one is only renamed when it is a store, too. ``now``, ms UTC, is
    part of the new name. SQLite's connections must be closed. Needs no space. Raises StoreError when it cannot be
    renamed or is not ours: then only our own log is.
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
            StoreErrorKind.PERMISSION,
        ) from None
    if foreign:
        raise StoreError(
            f"{path} is another file now, and no mqvitals store: it is left alone",
            "move it away, and the agent starts a new store",
            StoreErrorKind.REPLACED,
        )
    return None if facts is None else aside


def is_store(path: Path) -> bool:
    """Whether a file of ours, as far as its first bytes show, is at ``path``.

    Not for a file that SQLite has open here.
    """
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
