"""The options of commands that look into a store, and the way to it."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mqvitals_agent.cli.failure import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.view.paint import Painter
    from mqvitals_config.load import LoadedSettings

NARROWEST, WIDEST, USUAL = 40, 200, 80
"""Cells of a line: the limits of what a terminal is taken to be, and what is taken where there is none."""


def add_store_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``--store`` and ``--config``."""
    parser.add_argument("--store", metavar="FILE", help="the store (else MQVITALS_STORE, else store.path of the file)")
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="the configuration file (else MQVITALS_CONFIG, else as 'mqvitals help configuration' says)",
    )


def settings_of(arguments: argparse.Namespace, code: int = ExitCode.FAILED) -> LoadedSettings:
    """The settings in force; raises Failure with ``code``."""
    from mqvitals_agent.cli.config import settings_in_force

    try:
        search = getattr(arguments, "scenario", None) is None
        return settings_in_force(arguments.config, {"store": arguments.store}, search=search)
    except Failure as failure:
        raise Failure(failure.message, hint=failure.hint, code=code) from failure


def open_store(arguments: argparse.Namespace, code: int = ExitCode.FAILED) -> StoreReader:
    """The store that flag, environment or file name; raises Failure with ``code`` when there is none to be read."""
    from mqvitals_agent.store.error import StoreError
    from mqvitals_agent.store.reader import StoreReader

    if arguments.store is not None and arguments.config is None:
        # The flag beats everything else, and a broken file must not keep anyone from looking.
        path: str | None = arguments.store
    else:
        path = settings_of(arguments, code).settings.store.path
    if not path:
        raise Failure("no store is named", hint="name one with --store FILE, MQVITALS_STORE, or store.path", code=code)
    try:
        reader = StoreReader.open(path)
        _tell_passed_over(reader, path)
    except StoreError as error:
        raise Failure(error.message, hint=error.hint, code=code) from error
    return reader


def _tell_passed_over(reader: StoreReader, path: str) -> None:
    """Say on standard error what will not be read. Raises StoreError."""
    import shlex

    from mqvitals_agent.cli.stream import complain
    from mqvitals_agent.text.terminal import safe

    rows = reader.passed_over()
    if rows:
        named = ", ".join(f"{table} {count:,}" for table, count in rows.items())
        complain(
            f"mqvitals: rows dated outside any calendar are passed over ({named}); the agent drops them when it starts, and so does"
            f" 'mqvitals store check --repair {safe(shlex.quote(path))}'"
        )


def check_owners(reader: StoreReader, names: Sequence[str]) -> None:
    """Raises Failure for a name of a queue manager, or of the group, that the store does not know, and StoreError."""
    from mqvitals_config.problem import did_you_mean

    known = [owner.name for owner in reader.owners() if not owner.unwatched]
    for name in names:
        if name not in known:
            meant = did_you_mean(name, known).removeprefix("; ")
            raise Failure(f"the store knows no queue manager {name!r}", hint=meant or f"it knows {', '.join(known)}")


def now_ms() -> int:
    """The time now, ms since 1970 UTC."""
    return time.time_ns() // 1_000_000


def line_width() -> int:
    """Cells of a line on this terminal; 80 where there is none."""
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return USUAL
    return min(max(shutil.get_terminal_size((USUAL, 24)).columns, NARROWEST), WIDEST)


def screen_height() -> int | None:
    """Lines of this terminal that a screen may fill, the last being the prompt's; None where there is no terminal."""
    if not sys.stdout.isatty():
        return None
    lines = shutil.get_terminal_size((USUAL, 0)).lines
    # A terminal that does not know its height tells 0.
    return lines - 1 if lines > 1 else None


def painter() -> Painter:
    """Colours for standard output, if it wants any."""
    from mqvitals_agent.view.paint import Painter, wants_colour

    return Painter(wants_colour(os.environ, terminal=sys.stdout.isatty()))


def show(lines: list[str]) -> None:
    """Print text for people."""
    print("\n".join(lines))
