"""``mqvitals rules``: rules are checked, tested, also over stored history, listed, explained and exported."""

from __future__ import annotations

import argparse

from mqvitals_agent.commandline.actions import CommandAction, add_actions, run_action
from mqvitals_agent.commandline.arguments import add_config_argument

ACTIONS = (
    CommandAction("check", "report the problems of rule files", "mqvitals_agent.cli.rules.check"),
    CommandAction("test", "run tests of rules", "mqvitals_agent.cli.rules.test"),
    CommandAction("backtest", "run rules over stored history", "mqvitals_agent.cli.rules.backtest"),
    CommandAction("list", "list the rules in force", "mqvitals_agent.cli.rules.list"),
    CommandAction("explain", "explain a rule, or its verdict about an object", "mqvitals_agent.cli.rules.explain"),
    CommandAction("export", "write rules for Prometheus", "mqvitals_agent.cli.rules.export"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions of ``rules``, each with ``--config``."""
    for action in add_actions(parser, ACTIONS):
        add_config_argument(action)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action; returns the exit code. Raises Failure."""
    return run_action(ACTIONS, arguments)
