"""Reads a growing file through renaming, replacement and truncation, and splits it into lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from mqvitals_agent.pcf.codepage import codec
from mqvitals_config.decoding.source import open_regular

PIECE: Final = 65_536
"""Bytes that are read at a time."""
_MARKED: Final = 256
_MOST_NEIGHBOURS: Final = 10_000


@dataclass(frozen=True, slots=True)
class FilePosition:
    """How far a file was read: ``offset`` bytes of the file with that ``inode``.

    ``mark`` is a digest of what stood at its beginning and just before ``offset``: a copy of
    the file has the same one; another file of the same name, or one truncated and grown again, has another one.
    """

    offset: int
    inode: int
    mark: str


@dataclass(frozen=True, slots=True)
class FilePiece:
    """What was read. ``new_file``: another file begins here. ``caught_up``: the end was reached."""

    data: bytes
    new_file: bool = False
    caught_up: bool = False


class Tail:
    """Follows the file at ``path``. Use it in one thread at a time; ``close`` it."""

    def __init__(self, path: Path, position: FilePosition | None = None, *, from_start: bool = False) -> None:
        """Continue at ``position``; without one at the end, or ``from_start``.

        A file that was missing is read from its start.
        """
        self._path = path
        self._resume = position
        self._first = position is None and not from_start
        self._descriptor: int | None = None
        self._inode = 0
        self._offset = 0
        self._mark = ""
        self._leaving = False
        self._new_file = False
        self.lost = False
        """Whether lines of a file that is gone may be missing; the reader of this resets it."""

    @property
    def position(self) -> FilePosition | None:
        """How far the file was read; None before the first opening."""
        if self._descriptor is None:
            return self._resume
        return FilePosition(self._offset, self._inode, self._mark)

    def read(self) -> FilePiece:
        """The next piece, empty when there is nothing new.

        Raises OSError: FileNotFoundError when there is no such file, others when it cannot be read.
        """
        if self._descriptor is None:
            self._open()
        assert self._descriptor is not None
        data = self._next()
        if data:
            return FilePiece(data, self._begins(), caught_up=len(data) < PIECE)
        if not self._moved_on():
            return FilePiece(b"", caught_up=True)
        data = self._next()
        return FilePiece(data, self._begins(), caught_up=len(data) < PIECE)

    def close(self) -> None:
        """Close the file; a second call does nothing, and ``read`` opens it again."""
        if self._descriptor is not None:
            self._resume = self.position
            os.close(self._descriptor)
            self._descriptor = None

    def _begins(self) -> bool:
        new_file, self._new_file = self._new_file, False
        return new_file

    def _open(self) -> None:
        before, self._resume = self._resume, None
        try:
            descriptor = open_regular(self._path)
        except OSError:
            self._resume = before
            # What comes later is written while the file is followed.
            self._first = False
            raise
        inode, size = _facts(descriptor)
        if before is None:
            self._take(descriptor, inode, _last_line(descriptor, size) if self._first else 0)
            self._first = False
        elif _is_at(descriptor, size, before):
            self._take(descriptor, inode, before.offset)
        else:
            self._new_file = True
            left = self._renamed(before)
            if left is None:
                self.lost = True
                self._take(descriptor, inode, 0)
            else:
                # Read its rest first; the other file at the path is found when it ends.
                os.close(descriptor)
                self._new_file = False
                self._take(left, before.inode, before.offset)

    def _take(self, descriptor: int, inode: int, offset: int) -> None:
        old, self._descriptor = self._descriptor, descriptor
        self._inode, self._offset, self._leaving = inode, offset, False
        self._mark = _mark(descriptor, offset)
        if old is not None and old != descriptor:
            os.close(old)

    def _next(self) -> bytes:
        """The bytes after the offset. A file truncated meanwhile is read from its start."""
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
            # A writer that continues at its old offset leaves a hole, which holds nothing.
            try:
                begin = os.lseek(self._descriptor, 0, os.SEEK_DATA)
            except OSError:
                begin = 0
        self._offset, self._new_file = begin, True
        self._mark = _mark(self._descriptor, begin)

    def _moved_on(self) -> bool:
        """Whether another file is at the path now and is open; only after the old one ended twice."""
        try:
            now = self._path.stat()
        except FileNotFoundError:
            return False
        if now.st_ino == self._inode:
            self._leaving = False
            return False
        if not self._leaving:
            # The writer may not have noticed yet that the file was renamed.
            self._leaving = True
            return False
        position = self.position
        assert position is not None
        descriptor = open_regular(self._path)
        inode, size = _facts(descriptor)
        if _is_at(descriptor, size, position):
            # A new copy of the same file.
            self._take(descriptor, inode, position.offset)
        else:
            self._take(descriptor, inode, 0)
            self._new_file = True
        return True

    def _renamed(self, before: FilePosition) -> int | None:
        """The file that was read last, opened under another name in the same folder; None when it is not there."""
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


def _is_at(descriptor: int, size: int, position: FilePosition) -> bool:
    return size >= position.offset and _mark(descriptor, position.offset) == position.mark


def _last_line(descriptor: int, size: int) -> int:
    """Where the last, unfinished line begins, or the next one would begin."""
    begin = max(size - PIECE, 0)
    found = os.pread(descriptor, size - begin, begin).rfind(b"\n")
    return size if found < 0 else begin + found + 1


LONGEST: Final = 16_384
"""Bytes of a line that are kept; the rest is ignored."""

_EBCDIC_ENDS: Final = bytes((0x15, 0x25))
_JUDGED: Final = 64
"""The least number of bytes to judge an encoding by."""


class LineSplitter:
    """Splits pieces of one file, in their order, into lines without their ends."""

    def __init__(self, ends: bytes = b"\n") -> None:
        """``ends`` are bytes that each end a line."""
        self._ends = ends
        self.rest = b""
        """The beginning of a line whose end has not come."""

    def split(self, piece: bytes) -> Iterator[bytes]:
        """The lines that end in the piece."""
        if len(self._ends) > 1:
            piece = piece.replace(self._ends[1:2], self._ends[:1])
        first, *others = piece.split(self._ends[:1])
        if not others:
            self._keep(first)
            return
        self._keep(first)
        *whole, last = others
        yield self.rest
        for line in whole:
            yield line[:LONGEST]
        self.rest = last[:LONGEST]

    def _keep(self, part: bytes) -> None:
        room = LONGEST - len(self.rest)
        if room > 0:
            self.rest += part[:room]


def line_ends(encoding: str) -> bytes:
    """The bytes that end a line in an encoding."""
    return _EBCDIC_ENDS if is_ebcdic(encoding) else b"\n"


def is_ebcdic(encoding: str) -> bool:
    """Whether an encoding, as named in settings, is EBCDIC."""
    return encoding.startswith("ibm-")


def line_decoder(encoding: str) -> Callable[[bytes], str]:
    """The decoder of lines in an encoding, as named in settings. It raises nothing."""
    if is_ebcdic(encoding):
        return codec(int(encoding.removeprefix("ibm-"))).decode
    # Some encodings can hold a lone surrogate, which cannot be stored.
    return lambda line: line.decode(encoding, "replace").encode("utf-8", "replace").decode("utf-8")


def unreadable(piece: bytes, encoding: str) -> str:
    """Why the bytes are not text in this encoding, and what to do; empty when they may be, or are too few to judge."""
    if len(piece) < _JUDGED:
        return ""
    if piece[:2] == b"\x1f\x8b":
        return "it is compressed: follow the file as it is written"
    if is_ebcdic(encoding):
        if _share(piece, b" etaoinETAOIN0123456789") > 0.4:
            return f"its bytes are no EBCDIC: set console.follow's encoding to utf-8 instead of {encoding}"
        return ""
    blanks, zeros = piece.count(0x40), piece.count(0)
    # In EBCDIC blanks are X'40' and letters and digits above X'80'; blanks and line ends of ASCII are missing.
    if blanks * 20 > len(piece) and _ebcdic(piece) > 0.5 and _share(piece, b" \n") < 0.05:
        return "it is EBCDIC: transfer it as text (ASCII), or set console.follow's encoding to its code page, such as ibm-1047"
    if 0.3 < zeros / len(piece) < 0.7 and _ordinary(piece.replace(b"\0", b"")) > 0.8:
        return "it is UTF-16: write it in UTF-8"
    return ""


def _share(piece: bytes, of: bytes) -> float:
    return sum(map(piece.count, of)) / len(piece)


def _ebcdic(piece: bytes) -> float:
    letters = sum(1 for byte in piece if 0x81 <= byte <= 0xA9 or 0xC1 <= byte <= 0xF9)
    return (letters + piece.count(0x40)) / len(piece)


def _ordinary(piece: bytes) -> float:
    return sum(1 for byte in piece if 0x20 <= byte < 0x7F or byte in b"\r\n\t") / max(len(piece), 1)
