"""Amounts as a person writes them: ``275K``, ``4GB``, ``1,536``; and numbers as they are shown to one."""

from __future__ import annotations

import re

from mqvitals_rules.plan.question import Given, Input, PlanError

_POWERS = {"": 0, "K": 1, "M": 2, "G": 3}
_BYTES = {"bytes": 0, "KB": 1, "MB": 2, "GB": 3, "TB": 4}
"""Units of bytes, by their power of 1024."""

_AMOUNT = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>\d{1,3}(?:,\d{3})+|\d{1,30})?(?:\.(?P<part>\d{1,30}))?\s*(?P<power>[KMG]?)(?P<bytes>B?)",
    re.IGNORECASE | re.ASCII,
)


def amount(text: str, unit: str) -> int | float:
    """``text`` as a number of ``unit``. K, M and G are 1000s of what is counted, and 1024s of bytes, KB, MB or GB.

    With an input in KB, ``512K`` and ``512KB`` are 512, ``4G`` is 4,194,304; a number alone is in the unit itself.
    Raises PlanError, whose message begins with what was written.
    """
    found = _AMOUNT.fullmatch(text.strip())
    if found is None or not (found["whole"] or found["part"]):
        raise PlanError(f"{_shown(text)} is no number; write it as 1536, 1.5K, 275K, 512MB or 4G")
    step, power = _scale(text, unit, found["power"].upper(), of_bytes=bool(found["bytes"]))
    part = found["part"] or ""
    count: int = int((found["whole"] or "0").replace(",", "") + part) * step ** max(power, 0)
    below: int = 10 ** len(part) * step ** max(-power, 0)
    # Whole numbers are taken without a float between, which would lose digits.
    value = count // below if count % below == 0 else count / below
    return -value if found["sign"] == "-" else value


def given(each: Input, text: str) -> Given:
    """What ``text`` gives for an input, checked. Raises PlanError with what may be given."""
    if each.words:
        return each.checked(next((word for word in each.words if word.lower() == text.strip().lower()), text))
    try:
        return each.checked(amount(text, each.unit))
    except PlanError as error:
        if str(error).startswith(f"{each.option} "):
            raise
        raise PlanError(f"{each.option}: {error}; it is {each.allowed}") from error


def shown(value: Given | None) -> str:
    """A number for a person: whole ones to the last digit, others to six that count; None is ``-``."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.6g}" if abs(value) < 100_000 else f"{value:,.1f}"


def is_of_bytes(unit: str) -> bool:
    """Whether a unit is one of bytes, or of bytes in some time, such as ``MB/s``."""
    return unit.partition("/")[0] in _BYTES


def _scale(text: str, unit: str, power: str, *, of_bytes: bool) -> tuple[int, int]:
    """The step and how often it is taken to come from what was written to the unit."""
    if not is_of_bytes(unit):
        if of_bytes:
            raise PlanError(f"{_shown(text)} is a number of bytes, not of {unit or 'what is asked'}")
        return 1000, _POWERS[power]
    if not power and not of_bytes:
        return 1024, 0
    return 1024, _POWERS[power] - _BYTES[unit.partition("/")[0]]


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:39]}…")
