"""RMF's records in a dump: header, product section with the interval, and where the sections that are read lie.

A record becomes the same ``Record`` as one of MQ's, without a queue manager. What does not agree with itself is refused with a
sentence that names type, subtype and system: triplets outside the record, sections shorter than their layout, times that
differ by more than a time zone.
"""

from __future__ import annotations

from datetime import date
from struct import Struct
from typing import Final

from mqvitals_agent.smf.layout.field import text
from mqvitals_agent.smf.layout.rmf import LEAST, SECTIONS
from mqvitals_agent.smf.record import (
    EPOCH_US,
    FIRST_YEAR,
    LAST_YEAR,
    LONGEST_INTERVAL_US,
    Record,
    SmfError,
    Triplet,
    utc_text,
)

TYPES: Final = frozenset(kind for kind, _ in SECTIONS)
_HEADER: Final = Struct(">4xBBI4s4s4sH4x")
_TRIPLET: Final = Struct(">IHH")
_PRODUCT: Final = 28
_FIRST: Final = 36
_INTERVAL: Final = Struct(">10x4s4s4s")
_ZONE: Final = 60
"""SMF70LGO: local time minus UTC, in TOD units."""
_PROJECTED: Final = 80
"""SMF70GIE: when the interval was to end, a TOD stamp of UTC."""
_SHORTEST: Final = 88
_MOST: Final = 4096
"""More sections than this a record of 32 KB cannot hold."""
_DAY_US: Final = 86_400_000_000
_HOUR_US: Final = 3_600_000_000
_QUARTER_US: Final = 900_000_000
_FIRST_DAY: Final = date(1970, 1, 1).toordinal()
_ZONES_US: Final = range(-13 * _HOUR_US, 15 * _HOUR_US)
_TAKEN_US: Final = 3 * _HOUR_US
"""SMF takes a record soon after its interval; a change of summer time may lie between."""
_EARLY_US: Final = 100 * 60_000_000
"""An interval may end before its time by its own length, which is 99 minutes at most."""
_LATE_US: Final = 5 * 60_000_000


def subtype_of(data: bytes) -> int:
    """The subtype of a record of one of ``TYPES``; 0: it is too short to have one."""
    return int.from_bytes(data[22:24], "big")


def is_read(kind: int, data: bytes) -> bool:
    """Whether a record is one whose sections are read."""
    return (kind, subtype_of(data)) in SECTIONS


def parse_rmf(data: bytes, offset: int = 0) -> Record:
    """Read one record of RMF. ``data`` begins with the descriptor word. Raises SmfError for what no such record can hold."""
    if len(data) < _FIRST:
        raise SmfError(f"a record of {len(data)} bytes is too short for its header", offset)
    _, kind, time_cs, packed, sysid, _, subtype = _HEADER.unpack_from(data, 0)
    of = f"{kind}/{subtype} of {text(sysid) or 'no system'}"
    layouts = SECTIONS.get((kind, subtype))
    if layouts is None:
        raise SmfError(f"{of}: no such record is read", offset)
    product = _triplet(data, _PRODUCT, of, offset)
    if not product.instances or product.length < _SHORTEST:
        raise SmfError(f"{of}: its product section has {product.length} bytes, of at least {_SHORTEST}", offset)
    last = max(layouts) + 1
    if product.offset < _FIRST + _TRIPLET.size * last:
        raise SmfError(f"{of}: its list of sections is too short: it has no {last}th one", offset)
    triplets = tuple(_triplet(data, _FIRST + _TRIPLET.size * index, of, offset) for index in range(last))
    for index, layout in layouts.items():
        found = triplets[index]
        if found.instances and found.length < LEAST[layout.name]:
            raise SmfError(
                f"{of}: its sections {layout.name} have {found.length} bytes, of at least {LEAST[layout.name]}", offset
            )
    start, interval, ahead = _times(data, product.offset, time_cs, packed, of, offset)
    return Record(
        offset=offset,
        data=data,
        type=kind,
        subtype=subtype,
        sysid=text(sysid),
        ssid="",
        release=0,
        qsg=None,
        time_cs=time_cs,
        date=_date(packed, of, "date of its header", offset),
        start_us=start - ahead,
        end_us=start + interval - ahead,
        interval_us=interval,
        utc_offset_us=ahead,
        sequence=(0, 0),
        more=False,
        triplets=triplets,
        context=None,
    )


def _triplet(data: bytes, place: int, of: str, at: int) -> Triplet:
    if place + _TRIPLET.size > len(data):
        raise SmfError(f"{of}: it ends within its list of sections", at)
    found = Triplet._make(_TRIPLET.unpack_from(data, place))
    if found.instances and (
        found.instances > _MOST
        or not found.length
        or found.offset < _FIRST
        or found.offset + found.length * found.instances > len(data)
    ):
        raise SmfError(
            f"{of}: a section would lie at {found.offset} with {found.instances} times {found.length} bytes, outside a record"
            f" of {len(data)}",
            at,
        )
    return found


def _times(data: bytes, product: int, time_cs: int, packed: bytes, of: str, at: int) -> tuple[int, int, int]:
    """Beginning (local) and length of the interval, and local time minus UTC, all microseconds."""
    began, day, lasted = _INTERVAL.unpack_from(data, product)
    start = _day_us(day, of, "first day of its interval", at) + _clock_us(began, of, at)
    digits = _digits(lasted, of, "length of its interval", at)
    interval = (int(digits[:2]) * 60 + int(digits[2:4])) * 1_000_000 + int(digits[4:7]) * 1000
    if not 0 < interval <= LONGEST_INTERVAL_US:
        raise SmfError(f"{of}: its interval has a length of {interval / 1e6:g} s", at)
    end = start + interval
    taken = _day_us(packed, of, "date of its header", at) + time_cs * 10_000
    if abs(taken - end) > _TAKEN_US:
        raise SmfError(
            f"{of}: its interval ended at {_shown(end)} local time, and SMF took it at {_shown(taken)}: one of them is wrong",
            at,
        )
    return start, interval, _ahead(data, product, end, of, at)


def _ahead(data: bytes, product: int, end: int, of: str, at: int) -> int:
    """Local time minus UTC, as the record says it; where the end planned in UTC contradicts that, as this one says it."""
    zone, planned = (
        int.from_bytes(data[product + each : product + each + 8], "big", signed=each == _ZONE)
        for each in (_ZONE, _PROJECTED)
    )
    ahead = _quarters(zone >> 12)
    due = (planned >> 12) - EPOCH_US
    if planned and not -_LATE_US <= due - (end - ahead) <= _EARLY_US:
        ahead = _quarters(end - due)
    if ahead not in _ZONES_US:
        raise SmfError(f"{of}: local time would be UTC {ahead / _HOUR_US:+.2f} h: no time zone is so far from UTC", at)
    return ahead


def _quarters(us: int) -> int:
    return (us + _QUARTER_US // 2) // _QUARTER_US * _QUARTER_US


def _digits(packed: bytes, of: str, what: str, at: int) -> str:
    digits = packed.hex()
    if digits[7] not in "cf" or not digits[:7].isdigit():
        raise SmfError(f"{of}: the {what} is {digits}, which is none", at)
    return digits


def _date(packed: bytes, of: str, what: str, at: int) -> tuple[int, int]:
    digits = _digits(packed, of, what, at)
    year, day = 1900 + 100 * int(digits[1]) + int(digits[2:4]), int(digits[4:7])
    if not FIRST_YEAR <= year <= LAST_YEAR or not 1 <= day <= 366:
        raise SmfError(f"{of}: the {what} is day {day} of {year}: records are of {FIRST_YEAR} to {LAST_YEAR}", at)
    return year, day


def _day_us(packed: bytes, of: str, what: str, at: int) -> int:
    year, day = _date(packed, of, what, at)
    return (date(year, 1, 1).toordinal() - _FIRST_DAY + day - 1) * _DAY_US


def _clock_us(packed: bytes, of: str, at: int) -> int:
    digits = _digits(packed, of, "beginning of its interval", at)
    hours, minutes, seconds = int(digits[1:3]), int(digits[3:5]), int(digits[5:7])
    if hours > 23 or minutes > 59 or seconds > 60:
        raise SmfError(f"{of}: the beginning of its interval is {digits}, no time of a day", at)
    return (hours * 3600 + minutes * 60 + seconds) * 1_000_000


def _shown(us: int) -> str:
    return (utc_text(us) or "no calendar holds that")[:19]
