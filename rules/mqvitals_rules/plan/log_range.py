"""How far a log position (RBA) is from the last one that a queue manager can use.

Positions have 6 or 8 bytes. The queue manager ends with reason 00D10257 before either range is used up: after a wrap all
persistent data would be lost (IBM: Resetting the queue manager's log; Larger log relative byte address).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date as day
from datetime import timedelta

from mqvitals_rules.plan.formula import Input, PlanError, Result, TableRow, formula

USABLE: Mapping[int, int] = {6: 0xFFF800000000, 8: 0xFFFFFFC000000000}
"""Bytes of a position -> the position at which the queue manager ends."""

_LAST_OF_6_BYTES = 0xFFFFFFFFFFFF

MOST_DAYS = 36_500
"""A range that lasts longer, or is not written at all, lasts so many days: a hundred years."""


def width_of(position: int, *said: int | None) -> int | None:
    """How many bytes a queue manager's positions have, 6 or 8; None where nothing says so.

    ``said`` is what its messages and the site say. A position beyond the 6-byte range, or one of them, proves 8 bytes:
    the conversion cannot be undone.
    """
    if position > _LAST_OF_6_BYTES or 8 in said:
        return 8
    return 6 if 6 in said else None


def used_pct(position: int, width: int) -> float:
    """The used part of the range, in percent; 100 and more: the queue manager has ended."""
    return 100 * position / USABLE[width]


def days_left(position: int, width: int, bytes_per_day: float) -> float:
    """For how many days the range lasts, at most ``MOST_DAYS``."""
    left = max(USABLE[width] - position, 0)
    return min(left / bytes_per_day, MOST_DAYS) if left and bytes_per_day > 0 else (MOST_DAYS if left else 0)


_SECONDS_A_DAY = 86_400
_NINETY_PCT = 0.9
_SIX_BYTE_DIGITS = 12
_MB, _TB = 2**20, 2**40


@formula(
    "log-rba-life",
    number="B.4",
    title="How long the range of log positions (RBA) lasts",
    inputs=(
        Input(
            "rba",
            "",
            "newest log position, as DISPLAY LOG shows it",
            pattern="[0-9A-Fa-f]{1,16}",
            form="1 to 16 hexadecimal digits",
        ),
        Input("bytes", "", "bytes of a log position, as CSQJ034I shows at the start", words=("6", "8")),
        Input("mb_per_second", "MB/s", "what the log grows by", 1e-9, 1e6, fraction=True, instead_of=("mb_per_day",)),
        Input(
            "mb_per_day", "MB/day", "what the log grows by", 1e-5, 1e11, fraction=True, instead_of=("mb_per_second",)
        ),
        Input("date", "", "day of that position", default="", pattern=r"|\d{4}-\d{2}-\d{2}", form="YYYY-MM-DD"),
    ),
    measured_on="arithmetic",
    caveat=(
        "One week may not contain the end of a month: try the rate of the busiest one too. A queue manager that is converted to 8 bytes keeps"
        " its position."
    ),
    source="Resetting the queue manager's log · reason 00D10257; Larger log relative byte address",
    example={"rba": "B40000000000", "bytes": "6", "mb_per_second": 10, "date": "2026-11-23"},
)
def log_rba_life(
    rba: str,
    bytes: str,  # noqa: A002 - the input is called so
    date: str,
    mb_per_second: float | None = None,
    mb_per_day: float | None = None,
) -> Result:
    """Days until the queue manager ends. Raises PlanError for a position that it cannot have."""
    position, width = int(rba, 16), int(bytes)
    if width == 6 and len(rba) > _SIX_BYTE_DIGITS and rba[:-_SIX_BYTE_DIGITS].strip("0"):
        raise PlanError(
            f"rba {rba} has more than {_SIX_BYTE_DIGITS} digits without leading zeros: positions of 6 bytes have not; give bytes 8"
        )
    usable = USABLE[width]
    if position >= usable:
        raise PlanError(f"rba {rba} is at or past {usable:X}: the queue manager has ended (reason 00D10257)")
    per_day = mb_per_second * _SECONDS_A_DAY if mb_per_second is not None else mb_per_day or 0.0
    left = usable - position
    days = left / _MB / per_day
    begin = _as_day(date)
    steps = [
        f"{position:,} of {usable:,} bytes ({usable:X}) are used: {used_pct(position, width):.4g} %",
        f"{left:,} bytes are left: {left / _TB:,.4g} TB",
    ]
    if mb_per_second is not None:
        steps.append(f"{mb_per_second:,.10g} MB/s x {_SECONDS_A_DAY:,} s = {per_day:,.10g} MB a day")
    steps.append(f"{left / _MB:,.0f} MB / {per_day:,.10g} MB a day = {days:,.1f} days{_on(begin, days)}")
    until = (_NINETY_PCT * usable - position) / _MB / per_day
    steps.append(f"90 % are used {'already' if until <= 0 else f'in {until:,.1f} days{_on(begin, until)}'}")
    row: TableRow = {
        "used_pct": used_pct(position, width),
        "left_tb": left / _TB,
        "days": days,
        "date": _day(begin, days),
        "date_of_90_pct": _day(begin, max(until, 0)),
    }
    return Result(days, "days", tuple(steps), rows=(row,))


def _as_day(text: str) -> day | None:
    try:
        return day.fromisoformat(text) if text else None
    except ValueError:
        raise PlanError(f"date {text} is no day of a calendar; write it as YYYY-MM-DD") from None


def _day(begin: day | None, days: float) -> str:
    """The date so many days later; empty without a beginning, or where it is too far to matter."""
    if begin is None or days > MOST_DAYS:
        return ""
    try:
        return (begin + timedelta(days=int(days))).isoformat()
    except OverflowError:
        return ""


def _on(begin: day | None, days: float) -> str:
    date = _day(begin, days)
    return f", on {date}" if date else ""
