"""A chart of one series as SVG, for a page of HTML: axis, unit, the limit of a rule, gaps as gaps.

Elements are built, never strings, so no text of a series can become markup. Colours are classes, which the page's style
gives for light, dark and paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element, SubElement

from mqvitals_agent.text.chart import Scale, TimeRange, longest_distance

WIDTH: Final = 640
HEIGHT: Final = 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 8, 10, 24
_ACROSS: Final = {"x1": str(_LEFT), "x2": str(WIDTH - _RIGHT)}
_COLUMNS: Final = 320
"""Points that fall into one of so many columns are drawn as their least and greatest."""
_TIMES: Final = 4
"""The parts between the labels of the time axis."""


class Limit(NamedTuple):
    """A horizontal line at the value from which a rule fires, and its words."""

    value: float
    words: str


def svg_chart(
    points: Sequence[tuple[int, float | None]],
    scale: Scale,
    span: TimeRange,
    *,
    title: str,
    time_label: Callable[[int], str],
    limit: Limit | None = None,
) -> Element:
    """The chart of points in time order, (ms UTC, value or None); those outside of ``span`` are not drawn.

    ``title`` is what it is called where it is not seen.
    """
    svg = Element("svg", {"class": "chart", "viewBox": f"0 0 {WIDTH} {HEIGHT}", "role": "img"})
    SubElement(svg, "title").text = title
    for value, words in scale.ticks:
        at = _number(_y(value, scale))
        SubElement(svg, "line", {"class": "grid", **_ACROSS, "y1": at, "y2": at})
        label = SubElement(svg, "text", {"x": str(_LEFT - 6), "y": at, "dy": "0.32em", "text-anchor": "end"})
        label.text = words
    for part in range(_TIMES + 1):
        ts = span.since + (span.until - span.since) * part // _TIMES
        anchor = {0: "start", _TIMES: "end"}.get(part, "middle")
        x, below = _number(_x(ts, span)), str(HEIGHT - 6)
        SubElement(svg, "text", {"x": x, "y": below, "text-anchor": anchor}).text = time_label(ts)
    if limit is not None:
        height = _y(limit.value, scale)
        SubElement(svg, "line", {"class": "limit", **_ACROSS, "y1": _number(height), "y2": _number(height)})
        beside = height - 4 if height > _TOP + 12 else height + 12
        place = {"x": str(WIDTH - _RIGHT), "y": _number(beside), "text-anchor": "end"}
        SubElement(svg, "text", {"class": "limit", **place}).text = limit.words
    for run in _runs(points, span):
        drawn = [(_x(ts, span), _y(value, scale)) for ts, value in run]
        if len(drawn) == 1:
            (only,) = drawn
            SubElement(svg, "circle", {"class": "dot", "cx": _number(only[0]), "cy": _number(only[1]), "r": "1.5"})
        else:
            path = "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in drawn)
            SubElement(svg, "path", {"class": "line", "d": path})
    return svg


def _runs(points: Sequence[tuple[int, float | None]], span: TimeRange) -> Iterator[list[tuple[int, float]]]:
    """The parts of the series between its gaps, each with at most four points a column."""
    within = [point for point in points if span.since <= point[0] <= span.until]
    pause = longest_distance(within)
    run: list[tuple[int, float]] = []
    for ts, value in within:
        absent = value is None or not math.isfinite(value)
        if run and (absent or ts - run[-1][0] > pause):
            yield _thinned(run, span)
            run = []
        if value is not None and not absent:
            run.append((ts, float(value)))
    if run:
        yield _thinned(run, span)


def _thinned(run: list[tuple[int, float]], span: TimeRange) -> list[tuple[int, float]]:
    """The first, least, greatest and last point of each column, in time order."""
    length = max(span.until - span.since, 1)
    columns: dict[int, list[tuple[int, float]]] = {}
    for point in run:
        columns.setdefault((point[0] - span.since) * _COLUMNS // length, []).append(point)
    kept: list[tuple[int, float]] = []
    for column in columns.values():
        ends = {column[0], column[-1], min(column, key=lambda each: each[1]), max(column, key=lambda each: each[1])}
        kept += sorted(ends)
    return kept


def _x(ts: int, span: TimeRange) -> float:
    return _LEFT + (WIDTH - _LEFT - _RIGHT) * (ts - span.since) / max(span.until - span.since, 1)


def _y(value: float, scale: Scale) -> float:
    # Halved before subtracting: the distance between two great numbers of opposite sign may not be a finite number.
    height = scale.high / 2 - scale.low / 2
    share = (value / 2 - scale.low / 2) / height if height > 0 else 0.0
    return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * min(max(share, 0.0), 1.0)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
