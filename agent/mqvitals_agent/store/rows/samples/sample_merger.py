"""The readings of an object in one snapshot, merged into its row of the history."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from mqvitals_agent.store.rows.tables import (
    BLANK,
    NULL,
    Cells,
    ColumnOrder,
    Columns,
    KindTables,
    ReadingCells,
    Shape,
    Shapes,
)
from mqvitals_rules.snapshot import Reading
from mqvitals_rules.vocabulary.metric import Absence, Reported

_INSERTS = 256
"""A kind has a handful of sets of shapes; whatever feeds us more must not fill the memory."""


SampleRow = tuple[int, int, float, bool, Shape, Cells]
"""What one snapshot or record reports of an object, before it is a row: time, number of the object, interval, whether it
was polled, the metrics and their cells. Interval and cells as they are bound. A plain tuple, as ``ReadingCells``.
"""


_shape_of = itemgetter(4)


class SampleMerger:
    """Merges the readings of an object into its row of the history of its kind."""

    def __init__(self, tables: KindTables, shapes: Shapes) -> None:
        self._tables = tables
        self._shapes = shapes
        self._arrangement = ColumnOrder(tables.numbers, tables.metrics, tables.kind)
        self._arranged: Shape | None = None
        """The shape of the last sample: mostly that of the next one too."""
        self._inserts: dict[frozenset[Shape], tuple[str, ColumnOrder, tuple[str, ...]]] = {}

    def sample(self, ts: int, object_id: int, readings: Sequence[ReadingCells]) -> SampleRow | None:
        """The values of these readings together; None when nothing was polled and nothing was reported.

        A metric reported twice has its latest present value: absence never replaces a value. Raises ValueError for an
        unknown metric.
        """
        reading, shape, values = readings[0]
        polled, answered, interval = reading.poll, reading.answered, reading.interval_ms
        if len(readings) > 1:
            metrics = shape.metrics
            for another, more, behind in readings[1:]:
                metrics += more.metrics
                values += behind
                answered = answered or another.answered
                if another.poll and not polled:
                    polled, interval = True, another.interval_ms
            shape = self._shapes.of(metrics)
        if not polled and not answered:
            return None
        if shape is not self._arranged and self._arrangement.of(shape) is None:
            found = merged([each for each, _, _ in readings])
            shape = self._shapes.of(tuple(found))
            values = shape.cells(tuple(found.values()))
        self._arranged = shape
        return ts, object_id, NULL if interval is None else interval, polled, shape, values

    def row(self, sample: SampleRow) -> tuple[Any, ...]:
        """The parameters of ``KindTables.insert_history`` with every column."""
        ts, object_id, interval, polled, shape, cells = sample
        columns = self._arrangement.of(shape)
        assert columns is not None, "a sample has each metric once"
        return (ts, object_id, interval, polled, *columns(cells + BLANK))

    def insert(self, samples: Sequence[SampleRow]) -> tuple[str, list[tuple[Any, ...]], tuple[str, ...]]:
        """The statement that inserts these samples, in their order, its parameters, and the metrics that it names.

        It names only the columns that any of them has: one cycle fills a fifth of them, and to bind NULL to the others
        takes as long as all the rest of a row.
        """
        shapes = frozenset(map(_shape_of, samples))
        known = self._inserts.get(shapes)
        if known is None:
            if len(self._inserts) >= _INSERTS:
                self._inserts.clear()
            present = frozenset[str]().union(*(shape.metrics for shape in shapes))
            columns = tuple(name for name in self._tables.numbers if name in present)
            known = (
                self._tables.insert_history(columns),
                ColumnOrder(columns, self._tables.metrics, self._tables.kind),
                columns,
            )
            self._inserts[shapes] = known
        statement, arrangement, columns = known
        rows = []
        before: Shape | None = None
        arranged: Columns | None = None
        for ts, object_id, interval, polled, shape, cells in samples:
            if shape is not before:
                before, arranged = shape, arrangement.of(shape)
            assert arranged is not None, "a sample has each metric once"
            rows.append((ts, object_id, interval, polled) + arranged(cells + BLANK))  # noqa: RUF005 - see BLANK
        return statement, rows, columns


def merged(readings: Sequence[Reading]) -> dict[str, Reported]:
    """The values of several readings of an object together: of a metric the latest value, else the latest absence."""
    values: dict[str, Reported] = {}
    for reading in readings:
        for metric, value in reading.values.items():
            if not isinstance(value, Absence) or isinstance(values.get(metric, value), Absence):
                values[metric] = value
    return values
