"""Coverage of rule tests: of each rule, whether tests expect it to fire and not to, and which truths its conditions
had.

A test counts for the rules that it names, and for all where it gives exactly what must be firing. A condition counts
where the engine needs it: ``clear`` while an alert is open, severities and commands while the rule's own condition
holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.eval_context import EvalContext
from mqvitals_rules.expression import Expression
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Snapshot
from mqvitals_rules.testing.cases import RuleTest
from mqvitals_rules.testing.runner import RuleTestRun

SIDES: tuple[bool | None, ...] = (True, False, None)


@dataclass(slots=True)
class Condition:
    """A condition of a rule, or an operand of ``and`` or ``or`` in one: its key in the rule, and the truths it had."""

    where: str
    text: str
    sides: set[bool | None] = field(default_factory=set)

    @property
    def missing(self) -> tuple[bool | None, ...]:
        """The truths it never had."""
        return tuple(side for side in SIDES if side not in self.sides)


@dataclass(slots=True)
class RuleCoverage:
    """What tests exercise of one rule. ``fires``, ``silent``, ``unknown``: whether some test expects that."""

    rule: str
    conditions: tuple[Condition, ...]
    tests: int = 0
    fires: bool = False
    silent: bool = False
    unknown: bool = False

    @property
    def both_sides(self) -> bool:
        """Whether it must fire at one moment and must not at another."""
        return self.fires and self.silent


class Coverage:
    """Collects what tests exercise of the rules ``of`` that are selected by ``want``."""

    def __init__(self, of: RuleSet) -> None:
        self.of = of
        self._rules: dict[str, RuleCoverage] = {}
        self._parts: dict[int, tuple[CompiledRule, dict[str, list[Expression]]]] = {}

    def want(self, wanted: Iterable[str]) -> None:
        """Collect of these rules too, from now on."""
        ids = frozenset(wanted)
        # The tests of a rule that is off switch it on.
        rules = replace(self.of, disabled=self.of.disabled - {str(rule.id) for rule in self.of.rules if rule.off})
        for rule in rules.rules:
            if rule.id in ids and rule.id not in self._rules:
                compiled = rules.rule_for(rule, ObjectName("", rule.scope))
                found = () if compiled is None else tuple(_conditions(self.parts(compiled)))
                self._rules[str(rule.id)] = RuleCoverage(str(rule.id), found)

    @property
    def rules(self) -> tuple[RuleCoverage, ...]:
        """All rules, in the order of their files."""
        return tuple(self._rules.values())

    def watch(self, test: RuleTest, run: RuleTestRun) -> CoverageObserver:
        """Note a test's expectations; the observer notes the truths of conditions while the test runs."""
        exact = any(expected.exact and expected.entry.firing is not None for expected in test.expectations)
        counted = {name: found for name, found in self._rules.items() if exact or name in test.rules}
        for found in counted.values():
            _note(found, test)
        return CoverageObserver(self, counted, run)

    def parts(self, compiled: CompiledRule) -> dict[str, list[Expression]]:
        """The conditions of a rule with their operands, by where they stand in it."""
        known = self._parts.get(id(compiled))
        if known is None:
            # The rule is kept with its parts: its place in memory names it as long as it lives.
            known = self._parts[id(compiled)] = (
                compiled,
                {where: list(each.parts()) for where, each in _written(compiled)},
            )
        return known[1]


class CoverageObserver:
    """Notes the truths of conditions while one test runs."""

    def __init__(self, coverage: Coverage, counted: dict[str, RuleCoverage], run: RuleTestRun) -> None:
        self._coverage = coverage
        self._counted = counted
        self._run = run
        self._open: frozenset[tuple[str, ObjectName]] = frozenset()

    def look(self, snapshot: Snapshot) -> None:
        """Called after the engine has evaluated a snapshot."""
        for name in dict.fromkeys(reading.object for reading in snapshot.readings):
            state = self._run.state(name)
            if state is None:
                continue
            context = self._run.context(state)
            for compiled in self._run.rules.rules_for(name):
                found = self._counted.get(compiled.id)
                if found is not None:
                    self._note_truths(found, compiled, context, was_open=(compiled.id, name) in self._open)
        self._open = frozenset((alert.key.rule, alert.scope) for alert in self._run.alerts)

    def _note_truths(
        self, found: RuleCoverage, compiled: CompiledRule, context: EvalContext, *, was_open: bool
    ) -> None:
        parts = self._coverage.parts(compiled)
        conditions = iter(found.conditions)
        holds: bool | None = None
        decided = {"severity_if": False, "mqsc_if": False}
        for where, expressions in parts.items():
            own = [next(conditions) for _ in expressions]
            case = where.partition("[")[0]
            if case == "clear.when" and not was_open:
                continue
            if case in decided and (decided[case] or not holds):
                continue
            truth = expressions[0].truth(context)
            own[0].sides.add(truth)
            for condition, expression in zip(own[1:], expressions[1:], strict=True):
                if len(condition.sides) < len(SIDES):
                    condition.sides.add(expression.truth(context))
            if case == "when":
                holds = truth
            elif case in decided:
                decided[case] = truth is not False


def _note(found: RuleCoverage, test: RuleTest) -> None:
    found.tests += 1
    for expected in test.expectations:
        entry = expected.entry
        named = entry.firing is not None and any(each.rule == found.rule for each in entry.firing)
        others = entry.firing is not None and (expected.exact or not entry.firing)
        found.fires = found.fires or named
        found.silent = found.silent or found.rule in entry.not_firing or (others and not named)
        found.unknown = found.unknown or found.rule in entry.unknown


def _written(compiled: CompiledRule) -> Iterator[tuple[str, Expression]]:
    """Each condition with its key in the rule's file."""
    yield "when", compiled.when
    if compiled.clear is not None:
        yield "clear.when", compiled.clear
    for index, (expression, _) in enumerate(compiled.severity_if):
        yield f"severity_if[{index}]", expression
    for index, (expression, _) in enumerate(compiled.mqsc_if):
        yield f"mqsc_if[{index}]", expression


def _conditions(parts: dict[str, list[Expression]]) -> Iterator[Condition]:
    for where, expressions in parts.items():
        for expression in expressions:
            yield Condition(where, " ".join(expression.text.split()))
