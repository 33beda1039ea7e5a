"""The alerts screen: open alerts, those that ended lately, and apart from them the advice on the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from mqvitals_agent.text.figure import number
from mqvitals_agent.text.severity import WIDEST, Health, health_of
from mqvitals_agent.text.styled import Line, Span, Tone, heading, line, tone_of
from mqvitals_agent.text.terminal import wrap
from mqvitals_agent.view.alerts import WIDE, entries, in_chains, shown_severity
from mqvitals_agent.view.paint import Painter
from mqvitals_agent.view.status import silent_since
from mqvitals_agent.view.unknown import without_answer
from mqvitals_rules.lifecycle.alert import Alert, AlertKey
from mqvitals_rules.rule import RuleKind

if TYPE_CHECKING:
    from mqvitals_agent.view.frame import Frame

__all__ = ["alert_lines", "matching_alerts"]


def alert_lines(frame: Frame, width: int, text: str = "") -> tuple[Line, ...]:
    """The alerts that match ``text``, in ``width`` cells; a line's key is the object that the alert's rule looks at."""
    found = matching_alerts(frame.alerts, text)
    advice = [alert for alert in found if alert.kind_of_rule != RuleKind.OPERATIONAL.value]
    others = [alert for alert in found if alert.kind_of_rule == RuleKind.OPERATIONAL.value]
    opened = in_chains([alert for alert in others if alert.ended is None], frame.covered)
    ended = [alert for alert in others if alert.ended is not None]
    lines = [heading(f"Open: {number(len(opened))}", width), *_rows(frame, opened, width)]
    if not opened:
        lines.append(_none(frame, text))
        lines += [
            line(each, Tone.FAINT) for each in wrap(without_answer(frame.status.unknown), width) if each and not text
        ]
    if ended:
        lines += [heading(f"Ended: {number(len(ended))}, the newest first", width), *_rows(frame, ended, width)]
    if advice:
        lines += [heading(f"Advice: {number(len(advice))}", width), *_rows(frame, advice, width)]
    return tuple(lines)


def matching_alerts(alerts: Iterable[Alert], text: str) -> list[Alert]:
    """The alerts in whose rule, object, severity or summary every word of ``text`` occurs, in any case of letters.

    ``severity:critical`` and ``state:firing`` (or ``ended``) select by these alone.
    """
    words = text.casefold().split()
    return [alert for alert in alerts if all(_matches(alert, word) for word in words)]


def _matches(alert: Alert, word: str) -> bool:
    field, colon, wanted = word.partition(":")
    if colon and field == "severity":
        return health_of(shown_severity(alert)).word.startswith(wanted)
    state = "firing open" if alert.ended is None else "ended resolved"
    if colon and field == "state":
        return any(each.startswith(wanted) for each in state.split())
    words = f"{alert.key.rule} {alert.key.object} {alert.key.instance} {alert.summary} {shown_severity(alert).name}"
    return word in words.casefold()


def _none(frame: Frame, text: str) -> Line:
    if text:
        return line("no alert matches", Tone.FAINT)
    health = frame.status.health
    if health >= Health.UNKNOWN:
        return line(f"{Health.UNKNOWN.glyph} no alert is known, and not everything can be seen", Tone.UNKNOWN)
    return line(f"{Health.OK.glyph} no alerts", Tone.OK)


def _rows(frame: Frame, alerts: list[Alert], width: int) -> Iterator[Line]:
    """Each alert, with its summary beside it or below."""
    silent = silent_since(frame.status)
    covered: Mapping[AlertKey, AlertKey] = frame.covered
    told = entries(alerts, frame.now, width, Painter(), covered=covered, silent=silent)
    for alert, texts in zip(alerts, told, strict=True):
        health = health_of(shown_severity(alert))
        key = str(alert.key.object if alert.scope.kind == "agent" else alert.scope)
        first, *rest = texts
        tone = tone_of(health) if alert.ended is None else Tone.FAINT
        if alert.ended is None and alert.key.object.owner in silent:
            tone = Tone.STALE
        covers = Tone.FAINT if alert.ended is not None or alert.key in covered else Tone.PLAIN
        yield Line((Span(first[:WIDEST], tone), Span(first[WIDEST:], covers)), key)
        for each in rest:
            yield line(each, Tone.FAINT if width < WIDE else covers, key)
