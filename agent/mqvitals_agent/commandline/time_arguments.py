"""Times on the command line: moments, lengths and spans of time, and the zone in which they are read and shown."""

from __future__ import annotations

import argparse
import re
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import partial
from typing import TYPE_CHECKING, Final

from mqvitals_agent.commandline.arguments import refuse_empty
from mqvitals_agent.commandline.settings import loaded_settings
from mqvitals_agent.errors import Failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.text.chart import TimeRange


def now_ms() -> int:
    """The time now, ms since 1970 UTC."""
    return time.time_ns() // 1_000_000


def now_of(reader: StoreReader) -> int:
    """The time with which a store's contents are compared, ms UTC: now, for a past run its last moment, and as of a
    past moment that one.

    Raises StoreError.
    """
    meta = reader.meta()
    if meta.as_of is not None:
        return meta.as_of
    last = reader.last_ts() if meta.past else None
    return now_ms() if last is None else last


def add_since_argument(parser: argparse.ArgumentParser, usual: str, such_as: str) -> None:
    """Declare ``--since``, of which ``duration_argument`` makes a length of time."""
    parser.add_argument(
        "--since", metavar="DURATION", default=usual, help=f"how far back, such as {such_as} (default: %(default)s)"
    )


FORMS: Final = (
    "2026-11-20T12:00:00Z, 2026-11-20 12:00, 2026-11-20, 12:00, 12:00Z, yesterday, yesterday 22:00, today or now"
)
_CLOCK = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_OFFSET = re.compile(r"(.*:[0-9]{2})\s*(?:z|utc|([+-])([01][0-9]|2[0-3])(?::?([0-5][0-9]))?)")
"""A time of day and its offset from UTC."""
_DAYS: Final = {"today": 0, "yesterday": 1}
_DAYS_AHEAD: Final = {"today": 0, "tomorrow": -1}


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
    from mqvitals_config.decoding.scalars import time_zone

    try:
        return time_zone(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def reading_zone(arguments: argparse.Namespace) -> tzinfo:
    """The zone of times that name none: ``--tz``, else the settings' ``time_zone``, else UTC.

    Raises Failure when a configuration that is named cannot be read; one that is only found is then passed over.
    """
    from mqvitals_config.decoding.scalars import time_zone

    if arguments.tz is not None:
        zone: tzinfo = arguments.tz
        return zone
    try:
        name = loaded_settings(arguments).settings.time_zone
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
        raise Failure(f"{option} {text!r} is not a time: {error}", hint=f"write it as {FORMS}") from error


FORMS_AHEAD: Final = "2h, 06:00, tomorrow 06:00, 2026-11-20 12:00 or 2026-11-20T12:00:00Z"


def add_span_arguments(parser: argparse.ArgumentParser, usual: str, *, since: bool = False) -> None:
    """Declare ``--last`` (``usual`` without it), ``--from`` and ``--to``; with ``since`` also ``--since``, the same as
    ``--last``."""
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument("--last", metavar="DURATION", help=f"the time up to its end, such as 8h (default: {usual})")
    if since:
        begin.add_argument("--since", metavar="DURATION", help="the same as --last")
    parser.add_argument("--from", dest="begin", metavar="TIME", help=f"from this moment: {FORMS}")
    parser.add_argument(
        "--to", dest="end", metavar="TIME", help="up to this moment (default: now; of a replay its end)"
    )


def span_argument(
    reader: StoreReader, arguments: argparse.Namespace, usual: str, *, whole_past: bool = False
) -> TimeRange:
    """The time that ``--last``, ``--from`` and ``--to`` give.

    With ``whole_past`` it is all of a run that has ended, where nothing says when it begins. Raises Failure for a time
    that cannot be read, or ends before it begins.
    """
    from mqvitals_agent.text.chart import TimeRange

    option = "--last" if getattr(arguments, "since", None) is None else "--since"
    length = arguments.last if option == "--last" else arguments.since
    if length is not None and arguments.begin is not None:
        raise Failure(f"{option} and --from both say where to begin", hint="give one of them")
    refuse_empty(reader)
    now = now_of(reader)
    zone = partial(reading_zone, arguments)
    until = now if arguments.end is None else moment_argument("--to", arguments.end, zone, now)
    if until > now:
        raise Failure(f"--to {arguments.end!r} is in the future", hint="leave it out: the time then ends now")
    if arguments.begin is not None:
        since = moment_argument("--from", arguments.begin, zone, now)
    elif length is None and whole_past and reader.meta().ended:
        since = min(until - 1, *(owner.first_ts for owner in reader.owners()))
    else:
        since = max(until - duration_argument(option, length or usual), 0)
    if since >= until:
        raise ends_too_early(since, until)
    return TimeRange(since, until)


def ends_too_early(since: int, until: int) -> Failure:
    """The refusal of a time range (ms UTC) that ends before it begins, with what to do."""
    from mqvitals_agent.text.figure import moment, zone_name

    words = f"ends ({moment(until)}) before it begins ({moment(since)} {zone_name(since)})"
    return Failure(
        f"the time range {words}",
        hint="begin earlier or end later; a time of day alone is the last one that has passed: write its date too",
    )


def later_moment_argument(option: str, text: str, zone: Callable[[], tzinfo], now: int) -> int:
    """The moment ahead of ``now`` that ``text`` names, ms UTC: in some time (``2h``), or as ``moment_argument``.

    A time of day alone is the next one. Raises Failure.
    """
    from mqvitals_config.decoding.scalars import parse_duration

    with suppress(ValueError):
        return now + parse_duration(text.strip())
    try:
        return parse_moment(text, zone, now, ahead=True)
    except ValueError as error:
        raise Failure(f"{option} {text!r} is not a time: {error}", hint=f"write it as {FORMS_AHEAD}") from error


def parse_moment(text: str, zone: Callable[[], tzinfo], now: int, *, ahead: bool = False) -> int:
    """``text`` as ms since 1970 UTC; ``now`` is the time now.

    A time of day alone is the last one that is not ahead of ``now``, or with ``ahead`` the next one; a date alone is
    its first moment. A time of day may name its offset (``12:00Z``, ``yesterday 22:00+01:00``), and is then in no other
    zone. Of an hour that comes twice when clocks go back, the first one counts. Raises ValueError: the
    form, a date that does not exist, or a time that is left out when clocks go forward.
    """
    from mqvitals_rules.timestamps import parse_iso

    words = text.strip().lower().replace("t", " ", 1) if _DATE.match(text.strip()) else text.strip().lower()
    offset = _OFFSET.fullmatch(words)
    if offset is not None:
        words, zone = offset[1], partial(_fixed_zone, *offset.groups()[1:])
    day, _, clock = words.partition(" ")
    if words == "now":
        return now
    if _CLOCK.fullmatch(words):
        there = zone()
        today = datetime.fromtimestamp(now / 1000, there)
        found = _at(today, words, there)
        if ahead:
            return found if found > now else _at(today + timedelta(days=1), words, there)
        return found if found <= now else _at(today - timedelta(days=1), words, there)
    days = _DAYS_AHEAD if ahead else _DAYS
    if day in days and (not clock or _CLOCK.fullmatch(clock)):
        there = zone()
        return _at(datetime.fromtimestamp(now / 1000, there) - timedelta(days=days[day]), clock or "00:00", there)
    if _DATE.fullmatch(day) and (not clock or _CLOCK.fullmatch(clock)):
        there = zone()
        return _at(datetime.fromisoformat(day), clock or "00:00", there)
    return parse_iso(text.strip())


def _fixed_zone(sign: str | None, hours: str | None, minutes: str | None) -> tzinfo:
    """The zone of an offset; without one UTC."""
    ahead = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    return timezone(-ahead if sign == "-" else ahead)


def _at(day: datetime, clock: str, zone: tzinfo) -> int:
    """A time of day on a date, ms UTC."""
    hour, minute, second = (int(part) for part in (*clock.split(":"), "0")[:3])
    wanted = datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=zone)
    found = int(wanted.timestamp()) * 1000
    if datetime.fromtimestamp(found / 1000, zone).replace(fold=0) != wanted:
        raise ValueError(f"clocks went forward: there was no {clock} on {wanted:%Y-%m-%d} in {zone}")
    return found


def duration(text: str) -> int:
    """A length of time on the command line, ms. Raises ArgumentTypeError."""
    from mqvitals_config.decoding.scalars import parse_duration

    try:
        length = parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    if not length:
        raise argparse.ArgumentTypeError("must be longer than 0s")
    return length


def duration_argument(option: str, text: str) -> int:
    """The length of time of an option, ms. Raises Failure."""
    from mqvitals_config.decoding.scalars import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise Failure(f"{option} {text!r}: {error}") from error


LONGEST_WAIT_MS: Final = 60_000
"""The agent drops a request after this time."""


def add_wait_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--wait`` for a command that has the agent ask queue managers."""
    parser.add_argument(
        "--wait",
        metavar="DURATION",
        default="20s",
        help="wait so long for the answer, at most 60s (default: %(default)s)",
    )


def waiting_ms(text: str) -> int:
    """The time of ``--wait``, ms. Raises Failure for one that is too long, or none."""
    duration = duration_argument("--wait", text)
    if duration > LONGEST_WAIT_MS:
        raise Failure(f"--wait {text}: no answer comes after 60s", hint="write --wait 60s")
    return duration
