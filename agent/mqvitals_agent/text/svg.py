"""Charts as SVG: of one series for a page of HTML, of several in a file of their own; gaps are gaps.

Elements are built, never strings, so no text of a series can become markup. Colours are classes, which the style of the page
or of the file gives for light, dark and paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

from mqvitals_agent.text.chart import MARK, Scale, TimeRange, longest_distance
from mqvitals_agent.text.chart_lines import Chart
from mqvitals_agent.text.terminal import cut, wrap
from mqvitals_rules.lifecycle.alert import Severity

WIDTH: Final = 640
HEIGHT: Final = 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 8, 10, 24
_ACROSS: Final = {"x1": str(_LEFT), "x2": str(WIDTH - _RIGHT)}
_COLUMNS: Final = 320
"""Points that fall into one of so many columns are drawn as their least and greatest."""
_TIMES: Final = 4
"""The parts between the labels of the time axis."""


class LimitLine(NamedTuple):
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
    limit: LimitLine | None = None,
) -> Element:
    """The chart of points in time order, (ms UTC, value or None); those outside of ``span`` are not drawn.

    ``title`` is what it is called where it is not seen.
    """
    svg = _frame(scale, span, title, time_label)
    if limit is not None:
        height = _y(limit.value, scale)
        SubElement(svg, "line", {"class": "limit", **_ACROSS, "y1": _number(height), "y2": _number(height)})
        beside = height - 4 if height > _TOP + 12 else height + 12
        place = {"x": str(WIDTH - _RIGHT), "y": _number(beside), "text-anchor": "end"}
        SubElement(svg, "text", {"class": "limit", **place}).text = limit.words
    _draw(svg, points, scale, span, "", None)
    return svg


class Drawing(NamedTuple):
    """A chart with its title, and the words below it, a line each."""

    title: str
    chart: Chart
    words: Sequence[str] = ()


_LINE_HEIGHT: Final = 15
_DIGIT_HEIGHT: Final = 10
_CHARACTERS: Final = 100
"""Characters of a line of words, and of a title."""
_STYLE: Final = """
svg { --page: #fff; --text: #1b1f24; --faint: #5c6570; --edge: #d4d9df; --critical: #b3261e; --warning: #8a5a00;
  --info: #1f5fbf; --s1: #1f5fbf; --s2: #b3521e; --s3: #1a7f37; --s4: #6b4fa0; font: 11px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { svg { --page: #14171c; --text: #e4e7eb; --faint: #9aa4b0; --edge: #363d47;
  --critical: #ff8a80; --warning: #f0b849; --info: #7fb2ff; --s1: #7fb2ff; --s2: #ffb088; --s3: #5fd38a; --s4: #c3a6ff; } }
.page { fill: var(--page); } text { fill: var(--faint); } .title { fill: var(--text); font-weight: 600; }
.grid { stroke: var(--edge); stroke-width: 1; } .line { fill: none; stroke-width: 1.5; stroke-linejoin: round; }
.line.s1 { stroke: var(--s1); } .line.s2 { stroke: var(--s2); } .line.s3 { stroke: var(--s3); } .line.s4 { stroke: var(--s4); }
.dot.s1, .name.s1 { fill: var(--s1); } .dot.s2, .name.s2 { fill: var(--s2); }
.dot.s3, .name.s3 { fill: var(--s3); } .dot.s4, .name.s4 { fill: var(--s4); }
.alert { opacity: .18; } .critical { fill: var(--critical); } .warning { fill: var(--warning); } .info { fill: var(--info); }
"""


def svg_file(drawings: Sequence[Drawing], sign: Callable[[Severity], str]) -> str:
    """A file with charts below each other, each with its title, its lines, the times of alerts, what changed, and its
    words. ``sign`` is the word for a severity.
    """
    words_of = [
        [(place, line) for place, words in enumerate(each.words, 1) for line in wrap(words, _CHARACTERS, rest="   ")]
        for each in drawings
    ]
    heights = [HEIGHT + _LINE_HEIGHT * (2 + len(lines)) for lines in words_of]
    size = {"width": str(WIDTH), "height": str(sum(heights) or HEIGHT)}
    whole = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **size, "viewBox": f"0 0 {WIDTH} {size['height']}"})
    SubElement(whole, "style").text = _STYLE
    SubElement(whole, "rect", {"class": "page", "width": "100%", "height": "100%"})
    top = 0
    for each, lines, height in zip(drawings, words_of, heights, strict=True):
        SubElement(whole, "text", {"class": "title", "x": "4", "y": str(top + _LINE_HEIGHT)}).text = cut(
            each.title, _CHARACTERS
        )
        svg = _of_chart(each.chart, each.title, sign)
        for key, value in {"x": "0", "y": str(top + _LINE_HEIGHT), "width": str(WIDTH), "height": str(HEIGHT)}.items():
            svg.set(key, value)
        whole.append(svg)
        for row, (place, words) in enumerate(lines, 1):
            number = f" s{place}" if len(each.chart.series) > 1 and place <= len(each.chart.series) else ""
            at = {"x": "4", "y": str(top + HEIGHT + _LINE_HEIGHT * (1 + row))}
            SubElement(whole, "text", {"class": f"name{number}", **at}).text = words
        top += height
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(whole, encoding="unicode")}\n'


def _of_chart(chart: Chart, title: str, sign: Callable[[Severity], str]) -> Element:
    svg = _frame(chart.scale, chart.span, title, chart.time_label)
    for each in chart.shaded:
        begin, end = max(each.since, chart.span.since), min(each.until, chart.span.until)
        if begin > end:
            continue
        x = _x(begin, chart.span)
        size = {"width": _number(max(_x(end, chart.span) - x, 1.0)), "height": str(HEIGHT - _TOP - _BOTTOM)}
        word = sign(each.severity)
        rect = SubElement(svg, "rect", {"class": f"alert {word}", "x": _number(x), "y": str(_TOP), **size})
        SubElement(rect, "title").text = word
    for ts, changed in chart.marks:
        at = {"x": _number(_x(ts, chart.span)), "y": str(HEIGHT - _BOTTOM), "text-anchor": "middle"}
        mark = SubElement(svg, "text", {"class": "mark", **at})
        mark.text = MARK
        SubElement(mark, "title").text = changed
    for place, line in enumerate(chart.series, 1):
        points = _stepped(line.points) if chart.steps else line.points
        _draw(svg, points, line.scale or chart.scale, chart.span, f" s{place}", line.longest)
    if len(chart.series) > 1:
        _put_digits(svg, chart)
    return svg


def _put_digits(svg: Element, chart: Chart) -> None:
    """The digit of each line at its last value; of those at one height each is below the one before."""
    ends = []
    for place, line in enumerate(chart.series, 1):
        known = ((ts, value) for ts, value in reversed(line.points) if value is not None and math.isfinite(value))
        last = next(known, None)
        if last is not None:
            ends.append((_y(last[1], line.scale or chart.scale), place, _x(last[0], chart.span)))
    below = 0.0
    for y, place, x in sorted(ends):
        below = max(y - 3, below + _DIGIT_HEIGHT)
        at = {"x": _number(x - 2), "y": _number(below), "text-anchor": "end"}
        SubElement(svg, "text", {"class": f"name s{place}", **at}).text = str(place)


def _stepped(points: Sequence[tuple[int, float | None]]) -> list[tuple[int, float | None]]:
    """Points of which each value goes on until a ms before the next one."""
    found: list[tuple[int, float | None]] = []
    for point in points:
        if found and point[0] - 1 > found[-1][0]:
            found.append((point[0] - 1, found[-1][1]))
        found.append(point)
    return found


def _frame(scale: Scale, span: TimeRange, title: str, time_label: Callable[[int], str]) -> Element:
    """The scale with its labels, and the times below."""
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
    return svg


def _draw(
    svg: Element,
    points: Sequence[tuple[int, float | None]],
    scale: Scale,
    span: TimeRange,
    kind: str,
    longest: float | None,
) -> None:
    """The line of a series; points more than ``longest`` ms apart (None: as usual) are not joined."""
    for run in _runs(points, span, longest):
        drawn = [(_x(ts, span), _y(value, scale)) for ts, value in run]
        if len(drawn) == 1:
            (only,) = drawn
            place = {"cx": _number(only[0]), "cy": _number(only[1]), "r": "1.5"}
            SubElement(svg, "circle", {"class": f"dot{kind}", **place})
        else:
            path = "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in drawn)
            SubElement(svg, "path", {"class": f"line{kind}", "d": path})


def _runs(
    points: Sequence[tuple[int, float | None]], span: TimeRange, longest: float | None
) -> Iterator[list[tuple[int, float]]]:
    """The parts of the series between its gaps, each with at most four points a column."""
    within = [point for point in points if span.since <= point[0] <= span.until]
    pause = longest_distance(within) if longest is None else longest
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
