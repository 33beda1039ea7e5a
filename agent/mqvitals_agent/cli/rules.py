"""``mqvitals rules``: check rule files, list the rules, explain one rule or its verdict about an object."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mqvitals_agent.cli.failure import ExitCode, Failure
from mqvitals_agent.cli.rule_argument import explained, rules_of, settings_of

if TYPE_CHECKING:
    from mqvitals_config.settings import Settings
    from mqvitals_rules.rule import Rule

_CHECK = """\
Checks rule files together with the shipped rules: shape, names, expressions, ids that occur twice. Every problem is printed as
FILE:LINE:COLUMN: KEY: what is wrong, with the line and a caret under the spot. Exit code 0 when there is none, 1 when there is one, 2 when
a FILE cannot be read.
Without FILE the shipped rules, the configuration's rule files and its thresholds are checked.
"""

_EXPLAIN = """\
Prints a rule: its condition, thresholds with their origin, advice, caveat and source. With an object (QM01/buffer_pool/3) and a store
it judges that object as it is now: the condition with the values filled in, the verdict, and what is missing where it is unknown.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``check``, ``list`` and ``explain``."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser("check", help="say what is wrong with rule files", description=_CHECK)
    check.add_argument("files", metavar="FILE", nargs="*", help="rule files (default: those of the configuration)")
    listing = actions.add_parser(
        "list", help="list the rules in force", description="Lists the shipped rules and the site's own."
    )
    listing.add_argument(
        "--kind", metavar="KIND", help="only rules of this kind (operational, review, ...) or about this kind of object"
    )
    listing.add_argument("--topic", metavar="TOPIC", help="only rules of this file, such as channels")
    form = listing.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="a JSON list, for programs")
    form.add_argument("--markdown", action="store_true", help="the reference page of the shipped rules, docs/rules.md")
    explain = actions.add_parser("explain", help="explain a rule, or its verdict about an object", description=_EXPLAIN)
    explain.add_argument("rule", metavar="RULE", help="the rule's id, such as BP-01")
    explain.add_argument(
        "object", metavar="OBJECT", nargs="?", help="an object of the store, such as QM01/buffer_pool/3"
    )
    explain.add_argument("--store", metavar="FILE", help="the store (default: that of the configuration)")
    for command in (check, listing, explain):
        command.add_argument(
            "--config", metavar="FILE", help="the configuration (default: the one MQVITALS_CONFIG names)"
        )


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action; returns the exit code. Raises Failure."""
    if arguments.action == "check":
        return _check(arguments)
    if arguments.action == "list":
        return _list(arguments)
    from mqvitals_agent.cli.explain import explain

    return explain(arguments)


def _check(arguments: argparse.Namespace) -> int:
    from mqvitals_rules.check import check_settings
    from mqvitals_rules.ruleset import doubts, read_rules
    from mqvitals_rules.vocabulary.tables import KINDS

    if arguments.files:
        _readable(arguments.files)
        rules, problems = read_rules(KINDS, arguments.files)
        where = f"{len(arguments.files)} file{'s' * (len(arguments.files) > 1)}"
    else:
        settings = settings_of(arguments)
        rules, _ = read_rules(KINDS, settings.rules.files)
        problems = list(check_settings(settings))
        where = "the shipped rules" if not settings.rules.files else "the shipped rules and those of the configuration"
    problems += doubts(rules, KINDS) if not problems else []
    if problems:
        print(explained(sorted(problems)))
        return ExitCode.FOUND
    print(f"{where}: no problems found ({len(rules)} rules in all)")
    return ExitCode.DONE


def _readable(paths: Iterable[str]) -> None:
    """Raises Failure for the first file that cannot be read at all: nothing can be said about its rules."""
    from mqvitals_config.problem import ConfigError
    from mqvitals_config.source import UnreadableError, read

    for path in paths:
        try:
            read(path)
        except UnreadableError as error:
            raise Failure(str(error)) from error
        except ConfigError:
            continue  # a mistake in the file, which is told with its place like the others


def _list(arguments: argparse.Namespace) -> int:
    settings = settings_of(arguments)
    if arguments.markdown:
        from mqvitals_rules.page import page
        from mqvitals_rules.ruleset import load_rules
        from mqvitals_rules.vocabulary.tables import KINDS

        sys.stdout.write(page(load_rules(KINDS)))
        return ExitCode.DONE
    rules = rules_of(settings)
    disabled = frozenset(map(str, settings.rules.disabled))
    found = [rule for rule in rules if _wanted(rule, arguments.kind, arguments.topic)]
    if not found:
        raise _nothing(rules, arguments.kind, arguments.topic)
    if arguments.json:
        print(json.dumps([row(rule, settings) for rule in found], indent=2))
        return ExitCode.DONE
    print("\n".join(_table(found, disabled)))
    return ExitCode.DONE


def row(rule: Rule, settings: Settings) -> dict[str, Any]:
    """One rule as programs get it, with what the configuration changes about it."""
    from mqvitals_rules.page import clears, hold, one_line

    return {
        "id": str(rule.id),
        "title": rule.title,
        "topic": rule.topic,
        "kind": rule.kind.value,
        "scope": rule.scope,
        "about": rule.about,
        "family": rule.family.name if rule.family else None,
        "enabled": rule.id not in settings.rules.disabled,
        "severity": rule.severity.name.lower(),
        "severity_if": [
            {"when": one_line(case.when), "severity": case.severity.name.lower()} for case in rule.severity_if
        ],
        "when": one_line(rule.when),
        "hold": hold(rule),
        "clear": clears(rule),
        "parameters": [
            {
                "name": each.name,
                "value": each.value,
                "unit": each.unit,
                "origin": each.origin.value,
                "meaning": each.meaning,
                "overrides": [
                    {"value": entry.value, "objects": str(entry.objects or "*"), "place": str(entry.rule.place)}
                    for entry in settings.rules.thresholds
                    if entry.rule == rule.id and entry.parameter == each.name
                ],
            }
            for each in rule.parameters.values()
        ],
        "needs": list(rule.needs),
        "advice": one_line(rule.advice),
        "caveat": one_line(rule.caveat),
        "source": [{"document": source.document, "section": source.section} for source in rule.sources],
        "mqsc": str(rule.mqsc) if rule.mqsc else None,
        "mqsc_if": [{"when": one_line(case.when), "mqsc": str(case.mqsc)} for case in rule.mqsc_if],
    }


def _wanted(rule: Rule, kind: str | None, topic: str | None) -> bool:
    return (kind is None or kind in (rule.kind.value, rule.scope, rule.about)) and (
        topic is None or topic == rule.topic
    )


def _nothing(rules: Iterable[Rule], kind: str | None, topic: str | None) -> Failure:
    rules = tuple(rules)
    kinds = sorted({word for rule in rules for word in (rule.kind.value, rule.scope)})
    topics = sorted({rule.topic for rule in rules})
    wanted = " and ".join(f"{name} {value}" for name, value in (("kind", kind), ("topic", topic)) if value)
    return Failure(f"no rule of {wanted}", hint=f"kinds: {', '.join(kinds)}; topics: {', '.join(topics)}")


def _table(rules: Iterable[Rule], disabled: frozenset[str]) -> list[str]:
    from mqvitals_agent.view.text import cells, fit, safe

    rows = [("Rule", "Severity", "Kind", "Judges", "Title")]
    for rule in rules:
        severity = "off" if rule.id in disabled else rule.severity.name.lower()
        rows.append((safe(rule.id), severity, rule.kind.value, rule.scope, safe(rule.title)))
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(fit, row, widths)).rstrip() for row in rows]
