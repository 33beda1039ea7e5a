"""A trend beside that of an earlier day: as a second line of its chart, and as a table of the differences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from typing import Any, Final

from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.chart_lines import chart_lines
from mqvitals_agent.text.document import column_lines
from mqvitals_agent.text.figure import stamp, zone_name
from mqvitals_agent.text.svg import Drawing
from mqvitals_agent.text.terminal import csv_cell, safe, wrap
from mqvitals_agent.view.figures.buckets import Parts
from mqvitals_agent.view.figures.trend import Aggregate, Trend, is_known, shown_words
from mqvitals_agent.view.trend.chart import alert_spans, chart_of
from mqvitals_agent.view.trend.report import (
    alert_lines,
    figures_words,
    from_to,
    shown_value,
    trend_json,
    when_words,
)
from mqvitals_agent.view.trend.selection import SeamedTrend
from mqvitals_rules.vocabulary.metric import MetricType

YESTERDAY, LAST_WEEK = "yesterday", "last-week"
_DAYS: Final = {YESTERDAY: 1, LAST_WEEK: 7}
PARTS_HEADER: Final = "object,metric,at,value,before,difference"
FIGURES_HEADER: Final = "object,metric,figure,value,before,difference"
_MOST_PARTS: Final = 10
"""Parts of the time that are listed, those with the greatest differences."""
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class Earlier:
    """The day that is compared with: its name, and how many ms it is earlier: the same times of the clock."""

    name: str
    ms: int

    def span(self, span: TimeRange) -> TimeRange:
        """The time that is compared with ``span``."""
        return TimeRange(span.since - self.ms, span.until - self.ms)

    def parts(self, parts: Parts) -> Parts:
        """The parts that are compared with these."""
        return parts._replace(edges=[edge - self.ms for edge in parts.edges])


@dataclass(frozen=True, slots=True)
class ComparedTrend:
    """A series and that of an earlier day, both as they are shown, and their figures; none where that day has no data.

    The times of ``before`` are its own.
    """

    view: Trend
    before: Trend
    earlier: Earlier
    figures: Mapping[Aggregate, float]
    figures_before: Mapping[Aggregate, float]


def earlier_day(words: str, span: TimeRange, zone: tzinfo) -> Earlier:
    """The day that ``words`` name for a time: ``yesterday``, ``last-week``, or the date of the day on which it begins.

    The clock in ``zone`` shows the same then, also where it was changed since. Raises ValueError with the reason.
    """
    begin = datetime.fromtimestamp(span.since / 1000, zone)
    days = _DAYS.get(words)
    if days is None:
        try:
            days = (begin.date() - date.fromisoformat(words)).days
        except ValueError:
            raise ValueError("write yesterday, last-week or a date such as 2026-11-20") from None
        if days < 1:
            raise ValueError(f"the time shown begins on {begin:%Y-%m-%d}, and an earlier day is compared with it")
    try:
        then = (begin.replace(tzinfo=None) - timedelta(days=days)).replace(tzinfo=zone)
    except OverflowError:
        raise ValueError("there is no such day") from None
    return Earlier(words, span.since - int(then.timestamp()) * 1000 - begin.microsecond // 1000)


def compared(view: SeamedTrend, before: SeamedTrend, earlier: Earlier, parts: Parts | None = None) -> ComparedTrend:
    """The comparison of two series, in equal ``parts`` of the time of the first, None: each sample."""
    if parts is None:
        return ComparedTrend(view.view, before.view, earlier, view.figures, before.figures)
    shown = view.shown(parts), before.shown(earlier.parts(parts))
    return ComparedTrend(*shown, earlier, view.figures, before.figures)


def _told(each: ComparedTrend) -> Iterator[tuple[str, float, float | None]]:
    """The figures that both have: name, value, value before."""
    if each.view.metric.type is MetricType.STATE:
        return
    for aggregate in Aggregate:
        # Hours do not know all figures: only what both days have is compared.
        if aggregate in each.figures and (aggregate in each.figures_before or not each.figures_before):
            yield aggregate.value, each.figures[aggregate], each.figures_before.get(aggregate)


def _parts(each: ComparedTrend) -> Iterator[tuple[int, float | None, float | None]]:
    """The parts of the time: when (ms UTC), value, value before."""
    for (ts, value), (_, before) in zip(each.view.points, each.before.points, strict=False):
        yield ts, value, before


def comparison_text(found: Sequence[ComparedTrend], width: int, height: int) -> Iterator[str]:
    """The charts below each other, each with its figures and differences."""
    for place, each in enumerate(found):
        view, before = each.view, each.before
        if place:
            yield ""
        yield from wrap(f"{safe(str(view.object))}  {view.metric.name}: {view.metric.meaning}", width, rest="  ")
        lines = _lines(each)
        if lines:
            drawn = chart_of(lines, shaded=alert_spans(view.alerts, view.span.until))
            yield from (line.text for line in chart_lines(drawn, width, height))
            yield from alert_lines(view, width)
        digits = ("1 ", "2 ") if len(lines) > 1 else ("", "")
        yield from wrap(f"{digits[0]}{from_to(view.span)}: {figures_words(view)}", width, rest="    ")
        yield from wrap(
            f"{digits[1]}{each.earlier.name}, {from_to(before.span)}: {figures_words(before)}", width, rest="    "
        )
        rows = [_row(view, name, value, past) for name, value, past in _told(each)]
        if rows:
            titles = ("", "shown", each.earlier.name, "difference", "")
            yield from column_lines([titles, *rows], width, {1, 2, 3, 4})
        if view.every_ms and rows:
            yield from _greatest(each, width)
        yield zone_name(view.span.until)


def _greatest(each: ComparedTrend, width: int) -> Iterator[str]:
    """The parts of the time that differ most."""
    both = [(ts, value, past) for ts, value, past in _parts(each) if is_known(value) and is_known(past)]
    both.sort(key=lambda part: -abs((part[1] or 0.0) - (part[2] or 0.0)))
    if not both:
        yield "No part of the time has data on both days"
        return
    rows = [
        _row(each.view, when_words(ts, each.view.span), value or 0.0, past) for ts, value, past in both[:_MOST_PARTS]
    ]
    yield "The greatest differences:"
    yield from column_lines([("from", "shown", each.earlier.name, "difference", ""), *rows], width, {1, 2, 3, 4})


def _row(view: Trend, name: str, value: float, before: float | None) -> tuple[str, ...]:
    counts = name == Aggregate.SUM.value and not view.every_ms
    words = shown_words(replace(view, aggregate=Aggregate.SUM) if counts else view)
    if before is None:
        return name, words(value), "no data", "", ""
    change = value - before
    if view.metric.unit == "pct":
        return name, words(value), words(before), f"{change:+.1f} points", ""
    sign = "+" if change > 0 else "-" if change < 0 else ""
    share = f"{100 * change / abs(before):+.0f} %" if before else ""
    return name, words(value), words(before), f"{sign}{words(abs(change))}", share


def _moved(before: Trend, span: TimeRange, earlier: Earlier) -> Trend:
    """The earlier series at the times of the clock that it is compared with."""
    points = tuple((ts + earlier.ms, value) for ts, value in before.points)
    return replace(before, points=points, span=span, changes=(), restarts=())


def _lines(each: ComparedTrend) -> list[Trend]:
    """The series of the chart that have any value."""
    return [one for one in (each.view, _moved(each.before, each.view.span, each.earlier)) if _has_values(one)]


def comparison_drawings(found: Iterable[ComparedTrend]) -> Iterator[Drawing]:
    """The charts for a file."""
    for each in found:
        if lines := _lines(each):
            words = [f"{from_to(each.view.span)}", f"{each.earlier.name}, {from_to(each.before.span)}"]
            shown = words if len(lines) > 1 else words[:1] if _has_values(each.view) else words[1:]
            title = f"{safe(str(each.view.object))}  {each.view.metric.name}: {each.view.metric.meaning}"
            yield Drawing(title, chart_of(lines, shaded=alert_spans(each.view.alerts, each.view.span.until)), shown)


def _has_values(view: Trend) -> bool:
    return any(is_known(value) for _, value in view.points)


def comparison_json(each: ComparedTrend) -> dict[str, Any]:
    """The series as it is alone, with ``compared``: the earlier day, its points, and the figures of both."""
    before = trend_json(each.before)
    return {
        **trend_json(each.view),
        "compared": {
            "with": each.earlier.name,
            "from": stamp(each.before.span.since),
            "to": stamp(each.before.span.until),
            "points": before["points"],
            **{key: before[key] for key in ("per_second", "covered_s", "hours_until") if key in before},
            "figures": {
                name: {
                    "value": _number(value),
                    "before": _number(past),
                    "difference": _number(_difference(value, past)),
                }
                for name, value, past in _told(each)
            },
        },
    }


def comparison_csv(found: Iterable[ComparedTrend], *, parts: bool) -> Iterator[str]:
    """The lines of ``PARTS_HEADER`` with ``parts``, else of ``FIGURES_HEADER``."""
    yield PARTS_HEADER if parts else FIGURES_HEADER
    for each in found:
        head = f"{csv_cell(str(each.view.object))},{each.view.metric.name}"
        if not parts:
            for name, value, past in _told(each):
                yield ",".join((head, name, *_fields(value, past, each.view)))
            continue
        for ts, now, then in _parts(each):
            yield ",".join((head, stamp(ts), *_fields(now, then, each.view)))


def _fields(value: float | None, before: float | None, view: Trend) -> Iterator[str]:
    cells = (value, before, _difference(value, before))
    for shown in (shown_value(cell, view.metric) for cell in cells):
        yield "" if shown is None else str(shown)


def _difference(value: float | None, before: float | None) -> float | None:
    return None if value is None or before is None else value - before


def _number(value: float | None) -> float | None:
    if not is_known(value):
        return None
    return round(value, _DIGITS) or 0.0 if isinstance(value, float) else value
