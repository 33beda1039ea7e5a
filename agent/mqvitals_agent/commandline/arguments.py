"""Options that several commands have: the store, times and zones, the speed, a simulated group."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Final

from mqvitals_agent.commandline.settings import loaded_settings
from mqvitals_agent.errors import Failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.snapshot import ObjectName


def add_store_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``--store`` and ``--config``."""
    parser.add_argument("--store", metavar="FILE", help="the store (else MQVITALS_STORE, else store.path)")
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="the configuration file (else MQVITALS_CONFIG, else one of those in 'mqvitals help configuration')",
    )


def open_store(arguments: argparse.Namespace) -> StoreReader:
    """The store that flag, environment or file name. Raises Failure, and StoreError when it cannot be read."""
    from mqvitals_agent.store.reader import StoreReader

    if arguments.store is not None and arguments.config is None:
        # The flag beats everything else; an invalid file must not keep a store from being read.
        path: str | None = arguments.store
    else:
        path = loaded_settings(arguments).settings.store.path
    if not path:
        raise Failure("no store is named", hint="name one with --store FILE, MQVITALS_STORE, or store.path")
    reader = StoreReader.open(path)
    _report_skipped_rows(reader, path)
    return reader


def _report_skipped_rows(reader: StoreReader, path: str) -> None:
    """Report on standard error rows that are not read. Raises StoreError."""
    import shlex

    from mqvitals_agent.commandline.output import complain
    from mqvitals_agent.text.terminal import safe

    rows = reader.passed_over()
    if rows:
        named = ", ".join(f"{table} {count:,}" for table, count in rows.items())
        complain(
            f"mqvitals: rows dated outside any calendar are skipped ({named}); the agent drops them when it starts,"
            f" and so does 'mqvitals store check --repair {safe(shlex.quote(path))}'"
        )


def check_owners(reader: StoreReader, names: Sequence[str]) -> None:
    """Raises Failure for a name that is no queue manager or group of the store, and StoreError."""
    from mqvitals_config.problem import suggestion

    known = [owner.name for owner in reader.owners() if not owner.unwatched]
    for name in names:
        if name not in known:
            meant = suggestion(name, known)
            raise Failure(f"the store has no queue manager {name!r}", hint=meant or f"it has {', '.join(known)}")


def object_name(text: str) -> ObjectName:
    """The object that ``text`` names. Raises Failure for another form, and for an unknown kind."""
    from mqvitals_config.problem import suggestion
    from mqvitals_rules.snapshot import ObjectName
    from mqvitals_rules.vocabulary.tables import KINDS

    try:
        name = ObjectName.parse(text)
    except ValueError as error:
        raise Failure(str(error), hint="'mqvitals metrics' lists the kinds") from error
    if name.kind not in KINDS:
        meant = suggestion(name.kind, KINDS)
        raise Failure(f"there is no kind of object {name.kind!r}", hint=meant or f"the kinds are {', '.join(KINDS)}")
    return name


def now_ms() -> int:
    """The time now, ms since 1970 UTC."""
    return time.time_ns() // 1_000_000


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
    from mqvitals_config.scalars import time_zone

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


def parse_moment(text: str, zone: Callable[[], tzinfo], now: int) -> int:
    """``text`` as ms since 1970 UTC; ``now`` is the time now.

    A time of day alone is the last one that is not ahead of ``now``; a date alone is its first moment. Of an hour
    that comes twice when clocks go back, the first one counts. Raises ValueError: the form, a date that does not
    exist, or a time that is left out when clocks go forward.
    """
    from mqvitals_rules.timestamps import parse_iso

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
    return parse_iso(text.strip())


def _at(day: datetime, clock: str, zone: tzinfo) -> int:
    """A time of day on a date, ms UTC."""
    hour, minute, second = (int(part) for part in (*clock.split(":"), "0")[:3])
    wanted = datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=zone)
    found = int(wanted.timestamp()) * 1000
    if datetime.fromtimestamp(found / 1000, zone).replace(fold=0) != wanted:
        raise ValueError(f"clocks went forward: there was no {clock} on {wanted:%Y-%m-%d} in {zone}")
    return found


FASTEST = 1_000_000


def speed(text: str) -> float | None:
    """The factor to real time; None for ``max``, without waiting. Raises ArgumentTypeError."""
    if text == "max":
        return None
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= FASTEST:
        raise argparse.ArgumentTypeError(f"the speed is a number above 0 or max, not {text!r}; at most {FASTEST}")
    return number


def speed_word(speed: float | None) -> str:
    """The argument that gives this speed."""
    return "max" if speed is None else f"{speed:.17g}"


MOST_QUEUES, MOST_CHANNELS = 10_000, 2000

SMF_INTERVAL_MS = 60_000

_SECOND_MS = 1000


def add_simulation_arguments(parser: argparse.ArgumentParser, *, limited: bool) -> None:
    """Declare the options of a simulated group, of a run's length (required when ``limited``) and of its interval."""
    add_scenario_arguments(parser)
    parser.add_argument(
        "--for", dest="for_ms", metavar="10m", type=duration, required=limited, help="end after this time"
    )


def add_scenario_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a simulated group, of its pace and of the interval."""
    parser.add_argument("--scenario", metavar="S", help="simulate the group of this scenario")
    parser.add_argument(
        "--seed",
        metavar="N",
        type=_up_to(999_999_999),
        default=1,
        help="seed of the scenario's random numbers (default: 1)",
    )
    parser.add_argument(
        "--queues", metavar="N", type=_up_to(MOST_QUEUES), default=0, help="number of additional queues"
    )
    parser.add_argument(
        "--channels", metavar="N", type=_up_to(MOST_CHANNELS), default=0, help="number of additional channels"
    )
    parser.add_argument(
        "--speed",
        metavar="N",
        type=speed,
        default=1.0,
        help="N times real time (default: 1); max: without waiting. Never beyond now: a faster run starts in the"
        " past, so that --for ends now, or a day ago, and continues in real time when it reaches now",
    )
    parser.add_argument("--interval", metavar="2s", help="the time from one cycle to the next (polling.interval)")


def add_smf_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the folder of SMF records, and of those that a simulated group writes into it."""
    parser.add_argument(
        "--smf",
        metavar="FOLDER",
        help="read the files of SMF records that come into this folder (smf.watch); a simulated group writes its own"
        " there",
    )
    parser.add_argument(
        "--smf-interval",
        metavar="1m",
        type=_whole_seconds,
        default=SMF_INTERVAL_MS,
        help="the statistics interval of a simulated group (default: 1m)",
    )


def refuse_simulation_options(arguments: argparse.Namespace) -> None:
    """Raises Failure for options that only a simulated group has."""
    usual_of = {"seed": 1, "queues": 0, "channels": 0, "speed": 1.0, "smf_interval": SMF_INTERVAL_MS}
    for option, usual in usual_of.items():
        if getattr(arguments, option, usual) != usual:
            raise Failure(
                f"--{option.replace('_', '-')} is for a simulated group", hint="name a --scenario, or leave it out"
            )


def duration(text: str) -> int:
    """A length of time on the command line, ms. Raises ArgumentTypeError."""
    from mqvitals_config.scalars import parse_duration

    try:
        length = parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    if not length:
        raise argparse.ArgumentTypeError("must be longer than 0s")
    return length


def duration_argument(option: str, text: str) -> int:
    """The length of time of an option, ms. Raises Failure."""
    from mqvitals_config.scalars import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise Failure(f"{option} {text!r}: {error}") from error


def _whole_seconds(text: str) -> int:
    """A length of time on the command line that is one of whole seconds, ms. Raises ArgumentTypeError."""
    length = duration(text)
    if length % _SECOND_MS:
        raise argparse.ArgumentTypeError("must be of whole seconds")
    return length


def _up_to(most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) > most:
            raise argparse.ArgumentTypeError(f"expected a whole number up to {most}, not {text!r}")
        return int(text)

    return number
