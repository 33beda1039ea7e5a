"""``--at``: a store as of a past moment, on the command line and on the screen."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import tzinfo
from typing import TYPE_CHECKING, Final

from mqvitals_agent.commandline.arguments import open_store
from mqvitals_agent.commandline.time_arguments import moment_argument, now_of, reading_zone
from mqvitals_agent.errors import Failure
from mqvitals_agent.text.figure import moment, zone_name
from mqvitals_config.decoding.scalars import parse_duration

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader

PAST_FORMS: Final = "03:12, 03:12Z, yesterday 03:12, 40m, 2026-11-20 03:12 or 2026-11-20T03:12:00Z"
_AGO: Final = re.compile(r"-?\s*([0-9][0-9a-z.]*)(?:\s+ago)?", re.IGNORECASE)


def add_at_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--at``."""
    parser.add_argument(
        "--at",
        metavar="TIME",
        help=f"as of a past moment: {PAST_FORMS}, in the zone of --tz; what the store does not keep is 'not kept'",
    )


def past_moment(option: str, text: str, zone: Callable[[], tzinfo], now: int) -> int:
    """The moment that ``text`` names, ms UTC, by ``now``: so long ago (``40m``, ``-40m``), or as ``moment_argument``.

    Raises Failure: no time, or one that is still to come.
    """
    match = _AGO.fullmatch(text.strip())
    if match is not None:
        try:
            return now - parse_duration(match[1])
        except ValueError:
            pass
    at = moment_argument(option, text, zone, now)
    if at > now:
        raise Failure(f"{option} {text!r} is still to come", hint=f"name a past time: {PAST_FORMS}")
    return at


def kept_moment(reader: StoreReader, option: str, at: int) -> int:
    """``at``, where the store holds something by then. Raises Failure where it does not, and StoreError."""
    first = min((owner.first_ts for owner in reader.owners()), default=None)
    if first is None:
        raise Failure(f"{option}: nothing is stored yet")
    if at < first:
        raise Failure(
            f"{option} {moment(at)} {zone_name(at)}: nothing was stored by then",
            hint=f"the store begins at {moment(first)} {zone_name(first)}",
        )
    return at


@contextmanager
def open_store_as_of(
    arguments: argparse.Namespace, completed: Callable[[StoreReader], StoreReader] = lambda reader: reader
) -> Iterator[StoreReader]:
    """The store of ``open_store``, as of ``--at`` where that is given; ``completed`` is what else its reader reads from.

    Raises as ``open_store``, and Failure.
    """
    with open_store(arguments) as stored, closing(completed(stored)) as reader:
        if arguments.at is None:
            yield reader
            return
        at = past_moment("--at", arguments.at, lambda: reading_zone(arguments), now_of(reader))
        yield reader.as_of(kept_moment(reader, "--at", at))
