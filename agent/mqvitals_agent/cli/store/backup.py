"""``mqvitals store backup``: copies a store, also while an agent writes it."""

from __future__ import annotations

import argparse

from mqvitals_agent.commandline.arguments import add_quiet_argument
from mqvitals_agent.errors import ExitCode

_DESCRIPTION = """\
Copies a store into a new file, as it is at this moment; an agent may be writing it, and does not wait. The copy has the
permissions of the store. It is verified before it gets its name: SQLite's integrity check, and the rows of each table
are counted in both. A file that is there is not overwritten, and a copy that cannot be completed leaves none. To
restore it, stop the agent, move the store away with its -wal file, and give the copy its name.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``store backup``."""
    parser.description = _DESCRIPTION
    parser.add_argument("path", metavar="PATH", help="the store")
    parser.add_argument("target", metavar="FILE", help="the copy, a new file")
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Copy and verify; returns the exit code. Raises StoreError."""
    from functools import partial
    from pathlib import Path

    from mqvitals_agent.commandline.output import say
    from mqvitals_agent.commandline.progress import Progress, watched
    from mqvitals_agent.store.file.backup import back_up
    from mqvitals_agent.text.figure import counted, size

    path, target = Path(arguments.path).resolve(), Path(arguments.target).absolute()
    with Progress(quiet=arguments.quiet) as progress:
        made = watched(progress, partial(back_up, path, target))
    say(f"copied and verified: {made.path}, {size(made.size)}, {counted(made.rows, 'row')}")
    return ExitCode.DONE
