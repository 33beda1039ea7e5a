"""What tests of rules exercise, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mqvitals_rules.testing import Coverage
from mqvitals_rules.testing.coverage import Condition, RuleCoverage

_WORDS = {True: "true", False: "false", None: "unknown"}


def coverage_lines(coverages: Sequence[Coverage]) -> list[str]:
    """A line for each rule and condition that tests leave out in part, and a line of counts."""
    from mqvitals_agent.text.terminal import safe

    rules = _rules(coverages)
    lines = ["", "Coverage"]
    for rule in rules:
        lines += [f"  {safe(line)}" for line in _gaps(rule)]
    conditions = [condition for rule in rules for condition in rule.conditions]
    both = sum({True, False} <= condition.sides for condition in conditions)
    unknown = sum(None in condition.sides for condition in conditions)
    lines.append(
        f"{len(rules)} rules, {sum(rule.both_sides for rule in rules)} of them expected to fire and not to; "
        f"{len(conditions)} conditions, {both} seen true and false, {unknown} unknown"
    )
    return lines


def coverage_json(coverages: Sequence[Coverage]) -> dict[str, Any]:
    """The same for programs."""
    rules = _rules(coverages)
    return {
        "rules": len(rules),
        "both_sides": sum(rule.both_sides for rule in rules),
        "by_rule": [
            {
                "rule": rule.rule,
                "tests": rule.tests,
                "fires": rule.fires,
                "silent": rule.silent,
                "unknown": rule.unknown,
                "conditions": [
                    {
                        "where": condition.where,
                        "condition": condition.text,
                        **{word: side in condition.sides for side, word in _WORDS.items()},
                    }
                    for condition in rule.conditions
                ],
            }
            for rule in rules
        ],
    }


def _rules(coverages: Sequence[Coverage]) -> list[RuleCoverage]:
    return [rule for coverage in coverages for rule in coverage.rules]


def _gaps(rule: RuleCoverage) -> Iterator[str]:
    if not rule.tests:
        yield f"{rule.rule}: no test names it"
        return
    never = [
        word
        for word, found in (("to fire", rule.fires), ("not to fire", rule.silent), ("to be unknown", rule.unknown))
        if not found
    ]
    if never:
        yield f"{rule.rule}: never expected {' or '.join(never)}"
    for condition in rule.conditions:
        if condition.missing:
            yield f"{rule.rule} {condition.where}: never {_missing(condition)}: {condition.text}"


def _missing(condition: Condition) -> str:
    return " or ".join(_WORDS[side] for side in condition.missing)
