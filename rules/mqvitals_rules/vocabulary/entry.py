"""The short hand in which the vocabulary's tables are written: one call a metric, one group an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypedDict, Unpack

from mqvitals_rules.vocabulary.metric import Absence, Metric, MetricType, Value

UNMONITORED: Mapping[int, Absence] = {-1: Absence.NOT_COLLECTED}
"""For what needs MONQ or MONCHL: MQMON_NOT_AVAILABLE instead of a figure."""

ONLY_ZOS = frozenset(
    {
        "INQUIRE_USAGE",
        "INQUIRE_LOG",
        "INQUIRE_ARCHIVE",
        "INQUIRE_SYSTEM",
        "INQUIRE_CHANNEL_INIT",
        "INQUIRE_CF_STRUC",
        "INQUIRE_CF_STRUC_STATUS",
        "INQUIRE_SMDS",
        "INQUIRE_QSG",
        "INQUIRE_STG_CLASS",
    }
)
"""Commands that no other platform knows; what they fill exists on z/OS alone."""


class Source(TypedDict, total=False):
    """Where a metric comes from and what may be said about it; the fields of Metric that have a default."""

    pcf: str
    command: str
    smf: str
    statistics: str
    mqsc: str
    since: int
    platform: str
    special: Mapping[int, Absence]
    computed: str
    declared: bool
    default: Value | None
    needed: bool


def gauge(name: str, unit: str, meaning: str, **source: Unpack[Source]) -> Metric:
    """A number as it is now."""
    return Metric(name, unit, MetricType.GAUGE, meaning, **source)


def counter(name: str, unit: str, meaning: str, **source: Unpack[Source]) -> Metric:
    """A running total, kept as its increase in each interval."""
    return Metric(name, unit, MetricType.COUNTER, meaning, **source)


def state(name: str, values: Mapping[str, int], meaning: str, **source: Unpack[Source]) -> Metric:
    """One of the named numbers ``values``."""
    return Metric(name, "", MetricType.STATE, meaning, values=values, **source)


def text(name: str, meaning: str, **source: Unpack[Source]) -> Metric:
    """A text, kept in current state only."""
    return Metric(name, "", MetricType.TEXT, meaning, **source)


def answer(command: str, *metrics: Metric) -> tuple[Metric, ...]:
    """``metrics`` as what the answer to ``command`` fills; on z/OS only where the command is."""
    if command in ONLY_ZOS:
        return tuple(replace(metric, command=command, platform="zos") for metric in metrics)
    return tuple(replace(metric, command=command) for metric in metrics)


def records(*metrics: Metric) -> tuple[Metric, ...]:
    """``metrics`` as what only records of intervals hold: SMF records on z/OS, statistics messages elsewhere."""
    return tuple(replace(metric, platform=_platform(metric)) for metric in metrics)


def _platform(metric: Metric) -> str:
    if not metric.statistics:
        return "zos"
    return "all" if metric.smf else "distributed"
