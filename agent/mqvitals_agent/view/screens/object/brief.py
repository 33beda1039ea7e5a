"""An object in brief: what a list or a matrix shows of the one under the cursor, where rows are free.

Its alerts, its vital figures as on its page, with the last hour of the main ones, and when it is full.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.figure import number_of, object_words
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.text.styled import (
    PANEL_GAP,
    Line,
    Panel,
    Span,
    Tone,
    beside_each_other,
    heading,
    labelled,
    line,
    tone_of,
)
from mqvitals_agent.text.terminal import cells, cut_middle, fit, safe
from mqvitals_agent.view.alerts.words import duration_words, open_summary, worst_first
from mqvitals_agent.view.figures.forecast import FILLING, full_in, full_in_lines
from mqvitals_agent.view.figures.values import MAIN_METRIC, RATE
from mqvitals_agent.view.object.card import CardFigure, card_metrics
from mqvitals_agent.view.object.card_lines import SPANS, card_lines, card_titles, past_spans, value_words
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.thresholds import Threshold, low_end_is_bad, thresholds_of
from mqvitals_rules.vocabulary.tables import metric as metric_of

if TYPE_CHECKING:
    from mqvitals_agent.view.figures.table import Item
    from mqvitals_agent.view.frame import Frame

LEAST_ROWS: Final = 3
"""Rows of the shortest brief that tells something: its heading, its state, a figure."""


def brief_lines(frame: Frame, item: Item, width: int, rows: int) -> tuple[Line, ...]:
    """The object of ``item`` in ``width`` cells and at most ``rows`` rows; none where there is no room for it.

    No line of it is for the cursor, which stays on what it is about.
    """
    if rows < LEAST_ROWS:
        return ()
    holding = _holding(frame)
    shown = [
        heading(object_words(item.name), width),
        *_state(frame, item, width),
        *_card(frame, item, holding, width),
        *_full_in(frame, item, width),
    ]
    shown += _pasts(frame, holding, width, rows - len(shown))
    return tuple(each._replace(figure="") for each in shown[:rows])


_Holding = Mapping[ObjectName, Collection[str]]
"""The rules that hold, by object."""


def _holding(frame: Frame) -> _Holding:
    found: dict[ObjectName, set[str]] = {}
    for alert in frame.data.alerts:
        for name in (alert.key.object, alert.scope):
            found.setdefault(name, set()).add(alert.key.rule)
    return found


def _state(frame: Frame, item: Item, width: int) -> Iterator[Line]:
    """Its firing alerts, the worst first; without one what it is."""
    firing = [each for each in frame.status.firing if item.name in (each.key.object, each.scope)]
    for alert in worst_first(firing):
        health = health_of(alert.severity)
        sign = Span(f"  {health.glyph} {safe(alert.key.rule)}", Tone.STALE if item.stale else tone_of(health))
        yield from labelled(sign, f"{safe(open_summary(alert))} (for {duration_words(alert, frame.now)})", width)
    if item.stale:
        yield line("  ? stale: no new data; these are the last known figures", Tone.STALE)
    elif not firing and item.health is Health.UNKNOWN:
        yield line("  ? its state is not known", Tone.UNKNOWN)
    elif not firing:
        ruled = f"; {number_of(len(item.rules), 'rule')} look at it" if item.rules else ""
        yield Line((Span(f"  {Health.OK.glyph} ", Tone.OK), Span(f"no alert is open about it{ruled}", Tone.FAINT)))


def _card(frame: Frame, item: Item, holding: _Holding, width: int) -> Iterator[Line]:
    card = tuple(_figures(frame, item, holding.get(item.name, ()), card_metrics(item.name.kind, item.values)))
    titles = card_titles(card, frame.now, width, compared=False)
    if titles:
        yield line(titles, Tone.FAINT)
    yield from card_lines(card, frame.now, width, stale=item.stale, compared=False)


def _figures(frame: Frame, item: Item, holding: Collection[str], metrics: Iterable[str]) -> Iterator[CardFigure]:
    """Figures of its card. A threshold that is reached while its rule does not hold asks for more than this figure: it is
    left out."""
    kind, past = item.name.kind, frame.pasts.get(item.name, {})
    numbers = {name: each.value for name, each in item.values.items()}

    def in_force(each: Threshold) -> bool:
        value = numbers.get(each.metric)
        return each.rule in holding or not (isinstance(value, int | float) and each.reached_by(value))

    thresholds = [each for each in thresholds_of(item.rules, kind, numbers) if in_force(each)]
    for name in metrics:
        own = tuple(each for each in thresholds if each.metric == name)
        latest, points = item.values[name], past.get(name, ())
        rate = (
            next((value for ts, value in reversed(points) if ts == latest.ts), None) if name == RATE.get(kind) else None
        )
        low = own[0].low_is_bad if own else low_end_is_bad((), kind, name)
        yield CardFigure(metric_of(kind, name), latest, points, rate, None, own, low)


def _pasts(frame: Frame, holding: _Holding, width: int, rows: int) -> Iterator[Line]:
    """The last hour of the objects of the list, as many as there are rows for, beside each other where it is wide and
    they are many."""
    known = [each for each in (*frame.items, *frame.tasks) if any(frame.pasts.get(each.name, {}).values())]
    if rows < LEAST_ROWS or not known:
        return
    beside = min(-(-len(known) // (rows - 1)), max(width // _LEAST_PANEL, 1))
    size = (width - PANEL_GAP * (beside - 1)) // beside
    high = min(-(-len(known) // beside), rows - 1)
    name = min(max(cells(object_words(each.name)) for each in known[: high * beside]), 2 * size // 5)
    oldest = min(points[0][0] for each in known for points in frame.pasts[each.name].values() if points)
    length, words = next((each for each in SPANS if frame.now - oldest <= each[0]), SPANS[-1])
    span = TimeRange(frame.now - length, frame.now)
    lines = tuple(
        _past_line(frame, each, holding.get(each.name, ()), span, (name, size)) for each in known[: high * beside]
    )
    yield heading(f"All of them, {words}", width)
    yield from beside_each_other([Panel(size, lines[at : at + high]) for at in range(0, len(lines), high)])


def _past_line(frame: Frame, item: Item, holding: Collection[str], span: TimeRange, sizes: tuple[int, int]) -> Line:
    """The sign of what is ill, the name, the newest value and the sparkline of an object's main figure; ``sizes`` are the
    cells of names and of the line."""
    name, width = sizes
    kind = item.name.kind
    metric = RATE.get(kind, MAIN_METRIC[kind])
    (figure,) = _figures(frame, item, holding, [metric if metric in frame.pasts[item.name] else MAIN_METRIC[kind]])
    ill = item.health >= Health.UNKNOWN
    tone = tone_of(item.health) if ill else Tone.FAINT
    left = max(width - name - _VALUE - 5, 1)
    return Line(
        (
            Span(f"{item.health.glyph if ill else ' '} ", tone),
            Span(fit(cut_middle(object_words(item.name), name), name), Tone.STRONG),
            Span(f" {fit(value_words(figure), _VALUE, right=True)}  ", Tone.STALE if item.stale else Tone.PLAIN),
            *past_spans(figure, span, left, stale=item.stale),
        )
    )


_VALUE, _LEAST_PANEL = 12, 60
"""Cells of a value beside a sparkline, and of the narrowest line of both."""


def _full_in(frame: Frame, item: Item, width: int) -> Iterator[Line]:
    filling = FILLING.get(item.name.kind)
    points = frame.pasts.get(item.name, {}).get(filling.metric, ()) if filling is not None and not filling.of else ()
    if points and not item.stale:
        yield from full_in_lines(full_in(points, frame.now), width)
