"""A review for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mqvitals_agent.review.examination import Examined, Part
from mqvitals_agent.smf.report.outcome import Finding, by_rule
from mqvitals_rules.declaration import yaml_lines
from mqvitals_rules.moment import iso


def review_json(examined: Sequence[Examined], origin: str) -> dict[str, Any]:
    """The object of ``mqvitals review --json``."""
    return {
        "source": origin,
        "owners": [
            {
                "name": each.name,
                "group": each.is_group,
                "at": iso(each.now),
                "severity": each.health.word,
                "parts": [_part(part) for part in each.parts],
            }
            for each in examined
        ],
    }


def _part(part: Part) -> dict[str, Any]:
    outcome = part.outcome
    return {
        "kind": part.kind.value,
        "findings": [_finding(finding, part) for trouble in outcome.troubles for finding in trouble.findings],
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
        "facts": list(yaml_lines(part.declarations.values())),
    }


def _finding(finding: Finding, part: Part) -> dict[str, Any]:
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
        "mqsc": part.commands.get((finding.check.object, str(own.id))) or None,
        "source": [{"document": each.document, "section": each.section} for each in own.sources],
        "also": [str(other.rule.id) for other in finding.others],
    }
