"""The two tables of each kind, made from the vocabulary: its history and its current state.

Names of tables and columns come from the vocabulary alone and are checked here; everything else reaches SQL as a bound
parameter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mqvitals_rules.snapshot import Source
from mqvitals_rules.vocabulary.metric import Kind, Metric, MetricType

POLL = int(Source.POLL)
"""The source of a sample: an answer to one of our commands. ``Source`` has the others."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_FIXED = frozenset({"ts", "object_id", "source", "interval_ms", "polled", "probe", "changed", "absent"})


@dataclass(frozen=True, slots=True)
class KindTables:
    """Names, columns and statements of one kind's tables.

    ``numbers`` are the metrics of history, ``metrics`` those of current state.
    """

    kind: str
    history: str
    current: str
    numbers: tuple[str, ...]
    metrics: tuple[str, ...]
    types: Mapping[str, str]

    @classmethod
    def of(cls, kind: Kind) -> KindTables:
        """The tables of ``kind``. Raises ValueError for a name that cannot be a column."""
        for name in (kind.name, *(metric.name for metric in kind.metrics)):
            if not _NAME.fullmatch(name) or name in _FIXED:
                raise ValueError(f"{kind.name}: {name!r} cannot be the name of a column")
        return cls(
            kind=kind.name,
            history=f"sample_{kind.name}",
            current=f"current_{kind.name}",
            numbers=tuple(metric.name for metric in kind.metrics if metric.in_history),
            metrics=tuple(metric.name for metric in kind.metrics),
            types={metric.name: _type(metric) for metric in kind.metrics},
        )

    def statements(self, existing: Mapping[str, frozenset[str]]) -> list[str]:
        """What gives a store, whose tables have the columns ``existing``, every table and column of this kind."""
        wanted = []
        for table, columns, create in (
            (self.history, self.numbers, self._create_history),
            (self.current, self.metrics, self._create_current),
        ):
            present = existing.get(table)
            if present is None:
                wanted.append(create())
            else:
                wanted += [
                    f"ALTER TABLE {table} ADD COLUMN {self._column(name)}" for name in columns if name not in present
                ]
        return wanted

    def insert_history(self, columns: tuple[str, ...]) -> str:
        """Parameters: ts, object_id, interval_ms, polled, then ``columns``, which are some of ``numbers``; the others are NULL.

        A cycle told again replaces what was told of it before.
        """
        return (
            f"INSERT OR REPLACE INTO {self.history}(source, ts, object_id, interval_ms, polled{_listed(columns)})"
            f" VALUES({POLL}, ?, ?, ?, ?{', ?' * len(columns)})"
        )

    def merge_history(self) -> str:
        """Parameters: source, then those of ``insert_history`` with all ``numbers``: a sample that records told.

        What other probes' records of the same end told stays; the same record told again changes nothing.
        """
        updates = "".join(f', "{name}" = coalesce(excluded."{name}", "{name}")' for name in self.numbers)
        return (
            f"INSERT INTO {self.history}(source, ts, object_id, interval_ms, polled{_listed(self.numbers)})"
            f" VALUES(?, ?, ?, ?, ?{', ?' * len(self.numbers)}) ON CONFLICT(ts, object_id, source) DO UPDATE SET"
            f" interval_ms = coalesce(max(excluded.interval_ms, interval_ms), excluded.interval_ms, interval_ms){updates}"
        )

    def upsert_current(self) -> str:
        """Parameters: object_id, probe, source, changed, absent, then ``metrics``."""
        updates = ", ".join(f'"{name}" = excluded."{name}"' for name in ("source", "changed", "absent", *self.metrics))
        return (
            f"INSERT INTO {self.current}(object_id, probe, source, changed, absent{_listed(self.metrics)})"
            f" VALUES(?, ?, ?, ?, ?{', ?' * len(self.metrics)})"
            f" ON CONFLICT(probe, object_id) DO UPDATE SET {updates}"
        )

    def update_current(self, metrics: Sequence[str]) -> str:
        """Parameters: changed, absent, then ``metrics``, then object_id, probe. Other columns keep what they have."""
        updates = "".join(f', "{name}" = ?' for name in metrics)
        return f"UPDATE {self.current} SET changed = ?, absent = ?{updates} WHERE object_id = ? AND probe = ?"  # noqa: S608

    def _create_history(self) -> str:
        # Time first: rows are appended at one end. Clustered by object, every poll would rewrite a page an object.
        columns = "".join(f", {self._column(name)}" for name in self.numbers)
        return (
            f"CREATE TABLE {self.history}(ts INTEGER NOT NULL, object_id INTEGER NOT NULL, source INTEGER NOT NULL,"
            f" interval_ms INTEGER, polled INTEGER NOT NULL{columns}, PRIMARY KEY(ts, object_id, source)"
            ") STRICT, WITHOUT ROWID"
        )

    def _create_current(self) -> str:
        # Probe first: what changes with every poll is not mixed, on one page, with definitions that hardly ever change.
        columns = "".join(f", {self._column(name)}" for name in self.metrics)
        return (
            f"CREATE TABLE {self.current}(probe TEXT NOT NULL, object_id INTEGER NOT NULL, source INTEGER NOT NULL,"
            f" changed INTEGER NOT NULL, absent TEXT{columns}, PRIMARY KEY(probe, object_id)) STRICT, WITHOUT ROWID"
        )

    def _column(self, name: str) -> str:
        return f'"{name}" {self.types[name]}'


def tables_of(kinds: Mapping[str, Kind]) -> dict[str, KindTables]:
    """The tables of every kind, by kind. Raises ValueError for a name that cannot be a column."""
    return {name: KindTables.of(kind) for name, kind in kinds.items()}


def _listed(names: tuple[str, ...]) -> str:
    return "".join(f', "{name}"' for name in names)


def _type(metric: Metric) -> str:
    match metric.type:
        case MetricType.TEXT:
            return "TEXT"
        case MetricType.STATE:
            return "INTEGER"
        case _:
            # Whole numbers stay whole and fractions stay fractions; REAL would turn a depth of 5 into 5.0.
            return "ANY"
