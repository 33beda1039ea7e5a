"""``mqvitals store check``: checks the file of a store, and repairs it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from mqvitals_agent.commandline.arguments import add_quiet_argument
from mqvitals_agent.commandline.time_arguments import now_ms
from mqvitals_agent.errors import ExitCode

if TYPE_CHECKING:
    from mqvitals_agent.store.file.check import IntegrityReport
    from mqvitals_agent.store.file.chunk_check import ChunkCheck
    from mqvitals_agent.store.file.rollup_check import RollupCheck

_MOST_DAMAGED: Final = 20
_DAYS: Final = 2_900_000
"""From 1970 to the end of the calendar, nearly."""

_ROWS: Final = {
    "owner": ("owner", ""),
    "object": ("object", ""),
    "reading": ("last answer of an object", "last answers of objects"),
    "snapshot": ("snapshot", ""),
    "record": ("SMF record of an object", "SMF records of objects"),
    "smf_part": ("part of an SMF record", "parts of SMF records"),
    "alert": ("alert", ""),
    "alert_transition": ("transition of an alert", "transitions of alerts"),
    "acknowledgement": ("acknowledgement", ""),
    "note": ("note", ""),
    "silence": ("silence", ""),
    "audit": ("entry of the audit", "entries of the audit"),
    "notice": ("notification", ""),
    "receiver": ("receiver", ""),
    "resent": ("alert sent again", "alerts sent again"),
    "request": ("request", ""),
    "message": ("console message", ""),
    "change": ("change of a definition", "changes of definitions"),
    "journal": ("entry of the journal", "entries of the journal"),
    "chunk": ("sealed hour of an object", "sealed hours of objects"),
    "rollup": ("day of rolled-up hours of a metric", "days of rolled-up hours of metrics"),
    "hour_mean": ("hourly mean", ""),
}
"""What a row of a table is, for those who do not know the tables of a store: one and many; nothing: an s is added."""

_CHECK = """\
Checks the whole file of a store: SQLite's integrity check; triggers, views, indexes and tables that mqvitals does not
create; rows dated outside any calendar or more than a day ahead of the clock; sealed and rolled-up hours that cannot be
read. It may run beside an agent. Exit code 0 when no problem is found, 1 when one is. --repair copies the store to a file
beside it, then drops all of these; the agent rolls up such hours again where their samples are kept. No agent may be
writing the store then. A file that SQLite reports as damaged is not repaired.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``store check``."""
    parser.description = _CHECK
    parser.add_argument("path", metavar="PATH", help="the store")
    parser.add_argument("--repair", action="store_true", help="copy the store, then drop what is wrong")
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check, and repair if asked to; returns 0 when nothing is wrong (any more), else 1.

    Raises Failure: it is no store.
    """
    from functools import partial
    from pathlib import Path

    from mqvitals_agent.commandline.progress import Progress, watched
    from mqvitals_agent.store.file.check import check, repair
    from mqvitals_agent.text.terminal import safe

    path = Path(arguments.path).resolve()
    now = now_ms()
    with Progress(quiet=arguments.quiet) as progress:
        found = watched(progress, partial(check, path, now))
        lines = _lines(found)
        repaired = watched(progress, partial(repair, path, now)) if arguments.repair and not found.good else None
    if repaired is not None:
        copy, found = repaired
        lines += [f"repaired; the store as it was is {copy}", *_lines(found)]
    for line in lines:
        print(safe(line))
    return ExitCode.DONE if found.good else ExitCode.FOUND


def _lines(found: IntegrityReport) -> list[str]:
    lines = [f"damaged: {text}" for text in found.damage]
    lines += [f"not made by mqvitals: {each}" for each in found.strangers]
    lines += _counts("dated outside any calendar", found.impossible)
    lines += _counts("dated more than a day ahead of the clock", found.ahead)
    lines += _sealed(found.sealed)
    lines += _rolled(found.rolled)
    if found.rows:
        lines.append("rows: " + ", ".join(table_words(*each) for each in found.rows.items()))
    return [*lines, "nothing is wrong"] if found.good else lines


def _sealed(found: ChunkCheck) -> Iterator[str]:
    from mqvitals_agent.text.figure import moment, zone_name

    for each in found.damaged[:_MOST_DAMAGED]:
        name = "an object that is not there" if each.object is None else str(each.object)
        yield f"damaged: the samples of {name} of the hour from {moment(each.hour)} {zone_name(each.hour)}: {each.why}"
    if len(found.damaged) > _MOST_DAMAGED:
        yield f"damaged: {len(found.damaged) - _MOST_DAMAGED:,} further sealed hours of objects"
    if found.chunks:
        yield f"sealed: {found.chunks:,} hours of objects read, with {found.samples:,} samples"


def _rolled(found: RollupCheck) -> Iterator[str]:
    from datetime import date, timedelta

    for each in found.damaged[:_MOST_DAMAGED]:
        name = "an object that is not there" if each.object is None else str(each.object)
        of = f"{each.metric} of {name}" if each.metric else name
        # The number of a day may be damaged as well.
        day = str(date(1970, 1, 1) + timedelta(each.day)) if 0 <= each.day < _DAYS else f"number {each.day}"
        yield f"damaged: the rolled-up hours of {of} of the day {day} (UTC): {each.why}"
    if len(found.damaged) > _MOST_DAMAGED:
        yield f"damaged: {len(found.damaged) - _MOST_DAMAGED:,} further days of rolled-up hours"


def _counts(what: str, rows: Mapping[str, int]) -> list[str]:
    return [f"{table_words(table, count)} {what}" for table, count in sorted(rows.items())]


def table_words(table: str, count: int) -> str:
    """``760 rows of queues`` for 760 rows of ``sample_queue``."""
    from mqvitals_agent.text.figure import counted, objects_of_kind

    what, _, kind = table.partition("_")
    if what == "sample":
        of = objects_of_kind(kind)
        return counted(count, f"row of {of}", f"rows of {of}")
    one, many = _ROWS.get(table, (f"row of {table}", f"rows of {table}"))
    return counted(count, one, many)
