"""Retention: what is older than the store keeps is deleted, oldest first, in short transactions between the cycles.

Deleted pages go to SQLite's list of free pages and are used again: the file stops growing, and never shrinks.

Two bounds hold. By age: samples after ``keep.raw``, with snapshots and SMF bookkeeping, but none of a day whose hours are not
rolled up yet while ``keep.hours`` is longer; rolled-up hours after ``keep.hours``; console messages, the journal, ended alerts with
what people did about them and ended silences after ``keep.alerts`` (the audit also a year); and objects that have been gone for
longer and that nothing refers to. By size: while the store holds more than its limit, the oldest samples; once only the last
hour of them is left, the oldest messages and entries of the journal; then the oldest ended alerts; then the oldest
rolled-up hours. Never deleted are current state, open alerts, alerts with a pending notification, the hourly means of
baselines (kept for their own time), and the last hour.

Every step is a transaction with all that must agree with it: after a crash at any moment the next step goes on from
there. Between steps SQLite's log, whose bounds follow from the limit too, is written back once it is long.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from mqvitals_agent.store.deletion.deleting import LIMITED, Deleting
from mqvitals_agent.store.deletion.events import EventDeletion
from mqvitals_agent.store.deletion.samples import SampleDeletion
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.file.page_counts import length_of, pages_of
from mqvitals_agent.store.file.schema import KEPT_FROM
from mqvitals_agent.store.forgotten_objects import forget_objects
from mqvitals_agent.store.rows.changes import KEEP_CHANGES_MS
from mqvitals_agent.store.rows.remote_write import forget_before
from mqvitals_agent.store.rows.tables import moment
from mqvitals_agent.store.writer import Store
from mqvitals_config.sections.store import SHORTEST_KEEP_MS, KeepSettings, RawKeep
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS

STEP_S: Final = 0.025
"""So long a step deletes before it commits: half of what it may take, as the commit may have to write the log back."""
REST_MS: Final = 600_000
"""How often it is looked for what grows slowly: everything but samples and snapshots."""

_SLICE_MS: Final = 600_000
"""By size all kinds are deleted together, so much time at once."""
_HEADROOM: Final = 50
"""Deleting begins when less than this part (a fiftieth) of the limit is left."""
_LOG_PAGES, _FEWEST_LOG_PAGES, _LOG_PART = 1000, 64, 8
"""The write-ahead log is written back by a commit when it has so many pages (SQLite's own default), or an eighth of the limit."""
_SHORT_LOG: Final = 8
"""Between cycles it is written back when it has this part (an eighth) of that, so that hardly any commit has to."""


class RetentionPolicy(NamedTuple):
    """How long the store keeps what, and how much it holds (bytes; None: no limit).

    ``unrolled``: samples also go of days whose hours are not rolled up.
    """

    keep: KeepSettings
    limit: int | None
    unrolled: bool = False

    @classmethod
    def of(cls, keep_ms: int | None, limit: int | None) -> RetentionPolicy:
        """All is kept as long, ms; None: for ever."""
        return cls(KeepSettings(RawKeep(keep_ms), keep_ms, keep_ms), limit)

    def waits_for_hours(self, kind: str) -> bool:
        """Whether samples of a kind stay until their hours are rolled up: those are kept longer."""
        raw, hours = self.keep.raw.of(kind), self.keep.hours
        return not self.unrolled and raw is not None and (hours is None or hours > raw)


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
        self._steady = steady
        self._deleting = Deleting()
        self._samples = SampleDeletion(self._deleting, store.tables)
        self._events = EventDeletion(self._deleting, folder)
        self._work: Iterator[int] | None = None
        self._next_rest = 0
        self._announced = False
        self._load()
        self.change(policy)

    def change(self, policy: RetentionPolicy) -> None:
        """Delete by another policy from now on. Raises StoreError."""
        self.policy = policy
        self._work = None
        self._next_rest = 0
        with self._store.database.reading() as connection:
            page = pages_of(connection).size
            # A small store has a small log, which otherwise would be most of what it may take.
            pages = _LOG_PAGES if policy.limit is None else policy.limit // _LOG_PART // page
            pages = min(max(pages, _FEWEST_LOG_PAGES), _LOG_PAGES)
            connection.execute(f"PRAGMA wal_autocheckpoint = {pages:d}")
            connection.execute(f"PRAGMA journal_size_limit = {2 * pages * page:d}")
            self._short_log = pages * page // _SHORT_LOG
        self._held_log = 0

    def write_back(self) -> bool:
        """Write the log back into the file where it is long enough, as a step of its own; returns whether it did, and emptied it.

        A log that a reader holds is tried again when it has grown. Raises StoreError.
        """
        log = length_of(self._store.path.with_name(self._store.path.name + "-wal"))
        if log < self._held_log + self._short_log:
            return False
        done = self._store.database.write_back()
        self._held_log = 0 if done else log
        return done

    @property
    def kept_from(self) -> int | None:
        """From when on samples are all there, ms UTC; None: nothing was deleted yet."""
        found = [value for key, value in self._deleting.facts.items() if key.split(".")[0] == KEPT_FROM]
        return max(found, default=None)

    def limited(self, now: int) -> bool:
        """Whether, in the last day, the size has made the store delete what is younger than ``keep``."""
        last = self._deleting.facts.get(LIMITED)
        return (
            last is not None
            and self.policy.limit is not None
            and now - last < 24 * HOUR_MS
            and self._deleting.facts.get(KEPT_FROM, 0) > self._cut(now)
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
                self._deleting.connection = connection
                if self._work is None:
                    if not self._announced and not self._deleting.facts and self._is_due(now):
                        self._announced = True
                        return RetentionStep(0, more=True, first=True)
                    self._work = self._round(now)
                began = self._steady()
                for deleted in self._work:
                    rows += deleted
                    done = self._steady()
                    self._deleting.adapt(deleted, done - began, STEP_S / 5)
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
            self._deleting.connection = connection
            return self._samples.oldest()

    def sealed_since(self, now: int) -> int | None:
        """About since when finished hours have been sealed as they are now, ms UTC; None: no hour is sealed. Raises StoreError.

        Before that samples were rows, which take many times as much.
        """
        with self._store.database.reading() as connection:
            self._deleting.connection = connection
            chunk, head = self._samples.oldest_chunk(), min(self._samples.heads().values(), default=now)
        # The oldest hour that is sealed was then as old as the oldest rows are now.
        return None if chunk is None else chunk + max(now - head, 0)

    def _load(self) -> None:
        with self._store.database.reading() as connection:
            self._deleting.load(connection)

    def _cut(self, now: int, kind: str = "") -> int:
        """Samples of a kind that are older go by age, ms UTC; without a kind: of most."""
        return _before(now, self.policy.keep.raw.of(kind))

    def _cuts(self, now: int) -> Generator[int, None, Mapping[str, int]]:
        """Before when samples of each kind go by age, ms UTC."""
        heads, rolled = self._samples.heads(), self._samples.rolled()
        cuts: dict[str, int] = {}
        for kind in self._store.tables:
            # The first values of the day that is rolled up next stand for the time since the last ones before.
            cut, done = self._cut(now, kind), max(rolled.get(kind, 0) - HOUR_MS, 0)
            if done < cut and self.policy.waits_for_hours(kind):
                waits = yield from self._samples.has_between(kind, done, cut, heads.get(kind))
                cut = done if waits else cut
            cuts[kind] = cut
        return cuts

    def _over(self) -> bool:
        """Whether the store holds more than its limit, or nearly so."""
        limit = self.policy.limit
        if limit is None:
            return False
        size = _size(self._deleting.connection, self._store.path)
        # A reader can keep the log from being written back, which no deletion mends: it shall not cost all of history.
        return size.data + min(size.log, limit // 4) > limit - limit // _HEADROOM

    def _is_due(self, now: int) -> bool:
        if self._over():
            return True
        keep = self.policy.keep
        raw, alerts = self._cut(now), _before(now, keep.alerts)
        queries = (
            ("SELECT 1 FROM snapshot WHERE ts < ? LIMIT 1", raw),
            ("SELECT 1 FROM smf_record WHERE ts < ? LIMIT 1", raw),
            ("SELECT 1 FROM alert WHERE state = 'resolved' AND ended < ? LIMIT 1", alerts),
            ("SELECT 1 FROM message WHERE last_ts < ? LIMIT 1", alerts),
        )
        chunk, day = self._samples.oldest_chunk(), self._samples.oldest_day()
        return (
            any(head < self._cut(now, kind) for kind, head in self._samples.heads().items())
            or (chunk is not None and chunk + HOUR_MS <= max(self._cut(now, kind) for kind in self._store.tables))
            or (day is not None and day + DAY_MS <= _before(now, keep.hours))
            or any(self._deleting.connection.execute(query, (cut,)).fetchone() is not None for query, cut in queries)
        )

    def _round(self, now: int) -> Iterator[int]:
        """All that is to be deleted as of ``now``; yields the number of rows after each statement."""
        latest = now - SHORTEST_KEEP_MS
        cuts = yield from self._cuts(now)
        common = min(cuts.values())
        yield from self._samples.before(common)
        heads = self._samples.heads()
        for kind, cut in cuts.items():
            if cut > common:
                yield from self._samples.of_kind(kind, cut, heads.get(kind))
        while self._over():
            oldest, chunk = self._samples.oldest(), self._samples.oldest_chunk()
            # A sealed hour goes as a whole.
            ends = None if oldest is None else oldest + HOUR_MS if oldest == chunk else min(oldest + _SLICE_MS, latest)
            if oldest is None or ends is None or oldest >= latest or ends > latest:
                yield from self._make_room(latest)
                break
            self._deleting.note(LIMITED, now)
            yield from self._samples.before(ends)
        bound = self._deleting.facts.get(KEPT_FROM, 0)
        oldest = self._samples.oldest()
        if oldest is not None:
            # A clock that was set back since has dated samples before what was deleted: they need their snapshots.
            bound = min(bound, oldest)
        yield from self._samples.snapshots(bound)
        yield from forget_before(self._deleting.connection, bound, self._deleting.rows)
        if now < self._next_rest <= now + REST_MS:
            return
        yield from self._rest(now, bound)
        self._next_rest = now + REST_MS

    def _rest(self, now: int, bound: int) -> Iterator[int]:
        """What grows slowly; samples from before ``bound`` are gone."""
        hours, events = _before(now, self.policy.keep.hours), _before(now, self.policy.keep.alerts)
        yield from self._samples.hours(hours)
        yield from self._events.messages(events)
        yield from self._events.alerts(events)
        yield from self._events.actions(events, now)
        yield from self._events.changes(now - KEEP_CHANGES_MS)
        yield from self._events.journal(events)
        yield from self._events.records(bound)
        day = self._samples.oldest_day()
        unused = min(bound, self._cut(now), *(() if day is None else (day,)))
        yield from forget_objects(self._deleting.connection, self._store.snapshots, unused, now)

    def _make_room(self, latest: int) -> Iterator[int]:
        """Only the last hour of samples is left: now messages go, then the journal, ended alerts, rolled-up hours."""
        yield from self._samples.snapshots(self._deleting.facts.get(KEPT_FROM, 0))
        for query, delete in (
            ("SELECT min(last_ts) FROM message", self._events.messages),
            ("SELECT min(ts) FROM journal", self._events.journal),
            ("SELECT min(ended) FROM alert WHERE state = 'resolved'", self._events.alerts),
        ):
            while self._over():
                (oldest,) = self._deleting.connection.execute(query).fetchone()
                if oldest is None or oldest >= latest:
                    break
                deleted = 0
                for rows in delete(min(moment(oldest) + _SLICE_MS, latest)):
                    deleted += rows
                    yield rows
                if not deleted:
                    break  # those left have a pending notification
        while self._over() and (day := self._samples.oldest_day()) is not None and day + DAY_MS <= latest:
            self._deleting.note(LIMITED, latest + SHORTEST_KEEP_MS)
            yield from self._samples.hours(day + DAY_MS)


def _before(now: int, keep_ms: int | None) -> int:
    """What is older goes when so long is kept, ms UTC."""
    return 0 if keep_ms is None else max(now - keep_ms, 0)


def _size(connection: sqlite3.Connection, path: Path) -> StoreSize:
    sizes = [length_of(path.with_name(path.name + ending)) for ending in ("", "-wal", "-shm")]
    return StoreSize(pages_of(connection).used, sizes[1], sum(sizes))
