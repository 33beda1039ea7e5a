"""What an hour came to: bounds and last value of what is there, means over the time that is covered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.rows.sealed.chunk import HourSamples
from mqvitals_agent.store.rows.sealed.rollup import (
    LONGEST_HOLD,
    MetricHour,
    figured_hour,
    figures,
    hour_of,
    together,
)
from mqvitals_rules.timestamps import HOUR_MS

VALUES = st.lists(st.one_of(st.none(), st.integers(0, 10**9)), min_size=1, max_size=50)


def polls(values: list[int | None], every: int = 10_000, begin: int = 0) -> HourSamples:
    ts = [begin + every * n for n in range(len(values))]
    return HourSamples(ts, [every] * len(ts), [1] * len(ts), {"figure": values})


@given(VALUES, st.sampled_from((frozenset({"figure"}), frozenset[str]())))
def test_bounds(values: list[int | None], counters: frozenset[str]) -> None:
    """Number, bounds, sum and last of the values that are there; without any there is no hour."""
    there = [value for value in values if value is not None]
    found = hour_of(polls(values), counters)
    if not there:
        assert found == {}
        return
    hour = found["figure"]
    assert (hour.count, hour.lowest, hour.highest, hour.last) == (len(there), min(there), max(there), there[-1])
    assert hour.total == sum(there) * (1 if counters else 10_000)
    assert hour.covered_ms == len(there) * 10_000
    assert hour.mean == pytest.approx(sum(there) / len(there) / (10_000 if counters else 1))


@given(VALUES, st.integers(1, 49), st.sampled_from((frozenset({"figure"}), frozenset[str]())))
def test_two_parts_are_the_whole(values: list[int | None], cut: int, counters: frozenset[str]) -> None:
    """An hour in two parts comes to the same, except where a part has a single sample of unknown length."""
    first, second = polls(values[:cut]), polls(values[cut:], begin=cut * 10_000)
    before = first.ts[-1] if second.ts else None
    parts = [hour_of(first, counters), hour_of(second, counters, before) if second.ts else {}]
    known = [each["figure"] for each in parts if each]
    whole = hour_of(polls(values), counters)
    if not known:
        assert whole == {}
    else:
        assert whole["figure"] == together(known)


def test_a_gap_counts_for_nothing() -> None:
    """Half an hour at 10, a gap, two polls at 90: the mean is of the time that was seen, not of the clock."""
    ts = [*range(0, 1_800_000, 10_000), 3_500_000, 3_510_000]
    hour = HourSamples(ts, [10_000] * len(ts), [1] * len(ts), {"depth": [10] * 180 + [90, 90]})
    found = hour_of(hour, frozenset())["depth"]
    assert found.covered_ms == 182 * 10_000
    assert found.mean == pytest.approx((180 * 10 + 2 * 90) / 182)


def test_what_arose_in_a_gap_is_counted_over_it() -> None:
    """The increase of a counter after missed polls arose in all of the time that its interval says."""
    hour = HourSamples([10_000, 60_000], [10_000, 50_000], [1, 1], {"puts": [100, 500]})
    assert hour_of(hour, frozenset({"puts"}))["puts"] == MetricHour(2, 100, 500, 600, 60_000, 500)


def test_a_value_that_was_seen_for_longer_weighs_more() -> None:
    """Polls every 10 s that become polls every 20 s: each value weighs as long as it stood."""
    ts = [0, 10_000, 20_000, 40_000]
    hour = HourSamples(ts, [10_000, 10_000, 10_000, 20_000], [1] * 4, {"depth": [0, 0, 0, 100]})
    assert hour_of(hour, frozenset())["depth"].mean == pytest.approx(100 * 20 / 50)


def test_a_value_holds_for_two_and_a_half_usual_distances() -> None:
    """Not a ms longer: then it stands for the usual time."""
    longest = int(10_000 * LONGEST_HOLD)
    for step, held in ((longest, longest), (longest + 1, 10_000)):
        ts = [0, 10_000, 20_000, 20_000 + step]
        hour = HourSamples(ts, [None] * 4, [1] * 4, {"depth": [0, 0, 0, 1]})
        assert hour_of(hour, frozenset())["depth"] == MetricHour(4, 0, 1, held, 30_000 + held, 1)


@pytest.mark.parametrize(("ts", "hour"), [(1, 0), (HOUR_MS, 0), (HOUR_MS + 1, 1), (2 * HOUR_MS, 1)])
def test_a_sample_at_the_end_of_an_hour_is_of_that_hour(ts: int, hour: int) -> None:
    """A sample is about the time before it."""
    assert figured_hour(ts) == hour


def test_the_first_value_holds_since_the_sample_of_the_hour_before() -> None:
    """Without one it stands for a usual time, which is its own interval where it is alone."""
    hour = HourSamples([20_000], [18_000], [1], {"depth": [3]})
    before, nothing = HourSamples([5_000], [None], [1], {}), HourSamples([], [], [], {})
    for earlier, held in ((before, 15_000), (nothing, 18_000), (None, 18_000)):
        assert figures(hour, earlier, frozenset(), records=False)["depth"] == MetricHour(1, 3, 3, 3 * held, held, 3)


def test_answers_of_other_probes_are_samples_of_what_they_report() -> None:
    """What they do not report holds on from the last poll to the next; of records each value stands for its own interval."""
    earlier = HourSamples([0, 5_000], [None] * 2, [1, 0], {"depth": [7, None]})
    hour = HourSamples(
        [10_000, 15_000, 20_000], [4_000] * 3, [1, 0, 1], {"depth": [1, None, 2], "limit": [None, 9, None]}
    )
    found = figures(hour, earlier, frozenset(), records=False)
    assert found["depth"] == MetricHour(2, 1, 2, 30_000, 20_000, 2)
    assert found["limit"].count == 1
    assert figures(hour, earlier, frozenset(), records=True)["depth"] == MetricHour(2, 1, 2, 12_000, 8_000, 2)
