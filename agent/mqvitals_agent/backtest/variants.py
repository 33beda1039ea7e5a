"""The rules of a backtest, as they are in force and with other values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mqvitals_config.decoding.problem import ConfigError, did_you_mean
from mqvitals_config.decoding.scalars import parse_duration
from mqvitals_rules.compiled_rule import compile_rule
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.ruleset.quantity import with_unit
from mqvitals_rules.ruleset.rule import Clear, Hold, Rule
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.ruleset.tuning import Tuning
from mqvitals_rules.ruleset.tuning_settings import impossible_value

HOLD, CLEAR = "hold", "clear"
"""What can be set beside parameters: for how long a condition must hold, and its alert's clear condition."""


@dataclass(frozen=True, slots=True)
class RuleVariant:
    """Rules to be run over history: ``name`` says what is different about them, empty where nothing is."""

    name: str
    config: RuleConfig


def in_force(config: RuleConfig, rules: Collection[str]) -> RuleVariant:
    """The rules with these ids as they are in force; those that are off for all objects are switched on."""
    known = config.rules
    found = RuleSet(
        rules=tuple(rule for rule in known.rules if rule.id in rules),
        kinds=known.kinds,
        tuning=tuple(
            entry if entry.objects is not None else replace(entry, off=None)
            for entry in known.tuning
            if entry.rule in rules
        ),
        compiled={rule_id: compiled for rule_id, compiled in known.compiled.items() if rule_id in rules},
        cause_share=known.cause_share,
    )
    return RuleVariant("", replace(config, rules=found))


def with_values(variant: RuleVariant, settings: Sequence[str]) -> RuleVariant:
    """The rules with other values for all objects, each written ``free_pct=5``, ``hold=10m`` or ``clear=5``.

    Raises ValueError with a sentence: another form, no rule has the parameter, or its rule cannot take the value.
    """
    rules, entries, names = variant.config.rules.rules, [], []
    for setting in settings:
        name, equals, text = (part.strip() for part in setting.partition("="))
        if not equals or not name or not text:
            raise ValueError(f"a setting is written parameter=value, such as free_pct=5, not {setting!r}")
        having = [rule for rule in rules if name in rule.parameters]
        if having:
            value = _number(name, text)
            entries += [_with_value(rule, name, value) for rule in having]
            names.append(f"{name} = {with_unit(value, having[0].parameters[name].unit)}")
        elif name in (HOLD, CLEAR):
            entries += [_with_time(rule, name, text) for rule in rules]
            names.append(f"{name} = {text}" + (" polls" if text.isdigit() else ""))
        else:
            raise ValueError(_no_parameter(name, rules))
    known = variant.config.rules
    found = RuleSet(
        rules=rules,
        kinds=known.kinds,
        tuning=(*known.tuning, *entries),
        compiled=known.compiled,
        cause_share=known.cause_share,
    )
    return RuleVariant(", ".join(names), replace(variant.config, rules=found))


def variants_of(settings: Iterable[str]) -> list[list[str]]:
    """The settings of each run: a parameter that is set several times makes a run with each value, all others are in each.

    Raises ValueError where that is so of several parameters.
    """
    by_name: dict[str, list[str]] = {}
    for setting in settings:
        by_name.setdefault(setting.partition("=")[0].strip(), []).append(setting)
    several = [name for name, found in by_name.items() if len(found) > 1]
    if len(several) > 1:
        raise ValueError(f"only one parameter can have several values, not {' and '.join(several)}")
    runs: list[list[str]] = [[]] if by_name else []
    for found in by_name.values():
        runs = [[*run, setting] for setting in found for run in runs]
    return runs


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{name} is a number in its own unit, not {text!r}") from None
    if not abs(value) < float("inf"):
        raise ValueError(f"{name} is a number, not {text!r}")
    return value


def _with_value(rule: Rule, name: str, value: float) -> Tuning:
    refusal = impossible_value(rule.parameters[name], value)
    if refusal:
        raise ValueError(f"{rule.id}: {refusal}")
    values: Mapping[str, float] = {name: value}
    try:
        from mqvitals_rules.vocabulary.tables import KINDS

        compile_rule(rule, KINDS, values)
    except ConfigError as error:
        raise ValueError(f"{rule.id}: {name} cannot be {value:g}: {error.problems[0].message}") from error
    return Tuning(str(rule.id), values=values, reason="backtest")


def _with_time(rule: Rule, name: str, text: str) -> Tuning:
    """Another hold or clear: a number of polls, or a time."""
    if text.isascii() and text.isdigit():
        polls, duration_ms = int(text), None
        if not 1 <= polls <= 1_000:
            raise ValueError(f"{name} is from 1 to 1000 polls, or a time such as 10m, not {text}")
    else:
        try:
            polls, duration_ms = 1, parse_duration(text)
        except ValueError as error:
            raise ValueError(f"{name} is a number of polls, or a time such as 10m: {error}") from error
    if name == HOLD:
        return Tuning(str(rule.id), hold=Hold(polls, duration_ms), reason="backtest")
    return Tuning(str(rule.id), clear=Clear(None, polls, None, duration_ms), reason="backtest")


def _no_parameter(name: str, rules: Sequence[Rule]) -> str:
    known = list(dict.fromkeys(each for rule in rules for each in rule.parameters))
    who = str(rules[0].id) if len(rules) == 1 else f"none of these {len(rules)} rules"
    has = "has no" if len(rules) == 1 else "has a"
    settable = ", ".join([*known, HOLD, CLEAR])
    return f"{who} {has} parameter {name!r}{did_you_mean(name, known) or f'; what can be set: {settable}'}"
