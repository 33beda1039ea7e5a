"""How readings are spread out into cells: by their metrics, and by which of these are absent."""

from __future__ import annotations

from math import isnan

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.rows.tables import NULL, ColumnOrder, Shape, Shapes
from mqvitals_rules.vocabulary.metric import Absence, Reported

METRICS = tuple("abcdefg")
VALUES = st.one_of(st.integers(), st.floats(allow_nan=False), st.text(), st.sampled_from(Absence))
READINGS = st.lists(st.dictionaries(st.sampled_from(METRICS), VALUES), max_size=12)


@given(readings=READINGS)
def test_a_cell_is_the_value_and_null_where_it_is_absent(readings: list[dict[str, Reported]]) -> None:
    """Whatever is reported, in whatever order, and however often a shape was spread out before."""
    shapes, order = Shapes(), ColumnOrder(METRICS, METRICS, "queue")
    for reading in readings:
        shape, values = shapes.of(tuple(reading)), tuple(reading.values())
        assert shapes.of(tuple(reading)) is shape
        cells = shape.cells(values)
        assert len(cells) == len(values)
        for cell, value in zip(cells, values, strict=True):
            assert isnan(cell) if isinstance(value, Absence) else cell is value
        columns = order.of(shape)
        assert columns is not None
        row = dict(zip(METRICS, columns((*cells, NULL)), strict=True))
        for metric in METRICS:
            value = reading.get(metric, Absence.NOT_ASKED)
            assert isnan(row[metric]) if isinstance(value, Absence) else row[metric] is value


@given(reading=st.dictionaries(st.sampled_from(METRICS), VALUES))
def test_a_spread_names_what_is_absent_and_why(reading: dict[str, Reported]) -> None:
    """The absent metrics and their reasons are those of the reading, in its order."""
    values = tuple(reading.values())
    spread = Shape(tuple(reading)).spread(tuple(map(type, values)))
    absent = {metric: value for metric, value in reading.items() if isinstance(value, Absence)}
    assert spread.absent == tuple(absent)
    assert spread.reasons(values) == tuple(absent.values())
    assert (spread.cells is None) is not bool(absent)
