"""The console script ``mqvitals``: the agent's commands, and those of the terminal interface."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from mqvitals_agent.commandline.runner import COMMANDS, Command, whole_parser
from mqvitals_agent.commandline.runner import run as run_command

TOP_COMMANDS = (
    Command("top", "the full-screen interface on a store", "mqvitals_tui.top"),
    Command("demo", "the full-screen interface on a simulated group with problems", "mqvitals_tui.demo"),
)


PROGRAM = "mqvitals"


def whole() -> argparse.ArgumentParser:
    """The parser with all commands and their arguments, for the manual page."""
    return whole_parser(PROGRAM, (*TOP_COMMANDS, *COMMANDS))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the whole command line; returns the exit code."""
    return run_command(PROGRAM, (*TOP_COMMANDS, *COMMANDS), sys.argv[1:] if arguments is None else arguments)


if __name__ == "__main__":
    sys.exit(main())
