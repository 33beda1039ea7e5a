"""Times outside any calendar, and numbers that no column holds: refused, passed over, repaired; nothing else is lost."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.samples.snapshot_writer import INVALID_TIMES, LONG_NUMBERS
from mqvitals_agent.store.rows.tables import LAST_MOMENT
from mqvitals_agent.store.writer import Store
from mqvitals_rules.lifecycle.alert import AlertState, Transition, Why
from mqvitals_rules.snapshot import Reading, Source
from mqvitals_rules.vocabulary.metric import Absence

IMPOSSIBLE = [-51_525_956_536, 0, LAST_MOMENT + 1, 890_000_000_000_000, (1 << 63) - 1, -(1 << 63)]


def filled(path: Path, make: Any) -> None:
    """Three polls of two queues, a record and an alert."""
    alert = make.alert(1, AlertState.FIRING, started=1)
    with Store.open(path, kinds=make.kinds) as store:
        for cycle in (1, 2, 3):
            verdict = make.verdict(*([Transition(alert, None, Why.HELD)] if cycle == 1 else []))
            readings = [make.status(cycle, name, depth=cycle) for name in ("A", "B")]
            store.write(make.snapshot(cycle, *readings), verdict)
        store.write(make.snapshot(3, record(make, make.ts(2))), make.verdict())


def record(make: Any, ts: int, depth: int = 7) -> Reading:
    return Reading(make.queue("A"), "SMF", ts, {"depth": depth}, 1_800_000, poll=False, source=Source.SMF)


def spoil(path: Path, ts: int) -> None:
    """What a version that took over any time from a record left behind, and some more."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in (
            "INSERT INTO sample_queue(ts, object_id, source, polled, depth) VALUES(:ts, 1, 3, 0, 5)",
            "INSERT INTO record VALUES(1, 3, :ts)",
            "INSERT OR REPLACE INTO snapshot(owner, ts, cycle, is_group, readings) VALUES('QM01', :ts, 9, 0, 1)",
            "UPDATE reading SET ts = :ts WHERE object_id = 1 AND probe = 'SMF'",
            "UPDATE owner SET first_ts = :ts, last_ts = :ts",
            "UPDATE object SET first_ts = :ts WHERE id = 2",
            "UPDATE alert SET updated = :ts",
        ):
            connection.execute(statement, {"ts": ts})


@pytest.mark.parametrize("ts", IMPOSSIBLE)
def test_a_reader_passes_over_what_has_no_time(path: Path, make: Any, ts: int) -> None:
    filled(path, make)
    spoil(path, ts)
    with StoreReader.open(path, kinds=make.kinds) as reader:
        (owner,) = reader.owners()
        assert (owner.first_ts, owner.last_ts) == (make.ts(1), make.ts(3))
        assert [row.name.name for row in reader.objects()] == ["A", "B"]
        assert [value for _, value in reader.trend(make.queue("B"), "depth").points] == [1, 2, 3]
        assert reader.snapshot_times("QM01", 9) == [make.ts(1), make.ts(2), make.ts(3)]
        assert len(list(reader.polls("queue", ("depth",), -(1 << 62)))) == 6
        assert [each.ts for each in reader.records("queue", ("depth",), -(1 << 62))] == [make.ts(2)]
        assert reader.current(make.queue("B"))["depth"].value == 3
        assert reader.newest_records() == ()
        assert reader.alerts() == ()
        passed = reader.passed_over()
    assert {"sample_queue", "snapshot", "reading", "owner", "object", "alert"} <= passed.keys()


@pytest.mark.parametrize("ts", IMPOSSIBLE)
def test_a_writer_repairs_what_has_no_time(path: Path, make: Any, ts: int) -> None:
    """What is dropped is counted; the rest goes on, and nothing is left to be passed over."""
    filled(path, make)
    spoil(path, ts)
    with Store.open(path, kinds=make.kinds) as store:
        assert store.repaired["sample_queue"] == 1
        assert store.repaired["record"] == 1
        assert store.progress()["QM01"].ts == make.ts(3)
        assert store.alerts.all_open() == ()
        store.write(make.snapshot(4, make.status(4, "B", depth=4), record(make, make.ts(4), 8)), make.verdict())
    with Store.open(path, kinds=make.kinds) as store:
        assert not store.repaired
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert reader.passed_over() == {}
        assert reader.current(make.queue("A"))["depth"].value == 8
        assert [value for _, value in reader.trend(make.queue("B"), "depth").points] == [1, 2, 3, 4]
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("ts", IMPOSSIBLE)
def test_a_reading_without_a_time_is_left_out(path: Path, make: Any, ts: int) -> None:
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(1, make.status(1, "A", depth=1), record(make, ts)), make.verdict())
        assert store.refused[INVALID_TIMES] == 1
        with pytest.raises(StoreError, match="which is no time") as refused:
            store.write(replace(make.snapshot(2, make.status(2, "A", depth=2)), ts=ts), make.verdict())
        assert refused.value.hint == "check the clock, or the records that it comes from"
        store.write(make.snapshot(3, make.status(3, "A", depth=3)), make.verdict())
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert [value for _, value in reader.trend(make.queue("A"), "depth").points] == [1, 3]
        assert reader.passed_over() == {}


@pytest.mark.parametrize("value", [1 << 63, (1 << 64) - 1, -(1 << 63) - 1, 10**400])
def test_a_number_of_more_than_64_bits_is_absent(path: Path, make: Any, value: int) -> None:
    """It alone, with a reason; the same reading's other values and the other readings are stored."""
    with Store.open(path, kinds=make.kinds) as store:
        readings = make.status(1, "A", depth=value, puts=5), make.status(1, "B", depth=(1 << 63) - 1)
        store.write(make.snapshot(1, *readings), make.verdict())
        assert store.refused[LONG_NUMBERS] == 1
    with StoreReader.open(path, kinds=make.kinds) as reader:
        current = reader.current(make.queue("A"))
        assert (current["depth"].value, current["puts"].value) == (Absence.OUT_OF_RANGE, 5)
        assert reader.current(make.queue("B"))["depth"].value == (1 << 63) - 1
