"""The actions of a command that has several modules: one table a command, as ``runner.COMMANDS`` is that of commands."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple


class CommandAction(NamedTuple):
    """An action's name, one line of help, and the module with ``add_arguments`` and ``run``.

    A module with several actions has ``add_X_arguments`` and ``run_X`` for the one that is its ``part`` X.
    """

    name: str
    help: str
    module: str
    part: str = ""


def add_actions(parser: argparse.ArgumentParser, actions: Sequence[CommandAction]) -> list[argparse.ArgumentParser]:
    """Declare the actions and their arguments; returns the parser of each."""
    subparsers = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    added = []
    for action in actions:
        sub = subparsers.add_parser(action.name, help=action.help)
        getattr(import_module(action.module), f"add_{action.part}_arguments" if action.part else "add_arguments")(sub)
        added.append(sub)
    return added


def run_action(actions: Sequence[CommandAction], arguments: argparse.Namespace) -> int:
    """Run the chosen action; returns the exit code. Raises what the action raises."""
    action = next(action for action in actions if action.name == arguments.action)
    code: int = getattr(import_module(action.module), f"run_{action.part}" if action.part else "run")(arguments)
    return code
