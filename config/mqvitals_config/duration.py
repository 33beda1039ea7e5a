"""Durations as people write them."""

from __future__ import annotations

import re

FORM = "a duration such as 30s, 5m, 1h, 1d, 250ms or 1h30m"

_UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
_PARTS = re.compile("".join(rf"(?:([0-9]{{1,9}}){unit})?" for unit in _UNITS))


def parse_duration(text: str) -> int:
    """``5m`` as milliseconds. Units are d, h, m, s, ms, each at most once, the largest first: ``1h30m``.

    Raises ValueError with a sentence that names the form.
    """
    found = _PARTS.fullmatch(text)
    if not text or not found:
        # The one mistake that has one remedy.
        if re.fullmatch("[0-9]{1,9}", text):
            raise ValueError(f"a duration needs a unit: {text}s, {text}m or {text}h")
        raise ValueError(f"expected {FORM}")
    return sum(int(count) * size for count, size in zip(found.groups(), _UNITS.values(), strict=True) if count)


def format_duration(duration_ms: int) -> str:
    """Milliseconds in the form that ``parse_duration`` reads, as short as it can be written exactly."""
    parts = []
    for unit, size in _UNITS.items():
        count, duration_ms = divmod(duration_ms, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
