"""What metrics usually are: in memory, from the store, and as the memory of rule tests says it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.ingest.memory import HourlyBaselines
from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.ingest.windows import WindowedMetric, WindowHistory
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.samples.hour_means import drop_old_means
from mqvitals_agent.store.writer import Store
from mqvitals_agent.view.object.explanation import explain_object
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.history import MemoryHistory, hours, no_zone
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.ruleset.pack import decode_packs
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.timestamps import HOUR_MS, WEEK_MS
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

WANTED = (
    WindowedMetric("queue", "depth", baseline=True),
    WindowedMetric("queue", "puts", baseline=True),
    WindowedMetric("queue", "max_depth"),
)
NOW = 3000 * WEEK_MS + 40 * HOUR_MS + 1234


NOTHING = Evaluation((), ())


BERLIN = ZoneInfo("Europe/Berlin")
CHANGED = datetime(2026, 3, 29, 1, tzinfo=UTC)
"""When clocks in Berlin went from UTC+1 to UTC+2."""


def at(day: int, hour: int, zone: tzinfo) -> int:
    """So many days after the clock change, at an hour of a clock, ms UTC."""
    local = (CHANGED + timedelta(days=day)).astimezone(zone).replace(hour=hour)
    return int(local.timestamp()) * 1000


def test_the_day_begins_at_local_midnight_after_a_clock_change() -> None:
    """Ten o'clock is compared with ten o'clock, whether the weeks before were winter or summer."""
    ten = at(14, 10, BERLIN) + 1_234
    begun = hours(ten, BERLIN)
    assert [datetime.fromtimestamp(ts / 1000, BERLIN).hour for ts in begun] == [10] * 8
    assert [datetime.fromtimestamp(ts / 1000, UTC).hour for ts in begun] == [8, 8, 9, 9, 9, 9, 9, 9]
    assert {datetime.fromtimestamp(ts / 1000, BERLIN).weekday() for ts in begun} == {6}
    assert [datetime.fromtimestamp(ts / 1000, UTC).hour for ts in hours(ten)] == [8] * 8
    assert hours(ten, timezone(timedelta(hours=5, minutes=30))) == hours(ten)


@pytest.mark.parametrize("with_store", [False, True])
def test_the_usual_value_of_the_local_hour(path: Path, make: Any, *, with_store: bool) -> None:
    """The depth jumps at nine local time. A week after the clock change that is another hour of UTC than before."""
    zones = {"QM01": BERLIN}

    def depth(ts: int) -> int:
        return 1000 if datetime.fromtimestamp(ts / 1000, BERLIN).hour >= 9 else 10

    now = at(7, 8, BERLIN) + 600_000
    hour_begins = [now - week * WEEK_MS - now % HOUR_MS + n * HOUR_MS for week in range(8, 0, -1) for n in (0, 1, 2)]
    snapshots = [poll(make, ts + 300_000, None, depth=depth(ts)) for ts in hour_begins]
    with Store.open(path, kinds=make.kinds) as store, StoreReader.open(path, kinds=make.kinds) as reader:
        older = reader if with_store else None
        local, utc = (
            WindowHistory(WANTED, kinds=make.kinds, older=older, zone_of=zone_of) for zone_of in (zones.get, no_zone)
        )
        memory = MemoryHistory(zones.get)
        for snapshot in [*snapshots, poll(make, now, None, depth=10)]:
            for history in (local, utc, memory):
                history.add(snapshot)
            store.write(snapshot, NOTHING)
        name = make.queue()
        assert local.baseline(name, "depth", now, False) == memory.baseline(name, "depth", now, False) == 10
        # By UTC most weeks before are an hour behind.
        assert utc.baseline(name, "depth", now, False) == 10
        nine = now + HOUR_MS
        assert local.baseline(name, "depth", nine, False) == memory.baseline(name, "depth", nine, False) == 1000
        assert utc.baseline(name, "depth", nine, False) == 10


def poll(make: Any, ts: int, interval: int | None, **values: Reported) -> Snapshot:
    reading = Reading(make.queue(), "STATUS", ts, values, interval)
    return Snapshot("QM01", False, ts // 1000, ts, (reading,))


def hour(week: int) -> int:
    """When the hour of ``NOW`` began so many weeks before."""
    return NOW - NOW % HOUR_MS - week * WEEK_MS


def played(make: Any, weeks: int) -> list[Snapshot]:
    """Two polls in that hour of each of the weeks before, the depth 10, 20, ... and the puts 1, 2, ... a second; and before and after."""
    half = HOUR_MS // 2
    return [
        poll(
            make,
            hour(week) + offset,
            interval,
            depth=10 * week + change,
            puts=Absence.FIRST_READING if interval is None else week * interval // 1000,
        )
        for week in range(weeks, 0, -1)
        for offset, interval, change in (
            (0, None, 5),
            (half, half, -1),
            (HOUR_MS, half, 1),
            (HOUR_MS + half, half, 999),
        )
    ]


@pytest.mark.parametrize(
    ("weeks", "depth", "puts"), [(2, None, None), (3, 20, 2), (4, 25, 2.5), (8, 45, 4.5), (9, 45, 4.5), (12, 45, 4.5)]
)
def test_baselines(make: Any, tmp_path: Path, weeks: int, depth: float | None, puts: float | None) -> None:
    """The median of that hour's means of the last eight weeks, with three of them at least: in memory, stored, and after a new start."""
    path = tmp_path / "store.db"
    memory, lone = MemoryHistory(), WindowHistory(WANTED, kinds=make.kinds)
    Store.open(path, kinds=make.kinds).close()
    with Store.open(path, kinds=make.kinds) as store, StoreReader.open(path, kinds=make.kinds) as older:
        history = WindowHistory(WANTED, older=older, kinds=make.kinds)
        for snapshot in [*played(make, weeks), poll(make, NOW, 60_000, depth=7, puts=7)]:
            for each in (memory, lone, history):
                each.add(snapshot)
            store.write(snapshot, NOTHING)
        again = WindowHistory(WANTED, older=older, kinds=make.kinds)
        for each in (memory, lone, history, again):
            assert each.baseline(make.queue(), "depth", NOW, False) == depth
            assert each.baseline(make.queue(), "puts", NOW, True) == puts
            assert each.baseline(make.queue("OTHER"), "depth", NOW, False) is None
            assert each.baseline(make.queue(), "depth", NOW - 2 * HOUR_MS, False) is None


def noted(path: Path, name: ObjectName, means: Mapping[int, float]) -> None:
    """Means of hours of the depth, by their begin, as a former version noted them."""
    with closing(sqlite3.connect(path)) as connection, connection:
        (number,) = connection.execute("SELECT id FROM object WHERE name = ?", (name.name,)).fetchone()
        connection.executemany(
            "INSERT INTO hour_mean VALUES(?, 'queue', 'depth', ?, ?, 60)",
            [(begun, number, mean) for begun, mean in means.items()],
        )


def test_hours_that_a_former_version_noted(make: Any, tmp_path: Path) -> None:
    """They count where there are no samples of an hour; of one object as of all."""
    path = tmp_path / "store.db"
    Store.open(path, kinds=make.kinds).close()
    with Store.open(path, kinds=make.kinds) as store, StoreReader.open(path, kinds=make.kinds) as older:
        for week in (3, 1):
            store.write(poll(make, hour(week) + 60_000, None, depth=10 * week), NOTHING)
        noted(path, make.queue(), {hour(2): 25.0, hour(1): 99.0})
        asked = hour(1), hour(2), hour(3), hour(4)
        assert sorted(older.hour_means("queue", "depth", asked)[make.queue()]) == [10.0, 25.0, 30.0]
        assert sorted(older.hour_means("queue", "depth", asked, make.queue())[make.queue()]) == [10.0, 25.0, 30.0]
        assert older.hour_means("queue", "depth", asked, make.queue("OTHER")) == {}
        assert older.hour_means("queue", "puts", asked) == {}


RULE = """\
rules:
  - id: MY-01
    title: A rule of ours
    tier: P
    kind: operational
    scope: page_set
    when: used_pct > 2 * baseline(used_pct)
    severity: warning
    summary: "page set {name}"
    advice: Look at it.
    caveat: None.
    source: {document: Our own handbook, section: What is usual}
"""


def test_the_agent_learns_what_is_usual(tmp_path: Path) -> None:
    """Hours that are over are stored beside the snapshots, and found again by another process, also by who only reads."""
    rules, problems = decode_packs([("ours.yaml", RULE)], KINDS)
    assert not problems
    judging = RuleConfig(RuleSet(rules, KINDS), Facts(KINDS))
    name = ObjectName("QM01", "page_set", "3")

    def snapshot(ts: int, pct: float) -> Snapshot:
        return Snapshot("QM01", False, ts // 1000, ts, (Reading(name, "INQUIRE_USAGE", ts, {"used_pct": pct}, 60_000),))

    path = tmp_path / "store.db"
    Store.open(path).close()
    for week in (3, 2, 1, 0):
        with Store.open(path) as store, StoreReader.open(path) as older:
            intake = Ingest(store, judging, older=older)
            pct = 21.0 if week == 0 else 10.0
            intake.take(
                [snapshot(hour(week) + 60_000, pct), snapshot(hour(week) + HOUR_MS + 1, 50.0)][: 1 if week == 0 else 2]
            )
            assert intake.firing == (1 if week == 0 else 0)
    with StoreReader.open(path) as reader:
        (finding,) = explain_object(reader, judging.rules.rules_for(name), judging.facts, name).findings
        assert finding.when.filled == "used_pct [21] > 2 * baseline(used_pct) [10]"


def test_an_hour_ahead_of_a_corrected_clock_never_ends(make: Any) -> None:
    """A clock that was weeks ahead for one poll adds no hour of its own, and takes nothing from the hour of then."""
    usual, weeks = HourlyBaselines(frozenset(), None), 8 * WEEK_MS
    began = hour(0)

    def told(ts: int, value: float) -> list[tuple[int, float, int]]:
        usual.note(make.queue(), "depth", ts, 30_000, value)
        known = usual.hours("queue", "depth", (began, began + HOUR_MS, began + weeks))
        return [(each.hour, each.mean, each.weight) for each in known]

    assert told(began + 60_000, 10) == []
    usual.shift(weeks)
    assert told(began + weeks + 90_000, 1000) == [(began, 10, 1)]
    usual.shift(-weeks)
    assert told(began + 120_000, 20) == [(began, 10, 1)]
    usual.shift(-15_000)
    assert told(began + 150_000, 30) == [(began, 10, 1)]
    assert told(began + HOUR_MS + 30_000, 40) == [(began, 20, 3)]


def test_old_hours_go(make: Any, tmp_path: Path) -> None:
    """What a former version noted goes when no baseline looks back on it, an hour at a time."""
    path = tmp_path / "store.db"
    with Store.open(path, kinds=make.kinds) as store:
        store.write(poll(make, NOW, None, depth=1), NOTHING)
    noted(path, make.queue(), {hour(week): float(week) for week in (12, 10, 9, 8, 0)})
    with closing(sqlite3.connect(path)) as connection, connection:
        assert list(drop_old_means(connection, hour(0))) == [1, 1]
    with StoreReader.open(path, kinds=make.kinds) as reader:
        means = reader.hour_means("queue", "depth", [hour(week) for week in (12, 10, 9, 8)])
    assert sorted(means[make.queue()]) == [8.0, 9.0]


def test_records_count_too(make: Any) -> None:
    """A record is a value of the hour in which it ended; increases are told by the time in which they arose."""
    history = WindowHistory(WANTED, kinds=make.kinds)
    for week in (3, 2, 1):
        for half in (1, 2):
            ts = hour(week) + half * HOUR_MS // 2
            record = Reading(
                make.queue(),
                "SMF",
                ts,
                {"depth": 10 * half, "puts": 1800 * half},
                HOUR_MS // 2,
                poll=False,
                source=Source.SMF,
            )
            history.add(Snapshot("QM01", False, 1, ts, (record,)))
    history.add(poll(make, NOW, None, depth=1))
    assert history.baseline(make.queue(), "depth", NOW, False) == 15
    assert history.baseline(make.queue(), "puts", NOW, True) == 1.5


@given(
    told=st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, HOUR_MS), st.one_of(st.none(), st.integers(0, 999))), max_size=30
    )
)
def test_memory_and_windows_say_the_same(told: list[tuple[int, int, int | None]], make: Any) -> None:
    """Whatever was polled in the weeks before."""
    memory, history = MemoryHistory(), WindowHistory(WANTED, kinds=make.kinds)
    moments = {hour(week) + offset: value for week, offset, value in told}
    before: int | None = None
    for ts, value in sorted(moments.items()):
        values: dict[str, Reported] = {} if value is None else {"depth": value, "puts": value}
        snapshot = poll(make, ts, None if before is None or not values else ts - before, **values)
        memory.add(snapshot)
        history.add(snapshot)
        before = ts if values else before
    for counter, metric in ((False, "depth"), (True, "puts")):
        expected = memory.baseline(make.queue(), metric, NOW, counter)
        found = history.baseline(make.queue(), metric, NOW, counter)
        assert found == (expected if expected is None else pytest.approx(expected))
