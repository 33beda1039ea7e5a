"""``mqvitals smf``: SMF 115 and 116, what a queue manager writes about itself each interval."""

from __future__ import annotations

import argparse

from mqvitals_agent.commandline.actions import CommandAction, add_actions, run_action

ACTIONS = (
    CommandAction("dump", "print every section as a line of JSON, or write them as CSV", "mqvitals_agent.cli.smf.dump"),
    CommandAction("import", "read records into a store", "mqvitals_agent.cli.smf.importing"),
    CommandAction("report", "write a health check from the records", "mqvitals_agent.cli.smf.report"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions of ``smf``."""
    add_actions(parser, ACTIONS)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action; returns the exit code. Raises Failure."""
    return run_action(ACTIONS, arguments)
