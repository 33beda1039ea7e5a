"""The rules in force: compiled, with the thresholds that a site overrides and without the rules it disables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mqvitals_config.problem import ConfigError, Problem
from mqvitals_config.settings import CAUSE_SHARE
from mqvitals_rules.compiled_rule import CompiledRule, compile_rule
from mqvitals_rules.expression import WindowUse
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.ruleset.rule import Rule
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Kind


@dataclass(frozen=True, slots=True)
class Threshold:
    """Another value for a parameter of a rule, for the objects that ``objects`` selects (None: all)."""

    rule: str
    parameter: str
    value: float
    objects: ObjectPattern | None = None


@dataclass(frozen=True)
class RuleSet:
    """Compiled rules with the site's overrides. Of several overrides that select an object the last one counts."""

    rules: tuple[Rule, ...]
    kinds: Mapping[str, Kind]
    thresholds: tuple[Threshold, ...] = ()
    disabled: frozenset[str] = frozenset()
    compiled: Mapping[str, CompiledRule] = field(default_factory=dict, repr=False, compare=False)
    """Rule id -> the rule compiled with the shipped thresholds, where that is done already."""
    cause_share: float = CAUSE_SHARE
    """A queue explains its page set, buffer pool or structure from this share, 0 to 1, of what these hold."""
    _by_values: dict[tuple[str, tuple[tuple[str, float], ...]], CompiledRule] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _common: dict[str, tuple[CompiledRule, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _by_scope: dict[str, tuple[Rule, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._by_values.update(((name, ()), compiled) for name, compiled in self.compiled.items())
        problems: list[Problem] = []
        for rule in self.rules:
            try:
                self._compiled(rule, {})
            except ConfigError as error:
                problems.extend(error.problems)
        if problems:
            raise ConfigError(problems)
        for rule in self.rules:
            if rule.id in self.disabled:
                continue
            self._by_scope[rule.scope] = (*self._by_scope.get(rule.scope, ()), rule)

    def rule(self, rule_id: str) -> Rule | None:
        """The rule of that id, or None."""
        return next((rule for rule in self.rules if rule.id == rule_id), None)

    def rules_for(self, name: ObjectName) -> tuple[CompiledRule, ...]:
        """The rules in force for one object, with its thresholds, in the order of the files."""
        rules = self._by_scope.get(name.kind, ())
        special = any(
            threshold.objects is not None and threshold.objects.kind == name.kind for threshold in self.thresholds
        )
        if not special and name.kind in self._common:
            return self._common[name.kind]
        found = tuple(compiled for rule in rules if (compiled := self.rule_for(rule, name)) is not None)
        if not special:
            self._common[name.kind] = found  # the same for every object of the kind
        return found

    def rule_for(self, rule: Rule, name: ObjectName) -> CompiledRule | None:
        """A rule as it is in force for one object; None when it is switched off for it."""
        if rule.id in self.disabled:
            return None
        values = {
            threshold.parameter: threshold.value
            for threshold in self.thresholds
            if threshold.rule == rule.id and _selects(threshold.objects, name)
        }
        return self._compiled(rule, values)

    @property
    def ranks(self) -> Mapping[str, int]:
        """Rule id -> its rank in its family."""
        return {str(rule.id): rule.family.rank for rule in self.rules if rule.family}

    @property
    def causes(self) -> Mapping[str, frozenset[str]]:
        """Rule id -> the rules whose alerts explain its own; of the same incident each explains the other."""
        found: dict[str, set[str]] = {}
        for rule in self.rules:
            for cause in (*rule.caused_by, *rule.same_incident):
                found.setdefault(str(rule.id), set()).add(str(cause))
            for other in rule.same_incident:
                found.setdefault(str(other), set()).add(str(rule.id))
        return {rule: frozenset(causes) for rule, causes in found.items()}

    @property
    def partner_causes(self) -> Mapping[str, frozenset[str]]:
        """Rule id -> the rules whose alerts about the queue manager at the other end explain its own."""
        return {
            str(rule.id): frozenset(map(str, rule.caused_by_partner)) for rule in self.rules if rule.caused_by_partner
        }

    @property
    def listens(self) -> bool:
        """Whether a condition of any rule needs console messages."""
        return any(expression.messages for rule in self.rules for expression in self._compiled(rule, {}).expressions)

    @property
    def waiting(self) -> Mapping[str, tuple[str, ...]]:
        """Id of a console message -> the rules in force that wait for it, in the order of the files."""
        found: dict[str, dict[str, None]] = {}
        for rule in self.rules:
            if rule.id in self.disabled:
                continue
            for expression in self._compiled(rule, {}).expressions:
                for message in sorted(expression.messages):
                    found.setdefault(message, {})[str(rule.id)] = None
        return {message: tuple(rules) for message, rules in found.items()}

    @property
    def windows(self) -> frozenset[WindowUse]:
        """Every window that the rules in force look through, so that the history they need is kept."""
        return frozenset(
            window
            for rule in self.rules
            if rule.id not in self.disabled
            for expression in self._compiled(rule, {}).expressions
            for window in expression.windows
        )

    def _compiled(self, rule: Rule, values: Mapping[str, float]) -> CompiledRule:
        key = (str(rule.id), tuple(sorted(values.items())))
        compiled = self._by_values.get(key)
        if compiled is None:
            compiled = self._by_values[key] = compile_rule(rule, self.kinds, values)
        return compiled


def _selects(pattern: ObjectPattern | None, name: ObjectName) -> bool:
    return pattern is None or pattern.matches(name)


def doubts(rules: Iterable[CompiledRule]) -> list[Problem]:
    """Conditions that are valid but probably not meant: comparisons that always or never hold."""
    return [doubt for rule in rules for expression in rule.expressions for doubt in expression.doubts()]
