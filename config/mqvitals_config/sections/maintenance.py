"""Settings of maintenance windows: once, by a cron expression, or by weekday and time of day."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from fnmatch import fnmatchcase
from itertools import islice
from typing import Annotated, Final

from mqvitals_config.decoding.problem import LocatedText, Place, Problem, did_you_mean, shown
from mqvitals_config.decoding.scalars import display_name, format_duration, time_zone
from mqvitals_config.decoding.schema import Convert, Doc, duration_within
from mqvitals_config.sections.alerting import MatcherText, RouteNames, matcher_problems
from mqvitals_config.sections.time_intervals import (
    DAY_MINUTES,
    ClockRange,
    ClockText,
    TimeZone,
    WeekdaysText,
    parse_clock,
    parse_weekdays,
)

LONGEST_WINDOW_MS: Final = 31 * 86_400_000

_MOMENT: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2})(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_MOMENT_FORM: Final = "a date and a time such as 2027-03-31 22:00"
_CRON_FORM: Final = "a cron expression such as 0 2 * * SUN"
_WEEK_MINUTES: Final = 7 * DAY_MINUTES
_STARTS: Final = 2_000
"""So many starts of a cron expression are looked at for a pause between two windows."""


def moment_text(text: LocatedText) -> LocatedText:
    """``text`` itself when it is a date with a time of day; raises ValueError."""
    _moment(text)
    return text


def _moment(text: str) -> datetime:
    found = _MOMENT.fullmatch(text.strip())
    if found is not None:
        try:
            moment = datetime.fromisoformat(text.strip())
        except ValueError:
            pass
        else:
            if 1970 < moment.year < 9998:
                return moment
    raise ValueError(f"{shown(text)} is no {_MOMENT_FORM.removeprefix('a ')}")


def moment_in(text: str, zone: tzinfo) -> int:
    """The moment that ``text`` names in a zone, ms UTC.

    Of an hour that comes twice when clocks go back, the first one counts. Raises ValueError for a form that is none, and
    for a time that is left out when clocks go forward.
    """
    moment = _moment(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
        if moment.astimezone(UTC).astimezone(zone).replace(fold=0) != moment:
            raise ValueError(f"clocks go forward: there is no {moment:%H:%M} on {moment:%Y-%m-%d} in {zone}")
    return int(moment.timestamp()) * 1000


def cron_text(text: LocatedText) -> LocatedText:
    """``text`` itself when it is a cron expression of five fields; raises ValueError."""
    from cronsim import CronSim, CronSimError  # here, because most commands need none

    problem = f"has {len(text.split())} fields"
    if len(text.split()) == 5:
        try:
            next(CronSim(text, datetime(2027, 1, 1)), None)  # noqa: DTZ001 - only its form is looked at
        except CronSimError as error:
            problem = str(error).lower()
        else:
            return text
    raise ValueError(
        f"{shown(text)} is no cron expression ({problem}): write minute, hour, day of the month, month and day of the week,"
        " such as 0 2 * * SUN"
    )


def why_text(text: LocatedText) -> LocatedText:
    """``text`` itself, a sentence; raises ValueError."""
    if not text.strip() or not text.isprintable() or len(text) > 200:
        raise ValueError("a reason has 1 to 200 characters on one line")
    return text


def queue_manager_pattern(text: LocatedText) -> LocatedText:
    """``text`` itself, a name or a pattern of queue managers; raises ValueError."""
    if not text.strip() or not text.isprintable() or "/" in text:
        raise ValueError(
            "write the name or a pattern of queue managers, such as QM01 or QM0*; what has a / goes to objects"
        )
    return text


@dataclass(frozen=True, slots=True)
class WindowTimes:
    """A part of a day or of a night."""

    start_time: Annotated[ClockText, Doc("When it begins, such as 22:00.")]
    end_time: Annotated[ClockText, Doc("When it ends, such as 06:00; not after start_time: on the next day.")]

    @property
    def range(self) -> ClockRange:
        """It in minutes; an end that is not after the start is on the next day."""
        return ClockRange(parse_clock(self.start_time), parse_clock(self.end_time))

    def __post_init__(self) -> None:
        if self.start_time == self.end_time or self.range.start == DAY_MINUTES:
            raise ValueError("end_time must be another time than start_time, and start_time before 24:00")


@dataclass(frozen=True, slots=True)
class MaintenanceSettings:
    """A maintenance window: when it is, and what it is about."""

    name: Annotated[
        Annotated[LocatedText, Convert(display_name)],
        Doc("Its name, such as weekly IPL. Several entries may have the same one."),
    ]
    reason: Annotated[
        Annotated[LocatedText, Convert(why_text)], Doc("Why it is, for those who see that an alert is not notified.")
    ]
    queue_managers: Annotated[
        tuple[Annotated[LocatedText, Convert(queue_manager_pattern)], ...],
        Doc(
            "Names or patterns of queue managers, such as `QM0*`: all their alerts are meant. Either this or `objects` is"
            " required."
        ),
    ] = ()
    planned_down: Annotated[
        bool,
        Doc(
            "Whether these queue managers are down as planned: channels to them, and whatever follows from that elsewhere, is"
            " meant too.",
            default="false",
        ),
    ] = False
    objects: Annotated[
        tuple[LocatedText, ...],
        Doc("Patterns of the objects whose alerts are meant, such as `*/queue/PAY.*` or `QM01/channel`."),
    ] = ()
    matchers: Annotated[
        tuple[MatcherText, ...],
        Doc("What an alert must match besides, all of it, as in routes: `severity!=critical`.", default="every alert"),
    ] = ()
    starts: Annotated[
        Annotated[LocatedText, Convert(moment_text, _MOMENT_FORM, raw=True)] | None,
        Doc("Once: from this time on, such as 2027-03-31 22:00.", default="it comes again"),
    ] = field(default=None, metadata={"key": "from"})
    ends: Annotated[
        Annotated[LocatedText, Convert(moment_text, _MOMENT_FORM, raw=True)] | None,
        Doc("Once: until this time. Required with `from`."),
    ] = field(default=None, metadata={"key": "to"})
    cron: Annotated[
        Annotated[LocatedText, Convert(cron_text, _CRON_FORM)] | None,
        Doc(
            "When it begins, as a cron expression: minute, hour, day of the month (L: the last), month, day of the week, such as"
            " `0 2 * * SUN`."
        ),
    ] = None
    lasts: Annotated[
        Annotated[int, duration_within(60_000, LONGEST_WINDOW_MS, "must be from 1m to 31d")] | None,
        Doc("How long it lasts, whatever clocks do meanwhile. Required with `cron`."),
    ] = field(default=None, metadata={"key": "for"})
    weekdays: Annotated[
        tuple[WeekdaysText, ...],
        Doc(
            "Days of the week on which it begins, such as `sunday` or `monday:friday`.",
            default="with `times`, every day",
        ),
    ] = ()
    times: Annotated[
        tuple[WindowTimes, ...],
        Doc("The times of these days, by the wall clock.", default="with `weekdays`, the whole day"),
    ] = ()
    time_zone: Annotated[
        TimeZone | None,
        Doc("The zone of its times: an IANA name such as Europe/Berlin.", default="that of the group, else UTC"),
    ] = None

    def __post_init__(self) -> None:
        forms = [
            word
            for word, given in (
                ("from", self.starts is not None or self.ends is not None),
                ("cron", self.cron is not None or self.lasts is not None),
                ("weekdays or times", bool(self.weekdays or self.times)),
            )
            if given
        ]
        if len(forms) != 1:
            said = f"{' and '.join(forms)} do not go together" if forms else "it is never"
            raise ValueError(f"{said}: give from and to, or cron and for, or weekdays and times")
        for one, other, key in ((self.starts, self.ends, "from and to"), (self.cron, self.lasts, "cron and for")):
            if (one is None) != (other is None):
                raise ValueError(f"it needs both {key}")
        if _whole_week(self.weekdays, self.times):
            raise ValueError("it never ends: its weekdays and times are the whole week")
        if not self.queue_managers and not self.objects:
            raise ValueError('it is about nothing: give queue_managers or objects; objects: ["*/*"] means all')
        if self.planned_down and (self.objects or self.matchers or not self.queue_managers):
            raise ValueError(
                "planned_down is about queue_managers alone; write objects and matchers in an entry of their own"
            )


def zone_of(window: MaintenanceSettings, group: str | None) -> str:
    """The zone of a window's times, where ``group`` is that of the settings."""
    return window.time_zone or group or "UTC"


def maintenance_contradictions(
    windows: Sequence[MaintenanceSettings],
    zone: str | None,
    queue_managers: Sequence[str],
    labels: Sequence[str],
    places: Mapping[str, Place],
) -> Iterator[Problem]:
    """What is wrong with windows whose parts are each well-formed.

    ``zone`` is the group's, ``queue_managers`` are those of the settings (none: they are not known), ``labels`` those that
    alerts can have.
    """
    names = RouteNames((), labels, (), places)
    for index, window in enumerate(windows):
        key = f"maintenance[{index}]"
        for at, pattern in enumerate(window.queue_managers):
            if queue_managers and not any(fnmatchcase(name, _escaped(pattern)) for name in queue_managers):
                message = f"no queue manager of the settings is {shown(pattern)}{did_you_mean(pattern, queue_managers)}"
                yield Problem(pattern.place, f"{key}.queue_managers[{at}]", message)
        yield from matcher_problems(window.matchers, f"{key}.matchers", names)
        yield from _time_problems(window, key, time_zone(zone_of(window, zone)))


def _time_problems(window: MaintenanceSettings, key: str, zone: tzinfo) -> Iterator[Problem]:
    if window.starts is not None and window.ends is not None:
        moments = []
        for word, text in (("from", window.starts), ("to", window.ends)):
            try:
                moments.append(moment_in(text, zone))
            except ValueError as error:
                yield Problem(text.place, f"{key}.{word}", str(error))
        if len(moments) == 2 and moments[1] <= moments[0]:
            yield Problem(window.ends.place, f"{key}.to", f"it ends before it begins, which is {window.starts}")
    if window.cron is not None and window.lasts is not None and _never_ends(window.cron, window.lasts):
        lasts = format_duration(window.lasts)
        message = f"it never ends: each time it begins again within {lasts}, which is how long it lasts"
        yield Problem(window.cron.place, f"{key}.cron", message)


def _whole_week(weekdays: Sequence[str], times: Sequence[WindowTimes]) -> bool:
    """Whether weekdays and times leave no minute of a week."""
    ranges = map(parse_weekdays, weekdays)
    days = {day % 7 for each in ranges for day in range(each.first, each.last + 1)} or set(range(7))
    if not weekdays and not times:
        return False
    covered: set[int] = set()
    for day in days:
        for start, end in [each.range for each in times] or [ClockRange(0, DAY_MINUTES)]:
            length = end - start if start < end else end + DAY_MINUTES - start
            covered.update((day * DAY_MINUTES + start + minute) % _WEEK_MINUTES for minute in range(length))
    return len(covered) == _WEEK_MINUTES


def _never_ends(cron: str, lasts_ms: int) -> bool:
    from cronsim import CronSim

    lasts, before = timedelta(milliseconds=lasts_ms), None
    for start in islice(CronSim(cron, datetime(2027, 1, 1)), _STARTS):  # noqa: DTZ001 - no zone makes a pause longer
        if before is not None and start - before > lasts:
            return False
        before = start
    return before is not None


def _escaped(pattern: str) -> str:
    """A pattern in which only ``*`` and ``?`` are special."""
    return pattern.replace("[", "[[]")
