"""Times on the command line: what people write for a moment, and the zone in which times are read and shown."""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Final

from mqvitals_agent.cli.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Callable

FORMS: Final = "2026-11-20T12:00:00Z, 2026-11-20 12:00, 2026-11-20, 12:00, yesterday, yesterday 22:00, today or now"
_CLOCK = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DAYS: Final = {"today": 0, "yesterday": 1}


def add_zone_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--tz`` for a command that shows times and may read them, by default in the configuration's zone."""
    parser.add_argument(
        "--tz",
        metavar="ZONE",
        type=zone_argument,
        help="show times in this zone, such as Europe/Berlin or +01:00 (default: UTC), and read those without one in it"
        " (default: time_zone of the configuration)",
    )


def zone_argument(text: str) -> tzinfo:
    """The zone of that name; raises ArgumentTypeError."""
    from mqvitals_config.scalars import time_zone

    try:
        return time_zone(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def reading_zone(arguments: argparse.Namespace) -> tzinfo:
    """The zone of times that name none: ``--tz``, else the settings' ``time_zone``, else UTC.

    Raises Failure when a configuration that is named cannot be read; one that is only found is then passed over.
    """
    from mqvitals_agent.cli.store_argument import settings_of
    from mqvitals_config.scalars import time_zone

    if arguments.tz is not None:
        zone: tzinfo = arguments.tz
        return zone
    try:
        name = settings_of(arguments).settings.time_zone
    except Failure:
        if arguments.config is not None:
            raise
        return UTC
    return UTC if name is None else time_zone(name)


def moment_argument(option: str, text: str, zone: Callable[[], tzinfo], now: int) -> int:
    """The moment that ``text`` names, ms UTC; raises Failure. ``zone`` is only asked where the text names no offset."""
    try:
        return parse_moment(text, zone, now)
    except ValueError as error:
        raise Failure(f"{option} {text!r} is no moment: {error}", hint=f"write it as {FORMS}") from error


def parse_moment(text: str, zone: Callable[[], tzinfo], now: int) -> int:
    """``text`` as ms since 1970 UTC; ``now`` is the time now.

    A time of day alone is the last one that is not ahead of ``now``; a date alone is its first moment. Of an hour that comes twice
    when clocks go back, the first one counts. Raises ValueError: the form, a date that does not exist, or a time that is
    left out when clocks go forward.
    """
    from mqvitals_rules.moment import parse

    words = text.strip().lower().replace("t", " ", 1) if _DATE.match(text.strip()) else text.strip().lower()
    day, _, clock = words.partition(" ")
    if words == "now":
        return now
    if _CLOCK.fullmatch(words):
        there = zone()
        today = datetime.fromtimestamp(now / 1000, there)
        found = _at(today, words, there)
        return found if found <= now else _at(today - timedelta(days=1), words, there)
    if day in _DAYS and (not clock or _CLOCK.fullmatch(clock)):
        there = zone()
        return _at(datetime.fromtimestamp(now / 1000, there) - timedelta(days=_DAYS[day]), clock or "00:00", there)
    if _DATE.fullmatch(day) and (not clock or _CLOCK.fullmatch(clock)):
        there = zone()
        return _at(datetime.fromisoformat(day), clock or "00:00", there)
    return parse(text.strip())


def _at(day: datetime, clock: str, zone: tzinfo) -> int:
    """A time of day on a date, ms UTC."""
    hour, minute, second = (int(part) for part in (*clock.split(":"), "0")[:3])
    wanted = datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=zone)
    found = int(wanted.timestamp()) * 1000
    if datetime.fromtimestamp(found / 1000, zone).replace(fold=0) != wanted:
        raise ValueError(f"clocks went forward: there was no {clock} on {wanted:%Y-%m-%d} in {zone}")
    return found
