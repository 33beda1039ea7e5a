"""Opening files that somebody else names: only regular files, and never one that could make the program wait or act."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY

_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class NotRegularError(OSError):
    """The path names a pipe, device or socket; ``strerror`` says which."""

    def __init__(self, kind: str) -> None:
        super().__init__(None, f"it is {kind}, not a regular file")


def open_regular(path: str | os.PathLike[str]) -> int:
    """A descriptor for reading the regular file at ``path``, to be closed by the caller.

    Anything else is refused before it is opened: to open a device may do something, to open a pipe may wait for ever.
    Raises OSError: NotRegularError, IsADirectoryError, and what the operating system says; ValueError for a NUL in the path.
    """
    _refuse(Path(path).stat().st_mode, path)
    descriptor = os.open(path, _FLAGS)
    try:
        # Another file may have taken its place meanwhile.
        _refuse(os.fstat(descriptor).st_mode, path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def read_regular(path: str | os.PathLike[str], limit: int) -> bytes:
    """The first ``limit`` bytes of the regular file at ``path``; raises as ``open_regular``, and OSError when reading fails."""
    with os.fdopen(open_regular(path), "rb") as file:
        return file.read(limit)


def _refuse(mode: int, path: str | os.PathLike[str]) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        # As an attempt to read it would say.
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise NotRegularError(next((kind for test, kind in _KINDS if test(mode)), "something else"))
