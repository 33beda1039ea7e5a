"""What the rules say of an object, as lines: verdict, condition with its figures, what to know, and who says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mqvitals_agent.text.figure import age
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.text.styled import Line, Span, Tone, heading, line, tone_of
from mqvitals_agent.text.terminal import cells, safe, wrap
from mqvitals_agent.view.alerts import since
from mqvitals_agent.view.subject import Looked
from mqvitals_rules.page import hold, one_line

_LEAD = 12
"""Cells of the words before each text."""


def rule_lines(rules: Sequence[Looked], now: int, width: int) -> Iterator[Line]:
    """Every rule that looks at an object; of those that find nothing wrong only the condition and its source.

    Of those that only records could decide, only that.
    """
    if not rules:
        return
    yield heading("Rules that look at it", width)
    for looked in rules:
        yield from _rule(looked, now, width)


def verdict(looked: Looked, now: int) -> tuple[Health, str]:
    """How a rule's verdict looks, and in words."""
    truth, alert = looked.finding.when.truth, looked.alert
    if looked.firing and alert is not None and alert.started is not None:
        words = f"fires for {age(now - alert.started)}, since {since(alert.started, now)}"
        if truth is None:
            words += "; unknown at the last poll"
        elif not truth:
            words += "; the condition no longer holds, and it is open until it clears"
        return health_of(alert.severity), words
    if truth:
        severity = looked.finding.severity
        health = Health.UNKNOWN if severity is None else health_of(severity)
        held = hold(looked.form.rule)
        when = "it is judged next" if held == "at once" else f"it has held for {held}"
        return health, f"holds; fires when {when}"
    if truth is None:
        return Health.UNKNOWN, "unknown, needs SMF" if looked.needs_smf else "unknown"
    return Health.OK, "fine"


def _rule(looked: Looked, now: int, width: int) -> Iterator[Line]:
    rule, finding = looked.form.rule, looked.finding
    health, words = verdict(looked, now)
    head = f"{health.glyph} {safe(rule.id)}"
    text = f"{safe(one_line(rule.title))}: {words}"
    first, *rest = wrap(text, width, first=f"{head:<{_LEAD}}", rest=" " * _LEAD)
    yield Line((Span(first[:_LEAD], tone_of(health)), Span(first[_LEAD:], Tone.STRONG)))
    for each in rest:
        yield line(each, Tone.STRONG)
    if looked.needs_smf:
        # Where nobody reads records this is so of many rules for good: what they would say belongs to the manual.
        return
    yield from _labelled("when", finding.when.filled, width)
    if finding.when.truth is None:
        for number, remedy in enumerate(finding.remedies):
            yield from _labelled("missing" if not number else "", remedy, width, Tone.UNKNOWN)
    if looked.firing and finding.clear is not None:
        yield from _labelled("clears", finding.clear.filled, width)
    if health is not Health.OK:
        yield from _labelled("advice", rule.advice, width)
        yield from _labelled("caveat", rule.caveat, width)
        yield from _labelled("MQSC", finding.mqsc, width, Tone.STRONG)
    for number, source in enumerate(rule.sources):
        yield from _labelled("source" if not number else "", f"{source.document}, {source.section}", width, Tone.FAINT)


def _labelled(label: str, text: str, width: int, tone: Tone = Tone.PLAIN) -> Iterator[Line]:
    text = safe(one_line(text))
    if not text:
        return
    lead = f"{'  ' + label:<{_LEAD}}"
    first, *rest = wrap(text, width, first=lead, rest=" " * _LEAD)
    yield Line((Span(lead, Tone.FAINT), Span(first[cells(lead) :], tone)))
    for each in rest:
        yield line(each, tone)
