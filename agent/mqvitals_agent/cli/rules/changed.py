"""``mqvitals rules list --changed``: what the site changes about the rules, for which objects, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from mqvitals_agent.commandline.output import line_width
from mqvitals_agent.text.terminal import cells, fit, safe, wrap

if TYPE_CHECKING:
    from mqvitals_config.settings import Settings
    from mqvitals_rules.ruleset.rule import Rule
    from mqvitals_rules.ruleset.tuning import Tuning
    from mqvitals_rules.snapshot import ObjectName

_NOTHING = "Nothing is changed: the rules apply as shipped. 'mqvitals help tuning' shows how to change them."
_NO_DIFFERENCE = "changes nothing: the rules are so already"
_UNSEEN = "matches no object seen so far"


def tuning_in_settings(rules: Iterable[Rule], settings: Settings) -> tuple[Tuning, ...]:
    """All that the settings change, in the order in which it counts; entries with a mistake are left out."""
    from mqvitals_rules.ruleset.tuning_settings import switched_by_id, tuning_of

    found, _ = tuning_of(settings.rules, {str(rule.id): rule for rule in rules}, complete=False)
    return (*switched_by_id(settings.rules), *found)


def tuning_of_rule(rule: Rule, settings: Settings) -> tuple[Tuning, ...]:
    """The same for one rule."""
    return tuple(entry for entry in tuning_in_settings((rule,), settings) if entry.rule == rule.id)


def unseen(tuning: Iterable[Tuning], names: Iterable[ObjectName]) -> frozenset[str]:
    """The keys of the entries that select no object of ``names``."""
    patterns = {entry.key: entry.objects for entry in tuning if entry.objects is not None}
    for name in names:
        patterns = {key: pattern for key, pattern in patterns.items() if not pattern.matches(name)}
    return frozenset(patterns)


def changed_json(
    rules: Iterable[Rule], tuning: Iterable[Tuning], without: frozenset[str] | None
) -> list[dict[str, Any]]:
    """One object for each key of a rule that is changed; ``without`` are the entries that select nothing, None: not known."""
    from mqvitals_rules.ruleset.tuning import changes_in_words

    by_id = {str(rule.id): rule for rule in rules}
    return [
        {
            "rule": entry.rule,
            "objects": "*" if entry.objects is None else str(entry.objects.text),
            "key": each.key,
            "standard": each.standard,
            "value": each.value,
            "reason": entry.reason or None,
            "entry": entry.key,
            "place": str(entry.place),
            "seen": None if without is None or entry.objects is None else entry.key not in without,
        }
        for entry in tuning
        if entry.rule in by_id
        for each in changes_in_words(by_id[entry.rule], entry)
        if each.value != each.standard
    ]


def changed_lines(rules: Iterable[Rule], tuning: Sequence[Tuning], without: frozenset[str] | None) -> Iterator[str]:
    """The lines of the same: each entry with its place and reason, below it what it changes about which rule."""
    from mqvitals_rules.ruleset.tuning import changes_in_words

    by_id = {str(rule.id): rule for rule in rules}
    shown = [entry for entry in tuning if entry.rule in by_id]
    if not shown:
        yield from wrap(_NOTHING, line_width())
    for number, (_, group) in enumerate(groupby(shown, key=lambda entry: entry.key)):
        entries = tuple(group)
        first = entries[0]
        if number:
            yield ""
        objects = "every object" if first.objects is None else str(first.objects.text)
        reason = f": {first.reason}" if first.reason else f" ({first.key.partition('[')[0]})"
        yield from wrap(safe(f"{first.place}  {objects}{reason}"), line_width(), rest="  ")
        every = [(entry.rule, each) for entry in entries for each in changes_in_words(by_id[entry.rule], entry)]
        found = [(rule, each) for rule, each in every if each.value != each.standard]
        rules_wide = max((cells(rule) for rule, _ in found), default=0)
        keys_wide = max((cells(each.key) for _, each in found), default=0)
        for rule, each in found:
            begin = f"  {fit(safe(rule), rules_wide)}  {fit(safe(each.key), keys_wide)}  "
            yield from wrap(f"{each.standard} -> {each.value}", line_width(), first=begin, rest=" " * len(begin))
        if not found:
            yield f"  {_NO_DIFFERENCE}"
        if without is not None and first.key in without:
            yield f"  {_UNSEEN}"
