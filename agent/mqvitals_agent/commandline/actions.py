"""The actions of a command that has several modules: one table a command, as ``runner.COMMANDS`` is that of commands."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple


class Action(NamedTuple):
    """An action's name, one line of help, and the module with ``add_arguments`` and ``run``."""

    name: str
    help: str
    module: str


def add_actions(parser: argparse.ArgumentParser, actions: Sequence[Action]) -> list[argparse.ArgumentParser]:
    """Declare the actions and their arguments; returns the parser of each."""
    subparsers = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    added = []
    for action in actions:
        sub = subparsers.add_parser(action.name, help=action.help)
        import_module(action.module).add_arguments(sub)
        added.append(sub)
    return added


def run_action(actions: Sequence[Action], arguments: argparse.Namespace) -> int:
    """Run the chosen action; returns the exit code. Raises what the action raises."""
    module = next(action.module for action in actions if action.name == arguments.action)
    code: int = import_module(module).run(arguments)
    return code
