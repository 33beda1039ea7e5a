"""MQ records out of files: plain or gzip, counted, and filtered by queue manager and time."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from mqvitals_agent.expansion import Expansion, ExpansionError
from mqvitals_agent.smf.framing import raw_records
from mqvitals_agent.smf.record import ACCOUNTING, STATISTICS, Record, SmfError, parse, utc_text
from mqvitals_agent.smf.rmf import TYPES as RMF_TYPES
from mqvitals_agent.smf.rmf import is_read, parse_rmf
from mqvitals_agent.smf.section import SECTIONS, tables
from mqvitals_config.decoding.source import open_regular

MOST_DAMAGE: Final = 10_000
"""The number of damaged records of a file that are described; the others are counted, so that memory does not grow."""


@dataclass(slots=True)
class ReadCounts:
    """What a file holds.

    ``records`` are MQ's by type and subtype, ``sections`` their sections by name, ``skipped`` other records by type,
    ``measured`` those of RMF that were read, ``unknown`` MQ's records without a layout by type and subtype. ``lost`` counts damaged records, ``damage`` has the
    first ``MOST_DAMAGE`` of them. ``selected`` is the number of records and sections after a filter; None: there is
    none.
    """

    records: Counter[tuple[int, int]] = field(default_factory=Counter)
    sections: Counter[str] = field(default_factory=Counter)
    skipped: Counter[int] = field(default_factory=Counter)
    unknown: Counter[tuple[int, int]] = field(default_factory=Counter)
    measured: Counter[tuple[int, int]] = field(default_factory=Counter)
    damage: list[SmfError] = field(default_factory=list)
    lost: int = 0
    selected: tuple[int, int] | None = None

    def damaged(self, error: SmfError) -> None:
        """Note that a record was lost."""
        self.lost += 1
        if len(self.damage) < MOST_DAMAGE:
            self.damage.append(error)

    def lines(self) -> tuple[str, ...]:
        """The summary, one fact a line."""
        found = [_counted(sum(self.records.values()), sum(self.sections.values()))]
        found += [f"  {kind}/{subtype}: {count:,}" for (kind, subtype), count in sorted(self.records.items())]
        if self.unknown:
            counts = ", ".join(f"{kind}/{subtype} {count:,}" for (kind, subtype), count in sorted(self.unknown.items()))
            found.append(f"for IBM's use, or newer than this program: {counts}")
        if self.measured:
            counts = ", ".join(
                f"{kind}/{subtype} {count:,}" for (kind, subtype), count in sorted(self.measured.items())
            )
            found.append(f"RMF's: {counts}")
        if self.skipped:
            counts = ", ".join(f"type {kind} {count:,}" for kind, count in sorted(self.skipped.items()))
            found.append(f"not MQ's, passed over: {counts}")
        found.append(f"damaged: {self.lost:,}")
        found += [f"  {error}" for error in self.damage]
        if self.lost > len(self.damage):
            found.append(f"  and {self.lost - len(self.damage):,} more")
        if self.selected is not None:
            found.append(f"selected: {_counted(*self.selected)}")
        return tuple(found)


def _counted(records: int, parts: int) -> str:
    return f"{records:,} record{'s' * (records != 1)} of MQ, {parts:,} section{'s' * (parts != 1)}"


STDIN: Final = "-"
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"
_PIECE: Final = 1 << 17


class _Counted(io.RawIOBase):
    """A compressed stream that counts the bytes read."""

    def __init__(self, packed: BinaryIO, expansion: Expansion) -> None:
        self._packed = packed
        self._expansion = expansion

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read at most ``size`` bytes."""
        piece = self._packed.read(size)
        self._expansion.read(len(piece))
        return piece


class _Unpacked(io.RawIOBase):
    """The contents of a gzip stream; damage is raised as SmfError with its offset, after all data before it."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._expansion = Expansion()
        self._stream = gzip.GzipFile(fileobj=_Counted(packed, self._expansion))
        self._offset = 0
        self._damage: SmfError | None = None

    def readable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """How far the compressed data are read. Raises OSError for a pipe."""
        return self._packed.tell()

    def read(self, size: int = -1) -> bytes:
        """Read at most ``size`` bytes. Raises SmfError."""
        pieces: list[bytes] = []
        missing = size if size >= 0 else sys.maxsize
        while missing and self._damage is None:
            try:
                piece = self._stream.read1(min(missing, _PIECE))
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                reason = f"what follows cannot be decompressed ({error}): copy the file again"
                self._damage = SmfError(reason, self._offset)
                break
            if not piece:
                break
            try:
                self._expansion.gave(len(piece))
            except ExpansionError as error:
                self._damage = SmfError(f"{error}: this is no SMF data", self._offset)
                break
            pieces.append(piece)
            self._offset += len(piece)
            missing -= len(piece)
        if not pieces and self._damage is not None:
            raise self._damage
        return b"".join(pieces)


@contextmanager
def open_smf(path: Path | str) -> Iterator[BinaryIO]:
    """The data of a file, ``-`` for standard input; closed in the end. Raises OSError, and SmfError for a zip archive.

    Reading raises SmfError where compressed data are damaged.
    """
    if str(path) == STDIN:
        yield _unpacked(sys.stdin.buffer)
        return
    with os.fdopen(open_regular(path), "rb") as file:
        yield _unpacked(file)


def _unpacked(file: BinaryIO) -> BinaryIO:
    buffered = io.BufferedReader(file) if isinstance(file, io.RawIOBase) else file
    head = buffered.peek(4)[:4] if isinstance(buffered, io.BufferedReader) else b""
    if head == _ZIP:
        raise SmfError("the file is a zip archive: unpack it first")
    if head[:2] == _GZIP:
        return _Unpacked(buffered)  # type: ignore[return-value]  # a raw stream is read in the same way
    return buffered


def bytes_read(stream: BinaryIO, record: Record) -> int:
    """How much of a file, as it lies on the disk, was read with its last ``record``; of a pipe, where that is."""
    try:
        return stream.tell()
    except OSError:
        return record.offset


def shown_name(path: str) -> str:
    """A file in messages."""
    return "standard input" if path == STDIN else path


def read_error(error: OSError | SmfError) -> str:
    """Why a file cannot be read."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


class RecordFilter:
    """Records of these queue managers (none: all) with intervals that ended from ``begin`` to ``end``, both included.

    Times are microseconds since 1970 UTC, None: no limit. Records of threads have the time at which they were written.
    For records without a time of their own the header's local time counts, with the UTC offset of the system's records
    before.
    """

    def __init__(self, queue_managers: Iterable[str] = (), begin: int | None = None, end: int | None = None) -> None:
        self._owners = frozenset(map(str.upper, queue_managers))
        self._begin = begin
        self._end = end
        self._ahead: dict[str, int] = {}

    def wants(self, record: Record) -> bool:
        """Whether the record passes; call it for every record in the order of the file."""
        if record.utc_offset_us is not None:
            self._ahead[record.sysid] = record.utc_offset_us
        if self._owners and record.ssid not in self._owners:
            return False
        if self._begin is None and self._end is None:
            return True
        at = self._moment(record)
        return (self._begin is None or at >= self._begin) and (self._end is None or at <= self._end)

    def _moment(self, record: Record) -> int:
        if record.end_us is not None:
            return record.end_us
        return record.header_us - self._ahead.get(record.sysid, 0)


_DAY_US: Final = 86_400_000_000
_PASSED: Final = 64
"""The number of skipped records after which ``records_in_steps`` yields."""


def records(
    stream: BinaryIO, counts: ReadCounts, now_us: int | None = None, *, measured: bool = False
) -> Iterator[Record]:
    """The records of MQ that have known sections; all others are counted.

    Damage costs the record and is noted in ``counts``. ``now_us`` (microseconds since 1970 UTC) is now: a record that
    ended more than a day after it counts as damaged, unless the first record of its system in this stream did so too,
    as the clock of that system is then ahead. None: there is no such limit. ``measured``: records of RMF are returned too.

    Raises OSError, and SmfError when these are no SMF data at all.
    """
    return (record for record in records_in_steps(stream, counts, now_us, measured=measured) if record is not None)


def records_in_steps(
    stream: BinaryIO, counts: ReadCounts, now_us: int | None = None, *, measured: bool = False
) -> Iterator[Record | None]:
    """The same as ``records``, with None after each small piece of work that gave no record."""
    clocks = _Clocks(now_us)
    passed = 0
    try:
        for frame in raw_records(stream, counts.damaged):
            record = None
            if frame is not None and measured and frame.type in RMF_TYPES and is_read(frame.type, frame.data):
                record = _measured(frame.data, frame.offset, counts, clocks)
            elif frame is not None:
                record = _record(frame.data, frame.type, frame.offset, counts, clocks)
            passed = passed + 1 if record is None else 0
            if record is not None or frame is None or passed >= _PASSED:
                passed = 0
                yield record
    except SmfError as error:
        if error.offset is None:
            raise
        counts.damaged(error)


def _record(data: bytes, kind: int, offset: int, counts: ReadCounts, clocks: _Clocks) -> Record | None:
    """The record, if it is one of MQ's with known sections; else it is counted."""
    if kind not in (STATISTICS, ACCOUNTING):
        counts.skipped[kind] += 1
        return None
    record = _parsed(parse, data, offset, counts, clocks)
    if record is None:
        return None
    key = record.type, record.subtype
    counts.records[key] += 1
    if key not in SECTIONS:
        counts.unknown[key] += 1
        return None
    for layout, triplet in tables(record):
        counts.sections[layout.name] += triplet.instances
    return record


def _measured(data: bytes, offset: int, counts: ReadCounts, clocks: _Clocks) -> Record | None:
    """A record of RMF, unless it is damaged."""
    record = _parsed(parse_rmf, data, offset, counts, clocks)
    if record is not None:
        counts.measured[record.type, record.subtype] += 1
    return record


def _parsed(
    parse_one: Callable[[bytes, int], Record], data: bytes, offset: int, counts: ReadCounts, clocks: _Clocks
) -> Record | None:
    """The record, unless it is damaged; then it is counted."""
    try:
        record = parse_one(data, offset)
        clocks.check(record)
    except SmfError as error:
        counts.damaged(error)
        return None
    return record


class _Clocks:
    """The systems whose clocks are more than a day ahead."""

    def __init__(self, now_us: int | None) -> None:
        self._latest_us = None if now_us is None else now_us + _DAY_US
        self._ahead: dict[str, bool] = {}

    def check(self, record: Record) -> None:
        """Raises SmfError for a record of the future from a system whose clock is right."""
        if self._latest_us is None:
            return
        # A record of storage has the header's time alone, which is local.
        at = record.header_us - _DAY_US if record.end_us is None else record.end_us
        ahead = at > self._latest_us
        if ahead and not self._ahead.setdefault(record.sysid, True):
            raise SmfError(
                f"{record.type}/{record.subtype} of {record.ssid or record.sysid}: it ended at {utc_text(at)}, more than a day from now:"
                f" records of {record.sysid} before it did not",
                record.offset,
            )
        if not ahead:
            self._ahead[record.sysid] = False
