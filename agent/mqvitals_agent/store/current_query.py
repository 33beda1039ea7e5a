"""Questions about now: the newest value of each metric, merged from what every probe last said."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from typing import Any

from mqvitals_agent.store.cell import moment, moment_or_none, text, types_of, values
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.table import KindTables
from mqvitals_rules.vocabulary.metric import Absence


class CurrentQuery:
    """Reads the current state of one kind.

    ``columns`` are those that its table has: a store may be older than the vocabulary.
    """

    def __init__(self, tables: KindTables, columns: frozenset[str], metrics: Collection[str] | None = None) -> None:
        self._table = tables.current
        self._metrics = [name for name in tables.metrics if name in columns and (metrics is None or name in metrics)]
        self._types = types_of(tables.types[name] for name in self._metrics)
        self._known = frozenset(tables.metrics if metrics is None else metrics)
        self._exists = bool(columns)

    def of(
        self, connection: sqlite3.Connection, where: str, parameters: tuple[Any, ...]
    ) -> dict[int, dict[str, CurrentValue]]:
        """By object number, what is known of the objects that fulfil ``where`` (a text of ours). Raises sqlite3.Error.

        A value of any probe stands before an absence told by another: what only SMF can tell is no secret because a
        command cannot.
        """
        found: dict[int, dict[str, CurrentValue]] = {}
        if not self._exists:
            return found
        columns = "".join(f', c."{name}"' for name in self._metrics)
        rows = connection.execute(
            # Table and columns are the vocabulary's, checked where the tables are made.
            f"SELECT c.object_id, c.probe, r.ts, r.asked, r.unanswered, c.absent{columns}"  # noqa: S608
            f" FROM reading AS r CROSS JOIN {self._table} AS c ON c.probe = r.probe AND c.object_id = r.object_id"
            f" WHERE r.{where} ORDER BY r.object_id, r.ts, r.probe",
            parameters,
        )
        reasons: dict[str | None, dict[str, Absence]] = {None: {}}
        for number, probe, ts, asked, unanswered, absent, *cells in rows:
            text(probe), moment_or_none(ts), moment(asked)
            known = found.setdefault(number, {})
            why = None if unanswered is None else Absence[unanswered]
            missing = reasons.get(absent)
            if missing is None:
                missing = reasons[absent] = _reasons(absent)
            for metric, reason in missing.items():
                before = known.get(metric)
                if metric in self._known and (before is None or isinstance(before.value, Absence)):
                    known[metric] = CurrentValue(reason, ts, probe, asked, why)
            for metric, value in zip(self._metrics, values(cells, self._types), strict=True):
                if value is not None:
                    known[metric] = CurrentValue(value, ts, probe, asked, why)
        return found


def _reasons(text: str) -> dict[str, Absence]:
    return {metric: Absence[reason] for metric, reason in json.loads(text).items()}
