"""One writer a store: a lock file beside it, which says who holds it."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from mqvitals_agent.store.error import StoreError


class WriterLock:
    """Held by the process that writes a store; the kernel lets go of it when the process ends, however it ends."""

    def __init__(self, store: Path) -> None:
        """Take the lock of ``store``. Raises StoreError when another writer has it, or the folder cannot be written."""
        self.path = store.with_name(store.name + ".lock")
        self._file = -1
        while self._file < 0:
            self._file = self._take(store)
        os.ftruncate(self._file, 0)
        os.write(self._file, f"{os.getpid()}\n".encode())

    def _take(self, store: Path) -> int:
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(
                f"no permission for writing the store {store}: the lock {self.path} cannot be made ({error.strerror})",
                "name a store in a folder that you may write to",
            ) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(file, 32).decode("ascii", "replace").strip()
            os.close(file)
            raise StoreError(
                f"process {holder or 'unknown'} is writing the store {store}",
                "only one may: stop it first, or name another store",
            ) from None
        # The holder before us removes the file when it ends: what we have locked may no longer be the file that others
        # will see.
        try:
            mine = os.path.samestat(os.fstat(file), self.path.stat())
        except FileNotFoundError:
            mine = False
        if not mine:
            os.close(file)
            return -1
        return file

    def release(self) -> None:
        """Let go; a second call does nothing."""
        if self._file >= 0:
            # Where ours was deleted, a file of that name is the lock of someone else.
            with suppress(OSError):
                if os.path.samestat(os.fstat(self._file), self.path.stat()):
                    self.path.unlink()
            os.close(self._file)
            self._file = -1


def may_be_written(store: Path) -> bool:
    """Whether a process writes a store, as far as we can tell: also where its lock is nothing that we may look at."""
    try:
        return _holder(store) is not None
    except PermissionError:
        return True
    except OSError:
        return False


def writer_of(store: Path) -> str | None:
    """The number of the process that writes a store, as text; None when there is none, or none that we may know of."""
    try:
        return _holder(store)
    except OSError:
        return None


def _holder(store: Path) -> str | None:
    """The number of the process that has the lock. Raises OSError when there is no lock that may be looked at."""
    with store.with_name(store.name + ".lock").open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return file.read(32).decode("ascii", "replace").strip() or "unknown"
    return None
