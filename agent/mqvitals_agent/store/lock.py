"""One writer a store: a lock on the file itself, and a note beside it that says who holds it.

The lock is ``flock`` on the store's inode, so it holds under every name of the file and does not depend on the note. It
does not meet SQLite's own locks, which are ``fcntl`` locks: those are lost when a process closes any descriptor of the file,
so the descriptor that holds our lock is closed after SQLite's connections, and whoever only wants to know whether a store is
being written looks at the note, never at the store.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path

from mqvitals_agent.store.error import StoreError, Trouble

_held: set[tuple[int, int]] = set()
"""Device and inode of the stores that this process writes: closing another descriptor of one would drop SQLite's locks."""

_NOTE_BYTES = 1024
"""The note is always this long: rewriting it needs no space, so it can also say that the disk is full."""


class WriterLock:
    """Held by the process that writes a store; the kernel releases it when the process ends, however it ends."""

    def __init__(self, store: Path) -> None:
        """Take the lock of the file ``store``, which must exist. Raises StoreError: another writer has it, no permission."""
        self.store = store
        self.path = store.with_name(store.name + ".lock")
        self._file = _locked(store)
        try:
            self._note = _open_note(self.path)
        except BaseException:
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
            # Where ours was deleted, a file of that name is the note of someone else.
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
                Trouble.GONE if isinstance(error, FileNotFoundError) else Trouble.PERMISSION,
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
        Trouble.LOCKED,
    )


def _open_note(path: Path) -> int:
    """A descriptor of the note, locked; -1 where something stands there that is not ours to write."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except OSError as error:
        if path.is_symlink() or path.exists():
            return -1
        raise StoreError(
            f"no permission for writing the store {path.with_suffix('')}: the file {path} cannot be made ({error.strerror})",
            "name a store in a folder that you may write to",
            Trouble.FULL if error.errno in {errno.ENOSPC, errno.EDQUOT} else Trouble.PERMISSION,
        ) from None
    with suppress(OSError):
        facts = os.fstat(file)
        # Another name of the same file would show our text in somebody's data.
        if stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(file, 0)
            return file
    os.close(file)
    return -1


def may_be_written(store: Path) -> bool:
    """Whether a process writes a store, as far as its note tells: also where it is nothing that we may look at."""
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
    """The process that holds the note's lock, and its trouble. Raises OSError when there is no note that may be read."""
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
