"""Parts of a page that are compressed once and sent many times: segments of one gzip stream, put together anew each time.

A segment is raw deflate that ends on a byte and refers to nothing before it, so that segments can follow each other in
any order. The checksum of the whole comes from those of the parts.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_LEVEL: Final = 1
_GZIP_HEAD: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"
_LAST_BLOCK: Final = b"\x03\x00"
_RAW: Final = -15

_POLYNOMIAL: Final = 0xEDB88320
_ONE: Final = 1 << 31
"""The polynomial 1, bits reflected as CRC-32 has them."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a page: compressed, with CRC-32 and length (bytes) of what it holds."""

    deflated: bytes
    crc: int
    size: int

    @classmethod
    def of(cls, content: bytes) -> Segment:
        """``content`` compressed."""
        packer = zlib.compressobj(_LEVEL, wbits=_RAW)
        return cls(packer.compress(content) + packer.flush(zlib.Z_FULL_FLUSH), zlib.crc32(content), len(content))

    def content(self) -> bytes:
        """What it holds."""
        return zlib.decompressobj(_RAW).decompress(self.deflated)


class Page:
    """A page of segments. What takes long is done when it is made; its parts are made one by one as they are sent."""

    def __init__(self, segments: Iterable[Segment]) -> None:
        self._segments = tuple(segments)
        self.size = sum(segment.size for segment in self._segments)
        """Its length, bytes."""
        tail = struct.pack("<II", combined_crc(self._segments), self.size & 0xFFFFFFFF)
        self._gzip_tail = _LAST_BLOCK + tail
        deflated = sum(len(segment.deflated) for segment in self._segments)
        self.gzipped_size = len(_GZIP_HEAD) + deflated + len(self._gzip_tail)
        """The length of the gzip stream, bytes."""

    def plain(self) -> Iterator[bytes]:
        """The page, part by part."""
        return (segment.content() for segment in self._segments)

    def gzipped(self) -> Iterator[bytes]:
        """The page as one gzip stream, part by part."""
        yield _GZIP_HEAD
        for segment in self._segments:
            yield segment.deflated
        yield self._gzip_tail


def combined_crc(segments: Iterable[Segment]) -> int:
    """The CRC-32 of the contents of segments that follow each other."""
    crc = 0
    for segment in segments:
        crc = _times(_shift(segment.size), crc) ^ segment.crc
    return crc


@lru_cache(maxsize=4096)
def _shift(size: int) -> int:
    """x to the power of the bits in ``size`` bytes: multiplying by it is what so many bytes of 0 do to a CRC-32."""
    found, power, bits = _ONE, _ONE >> 1, size * 8
    while bits:
        if bits & 1:
            found = _times(power, found)
        power = _times(power, power)
        bits >>= 1
    return found


def _times(one: int, other: int) -> int:
    """The product of two polynomials modulo that of CRC-32."""
    product, bit = 0, _ONE
    while one:
        if one & bit:
            product ^= other
            one ^= bit
        bit >>= 1
        other = (other >> 1) ^ _POLYNOMIAL if other & 1 else other >> 1
    return product
