"""A series in one line of blocks: each cell shows the worst value of its stretch of time, in the tone of that value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.meter import Bound, meter_tone
from mqvitals_agent.text.styled import Span, Tone

BLOCKS: Final = "▁▂▃▄▅▆▇█"
"""The heights, the lowest first."""


def worst_of_stretches(
    points: Iterable[tuple[int, float | None]], span: TimeRange, width: int, *, low_is_bad: bool = False
) -> list[float | None]:
    """The worst value of each of ``width`` equal stretches of ``span``: the greatest, or with ``low_is_bad`` the least.

    None for a stretch without a value, unless it is shorter than the distance between polls: then the value before
    holds. Points, (ms UTC, value or None), are in time order; those outside of ``span`` do not count.
    """
    known = [(ts, value) for ts, value in points if span.since <= ts <= span.until]
    length = max(span.until - span.since, 1)
    worse = min if low_is_bad else max
    worst: list[float | None] = [None] * width
    newest: list[float | None] = [None] * width
    polled = [False] * width
    for ts, value in known:
        x = min((ts - span.since) * width // length, width - 1)
        polled[x] = True
        newest[x] = value if value is not None and math.isfinite(value) else None
        before = worst[x]
        here = newest[x]
        if here is not None:
            worst[x] = here if before is None else worse(before, here)
    apart = _apart([ts for ts, _ in known])
    held, since = None, 0
    for x in range(width):
        end = span.since + (x + 1) * length // width
        if polled[x]:
            held, since = newest[x], end
        elif held is not None and end - since > 2 * apart:
            held = None
        else:
            worst[x] = held
    return worst


def sparkline(
    points: Iterable[tuple[int, float | None]],
    span: TimeRange,
    width: int,
    *,
    low: float = 0.0,
    high: float = 100.0,
    low_is_bad: bool = False,
) -> str:
    """``width`` cells over ``span``, each of the worst value of its stretch; blank where there is none.

    ``low`` and ``high`` are the values of the lowest and the highest block.
    """
    worst = worst_of_stretches(points, span, width, low_is_bad=low_is_bad)
    return "".join(" " if value is None else _block(value, low, high) for value in worst)


def spark_spans(
    points: Iterable[tuple[int, float | None]],
    span: TimeRange,
    width: int,
    bounds: Sequence[Bound] = (),
    *,
    low_is_bad: bool = False,
    tone: Tone | None = None,
) -> tuple[Span, ...]:
    """The sparkline of a share, per cent: each cell in the tone that a meter of its value has, so that a short time
    beyond a bound is seen. ``tone`` takes the place of all of them, such as that of what is stale."""
    parts: list[tuple[list[str], Tone]] = []
    drawn: dict[float, tuple[str, Tone]] = {}
    for value in worst_of_stretches(points, span, width, low_is_bad=low_is_bad):
        if value is None:
            char, here = " ", parts[-1][1] if parts else Tone.PLAIN
        elif (known := drawn.get(value)) is not None:
            char, here = known
        else:
            found = meter_tone(value, bounds, low_is_bad=low_is_bad) if tone is None else tone
            char, here = drawn[value] = _block(value, 0.0, 100.0), found
        if parts and parts[-1][1] is here:
            parts[-1][0].append(char)
        else:
            parts.append(([char], here))
    return tuple(Span("".join(chars), here) for chars, here in parts)


def _apart(times: list[int]) -> float:
    return (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else 0.0


def _block(value: float, low: float, high: float) -> str:
    share = (value - low) / (high - low) if high > low else 0.0
    return BLOCKS[min(max(int(share * len(BLOCKS)), 0), len(BLOCKS) - 1)]
