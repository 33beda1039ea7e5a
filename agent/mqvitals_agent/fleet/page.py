"""One group of a fleet as styled lines: in the rows below the table, and as a page of its own."""

from __future__ import annotations

from typing import Final

from mqvitals_agent.fleet.lines import alert_words, seen_words, stale_words, without_source
from mqvitals_agent.fleet.ranking import RankedGroup
from mqvitals_agent.fleet.summary import AlertSummary, GroupSummary, OwnerSummary
from mqvitals_agent.text.figure import age, number_of
from mqvitals_agent.text.severity import WIDEST, Health
from mqvitals_agent.text.styled import Line, Span, Tone, heading, line, signed_line, tone_of, wrapped
from mqvitals_agent.text.terminal import at_most, cells, cut, fit, safe, wrap
from mqvitals_agent.view.alerts.handling import NEW
from mqvitals_agent.view.alerts.words import since_words

_INDENT: Final = "  "
_WHOLE: Final = 1_000
_LEAST_WORDS: Final = 20
"""Fewer cells of an alert's words stand on a line of their own."""


def group_brief(ranked: RankedGroup, now: int, width: int, rows: int, *, more: str) -> list[Line]:
    """What matters most of a group at ``now`` (ms UTC), in at most ``rows`` lines; ``more`` says what shows the rest."""
    group = ranked.group
    lines = [_title(ranked, width), *_notes(group, width)]
    stale = [each for each in group.queue_managers if each.health is Health.UNKNOWN]
    if stale and not group.problem and len(stale) < len(group.queue_managers):
        lines += wrapped(f"? UNKNOWN  {', '.join(map(_silence, stale))}", width, Tone.UNKNOWN, rest=_INDENT)
    for place, alert in enumerate(group.alerts):
        lines += _alert_lines(group, alert, now, width, whole=not place)
        if not place:
            lines += _to_do(group, alert, width, most=2)
    if len(lines) > rows:
        left = len(lines) - rows + 1
        rest = cut(f"{_INDENT}and {number_of(left, 'more line')}: {more}", width)
        lines = [*lines[: max(rows - 1, 0)], line(rest, Tone.FAINT)]
    return lines[: max(rows, 0)]


def group_page(ranked: RankedGroup, now: int, width: int) -> list[Line]:
    """All that is known of a group at ``now`` (ms UTC): agents, queue managers, alerts, what to do."""
    group = ranked.group
    lines = [_title(ranked, width)]
    for agent in group.agents:
        words, tone = agent.problem or agent.standing or agent.role or "answers", Tone.FAINT
        if agent.problem:
            tone = Tone.UNKNOWN
        if not words.startswith(agent.source):
            words = f"{agent.source}  {words}"
        words = safe(words)
        lines += wrapped(words, width, tone, rest=_INDENT)
    lines += _notes(group, width, agents=False)
    lines += [line(), heading("Queue managers", width)]
    members = group.queue_managers
    longest = min(max((cells(safe(each.name)) for each in members), default=0), width // 3)
    for each in members:
        text = f"{fit(str(each.health), WIDEST)} {fit(safe(each.name), longest)}  {seen_words(each)}"
        lines.append(signed_line(cut(text, width), each.health))
    if not members:
        lines.append(line("none has reported, or none is known", Tone.ABSENT))
    lines += [line(), heading("Alerts, worst first", width)]
    for alert in group.alerts:
        lines += _alert_lines(group, alert, now, width, whole=True)
        lines += _to_do(group, alert, width)
    if not group.alerts:
        known = group.counts is not None
        lines.append(
            line("no alert fires" if known else "its alerts are not known", Tone.FAINT if known else Tone.ABSENT)
        )
    elif (more := sum((group.counts or {}).values()) - len(group.alerts)) > 0:
        lines.append(line(f"and {number_of(more, 'more alert')}", Tone.FAINT))
    return lines


def _title(ranked: RankedGroup, width: int) -> Line:
    group, reason = ranked
    sign = str(group.health)
    size = cells(sign) + 4 + cells(safe(group.name))
    text = cut(reason, max(width - size, 0))
    return Line((Span(sign, tone_of(group.health)), Span(f"  {safe(group.name)}", Tone.STRONG), Span(f"  {text}")))


def _notes(group: GroupSummary, width: int, *, agents: bool = True) -> list[Line]:
    """What limits the rest, and where it is read."""
    lines: list[Line] = []
    if group.problem:
        lines += wrapped(safe(without_source(group)), width, Tone.UNKNOWN, first=_INDENT, rest=_INDENT * 2)
    if words := stale_words(group):
        lines += wrapped(f"stale: {words}", width, Tone.STALE, first=_INDENT, rest=_INDENT * 2)
    if advice := _silent_advice(group):
        lines += wrapped(f"to do: {advice}", width, Tone.INFO, first=_INDENT, rest=_INDENT * 2)
    for note in group.notes:
        lines += wrapped(safe(note), width, Tone.UNKNOWN, first=_INDENT, rest=_INDENT * 2)
    if agents:
        for agent in group.agents[1:]:
            if agent.problem:
                lines += wrapped(
                    f"its other agent: {safe(agent.problem)}", width, Tone.UNKNOWN, first=_INDENT, rest=_INDENT * 2
                )
        named = ", ".join(f"{safe(each.source)}{f' ({each.role})' if each.role else ''}" for each in group.agents)
        lines += wrapped(f"read from {named}", width, Tone.FAINT, first=_INDENT, rest=_INDENT * 2)
    return lines


def _silent_advice(group: GroupSummary) -> str:
    """What to do about a group of which nothing new comes; empty: something does, or nothing can."""
    if group.past or (group.read_at is None and not group.problem):
        return ""
    if "://" in group.source and group.problem:
        return "is its agent running, and does it serve there? On its machine 'mqvitals status' shows the group"
    if group.stale:
        return "is its agent running? Its log shows why it ended; 'mqvitals agent' starts it"
    return ""


def _silence(owner: OwnerSummary) -> str:
    return f"{safe(owner.name)} {seen_words(owner)}"


def _alert_lines(group: GroupSummary, alert: AlertSummary, now: int, width: int, *, whole: bool) -> list[Line]:
    """Severity, mark, rule, since when, and words: all of them, or as many as the line has room for."""
    sign = fit(str(alert.health), WIDEST)
    when = ""
    if alert.started is not None:
        lasts = "" if alert.lasts_ms is None else f", {age(alert.lasts_ms)}"
        when = f"since {since_words(alert.started, now)}{lasts}"
    head = cut(f" {alert.mark or ' '} {safe(alert.rule)}  {when}", max(width - WIDEST - 2, 0))
    words, room = alert_words(group, alert), width - WIDEST - cells(head) - 2
    stale = group.is_stale(alert)
    tone, bold = Tone.STALE if stale else Tone.PLAIN, True if alert.mark == NEW and not stale else None
    begin = (
        Span(sign, Tone.STALE if stale else tone_of(alert.health)),
        Span(head, Tone.STALE if stale else Tone.FAINT),
    )
    if cells(words) <= room or (not whole and room >= _LEAST_WORDS):
        return [Line((*begin, Span(f"  {cut(words, room)}", tone, bold)))]
    below = wrap(words, width, first=_INDENT, rest=_INDENT)
    return [Line(begin), *(Line((Span(each, tone, bold),)) for each in (below if whole else below[:1]))]


def _to_do(group: GroupSummary, alert: AlertSummary, width: int, *, most: int = _WHOLE) -> list[Line]:
    """What to do about an alert, as its agent says it, each in at most so many lines; nothing about one of the past."""
    if group.is_stale(alert):
        return []
    lines: list[Line] = []
    for lead, words, tone in (("to do", alert.advice, Tone.INFO), ("MQSC", alert.mqsc, Tone.STRONG)):
        if words:
            texts = wrap(f"{lead}: {safe(words)}", width, first=_INDENT, rest=_INDENT * 2)
            lines += (line(each, tone) for each in at_most(texts, most, width))
    return lines
