"""One record after another out of a stream, whatever form it has; damage costs the records it touches and is told.

A stream may hold gigabytes without a record: what reads it comes back regularly all the same (``steps``), so that an agent
can do other work meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from typing import BinaryIO, Final, NamedTuple

from mqvitals_agent.smf.error import SmfError
from mqvitals_agent.smf.framing import BDW, FLAGS, LOOK, RDW, Framing, begins, block_at, framing_of, plausible
from mqvitals_agent.smf.record import bare_length
from mqvitals_agent.smf.window import Window

LONGEST: Final = 1 << 20
"""No record of MQ is longer; what grows beyond it when segments are joined is damage."""

_BLOCK_HEAD: Final = 10
_WORD_LENGTH: Final = 6
_PAST_HEADER: Final = 24
_WHOLE, _FIRST, _LAST, _MIDDLE = range(4)
_WORD: Final = re.compile(rb"..[\0\1]\0[\x1e\x5e][\x02\x03\x73\x74]", re.DOTALL)
_BARE: Final = re.compile(
    rb"\x5e[\x73\x74]....[\0\1]..[\x0c\x0f\x1c\x1f\x2c\x2f\x3c\x3f\x4c\x4f\x5c\x5f\x6c\x6f\x7c\x7f\x8c\x8f\x9c\x9f]",
    re.DOTALL,
)


class Frame(NamedTuple):
    """One record: where it began in the stream, its type, and its bytes with a record descriptor word before them."""

    offset: int
    type: int
    data: bytes


Damaged = Callable[[SmfError], None]
"""Is told of each record that was lost, and of bytes that were passed over."""


def frames(stream: BinaryIO, damaged: Damaged) -> Iterator[Frame]:
    """The records of a stream, of any type, in their order. Raises SmfError when it is no SMF data, and OSError."""
    return (frame for frame in steps(stream, damaged) if frame is not None)


def steps(stream: BinaryIO, damaged: Damaged) -> Iterator[Frame | None]:
    """The same as ``frames``, with None after each small piece of work that gave no record."""
    window = Window(stream)
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
        # What was read until there has been given.
        damaged(window.damage)


class _Segments:
    """Joins the segments of spanned records."""

    def __init__(self, damaged: Damaged) -> None:
        self._damaged = damaged
        self._parts: list[bytes] = []
        self._began = 0
        self._size = 0

    def take(self, offset: int, segment: int, data: bytes) -> Frame | None:
        """The next segment, descriptor word included; returns the record that is whole with it."""
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
        """No more segments of the record under way come."""
        if self._parts:
            self._parts = []
            self._damaged(SmfError("the record's last segment is missing", self._began))


def _frame(offset: int, data: bytes) -> Frame:
    return Frame(offset, data[5] if len(data) > 5 else 0, data)


def _joined(window: Window, damaged: Damaged, *, blocks: bool) -> Iterator[Frame | None]:
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
            # Where a block must begin, what looks like a record is one whose contents are damaged.
            no_block = window.offset == block_end and ahead >= _BLOCK_HEAD and not begins(window.data, window.at)
        length, segment, zero = RDW.unpack_from(window.data, window.at)
        if no_block or zero or segment > _MIDDLE or length <= RDW.size:
            segments.end()
            if _only_zeros(window):
                return
            damaged(SmfError("no record descriptor word is here; going on at the next record", window.offset))
            # The length of the record before may be what is wrong: the search begins within that.
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
        # The record stays within reach until the one behind it has been found in its place.
        window.keep, window.at = at, at + length
        # A segment alone gives no record yet.
        yield segments.take(offset, segment, window.data[at : at + length])
    segments.end()
    if window.fill(1):
        damaged(SmfError("the file ends within a record descriptor word", window.offset))


def _true_end(window: Window, length: int) -> int:
    """Where the record ends by its sections, if another one surely begins there and its length says otherwise; else 0."""
    end = bare_length(window.data, window.at + RDW.size) + RDW.size
    if end in (RDW.size, length) or (end > length and begins(window.data, window.at + length)):
        return 0
    return end if window.fill(end + _WORD_LENGTH) > end and begins(window.data, window.at + end) else 0


def _surely_block(window: Window) -> bool:
    """Whether a block begins here and no record: then the length of the block before is wrong."""
    return begins(window.data, window.at + BDW.size) and not begins(window.data, window.at)


def _only_zeros(window: Window) -> bool:
    """Whether nothing but zeros comes: what fills up the last block is no damage."""
    rest = window.data[window.at :]
    return not rest.strip(b"\0") and window.fill(len(rest) + 1) == len(rest)


def _resume(window: Window, start: int) -> Generator[None, None, bool]:
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


def _leads_on(window: Window) -> bool:
    """Whether the record that seems to begin here ends where another begins, or the stream does."""
    length = int(RDW.unpack_from(window.data, window.at)[0])
    ahead = window.fill(length + _BLOCK_HEAD)
    if ahead <= length:
        return ahead == length
    behind = window.at + length
    return plausible(window.data, behind) or block_at(window.data, behind) > 0


def _bare(window: Window, damaged: Damaged) -> Iterator[Frame | None]:
    """Records end to end: their sections say how long they are, and where that does not lead to another one it may be wrong."""
    while window.fill(LONGEST):
        data, at, offset = window.data, window.at, window.offset
        length = bare_length(data, at)
        there = 0 < length <= len(data) - at
        if there:
            head = RDW.pack(min(length + RDW.size, 0xFFFF), 0, 0)
            yield Frame(offset, data[at + 1], head + data[at : at + length])
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
    """Where from ``start`` on a record of MQ seems to begin, with a date in its header and an end that fits; -1: nowhere."""
    while (match := _BARE.search(data, start)) is not None:
        start = match.start()
        length = bare_length(data, start)
        if length and (start + length >= len(data) or data[start + length] in FLAGS):
            return start
        start += 1
    return -1
