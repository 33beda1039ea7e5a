"""Findings, the worst first, and the blocks of reports that show them: of ``mqvitals review`` and ``smf report``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from mqvitals_agent.review.evaluation import Check, Occurrence
from mqvitals_agent.text.document import Block, Heading, Items, Paragraph
from mqvitals_agent.text.figure import counted, object_words
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.rule import Rule

MOST_OBJECTS: Final = 10
"""The number of objects of a rule that are described; the others are only named."""
_MOST_NAMES: Final = 12
_NO_CAVEAT: Final = ("", "None.", "None")
"""The texts of rules without a caveat."""


@dataclass(frozen=True, slots=True)
class ReviewFinding:
    """A problem of one object: the worst of the checks of one family of rules, and the ``others``."""

    check: Check
    worst: Occurrence
    others: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class RuleFindings:
    """The findings of one rule, the worst first."""

    rule: Rule
    findings: tuple[ReviewFinding, ...]

    @property
    def severity(self) -> Severity:
        """The severity of the worst finding."""
        return self.findings[0].worst.severity


@dataclass(frozen=True, slots=True)
class ReviewResult:
    """The result of many checks: ``troubles`` are the findings by rule, worst first.

    ``brief``: the condition held, but not for as long as the rule demands. ``good``: the condition never held.
    ``unknown``: the condition could not be evaluated in any interval.
    """

    troubles: tuple[RuleFindings, ...]
    brief: tuple[Check, ...]
    good: tuple[Check, ...]
    unknown: tuple[Check, ...]

    def count(self, severity: Severity) -> int:
        """The number of findings of a severity."""
        return sum(finding.worst.severity is severity for trouble in self.troubles for finding in trouble.findings)

    @property
    def health(self) -> Health:
        """The worst severity found; UNKNOWN where no check could be evaluated."""
        if self.troubles:
            return health_of(self.troubles[0].severity)
        return Health.OK if self.good or self.brief else Health.UNKNOWN


def result_of(checks: Iterable[Check]) -> ReviewResult:
    """Sort checks by their result."""
    families: dict[tuple[object, str], list[Check]] = {}
    brief, good, unknown = [], [], []
    for check in checks:
        rule = check.rule
        if check.fired and check.worst is not None:
            family = f"family {rule.family.name}" if rule.family else f"rule {rule.id}"
            families.setdefault((check.object, family), []).append(check)
        elif check.held:
            brief.append(check)
        elif check.evaluated:
            good.append(check)
        else:
            unknown.append(check)
    by_rule: dict[str, list[ReviewFinding]] = {}
    for each in families.values():
        first, *others = sorted(each, key=_stage)
        assert first.worst is not None
        by_rule.setdefault(str(first.rule.id), []).append(ReviewFinding(first, first.worst, tuple(others)))
    troubles = [RuleFindings(found[0].check.rule, tuple(sorted(found, key=_order))) for found in by_rule.values()]
    troubles.sort(key=lambda trouble: (-trouble.severity, -len(trouble.findings), str(trouble.rule.id)))
    return ReviewResult(tuple(troubles), _sorted(brief), _sorted(good), _sorted(unknown))


def by_rule(checks: Iterable[Check]) -> list[tuple[Rule, list[Check]]]:
    """Checks by rule, in the order of rule ids."""
    found: dict[str, tuple[Rule, list[Check]]] = {}
    for check in checks:
        found.setdefault(str(check.rule.id), (check.rule, []))[1].append(check)
    return [found[rule] for rule in sorted(found)]


def _stage(check: Check) -> tuple[int, int]:
    assert check.worst is not None
    return -check.worst.severity, -(check.rule.family.rank if check.rule.family else 0)


def _order(finding: ReviewFinding) -> tuple[int, float, int, object]:
    badness = finding.worst.badness
    return -finding.worst.severity, -(badness or 0.0), -finding.check.held, finding.check.object


def _sorted(checks: list[Check]) -> tuple[Check, ...]:
    return tuple(sorted(checks, key=lambda check: (str(check.rule.id), check.object)))


def summary_line(owner: str, result: ReviewResult, *, ascii_only: bool) -> str:
    """How many findings of each severity an owner has, and how many checks are OK or could not be evaluated."""
    counts = [f"{result.count(each)} {each.name.lower()}" for each in sorted(Severity, reverse=True)]
    sign = result.health.name if ascii_only else str(result.health)
    return (
        f"{sign} {owner}: {', '.join(counts)}; {counted(len(result.good), 'check')} OK,"
        f" {len(result.unknown):,} could not be evaluated"
    )


def owner_heading(owner: str, *, is_group: bool) -> Heading:
    """The heading above the findings of an owner."""
    return Heading(2, f"Queue-sharing group {owner}" if is_group else f"Queue manager {owner}")


def _advice(found: RuleFindings) -> str:
    """The advice with the names of the object where there is one; of several objects with the words for their names."""
    filled = {each.worst.advice.strip() for each in found.findings}
    return filled.pop() if len(filled) == 1 else re.sub(r"\{(\w+)\}", r"\1", found.rule.advice).strip()


def rule_blocks(
    found: RuleFindings, level: int, details: Callable[[ReviewFinding], str], more: Iterable[Block]
) -> Iterator[Block]:
    """The findings of a rule with its advice and sources, under a heading of ``level``.

    ``details`` follow the summary of each finding that is described, ``more`` the advice.
    """
    rule = found.rule
    yield Heading(level, f"{health_of(found.severity).name} {rule.id}: {rule.title}")
    yield Items(
        tuple(
            f"{each.worst.severity.name}: {each.worst.summary} ({object_words(each.check.object)}). {details(each)}".rstrip()
            for each in found.findings[:MOST_OBJECTS]
        )
    )
    names = [each.check.object.name or each.check.object.owner for each in found.findings[MOST_OBJECTS:]]
    if names:
        others = len(names) - _MOST_NAMES
        listed = ", ".join(names[:_MOST_NAMES]) + (f" and {others:,} others" if others > 0 else "")
        yield Paragraph(f"And {len(names):,} more: {listed}.")
    yield Paragraph(f"What to do: {_advice(found)}")
    if rule.caveat.strip() not in _NO_CAVEAT:
        yield Paragraph(f"But: {rule.caveat.strip()}")
    yield from more
    yield Paragraph("Source: " + "; ".join(f"{each.document}, {each.section}" for each in rule.sources))
