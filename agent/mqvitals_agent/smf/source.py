"""Files of SMF data as streams: as they are, or compressed with gzip."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from mqvitals_agent.expansion import Expansion, ExpansionError
from mqvitals_agent.smf.error import SmfError
from mqvitals_config.source import open_regular

STDIN: Final = "-"
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"
_PIECE: Final = 1 << 17


class _Counted(io.RawIOBase):
    """A compressed stream, whose bytes are counted when they are read."""

    def __init__(self, packed: BinaryIO, expansion: Expansion) -> None:
        self._packed = packed
        self._expansion = expansion

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1) -> bytes:
        """As a file's."""
        piece = self._packed.read(size)
        self._expansion.read(len(piece))
        return piece


class _Unpacked(io.RawIOBase):
    """What a gzip stream holds; its damage is SmfError with the offset to which it could be read, told behind all of that."""

    def __init__(self, packed: BinaryIO) -> None:
        self._expansion = Expansion()
        self._stream = gzip.GzipFile(fileobj=_Counted(packed, self._expansion))
        self._offset = 0
        self._damage: SmfError | None = None

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1) -> bytes:
        """As a file's. Raises SmfError."""
        pieces: list[bytes] = []
        missing = size if size >= 0 else sys.maxsize
        while missing and self._damage is None:
            try:
                piece = self._stream.read1(min(missing, _PIECE))
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                reason = f"what follows cannot be decompressed ({error}): copy the file again"
                self._damage = SmfError(reason, self._offset)
                break
            if not piece:
                break
            try:
                self._expansion.gave(len(piece))
            except ExpansionError as error:
                self._damage = SmfError(f"{error}: this is no SMF data", self._offset)
                break
            pieces.append(piece)
            self._offset += len(piece)
            missing -= len(piece)
        if not pieces and self._damage is not None:
            raise self._damage
        return b"".join(pieces)


@contextmanager
def open_smf(path: Path | str) -> Iterator[BinaryIO]:
    """The data of a file, ``-`` for standard input; closed in the end. Raises OSError, and SmfError for a zip archive.

    Reading raises SmfError where compressed data are damaged.
    """
    if str(path) == STDIN:
        yield _unpacked(sys.stdin.buffer)
        return
    with os.fdopen(open_regular(path), "rb") as file:
        yield _unpacked(file)


def _unpacked(file: BinaryIO) -> BinaryIO:
    buffered = io.BufferedReader(file) if isinstance(file, io.RawIOBase) else file
    head = buffered.peek(4)[:4] if isinstance(buffered, io.BufferedReader) else b""
    if head == _ZIP:
        raise SmfError("the file is a zip archive: unpack it first")
    if head[:2] == _GZIP:
        return _Unpacked(buffered)  # type: ignore[return-value]  # a raw stream is read in the same way
    return buffered
