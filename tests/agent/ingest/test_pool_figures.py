"""The lowest free share of a day, and how it falls: whole days of the zone, comparable weeks, and enough of each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.ingest.pool_figures import PoolFigures, compared_days, fall_of
from mqvitals_agent.store.older import ResilientReader
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.history import no_zone
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.metric import Absence, Reported

POOL = ObjectName("QM01", "buffer_pool", "3")
DAY = 24 * HOUR_MS
NOW = 20_000 * DAY + 9 * HOUR_MS
BERLIN = ZoneInfo("Europe/Berlin")


def polled(ts: int, free_pct: float) -> Snapshot:
    return Snapshot("QM01", False, ts // 1000, ts, (Reading(POOL, "INQUIRE_USAGE", ts, {"free_pct": free_pct}),))


def recorded(ts: int, low_pct: float) -> Snapshot:
    reading = Reading(POOL, "SMF", ts, {"low_pct": low_pct}, HOUR_MS // 2, poll=False, source=Source.SMF)
    return Snapshot("QM01", False, ts // 1000, ts, (reading,))


def figures(path: Path, snapshots: Sequence[Snapshot]) -> dict[str, Reported]:
    with Store.open(path) as store:
        for snapshot in snapshots:
            store.write(snapshot, Evaluation((), ()))
    with StoreReader.open(path) as reader:
        (reading,) = PoolFigures(reader, no_zone).added(polled(NOW, 90)).readings
    return {name: value for name, value in reading.values.items() if name.startswith("day_")}


def days(lows: Sequence[float], *, age: int = 1, hours: int = 24) -> list[Snapshot]:
    """Polls twice an hour of days a week apart, the newest first, each with one poll that is its lowest."""
    found = []
    for week, low in enumerate(lows):
        begin = NOW - NOW % DAY - (age + 7 * week) * DAY
        found += [polled(begin + (half + 1) * HOUR_MS // 2, low if half == 13 else 95) for half in range(2 * hours)]
    return sorted(found, key=lambda each: each.ts)


def test_each_week_less_is_free(tmp_path: Path) -> None:
    """50, 57 and 64 %: half a per cent of the pool a day."""
    found = figures(tmp_path / "store.db", days((50, 57, 64)))
    assert found == {"day_low_pct": 50, "day_low_fall_pct": pytest.approx(1.0)}


@pytest.mark.parametrize("lows", [(50, 60, 55), (60, 50, 70), (50, 50, 60), (70, 60, 50)])
def test_one_heavy_day_is_no_trend(tmp_path: Path, lows: Sequence[float]) -> None:
    """Where a week was no worse than that before, nothing falls."""
    assert figures(tmp_path / "store.db", days(lows)) == {"day_low_pct": lows[0], "day_low_fall_pct": 0.0}


def test_records_know_what_no_poll_saw(tmp_path: Path) -> None:
    """The lowest of an interval counts beside the polls of the same hour."""
    snapshots = [*days((50, 57, 64)), recorded(NOW - NOW % DAY - DAY + 10 * HOUR_MS, 43)]
    found = figures(tmp_path / "store.db", sorted(snapshots, key=lambda each: each.ts))
    assert found == {"day_low_pct": 43, "day_low_fall_pct": pytest.approx(1.5)}


def test_the_day_before_yesterday_is_as_good(tmp_path: Path) -> None:
    """Where yesterday is not known, as while it is not rolled up."""
    found = figures(tmp_path / "store.db", days((50, 57, 64), age=2))
    assert found == {"day_low_pct": 50, "day_low_fall_pct": pytest.approx(1.0)}


@pytest.mark.parametrize(("lows", "hours"), [((50, 57), 24), ((50, 57, 64), 11)])
def test_too_little_is_known(tmp_path: Path, lows: Sequence[float], hours: int) -> None:
    """Two weeks, or days of which most hours are missing, tell nothing."""
    found = figures(tmp_path / "store.db", days(lows, hours=hours))
    assert found == {"day_low_pct": Absence.WINDOW, "day_low_fall_pct": Absence.WINDOW}


def test_a_store_that_cannot_be_read_is_asked_again(tmp_path: Path) -> None:
    """At the next poll, also of the same hour; what was known stays while it fails again."""
    path = tmp_path / "store.db"
    known = figures(path, days((50, 57, 64)))
    with StoreReader.open(path) as reader:
        older = ResilientReader(reader)
        figured = PoolFigures(older, no_zone)

        def told(ts: int) -> dict[str, Reported]:
            (reading,) = figured.added(polled(ts, 90)).readings
            return {name: value for name, value in reading.values.items() if name.startswith("day_")}

        older.exchange(None)
        assert set(told(NOW).values()) == {Absence.WINDOW}
        older.exchange(reader)
        assert told(NOW + 60_000) == known
        older.exchange(None)
        assert told(NOW + HOUR_MS) == known


def test_without_a_store_nothing_is_known() -> None:
    """Neither is a record given these figures, nor another kind."""
    none = PoolFigures(None, no_zone)
    (reading,) = none.added(polled(NOW, 90)).readings
    assert reading.values["day_low_pct"] is Absence.WINDOW
    record = recorded(NOW, 40)
    assert none.added(record) is record


@given(st.integers(10_000 * DAY, 25_000 * DAY), st.sampled_from((1, 2)), st.sampled_from((None, BERLIN)))
def test_days_are_whole_and_a_week_apart(now: int, age: int, zone: ZoneInfo | None) -> None:
    """Every hour of a local day, 23 to 25 of them, all over by now, and each of the same weekday."""
    used = zone or UTC
    found = compared_days(now, age, zone)
    weekdays = set()
    for hours in found:
        local = [datetime.fromtimestamp(ts / 1000, used) for ts in hours]
        assert len({each.date() for each in local}) == 1
        assert len(hours) in ({24} if zone is None else {23, 24, 25})
        assert hours[-1] + HOUR_MS <= now
        weekdays.add(local[0].weekday())
    assert len(weekdays) == 1
    assert [hours[0] for hours in found] == sorted((hours[0] for hours in found), reverse=True)


@given(st.lists(st.floats(0, 100), min_size=3, max_size=3))
def test_the_fall_leads_from_the_oldest_to_the_newest(lows: list[float]) -> None:
    """In two weeks it is the difference, or nothing."""
    newest, fall = fall_of(lows)
    assert newest == lows[0]
    assert fall >= 0
    assert fall == 0 or newest + 14 * fall == pytest.approx(lows[-1])
