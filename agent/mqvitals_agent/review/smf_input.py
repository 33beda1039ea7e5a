"""The files of a health check: what was read of each queue manager, gaps between intervals, and records that are
missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from mqvitals_agent.review.sample_spool import IntervalUs, SampleSpool
from mqvitals_agent.smf.partial_sample import GroupNames
from mqvitals_agent.smf.reader import ReadCounts, open_smf, records
from mqvitals_agent.smf.record import Record, SmfError
from mqvitals_agent.smf.sampler import Sampler, UnnamedObjects


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
    """The files and what they hold, in their order. ``repeated`` records came more than once and count once.

    ``unreadable``: files that hold no SMF data or cannot be read to their ends, and why. ``unnamed``: objects without a
    usable name. ``ungrouped``: by queue manager, how many structures, data sets and shared queues its records hold
    without the group's name.
    """

    groups: GroupNames
    counts_by_file: list[tuple[str, ReadCounts]] = field(default_factory=list)
    sources: dict[str, RecordSource] = field(default_factory=dict)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    repeated: int = 0
    unnamed: UnnamedObjects = field(default_factory=UnnamedObjects)
    ungrouped: Counter[str] = field(default_factory=Counter)

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


def read_files(paths: Iterable[str], spool: SampleSpool, groups: GroupNames, now_us: int | None = None) -> ReportInput:
    """Read files into ``spool``; ``groups`` learns the names in records. Raises sqlite3.Error.

    ``now_us``: as for ``reader.records``.
    """
    sampler = Sampler(groups)
    report_input = ReportInput(groups, unnamed=sampler.unnamed)
    for path in paths:
        counts = ReadCounts()
        report_input.counts_by_file.append((path, counts))
        try:
            with open_smf(path) as stream:
                for record in records(stream, counts, now_us):
                    _take(record, report_input, sampler, spool)
        except SmfError as error:
            report_input.unreadable.append((path, str(error)))
        except OSError as error:
            report_input.unreadable.append((path, error.strerror or str(error)))
    return report_input


def left_out(report_input: ReportInput) -> Iterator[str]:
    """What the report leaves out, a sentence for each reason."""
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
    if report_input.repeated:
        yield f"Came more than once, as where dumps overlap, and counted once: {report_input.repeated:,}."
    if report_input.damaged:
        yield f"Damaged: {report_input.damaged:,}, listed below."
    if report_input.ungrouped:
        listed = ", ".join(f"{name} {count:,}" for name, count in sorted(report_input.ungrouped.items()))
        yield (
            f"Structures, data sets and shared queues, because the name of the queue-sharing group is unknown: {listed}."
            " Give the 115-231 records with them, or set name in the configuration."
        )
    if report_input.unnamed.count:
        more = report_input.unnamed.count - len(report_input.unnamed.first)
        listed = "; ".join(map(str, report_input.unnamed.first)) + (f"; and {more:,} more" if more else "")
        yield f"Objects with invalid names: {report_input.unnamed.count:,}. {listed}."


def _take(record: Record, report_input: ReportInput, sampler: Sampler, spool: SampleSpool) -> None:
    if not spool.is_new(record):
        report_input.repeated += 1
        return
    report_input.sources.setdefault(record.ssid, RecordSource(record.ssid)).take(record)
    spool.put_span(record)
    for total in sampler.partial_samples(record):
        spool.put(total)


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
    """Records that a health check needs: ``kinds`` are the objects they report, ``since`` the first release with
    them.
    """

    subtypes: frozenset[tuple[int, int]]
    since: int
    what: str
    how: str
    kinds: tuple[str, ...]


EXPECTED_RECORDS: Final = (
    ExpectedRecords(
        frozenset({(115, 1)}),
        0,
        "logs (115 subtype 1)",
        "START TRACE(STAT) CLASS(1), or SMFSTAT in CSQ6SYSP",
        ("log",),
    ),
    ExpectedRecords(
        frozenset({(115, 215)}),
        800,
        "buffer pools (115 subtype 215)",
        "START TRACE(STAT) CLASS(1), or SMFSTAT in CSQ6SYSP",
        ("buffer_pool",),
    ),
    ExpectedRecords(
        frozenset({(115, 201)}),
        900,
        "page sets (115 subtype 201)",
        "START TRACE(STAT) CLASS(1), or SMFSTAT in CSQ6SYSP",
        ("page_set",),
    ),
    ExpectedRecords(
        frozenset({(115, 231)}),
        800,
        "channel initiator, adapters and dispatchers (115 subtype 231)",
        "START TRACE(STAT) CLASS(4)",
        ("channel_initiator", "adapter", "dispatcher", "ssl_task", "dns_task"),
    ),
    ExpectedRecords(
        frozenset({(115, 216)}),
        930,
        "queues (115 subtype 216)",
        "START TRACE(STAT) CLASS(5), and STATQ of the queue manager and its queues",
        ("queue",),
    ),
    ExpectedRecords(
        frozenset({(116, 10)}),
        800,
        "channels (116 subtype 10)",
        "START TRACE(ACCTG) CLASS(4), and STATCHL of the queue manager and its channels",
        ("channel",),
    ),
    ExpectedRecords(
        frozenset({(116, 1), (116, 2)}),
        0,
        "applications (116 subtypes 1 and 2)",
        "START TRACE(ACCTG) CLASS(3) for a while, and ACCTQ of the queue manager and its queues",
        ("application",),
    ),
)
"""In the order of importance."""


def missing(source: RecordSource) -> tuple[ExpectedRecords, ...]:
    """The records that a queue manager did not write although its release can."""
    newest = max(source.releases, default=0)
    return tuple(
        each
        for each in EXPECTED_RECORDS
        if not each.subtypes & source.records.keys() and (not each.since or newest >= each.since)
    )
