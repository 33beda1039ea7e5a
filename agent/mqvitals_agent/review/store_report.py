"""A review as a report or as JSON: for each queue manager and the group what to change and why, worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mqvitals_agent.review.evaluation import Check, ReviewFinding, ReviewResult, RuleFindings, by_rule
from mqvitals_agent.review.smf_report import NO_CAVEAT
from mqvitals_agent.review.store_review import OwnerReview, ReviewPart
from mqvitals_agent.text.document import Block, Heading, Items, Listing, Paragraph
from mqvitals_agent.text.figure import counted, moment, object_words, zone_name
from mqvitals_agent.text.severity import health_of
from mqvitals_agent.text.terminal import safe
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.facts import facts_as_yaml
from mqvitals_rules.ruleset.rule import RuleKind
from mqvitals_rules.timestamps import iso
from mqvitals_rules.vocabulary.metric import Absence

MOST_OBJECTS = 10
"""The number of objects of a rule that are described; the others are only named."""
MOST_NAMES = 12
_OLD_MS = 3_600_000
"""A finding older than the queue manager's last snapshot by more than this is shown with its time."""

TITLES = {
    RuleKind.REVIEW: "Configuration",
    RuleKind.APPLICATION: "Applications",
    RuleKind.DATA_QUALITY: "Quality of the data",
}

SOURCES = {
    Absence.NEEDS_SMF: "Read SMF records: smf.watch, or 'mqvitals smf import'.",
    Absence.NEEDS_STATISTICS: "Name the queue of statistics messages as statistics_queue of the queue manager.",
    Absence.NEEDS_CONSOLE: "Name the files of console messages under console.follow.",
    Absence.NOT_DECLARED: "Declare the facts below.",
    Absence.NOT_COLLECTED: "Switch monitoring on: MONQ for queues, MONCHL for channels.",
    Absence.NOT_ASKED: "Let the agent run until every command has been asked once; see that polling leaves none out.",
    Absence.NOT_AUTHORISED: "Authorise the agent's user id: 'mqvitals doctor' shows for what.",
    Absence.TIME_ZONE_UNKNOWN: "Set time_zone.",
    Absence.WINDOW: "Wait: the history fills by itself.",
    Absence.RESTARTED: "Wait: two intervals after the restart.",
    Absence.OFFLINE: "No action is needed while it is meant to be offline.",
    Absence.NOT_IN_USE: "No action is needed: nothing uses it.",
    Absence.FIRST_READING: "Wait for the next answer.",
    Absence.NO_ANSWER: "See why there was no answer: 'mqvitals status'.",
    Absence.UNREACHABLE: "See why it cannot be reached: 'mqvitals status'.",
    Absence.STALE: "See whether the agent runs: 'mqvitals status'.",
    Absence.NOTHING_TO_TELL: "No action is needed: it has not happened yet.",
    Absence.NOT_RETURNED: "No action is needed: this level of MQ, or this sort of object, does not report it.",
}
"""What to do about a reason of absence; reasons without an entry need nothing."""

_REASONS = {Absence.NOTHING_TO_TELL: "no value yet"}
"""Reasons whose own text only fits the place of a figure."""


def review_blocks(examined: Sequence[OwnerReview], origin: str, *, ascii_only: bool = False) -> Iterator[Block]:
    """The whole review. ``origin``: where the store's samples come from; ``ascii_only``: this program adds only
    ASCII.
    """
    yield Heading(1, "IBM MQ configuration review")
    yield Paragraph(
        "Every rule about the configuration, the applications and the data themselves is evaluated for the current state"
        " of every object. "
        f"Contents of the store: {origin}."
    )
    if not examined:
        yield Paragraph("The store holds nothing that can be evaluated.")
        return
    outcomes = {each.name: [part.outcome for part in each.parts] for each in examined}
    ordered = sorted(examined, key=lambda each: (-each.health, each.name))
    yield Heading(2, "Summary")
    yield Items(tuple(_summary(each, outcomes[each.name], ascii_only=ascii_only) for each in ordered))
    yield Paragraph("A check is a rule applied to one object.")
    for each in ordered:
        yield Heading(2, f"Queue-sharing group {each.name}" if each.is_group else f"Queue manager {each.name}")
        yield Paragraph(f"As of {moment(each.now)} {zone_name(each.now)}.")
        for part, outcome in zip(each.parts, outcomes[each.name], strict=True):
            if part.checks:
                yield from _part(part, outcome, each.now)


def _summary(each: OwnerReview, outcomes: Iterable[ReviewResult], *, ascii_only: bool) -> str:
    outcomes = tuple(outcomes)
    counts = [
        f"{sum(outcome.count(severity) for outcome in outcomes)} {severity.name.lower()}"
        for severity in sorted(Severity, reverse=True)
    ]
    good = sum(len(outcome.good) for outcome in outcomes)
    unknown = sum(len(outcome.unknown) for outcome in outcomes)
    sign = each.health.name if ascii_only else str(each.health)
    return f"{sign} {each.name}: {', '.join(counts)}; {counted(good, 'check')} OK, {unknown:,} could not be evaluated"


def _part(part: ReviewPart, outcome: ReviewResult, now: int) -> Iterator[Block]:
    yield Heading(3, TITLES[part.kind])
    for trouble in outcome.troubles:
        yield from _trouble(trouble, now)
    if not outcome.troubles:
        yield Paragraph("No findings." if outcome.good else "Nothing could be evaluated.")
    if outcome.good:
        rules = len(by_rule(outcome.good))
        yield Paragraph(f"{counted(len(outcome.good), 'check')} of {counted(rules, 'rule')} found no fault.")
    if outcome.unknown:
        yield from _unknown(part, outcome.unknown)


def _trouble(trouble: RuleFindings, now: int) -> Iterator[Block]:
    rule = trouble.rule
    yield Heading(4, f"{health_of(trouble.severity).name} {rule.id}: {rule.title}")
    yield Items(tuple(_finding(finding, now) for finding in trouble.findings[:MOST_OBJECTS]))
    rest = [finding.check for finding in trouble.findings[MOST_OBJECTS:]]
    if rest:
        yield Paragraph(f"And {len(rest):,} more: {_names(rest)}.")
    yield Paragraph(f"What to do: {rule.advice.strip()}")
    if rule.caveat.strip() not in NO_CAVEAT:
        yield Paragraph(f"But: {rule.caveat.strip()}")
    commands = dict.fromkeys(command for finding in trouble.findings[:MOST_OBJECTS] if (command := finding.worst.mqsc))
    if commands:
        yield Paragraph("To look at it:")
        yield Listing(tuple(commands))
    yield Paragraph("Source: " + "; ".join(f"{each.document}, {each.section}" for each in rule.sources))


def _finding(finding: ReviewFinding, now: int) -> str:
    text = f"{finding.worst.severity.name}: {finding.worst.summary} ({object_words(finding.check.object)})."
    if finding.worst.terms:
        text += f" True conditions: {'; '.join(map(_one_line, finding.worst.terms))}."
    if now - finding.worst.ts > _OLD_MS:
        text += f" As of {moment(finding.worst.ts)} {zone_name(finding.worst.ts)}, when it was last reported."
    for other in finding.others:
        text += f" So does {other.rule.id} ({other.rule.title})."
    return text


def _unknown(part: ReviewPart, checks: Sequence[Check]) -> Iterator[Block]:
    """Unknown checks by reason, the most frequent first, and the missing facts as lines for the configuration."""
    yield Heading(4, f"Could not be evaluated: {counted(len(checks), 'check')}")
    by_reason: Counter[Absence] = Counter()
    rules: dict[Absence, dict[str, None]] = {}
    for check in checks:
        by_reason.update(check.unknown.keys())
        for reason in check.unknown:
            rules.setdefault(reason, {})[str(check.rule.id)] = None
    yield Items(
        tuple(
            f"{_REASONS.get(reason, reason.value)}: {counted(count, 'check')} of {', '.join(sorted(rules[reason]))}"
            f"{_lacking(part.lacking.get(reason, ()))}. {SOURCES.get(reason, '')}".strip()
            for reason, count in by_reason.most_common()
        )
    )
    if part.declarations:
        yield Paragraph("The facts to declare in the configuration, with their values in place of the dots:")
        yield Listing(tuple(facts_as_yaml(part.declarations.values())), "yaml")


def _lacking(metrics: Iterable[str]) -> str:
    names = sorted(metrics)
    return f", missing: {', '.join(names)}" if names else ""


def _names(checks: Sequence[Check]) -> str:
    names = [safe(check.object.name or check.object.owner) for check in checks]
    more = f" and {len(names) - MOST_NAMES:,} others" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _one_line(text: str) -> str:
    return " ".join(text.split())


def review_json(examined: Sequence[OwnerReview], origin: str) -> dict[str, Any]:
    """The object of ``mqvitals review --json``."""
    return {
        "source": origin,
        "owners": [
            {
                "name": each.name,
                "group": each.is_group,
                "at": iso(each.now),
                "severity": each.health.word,
                "parts": [_json_part(part) for part in each.parts],
            }
            for each in examined
        ],
    }


def _json_part(part: ReviewPart) -> dict[str, Any]:
    outcome = part.outcome
    return {
        "kind": part.kind.value,
        "findings": [_json_finding(finding) for trouble in outcome.troubles for finding in trouble.findings],
        "right": {str(rule.id): len(checks) for rule, checks in by_rule(outcome.good)},
        "unknown": [
            {
                "rule": str(check.rule.id),
                "object": str(check.object),
                "reasons": [reason.value for reason in check.unknown],
            }
            for check in outcome.unknown
        ],
        "lacking": {reason.value: sorted(metrics) for reason, metrics in part.lacking.items()},
        "facts": list(facts_as_yaml(part.declarations.values())),
    }


def _json_finding(finding: ReviewFinding) -> dict[str, Any]:
    own = finding.check.rule
    return {
        "rule": str(own.id),
        "title": own.title,
        "object": str(finding.check.object),
        "severity": finding.worst.severity.name.lower(),
        "at": iso(finding.worst.ts),
        "summary": finding.worst.summary,
        "figures": [" ".join(term.split()) for term in finding.worst.terms],
        "advice": own.advice.strip(),
        "caveat": own.caveat.strip(),
        "mqsc": finding.worst.mqsc or None,
        "source": [{"document": each.document, "section": each.section} for each in own.sources],
        "also": [str(other.rule.id) for other in finding.others],
    }
