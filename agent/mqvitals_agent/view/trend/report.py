"""A trend as ``mqvitals trend`` prints it: as JSON, as CSV, as a chart with its figures in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Any, Final

from mqvitals_agent.text.chart import MARK, TimeRange
from mqvitals_agent.text.chart_lines import chart_lines
from mqvitals_agent.text.figure import age, clock, counted, day, figure, moment, quantity, stamp, state, zone_name
from mqvitals_agent.text.severity import health_of
from mqvitals_agent.text.terminal import cut, safe, wrap
from mqvitals_agent.view.figures.trend import (
    Trend,
    charted_points,
    gap_spans,
    is_known,
    lengths_of,
    not_kept,
    shown_points,
    shown_unit,
    shown_words,
    unit_of,
    value_words,
)
from mqvitals_agent.view.trend.chart import alert_spans, chart_of
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.vocabulary.metric import Metric, MetricType

CSV_HEADER = "at,value"
_UNITS = {"pct": "%"}
MOST_GAPS = 5
"""The number of gaps that are named; the others are counted."""
_MOST_ALERTS = 5
"""The number of alerts that are named, the newest; all are marked."""
_MOST_CHANGES = 5
"""The number of changes of the definition that are named, the newest; all are marked."""
_RATE_DIGITS: Final = 6
"""Decimals of a rate."""


def trend_json(view: Trend) -> dict[str, Any]:
    """The object of ``mqvitals trend --json``. Shares have two decimals, whole numbers stay whole.

    The points of a counter are its increases; ``per_second`` are the rates that a chart shows.
    """
    if view.every_ms:
        return _bucket_json(view)
    rates = charted_points(view.points, view.intervals, view.metric)
    per_second = {"per_second": [[stamp(ts), _rounded(rate)] for ts, rate in rates]}
    return {
        "metric": view.metric.name,
        "object": str(view.object),
        "unit": unit_of(view.metric),
        **({} if view.kept_from is None else {"kept_from": stamp(view.kept_from)}),
        **({"damaged": [stamp(hour) for hour in view.damaged]} if view.damaged else {}),
        **({"note": view.lacking} if view.lacking else {}),
        **({"restarts": [stamp(ts) for ts in view.restarts]} if view.restarts else {}),
        **({"alerts": [_alert_json(each) for each in view.alerts]} if view.alerts else {}),
        "points": [[stamp(ts), _plain(value, view.metric)] for ts, value in view.points],
        **(per_second if _is_counter(view) else {}),
    }


def _bucket_json(view: Trend) -> dict[str, Any]:
    """Of parts of the time: how long each is, what is told of it, and the seconds in it with data."""
    assert view.aggregate is not None
    return {
        "metric": view.metric.name,
        "object": str(view.object),
        "unit": shown_unit(view),
        "every_s": view.every_ms // 1000,
        "aggregate": view.aggregate.value,
        **({} if view.kept_from is None else {"kept_from": stamp(view.kept_from)}),
        **({"hours_until": stamp(view.hours_until)} if view.hours_until > view.span.since else {}),
        **({"damaged": [stamp(hour) for hour in view.damaged]} if view.damaged else {}),
        **({"note": view.lacking} if view.lacking else {}),
        **({"restarts": [stamp(ts) for ts in view.restarts]} if view.restarts else {}),
        **({"alerts": [_alert_json(each) for each in view.alerts]} if view.alerts else {}),
        "points": [[stamp(ts), shown_value(value, view.metric)] for ts, value in view.points],
        "covered_s": [(ms or 0) / 1000 for ms in view.intervals],
    }


def _alert_json(alert: Alert) -> dict[str, Any]:
    return {
        "rule": alert.key.rule,
        "severity": alert.severity.name.lower(),
        "from": None if alert.started is None else stamp(alert.started),
        "to": None if alert.ended is None else stamp(alert.ended),
        "summary": alert.summary,
    }


def alert_lines(view: Trend, width: int) -> Iterator[str]:
    """The alerts that are marked on a chart, the newest, in words."""
    for each in view.alerts[-_MOST_ALERTS:]:
        ends = "still firing" if each.ended is None else f"to {when_words(each.ended, view.span)}"
        begin = "" if each.started is None else when_words(each.started, view.span)
        words = f"{health_of(each.severity).glyph} {begin} {ends}  {safe(each.key.rule)} {safe(each.summary)}"
        yield from wrap(words, width, rest="  ")
    if len(view.alerts) > _MOST_ALERTS:
        yield f"{len(view.alerts) - _MOST_ALERTS:,} earlier alerts"


def shown_value(value: float | None, metric: Metric) -> int | float | None:
    """A figure of a metric as programs get it, such as one of a part of the time: rounded, whole numbers stay whole; None
    where it is not finite.
    """
    found = _plain(value, metric)
    # What rounds to nothing is 0.0, without the sign that it had.
    return round(found, _RATE_DIGITS) or 0.0 if isinstance(found, float) else found


def trend_csv(view: Trend) -> Iterator[str]:
    """The lines of ``mqvitals trend --csv``; an absent value leaves its field empty. A counter has its rates too."""
    if view.every_ms:
        yield f"{CSV_HEADER},covered_s"
    else:
        yield f"{CSV_HEADER},per_second" if _is_counter(view) else CSV_HEADER
    yield from map(",".join, csv_rows(view))


def csv_rows(view: Trend) -> Iterator[tuple[str, ...]]:
    """The fields of each point: when, the value, and of a counter the rate; of a part of the time the seconds with data."""
    if view.every_ms:
        for (ts, value), ms in zip(view.points, view.intervals, strict=True):
            yield stamp(ts), _field(shown_value(value, view.metric)), str((ms or 0) / 1000)
        return
    rates = charted_points(view.points, view.intervals, view.metric) if _is_counter(view) else ()
    for place, (ts, value) in enumerate(view.points):
        fields = stamp(ts), _field(_plain(value, view.metric))
        yield (*fields, _field(_rounded(rates[place][1]))) if rates else fields


def _is_counter(view: Trend) -> bool:
    return view.metric.type is MetricType.COUNTER


def _field(value: float | None) -> str:
    return "" if value is None else str(value)


def _rounded(rate: float | None) -> float | None:
    return None if rate is None else round(rate, _RATE_DIGITS)


def trend_text(view: Trend, width: int, height: int) -> list[str]:
    """The lines of ``mqvitals trend``: what it is, the chart, and its figures in words."""
    metric = view.metric
    title = f"{safe(str(view.object))}  {metric.name}: {metric.meaning}"
    lines = [*wrap(title, width, rest="  "), *([cut(view.note, width)] if view.note else []), ""]
    present = [(ts, value) for ts, value in view.points if value is not None and math.isfinite(value)]
    if not view.points:
        deleted = not_kept(view)
        whole = view.kept_from is not None and view.kept_from > view.span.until
        none = f"No poll from {from_to(view.span)} {zone_name(view.span.until)}{f'; {deleted}' if deleted else ''}"
        return [*lines, *wrap(deleted if whole else none, width)]
    if not present:
        reason = f": {view.why}" if view.why else ""
        return [*lines, *wrap(f"Absent at all {_polls(len(view.points), view)}{reason}", width), *_footer(view, width)]
    drawn = chart_of([view], shaded=alert_spans(view.alerts, view.span.until))
    lines += [each.text for each in chart_lines(drawn, width, height)]
    for ts, changed in drawn.marks[-_MOST_CHANGES:]:
        lines += wrap(f"{MARK} {when_words(ts, view.span)} {changed}", width, rest="  ")
    if len(drawn.marks) > _MOST_CHANGES:
        lines.append(f"{MARK} {len(drawn.marks) - _MOST_CHANGES:,} earlier")
    lines += alert_lines(view, width)
    words = figures_words(view)
    return [*lines, "", *wrap(words, width, rest="  "), *_footer(view, width)]


def figures_words(view: Trend) -> str:
    """The figures of a series in words: the last, least and greatest; of a state how often each was seen."""
    present = [(ts, value) for ts, value in view.points if is_known(value)]
    if not view.points:
        return not_kept(view) or f"no {'record' if view.by_records else 'poll'}"
    if not present:
        return f"absent at all {_polls(len(view.points), view)}{f': {view.why}' if view.why else ''}"
    return _states(present, view) if view.metric.type is MetricType.STATE else _extremes(view, present)


def _extremes(view: Trend, present: Sequence[tuple[int, int | float]]) -> str:
    metric = view.metric
    words_of: Callable[[float], str] = partial(figure, metric=metric)
    shown = present
    if _is_counter(view):
        known = [(ts, rate) for ts, rate in shown_points(view) if rate is not None]
        if known:
            shown, words_of = known, shown_words(view)
    last_ts, last = shown[-1]
    low_ts, low = min(shown, key=lambda point: point[1])
    high_ts, high = max(shown, key=lambda point: point[1])
    newest = view.points[-1][0]
    since = "" if last_ts == newest else f" at {moment(last_ts)}, then absent{f': {view.why}' if view.why else ''}"
    words = (
        f"last {words_of(last)}{since}; min {words_of(low)} at {when_words(low_ts, view.span)}"
        f"; max {words_of(high)} at {when_words(high_ts, view.span)}"
    )
    if not _is_counter(view) or view.every_ms:
        return words
    rate = _rate(view)
    total = quantity(sum(value for _, value in present), metric.unit)
    return f"{words}; total {total}{f', on average {value_words(metric)(rate)}' if rate is not None else ''}"


def _states(present: Sequence[tuple[int, int | float]], view: Trend) -> str:
    metric = view.metric
    last = state(present[-1][1], metric)
    times = Counter(state(value, metric) for _, value in present)
    return f"last {last}; seen: " + ", ".join(f"{name} at {_polls(count, view)}" for name, count in times.most_common())


def _footer(view: Trend, width: int) -> list[str]:
    times = [ts for ts, _ in view.points]
    distances = [after - before for before, after in pairwise(times)]
    every = f", one every {age(int(median(distances)))}" if distances else ""
    if view.every_ms and view.aggregate is not None:
        every = f" of {age(view.every_ms)}, {view.aggregate.value} of each"
    found = gap_spans(view)
    named = ", ".join(
        f"{when_words(gap.since, view.span)} to {when_words(gap.until, view.span)}" for gap in found[:MOST_GAPS]
    )
    more = f" and {len(found) - MOST_GAPS:,} more" if len(found) > MOST_GAPS else ""
    breaks = f"{len(found):,} gap{'' if len(found) == 1 else 's'} ({named}{more})" if found else "no gaps"
    unit = shown_unit(replace(view, metric=replace(view.metric, unit=_UNITS.get(view.metric.unit, view.metric.unit))))
    parts = [
        f"{_polls(len(times), view)}{every}, {breaks}",
        f"{from_to(view.span if view.every_ms else TimeRange(times[0], times[-1]))} {zone_name(times[-1])}",
    ]
    if view.hours_until > view.span.since:
        parts.append(
            f"from whole hours until {moment(view.hours_until)} {zone_name(view.hours_until)}, then from samples"
        )
    if deleted := not_kept(view):
        needs = f"; {view.aggregate.value} needs samples" if view.every_ms and view.aggregate is not None else ""
        parts.append(f"{deleted}{needs}")
    return wrap("; ".join(parts) + (f"; unit: {unit}" if unit else ""), width, rest="  ")


def _rate(view: Trend) -> float | None:
    """The increase per second over the intervals with a value; None where they are not known."""
    increase, ms = 0.0, 0
    for (_, value), length in zip(view.points, lengths_of(view), strict=True):
        if is_known(value) and value is not None and length:
            increase += value
            ms += length
    return 1000 * increase / ms if ms else None


def _plain(value: int | float | None, metric: Metric) -> int | float | None:
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    return round(value, 2) if metric.unit == "pct" else value


def _polls(count: int, view: Trend) -> str:
    return counted(count, "interval" if view.every_ms else "record" if view.by_records else "poll")


def when_words(ts: int, span: TimeRange) -> str:
    """A moment of a time: the time of day where that is one day."""
    return clock(ts) if day(span.since) == day(span.until) else moment(ts)


def from_to(span: TimeRange) -> str:
    """Both ends of a time."""
    return f"{moment(span.since)} to {when_words(span.until, span)}"
