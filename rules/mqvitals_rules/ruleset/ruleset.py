"""The rules in force: compiled, as the site tunes them, and without those that it switches off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from mqvitals_config.decoding.problem import ConfigError, Problem
from mqvitals_config.sections.rules import CAUSE_SHARE
from mqvitals_rules.compiled_rule import CompiledRule, compile_rule
from mqvitals_rules.expression import WindowUse
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.ruleset.rule import Rule, causes_of, partner_causes_of
from mqvitals_rules.ruleset.tuning import (
    NO_CHANGE,
    Changed,
    RuleChange,
    Tuning,
    change_of,
    changed_rule,
    in_force,
    off_everywhere,
    off_reason,
)
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import DAY_MS
from mqvitals_rules.vocabulary.metric import Kind

_READINGS: Final = 3
"""Polls after which what comes of two readings is known, with one to spare."""


@dataclass(frozen=True)
class RuleSet:
    """Compiled rules with what the site tunes. Of several entries that say something about an object the last one counts.

    ``disabled``: rules that are off, unless an entry of ``tuning`` switches them on.
    """

    rules: tuple[Rule, ...]
    kinds: Mapping[str, Kind]
    tuning: tuple[Tuning, ...] = ()
    disabled: frozenset[str] = frozenset()
    compiled: Mapping[str, CompiledRule] = field(default_factory=dict, repr=False, compare=False)
    """Rule id -> the rule compiled as shipped, where that is done already."""
    cause_share: float = CAUSE_SHARE
    """A queue explains its page set, buffer pool or structure from this share, 0 to 1, of what these hold."""
    deferred: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    """The ids of rules that are compiled when they are first needed; one with a mistake is then in force for no object."""
    switched_off: frozenset[str] = field(default=frozenset(), init=False, compare=False)
    """The ids of rules that are evaluated for no object."""
    _by_change: dict[tuple[str, RuleChange], CompiledRule] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _common: dict[tuple[str, tuple[RuleChange | None, ...]], tuple[CompiledRule, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _by_id: dict[str, Rule] = field(default_factory=dict, init=False, repr=False, compare=False)
    _by_scope: dict[str, tuple[Rule, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _tuning_of: dict[str, tuple[Tuning, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _by_object: dict[str, tuple[Rule, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)
    """By kind of object: the rules that are not the same for all of its objects."""

    def __post_init__(self) -> None:
        self._by_change.update(((name, NO_CHANGE), compiled) for name, compiled in self.compiled.items())
        problems: list[Problem] = []
        for rule in self.rules:
            if str(rule.id) in self.deferred:
                continue
            try:
                self._compiled(rule, NO_CHANGE)
            except ConfigError as error:
                problems.extend(error.problems)
        if problems:
            raise ConfigError(problems)
        entries: dict[str, list[Tuning]] = {}
        for entry in self.tuning:
            entries.setdefault(entry.rule, []).append(entry)
        self._tuning_of.update((rule_id, tuple(found)) for rule_id, found in entries.items())
        off = frozenset(
            str(rule.id)
            for rule in self.rules
            if off_everywhere(self.tuning_of(rule.id), off=str(rule.id) in self.disabled)
        )
        object.__setattr__(self, "switched_off", off)
        for rule in self.rules:
            self._by_id.setdefault(rule.id, rule)
            if rule.id in off:
                continue
            self._by_scope[rule.scope] = (*self._by_scope.get(rule.scope, ()), rule)
            if any(entry.objects is not None for entry in self.tuning_of(rule.id)):
                self._by_object[rule.scope] = (*self._by_object.get(rule.scope, ()), rule)

    def rule(self, rule_id: str) -> Rule | None:
        """The rule of that id, or None."""
        return self._by_id.get(rule_id)

    def tuning_of(self, rule_id: str) -> tuple[Tuning, ...]:
        """What the site tunes about a rule, in the order of the settings."""
        return self._tuning_of.get(rule_id, ())

    def rules_for(self, name: ObjectName) -> tuple[CompiledRule, ...]:
        """The rules in force for one object, as they are tuned for it, in the order of the files.

        Objects with the same ones have the same tuple.
        """
        own = self._by_object.get(name.kind)
        key = (name.kind, () if own is None else tuple(self._change(rule, name) for rule in own))
        found = self._common.get(key)
        if found is None:
            rules = self._by_scope.get(name.kind, ())
            found = tuple(compiled for rule in rules if (compiled := self.rule_for(rule, name)) is not None)
            self._common[key] = found
        return found

    def rules_of(self, kind: str) -> tuple[CompiledRule, ...] | None:
        """``rules_for`` any object of a kind; None where some are tuned for objects."""
        return None if kind in self._by_object else self.rules_for(ObjectName("", kind))

    def rules_telling(self, name: ObjectName, metrics: Iterable[str]) -> tuple[CompiledRule, ...]:
        """Of ``rules_for`` those whose summary names one of these metrics, and perhaps some others.

        No others are compiled, which matters to a program that asks about few metrics.
        """
        wanted = tuple(metrics)
        found = (rule for rule in self._by_scope.get(name.kind, ()) if any(each in rule.summary for each in wanted))
        return tuple(compiled for rule in found if (compiled := self.rule_for(rule, name)) is not None)

    def rule_for(self, rule: Rule, name: ObjectName) -> CompiledRule | None:
        """A rule as it is in force for one object; None when it is switched off for it."""
        change = self._change(rule, name)
        if change is None:
            return None
        try:
            return self._compiled(rule, change)
        except ConfigError:
            if str(rule.id) in self.deferred:
                return None
            raise

    def rule_of(self, alert: Alert) -> CompiledRule | None:
        """The rule of an alert as it is in force for its object; None when it is not."""
        rule = self.rule(alert.key.rule)
        return None if rule is None else self.rule_for(rule, alert.scope)

    def look_back_polls(self, alert: Alert, interval_ms: int) -> int:
        """After how many polls, ``interval_ms`` apart, the rule of an alert has all history that it looks back on.

        A few for what comes of two readings, and those of its longest window, of a day at most; 0 where it is not in force.
        """
        compiled = self.rule_of(alert)
        if compiled is None:
            return 0
        lengths = [
            max(window.polls, -(-window.window_ms // interval_ms))
            for expression in compiled.expressions
            for window in expression.windows
        ]
        return min(max(lengths, default=0), DAY_MS // interval_ms) + _READINGS

    def tuned_for(self, rule_id: str, name: ObjectName) -> tuple[Changed, ...]:
        """What is different about a rule for one object, in words, each key with the entry that counts."""
        rule, entries = self.rule(rule_id), self.tuning_of(rule_id)
        return in_force(rule, entries, name) if rule is not None and entries else ()

    def off_for(self, name: ObjectName) -> tuple[tuple[Rule, str], ...]:
        """The rules that are off for one object and in force for others of its kind, each with the site's reason."""
        own = ((rule, self.off_reason(str(rule.id), name)) for rule in self._by_object.get(name.kind, ()))
        return tuple((rule, reason) for rule, reason in own if reason is not None)

    def form_of(self, rule: Rule, name: ObjectName) -> CompiledRule:
        """A rule as it is in force for one object, or where it is switched off for it, as shipped: for its texts."""
        return self._compiled(rule, self._change(rule, name) or NO_CHANGE)

    def off_reason(self, rule_id: str, name: ObjectName) -> str | None:
        """Why a rule is switched off for an object, empty where the site gives no reason; None where it is in force."""
        return off_reason(self.tuning_of(rule_id), name, off=rule_id in self.disabled)

    def _change(self, rule: Rule, name: ObjectName) -> RuleChange | None:
        return change_of(self.tuning_of(rule.id), name, off=rule.id in self.disabled)

    @cached_property
    def ranks(self) -> Mapping[str, int]:
        """Rule id -> its rank in its family."""
        return {str(rule.id): rule.family.rank for rule in self.rules if rule.family}

    @property
    def causes(self) -> Mapping[str, frozenset[str]]:
        """As of ``causes_of``."""
        return causes_of(self.rules)

    @property
    def partner_causes(self) -> Mapping[str, frozenset[str]]:
        """As of ``partner_causes_of``."""
        return partner_causes_of(self.rules)

    @property
    def listens(self) -> bool:
        """Whether a condition of any rule needs console messages."""
        return any(
            expression.messages for rule in self.rules for expression in self._compiled(rule, NO_CHANGE).expressions
        )

    @property
    def waiting(self) -> Mapping[str, tuple[str, ...]]:
        """Id of a console message -> the rules in force that wait for it, in the order of the files."""
        found: dict[str, dict[str, None]] = {}
        for rule in self.rules:
            if rule.id in self.switched_off:
                continue
            for expression in self._compiled(rule, NO_CHANGE).expressions:
                for message in sorted(expression.messages):
                    found.setdefault(message, {})[str(rule.id)] = None
        return {message: tuple(rules) for message, rules in found.items()}

    @property
    def windows(self) -> frozenset[WindowUse]:
        """Every window that the rules in force look through, so that the history they need is kept."""
        return frozenset(
            window
            for rule in self.rules
            if rule.id not in self.switched_off
            for compiled in self._forms(rule)
            for expression in compiled.expressions
            for window in expression.windows
        )

    def _forms(self, rule: Rule) -> Iterator[CompiledRule]:
        """The rule as shipped, and with the values of each entry by itself: these hold each of its windows."""
        yield self._compiled(rule, NO_CHANGE)
        for entry in self.tuning_of(rule.id):
            if entry.values:
                yield self._compiled(rule, RuleChange(tuple(sorted(entry.values.items()))))

    def _compiled(self, rule: Rule, change: RuleChange) -> CompiledRule:
        key = (str(rule.id), change)
        compiled = self._by_change.get(key)
        if compiled is None:
            compiled = compile_rule(changed_rule(rule, change), self.kinds, dict(change.values))
            self._by_change[key] = compiled
        return compiled


def doubts(rules: Iterable[CompiledRule]) -> list[Problem]:
    """Conditions that are valid but probably not meant: comparisons that always or never hold."""
    return [doubt for rule in rules for expression in rule.expressions for doubt in expression.doubts()]
