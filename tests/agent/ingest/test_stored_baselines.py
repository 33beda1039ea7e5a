"""Baselines of a store: the same as if all hours were read when they are needed, and read a little in each cycle."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

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

    def __init__(self) -> None:
        self.read = 0
        self.failing = False

    def hour_means(self, kind: str, metric: str, begun: Sequence[int]) -> dict[ObjectName, list[float]]:
        self.read += len(begun)
        return {ObjectName(owner, kind, "A"): [value(owner, metric, ts) for ts in begun] for owner in OWNERS[:2]}


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
)
def test_all_hours_count_whatever_the_clock_does(
    now: int, cycles: list[tuple[int, list[tuple[str, str]], bool]]
) -> None:
    """In any zone, after pauses, with a clock that is set, with summer and winter, and while the store fails."""
    past = Past()
    known = baselines(past)
    for step, asked, past.failing in cycles:
        now += step
        for owner, metric in asked:
            name = ObjectName(owner, "queue", "A")
            assert sorted(known.means(name, metric, now)) == right(owner, metric, now)


@pytest.mark.parametrize(("interval_ms", "metrics"), [(10_000, 5), (60_000, 5), (60_000, 20), (600_000, 3)])
def test_no_cycle_reads_all_hours(interval_ms: int, metrics: int) -> None:
    """After the first cycle each reads about as many hours as must be read in it, one when an hour begins too."""
    past = Past()
    known = baselines(past)
    names = [ObjectName("QM03", "queue", "A")]
    read = []
    for cycle in range(3 * HOUR_MS // interval_ms):
        before = past.read
        for name in names:
            for metric in range(metrics):
                known.means(name, str(metric), BEGIN + cycle * interval_ms)
        read.append(past.read - before)
    assert read[0] == WEEKS * metrics
    even = WEEKS * metrics * interval_ms / HOUR_MS
    assert max(read[1:]) <= even + 2
    assert sum(read) == 4 * WEEKS * metrics, "those of three hours and of the next one, each once"
