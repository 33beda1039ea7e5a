"""The overview: queue managers, coupling facility, alerts; a line each, the worst first where there are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mqvitals_agent.text.figure import number, object_words
from mqvitals_agent.text.severity import WIDEST, Health, health_of
from mqvitals_agent.text.styled import Line, Span, Tone, heading, line, tone_of
from mqvitals_agent.text.terminal import cells, cut, fit, safe, wrap
from mqvitals_agent.view.alerts import lasted, short_summary
from mqvitals_agent.view.member_rows import VERY_WIDE, member_rows
from mqvitals_agent.view.remedy import Remedy
from mqvitals_agent.view.status import StatusView, silent_since
from mqvitals_agent.view.structure_rows import structure_rows
from mqvitals_agent.view.top_line import header_lines
from mqvitals_rules.lifecycle.alert import Alert, AlertKey
from mqvitals_rules.page import one_line

if TYPE_CHECKING:
    from mqvitals_agent.view.frame import Frame

__all__ = ["alert_rows", "header_lines", "heading", "overview_lines"]

_MOST_ADVICE, _MOST_ADVICE_NARROW = 4, 3
"""Lines of advice about an alert, and where the screen is narrow; its object's screen has all of it."""

_NARROW = 100

_ADVISED = 3
"""Alerts with advice where there is much room."""


def overview_lines(frame: Frame, width: int) -> tuple[Line, ...]:
    """The overview in ``width`` cells; a line's key is the object that Enter opens."""
    if not frame.situation.members:
        return ()
    view = frame.status
    stale = bool(view.queue_managers) and all(member.stale for member in view.queue_managers)
    return (
        heading("Queue managers", width),
        *member_rows(frame, width),
        *structure_rows(frame, width),
        heading("Alerts, worst first, as they were then" if stale else "Alerts, worst first", width),
        *_alerts(view, (frame.remedy, *frame.further), width),
    )


def _alerts(view: StatusView, remedies: Sequence[Remedy], width: int) -> list[Line]:
    if not view.alerts:
        well = view.health < Health.UNKNOWN
        sign = Health.OK if well else Health.UNKNOWN
        text = "no alerts" if well else "no alert is known, and not everything can be seen"
        return [line(f"{sign.glyph} {text}", tone_of(sign)), *_advice(view)]
    silent = silent_since(view)
    rows = alert_rows(view.alerts, view.situation.now, width, silent)
    advised = _ADVISED if width >= VERY_WIDE else 1
    brought: dict[AlertKey, list[Alert]] = {}
    for each in view.firing:
        if (cause := view.explained.get(each.key)) is not None:
            brought.setdefault(cause, []).append(each)
    lines = []
    for place, (alert, row) in enumerate(zip(view.alerts, rows, strict=True)):
        # What is only known to have been needs no doing but what the header says.
        if place >= min(advised, len(remedies)) or alert.key.object.owner in silent:
            lines.append(row)
        else:
            lines += _advised(alert, row, remedies[place], width)
        lines += _brought_about(brought.get(alert.key, ()), width)
    return [*lines, *_advice(view)]


def _brought_about(brought: Sequence[Alert], width: int) -> list[Line]:
    """What else is firing because of an alert, on one line; the alerts screen has it in full."""
    if not brought:
        return []
    words = [f"{safe(each.key.rule)} {object_words(each.key.object)}" for each in brought]
    return [line(cut(f"{' ' * (WIDEST + 2)}brought about: {', '.join(words)}", width), Tone.FAINT)]


def _advised(alert: Alert, row: Line, remedy: Remedy, width: int) -> list[Line]:
    """An alert with what to do and what to type; its words below its line where that has no room for all of them."""
    lead = " " * (WIDEST + 2)
    summary, advice = safe(short_summary(alert)), safe(one_line(remedy.advice))
    lines = [row]
    if row.spans[-1].text != summary:
        lines = [row._replace(spans=row.spans[:-1])]
        lines += [line(each) for each in wrap(summary, width, first=lead, rest=lead)]
    if advice:
        most = _MOST_ADVICE_NARROW if width < _NARROW else _MOST_ADVICE
        told = wrap(advice, width, first=f"{lead}to do: ", rest=f"{lead}       ")
        if len(told) > most:
            told = [*told[: most - 1], cut(f"{told[most - 1]} …", width)]
        lines += [line(each, Tone.STRONG) for each in told]
    if remedy.mqsc:
        lines.append(line(cut(f"{lead}MQSC: {safe(one_line(remedy.mqsc))}", width), Tone.FAINT))
    return lines


def _advice(view: StatusView) -> list[Line]:
    if not view.advice:
        return []
    plural = "piece" if view.advice == 1 else "pieces"
    return [line(f"{Health.INFO.glyph} {number(view.advice)} {plural} of advice: see Alerts", Tone.FAINT)]


def alert_rows(alerts: Sequence[Alert], now: int, width: int, silent: Mapping[str, int] | None = None) -> list[Line]:
    """Each alert on one line: how bad, for how long, which rule, on what, and as much of the summary as there is room.

    ``silent`` says of which owners nothing new has come, and since when (ms UTC): their alerts are as of then.
    """
    silent = silent or {}
    ends = [silent.get(alert.key.object.owner, now) for alert in alerts]
    told = [
        (lasted(alert, end), safe(alert.key.rule), object_words(alert.key.object))
        for alert, end in zip(alerts, ends, strict=True)
    ]
    sizes = [max(cells(row[i]) for row in told) for i in range(3)]
    sizes[2] = min(sizes[2], max(width // 4, 12))
    lines = []
    for alert, row in zip(alerts, told, strict=True):
        health = health_of(alert.severity)
        tone = Tone.STALE if alert.key.object.owner in silent else tone_of(health)
        spans = [Span(fit(str(health), WIDEST), tone)]
        spans += [
            Span("  "),
            Span(fit(row[0], sizes[0], right=True)),
            Span("  "),
            Span(fit(row[1], sizes[1]), Tone.FAINT),
        ]
        spans += [Span("  "), Span(fit(row[2], sizes[2]), Tone.STRONG), Span("  ")]
        room = width - sum(cells(span.text) for span in spans)
        spans.append(Span(cut(safe(short_summary(alert)), room)))
        lines.append(Line(tuple(spans), str(alert.scope if alert.scope.kind != "agent" else alert.key.object)))
    return lines
