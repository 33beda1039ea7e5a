"""Frames as the stand-in library sends and takes them; ``native/wire.h`` describes them."""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

LENGTH: Final = Struct("<I")
CALL_HEAD: Final = Struct("<6i")
RESULT_HEAD: Final = Struct("<I5i")
_RESULT_FIELDS: Final = 20
LONGEST: Final = 1 << 28
"""No frame is longer, bytes."""


class WireError(Exception):
    """What came is no frame of the stand-in library."""


class Call(NamedTuple):
    """One call: the verb's number, the object handle, what else the verb has, and its structures and data."""

    verb: int
    hobj: int
    options: int
    length: int
    taken: int
    number: int
    blobs: list[bytes]


def read_call(body: bytes) -> Call:
    """The call in a frame, its length not included. Raises WireError."""
    if len(body) < CALL_HEAD.size:
        raise WireError(f"a call of {len(body)} bytes")
    blobs: list[bytes] = []
    at = CALL_HEAD.size
    while at < len(body):
        start = at + LENGTH.size
        if start > len(body):
            raise WireError(f"the length of a blob at {at} of {len(body)}")
        (size,) = LENGTH.unpack_from(body, at)
        at = start + size
        if at > len(body):
            raise WireError(f"a blob of {size} bytes at {start} of {len(body)}")
        blobs.append(body[start:at])
    verb, hobj, options, length, taken, number = CALL_HEAD.unpack_from(body)
    return Call(verb, hobj, options, length, taken, number, blobs)


def result(
    cc: int, rc: int, blobs: tuple[bytes, ...] = (), *, handle: int = 0, length: int = 0, ahead: int = 0
) -> bytes:
    """A whole frame with the result of a call."""
    pieces = [b""]
    for blob in blobs:
        pieces += (LENGTH.pack(len(blob)), blob)
    size = _RESULT_FIELDS + sum(map(len, pieces))
    pieces[0] = RESULT_HEAD.pack(size, cc, rc, handle, length, ahead)
    return b"".join(pieces)
