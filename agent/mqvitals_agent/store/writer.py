"""The writer of a store: a transaction holds whole snapshots, one or those of a cycle, with everything that
follows from them.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mqvitals_agent import __version__
from mqvitals_agent.store.error import UNDECODABLE, StoreError, StoreErrorKind, store_error
from mqvitals_agent.store.file.database import StoreDatabase, explained, roll_back, transaction
from mqvitals_agent.store.file.integrity import count_invalid_times, drop_invalid_times
from mqvitals_agent.store.file.schema import (
    PAGE_SIZE,
    REFUSED,
    STANDING,
    TRUSTED,
    columns_of,
    give_to_group,
    make_file,
    open_writer,
    read_meta,
    refuse_foreign_objects,
    write_meta,
)
from mqvitals_agent.store.file.store_file import WatchedFile, WriterLock, set_aside
from mqvitals_agent.store.result import HOLDS, LIVE, RECORDS, REPLAY, AgentStanding
from mqvitals_agent.store.rows.alerts.actions import NO_ACTIONS, ActionRepository, Actions
from mqvitals_agent.store.rows.alerts.alert_feed import FeedChange, FeedError
from mqvitals_agent.store.rows.alerts.alert_rows import AlertRepository, read_alerts
from mqvitals_agent.store.rows.alerts.followed_alerts import FollowedAlerts
from mqvitals_agent.store.rows.alerts.notifications import NotificationRepository, UpdateOutbox
from mqvitals_agent.store.rows.alerts.reports import ReportRepository
from mqvitals_agent.store.rows.journal import JournalEntry, insert_entries
from mqvitals_agent.store.rows.messages import MessageRepository
from mqvitals_agent.store.rows.remote_write import RemoteWriteRepository
from mqvitals_agent.store.rows.requests import RequestRepository
from mqvitals_agent.store.rows.samples.current import CurrentQuery
from mqvitals_agent.store.rows.samples.smf_records import SmfRepository
from mqvitals_agent.store.rows.samples.snapshot_writer import (
    INVALID_TIMES,
    LONG_NUMBERS,
    SnapshotWriter,
    with_possible_times,
    without_long_numbers,
)
from mqvitals_agent.store.rows.tables import KindTables, integer, moment, tables_of, text
from mqvitals_rules.lifecycle.alert import Transition
from mqvitals_rules.snapshot import ObjectName, Snapshot
from mqvitals_rules.timestamps import iso
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_rules.engine import Evaluation, UnknownCount

WriteAlerts = Callable[[sqlite3.Connection], None]
"""Writes the tables of alerts, notifications and receivers of a store. Raises sqlite3.Error."""


class OwnerProgress(NamedTuple):
    """The last stored snapshot of an owner."""

    ts: int
    cycle: int


class Store:
    """The one writer of a store: snapshots, and repositories of everything else.

    Each method of a repository is a transaction of its own. Use it from one thread; ``close`` it, or leave a ``with``
    block.
    """

    def __init__(
        self,
        path: Path,
        lock: WriterLock,
        connection: sqlite3.Connection,
        kinds: Mapping[str, Kind],
        repaired: Mapping[str, int],
        *,
        ordered: bool = False,
    ) -> None:
        """For ``open``."""
        self.path = path
        self._connection = connection
        self._lock = lock
        self._file = WatchedFile(path, lock)
        self.database = database = StoreDatabase(path, connection, self._file.note)
        self.tables = tables_of(kinds)
        """The tables of each kind."""
        self.alerts = AlertRepository(database)
        self.notifications = NotificationRepository(database)
        self.requests = RequestRepository(database)
        self.actions = ActionRepository(database)
        self.reports = ReportRepository(database)
        self._people = NO_ACTIONS
        self._followed: FollowedAlerts | None = None
        self.smf = SmfRepository(database)
        self.messages = MessageRepository(database)
        self.remote_write = RemoteWriteRepository(database)
        self.snapshots = SnapshotWriter(connection, self.tables, ordered=ordered)
        self._in_doubt = False
        self._schema = connection.execute("PRAGMA schema_version").fetchone()[0]
        self.repaired = repaired
        """Rows that were dated outside any calendar when it was opened, by table: deleted, or repaired."""
        self.refused: Counter[str] = Counter()
        """How many values could not be stored, by the kind of their fault."""

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
        ordered: bool = False,
    ) -> Store:
        """Open the store at ``path``, or make it; missing tables and columns are added.

        ``replay`` and ``records``: it is filled from a recording, or with SMF records alone; else by an agent.
        ``source`` (the recording, or the configuration) and ``group`` are kept for those who read. ``created`` is the
        time now, ms UTC, for a new store. ``mode`` are the permissions of a new file, ``shared_with`` the group of
        the operating system that the files belong to (empty: as they are). ``page_size`` only counts for a new file.
        ``busy_ms`` is how long to wait for another program's transaction (0: five seconds). ``ordered``: the order in
        which samples are stored is kept for remote write.

        Raises StoreError: no permission, another writer, no store, a newer structure, damaged, full, the other kind of
        store.
        """
        path = Path(path).resolve()
        tables = tables_of(kinds)
        make_file(path, mode)
        with explained(path, "reading"), ExitStack() as opened:
            lock = WriterLock(path)
            opened.callback(lock.release)
            connection = open_writer(path, tables.values(), page_size=page_size, busy_ms=busy_ms)
            opened.callback(connection.close)
            mode_of = REPLAY if replay else RECORDS if records else LIVE
            _write_facts(path, connection, mode=mode_of, source=source, group=group, created=created)
            if shared_with:
                give_to_group(path, shared_with)
            store = cls(path, lock, connection, kinds, _repair(connection, tables), ordered=ordered)
            opened.pop_all()
        return store

    def write(
        self, snapshot: Snapshot, evaluation: Evaluation, update_outbox: UpdateOutbox | None = None
    ) -> Sequence[tuple[int, Transition]]:
        """Store a snapshot and what the rules made of it, all or nothing; returns the visible transitions with the
        alerts' numbers.

        ``update_outbox`` makes the notifications for the visible transitions, within the same transaction. It may read
        the store, where the alerts are as after the transitions; what it raises rolls the snapshot back. Raises as
        ``write_together``.
        """
        visible: list[tuple[int, Transition]] = []

        def write_alerts(_: sqlite3.Connection) -> None:
            visible[:] = self.alerts.write(evaluation.transitions)
            if update_outbox is not None and visible:
                update_outbox(visible)

        self.write_together([(snapshot, evaluation.unknown)], write_alerts)
        return visible

    def write_together(self, cycle: Sequence[tuple[Snapshot, Sequence[UnknownCount]]], alerts: WriteAlerts) -> None:
        """Store snapshots, each with its unknown counts, and what ``alerts`` writes, in one transaction.

        A commit writes every changed page: those that the snapshots of a cycle share are written once.

        A reading with an impossible time is left out, and a whole number of more than 64 bits is absent; both are
        counted in ``refused``. Raises StoreError when one of the snapshots cannot be stored: nothing of any is then
        kept, and each may be written by itself. It is so too when the file has been deleted, replaced or damaged: what
        is written would go where no one can find it. ValueError when a reading holds a kind or a metric that the
        vocabulary does not have.
        """
        possible = [(with_possible_times(snapshot), unknown) for snapshot, unknown in cycle]
        long = 0
        try:
            self._write(possible, alerts)
        except OverflowError as error:
            narrowed = [(*without_long_numbers(snapshot), unknown) for snapshot, unknown in possible]
            long = sum(count for _, count, _ in narrowed)
            if not long:
                raise _unstorable(self.path, error) from error
            self._write([(snapshot, unknown) for snapshot, _, unknown in narrowed], alerts)
        left_out = sum(
            len(before.readings) - len(after.readings) for (before, _), (after, _) in zip(cycle, possible, strict=True)
        )
        self.refused.update({INVALID_TIMES: left_out, LONG_NUMBERS: long})

    def _write(self, cycle: Iterable[tuple[Snapshot, Sequence[UnknownCount]]], alerts: WriteAlerts) -> None:
        with self._writing_snapshots():
            for snapshot, unknown in cycle:
                self.snapshots.write(snapshot, unknown)
            alerts(self._connection)

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
        except BaseException as error:  # raised again, as a StoreError where the data are at fault
            self._undo()
            if isinstance(error, UnicodeEncodeError):
                raise _unstorable(self.path, error) from error
            if isinstance(error, (sqlite3.Error, UnicodeDecodeError)):
                raise store_error(self.path, error, "writing") from error
            raise
        self._file.note()

    def write_transitions(self, transitions: Iterable[Transition]) -> None:
        """Store changes of alerts without a snapshot, all or nothing; no receiver is notified of them. Raises StoreError."""
        with self._writing_snapshots():
            self.alerts.write(transitions)

    def write_alerts(self, alerts: WriteAlerts) -> None:
        """Write alerts and notifications that are kept elsewhere, all or nothing. Raises StoreError."""
        self._file.check()
        with self.database.writing():
            alerts(self._connection)

    def check(self) -> None:
        """Raises StoreError when the file is unreachable, deleted, replaced or damaged, as far as a short check shows.

        Also when it holds a table, trigger or view that mqvitals does not make.
        """
        self._file.check()
        with self.database.reading():
            schema = self._connection.execute("PRAGMA schema_version").fetchone()[0]
            if schema != self._schema:
                refuse_foreign_objects(self.path, self._connection)
                self._schema = schema

    def note_trouble(self, text: str) -> None:
        """Write into the lock's note what keeps the agent from storing; empty: nothing does. Never fails."""
        self._lock.note(text)

    def set_patience(self, ms: int) -> None:
        """Wait at most this long for another program's transaction."""
        with self.database.reading():
            self._connection.execute(f"PRAGMA busy_timeout = {ms:d}")

    def groups(self) -> frozenset[str]:
        """The owners that are the group, not a queue manager. Raises StoreError."""
        with self.database.reading():
            return frozenset(text(row[0]) for row in self._connection.execute("SELECT name FROM owner WHERE is_group"))

    def read_actions(self) -> Actions:
        """Look for what people did since; the same object as before where nothing is new. Raises StoreError."""
        self._people = self.actions.read(self._people)
        return self._people

    def value_now(self, name: ObjectName, metric: str) -> Reported:
        """The newest value of a metric, within a transaction too. Raises StoreError."""
        number, tables = self.snapshots.objects.get(name), self.tables.get(name.kind)
        if number is None or tables is None:
            return Absence.NOT_ASKED
        with self.database.reading():
            columns = columns_of(self._connection).get(tables.current, frozenset())
            found = CurrentQuery(tables, columns, (metric,)).of(self._connection, (number,))
        current = found.get(number, {}).get(metric)
        return Absence.NOT_ASKED if current is None else current.value

    def keep_owners(self, covered: Mapping[str, tuple[int, int]]) -> None:
        """Store that queue managers have SMF records that end from the first to the last time (ms UTC).

        Raises StoreError.
        """
        with self.database.writing():
            for name, (first, last) in covered.items():
                self.snapshots.write_record_owner(name, first, last, group=False)

    def forget_records(self, name: ObjectName, first: int, last: int) -> None:
        """Delete the samples of an object from SMF records with ``first`` <= end < ``last``, ms UTC, and its current
        state.

        The object itself is deleted when it has no other record. Raises StoreError.
        """
        if name in self.snapshots.objects:
            with self.database.writing():
                without_records = self.snapshots.delete_records(name, first, last)
            if without_records:
                del self.snapshots.objects[name]

    @contextmanager
    def deleting(self) -> Iterator[sqlite3.Connection]:
        """A transaction in which old rows are deleted; whatever is raised undoes it. Raises StoreError."""
        try:
            with self.database.writing():
                yield self._connection
        except BaseException:  # raised again; what is remembered of the file may be wrong now
            self._in_doubt = True
            raise

    def trusted_time(self) -> int | None:
        """Up to when the clock was trusted when rows were last deleted, ms UTC; else the last snapshot; else None.

        Raises StoreError.
        """
        with self.database.reading():
            found = self._connection.execute("SELECT value FROM meta WHERE key = ?", (TRUSTED,)).fetchone()
            if found is None:
                found = self._connection.execute("SELECT max(last_ts) FROM owner WHERE last_cycle > 0").fetchone()
            return None if found[0] is None else moment(int(found[0]))

    def trust_time(self, ts: int) -> None:
        """Store that the clock is trusted up to ``ts``, ms UTC. Raises StoreError."""
        with self.database.writing():
            write_meta(self._connection, {TRUSTED: str(ts)})

    def follow(self, changes: Sequence[FeedChange], now: int, *, whole: bool) -> None:
        """Take over what has changed of another agent's alerts, or with ``whole`` all of them; ``now`` is ms UTC.

        Nothing is taken over when it fails, and ``whole`` must come next. Raises StoreError, and FeedError: ``whole`` is missing,
        or the rows are not those of an agent of this version.
        """
        followed, self._followed = self._followed, None
        with self.database.writing() as connection:
            try:
                if whole:
                    followed = FollowedAlerts(connection, changes, now)
                elif followed is None:
                    raise FeedError("what has changed is known, and of what is not")
                else:
                    followed.apply(connection, changes, now)
                # A later version may have words for what happened that this one cannot read.
                tuple(
                    read_alerts(
                        connection, "id IN (SELECT value FROM json_each(?))", (json.dumps([*followed.changed]),)
                    )
                )
            except (sqlite3.IntegrityError, *UNDECODABLE) as error:
                raise FeedError(f"its alerts do not fit into this store: {error}") from error
        self._followed = followed

    def note_standing(self, standing: AgentStanding | None) -> None:
        """Store which of two agents fills it; None: there is but one. Raises StoreError."""
        with self.database.writing():
            if standing is None:
                self._connection.execute("DELETE FROM meta WHERE key = ?", (STANDING,))
            else:
                write_meta(self._connection, {STANDING: json.dumps(asdict(standing))})

    def note_refused(self, text: str) -> None:
        """Store what is wrong with refused settings or rules, for readers; empty: nothing is."""
        with self.database.writing():
            if text:
                write_meta(self._connection, {REFUSED: text})
            else:
                self._connection.execute("DELETE FROM meta WHERE key = ?", (REFUSED,))

    def note_entries(self, entries: Iterable[JournalEntry]) -> None:
        """Store entries of the journal that are of no snapshot. Raises StoreError."""
        with self.database.writing():
            insert_entries(self._connection, entries)

    def progress(self) -> dict[str, OwnerProgress]:
        """The last snapshot stored of every owner, so that an interrupted replay can go on. Raises StoreError."""
        with self.database.reading():
            rows = self._connection.execute("SELECT name, last_ts, last_cycle FROM owner ORDER BY name").fetchall()
            return {text(name): OwnerProgress(moment(ts), integer(cycle)) for name, ts, cycle in rows}

    def close(self) -> None:
        """Write the log back into the file and close it; a second call does nothing."""
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

        None: it is not there any more, or it stays with ``keep``, which is for a file that is to be opened again.
        ``now`` is ms UTC. Raises StoreError when it cannot be set aside; it is closed all the same.
        """
        if self._file.overwritten:
            self._file.forget_log()
        else:
            # SQLite does not write its log back into a file that was renamed; here it can, and the file is complete.
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

    def _load_all(self) -> None:
        self.snapshots.load()
        self.alerts.load()
        self._in_doubt = False

    def _undo(self) -> None:
        """Roll back. What is in memory may be ahead of the file then: it is read again before the next snapshot."""
        self._in_doubt = True
        roll_back(self._connection)


def _repair(connection: sqlite3.Connection, tables: Mapping[str, KindTables]) -> Counter[str]:
    """Delete rows with invalid times; returns their number by table."""
    if not count_invalid_times(connection, tables.values()):
        return Counter()
    with transaction(connection):
        found = count_invalid_times(connection, tables.values(), deep=True)
        drop_invalid_times(connection, tables.values())
    return found


def _unstorable(path: Path, error: Exception) -> StoreError:
    return StoreError(
        f"nothing of this cycle was kept in the store {path}: it holds a value that cannot be stored ({error})",
        "a recording of it helps to find out where it comes from",
        StoreErrorKind.REFUSED,
    )


def _write_facts(
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
    with transaction(connection):
        write_meta(connection, facts)
