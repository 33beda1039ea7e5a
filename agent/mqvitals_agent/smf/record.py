"""One SMF record of IBM MQ: its header, where its sections lie, and its interval.

Times are checked here, before anything is stored by them: a record with impossible times is refused as damaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from hashlib import blake2b
from struct import Struct
from typing import Final, NamedTuple

from mqvitals_agent.errors import MqvitalsError
from mqvitals_agent.smf.layout.field import text


class SmfError(MqvitalsError):
    """A record that cannot be read, or a file that holds no records.

    ``reason`` is a clause that says what is wrong, ``offset`` where it is in the file (bytes from its beginning, after
    decompression), None when it is about the whole file.
    """

    def __init__(self, reason: str, offset: int | None = None) -> None:
        super().__init__(reason if offset is None else f"offset {offset}: {reason}")
        self.reason = reason
        self.offset = offset


_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - UTC throughout; the offset would only have to be cut off again


def utc_text(us: int) -> str | None:
    """``2026-03-01T12:00:00.000000Z``; None beyond the calendar, where damaged lengths of intervals lead."""
    moment = utc_datetime(us)
    return None if moment is None else moment.isoformat(timespec="microseconds") + "Z"


def utc_datetime(us: int) -> datetime | None:
    """Date and time in UTC, without an offset; None beyond the calendar."""
    try:
        return _EPOCH + timedelta(microseconds=us)
    except OverflowError:
        return None


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
_DAY_US: Final = 86_400_000_000
FIRST_YEAR, LAST_YEAR = 1990, 2099
"""A record with a time outside these years is damaged."""
_FIRST_DAY: Final = date(1970, 1, 1).toordinal()
_EARLIEST_US: Final = (date(FIRST_YEAR, 1, 1).toordinal() - _FIRST_DAY) * _DAY_US
_LATEST_US: Final = (date(LAST_YEAR + 1, 1, 1).toordinal() - _FIRST_DAY) * _DAY_US
LONGEST_INTERVAL_US: Final = 25 * 3_600_000_000
"""STATIME is at most 1,440 minutes, and an interval may end a little late."""
_HOUR_US: Final = 3_600_000_000
_ZONES_US: Final = range(-13 * _HOUR_US, 15 * _HOUR_US)
"""Local time minus UTC, with an hour to spare: time zones are 12 hours behind to 14 ahead."""
_SHIFT_US: Final = 3 * _HOUR_US
"""The offset at an interval's beginning and in the header differ by at most a change of summer time."""
_DAY_CS: Final = 8_640_100
"""Hundredths of a second of a day, with a leap second."""

_HEADER: Final = Struct(">4xBBI4s4s4sH3sx")
_TRIPLET: Final = Struct(">IHH")
_STANDARD: Final = Struct(">HBBHBBI4sQIIB3x")
_LONG: Final = Struct(">QQ")
_EXTENSION: Final = Struct(">HBx4s6s2x")
_CONTEXT: Final = 92
_FIRST: Final = 28
_MOST: Final = 64


class Triplet(NamedTuple):
    """Where a section lies: the offset of its first instance (the descriptor word counted), the length of one, how
    many.
    """

    offset: int
    length: int
    instances: int


@dataclass(frozen=True, slots=True)
class Record:
    """One whole record. ``data`` begins with the record descriptor word.

    ``offset`` is where the record began in the file. ``time_cs`` (1/100 s since midnight) and ``date`` (year, day of
    the year) are local, by the system that wrote it. ``release`` is a number such as 941 or 100000; 0 where the record
    has none. ``qsg`` is None where the record does not say it, and empty outside a group. ``end_us`` is microseconds
    since 1970 UTC, None in storage records; ``start_us`` (UTC too) and ``interval_us`` are None in accounting of
    threads as well. ``utc_offset_us`` is what the system's local time was ahead of UTC, to the quarter hour, known
    where an interval is. ``sequence`` rises from record to record; the channel initiator writes 0. ``more``: further
    records of the same interval follow.
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

    @property
    def header_us(self) -> int:
        """The time at which SMF received the record: microseconds since 1970, local time."""
        return _header_us(self.date, self.time_cs)


def parse(data: bytes, offset: int = 0) -> Record:
    """Read one whole record, which begins at ``offset`` of its file.

    Raises SmfError: it is shorter than it says, a number in it is impossible, or its times are outside ``FIRST_YEAR``
    to ``LAST_YEAR``, differ by more than a time zone, or make an interval longer than ``LONGEST_INTERVAL_US``.
    """
    if len(data) < _FIRST + 2 * _TRIPLET.size:
        raise SmfError(f"a record of {len(data)} bytes is too short for its header", offset)
    _, kind, time_cs, packed, sysid, ssid, subtype, release = _HEADER.unpack_from(data, 0)
    if kind not in (STATISTICS, ACCOUNTING):
        raise SmfError(f"a record of type {kind} is none of MQ's", offset)
    of = f"{kind}/{subtype} of {text(ssid) or 'no queue manager'}"
    taken_on = _date(kind, packed, of, offset)
    if time_cs >= _DAY_CS:
        raise SmfError(f"{of}: SM{kind}TME is {time_cs}: a day has no such hundredth of a second", offset)
    taken_us = _header_us(taken_on, time_cs)
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
        _check_end(end, stamp, taken_us, of, offset)
        if kind == ACCOUNTING and subtype in THREADS:
            context = standard + 36 if first.length >= 36 + _CONTEXT else None
        elif length >= 52 and first.length >= 52:
            in_tod = (kind, subtype) in CHANNEL_INITIATOR
            start, interval, ahead = _interval(data, standard + 36, end, taken_us, of, offset, in_tod=in_tod)
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
        taken_on,
        start,
        end,
        interval,
        ahead,
        sequence,
        more,
        triplets,
        context,
    )


def _interval(
    data: bytes, at: int, end: int, taken_us: int, of: str, offset: int, *, in_tod: bool
) -> tuple[int, int, int]:
    """Beginning (UTC) and length of the interval, and local time minus UTC, all microseconds.

    ``at`` is the place of QWHSTIME and QWHSDURN, ``in_tod``: QWHSDURN has TOD units. Raises SmfError: ``end`` and
    ``taken_us``, the header's local time, contradict them.
    """
    local, duration = _LONG.unpack_from(data, at)
    interval = duration >> 12 if in_tod else duration
    if interval > LONGEST_INTERVAL_US:
        hours = interval // 3_600_000_000
        raise SmfError(f"{of}: QWHSDURN is {duration}, {hours:,} hours: no interval is so long", offset)
    began = (local >> 12) - EPOCH_US
    ahead = _quarters(began + interval - end)
    if ahead not in _ZONES_US:
        said = utc_text(began) or "no calendar holds that"
        raise SmfError(
            f"{of}: QWHSTIME is {local:016X} ({said[:19]}), and the interval's end {utc_text(end)}: no time zone is"
            " so far from UTC",
            offset,
        )
    if abs(taken_us - end - ahead) > _SHIFT_US:
        raise SmfError(
            f"{of}: by QWHSTIME local time is UTC {_hours(ahead)}, by the header UTC"
            f" {_hours(taken_us - end)}: one of the times is wrong",
            offset,
        )
    return began - ahead, interval, ahead


def bare_length(data: bytes, at: int) -> int:
    """The length of a record without a descriptor word, by the end of its last section; 0: none begins at ``at``."""
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

    At V8 the channel initiator's records have a sixth one, of the DNS task, which their number leaves out. It may hold
    garbage when no name was resolved: such a place counts as empty.
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
    """The nearest quarter of an hour: clocks and rounding differ by far less."""
    return (difference_us + _QUARTER_US // 2) // _QUARTER_US * _QUARTER_US


def _date(kind: int, packed: bytes, of: str, at: int) -> tuple[int, int]:
    digits = packed.hex()
    if digits[7] not in "cf" or not digits[:7].isdigit():
        raise SmfError(f"{of}: the header's date, SM{kind}DTE, is {digits}, which is none", at)
    year, day = 1900 + 100 * int(digits[1]) + int(digits[2:4]), int(digits[4:7])
    if not FIRST_YEAR <= year <= LAST_YEAR or not 1 <= day <= 366:
        raise SmfError(f"{of}: SM{kind}DTE is {digits}, day {day} of {year}: {_YEARS}", at)
    return year, day


_YEARS: Final = f"records are of {FIRST_YEAR} to {LAST_YEAR}"


def _header_us(day: tuple[int, int], time_cs: int) -> int:
    return (date(day[0], 1, 1).toordinal() - _FIRST_DAY + day[1] - 1) * _DAY_US + time_cs * 10_000


def _hours(us: int) -> str:
    return f"{us / _HOUR_US:+.2f} h"


def _check_end(end: int, stamp: int, header_us: int, of: str, at: int) -> None:
    """Raises SmfError for an end outside the calendar or too far from the header's time."""
    if not _EARLIEST_US <= end < _LATEST_US:
        raise SmfError(f"{of}: QWHSSTCK is {stamp:016X}, {utc_text(end)}: {_YEARS}", at)
    if header_us - end not in _ZONES_US:
        raise SmfError(
            f"{of}: QWHSSTCK is {stamp:016X}, {utc_text(end)}, and by its header SMF took the record at"
            f" {(utc_text(header_us) or '')[:19]} local time: one of them is wrong",
            at,
        )


def identity_of(record: Record) -> bytes:
    """A digest of all of it but the descriptor word, which depends on the file.

    System, queue manager, type, subtype, end and sequence are in it. The channel initiator's sequence is always 0, so
    what else the record holds must count as well.
    """
    return blake2b(memoryview(record.data)[4:], digest_size=16).digest()
