"""Figures of the report in words; a dash where there is none, which is not zero."""

from __future__ import annotations

from mqvitals_agent.smf.record import utc_datetime
from mqvitals_agent.text.figure import duration_us, moment, percent
from mqvitals_agent.text.figure import number as short_number
from mqvitals_rules.snapshot import ObjectName

NONE = "-"


def count(value: object) -> str:
    """A count to its last digit below a million."""
    if not isinstance(value, int | float):
        return NONE
    return f"{value:,.0f}" if abs(value) < 1_000_000 else short_number(value)


def share(value: float | None) -> str:
    """A percentage."""
    return NONE if value is None else percent(value)


def rate(value: float | None) -> str:
    """A number with up to two decimals. What is not quite nothing does not look as if it were."""
    if value is None:
        return NONE
    return "< 0.01" if 0 < value < 0.01 else short_number(value)


def time(value: float | None) -> str:
    """A length of time given in microseconds."""
    return NONE if value is None else duration_us(value)


def at(found: tuple[float, int] | None) -> str:
    """The moment of an extreme, to the minute."""
    return NONE if found is None else moment(found[1])[5:16]


def value_of(found: tuple[float, int] | None) -> float | None:
    """The value of an extreme."""
    return None if found is None else found[0]


def when(us: int) -> str:
    """A moment given in microseconds: ``2026-03-01 12:00:00``."""
    found = utc_datetime(us)
    return "outside every calendar" if found is None else f"{found:%Y-%m-%d %H:%M:%S}"


def plural(number: int, what: str, more: str = "") -> str:
    """``1 interval``, ``2 intervals``."""
    return f"{number:,} {what if number == 1 else more or what + 's'}"


def release(number: int) -> str:
    """``941`` as ``9.4.1``, ``100000`` as ``10.0.0``."""
    digits = str(number)
    if len(digits) == 3:
        return ".".join(digits)
    if len(digits) == 6:
        return ".".join(str(int(digits[at : at + 2])) for at in (0, 2, 4))
    return digits


def zone(us: int) -> str:
    """What local time is ahead of UTC: ``UTC+1``, ``UTC-4:30``."""
    minutes = abs(us) // 60_000_000
    return f"UTC{'-' if us < 0 else '+'}{minutes // 60}" + (f":{minutes % 60:02d}" if minutes % 60 else "")


def short_name(name: ObjectName) -> str:
    """What an object is called among others of its kind."""
    return name.name or name.owner
