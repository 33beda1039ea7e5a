"""Raw records out of a stream of SMF data: with descriptor words, in blocks, or end to end.

``SITE RDW`` keeps the descriptor words, RECFM=U copies hold blocks, and binary transfer usually leaves the records
alone. Damage costs only the records it touches. A stream may hold gigabytes without a record of MQ, so reading yields
regularly. Source: z/OS DFSMS, record and block descriptor words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from enum import Enum
from struct import Struct
from typing import BinaryIO, Final, NamedTuple

from mqvitals_agent.smf.record import SmfError, bare_length

CHUNK: Final = 1 << 20


class StreamWindow:
    """A piece of a stream: ``at`` is the next byte of ``data``, ``base`` the offset of its first; bytes before ``keep``
    may go.

    ``damage`` is the reason when the stream could not be read to its end.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._ended = False
        self.damage: SmfError | None = None
        self.data = b""
        self.base = 0
        self.at = 0
        self.keep = 0

    @property
    def offset(self) -> int:
        """The offset of ``at`` in the stream."""
        return self.base + self.at

    def fill(self, wanted: int) -> int:
        """Read until ``wanted`` bytes follow ``at``, or the stream ends; returns how many do. Raises OSError."""
        ahead = len(self.data) - self.at
        if ahead >= wanted or self._ended:
            return ahead
        pieces = [self.data[self.keep :]]
        while ahead < wanted:
            try:
                piece = self._stream.read(max(CHUNK, wanted - ahead))
            except SmfError as error:
                self.damage, piece = error, b""
            if not piece:
                self._ended = True
                break
            pieces.append(piece)
            ahead += len(piece)
        self.base += self.keep
        self.at -= self.keep
        self.keep = 0
        self.data = b"".join(pieces)
        return ahead


RDW: Final = Struct(">HBB")
BDW: Final = Struct(">HH")
EXTENDED: Final = Struct(">I")
SHORTEST: Final = 18
"""The header and trailer of a dump, descriptor word included; no record is shorter."""
LOOK: Final = 1 << 18
"""The number of bytes that decide on the framing."""

_CHAIN: Final = 8
_TYPES: Final = frozenset({2, 3, 115, 116})
FLAGS: Final = frozenset({0x1E, 0x5E})
"""The flag byte of records: without and with subtypes."""
_TRANSMIT: Final = "INMR01".encode("cp037")
_ASCII: Final = re.compile(rb"\A(?:....)?[;\x1e][\x02\x03st]", re.DOTALL)


class Framing(Enum):
    """How records are framed in a file."""

    RDW = "record descriptor words"
    BDW = "blocks of records with descriptor words"
    BARE = "records end to end, without descriptor words"


def framing_of(head: bytes) -> Framing:
    """How records lie in a file that begins with ``head``.

    Raises SmfError: it holds no records of a form we know; the message says what it looks like.
    """
    if not head:
        raise SmfError("the file is empty")
    # Blocks first: a block descriptor word may look like a record descriptor word, but not the other way round.
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
    """Whether a record of MQ, or the header or trailer of a dump, may begin at ``at`` with its descriptor word."""
    return plausible(data, at) and at + 6 <= len(data) and data[at + 4] in FLAGS and data[at + 5] in _TYPES


def block_at(data: bytes, at: int) -> int:
    """The length of the block that may begin at ``at``, its descriptor word included; 0: none does."""
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
    """Whether the data begin with blocks: the first holds a record that is certainly SMF's, or records fill one of the
    first.

    A single block may be damaged, and the next would be taken for records of other types.
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
    """Whether a block begins at ``begin`` and records fill it to its end."""
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
    """Whether records follow one another from ``at`` on: one that is certainly SMF's, a chain too long for chance, or
    records that fill a small file, as those of RMF alone may.
    """
    for _ in range(_CHAIN):
        if begins(data, at):
            return True
        if not plausible(data, at):
            return False
        at += int(RDW.unpack_from(data, at)[0])
        if at == len(data):
            return True
    return at < len(data)


LONGEST: Final = 1 << 20
"""No record of MQ is longer; joined segments beyond it are damage."""

_BLOCK_HEAD: Final = 10
_WORD_LENGTH: Final = 6
_PAST_HEADER: Final = 24
_WHOLE, _FIRST, _LAST, _MIDDLE = range(4)
_WORD: Final = re.compile(rb"..[\0\1]\0[\x1e\x5e][\x02\x03\x73\x74]", re.DOTALL)
_BARE: Final = re.compile(
    rb"\x5e[\x73\x74]....[\0\1]..[\x0c\x0f\x1c\x1f\x2c\x2f\x3c\x3f\x4c\x4f\x5c\x5f\x6c\x6f\x7c\x7f\x8c\x8f\x9c\x9f]",
    re.DOTALL,
)


class RawRecord(NamedTuple):
    """One record: its offset in the stream, its type, and its bytes with a record descriptor word before them."""

    offset: int
    type: int
    data: bytes


Damaged = Callable[[SmfError], None]
"""Called for each damaged record, and for bytes that were skipped."""


def raw_records(stream: BinaryIO, damaged: Damaged) -> Iterator[RawRecord | None]:
    """The records of a stream, of all types, in their order; None after each small piece of work that gave no record.

    Raises OSError, and SmfError when it is no SMF data.
    """
    window = StreamWindow(stream)
    window.fill(LOOK)
    try:
        framing = framing_of(window.data[:LOOK])
    except SmfError:
        if window.damage is not None:
            raise window.damage from None
        raise
    match framing:
        case Framing.BARE:
            yield from _bare(window, damaged)
        case Framing.RDW:
            yield from _joined(window, damaged, blocks=False)
        case Framing.BDW:
            yield from _joined(window, damaged, blocks=True)
    if window.damage is not None:
        # The records before the damage have been returned.
        damaged(window.damage)


class _Segments:
    """Joins the segments of spanned records."""

    def __init__(self, damaged: Damaged) -> None:
        self._damaged = damaged
        self._parts: list[bytes] = []
        self._began = 0
        self._size = 0

    def take(self, offset: int, segment: int, data: bytes) -> RawRecord | None:
        """Add a segment, descriptor word included; returns the record that it completes."""
        if segment in (_WHOLE, _FIRST):
            self.end()
            if segment == _WHOLE:
                return _frame(offset, data)
            self._parts, self._began, self._size = [data], offset, len(data)
        elif not self._parts:
            self._damaged(SmfError("a segment without its first one", offset))
        else:
            self._parts.append(data[RDW.size :])
            self._size += len(data) - RDW.size
            if self._size > LONGEST:
                self._parts = []
                self._damaged(SmfError(f"a record in segments grows beyond {LONGEST} bytes", self._began))
            elif segment == _LAST:
                whole, self._parts = b"".join(self._parts), []
                return _frame(self._began, whole)
        return None

    def end(self) -> None:
        """The current record has no more segments."""
        if self._parts:
            self._parts = []
            self._damaged(SmfError("the record's last segment is missing", self._began))


def _frame(offset: int, data: bytes) -> RawRecord:
    return RawRecord(offset, data[5] if len(data) > 5 else 0, data)


def _joined(window: StreamWindow, damaged: Damaged, *, blocks: bool) -> Iterator[RawRecord | None]:
    """Records with descriptor words, in blocks or not; segments are joined."""
    segments = _Segments(damaged)
    block_end = 0
    while window.fill(RDW.size) >= RDW.size:
        no_block = False
        if blocks:
            ahead = window.fill(_BLOCK_HEAD)
            length = block_at(window.data, window.at)
            if length and (window.offset >= block_end or _surely_block(window)):
                if block_end > window.offset:
                    damaged(SmfError("a block begins before the one before it ends", window.offset))
                block_end = window.offset + length
                window.at += BDW.size
                continue
            # A record where a block must begin is one with damaged contents.
            no_block = window.offset == block_end and ahead >= _BLOCK_HEAD and not begins(window.data, window.at)
        length, segment, zero = RDW.unpack_from(window.data, window.at)
        if no_block or zero or segment > _MIDDLE or length <= RDW.size:
            segments.end()
            if _only_zeros(window):
                return
            damaged(SmfError("no record descriptor word is here; going on at the next record", window.offset))
            # The length of the record before may be wrong: the search begins within that record.
            start = window.keep + RDW.size if window.keep < window.at else window.at + 1
            if not (yield from _resume(window, start)):
                return
            block_end = -1
            continue
        ahead = window.fill(length)
        if segment == _WHOLE and (end := _true_end(window, min(ahead, length))):
            damaged(SmfError(f"the record's length is {length}, and its sections end at {end}", window.offset))
            length = end
            ahead = window.fill(length)
        if ahead < length:
            text = f"the file ends within this record: {length - ahead} of its {length} bytes are missing"
            damaged(SmfError(text, window.offset))
            segments.end()
            if not (yield from _resume(window, window.at + RDW.size)):
                return
            block_end = -1
            continue
        at, offset = window.at, window.offset
        # The record stays in the window until the next one has been found in its place.
        window.keep, window.at = at, at + length
        # None after a segment that completes no record.
        yield segments.take(offset, segment, window.data[at : at + length])
    segments.end()
    if window.fill(1):
        damaged(SmfError("the file ends within a record descriptor word", window.offset))


def _true_end(window: StreamWindow, length: int) -> int:
    """The end of the record by its sections, if its length differs and another record begins there; else 0."""
    end = bare_length(window.data, window.at + RDW.size) + RDW.size
    if end in (RDW.size, length) or (end > length and begins(window.data, window.at + length)):
        return 0
    return end if window.fill(end + _WORD_LENGTH) > end and begins(window.data, window.at + end) else 0


def _surely_block(window: StreamWindow) -> bool:
    """Whether a block begins here, not a record: then the length of the block before is wrong."""
    return begins(window.data, window.at + BDW.size) and not begins(window.data, window.at)


def _only_zeros(window: StreamWindow) -> bool:
    """Whether only zeros follow: padding of the last block is no damage."""
    rest = window.data[window.at :]
    return not rest.strip(b"\0") and window.fill(len(rest) + 1) == len(rest)


def _resume(window: StreamWindow, start: int) -> Generator[None, None, bool]:
    """Go to the next place from ``start`` on where a record seems to begin; False when there is none.

    Comes back after each piece of the stream and each place that was none.
    """
    while True:
        yield
        found = _WORD.search(window.data, start)
        if found is not None:
            # From here on: reading on may move what lies before it.
            window.keep = window.at = found.start()
            if begins(window.data, window.at) and _leads_on(window):
                return True
            start = window.at + 1
            continue
        # What is left may be the beginning of a descriptor word.
        window.at = window.keep = max(len(window.data) - _WORD_LENGTH, start)
        rest = len(window.data) - window.at
        if window.fill(rest + 1) <= rest:
            return False
        start = window.at


def _leads_on(window: StreamWindow) -> bool:
    """Whether the record that may begin here ends where another begins, or with the stream."""
    length = int(RDW.unpack_from(window.data, window.at)[0])
    ahead = window.fill(length + _BLOCK_HEAD)
    if ahead <= length:
        return ahead == length
    behind = window.at + length
    return plausible(window.data, behind) or block_at(window.data, behind) > 0


def _bare(window: StreamWindow, damaged: Damaged) -> Iterator[RawRecord | None]:
    """Records end to end: their sections give their length, which is wrong where no other record follows."""
    while window.fill(LONGEST):
        data, at, offset = window.data, window.at, window.offset
        length = bare_length(data, at)
        there = 0 < length <= len(data) - at
        if there:
            head = RDW.pack(min(length + RDW.size, 0xFFFF), 0, 0)
            yield RawRecord(offset, data[at + 1], head + data[at : at + length])
            window.keep = window.at = at + length
            if len(data) == at + length or bare_length(data, at + length):
                continue
        if _only_zeros(window):
            return
        found = next_bare(data, at + (_PAST_HEADER if there else 1))
        if length > len(data) - at and found < 0:
            damaged(
                SmfError(
                    f"the file ends within this record: it has {length} bytes, of which {len(data) - at} are here",
                    offset,
                )
            )
            return
        damaged(
            SmfError("what is here is no record of MQ: without descriptor words its length is unknown", window.offset)
        )
        window.at = window.keep = len(data) if found < 0 else found
        yield None


def next_bare(data: bytes, start: int) -> int:
    """The next place where a record of MQ may begin, with a date in its header and an end that fits; -1: none."""
    while (match := _BARE.search(data, start)) is not None:
        start = match.start()
        length = bare_length(data, start)
        if length and (start + length >= len(data) or data[start + length] in FLAGS):
            return start
        start += 1
    return -1
