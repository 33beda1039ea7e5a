"""The newest values of many objects, from the rows of all probes."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.file.migration import make_tables
from mqvitals_agent.store.rows.samples.current import CurrentQuery
from mqvitals_agent.store.rows.tables import tables_of
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

QUEUE = tables_of(KINDS)["queue"]
METRICS = ("depth", "puts")


class Row(NamedTuple):
    """What a probe last told of an object: when, and values, absences with their reasons among them."""

    number: int
    probe: str
    ts: int | None
    values: dict[str, Reported]


TOLD = st.dictionaries(
    st.sampled_from(METRICS), st.one_of(st.integers(0, 3), st.sampled_from((Absence.RESET, Absence.NO_ANSWER)))
)
NUMBERS = st.one_of(st.integers(1, 6), st.sampled_from((1_000, 5_000_000)))
ROWS = st.lists(
    st.builds(Row, NUMBERS, st.sampled_from("ABC"), st.one_of(st.none(), st.integers(1, 3)), TOLD),
    unique_by=lambda row: row[:2],
)


def write(connection: sqlite3.Connection, rows: list[Row]) -> None:
    for statement in QUEUE.statements({}):
        connection.execute(statement)
    for number, probe, ts, values in rows:
        there = {metric: value for metric, value in values.items() if not isinstance(value, Absence)}
        absent = {metric: value.name for metric, value in values.items() if isinstance(value, Absence)}
        cells = {
            "object_id": number,
            "probe": probe,
            "source": 1,
            "changed": 1,
            **there,
            "absent": json.dumps(absent) if absent else None,
        }
        connection.execute(
            f"INSERT INTO {QUEUE.current}({', '.join(cells)}) VALUES({', '.join('?' * len(cells))})",
            tuple(cells.values()),
        )
        connection.execute("INSERT INTO reading(object_id, probe, ts, asked) VALUES(?, ?, ?, 3)", (number, probe, ts))


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
