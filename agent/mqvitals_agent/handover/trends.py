"""The figures that moved most towards the value at which a rule fires, and what will be full soon.

Candidates are found in a few looks at each kind of object, spread over the time; only of those the whole series is read.
So the cost does not grow with the number of polls.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mqvitals_agent.handover.report import Forecast, WorstTrend
from mqvitals_agent.text.chart import TimeRange, longest_distance
from mqvitals_agent.text.figure import figure, quantity
from mqvitals_agent.text.meter import progress as way_to
from mqvitals_agent.view.figures.forecast import full_in
from mqvitals_agent.view.figures.values import number_in
from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.expression.node import All, Any, Comparison, Constant, MetricValue, Node
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Metric, MetricType
from mqvitals_rules.vocabulary.tables import metric as metric_of

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader

MOST_TRENDS: Final = 8
_MOST_OF_KIND: Final = 3
_MOST_OF_ALERTS: Final = 4
"""Trends of the figures of alerts that fired, before those that only came near."""
_LOOKS: Final = 48
_LEAST_PROGRESS: Final = 0.5
"""A figure is named from this share of the way to its limit,"""
_LEAST_MOVE: Final = 0.05
"""and if it moved by this share of the way."""
_MOST_GROWING: Final = 40
"""Series that are read to forecast when they will be full."""
_LONG_MS: Final = 6 * 3_600_000
"""Growth over the hours of a shift is looked at over this time."""
_SOON_FULL_S: Final = 7 * 86_400


@dataclass(frozen=True, slots=True)
class WatchedFigure:
    """A figure whose way to the limit of a rule is followed.

    The limit is the value of the rule's ``parameter`` as it is in force for the object; ``of`` is the metric of which
    that is a share. ``low``: low values are the worse ones. ``fills``: at 100 % it is full.
    """

    kind: str
    metric: str
    rule: str
    parameter: str
    of: str = ""
    low: bool = False
    fills: bool = False


WATCHED: Final = (
    WatchedFigure("buffer_pool", "free_pct", "BP-02", "deferred_write_pct", low=True, fills=True),
    WatchedFigure("page_set", "used_pct", "PS-01", "used_limit_pct", fills=True),
    WatchedFigure("cf_structure", "entries_pct", "CF-05", "filled_pct", fills=True),
    WatchedFigure("cf_structure", "size_used_pct", "CF-03", "critical_pct", fills=True),
    WatchedFigure("smds", "used_pct", "SMDS-01", "used_ratio", fills=True),
    WatchedFigure("queue", "depth", "Q-01", "near_ratio", of="max_depth", fills=True),
    WatchedFigure("channel", "instances", "OPS-151", "near_share", of="maxinst"),
    WatchedFigure("channel_initiator", "current", "CHL-18", "near_ratio", of="current_max"),
    WatchedFigure("log", "rba_used_pct", "OPS-131", "used_limit_pct"),
    WatchedFigure("store", "disk_free_pct", "AGENT-07", "low_pct", low=True),
)
"""In the order in which equally bad ones are named."""


@dataclass(slots=True)
class _Approach:
    """How far an object's figure was on its way to the limit (1: there), and what its share is of (0: of 100 %)."""

    watched: WatchedFigure
    name: ObjectName
    limit: float
    whole: float
    first: float
    worst: float
    last: float

    @property
    def moved(self) -> float:
        return self.worst - self.first

    def share(self, value: float) -> float:
        """How full it is at ``value``, per cent."""
        if self.whole:
            return 100 * value / self.whole
        return 100 - value if self.watched.low else value


def progress(watched: WatchedFigure, value: float, limit: float) -> float:
    """How far a value is on its way to the limit: 0 at the harmless end, 1 at the limit, more beyond it."""
    return way_to(value, limit, low_is_bad=watched.low)


def limit_for(watched: WatchedFigure, rules: RuleSet, name: ObjectName, whole: float = 100.0) -> float | None:
    """The value at which the rule fires for an object; None where it is switched off, or nothing is known of ``whole``.

    ``whole`` is what a ratio is a share of.
    """
    rule = rules.rule(watched.rule)
    compiled = None if rule is None else rules.rule_for(rule, name)
    if compiled is None or watched.parameter not in compiled.values:
        return None
    value = compiled.values[watched.parameter]
    unit = "" if rule is None else rule.parameters[watched.parameter].unit
    if unit == "pct":
        return value if not watched.of else value * whole / 100
    return value * whole if whole > 0 else None


def read_ways(reader: StoreReader, rules: RuleSet, span: TimeRange, owners: Collection[str]) -> list[_Approach]:
    """How far each watched figure of each object came, from some looks at the time of the report. Raises StoreError."""
    found: dict[tuple[WatchedFigure, ObjectName], _Approach] = {}
    length = span.until + 1 - span.since
    moments = [span.since + length * part // _LOOKS for part in range(_LOOKS + 1)]
    for watched in WATCHED:
        metrics = (watched.metric, watched.of) if watched.of else (watched.metric,)
        for poll in reader.polls_near(watched.kind, metrics, moments):
            name, value = poll.object, poll.values[0]
            whole = poll.values[1] if watched.of else 0
            if value is None or whole is None or (owners and name.owner not in owners):
                continue
            way = found.get((watched, name))
            if way is None:
                limit = limit_for(watched, rules, name, whole if watched.of else 100.0)
                if limit is None or (watched.of and whole <= 0):
                    continue
                at = progress(watched, value, limit)
                found[watched, name] = _Approach(watched, name, limit, whole, at, at, at)
            else:
                way.last = progress(watched, value, way.limit)
                way.worst = max(way.worst, way.last)
    return list(found.values())


def read_trends(
    reader: StoreReader, rules: RuleSet, alerts: Iterable[Alert], ways: Sequence[_Approach], span: TimeRange
) -> tuple[WorstTrend, ...]:
    """The worst trends: figures of ``alerts``, the worst of which come first, then those that came nearest to a limit.

    Raises StoreError.
    """
    wanted = [*_of_alerts(rules, alerts), *_nearest(ways)]
    found: list[WorstTrend] = []
    seen: set[ObjectName] = set()
    limits = {(way.name, way.watched.metric): (way.watched.rule, way.limit) for way in ways}
    for name, metric, rule, own_limit, low in wanted:
        # A rule without one number as its limit: that of another rule about the same figure, where there is one.
        of_rule, limit = limits.get((name, metric.name), (rule, None)) if own_limit is None else (rule, own_limit)
        if len(found) == MOST_TRENDS:
            break
        if name not in seen and (trend := _trend(reader, name, metric, of_rule, limit, span, low=low)) is not None:
            seen.add(name)
            found.append(trend)
    return tuple(found)


_Wanted = tuple[ObjectName, Metric, str, float | None, bool]


def _of_alerts(rules: RuleSet, alerts: Iterable[Alert]) -> Iterator[_Wanted]:
    """The figure of each alert's rule, of different objects."""
    seen: set[ObjectName] = set()
    for alert in alerts:
        rule, name = rules.rule(alert.key.rule), alert.scope
        compiled = None if rule is None else rules.rule_for(rule, name)
        if compiled is None or compiled.figure is None or compiled.figure.kind != name.kind or name in seen:
            continue
        metric = compiled.figure.metric
        if metric.type is not MetricType.GAUGE:
            continue
        seen.add(name)
        yield name, metric, compiled.id, simple_limit(compiled), bool(compiled.figure.low_is_bad)
        if len(seen) == _MOST_OF_ALERTS:
            return


def _nearest(ways: Iterable[_Approach]) -> Iterator[_Wanted]:
    near = [way for way in ways if way.worst >= _LEAST_PROGRESS and way.moved >= _LEAST_MOVE]
    near.sort(key=lambda way: (-min(way.worst, 1.0), -min(way.moved, 1.0), WATCHED.index(way.watched), way.name))
    of_kind: dict[str, int] = {}
    for way in near:
        kind = way.watched.kind
        of_kind[kind] = of_kind.get(kind, 0) + 1
        if of_kind[kind] <= _MOST_OF_KIND:
            yield way.name, metric_of(kind, way.watched.metric), way.watched.rule, way.limit, way.watched.low


def simple_limit(compiled: CompiledRule) -> float | None:
    """The number with which a rule's condition compares the figure of its alerts; None where it is not one number."""
    if compiled.figure is None:
        return None
    figure_name, found = compiled.figure.metric.name, set()
    for each in _comparisons(compiled.when.root):
        for side, other in ((each.left, each.right), (each.right, each.left)):
            if isinstance(side, MetricValue) and side.own and not side.of and side.metric.name == figure_name:
                number = isinstance(other, Constant) and not isinstance(other.value, str)
                found.add(float(other.value) if number else None)  # type: ignore[union-attr]
    return found.pop() if len(found) == 1 else None


def _comparisons(node: Node) -> Iterator[Comparison]:
    match node:
        case Comparison():
            yield node
        case All(operands=operands) | Any(operands=operands):
            for each in operands:
                yield from _comparisons(each)


def _trend(
    reader: StoreReader, name: ObjectName, metric: Metric, rule: str, limit: float | None, span: TimeRange, *, low: bool
) -> WorstTrend | None:
    if not reader.has(name):
        return None
    points = reader.trend(name, metric.name, span.since, span.until).points
    known = [(ts, float(value)) for ts, value in points if value is not None]
    if len(known) < 2:
        return None
    worst_ts, worst = (min if low else max)(known, key=lambda point: point[1])
    last_ts, last = known[-1]
    return WorstTrend(name, metric, rule, points, limit, known[0][1], worst, worst_ts, last, last_ts, low_is_bad=low)


def read_forecasts(reader: StoreReader, ways: Iterable[_Approach], span: TimeRange) -> tuple[Forecast, ...]:
    """What will be full within a day, the first first: by the newest polls as on the overview, else by the last hours.

    Raises StoreError.
    """
    growing = [way for way in ways if way.watched.fills and way.last > way.first and way.last >= _LEAST_PROGRESS / 5]
    growing.sort(key=lambda way: (-way.last, way.name))
    found = []
    for way in growing[:_MOST_GROWING]:
        metric = metric_of(way.watched.kind, way.watched.metric)
        series = reader.trend(way.name, metric.name, max(span.since, span.until - _LONG_MS), span.until).points
        known = [(ts, float(value)) for ts, value in series if value is not None]
        if not known or span.until - known[-1][0] > longest_distance(series):
            continue  # of what is old, nothing can be told ahead
        shares = [(ts, way.share(value)) for ts, value in known]
        grown = full_in(shares, span.until)
        if grown.ms is not None:
            found.append(Forecast(way.name, metric, grown.ms, grown.basis_ms, figure(known[-1][1], metric)))
    return tuple(sorted(found, key=lambda each: (each.in_ms, each.object)))


def read_store_forecasts(reader: StoreReader, owners: Iterable[str]) -> tuple[Forecast, ...]:
    """When the disk of the store is full, or its limit reached, where that is within a week. Raises StoreError."""
    found = []
    for owner in owners:
        for name, values in reader.current_by_kind(owner, "store", ("disk_full_s", "limit_reached_s")).items():
            for metric, latest in values.items():
                seconds = number_in(latest)
                if seconds is not None and seconds <= _SOON_FULL_S and latest.unanswered is None:
                    shown = metric_of("store", metric)
                    found.append(Forecast(name, shown, round(seconds * 1000), 0, quantity(seconds, "s")))
    return tuple(found)
