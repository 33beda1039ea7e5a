"""One object with all that is known of it: figures, rules, related objects, alerts, its chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from mqvitals_agent.plan_inputs.reading import ObjectValues
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.rows.changes import Change
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.chart_lines import ShadedSpan
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.view.alerts.words import AlertAdvice, read_advice
from mqvitals_agent.view.figures.forecast import FILLING, FullIn, read_full_in
from mqvitals_agent.view.figures.table import Item
from mqvitals_agent.view.figures.trend import Trend, trend_of
from mqvitals_agent.view.figures.values import MAIN_METRIC
from mqvitals_agent.view.history.changes import ObjectChanges, read_changes_of
from mqvitals_agent.view.history.console import ConsoleExcerpt, read_console
from mqvitals_agent.view.lists.items import health_by_object, health_of_item
from mqvitals_agent.view.lists.related import RelatedObjects, read_related
from mqvitals_agent.view.lists.tasks import TASKS, read_tasks, with_tasks
from mqvitals_agent.view.object.card import NEVER_HERE, CardFigure, read_card
from mqvitals_agent.view.object.explanation import explain_object
from mqvitals_agent.view.object.what_if import WhatIfInputs, read_what_if
from mqvitals_agent.view.status import GroupStatus, silent_since
from mqvitals_agent.view.trend.chart import alert_spans
from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.explanation import RuleExplanation
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.ruleset.rule import Rule, RuleKind
from mqvitals_rules.ruleset.tuning import Changed
from mqvitals_rules.snapshot import Instance, ObjectName
from mqvitals_rules.thresholds import Threshold, applies, thresholds_of
from mqvitals_rules.vocabulary.metric import Absence, MetricType
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.vocabulary.tables import metric as metric_of

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.ruleset.config import RuleConfig


_WITH_CONSOLE = 5
"""The number of alerts, the worst, with which the console messages of their time are shown."""


_SOURCES: Final[Mapping[Absence, str]] = {
    Absence.NEEDS_SMF: "SMF",
    Absence.NEEDS_CONSOLE: "console messages",
    Absence.NEEDS_EVENTS: "event messages",
}


class ChartedMetric(NamedTuple):
    """A metric of an object on a chart board."""

    object: ObjectName
    metric: str


@dataclass(frozen=True, slots=True)
class ObjectRule:
    """A rule of the object and what it finds; ``alert`` is its newest alert about the object, open or ended.

    ``tuned`` is what the site changes about it for the object.
    """

    rule: CompiledRule
    explanation: RuleExplanation
    alert: Alert | None
    tuned: tuple[Changed, ...] = ()

    @property
    def firing(self) -> bool:
        """Whether its alert is firing, possibly after the condition no longer holds."""
        return self.alert is not None and self.alert.started is not None and self.alert.ended is None

    @property
    def lacks(self) -> str:
        """The source of data without which it is unknown, where it lacks nothing else: records, or a console."""
        outcome = self.explanation.when
        lacks = {each.absence for each in outcome.missing}
        if self.firing or outcome.truth is not None or len(lacks) != 1:
            return ""
        return _SOURCES.get(lacks.pop(), "")


@dataclass(frozen=True, slots=True)
class ObjectDetail:
    """All about one object.

    ``known`` is false when the store holds no such object; ``near`` are then similar names. ``gone`` (ms UTC) says
    since when it no longer exists. ``since`` is when its present severity began. ``chartable`` are the metrics that a
    chart can show, ``below`` the open alerts of what belongs to it, worst first; ``lead`` the worst of all with what to
    do, when it is one of those; ``until`` when something last came, where that is long ago; ``tasks`` those of a
    channel initiator, ``rules_off`` the rules that the site turned off for it, with its reasons, ``console`` the messages about it, ``changes`` those of definitions; ``planned`` the inputs of the formulas. ``trend`` is the
    chosen one over time (None: it has none), ``board`` what else is charted, also of other objects; ``card`` the figures
    that matter, ``thresholds`` those of all its metrics, ``alert_spans`` when its warnings and worse were open;
    ``full_in`` when it is full, of what fills.
    """

    name: ObjectName
    known: bool = True
    near: tuple[str, ...] = ()
    gone: int | None = None
    stale: bool = False
    health: Health = Health.UNKNOWN
    since: int | None = None
    values: Mapping[str, CurrentValue] | None = None
    instances: tuple[Instance, ...] = ()
    alerts: tuple[Alert, ...] = ()
    below: tuple[Alert, ...] = ()
    lead: tuple[Alert, AlertAdvice] | None = None
    until: int | None = None
    rules: tuple[ObjectRule, ...] = ()
    rules_off: tuple[tuple[Rule, str], ...] = ()
    related: tuple[RelatedObjects, ...] = ()
    tasks: tuple[Item, ...] = ()
    mqsc: str = ""
    console: ConsoleExcerpt = field(default_factory=ConsoleExcerpt)
    changes: ObjectChanges = field(default_factory=ObjectChanges)
    planned: WhatIfInputs = field(default_factory=WhatIfInputs)
    chartable: tuple[str, ...] = ()
    metric: str = ""
    trend: Trend | None = None
    board: tuple[Trend, ...] = ()
    card: tuple[CardFigure, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    alert_spans: tuple[ShadedSpan, ...] = ()
    full_in: FullIn | None = None


def read_object_detail(
    reader: StoreReader,
    status: GroupStatus,
    rules: RuleConfig,
    name: ObjectName,
    *,
    metric: str = "",
    board: Sequence[ChartedMetric] = (),
    span_ms: int,
) -> ObjectDetail:
    """Read an object and evaluate its rules; ``metric`` is the one to chart, empty: the usual one, or where that is a
    state the one in the summary of the worst firing rule. ``board`` is charted beside it. Raises StoreError."""
    data = status.data
    if name.kind not in KINDS or not reader.has(name):
        return ObjectDetail(name, known=False, near=reader.closest(str(name)))
    values = reader.current(name)
    row = next((row for row in reader.objects(str(name), gone=True) if row.name == name), None)
    stale = name.owner in status.stale
    alerts = [stored.alert for stored in reader.alerts_about(name)]
    firing = tuple(alert for alert in status.firing if name in (alert.scope, alert.key.object))
    health = health_of_item(name, values, health_by_object(firing), stale=stale)
    related = read_related(reader, status, name, values)
    below = tuple(alert for alert in status.firing if alert not in firing and _belongs(alert, name, related))
    if name.kind in ("queue_manager", "qsg"):
        # The same as in its line on the overview.
        health = max([health, *(each.health for each in status.owners if each.name == name.owner)])
        health = Health.UNKNOWN if stale else health
    tasks = read_tasks(reader, status, [name.owner]) if name.kind == "channel_initiator" else ()
    health = with_tasks([Item(name, health, values)], tasks)[0].health
    all_of_it = [alert for alert in status.firing if alert in firing or alert in below]
    lead = (
        (all_of_it[0], read_advice(reader, all_of_it[0], rules.rules)) if all_of_it and all_of_it[0] in below else None
    )
    begun = [alert.started for alert in all_of_it if alert.started is not None and health_of(alert.severity) is health]
    chartable = _chartable(name.kind, values)
    object_rules = _object_rules(reader, rules, name, alerts)
    changes = read_changes_of(reader, name, related, (*firing, *below)[:_WITH_CONSOLE], data.now)
    shown = _charted(name.kind, metric, chartable, object_rules)
    thresholds = _thresholds(name.kind, values, object_rules)
    span = TimeRange(data.now - span_ms, data.now)
    return ObjectDetail(
        name=name,
        gone=None if row is None else row.gone,
        stale=stale,
        health=health,
        since=min(begun, default=None),
        values=values,
        instances=reader.instances(name),
        alerts=firing,
        rules=object_rules,
        rules_off=rules.rules.off_for(name),
        below=below,
        lead=lead,
        until=silent_since(status).get(name.owner),
        related=related,
        tasks=tasks,
        mqsc=lead[1].mqsc if lead is not None and lead[1].mqsc else _mqsc(object_rules),
        console=read_console(reader, name, (*firing, *below)[:_WITH_CONSOLE], data.now),
        changes=changes,
        planned=WhatIfInputs()
        if stale
        else read_what_if(ObjectValues(reader, name, rules.facts, data.now, answered_only=True)),
        chartable=chartable,
        metric=shown,
        trend=_trend(reader, name, shown, values, span, changes.own) if shown else None,
        board=read_board(reader, [each for each in board if each != (name, shown)], span),
        card=read_card(reader, name, values, thresholds, data.now),
        thresholds=thresholds,
        alert_spans=alert_spans(alerts, data.now),
        full_in=read_full_in(reader, name, values, data.now) if name.kind in FILLING and not stale else None,
    )


def _thresholds(kind: str, values: Mapping[str, CurrentValue], rules: Sequence[ObjectRule]) -> tuple[Threshold, ...]:
    """The thresholds of the rules that nothing but figures keeps from firing.

    One is idle where the value is beyond it and the condition does not hold, or is unknown: another figure would have to
    join it.
    """
    numbers = {metric: latest.value for metric, latest in values.items()}
    found = thresholds_of([each.rule for each in rules if applies(each.rule, each.explanation.when)], kind, numbers)
    holding = {each.rule.id for each in rules if each.explanation.when.truth}

    def idle(each: Threshold) -> bool:
        value = numbers.get(each.metric)
        return each.rule not in holding and isinstance(value, int | float) and each.reached_by(value)

    return tuple(each._replace(idle=idle(each)) for each in found)


def read_board(reader: StoreReader, board: Iterable[ChartedMetric], span: TimeRange) -> tuple[Trend, ...]:
    """The metrics of a chart board over time; those of objects that the store does not know are left out.

    Raises StoreError.
    """
    return tuple(
        trend_of(each, metric_of(each.kind, metric), reader.trend(each, metric, span.since, span.until), span)
        for each, metric in board
        if reader.has(each)
    )


def _charted(kind: str, chosen: str, chartable: Sequence[str], rules: Sequence[ObjectRule]) -> str:
    """The metric to chart: the chosen one, else that of the worst alert or the usual one of the kind; empty when there
    is none.
    """
    usual = MAIN_METRIC.get(kind, "")
    if usual and metric_of(kind, usual).type is MetricType.STATE:
        # A chart of states adds little to their words: prefer a metric in the summary of a firing rule.
        rather = [name for each in rules if each.firing for name in _summary_metrics(each.rule, kind)]
    else:
        # The usual one stays, unless the worst alert is about others.
        worst = next((each.rule for each in rules if each.firing and _is_operational(each.rule)), None)
        told = [] if worst is None else _summary_metrics(worst, kind)
        rather = [] if worst is None or usual in told else _figure_first(told, worst)
    return next((each for each in (chosen, *rather, usual, *chartable) if each in chartable), "")


def _belongs(alert: Alert, name: ObjectName, related: Iterable[RelatedObjects]) -> bool:
    """Whether an alert is about a related object."""
    owners = {alert.key.object.owner, alert.scope.owner}
    if name.kind in ("queue_manager", "qsg"):
        return name.owner in owners
    if name.kind == "channel_initiator":
        return name.owner in owners and alert.scope.kind in ("channel", *TASKS)
    if name.kind == "cf_structure":
        return alert.scope in {each for one in related for each, _, _ in one.objects}
    return False


def _object_rules(
    reader: StoreReader, rules: RuleConfig, name: ObjectName, alerts: Iterable[Alert]
) -> tuple[ObjectRule, ...]:
    """What every rule in force for the object finds: firing rules first, the worst of them on top.

    Those that only records or a console could decide come last.
    """
    newest = {alert.key.rule: alert for alert in alerts}  # the store returns them in the order they arose
    compiled = rules.rules.rules_for(name)
    explained = explain_object(reader, compiled, rules.facts, name, rules.zone_of).findings
    found = [
        ObjectRule(rule, each, newest.get(rule.id), rules.rules.tuned_for(rule.id, name))
        for rule, each in zip(compiled, explained, strict=True)
    ]
    return tuple(sorted(found, key=_rank))


def _summary_metrics(rule: CompiledRule, kind: str) -> list[str]:
    """The metrics in the summary of a rule that make a chart.

    A number that only identifies something, such as a reason code, makes none, nor does a setting that advice is about.
    """
    numbers = (MetricType.GAUGE, MetricType.COUNTER)
    return [
        metric.name
        for of_kind, metric in rule.summary.metrics
        if of_kind == kind and metric.unit != "number" and (_is_operational(rule) or metric.type in numbers)
    ]


def _figure_first(names: Sequence[str], rule: CompiledRule) -> list[str]:
    """The metric that measures the rule's alerts first."""
    return sorted(names, key=lambda name: rule.figure is None or name != rule.figure.metric.name)


def _is_operational(rule: CompiledRule) -> bool:
    return rule.rule.kind is RuleKind.OPERATIONAL


def _rank(each: ObjectRule) -> tuple[int, int]:
    truth = each.explanation.when.truth
    severity = each.alert.severity if each.alert is not None and each.firing else 0
    if each.lacks:
        return 4 + (each.lacks != _SOURCES[Absence.NEEDS_SMF]), 0
    return (0 if each.firing else 1 if truth else 2 if truth is None else 3, -severity)


def _mqsc(rules: Sequence[ObjectRule]) -> str:
    """The command to type next: that of the worst firing rule, which may have none, else of the first rule that has one."""
    worst = next((each for each in rules if each.firing), None)
    if worst is not None:
        return worst.explanation.mqsc
    return next((each.explanation.mqsc for each in rules if each.explanation.mqsc), "")


def _chartable(kind: str, values: Mapping[str, CurrentValue]) -> tuple[str, ...]:
    """Numbers and states that may have a past, in the vocabulary's order."""
    return tuple(
        metric.name
        for metric in KINDS[kind].metrics
        if metric.in_history
        and metric.name in values
        and values[metric.name].value not in NEVER_HERE
        and not metric.declared
    )


def _trend(
    reader: StoreReader,
    name: ObjectName,
    metric: str,
    values: Mapping[str, CurrentValue],
    span: TimeRange,
    changes: Sequence[Change],
) -> Trend:
    latest = values[metric]
    why = latest.value.value if isinstance(latest.value, Absence) else ""
    series = reader.trend(name, metric, span.since, span.until)
    return trend_of(name, metric_of(name.kind, metric), series, span, why, changes=changes)
