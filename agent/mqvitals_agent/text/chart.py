"""A series plotted in braille: two columns and four rows of dots to a cell.

Every column shows the least and the greatest value that fell into it, so a spike and a dip both stay. A gap in the
series (a poll without an answer) is a gap in the line: nothing is drawn, and nothing joined across it. ``chart_lines`` makes whole charts of plots: several series, thresholds, alert spans, a cursor.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple

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
    longest: float | None = None,
) -> list[str]:
    """``height`` lines of ``width`` braille cells. Points are in time order; those outside ``span`` are not drawn.

    With ``steps`` a value holds until the next one, as states do; else the line goes straight from one to the other.
    Points more than ``longest`` ms apart are not joined (None: ``longest_distance``).
    """
    width, height = _within(width, WIDTH_RANGE), _within(height, HEIGHT_RANGE)
    grid = [[0] * width for _ in range(height)]
    before: tuple[int, float] | None = None
    buckets = _buckets(points, span, 2 * width, longest)
    for x in sorted(buckets):
        bucket = buckets[x]
        if bucket.joined and before is not None:
            _join(grid, before, (x, bucket.first), scale, steps=steps)
        _column(grid, x, row_of(bucket.low, scale, height), row_of(bucket.high, scale, height))
        before = (x, bucket.last)
    return ["".join(chr(_BLANK + cell) for cell in line) for line in grid]


def scale_of_values(values: Iterable[float], label: Callable[[float], str], *, top: float | None = None) -> Scale:
    """A scale for numbers: from zero when that leaves at least half of the height to the line, else around the values.

    With ``top``, a natural limit such as 100 of a share, it is always the whole range from zero to there, and more only
    where a value is beyond. Without, values that vary by little are calm and must not look dramatic: the scale is a
    tenth of the greatest value high at least. Of whole numbers it has only whole ones at its labels.
    """
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    if top is not None:
        return _labelled(min(low, 0.0), max(high, top), label, whole=float(top).is_integer())
    whole = all(value == int(value) for value in finite)
    if 0 <= low <= high / 2 or low == high >= 0:
        low = 0.0
    else:
        low, high = _calm(low, high, whole=whole)
    return _labelled(low, high, label, whole=whole)


def scale_around(values: Iterable[float], label: Callable[[float], str]) -> Scale:
    """The zoomed scale: from the least to the greatest value, however little they vary."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    return _labelled(low, high, label, whole=all(value == int(value) for value in finite))


def _labelled(low: float, high: float, label: Callable[[float], str], *, whole: bool) -> Scale:
    """The scale between two values, with labels at its ends and, where there is a value between them, in its middle.

    No two labels are the same: where words round the values to one another, the upper end has them.
    """
    if low == high:
        high = low + max(1.0, abs(low) / 8)
    middle = low / 2 + high / 2
    if whole:
        if high - low < 2:
            # Between two whole numbers there is none that a value could have.
            return Scale(low, high, _told_apart((high, low), label))
        middle = float(math.floor(middle))
    return Scale(low, high, _told_apart((high, middle, low), label))


def _told_apart(values: Sequence[float], label: Callable[[float], str]) -> tuple[tuple[float, str], ...]:
    """The values with their labels, from the top: of those with the same words only the first, the ends before others."""
    ends = (values[0], values[-1])
    labels: dict[str, float] = {}
    for value in (*ends, *values[1:-1]):
        labels.setdefault(label(value), value)
    return tuple(sorted(((value, words) for words, value in labels.items()), reverse=True))


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


def _buckets(
    points: Iterable[tuple[int, float | None]], span: TimeRange, columns: int, longest: float | None
) -> dict[int, _Bucket]:
    points = [point for point in points if span.since <= point[0] <= span.until]
    pause = longest_distance(points) if longest is None else longest
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
            bucket.last = value
            if value < bucket.low:
                bucket.low = value
            elif value > bucket.high:
                bucket.high = value
        before = ts
    return buckets


def _present(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def longest_distance(points: Sequence[tuple[int, float | None]]) -> float:
    """The longest distance between two points that still counts as polling without a pause."""
    distances = [after[0] - before[0] for before, after in pairwise(points)]
    return _PAUSE * median(distances) if distances else math.inf


def row_of(value: float, scale: Scale, height: int) -> int:
    """The row of dots of a value in a plot of ``height`` lines, 0 at the top; four rows are a line."""
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
    y0, y1 = row_of(from_value, scale, len(grid)), row_of(to_value, scale, len(grid))
    last = y0
    for x in range(x0 + 1, x1 + 1):
        share = float(x == x1) if steps else (x - x0) / (x1 - x0)
        y = y0 + round((y1 - y0) * share)
        # It begins one row off the column before, so that a steep line stays one stroke.
        _column(grid, x, y, last + (y > last) - (y < last))
        last = y


def label_rows(scale: Scale, height: int) -> dict[int, str]:
    """The label beside each line that has one; where two fall on one line the first stays."""
    labels: dict[int, str] = {}
    for value, label in scale.ticks:
        labels.setdefault(row_of(value, scale, height) >> 2, label)
    return labels


def _within(value: int, limits: tuple[int, int]) -> int:
    return min(max(value, limits[0]), limits[1])
