"""The rules, thresholds and facts in force, from the settings; every mistake at its place in the configuration.

``mqvitals_config`` checks the form of settings. Here rule ids, parameters, patterns and words are checked against the
rules and the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import cache

from mqvitals_config.problem import ConfigError, Problem, did_you_mean
from mqvitals_config.scalars import time_zone
from mqvitals_config.settings import RuleSettings, Settings
from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.history import ZoneOf, no_zone
from mqvitals_rules.ruleset.facts import Facts, declared_facts
from mqvitals_rules.ruleset.pack import read_rules
from mqvitals_rules.ruleset.pattern import ObjectPattern, pattern_of
from mqvitals_rules.ruleset.quantity import with_unit
from mqvitals_rules.ruleset.rule import Rule, RuleParameter
from mqvitals_rules.ruleset.ruleset import RuleSet, Threshold
from mqvitals_rules.vocabulary.metric import Kind
from mqvitals_rules.vocabulary.tables import KINDS

_SHARES = frozenset({"pct", "%"})

_NEVER_NEGATIVE = frozenset(metric.unit for kind in KINDS.values() for metric in kind.metrics) - _SHARES | {"", "ratio"}
"""Units of counts, sizes, lengths of time and rates; a parameter without unit is a factor or a share of 1."""


@dataclass(frozen=True, slots=True)
class RuleConfig:
    """The rules, the facts and the time zones in force: what an engine needs of the configuration."""

    rules: RuleSet
    facts: Facts
    zone_of: ZoneOf = field(default=no_zone, compare=False)
    """The declared time zone of each queue manager, and of the group."""


def check_settings(settings: Settings) -> tuple[Problem, ...]:
    """Every mistake in the settings that concerns rules or facts, and every mistake in the rule files they name."""
    _, problems = _load(settings)
    return tuple(sorted(problems))


def load_rule_config(settings: Settings) -> RuleConfig:
    """The rules and facts in force. Raises ConfigError with what ``check_settings`` finds."""
    config, problems = _load(settings)
    if config is None or problems:
        raise ConfigError(problems)
    return config


def readable_rule_config(settings: Settings) -> RuleConfig:
    """The rules and facts without those in error, for screens: a mistake must not keep anyone from reading alerts."""
    compiled: dict[str, CompiledRule] = {}
    rules, _ = read_rules(KINDS, settings.rules.files, compiled)
    known = {str(rule.id): rule for rule in rules if str(rule.id) in compiled}
    thresholds, wrong = thresholds_of(settings.rules, known)
    if wrong:
        # One whose pattern cannot be read would count for every object.
        thresholds = ()
    facts, _ = declared_facts(settings.facts)
    disabled = disabled_rules(settings.rules, known.values())
    ruleset = RuleSet(tuple(known.values()), KINDS, thresholds, disabled, compiled, settings.rules.cause_share)
    return RuleConfig(ruleset, Facts(KINDS, facts), _zones(settings))


def _load(settings: Settings) -> tuple[RuleConfig | None, list[Problem]]:
    compiled: dict[str, CompiledRule] = {}
    rules, problems = read_rules(KINDS, settings.rules.files, compiled)
    # A rule that cannot be read must not make its own thresholds look misspelt too.
    thresholds, found = thresholds_of(settings.rules, {str(rule.id): rule for rule in rules}, complete=not problems)
    problems += found
    facts, found = declared_facts(settings.facts)
    problems += found
    if problems:
        return None, problems
    disabled = disabled_rules(settings.rules, rules)
    try:
        ruleset = RuleSet(rules, KINDS, thresholds, disabled, compiled, settings.rules.cause_share)
    except ConfigError as error:
        return None, [*error.problems]
    return RuleConfig(ruleset, Facts(KINDS, facts), _zones(settings)), []


def disabled_rules(settings: RuleSettings, rules: Iterable[Rule]) -> frozenset[str]:
    """The ids of rules that are not evaluated: those switched off, and those that are off until they are switched on."""
    off = {str(rule.id) for rule in rules if rule.off}
    return frozenset(map(str, settings.disabled)) | (off - set(map(str, settings.enabled)))


def _zones(settings: Settings) -> ZoneOf:
    """The declared zone of an owner, looked up once."""

    @cache
    def zone_of(owner: str) -> tzinfo | None:
        name = settings.time_zone_of(owner)
        return None if name is None else time_zone(name)

    return zone_of


def thresholds_of(
    settings: RuleSettings, rules: Mapping[str, Rule], *, complete: bool = True
) -> tuple[tuple[Threshold, ...], list[Problem]]:
    """The overridden thresholds, and what is wrong with their rules, parameters and patterns.

    Unless ``rules`` are ``complete`` an unknown id is no problem: its rule may be one that could not be read.
    """
    thresholds: list[Threshold] = []
    problems: list[Problem] = []
    for key, ids in (("disabled", settings.disabled), ("enabled", settings.enabled)):
        for index, rule_id in enumerate(ids):
            if complete and rule_id not in rules:
                problems.append(Problem(rule_id.place, f"rules.{key}[{index}]", _no_rule(rule_id, rules)))
    for index, entry in enumerate(settings.thresholds):
        key = f"rules.thresholds[{index}]"
        rule = rules.get(entry.rule)
        if rule is None:
            if complete:
                problems.append(Problem(entry.rule.place, f"{key}.rule", _no_rule(entry.rule, rules)))
            continue
        if entry.parameter not in rule.parameters:
            known = ", ".join(rule.parameters) or "none"
            meant = did_you_mean(entry.parameter, rule.parameters) or f"; it has: {known}"
            problems.append(
                Problem(
                    entry.parameter.place, f"{key}.parameter", f"{rule.id} has no parameter {entry.parameter!r}{meant}"
                )
            )
            continue
        refusal = impossible_value(rule.parameters[entry.parameter], entry.value)
        if refusal:
            problems.append(Problem(entry.value.place, f"{key}.value", refusal))
        pattern = None
        if entry.objects is not None:
            pattern, found = pattern_of(entry.objects, f"{key}.objects", rule.scope, f"{rule.id} applies to")
            problems += found
        thresholds.append(Threshold(str(rule.id), str(entry.parameter), entry.value, pattern))
    return tuple(thresholds), problems


def impossible_value(parameter: RuleParameter, value: float) -> str:
    """Why ``value`` is impossible for the unit of a parameter; empty when it is possible.

    Where the rule's own value is outside the limits of its unit, they are not applied.
    """
    name, unit = parameter.name, parameter.unit
    if unit in _SHARES and 0 <= parameter.value <= 100:
        if not 0 <= value <= 100:
            return f"{name} is a percentage, from 0 to 100, not {value:g}"
    elif unit in _NEVER_NEGATIVE and value < 0 <= parameter.value:
        return f"{name} cannot be negative; the rule's own value is {with_unit(parameter.value, unit)}"
    return ""


def _no_rule(rule_id: str, rules: Mapping[str, Rule]) -> str:
    return f"there is no rule {rule_id!r}" + (did_you_mean(rule_id, rules) or "; 'mqvitals rules list' shows all")


def ineffective_thresholds(settings: Settings) -> Iterator[Problem]:
    """Warnings about thresholds without effect: no object matches, or a later one always counts instead.

    The settings must be without problems.
    """
    entries = settings.rules.thresholds
    for index, entry in enumerate(entries):
        key = f"rules.thresholds[{index}]"
        later = next(
            (
                each
                for each in entries[index + 1 :]
                if (each.rule, each.parameter) == (entry.rule, entry.parameter)
                and (each.objects is None or each.objects == entry.objects)
            ),
            None,
        )
        if later is not None:
            yield Problem(
                entry.rule.place,
                key,
                f"warning: this never counts: {later.rule.place} gives another value for the same",
            )
        elif entry.objects is not None:
            reason = _nothing_like(ObjectPattern.parse(entry.objects), settings)
            if reason:
                yield Problem(entry.objects.place, f"{key}.objects", f"warning: this selects nothing: {reason}")


def _nothing_like(pattern: ObjectPattern, settings: Settings) -> str:
    """Why no object can be selected; empty where that is not certain."""
    kind = KINDS[pattern.kind]
    if kind.single and not pattern.name.fullmatch(""):
        return f"a {kind.name} has no name of its own; write owner/{kind.name}"
    owners = _owners(kind, settings)
    if owners is not None and not any(map(pattern.owner.fullmatch, owners)):
        return f"objects of kind {kind.name} belong to {', '.join(owners) or 'no queue manager'}"
    return ""


def _owners(kind: Kind, settings: Settings) -> tuple[str, ...] | None:
    """All owners that objects of a kind can have; None where records or replies may add others."""
    names = tuple(str(each.name) for each in settings.queue_managers)
    if not names or settings.smf.watch is not None or settings.name is None:
        return None
    group = str(settings.name)
    return (group,) if kind.of_group else (*names, group)
