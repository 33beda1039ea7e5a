"""Baselines of a store: the same as if all hours were read when they are needed, and read a little in each cycle."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from itertools import product
from typing import Any, cast
from unittest.mock import patch
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mqvitals_agent.ingest import stored_baselines
from mqvitals_agent.ingest.stored_baselines import ComparedHours, StoredBaselines
from mqvitals_rules.history import WEEKS, hours
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS

BEGIN = 490_000 * HOUR_MS
ZONES = {"QM01": ZoneInfo("Europe/Berlin"), "QM02": ZoneInfo("America/New_York")}
OWNERS = ("QM01", "QM02", "QM03")


def zone_of(owner: str) -> tzinfo | None:
    return ZONES.get(owner)


class Past:
    """A store that holds the means of every hour, and counts the hours that are read of it."""

    def __init__(self, objects: int = 0) -> None:
        self.read = 0
        self.failing = False
        self.more = {ObjectName("QM04", "queue", str(number)): [0.0] for number in range(objects)}

    def hour_means(self, kind: str, metric: str, begun: Sequence[int]) -> dict[ObjectName, list[float]]:
        self.read += len(begun)
        if self.failing:
            return {}
        told = {ObjectName(owner, kind, "A"): [value(owner, metric, ts) for ts in begun] for owner in OWNERS[:2]}
        return {**told, **self.more}


def value(owner: str, metric: str, ts: int) -> float:
    return (sum(map(ord, owner + metric)) * 7919 + ts // HOUR_MS) % 1000


def baselines(past: Past) -> StoredBaselines:
    return StoredBaselines(cast("Any", past), ComparedHours(zone_of))


def right(owner: str, metric: str, now: int) -> list[float]:
    return sorted(value(owner, metric, ts) for ts in hours(now, zone_of(owner))) if owner != "QM03" else []


@given(
    st.integers(BEGIN, BEGIN + 365 * DAY_MS),
    st.lists(
        st.tuples(
            st.one_of(st.integers(1, 120_000), st.integers(-3 * HOUR_MS, 30 * HOUR_MS)),
            st.lists(st.tuples(st.sampled_from(OWNERS), st.sampled_from(("depth", "puts"))), max_size=4),
            st.booleans(),
        ),
        max_size=40,
    ),
    st.sampled_from((0, 5, 20)),
)
# The hour after which summer begins in Berlin: all three zones compare with other hours, and none of them was read ahead.
@example(1_774_742_280_000, [(120_000, [("QM01", "depth")], False)], 20)
# The same with a poll so near to the hour that the first one after it is of the same cycle.
@example(1_774_742_280_000, [(119_500, [("QM01", "depth")], False)], 20)
def test_all_hours_count_whatever_the_clock_does(
    now: int, cycles: list[tuple[int, list[tuple[str, str]], bool]], objects: int
) -> None:
    """In any zone, after pauses, with a clock that is set, with summer and winter, and while the store fails: all of them or
    none, and all at the latest when it has been asked in so many cycles as there are hours.
    """
    with patch.multiple(stored_baselines, _MOST_VALUES=15, _LEAST_VALUES=1):
        _ask(now, cycles, Past(objects))


def _ask(now: int, cycles: list[tuple[int, list[tuple[str, str]], bool]], past: Past) -> None:
    known = baselines(past)
    for step, asked, past.failing in cycles:
        now += step
        for owner, metric in asked:
            name = ObjectName(owner, "queue", "A")
            told = sorted(known.means(name, metric, now))
            assert not told or told == right(owner, metric, now)
    past.failing = False
    # A poll within a second of the one before it is of the same cycle.
    begin = max(now - now % HOUR_MS + HOUR_MS, now + stored_baselines._ONE_CYCLE_MS)
    all_ = list(product(OWNERS, ("depth", "puts")))
    for last in range(begin, begin + len(all_) * WEEKS * 1_000, 1_000):
        found = [sorted(known.means(ObjectName(owner, "queue", "A"), metric, last)) for owner, metric in all_]
    assert found == [right(owner, metric, last) for owner, metric in all_]


@pytest.mark.parametrize(("interval_ms", "metrics"), [(10_000, 5), (60_000, 5), (60_000, 20), (600_000, 3)])
def test_no_cycle_reads_all_hours(interval_ms: int, metrics: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first cycles read one hour each of thousands of objects, later ones about as many as must be read in them, also when
    an hour begins.
    """
    past = Past(20)
    monkeypatch.setattr(stored_baselines, "_MOST_VALUES", 15)
    known = baselines(past)
    name = ObjectName("QM01", "queue", "A")
    read, unknown = [], []
    for cycle in range(3 * HOUR_MS // interval_ms):
        before = past.read
        told = [known.means(name, str(metric), BEGIN + cycle * interval_ms) for metric in range(metrics)]
        read.append(past.read - before)
        unknown.append(sum(not each for each in told))
    assert max(read) == 1
    of_hour, needed = HOUR_MS // interval_ms, WEEKS * metrics
    if needed < of_hour:
        assert unknown[needed - 2] == 1, "as many cycles as there are hours to be read"
        assert not any(unknown[needed:of_hour])
        assert not any(unknown[2 * of_hour :]), "and never again, when an hour begins neither"
    if 2 * needed < of_hour:
        assert not any(unknown[of_hour:])
        assert sum(read) == 4 * needed, "those of three hours and of the next one, each once"


def test_a_small_group_waits_for_nothing() -> None:
    """All hours of hundreds of objects are read at once."""
    past = Past(150)
    known = baselines(past)
    name = ObjectName("QM01", "queue", "A")
    for metric in map(str, range(8)):
        assert sorted(known.means(name, metric, BEGIN)) == right("QM01", metric, BEGIN)
