"""The rows of history: one per object and snapshot, whatever number of readings it had."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mqvitals_agent.store.shape import NULL, Arrangement, Spread
from mqvitals_agent.store.table import KindTables
from mqvitals_rules.snapshot import Reading
from mqvitals_rules.vocabulary.metric import Absence, Reported


class HistoryRows:
    """Merges the readings of an object into its row of the history of its kind."""

    def __init__(self, tables: KindTables) -> None:
        self._arrangement = Arrangement(tables.numbers, tables.metrics, tables.kind)

    def row(self, ts: int, object_id: int, told: Sequence[Spread]) -> tuple[Any, ...] | None:
        """The parameters of ``KindTables.insert_history``; None when nothing was polled and nothing was told.

        A metric told twice has its latest present value: absence never replaces a value. Raises ValueError for an
        unknown metric.
        """
        reading, shape, cells = told[0]
        polled, answered, interval = reading.poll, reading.answered, reading.interval_ms
        if len(told) > 1:
            for another, more, behind in told[1:]:
                shape += more
                cells += behind
                answered = answered or another.answered
                if another.poll and not polled:
                    polled, interval = True, another.interval_ms
        if not polled and not answered:
            return None
        columns = self._arrangement.of(shape)
        if columns is None:
            row = self._arrangement.row(merged([each.reading for each in told]))
        else:
            row = columns((*cells, NULL))
        return (ts, object_id, NULL if interval is None else interval, polled, *row)


def merged(readings: Sequence[Reading]) -> dict[str, Reported]:
    """What several readings of an object say together: of a metric the latest value, else the latest absence."""
    values: dict[str, Reported] = {}
    for reading in readings:
        for metric, value in reading.values.items():
            if not isinstance(value, Absence) or isinstance(values.get(metric, value), Absence):
                values[metric] = value
    return values
