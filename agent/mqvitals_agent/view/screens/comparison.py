"""The screen of a comparison: what was then, what is now, and the difference, the biggest change first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.figure import (
    age,
    counted,
    figure,
    metric_words,
    moment,
    number,
    object_words,
    quantity,
    zone_name,
)
from mqvitals_agent.text.styled import Line, Span, Tone, line, wrapped
from mqvitals_agent.text.terminal import cells, cut, fit
from mqvitals_agent.view.figures.values import number_in
from mqvitals_agent.view.history.comparison import MetricDifference, MomentComparison
from mqvitals_rules.vocabulary.metric import Absence, Metric, MetricType

_FIGURE: Final = 13
"""Cells of a figure."""
_GAP: Final = "  "
_LEAST: Final = 10
"""The least cells of the name of an object and its metric."""
_METRIC: Final = 20
"""The most cells of the name of a metric."""


def comparison_lines(comparison: MomentComparison, width: int, *, is_now: bool = True) -> Sequence[Line]:
    """The lines in ``width`` cells; those of differences lead to their objects. ``is_now``: the later moment is now; else
    both have their times as titles."""
    return tuple(_lines(comparison, width, is_now=is_now))


def _lines(comparison: MomentComparison, width: int, *, is_now: bool) -> Iterator[Line]:
    then, now = comparison.then, comparison.now
    about = "the group" if comparison.name is None else object_words(comparison.name)
    distance = age(abs(now - then))
    between = f"{moment(then)} and {moment(now)} {zone_name(now)}, {distance} {'later' if now >= then else 'earlier'}"
    yield from wrapped(f"{about}: {between}", width, Tone.STRONG)
    if not comparison.looked_at:
        begins = comparison.begins
        since = "" if begins is None else f": the store begins at {moment(begins)} {zone_name(begins)}"
        yield from wrapped(f"nothing of it was stored by then{since}", width, Tone.ABSENT)
        return
    if not comparison.differences:
        yield line(f"no difference in {counted(comparison.looked_at, 'object')}", Tone.FAINT)
        return
    words = max(cells(difference_words(each)) for each in comparison.differences)
    left = max(width - 2 * _FIGURE - max(words, len("difference")) - 3 * len(_GAP), _LEAST)
    titles = ("then", "now") if is_now else (f"{moment(ts)[5:16]}" for ts in (then, now))
    head = "".join(f"{_GAP}{title:>{_FIGURE}}" for title in titles)
    yield line(f"{fit('', left)}{head}{_GAP}difference", Tone.FAINT)
    for each in comparison.differences:
        yield _line(each, left, single=comparison.name is not None)
    more = comparison.total - len(comparison.differences)
    if more:
        yield line(f"{more:,} smaller differences are not shown", Tone.FAINT)


def _line(each: MetricDifference, left: int, *, single: bool) -> Line:
    what = "" if each.metric is None else metric_words(each.metric.name)
    if single:
        label = Span(fit(cut(what or "the object", left), left))
        spans: tuple[Span, ...] = (label,)
    else:
        metric = cut(what, min(_METRIC, left // 2))
        room = left - cells(metric) - 1
        spans = (Span(fit(cut(object_words(each.name), room), room)), Span(f" {metric}", Tone.FAINT))
    then, now = (_figure(value, each.metric) for value in (each.then, each.now))
    tone = Tone.STRONG if each.size >= 1 else Tone.PLAIN
    return Line(
        (
            *spans,
            Span(f"{_GAP}{fit(cut(then, _FIGURE), _FIGURE, right=True)}", Tone.FAINT),
            Span(f"{_GAP}{fit(cut(now, _FIGURE), _FIGURE, right=True)}", tone),
            Span(f"{_GAP}{difference_words(each)}", tone),
        ),
        str(each.name),
    )


def _figure(value: CurrentValue | None, metric: Metric | None) -> str:
    if value is None:
        return "not there"
    if metric is None:
        return "there"
    text = figure(value.value, metric)
    rate = metric.type is MetricType.COUNTER and not isinstance(value.value, Absence)
    return f"{text}/s" if rate else text


def _factor(ratio: float) -> str:
    return number(round(ratio, 1) if ratio < 10 else round(ratio))


def difference_words(each: MetricDifference) -> str:
    """The difference in words: ``+9.3 k msgs (x94)``, ``-12 points``, ``now RETRYING``."""
    metric = each.metric
    if metric is None:
        return "gone" if each.now is None else "new"
    before, after = number_in(each.then), number_in(each.now)
    if before is None or after is None:
        return ""
    if metric.type is MetricType.STATE:
        return "changed"
    sign = "+" if after > before else "-"
    if metric.unit == "pct":
        return f"{sign}{abs(after - before):.3g} points"
    rate = "/s" if metric.type is MetricType.COUNTER else ""
    amount = f"{sign}{quantity(abs(after - before), metric.unit)}{rate}"
    ratio = after / before if before > 0 and after > 0 else 0.0
    if ratio >= 2:
        return f"{amount} (x{_factor(ratio)})"
    return f"{amount} (/{_factor(1 / ratio)})" if 0 < ratio <= 0.5 else amount
