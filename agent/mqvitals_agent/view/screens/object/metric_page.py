"""A figure of an object explained: its value now, what its metric is and where it comes from, the rules that look at it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mqvitals_agent.text.figure import figure, object_words, short_age
from mqvitals_agent.text.severity import health_of
from mqvitals_agent.text.styled import Line, Span, Tone, heading, labelled, line, tone_of
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.screens.object.rules import verdict
from mqvitals_agent.view.screens.status import at_option, trend_command
from mqvitals_rules.ruleset.markdown import one_line
from mqvitals_rules.vocabulary.markdown import GLUE, metric_facts
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.vocabulary.tables import metric as metric_of

if TYPE_CHECKING:
    from mqvitals_agent.view.object.detail import ObjectDetail

_LABEL = 12


def metric_lines(
    detail: ObjectDetail, name: str, now: int, width: int, *, as_of: int | None = None
) -> tuple[Line, ...]:
    """A figure of an object explained in ``width`` cells: its value now and whence, what the metric is, and the rules.

    ``name`` is a metric of the object's kind; raises KeyError for another. ``as_of`` is the past moment that is shown,
    ms UTC; None: now is.
    """
    kind, metric = KINDS[detail.name.kind], metric_of(detail.name.kind, name)
    return (
        *_now(detail, metric, now, width),
        *_facts(kind, metric, width),
        *_thresholds(detail, metric, width),
        *_rules(detail, metric, now, width),
        heading("Over time", width),
        *_labelled("command", f"{trend_command(metric.name, detail.name)}{at_option(as_of)}", width),
    )


def _now(detail: ObjectDetail, metric: Metric, now: int, width: int) -> Iterator[Line]:
    yield heading(f"{object_words(detail.name)}: {metric.name}", width)
    latest = (detail.values or {}).get(metric.name)
    if latest is None:
        yield line(f"  {Absence.NOT_ASKED.value}", Tone.ABSENT)
        return
    absent = isinstance(latest.value, Absence)
    yield from _labelled("now", figure(latest.value, metric), width, Tone.ABSENT if absent else Tone.STRONG)
    yield from _labelled("from", f"{latest.probe} ({latest.source.name.lower().replace('_', ' ')})", width)
    if latest.ts is not None:
        yield from _labelled("age", f"{short_age(now - latest.ts)}", width)
    if latest.unanswered is not None:
        yield from _labelled("unanswered", latest.unanswered.value, width, Tone.STALE)


def _facts(kind: Kind, metric: Metric, width: int) -> Iterator[Line]:
    yield heading(f"{kind.name}.{metric.name}", width)
    for about, text in metric_facts(metric).items():
        yield from _labelled(about, text.replace(GLUE, " "), width)


def _thresholds(detail: ObjectDetail, metric: Metric, width: int) -> Iterator[Line]:
    found = [each for each in detail.thresholds if each.metric == metric.name]
    if not found:
        return
    yield heading("Thresholds", width)
    for each in sorted(found, key=lambda one: (-one.severity, one.value)):
        health = health_of(each.severity)
        sign = "at most" if each.low_is_bad else "at least"
        text = f"{sign} {figure(each.value, metric)}  {safe(each.rule)}"
        yield from labelled(Span(f"  {health}", tone_of(health)), text, width)


def _rules(detail: ObjectDetail, metric: Metric, now: int, width: int) -> Iterator[Line]:
    bounding = {each.rule for each in detail.thresholds if each.metric == metric.name}
    reading = [each for each in detail.rules if metric.name in each.rule.own or each.rule.id in bounding]
    if not reading:
        return
    yield heading("Rules that look at it", width)
    for each in reading:
        health, words = verdict(each, now)
        text = f"{safe(one_line(each.rule.rule.title))}: {words}"
        yield from labelled(Span(f"  {health.glyph} {safe(each.rule.id):<10}", tone_of(health)), text, width, gap="")


def _labelled(label: str, text: str, width: int, tone: Tone = Tone.PLAIN) -> Iterator[Line]:
    yield from labelled(Span(f"  {label:<{_LABEL}}", Tone.FAINT), text, width, tone, gap="")
