"""``mqvitals config``: writes a configuration file, checks one, shows the settings in force, prints the JSON Schema."""

from __future__ import annotations

import argparse

from mqvitals_agent.commandline.actions import CommandAction, add_actions, run_action

ACTIONS = (
    CommandAction("init", "write a short configuration file", "mqvitals_agent.cli.config.init"),
    CommandAction("check", "report the problems of a configuration file", "mqvitals_agent.cli.config.check"),
    CommandAction("show", "print the settings in force and their origins", "mqvitals_agent.cli.config.show"),
    CommandAction("schema", "print the JSON Schema of a configuration file", "mqvitals_agent.cli.config.schema"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions of ``config``."""
    add_actions(parser, ACTIONS)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action; returns the exit code. Raises Failure."""
    return run_action(ACTIONS, arguments)
