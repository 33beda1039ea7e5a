"""Tuning as the settings write it: checked against the rules, each mistake at its place, and what has no effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import translate
from re import compile as compile_pattern
from typing import Final

from mqvitals_config.decoding.problem import ConfigError, LocatedNumber, LocatedText, Problem, did_you_mean
from mqvitals_config.sections.rules import ClearSettings, HoldSettings, RuleSettings, ThresholdSettings, TuningSettings
from mqvitals_rules.compiled_rule import compile_rule
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.pattern import ALL_KINDS, ObjectPattern, any_pattern_of, pattern_of
from mqvitals_rules.ruleset.quantity import with_unit
from mqvitals_rules.ruleset.rule import Clear, Hold, Rule, RuleParameter
from mqvitals_rules.ruleset.tuning import Tuning
from mqvitals_rules.vocabulary.tables import KINDS

_SHARES: Final = frozenset({"pct", "%"})

_NEVER_NEGATIVE = frozenset(metric.unit for kind in KINDS.values() for metric in kind.metrics) - _SHARES | {"", "ratio"}
"""Units of counts, sizes, lengths of time and rates; a parameter without unit is a factor or a share of 1."""

_WILD: Final = "*?"


def tuning_of(
    settings: RuleSettings, rules: Mapping[str, Rule], *, complete: bool = True
) -> tuple[tuple[Tuning, ...], list[Problem]]:
    """What the settings tune, for each rule by itself, and what is wrong with their rules, parameters and patterns.

    Thresholds come first, so that the entries of ``tuning`` count after them. Unless ``rules`` are ``complete`` an
    unknown id is no problem: its rule may be one that could not be read.
    """
    reader = _TuningReader(rules, complete=complete)
    for key, ids in (("disabled", settings.disabled), ("enabled", settings.enabled)):
        for index, rule_id in enumerate(ids):
            reader.rule(rule_id, f"rules.{key}[{index}]")
    for index, threshold in enumerate(settings.thresholds):
        reader.threshold(threshold, f"rules.thresholds[{index}]")
    for index, entry in enumerate(settings.tuning):
        reader.entry(entry, f"rules.tuning[{index}]")
    return tuple(reader.found), reader.problems


def switched_by_id(settings: RuleSettings) -> tuple[Tuning, ...]:
    """The ids under ``disabled`` and ``enabled``, as entries about every object; the former count last."""
    return tuple(
        Tuning(str(rule_id), off=off, key=f"rules.{key}[{index}]", place=rule_id.place)
        for key, off, ids in (("enabled", False, settings.enabled), ("disabled", True, settings.disabled))
        for index, rule_id in enumerate(ids)
    )


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


class _TuningReader:
    """Collects the tuning of a file, and its problems."""

    def __init__(self, rules: Mapping[str, Rule], *, complete: bool) -> None:
        self._rules = rules
        self._complete = complete
        self._refusals: dict[tuple[str, str, float], str] = {}
        """By rule, parameter and value: compiling takes a millisecond, and many entries may say the same."""
        self.found: list[Tuning] = []
        self.problems: list[Problem] = []

    def rule(self, rule_id: LocatedText, key: str) -> Rule | None:
        """The rule of an id, or a problem."""
        rule = self._rules.get(rule_id)
        if rule is None and self._complete:
            known = did_you_mean(rule_id, self._rules) or "; 'mqvitals rules list' shows all"
            self._refuse(rule_id, key, f"there is no rule {str(rule_id)!r}{known}")
        return rule

    def threshold(self, entry: ThresholdSettings, key: str) -> None:
        """Read the short form: one parameter of one rule."""
        rule = self.rule(entry.rule, f"{key}.rule")
        if rule is None:
            return
        if entry.parameter not in rule.parameters:
            self._refuse(entry.parameter, f"{key}.parameter", _no_parameter(entry.parameter, [rule]))
            return
        value = self._value(rule, str(entry.parameter), entry.value, f"{key}.value")
        pattern = self._pattern(entry.objects, key, rule)
        place = entry.rule.place
        self.found.append(Tuning(str(rule.id), pattern, values={str(entry.parameter): value}, key=key, place=place))

    def entry(self, entry: TuningSettings, key: str) -> None:
        """Read an entry of ``tuning``."""
        rules = self._selected(entry, key)
        if rules is None:
            return
        one = rules[0] if len(rules) == 1 and entry.rule is not None and not _is_pattern(entry.rule) else None
        pattern = self._pattern(entry.objects, key, one)
        if pattern is not None and pattern.kind != ALL_KINDS:
            fitting = [rule for rule in rules if rule.scope == pattern.kind]
            if not fitting and entry.objects is not None:
                message = f"none of these rules applies to objects of kind {pattern.kind}"
                self._refuse(entry.objects, f"{key}.objects", message)
            rules = fitting
        for name in entry.parameters:
            if rules and not any(name in rule.parameters for rule in rules):
                self._refuse(name, f"{key}.parameters.{name}", _no_parameter(name, rules))
        for rule in rules:
            values = {
                str(name): self._value(rule, str(name), value, f"{key}.parameters.{name}")
                for name, value in entry.parameters.items()
                if name in rule.parameters
            }
            tuning = Tuning(
                rule=str(rule.id),
                objects=pattern,
                off=entry.off,
                severity=None if entry.severity is None else Severity[entry.severity.upper()],
                hold=_hold(entry.hold),
                clear=_clear(entry.clear, rule),
                values=values,
                reason=str(entry.reason),
                key=key,
                place=entry.selector.place,
            )
            if tuning.keys:
                self.found.append(tuning)

    def _selected(self, entry: TuningSettings, key: str) -> Sequence[Rule] | None:
        """The rules that an entry is about; None after a problem."""
        rules: Sequence[Rule] = tuple(self._rules.values())
        if entry.rule is not None and not _is_pattern(entry.rule):
            rule = self.rule(entry.rule, f"{key}.rule")
            if rule is None:
                return None
            rules = (rule,)
        elif entry.rule is not None:
            matches = compile_pattern(translate(entry.rule)).match
            rules = [rule for rule in rules if matches(rule.id)]
            if not rules and self._complete:
                message = f"no rule is like {str(entry.rule)!r}; 'mqvitals rules list' shows all"
                self._refuse(entry.rule, f"{key}.rule", message)
        if entry.family is not None and rules:
            matches = compile_pattern(translate(entry.family)).match
            found = [rule for rule in rules if rule.family is not None and matches(rule.family.name)]
            if not found and self._complete:
                families = {rule.family.name for rule in rules if rule.family is not None}
                known = did_you_mean(entry.family, families) or f"; there is {', '.join(sorted(families)) or 'none'}"
                self._refuse(entry.family, f"{key}.family", f"no rule is of family {str(entry.family)!r}{known}")
            rules = found
        return rules or None

    def _pattern(self, text: LocatedText | None, key: str, rule: Rule | None) -> ObjectPattern | None:
        if text is None:
            return None
        pattern, problems = any_pattern_of(text, f"{key}.objects")
        if rule is not None and pattern is not None and pattern.kind != ALL_KINDS:
            pattern, problems = pattern_of(text, f"{key}.objects", rule.scope, f"{rule.id} applies to")
        self.problems += problems
        return pattern

    def _value(self, rule: Rule, name: str, value: LocatedNumber, key: str) -> float:
        refusal = impossible_value(rule.parameters[name], value) or self._unusable(rule, name, value)
        if refusal:
            problem = Problem(value.place, key, refusal)
            if problem not in self.problems:
                self.problems.append(problem)
        return float(value)

    def _unusable(self, rule: Rule, name: str, value: float) -> str:
        """Why the rule's expressions cannot take a value, such as a window that is longer than any."""
        if not self._complete:
            return ""
        key = (str(rule.id), name, float(value))
        if key not in self._refusals:
            self._refusals[key] = ""
            try:
                compile_rule(rule, KINDS, {name: value})
            except ConfigError as error:
                self._refusals[key] = f"{name} cannot be {value:g}: {error.problems[0].message}"
        return self._refusals[key]

    def _refuse(self, text: LocatedText, key: str, message: str) -> None:
        self.problems.append(Problem(text.place, key, message))


def _is_pattern(text: str) -> bool:
    return any(char in text for char in _WILD)


def _no_parameter(name: str, rules: Sequence[Rule]) -> str:
    known = list(dict.fromkeys(each for rule in rules for each in rule.parameters))
    if len(rules) == 1:
        rule = rules[0]
        if rule.plain_state:
            return f"{rule.id} has no parameter {str(name)!r}: it is a plain state, without any"
        return f"{rule.id} has no parameter {str(name)!r}" + (
            did_you_mean(name, known) or f"; it has: {', '.join(known) or 'none'}"
        )
    return f"none of these {len(rules)} rules has a parameter {str(name)!r}{did_you_mean(name, known)}"


def _hold(written: HoldSettings | int | None) -> Hold | None:
    if written is None:
        return None
    if isinstance(written, int):
        return Hold(duration_ms=written)
    return Hold(written.polls or 1, written.duration, written.records, written.of)


def _clear(written: ClearSettings | int | None, rule: Rule) -> Clear | None:
    """The count or time of a clear; its condition stays that of the rule."""
    if written is None:
        return None
    if isinstance(written, int):
        return Clear(polls=rule.clear.polls, duration_ms=written)
    return Clear(None, written.polls or rule.clear.polls, written.records, written.duration)


def without_effect(tuning: Sequence[Tuning]) -> Iterator[tuple[Tuning, Tuning]]:
    """Each entry, by its first rule, all of whose keys later entries always hide, with the first of these.

    What each rule of an entry is told counts: one of many rules for which it counts is enough.
    """
    counts: dict[str, tuple[Tuning, Tuning] | None] = {}
    by_rule: dict[str, list[Tuning]] = {}
    for each in tuning:
        by_rule.setdefault(each.rule, []).append(each)
    for entries in by_rule.values():
        for index, entry in enumerate(entries):
            hiding = [later for later in entries[index + 1 :] if _covers(later.objects, entry.objects)]
            hidden = frozenset[str]().union(*(later.keys for later in hiding))
            if any(later.off for later in hiding):
                hidden |= entry.keys
            if entry.keys <= hidden:
                counts.setdefault(entry.key, (entry, hiding[0]))
            else:
                counts[entry.key] = None
    yield from (pair for pair in counts.values() if pair is not None)


def _covers(later: ObjectPattern | None, earlier: ObjectPattern | None) -> bool:
    """Whether one pattern certainly selects all that another one does."""
    if later is None:
        return True
    if earlier is None:
        return False
    return (
        later.kind in (ALL_KINDS, earlier.kind)
        and later.owner.pattern in (_ANY, earlier.owner.pattern)
        and later.name.pattern in (_ANY, earlier.name.pattern)
    )


_ANY: Final = ObjectPattern.parse("*/*").owner.pattern
