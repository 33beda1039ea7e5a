"""Simulated SMF records: their headers and sections, and how values, times and durations become bytes.

Written down from IBM's documents on their own, not taken from the reader's layouts: each proves the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from struct import Struct
from typing import Final

_EPOCH_US: Final = 2_208_988_800_000_000
"""From 1900, when the clock of z/OS begins, to 1970."""
_HIGH_WORD: Final = 0xFFFFFFFF_00000000


def tod_stamp(moment: int | None) -> int:
    """The clock's value at a moment, ms since 1970 UTC; 0 for never."""
    return 0 if moment is None else (moment * 1000 + _EPOCH_US) << 12


def coarse_tod_stamp(moment: int | None) -> int:
    """The stamp as channels keep it, in steps of about a second: only the clock's high word."""
    return tod_stamp(moment) & _HIGH_WORD


def tod_duration(us: float) -> int:
    """A length of time in units of the clock."""
    return int(us * 4096)


FieldOffsets = Mapping[str, tuple[int, str]]
"""By name: the offset from the section's beginning, and ``struct``'s code; text (``12s``) is EBCDIC, padded with
blanks.
"""
Value = int | str
_TODAY: Final = 940
_BLANK: Final = b"\x40"


class SectionTemplate:
    """One kind of section. Fields without a value are zero, or blanks in a text.

    A section begins with ``identifier`` and ``eye``; tasks of the channel initiator have neither (0 and an empty text).
    ``lengths``: the section's length by the first command level that has it, ascending.
    """

    def __init__(self, identifier: int, eye: str, lengths: Mapping[int, int], cells: FieldOffsets) -> None:
        self._identifier = identifier
        self._eye = eye
        self._lengths = dict(lengths)
        self._cells = {name: (offset, Struct(f">{code}"), code.endswith("s")) for name, (offset, code) in cells.items()}

    def length(self, level: int = _TODAY) -> int:
        """The length of one section at a command level, bytes."""
        fitting = [length for since, length in self._lengths.items() if since <= level]
        return fitting[-1] if fitting else next(iter(self._lengths.values()))

    def pack(self, values: Mapping[str, Value], level: int = _TODAY) -> bytes:
        """The section without fields newer than ``level``; a number beyond its field becomes the field's maximum."""
        data = bytearray(_blank(self, level))
        for name, value in values.items():
            offset, form, textual = self._cells[name]
            if offset + form.size > len(data):
                continue
            if textual:
                text = str(value).encode("cp037", "replace")[: form.size]
                data[offset : offset + form.size] = text.ljust(form.size, _BLANK)
            else:
                form.pack_into(data, offset, min(int(value), 256**form.size - 1))
        return bytes(data)

    def blank(self, level: int) -> bytes:
        """A section without values."""
        data = bytearray(self.length(level))
        if self._eye:
            data[:2] = self._identifier.to_bytes(2, "big")
            data[2:4] = len(data).to_bytes(2, "big")
            data[4:8] = self._eye.encode("cp037")
        for offset, form, textual in self._cells.values():
            if textual and offset + form.size <= len(data):
                data[offset : offset + form.size] = _BLANK * form.size
        return bytes(data)


@cache
def _blank(table: SectionTemplate, level: int) -> bytes:
    return table.blank(level)


QPST = SectionTemplate(
    0xD70F,
    "QPST",
    {0: 104},
    {
        "pool": (8, "I"),
        "buffers": (12, "I"),
        "lowest": (16, "I"),
        "free": (20, "I"),
        "old_pages": (24, "I"),
        "new_pages": (28, "I"),
        "reads": (32, "I"),
        "updates": (36, "I"),
        "pages_written": (40, "I"),
        "writes": (44, "I"),
        "synchronous_pages": (48, "I"),
        "deferred_starts": (52, "I"),
        "synchronous_hits": (56, "I"),
        "steals": (60, "I"),
        "changed_steals": (64, "I"),
        "waits": (68, "I"),
        "flags": (72, "I"),
    },
)
QIS1 = SectionTemplate(
    0xC927,
    "QIS1",
    {0: 104},
    {
        "page_set": (8, "I"),
        "pool": (12, "I"),
        "total": (16, "I"),
        "unused": (20, "I"),
        "persistent": (24, "I"),
        "nonpersistent": (28, "I"),
        "full": (32, "I"),
        "deferred_writes": (40, "I"),
        "deferred_pages": (44, "I"),
        "deferred_time": (48, "Q"),
        "synchronous_writes": (56, "I"),
        "synchronous_pages": (60, "I"),
        "synchronous_time": (64, "Q"),
        "reads": (72, "I"),
        "pages_read": (76, "I"),
        "read_time": (80, "Q"),
        "expansions": (92, "H"),
        "stripes": (94, "B"),
        "expand_type": (95, "B"),
    },
)
_IO = {
    "count": (264, "I"),
    "intervals": (268, "I"),
    "time": (272, "Q"),
    "suspended": (280, "Q"),
    "longest": (288, "Q"),
    "longest_at": (296, "Q"),
    "longest_log": (304, "8s"),
}
QJST = SectionTemplate(
    0x0093,
    "QJST",
    {0: 576, 912: 592, 914: 596, 940: 720},
    {
        "not_waited": (12, "I"),
        "forced": (16, "I"),
        "buffer_waits": (20, "I"),
        "bootstrap": (40, "I"),
        "intervals_made": (44, "I"),
        "write_calls": (48, "I"),
        "archives_written": (56, "I"),
        "intervals_offloaded": (60, "I"),
        "checkpoints": (64, "I"),
        "suspends": (80, "I"),
        "writes": (84, "I"),
        "intervals_written": (88, "I"),
        "serial_writes": (92, "I"),
        **{f"{name}_{group}": (at + 72 * group, code) for group in range(4) for name, (at, code) in _IO.items()},
        "idle_us": (552, "Q"),
        "squares_high": (560, "Q"),
        "squares": (568, "Q"),
        "new_logs_1": (576, "I"),
        "new_logs_2": (580, "I"),
    },
)
QSST = SectionTemplate(0x003C, "QSST", {0: 80}, {"getmains": (48, "I"), "freemains": (52, "I")})
QMST = SectionTemplate(
    0xD40F,
    "QMST",
    {0: 72, 903: 104},
    {
        "gets": (16, "I"),
        "puts": (20, "I"),
        "persistent": (72, "Q"),
        "nonpersistent": (80, "Q"),
        "persistent_bytes": (88, "Q"),
        "nonpersistent_bytes": (96, "Q"),
    },
)
QIST = SectionTemplate(
    0xC90F,
    "QIST",
    {0: 80},
    {"gets": (8, "I"), "puts": (12, "I"), "gets_from_disk": (68, "I"), "gets_from_pool": (72, "I")},
)
QLST = SectionTemplate(0xD30F, "QLST", {0: 32}, {"locks": (8, "I"), "releases": (16, "I")})
Q5ST = SectionTemplate(0xF50F, "Q5ST", {0: 672}, {"tasks": (8, "I"), "active_tasks": (12, "I")})
QTST = SectionTemplate(0xA302, "QTST", {0: 100}, {})
SLOTS, SLOT_BYTES = 64, 64
_SLOT = {
    "single": (24, "I"),
    "multiple": (28, "I"),
    "single_time": (32, "Q"),
    "multiple_time": (40, "Q"),
    "full": (56, "I"),
    "entries": (60, "I"),
    "elements": (64, "I"),
}
_NAME = {"name": (0, "12s"), "number": (12, "I")}
QEST = SectionTemplate(
    0xC513,
    "QEST",
    {0: 4104},
    {f"{name}_{slot}": (at + SLOT_BYTES * slot, code) for slot in range(SLOTS) for name, (at, code) in _SLOT.items()},
)
"""All but the names: a slot without a structure has zeros in place of the name."""
QEST_NAME = SectionTemplate(0, "", {0: 16}, _NAME)
"""The beginning of a used slot."""
QESD = SectionTemplate(
    0xC523,
    "QESD",
    {0: 328, 914: 336},
    {
        "structure": (8, "12s"),
        "number": (20, "I"),
        "blocks": (24, "I"),
        "data_blocks": (32, "I"),
        "blocks_used": (36, "I"),
        "blocks_free": (40, "I"),
        "messages": (44, "I"),
        "allocations": (48, "I"),
        "releases": (52, "I"),
        "most_messages": (84, "I"),
        "most_used": (88, "I"),
        "fewest_free": (92, "I"),
        "buffer_bytes": (96, "I"),
        "buffers": (100, "I"),
        "buffers_used": (104, "I"),
        "buffers_saved": (112, "I"),
        "buffers_empty": (116, "I"),
        "reads_asked": (152, "I"),
        "reads_saved": (156, "I"),
        "writes_asked": (164, "I"),
        "most_buffers": (200, "I"),
        "fewest_buffers": (204, "I"),
        "interval_bytes": (224, "I"),
    },
)


QCCT = SectionTemplate(
    0xE741,
    "QCCT",
    {0: 48, 935: 64},
    {
        "job": (8, "8s"),
        "group": (16, "4s"),
        "channels": (20, "I"),
        "most_channels": (24, "I"),
        "active": (28, "I"),
        "most_active": (32, "I"),
        "most_tcp": (36, "I"),
        "most_lu62": (40, "I"),
        "storage_31": (44, "I"),
        "storage_64": (48, "Q"),
        "limit_64": (56, "Q"),
    },
)
_TASK = {"task": (0, "I"), "requests": (4, "I"), "cpu": (8, "Q"), "elapsed": (16, "Q"), "wait": (24, "Q")}
QCTDSP = SectionTemplate(0, "", {0: 36}, {**_TASK, "channels": (32, "I")})
QCTADP = SectionTemplate(0, "", {0: 32}, _TASK)
QCTSSL = SectionTemplate(0, "", {0: 48}, {**_TASK, "longest_at": (32, "Q"), "longest": (40, "Q")})
QCTDNS = SectionTemplate(0, "", {0: 48}, {**_TASK, "longest_at": (32, "Q"), "longest": (40, "Q")})
QCST = SectionTemplate(
    0xE74A,
    "QCST",
    {0: 324, 1000: 340},
    {
        "collected": (8, "Q"),
        "channel": (16, "20s"),
        "disposition": (36, "B"),
        "type": (37, "B"),
        "status": (38, "B"),
        "statistics": (39, "B"),
        "connection": (40, "48s"),
        "started": (88, "Q"),
        "stopped": (96, "Q"),
        "last_message": (104, "Q"),
        "batch_size": (112, "I"),
        "messages": (116, "I"),
        "persistent": (120, "I"),
        "batches": (124, "I"),
        "full_batches": (128, "I"),
        "buffers_sent": (132, "I"),
        "buffers_received": (136, "I"),
        "conversations": (140, "I"),
        "message_bytes": (144, "Q"),
        "persistent_bytes": (152, "Q"),
        "bytes_sent": (160, "Q"),
        "bytes_received": (168, "Q"),
        "exit_shortest": (184, "I"),
        "network_average": (204, "I"),
        "network_shortest": (208, "I"),
        "network_longest": (212, "I"),
        "network_longest_at": (216, "Q"),
        "partner": (224, "48s"),
        "certificate": (280, "16s"),
        "queue_empty": (304, "I"),
        "batch_interval": (308, "I"),
        "data_limit": (312, "I"),
        "dispatcher": (316, "H"),
        "product": (324, "4s"),
        "version": (328, "8s"),
    },
)


STATISTICS, ACCOUNTING = 115, 116
MOST_BYTES: Final = 32_756
"""The longest data of a record; the rest goes to another record."""
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
    """A queue manager's interval from ``began`` to ``ended``, ms since 1970 UTC. ``zone_ms``: its local time minus
    UTC.
    """

    queue_manager: str
    number: int
    group: str
    level: int
    zone_ms: int
    began: int
    ended: int

    @property
    def length_ms(self) -> int:
        """The length of the interval."""
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
