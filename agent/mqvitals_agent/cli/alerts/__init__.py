"""``mqvitals alerts``: the alerts of a store, and what people do about alerts."""

from __future__ import annotations

import argparse

from mqvitals_agent.commandline.actions import Action, add_actions, run_action

ACTIONS = (
    Action("list", "list alerts, worst first", "mqvitals_agent.cli.alerts.list"),
    Action("ack", "say that you have an alert", "mqvitals_agent.cli.alerts.acknowledge"),
    Action("unack", "take an acknowledgement back", "mqvitals_agent.cli.alerts.acknowledge", "undo"),
    Action("note", "keep a note about an alert", "mqvitals_agent.cli.alerts.acknowledge", "note"),
    Action("silence", "silence alerts for a while, or extend a silence", "mqvitals_agent.cli.alerts.silence"),
    Action("unsilence", "end a silence now", "mqvitals_agent.cli.alerts.silence", "end"),
    Action("silences", "list silences", "mqvitals_agent.cli.alerts.silence", "list"),
    Action("audit", "who did what about alerts, and when", "mqvitals_agent.cli.alerts.audit"),
    Action("route", "the tree of routes, and the way of an alert through it", "mqvitals_agent.cli.alerts.route"),
    Action("test", "post a test alert to a receiver", "mqvitals_agent.cli.alerts.test"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions of ``alerts``."""
    add_actions(parser, ACTIONS)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action; returns the exit code."""
    return run_action(ACTIONS, arguments)
