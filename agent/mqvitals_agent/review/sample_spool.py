"""Samples of SMF records on disk, read back in the order of time, so that files of any size fit into memory."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Final

from mqvitals_agent.smf.partial_sample import GroupNames, PartialSample
from mqvitals_agent.smf.record import Record, identity_of
from mqvitals_agent.smf.restart import Restart, RestartDetector
from mqvitals_agent.smf.snapshots import (
    DAY_MS,
    TOP_APPLICATIONS,
    SampleKey,
    as_rest,
    merge_into,
    processor_time,
    snapshots,
)
from mqvitals_rules.snapshot import ObjectName, Snapshot

_AT_ONCE: Final = 5_000
"""The number of partial samples merged in memory before they go to disk."""
_TABLES: Final = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -16000;
CREATE TABLE seen (digest BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE span (owner TEXT, type INTEGER, subtype INTEGER, began INTEGER, ended INTEGER,
    PRIMARY KEY (owner, type, subtype, began, ended)) WITHOUT ROWID;
CREATE TABLE number (system TEXT, owner TEXT, ended INTEGER, number INTEGER, began INTEGER,
    PRIMARY KEY (system, owner, ended, number)) WITHOUT ROWID;
CREATE TABLE total (ts INTEGER, owner TEXT, kind TEXT, name TEXT, probe TEXT, data TEXT);
CREATE TABLE used (owner TEXT, day INTEGER, name TEXT, cpu INTEGER, PRIMARY KEY (owner, day, name)) WITHOUT ROWID;
BEGIN;
"""
_LARGEST: Final = (1 << 63) - 1

IntervalUs = tuple[int, int]
"""Beginning and end of an interval, microseconds since 1970 UTC."""


class SampleSpool:
    """A nameless database in the temporary directory, deleted when it is closed. All methods raise sqlite3.Error."""

    def __init__(self) -> None:
        self._base = sqlite3.connect("", isolation_level=None)
        self._base.executescript(_TABLES)
        self._waiting: dict[str, dict[SampleKey, PartialSample]] = {}
        self._waits = 0

    def close(self) -> None:
        """Delete the database."""
        self._base.close()

    def is_new(self, record: Record) -> bool:
        """Whether the record is new: dumps overlap, and a record counts once."""
        return self._base.execute("INSERT OR IGNORE INTO seen VALUES (?)", (identity_of(record),)).rowcount == 1

    def put_span(self, record: Record) -> None:
        """Store the interval of a record, and its sequence number."""
        if record.end_us is not None:
            self._base.execute(
                "INSERT OR IGNORE INTO number VALUES (?, ?, ?, ?, ?)",
                (record.sysid, record.ssid, record.end_us, record.sequence[1], record.start_us),
            )
        if record.start_us is not None and record.end_us is not None:
            self._base.execute(
                "INSERT OR IGNORE INTO span VALUES (?, ?, ?, ?, ?)",
                (record.ssid, record.type, record.subtype, _bounded(record.start_us), _bounded(record.end_us)),
            )

    def put(self, sample: PartialSample) -> None:
        """Store a partial sample."""
        # Groups may be unknown yet, and two groups may have a structure of the same name: merge only parts of one
        # member.
        member = sample.member if sample.group and not sample.object.owner else ""
        merge_into(self._waiting.setdefault(member, {}), sample)
        self._waits += 1
        if self._waits >= _AT_ONCE:
            self._flush()

    def spans(self, owner: str, kind: int, subtype: int) -> Iterator[IntervalUs]:
        """The intervals of a queue manager's records of a type and subtype, in the order of their beginnings."""
        yield from self._base.execute(
            "SELECT began, ended FROM span WHERE owner = ? AND type = ? AND subtype = ? ORDER BY began, ended",
            (owner, kind, subtype),
        )

    def restarts(self) -> Iterator[tuple[Restart, int]]:
        """The restarts of queue managers, each with the time (microseconds) until which rates and increases are
        absent.
        """
        rows = self._base.execute(
            "SELECT system, owner, ended, number, began FROM number ORDER BY system, owner, ended, number"
        )
        for (system, owner), each in groupby(rows, key=itemgetter(0, 1)):
            seen = RestartDetector()
            guards: list[int] = []
            for _, _, ended, number, began in each:
                held = seen.take(system, owner, ended, number, began)
                if len(seen.found) > len(guards):
                    guards.append(ended)
                elif held:
                    guards[-1] = ended
            yield from zip(seen.found, guards, strict=True)

    def snapshots(
        self, groups: GroupNames, applications: int = TOP_APPLICATIONS, ungrouped: Counter[str] | None = None
    ) -> Iterator[Snapshot]:
        """All snapshots, the oldest first, without objects of unknown groups.

        Those are counted in ``ungrouped``, by the queue manager that reported them.
        """
        self._flush()
        rows = self._base.execute("SELECT ts, owner, kind, name, probe, data FROM total ORDER BY ts, rowid")
        day, first = -1, frozenset[tuple[str, str]]()
        for ts, each in groupby(rows, key=itemgetter(0)):
            if ts // DAY_MS != day:
                day = ts // DAY_MS
                first = self._first(day, applications)
            folded: dict[SampleKey, PartialSample] = {}
            for _, owner, kind, name, probe, data in each:
                stored = PartialSample.from_json(ObjectName(owner, kind, name), probe, ts, data)
                sample = groups.assign(stored)
                if sample is None:
                    if ungrouped is not None:
                        ungrouped[stored.member] += 1
                    continue
                if kind == "application" and (owner, name) not in first:
                    sample = as_rest(sample)
                merge_into(folded, sample)
            yield from snapshots(folded.values())

    def _first(self, day: int, count: int) -> frozenset[tuple[str, str]]:
        """Owner and name of the applications of a day with the highest use."""
        found = self._base.execute(
            "SELECT owner, name FROM (SELECT owner, name, row_number() OVER (PARTITION BY owner ORDER BY cpu DESC, name)"
            " AS place FROM used WHERE day = ?) WHERE place <= ?",
            (day, count),
        )
        return frozenset((owner, name) for owner, name in found)

    def _flush(self) -> None:
        samples = [sample for each in self._waiting.values() for sample in each.values()]
        self._base.executemany(
            "INSERT INTO total VALUES (?, ?, ?, ?, ?, ?)",
            ((_bounded(each.ts), *each.object, each.probe, each.to_json()) for each in samples),
        )
        self._base.executemany(
            "INSERT INTO used VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET cpu = min(cpu + excluded.cpu, 1 << 62)",
            (
                (each.object.owner, each.ts // DAY_MS, each.object.name, min(processor_time(each.fields), 1 << 62))
                for each in samples
                if each.object.kind == "application"
            ),
        )
        self._waiting.clear()
        self._waits = 0


def _bounded(number: int) -> int:
    """``number`` within the integers of SQLite, which a damaged length or stamp may exceed."""
    return max(-_LARGEST, min(number, _LARGEST))
