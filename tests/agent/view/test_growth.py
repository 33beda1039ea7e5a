"""When something that fills will be full: only what grows steadily has a time."""

from __future__ import annotations

import pytest

from mqvitals_agent.view.values import FARTHEST_MS, GROWTH_POLLS, full_in

MINUTE = 60_000
NOW = 1795176590000


def series(*values: float | None, every: int = MINUTE) -> list[tuple[int, float | None]]:
    """Polls of which the newest is of now."""
    return [(NOW - (len(values) - 1 - place) * every, value) for place, value in enumerate(values)]


def test_a_steady_rise_has_its_time() -> None:
    """80 per cent and one point a minute: full in twenty minutes; a poll without an answer changes nothing."""
    assert full_in(series(*range(71, 81)), NOW) == 20 * MINUTE
    assert full_in(series(*range(70, 75), None, *range(76, 81)), NOW) == 20 * MINUTE
    assert full_in(series(*range(72, 81)), NOW) is None
    assert full_in(series(*(63.5 + place / 2 for place in range(10))), NOW, limit=69) == 2 * MINUTE


def test_what_pauses_has_none() -> None:
    """A rise that came to rest has no time, though a straight line through all of it still goes up."""
    assert full_in(series(*range(69, 80), 79.0), NOW) is None
    assert full_in(series(*range(68, 79), 77.5), NOW) is None


@pytest.mark.parametrize(
    "values",
    [
        (),
        (5.0,),
        (50.0,) * 12,
        (80.0, 79.0, 78.0, 77.0, 76.0),
        (50.0, 50.2, 50.1, 50.3, 50.2, 50.4),
        (50.0, 60.0, 40.0, 65.0, 45.0, 55.0),
        (96.0, 98.0, 99.0, 99.5, 100.0),
        (float("nan"),) * 6,
    ],
)
def test_what_does_not_grow_has_none(values: tuple[float, ...]) -> None:
    """Constant, falling, to and fro, full already, or nothing at all: no time is made up."""
    assert full_in(series(*values), NOW) is None


def test_far_away_and_too_short() -> None:
    """More than a day ahead is not said, nor is what was seen for a few seconds only."""
    slow = series(*(10 + place * 0.1 for place in range(GROWTH_POLLS)), every=10 * MINUTE)
    assert full_in(slow, NOW) is None
    assert FARTHEST_MS == 86_400_000
    assert full_in(series(*range(71, 81), every=2_000), NOW) is None


def test_only_the_newest_polls_count() -> None:
    """An hour of calm before does not hide that it fills now."""
    points = series(*((40.0,) * 50), *(40.0 + 2 * place for place in range(GROWTH_POLLS)))
    ahead = full_in(points, NOW)
    assert ahead is not None
    assert ahead == pytest.approx(19 * MINUTE, abs=MINUTE)
