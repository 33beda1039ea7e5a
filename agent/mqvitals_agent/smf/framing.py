"""How records lie in a file, found by looking: with descriptor words, in blocks, or end to end.

Whatever a transfer made of them: descriptor words are what ``SITE RDW`` keeps, blocks what RECFM=U copies hold, and nothing but
the records is what binary transfer usually leaves. Sources: z/OS DFSMS, record and block descriptor words.
"""

from __future__ import annotations

import re
from enum import Enum
from struct import Struct
from typing import Final

from mqvitals_agent.smf.error import SmfError

RDW: Final = Struct(">HBB")
BDW: Final = Struct(">HH")
EXTENDED: Final = Struct(">I")
SHORTEST: Final = 18
"""The header and trailer of a dump, descriptor word included; no record is shorter."""
LOOK: Final = 1 << 18
"""So many bytes are looked at to tell how records lie."""

_CHAIN: Final = 8
_TYPES: Final = frozenset({2, 3, 115, 116})
FLAGS: Final = frozenset({0x1E, 0x5E})
"""The flag byte of records: without and with subtypes."""
_TRANSMIT: Final = "INMR01".encode("cp037")
_ASCII: Final = re.compile(rb"\A(?:....)?[;\x1e][\x02\x03st]", re.DOTALL)


class Framing(Enum):
    """How records lie in a file."""

    RDW = "record descriptor words"
    BDW = "blocks of records with descriptor words"
    BARE = "records end to end, without descriptor words"


def framing_of(head: bytes) -> Framing:
    """How records lie in a file that begins with ``head``.

    Raises SmfError: it holds no records of a form we know; the message says what it looks like.
    """
    if not head:
        raise SmfError("the file is empty")
    # Blocks first: a block's word looks like the word of a record, not the other way round.
    if _blocks(head):
        return Framing.BDW
    if _chain(head, 0):
        return Framing.RDW
    if head[0] in FLAGS and len(head) > 1 and head[1] in _TYPES:
        return Framing.BARE
    if head[2:8] == _TRANSMIT:
        raise SmfError("the file was made by TSO TRANSMIT: RECEIVE it first, and transfer what comes out")
    if _ASCII.match(head) and b" " * 3 in head[:2000]:
        raise SmfError("the file was transferred as text, which spoils it: transfer it in binary mode, with SITE RDW")
    raise SmfError("no SMF records are found at its beginning: transfer the dump in binary mode, with SITE RDW")


def plausible(data: bytes, at: int) -> bool:
    """Whether a record descriptor word may lie at ``at``, of a segment of any kind."""
    if at + RDW.size > len(data):
        return False
    length: int
    length, segment, zero = RDW.unpack_from(data, at)
    return length > RDW.size and segment <= 3 and zero == 0 and (length >= SHORTEST or segment >= 2)


def begins(data: bytes, at: int) -> bool:
    """Whether a record of MQ, or the header or trailer of a dump, seems to begin at ``at`` with its descriptor word."""
    return plausible(data, at) and at + 6 <= len(data) and data[at + 4] in FLAGS and data[at + 5] in _TYPES


def block_at(data: bytes, at: int) -> int:
    """The length of the block that seems to begin at ``at``, its descriptor word included; 0 when none does."""
    if at + 10 > len(data):
        return 0
    length: int
    length, zero = BDW.unpack_from(data, at)
    if length & 0x8000:
        length, zero = EXTENDED.unpack_from(data, at)[0] & 0x7FFFFFFF, 0
    inner = at + 4
    if zero or not plausible(data, inner) or RDW.unpack_from(data, inner)[0] > length - 4:
        return 0
    return length


def _blocks(data: bytes) -> bool:
    """Whether blocks lie at the beginning: the first holds a record that surely is SMF's, or records fill one of the first ones.

    One alone may be damaged, and what follows would be taken for records of other types.
    """
    at = 0
    for _ in range(_CHAIN):
        if not plausible(data, at) and not block_at(data, at):
            return False
        if begins(data, at):
            return False
        if block_at(data, at) and (begins(data, at + BDW.size) or _filled(data, at)):
            return True
        at += block_at(data, at) or int(RDW.unpack_from(data, at)[0])
    return False


def _filled(data: bytes, begin: int) -> bool:
    """Whether a block lies at ``begin``, and records fill it to its end."""
    end = begin + block_at(data, begin)
    at = begin + BDW.size
    while at < end:
        if at >= len(data):
            return end > begin
        if not plausible(data, at):
            return False
        at += int(RDW.unpack_from(data, at)[0])
    return end > begin and at == end


def _chain(data: bytes, at: int) -> bool:
    """Whether records follow one another from ``at`` on: one that surely is SMF's, or so many that it can be no accident."""
    for _ in range(_CHAIN):
        if begins(data, at):
            return True
        if not plausible(data, at):
            return False
        at += int(RDW.unpack_from(data, at)[0])
    return at < len(data)
