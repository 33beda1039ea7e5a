"""Questions about now: the newest value of each metric, merged from what every probe last said."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator
from typing import Any

from mqvitals_agent.store.cell import integer, integer_or_none, moment, moment_or_none, text, types_of, values
from mqvitals_agent.store.impossible import possible
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.table import POLL, KindTables
from mqvitals_rules.snapshot import ObjectName, Reading, Source, fresh_until
from mqvitals_rules.vocabulary.metric import Absence

_POLL = Source.POLL
_UNKNOWN = -1
"""The interval of a record that does not tell it."""


class CurrentQuery:
    """Reads the current state of one kind.

    ``columns`` are those that its table has: a store may be older than the vocabulary.
    """

    def __init__(self, tables: KindTables, columns: frozenset[str], metrics: Collection[str] | None = None) -> None:
        self._table = tables.current
        self._history = tables.history
        self._metrics = [name for name in tables.metrics if name in columns and (metrics is None or name in metrics)]
        self._types = types_of(tables.types[name] for name in self._metrics)
        self._known = frozenset(tables.metrics if metrics is None else metrics)
        self._exists = bool(columns)

    def of(
        self, connection: sqlite3.Connection, where: str, parameters: tuple[Any, ...]
    ) -> dict[int, dict[str, CurrentValue]]:
        """By object number, what is known of the objects that fulfil ``where`` (a text of ours). Raises sqlite3.Error.

        A value of any probe stands before an absence told by another: what only SMF can tell is no secret because a
        command cannot. Of several the newest counts. What a record tells is marked as unanswered once, by the last
        snapshot of its owner, it is no longer fresh.
        """
        found: dict[int, dict[str, CurrentValue]] = {}
        if not self._exists:
            return found
        columns = "".join(f', c."{name}"' for name in self._metrics)
        rows = connection.execute(
            # Table and columns are the vocabulary's, checked where the tables are made.
            f"SELECT c.object_id, c.probe, r.ts, r.asked, r.unanswered, c.absent, c.source, CASE WHEN c.source <> {POLL}"  # noqa: S608
            f" THEN (SELECT coalesce(h.interval_ms, {_UNKNOWN}) FROM {self._history} AS h"
            f" WHERE h.ts = r.ts AND h.object_id = r.object_id AND h.source = c.source) END, CASE WHEN c.source <> {POLL}"
            " THEN (SELECT w.last_ts FROM owner AS w JOIN object AS o ON o.owner = w.name WHERE o.id = r.object_id) END"
            f"{columns}"
            f" FROM reading AS r CROSS JOIN {self._table} AS c ON c.probe = r.probe AND c.object_id = r.object_id"
            f" WHERE r.{where} AND {possible('r.ts')} AND {possible('r.asked')} ORDER BY r.object_id, r.ts, r.probe",
            parameters,
        )
        reasons: dict[str | None, dict[str, Absence]] = {None: {}}
        for number, probe, ts, asked, unanswered, absent, source, interval, newest, *cells in rows:
            text(probe), moment_or_none(ts), moment(asked)
            known = found.setdefault(number, {})
            why = None if unanswered is None else Absence[unanswered]
            origin = _POLL
            if source != POLL:
                origin = Source(source)
                integer_or_none(interval)
                # Its sample is kept for long: a record without one is older than that.
                kept = interval is not None
                interval = None if interval == _UNKNOWN else interval
                if ts is not None and newest is not None and (not kept or integer(newest) > fresh_until(ts, interval)):
                    why = Absence.STALE
            missing = reasons.get(absent)
            if missing is None:
                missing = reasons[absent] = _reasons(absent)
            for metric, reason in missing.items():
                before = known.get(metric)
                if metric in self._known and (before is None or isinstance(before.value, Absence)):
                    known[metric] = CurrentValue(reason, ts, probe, asked, why, origin, interval)
            for metric, value in zip(self._metrics, values(cells, self._types), strict=True):
                if value is not None:
                    known[metric] = CurrentValue(value, ts, probe, asked, why, origin, interval)
        return found

    def records(self, connection: sqlite3.Connection) -> Iterator[tuple[ObjectName, Reading]]:
        """The newest record of each existing object of the kind and each probe, as far as its sample is kept. Raises sqlite3.Error."""
        if not self._exists:
            return
        columns = "".join(f', c."{name}"' for name in self._metrics)
        rows = connection.execute(
            f"SELECT o.owner, o.kind, o.name, c.probe, c.source, r.ts, h.interval_ms, c.absent{columns}"  # noqa: S608
            f" FROM {self._table} AS c CROSS JOIN object AS o CROSS JOIN reading AS r"
            f" CROSS JOIN {self._history} AS h ON h.ts = r.ts AND h.object_id = r.object_id AND h.source = c.source"
            f" WHERE c.source <> {POLL} AND o.id = c.object_id AND o.gone_ts IS NULL"
            f" AND r.object_id = c.object_id AND r.probe = c.probe AND r.ts IS NOT NULL AND {possible('r.ts')}"
        )
        for owner, kind, name, probe, source, ts, interval, absent, *cells in rows:
            told = dict(zip(self._metrics, values(cells, self._types), strict=True))
            found = {metric: value for metric, value in told.items() if value is not None}
            named = ObjectName(text(owner), text(kind), text(name))
            yield (
                named,
                Reading(
                    named,
                    text(probe),
                    moment(ts),
                    {**found, **({} if absent is None else _reasons(absent))},
                    integer_or_none(interval),
                    poll=False,
                    source=Source(source),
                ),
            )


def _reasons(text: str) -> dict[str, Absence]:
    return {metric: Absence[reason] for metric, reason in json.loads(text).items()}
