"""The metrics of a kind as functions of a section's fields, compiled from the vocabulary's ``smf`` formulas.

In a formula durations are microseconds, QWHSDURN is the interval in microseconds, and everything else is as in the
record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Final, NamedTuple

from mqvitals_agent.smf.layout.field import Field, SectionLayout, Value
from mqvitals_agent.smf.partial_sample import MERGE_RULES, MergeRule
from mqvitals_agent.smf.record import EPOCH_US
from mqvitals_rules.instant_context import compile_formula
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType, Reported

INTERVAL: Final = "QWHSDURN"
UNSET: Final = frozenset({0x8FFFFFFF, 0x0FFFFFFF})
"""The value of a minimum when nothing was measured in the interval."""

Fields = Mapping[str, Value | None]
"""The values of sections by key; None: a section of this length does not have it."""
MetricValue = int | float | str | Absence
MetricFunction = Callable[[Fields, int | None], MetricValue]
"""From fields and the interval (microseconds, None: unknown) to a value or the reason of its absence."""

_NAME: Final = re.compile("[A-Z][A-Z0-9_]*")


class NamedField(NamedTuple):
    """A field and its key among the values."""

    key: str
    field: Field


def names_in(formula: str) -> tuple[str, ...]:
    """The fields that a formula names, in its order."""
    return tuple(_NAME.findall(formula))


def compiled(formula: str, fields: Mapping[str, NamedField]) -> MetricFunction:
    """The function of a formula: one field, or arithmetic in the rule language.

    Raises ExpressionError: the formula is malformed, or names a field that is not in ``fields``.
    """
    readers = {
        name: _interval if name == INTERVAL else _field_reader(*fields[name])
        for name in names_in(formula)
        if name == INTERVAL or name in fields
    }
    if formula in readers:
        return readers[formula]
    calculate = compile_formula(formula, readers)
    return lambda values, interval_us: calculate(lambda name: readers[name](values, interval_us))


def _interval(_: Fields, interval_us: int | None) -> MetricValue:
    return Absence.NOT_RETURNED if interval_us is None else interval_us


def _field_reader(key: str, field: Field) -> MetricFunction:
    if field.form == "dur":

        def duration(values: Fields, _: int | None) -> MetricValue:
            value = values.get(key)
            return value / 4096 if isinstance(value, int) else Absence.NOT_RETURNED

        return duration

    lowest = field.kind == "LW"

    def plain(values: Fields, _: int | None) -> MetricValue:
        value = values.get(key)
        if value is None:
            return Absence.NOT_RETURNED
        return Absence.NOTHING_TO_TELL if lowest and value in UNSET else value

    return plain


AHEAD: Final = "utc_offset_us"
"""A field of every sample beside those of its sections: local time minus UTC (microseconds), None: unknown."""

_FULL = 0xFFFFFFFF
_RATES = frozenset({"per_s", "MB/s"})
_MOST = (1 << 63) - 1
"""The largest integer of SQLite."""
IdleReason = Callable[[Fields], Absence | None]


@dataclass(frozen=True)
class MetricMapping:
    """How the fields of sections become the metrics of ``kind``.

    ``layouts``: each with the prefix of its fields in the vocabulary (QPST; empty for WQST) and the prefix of their
    keys among the values. ``specials`` calculate metrics that have no formula; ``needs`` are the fields they read.
    ``omitted`` are metrics that polls report in another form. ``not_rates`` are specials that are neither rates nor
    increases. ``idle`` returns the reason why all metrics but ``known_when_idle`` are absent, or None. ``overrides``
    are the merge rules of fields where they do not follow from the field's kind.
    """

    kind: Kind
    layouts: tuple[tuple[str, str, SectionLayout], ...]
    specials: Mapping[str, MetricFunction] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    omitted: frozenset[str] = frozenset()
    not_rates: frozenset[str] = frozenset()
    idle: IdleReason | None = None
    known_when_idle: frozenset[str] = frozenset()
    overrides: Mapping[str, MergeRule] = field(default_factory=dict)

    @cached_property
    def _names(self) -> Mapping[str, NamedField]:
        found: dict[str, NamedField] = {}
        for prefix, key, layout in self.layouts:
            for each in layout.fields:
                found[(prefix + each.name).upper()] = NamedField(key + each.name, each)
        return found

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that the records report."""
        names = self._names.keys() | {INTERVAL}
        return tuple(
            metric
            for metric in self.kind.metrics
            if metric.name in self.specials
            or (metric.smf and metric.name not in self.omitted and names.issuperset(names_in(metric.smf)))
        )

    @cached_property
    def _functions(self) -> tuple[tuple[str, MetricFunction], ...]:
        found: list[tuple[str, MetricFunction]] = []
        for metric in self.metrics:
            special = self.specials.get(metric.name)
            found.append((metric.name, special or _finished(metric, compiled(metric.smf, self._names))))
        return tuple(found)

    @cached_property
    def wanted(self) -> frozenset[str]:
        """The keys of the fields that some metric uses."""
        named = (name for metric in self.metrics if metric.name not in self.specials for name in names_in(metric.smf))
        return frozenset(self._names[name].key for name in named if name in self._names) | frozenset(self.needs)

    @cached_property
    def merge_rules(self) -> Mapping[str, MergeRule]:
        """How two values of each field become one."""
        return {key: MERGE_RULES.get(each.kind, MergeRule.NEWEST) for key, each in self._names.values()} | dict(
            self.overrides
        )

    @cached_property
    def recency_fields(self) -> tuple[str, ...]:
        """The fields of which the newest value counts; their values order samples of the same time."""
        rules = self.merge_rules
        return (AHEAD, *sorted(key for key in self.wanted if rules.get(key, MergeRule.NEWEST) is MergeRule.NEWEST))

    @cached_property
    def rates(self) -> frozenset[str]:
        """Counters, and gauges that divide by a counter or by the interval: they are absent shortly after a restart."""
        counted = {name for name, named in self._names.items() if named.field.kind == "D"} | {INTERVAL}
        return frozenset(
            metric.name
            for metric in self.metrics
            if metric.name not in self.not_rates
            and (
                metric.type is MetricType.COUNTER
                or metric.unit in _RATES
                or (metric.name not in self.specials and not counted.isdisjoint(names_in(metric.smf)))
                or (metric.name in self.specials and metric.type is MetricType.GAUGE)
            )
        )

    def reduced(self, layout: SectionLayout) -> SectionLayout:
        """The layout with the used fields only, so that no others are decoded."""
        key = next(key for _, key, each in self.layouts if each is layout)
        fields = tuple(each for each in layout.fields if key + each.name in self.wanted)
        return SectionLayout(layout.name, fields)

    def values(self, fields: Fields, interval_us: int | None) -> dict[str, Reported]:
        """The metrics of a section, by name."""
        values = {name: function(fields, interval_us) for name, function in self._functions}
        why = None if self.idle is None else self.idle(fields)
        if why is None:
            return values
        return {name: value if name in self.known_when_idle else why for name, value in values.items()}


def filled(keys: Iterable[str], values: Mapping[str, Value]) -> dict[str, Value | None]:
    """``values`` with None for fields that the section of an older release does not have."""
    return {key: values.get(key) for key in keys}


def utc_text(stamp: Value | None) -> MetricValue:
    """A TOD as a moment that names its zone: ``2026-03-01 12:00:00 UTC``."""
    found = _face(stamp, 0)
    return found if isinstance(found, Absence) else f"{found:%Y-%m-%d %H:%M:%S} UTC"


def local_text(key: str) -> MetricFunction:
    """The TOD ``key`` in the queue manager's local time, as polls report it: ``2026-03-01 12.00.00``."""

    def text(fields: Fields, _: int | None) -> MetricValue:
        found = _face(fields.get(key), fields.get(AHEAD))
        return found if isinstance(found, Absence) else f"{found:%Y-%m-%d %H.%M.%S}"

    return text


def _face(stamp: Value | None, ahead_us: Value | None) -> datetime | Absence:
    """Date and time of a TOD, ``ahead_us`` ahead of UTC (None: unknown)."""
    if not isinstance(stamp, int):
        return Absence.NOT_RETURNED
    if not stamp:
        return Absence.NOTHING_TO_TELL
    if not isinstance(ahead_us, int):
        return Absence.TIME_ZONE_UNKNOWN
    try:
        return datetime.fromtimestamp(((stamp >> 12) - EPOCH_US + ahead_us) // 1_000_000, UTC)
    except (ValueError, OverflowError, OSError):
        return Absence.NOT_RETURNED


def _finished(metric: Metric, term: MetricFunction) -> MetricFunction:
    """The value of a formula in the metric's unit and type."""
    if metric.type is MetricType.TEXT:
        return _as_text(metric, term)
    if metric.type is MetricType.STATE:
        return _as_state(frozenset(metric.values.values()), term)
    whole = metric.type is MetricType.COUNTER
    factor = 100.0 if metric.unit == "pct" and "/" in metric.smf else 0.0
    special = metric.special.get(-1)

    def value_of(fields: Fields, interval_us: int | None) -> MetricValue:
        value = term(fields, interval_us)
        if isinstance(value, str):
            return Absence.NOT_RETURNED
        if isinstance(value, Absence):
            return value
        if special is not None and value == _FULL:
            return special
        if value > _MOST:
            return Absence.NOT_RETURNED
        if metric.unit == "per_s":
            return value * 1_000_000 / interval_us if interval_us else Absence.NOTHING_TO_TELL
        if factor:
            return round(value * factor, 6)
        if value.__class__ is float:
            return round(value) if whole else round(value, 3)
        return value

    return value_of


def _as_text(metric: Metric, term: MetricFunction) -> MetricFunction:
    def value_of(fields: Fields, interval_us: int | None) -> MetricValue:
        value = term(fields, interval_us)
        return utc_text(value) if isinstance(value, int) and metric.name.endswith("_ts") else _text(value)

    return value_of


def _text(value: MetricValue) -> MetricValue:
    return value if isinstance(value, (str, Absence)) else str(value)


def _as_state(known: frozenset[int], term: MetricFunction) -> MetricFunction:
    def value_of(fields: Fields, interval_us: int | None) -> MetricValue:
        value = term(fields, interval_us)
        return value if isinstance(value, Absence) or value in known else Absence.NOT_RETURNED

    return value_of
