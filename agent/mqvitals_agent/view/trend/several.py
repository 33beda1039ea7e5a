"""Trends of several metrics and objects as ``mqvitals trend`` prints them: charts of at most four lines, JSON, CSV."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mqvitals_agent.errors import Failure
from mqvitals_agent.text.chart import MARK
from mqvitals_agent.text.chart_lines import Chart, chart_lines
from mqvitals_agent.text.figure import counted, object_words, zone_name
from mqvitals_agent.text.svg import Drawing, svg_file
from mqvitals_agent.text.terminal import csv_cell, cut, safe, wrap
from mqvitals_agent.view.figures.trend import Trend, is_known
from mqvitals_agent.view.trend.chart import MOST_CHARTS, MOST_SERIES, alert_spans, board_of, chart_of
from mqvitals_agent.view.trend.report import (
    alert_lines,
    csv_rows,
    figures_words,
    from_to,
    when_words,
)
from mqvitals_agent.view.trend.selection import Selection
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Metric, MetricType

Chosen = tuple[ObjectName, Metric]

_MOST_MARKS = 5
"""Changes and restarts that are named below a chart, the newest; all are marked."""


def charts_of(chosen: Selection) -> list[list[Chosen]]:
    """The series of each chart: of one object those of the same unit, of several objects those of one metric.

    Raises Failure where these are more than can be shown.
    """
    series = [(name, metric) for name, metrics in chosen.objects for metric in metrics]
    if len(chosen.objects) == 1:
        board = board_of([metric for _, metric in series])
        charts = [[series[place] for place in places] for places in board]
    else:
        charts = []
        for kind, metric in chosen.metrics:
            of_metric = [each for each in series if each[0].kind == kind and each[1] is metric]
            size = 1 if metric.type is MetricType.STATE else MOST_SERIES
            charts += [of_metric[first : first + size] for first in range(0, len(of_metric), size)]
    if len(charts) > MOST_CHARTS or sum(map(len, charts)) < len(series):
        raise Failure(
            f"{counted(len(chosen.objects), 'object')} with {counted(chosen.count, 'series', 'series')} are too many for"
            f" charts: at most {MOST_CHARTS} of {MOST_SERIES} lines are drawn, of states one line each",
            hint="name fewer of them, or take --top 10, --csv or --json",
        )
    return charts


def charts_text(charts: Iterable[Sequence[Trend]], width: int, height: int) -> Iterator[str]:
    """The charts below each other: the title, the lines with their digits, and the figures of each line in words."""
    named: set[ObjectName] = set()
    for place, views in enumerate(charts):
        first = views[0]
        if place:
            yield ""
        elif first.note:
            yield cut(first.note, width)
        whose = len({each.object for each in views}) == 1
        yield from wrap(title_of(views), width, rest="  ")
        present = [each for each in views if any(is_known(value) for _, value in each.points)]
        if present:
            drawn = chart_of_several(present)
            yield from (each.text for each in chart_lines(drawn, width, height))
            for ts, words in drawn.marks[-_MOST_MARKS:]:
                yield from wrap(f"{MARK} {when_words(ts, first.span)} {words}", width, rest="  ")
            if whose and first.object not in named:
                named.add(first.object)
                yield from alert_lines(first, width)
        for each in views:
            digit = f"{present.index(each) + 1} " if each in present and len(present) > 1 else "  "
            name = object_words(each.object) if not whose else each.metric.name
            yield from wrap(f"{digit}{name}: {figures_words(each)}", width, rest="    ")
        yield f"{from_to(first.span)} {zone_name(first.span.until)}"


def title_of(views: Sequence[Trend]) -> str:
    """The object, where it is one, the metrics, and the meaning of one."""
    first, names = views[0], dict.fromkeys(each.metric.name for each in views)
    whose = f"{safe(str(first.object))}  " if len({each.object for each in views}) == 1 else ""
    return f"{whose}{', '.join(names)}{f': {first.metric.meaning}' if len(names) == 1 else ''}"


def chart_of_several(views: Sequence[Trend]) -> Chart:
    """The chart of these series, with the alerts of the object, where it is one."""
    # The alerts of one of several objects would be taken for those of all.
    alone = len({each.object for each in views}) == 1
    return chart_of(views, shaded=alert_spans(views[0].alerts, views[0].span.until) if alone else ())


def drawings(charts: Iterable[Sequence[Trend]]) -> Iterator[Drawing]:
    """The charts for a file; one without any value is left out."""
    for views in charts:
        present = [each for each in views if any(is_known(value) for _, value in each.points)]
        if present:
            whose = len({each.object for each in present}) == 1
            names = [
                f"{place} {each.metric.name if whose else object_words(each.object)}: {figures_words(each)}"
                for place, each in enumerate(present, 1)
            ]
            yield Drawing(title_of(views), chart_of_several(present), names if len(present) > 1 else [names[0][2:]])


def svg_text(found: Iterable[Drawing]) -> str:
    """The file with these charts."""
    return svg_file(tuple(found), lambda severity: severity.name.lower())


def several_json(series: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The text of ``{"series": [...]}``, in pieces: each series as ``trend_json`` has it."""
    yield '{"series": ['
    for place, each in enumerate(series):
        yield f"{', ' if place else ''}{json.dumps(each)}"
    yield "]}\n"


def several_csv(trends: Iterable[Trend], further: str = "") -> Iterator[str]:
    """The lines ``object,metric,at,value``, and ``further``, the name of what some of them have beside these."""
    yield f"object,metric,at,value{f',{further}' if further else ''}"
    for view in trends:
        head = f"{csv_cell(str(view.object))},{view.metric.name}"
        for cells in csv_rows(view):
            rest = (*cells, "")[: 3 if further else 2]
            yield f"{head},{','.join(rest)}"
