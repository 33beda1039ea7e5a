"""``mqvitals alerts``: the alerts of a store, and what people do about alerts."""

from __future__ import annotations

import argparse

from mqvitals_agent.commandline.actions import CommandAction, add_actions, run_action

ACTIONS = (
    CommandAction("list", "list alerts, worst first", "mqvitals_agent.cli.alerts.list"),
    CommandAction("ack", "say that you have an alert", "mqvitals_agent.cli.alerts.acknowledge"),
    CommandAction("unack", "take an acknowledgement back", "mqvitals_agent.cli.alerts.acknowledge", "undo"),
    CommandAction("note", "keep a note about an alert", "mqvitals_agent.cli.alerts.acknowledge", "note"),
    CommandAction("silence", "silence alerts for a while, or extend a silence", "mqvitals_agent.cli.alerts.silence"),
    CommandAction("unsilence", "end a silence now", "mqvitals_agent.cli.alerts.silence", "end"),
    CommandAction("silences", "list silences", "mqvitals_agent.cli.alerts.silence", "list"),
    CommandAction("audit", "who did what about alerts, and when", "mqvitals_agent.cli.alerts.audit"),
    CommandAction("route", "the tree of routes, and the way of an alert through it", "mqvitals_agent.cli.alerts.route"),
    CommandAction("test", "post a test alert to a receiver", "mqvitals_agent.cli.alerts.test"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions of ``alerts``."""
    add_actions(parser, ACTIONS)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action; returns the exit code."""
    return run_action(ACTIONS, arguments)
