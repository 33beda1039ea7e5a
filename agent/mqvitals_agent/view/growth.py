"""When something that fills will be full, if it goes on as it did lately."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from statistics import correlation

from mqvitals_rules.expression.windows import eta
from mqvitals_rules.windows import Point

POLLS = 12
"""The newest values that are looked at."""

LEAST_POLLS = 10
"""Fewer values make no trend."""

LATEST = 3
"""The newest values of which each must exceed the one before: what paused has no time."""

LEAST_MS = 60_000
"""Values over a shorter time make no trend."""

SOON_MS = 3_600_000
"""What is nearer than this is a warning."""

LEAST_RISE = 1.0
"""Percentage points: what grew by less may as well go to and fro."""

STRAIGHT = 0.9
"""The least correlation of value and time; a line through anything wilder would be a guess."""

FARTHEST_MS = 86_400_000
"""What is farther away than a day is nobody's concern today."""


def full_in(points: Iterable[tuple[int, float | None]], now: int, limit: float = 100.0) -> int | None:
    """Ms from ``now`` (ms UTC) until a share reaches ``limit`` per cent; None when it does not grow steadily."""
    told = [Point(ts, value, None) for ts, value in points if value is not None and math.isfinite(value)][-POLLS:]
    if len(told) < LEAST_POLLS or told[-1].ts - told[0].ts < LEAST_MS:
        return None
    latest = [point.value or 0.0 for point in told[-LATEST - 1 :]]
    if any(after <= before for before, after in pairwise(latest)):
        return None
    first, last = told[0].value, told[-1].value
    if first is None or last is None or last - first < LEAST_RISE or last >= limit:
        return None
    if correlation([point.ts for point in told], [point.value or 0.0 for point in told]) < STRAIGHT:
        return None
    seconds = eta(told, limit, now)
    return None if seconds is None or 1000 * seconds > FARTHEST_MS else round(1000 * seconds)
