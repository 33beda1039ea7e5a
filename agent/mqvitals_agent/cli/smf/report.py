"""``mqvitals smf report``: a health check of queue managers by their SMF records."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_quiet_argument
from mqvitals_agent.commandline.output import only_ascii, say, show_blocks
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from mqvitals_agent.commandline.progress import Progress
    from mqvitals_agent.text.chart import TimeRange

_DESCRIPTION = """\
Reads SMF data of z/OS (types 115 and 116), evaluates the rules and writes a health check: the records that were read;
for each queue manager the findings, worst first, with their figures, advice and source document, and the checks that
are OK; the figures of buffer pools, page sets, log, channel initiator, channels and applications; and the data that
are missing. Nothing is stored. Exit code 0 when there are no findings, 1 when there are some or a record is damaged,
2 when a file cannot be read.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``smf report``."""
    parser.description = _DESCRIPTION
    parser.add_argument("files", metavar="FILE", nargs="+", help="SMF data, plain or gzip; - for standard input")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--text", action="store_true", help="for a terminal or a printer (default)")
    form.add_argument("--markdown", action="store_true", help="Markdown, with tables")
    parser.add_argument(
        "--ascii", action="store_true", help="nothing but ASCII: signs as words, other characters by their numbers"
    )
    parser.add_argument("--config", metavar="FILE", help="settings: thresholds, facts, rules of your own")
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the report; returns the exit code."""
    import time

    from mqvitals_agent.cli.smf.files_progress import FilesProgress
    from mqvitals_agent.cli.smf.importing import groups_of
    from mqvitals_agent.commandline.progress import Progress
    from mqvitals_agent.commandline.settings import rule_config_of, settings_of
    from mqvitals_agent.review.smf_report import health_check
    from mqvitals_agent.store.error import StoreError, StoreErrorKind

    if arguments.ascii:
        only_ascii()
    settings = settings_of(arguments)
    config = rule_config_of(settings)
    try:
        with Progress(quiet=arguments.quiet) as progress:
            report = health_check(
                arguments.files,
                config,
                groups_of(settings),
                now_us=time.time_ns() // 1000,
                ascii_only=arguments.ascii or not _shows_blocks(),
                progress=FilesProgress(arguments.files, progress),
                evaluating=_evaluating(progress),
            )
    except (OSError, StoreError) as error:
        why = error.message if isinstance(error, StoreError) else error
        if getattr(error, "kind", None) is StoreErrorKind.FULL:
            why = "the disk is full"
        raise Failure(
            f"the temporary files cannot be written: {why}", hint="name a directory with room in TMPDIR"
        ) from error
    for path, reason in report.unreadable:
        say(f"{path}: {reason}")
    if not report.records:
        raise Failure(_nothing(report.damaged), hint=_TRANSFER)
    show_blocks(report.blocks, markdown=arguments.markdown, ascii_only=arguments.ascii)
    if report.unreadable:
        return ExitCode.FAILED
    return ExitCode.FOUND if report.found or report.damaged else ExitCode.DONE


def _evaluating(progress: Progress) -> Callable[[TimeRange, int], None]:
    """Shows which part of the period of the records the rules have evaluated."""
    begun = False

    def evaluating(period: TimeRange, ts: int) -> None:
        nonlocal begun
        if not begun:
            begun = True
            progress.begin("evaluating the rules", (period.until - period.since) / 60_000, " min of records")
        progress.at((ts - period.since) / 60_000)

    return evaluating


_TRANSFER = (
    "SMF data come from IFASMFDP or IFASMFDL and must be transferred in binary, with their record descriptor words"
)


def _nothing(damaged: int) -> str:
    if damaged:
        return f"no record of MQ could be read: {damaged:,} {'is' if damaged == 1 else 'are'} damaged"
    return "there is no record of MQ (type 115 or 116) in what was read"


def _shows_blocks() -> bool:
    """Whether standard output can show a sparkline."""
    from mqvitals_agent.text.sparkline import BLOCKS

    try:
        BLOCKS.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
