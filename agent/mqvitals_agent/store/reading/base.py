"""The connection of a reader, its own facts and owners, and how a query is made."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Self

from mqvitals_agent.store.error import UnknownNameError
from mqvitals_agent.store.file.database import explained
from mqvitals_agent.store.file.integrity import count_invalid_times
from mqvitals_agent.store.file.schema import (
    ALERTS_FROM,
    HOURS_FROM,
    KEPT_FROM,
    REFUSED,
    STANDING,
    columns_of,
    kept_from_key,
    read_meta,
    refuse_foreign_objects,
)
from mqvitals_agent.store.result import LIVE, AgentStanding, Owner, StoreMeta
from mqvitals_agent.store.rows.alerts.actions import (
    NO_ACTIONS,
)
from mqvitals_agent.store.rows.alerts.alert_rows import FiringAlerts
from mqvitals_agent.store.rows.samples.current import CurrentQuery
from mqvitals_agent.store.rows.samples.history import (
    HistoryQuery,
)
from mqvitals_agent.store.rows.samples.objects import (
    number_of,
    read_closest,
    read_owners,
)
from mqvitals_agent.store.rows.tables import integer, moment, tables_of, text
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Kind, Metric

_STEPS = 20_000
"""SQLite instructions between two looks at the clock: about a millisecond."""


class QueryBase:
    """The connection of a reader, its own facts and owners, and how a query is made. Use it from one thread.

    Each query sees the store as of its own moment. Every method raises StoreError when the store cannot be read, or
    when the query takes longer than ``limit_s``.
    """

    failing = False
    generation = 0
    """What cannot be read raises."""

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        kinds: Mapping[str, Kind],
        limit_s: float,
        like: QueryBase | None = None,
    ) -> None:
        """For ``open``; ``like`` is another reader of the connection, whose columns are those of this one."""
        self.path = path
        self._connection = connection
        self._kinds = kinds
        self._limit_s = limit_s
        self._tables = tables_of(kinds)
        self._actions = NO_ACTIONS
        self._firing = FiringAlerts()
        self._schema: int = -1 if like is None else like._schema
        self._columns: dict[str, frozenset[str]] = {} if like is None else like._columns
        self._named: dict[tuple[str, str], dict[int, ObjectName]] = {} if like is None else like._named
        self._named_mark: tuple[int, int | None] = (0, None) if like is None else like._named_mark
        self._named_as_of: int | None = None
        """The state of the file in which they were looked for last."""
        with self._query():
            self._look_at_columns()

    def close(self) -> None:
        """Close the store; a second call does nothing."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def meta(self) -> StoreMeta:
        """The store's own facts."""
        with self._query() as connection:
            facts = read_meta(connection)
        kinds = map(kept_from_key, self._kinds)
        return StoreMeta(
            mode=facts.get("mode", LIVE),
            source=facts.get("source", ""),
            group=facts.get("group", ""),
            created=facts.get("created", ""),
            version=facts.get("version", ""),
            refused=facts.get(REFUSED, ""),
            kept_from=max(filter(None, (_moment_of(facts, key) for key in (KEPT_FROM, *kinds))), default=None),
            standing=AgentStanding.stored(facts.get(STANDING, "")),
            hours_kept_from=_moment_of(facts, HOURS_FROM),
            alerts_kept_from=_moment_of(facts, ALERTS_FROM),
        )

    def kept_from_of(self, kind: str) -> int | None:
        """From when on the samples of a kind are kept, ms UTC; None: none have been deleted."""
        with self._query() as connection:
            return _kept_from(connection, kind)

    def owners(self) -> tuple[Owner, ...]:
        """Every queue manager that has a snapshot, by name, the group last."""
        with self._query() as connection:
            return read_owners(connection)

    def passed_over(self) -> Mapping[str, int]:
        """How many rows of each table are dated outside any calendar, and are therefore not read."""
        with self._query() as connection:
            self._look_at_columns()
            there = [each for each in self._tables.values() if each.history in self._columns]
            return count_invalid_times(connection, there)

    def last_ts(self) -> int | None:
        """When the newest snapshot was taken: "now" for a replayed store. None when there is none yet."""
        return max((owner.last_ts for owner in self.owners()), default=None)

    @contextmanager
    def _query(self) -> Iterator[sqlite3.Connection]:
        ends = time.monotonic() + self._limit_s
        self._connection.set_progress_handler(lambda: time.monotonic() > ends, _STEPS)
        with explained(self.path, "reading"), _as_of_one_moment(self._connection):  # rows are decoded inside the query
            yield self._connection

    def _kind(self, kind: str) -> Kind:
        known = self._kinds.get(kind)
        if known is None:
            raise UnknownNameError(f"there is no kind {kind!r}", tuple(get_close_matches(kind, self._kinds)))
        return known

    def _metric(self, kind: str, metric: str) -> Metric:
        known = self._kind(kind)
        found = known.metric(metric)
        if found is None:
            near = get_close_matches(metric, [each.name for each in known.metrics])
            raise UnknownNameError(f"kind {kind} has no metric {metric!r}", tuple(near))
        return found

    def _number(self, connection: sqlite3.Connection, name: ObjectName) -> int:
        number = number_of(connection, name)
        if number is None:
            raise UnknownNameError(f"the store {self.path} holds no object {name}", read_closest(connection, str(name)))
        return number

    def _names(self, connection: sqlite3.Connection, kind: str, owner: str = "") -> Mapping[int, ObjectName]:
        """The objects of a kind by number, in its order; those of an ``owner`` in the order of their names.

        Kept until there are others, as reading thousands takes milliseconds.
        """
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if version != self._named_as_of:
            # No number is given to a second object: another one changes the greatest, one that is forgotten how many there are.
            mark = connection.execute("SELECT count(*), max(id) FROM object").fetchone()
            if mark != self._named_mark:
                self._named, self._named_mark = {}, mark
            self._named_as_of = version
        if (kind, "") not in self._named:
            rows = connection.execute("SELECT id, owner, name FROM object WHERE kind = ? ORDER BY id", (kind,))
            self._named[kind, ""] = {
                integer(number): ObjectName(text(owner), kind, text(name)) for number, owner, name in rows
            }
        if (kind, owner) not in self._named:
            own = [each for each in self._named[kind, ""].items() if each[1].owner == owner]
            self._named[kind, owner] = dict(sorted(own, key=lambda each: each[1].name))
        return self._named[kind, owner]

    def _deleted(self, connection: sqlite3.Connection, name: ObjectName, first: int) -> int | None:
        """From when on the samples of an object are kept, where it was there before and ``first`` is earlier."""
        kept_from = _kept_from(connection, name.kind)
        if kept_from is None or first >= kept_from:
            return None
        row = connection.execute(
            "SELECT 1 FROM object WHERE owner = ? AND kind = ? AND name = ? AND first_ts < ?", (*name, kept_from)
        ).fetchone()
        return None if row is None else kept_from

    def _look_at_columns(self) -> None:
        """Which columns there are now: a writer that begins, perhaps of a later version, adds those that
        are missing.
        """
        schema = self._connection.execute("PRAGMA schema_version").fetchone()[0]
        if schema != self._schema:
            refuse_foreign_objects(self.path, self._connection)
            self._columns = columns_of(self._connection)
            self._schema = schema

    def _history(self, kind: str) -> HistoryQuery:
        self._look_at_columns()
        tables = self._tables[kind]
        return HistoryQuery(tables, self._columns.get(tables.history, frozenset()))

    def _current(self, kind: str, metrics: Collection[str] | None) -> CurrentQuery:
        self._look_at_columns()
        tables = self._tables[kind]
        return CurrentQuery(tables, self._columns.get(tables.current, frozenset()), metrics)


@contextmanager
def _as_of_one_moment(connection: sqlite3.Connection) -> Iterator[None]:
    """All statements see the same: what is sealed between two of them is in neither place else."""
    if connection.in_transaction:
        # Within another query, which is under way.
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        # Closed meanwhile, by whoever did not wait for the end of the query.
        with suppress(sqlite3.ProgrammingError):
            if connection.in_transaction:
                connection.execute("COMMIT")


def _kept_from(connection: sqlite3.Connection, kind: str) -> int | None:
    facts = read_meta(connection)
    return max(_moment_of(facts, KEPT_FROM) or 0, _moment_of(facts, kept_from_key(kind)) or 0) or None


def _moment_of(facts: Mapping[str, str], key: str) -> int | None:
    return moment(int(facts[key])) if facts.get(key, "").isdecimal() else None
