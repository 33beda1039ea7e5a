"""What all checks of one queue manager or group come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from mqvitals_agent.smf.report.judge import Check, Occurrence
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.rule import Rule
from mqvitals_rules.vocabulary.metric import Absence

_REASONS = {
    Absence.NOTHING_TO_TELL: "nothing of the kind happened",
    Absence.NOT_ASKED: "commands tell it, not SMF",
}
"""Reasons of absence that need more words here than beside a figure."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with one object: the worst of the checks that speak of the same trouble, and the ``others``."""

    check: Check
    worst: Occurrence
    others: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class Trouble:
    """One rule and the objects that it found something wrong with, the worst first."""

    rule: Rule
    findings: tuple[Finding, ...]

    @property
    def severity(self) -> Severity:
        """Of the worst."""
        return self.findings[0].worst.severity


@dataclass(frozen=True, slots=True)
class Outcome:
    """``troubles`` worst first. ``brief``: the condition held, but not as long as the rule demands. ``good`` were judged and found right.

    ``unknown`` could not be judged in any interval.
    """

    troubles: tuple[Trouble, ...]
    brief: tuple[Check, ...]
    good: tuple[Check, ...]
    unknown: tuple[Check, ...]

    def count(self, severity: Severity) -> int:
        """How many findings are of this severity."""
        return sum(finding.worst.severity is severity for trouble in self.troubles for finding in trouble.findings)

    @property
    def health(self) -> Health:
        """The worst that was found; UNKNOWN where nothing could be judged."""
        if self.troubles:
            return health_of(self.troubles[0].severity)
        return Health.OK if self.good or self.brief else Health.UNKNOWN


def outcome_of(checks: Iterable[Check]) -> Outcome:
    """Sort checks by what came of them."""
    families: dict[tuple[object, str], list[Check]] = {}
    brief, good, unknown = [], [], []
    for check in checks:
        rule = check.rule
        if check.fired and check.worst is not None:
            family = f"family {rule.family.name}" if rule.family else f"rule {rule.id}"
            families.setdefault((check.object, family), []).append(check)
        elif check.held:
            brief.append(check)
        elif check.judged:
            good.append(check)
        else:
            unknown.append(check)
    by_rule: dict[str, list[Finding]] = {}
    for each in families.values():
        first, *others = sorted(each, key=_stage)
        assert first.worst is not None
        by_rule.setdefault(str(first.rule.id), []).append(Finding(first, first.worst, tuple(others)))
    troubles = [Trouble(found[0].check.rule, tuple(sorted(found, key=_order))) for found in by_rule.values()]
    troubles.sort(key=lambda trouble: (-trouble.severity, -len(trouble.findings), str(trouble.rule.id)))
    return Outcome(tuple(troubles), _sorted(brief), _sorted(good), _sorted(unknown))


def by_rule(checks: Iterable[Check]) -> list[tuple[Rule, list[Check]]]:
    """Checks of the same rule together."""
    found: dict[str, tuple[Rule, list[Check]]] = {}
    for check in checks:
        found.setdefault(str(check.rule.id), (check.rule, []))[1].append(check)
    return [found[rule] for rule in sorted(found)]


def reasons(checks: Iterable[Check]) -> str:
    """Why checks could not be judged, the most frequent reason first."""
    counts: Counter[Absence] = Counter()
    for check in checks:
        counts.update(check.unknown)
    return ", ".join(_REASONS.get(absence, absence.value) for absence, _ in counts.most_common())


def _stage(check: Check) -> tuple[int, int]:
    assert check.worst is not None
    return -check.worst.severity, -(check.rule.family.rank if check.rule.family else 0)


def _order(finding: Finding) -> tuple[int, float, int, object]:
    badness = finding.worst.badness
    return -finding.worst.severity, -(badness or 0.0), -finding.check.held, finding.check.object


def _sorted(checks: list[Check]) -> tuple[Check, ...]:
    return tuple(sorted(checks, key=lambda check: (str(check.rule.id), check.object)))
