"""The lines of an object's card: a figure a line, with its threshold and its past."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.figure import figure, metric_words, quantity, short_age
from mqvitals_agent.text.meter import Bound
from mqvitals_agent.text.severity import health_of
from mqvitals_agent.text.sparkline import spark_spans, sparkline, worst_of_stretches
from mqvitals_agent.text.styled import Line, Span, Tone, line, tone_of
from mqvitals_agent.text.terminal import cells, cut, fit
from mqvitals_agent.view.object.card import CardFigure, at_work, crossed, shown_threshold
from mqvitals_rules.thresholds import Threshold
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.metric import Absence, MetricType

SPANS: Final = ((300_000, "last 5m"), (900_000, "last 15m"), (3_600_000, "last 1h"), (86_400_000, "last 24h"))
"""The past that a card shows, ms and in words: the shortest that holds all that is known of the last hour.

Of records it is a day, because there are one or two an hour.
"""

_AGE, _GAP, _MOST_PAST, _LEAST_PAST = 6, 2, 120, 8

_ROOMY = 72
"""From this width on a value may be longer than most."""


class _Columns(NamedTuple):
    """The cells of each column, 0 for none."""

    name: int
    value: int
    age: int
    past: int
    threshold: int
    yesterday: int


def _columns_of(card: Sequence[CardFigure], words: Mapping[str, str], width: int, *, compared: bool) -> _Columns:
    values = (cells(value_words(each)) for each in card if not isinstance(each.latest.value, Absence))
    return _columns(width, max(map(cells, words.values())), max(values, default=0), compared=compared)


def _columns(width: int, names: int, values: int, *, compared: bool) -> _Columns:
    """What fits into ``width`` cells beside names and values of so many cells: yesterday goes first, then the past."""
    name, value = min(max(names, 8), 20), min(max(values, 12), 20 if width >= _ROOMY else 12)
    left = width - _GAP - name - 1 - value - 1 - _AGE
    threshold = 12 if left >= 12 + _GAP else 0
    left -= threshold + _GAP if threshold else 0
    yesterday = 12 if compared and left >= 12 + 2 * _GAP + _LEAST_PAST else 0
    left -= yesterday + _GAP if yesterday else 0
    past = min(left - _GAP, _MOST_PAST) if left >= _LEAST_PAST + _GAP else 0
    return _Columns(name, value, _AGE, past, threshold, yesterday)


def card_lines(
    card: Sequence[CardFigure], now: int, width: int, *, stale: bool = False, compared: bool = True
) -> Iterator[Line]:
    """A line a figure, in at most ``width`` cells; each knows its metric.

    ``stale``: nothing new comes. ``compared``: there is a column of yesterday's values.
    """
    if not card:
        yield line("  none of its figures is known", Tone.ABSENT)
        return
    words = _names(card)
    columns = _columns_of(card, words, width, compared=compared)
    past, _ = _past_of(card, now)
    for each in card:
        spans = _row(each, words[each.metric.name], columns, (past, now), width, stale=stale)
        yield Line(tuple(spans), figure=each.metric.name)


def _names(card: Sequence[CardFigure]) -> dict[str, str]:
    """What each figure is called: its words where no other figure has the same, else its name."""
    words = {each.metric.name: metric_words(each.metric.name) for each in card}
    several = Counter(words.values())
    return {name: name if several[word] > 1 else word for name, word in words.items()}


def _past_of(card: Sequence[CardFigure], now: int) -> tuple[TimeRange, str]:
    """The past of the card, until its newest value, and its length in words: it moves with the values, not with the
    clock."""
    until = max((each.points[-1][0] for each in card if each.points), default=now)
    oldest = min((each.points[0][0] for each in card if each.points), default=until - HOUR_MS)
    ms, words = next((span for span in SPANS if until - oldest <= span[0]), SPANS[-1])
    return TimeRange(until - ms, until), words


def card_titles(card: Sequence[CardFigure], now: int, width: int, *, compared: bool = True) -> str:
    """The titles of the columns, to stand above the rows in a line that begins with other words."""
    if not card:
        return ""
    columns = _columns_of(card, _names(card), width, compared=compared)
    titles = [
        (columns.value, "now", True),
        (columns.age, "age", True),
        (columns.past, _past_of(card, now)[1], False),
        (columns.threshold, "threshold", True),
        (columns.yesterday, "yesterday", True),
    ]
    text = " " * (_GAP + columns.name)
    for size, title, right in titles:
        if size:
            text += " " * (1 if title in ("now", "age") else _GAP) + fit(title, size, right=right)
    return text


def _row(
    each: CardFigure, name: str, columns: _Columns, times: tuple[TimeRange, int], width: int, *, stale: bool
) -> Iterator[Span]:
    """``times`` are the past that is shown, and now."""
    latest, (past, now) = each.latest, times
    old = "" if latest.ts is None else short_age(now - latest.ts)
    stale = stale or latest.unanswered is not None
    yield Span("  ")
    yield Span(fit(name, columns.name), Tone.FAINT)
    if isinstance(latest.value, Absence):
        room = width - _GAP - columns.name - 1
        yield Span(" ")
        yield Span(cut(latest.value.value, room), Tone.ABSENT)
        return
    beyond = crossed(each)
    tone = Tone.STALE if stale else Tone.STRONG if beyond is None else tone_of(health_of(beyond.severity))
    yield Span(" ")
    yield Span(fit(value_words(each), columns.value, right=True), tone)
    yield Span(" ")
    yield Span(fit(old, columns.age, right=True), Tone.STALE if stale else Tone.FAINT)
    if columns.past:
        yield Span("  ")
        yield from past_spans(each, past, columns.past, stale=stale)
    if columns.threshold:
        bound = shown_threshold(each)
        yield Span("  ")
        tone = Tone.FAINT if bound is None or beyond is None else tone_of(health_of(bound.severity))
        yield Span(fit("" if bound is None else _bound_words(bound, each), columns.threshold, right=True), tone)
    if columns.yesterday:
        yield Span("  ")
        yield Span(fit(_number_words(each.yesterday, each), columns.yesterday, right=True), Tone.FAINT)


def value_words(each: CardFigure) -> str:
    """The value with its unit, of a flow the rate."""
    if each.counted:
        return _number_words(each.rate, each) or figure(each.latest.value, each.metric)
    return figure(each.latest.value, each.metric)


def _number_words(value: float | None, each: CardFigure) -> str:
    """A number of the figure's series; of a counter it is one a second."""
    if value is None:
        return ""
    return f"{quantity(value, each.metric.unit)}/s" if each.counted else figure(value, each.metric)


def _bound_words(bound: Threshold, each: CardFigure) -> str:
    """The bound, with the sign of its severity where it is crossed."""
    words = figure(bound.value, each.metric)
    glyph = f" {health_of(bound.severity).glyph}" if crossed(each) is not None else ""
    sign = ("<" if bound.beyond else "≤") if bound.low_is_bad else (">" if bound.beyond else "≥")
    return f"{sign} {words}{glyph}"


def past_spans(each: CardFigure, past: TimeRange, width: int, *, stale: bool) -> Iterator[Span]:
    """The worst value of each stretch of the past, in the tone that its threshold gives it."""
    numbers = [value for _, value in each.points if value is not None and math.isfinite(value)]
    if each.metric.type is MetricType.STATE or not numbers:
        yield Span(" " * width)
        return
    low = each.low_is_bad
    if each.metric.unit == "pct":
        bounds = [Bound(one.value, one.severity) for one in at_work(each) if one.low_is_bad is low]
        yield from spark_spans(each.points, past, width, bounds, low_is_bad=low, tone=Tone.STALE if stale else None)
        return
    blocks = sparkline(each.points, past, width, high=max(numbers) or 1.0, low_is_bad=low)
    worst = worst_of_stretches(each.points, past, width, low_is_bad=low)
    for tone, cells_of in groupby(zip(blocks, worst, strict=True), lambda pair: _tone_of(each, pair[1], stale=stale)):
        yield Span("".join(block for block, _ in cells_of), tone)


def _tone_of(each: CardFigure, value: float | None, *, stale: bool) -> Tone:
    if stale:
        return Tone.STALE
    # A counter is shown as a rate; its thresholds are compared with the increase of an interval.
    reached = [] if value is None or each.counted else [one for one in at_work(each) if one.reached_by(value)]
    worst = max(reached, key=lambda one: one.severity, default=None)
    return Tone.CALM if worst is None else tone_of(health_of(worst.severity))
