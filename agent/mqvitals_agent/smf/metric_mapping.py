"""The metrics of a kind as functions of a section's fields, compiled from the vocabulary's ``smf`` formulas.

In a formula durations are microseconds, QWHSDURN is the interval in microseconds, and everything else is as in the record.
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
from mqvitals_rules.eval_context import InstantContext
from mqvitals_rules.expression import compile_value
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType, Reported

INTERVAL: Final = "QWHSDURN"
UNSET: Final = frozenset({0x8FFFFFFF, 0x0FFFFFFF})
"""What stands in the lowest of an interval in which there was nothing."""

Fields = Mapping[str, Value | None]
"""The values of sections by key; None: a section of this length does not have it."""
MetricValue = int | float | str | Absence
Term = Callable[[Fields, int | None], MetricValue]
"""From fields and the interval (microseconds, None: unknown) to a value or the reason of its absence."""

_NAME: Final = re.compile("[A-Z][A-Z0-9_]*")
_NO_CONTEXT: Final = InstantContext(lambda *_: Absence.NOT_RETURNED, now=0)


class NamedField(NamedTuple):
    """A field under the key by which it is found among the values."""

    key: str
    field: Field


def names_in(formula: str) -> tuple[str, ...]:
    """The fields that a formula names, in its order."""
    return tuple(_NAME.findall(formula))


def compiled(formula: str, fields: Mapping[str, NamedField]) -> Term:
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
    metrics = tuple(Metric(name, "", MetricType.GAUGE, "") for name in readers)
    calculation = compile_value(formula, Kind("section", "", "", metrics), {})

    def term(values: Fields, interval_us: int | None) -> MetricValue:
        number = calculation.number(_NO_CONTEXT, lambda name: readers[name](values, interval_us))
        if number is not None:
            return number
        operands = (reader(values, interval_us) for reader in readers.values())
        # With every operand present, only a division by zero has no result.
        return next((value for value in operands if isinstance(value, Absence)), Absence.NOTHING_TO_TELL)

    return term


def _interval(_: Fields, interval_us: int | None) -> MetricValue:
    return Absence.NOT_RETURNED if interval_us is None else interval_us


def _field_reader(key: str, field: Field) -> Term:
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
"""A field that every total has beside its sections': what local time was ahead of UTC; None: unknown."""

_FULL = 0xFFFFFFFF
_RATES = frozenset({"per_s", "MB/s"})
_MOST = (1 << 63) - 1
"""What a store can hold."""
Special = Callable[[Fields, int | None], MetricValue]
IdleReason = Callable[[Fields], Absence | None]


@dataclass(frozen=True)
class MetricMapping:
    """How sections become the metrics of ``kind``.

    ``layouts``: each with the beginning that its fields' names have in the vocabulary (QPST; empty for WQST) and the key that
    they get among the values (empty: their own names). ``specials`` tell metrics that no formula can, from the fields ``needs``
    beside others. ``omitted`` are metrics that polls tell in another form; ``unbroken`` are specials that are no rates or
    increases. ``idle`` gives the reason for which a section tells nothing but ``known_idle``, None where it tells all. ``ways`` say how fields are put together where that
    does not follow from their kind.
    """

    kind: Kind
    layouts: tuple[tuple[str, str, SectionLayout], ...]
    specials: Mapping[str, Special] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    omitted: frozenset[str] = frozenset()
    unbroken: frozenset[str] = frozenset()
    idle: IdleReason | None = None
    known_idle: frozenset[str] = frozenset()
    ways: Mapping[str, MergeRule] = field(default_factory=dict)

    @cached_property
    def _names(self) -> Mapping[str, NamedField]:
        found: dict[str, NamedField] = {}
        for beginning, key, layout in self.layouts:
            for each in layout.fields:
                found[(beginning + each.name).upper()] = NamedField(key + each.name, each)
        return found

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """What the records tell."""
        names = self._names.keys() | {INTERVAL}
        return tuple(
            metric
            for metric in self.kind.metrics
            if metric.name in self.specials
            or (metric.smf and metric.name not in self.omitted and names.issuperset(names_in(metric.smf)))
        )

    @cached_property
    def _terms(self) -> tuple[tuple[str, Term], ...]:
        found: list[tuple[str, Term]] = []
        for metric in self.metrics:
            special = self.specials.get(metric.name)
            found.append((metric.name, special or _finished(metric, compiled(metric.smf, self._names))))
        return tuple(found)

    @cached_property
    def wanted(self) -> frozenset[str]:
        """The keys of all fields that matter."""
        named = (name for metric in self.metrics if metric.name not in self.specials for name in names_in(metric.smf))
        return frozenset(self._names[name].key for name in named if name in self._names) | frozenset(self.needs)

    @cached_property
    def putting_together(self) -> Mapping[str, MergeRule]:
        """How two values of each field become one."""
        return {key: MERGE_RULES.get(each.kind, MergeRule.NEWEST) for key, each in self._names.values()} | dict(
            self.ways
        )

    @cached_property
    def deciding(self) -> tuple[str, ...]:
        """The fields of which the newest counts: what tells totals of the same time apart."""
        ways = self.putting_together
        return (AHEAD, *sorted(key for key in self.wanted if ways.get(key, MergeRule.NEWEST) is MergeRule.NEWEST))

    @cached_property
    def rates(self) -> frozenset[str]:
        """The metrics that tell of what was done in an interval: counters, and quotients of what was counted or of the interval."""
        counted = {name for name, named in self._names.items() if named.field.kind == "D"} | {INTERVAL}
        return frozenset(
            metric.name
            for metric in self.metrics
            if metric.name not in self.unbroken
            and (
                metric.type is MetricType.COUNTER
                or metric.unit in _RATES
                or (metric.name not in self.specials and not counted.isdisjoint(names_in(metric.smf)))
                or (metric.name in self.specials and metric.type is MetricType.GAUGE)
            )
        )

    def only(self, layout: SectionLayout) -> SectionLayout:
        """A section's table with nothing but what matters, so that no more is decoded."""
        key = next(key for _, key, each in self.layouts if each is layout)
        fields = tuple(each for each in layout.fields if key + each.name in self.wanted)
        return SectionLayout(layout.name, fields)

    def tell(self, fields: Fields, interval_us: int | None) -> dict[str, Reported]:
        """The metrics."""
        values = {name: term(fields, interval_us) for name, term in self._terms}
        why = None if self.idle is None else self.idle(fields)
        if why is None:
            return values
        return {name: value if name in self.known_idle else why for name, value in values.items()}


def filled(keys: Iterable[str], values: Mapping[str, Value]) -> dict[str, Value | None]:
    """``values`` with None for what an older release's section does not have."""
    return {key: values.get(key) for key in keys}


def moment_text(stamp: Value | None, ahead_us: Value | None = 0) -> MetricValue:
    """A TOD as the commands write dates and times: ``2026-03-01 12.00.00``; UTC, or local time where that is known."""
    if not isinstance(stamp, int):
        return Absence.NOT_RETURNED
    if not stamp:
        return Absence.NOTHING_TO_TELL
    if not isinstance(ahead_us, int):
        return Absence.TIME_ZONE_UNKNOWN
    try:
        when = datetime.fromtimestamp(((stamp >> 12) - EPOCH_US + ahead_us) // 1_000_000, UTC)
    except (ValueError, OverflowError, OSError):
        return Absence.NOT_RETURNED
    return when.strftime("%Y-%m-%d %H.%M.%S")


def local_text(key: str) -> Special:
    """The TOD ``key`` in the queue manager's local time, as polls tell it."""
    return lambda fields, _: moment_text(fields.get(key), fields.get(AHEAD))


def bit(key: str, mask: int) -> Special:
    """1 where a bit of a word is set, else 0."""

    def tell(fields: Fields, _: int | None) -> MetricValue:
        value = fields.get(key)
        return int(bool(value & mask)) if isinstance(value, int) else Absence.NOT_RETURNED

    return tell


def _finished(metric: Metric, term: Term) -> Term:
    """What a formula gives, in the metric's unit and type."""
    if metric.type is MetricType.TEXT:
        return _as_text(metric, term)
    if metric.type is MetricType.STATE:
        return _as_state(frozenset(metric.values.values()), term)
    whole = metric.type is MetricType.COUNTER
    factor = 100.0 if metric.unit == "pct" and "/" in metric.smf else 0.0
    special = metric.special.get(-1)

    def tell(fields: Fields, interval_us: int | None) -> MetricValue:
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

    return tell


def _as_text(metric: Metric, term: Term) -> Term:
    def tell(fields: Fields, interval_us: int | None) -> MetricValue:
        value = term(fields, interval_us)
        return moment_text(value) if isinstance(value, int) and metric.name.endswith("_ts") else _text(value)

    return tell


def _text(value: MetricValue) -> MetricValue:
    return value if isinstance(value, (str, Absence)) else str(value)


def _as_state(known: frozenset[int], term: Term) -> Term:
    def tell(fields: Fields, interval_us: int | None) -> MetricValue:
        value = term(fields, interval_us)
        return value if isinstance(value, Absence) or value in known else Absence.NOT_RETURNED

    return tell


def element_layout(layout: SectionLayout) -> SectionLayout:
    """The table of one element of a layout of arrays."""
    return SectionLayout(layout.name, tuple(replaced(each) for each in layout.fields))


def replaced(each: Field) -> Field:
    """An array's field as that of its first element."""
    return each._replace(times=1, step=0)
