"""Values of metrics as people read them, in the summaries of alerts and in the lists of rules."""

from __future__ import annotations

from mqvitals_rules.vocabulary.metric import Absence, Metric, MetricType, Reported

_TIMES = (("days", 86_400, 172_800), ("hours", 3_600, 7_200), ("min", 60, 600))
"""Unit of time, its seconds, and the seconds from which it is used."""
_MB_PER_GB = 1024
_SIZES = {"TiB": 1024**4, "GiB": 1024**3, "MiB": 1024**2}

_COUNTED = frozenset({"blocks", "buffers", "bytes", "channels", "days", "messages", "minutes", "pages", "times"})


def unit_of_one(unit: str) -> str:
    """The unit of the number 1: ``message`` of ``messages``. An abbreviation such as ``ms`` stays as it is."""
    return unit.removesuffix("s") if unit in _COUNTED else unit


def format_value(metric: Metric, value: Reported) -> str:
    """A value as people read it: state names, numbers with their unit, ``off``, absent values with the reason."""
    if isinstance(value, Absence):
        return f"unknown ({value.value})"
    if isinstance(value, str):
        return value
    if metric.type is MetricType.STATE:
        return next((name for name, number in metric.values.items() if number == value), f"{value:g}")
    return metric.word_of(value) or format_quantity(value, metric.unit)


_UNITS = {"pct": " %", "per_s": "/s", "count": "", "number": "", "": ""}
"""Units that are shown in another form, or not at all."""


def with_unit(value: float, unit: str) -> str:
    """A number in its own unit, as a file has it: ``4 %``, ``5000 us``, ``1 message``, ``0.9``; at most two decimals."""
    number = digits(value)
    return number + _UNITS.get(unit, f" {unit_of_one(unit) if number == '1' else unit}")


def digits(value: float) -> str:
    """A number alone, with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def format_quantity(value: float, unit: str) -> str:
    """A number as people read it, in a larger unit where one fits: ``88.6 ms`` for ``88626 us``, ``16.3 min``, ``12 days``.

    Counts keep all their digits, as MQ's own displays show them.
    """
    if unit == "us" and abs(value) >= 1000:
        return f"{value / 1000:.1f}".removesuffix(".0") + " ms"
    for name, size, least in _TIMES if unit == "s" else ():
        if abs(value) >= least:
            return f"{value / size:.1f}".removesuffix(".0") + f" {name}"
    if unit == "MB" and abs(value) >= _MB_PER_GB:
        return f"{value / _MB_PER_GB:.1f}".removesuffix(".0") + " GiB"
    if unit == "bytes":
        for name, size in _SIZES.items():
            if abs(value) >= size:
                return f"{value / size:.1f}".removesuffix(".0") + f" {name}"
    return with_unit(value, unit)
