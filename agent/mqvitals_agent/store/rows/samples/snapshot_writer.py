"""What a snapshot writes: objects, samples, current state, records, instances, and its own row; and what cannot be stored."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from mqvitals_agent.store.error import StoreError, StoreErrorKind
from mqvitals_agent.store.file.integrity import is_ahead_of_clock, rewind
from mqvitals_agent.store.rows.samples.current_writer import CurrentWriter
from mqvitals_agent.store.rows.samples.sample_merger import SampleMerger, SampleRow
from mqvitals_agent.store.rows.samples.smf_records import delete_samples
from mqvitals_agent.store.rows.sealed.unseal import unseal_records
from mqvitals_agent.store.rows.sealed.written_hours import WrittenHours
from mqvitals_agent.store.rows.tables import LAST_MOMENT, KindTables, Shapes, moment
from mqvitals_rules.snapshot import Instance, ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported

if TYPE_CHECKING:
    from mqvitals_rules.engine import UnknownCount
_POLL = Source.POLL
_object_id = itemgetter(1)

INVALID_TIMES, LONG_NUMBERS = "impossible times", "numbers of more than 64 bits"
"""What of a snapshot cannot be stored."""
_LONGEST = 1 << 63


class SnapshotWriter:
    """Writes snapshots. The caller owns the transaction, and calls ``load`` after a rollback.

    Every method raises sqlite3.Error. Objects and what was last written of them are also in memory.
    """

    def __init__(
        self, connection: sqlite3.Connection, tables: Mapping[str, KindTables], *, ordered: bool = False
    ) -> None:
        """``ordered``: the order in which samples are stored is kept too, for who sends them elsewhere."""
        self._ordered = ordered
        self._connection = connection
        self._tables = tables
        shapes = Shapes()
        self._merge = {kind: SampleMerger(table, shapes) for kind, table in tables.items()}
        self._current = CurrentWriter(connection, tables, shapes)
        self.written = WrittenHours(connection, tables)
        """The hours of which samples were written, for who seals them."""
        self._load_objects()

    def load(self) -> None:
        """Read what is kept in memory from the file."""
        self._load_objects()
        self._current.load()

    def _load_objects(self) -> None:
        self.objects: dict[ObjectName, int] = {}
        """The numbers of all objects."""
        self.gone: dict[int, int] = {}
        """The objects that are gone: number -> when that was found, ms UTC."""
        self._next = 1
        self._new: list[tuple[Any, ...]] = []
        self._moved: dict[int, int | None] = {}
        self._unknown: dict[str, set[tuple[str, str, str, int]]] = {}
        """The rows of ``unknown_count`` of each owner, as far as they are known."""
        self._counted: dict[str, Iterable[UnknownCount]] = {}
        """What these rows were made of."""
        for number, owner, kind, name, gone in self._connection.execute(
            "SELECT id, owner, kind, name, gone_ts FROM object"
        ):
            self.objects[ObjectName(owner, kind, name)] = number
            self._next = max(self._next, number + 1)
            if gone is not None:
                self.gone[number] = moment(gone)
        self._with_instances = {row[0] for row in self._connection.execute("SELECT DISTINCT object_id FROM instance")}

    def write(self, snapshot: Snapshot, unknown: Iterable[UnknownCount]) -> None:
        """Write a snapshot and the objects of its owner for which rules are unknown.

        Raises ValueError for an unknown kind or metric.
        """
        if is_ahead_of_clock(self._connection, snapshot):
            rewind(self._connection, self._tables.values(), snapshot.owner, snapshot.ts)
            self.written.disturbed_all()
            self.load()
        records, samples = self._write_readings(snapshot)
        recorded = self._write_records(snapshot, records)
        if self._ordered:
            self._write_order(snapshot, samples, recorded)
        self._current.write()
        self._write_instances(snapshot)
        self._write_objects()
        self._write_snapshot(snapshot)
        self._write_unknown(snapshot.owner, unknown)

    def delete_records(self, name: ObjectName, first: int, last: int) -> bool:
        """Delete the samples of an object from SMF records with ``first`` <= end < ``last``, ms UTC, and its current
        state.

        The object itself is deleted when it has no other record; then True: the caller takes it out of ``objects``
        after the transaction.
        """
        number = self.objects[name]
        tables, source = self._tables[name.kind], int(Source.SMF)
        for hour in unseal_records(self._connection, tables, number, source, first, last):
            self.written.disturbed(name.kind, hour)
        without_records = delete_samples(self._connection, tables.history, number, source, first, last)
        self._current.forget({number: name.kind}, self._connection)
        if without_records:
            self._connection.execute("DELETE FROM object WHERE id = ?", (number,))
        return without_records

    def drop_objects(self, objects: Mapping[int, ObjectName]) -> None:
        """Delete objects that are gone, by number, with their current state and instances."""
        numbers = [(number,) for number in objects]
        self._current.forget({number: name.kind for number, name in objects.items()}, self._connection)
        self._connection.executemany("DELETE FROM instance WHERE object_id = ?", numbers)
        self._connection.executemany("DELETE FROM object WHERE id = ?", numbers)
        for number, name in objects.items():
            self.objects.pop(name, None)
            self.gone.pop(number, None)
            self._with_instances.discard(number)
        self._unknown = {}
        self._counted = {}

    def _number(self, name: ObjectName, ts: int) -> int:
        number = self.objects.get(name)
        if number is None:
            number = self.objects[name] = self._next
            self._next += 1
            self._new.append((number, *name, ts))
        return number

    def _write_readings(self, snapshot: Snapshot) -> tuple[list[Reading], int]:
        """Write the polled readings; returns the records, and how many samples were written."""
        first: dict[ObjectName, Reading] = {}
        several: dict[ObjectName, list[Reading]] = {}
        records = []
        for reading in snapshot.readings:
            if reading.source is not _POLL:
                records.append(reading)
            elif (before := first.setdefault(reading.object, reading)) is not reading:
                several.setdefault(reading.object, [before]).append(reading)
        history: dict[str, list[SampleRow]] = {kind: [] for kind in self._merge}
        objects, merge, gone = self.objects, self._merge, self.gone
        take = self._current.take
        ts = snapshot.ts
        for name, reading in first.items():
            owner, kind, _ = name
            rows = merge.get(kind) or _no_rows(kind)
            if owner != snapshot.owner:
                raise _misplaced(name, snapshot)
            number = objects.get(name) or self._number(name, ts)
            readings: Sequence[Reading] = several.get(name, ()) if several else ()
            if readings:
                sample = rows.sample(ts, number, [take(number, each) for each in readings])
            else:
                # The usual case, for thousands of objects.
                sample = rows.sample(ts, number, (take(number, reading),))
            if sample is not None:
                history[kind].append(sample)
            if readings or reading.gone or number in gone:
                for each in readings or (reading,):
                    if each.gone or number in gone:
                        self._note_gone(number, each)
        for kind, samples in history.items():
            if not samples:
                continue
            samples.sort(key=_object_id)
            statement, parameters, columns = self._merge[kind].insert(samples)
            self._connection.executemany(statement, parameters)
            self.written.wrote(kind, ts, columns)
        return records, sum(map(len, history.values()))

    def _write_records(self, snapshot: Snapshot, records: Iterable[Reading]) -> Sequence[tuple[int, int, int]]:
        """Write each record at its own time. The result does not depend on their order.

        Returns the object's number, source and time of each sample.
        """
        written: list[tuple[int, int, int]] = []
        history: dict[str, list[tuple[Any, ...]]] = {}
        for record in records:
            name, source, ts = record.object, int(record.source), record.ts
            rows = self._merge.get(name.kind) or _no_rows(name.kind)
            if name.owner != snapshot.owner:
                raise _misplaced(name, snapshot)
            number = self._number(name, snapshot.ts)
            sample = rows.sample(ts, number, [self._current.take(number, record)])
            if sample is None:
                continue
            history.setdefault(name.kind, []).append((source, *rows.row(sample)))
            written.append((number, source, ts))
            self.written.wrote(name.kind, ts, sample[4].metrics)
            if number in self.gone and ts - (record.interval_ms or 0) >= self.gone[number]:
                # Only a record that began after the object was found gone shows that it exists again.
                self._note_gone(number, record)
        for kind, table_rows in history.items():
            self._connection.executemany(self._tables[kind].merge_history(), table_rows)
        self._connection.executemany("INSERT OR IGNORE INTO record(object_id, source, ts) VALUES(?, ?, ?)", written)
        return written

    def _write_order(self, snapshot: Snapshot, samples: int, recorded: Sequence[tuple[int, int, int]]) -> None:
        """Note that these samples come next: those of the polls, and those of records by their source."""
        owner, ts = snapshot.owner, snapshot.ts
        rows = []
        if not snapshot.readings or any(reading.source is _POLL for reading in snapshot.readings):
            # A snapshot that is written again takes the place of the one before.
            self._connection.execute(
                "DELETE FROM stored_samples WHERE owner = ? AND source = ? AND last_ts = ?", (owner, int(_POLL), ts)
            )
            rows.append((owner, int(_POLL), ts, ts, samples))
        for source in sorted({source for _, source, _ in recorded}):
            ends = {(number, end) for number, each, end in recorded if each == source}
            times = [end for _, end in ends]
            rows.append((owner, source, min(times), max(times), len(ends)))
        self._connection.executemany(
            "INSERT INTO stored_samples(owner, source, first_ts, last_ts, samples) VALUES(?, ?, ?, ?, ?)", rows
        )

    def _note_gone(self, number: int, reading: Reading) -> None:
        if reading.gone and number not in self.gone:
            self.gone[number] = reading.ts
            self._moved[number] = reading.ts
            self._current.note_existence(number, reading)
        elif reading.answered and not reading.gone:
            if self.gone.pop(number, None) is not None:
                self._current.note_existence(number, reading)
            self._moved[number] = None

    def _write_objects(self) -> None:
        self._connection.executemany(
            "INSERT INTO object(id, owner, kind, name, first_ts) VALUES(?, ?, ?, ?, ?)", self._new
        )
        self._connection.executemany(
            "UPDATE object SET gone_ts = ? WHERE id = ?", [(ts, number) for number, ts in self._moved.items()]
        )
        self._new = []
        self._moved = {}

    def _write_instances(self, snapshot: Snapshot) -> None:
        instances: dict[int, list[Instance]] = {}
        for instance in snapshot.instances:
            instances.setdefault(self._number(instance.object, snapshot.ts), []).append(instance)
        if not instances and not self._with_instances:
            return
        polled = {
            self.objects[reading.object]
            for reading in snapshot.readings
            if reading.poll and (reading.answered or reading.gone)
        }
        replaced = (self._with_instances & polled) | instances.keys()
        self._connection.executemany("DELETE FROM instance WHERE object_id = ?", [(number,) for number in replaced])
        self._connection.executemany(
            "INSERT OR REPLACE INTO instance(object_id, key, ts, data, absent) VALUES(?, ?, ?, ?, ?)",
            [(number, one.key, snapshot.ts, *_instance(one)) for number, each in instances.items() for one in each],
        )
        self._with_instances = (self._with_instances - replaced) | instances.keys()

    def _write_snapshot(self, snapshot: Snapshot) -> None:
        owner, ts, cycle = snapshot.owner, snapshot.ts, snapshot.cycle
        if snapshot.readings and all(reading.source is not _POLL for reading in snapshot.readings):
            ends = [reading.ts for reading in snapshot.readings]
            self.write_record_owner(snapshot.owner, min(ends), max(ends), group=snapshot.group)
            return
        self._connection.execute(
            "INSERT OR REPLACE INTO snapshot(owner, ts, cycle, is_group, clock_ms, readings) VALUES(?, ?, ?, ?, ?, ?)",
            (owner, ts, cycle, snapshot.group, snapshot.clock_ms, len(snapshot.readings)),
        )
        self._connection.execute(
            "INSERT INTO owner(name, is_group, first_ts, last_ts, last_cycle, clock_ms) VALUES(?, ?, ?, ?, ?, ?)"
            " ON CONFLICT(name) DO UPDATE SET is_group = excluded.is_group, last_ts = excluded.last_ts,"
            " last_cycle = excluded.last_cycle, clock_ms = coalesce(excluded.clock_ms, clock_ms)"
            " WHERE excluded.last_ts >= last_ts",
            (owner, snapshot.group, ts, ts, cycle, snapshot.clock_ms),
        )

    def write_record_owner(self, name: str, first: int, last: int, *, group: bool) -> None:
        """Records alone are no snapshot: an owner with records only has cycle 0, and the time that they cover."""
        self._connection.execute(
            "INSERT INTO owner(name, is_group, first_ts, last_ts, last_cycle, clock_ms) VALUES(?, ?, ?, ?, 0, NULL)"
            " ON CONFLICT(name) DO UPDATE SET first_ts = min(first_ts, excluded.first_ts),"
            " last_ts = max(last_ts, excluded.last_ts) WHERE last_cycle = 0",
            (name, group, first, last),
        )

    def _write_unknown(self, owner: str, counts: Iterable[UnknownCount]) -> None:
        """Few counts change from one snapshot to the next: only those are written."""
        if counts is self._counted.get(owner):
            return
        rows = {(owner, each.rule, each.reason._name_, each.count) for each in counts}
        known = self._unknown.get(owner)
        if known is None:
            self._connection.execute("DELETE FROM unknown_count WHERE owner = ?", (owner,))
            known = set()
        self._connection.executemany(
            "DELETE FROM unknown_count WHERE owner = ? AND rule = ? AND reason = ? AND count = ?", known - rows
        )
        self._connection.executemany(
            "INSERT INTO unknown_count(owner, rule, reason, count) VALUES(?, ?, ?, ?)", rows - known
        )
        self._unknown[owner] = rows
        self._counted[owner] = counts


def _no_rows(kind: str) -> SampleMerger:
    raise ValueError(f"the vocabulary has no kind {kind!r}")


def _misplaced(name: ObjectName, snapshot: Snapshot) -> ValueError:
    return ValueError(f"a reading of {name} does not belong into a snapshot of {snapshot.owner}")


def _instance(instance: Instance) -> tuple[str, str]:
    values = instance.values.items()
    present = {metric: value for metric, value in values if value.__class__ is not Absence}
    return json.dumps(present), _absent(tuple([(metric, v._name_) for metric, v in values if v.__class__ is Absence]))


@lru_cache(1024)
def _absent(reasons: tuple[tuple[str, str], ...]) -> str:
    """The metrics that are absent and why, as they are stored: at most instances the same ones, poll after poll."""
    return json.dumps(dict(reasons))


def with_possible_times(snapshot: Snapshot) -> Snapshot:
    """The snapshot without the readings whose time is invalid. Raises StoreError when its own time is invalid."""
    check_snapshot_time(snapshot)
    times = [reading.ts for reading in snapshot.readings]
    if not times or (min(times) > 0 and max(times) <= LAST_MOMENT):
        return snapshot
    return replace(snapshot, readings=tuple(each for each in snapshot.readings if 0 < each.ts <= LAST_MOMENT))


def check_snapshot_time(snapshot: Snapshot) -> None:
    """Raises StoreError for a snapshot with an invalid time."""
    if not 0 < snapshot.ts <= LAST_MOMENT:
        raise StoreError(
            f"a snapshot of {snapshot.owner} is dated {snapshot.ts} ms since 1970, which is no time: it is not stored",
            "check the clock, or the records that it comes from",
            StoreErrorKind.REFUSED,
        )


def without_long_numbers(snapshot: Snapshot) -> tuple[Snapshot, int]:
    """The snapshot with numbers that no column can hold absent, and how many these are."""
    count = 0

    def narrow(values: Mapping[str, Reported]) -> Mapping[str, Reported]:
        nonlocal count
        long = [name for name, value in values.items() if isinstance(value, int) and not -_LONGEST <= value < _LONGEST]
        count += len(long)
        return {**values, **dict.fromkeys(long, Absence.OUT_OF_RANGE)} if long else values

    readings = tuple(replace(reading, values=narrow(reading.values)) for reading in snapshot.readings)
    return replace(snapshot, readings=readings), count
