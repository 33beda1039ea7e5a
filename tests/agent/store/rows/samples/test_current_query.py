"""The newest values of many objects, from the rows of all probes."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.file.migration import make_tables
from mqvitals_agent.store.rows.samples.current import CurrentQuery
from mqvitals_agent.store.rows.tables import tables_of
from mqvitals_rules.snapshot import Source
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

QUEUE = tables_of(KINDS)["queue"]
METRICS = ("depth", "puts")


class Row(NamedTuple):
    """What a probe last told of an object: when, and values, absences with their reasons among them; asked again at ``asked``."""

    number: int
    probe: str
    ts: int | None
    values: dict[str, Reported]
    asked: int = 3
    unanswered: str | None = None
    source: int = 1


TOLD = st.dictionaries(
    st.sampled_from(METRICS), st.one_of(st.integers(0, 3), st.sampled_from((Absence.RESET, Absence.NO_ANSWER)))
)
NUMBERS = st.one_of(st.integers(1, 6), st.sampled_from((1_000, 5_000_000)))


def told_row(row: tuple[int, str, int | None, dict[str, Any]]) -> Row:
    """What a poll answered, or was asked and did not answer."""
    return Row(*row)


ROWS = st.lists(
    st.tuples(NUMBERS, st.sampled_from("ABC"), st.one_of(st.none(), st.integers(1, 3)), TOLD).map(told_row),
    unique_by=lambda row: row[:2],
)


def write(connection: sqlite3.Connection, rows: list[Row]) -> None:
    for statement in QUEUE.statements({}):
        connection.execute(statement)
    for number, probe, ts, values, asked, unanswered, source in rows:
        there = {metric: value for metric, value in values.items() if not isinstance(value, Absence)}
        absent = {metric: value.name for metric, value in values.items() if isinstance(value, Absence)}
        cells = {
            "object_id": number,
            "probe": probe,
            "source": source,
            "changed": 1,
            **there,
            "absent": json.dumps(absent) if absent else None,
        }
        connection.execute(
            f"INSERT INTO {QUEUE.current}({', '.join(cells)}) VALUES({', '.join('?' * len(cells))})",
            tuple(cells.values()),
        )
        connection.execute("INSERT INTO reading VALUES(?, ?, ?, ?, ?)", (number, probe, ts, asked, unanswered))


def told(rows: list[Row], number: int) -> dict[str, Reported]:
    """The newest value, of any probe before the newest absence; of one time that of the last name."""
    found: dict[str, Reported] = {}
    for row in sorted((row for row in rows if row.number == number), key=lambda row: (row.ts or 0, row.probe)):
        for metric, value in row.values.items():
            if not isinstance(value, Absence) or isinstance(found.get(metric, value), Absence):
                found[metric] = value
    return found


@given(ROWS, st.lists(NUMBERS, unique=True), st.lists(st.sampled_from(METRICS), min_size=1, unique=True))
def test_of_any_objects_what_their_probes_told(rows: list[Row], numbers: list[int], metrics: list[str]) -> None:
    """Whether their numbers lie close together or far apart, and in whatever order: these objects, and no others."""
    with closing(make_tables(sqlite3.connect(":memory:", isolation_level=None))) as connection:
        write(connection, rows)
        found = CurrentQuery(QUEUE, frozenset(QUEUE.metrics), metrics).of(connection, numbers)
        assert found.keys() <= set(numbers)
        for number in numbers:
            expected = {metric: value for metric, value in told(rows, number).items() if metric in metrics}
            assert {metric: each.value for metric, each in found.get(number, {}).items()} == expected


MIXED = st.lists(
    st.builds(
        Row,
        NUMBERS,
        st.sampled_from("ABC"),
        st.sampled_from((3, 3, 2, None, 0)),
        st.dictionaries(
            st.sampled_from(METRICS),
            st.one_of(st.sampled_from((0, 5, 5.0, 0.0, -0.0)), st.sampled_from((Absence.RESET, Absence.NO_ANSWER))),
        ),
        st.sampled_from((3, 3, 3, 2, 0)),
        st.sampled_from((None, None, "NO_ANSWER")),
        st.sampled_from((1, 1, 1, 2)),
    ),
    unique_by=lambda row: row[:2],
)


@given(MIXED, st.lists(NUMBERS, unique=True), st.sampled_from(METRICS))
def test_one_metric_of_many_objects_is_the_same_as_of_each(rows: list[Row], numbers: list[int], metric: str) -> None:
    """Answered or not, by polls and by records, with times that no clock shows: to the type, and the sign of zero."""
    with (
        closing(make_tables(sqlite3.connect(":memory:", isolation_level=None))) as connection,
        patch("mqvitals_agent.store.rows.samples.current._MANY", 1),
    ):
        write(connection, rows)
        query = CurrentQuery(QUEUE, frozenset(QUEUE.metrics), (metric,))
        single = {number: query.of_any(connection, [number]).get(number, {}) for number in numbers}
        many = query.of(connection, numbers)
        assert repr({number: many.get(number, {}) for number in numbers}) == repr(single)
        assert many.keys() <= set(numbers)


@pytest.mark.parametrize("depth", [7, 7.5])
def test_a_metric_of_hundreds_of_objects_has_its_age_and_its_reason(depth: float) -> None:
    """Most were answered together; one was not answered, one answered before, and of one it is known why there is no value."""
    rows = [Row(number, "A", 3, {"depth": depth, "puts": 1}) for number in range(1, 301)]
    rows[10] = rows[10]._replace(ts=2, unanswered="NO_ANSWER")
    rows[20] = rows[20]._replace(values={"depth": Absence.RESET})
    rows[30] = rows[30]._replace(ts=2, asked=2)
    with closing(make_tables(sqlite3.connect(":memory:", isolation_level=None))) as connection:
        write(connection, rows)
        found = CurrentQuery(QUEUE, frozenset(QUEUE.metrics), ("depth",)).of(connection, range(1, 301))
    each = {number: found[number]["depth"] for number in found}
    assert each[1] == (depth, 3, "A", 3, None, Source.POLL, None)
    assert (each[11].ts, each[11].unanswered, each[11].value) == (2, Absence.NO_ANSWER, depth)
    assert each[21].value is Absence.RESET
    assert (each[31].ts, each[31].asked) == (2, 2)
    assert len(each) == 300


@pytest.mark.parametrize(
    "damage",
    [
        f"UPDATE {QUEUE.current} SET depth = 'deep' WHERE object_id = 2",
        f"UPDATE {QUEUE.current} SET puts = x'00' WHERE object_id = 2",
    ],
)
def test_a_cell_of_another_type_among_those_of_many_is_told(damage: str) -> None:
    """It is never taken for a figure, nor left out as if there were none."""
    with closing(make_tables(sqlite3.connect(":memory:", isolation_level=None))) as connection:
        write(connection, [Row(number, "A", 3, {"depth": number, "puts": 1}) for number in range(1, 5)])
        query = CurrentQuery(QUEUE, frozenset(QUEUE.metrics), METRICS)
        assert len(query.of(connection, range(1, 5))) == 4
        connection.execute(damage)
        with pytest.raises((TypeError, ValueError)):
            query.of(connection, range(1, 5))
