"""A whole record: descriptor word, header, the places of its sections, the sections, the standard section behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from struct import Struct
from typing import Final

from mqvitals_agent.simulator.smf.sections import tod_duration, tod_stamp

STATISTICS, ACCOUNTING = 115, 116
MOST_BYTES: Final = 32_756
"""A record's data are no longer; what is more goes to another record."""
_HEADER: Final = Struct(">HHBBI4s4s4sH3sx")
_TRIPLET: Final = Struct(">IHH")
_STANDARD: Final = Struct(">HBBHBBI4sQIIB3xQQ")
_EXTENSION: Final = Struct(">HBx4s6s2x")
_FLAG: Final = 0x5E
_QUEUE_MANAGER, _CHANNEL_INITIATOR = 0x1A, 0xE7
_IDENTIFIERS: Final = {(115, 1): 1, (115, 2): 2, (115, 215): 8, (115, 201): 9}
_MORE, _EXTENDED = 0x80, 0x40
_EXTENDED_FROM: Final = 1000
"""From this command level on the standard section has an extension, and the header a release that was never shipped."""


@dataclass(frozen=True, slots=True)
class StatisticsInterval:
    """Whose records, and of which time: from ``began`` to ``ended``, ms since 1970 UTC. ``zone_ms``: its local time is ahead."""

    queue_manager: str
    number: int
    group: str
    level: int
    zone_ms: int
    began: int
    ended: int

    @property
    def length_ms(self) -> int:
        """How long it is."""
        return self.ended - self.began


@dataclass(frozen=True, slots=True)
class SectionPart:
    """The sections at one place of a record, all of one length. Without any the length stands for them."""

    sections: Sequence[bytes]
    length: int = 0


def smf_record(
    kind: int,
    subtype: int,
    parts: Mapping[int, SectionPart],
    interval: StatisticsInterval,
    *,
    places: int,
    sequence: int = 0,
    more: bool = False,
) -> bytes:
    """A record of type ``kind``: ``parts`` by their place (from 1 on) of ``places``, the standard section's counted.

    ``sequence`` rises from one record of a queue manager to the next; ``more``: others of the same interval follow.
    """
    at = _HEADER.size + places * _TRIPLET.size
    triplets: list[bytes] = []
    body: list[bytes] = []
    for place in range(1, places):
        part = parts.get(place)
        if part is None:
            triplets.append(_TRIPLET.pack(0, 0, 0))
            continue
        length = len(part.sections[0]) if part.sections else part.length
        triplets.append(_TRIPLET.pack(at, length, len(part.sections)))
        body += part.sections
        at += length * len(part.sections)
    standard = _standard(kind, subtype, interval, places, sequence, more=more)
    first = _TRIPLET.pack(at, len(standard), 1)
    size = at + len(standard)
    return b"".join((_header(kind, subtype, interval, size), first, *triplets, *body, standard))


def _header(kind: int, subtype: int, interval: StatisticsInterval, size: int) -> bytes:
    local = interval.ended + interval.zone_ms
    day = datetime.fromtimestamp(local // 1000, UTC)
    date = bytes.fromhex(f"01{day:%y%j}f".rjust(8, "0"))
    release = "946" if interval.level >= _EXTENDED_FROM else f"{interval.level:03}"
    return _HEADER.pack(
        size,
        0,
        _FLAG,
        kind,
        local % 86_400_000 // 10,
        date,
        _text(f"SY{interval.number:02}", 4),
        _text(interval.queue_manager, 4),
        subtype,
        _text(release, 3),
    )


def _standard(
    kind: int, subtype: int, interval: StatisticsInterval, places: int, sequence: int, *, more: bool
) -> bytes:
    chinit = (kind, subtype) in ((115, 231), (116, 10))
    extended = interval.level >= _EXTENDED_FROM
    length_us = interval.length_ms * 1000
    long = _STANDARD.pack(
        _STANDARD.size,
        1,
        _CHANNEL_INITIATOR if chinit else _QUEUE_MANAGER,
        _IDENTIFIERS.get((kind, subtype), 0),
        places,
        0,
        0,
        _text(interval.queue_manager, 4),
        tod_stamp(interval.ended),
        0 if chinit else sequence >> 32,
        0 if chinit else sequence & 0xFFFFFFFF,
        (_MORE if more else 0) | (_EXTENDED if extended else 0),
        tod_stamp(interval.began + interval.zone_ms),
        # The queue manager gives its interval in microseconds, the channel initiator in units of the clock.
        tod_duration(length_us) if chinit else length_us,
    )
    if not extended:
        return long
    level = f"{interval.level // 100:02}{interval.level // 10 % 10:02}{interval.level % 10:02}"
    return long + _EXTENSION.pack(_EXTENSION.size, 0x10, _text(interval.group, 4), _text(level, 6))


def _text(text: str, size: int) -> bytes:
    return text.encode("cp037", "replace")[:size].ljust(size, b"\x40")
