"""The writer of a store: a transaction holds whole snapshots, one or those of a cycle, with everything that follows from them."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from mqvitals_agent import __version__
from mqvitals_agent.store.alert_tables import AlertTables
from mqvitals_agent.store.alerts import AlertRows
from mqvitals_agent.store.current import CurrentQuery, CurrentWriter
from mqvitals_agent.store.error import UNDECODABLE, StoreError, StoreErrorKind, store_error
from mqvitals_agent.store.history import HourMean, SampleMerger, SampleRow, write_means
from mqvitals_agent.store.integrity import count_invalid_times, drop_invalid_times, is_ahead_of_clock, rewind
from mqvitals_agent.store.messages import (
    ConsoleRow,
    StoredMessage,
    delete_old,
    read_console,
    read_owners_of,
    write_console,
    write_followed,
    write_messages,
)
from mqvitals_agent.store.notifications import BuildNotifications, insert_notifications
from mqvitals_agent.store.requests import StoredRequest, delete_old_requests, read_waiting, write_answers
from mqvitals_agent.store.result import HOLDS, LIVE, RECORDS, REPLAY
from mqvitals_agent.store.schema import (
    PAGE_SIZE,
    REFUSED,
    TRUSTED,
    columns_of,
    give_to_group,
    make_file,
    open_writer,
    read_meta,
    refuse_foreign_objects,
)
from mqvitals_agent.store.smf_records import (
    ApplicationUse,
    SmfFile,
    SmfPart,
    delete_samples,
    read_files,
    read_known,
    read_of_object,
    read_parts,
    read_rest,
    read_unplaced,
    read_uses,
    write_file,
    write_records,
    write_standing,
)
from mqvitals_agent.store.store_file import WatchedFile, WriterLock, set_aside
from mqvitals_agent.store.tables import LAST_MOMENT, KindTables, integer, moment, tables_of, text
from mqvitals_agent.store.verdict import Unknown, Verdict
from mqvitals_rules.lifecycle.alert import Transition
from mqvitals_rules.snapshot import Instance, ObjectName, Reading, Snapshot, Source
from mqvitals_rules.timestamps import iso
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported
from mqvitals_rules.vocabulary.tables import KINDS

_POLL = Source.POLL

IMPOSSIBLE_TIMES, LONG_NUMBERS = "impossible times", "numbers of more than 64 bits"
_LONGEST = 1 << 63

WriteAlerts = Callable[[sqlite3.Connection], None]
"""Writes into, or reads, the tables of alerts, notices and receivers of a store. Raises sqlite3.Error."""


class OwnerProgress(NamedTuple):
    """The last snapshot stored of an owner."""

    ts: int
    cycle: int


class Store(AlertTables):
    """The one writer of a store. Use it from one thread; ``close`` it, or leave a ``with`` block."""

    def __init__(
        self,
        path: Path,
        lock: WriterLock,
        connection: sqlite3.Connection,
        kinds: Mapping[str, Kind],
        repaired: Mapping[str, int],
    ) -> None:
        """For ``open``."""
        super().__init__(path, connection)
        self._lock = lock
        self._file = WatchedFile(path, lock)
        self._tables = tables = tables_of(kinds)
        self._rows = {kind: SampleMerger(table) for kind, table in tables.items()}
        self._current = CurrentWriter(connection, tables)
        self._alerts = AlertRows(connection)
        self._objects: dict[ObjectName, int] = {}
        self._next = 1
        self._new: list[tuple[Any, ...]] = []
        self._gone: dict[int, int] = {}
        self._moved: dict[int, int | None] = {}
        self._with_instances: set[int] = set()
        self._unknown: dict[str, tuple[Unknown, ...]] = {}
        """What each owner's rows of unknown verdicts say, as far as that is known."""
        self._in_doubt = False
        self._schema = connection.execute("PRAGMA schema_version").fetchone()[0]
        self.repaired = repaired
        """Rows that were dated outside any calendar when it was opened, by table: dropped, or put right."""
        self.refused: Counter[str] = Counter()
        """What could not be stored because of what it was, by kind, and how often."""
        self._load()

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        replay: bool = False,
        records: bool = False,
        source: str = "",
        group: str = "",
        kinds: Mapping[str, Kind] = KINDS,
        created: int = 0,
        mode: int = 0o600,
        shared_with: str = "",
        page_size: int = PAGE_SIZE,
        busy_ms: int = 0,
    ) -> Store:
        """Open the store at ``path``, or make it; missing tables and columns are added.

        ``replay`` and ``records``: it is filled from a recording, or with SMF records alone; else by an agent. ``source``
        (the recording, or the configuration) and ``group`` are kept for those who read. ``created`` is the
        time now, ms UTC, for a new store. ``mode`` are the permissions of a new file, ``shared_with`` the group of the
        operating system that the files belong to (empty: as they are). ``page_size`` only counts for a new file.
        ``busy_ms`` is how long to wait for another program's transaction (0: five seconds).

        Raises StoreError: no permission, another writer, no store, a newer structure, damaged, full, the other kind of
        store.
        """
        path = Path(path).resolve()
        tables = tables_of(kinds)
        make_file(path, mode)
        lock = WriterLock(path)
        connection: sqlite3.Connection | None = None
        try:
            connection = open_writer(path, tables.values(), page_size=page_size, busy_ms=busy_ms)
            _write_meta(
                path,
                connection,
                mode=_mode(replay=replay, records=records),
                source=source,
                group=group,
                created=created,
            )
            if shared_with:
                give_to_group(path, shared_with)
            repaired = _repair(connection, tables)
            return cls(path, lock, connection, kinds, repaired)
        except BaseException as error:
            if connection is not None:
                connection.close()
            lock.release()
            if isinstance(error, (sqlite3.Error, *UNDECODABLE)):
                raise store_error(path, error, "reading") from error
            raise

    def write(
        self,
        snapshot: Snapshot,
        evaluation: Verdict,
        owed: BuildNotifications | None = None,
        alerts: WriteAlerts | None = None,
    ) -> Sequence[tuple[int, Transition]]:
        """Store a snapshot and what the rules made of it, all or nothing; returns the visible transitions with the alerts' numbers.

        ``owed`` says which notices the visible transitions owe: they are part of the same transaction. It may look into
        the store, which tells it the alerts as they are after the transitions; what it raises undoes the snapshot. With
        ``alerts``, which writes alerts and notices that are kept elsewhere, the transitions are not looked at.

        A reading with an impossible time is left out, and a whole number of more than 64 bits is absent; both are counted
        in ``refused``. Raises StoreError when the snapshot cannot be stored: nothing of it is then kept, and the next one
        may be tried. It is so too when the file has been deleted, replaced or damaged: what is written would go where
        nobody can find it. ValueError when a reading holds a kind or a metric that the vocabulary does not have.
        """
        possible = self._with_possible_times(snapshot)
        long = 0
        try:
            visible = self._write(possible, evaluation, owed, alerts)
        except OverflowError as error:
            narrowed, long = without_long_numbers(possible)
            if not long:
                raise _unstorable(self.path, error) from error
            visible = self._write(narrowed, evaluation, owed, alerts)
        self.refused.update({IMPOSSIBLE_TIMES: len(snapshot.readings) - len(possible.readings), LONG_NUMBERS: long})
        return visible

    def write_together(self, cycle: Sequence[tuple[Snapshot, Sequence[Unknown]]], alerts: WriteAlerts) -> None:
        """Store the snapshots of one cycle, each with its unknown verdicts, in one transaction; alerts and notices as ``write`` does.

        A commit writes every page that has changed: those that the snapshots of a cycle share are written once. Raises StoreError when one of
        them cannot be stored: nothing of any is then kept, and each may be written by itself.
        """
        possible = [(self._with_possible_times(snapshot), unknown) for snapshot, unknown in cycle]
        try:
            with self._writing_snapshots():
                for snapshot, unknown in possible:
                    self._write_values(snapshot, unknown)
                alerts(self._connection)
        except OverflowError as error:
            raise _unstorable(self.path, error) from error
        left_out = sum(
            len(before.readings) - len(after.readings) for (before, _), (after, _) in zip(cycle, possible, strict=True)
        )
        self.refused[IMPOSSIBLE_TIMES] += left_out

    def _write(
        self, snapshot: Snapshot, evaluation: Verdict, owed: BuildNotifications | None, alerts: WriteAlerts | None
    ) -> Sequence[tuple[int, Transition]]:
        visible: Sequence[tuple[int, Transition]] = ()
        with self._writing_snapshots():
            self._write_values(snapshot, evaluation.unknown)
            if alerts is not None:
                alerts(self._connection)
            else:
                visible = self._alerts.write(evaluation.transitions)
                if owed is not None and visible:
                    insert_notifications(self._connection, owed(visible))
        return visible

    @contextmanager
    def _writing_snapshots(self) -> Iterator[None]:
        """A transaction for snapshots. Raises StoreError, and what else is raised within; nothing is then kept."""
        try:
            self._file.check()
            if self._in_doubt:
                self._load_all()
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except BaseException as error:
            self._undo()
            if isinstance(error, UnicodeEncodeError):
                raise _unstorable(self.path, error) from error
            if isinstance(error, (sqlite3.Error, UnicodeDecodeError)):
                raise store_error(self.path, error, "writing") from error
            raise
        self._file.note()

    def _write_values(self, snapshot: Snapshot, unknown: Iterable[Unknown]) -> None:
        if is_ahead_of_clock(self._connection, snapshot):
            rewind(self._connection, self._tables.values(), snapshot.owner, snapshot.ts)
            self._load()
            self._current.load()
        self._write_records(snapshot, self._write_readings(snapshot))
        self._current.write()
        self._write_instances(snapshot)
        self._write_objects()
        self._write_snapshot(snapshot)
        self._write_unknown(snapshot.owner, unknown)

    def write_transitions(self, transitions: Iterable[Transition]) -> None:
        """Store changes of alerts that no snapshot brought, all or nothing; nobody is notified of them. Raises StoreError."""
        try:
            self._file.check()
            if self._in_doubt:
                self._load_all()
            self._connection.execute("BEGIN IMMEDIATE")
            self._alerts.write(transitions)
            self._connection.execute("COMMIT")
        except BaseException as error:
            self._undo()
            if isinstance(error, (sqlite3.Error, UnicodeDecodeError)):
                raise store_error(self.path, error, "writing") from error
            raise
        self._file.note()

    def write_alerts(self, alerts: WriteAlerts) -> None:
        """Write alerts and notices that are kept elsewhere, all or nothing. Raises StoreError."""
        self._file.check()
        with self._explaining("writing"), self._transaction():
            alerts(self._connection)

    def read_alerts(self, read: WriteAlerts) -> None:
        """Let somebody read alerts and notices. Raises StoreError."""
        with self._explaining("reading"):
            read(self._connection)

    def check(self) -> None:
        """Raises StoreError when the file is not reached, deleted, replaced or damaged, as far as a short look tells.

        So it does when somebody has put something into it meanwhile that mqvitals does not make.
        """
        self._file.check()
        with self._explaining("reading"):
            schema = self._connection.execute("PRAGMA schema_version").fetchone()[0]
            if schema != self._schema:
                refuse_foreign_objects(self.path, self._connection)
                self._schema = schema

    def note_trouble(self, text: str) -> None:
        """Tell whoever looks for the writer what keeps it from storing; empty: nothing does. Never fails."""
        self._lock.note(text)

    def set_patience(self, ms: int) -> None:
        """Wait no longer than this for another program's transaction."""
        with self._explaining("writing"):
            self._connection.execute(f"PRAGMA busy_timeout = {ms:d}")

    def groups(self) -> frozenset[str]:
        """The owners that are the group, not a queue manager. Raises StoreError."""
        with self._explaining("reading"):
            return frozenset(text(row[0]) for row in self._connection.execute("SELECT name FROM owner WHERE is_group"))

    def value_now(self, name: ObjectName, metric: str) -> Reported:
        """The newest that was told of a metric, within a transaction too. Raises StoreError."""
        number, tables = self._objects.get(name), self._tables.get(name.kind)
        if number is None or tables is None:
            return Absence.NOT_ASKED
        with self._explaining("reading"):
            columns = columns_of(self._connection).get(tables.current, frozenset())
            found = CurrentQuery(tables, columns, (metric,)).of(self._connection, "object_id = ?", (number,))
        told = found.get(number, {}).get(metric)
        return Absence.NOT_ASKED if told is None else told.value

    def wishes(self, now: int) -> tuple[StoredRequest, ...]:
        """The questions that wait for an answer at ``now`` (ms UTC, the machine's time). Raises StoreError."""
        with self._explaining("reading"):
            return read_waiting(self._connection, now)

    def answer_wishes(self, numbers: Iterable[int], text: str, now: int) -> None:
        """Give these questions the answer ``text``, at ``now`` (ms UTC); old ones go. Raises StoreError."""
        with self._explaining("writing"), self._transaction():
            write_answers(self._connection, numbers, text, now)

    def forget_wishes(self, now: int) -> None:
        """Questions that were asked long before ``now`` (ms UTC) go, answered or not. Raises StoreError."""
        with self._explaining("writing"), self._transaction():
            delete_old_requests(self._connection, now)

    def record_files(self) -> frozenset[SmfFile]:
        """The files of SMF records that were read from a watched folder. Raises StoreError."""
        with self._explaining("reading"):
            return read_files(self._connection)

    def keep_record_file(self, file: SmfFile, ts: int) -> None:
        """A file of SMF records has been read at ``ts``, ms UTC. Raises StoreError."""
        with self._explaining("writing"), self._transaction():
            write_file(self._connection, file, ts)

    def follow_consoles(self, paths: Collection[str], before: int) -> None:
        """These files of console lines are followed from now on, no others; messages before ``before`` (ms UTC) go.

        Raises StoreError.
        """
        with self._explaining("writing"), self._transaction():
            write_followed(self._connection, paths, before)

    def console(self, path: str) -> tuple[ConsoleRow | None, frozenset[str]]:
        """How far a file of console lines was read, and the queue managers of which it has told. Raises StoreError."""
        with self._explaining("reading"):
            return read_console(self._connection, path), read_owners_of(self._connection, path)

    def keep_messages(self, row: ConsoleRow, messages: Iterable[StoredMessage], owners: Iterable[str]) -> None:
        """A file of console lines was read so far, with these messages in it and of these queue managers: all or nothing.

        Raises StoreError.
        """
        with self._explaining("writing"), self._transaction():
            write_messages(self._connection, messages)
            write_console(self._connection, row, owners)

    def forget_messages(self, before: int) -> None:
        """Console messages that came last before ``before``, ms UTC, go. Raises StoreError."""
        with self._explaining("writing"), self._transaction():
            delete_old(self._connection, before)

    def keep_means(self, means: Iterable[HourMean]) -> None:
        """Keep the means of hours that are over, of objects that are stored; very old ones go. Raises StoreError."""
        with self._explaining("writing"), self._transaction():
            write_means(self._connection, means, self._objects)

    def known_records(self, identities: Iterable[bytes]) -> frozenset[bytes]:
        """Those of these SMF records that were read before. Raises StoreError."""
        with self._explaining("reading"):
            return read_known(self._connection, identities)

    def record_parts(self, keys: Iterable[tuple[ObjectName, str, int]]) -> dict[tuple[ObjectName, str, int], str]:
        """What several SMF records have told together so far, by object, probe and end. Raises StoreError."""
        with self._explaining("reading"):
            return {(name, probe, ts): data for name, probe, ts, data in read_parts(self._connection, keys)}

    def keep_records(self, identities: Iterable[tuple[bytes, int]], parts: Iterable[SmfPart]) -> None:
        """SMF records (identity, end in ms UTC) have been read, and ``parts`` is what came of them. Raises StoreError."""
        with self._explaining("writing"), self._transaction():
            write_records(self._connection, identities, parts)

    def keep_owners(self, covered: Mapping[str, tuple[int, int]]) -> None:
        """Queue managers have SMF records that end from the first to the last moment (ms UTC), whatever these tell. Raises StoreError."""
        with self._explaining("writing"), self._transaction():
            for name, (first, last) in covered.items():
                self._write_owner_of_records(name, first, last, group=False)

    def application_uses(self, owner: str, first: int, last: int) -> list[ApplicationUse]:
        """What applications did with ``first`` <= end < ``last``, ms UTC. Raises StoreError."""
        with self._explaining("reading"):
            return read_uses(self._connection, owner, first, last)

    def unplaced_applications(self, day_ms: int) -> list[tuple[str, int]]:
        """Queue managers and days (since 1970, ``day_ms`` long) with applications that have changed. Raises StoreError."""
        with self._explaining("reading"):
            return read_unplaced(self._connection, day_ms)

    def newest_rest(self, owner: str) -> tuple[int, list[str]] | None:
        """The last end for which there is a rest of applications, and those in it. Raises StoreError."""
        with self._explaining("reading"):
            return read_rest(self._connection, owner)

    def newest_part(self, name: ObjectName, shown: int) -> tuple[str, int, str] | None:
        """Probe, end and sum of the newest part of an object with that standing. Raises StoreError."""
        with self._explaining("reading"):
            return read_of_object(self._connection, name, shown)

    def place_applications(self, owner: str, standings: Iterable[tuple[str, int, int]]) -> None:
        """Applications (name, end) stand there from now on. Raises StoreError."""
        with self._explaining("writing"), self._transaction():
            write_standing(self._connection, owner, standings)

    def forget_records(self, name: ObjectName, first: int, last: int) -> None:
        """What SMF records with ``first`` <= end < ``last`` told of an object is no longer said of it.

        Its current state goes as well, and the object itself when no record tells of it any more. Raises StoreError.
        """
        number = self._objects.get(name)
        if number is None:
            return
        tables = self._tables[name.kind]
        with self._explaining("writing"), self._transaction():
            nothing_left = delete_samples(self._connection, tables.history, number, int(Source.SMF), first, last)
            self._current.forget({number: name.kind}, self._connection)
            if nothing_left:
                self._connection.execute("DELETE FROM object WHERE id = ?", (number,))
        if nothing_left:
            del self._objects[name]

    @property
    def tables(self) -> Mapping[str, KindTables]:
        """The tables of each kind."""
        return self._tables

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, for looking at what only the writer's process asks. Raises StoreError."""
        with self._explaining("reading"):
            yield self._connection

    @property
    def gone(self) -> Mapping[int, int]:
        """The objects that are gone: number -> when they were found to be, ms UTC."""
        return self._gone

    @contextmanager
    def deleting(self) -> Iterator[sqlite3.Connection]:
        """A transaction in which old rows are deleted; whatever is raised undoes it. Raises StoreError."""
        try:
            with self._explaining("writing"), self._transaction():
                yield self._connection
        except BaseException:
            self._in_doubt = True
            raise

    def trusted_time(self) -> int | None:
        """How far the clock was believed when rows were deleted last, ms UTC; else the last snapshot. None: there is none. Raises StoreError."""
        with self._explaining("reading"):
            found = self._connection.execute("SELECT value FROM meta WHERE key = ?", (TRUSTED,)).fetchone()
            if found is None:
                found = self._connection.execute("SELECT max(last_ts) FROM owner WHERE last_cycle > 0").fetchone()
            return None if found[0] is None else moment(int(found[0]))

    def trust_time(self, ts: int) -> None:
        """The clock is believed up to ``ts``, ms UTC. Raises StoreError."""
        with self._explaining("writing"), self._transaction():
            self._connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (TRUSTED, str(ts)))

    def drop_objects(self, objects: Mapping[int, ObjectName]) -> None:
        """Objects that are gone, by number, and what was told of them last; within ``deleting``. Raises sqlite3.Error."""
        numbers = [(number,) for number in objects]
        self._current.forget({number: name.kind for number, name in objects.items()}, self._connection)
        self._connection.executemany("DELETE FROM instance WHERE object_id = ?", numbers)
        self._connection.executemany("DELETE FROM object WHERE id = ?", numbers)
        for number, name in objects.items():
            self._objects.pop(name, None)
            self._gone.pop(number, None)
            self._with_instances.discard(number)
        self._unknown = {}

    def note_refused(self, text: str) -> None:
        """Keep what is wrong with the settings or rules that the agent was to go on by, for those who look; empty: nothing is."""
        with self._explaining("writing"), self._transaction():
            if text:
                self._connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (REFUSED, text))
            else:
                self._connection.execute("DELETE FROM meta WHERE key = ?", (REFUSED,))

    def progress(self) -> dict[str, OwnerProgress]:
        """The last snapshot stored of every owner, so that an interrupted replay can go on. Raises StoreError."""
        try:
            rows = self._connection.execute("SELECT name, last_ts, last_cycle FROM owner ORDER BY name").fetchall()
            return {text(name): OwnerProgress(moment(ts), integer(cycle)) for name, ts, cycle in rows}
        except (sqlite3.Error, *UNDECODABLE) as error:
            raise store_error(self.path, error, "reading") from error

    def close(self) -> None:
        """Bring everything into the one file and let go of it; a second call does nothing."""
        try:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error:
            # Closed already, or a reader is in the way or the disk is full: the log stays beside the store and is read
            # from there.
            pass
        finally:
            self._connection.close()
            self._lock.release()

    def abandon(self, now: int, *, keep: bool = False) -> Path | None:
        """Close the store whose file is lost or damaged, and set the file aside; returns where it is then.

        None: it is not there any more, or it stays with ``keep``, which is for a file that is to be opened again. ``now`` is
        ms UTC. Raises StoreError when it cannot be set aside; it is closed all the same.
        """
        if self._file.overwritten:
            self._file.forget_log()
        else:
            # SQLite does not bring its log into a file that was renamed; here it can, and whoever has the file has all of it.
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()
        try:
            return None if keep else set_aside(self.path, now, self._file)
        finally:
            self._lock.release()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _load(self) -> None:
        self._objects = {}
        self._new = []
        self._moved = {}
        self._gone = {}
        self._next = 1
        self._unknown = {}
        for number, owner, kind, name, gone in self._connection.execute(
            "SELECT id, owner, kind, name, gone_ts FROM object"
        ):
            self._objects[ObjectName(owner, kind, name)] = number
            self._next = max(self._next, number + 1)
            if gone is not None:
                self._gone[number] = moment(gone)
        self._with_instances = {row[0] for row in self._connection.execute("SELECT DISTINCT object_id FROM instance")}

    def _load_all(self) -> None:
        self._load()
        self._current.load()
        self._alerts.load()
        self._in_doubt = False

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with super()._transaction():
            yield
        self._file.note()

    @staticmethod
    def _with_possible_times(snapshot: Snapshot) -> Snapshot:
        """The snapshot without the readings whose time is none. Raises StoreError when its own time is none."""
        check_snapshot_time(snapshot)
        times = [reading.ts for reading in snapshot.readings]
        if not times or (min(times) > 0 and max(times) <= LAST_MOMENT):
            return snapshot
        return replace(snapshot, readings=tuple(each for each in snapshot.readings if 0 < each.ts <= LAST_MOMENT))

    def _undo(self) -> None:
        """Roll back. What is in memory may be ahead of the file then: it is read again before the next snapshot."""
        self._in_doubt = True
        if self._connection.in_transaction:
            # When the disk is full SQLite may have rolled back by itself.
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def _number(self, name: ObjectName, ts: int) -> int:
        number = self._objects.get(name)
        if number is None:
            number = self._objects[name] = self._next
            self._next += 1
            self._new.append((number, *name, ts))
        return number

    def _write_readings(self, snapshot: Snapshot) -> list[Reading]:
        """Write what polls say, and give back the records."""
        grouped: dict[ObjectName, list[Reading]] = {}
        records = []
        for reading in snapshot.readings:
            if reading.source is not _POLL:
                records.append(reading)
                continue
            known = grouped.get(reading.object)
            if known is None:
                grouped[reading.object] = [reading]
            else:
                known.append(reading)
        history: dict[str, list[SampleRow]] = {}
        objects = self._objects
        take = self._current.take
        ts = snapshot.ts
        for name, readings in grouped.items():
            kind = name.kind
            rows = self._rows.get(kind) or self._no_rows(kind)
            if name.owner != snapshot.owner:
                raise _misplaced(name, snapshot)
            number = objects.get(name) or self._number(name, ts)
            sample = rows.sample(ts, number, [take(number, reading) for reading in readings])
            if sample is not None:
                history.setdefault(kind, []).append(sample)
            for reading in readings:
                if reading.gone or number in self._gone:
                    self._note_gone(number, reading)
        for kind, samples in history.items():
            samples.sort(key=attrgetter("object_id"))
            self._connection.executemany(*self._rows[kind].insert(samples))
        return records

    def _write_records(self, snapshot: Snapshot, records: Iterable[Reading]) -> None:
        """Write each record at its own time. In whatever order they come, it is the same in the end."""
        told: list[tuple[int, int, int]] = []
        history: dict[str, list[tuple[Any, ...]]] = {}
        for record in records:
            name, source, ts = record.object, int(record.source), record.ts
            rows = self._rows.get(name.kind) or self._no_rows(name.kind)
            if name.owner != snapshot.owner:
                raise _misplaced(name, snapshot)
            number = self._number(name, snapshot.ts)
            sample = rows.sample(ts, number, [self._current.take(number, record)])
            if sample is None:
                continue
            history.setdefault(name.kind, []).append((source, *rows.row(sample)))
            told.append((number, source, ts))
            if number in self._gone and ts - (record.interval_ms or 0) >= self._gone[number]:
                # Only a record that began after it was found to be gone tells that it is there again.
                self._note_gone(number, record)
        for kind, table_rows in history.items():
            self._connection.executemany(self._tables[kind].merge_history(), table_rows)
        self._connection.executemany("INSERT OR IGNORE INTO record(object_id, source, ts) VALUES(?, ?, ?)", told)

    def _no_rows(self, kind: str) -> SampleMerger:
        raise ValueError(f"the vocabulary has no kind {kind!r}")

    def _note_gone(self, number: int, reading: Reading) -> None:
        if reading.gone and number not in self._gone:
            self._gone[number] = reading.ts
            self._moved[number] = reading.ts
        elif reading.answered and not reading.gone:
            self._gone.pop(number, None)
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
        told: dict[int, list[Instance]] = {}
        for instance in snapshot.instances:
            told.setdefault(self._number(instance.object, snapshot.ts), []).append(instance)
        if not told and not self._with_instances:
            return
        polled = {
            self._objects[reading.object]
            for reading in snapshot.readings
            if reading.poll and (reading.answered or reading.gone)
        }
        replaced = (self._with_instances & polled) | told.keys()
        self._connection.executemany("DELETE FROM instance WHERE object_id = ?", [(number,) for number in replaced])
        self._connection.executemany(
            "INSERT OR REPLACE INTO instance(object_id, key, ts, data, absent) VALUES(?, ?, ?, ?, ?)",
            [(number, one.key, snapshot.ts, *_instance(one)) for number, each in told.items() for one in each],
        )
        self._with_instances = (self._with_instances - replaced) | told.keys()

    def _write_snapshot(self, snapshot: Snapshot) -> None:
        owner, ts, cycle = snapshot.owner, snapshot.ts, snapshot.cycle
        if snapshot.readings and all(reading.source is not _POLL for reading in snapshot.readings):
            ends = [reading.ts for reading in snapshot.readings]
            self._write_owner_of_records(snapshot.owner, min(ends), max(ends), group=snapshot.group)
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

    def _write_owner_of_records(self, name: str, first: int, last: int, *, group: bool) -> None:
        """Records alone are no snapshot. Who is known by records only has cycle 0, and the time that they cover."""
        self._connection.execute(
            "INSERT INTO owner(name, is_group, first_ts, last_ts, last_cycle, clock_ms) VALUES(?, ?, ?, ?, 0, NULL)"
            " ON CONFLICT(name) DO UPDATE SET first_ts = min(first_ts, excluded.first_ts),"
            " last_ts = max(last_ts, excluded.last_ts) WHERE last_cycle = 0",
            (name, group, first, last),
        )

    def _write_unknown(self, owner: str, counts: Iterable[Unknown]) -> None:
        told = tuple(counts)
        if self._unknown.get(owner) == told:
            return  # as nearly always
        self._connection.execute("DELETE FROM unknown_count WHERE owner = ?", (owner,))
        self._connection.executemany(
            "INSERT INTO unknown_count(owner, rule, reason, count) VALUES(?, ?, ?, ?)"
            " ON CONFLICT(owner, rule, reason) DO UPDATE SET count = count + excluded.count",
            [(owner, each.rule, each.reason.name, each.count) for each in told],
        )
        self._unknown[owner] = told


def _repair(connection: sqlite3.Connection, tables: Mapping[str, KindTables]) -> Counter[str]:
    """Drop what is dated outside any calendar; returns how many rows of each table that were."""
    if not count_invalid_times(connection, tables.values()):
        return Counter()
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = count_invalid_times(connection, tables.values(), deep=True)
        drop_invalid_times(connection, tables.values())
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise
    return found


def _unstorable(path: Path, error: Exception) -> StoreError:
    return StoreError(
        f"nothing of this cycle was kept in the store {path}: it holds a value that cannot be stored ({error})",
        "a recording of it helps to find out where it comes from",
        StoreErrorKind.REFUSED,
    )


def check_snapshot_time(snapshot: Snapshot) -> None:
    """Raises StoreError for a snapshot whose time is none."""
    if not 0 < snapshot.ts <= LAST_MOMENT:
        raise StoreError(
            f"a snapshot of {snapshot.owner} is dated {snapshot.ts} ms since 1970, which is no time: it is not stored",
            "see to the clock, or to the records that it comes from",
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


def _mode(*, replay: bool, records: bool) -> str:
    return REPLAY if replay else RECORDS if records else LIVE


def _write_meta(
    path: Path, connection: sqlite3.Connection, *, mode: str, source: str, group: str, created: int
) -> None:
    before = read_meta(connection)
    has = before.get("mode", mode)
    if (has == REPLAY) != (mode == REPLAY):
        raise StoreError(
            f"the store {path} holds {HOLDS.get(has, has)}, and the two are not mixed", "name another store"
        )
    if LIVE in (has, mode):
        # Records are taken into an agent's store, and an agent may go on where only records were.
        mode = LIVE
    facts = {"mode": mode, "version": __version__}
    if source:
        facts["source"] = source
    if group:
        facts["group"] = group
    if not before:
        facts = {"source": source, "group": group, "created": iso(created) if created else "", **facts}
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", list(facts.items()))
    connection.execute("COMMIT")
