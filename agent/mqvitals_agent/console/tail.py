"""A file that grows, is renamed, replaced, emptied or not there: read once from front to back, a piece at a time."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from mqvitals_config.source import open_regular

PIECE: Final = 65_536
"""Bytes that are read at once."""
_MARKED: Final = 256
_MOST_NEIGHBOURS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Position:
    """How far a file was read: ``offset`` bytes of the file with that ``inode``.

    ``mark`` is a digest of what stood at its beginning and just before ``offset``: another file of the same name, or one that
    was emptied and has grown again, has another one, and a copy of the same file has the same.
    """

    offset: int
    inode: int
    mark: str


@dataclass(frozen=True, slots=True)
class Piece:
    """What was read. ``anew``: it is the beginning of another file than what came before. ``caught_up``: that was all."""

    data: bytes
    anew: bool = False
    caught_up: bool = False


class Tail:
    """Follows the file at ``path``. Use it in one thread at a time; ``close`` it."""

    def __init__(self, path: Path, position: Position | None = None, *, from_start: bool = False) -> None:
        """Go on at ``position``; without one, at the file's end or ``from_start``. Once it has been missing, from its start."""
        self._path = path
        self._resume = position
        self._first = position is None and not from_start
        self._descriptor: int | None = None
        self._inode = 0
        self._offset = 0
        self._mark = ""
        self._leaving = False
        self._anew = False
        self.lost = False
        """Whether lines of a file that is no longer there may have been missed; whoever tells of it sets it back."""

    @property
    def position(self) -> Position | None:
        """How far it has been read; None when nothing has been opened yet."""
        if self._descriptor is None:
            return self._resume
        return Position(self._offset, self._inode, self._mark)

    def read(self) -> Piece:
        """The next piece, empty when there is nothing new.

        Raises OSError: FileNotFoundError when there is no such file, others when it cannot be read.
        """
        if self._descriptor is None:
            self._open()
        assert self._descriptor is not None
        data = self._next()
        if data:
            return Piece(data, self._begins(), caught_up=len(data) < PIECE)
        if not self._moved_on():
            return Piece(b"", caught_up=True)
        data = self._next()
        return Piece(data, self._begins(), caught_up=len(data) < PIECE)

    def close(self) -> None:
        """Let go of the file; a second call does nothing, and ``read`` opens it again."""
        if self._descriptor is not None:
            self._resume = self.position
            os.close(self._descriptor)
            self._descriptor = None

    def _begins(self) -> bool:
        anew, self._anew = self._anew, False
        return anew

    def _open(self) -> None:
        before, self._resume = self._resume, None
        try:
            descriptor = open_regular(self._path)
        except OSError:
            self._resume = before
            # What comes later was written while it was followed.
            self._first = False
            raise
        inode, size = _facts(descriptor)
        if before is None:
            self._take(descriptor, inode, _last_line(descriptor, size) if self._first else 0)
            self._first = False
        elif _is_at(descriptor, size, before):
            self._take(descriptor, inode, before.offset)
        else:
            self._anew = True
            left = self._renamed(before)
            if left is None:
                self.lost = True
                self._take(descriptor, inode, 0)
            else:
                # Its rest first; that there is another file at the path shows when it ends.
                os.close(descriptor)
                self._anew = False
                self._take(left, before.inode, before.offset)

    def _take(self, descriptor: int, inode: int, offset: int) -> None:
        old, self._descriptor = self._descriptor, descriptor
        self._inode, self._offset, self._leaving = inode, offset, False
        self._mark = _mark(descriptor, offset)
        if old is not None and old != descriptor:
            os.close(old)

    def _next(self) -> bytes:
        """What stands behind the offset. A file that was emptied meanwhile is read from its start."""
        assert self._descriptor is not None
        _, size = _facts(self._descriptor)
        if size < self._offset or _mark(self._descriptor, self._offset) != self._mark:
            self._restart(size)
        data = os.pread(self._descriptor, PIECE, self._offset)
        if data:
            self._offset += len(data)
            self._mark = _mark(self._descriptor, self._offset)
        return data

    def _restart(self, size: int) -> None:
        assert self._descriptor is not None
        begin = 0
        if size:
            # A writer that goes on where it was leaves a hole before it: nothing is written there.
            try:
                begin = os.lseek(self._descriptor, 0, os.SEEK_DATA)
            except OSError:
                begin = 0
        self._offset, self._anew = begin, True
        self._mark = _mark(self._descriptor, begin)

    def _moved_on(self) -> bool:
        """Whether another file is at the path now, and has been taken up; not before the old one has ended twice."""
        try:
            now = self._path.stat()
        except FileNotFoundError:
            return False
        if now.st_ino == self._inode:
            self._leaving = False
            return False
        if not self._leaving:
            # Who wrote into it may not have noticed yet that it was renamed.
            self._leaving = True
            return False
        position = self.position
        assert position is not None
        descriptor = open_regular(self._path)
        inode, size = _facts(descriptor)
        if _is_at(descriptor, size, position):
            # The same file once more, copied anew.
            self._take(descriptor, inode, position.offset)
        else:
            self._take(descriptor, inode, 0)
            self._anew = True
        return True

    def _renamed(self, before: Position) -> int | None:
        """The file that was read last, open, where it stands beside the path under another name."""
        try:
            with os.scandir(self._path.parent) as entries:
                for _, entry in zip(range(_MOST_NEIGHBOURS), entries, strict=False):
                    if entry.inode() != before.inode or not entry.is_file(follow_symlinks=False):
                        continue
                    descriptor = open_regular(Path(entry.path))
                    if _is_at(descriptor, _facts(descriptor)[1], before):
                        return descriptor
                    os.close(descriptor)
        except OSError:
            return None
        return None


def _facts(descriptor: int) -> tuple[int, int]:
    facts = os.fstat(descriptor)
    return facts.st_ino, facts.st_size


def _mark(descriptor: int, offset: int) -> str:
    digest = blake2b(digest_size=16)
    first = min(offset, _MARKED)
    digest.update(os.pread(descriptor, first, 0))
    digest.update(os.pread(descriptor, first, offset - first))
    return digest.hexdigest()


def _is_at(descriptor: int, size: int, position: Position) -> bool:
    return size >= position.offset and _mark(descriptor, position.offset) == position.mark


def _last_line(descriptor: int, size: int) -> int:
    """Where the line begins that the file ends in, or would begin next."""
    begin = max(size - PIECE, 0)
    found = os.pread(descriptor, size - begin, begin).rfind(b"\n")
    return size if found < 0 else begin + found + 1
