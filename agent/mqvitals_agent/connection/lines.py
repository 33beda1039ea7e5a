"""The lines of a file that may be compressed and may be cut or damaged: whatever can be read is read."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import IO, Final

from mqvitals_agent.expansion import Expansion, ExpansionError

_CHUNK = 1 << 16
_GZIP = b"\x1f\x8b"
_WBITS = 31  # zlib's way of saying: a gzip header and trailer, checked
LONGEST_LINE: Final = 64 << 20
"""Bytes. One exchange of forty thousand replies is below; a file without line ends must not fill the memory."""
MOST_MEMBERS: Final = 10_000
"""gzip members of one file: a recorder appends one at each start."""


def read_lines(
    file: IO[bytes],
    warn: Callable[[str], None],
    *,
    longest: int = LONGEST_LINE,
    members: int = MOST_MEMBERS,
    expansion: Expansion | None = None,
) -> Iterator[tuple[bytes, bool]]:
    """Each line without its end, and whether it had one (only the last may lack it).

    The file may be plain, or gzip of one or more members. Damage ends the lines; what was read before it is
    delivered, to the byte. So does a line that is longer than ``longest`` bytes, more gzip ``members`` than that, and
    what ``expansion`` refuses. ``warn`` gets what is wrong as a clause, to which the consequence can be added.
    """
    rest = bytearray()
    for block in _blocks(file, warn, members, expansion or Expansion()):
        start = 0
        while (end := block.find(b"\n", start)) >= 0:
            if rest:
                rest += block[start:end]
                line, rest = bytes(rest), bytearray()
                yield line, True
                del line
            else:
                yield block[start:end], True
            start = end + 1
        rest += block[start:]
        if len(rest) > longest:
            warn(
                f"a line is longer than {longest >> 20} MiB"
                if longest >> 20
                else f"a line is longer than {longest} bytes"
            )
            return
    if rest:
        yield bytes(rest), False


def _blocks(file: IO[bytes], warn: Callable[[str], None], members: int, expansion: Expansion) -> Iterator[bytes]:
    block = file.read(_CHUNK)
    if not block.startswith(_GZIP):
        while block:
            yield block
            block = file.read(_CHUNK)
        return

    def read() -> bytes:
        more = file.read(_CHUNK)
        expansion.read(len(more))
        return more

    expansion.read(len(block))
    try:
        for plain in _members(read, block, warn, members):
            expansion.gave(len(plain))
            yield plain
    except ExpansionError as error:
        warn(str(error))


def _members(read: Callable[[], bytes], block: bytes, warn: Callable[[str], None], most: int) -> Iterator[bytes]:
    count = 0
    while block:
        count += 1
        if count > most:
            warn(f"the file has more than {most:,} gzip members")
            return
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
            block = member.unconsumed_tail or (member.unused_data if member.eof else read())
        if not member.eof:
            yield member.flush()
            warn("the compressed data are cut off")
            return
        while not (block := (block or read()).lstrip(b"\0")):  # tapes and tools pad with zeros
            block = read()
            if not block:
                return
        if len(block) < len(_GZIP):
            block += read()
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
