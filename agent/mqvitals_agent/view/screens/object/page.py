"""The page of one object: state and alerts, its card, its charts, what to do, and below them all that is known of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.figure import (
    age,
    figure,
    kind_words,
    metric_words,
    moment,
    number,
    number_of,
    object_words,
    short_age,
    zone_name,
)
from mqvitals_agent.text.severity import WIDEST, Health, health_of
from mqvitals_agent.text.styled import Line, Span, Tone, heading, is_heading, labelled, line, tone_of, wrapped
from mqvitals_agent.text.terminal import cells, cut, fit, safe
from mqvitals_agent.view.alerts.actions import handling_texts
from mqvitals_agent.view.alerts.dispositions import disposition_lines
from mqvitals_agent.view.alerts.handling import Handlings, brief_words
from mqvitals_agent.view.alerts.words import duration_words, object_key, open_summary, short_summary, since_words
from mqvitals_agent.view.figures.forecast import full_in_lines
from mqvitals_agent.view.figures.table import Item
from mqvitals_agent.view.figures.values import MAIN_METRIC, on_zos
from mqvitals_agent.view.history.changes import object_change_lines
from mqvitals_agent.view.history.console import console_lines
from mqvitals_agent.view.history.journal import object_journal_lines
from mqvitals_agent.view.lists.related import RelatedObjects
from mqvitals_agent.view.lists.tasks import task_lines
from mqvitals_agent.view.object.card_lines import card_lines, card_titles
from mqvitals_agent.view.object.detail import ObjectDetail
from mqvitals_agent.view.object.what_if import what_if_lines
from mqvitals_agent.view.screens.object.chart_board import LEAST_ROWS, MOST_ROWS, board_lines, chart_layers
from mqvitals_agent.view.screens.object.figures import (
    absent_lines,
    figure_lines,
    instance_lines,
    interval_lines,
    position_lines,
)
from mqvitals_agent.view.screens.object.rules import copied, rule_lines, rules_title
from mqvitals_agent.view.screens.object.sections import FOLDED, OPEN, PageState, section_lines
from mqvitals_agent.view.status import GroupStatus
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.ruleset.markdown import one_line
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.alerting.disposition import Disposition
    from mqvitals_agent.view.frame import Frame
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


_ADVICE_ROWS = 4
"""Lines of what to do that stand in sight below the card: the heading, and the first of what it says."""

_AT_FIRST = PageState()

Charts = Callable[[int], Iterable[Line]]
"""Gives the lines of the charts, each of so many rows."""


def detail_lines(
    frame: Frame, width: int, state: PageState = _AT_FIRST, charts: Charts | None = None
) -> tuple[Line, ...]:
    """The lines of ``frame.detail`` in ``width`` cells, as a person has set the page.

    Lines of related objects have keys, those of figures their metric, headings their section. ``charts`` gives the lines
    of the charts, of so many rows each; None: ``board_lines`` without other days. Where ``state.height`` has no room
    for state, card, charts and what to do, the charts come after what to do, and so do all alerts but the worst.
    """
    detail = frame.detail
    if detail is None:
        return ()
    if not detail.known:
        return tuple(_unknown(detail, width))
    now = frame.now
    card = tuple(_card(detail, now, width, state))
    to_do = tuple(_sections(state, "to do", _next(detail, width)))
    room = state.height - len(card) - min(len(to_do), _ADVICE_ROWS) if state.height else None
    top = state_lines(detail, frame.status, now, width, room)
    rows = MOST_ROWS if room is None else room - len(top.top)
    each = min(max(rows // max(chart_layers(detail, width), 1), LEAST_ROWS), MOST_ROWS)
    drawn = tuple(board_lines(detail, (), state, width, each) if charts is None else charts(each))
    return (
        *top.top,
        *card,
        *(drawn if rows >= LEAST_ROWS else ()),
        *to_do,
        *(() if rows >= LEAST_ROWS else drawn),
        *section_lines(state, "alerts", "Further alerts", width, top.further),
        *section_lines(
            state,
            "below",
            f"Alerts of what belongs to it: {number(len(detail.below))}",
            width,
            below_lines(detail, frame.handled, now, width),
        ),
        *_sections(state, "what if", what_if_lines(detail.name.kind, detail.planned, width)),
        *section_lines(state, "related", "Belongs to it", width, _related(detail, now, width)),
        *_sections(state, "tasks", _tasks(detail, now, width)),
        *_sections(state, "journal", object_journal_lines(frame.journal, now, width)),
        *_sections(state, "changes", object_change_lines(detail.changes, now, width)),
        *_sections(
            state,
            "console",
            console_lines(detail.console, detail.name.kind, now, width, zos=on_zos(detail.values or {})),
        ),
        *section_lines(state, "intervals", "Its figures in words", width, _in_words(frame, detail, width)),
        *_sections(state, "figures", figure_lines(detail, now, width)),
        *_sections(state, "instances", instance_lines(detail, width)),
        *section_lines(
            state,
            "rules",
            rules_title(detail.rules),
            width,
            rule_lines(detail.rules, detail.rules_off, now, width, state),
        ),
        *_sections(state, "ways", _ways(frame.dispositions, width)),
        *_sections(state, "absent", absent_lines(detail, width)),
    )


def _sections(state: PageState, section: str, lines: Iterable[Line]) -> Iterator[Line]:
    """Lines that begin with a heading of their own, as a section; each further heading among them begins another one."""
    count, shown = 0, True
    for each in lines:
        if is_heading(each):
            name = f"{section} {count}" if count else section
            count += 1
            shown = not state.is_folded(name)
            title, rule = each.spans
            # The rule gives up the cells of the sign.
            spans = (Span(f"{OPEN if shown else FOLDED} {title.text}", title.tone), rule._replace(text=rule.text[2:]))
            yield each._replace(spans=spans, section=name)
        elif shown:
            yield each


def _card(detail: ObjectDetail, now: int, width: int, state: PageState) -> Iterator[Line]:
    folded = state.is_folded("card")
    title = f"{FOLDED if folded else OPEN} Vital figures"
    titles = "" if folded else card_titles(detail.card, now, width)
    if titles[: len(title) + 1].strip():
        titles = ""
    yield Line((Span(title, Tone.STRONG), Span(titles[len(title) :], Tone.FAINT)), section="card")
    if not folded:
        yield from card_lines(detail.card, now, width, stale=detail.stale)
        if detail.full_in is not None and detail.full_in.ms is not None:
            yield from full_in_lines(detail.full_in, width)


def _in_words(frame: Frame, detail: ObjectDetail, width: int) -> Iterator[Line]:
    """Its labels, and sentences about its newest figures."""
    yield from _site_labels(frame, detail, width)
    yield from interval_lines(detail.name.kind, detail.values or {}, frame.now, width)
    yield from position_lines(detail.name.kind, detail.values or {}, frame.now, width)
    if detail.full_in is not None and detail.full_in.ms is None:
        yield from full_in_lines(detail.full_in, width)


def _unknown(detail: ObjectDetail, width: int) -> Iterator[Line]:
    yield from wrapped(
        f"{Health.UNKNOWN}  The store holds no {safe(str(detail.name))}", width, Tone.UNKNOWN, rest=_INDENT
    )
    for near in detail.near:
        yield Line((Span(f"{_INDENT}did you mean "), Span(safe(near), Tone.STRONG)), near)


def _site_labels(frame: Frame, detail: ObjectDetail, width: int) -> Iterator[Line]:
    labels = frame.labeller.site_labels(detail.name)
    if labels:
        words = ", ".join(f"{name}={value}" for name, value in sorted(labels.items()))
        yield from wrapped(safe(words), width, Tone.FAINT, first=f"{_INDENT}labels: ", rest=_INDENT * 2)


def _ways(dispositions: Sequence[Disposition], width: int) -> Iterator[Line]:
    """For each alert its labels, what each stage on its way to receivers says, and what each receiver gets."""
    for each in dispositions:
        yield heading(f"Who is notified of {safe(each.alert.key.rule)}, alert {each.number}", width)
        labels = ", ".join(f"{name}={value}" for name, value in sorted(each.labels.items()))
        yield from wrapped(safe(labels), width, Tone.FAINT, first=f"{_INDENT}labels: ", rest=_INDENT * 2)
        yield from disposition_lines(each, width)[1:]


def _next(detail: ObjectDetail, width: int) -> Iterator[Line]:
    """What to do about the worst firing rule, and the command to type next."""
    if detail.lead is not None:
        lead, advice = detail.lead
        yield heading(f"What to do about {object_words(lead.scope)}, {safe(lead.key.rule)}", width)
        if advice.text:
            yield from wrapped(safe(one_line(advice.text)), width, first=_INDENT, rest=_INDENT)
        if advice.mqsc:
            yield from _command(advice.mqsc, width)
        return
    worst = next((each for each in detail.rules if each.firing), None)
    if worst is None and not detail.mqsc:
        return
    yield heading(f"What to do, {safe(worst.rule.id)}" if worst else "To look closer", width)
    if worst is not None:
        yield from wrapped(safe(one_line(worst.explanation.advice)), width, first=_INDENT, rest=_INDENT)
    if detail.mqsc:
        yield from _command(detail.mqsc, width)


def _command(mqsc: str, width: int) -> Iterator[Line]:
    lines = wrapped(safe(one_line(mqsc)), width, Tone.STRONG, first=f"{_INDENT}MQSC: ", rest=_INDENT * 2)
    yield from copied(iter(lines), mqsc)


def _tasks(detail: ObjectDetail, now: int, width: int) -> tuple[Line, ...]:
    if detail.name.kind != "channel_initiator":
        return ()
    return task_lines(Item(detail.name, detail.health, detail.values or {}, detail.stale), detail.tasks, now, width)


def _related(detail: ObjectDetail, now: int, width: int) -> Iterator[Line]:
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


def _main_figure(latest: CurrentValue, kind: str, name: str) -> str:
    metric = KINDS[kind].metric(name)
    return "" if metric is None else figure(latest.value, metric)


def _age(latest: CurrentValue, now: int) -> str:
    return "" if latest.ts is None else f" ({short_age(now - latest.ts)} ago)"
