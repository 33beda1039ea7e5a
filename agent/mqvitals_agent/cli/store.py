"""``mqvitals store check``: whether a store's file is whole, and what can be repaired in it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import now_ms
from mqvitals_agent.errors import ExitCode

if TYPE_CHECKING:
    from mqvitals_agent.store.file.integrity import IntegrityReport

_CHECK = """\
Looks through all of a store: SQLite's own check, things in it that mqvitals does not make (triggers, views, indexes,
tables), and rows dated outside any calendar or more than a day ahead of the clock. It may run beside an agent. Exit
code 0: nothing is wrong, 1: something is. With --repair such things and rows are dropped, after a copy of the store
was made beside it; no agent may be writing the store then. A file that SQLite finds damaged is not repaired.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``store check``."""
    subparsers = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = subparsers.add_parser("check", help="look through all of a store's file", description=_CHECK)
    check.add_argument("path", metavar="PATH", help="the store")
    check.add_argument("--repair", action="store_true", help="drop what cannot be kept, after a copy was made")


def run(arguments: argparse.Namespace) -> int:
    """Check, and repair if asked to; returns 0 when nothing is wrong (any more), else 1.

    Raises Failure: it is no store.
    """
    from pathlib import Path

    from mqvitals_agent.store.file.integrity import check, repair
    from mqvitals_agent.text.terminal import safe

    path = Path(arguments.path).resolve()
    now = now_ms()
    found = check(path, now)
    lines = _lines(found)
    if arguments.repair and not found.good:
        copy, found = repair(path, now)
        lines += [f"repaired; the store as it was is {copy}", *_lines(found)]
    for line in lines:
        print(safe(line))
    return ExitCode.DONE if found.good else ExitCode.FOUND


def _lines(found: IntegrityReport) -> list[str]:
    lines = [f"damaged: {text}" for text in found.damage]
    lines += [f"not made by mqvitals: {each}" for each in found.strangers]
    lines += _counts("dated outside any calendar", found.impossible)
    lines += _counts("dated more than a day ahead of the clock", found.ahead)
    if found.rows:
        lines.append("rows: " + ", ".join(f"{table} {count:,}" for table, count in found.rows.items()))
    return [*lines, "nothing is wrong"] if found.good else lines


def _counts(what: str, rows: Mapping[str, int]) -> list[str]:
    return [f"{table}: {count:,} row{'' if count == 1 else 's'} {what}" for table, count in sorted(rows.items())]
