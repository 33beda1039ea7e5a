"""One SMF record of IBM MQ: its header, where its sections lie, and the interval it tells of."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Final, NamedTuple

from mqvitals_agent.smf.error import SmfError
from mqvitals_agent.smf.layout.field import text

STATISTICS: Final = 115
ACCOUNTING: Final = 116
STORAGE: Final = frozenset({5, 6, 7})
"""Subtypes of 115 without a standard section: no time but the header's."""
CHANNEL_INITIATOR: Final = frozenset({(115, 231), (116, 10)})
"""Written by the channel initiator, which gives durations in TOD units where the queue manager gives microseconds."""
THREADS: Final = frozenset({0, 1, 2})
"""Subtypes of 116 with the short standard section: no interval."""

EPOCH_US: Final = 2_208_988_800_000_000
"""Microseconds from 1900, where TOD stamps begin, to 1970."""
_QUARTER_US: Final = 900_000_000

_HEADER: Final = Struct(">4xBBI4s4s4sH3sx")
_TRIPLET: Final = Struct(">IHH")
_STANDARD: Final = Struct(">HBBHBBI4sQIIB3x")
_LONG: Final = Struct(">QQ")
_EXTENSION: Final = Struct(">HBx4s6s2x")
_CONTEXT: Final = 92
_FIRST: Final = 28
_MOST: Final = 64


class Triplet(NamedTuple):
    """Where a section lies: the offset of its first instance (the descriptor word counted), the length of one, how many."""

    offset: int
    length: int
    instances: int


@dataclass(frozen=True, slots=True)
class Record:
    """One whole record. ``data`` begins with the record descriptor word.

    ``offset`` is where the record began in the file. ``time_cs`` (1/100 s since midnight) and ``date`` (year, day of the
    year) are local, by the system that wrote it. ``release`` is a number such as 941 or 100000; 0 where the record tells
    none. ``qsg`` is None where the record does not say it, and empty outside a group. ``end_us`` is microseconds since
    1970 UTC, None in storage records; ``start_us`` (UTC too) and ``interval_us`` are None in accounting of threads as
    well. ``utc_offset_us`` is what the system's local time was ahead of UTC, to the quarter hour, known where an interval
    is. ``sequence`` rises from record to record; the channel initiator writes 0. ``more``: further records of the same
    interval follow.
    """

    offset: int
    data: bytes
    type: int
    subtype: int
    sysid: str
    ssid: str
    release: int
    qsg: str | None
    time_cs: int
    date: tuple[int, int]
    start_us: int | None
    end_us: int | None
    interval_us: int | None
    utc_offset_us: int | None
    sequence: tuple[int, int]
    more: bool
    triplets: tuple[Triplet, ...]
    context: int | None
    """Where QWHC lies, the identity of the thread (92 bytes); None where there is none."""


def parse(data: bytes, offset: int = 0) -> Record:
    """Read one whole record, which begins at ``offset`` of its file.

    Raises SmfError: it is shorter than what it says it holds, or a number in it cannot be.
    """
    size = len(data)
    if size < _FIRST + 2 * _TRIPLET.size:
        raise SmfError(f"a record of {size} bytes is too short for its header", offset)
    _, kind, time_cs, packed, sysid, ssid, subtype, release = _HEADER.unpack_from(data, 0)
    if kind not in (STATISTICS, ACCOUNTING):
        raise SmfError(f"a record of type {kind} is none of MQ's", offset)
    storage = kind == STATISTICS and subtype in STORAGE
    first = _triplet(data, 0, offset)
    if not first.instances or first.length < 4:
        raise SmfError("the record has no standard section", offset)
    standard = first.offset
    number = 2 if storage else data[standard + 6] if first.length > 6 else 0
    if not 1 <= number <= _MOST:
        raise SmfError(f"the record says it has {number} sections", offset)
    triplets = _triplets(data, number, offset)
    start = end = interval = ahead = context = None
    sequence, more = (0, 0), False
    if not storage:
        if first.length < 36:
            raise SmfError(f"the standard section has {first.length} bytes, too few", offset)
        length, *_, stamp, high, low, flags = _STANDARD.unpack_from(data, standard)
        sequence, more = (high, low), bool(flags & 0x80)
        end = (stamp >> 12) - EPOCH_US
        thread = kind == ACCOUNTING and subtype in THREADS
        if thread:
            context = standard + 36 if first.length >= 36 + _CONTEXT else None
        elif length >= 52 and first.length >= 52:
            local, duration = _LONG.unpack_from(data, standard + 36)
            interval = duration >> 12 if (kind, subtype) in CHANNEL_INITIATOR else duration
            began = (local >> 12) - EPOCH_US
            ahead = _quarters(began + interval - end)
            start = began - ahead
    qsg, level = _extension(data, first)
    return Record(
        offset,
        data,
        kind,
        subtype,
        text(sysid),
        text(ssid),
        level or _number(release),
        qsg,
        time_cs,
        _date(packed, offset),
        start,
        end,
        interval,
        ahead,
        sequence,
        more,
        triplets,
        context,
    )


def bare_length(data: bytes, at: int) -> int:
    """How long the record is that begins at ``at`` without a descriptor word, by where its last section ends; 0: none does."""
    if at + 14 > len(data) or data[at] not in (0x1E, 0x5E):
        return 0
    if data[at + 1] in (2, 3):
        return 14
    if data[at + 1] not in (STATISTICS, ACCOUNTING) or at + 40 > len(data):
        return 0
    base = at - 4
    offset, length, instances = _TRIPLET.unpack_from(data, base + _FIRST)
    subtype = int.from_bytes(data[at + 18 : at + 20], "big")
    if not instances or length < 4 or base + offset + 7 > len(data):
        return 0
    storage = data[at + 1] == STATISTICS and subtype in STORAGE
    number = 2 if storage else data[base + offset + 6]
    if not 1 <= number <= _MOST or base + _FIRST + number * _TRIPLET.size > len(data):
        return 0
    places = [
        Triplet._make(_TRIPLET.unpack_from(data, base + _FIRST + index * _TRIPLET.size)) for index in range(number)
    ]
    if any(instances and (not length or offset < _FIRST) for offset, length, instances in places):
        return 0
    return max(offset + length * instances for offset, length, instances in places) - 4


def _triplet(data: bytes, index: int, at: int) -> Triplet:
    place = _FIRST + index * _TRIPLET.size
    if place + _TRIPLET.size > len(data):
        raise SmfError(f"the record ends within its list of sections, at the {index + 1}th", at)
    found = Triplet._make(_TRIPLET.unpack_from(data, place))
    if found.instances and (
        found.length == 0 or found.offset < _FIRST or found.offset + found.length * found.instances > len(data)
    ):
        raise SmfError(
            f"section {index} would lie at {found.offset} with {found.instances} times {found.length} bytes,"
            f" outside a record of {len(data)}",
            at,
        )
    return found


def _triplets(data: bytes, number: int, at: int) -> tuple[Triplet, ...]:
    """As many as the record says, and those behind them for which there is room.

    At V8 the channel initiator's records have a sixth one, of the DNS task, which their number leaves out. It may hold garbage when no
    name was resolved: such a place counts as empty.
    """
    found = [_triplet(data, index, at) for index in range(number)]
    lowest = min((each.offset for each in found if each.offset), default=0)
    slots = (lowest - _FIRST) // _TRIPLET.size
    if number < slots <= _MOST:
        found += [_uncounted(data, index, at) for index in range(number, slots)]
    return tuple(found)


def _uncounted(data: bytes, index: int, at: int) -> Triplet:
    try:
        return _triplet(data, index, at)
    except SmfError:
        return Triplet(0, 0, 0)


def _extension(data: bytes, first: Triplet) -> tuple[str | None, int]:
    """Queue-sharing group and release of QWHX, the last 16 bytes of what the first triplet names; from MQ 10 on."""
    if first.length not in (68, 144, 20):
        return None, 0
    length, kind, group, release = _EXTENSION.unpack_from(data, first.offset + first.length - _EXTENSION.size)
    if (length, kind) != (_EXTENSION.size, 0x10):
        return None, 0
    return text(group), _number(release)


def _number(release: bytes) -> int:
    digits = text(release)
    return int(digits) if digits.isascii() and digits.isdigit() else 0


def _quarters(difference_us: int) -> int:
    """To the nearest quarter of an hour: clocks and roundings differ by far less."""
    return (difference_us + _QUARTER_US // 2) // _QUARTER_US * _QUARTER_US


def _date(packed: bytes, at: int) -> tuple[int, int]:
    digits = packed.hex()
    if digits[7] not in "cf" or not digits[:7].isdigit():
        raise SmfError(f"the header's date is {digits}, which is none", at)
    return 1900 + 100 * int(digits[1]) + int(digits[2:4]), int(digits[4:7])
