"""The screen of one object, without its chart: state, advice, related objects, rules, figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.figure import (
    age,
    figure,
    kind_words,
    metric_words,
    moment,
    number,
    object_words,
    short_age,
    zone_name,
)
from mqvitals_agent.text.severity import WIDEST, Health, health_of
from mqvitals_agent.text.styled import Line, Span, Tone, heading, labelled, line, tone_of, wrapped
from mqvitals_agent.text.terminal import cells, cut, fit, safe, wrap
from mqvitals_agent.view.actions import handling_texts
from mqvitals_agent.view.alerts import duration_words, object_key, open_summary, short_summary, since_words
from mqvitals_agent.view.changes import object_change_lines
from mqvitals_agent.view.console import console_lines
from mqvitals_agent.view.dispositions import disposition_lines
from mqvitals_agent.view.handling import Handlings, brief_words
from mqvitals_agent.view.object_detail import ObjectDetail
from mqvitals_agent.view.related import RelatedObjects
from mqvitals_agent.view.screens.object_sections import interval_lines, position_lines, rule_lines
from mqvitals_agent.view.status import GroupStatus
from mqvitals_agent.view.table import Item
from mqvitals_agent.view.tasks import task_lines
from mqvitals_agent.view.values import MAIN_METRIC, number_in, on_zos, trace_words
from mqvitals_agent.view.what_if import what_if_lines
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.ruleset.markdown import one_line
from mqvitals_rules.snapshot import Instance, ObjectName, Source
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.alerting.disposition import Disposition
    from mqvitals_agent.view.frame import Frame


MOST_EFFECTS = 5
"""The number of effects of an alert that are named."""


def incident_lines(alert: Alert, status: GroupStatus, indent: int, width: int) -> Iterator[Line]:
    """The cause and the effects of an alert; the key of each line is that alert's object.

    Alerts about the same object are left out: they are on the same screen.
    """
    lead = " " * indent
    own = alert.key.object
    cause = status.explained.get(alert.key)
    related = [] if cause is None or cause.object == own else [("caused by", cause)]
    effects = [
        each.key for each in status.firing if status.explained.get(each.key) == alert.key and each.key.object != own
    ]
    related += [("caused", key) for key in effects[:MOST_EFFECTS]]
    for words, key in related:
        # Several queue managers report one fault with the same rule.
        words = "the same:" if key.rule == alert.key.rule else words
        text = cut(f"{lead}{words} {safe(key.rule)} {object_words(key.object)}", width)
        yield Line((Span(text, Tone.FAINT),), str(key.object))
    if len(effects) > MOST_EFFECTS:
        yield line(f"{lead}caused {number(len(effects) - MOST_EFFECTS)} more", Tone.FAINT)


_INDENT = "  "
_WIDE = 100
"""From this width on the meaning of a metric fits beside it."""

_MOST_INSTANCES = 10


def detail_lines(frame: Frame, width: int) -> tuple[Line, ...]:
    """The lines of ``frame.detail``; those of related objects have keys. The chart is ``frame.detail.trend``."""
    detail = frame.detail
    if detail is None:
        return ()
    if not detail.known:
        return tuple(_unknown(detail, width))
    return (
        *_state(detail, frame.status, frame.now, width),
        *_site_labels(frame, detail, width),
        *interval_lines(detail.name.kind, detail.values or {}, frame.now, width),
        *position_lines(detail.name.kind, detail.values or {}, frame.now, width),
        *_below(detail, frame.handled, frame.now, width),
        *_next(detail, width),
        *what_if_lines(detail.name.kind, detail.planned, width),
        *_tasks(detail, frame.now, width),
        *object_change_lines(detail.changes, frame.now, width),
        *console_lines(detail.console, detail.name.kind, frame.now, width, zos=on_zos(detail.values or {})),
        *_related(detail, frame.now, width),
        *_ways(frame.dispositions, width),
        *rule_lines(detail.rules, detail.rules_off, frame.now, width),
        *_figures(detail, frame.now, width),
        *_instances(detail, width),
        *_absent(detail, width),
        *_charts(detail, width),
    )


def _unknown(detail: ObjectDetail, width: int) -> Iterator[Line]:
    yield from wrapped(
        f"{Health.UNKNOWN}  The store holds no {safe(str(detail.name))}", width, Tone.UNKNOWN, rest=_INDENT
    )
    for near in detail.near:
        yield Line((Span(f"{_INDENT}did you mean "), Span(safe(near), Tone.STRONG)), near)


def _state(detail: ObjectDetail, status: GroupStatus, now: int, width: int) -> Iterator[Line]:
    name = detail.name
    words = object_words(name) if name.kind != "queue_manager" else f"queue manager {safe(name.owner)}"
    if name.kind in ("queue", "channel", "cf_structure"):
        words = f"{safe(name.owner)} {kind_words(name.kind)} {safe(name.name)}"
    lasted = "" if detail.since is None else f"  for {age(now - detail.since)}, since {since_words(detail.since, now)}"
    sign = str(detail.health)
    first = Line((Span(sign, tone_of(detail.health)), Span("  "), Span(words, Tone.STRONG), Span(lasted)))
    if cells(first.text) <= width:
        yield first
    else:
        yield line(sign + lasted, tone_of(detail.health))
        yield from wrapped(words, width, Tone.STRONG, rest=_INDENT)
    if detail.gone is not None:
        yield from wrapped(
            f"gone: not in the answers since {moment(detail.gone)} {zone_name(detail.gone)}",
            width,
            Tone.STALE,
            rest=_INDENT,
        )
    if detail.stale:
        yield from wrapped("stale: no new data; the values are the last known ones", width, Tone.STALE, rest=_INDENT)
    for alert in detail.alerts:
        health, handled = health_of(alert.severity), status.data.handled
        number_of_it, bold = handled.number(alert), handled.bold(alert)
        head = f"{health.glyph} {handled.mark(alert)} {safe(alert.key.rule)}  "
        lead = " " * cells(head)
        texts = wrapped(safe(open_summary(alert)), width, tone_of(health), first=head, rest=lead)
        first, *rest = (each._replace(spans=(each.spans[0]._replace(bold=bold),)) for each in texts)
        yield first._replace(key=str(name), alert=number_of_it)
        yield from rest
        found = handled.of(alert)
        for text in () if found is None or handled.past else handling_texts(found, handled.now):
            yield from wrapped(text, width, Tone.INFO, first=lead, rest=lead + "  ")
        yield from incident_lines(alert, status, cells(head), width)


def _site_labels(frame: Frame, detail: ObjectDetail, width: int) -> Iterator[Line]:
    labels = frame.labeller.site_labels(detail.name)
    if labels:
        words = ", ".join(f"{name}={value}" for name, value in sorted(labels.items()))
        yield from wrapped(safe(words), width, Tone.FAINT, first="labels: ", rest=_INDENT)


def _ways(dispositions: Sequence[Disposition], width: int) -> Iterator[Line]:
    """For each alert its labels, what each stage on its way to receivers says, and what each receiver gets."""
    for each in dispositions:
        yield heading(f"Who is notified of {safe(each.alert.key.rule)}, alert {each.number}", width)
        labels = ", ".join(f"{name}={value}" for name, value in sorted(each.labels.items()))
        yield from wrapped(safe(labels), width, Tone.FAINT, first=f"{_INDENT}labels: ", rest=_INDENT * 2)
        yield from disposition_lines(each, width)[1:]


def _below(detail: ObjectDetail, handled: Handlings, now: int, width: int) -> Iterator[Line]:
    """The open alerts of related objects, the worst first; Enter opens the object of each."""
    if not detail.below:
        return
    yield heading(f"Alerts of what belongs to it: {number(len(detail.below))}", width)
    for alert in detail.below:
        health = health_of(alert.severity)
        brief = brief_words(handled.of(alert), handled.now)
        words = (
            f"{duration_words(alert, detail.until or now)}  {safe(alert.key.rule)}  {object_words(alert.key.object)}: "
            f"{brief}{'; ' if brief else ''}{safe(short_summary(alert))}"
        )
        sign, bold = f"{fit(str(health), WIDEST)} {handled.mark(alert)}", handled.bold(alert)
        label = Span(sign, Tone.STALE if detail.stale else tone_of(health), bold)
        first, *rest = labelled(label, words, width, gap=" ", key=object_key(alert))
        spans = (first.spans[0], *(span._replace(bold=bold or None) for span in first.spans[1:]))
        number_of_it = handled.number(alert)
        yield first._replace(spans=spans, alert=number_of_it)
        yield from (line._replace(alert=number_of_it) for line in rest)


def _next(detail: ObjectDetail, width: int) -> Iterator[Line]:
    """What to do about the worst firing rule, and the command to type next."""
    if detail.lead is not None:
        lead, advice = detail.lead
        yield heading(f"What to do about {object_words(lead.scope)}, {safe(lead.key.rule)}", width)
        if advice.text:
            yield from wrapped(safe(one_line(advice.text)), width, first=_INDENT, rest=_INDENT)
        if advice.mqsc:
            yield from wrapped(
                safe(one_line(advice.mqsc)), width, Tone.STRONG, first=f"{_INDENT}MQSC: ", rest=_INDENT * 2
            )
        return
    worst = next((each for each in detail.rules if each.firing), None)
    if worst is None and not detail.mqsc:
        return
    yield heading("What to do" if worst else "To look closer", width)
    if worst is not None:
        yield from wrapped(safe(one_line(worst.explanation.advice)), width, first=_INDENT, rest=_INDENT)
    if detail.mqsc:
        yield from wrapped(safe(one_line(detail.mqsc)), width, Tone.STRONG, first=f"{_INDENT}MQSC: ", rest=_INDENT * 2)


def _tasks(detail: ObjectDetail, now: int, width: int) -> tuple[Line, ...]:
    if detail.name.kind != "channel_initiator":
        return ()
    return task_lines(Item(detail.name, detail.health, detail.values or {}, detail.stale), detail.tasks, now, width)


def _related(detail: ObjectDetail, now: int, width: int) -> Iterator[Line]:
    if not detail.related:
        return
    yield heading("Belongs to it", width)
    for each in detail.related:
        yield from _relation(each, now, width)


def _relation(each: RelatedObjects, now: int, width: int) -> Iterator[Line]:
    if not each.objects:
        yield from wrapped(f"{each.words}: {safe(each.text)}", width, first=_INDENT, rest=_INDENT * 2)
        return
    rows = [(name, health, latest, _main(name, latest, now)) for name, health, latest in each.objects]
    lead = f"{_INDENT}{each.words}: "
    longest = max(cells(object_words(name)) + cells(main) for name, _, _, main in rows)
    if len(rows) > 1 or cells(lead) + WIDEST + 1 + longest > width:
        yield line(f"{_INDENT}{each.words}:", Tone.FAINT)
        lead = _INDENT * 2
    for name, health, latest, main in rows:
        words = object_words(name)
        room = width - cells(lead) - WIDEST - 1
        spans = [Span(lead, Tone.FAINT), Span(fit(str(health), WIDEST + 1), tone_of(health))]
        if cells(words) + cells(main) > room:
            words, main = cut(words, max(room - cells(main), room // 2)), cut(main, room // 2)
        tone = Tone.STALE if latest is not None and latest.unanswered is not None else Tone.PLAIN
        yield Line((*spans, Span(words, Tone.STRONG), Span(main, tone)), str(name))
    if each.more:
        yield line(f"{_INDENT * 2}and {number(each.more)} more", Tone.FAINT)


def _main(name: ObjectName, latest: CurrentValue | None, now: int) -> str:
    metric = MAIN_METRIC[name.kind]
    return (
        ""
        if latest is None
        else f"  {metric_words(metric)} {_main_figure(latest, name.kind, metric)}{_age(latest, now)}"
    )


def _figures(detail: ObjectDetail, now: int, width: int) -> Iterator[Line]:
    """The present metrics, by the answer that reported them, in the vocabulary's order."""
    kind, values = KINDS[detail.name.kind], detail.values or {}
    present = [
        (metric, values[metric.name])
        for metric in kind.metrics
        if metric.name in values and not isinstance(values[metric.name].value, Absence)
    ]
    if not present:
        yield heading("Figures", width)
        yield line(f"{_INDENT}none is known", Tone.ABSENT)
        return
    name_width = max(cells(metric.name) for metric, _ in present)
    texts = {metric.name: figure(latest.value, metric) for metric, latest in present}
    value_width = min(max(map(cells, texts.values())), 26)
    probe = None
    for metric, latest in present:
        if latest.probe != probe:
            probe = latest.probe
            yield heading(f"Figures from {safe(probe)}", width)
        text, old = texts[metric.name], "" if latest.ts is None else short_age(now - latest.ts)
        stale = detail.stale or latest.unanswered is not None
        spans = [Span(_INDENT), Span(fit(metric.name, name_width), Tone.FAINT), Span("  ")]
        tone = Tone.STALE if stale else Tone.PLAIN
        if cells(text) > value_width:
            yield from _long(spans, text, old, width, tone)
            continue
        spans += [Span(fit(text, value_width), tone), Span(f"  {old:>6}", Tone.STALE if stale else Tone.FAINT)]
        note = metric.meaning
        if latest.unanswered is not None:
            polled = latest.source is Source.POLL
            note = f"not answered since: {latest.unanswered.value}" if polled else "stale: no record since"
        room = width - sum(cells(span.text) for span in spans) - 2
        if room > 0 and (width >= _WIDE or latest.unanswered is not None):
            spans += [Span("  "), Span(cut(note, room), Tone.FAINT)]
        yield Line(tuple(spans))


def _long(spans: list[Span], text: str, old: str, width: int, tone: Tone) -> Iterator[Line]:
    """A text that is longer than the column, over several lines."""
    lead = "".join(span.text for span in spans)
    first, *rest = wrap(f"{text}  {old}", width, first=lead, rest=" " * min(cells(lead), width // 2))
    yield Line((*spans, Span(first[len(lead) :], tone)))
    for each in rest:
        yield line(each, tone)


def _instances(detail: ObjectDetail, width: int) -> Iterator[Line]:
    if len(detail.instances) < 2:
        return
    counted = number_in((detail.values or {}).get("instances"))
    count = max(len(detail.instances), 0 if counted is None else round(counted))
    yield heading(f"Instances: {number(count)}", width)
    for each in detail.instances[:_MOST_INSTANCES]:
        yield line(cut(f"{_INDENT}{_instance(each, detail.name.kind)}", width))
    if count > _MOST_INSTANCES:
        yield line(f"{_INDENT}and {number(count - _MOST_INSTANCES)} more", Tone.FAINT)


def _instance(each: Instance, kind: str) -> str:
    parts = [safe(each.key)]
    for name in ("status", "substate", "msgs", "remote_application", "conname"):
        metric = KINDS[kind].metric(name)
        value = each.values.get(name)
        if metric is not None and value is not None and not isinstance(value, Absence):
            parts.append(figure(value, metric))
    return "  ".join(parts)


def _absent(detail: ObjectDetail, width: int) -> Iterator[Line]:
    """The absent metrics, by reason."""
    kind, values = KINDS[detail.name.kind], detail.values or {}
    reasons: dict[str, list[str]] = {}
    for metric in kind.metrics:
        latest = values.get(metric.name)
        if latest is not None and isinstance(latest.value, Absence):
            reasons.setdefault(latest.value.value, []).append(metric.name)
        elif latest is None and metric.measured:
            continue
        elif latest is None and metric.needs_smf:
            reasons.setdefault(Absence.NEEDS_SMF.value, []).append(metric.name)
        elif latest is None and metric.needs_statistics:
            reasons.setdefault(Absence.NEEDS_STATISTICS.value, []).append(metric.name)
        elif latest is None and not metric.declared:
            reasons.setdefault(Absence.NOT_ASKED.value, []).append(metric.name)
    if not reasons:
        return
    yield heading("Absent", width)
    for reason, names in reasons.items():
        yield from wrapped(f"{reason}: {', '.join(names)}", width, Tone.ABSENT, first=_INDENT, rest=_INDENT * 2)
        if reason == Absence.NEEDS_SMF.value and on_zos(values):
            yield from wrapped(trace_words(kind.name), width, Tone.FAINT, first=_INDENT * 2, rest=_INDENT * 2)


def _charts(detail: ObjectDetail, width: int) -> Iterator[Line]:
    others = [name for name in detail.chartable if name != detail.metric]
    if others:
        yield heading("Other charts", width)
        yield from wrapped(", ".join(others), width, Tone.FAINT, first=_INDENT, rest=_INDENT)


def _main_figure(latest: CurrentValue, kind: str, name: str) -> str:
    metric = KINDS[kind].metric(name)
    return "" if metric is None else figure(latest.value, metric)


def _age(latest: CurrentValue, now: int) -> str:
    return "" if latest.ts is None else f" ({short_age(now - latest.ts)} ago)"
