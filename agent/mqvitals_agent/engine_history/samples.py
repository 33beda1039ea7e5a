"""What the series of an engine say, as the store has it: stored values, increases instead of running totals."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import isclose
from statistics import median_low
from typing import Final

from mqvitals_agent.openmetrics.names import Family
from mqvitals_agent.store.rows.samples.sample import Number, SampleColumns

Points = Mapping[int, float]
"""Exported values by time (ms UTC), in its order."""

_SAME: Final = 1e-12
"""Numbers that differ by less, relative to them, are the same: VictoriaMetrics keeps decimals, and not always the last bit."""


def merged(parts: Iterable[tuple[Sequence[int], Sequence[float]]]) -> Points:
    """The samples of series that follow each other, an object's under one label after another, by time."""
    found: dict[int, float] = {}
    for ts, values in parts:
        found.update(zip(ts, values, strict=True))
    return dict(sorted(found.items()))


def stored_values(points: Points, family: Family) -> SampleColumns:
    """The samples of a gauge or a state. How long each is about is not known."""
    found = [(ts, value) for ts, each in points.items() if (value := family.stored_of(each)) is not None]
    return SampleColumns([ts for ts, _ in found], [None] * len(found), [_number(value) for _, value in found])


def increases(points: Points, before: float | None, polled: Sequence[int], family: Family, first: int) -> SampleColumns:
    """The increases of a counter from ``first`` (ms UTC) on, of its running totals.

    ``before`` is the total before the first of ``points``, 0: there was none; None: it is not known, and so is not the first
    increase. A total that falls has begun again at nothing. ``polled`` are the times at which the object answered, rising:
    an increase is about the time since the one before.
    """
    ts: list[int] = []
    intervals: list[int | None] = []
    values: list[Number | None] = []
    last = None if before is None else family.stored_of(before)
    for moment, exported in points.items():
        total = family.stored_of(exported)
        if total is None:
            continue
        if last is not None and moment >= first:
            ts.append(moment)
            values.append(_number(_difference(total, last)))
            place = bisect_left(polled, moment)
            intervals.append(moment - polled[place - 1] if place else None)
        last = total
    return SampleColumns(ts, intervals, values)


def recorded_values(points: Points, family: Family) -> SampleColumns:
    """The samples of records, each about the time since the one before, or as long as usual after a gap."""
    found = stored_values(points, family)
    steps = [later - earlier for earlier, later in pairwise(found.ts)]
    usual = median_low(steps) if steps else None
    lengths = [usual, *(step if usual is not None and step <= 1.5 * usual else usual for step in steps)]
    return SampleColumns(found.ts, lengths[: len(found)], found.values)


def overlaid(engine: SampleColumns, store: SampleColumns, *, engine_first: bool) -> SampleColumns:
    """The samples of both, by time. Where both have one it is the store's; with ``engine_first`` the engine's value.

    The store's is the value as it was stored, and says how long it is about: it stands where the engine has the same.
    """
    if not engine.ts:
        return store
    samples: dict[int, tuple[int | None, Number | None]] = {
        ts: (interval, value) for ts, interval, value in zip(engine.ts, engine.intervals, engine.values, strict=True)
    }
    for ts, interval, value in zip(store.ts, store.intervals, store.values, strict=True):
        there = samples.get(ts)
        if there is None or not engine_first:
            samples[ts] = interval, value
        elif there[1] is not None:
            same = value is not None and isclose(value, there[1], rel_tol=_SAME)
            samples[ts] = interval if interval is not None else there[0], value if same else there[1]
    ordered = sorted(samples.items())
    return SampleColumns(
        [ts for ts, _ in ordered], [interval for _, (interval, _) in ordered], [value for _, (_, value) in ordered]
    )


def _difference(total: float, last: float) -> float:
    if total < last:
        return total
    found = total - last
    # Sums of fractions: what the sum cannot hold is no digit of the increase.
    return found if isinstance(found, int) else round(found, max(15 - len(str(int(total))), 0))


def _number(value: float) -> Number:
    return int(value) if isinstance(value, float) and value.is_integer() else value
