"""Rolling up: the hours of a day that is over, and whose samples are all sealed, become a short row a metric.

A day of a kind is rolled up object by object, in short transactions between the cycles; that it is done is noted last. A
process that dies in between begins the day anew and replaces what is there. A day of which samples are written again is
done no more: it is rolled up again, and hours whose chunks are gone meanwhile keep what they came to.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping

from mqvitals_agent.store.rows.changes import TEMPORARY_DYNAMIC
from mqvitals_agent.store.rows.samples.hour_means import drop_old_means
from mqvitals_agent.store.rows.sealed.chunk import HourSamples, merged
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkReader, hour_of_ts
from mqvitals_agent.store.rows.sealed.codec import DamagedChunkError
from mqvitals_agent.store.rows.sealed.rollup import MetricHour, figures
from mqvitals_agent.store.rows.sealed.rollup_rows import DAY_HOURS, RollupReader, RollupWriter
from mqvitals_agent.store.rows.sealed.sealer import SHORTEST_HOT_MS, last_due
from mqvitals_agent.store.rows.tables import POLL, KindTables, integer, moment, text
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.changes import RECORDED
from mqvitals_rules.vocabulary.journal import DEFINING
from mqvitals_rules.vocabulary.queue import QUEUE_KIND

Hours = dict[str, dict[int, MetricHour]]
"""By metric and hour of the day."""


class Roller:
    """Rolls up days of the store behind a connection whose hours are sealed."""

    def __init__(self, tables: Mapping[str, KindTables]) -> None:
        self._tables = tables
        self.load()

    def load(self) -> None:
        """Forget what is remembered of the file: a transaction was rolled back, or others may have written."""
        self._chunks = ChunkReader()
        self._rollups = RollupReader()
        self._writer = RollupWriter()

    def round(self, connection: sqlite3.Connection, now: int) -> Iterator[int]:
        """Roll up all days that are due as of ``now`` (ms UTC), a little between two yields of the bytes written, at
        which the caller may commit; drop means of hours that a former version noted when no baseline looks back on them.

        Due is a day when the first hour after it is sealed. Raises sqlite3.Error, TypeError, ValueError.
        """
        for kind in self._tables:
            while (day := self._due(connection, kind, now)) is not None:
                yield from self._day(connection, kind, day)
        for _ in drop_old_means(connection, now):
            yield 0

    def _due(self, connection: sqlite3.Connection, kind: str, now: int) -> int | None:
        """The next day of a kind to roll up."""
        span = self._chunks.span(connection)
        if span is None:
            return None
        # A sample of the first hour's begin is about the hour before.
        day = max(self._rollups.rolled(connection, kind) + 1, (span[0] - 1) // DAY_HOURS)
        (ts,) = connection.execute(f"SELECT min(ts) FROM {self._tables[kind].history}").fetchone()  # noqa: S608 - ours
        # The first hour that is not sealed.
        hot = last_due(now, SHORTEST_HOT_MS) + 1
        if ts is not None:
            hot = min(hot, hour_of_ts(moment(ts)))
        last = min((hot - 1) // DAY_HOURS - 1, span[1] // DAY_HOURS)
        return day if day <= last else None

    def _day(self, connection: sqlite3.Connection, kind: str, day: int) -> Iterator[int]:
        rows = connection.execute("SELECT id, owner FROM object WHERE kind = ? ORDER BY id", (kind,)).fetchall()
        passing = _passing(connection, self._tables[kind])
        for number, owner in rows:
            object_ = integer(number), text(owner)
            if object_[0] in passing:
                continue
            recorded = connection.execute("SELECT DISTINCT source FROM record WHERE object_id = ?", object_[:1])
            for source in (POLL, *(integer(each) for (each,) in recorded.fetchall())):
                yield from self._object(connection, kind, day, object_, source)
        self._writer.mark(connection, kind, day)
        yield 0

    def _object(
        self, connection: sqlite3.Connection, kind: str, day: int, object_: tuple[int, str], source: int
    ) -> Iterator[int]:
        """Roll up a day of an object, whose number and owner these are."""
        tables = self._tables[kind]
        wanted = frozenset(tables.numbers) - definitions(kind)
        found: Hours = {}
        sealed: set[int] = set()
        earlier: HourSamples | None = None
        begin = day * DAY_HOURS
        following = self._chunk(connection, object_, source, begin - 1, wanted)
        for hour in range(-1, DAY_HOURS):
            own, following = following, self._chunk(connection, object_, source, begin + hour + 1, wanted)
            samples = of_hour(own, following, (begin + hour + 1) * HOUR_MS)
            if hour >= 0 and samples is not None:
                for metric, each in figures(samples, earlier, tables.counters, records=source != POLL).items():
                    found.setdefault(metric, {})[hour] = each
            if own is not None:
                sealed.add(hour)
            earlier = samples
            yield 0
        before = self._rollups.of_object(connection, kind, (), object_[0], source, (day,))
        if before:
            before = self._rollups.of_object(
                connection, kind, self._rollups.metrics(connection, kind), object_[0], source, (day,)
            )
        for metric, known in before.get(day, {}).items():
            kept = {hour: each for hour, each in known.hours().items() if hour not in sealed}
            if kept:
                found.setdefault(metric, {}).update(kept)
        if found:
            yield self._writer.write(connection, kind, day, object_[0], source, found)

    def _chunk(
        self, connection: sqlite3.Connection, object_: tuple[int, str], source: int, hour: int, wanted: frozenset[str]
    ) -> HourSamples | None:
        """The samples of a chunk; None: there is none, or it cannot be read, which is told where it is asked for."""
        number, owner = object_
        try:
            return next(self._chunks.of_object(connection, number, owner, source, (hour,), wanted), None)
        except DamagedChunkError:
            return None


def _passing(connection: sqlite3.Connection, tables: KindTables) -> frozenset[int]:
    """The numbers of temporary dynamic queues: an application makes another one each time, so that their hours are asked for
    by nobody, and would keep every one that ever was for as long as hours are kept.
    """
    if tables.kind != QUEUE_KIND.name or "definition_type" not in tables.metrics:
        return frozenset()
    rows = connection.execute(
        f"SELECT object_id FROM {tables.current} WHERE probe = ? AND definition_type = ?",  # noqa: S608 - ours
        (DEFINING[tables.kind], TEMPORARY_DYNAMIC),
    )
    return frozenset(integer(number) for (number,) in rows)


def of_hour(own: HourSamples | None, following: HourSamples | None, end: int) -> HourSamples | None:
    """The samples that are about the hour that ends at ``end`` (ms UTC), of its chunk and the following one.

    That of its begin is about the hour before, that of its end is the first of the following.
    """
    parts = []
    if own is not None and own.ts:
        parts.append(_slice(own, 1, None) if own.ts[0] == end - HOUR_MS else own)
    if following is not None and following.ts and following.ts[0] == end:
        parts.append(_slice(following, 0, 1))
    parts = [part for part in parts if part.ts]
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else merged(parts[0], parts[1])


def _slice(samples: HourSamples, first: int, last: int | None) -> HourSamples:
    cut = slice(first, last)
    values = {name: cells[cut] for name, cells in samples.values.items()}
    return HourSamples(samples.ts[cut], samples.intervals[cut], samples.polled[cut], values)


def definitions(kind: str) -> frozenset[str]:
    """The metrics of a kind that are attributes of definitions: what they were is told by changes, and no figure."""
    return frozenset().union(*RECORDED.get(kind, {}).values())
