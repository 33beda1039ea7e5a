"""A chart of one series in braille: two columns and four rows of dots to a cell.

Every column shows the least and the greatest value that fell into it, so a spike and a dip both stay. A gap in the
series (a poll without an answer) is a gap in the line: nothing is drawn, and nothing joined across it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from mqvitals_agent.text.terminal import cells, fit

WIDTH_RANGE = (2, 1000)
HEIGHT_RANGE = (1, 200)
"""Cells of the plot itself; a size outside is clamped."""

MARK = "▲"
"""Stands in the time axis where something happened."""

_CALM = 10

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_BLANK = 0x2800

# A pause this many times the usual distance between points was no polling at all: a gap, even without a null point.
_PAUSE = 3


class TimeRange(NamedTuple):
    """The time a chart covers, ms since 1970 UTC, both ends included."""

    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Scale:
    """The values at the bottom and the top row of dots, and the words beside the rows: (value, label)."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]


@dataclass(slots=True)
class _Bucket:
    """What fell into one column of dots."""

    low: float
    high: float
    first: float
    last: float
    joined: bool  # the line comes here from the column before


def plot(
    points: Iterable[tuple[int, float | None]],
    scale: Scale,
    span: TimeRange,
    *,
    width: int,
    height: int,
    steps: bool = False,
) -> list[str]:
    """``height`` lines of ``width`` braille cells. Points are in time order; those outside ``span`` are not drawn.

    With ``steps`` a value holds until the next one, as states do; else the line goes straight from one to the other.
    """
    width, height = _within(width, WIDTH_RANGE), _within(height, HEIGHT_RANGE)
    grid = [[0] * width for _ in range(height)]
    before: tuple[int, float] | None = None
    buckets = _buckets(points, span, 2 * width)
    for x in sorted(buckets):
        bucket = buckets[x]
        if bucket.joined and before is not None:
            _join(grid, before, (x, bucket.first), scale, steps=steps)
        _column(grid, x, _row(bucket.low, scale, height), _row(bucket.high, scale, height))
        before = (x, bucket.last)
    return ["".join(chr(_BLANK + cell) for cell in line) for line in grid]


def chart(
    points: Sequence[tuple[int, float | None]],
    scale: Scale,
    span: TimeRange,
    *,
    width: int,
    height: int,
    time_label: Callable[[int], str],
    steps: bool = False,
    marks: Iterable[int] = (),
) -> list[str]:
    """The plot with the scale's labels at the left and the first and last moment below, in ``width`` cells altogether.

    ``height`` is that of the plot alone; ``steps`` as for ``plot``. The axis has a ``MARK`` at each moment of ``marks``.
    """
    height = _within(height, HEIGHT_RANGE)
    labels = _labels(scale, height)
    margin = max((cells(label) for label in labels.values()), default=0)
    body = plot(points, scale, span, width=max(width - margin - 2, WIDTH_RANGE[0]), height=height, steps=steps)
    lines = [
        f"{fit(labels.get(y, ''), margin, right=True)} {'┤' if y in labels else '│'}{line}"
        for y, line in enumerate(body)
    ]
    inner = cells(body[0])
    begin, end = time_label(span.since), time_label(span.until)
    room = inner - cells(begin) - cells(end)
    under = f"{begin}{' ' * room}{end}" if room > 0 else fit(begin, inner)
    return [*lines, f"{' ' * margin} └{_axis(marks, span, inner)}", f"{' ' * margin}  {under}"]


def _axis(marks: Iterable[int], span: TimeRange, width: int) -> str:
    cells = ["─"] * width
    length = max(span.until - span.since, 1)
    for ts in marks:
        if span.since <= ts <= span.until:
            cells[min((ts - span.since) * width // length, width - 1)] = MARK
    return "".join(cells)


def scale_of_values(values: Iterable[float], label: Callable[[float], str], *, top: float | None = None) -> Scale:
    """A scale for numbers: from zero when that leaves at least half of the height to the line, else around the values.

    ``top`` is a natural limit (100 for a share) that the scale does not pass unless a value does. Values that vary by
    little are calm and must not look dramatic: the scale is a tenth of that limit high at least, without one a tenth of
    the greatest value. Of whole numbers it has only whole ones at its labels.
    """
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    if top is not None and 0 <= low <= high <= top and high - low < top / _CALM:
        # Whole ends and the values in their middle, but nothing beyond what there can be.
        low = float(math.floor(min(max((low + high - top / _CALM) / 2, 0.0), top - top / _CALM)))
        high = max(high, low + top / _CALM)
    elif 0 <= low <= high / 2 or low == high >= 0:
        low = 0.0
    elif top is None:
        low, high = _calm(low, high, whole=all(value == int(value) for value in finite))
    if low == high:
        high = low + max(1.0, abs(low) / 8)
    if top is not None and high < top and high > 0.8 * top and low == 0:
        high = top
    middle = low / 2 + high / 2
    if all(value == int(value) for value in finite):
        if high - low < 2:
            # Between two whole numbers there is none that a value could have.
            return Scale(low, high, ((high, label(high)), (low, label(low))))
        middle = float(math.floor(middle))
    return Scale(low, high, ((high, label(high)), (middle, label(middle)), (low, label(low))))


def _calm(low: float, high: float, *, whole: bool) -> tuple[float, float]:
    """The ends of a scale around values from ``low`` to ``high``: these in its middle where they lie close together."""
    least = max(abs(low), abs(high)) / _CALM
    # Halved before subtracting: the distance between two great numbers of opposite sign may not be a finite number.
    missing = least / 2 - (high / 2 - low / 2)
    if missing <= 0:
        return low, high
    begin, end = max(low - missing, -sys.float_info.max), min(high + missing, sys.float_info.max)
    return (float(math.floor(begin)), float(math.ceil(end))) if whole else (begin, end)


def scale_of_states(codes: Iterable[int], name: Callable[[int], str]) -> tuple[Scale, dict[int, float]]:
    """A scale on which every state seen has a level of its own, and the level of each code.

    The numbers of states have no meaning as amounts, so levels are evenly spaced in the order of the numbers.
    """
    levels = {code: float(level) for level, code in enumerate(sorted(set(codes)))}
    high = max(len(levels) - 1.0, 1.0)
    return Scale(0.0, high, tuple((level, name(code)) for code, level in levels.items())), levels


def pauses(points: Sequence[tuple[int, float | None]]) -> Iterator[TimeRange]:
    """Runs of absent values, and pauses without polls, each from the value before it to the value after it.

    A run at the beginning or the end starts or ends with its own points.
    """
    pause = longest_distance(points)
    absent_since: int | None = None
    before: int | None = None
    last: int | None = None
    for ts, value in points:
        if not _present(value):
            absent_since = absent_since if absent_since is not None else ts if last is None else last
        elif absent_since is not None:
            yield TimeRange(absent_since, ts)
            absent_since = None
        elif before is not None and ts - before > pause:
            yield TimeRange(before, ts)
        if _present(value):
            last = ts
        before = ts
    if absent_since is not None and before is not None:
        yield TimeRange(absent_since, before)


def _buckets(points: Iterable[tuple[int, float | None]], span: TimeRange, columns: int) -> dict[int, _Bucket]:
    points = [point for point in points if span.since <= point[0] <= span.until]
    pause = longest_distance(points)
    length = max(span.until - span.since, 1)
    buckets: dict[int, _Bucket] = {}
    before: int | None = None  # ts of the present point before, None after a gap
    for ts, value in points:
        if value is None or not math.isfinite(value):
            before = None
            continue
        x = min((ts - span.since) * columns // length, columns - 1)
        bucket = buckets.get(x)
        if bucket is None:
            joined = before is not None and ts - before <= pause
            buckets[x] = _Bucket(value, value, value, value, joined)
        else:
            bucket.low, bucket.high, bucket.last = min(bucket.low, value), max(bucket.high, value), value
        before = ts
    return buckets


def _present(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def longest_distance(points: Sequence[tuple[int, float | None]]) -> float:
    """The longest distance between two points that still counts as polling without a pause."""
    distances = [after[0] - before[0] for before, after in pairwise(points)]
    return _PAUSE * median(distances) if distances else math.inf


def _row(value: float, scale: Scale, height: int) -> int:
    """The row of dots of a value, 0 at the top."""
    rows = 4 * height
    # Halved before subtracting: the distance between two great numbers of opposite sign may not be a finite number.
    height_of_scale = scale.high / 2 - scale.low / 2
    share = (value / 2 - scale.low / 2) / height_of_scale if height_of_scale > 0 else 0.0
    return rows - 1 - round(min(max(share, 0.0), 1.0) * (rows - 1))


def _column(grid: list[list[int]], x: int, one: int, other: int) -> None:
    for y in range(min(one, other), max(one, other) + 1):
        grid[y >> 2][x >> 1] |= _DOTS[x & 1][y & 3]


def _join(
    grid: list[list[int]], begin: tuple[int, float], end: tuple[int, float], scale: Scale, *, steps: bool
) -> None:
    """The line from the last value of one column to the first of a later one, without the former's own dot."""
    (x0, from_value), (x1, to_value) = begin, end
    y0, y1 = _row(from_value, scale, len(grid)), _row(to_value, scale, len(grid))
    last = y0
    for x in range(x0 + 1, x1 + 1):
        share = float(x == x1) if steps else (x - x0) / (x1 - x0)
        y = y0 + round((y1 - y0) * share)
        # It begins one row off the column before, so that a steep line stays one stroke.
        _column(grid, x, y, last + (y > last) - (y < last))
        last = y


def _labels(scale: Scale, height: int) -> dict[int, str]:
    """The label beside each line that has one; where two fall on one line the first stays."""
    labels: dict[int, str] = {}
    for value, label in scale.ticks:
        labels.setdefault(_row(value, scale, height) >> 2, label)
    return labels


def _within(value: int, limits: tuple[int, int]) -> int:
    return min(max(value, limits[0]), limits[1])


BLOCKS = "▁▂▃▄▅▆▇█"


def sparkline(
    points: Iterable[tuple[int, float | None]], span: TimeRange, width: int, *, low: float = 0.0, high: float = 100.0
) -> str:
    """``width`` cells over ``span``; ``low`` and ``high`` are the values of the lowest and the highest block.

    A stretch without a value is blank, unless it is shorter than the distance between polls: then it repeats the one
    before.
    """
    known = [(ts, value) for ts, value in points if span.since <= ts <= span.until]
    length = max(span.until - span.since, 1)
    cells: list[float | None] = [None] * width
    polled = [False] * width
    for ts, value in known:
        x = min((ts - span.since) * width // length, width - 1)
        polled[x] = True
        cells[x] = value if value is not None and math.isfinite(value) else None
    apart = _apart([ts for ts, _ in known])
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
