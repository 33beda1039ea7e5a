"""The alerts on the overview: a line each, advice below the worst, effects below their cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from mqvitals_agent.text.figure import number, object_words
from mqvitals_agent.text.severity import WIDEST, Health, health_of
from mqvitals_agent.text.styled import Line, Span, Tone, line, tone_of
from mqvitals_agent.text.terminal import at_most, cells, cut, fit, safe, wrap
from mqvitals_agent.view.alerts.handling import Handlings, brief_words
from mqvitals_agent.view.alerts.words import AlertAdvice, duration_words, object_key, short_summary
from mqvitals_agent.view.screens.overview.members import VERY_WIDE
from mqvitals_agent.view.status import GroupStatus, silent_since
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState
from mqvitals_rules.ruleset.markdown import one_line
from mqvitals_rules.ruleset.rule import RuleKind

NOTHING_HANDLED = Handlings(past=True)
"""For alerts of which nobody says who has them."""

_MOST_ADVICE, _MOST_ADVICE_NARROW = 4, 3
"""The most lines of advice about an alert, and on a narrow screen; the object's screen shows all of it."""

_NARROW = 100

_ADVISED = 3
"""The number of alerts with advice on a very wide screen."""


def alert_part(view: GroupStatus, given: Sequence[AlertAdvice], width: int, rows: int = 0) -> list[Line]:
    """The alerts, the worst of them with advice (``given``: of the worst, of the next, ...), or that there are none.

    Each takes a line; while fewer lines than ``rows`` are needed, those whose text is cut take more, the worst first.
    """
    if not view.alerts:
        well = view.health < Health.UNKNOWN
        sign = Health.OK if well else Health.UNKNOWN
        text = "no alerts" if well else "no alert is known, but some data is missing"
        return [line(f"{sign.glyph} {text}", tone_of(sign)), *_advice(view, width)]
    silent = silent_since(view)
    firsts = alert_rows(view.alerts, view.data.now, width, silent, view.data.handled)
    advised = _ADVISED if width >= VERY_WIDE else 1
    effects: dict[AlertKey, list[Alert]] = {}
    for each in view.firing:
        if (cause := view.explained.get(each.key)) is not None:
            effects.setdefault(cause, []).append(each)
    # For stale alerts there is no advice but that of the header.
    groups: list[tuple[list[Line], list[Line]]] = []
    for place, (alert, row) in enumerate(zip(view.alerts, firsts, strict=True)):
        helped = place < min(advised, len(given)) and alert.key.object.owner not in silent
        own = effects.get(alert.key, ())
        short = _advised(alert, row, given[place], width) if helped else [row]
        full = short if helped else _in_full(alert, row, width)
        groups.append(([*short, *_effects(alert, own, width)], [*full, *_effects(alert, own, width, in_full=True)]))
    advice = _advice(view, width)
    left = rows - len(advice) - sum(len(short) for short, _ in groups)
    lines: list[Line] = []
    for short, full in groups:
        more = len(full) - len(short)
        lines += full if more <= max(left, 0) else short
        left -= more if more <= max(left, 0) else 0
    return [*lines, *advice]


def _effects(alert: Alert, effects: Sequence[Alert], width: int, *, in_full: bool = False) -> list[Line]:
    """The effects of an alert on one line, and who reports the same on another; the alerts screen shows them in full,
    and so does ``in_full``.
    """
    same = [safe(each.key.object.owner) for each in effects if each.key.rule == alert.key.rule]
    others = [each for each in effects if each.key.rule != alert.key.rule]
    words = [f"{safe(each.key.rule)} {object_words(each.key.object)}" for each in others]
    parts = [
        f"{label}{', '.join(found)}"
        for label, found in (("the same reported by: ", same), ("caused: ", words))
        if found
    ]
    lead = " " * (WIDEST + 3)
    if in_full:
        return [line(each, Tone.FAINT) for part in parts for each in wrap(part, width, first=lead, rest=f"{lead}  ")]
    return [line(cut(f"{lead}{part}", width), Tone.FAINT) for part in parts]


def _in_full(alert: Alert, row: Line, width: int) -> list[Line]:
    """An alert with its whole name and summary: below its line where they do not fit beside it."""
    lead = " " * (WIDEST + 3)
    summary = safe(short_summary(alert))
    if row.spans[-1].text == summary:
        return [row]
    # Then the whole name has room.
    *before, name, words, _ = row.spans
    beside = words.text.rstrip("; ")
    room = width - sum(cells(span.text) for span in before) - cells(beside)
    name = name._replace(text=cut(object_words(alert.key.object), room))
    first = row._replace(spans=(*before, name, words._replace(text=beside)))
    return [first, *(line(each) for each in wrap(summary, width, first=lead, rest=lead))]


def _advised(alert: Alert, row: Line, advice: AlertAdvice, width: int) -> list[Line]:
    """An alert with advice and command; its summary is below its line where it does not fit beside it."""
    lead = " " * (WIDEST + 3)
    to_do = safe(one_line(advice.text))
    lines = _in_full(alert, row, width)
    if to_do:
        most = _MOST_ADVICE_NARROW if width < _NARROW else _MOST_ADVICE
        shown = wrap(to_do, width, first=f"{lead}to do: ", rest=f"{lead}       ")
        lines += [line(each, Tone.STRONG) for each in at_most(shown, most, width)]
    if advice.mqsc:
        lines.append(line(cut(f"{lead}MQSC: {safe(one_line(advice.mqsc))}", width), Tone.FAINT))
    return lines


def _advice(view: GroupStatus, width: int) -> list[Line]:
    """How much advice there is, by rule: ``CHL-05 x20``."""
    if not view.advice:
        return []
    plural = "piece" if view.advice == 1 else "pieces"
    # A large group has thousands of them.
    operational, firing = RuleKind.OPERATIONAL.value, AlertState.FIRING
    by_rule = Counter(
        [each.key.rule for each in view.data.alerts if each.kind_of_rule != operational and each.state is firing]
    )
    words = ", ".join(
        safe(rule) if count == 1 else f"{safe(rule)} x{number(count)}" for rule, count in by_rule.most_common()
    )
    text = f"{Health.INFO.glyph} {number(view.advice)} {plural} of advice: see Alerts"
    return [line(cut(f"{text} ({words})" if words else text, width), Tone.FAINT)]


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
