"""``mqvitals rules backtest``: runs rules over the stored past, and compares with what fired then."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mqvitals_agent.commandline.arguments import (
    add_limit_argument,
    add_pattern_argument,
    add_quiet_argument,
    add_store_argument,
    limit_argument,
    open_store,
)
from mqvitals_agent.commandline.settings import explained, no_rule, rule_config_of, settings_of
from mqvitals_agent.commandline.time_arguments import add_span_arguments, add_zone_argument, span_argument
from mqvitals_agent.errors import ExitCode, Failure
from mqvitals_rules.timestamps import MINUTE_MS

if TYPE_CHECKING:
    from mqvitals_agent.backtest.run import BacktestResult, Selects
    from mqvitals_agent.backtest.variants import RuleVariant
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.text.chart import TimeRange
    from mqvitals_rules.ruleset.config import RuleConfig
    from mqvitals_rules.ruleset.ruleset import RuleSet
    from mqvitals_rules.snapshot import ObjectName

_DESCRIPTION = """\
Runs a rule, or all rules of a file, over the past that a store holds, with the rules' own holds, severities and clear
conditions, and prints which alerts would have fired, when, for how long and how bad, beside those that did fire: both,
only now, only then. With --set the rules are also run with other values, beside those in force. Nothing is stored. A
rule that reads what history does not keep, such as a text, is refused with the reason ('mqvitals help backtest').
Exit code 0 when it ran, 2 when it could not.
"""

_USUAL: Final = "24h"
_SHOWN: Final = 100
_YEARS_S: Final = 1e9
"""No query of a command that shows how far it is ends for its length."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``rules backtest``."""
    parser.description = _DESCRIPTION
    parser.add_argument("rule", metavar="RULE|FILE", help="a rule's id, such as BP-01, or a file of rules")
    parser.add_argument(
        "--set",
        dest="settings",
        metavar="PARAMETER=VALUE",
        action="append",
        default=[],
        help="also run with another value of a parameter, or of hold or clear (polls, or a time: hold=10m), for all"
        " objects; several parameters make one run, several values of one parameter a run each",
    )
    add_store_argument(parser)
    add_span_arguments(parser, _USUAL)
    add_pattern_argument(parser, "QM01/queue/ORDERS", "*/queue/PAY.*")
    add_limit_argument(parser, _SHOWN, "show the newest N alerts")
    add_zone_argument(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object, with all alerts")
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the backtest and show what it found; returns the exit code. Raises Failure."""
    from mqvitals_agent.backtest.report import backtest_blocks, backtest_json
    from mqvitals_agent.commandline.output import show_blocks

    most = limit_argument(arguments)
    config, wanted = _rules(arguments)
    refused = _refused(config.rules, wanted)
    usable = [rule_id for rule_id in wanted if rule_id not in {rule for rule, _ in refused}]
    if not usable:
        reasons = "\n".join(f"{rule}: {reason}" for rule, reason in refused)
        raise Failure(
            f"history does not hold what {'this rule needs' if len(wanted) == 1 else 'these rules need'}:\n{reasons}",
            hint="'mqvitals help backtest' says what history keeps",
        )
    variants = _variants(config, usable, arguments.settings)
    with open_store(arguments, limit_s=_YEARS_S) as reader:
        span = span_argument(reader, arguments, _USUAL)
        result = _run(reader, variants, span, _selects(reader, arguments.object, span), arguments)
    if arguments.json:
        print(json.dumps(backtest_json(result, refused), indent=2))
    else:
        said = [f"{rule}: {reason}" for rule, reason in refused]
        show_blocks(backtest_blocks(result, said, most), markdown=False, ascii_only=False)
    return ExitCode.DONE


def _run(
    reader: StoreReader,
    variants: Sequence[RuleVariant],
    span: TimeRange,
    selects: Selects,
    arguments: argparse.Namespace,
) -> BacktestResult:
    from mqvitals_agent.backtest.run import backtest
    from mqvitals_agent.commandline.progress import Progress
    from mqvitals_agent.text.figure import moment

    def on_time(ts: int) -> None:
        progress.at(max(ts - span.since, 0) // MINUTE_MS, moment(ts))

    with Progress(quiet=arguments.quiet) as progress:
        progress.begin("evaluating", -(-(span.until - span.since) // MINUTE_MS), " min")
        return backtest(reader, variants, span, selects, on_time)


def _selects(reader: StoreReader, pattern: str | None, span: TimeRange) -> Selects:
    """Which objects are wanted. Raises Failure for a pattern that selects none of this time, and StoreError."""
    from mqvitals_agent.view.trend.selection import refuse_pattern, was_there
    from mqvitals_rules.ruleset.pattern import ObjectPattern

    if pattern is None:
        return lambda _: True
    try:
        parsed = ObjectPattern.parse(pattern)
    except ValueError as error:
        raise Failure(f"--object {pattern!r}: {error}") from error

    def selects(name: ObjectName) -> bool:
        return parsed.matches(name)

    there = (each.name for each in reader.objects(gone=True) if was_there(each, span))
    # An alert may be about an object that no sample tells of.
    about = (name for each in reader.alerts_within(*span) for name in (each.alert.key.object, each.alert.scope))
    if not any(map(selects, there)) and not any(map(selects, about)):
        refuse_pattern(reader, pattern)
    return selects


def _rules(arguments: argparse.Namespace) -> tuple[RuleConfig, tuple[str, ...]]:
    """The rules in force with those of the named file, and the ids of those wanted. Raises Failure."""
    name, settings = arguments.rule, settings_of(arguments)
    if not (os.sep in name or name.endswith((".yaml", ".yml")) or Path(name).is_file()):
        config = rule_config_of(settings)
        rule = config.rules.rule(name)
        if rule is None:
            raise no_rule(name, config.rules.rules)
        return config, (str(rule.id),)
    from dataclasses import replace

    from mqvitals_rules.ruleset.pack import read_rules
    from mqvitals_rules.vocabulary.tables import KINDS

    files = tuple(settings.rules.files)
    path = next((each for each in files if _same(each, name)), None)
    # A file of the site's own configuration is there already.
    rules, problems = read_rules(KINDS, files if path is not None else (*files, name))
    if problems:
        raise Failure(
            f"the rules cannot be used:\n{explained(problems)}", hint="'mqvitals rules check FILE' lists these"
        )
    wanted = tuple(str(rule.id) for rule in rules if _same(rule.id.place.path, name))
    if not wanted:
        raise Failure(f"{name} has no rules")
    config = rule_config_of(settings)
    ruleset = replace(config.rules, rules=rules, compiled={}, deferred=frozenset())
    return replace(config, rules=ruleset), wanted


def _same(path: str, other: str) -> bool:
    try:
        return Path(path).samefile(other)
    except OSError:
        return path == other


def _refused(rules: RuleSet, wanted: Collection[str]) -> list[tuple[str, str]]:
    """The rules that read what history does not hold, and why."""
    from mqvitals_agent.backtest.inputs import refusals
    from mqvitals_rules.compiled_rule import compile_rule

    found = []
    for rule_id in wanted:
        rule = rules.rule(rule_id)
        assert rule is not None, "it is one of them"
        found += [(rule_id, reason) for reason in refusals(compile_rule(rule, rules.kinds), rules.kinds)]
    return found


def _variants(config: RuleConfig, wanted: Collection[str], settings: Sequence[str]) -> list[RuleVariant]:
    from mqvitals_agent.backtest.variants import in_force, variants_of, with_values

    standard = in_force(config, wanted)
    try:
        return [standard, *(with_values(standard, each) for each in variants_of(settings))]
    except ValueError as error:
        raise Failure(f"--set: {error}") from error
