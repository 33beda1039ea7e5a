"""Deletes samples, oldest first: rows and chunks with their index of records, snapshots and axes; and rolled-up hours.

Chunks stand in the order of time, so that the oldest are found and deleted without a look at others. The facts say from
when on all samples are there: one for what is deleted of all kinds together, one more for each kind that is kept shorter.
"""

# ruff: noqa: S608 - the names of tables are our own; everything else is a bound parameter
from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence

from mqvitals_agent.store.deletion.deleting import Deleting
from mqvitals_agent.store.file.schema import HOURS_FROM, KEPT_FROM, kept_from_key
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey, hour_of_ts
from mqvitals_agent.store.rows.tables import KindTables, integer, text
from mqvitals_rules.snapshot import Source
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS


class SampleDeletion:
    """Deletes samples of the kinds in ``tables``. Times are ms UTC; every generator yields rows after each statement.

    Every method raises sqlite3.Error.
    """

    def __init__(self, deleting: Deleting, tables: Mapping[str, KindTables]) -> None:
        self._deleting = deleting
        self._tables = tables
        self._none_of: dict[str, int] = {}
        """By kind, up to which hour it is known that no chunk holds it."""

    def kept_from(self, kind: str) -> int:
        """From when on all samples of a kind are there; 0: nothing was deleted yet."""
        facts = self._deleting.facts
        return max(facts.get(KEPT_FROM, 0), facts.get(kept_from_key(kind), 0))

    def heads(self) -> dict[str, int]:
        """When the oldest row of each kind was taken, of those that have any, by kind."""
        oldest = ", ".join(f"(SELECT min(ts) FROM {each.history})" for each in self._tables.values())
        row = self._deleting.connection.execute(f"SELECT {oldest}").fetchone()
        return {kind: integer(head) for kind, head in zip(self._tables, row, strict=True) if head is not None}

    def oldest_chunk(self) -> int | None:
        """The begin of the first hour that has a chunk; None: there is none."""
        (first,) = self._deleting.connection.execute("SELECT min(id) FROM chunk").fetchone()
        return None if first is None else ChunkKey.of(integer(first)).hour * HOUR_MS

    def oldest(self) -> int | None:
        """When the oldest sample was taken, of a chunk the begin of its hour; None: there is none."""
        chunk = self.oldest_chunk()
        return min((*self.heads().values(), *(() if chunk is None else (chunk,))), default=None)

    def before(self, bound: int) -> Iterator[int]:
        """Delete samples of all kinds that were taken before ``bound``; of an hour that is sealed once all of it was."""
        for kind, head in self.heads().items():
            if head < bound:
                yield from self._rows_of(kind, bound, KEPT_FROM)
        end = ChunkKey(hour_of_ts(bound), 0, 0).id
        query = "SELECT id FROM chunk WHERE id < ? ORDER BY id LIMIT ?"
        connection = self._deleting.connection
        found = False
        while rows := connection.execute(query, (end, self._deleting.rows)).fetchall():
            found = True
            keys = [ChunkKey.of(integer(number)) for (number,) in rows]
            self._records(keys)
            connection.execute("DELETE FROM chunk WHERE id <= ?", (keys[-1].id,))
            self._deleting.note(KEPT_FROM, (keys[-1].hour + 1) * HOUR_MS)
            yield len(keys)
        if found:
            left = self.oldest_chunk()
            yield from self._axes(hour_of_ts(bound if left is None else min(bound, left)))

    def of_kind(self, kind: str, bound: int, head: int | None) -> Iterator[int]:
        """Delete samples of one kind that were taken before ``bound``, as ``before``; ``head`` is when its oldest row was."""
        fact = kept_from_key(kind)
        # Chunks first: the fact is also the place from where on they are looked for.
        yield from self._chunks_of(kind, bound, fact)
        if head is not None and head < bound:
            yield from self._rows_of(kind, bound, fact)

    def has_between(self, kind: str, since: int, until: int, head: int | None) -> Generator[int, None, bool]:
        """Whether there are samples of a kind from ``since`` up to ``until``; ``head`` is when its oldest row was taken."""
        layouts, oldest = self._layouts(kind), self.oldest_chunk()
        if head is not None and head < until:
            return True
        if not layouts or oldest is None:
            return False
        first = max(hour_of_ts(max(since, oldest)), self._none_of.get(kind, 0))
        for hour in range(first, hour_of_ts(until - 1) + 1):
            for keys in self._chunks(hour, layouts):
                if keys:
                    return True
                yield 0
            self._none_of[kind] = hour
        return False

    def rolled(self) -> Mapping[str, int]:
        """By kind, up to which time its days are rolled up."""
        found = self._deleting.connection.execute("SELECT kind, day FROM rolled")
        return {text(kind): (integer(day) + 1) * DAY_MS for kind, day in found}

    def snapshots(self, bound: int) -> Iterator[int]:
        """Delete snapshots from before ``bound``."""
        owners = [text(row[0]) for row in self._deleting.connection.execute("SELECT name FROM owner")]
        for owner in owners:
            yield from self._deleting.in_pieces(
                "DELETE FROM snapshot WHERE owner = ?1 AND ts IN"
                " (SELECT ts FROM snapshot WHERE owner = ?1 AND ts < ?2 ORDER BY ts LIMIT ?3)",
                owner,
                bound,
            )

    def oldest_day(self) -> int | None:
        """The begin of the first day of which there are rolled-up hours; None: there is none."""
        connection = self._deleting.connection
        first = connection.execute(
            "SELECT min((SELECT min(day) FROM rollup WHERE metric = m.id)) FROM rollup_metric AS m"
        ).fetchone()[0]
        return None if first is None else integer(first) * DAY_MS

    def hours(self, bound: int) -> Iterator[int]:
        """Delete the rolled-up hours of whole days before ``bound``."""
        day = bound // DAY_MS
        connection = self._deleting.connection
        metrics = [integer(metric) for (metric,) in connection.execute("SELECT id FROM rollup_metric")]
        for metric in metrics:
            more = True
            while more:
                row = connection.execute(
                    "SELECT day, object_id, source FROM rollup WHERE metric = ? AND day < ?"
                    " ORDER BY day, object_id, source LIMIT 1 OFFSET ?",
                    (metric, day, self._deleting.rows),
                ).fetchone()
                more = row is not None
                where, last = ("(day, object_id, source) < (?, ?, ?)", row) if more else ("day < ?", (day,))
                deleted = connection.execute(
                    f"DELETE FROM rollup WHERE metric = ? AND {where}", (metric, *last)
                ).rowcount
                if deleted:
                    self._deleting.note(HOURS_FROM, (integer(last[0]) + (1 if more else 0)) * DAY_MS)
                    yield deleted

    def _rows_of(self, kind: str, bound: int, fact: str) -> Iterator[int]:
        """Rows of a kind that were taken before ``bound``, and the entries of those that are of records."""
        table, connection = self._tables[kind].history, self._deleting.connection
        more = True
        while more:
            # The row to stop at: deleting with a limit is not part of every SQLite.
            row = connection.execute(
                f"SELECT ts, object_id, source FROM {table} WHERE ts < ? ORDER BY ts, object_id, source LIMIT 1 OFFSET ?",
                (bound, self._deleting.rows),
            ).fetchone()
            more = row is not None
            where, last = ("(ts, object_id, source) < (?, ?, ?)", row) if more else ("ts < ?", (bound,))
            if connection.execute("SELECT 1 FROM record LIMIT 1").fetchone() is not None:
                connection.execute(
                    "DELETE FROM record WHERE (object_id, source, ts) IN"
                    f" (SELECT object_id, source, ts FROM {table} WHERE {where} AND source <> ?)",
                    (*last, int(Source.POLL)),
                )
            deleted = connection.execute(f"DELETE FROM {table} WHERE {where}", last).rowcount
            if deleted:
                self._deleting.note(fact, integer(last[0]) + (1 if more else 0))
            yield deleted

    def _chunks_of(self, kind: str, bound: int, fact: str) -> Iterator[int]:
        oldest, layouts = self.oldest_chunk(), self._layouts(kind)
        if oldest is None or not layouts:
            return
        connection = self._deleting.connection
        for hour in range(hour_of_ts(max(oldest, self.kept_from(kind))), hour_of_ts(bound)):
            for keys in self._chunks(hour, layouts):
                self._records(keys)
                connection.executemany("DELETE FROM chunk WHERE id = ?", [(key.id,) for key in keys])
                if keys:
                    self._deleting.note(fact, hour * HOUR_MS + 1)
                yield len(keys)
            self._deleting.note(fact, (hour + 1) * HOUR_MS)
            bounds = ChunkKey(hour, 0, 0).id, ChunkKey(hour + 1, 0, 0).id
            if connection.execute("SELECT 1 FROM chunk WHERE id >= ? AND id < ? LIMIT 1", bounds).fetchone() is None:
                yield connection.execute("DELETE FROM chunk_axis WHERE hour = ?", (hour,)).rowcount

    def _chunks(self, hour: int, layouts: Collection[int]) -> Iterator[Sequence[ChunkKey]]:
        """The chunks of an hour that have one of these layouts, a few at a time."""
        after, end = ChunkKey(hour, 0, 0).id - 1, ChunkKey(hour + 1, 0, 0).id
        query = "SELECT id, layout FROM chunk WHERE id > ? AND id < ? ORDER BY id LIMIT ?"
        while rows := self._deleting.connection.execute(query, (after, end, self._deleting.rows)).fetchall():
            after = integer(rows[-1][0])
            yield [ChunkKey.of(integer(number)) for number, layout in rows if layout in layouts]

    def _layouts(self, kind: str) -> Collection[int]:
        found = self._deleting.connection.execute("SELECT id FROM chunk_layout WHERE kind = ?", (kind,))
        return {integer(number) for (number,) in found}

    def _records(self, keys: Sequence[ChunkKey]) -> None:
        """The entries of the records in chunks."""
        spans = [
            (key.number, key.source, key.hour * HOUR_MS, (key.hour + 1) * HOUR_MS)
            for key in keys
            if key.source != Source.POLL
        ]
        if spans:
            self._deleting.connection.executemany(
                "DELETE FROM record WHERE object_id = ? AND source = ? AND ts >= ? AND ts < ?", spans
            )

    def _axes(self, hour: int) -> Iterator[int]:
        """The axes of hours before ``hour``, of which no chunk is left."""
        yield from self._deleting.in_pieces(
            "DELETE FROM chunk_axis WHERE (hour, owner) IN"
            " (SELECT hour, owner FROM chunk_axis WHERE hour < ?1 ORDER BY hour, owner LIMIT ?2)",
            hour,
        )
