"""When a figure reaches a limit, by its daily and weekly course, with a range."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC
from random import Random
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.view.figures.course import LimitForecast, forecast
from mqvitals_rules.timestamps import HOUR_MS

NOW = 1795176000000  # 2026-11-20 12:00 UTC
MINUTE, DAY = 60_000, 86_400_000
Truth = Callable[[float], float]
SEEDS = 40


def daily(level: float, growth: float, height: float, weekend: float = 0.0) -> Truth:
    """A level that grows by ``growth`` a day from now, with a daily course, and another level on Saturdays and Sundays."""

    def at(ms: float) -> float:
        days = (ms - NOW) / DAY
        day = (ms // DAY + 3) % 7  # 0: Monday
        return level + growth * days + height * math.sin(2 * math.pi * ms / DAY) + (weekend if day > 4 else 0)

    return at


def told(truth: Truth, days: int, noise: float, seed: int, limit: float, *, falls: bool = False) -> LimitForecast:
    random = Random(seed)
    hourly = [
        (NOW - hour * HOUR_MS, truth(NOW - (hour - 0.5) * HOUR_MS) + random.gauss(0, noise))
        for hour in range(24 * days, 0, -1)
    ]
    recent = [
        (NOW - minute * MINUTE, truth(NOW - minute * MINUTE) + random.gauss(0, noise)) for minute in range(59, -1, -1)
    ]
    return forecast(hourly, recent, NOW, limit, UTC, falls=falls)


def reached(truth: Truth, limit: float) -> int:
    """The hour in which the mean reaches the limit."""
    return next(ts for ts in range(NOW + HOUR_MS, NOW + 400 * DAY, HOUR_MS) if truth(ts + HOUR_MS / 2) >= limit)


@pytest.mark.parametrize(
    ("days", "growth", "height", "weekend", "noise"),
    [(3, 4.0, 8.0, 0.0, 0.5), (7, 2.0, 10.0, 0.0, 1.0), (14, 1.0, 10.0, -8.0, 1.0), (28, 0.8, 5.0, -5.0, 2.0)],
)
def test_a_known_growth_is_met(days: int, growth: float, height: float, weekend: float, noise: float) -> None:
    """Of many seeds nine in ten have a forecast whose range holds the truth, though the course of a day (and a week) moves
    the figure far more than a day's growth."""
    truth = daily(60, growth, height, weekend)
    limit = 75 + height
    when = reached(truth, limit)
    found = [told(truth, days, noise, seed, limit) for seed in range(SEEDS)]
    within = [
        each.at is not None
        and each.earliest is not None
        and each.earliest <= when
        and (each.latest is None or when <= each.latest)
        for each in found
    ]
    assert sum(within) >= 0.9 * SEEDS
    widths = [each.latest - each.earliest for each in found if each.latest is not None and each.earliest is not None]
    # A range that held everything would say nothing.
    assert len(widths) >= 0.9 * SEEDS
    assert sorted(widths)[SEEDS // 2 - 1] <= 1.2 * (when - NOW)
    assert all("weekly" in each.by if days >= 14 else "daily" in each.by for each in found if each.at is not None)


@given(
    st.integers(0, 2**32),
    st.integers(2, 20),
    st.floats(0, 15),
    st.floats(0.1, 5),
    st.sampled_from([0.0, 0.5, 0.9, 0.97]),
)
def test_noise_has_none(seed: int, days: int, height: float, noise: float, lasting: float) -> None:
    """A daily course without growth, with noise of each hour for itself or such that lasts for hours."""
    random = Random(seed)
    truth, rest, hourly = daily(60, 0, height), 0.0, []
    for hour in range(24 * days, 0, -1):
        rest = lasting * rest + math.sqrt(1 - lasting**2) * random.gauss(0, noise)
        hourly.append((NOW - hour * HOUR_MS, truth(NOW - (hour - 0.5) * HOUR_MS) + rest))
    recent = [(NOW - minute * MINUTE, truth(NOW) + rest + random.gauss(0, noise)) for minute in range(59, -1, -1)]
    found = forecast(hourly, recent, NOW, 95, UTC)
    assert found.at is None
    assert found.reason


def test_what_falls() -> None:
    """As what rises, towards a limit below."""
    rising, limit = daily(40, 3, 6), 60.0
    up = told(rising, 5, 0.0, 1, limit)
    down = told(lambda ms: 100 - rising(ms), 5, 0.0, 1, 100 - limit, falls=True)
    assert up.at is not None
    assert up == down


def test_less_than_two_days_goes_by_the_line() -> None:
    """As the column "Full in" does, with a range around it; and with the reason where there is no line."""
    recent = [(NOW - minute * MINUTE, 80.0 - minute) for minute in range(40, -1, -1)]
    found = forecast([], recent, NOW, 100, UTC)
    assert found.at == NOW + 20 * MINUTE
    assert found.earliest is not None
    assert found.latest is not None
    assert found.earliest < found.at < found.latest
    assert "line of the last" in found.by
    flat = forecast([], [(ts, 50.0) for ts, _ in recent], NOW, 100, UTC)
    assert (flat.at, flat.reason) == (
        None,
        "there are fewer than two whole days, and by the last hour: it does not grow",
    )


def test_what_leaves_its_course_goes_by_the_line() -> None:
    """A week without growth does not hide that it fills now; the rise of each morning is none of that."""
    truth = daily(40, 0, 10)
    hourly = [(NOW - hour * HOUR_MS, truth(NOW - (hour - 0.5) * HOUR_MS)) for hour in range(168, 0, -1)]
    fills = [(NOW - minute * MINUTE, 90.0 - minute / 2) for minute in range(59, -1, -1)]
    found = forecast(hourly, fills, NOW, 100, UTC)
    assert found.at == NOW + 20 * MINUTE
    morning = NOW - 6 * HOUR_MS  # 06:00, where the course rises fastest
    rises = [(morning - minute * MINUTE, truth(morning - minute * MINUTE)) for minute in range(59, -1, -1)]
    usual = [each for each in hourly if each[0] < morning]
    assert forecast(usual, rises, morning, 45, UTC).at is None


def test_reasons() -> None:
    """Reached, unknown, stopped, too far: each is said."""
    assert told(daily(80, 0, 0), 3, 0, 1, 70).reason == "the limit is reached already"
    assert forecast([], [], NOW, 100, UTC).reason == "no value in the last hour"
    assert "days ahead" in told(daily(10, 0.1, 1), 4, 0, 1, 95).reason

    def stops(ms: float) -> float:
        grown = min(ms, NOW - 2 * DAY)
        return daily(50, 3, 0)(grown) + 5 * math.sin(2 * math.pi * ms / DAY)

    assert told(stops, 9, 0.01, 1, 90).reason == "it has stopped growing"


@given(
    st.lists(st.tuples(st.integers(0, 2_000), st.none() | st.floats(-1e12, 1e12)), max_size=200),
    st.lists(st.none() | st.floats(-1e12, 1e12), max_size=70),
    st.floats(-1e12, 1e12),
    st.booleans(),
)
def test_anything_has_a_time_or_a_reason(
    hours: list[tuple[int, float | None]], values: list[float | None], limit: float, falls: bool
) -> None:
    """Never both, never neither; and the time lies in its range."""
    hourly = [(NOW - hour * HOUR_MS, value) for hour, value in sorted(dict(hours).items(), reverse=True)]
    recent = [(NOW - place * MINUTE, value) for place, value in enumerate(values)][::-1]
    found = forecast(hourly, recent, NOW, limit, ZoneInfo("Europe/Berlin"), falls=falls)
    assert (found.at is None) is bool(found.reason)
    if found.at is not None:
        assert found.earliest is not None
        assert NOW <= found.earliest <= found.at
        assert found.latest is None or found.at <= found.latest
