"""``mqvitals store compact``: gives the space of deleted rows back to the disk."""

from __future__ import annotations

import argparse

from mqvitals_agent.commandline.arguments import add_quiet_argument
from mqvitals_agent.errors import ExitCode

_DESCRIPTION = """\
Writes the file of a store anew, without the pages that deleted rows have left (SQLite's VACUUM). It says first how much
free space that needs, and refuses where there is less. No agent may be writing the store. Whatever ends it before its
end leaves the store as it was.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``store compact``."""
    parser.description = _DESCRIPTION
    parser.add_argument("path", metavar="PATH", help="the store")
    parser.add_argument("--dry-run", action="store_true", help="only say what it needs and gives")
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Compact; returns the exit code. Raises StoreError."""
    from functools import partial
    from pathlib import Path

    from mqvitals_agent.commandline.output import say
    from mqvitals_agent.commandline.progress import Progress, watched
    from mqvitals_agent.store.file.compact import compact, room_of
    from mqvitals_agent.text.figure import size

    path = Path(arguments.path).resolve()
    room = room_of(path)
    needed = " and ".join(f"{size(each)} in {folder}" for folder, each in room.needed.items())
    say(
        f"{path} takes {size(room.file)}, of which {size(room.free)} are free pages; compacting needs {needed} meanwhile"
    )
    if arguments.dry_run:
        return ExitCode.DONE
    with Progress(quiet=arguments.quiet) as progress:
        before, after = watched(progress, partial(compact, path))
    say(f"compacted: {size(before)} before, {size(after)} now")
    return ExitCode.DONE
