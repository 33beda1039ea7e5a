"""The top of an object's page: what it is, how it is, and its open alerts; and the alerts of what belongs to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mqvitals_agent.text.figure import age, kind_words, moment, number, number_of, object_words, zone_name
from mqvitals_agent.text.severity import WIDEST, health_of
from mqvitals_agent.text.styled import Line, Span, Tone, labelled, line, tone_of, wrapped
from mqvitals_agent.text.terminal import cells, cut, fit, safe
from mqvitals_agent.view.alerts.actions import handling_texts
from mqvitals_agent.view.alerts.handling import Handlings, brief_words
from mqvitals_agent.view.alerts.words import duration_words, object_key, open_summary, short_summary, since_words
from mqvitals_agent.view.status import GroupStatus
from mqvitals_rules.lifecycle.alert import Alert

if TYPE_CHECKING:
    from mqvitals_agent.view.object.detail import ObjectDetail

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
_LEAST_OF_ALERT = 2


class StateLines(NamedTuple):
    """The lines of state and alerts: those at the top of the page, and those for which there is no room there."""

    top: tuple[Line, ...]
    further: tuple[Line, ...] = ()


def state_lines(detail: ObjectDetail, status: GroupStatus, now: int, width: int, room: int | None) -> StateLines:
    """What the object is and its alerts, the worst first, of which at most ``room`` lines stand at the top.

    None: all of them. The beginning of the worst alert stands there in any case.
    """
    top = [*_state(detail, now, width)]
    if detail.below:
        top.append(_below_in_short(detail.below, width))
    blocks = [tuple(_alert(detail, alert, status, width)) for alert in detail.alerts]
    further: list[Line] = []
    for position, block in enumerate(blocks):
        left = len(block) if room is None else room - len(top)
        if left >= len(block) and not further:
            top += block
        elif not position:
            least = max(left, _LEAST_OF_ALERT)
            top += block[:least]
            further += block[least:]
        else:
            further += block
    return StateLines(tuple(top), tuple(further))


def _below_in_short(below: Sequence[Alert], width: int) -> Line:
    """``2 alerts of what belongs to it: ● 1  ▲ 1``, the worst severity first."""
    counts = Counter(health_of(each.severity) for each in below)
    spans = [Span(f"{_INDENT}{number_of(len(below), 'alert')} of what belongs to it:", Tone.FAINT)]
    for health, count in sorted(counts.items(), reverse=True):
        spans += [Span("  "), Span(f"{health.glyph} {number(count)}", tone_of(health))]
    return Line(tuple(spans)) if sum(cells(each.text) for each in spans) <= width else line()


def _state(detail: ObjectDetail, now: int, width: int) -> Iterator[Line]:
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


def _alert(detail: ObjectDetail, alert: Alert, status: GroupStatus, width: int) -> Iterator[Line]:
    health, handled = health_of(alert.severity), status.data.handled
    number_of_it, bold = handled.number(alert), handled.bold(alert)
    head = f"{health.glyph} {handled.mark(alert)} {safe(alert.key.rule)}  "
    lead = " " * cells(head)
    texts = wrapped(safe(open_summary(alert)), width, tone_of(health), first=head, rest=lead)
    first, *rest = (each._replace(spans=(each.spans[0]._replace(bold=bold),)) for each in texts)
    yield first._replace(key=str(detail.name), alert=number_of_it)
    yield from rest
    found = handled.of(alert)
    for text in () if found is None or handled.past else handling_texts(found, handled.now):
        yield from wrapped(text, width, Tone.INFO, first=lead, rest=lead + "  ")
    yield from incident_lines(alert, status, cells(head), width)


def below_lines(detail: ObjectDetail, handled: Handlings, now: int, width: int) -> Iterator[Line]:
    """The open alerts of related objects, the worst first; Enter opens the object of each."""
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
