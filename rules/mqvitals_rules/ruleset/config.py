"""The rules, their tuning and the facts in force, from the settings; every mistake at its place in the configuration.

``mqvitals_config`` checks the form of settings. Here rule ids, parameters, patterns and words are checked against the
rules and the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import cache

from mqvitals_config.decoding.problem import ConfigError, LocatedText, Place, Problem, did_you_mean
from mqvitals_config.decoding.scalars import time_zone
from mqvitals_config.sections.rules import RuleSettings
from mqvitals_config.sections.store import OTHER_KINDS
from mqvitals_config.settings import Settings
from mqvitals_rules.compiled_rule import CompiledRule, compile_rule
from mqvitals_rules.history import ZoneOf, no_zone
from mqvitals_rules.ruleset.facts import Facts, declared_facts
from mqvitals_rules.ruleset.pack import read_rules
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.ruleset.rule import Rule
from mqvitals_rules.ruleset.ruleset import RuleSet, doubts
from mqvitals_rules.ruleset.tuning import Tuning, change_of, changed_rule
from mqvitals_rules.ruleset.tuning_settings import tuning_of, without_effect
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Kind
from mqvitals_rules.vocabulary.tables import KINDS


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


def load_rule_config(settings: Settings, *, defer: bool = False) -> RuleConfig:
    """The rules and facts in force. Raises ConfigError with what ``check_settings`` finds.

    With ``defer`` shipped rules are compiled when an object that has them is first looked at: for programs that look at few.
    """
    config, problems = _load(settings, defer=defer)
    if config is None or problems:
        raise ConfigError(problems)
    return config


def readable_rule_config(settings: Settings) -> RuleConfig:
    """The rules and facts without those in error, for screens: a mistake must not keep anyone from reading alerts.

    Shipped rules are compiled when an object that has them is first looked at.
    """
    compiled: dict[str, CompiledRule] = {}
    deferred: set[str] = set()
    rules, _ = read_rules(KINDS, settings.rules.files, compiled, deferred)
    known = {str(rule.id): rule for rule in rules if str(rule.id) in compiled or str(rule.id) in deferred}
    tuning, wrong = tuning_of(settings.rules, known)
    if wrong:
        # One whose pattern cannot be read would count for every object.
        tuning = ()
    facts, _ = declared_facts(settings.facts)
    disabled = disabled_rules(settings.rules, known.values())
    ruleset = RuleSet(
        tuple(known.values()), KINDS, tuning, disabled, compiled, settings.rules.cause_share, frozenset(deferred)
    )
    return RuleConfig(ruleset, Facts(KINDS, facts), _zones(settings))


def _load(settings: Settings, *, defer: bool = False) -> tuple[RuleConfig | None, list[Problem]]:
    compiled: dict[str, CompiledRule] = {}
    deferred: set[str] = set()
    rules, problems = read_rules(KINDS, settings.rules.files, compiled, deferred if defer else None)
    # A rule that cannot be read must not make what tunes it look misspelt too.
    tuning, found = tuning_of(settings.rules, {str(rule.id): rule for rule in rules}, complete=not problems)
    problems += found
    facts, found = declared_facts(settings.facts)
    problems += found
    problems += _unknown_kinds(settings)
    if problems:
        return None, problems
    disabled = disabled_rules(settings.rules, rules)
    try:
        ruleset = RuleSet(rules, KINDS, tuning, disabled, compiled, settings.rules.cause_share, frozenset(deferred))
    except ConfigError as error:
        return None, [*error.problems]
    return RuleConfig(ruleset, Facts(KINDS, facts), _zones(settings)), []


def _unknown_kinds(settings: Settings) -> Iterator[Problem]:
    """Kinds with a time of their own for their samples that are none."""
    for kind in settings.store.keep.raw.kinds:
        if kind not in KINDS:
            place = kind.place if isinstance(kind, LocatedText) else Place("")
            message = f"there is no kind of object {str(kind)!r}" + did_you_mean(kind, [*KINDS, OTHER_KINDS])
            yield Problem(place, f"store.keep.raw.{kind}", message)


def tuned_rule(settings: Settings, rule: Rule, name: ObjectName) -> CompiledRule | None:
    """One rule as it is in force for an object, without compiling the others; None where it is switched off for it.

    Entries with a mistake are left out. Raises ConfigError when the rule cannot be compiled.
    """
    entries, _ = tuning_of(settings.rules, {str(rule.id): rule}, complete=False)
    change = change_of(entries, name, off=bool(disabled_rules(settings.rules, (rule,)) & {str(rule.id)}))
    return None if change is None else compile_rule(changed_rule(rule, change), KINDS, dict(change.values))


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


def ineffective_tuning(settings: Settings) -> Iterator[Problem]:
    """Warnings about thresholds and tuning without effect: no object matches, later entries always count instead, or
    a condition can no longer hold.

    The settings must be without problems.
    """
    rules = {str(rule.id): rule for rule in read_rules(KINDS, settings.rules.files)[0]}
    tuning, _ = tuning_of(settings.rules, rules)
    hidden = {entry.key: later for entry, later in without_effect(tuning)}
    seen: set[str] = set()
    for entry in tuning:
        if entry.key in seen:
            continue
        seen.add(entry.key)
        if entry.key in hidden:
            message = f"warning: this never counts: {hidden[entry.key].place} says something else about the same"
            yield Problem(entry.place, entry.key, message)
        elif entry.objects is not None:
            reason = _nothing_like(entry.objects, settings)
            if reason:
                text = entry.objects.text
                place = text.place if isinstance(text, LocatedText) else entry.place
                yield Problem(place, f"{entry.key}.objects", f"warning: this selects nothing: {reason}")
        for doubt in _doubts_of_values(entry, rules[entry.rule]):
            yield Problem(entry.place, entry.key, f"warning: with these values of {entry.rule}: {doubt}")


def _doubts_of_values(entry: Tuning, rule: Rule) -> tuple[str, ...]:
    """What is doubtful about the conditions of a rule with an entry's values, and is not without them."""
    if not entry.values:
        return ()
    before, after = ({each.message for each in doubts([compile_rule(rule, KINDS, it)])} for it in ({}, entry.values))
    return tuple(sorted(after - before))


def _nothing_like(pattern: ObjectPattern, settings: Settings) -> str:
    """Why no object can be selected; empty where that is not certain."""
    kind = KINDS.get(pattern.kind)
    if kind is None:
        return ""
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
