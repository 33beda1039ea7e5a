"""The alerts on the overview: a line each, advice below the worst, effects below their cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mqvitals_agent.text.figure import number, object_words
from mqvitals_agent.text.severity import WIDEST, Health, health_of
from mqvitals_agent.text.styled import Line, Span, Tone, line, tone_of
from mqvitals_agent.text.terminal import at_most, cells, cut, fit, safe, wrap
from mqvitals_agent.view.alerts import AlertAdvice, duration_words, object_key, short_summary
from mqvitals_agent.view.handling import Handlings, brief_words
from mqvitals_agent.view.screens.overview_members import VERY_WIDE
from mqvitals_agent.view.status import GroupStatus, silent_since
from mqvitals_rules.lifecycle.alert import Alert, AlertKey
from mqvitals_rules.ruleset.markdown import one_line

NOTHING_HANDLED = Handlings(past=True)
"""For alerts of which nobody says who has them."""

_MOST_ADVICE, _MOST_ADVICE_NARROW = 4, 3
"""The most lines of advice about an alert, and on a narrow screen; the object's screen shows all of it."""

_NARROW = 100

_ADVISED = 3
"""The number of alerts with advice on a very wide screen."""


def alert_part(view: GroupStatus, given: Sequence[AlertAdvice], width: int) -> list[Line]:
    """The alerts, the worst of them with advice (``given``: of the worst, of the next, ...), or that there are none."""
    if not view.alerts:
        well = view.health < Health.UNKNOWN
        sign = Health.OK if well else Health.UNKNOWN
        text = "no alerts" if well else "no alert is known, but some data is missing"
        return [line(f"{sign.glyph} {text}", tone_of(sign)), *_advice(view)]
    silent = silent_since(view)
    rows = alert_rows(view.alerts, view.data.now, width, silent, view.data.handled)
    advised = _ADVISED if width >= VERY_WIDE else 1
    effects: dict[AlertKey, list[Alert]] = {}
    for each in view.firing:
        if (cause := view.explained.get(each.key)) is not None:
            effects.setdefault(cause, []).append(each)
    lines = []
    for place, (alert, row) in enumerate(zip(view.alerts, rows, strict=True)):
        # For stale alerts there is no advice but that of the header.
        if place >= min(advised, len(given)) or alert.key.object.owner in silent:
            lines.append(row)
        else:
            lines += _advised(alert, row, given[place], width)
        lines += _effects(alert, effects.get(alert.key, ()), width)
    return [*lines, *_advice(view)]


def _effects(alert: Alert, effects: Sequence[Alert], width: int) -> list[Line]:
    """The effects of an alert on one line, and who reports the same on another; the alerts screen shows them in full."""
    same = [safe(each.key.object.owner) for each in effects if each.key.rule == alert.key.rule]
    others = [each for each in effects if each.key.rule != alert.key.rule]
    words = [f"{safe(each.key.rule)} {object_words(each.key.object)}" for each in others]
    parts = (("the same reported by: ", same), ("caused: ", words))
    lead = " " * (WIDEST + 3)
    return [line(cut(f"{lead}{label}{', '.join(found)}", width), Tone.FAINT) for label, found in parts if found]


def _advised(alert: Alert, row: Line, advice: AlertAdvice, width: int) -> list[Line]:
    """An alert with advice and command; its summary is below its line where it does not fit beside it."""
    lead = " " * (WIDEST + 3)
    summary, to_do = safe(short_summary(alert)), safe(one_line(advice.text))
    lines = [row]
    if row.spans[-1].text != summary:
        # Then the whole name has room.
        *before, name, words, _ = row.spans
        beside = words.text.rstrip("; ")
        room = width - sum(cells(span.text) for span in before) - cells(beside)
        name = name._replace(text=cut(object_words(alert.key.object), room))
        lines = [row._replace(spans=(*before, name, words._replace(text=beside)))]
        lines += [line(each) for each in wrap(summary, width, first=lead, rest=lead)]
    if to_do:
        most = _MOST_ADVICE_NARROW if width < _NARROW else _MOST_ADVICE
        shown = wrap(to_do, width, first=f"{lead}to do: ", rest=f"{lead}       ")
        lines += [line(each, Tone.STRONG) for each in at_most(shown, most, width)]
    if advice.mqsc:
        lines.append(line(cut(f"{lead}MQSC: {safe(one_line(advice.mqsc))}", width), Tone.FAINT))
    return lines


def _advice(view: GroupStatus) -> list[Line]:
    if not view.advice:
        return []
    plural = "piece" if view.advice == 1 else "pieces"
    return [line(f"{Health.INFO.glyph} {number(view.advice)} {plural} of advice: see Alerts", Tone.FAINT)]


def alert_rows(
    alerts: Sequence[Alert],
    now: int,
    width: int,
    silent: Mapping[str, int] | None = None,
    handled: Handlings = NOTHING_HANDLED,
) -> list[Line]:
    """Each alert on one line: severity, mark, duration, rule, object, and as much as fits of who has it and its summary.

    ``silent`` maps owners without new data to the time of the last (ms UTC): their alerts are as of then. An alert that
    somebody should look at is bold, and ``handled`` says so; the others are plain.
    """
    silent = silent or {}
    ends = [silent.get(alert.key.object.owner, now) for alert in alerts]
    rows = [
        (duration_words(alert, end), safe(alert.key.rule), object_words(alert.key.object))
        for alert, end in zip(alerts, ends, strict=True)
    ]
    sizes = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    sizes[2] = min(sizes[2], max(width // 4, 12))
    room = width - WIDEST - sum(sizes) - 9
    signs = {health: fit(str(health), WIDEST) for health in {health_of(alert.severity) for alert in alerts}}
    lines = []
    for alert, row in zip(alerts, rows, strict=True):
        health = health_of(alert.severity)
        tone = Tone.STALE if alert.key.object.owner in silent else tone_of(health)
        bold = handled.bold(alert)
        words = brief_words(handled.of(alert), handled.now)
        # The last span is the summary, in full or cut.
        before = (
            Span(signs[health], tone, bold),
            Span(f" {handled.mark(alert)} ", tone, bold),
            Span(fit(row[0], sizes[0], right=True), Tone.PLAIN, bold),
            Span("  "),
            Span(fit(row[1], sizes[1]), Tone.FAINT, bold),
            Span("  "),
            Span(fit(row[2], sizes[2]), Tone.STRONG, bold),
            Span(f"  {words}; " if words else "  ", Tone.INFO),
        )
        left = room - (cells(words) + 2 if words else 0)
        lines.append(
            Line(
                (*before, Span(cut(safe(short_summary(alert)), max(left, 0)))), object_key(alert), handled.number(alert)
            )
        )
    return lines
