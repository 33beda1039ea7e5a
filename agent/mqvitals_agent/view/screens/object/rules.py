"""The rules of an object on its page: those that fire, hold or come near in full, of the others one line a reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mqvitals_agent.text.figure import age, counted
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.text.styled import Line, Span, Tone, labelled, tone_of
from mqvitals_agent.text.terminal import cut, safe
from mqvitals_agent.view.alerts.words import since_words
from mqvitals_agent.view.screens.object.sections import PageState, folding_line
from mqvitals_rules.ruleset.markdown import hold_text, one_line
from mqvitals_rules.thresholds import comes_near, nearness

if TYPE_CHECKING:
    from mqvitals_agent.view.object.detail import ObjectRule
    from mqvitals_rules.ruleset.rule import Rule

_LEAD = 12
"""Cells of the label before each text."""

FINE = "fine"


def open_rules(rules: Sequence[ObjectRule]) -> tuple[ObjectRule, ...]:
    """The rules that fire, hold or come near to holding.

    One stage of a fault does not come near while a worse stage of the same family holds.
    """
    stages = {each.rule.rule.family.name for each in rules if each.rule.rule.family and _begun(each)}

    def near(each: ObjectRule) -> bool:
        family = each.rule.rule.family
        return comes_near(each.rule, each.explanation.when) and not (family and family.name in stages)

    return tuple(each for each in rules if _begun(each) or near(each))


def _begun(each: ObjectRule) -> bool:
    return each.firing or bool(each.explanation.when.truth)


def reason_of(each: ObjectRule) -> str:
    """Why a rule is not open: it is fine, or unknown for want of what."""
    outcome = each.explanation.when
    if outcome.truth is not None:
        return FINE
    return ", ".join(sorted({one.absence.value for one in outcome.missing})) or "unknown"


def rules_title(rules: Sequence[ObjectRule]) -> str:
    """How many rules there are of each sort: ``Rules: 1 fires, 2 near, 12 fine, 5 unknown``."""
    opened = open_rules(rules)
    fires = sum(each.firing for each in opened)
    holds = sum(_begun(each) for each in opened) - fires
    rest = [reason_of(each) for each in rules if each not in opened]
    fine = rest.count(FINE)
    counts = ((fires, "firing"), (holds, "holding"), (len(opened) - fires - holds, "near"), (fine, FINE))
    words = [f"{count} {word}" for count, word in (*counts, (len(rest) - fine, "unknown")) if count]
    return f"Rules: {', '.join(words)}" if words else "Rules"


def rule_lines(
    rules: Sequence[ObjectRule], off: Sequence[tuple[Rule, str]], now: int, width: int, state: PageState
) -> Iterator[Line]:
    """The open rules, then a line for the fine ones and for each reason of unknown ones, which Enter opens.

    Of those that are ``off`` for the object the site's reason.
    """
    opened = open_rules(rules)
    for each in opened:
        yield from _rule(each, now, width)
    groups: dict[str, list[ObjectRule]] = {}
    for each in rules:
        if each not in opened:
            groups.setdefault(reason_of(each), []).append(each)
    for reason, members in sorted(groups.items(), key=lambda group: group[0] != FINE):
        yield _group(reason, members, width, state)
        if not state.is_folded(_section(reason)):
            for each in members:
                yield from _rule(each, now, width)
    for rule, reason in off:
        words = "turned off by the settings" + (f" ({reason})" if reason else "")
        text = safe(f"{one_line(rule.title)}: {words}")
        yield from labelled(Span(f"{safe('- ' + rule.id):<{_LEAD}}", Tone.FAINT), text, width, Tone.FAINT, gap="")


def _section(reason: str) -> str:
    return f"rules {reason}"


def _group(reason: str, members: Sequence[ObjectRule], width: int, state: PageState) -> Line:
    health = Health.OK if reason == FINE else Health.UNKNOWN
    words = reason if reason == FINE else f"unknown, {reason}"
    text = f"{words}: {counted(len(members), 'rule')}  {' '.join(safe(each.rule.id) for each in members)}"
    return folding_line(state, _section(reason), Span(f"{health.glyph} ", tone_of(health)), cut(text, width - 4))


def verdict(each: ObjectRule, now: int) -> tuple[Health, str]:
    """A rule's verdict as a health and in words."""
    truth, alert = each.explanation.when.truth, each.alert
    if each.firing and alert is not None and alert.started is not None:
        words = f"fires for {age(now - alert.started)}, since {since_words(alert.started, now)}"
        if truth is None:
            words += "; unknown at the last poll"
        elif not truth:
            words += "; the condition no longer holds, and it is open until it clears"
        return health_of(alert.severity), words
    if truth:
        severity = each.explanation.severity
        health = Health.UNKNOWN if severity is None else health_of(severity)
        held = hold_text(each.rule.rule)
        when = "at the next evaluation" if held == "at once" else f"when it has held for {held}"
        return health, f"holds; fires {when}"
    if truth is None:
        return Health.UNKNOWN, f"unknown, needs {each.lacks}" if each.lacks else "unknown"
    if comes_near(each.rule, each.explanation.when):
        return (
            Health.OK,
            f"fine, but {100 * nearness(each.rule, each.explanation.when):.0f} % of the way to its threshold",
        )
    return Health.OK, FINE


def _rule(each: ObjectRule, now: int, width: int) -> Iterator[Line]:
    rule, explanation = each.rule.rule, each.explanation
    health, words = verdict(each, now)
    head = f"{health.glyph} {safe(rule.id)}"
    text = f"{safe(one_line(rule.title))}: {words}"
    yield from labelled(Span(f"{head:<{_LEAD}}", tone_of(health)), text, width, Tone.STRONG, gap="")
    if each.lacks:
        # Without SMF records or a console this holds for many rules permanently: their details are in the manual.
        return
    for number, changed in enumerate(each.tuned):
        reason = f": {changed.entry.reason}" if changed.entry.reason else ""
        text = f"{changed.key}: {changed.value}, not {changed.standard}{reason}"
        yield from _labelled("tuned" if not number else "", text, width)
    yield from _labelled("when", explanation.when.filled, width)
    if explanation.when.truth is None:
        for number, remedy in enumerate(explanation.remedies):
            yield from _labelled("missing" if not number else "", remedy, width, Tone.UNKNOWN)
    if each.firing and explanation.clear is not None:
        yield from _labelled("clears", explanation.clear.filled, width)
    if health is not Health.OK:
        yield from _labelled("advice", explanation.advice, width)
        yield from _labelled("caveat", rule.caveat, width)
        yield from copied(_labelled("MQSC", explanation.mqsc, width, Tone.STRONG), explanation.mqsc)
    for number, source in enumerate(rule.sources):
        yield from _labelled("source" if not number else "", f"{source.document}, {source.section}", width, Tone.FAINT)


def copied(lines: Iterator[Line], command: str) -> Iterator[Line]:
    """Lines that show a command: the first of them is what ``y`` copies it from."""
    for number, each in enumerate(lines):
        yield each if number else each._replace(copies=safe(one_line(command)))


def _labelled(label: str, text: str, width: int, tone: Tone = Tone.PLAIN) -> Iterator[Line]:
    text = safe(one_line(text))
    if not text:
        return
    yield from labelled(Span(f"{'  ' + label:<{_LEAD}}", Tone.FAINT), text, width, tone, gap="")
