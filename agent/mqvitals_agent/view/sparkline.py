"""A series over time in one line of text: a block for each stretch of time, as high as its last value."""

from __future__ import annotations

import math
from collections.abc import Iterable

from mqvitals_agent.view.chart import Span

BLOCKS = "▁▂▃▄▅▆▇█"


def sparkline(
    points: Iterable[tuple[int, float | None]], span: Span, width: int, *, low: float = 0.0, high: float = 100.0
) -> str:
    """``width`` cells over ``span``; ``low`` and ``high`` are the values of the lowest and the highest block.

    A stretch without a value is blank when nothing was polled or told in it, unless it is shorter than the polls are
    apart: then it looks like the one before.
    """
    told = [(ts, value) for ts, value in points if span.since <= ts <= span.until]
    length = max(span.until - span.since, 1)
    cells: list[float | None] = [None] * width
    polled = [False] * width
    for ts, value in told:
        x = min((ts - span.since) * width // length, width - 1)
        polled[x] = True
        cells[x] = value if value is not None and math.isfinite(value) else None
    apart = _apart([ts for ts, _ in told])
    held, since = None, 0
    out = []
    for x in range(width):
        end = span.since + (x + 1) * length // width
        if polled[x]:
            held, since = cells[x], end
        elif held is not None and end - since > 2 * apart:
            held = None
        out.append(" " if held is None else _block(held, low, high))
    return "".join(out)


def _apart(times: list[int]) -> float:
    return (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else 0.0


def _block(value: float, low: float, high: float) -> str:
    share = (value - low) / (high - low) if high > low else 0.0
    return BLOCKS[min(max(int(share * len(BLOCKS)), 0), len(BLOCKS) - 1)]
