"""A review as a report or as JSON: for each queue manager and the group what to change and why, worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mqvitals_agent.review.evaluation import Check
from mqvitals_agent.review.findings import (
    MOST_OBJECTS,
    ReviewFinding,
    by_rule,
    owner_heading,
    rule_blocks,
    summary_line,
)
from mqvitals_agent.review.store_review import OwnerReview, ReviewPart
from mqvitals_agent.text.document import Block, Heading, Items, Listing, Paragraph
from mqvitals_agent.text.figure import counted, moment, zone_name
from mqvitals_rules.ruleset.facts import facts_as_yaml
from mqvitals_rules.ruleset.rule import RuleKind
from mqvitals_rules.timestamps import iso
from mqvitals_rules.vocabulary.metric import Absence

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
    Absence.NEEDS_EVENTS: "Name the event queues under polling.events.",
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
    Absence.AWAITED: "The next SMF record has it.",
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
    outcomes = {each.name: each.outcome for each in examined}
    ordered = sorted(examined, key=lambda each: (-outcomes[each.name].health, each.name))
    yield Heading(2, "Summary")
    yield Items(tuple(summary_line(each.name, outcomes[each.name], ascii_only=ascii_only) for each in ordered))
    yield Paragraph("A check is a rule applied to one object.")
    for each in ordered:
        yield owner_heading(each.name, is_group=each.is_group)
        yield Paragraph(f"As of {moment(each.now)} {zone_name(each.now)}.")
        for part in each.parts:
            if part.checks:
                yield from _part(part, each.now)


def _part(part: ReviewPart, now: int) -> Iterator[Block]:
    yield Heading(3, TITLES[part.kind])
    outcome = part.outcome
    for found in outcome.troubles:
        commands = dict.fromkeys(each.worst.mqsc for each in found.findings[:MOST_OBJECTS] if each.worst.mqsc)
        more = (Paragraph("To look at it:"), Listing(tuple(commands))) if commands else ()
        yield from rule_blocks(found, 4, lambda finding: _details(finding, now), more)
    if not outcome.troubles:
        yield Paragraph("No findings." if outcome.good else "Nothing could be evaluated.")
    if outcome.good:
        rules = len(by_rule(outcome.good))
        yield Paragraph(f"{counted(len(outcome.good), 'check')} of {counted(rules, 'rule')} found no fault.")
    if outcome.unknown:
        yield from _unknown(part, outcome.unknown)


def _details(finding: ReviewFinding, now: int) -> str:
    worst, sentences = finding.worst, []
    if worst.terms:
        sentences.append(f"True conditions: {'; '.join(map(_one_line, worst.terms))}.")
    if now - worst.ts > _OLD_MS:
        sentences.append(f"As of {moment(worst.ts)} {zone_name(worst.ts)}, when it was last reported.")
    sentences += [f"So does {other.rule.id} ({other.rule.title})." for other in finding.others]
    return " ".join(sentences)


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
                "severity": each.outcome.health.word,
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
        "figures": list(map(_one_line, finding.worst.terms)),
        "advice": finding.worst.advice.strip(),
        "caveat": own.caveat.strip(),
        "mqsc": finding.worst.mqsc or None,
        "source": [{"document": each.document, "section": each.section} for each in own.sources],
        "also": [str(other.rule.id) for other in finding.others],
    }
