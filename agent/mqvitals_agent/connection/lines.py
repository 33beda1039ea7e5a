"""The lines of a file that may be compressed and may be cut or damaged: whatever can be read is read."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import IO

_CHUNK = 1 << 16
_GZIP = b"\x1f\x8b"
_WBITS = 31  # zlib's way of saying: a gzip header and trailer, checked
LONGEST_LINE = 1 << 28
"""Bytes. One exchange of a hundred thousand replies is far below; a file without line ends must not fill the memory."""


def lines(file: IO[bytes], warn: Callable[[str], None]) -> Iterator[tuple[bytes, bool]]:
    """Each line without its end, and whether it had one (only the last may lack it).

    The file may be plain, or gzip of one or more members. Damage ends the lines; what was read before it is delivered,
    to the byte. ``warn`` is told what is wrong, as a clause to which what follows from it can be added.
    """
    rest = bytearray()
    for block in _blocks(file, warn):
        start = 0
        while (end := block.find(b"\n", start)) >= 0:
            if rest:
                rest += block[start:end]
                yield bytes(rest), True
                rest.clear()
            else:
                yield block[start:end], True
            start = end + 1
        rest += block[start:]
        if len(rest) > LONGEST_LINE:
            warn(f"a line is longer than {LONGEST_LINE >> 20} MiB")
            return
    if rest:
        yield bytes(rest), False


def _blocks(file: IO[bytes], warn: Callable[[str], None]) -> Iterator[bytes]:
    block = file.read(_CHUNK)
    if not block.startswith(_GZIP):
        while block:
            yield block
            block = file.read(_CHUNK)
        return
    yield from _members(file, block, warn)


def _members(file: IO[bytes], block: bytes, warn: Callable[[str], None]) -> Iterator[bytes]:
    while block:
        member = zlib.decompressobj(_WBITS)
        while block and not member.eof:
            before = member.copy()
            try:
                # The limit bounds memory: a few compressed bytes can stand for very many.
                plain = member.decompress(block, _CHUNK)
            except zlib.error:
                yield _salvage(before, block)
                warn("the compressed data are damaged")
                return
            yield plain
            block = member.unconsumed_tail or (member.unused_data if member.eof else file.read(_CHUNK))
        if not member.eof:
            yield member.flush()
            warn("the compressed data are cut off")
            return
        while not (block := (block or file.read(_CHUNK)).lstrip(b"\0")):  # tapes and tools pad with zeros
            block = file.read(_CHUNK)
            if not block:
                return
        if len(block) < len(_GZIP):
            block += file.read(_CHUNK)
        if not block.startswith(_GZIP):
            warn("something else follows the compressed data")
            return


def _salvage(member: zlib._Decompress, block: bytes) -> bytes:
    """What the bytes before the damage still give: zlib withholds the output of the call that meets it."""
    plain = bytearray()
    for index in range(len(block)):
        try:
            plain += member.decompress(block[index : index + 1])
        except zlib.error:
            break
    return bytes(plain)
