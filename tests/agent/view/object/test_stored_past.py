"""The past that explanations read from a store: the same points as one look at a time finds, and each of them read once."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.view.object import stored_past
from mqvitals_agent.view.object.stored_past import StoredPast
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.expression.functions import WindowUse
from mqvitals_rules.history import Point
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported

BEGIN = 1_763_640_000_000
MINUTE = 60_000
POOL = ObjectName("QM01", "buffer_pool", "3")
CHANNEL = ObjectName("QM01", "channel", "TO.QM02")

Value = int | None
polled = st.none() | st.integers(0, 1000)
"""Of a poll: its number, or that it had none."""


def cell(value: Value) -> Reported:
    return Absence.NO_ANSWER if value is None else value


def write(path: Path, polls: list[tuple[int, Value, Value]], records: dict[int, int]) -> int:
    """Polls as (minutes since the one before, messages, instances) of a channel, and records (minute -> least free) of
    a pool. Returns the time of the last snapshot.
    """
    ts = BEGIN
    with Store.open(path) as store:
        for cycle, (minutes, messages, instances) in enumerate(polls, start=1):
            ts += minutes * MINUTE
            values = {"msgs": cell(messages), "instances": cell(instances)}
            readings = [Reading(CHANNEL, "INQUIRE_CHANNEL_STATUS", ts, values, minutes * MINUTE)]
            readings.append(Reading(POOL, "INQUIRE_USAGE", ts, {"free_pct": cell(instances)}, minutes * MINUTE))
            readings += [
                Reading(POOL, "SMF", ts - 1, {"low_pct": records[cycle]}, MINUTE, poll=False, source=Source.SMF)
                for each in records
                if each == cycle
            ]
            store.write(Snapshot("QM01", False, cycle, ts, tuple(readings)), Evaluation((), ()))
    return ts


histories = st.lists(st.tuples(st.integers(1, 20), polled, polled), min_size=1, max_size=12)
looks = st.lists(st.tuples(st.sampled_from(["msgs", "instances"]), st.integers(-10, 200)), min_size=1, max_size=8)
windows = st.lists(st.tuples(st.sampled_from(["msgs", "instances"]), st.integers(1, 200)), max_size=4)


@given(histories, looks, windows)
def test_windows_hold_what_was_polled_in_whatever_order_they_are_looked_at(
    polls: list[tuple[int, Value, Value]], looks: list[tuple[str, int]], windows: list[tuple[str, int]]
) -> None:
    times: list[int] = []
    for minutes, *_ in polls:
        times.append((times[-1] if times else BEGIN) + minutes * MINUTE)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        now = write(path, polls, {})
        with StoreReader.open(path) as reader:
            uses = [WindowUse("avg", "channel", metric, minutes * MINUTE, 0) for metric, minutes in windows]
            past = StoredPast(reader, now, windows=uses)
            for metric, minutes in looks:
                since = now - minutes * MINUTE
                found = past.points(CHANNEL, metric, since)
                place = 1 if metric == "msgs" else 2
                wanted = [(ts, each[place]) for ts, each in zip(times, polls, strict=True) if ts > since]
                assert [(point.ts, point.value) for point in found] == wanted
                if metric == "msgs":
                    # Of a counter the time in which its increase arose is that which was reported.
                    assert [point.interval_ms for point in found] == [
                        each[0] * MINUTE for ts, each in zip(times, polls, strict=True) if ts > since
                    ]
                elif found and (first := times.index(found[0].ts)):
                    # From the poll before the window on.
                    assert found[0].interval_ms in (times[first] - times[first - 1], None)


@given(st.dictionaries(st.integers(1, 10), st.integers(0, 100)), st.integers(0, 12), st.sampled_from([1, 2, 64]))
def test_a_figure_of_records_has_the_records_of_a_window(records: dict[int, int], minutes: int, many: int) -> None:
    """Also where it is of so many objects that it is looked up once which of them have any."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_past, "_MANY", many)
        path = Path(folder) / "store.db"
        now = write(path, [(1, 1, 1)] * 10, records)
        with StoreReader.open(path) as reader:
            past = StoredPast(reader, now)
            since = now - minutes * MINUTE
            assert past.points(POOL._replace(name="4"), "low_pct", since) == ()
            wanted = [
                Point(BEGIN + cycle * MINUTE - 1, value, MINUTE)
                for cycle, value in sorted(records.items())
                if BEGIN + cycle * MINUTE - 1 > since
            ]
            assert list(past.points(POOL, "low_pct", since)) == wanted


def test_a_series_is_read_once_however_often_it_is_looked_at(tmp_path: Path) -> None:
    now = write(tmp_path / "store.db", [(1, each, each) for each in range(30)], {})
    asked: list[str] = []
    with StoreReader.open(tmp_path / "store.db") as reader:
        uses = [WindowUse("delta", "channel", metric, 20 * MINUTE, 0) for metric in ("msgs", "instances")]
        past = StoredPast(reader, now, windows=uses)
        past.points(CHANNEL, "msgs", now - 5 * MINUTE)
        reader._connection.set_trace_callback(asked.append)
        for minutes in range(1, 20):
            assert len(past.points(CHANNEL, "msgs", now - minutes * MINUTE)) == minutes
            assert len(past.points(CHANNEL, "instances", now - minutes * MINUTE)) == minutes
    assert asked == []
