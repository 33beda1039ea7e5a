"""What a site changes about rules for some objects, and what of it is in force for one object. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from mqvitals_config.decoding.problem import Place
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.markdown import clear_count_text, hold_text, severity_text
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.ruleset.quantity import with_unit
from mqvitals_rules.ruleset.rule import Clear, Hold, Rule
from mqvitals_rules.snapshot import ObjectName

_NOWHERE = Place("the settings")


@dataclass(frozen=True, slots=True)
class Tuning:
    """One entry of the settings as it concerns one rule: what changes for the objects that ``objects`` selects (None: all).

    ``off`` None: as before this entry. ``clear`` has no condition: that stays the rule's own. ``values``: parameter ->
    value. ``key`` is the entry's in the settings, such as ``rules.tuning[0]``, ``place`` where it stands.
    """

    rule: str
    objects: ObjectPattern | None = None
    off: bool | None = None
    severity: Severity | None = None
    hold: Hold | None = None
    clear: Clear | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    key: str = ""
    place: Place = _NOWHERE

    def selects(self, name: ObjectName) -> bool:
        """Whether it is about the object."""
        return self.objects is None or self.objects.matches(name)

    @property
    def keys(self) -> frozenset[str]:
        """What it says something about: ``off``, ``severity``, ``hold``, ``clear``, and each parameter by its name."""
        said = {"off": self.off, "severity": self.severity, "hold": self.hold, "clear": self.clear}
        return frozenset(name for name, value in said.items() if value is not None) | {
            f"parameters.{name}" for name in self.values
        }


class RuleChange(NamedTuple):
    """What is different about a rule for some objects, and so what tells its compiled forms apart."""

    values: tuple[tuple[str, float], ...] = ()
    severity: Severity | None = None
    hold: Hold | None = None
    clear: Clear | None = None


NO_CHANGE = RuleChange()


def change_of(entries: Iterable[Tuning], name: ObjectName, *, off: bool) -> RuleChange | None:
    """What ``entries``, all of one rule and in the order of the settings, change for an object; None: it is off for it.

    The last entry that has a key counts for that key. ``off``: whether the rule is off without them.
    """
    values: dict[str, float] = {}
    change = NO_CHANGE
    for entry in entries:
        if not entry.selects(name):
            continue
        off = off if entry.off is None else entry.off
        values.update(entry.values)
        change = change._replace(
            severity=entry.severity or change.severity,
            hold=entry.hold or change.hold,
            clear=entry.clear or change.clear,
        )
    return None if off else change._replace(values=tuple(sorted(values.items())))


def off_reason(entries: Iterable[Tuning], name: ObjectName, *, off: bool) -> str | None:
    """Why a rule is off for an object, empty where no entry says so; None where it is not. ``off`` as for ``change_of``."""
    reason = "" if off else None
    for entry in entries:
        if entry.off is not None and entry.selects(name):
            reason = entry.reason if entry.off else None
    return reason


def off_everywhere(entries: Iterable[Tuning], *, off: bool) -> bool:
    """Whether a rule is certainly off for every object."""
    for entry in entries:
        if entry.off is False:
            off = False
        elif entry.off and entry.objects is None:
            off = True
    return off


def changed_rule(rule: Rule, change: RuleChange) -> Rule:
    """The rule with another severity, hold and clear; the values of its parameters stay the shipped ones."""
    if change.severity is not None:
        rule = replace(rule, severity=change.severity, severity_if=())
    if change.hold is not None:
        rule = replace(rule, hold=change.hold)
    if change.clear is not None:
        rule = replace(rule, clear=replace(change.clear, when=rule.clear.when))
    return rule


class Changed(NamedTuple):
    """One key of a rule that an entry changes, in words: ``severity`` ``warning`` -> ``info``."""

    key: str
    standard: str
    value: str
    entry: Tuning


def changes_in_words(rule: Rule, entry: Tuning) -> Iterator[Changed]:
    """What an entry changes about a rule: each key with the standard value and the site's."""
    if entry.off is not None:
        yield Changed("off", _off_word(off=rule.off), _off_word(off=entry.off), entry)
    tuned = changed_rule(rule, RuleChange((), entry.severity, entry.hold, entry.clear))
    if entry.severity is not None:
        yield Changed("severity", severity_text(rule), severity_text(tuned), entry)
    if entry.hold is not None:
        yield Changed("hold", hold_text(rule), hold_text(tuned), entry)
    if entry.clear is not None:
        yield Changed("clear", clear_count_text(rule), clear_count_text(tuned), entry)
    for name, value in entry.values.items():
        parameter = rule.parameters[name]
        standard, new = (with_unit(each, parameter.unit) for each in (parameter.value, value))
        yield Changed(name, standard, new, entry)


def in_force(rule: Rule, entries: Iterable[Tuning], name: ObjectName) -> tuple[Changed, ...]:
    """What is different about a rule for an object, each key with the entry that counts."""
    found: dict[str, Changed] = {}
    for entry in entries:
        if entry.selects(name):
            found.update((each.key, each) for each in changes_in_words(rule, entry))
    return tuple(each for each in found.values() if each.value != each.standard)


def _off_word(*, off: bool) -> str:
    return "off" if off else "on"
