"""The command line: one table of commands, each imported only when it is used.

``mqvitals-agent`` starts here; ``mqvitals`` starts in ``mqvitals_tui.main``, which adds its own commands to the table.
stdout is data, stderr is for people.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from mqvitals_agent import __version__
from mqvitals_agent.cli.failure import ExitCode, Failure


class Command(NamedTuple):
    """A command's name, one line of help, and the module with ``add_arguments`` and ``run``."""

    name: str
    help: str
    module: str


COMMANDS = (
    Command(
        "status",
        "how the group is, on one screen; exit code 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN",
        "mqvitals_agent.cli.status",
    ),
    Command("trend", "a metric of an object over time", "mqvitals_agent.cli.trend"),
    Command("alerts", "alerts: list", "mqvitals_agent.cli.alerts"),
    Command("replay", "play a recording into a store", "mqvitals_agent.cli.replay"),
    Command("rules", "rules: check, list, explain", "mqvitals_agent.cli.rules"),
    Command("metrics", "every metric, its unit, meaning and source", "mqvitals_agent.cli.metrics"),
    Command("config", "settings: check, show", "mqvitals_agent.cli.config"),
    Command("pcf", "PCF messages: decode", "mqvitals_agent.cli.pcf"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line without the terminal interface's commands; returns the exit code."""
    return run("mqvitals-agent", COMMANDS, sys.argv[1:] if arguments is None else arguments)


def run(program: str, commands: Sequence[Command], arguments: Sequence[str]) -> int:
    """Find the command, import its module, and run it."""
    parser = argparse.ArgumentParser(
        prog=program,
        description="The vital signs of IBM MQ on z/OS.",
        epilog=f"'{program} COMMAND --help' tells more about a command.",
    )
    parser.add_argument("--version", action="version", version=f"mqvitals {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    chosen = next((word for word in arguments if not word.startswith("-")), None)
    for command in commands:
        sub = subparsers.add_parser(command.name, help=command.help, description=_sentence(command.help))
        if command.name == chosen:
            import_module(command.module).add_arguments(sub)
    parsed = parser.parse_args(arguments)
    module = import_module(next(command.module for command in commands if command.name == parsed.command))
    try:
        code: int = module.run(parsed)
        sys.stdout.flush()
    except Failure as failure:
        print(f"mqvitals: {failure.message}", file=sys.stderr)
        if failure.hint:
            print(f"hint: {failure.hint}", file=sys.stderr)
        return failure.code
    except BrokenPipeError:
        # The reader of our output (head, less) has gone; that is no failure, and Python must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    except KeyboardInterrupt:
        return 130
    return code


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


if __name__ == "__main__":
    sys.exit(main())
