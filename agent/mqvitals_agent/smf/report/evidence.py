"""What was read: files, records, and what each queue manager's records say of themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from mqvitals_agent.smf.error import SmfError
from mqvitals_agent.smf.groups import Groups
from mqvitals_agent.smf.reader import records
from mqvitals_agent.smf.record import Record
from mqvitals_agent.smf.report.staging import Staging
from mqvitals_agent.smf.source import open_smf
from mqvitals_agent.smf.tally import Tally
from mqvitals_agent.smf.teller import Sampler


@dataclass(slots=True)
class Source:
    """A queue manager as it appears: moments are microseconds since 1970 UTC, ``records`` by type and subtype.

    ``ahead`` are what its local time was ahead of UTC (microseconds).
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
        """Note what a record says of itself."""
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
class Evidence:
    """``tallies`` by file, in the order they were named; ``repeated`` records were there before and count once.

    ``unreadable``: files that hold no SMF data or cannot be read to their ends, and why.
    """

    groups: Groups
    tallies: list[tuple[str, Tally]] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    repeated: int = 0

    @property
    def records(self) -> int:
        """MQ's records of all files."""
        return sum(sum(tally.records.values()) for _, tally in self.tallies)

    @property
    def damaged(self) -> int:
        """Records that were lost."""
        return sum(tally.lost for _, tally in self.tallies)

    @property
    def period(self) -> tuple[int, int] | None:
        """From the beginning of the first interval to the end of the last, microseconds; None: no record has a time."""
        first = [each.first_us for each in self.sources.values() if each.first_us is not None]
        last = [each.last_us for each in self.sources.values() if each.last_us is not None]
        return (min(first), max(last)) if first and last else None


def read(paths: Iterable[str], staging: Staging, groups: Groups) -> Evidence:
    """Read files into ``staging``; ``groups`` learns the names that records tell. Raises sqlite3.Error."""
    evidence = Evidence(groups)
    sampler = Sampler(groups)
    for path in paths:
        tally = Tally()
        evidence.tallies.append((path, tally))
        try:
            with open_smf(path) as stream:
                for record in records(stream, tally):
                    _take(record, evidence, sampler, staging)
        except SmfError as error:
            evidence.unreadable.append((path, str(error)))
        except OSError as error:
            evidence.unreadable.append((path, error.strerror or str(error)))
    return evidence


def _take(record: Record, evidence: Evidence, sampler: Sampler, staging: Staging) -> None:
    if not staging.is_new(record):
        evidence.repeated += 1
        return
    evidence.sources.setdefault(record.ssid, Source(record.ssid)).take(record)
    staging.put_span(record)
    for total in sampler.totals(record):
        staging.put(total)
