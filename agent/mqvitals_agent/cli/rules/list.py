"""``mqvitals rules list``: the rules in force, and how many there are of each kind."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqvitals_agent.cli.rules.changed import changed_json, changed_lines, tuning_in_settings, unseen
from mqvitals_agent.commandline.output import line_width
from mqvitals_agent.commandline.settings import rule_config_of, rules_of, settings_of
from mqvitals_agent.errors import ExitCode, Failure
from mqvitals_agent.text.terminal import safe, wrap

if TYPE_CHECKING:
    from mqvitals_config.settings import Settings
    from mqvitals_rules.ruleset.rule import Rule
    from mqvitals_rules.ruleset.tuning import Tuning

_DESCRIPTION = """\
Lists the shipped rules and the site's own, and counts them by kind, tier and document. A tier says where the figures
come from: P answers to commands, S SMF records, M console messages, D facts that the site declares, A the agent
itself; P>S is better with the second, P+D needs both, P|S either. --changed lists what the configuration changes
about them instead: each entry with its place and reason, and each key with the standard value and the site's.
"""

_FILTERS = ("kind", "topic", "tier", "document")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``rules list``."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "--kind", metavar="KIND", help="only rules of this kind (operational, review, ...) or about this kind of object"
    )
    parser.add_argument("--topic", metavar="TOPIC", help="only rules of this file, such as channels")
    parser.add_argument(
        "--tier", metavar="TIER", help="only rules of this tier (P>S), or with this letter in theirs (S)"
    )
    parser.add_argument("--document", metavar="WORD", help="only rules from a document with this in its title")
    parser.add_argument(
        "--changed",
        action="store_true",
        help="what the configuration changes about the rules, for which objects, and why",
    )
    parser.add_argument(
        "--store", metavar="FILE", help="with --changed: the store whose objects the patterns are compared with"
    )
    parser.add_argument("--counts", action="store_true", help="only the numbers by kind, tier, document and topic")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="a JSON list, for programs; with --counts an object")
    form.add_argument(
        "--markdown", action="store_true", help="the reference page of the shipped rules, mqvitals help rules"
    )


def run(arguments: argparse.Namespace) -> int:
    """List the rules; returns the exit code. Raises Failure."""
    settings = settings_of(arguments)
    if arguments.markdown:
        from mqvitals_rules.ruleset.markdown import rules_page
        from mqvitals_rules.ruleset.pack import load_rules
        from mqvitals_rules.vocabulary.tables import KINDS

        sys.stdout.write(rules_page(load_rules(KINDS)))
        return ExitCode.DONE
    from mqvitals_agent.text.figure import counted

    rules = rules_of(settings)
    wanted = {name: value for name in _FILTERS if (value := getattr(arguments, name)) is not None}
    found = [rule for rule in rules if all(_PREDICATES[name](rule, value) for name, value in wanted.items())]
    if not found:
        raise _no_such_rules(rules, wanted)
    if arguments.changed:
        return _changed(found, settings, arguments)
    tuning = tuning_in_settings(found, settings)
    if arguments.json:
        shown = rule_counts(found) if arguments.counts else [rule_json(rule, tuning) for rule in found]
        print(json.dumps(shown, indent=2))
        return ExitCode.DONE
    if not arguments.counts:
        print("\n".join(_table(found, tuning)))
        print()
    print("\n".join(_count_lines(found)))
    if changed := len({entry.rule for entry in tuning}):
        print(f"Changed   {counted(changed, 'rule')} by the configuration: --changed lists what, and why")
    return ExitCode.DONE


def _changed(rules: Sequence[Rule], settings: Settings, arguments: argparse.Namespace) -> int:
    """What the configuration changes about some rules. Raises Failure, and StoreError when the store cannot be read."""
    # Every mistake is shown: a list without an entry would look as if it counted.
    rule_config_of(settings)
    tuning = tuning_in_settings(rules, settings)
    path = settings.store.path
    without = None
    if any(entry.objects is not None for entry in tuning) and path and (arguments.store or Path(path).exists()):
        from mqvitals_agent.store.reader import StoreReader

        with StoreReader.open(path) as reader:
            without = unseen(tuning, (each.name for each in reader.objects(gone=True)))
    if arguments.json:
        print(json.dumps(changed_json(rules, tuning, without), indent=2))
    else:
        print("\n".join(changed_lines(rules, tuning, without)))
    return ExitCode.DONE


def rule_json(rule: Rule, tuning: Iterable[Tuning]) -> dict[str, Any]:
    """One rule as programs get it, with what the configuration changes about it."""
    from mqvitals_rules.ruleset.markdown import clear_text, hold_text, one_line
    from mqvitals_rules.ruleset.tuning import off_everywhere

    own = [entry for entry in tuning if entry.rule == rule.id]
    return {
        "id": str(rule.id),
        "title": rule.title,
        "topic": rule.topic,
        "tier": rule.tier or None,
        "kind": rule.kind.value,
        "scope": rule.scope,
        "about": rule.about,
        "family": rule.family.name if rule.family else None,
        "caused_by": [str(cause) for cause in rule.caused_by],
        "caused_by_partner": [str(cause) for cause in rule.caused_by_partner],
        "same_incident": [str(other) for other in rule.same_incident],
        "quiet_restarts": rule.quiet_restarts,
        "enabled": not off_everywhere(own, off=rule.off),
        "severity": rule.severity.name.lower(),
        "severity_if": [
            {"when": one_line(case.when), "severity": case.severity.name.lower()} for case in rule.severity_if
        ],
        "when": one_line(rule.when),
        "hold": hold_text(rule),
        "clear": clear_text(rule),
        "parameters": [
            {
                "name": each.name,
                "value": each.value,
                "unit": each.unit,
                "origin": each.origin.value,
                "meaning": each.meaning,
                "overrides": [
                    {
                        "value": entry.values[each.name],
                        "objects": "*" if entry.objects is None else str(entry.objects.text),
                        "place": str(entry.place),
                    }
                    for entry in own
                    if each.name in entry.values
                ],
            }
            for each in rule.parameters.values()
        ],
        "plain_state": rule.plain_state,
        "needs": list(rule.needs),
        "advice": one_line(rule.advice),
        "caveat": one_line(rule.caveat),
        "source": [{"document": source.document, "section": source.section} for source in rule.sources],
        "mqsc": str(rule.mqsc) if rule.mqsc else None,
        "mqsc_if": [{"when": one_line(case.when), "mqsc": str(case.mqsc)} for case in rule.mqsc_if],
    }


def rule_counts(rules: Iterable[Rule]) -> dict[str, Any]:
    """The number of rules by kind, tier, document and topic, the greatest first; a rule counts for each document."""
    rules = tuple(rules)
    found = {
        "kind": Counter(rule.kind.value for rule in rules),
        "tier": Counter(rule.tier or "none" for rule in rules),
        "document": Counter(title for rule in rules for title in _documents(rule)),
        "topic": Counter(rule.topic for rule in rules),
    }
    return {"rules": len(rules), **{name: dict(counter.most_common()) for name, counter in found.items()}}


def _documents(rule: Rule) -> frozenset[str]:
    return frozenset(source.document for source in rule.sources)


_PREDICATES: dict[str, Callable[[Rule, str], bool]] = {
    "kind": lambda rule, word: word in (rule.kind.value, rule.scope, rule.about),
    "topic": lambda rule, word: word == rule.topic,
    "tier": lambda rule, word: word == rule.tier or (len(word) == 1 and word in rule.tier),
    "document": lambda rule, word: any(word.casefold() in title.casefold() for title in _documents(rule)),
}


def _no_such_rules(rules: Iterable[Rule], wanted: dict[str, str]) -> Failure:
    rules = tuple(rules)
    there = {
        "kind": {word for rule in rules for word in (rule.kind.value, rule.scope)},
        "topic": {rule.topic for rule in rules},
        "tier": {rule.tier for rule in rules if rule.tier},
        "document": {title for rule in rules for title in _documents(rule)},
    }
    words = " and ".join(f"{name} {value}" for name, value in wanted.items())
    hint = "; ".join(f"{name}s: {', '.join(sorted(there[name]))}" for name in wanted)
    return Failure(f"no rule of {words}", hint=hint)


def _table(rules: Iterable[Rule], tuning: Sequence[Tuning]) -> list[str]:
    from mqvitals_agent.text.terminal import cells, fit
    from mqvitals_rules.ruleset.tuning import off_everywhere

    rows = [("Rule", "Severity", "Tier", "Kind", "Scope", "Title")]
    for rule in rules:
        own = [entry for entry in tuning if entry.rule == rule.id]
        tuned = [entry.severity for entry in own if entry.objects is None and entry.severity is not None]
        severity = "off" if off_everywhere(own, off=rule.off) else [rule.severity, *tuned][-1].name.lower()
        rows.append((safe(rule.id), severity, rule.tier or "-", rule.kind.value, rule.scope, safe(rule.title)))
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(fit, row, widths)).rstrip() for row in rows]


def _count_lines(rules: Iterable[Rule]) -> Iterator[str]:
    from mqvitals_agent.text.figure import counted

    counts = rule_counts(rules)
    yield counted(counts.pop("rules"), "rule")
    for name, found in counts.items():
        words = ", ".join(f"{safe(word)} {count}" for word, count in found.items())
        yield from wrap(words, line_width(), first=f"{name.capitalize():<10}", rest=" " * 10)
