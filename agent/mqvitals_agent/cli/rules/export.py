"""``mqvitals rules export``: rules in the words of Prometheus."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from mqvitals_agent.cli.rules.changed import tuning_in_settings
from mqvitals_agent.commandline.settings import no_rule, rule_config_of, rules_of, settings_of
from mqvitals_agent.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mqvitals_agent.promql.rule_file import ExportedRule, RefusedRule
    from mqvitals_config.settings import Settings
    from mqvitals_rules.ruleset.rule import Rule

_DESCRIPTION = """\
Writes rules as alerting rules of Prometheus 2.42 or later: the shipped ones and the site's own with the thresholds in
force for all objects. Comments say of each rule what PromQL cannot express, such as another condition to end an alert;
rules that it cannot express at all are listed at the end with the reason. Polls are counted in intervals of the
settings. Exit code 0 when the file is written, 2 when it is not.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``rules export``."""
    parser.description = _DESCRIPTION
    parser.add_argument("--prometheus", action="store_true", required=True, help="as a file of rules for Prometheus")
    parser.add_argument(
        "rules", metavar="TOPIC|RULE", nargs="*", help="files of rules, such as queues, or ids (default: all rules)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the rules; returns the exit code. Raises Failure."""
    from mqvitals_agent.promql.rule_file import rule_file

    settings = settings_of(arguments)
    # Every mistake is shown: rules without the site's thresholds would look as if they were in force.
    rule_config_of(settings)
    wanted = _wanted(rules_of(settings), arguments.rules)
    sys.stdout.write(rule_file(_exports(wanted, settings)))
    return ExitCode.DONE


def _wanted(rules: Sequence[Rule], words: Sequence[str]) -> list[Rule]:
    """The rules that are named, in their order. Raises Failure."""
    topics = {rule.topic for rule in rules}
    ids = {str(rule.id) for rule in rules}
    for word in words:
        if word not in topics | ids:
            raise no_rule(word, rules)
    return [rule for rule in rules if not words or rule.topic in words or str(rule.id) in words]


def _exports(rules: Sequence[Rule], settings: Settings) -> Iterator[ExportedRule | RefusedRule]:
    from mqvitals_agent.promql.rule_file import RefusedRule, exported
    from mqvitals_rules.compiled_rule import compile_rule
    from mqvitals_rules.ruleset.tuning import change_of, changed_rule
    from mqvitals_rules.snapshot import ObjectName
    from mqvitals_rules.vocabulary.tables import KINDS

    tuning = tuning_in_settings(rules, settings)
    for rule in rules:
        own = [entry for entry in tuning if entry.rule == str(rule.id)]
        for_all = [entry for entry in own if entry.objects is None]
        change = change_of(for_all, ObjectName("", rule.scope), off=rule.off)
        if change is None:
            yield RefusedRule(rule, "it is switched off")
            continue
        found = exported(
            compile_rule(changed_rule(rule, change), KINDS, dict(change.values)), settings.polling.interval
        )
        patterns = dict.fromkeys(str(entry.objects.text) for entry in own if entry.objects is not None)
        lost = tuple(f"it is tuned for {pattern}" for pattern in patterns)
        yield found if isinstance(found, RefusedRule) else replace(found, lost=(*found.lost, *lost))
