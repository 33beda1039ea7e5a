"""Figures, times and objects in words: a number with its unit, an age, a state's name, or the reason of an absence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, time, tzinfo

from mqvitals_agent.text.terminal import safe
from mqvitals_rules.ruleset.quantity import unit_of_one
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import DAY_MS, iso
from mqvitals_rules.vocabulary.metric import Absence, Metric, MetricType, Reported

_THOUSANDS = ("", " k", " M", " G", " T", " P")
_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")

# The vocabulary's units of time and of size, in the smallest.
_TIME_IN_US = {"us": 1.0, "ms": 1e3, "s": 1e6, "minutes": 6e7, "days": 8.64e10}
_SIZE_IN_BYTES = {"bytes": 1.0, "KB": 1024.0, "MB": 1024.0**2, "GB": 1024.0**3}
_WORDS = {"messages": "msgs", "messages/s": "msgs/s", "per_s": "/s", "count": "", "number": ""}
_WORD_OF_ONE = {"messages": "msg"}


def figure(value: Reported, metric: Metric) -> str:
    """One value of ``metric`` for a person: ``4 %``, ``3.4 ms``, ``RETRYING``, or the reason why it is absent."""
    if isinstance(value, Absence):
        return value.value
    if isinstance(value, str):
        told = told_moment(value, metric)
        if told is not None:
            return f"{moment(told)} {zone_name(told)}"
        return safe(value) or "(blank)"
    if word := metric.word_of(value):
        return word
    if metric.type is MetricType.STATE:
        return state(value, metric)
    if metric.name == "max_depth" and math.isfinite(value):
        return f"{whole(value)} {'msg' if value == 1 else 'msgs'}"
    return quantity(value, metric.unit)


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 interval``, ``2 intervals``; ``plural`` where it is not the noun with an ``s``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def number_of(count: int, noun: str, plural: str = "") -> str:
    """``counted`` for narrow places: ``1 handle``, ``1.2 k handles``."""
    return f"{number(count)} {noun if count == 1 else plural or noun + 's'}"


def state(code: float, metric: Metric) -> str:
    """The name of a state's number; a number without a name is shown as itself."""
    return next((name for name, number in metric.values.items() if number == code), f"{number(code)} (no name)")


def quantity(value: float, unit: str) -> str:
    """A number with its unit, scaled to be short: ``1.2 k msgs``, ``120 us``, ``1.5 GiB``."""
    if not math.isfinite(value):
        return "not a number"
    if unit == "pct":
        return percent(value)
    if unit in _TIME_IN_US and not value:
        # Nothing of a figure in seconds is no figure in microseconds.
        return "0 us" if unit == "us" else "0 ms" if unit == "ms" else "0 s"
    if unit in _TIME_IN_US:
        return duration_us(value * _TIME_IN_US[unit])
    if unit == "bytes/h":
        return f"{size(value)}/h"
    if unit in _SIZE_IN_BYTES:
        return size(value * _SIZE_IN_BYTES[unit])
    word, shown = _WORDS.get(unit, unit), number(value)
    if shown == "1":
        word = _WORD_OF_ONE.get(unit) or unit_of_one(word)
    return f"{shown} {word}" if word else shown


def number(value: float) -> str:
    """A plain number: ``999``, ``1.2 k``, ``11.2 k``, ``186 k``, ``0.25``."""
    if not math.isfinite(value):
        return "not a number"
    return _scaled(value, 1000, _THOUSANDS)


def whole(value: float) -> str:
    """A configured limit, to the last digit: ``999,999,999``."""
    return f"{value:,.0f}" if math.isfinite(value) else "not a number"


def percent(value: float) -> str:
    """A share: ``4 %``, ``93.1 %``. Near 0 and near 100 it is not rounded to them."""
    if 0 < value < 0.1:
        return "< 0.1 %"
    if 99.9 < value < 100:
        return "> 99.9 %"
    return f"{_decimals(value, 1) if abs(value) < 1000 else number(value)} %"


def whole_percent(value: float) -> str:
    """A share without decimals, for narrow places: ``4 %``. Only exactly 0 and 100 show as such."""
    return f"{min(max(round(value), 1), 99) if 0 < value < 100 else number(round(value))} %"


def size(value: float) -> str:
    """A number of bytes: ``512 B``, ``1.5 GiB``."""
    return _scaled(value, 1024, tuple(f" {word}" for word in _BYTES))


def duration_us(us: float) -> str:
    """A length of time given in microseconds: ``120 us``, ``3.4 ms``, ``41 s``, ``4m12s``."""
    if not math.isfinite(us):
        return "not a number"
    if us < 0:
        return f"-{duration_us(-us)}"
    if us < 999.5:
        return f"{_decimals(us, 1)} us"
    if us < 999_500:
        return f"{_short(us / 1e3)} ms"
    if us < 59_950_000:
        return f"{_short(us / 1e6)} s"
    return age(round(us / 1e3))


def age(ms: int) -> str:
    """How long ago, or for how long: ``41 s``, ``4m12s``, ``2 h 10 m``, ``3 d 4 h``.

    Never negative: a time ahead of this clock shows as ``0 s``.
    """
    seconds = max(ms, 0) // 1000
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60}m{seconds % 60:02d}s"
    if seconds < 86400:
        return f"{seconds // 3600} h {seconds % 3600 // 60} m"
    days = seconds // 86400
    return f"{days} d {seconds % 86400 // 3600} h" if days < 10_000 else "> 9999 d"


def short_age(ms: int) -> str:
    """``age`` without blanks, for narrow places: ``41s``, ``2h10m``."""
    return age(ms).replace(" ", "")


def rough_age(ms: int) -> str:
    """``short_age`` to its greatest unit, for the narrowest places: ``41s``, ``14m``, ``2h``, ``3d``."""
    words = age(ms)
    if words.startswith(">"):
        return short_age(ms)
    return "".join(words.split()[:2]) if " " in words else f"{words.partition('m')[0]}m"


_shown_zone: ContextVar[tzinfo] = ContextVar("the zone in which times are shown", default=UTC)


@contextmanager
def times_in(zone: tzinfo) -> Iterator[None]:
    """Within, times for people are shown in this zone; elsewhere in UTC."""
    token = _shown_zone.set(zone)
    try:
        yield
    finally:
        _shown_zone.reset(token)


def shown_zone() -> tzinfo:
    """The zone in which times are shown, and in which those that a person writes are read."""
    return _shown_zone.get()


def moment(ts: int) -> str:
    """A moment for a person: ``2026-11-20 12:09:50``. Say its ``zone_name`` beside it."""
    return f"{_shown(ts):%Y-%m-%d %H:%M:%S}"


def clock(ts: int) -> str:
    """The time of day of a moment: ``12:09:50``."""
    return f"{_shown(ts):%H:%M:%S}"


def day(ts: int) -> str:
    """The date of a moment: ``2026-11-20``."""
    return f"{_shown(ts):%Y-%m-%d}"


def zone_name(ts: int) -> str:
    """The name of the zone in which times are shown, at that moment: ``UTC``, ``CET``, ``+01:00``."""
    return _shown(ts).strftime("%Z").removeprefix("UTC") or "UTC"


def stamp(ts: int) -> str:
    """A moment for programs in the zone that is shown: ISO 8601 with its offset, ``Z`` for UTC."""
    if _shown_zone.get() is UTC:
        return iso(ts)
    return _shown(ts).replace(microsecond=ts % 1000 * 1000).isoformat(timespec="milliseconds")


def told_moment(value: str, metric: Metric) -> int | None:
    """The moment, ms UTC, that the text of a metric such as ``first_ts`` tells; None: the metric or the text tells none."""
    if metric.type is not MetricType.TEXT or not metric.name.endswith("_ts"):
        return None
    try:
        at = datetime.fromisoformat(value.removesuffix(" UTC"))
    except ValueError:
        return None
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()) * 1000


_FACE = r"(?:\d{4}-\d\d-\d\d )?\d\d:\d\d(?::\d\d)?"
_TOLD = re.compile(
    rf"(?<![\d:-])(?P<first>{_FACE})(?:(?P<between>, last )(?P<last>{_FACE}))? UTC\b"
    r"|(?<![\d:-])(?P<iso>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{3})?Z\b"
)


def told_in_zone(text: str, told: int) -> str:
    """What a rule said at ``told`` (ms UTC), with the times that it names as UTC in the zone that is shown.

    A time of day without a date is that of the last 24 hours before ``told``. Other words stay as they are.
    """
    if shown_zone() is UTC or ("UTC" not in text and "Z" not in text):
        return text
    return _TOLD.sub(lambda found: _retold(found, told), text)


def _retold(found: re.Match[str], told: int) -> str:
    try:
        if iso_face := found["iso"]:
            at = _told_at(iso_face.replace("T", " "), told)
            return f"{moment(at)} {zone_name(at)}"
        first = _told_at(found["first"], told)
        if not found["last"]:
            return f"{_face_like(found['first'], first)} {zone_name(first)}"
        last = _told_at(found["last"], told)
    except ValueError:
        # Digits that are no time of day.
        return found[0]
    zone, end = zone_name(first), f"{_face_like(found['last'], last)} {zone_name(last)}"
    begin = _face_like(found["first"], first)
    return f"{begin}{'' if zone == zone_name(last) else f' {zone}'}{found['between']}{end}"


def _told_at(face: str, told: int) -> int:
    if " " in face:
        return int(datetime.fromisoformat(face).replace(tzinfo=UTC).timestamp()) * 1000
    of_day = time.fromisoformat(face)
    at = told // DAY_MS * DAY_MS + (of_day.hour * 3600 + of_day.minute * 60 + of_day.second) * 1000
    return at if at <= told else at - DAY_MS


def _face_like(face: str, at: int) -> str:
    """The moment ``at`` with as much as ``face`` has: a date or none, seconds or none."""
    words = moment(at) if " " in face else clock(at)
    return words if face.count(":") == 2 else words[:-3]


_LAST_MS = 253_402_214_400_000  # a day before the calendar of Python ends, with the year 9999: other zones are ahead


def _shown(ts: int) -> datetime:
    return datetime.fromtimestamp(min(max(ts, 0), _LAST_MS) // 1000, _shown_zone.get())


def _scaled(value: float, step: int, words: tuple[str, ...]) -> str:
    sign = "-" if value < 0 else ""
    value = abs(value)
    if value >= 1000 * float(step) ** (len(words) - 1):
        return f"{sign}{value:.2e}"
    exponent = 0
    # A value that would round up to the next step uses that step: never 1000 k for 1 M.
    while exponent + 1 < len(words) and value >= step - (0.5 if exponent else 0.005):
        value /= step
        exponent += 1
    text = _short(value) if exponent else _small(value)
    return f"{sign}{text}{words[exponent]}"


def _small(value: float) -> str:
    """Two decimals, or for what they cannot show, two digits."""
    return _decimals(value, 2) if value >= 0.01 or not value else f"{value:.2g}"


def _short(value: float) -> str:
    """One decimal below a hundred, none from there."""
    return _decimals(value, 1 if value < 99.95 else 0)


def _decimals(value: float, places: int) -> str:
    text = f"{value:.{places}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


_KIND_WORDS = {
    "queue_manager": "",
    "qsg": "queue-sharing group",
    "dead_letter": "dead letters",
    "buffer_pool": "buffer pool",
    "page_set": "page set",
    "client": "client",
    "cluster_queue_manager": "cluster queue manager",
    "subscription": "subscriptions on",
    "smds": "shared message data set",
    "smds_connection": "connection to",
    "log": "log",
    "channel_initiator": "channel initiator",
    "adapter": "adapter",
    "dispatcher": "dispatcher",
    "ssl_task": "TLS task",
    "dns_task": "DNS task",
    "application": "application",
    "agent": "command",
    "store": "store",
    "receiver": "receiver",
    "server": "server",
    "remote_write": "remote write",
}
"""The word of a kind; of the others the name alone says what they are."""

_LONG_KIND_WORDS = {"cf_structure": "coupling facility structure", "queue_manager": "queue manager"}
_KIND_NOUNS = {"dead_letter": "dead letter", "smds_connection": "SMDS connection", "subscription": "subscription"}
"""Where the words of a kind lead to a name."""


def object_words(name: ObjectName) -> str:
    """An object with its owner first: ``QM01 buffer pool 3``, ``QM01 TO.QM02``, ``QM01``. Safe for a terminal."""
    # An object of this kind is a command of the agent; without a name it is the agent itself.
    kind = "agent" if name.kind == "agent" and not name.name else _KIND_WORDS.get(name.kind, "")
    return " ".join(part for part in (safe(name.owner), kind, safe(name.name)) if part)


_METRIC_WORDS = {"current": "instances"}

_UNIT_ENDS: Mapping[str, str] = {"_us_long": " long-term", "_us_short": ""} | dict.fromkeys(
    ("_pct", "_us", "_ms", "_per_s", "_s", "_bytes", "_kb", "_mb", "_pages"), ""
)
"""Ends of names that the unit of the value repeats, the longest of several first, and what takes their place."""


def metric_words(metric: str) -> str:
    """What a figure is called beside its value, whose unit says the rest: ``used`` for ``used_pct``, ``qtime long-term``."""
    end = next((end for end in _UNIT_ENDS if metric.endswith(end)), "")
    return _METRIC_WORDS.get(metric) or metric.removesuffix(end).replace("_", " ") + _UNIT_ENDS.get(end, "")


def kind_words(kind: str) -> str:
    """What a kind is called: ``buffer pool``."""
    return _LONG_KIND_WORDS.get(kind) or _KIND_WORDS.get(kind) or kind.replace("_", " ")


def objects_of_kind(kind: str) -> str:
    """What several objects of a kind are called: ``buffer pools``."""
    return f"{_KIND_NOUNS.get(kind) or kind_words(kind)}s"
