"""Objects as they are: which there are, and the newest values of their metrics."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from typing import Final

from mqvitals_agent.store.reading.base import QueryBase
from mqvitals_agent.store.result import CurrentValue, StoredObject, UnknownRow
from mqvitals_agent.store.rows.samples.objects import (
    number_of,
    read_closest,
    read_instances,
    read_leading,
    read_objects,
    read_unknown_counts,
)
from mqvitals_agent.store.rows.tables import integer
from mqvitals_rules.snapshot import Instance, ObjectName

_NEAR: Final = 8
"""Of objects whose numbers are up to this many times as far apart as they are many, all between the least and the greatest
are looked at.
"""


class ObjectQueries(QueryBase):
    """Objects as they are: which there are, and the newest values of their metrics."""

    def objects(self, pattern: str = "*", *, gone: bool = False) -> tuple[StoredObject, ...]:
        """The objects whose whole name is ``pattern``, or matches it as file names do (``QM*/queue/APPL.*``).

        Sorted by name. Those that no longer exist only with ``gone``.
        """
        with self._query() as connection:
            return read_objects(connection, pattern, gone=gone)

    def has(self, name: ObjectName) -> bool:
        """Whether the store knows an object, also one that no longer exists."""
        with self._query() as connection:
            return number_of(connection, name) is not None

    def closest(self, wanted: str) -> tuple[str, ...]:
        """The three whole names of objects that look most like ``wanted``, best first, for "did you mean"."""
        with self._query() as connection:
            return read_closest(connection, wanted)

    def leading(self, kind: str, metric: str, count: int) -> list[tuple[ObjectName, CurrentValue]]:
        """The objects of a kind with the greatest numbers above 0 in a metric, the greatest first. Raises UnknownNameError."""
        self._metric(kind, metric)
        with self._query() as connection:
            self._look_at_columns()
            tables = self._tables[kind]
            if metric not in self._columns.get(tables.current, ()):
                return []
            return read_leading(connection, tables.current, kind, metric, count)

    def current(self, name: ObjectName) -> Mapping[str, CurrentValue]:
        """The newest value, or the reason of its absence, of every metric of an object.

        Raises UnknownNameError for an unknown object.
        """
        self._kind(name.kind)
        with self._query() as connection:
            number = self._number(connection, name)
            return self._current(name.kind, None).of(connection, (number,)).get(number, {})

    def current_by_kind(
        self, owner: str, kind: str, metrics: Collection[str] | None = None
    ) -> Mapping[ObjectName, Mapping[str, CurrentValue]]:
        """``current`` of all existing objects of a kind of an owner, by name; only of ``metrics`` when given.

        Raises UnknownNameError for an unknown kind.
        """
        self._kind(kind)
        with self._query() as connection:
            names = self._existing(connection, owner, kind)
            values = self._current(kind, metrics).of(connection, names.keys())
            return {name: values.get(number) or {} for number, name in names.items()}

    def current_of(
        self, owner: str, kind: str, names: Collection[ObjectName], metrics: Collection[str]
    ) -> Mapping[ObjectName, Mapping[str, CurrentValue]]:
        """``current`` of these objects of one owner and kind, as far as they exist. Raises UnknownNameError."""
        found = self.current_by_kind(owner, kind, metrics)
        return {name: values for name, values in found.items() if name in names}

    def current_naming(
        self,
        owner: str,
        kind: str,
        naming: tuple[str, str],
        metrics: Collection[str] | None = None,
        *,
        doubtful: bool = False,
    ) -> Mapping[ObjectName, Mapping[str, CurrentValue]]:
        """``current_by_kind`` of the objects that name a certain other one, and possibly of more.

        ``naming`` is the metric that names it, and the name as text. With ``doubtful`` the result also has every object
        of which it is not known what it names, and one of those that name another, where there are any. Raises
        UnknownNameError.
        """
        metric, value = naming
        self._metric(kind, metric)
        with self._query() as connection:
            there = self._current(kind, (metric,)).naming(connection, owner, metric, value, doubtful=doubtful)
            values = self._current(kind, metrics).of(connection, [number for number, _ in there])
            return {ObjectName(owner, kind, name): values.get(number, {}) for number, name in there}

    def instances(self, name: ObjectName) -> tuple[Instance, ...]:
        """The current instances of an object that has several, by key.

        Raises UnknownNameError for an unknown object.
        """
        with self._query() as connection:
            return read_instances(connection, self._number(connection, name), name)

    def unknown_counts(self) -> tuple[UnknownRow, ...]:
        """For how many objects of each owner's last snapshot a rule is unknown, by reason."""
        with self._query() as connection:
            return read_unknown_counts(connection)

    def _existing(self, connection: sqlite3.Connection, owner: str, kind: str) -> Mapping[int, ObjectName]:
        """The existing objects of a kind of an owner by number, in the order of their names."""
        names = self._names(connection, kind, owner)
        if not names:
            return names
        least, greatest = min(names), max(names)
        parameters: tuple[int | str, ...]
        if greatest - least < len(names) * _NEAR:
            # Rows that stand beside each other: no index is needed.
            where, parameters = "id BETWEEN ? AND ? AND kind = ?", (least, greatest, kind)
        else:
            where, parameters = "owner = ? AND kind = ?", (owner, kind)
        gone = {
            integer(number)
            for (number,) in connection.execute(
                f"SELECT id FROM object WHERE {where} AND gone_ts IS NOT NULL",  # noqa: S608 - all text is ours
                parameters,
            )
        }
        return {number: name for number, name in names.items() if number not in gone} if gone else names
