"""A reader of a store answers the same before, while and after its hours are sealed; a damaged hour is a gap that is told."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mqsamples.sealed import BEGAN, HOUR, at, fill, seal_all
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store

HOURS = 12
EVERY = at(HOURS + 1)


@pytest.fixture
def store(path: Path, make: Any) -> Iterator[Store]:
    with Store.open(path, kinds=make.kinds, created=BEGAN) as opened:
        fill(make, opened, (part / 4 for part in range(4, 4 * HOURS)))
        yield opened


@pytest.fixture
def reader(store: Store, make: Any) -> Iterator[StoreReader]:
    with StoreReader.open(store.path, kinds=make.kinds) as opened:
        yield opened


def answers(reader: StoreReader, make: Any) -> list[Any]:
    first, other = make.queue("A"), make.queue("B")
    return [
        reader.current(first),
        reader.current_by_kind("QM01", "queue"),
        reader.newest_records(),
        reader.trend(first, "depth"),
        reader.trends(first, ("depth", "max_depth", "puts")),
        dict(reader.trends_of((first, other), ("depth", "puts"))),
        reader.covering_samples(first, "max_depth", newest_of=3),
        reader.samples(other, "depth", last=at(5), newest=2),
        list(reader.polls("queue", ("depth",), at(3))),
        list(reader.records("queue", ("max_depth",), at(3))),
    ]


@pytest.mark.parametrize("until", [3, 7.5, HOURS, HOURS + 1])
def test_sealing_changes_no_answer(store: Store, reader: StoreReader, make: Any, until: float) -> None:
    """Current values of records know the interval of their record, and whether the next one is late, from its chunk."""
    expected = answers(reader, make)
    seal_all(store, at(until))
    assert answers(reader, make) == expected


@pytest.mark.parametrize("sealed", [0, 3, 7, HOURS])
@pytest.mark.parametrize(
    "ask",
    [
        lambda reader: reader.polls("queue", ("depth",), at(0)),
        lambda reader: reader.polls_near("queue", ("depth",), [at(hour) for hour in range(HOURS + 1)]),
        lambda reader: reader.records("queue", ("max_depth",), at(0)),
    ],
)
def test_what_is_sealed_under_way_is_not_missed(
    store: Store, reader: StoreReader, sealed: int, ask: Callable[[StoreReader], Iterator[Any]]
) -> None:
    """A query sees the store as of one moment, whatever becomes of its rows until the last one is read."""
    expected = list(ask(reader))
    seal_all(store, at(sealed))
    found = ask(reader)
    begun = [next(found) for _ in range(5)]
    seal_all(store, EVERY)
    assert [*begun, *found] == expected


def test_a_reader_sees_what_was_written_after_an_unfinished_query(store: Store, reader: StoreReader, make: Any) -> None:
    """Whoever gives up a query ends it; the next one is of its own moment."""
    polls = reader.polls("queue", ("depth",), at(0))
    next(polls)
    polls.close()  # type: ignore[attr-defined]
    fill(make, store, (HOURS + 2,))
    assert reader.trend(make.queue("B"), "depth").points[-1] == (at(HOURS + 2), HOURS + 2)


def test_a_damaged_hour_is_told(store: Store, reader: StoreReader, make: Any) -> None:
    """The series of its object names it and has all others; lists of many objects have theirs."""
    first, other = make.queue("A"), make.queue("B")
    whole = {name: reader.trend(name, "depth") for name in (first, other)}
    seal_all(store, EVERY)
    with closing(sqlite3.connect(store.path)) as connection, connection:
        number = connection.execute("SELECT id FROM object WHERE kind = 'queue' AND name = 'B'").fetchone()[0]
        query = "UPDATE chunk SET data = x'00' WHERE id >> 26 = ? AND id >> 2 & 0xFFFFFF = ?"
        assert connection.execute(query, (at(5) // HOUR, number)).rowcount == 1
    rest = tuple(point for point in whole[other].points if not at(5) <= point[0] < at(6))
    found = reader.trend(other, "depth")
    assert (found.points, found.damaged) == (rest, (at(5),))
    assert reader.trends(other, ("depth", "puts"))["puts"].damaged == (at(5),)
    assert reader.trend(other, "depth", at(6)).damaged == ()
    together = dict(reader.trends_of((first, other), ("depth",)))
    assert together[first]["depth"] == whole[first]
    assert (together[other]["depth"].points, together[other]["depth"].damaged) == (rest, (at(5),))
    of_first = [(poll.ts, poll.values[0]) for poll in reader.polls("queue", ("depth",), 0) if poll.object == first]
    assert of_first == list(whole[first].points)
