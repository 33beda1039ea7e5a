"""One line of a console or job log: the columns of its carrier, and the time it shows.

The forms are those of SYSLOG and OPERLOG as printed, JES job logs, answers to a console command, plain logs (a time
and the message), and any of these behind the header of a Unix syslog server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, tzinfo
from typing import Final

from mqvitals_agent.poll.local_time import QueueManagerClock
from mqvitals_config.sections.collection import Carrier
from mqvitals_rules.timestamps import DAY_MS

_EPOCH: Final = date(1970, 1, 1).toordinal()
_AHEAD_MS: Final = 300_000
"""A time of day further ahead than this is yesterday's: clocks differ by less."""
_MIDNIGHT_MS: Final = 12 * 3_600_000

MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"), start=1
    )
}
_TIME = re.compile(r"(\d\d)[:.](\d\d)[:.](\d\d)(?:[.,](\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class LineTime:
    """The time that a line shows: ms of the day; the day (since 1970) and the offset from UTC (ms) when shown."""

    ms: int
    day: int | None = None
    offset: int | None = None


def time_of_day(text: str) -> int | None:
    """``17.43.53`` or ``17:43:53.12`` as ms of the day; None for other text."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    hours, minutes, seconds = int(found[1]), int(found[2]), int(found[3])
    if hours > 23 or minutes > 59 or seconds > 60:
        return None
    return (hours * 3600 + minutes * 60 + min(seconds, 59)) * 1000 + int(((found[4] or "") + "000")[:3])


def day_of(year: int, month: int, number: int) -> int | None:
    """A date as days since 1970; None for a date that does not exist."""
    try:
        return date(year, month, number).toordinal() - _EPOCH
    except ValueError:
        return None


def day_of_year(text: str) -> int | None:
    """``2024029`` or ``24029`` as days since 1970; None for other text."""
    year, number = int(text[:-3]), int(text[-3:])
    first = day_of(year + 2000 if len(text) == 5 else year, 1, 1)
    return None if first is None or not 1 <= number <= 366 else first + number - 1


class LineCalendar:
    """Converts the times of one file to ms UTC, in the order of its lines.

    ``zone`` is that of times without an offset. Without one, it is derived from lines with a date that have just been
    written, as that of a queue manager is; until then, and for times without a date, the time of reading is used.
    """

    def __init__(self, zone: tzinfo | None, day: int | None = None, last: int = 0) -> None:
        """``day`` and ``last`` (ms of the day) are those of an earlier calendar of the same file."""
        self._zone = zone
        self._clock = QueueManagerClock(zone)
        self.day = day
        self.last = last

    def turn(self, day: int) -> None:
        """A line announced the date."""
        self.day, self.last = day, 0

    def restart(self) -> None:
        """Another file begins: its times of day need not follow those of the one before."""
        self.day, self.last = None, 0

    def moment(self, stamp: LineTime | None, now: int, *, live: bool) -> int:
        """The moment of a line that was read at ``now``; ``live``: it cannot have been in the file for long.

        Never later than ``now``: a message from the future would count for too long.
        """
        if stamp is None:
            return now
        if stamp.offset is not None and stamp.day is not None:
            return min(stamp.day * DAY_MS + stamp.ms - stamp.offset, now)
        if stamp.day is not None:
            local = stamp.day * DAY_MS + stamp.ms
        elif self.day is not None:
            if stamp.ms < self.last - _MIDNIGHT_MS:
                self.day += 1
            self.last = stamp.ms
            local = self.day * DAY_MS + stamp.ms
        else:
            return self._nearest(stamp.ms, now)
        if live:
            self._clock.observe(local, now)
        found = self._clock.utc(local)
        return now if found is None else min(found, now)

    def _nearest(self, ms: int, now: int) -> int:
        """The last time before ``now`` when clocks of the zone showed ``ms``; ``now`` when the zone is not known."""
        if not self._clock.known:
            return now
        # The date there differs from ours by one day at most.
        days = range(now // DAY_MS + 1, now // DAY_MS - 2, -1)
        found = (self._clock.utc(day * DAY_MS + ms) for day in days)
        return next((min(each, now) for each in found if each is not None and each <= now + _AHEAD_MS), now)


_ID = r"(?:[A-Z][A-Z0-9$#@]{2,5}\d{2,5}[A-Z]|\$HASP\d{3,4})(?!\S)"
"""A message id of any product."""
_BEGINS = re.compile(rf"[*@\-]?\s?\+?(?P<text>{_ID}.*)", re.DOTALL)
"""The beginning of a message: marks of z/OS (action required, written by a problem program) before the id."""
_JOB = r"(?:JOB|STC|TSU)\d{5}|[JST]\d{7}"

_SYSLOG = re.compile(
    r"(?P<type>[A-Z])[A-Z ]?[ ]?(?P<route>[0-9A-F]{7})\s(?P<system>\S{1,8})\s+(?P<day>\d{7}|\d{5})\s"
    r"(?P<time>\d\d:\d\d:\d\d\.\d\d)(?:\s(?P<job>.{8})\s+[0-9A-F]{8}\S?(?=\s|$))?\s*(?P<text>.*)",
    re.DOTALL,
)
_SYSLOG_MORE = re.compile(
    r"(?P<type>[DELS])[A-Z ]?\s{8,}(?:(?P<number>\d{3})\s+[0-9A-F]{8}(?:\s|$))?\s*(?P<text>.*)", re.DOTALL
)
_REPORT_MORE = re.compile(r"(?P<number>\d{3})\s[0-9A-F]{8}(?:\s+(?P<text>.*))?", re.DOTALL)
_JOBLOG = re.compile(rf"[ 1]?\s?\s?(?P<time>\d\d\.\d\d\.\d\d)\s(?P<job>{_JOB})\s+(?P<text>.*)", re.DOTALL)
_JOBLOG_MORE = re.compile(r"\s{1,5}(?P<number>\d{3})\s{4,}(?P<text>.*)", re.DOTALL)
_JOBLOG_DAY = re.compile(r"-{2,}\s*[A-Z]+DAY,\s*(?P<day>\d{1,2})\s+(?P<month>[A-Z]{3})\s+(?P<year>\d{4})\s*-{2,}\s*")
_RESPONSE = re.compile(r"RESPONSE=(?P<text>.*)", re.DOTALL)
_PLAIN = re.compile(
    r"\s*(?:(?P<date>\d{4}-\d\d-\d\d)[ T])?(?P<time>\d\d[:.]\d\d[:.]\d\d(?:[.,]\d{1,9})?)"
    r"(?P<zone>\s?Z|\s?[+-]\d\d:?\d\d)?(?:\s+(?P<text>.*))?",
    re.DOTALL,
)
_LEADING = re.compile(r"(?P<words>(?:\S{1,16}\s+){1,3}?)(?P<text>\+?CSQ[0-9A-Z]\d{3}[A-Z](?!\S).*)", re.DOTALL)
"""Names before a message id: system, job."""
_UNIX_OLD = re.compile(
    r"(?:<\d{1,3}>)?(?P<month>[A-Z][a-z]{2}) {1,2}(?P<day>\d{1,2}) (?P<time>\d\d:\d\d:\d\d) (?P<host>\S{1,255})"
    r" (?:(?P<tag>[^\s:\[\]]{1,48})(?:\[[^\]\s]{1,128}\])?: ?)?(?P<text>.*)",
    re.DOTALL,
)
_UNIX_NEW = re.compile(
    r"(?:<\d{1,3}>1 )?(?P<date>\d{4}-\d\d-\d\d)T(?P<time>\d\d:\d\d:\d\d(?:\.\d{1,9})?)(?P<zone>Z|[+-]\d\d:\d\d)"
    r" (?P<host>\S{1,255}) (?:\S{1,48} \S{1,128} \S{1,32} (?:-|(?:\[[^\]]{0,1000}\]){1,9})|"
    r"(?P<tag>[^\s:\[\]]{1,48})(?:\[[^\]\s]{1,128}\])?:)(?: (?:\ufeff)?(?P<text>.*))?",
    re.DOTALL,
)
_CUT = re.compile(r"(?P<head>.*\S)\s{1,3}(?P<number>\d{3})\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ConsoleLine:
    """A line without its carrier's columns.

    ``begins``: a message begins here. ``number`` is that of the multi-line message that it continues, ``day`` the
    date that it announces, days since 1970. ``job`` is the name or number of a job. Empty or None: not shown.
    """

    text: str
    begins: bool = False
    stamp: LineTime | None = None
    job: str = ""
    system: str = ""
    number: str = ""
    day: int | None = None


def parse_line(text: str, carrier: Carrier = "auto") -> ConsoleLine:
    """Remove the carrier's columns from a line without its end. Never raises."""
    text = text.replace("\0", "").lstrip("\ufeff").rstrip()
    return _first(text, _FORMS[carrier])


def begins_message(text: str, carrier: Carrier = "auto") -> bool:
    """Whether a line begins, and is not the second half of one."""
    line = parse_line(text, carrier)
    return line.begins or line.stamp is not None


def cut_number(text: str) -> tuple[str, str]:
    """A first line without the number at its end, and that number, empty without one.

    A following line with the number decides whether it is z/OS's number of a multi-line message or a word of the text.
    """
    found = _CUT.fullmatch(text)
    return (text, "") if found is None else (found["head"], found["number"])


def _first(text: str, forms: Iterable[Callable[[str], ConsoleLine | None]]) -> ConsoleLine:
    found = (form(text) for form in forms)
    return next((line for line in found if line is not None), None) or ConsoleLine(text.strip())


def _message(text: str | None) -> tuple[str, bool]:
    text = (text or "").strip()
    found = _BEGINS.match(text)
    return (text, False) if found is None else (found["text"], True)


def _syslog(text: str) -> ConsoleLine | None:
    found = _SYSLOG.match(text)
    if found is not None:
        day, ms = day_of_year(found["day"]), time_of_day(found["time"])
        words = _message(found["text"])[0]
        stamp = None if day is None or ms is None else LineTime(ms, day)
        return ConsoleLine(words, begins=True, stamp=stamp, job=(found["job"] or "").strip(), system=found["system"])
    found = _SYSLOG_MORE.match(text) or _REPORT_MORE.match(text)
    if found is not None:
        return ConsoleLine((found["text"] or "").strip(), number=found["number"] or "")
    return None


def _joblog(text: str) -> ConsoleLine | None:
    found = _JOBLOG.match(text)
    if found is not None:
        ms = time_of_day(found["time"])
        words = found["text"].strip()
        date = _JOBLOG_DAY.fullmatch(words)
        day = None
        if date is not None and date["month"] in MONTHS:
            day = day_of(int(date["year"]), MONTHS[date["month"]], int(date["day"]))
        stamp = None if ms is None else LineTime(ms)
        return ConsoleLine(_message(words)[0], begins=True, stamp=stamp, job=found["job"], day=day)
    found = _JOBLOG_MORE.match(text)
    return None if found is None else ConsoleLine(found["text"].strip(), number=found["number"])


def _response(text: str) -> ConsoleLine | None:
    found = _RESPONSE.match(text)
    if found is None:
        return None
    words, begins = _message(found["text"])
    if not begins:
        # The first line has the system's name between the mark and the message.
        system, _, rest = words.partition(" ")
        inner, begins = _message(rest)
        if begins:
            return ConsoleLine(inner, begins=True, system=system)
    return ConsoleLine(words, begins)


def _plain(text: str) -> ConsoleLine | None:
    found = _PLAIN.match(text)
    ms = None if found is None else time_of_day(found["time"])
    if found is None or ms is None:
        words, begins = _message(text)
        return ConsoleLine(words, begins) if begins else None
    stamp = _stamp(ms, found["date"], (found["zone"] or "").strip())
    words, begins = _message(found["text"])
    if not begins:
        named = _LEADING.match(words)
        if named is not None:
            names = named["words"].split()
            job = names[-1] if len(names) > 1 or re.fullmatch(_JOB, names[0]) else ""
            system = names[0] if names[0] != job else ""
            return ConsoleLine(_message(named["text"])[0], begins=True, stamp=stamp, job=job, system=system)
    return ConsoleLine(words, begins, stamp)


def _forwarded(text: str) -> ConsoleLine | None:
    found = _UNIX_NEW.match(text)
    if found is not None:
        ms = time_of_day(found["time"])
        stamp = None if ms is None else _stamp(ms, found["date"], found["zone"])
    else:
        found = _UNIX_OLD.match(text)
        if found is None or found["month"].upper() not in MONTHS:
            return None
        # The year is not shown. The time of day is enough, because followed lines are new.
        ms = time_of_day(found["time"])
        stamp = None if ms is None else LineTime(ms)
    inner = _first(found["text"] or "", _INNER)
    return replace(
        inner, stamp=inner.stamp or stamp, system=inner.system or found["host"], job=inner.job or found["tag"] or ""
    )


def _stamp(ms: int, date: str | None, zone: str) -> LineTime:
    day = None if not date else day_of(*map(int, date.split("-")))
    if zone == "Z":
        return LineTime(ms, day, 0)
    if not zone:
        return LineTime(ms, day)
    digits = zone[1:].replace(":", "")
    distance = (int(digits[:2]) * 60 + int(digits[2:])) * 60_000
    return LineTime(ms, day, -distance if zone[0] == "-" else distance)


_INNER: Final = (_syslog, _joblog, _response, _plain)
"""The forms that may follow the header of a syslog server."""
_FORMS: Final[dict[Carrier, tuple[Callable[[str], ConsoleLine | None], ...]]] = {
    "auto": (_forwarded, *_INNER),
    "syslog": (_syslog, _plain),
    "joblog": (_joblog,),
    "plain": (_response, _plain),
    "forwarded": (_forwarded,),
}
