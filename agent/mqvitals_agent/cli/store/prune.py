"""``mqvitals store prune``: deletes what is older than a moment."""

from __future__ import annotations

import argparse

from mqvitals_agent.cli.store.check import table_words
from mqvitals_agent.errors import ExitCode, Failure

_DESCRIPTION = """\
Deletes from a store what an agent would delete if it kept from a moment on: samples, console messages, the journal, ended
alerts with what belongs to them. Open alerts, current state and hourly means stay, and what each hour came to, which is
worked out first for days that are over; --hours deletes that too. No agent may be writing the store.
The file does not shrink by it: 'mqvitals store compact' gives the space back.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``store prune``."""
    from mqvitals_agent.commandline.arguments import add_quiet_argument
    from mqvitals_agent.commandline.time_arguments import FORMS, add_zone_argument, duration

    parser.description = _DESCRIPTION
    parser.add_argument("path", metavar="PATH", help="the store")
    bound = parser.add_mutually_exclusive_group(required=True)
    bound.add_argument("--before", metavar="TIME", help=f"what is older than this moment: {FORMS}")
    bound.add_argument(
        "--keep",
        metavar="DURATION",
        type=duration,
        help="what is older than this, such as 30d; of a replay: before its end",
    )
    parser.add_argument("--hours", action="store_true", help="also what the hours of days before it came to")
    parser.add_argument("--dry-run", action="store_true", help="only say what would go")
    add_zone_argument(parser)
    parser.add_argument("--config", metavar="FILE", help="the configuration file, for its time zone")
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Delete; returns the exit code. Raises Failure and StoreError."""
    from functools import partial
    from pathlib import Path

    from mqvitals_agent.commandline.output import say
    from mqvitals_agent.commandline.progress import Progress
    from mqvitals_agent.commandline.time_arguments import moment_argument, now_of, reading_zone
    from mqvitals_agent.store.file.store_file import writer_of
    from mqvitals_agent.store.prune import expired, prune, refuse_all
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.text.figure import counted, moment, zone_name

    path = Path(arguments.path).resolve()
    with StoreReader.open(path) as reader:
        now, newest = now_of(reader), reader.last_ts()
    arguments.store = None  # the settings are read for their zone alone
    before = (
        now - arguments.keep
        if arguments.before is None
        else moment_argument("--before", arguments.before, partial(reading_zone, arguments), now)
    )
    if before > now:
        raise Failure(f"--before {arguments.before!r} is in the future", hint="name a moment that is over")
    if before <= 0:
        raise Failure("--keep goes back to before 1970: nothing is older", hint="name a shorter time")
    refuse_all(newest, before, path)
    if not arguments.dry_run and (holder := writer_of(path)) is not None:
        raise Failure(f"process {holder} is writing the store {path}", hint="stop the agent first: or set store.keep")
    rows = expired(path, before, hours=arguments.hours)
    named = ", ".join(table_words(*each) for each in rows.items()) or "nothing"
    say(f"older than {moment(before)} {zone_name(before)}: {named}")
    if arguments.dry_run:
        return ExitCode.DONE
    with Progress(quiet=arguments.quiet) as progress:
        progress.begin("deleting", sum(rows.values()), " rows")
        deleted = prune(path, before, now, progress.at, hours=arguments.hours)
    space = "; 'mqvitals store compact' gives their space back to the disk" if deleted else ""
    say(f"deleted: {counted(deleted, 'row')}{space}")
    return ExitCode.DONE
