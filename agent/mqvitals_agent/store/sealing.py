"""Sealing in a running agent: finished hours become chunks, and days of them rollups, a little between two cycles.

An hour stays as rows for 26 hours, so that the last day is stepped through fast. Where rows of so long would take more than
a fifth of what the store may hold, it is sealed sooner, but never before it is two hours over. Every step is a transaction: after a
crash at any moment the next one goes on from there.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from mqvitals_agent.store.retention import never
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey, hour_of_ts
from mqvitals_agent.store.rows.sealed.roller import Roller
from mqvitals_agent.store.rows.sealed.sealer import SHORTEST_HOT_MS, Sealer, SealStep, last_due
from mqvitals_agent.store.rows.tables import integer, text
from mqvitals_agent.store.writer import Store
from mqvitals_config.sections.store import format_size
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import HOUR_MS

HOT_MS: Final = 26 * HOUR_MS
"""An hour stays as rows until so long after its begin."""

STEP_S: Final = 0.015
"""A step works for so long: what it does last, its commit and, at times, a checkpoint come on top, while a cycle may wait."""
_HOT_PART: Final = 5
"""Rows may take this part (a fifth) of the limit."""
_ROW_BYTES: Final = 110
"""What a reading takes as a row, pages included: measured, see docs/store.md."""
_REST_MS: Final = 600_000
"""After a failure, the time until sealing is tried again."""


class HotSpan(NamedTuple):
    """How long an hour stays as rows after its begin, ms, and why that is less than usual (empty: it is not)."""

    ms: int = HOT_MS
    reason: str = ""


def hot_span(readings: Sequence[int], limit: int | None) -> HotSpan:
    """How long hours stay as rows, by the ``readings`` of each hour, the newest first, and the store's limit (bytes)."""
    if limit is None:
        return HotSpan()
    held = 0
    for hours, count in enumerate(readings):
        held += count * _ROW_BYTES
        if held > limit // _HOT_PART:
            ms = min(max(hours * HOUR_MS, SHORTEST_HOT_MS), HOT_MS)
            if ms < HOT_MS:
                return HotSpan(
                    ms,
                    f"samples are sealed {ms // HOUR_MS} hours after they were taken, not {HOT_MS // HOUR_MS}: as rows those"
                    f" of a day would take more than a fifth of the {format_size(limit)} that the store may hold",
                )
            break
    return HotSpan()


class DamagedChunk(NamedTuple):
    """A chunk that could not be read: of which object, and in the hour from ``ts`` (ms UTC) on."""

    object: ObjectName
    ts: int


class SealingStep(NamedTuple):
    """What a step did: chunks written, rows deleted, bytes of rollups written, whether more is to be done now; chunks that
    were there and could not be read, and how long hours stay as rows.
    """

    chunks: int = 0
    rows: int = 0
    rolled: int = 0
    more: bool = False
    damaged: tuple[DamagedChunk, ...] = ()
    hot: HotSpan = HotSpan()


class Sealing:
    """Seals ``store``, which may hold ``limit`` bytes (None: any number). Use it in the thread of the store, between
    its transactions.

    ``steady`` is a clock of seconds.
    """

    def __init__(self, store: Store, limit: int | None, *, steady: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._limit = limit
        self._steady = steady
        written = store.snapshots.written
        self._touched = written.touched
        self._sealer = Sealer(store.tables, written.touched, steady, columns=written.columns)
        self._roller = Roller(store.tables)
        self._work: Iterator[SealStep | int] | None = None
        self._hot = HotSpan()
        self._estimated: int | None = None
        """The hour in which it was last decided how long rows stay."""
        self._next = 0

    def step(self, now: int, waits: Callable[[], bool] = never) -> SealingStep:
        """Seal for a while, as of ``now`` (ms UTC): at most ``STEP_S`` and a commit, less once ``waits`` says so.

        Raises StoreError; the step is rolled back then.
        """
        if self._work is None and not self._is_due(now):
            return SealingStep(hot=self._hot)
        ends = self._steady() + STEP_S
        chunks = rows = rolled = 0
        more = False
        damaged: list[DamagedChunk] = []
        try:
            with self._store.deleting() as connection:
                # Others delete between two steps, layouts and axes too.
                self._sealer.load()
                self._roller.load()
                if self._work is None:
                    self._work = self._round(connection, now)
                for step in self._work:
                    if isinstance(step, SealStep):
                        chunks += step.chunks
                        rows += step.rows
                        if step.damaged is not None:
                            damaged += _named(connection, step.damaged)
                    else:
                        rolled += step
                    if self._steady() >= ends or waits():
                        more = True
                        break
                else:
                    self._work = None
                    self._next = (last_due(now, self._hot.ms) + 1) * HOUR_MS + self._hot.ms
                    more = self._is_due(now)
        except BaseException:  # raised again; what is sealed is there: it begins anew with what the store holds
            self._work = None
            self._next = now + _REST_MS
            raise
        return SealingStep(chunks, rows, rolled, more, tuple(damaged), self._hot)

    def _is_due(self, now: int) -> bool:
        """Whether an hour has become due since all were sealed, or was written late."""
        return not now < self._next <= now + HOUR_MS or bool(self._late(now))

    def _late(self, now: int) -> set[tuple[str, int]]:
        """The touched hours that are due: they are sealed already, or rows of them are to be."""
        last = last_due(now, self._hot.ms)
        return {key for key in self._touched if key[1] <= last}

    def _round(self, connection: sqlite3.Connection, now: int) -> Iterator[SealStep | int]:
        hour = hour_of_ts(now)
        # Records that come late begin a round in each cycle, and a day of snapshots is a lot to look at.
        if self._limit is not None and self._estimated != hour:
            self._hot = hot_span(_readings(connection, now), self._limit)
            self._estimated = hour
        # All rows that there are now are looked for; what is in it at the end has been written meanwhile.
        self._touched -= self._late(now)
        yield from self._sealer.round(connection, now, self._hot.ms)
        yield from self._roller.round(connection, now)


def _readings(connection: sqlite3.Connection, now: int) -> Sequence[int]:
    """The number of readings of each of the last hours, the newest first."""
    newest = hour_of_ts(now)
    oldest = newest - HOT_MS // HOUR_MS
    rows = connection.execute(
        "SELECT ts / ?, sum(readings) FROM snapshot WHERE owner IN (SELECT name FROM owner) AND ts >= ? AND ts < ? GROUP BY 1",
        (HOUR_MS, oldest * HOUR_MS, (newest + 1) * HOUR_MS),
    )
    found = {integer(hour): integer(count) for hour, count in rows}
    return [found.get(hour, 0) for hour in range(newest, oldest, -1)]


def _named(connection: sqlite3.Connection, key: ChunkKey) -> Iterator[DamagedChunk]:
    row = connection.execute("SELECT owner, kind, name FROM object WHERE id = ?", (key.number,)).fetchone()
    if row is not None:
        yield DamagedChunk(ObjectName(*map(text, row)), key.hour * HOUR_MS)
