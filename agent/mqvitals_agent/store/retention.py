"""Retention: what is older than the store keeps is deleted, oldest first, in short transactions between the cycles.

Deleted pages go to SQLite's list of free pages and are used again: the file stops growing, and never shrinks.

Two bounds hold. By age: samples, snapshots, SMF bookkeeping, console messages, the journal, ended alerts with what people did about
them and ended silences that are older than ``keep`` (the audit also a year), and objects that have been gone for longer and that nothing refers to. By size: while the store holds more
than its limit, the oldest samples with their snapshots and SMF bookkeeping; once only the last hour of them is left,
the oldest messages and entries of the journal; then the oldest ended alerts. Never deleted are current state, open alerts, alerts with
a pending notification, the hourly means of baselines (kept for their own time), and the last hour.

Every step is a transaction with all that must agree with it: after a crash at any moment the next step goes on from
there.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.file.integrity import OF_ALERTS
from mqvitals_agent.store.file.schema import ALERTS_FROM, KEPT_FROM, write_meta
from mqvitals_agent.store.forgotten_objects import forget_objects
from mqvitals_agent.store.rows.alerts.actions import AUDIT_KEPT_MS, MOST_AUDIT
from mqvitals_agent.store.rows.changes import KEEP_CHANGES_MS, MOST_CHANGES
from mqvitals_agent.store.rows.journal import MOST_ENTRIES
from mqvitals_agent.store.rows.tables import integer, moment, numbered, text
from mqvitals_agent.store.writer import Store
from mqvitals_config.sections.store import SHORTEST_KEEP_MS, KeepSettings, RawKeep
from mqvitals_rules.history import HOUR_MS
from mqvitals_rules.snapshot import Source

LIMITED: Final = "limited"
"""The store's own fact of when its size last made it delete what is younger than ``keep`` (ms UTC)."""

STEP_S: Final = 0.025
"""So long a step deletes before it commits: half of what it may take, as the commit may have to write the log back."""
REST_MS: Final = 600_000
"""How often it is looked for what grows slowly: everything but samples and snapshots."""

_SLICE_MS: Final = 600_000
"""By size all kinds are deleted together, so much time at once."""
_FEWEST, _FIRST, _MOST = 20, 200, 5_000
"""Rows at once: adapted to the time that they take."""
_HEADROOM: Final = 50
"""Deleting begins when less than this part (a fiftieth) of the limit is left."""
_LOG_PAGES, _FEWEST_LOG_PAGES, _LOG_PART = 1000, 64, 8
"""The write-ahead log is written back when it has so many pages (SQLite's own default), or an eighth of the limit."""


class RetentionPolicy(NamedTuple):
    """How long the store keeps what, and how much it holds (bytes; None: no limit)."""

    keep: KeepSettings
    limit: int | None

    @classmethod
    def of(cls, keep_ms: int | None, limit: int | None) -> RetentionPolicy:
        """All is kept as long, ms; None: for ever."""
        return cls(KeepSettings(RawKeep(keep_ms), keep_ms, keep_ms), limit)


class RetentionStep(NamedTuple):
    """What a step did: rows deleted, whether more is to be deleted now, and whether the first deletion of this store
    comes next.
    """

    rows: int
    more: bool
    first: bool = False


class StoreSize(NamedTuple):
    """What a store takes, bytes: pages in use and write-ahead log; and what its files take on disk."""

    data: int
    log: int
    files: int

    @property
    def total(self) -> int:
        """What counts against the limit."""
        return self.data + self.log


def never() -> bool:
    """Nothing waits."""
    return False


class Retention:
    """Deletes from ``store`` what ``policy`` no longer keeps.

    Use it in the thread of the store, between its transactions.

    ``folder`` is where SMF records are read from, as a file that is still there must not be forgotten. ``steady``
    is a clock of seconds.
    """

    def __init__(
        self,
        store: Store,
        policy: RetentionPolicy,
        *,
        folder: Path | None = None,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._folder = folder
        self._steady = steady
        self._rows = _FIRST
        self._work: Iterator[int] | None = None
        self._next_rest = 0
        self._announced = False
        self._connection: sqlite3.Connection
        self._load()
        self.change(policy)

    def change(self, policy: RetentionPolicy) -> None:
        """Delete by another policy from now on. Raises StoreError."""
        self.policy = policy
        self._work = None
        self._next_rest = 0
        with self._store.database.reading() as connection:
            (page,) = connection.execute("PRAGMA page_size").fetchone()
            # A small store has a small log, which otherwise would be most of what it may take.
            pages = _LOG_PAGES if policy.limit is None else policy.limit // _LOG_PART // page
            pages = min(max(pages, _FEWEST_LOG_PAGES), _LOG_PAGES)
            connection.execute(f"PRAGMA wal_autocheckpoint = {pages:d}")
            connection.execute(f"PRAGMA journal_size_limit = {2 * pages * page:d}")

    @property
    def kept_from(self) -> int | None:
        """From when on samples are all there, ms UTC; None: nothing was deleted yet."""
        return self._facts.get(KEPT_FROM)

    def limited(self, now: int) -> bool:
        """Whether, in the last day, the size has made the store delete what is younger than ``keep``."""
        last = self._facts.get(LIMITED)
        return (
            last is not None
            and self.policy.limit is not None
            and now - last < 24 * HOUR_MS
            and self._facts.get(KEPT_FROM, 0) > self._cut(now)
        )

    def step(self, now: int, waits: Callable[[], bool] = never) -> RetentionStep:
        """Delete for a while, as of ``now`` (ms UTC): at most ``STEP_S`` and a commit, less once ``waits`` says so.

        Before the first deletion of a store nothing is deleted: the step says that it comes. Raises StoreError.
        """
        ends = self._steady() + STEP_S
        rows = 0
        more = False
        try:
            with self._store.deleting() as connection:
                self._connection = connection
                if self._work is None:
                    if not self._announced and not self._facts and self._is_due(now):
                        self._announced = True
                        return RetentionStep(0, more=True, first=True)
                    self._work = self._round(now)
                began = self._steady()
                for deleted in self._work:
                    rows += deleted
                    done = self._steady()
                    self._adapt(deleted, done - began)
                    began = done
                    if done >= ends or waits():
                        more = True
                        break
                else:
                    self._work = None
        except BaseException:  # raised again; what was deleted is there: it begins anew with what the store holds
            self._work = None
            with suppress(StoreError):
                self._load()
            raise
        return RetentionStep(rows, more)

    def size(self) -> StoreSize:
        """What the store takes now. Raises StoreError."""
        with self._store.database.reading() as connection:
            return _size(connection, self._store.path)

    def oldest(self) -> int | None:
        """When the oldest sample was taken, ms UTC; None: there is none. Raises StoreError."""
        with self._store.database.reading() as connection:
            self._connection = connection
            return min(self._heads().values(), default=None)

    def _load(self) -> None:
        with self._store.database.reading() as connection:
            found = connection.execute(
                "SELECT key, value FROM meta WHERE key IN (?, ?, ?)", (KEPT_FROM, ALERTS_FROM, LIMITED)
            )
            self._facts = {text(key): int(text(value)) for key, value in found}

    def _note(self, key: str, value: int) -> None:
        if value > self._facts.get(key, -1):
            self._facts[key] = value
            write_meta(self._connection, {key: str(value)})

    def _adapt(self, deleted: int, took: float) -> None:
        """A statement takes a tenth of a step or so, so that a step ends in time."""
        if took > STEP_S / 5:
            self._rows = max(self._rows // 2, _FEWEST)
        elif deleted >= self._rows and took < STEP_S / 20:
            self._rows = min(self._rows * 2, _MOST)

    def _cut(self, now: int) -> int:
        """What is older goes by age, ms UTC."""
        return 0 if self.policy.keep.raw.default is None else max(now - self.policy.keep.raw.default, 0)

    def _over(self) -> bool:
        """Whether the store holds more than its limit, or nearly so."""
        limit = self.policy.limit
        if limit is None:
            return False
        size = _size(self._connection, self._store.path)
        # A reader can keep the log from being written back, which no deletion mends: it shall not cost all of history.
        return size.data + min(size.log, limit // 4) > limit - limit // _HEADROOM

    def _is_due(self, now: int) -> bool:
        if self._over():
            return True
        cut = self._cut(now)
        queries = (
            "SELECT 1 FROM snapshot WHERE ts < ? LIMIT 1",
            "SELECT 1 FROM alert WHERE state = 'resolved' AND ended < ? LIMIT 1",
            "SELECT 1 FROM message WHERE last_ts < ? LIMIT 1",
            "SELECT 1 FROM smf_record WHERE ts < ? LIMIT 1",
        )
        return any(head < cut for head in self._heads().values()) or any(
            self._connection.execute(query, (cut,)).fetchone() is not None for query in queries
        )

    def _round(self, now: int) -> Iterator[int]:
        """All that is to be deleted as of ``now``; yields the number of rows after each statement."""
        cut, latest = self._cut(now), now - SHORTEST_KEEP_MS
        yield from self._samples(cut)
        while self._over():
            oldest = min(self._heads().values(), default=latest)
            if oldest >= latest:
                yield from self._make_room(latest)
                break
            self._note(LIMITED, now)
            yield from self._samples(min(oldest + _SLICE_MS, latest))
        bound = self._facts.get(KEPT_FROM, 0)
        yield from self._snapshots(bound)
        if now < self._next_rest <= now + REST_MS:
            return
        yield from self._messages(cut)
        yield from self._alerts(cut)
        yield from self._actions(cut, now)
        yield from self._changes(now - KEEP_CHANGES_MS)
        yield from self._journal(cut)
        yield from self._records(bound)
        bound = min(cut, self._facts.get(KEPT_FROM, 0))
        yield from forget_objects(self._connection, self._store.snapshots, bound, now)
        self._next_rest = now + REST_MS

    def _make_room(self, latest: int) -> Iterator[int]:
        """Only the last hour of samples is left: now messages go, then ended alerts."""
        yield from self._snapshots(self._facts.get(KEPT_FROM, 0))
        for query, delete in (
            ("SELECT min(last_ts) FROM message", self._messages),
            ("SELECT min(ts) FROM journal", self._journal),
            ("SELECT min(ended) FROM alert WHERE state = 'resolved'", self._alerts),
        ):
            while self._over():
                (oldest,) = self._connection.execute(query).fetchone()
                if oldest is None or oldest >= latest:
                    break
                deleted = 0
                for rows in delete(min(moment(oldest) + _SLICE_MS, latest)):
                    deleted += rows
                    yield rows
                if not deleted:
                    break  # those left have a pending notification

    def _heads(self) -> dict[str, int]:
        """When the oldest sample of each kind was taken, of those that have any, by kind."""
        tables = self._store.tables
        oldest = ", ".join(f"(SELECT min(ts) FROM {each.history})" for each in tables.values())  # noqa: S608
        row = self._connection.execute(f"SELECT {oldest}").fetchone()
        return {kind: integer(head) for kind, head in zip(tables, row, strict=True) if head is not None}

    def _samples(self, bound: int) -> Iterator[int]:
        """Samples that were taken before ``bound``, and the entries of those that are of records."""
        for kind, head in self._heads().items():
            if head >= bound:
                continue
            table = self._store.tables[kind].history
            more = True
            while more:
                # The row to stop at: deleting with a limit is not part of every SQLite.
                row = self._connection.execute(
                    f"SELECT ts, object_id, source FROM {table} WHERE ts < ?"  # noqa: S608
                    " ORDER BY ts, object_id, source LIMIT 1 OFFSET ?",
                    (bound, self._rows),
                ).fetchone()
                more = row is not None
                where, last = ("(ts, object_id, source) < (?, ?, ?)", row) if more else ("ts < ?", (bound,))
                if self._connection.execute("SELECT 1 FROM record LIMIT 1").fetchone() is not None:
                    self._connection.execute(
                        "DELETE FROM record WHERE (object_id, source, ts) IN"  # noqa: S608
                        f" (SELECT object_id, source, ts FROM {table} WHERE {where} AND source <> ?)",
                        (*last, int(Source.POLL)),
                    )
                deleted = self._connection.execute(f"DELETE FROM {table} WHERE {where}", last).rowcount  # noqa: S608
                if deleted:
                    self._note(KEPT_FROM, integer(last[0]) + (1 if more else 0))
                yield deleted

    def _snapshots(self, bound: int) -> Iterator[int]:
        owners = [text(row[0]) for row in self._connection.execute("SELECT name FROM owner")]
        for owner in owners:
            yield from self._in_pieces(
                "DELETE FROM snapshot WHERE owner = ?1 AND ts IN"
                " (SELECT ts FROM snapshot WHERE owner = ?1 AND ts < ?2 ORDER BY ts LIMIT ?3)",
                owner,
                bound,
            )

    def _messages(self, bound: int) -> Iterator[int]:
        yield from self._in_pieces(
            "DELETE FROM message WHERE id IN (SELECT id FROM message WHERE last_ts < ?1 ORDER BY last_ts LIMIT ?2)",
            bound,
        )

    def _changes(self, bound: int) -> Iterator[int]:
        """Changes of definitions from before ``bound``, and the oldest of too many."""
        yield from self._in_pieces(
            "DELETE FROM change WHERE id IN (SELECT id FROM change WHERE ts < ?1 ORDER BY ts LIMIT ?2)", bound
        )
        yield from self._in_pieces(
            "DELETE FROM change WHERE id IN (SELECT id FROM change ORDER BY ts DESC, id DESC LIMIT ?2 OFFSET ?1)",
            MOST_CHANGES,
        )

    def _journal(self, bound: int) -> Iterator[int]:
        """Entries of the journal from before ``bound``; of too many also the oldest."""
        yield from self._in_pieces(
            "DELETE FROM journal WHERE id IN (SELECT id FROM journal WHERE ts < ?1 ORDER BY ts LIMIT ?2)", bound
        )
        yield from self._in_pieces(
            "DELETE FROM journal WHERE id IN (SELECT id FROM journal ORDER BY ts DESC, id DESC LIMIT ?2 OFFSET ?1)",
            MOST_ENTRIES,
        )

    def _alerts(self, bound: int) -> Iterator[int]:
        """Alerts that ended before ``bound``, with transitions, notifications, acknowledgements and notes; not those with a
        pending notification.

        The last one stays, so that no number is given twice.
        """
        while True:
            numbers = self._connection.execute(
                "SELECT id, ended FROM alert AS a WHERE state = 'resolved' AND ended < ?"
                " AND id < (SELECT max(id) FROM alert) AND ending = 0"
                " AND NOT EXISTS (SELECT 1 FROM notice WHERE alert_id = a.id AND done_ts IS NULL) ORDER BY ended LIMIT ?",
                (bound, self._rows),
            ).fetchall()
            if not numbers:
                return
            keys = [(number,) for number, _ in numbers]
            deleted = 0
            for table, key in (*((table, "alert_id") for table in OF_ALERTS), ("alert", "id")):
                found = self._connection.executemany(f"DELETE FROM {table} WHERE {key} = ?", keys)  # noqa: S608
                deleted += found.rowcount
            self._note(ALERTS_FROM, moment(numbers[-1][1]) + 1)
            yield deleted

    def _actions(self, bound: int, now: int) -> Iterator[int]:
        """Silences that ended before ``bound``, and of the audit what is older, and older than a year.

        The last one of each stays, so that no number is given twice.
        """
        yield from self._in_pieces(
            "DELETE FROM silence WHERE id IN (SELECT id FROM silence WHERE ends_ts < ?1"
            " AND id < (SELECT max(id) FROM silence) ORDER BY ends_ts LIMIT ?2)",
            bound,
        )
        yield from self._in_pieces(
            "DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE ts < ?1"
            " AND id < (SELECT max(id) FROM audit) ORDER BY ts LIMIT ?2)",
            min(bound, now - AUDIT_KEPT_MS),
        )
        yield from self._in_pieces(
            "DELETE FROM audit WHERE id IN (SELECT id FROM audit ORDER BY id DESC LIMIT ?2 OFFSET ?1)", MOST_AUDIT
        )

    def _records(self, bound: int) -> Iterator[int]:
        """What is remembered of SMF records that ended before ``bound``, and of files that are there no more."""
        yield from self._in_pieces(
            "DELETE FROM smf_record WHERE id IN (SELECT id FROM smf_record WHERE ts < ?1 ORDER BY ts LIMIT ?2)", bound
        )
        owner, kind = "", ""
        while True:
            found = self._connection.execute(
                "SELECT owner, kind FROM smf_part WHERE (owner, kind) > (?, ?) ORDER BY owner, kind LIMIT 1",
                (owner, kind),
            ).fetchone()
            if found is None:
                break
            owner, kind = text(found[0]), text(found[1])
            # Several parts have one end: whole ends go.
            yield from self._in_pieces(
                "DELETE FROM smf_part WHERE owner = ?1 AND kind = ?2 AND ts IN (SELECT ts FROM smf_part"
                " WHERE owner = ?1 AND kind = ?2 AND ts < ?3 ORDER BY ts LIMIT ?4)",
                owner,
                kind,
                bound,
            )
        there = self._files()
        if there is None:
            return
        old = self._connection.execute("SELECT name FROM smf_file WHERE ts < ?", (bound,)).fetchall()
        gone = [(name,) for (name,) in old if text(name) not in there]
        yield self._connection.executemany("DELETE FROM smf_file WHERE name = ?", gone).rowcount if gone else 0

    def _files(self) -> frozenset[str] | None:
        """The files in the watched folder as the store names them; None: it cannot be read now."""
        if self._folder is None:
            return frozenset()
        try:
            with os.scandir(os.fsencode(self._folder)) as entries:
                return frozenset(entry.name.decode("utf-8", "backslashreplace") for entry in entries)
        except OSError:
            return None

    def _in_pieces(self, statement: str, *parameters: str | int) -> Iterator[int]:
        """Run a statement, whose last parameter is a number of rows, until it deletes none; yields rows."""
        while deleted := self._connection.execute(statement, numbered(*parameters, self._rows)).rowcount:
            yield deleted


def _size(connection: sqlite3.Connection, path: Path) -> StoreSize:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    (page,) = connection.execute("PRAGMA page_size").fetchone()
    sizes = [_length(path.with_name(path.name + ending)) for ending in ("", "-wal", "-shm")]
    return StoreSize((pages - free) * page, sizes[1], sum(sizes))


def _length(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
