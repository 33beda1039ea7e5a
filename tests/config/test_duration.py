"""Durations as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_config.decoding.scalars import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("30s", 30_000),
        ("5m", 300_000),
        ("1h", 3_600_000),
        ("1d", 86_400_000),
        ("250ms", 250),
        ("1h30m", 5_400_000),
        ("0s", 0),
        ("1d2h3m4s5ms", 93_784_005),
    ],
)
def test_durations(text: str, ms: int) -> None:
    """Every unit, and several of them, the largest first."""
    assert parse_duration(text) == ms


@pytest.mark.parametrize(
    "text", ["", "5", "m", "5 m", "5M", "-5m", "1.5h", "30m1h", "5m5m", "5min", "1e3s", "٣s", "5m\n", "9" * 20 + "s"]
)
def test_what_is_no_duration(text: str) -> None:
    """Anything else is refused with the form, a bare number with the unit it lacks."""
    with pytest.raises(
        ValueError, match=r"a duration such as 30s, 5m, 1h, 1d, 250ms or 1h30m|a duration needs a unit: 5s, 5m or 5h"
    ):
        parse_duration(text)


@given(st.integers(0, 10**12))
def test_there_and_back(ms: int) -> None:
    """What is formatted is read as the same duration."""
    assert parse_duration(format_duration(ms)) == ms
