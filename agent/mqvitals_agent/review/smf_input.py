"""The files of a health check in a temporary store: what was read of each queue manager, gaps between intervals, and
records that are missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from mqvitals_agent.smf.ingest import IngestResult, PassOn, RecordIngest, ingest_file
from mqvitals_agent.smf.partial_sample import GroupNames
from mqvitals_agent.smf.reader import STDIN, ReadCounts, shown_name
from mqvitals_agent.smf.record import Record
from mqvitals_agent.smf.restart import Restart, guarded_restarts
from mqvitals_agent.store.writer import Store

IntervalUs = tuple[int, int]
"""Beginning and end of an interval, microseconds since 1970 UTC."""


@contextmanager
def temporary_store() -> Iterator[Store]:
    """A store in the temporary directory, deleted in the end. Raises OSError and StoreError."""
    with (
        TemporaryDirectory(prefix="mqvitals-report-", ignore_cleanup_errors=True) as folder,
        Store.open(Path(folder) / "report.db", records=True) as store,
    ):
        yield store


class RecordIntervals:
    """The intervals and sequence numbers of records, in a temporary table of the store's connection.

    All methods raise StoreError.
    """

    def __init__(self, store: Store) -> None:
        self._database = store.database
        with self._database.writing() as connection:
            connection.execute(
                "CREATE TEMP TABLE interval(system TEXT, owner TEXT, type INTEGER, subtype INTEGER, began INTEGER,"
                " ended INTEGER, number INTEGER)"
            )
            connection.execute("CREATE INDEX temp.interval_began ON interval(owner, type, subtype, began, ended)")

    def add(self, records: Sequence[Record]) -> None:
        """Add records that have an end."""
        with self._database.writing() as connection:
            connection.executemany(
                "INSERT INTO interval VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (each.sysid, each.ssid, each.type, each.subtype, each.start_us, each.end_us, each.sequence[1])
                    for each in records
                    if each.end_us is not None
                ],
            )

    def spans(self, owner: str, kind: int, subtype: int) -> Iterator[IntervalUs]:
        """The intervals of a queue manager's records of a type and subtype, in the order of their beginnings."""
        with self._database.reading() as connection:
            yield from connection.execute(
                "SELECT DISTINCT began, ended FROM interval"
                " WHERE owner = ? AND type = ? AND subtype = ? AND began NOT NULL ORDER BY began, ended",
                (owner, kind, subtype),
            )

    def restarts(self) -> Iterator[tuple[Restart, int]]:
        """The restarts of queue managers, as ``guarded_restarts``."""
        with self._database.reading() as connection:
            yield from guarded_restarts(
                connection.execute(
                    "SELECT DISTINCT system, owner, ended, number, began FROM interval"
                    " ORDER BY system, owner, ended, number, began"
                )
            )


@dataclass(slots=True)
class RecordSource:
    """What the records of a queue manager say of it: times in microseconds since 1970 UTC, ``records`` by type and
    subtype.

    ``ahead`` are the offsets of its local time from UTC (microseconds).
    """

    name: str
    systems: set[str] = field(default_factory=set)
    releases: set[int] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)
    ahead: set[int] = field(default_factory=set)
    records: Counter[tuple[int, int]] = field(default_factory=Counter)
    first_us: int | None = None
    last_us: int | None = None

    def take(self, record: Record) -> None:
        """Add a record."""
        self.systems.add(record.sysid)
        if record.release:
            self.releases.add(record.release)
        if record.qsg:
            self.groups.add(record.qsg)
        if record.utc_offset_us is not None:
            self.ahead.add(record.utc_offset_us)
        self.records[record.type, record.subtype] += 1
        if record.end_us is not None:
            began = record.end_us if record.start_us is None else record.start_us
            self.first_us = began if self.first_us is None else min(self.first_us, began)
            self.last_us = record.end_us if self.last_us is None else max(self.last_us, record.end_us)


@dataclass(slots=True)
class ReportInput:
    """The files and what they hold, in their order.

    ``unreadable``: files that hold no SMF data or cannot be read to their ends, and why. Records that came more than
    once are ``ingested.known`` and count once; samples without the name of their group are ``ingested.left_out``.
    """

    groups: GroupNames
    intervals: RecordIntervals
    ingested: IngestResult
    counts_by_file: list[tuple[str, ReadCounts]] = field(default_factory=list)
    sources: dict[str, RecordSource] = field(default_factory=dict)
    unreadable: list[tuple[str, str]] = field(default_factory=list)

    @property
    def records(self) -> int:
        """MQ's records of all files."""
        return sum(sum(counts.records.values()) for _, counts in self.counts_by_file)

    @property
    def damaged(self) -> int:
        """The number of damaged records."""
        return sum(counts.lost for _, counts in self.counts_by_file)

    @property
    def period(self) -> tuple[int, int] | None:
        """From the beginning of the first interval to the end of the last, microseconds; None: no record has a time."""
        first = [each.first_us for each in self.sources.values() if each.first_us is not None]
        last = [each.last_us for each in self.sources.values() if each.last_us is not None]
        return (min(first), max(last)) if first and last else None


def read_files(
    paths: Iterable[str], store: Store, groups: GroupNames, now_us: int | None = None, progress: PassOn | None = None
) -> ReportInput:
    """Read files into ``store``; ``groups`` learns the names in records. Raises StoreError.

    ``now_us`` and ``progress``: as for ``ingest_file``.
    """
    intervals = RecordIntervals(store)
    sources: dict[str, RecordSource] = {}

    def on_new(records: Sequence[Record]) -> None:
        intervals.add(records)
        for record in records:
            sources.setdefault(record.ssid, RecordSource(record.ssid)).take(record)

    ingest = RecordIngest(store, None, groups, on_new=on_new)
    report_input = ReportInput(groups, intervals, ingest.result, sources=sources)
    for path in paths:
        counts, name = ReadCounts(), f"({shown_name(path)})" if path == STDIN else path
        report_input.counts_by_file.append((name, counts))
        if reason := ingest_file(path, ingest, counts, now_us, progress):
            report_input.unreadable.append((name, reason))
    return report_input


def left_out(report_input: ReportInput) -> Iterator[str]:
    """What the report leaves out, a sentence for each reason."""
    ingested = report_input.ingested
    skipped, unknown = Counter[int](), Counter[tuple[int, int]]()
    for _, counts in report_input.counts_by_file:
        skipped.update(counts.skipped)
        unknown.update(counts.unknown)
    if skipped:
        listed = ", ".join(f"type {kind} {count:,}" for kind, count in sorted(skipped.items()))
        yield f"Not MQ's: {listed}."
    if unknown:
        listed = ", ".join(f"{kind}/{subtype} {count:,}" for (kind, subtype), count in sorted(unknown.items()))
        yield f"For IBM's use, or newer than this program: {listed}."
    if ingested.known:
        yield f"Came more than once, as where dumps overlap, and counted once: {ingested.known:,}."
    if report_input.damaged:
        yield f"Damaged: {report_input.damaged:,}, listed below."
    if ingested.left_out:
        listed = ", ".join(f"{name} {count:,}" for name, count in sorted(ingested.left_out.items()))
        yield (
            f"Structures, data sets and shared queues, because the name of the queue-sharing group is unknown: {listed}."
            " Give the 115-231 records with them, or set name in the configuration."
        )
    unnamed = ingested.unnamed
    if unnamed.count:
        more = unnamed.count - len(unnamed.first)
        listed = "; ".join(map(str, unnamed.first)) + (f"; and {more:,} more" if more else "")
        yield f"Objects with invalid names: {unnamed.count:,}. {listed}."


MOST_GAPS: Final = 5
"""The number of gaps that are listed; the others are counted."""
_TOLERANCE_US: Final = 2_000_000
"""Intervals do not join to the microsecond."""


@dataclass(frozen=True, slots=True)
class Intervals:
    """The intervals of one subtype: their number, shortest and longest length, and gaps (microseconds)."""

    number: int
    shortest_us: int
    longest_us: int
    gaps: tuple[IntervalUs, ...]
    gap_count: int


def intervals_of(spans: Iterable[IntervalUs]) -> Intervals | None:
    """Summarise intervals in the order of their beginnings; None when there are none."""
    number = gap_count = 0
    shortest = longest = 0
    covered: int | None = None
    gaps: list[IntervalUs] = []
    for began, ended in spans:
        length = ended - began
        shortest = length if not number else min(shortest, length)
        longest = max(longest, length)
        number += 1
        if covered is not None and began - covered > _TOLERANCE_US:
            gap_count += 1
            if len(gaps) < MOST_GAPS:
                gaps.append((covered, began))
        covered = ended if covered is None else max(covered, ended)
    return Intervals(number, shortest, longest, tuple(gaps), gap_count) if number else None


class ExpectedRecords(NamedTuple):
    """Records that a health check needs: ``since`` the first release with them, ``kinds`` the objects they report,
    ``how`` to switch them on.
    """

    what: str
    type: int
    subtypes: tuple[int, ...]
    since: int
    kinds: tuple[str, ...]
    how: str

    def __str__(self) -> str:
        subtypes = " and ".join(map(str, self.subtypes))
        return f"{self.what} ({self.type} subtype{'s' * (len(self.subtypes) > 1)} {subtypes})"


_STATISTICS: Final = "START TRACE(STAT) CLASS(1), or SMFSTAT in CSQ6SYSP"
_INITIATOR: Final = "START TRACE(STAT) CLASS(4)"
_QUEUES: Final = "START TRACE(STAT) CLASS(5), and STATQ of the queue manager and its queues"
_CHANNELS: Final = "START TRACE(ACCTG) CLASS(4), and STATCHL of the queue manager and its channels"
_TASKS: Final = "START TRACE(ACCTG) CLASS(3) for a while, and ACCTQ of the queue manager and its queues"
_INITIATOR_KINDS: Final = ("channel_initiator", "adapter", "dispatcher", "ssl_task", "dns_task")
EXPECTED_RECORDS: Final = (
    ExpectedRecords("logs", 115, (1,), 0, ("log",), _STATISTICS),
    ExpectedRecords("buffer pools", 115, (215,), 800, ("buffer_pool",), _STATISTICS),
    ExpectedRecords("page sets", 115, (201,), 900, ("page_set",), _STATISTICS),
    ExpectedRecords("channel initiator, adapters and dispatchers", 115, (231,), 800, _INITIATOR_KINDS, _INITIATOR),
    ExpectedRecords("queues", 115, (216,), 930, ("queue",), _QUEUES),
    ExpectedRecords("channels", 116, (10,), 800, ("channel",), _CHANNELS),
    ExpectedRecords("applications", 116, (1, 2), 0, ("application",), _TASKS),
)
"""In the order of importance."""


def missing(source: RecordSource) -> tuple[ExpectedRecords, ...]:
    """The records that a queue manager did not write although its release can."""
    newest = max(source.releases, default=0)
    return tuple(
        each
        for each in EXPECTED_RECORDS
        if not any((each.type, subtype) in source.records for subtype in each.subtypes)
        and (not each.since or newest >= each.since)
    )
