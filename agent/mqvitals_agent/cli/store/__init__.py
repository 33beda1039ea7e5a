"""``mqvitals store``: the upkeep of a store's file."""

from __future__ import annotations

import argparse

from mqvitals_agent.commandline.actions import CommandAction, add_actions, run_action

ACTIONS = (
    CommandAction("info", "what a store takes and holds", "mqvitals_agent.cli.store.info"),
    CommandAction("check", "check the whole file of a store, and repair it", "mqvitals_agent.cli.store.check"),
    CommandAction("compact", "give the space of deleted rows back to the disk", "mqvitals_agent.cli.store.compact"),
    CommandAction("prune", "delete what is older than a moment", "mqvitals_agent.cli.store.prune"),
    CommandAction("backup", "copy a store, also while an agent writes it", "mqvitals_agent.cli.store.backup"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions of ``store``."""
    add_actions(parser, ACTIONS)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action; returns the exit code. Raises Failure and StoreError."""
    return run_action(ACTIONS, arguments)
