"""One object with everything that is known of it: its figures, what the rules say, what belongs to it, its past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mqvitals_agent.plan_inputs import KnownMetric, known_metrics
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.view.console import Console, read_console
from mqvitals_agent.view.listing import health_by_object, health_of_item
from mqvitals_agent.view.related import Related, read_related
from mqvitals_agent.view.remedy import TREND, Remedy, read_remedy
from mqvitals_agent.view.status import MemberView, StatusView, silent_since
from mqvitals_agent.view.table import Item
from mqvitals_agent.view.tasks import TASKS, read_tasks, with_tasks
from mqvitals_agent.view.trend import TrendView, view_of
from mqvitals_agent.view.verdict import judge
from mqvitals_agent.view.what_if import wanted
from mqvitals_rules.finding import Finding
from mqvitals_rules.form import Form
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import Instance, ObjectName
from mqvitals_rules.vocabulary.metric import Absence, MetricType
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.vocabulary.tables import metric as metric_of

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.check import Judging

_TOLD_BESIDE = 5
"""Alerts, the worst, beside which the console's messages of that time are shown."""


@dataclass(frozen=True, slots=True)
class Looked:
    """A rule that looks at the object and what it says; ``alert`` is its newest alert about it, open or ended."""

    form: Form
    finding: Finding
    alert: Alert | None

    @property
    def firing(self) -> bool:
        """Whether its alert is firing, which may be after the condition ceased to hold."""
        return self.alert is not None and self.alert.started is not None and self.alert.ended is None

    @property
    def needs_smf(self) -> bool:
        """Whether it is unknown only because no records have been read."""
        outcome = self.finding.when
        lacks = {each.absence for each in outcome.missing}
        return not self.firing and outcome.truth is None and lacks == {Absence.NEEDS_SMF}


@dataclass(frozen=True, slots=True)
class Detail:
    """All about one object.

    ``known`` is false when the store holds no such object; ``near`` are then names that look like it. ``gone`` (ms UTC)
    says since when it no longer exists. ``since`` is when it became as bad as it is. ``chartable`` are the metrics that
    a chart can show, ``below`` the open alerts of what belongs to it, worst first; ``lead`` the worst of all with what to do,
    when it is one of those; ``until`` when something last came, where that is long ago; ``tasks`` those of a channel initiator, ``console`` the messages about it; ``planned`` what the formulas are fed with. ``trend`` is the chosen one over time (None: it has none).
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
    lead: tuple[Alert, Remedy] | None = None
    until: int | None = None
    rules: tuple[Looked, ...] = ()
    related: tuple[Related, ...] = ()
    tasks: tuple[Item, ...] = ()
    mqsc: str = ""
    console: Console = field(default_factory=Console)
    planned: Mapping[str, KnownMetric] = field(default_factory=dict)
    chartable: tuple[str, ...] = ()
    metric: str = ""
    trend: TrendView | None = None


def read_detail(
    reader: StoreReader, status: StatusView, rules: Judging, name: ObjectName, *, metric: str = "", span_ms: int
) -> Detail:
    """Read and judge an object; ``metric`` is the one to chart, empty: the usual one, or where that is a
    state the one that the worst firing rule tells of. Raises StoreError."""
    situation = status.situation
    if name.kind not in KINDS or not reader.has(name):
        return Detail(name, known=False, near=reader.closest(str(name)))
    values = reader.current(name)
    row = next((row for row in reader.objects(str(name), gone=True) if row.name == name), None)
    stale = any(member.name == name.owner and member.stale for member in (*status.queue_managers, *_group(status)))
    alerts = [
        stored.alert
        for stored in reader.alerts(include_ended=True, include_pending=True)
        if name in (stored.alert.scope, stored.alert.key.object)
    ]
    firing = tuple(alert for alert in status.firing if name in (alert.scope, alert.key.object))
    health = health_of_item(name, values, health_by_object(firing), stale=stale)
    related = read_related(reader, status, name, values)
    below = tuple(alert for alert in status.firing if alert not in firing and _belongs(alert, name, related))
    if name.kind in ("queue_manager", "qsg"):
        # As its line on the overview says it.
        members = (*status.queue_managers, *_group(status))
        health = max([health, *(each.health for each in members if each.name == name.owner)])
        health = Health.UNKNOWN if stale else health
    tasks = read_tasks(reader, status, [name.owner]) if name.kind == "channel_initiator" else ()
    health = with_tasks([Item(name, health, values)], tasks)[0].health
    all_of_it = [alert for alert in status.firing if alert in firing or alert in below]
    lead = (
        (all_of_it[0], read_remedy(reader, all_of_it[0], rules.rules)) if all_of_it and all_of_it[0] in below else None
    )
    begun = [alert.started for alert in all_of_it if alert.started is not None and health_of(alert.severity) is health]
    chartable = _chartable(name.kind, values)
    looked = _look(reader, rules, name, alerts)
    usual = TREND.get(name.kind, "")
    # A chart of states says little beside the words that tell them: then rather what a firing rule tells of.
    rather = _told_of(looked, name.kind) if usual and metric_of(name.kind, usual).type is MetricType.STATE else ()
    shown = next((each for each in (metric, *rather, usual, *chartable) if each in chartable), "")
    return Detail(
        name=name,
        gone=None if row is None else row.gone,
        stale=stale,
        health=health,
        since=min(begun, default=None),
        values=values,
        instances=reader.instances(name),
        alerts=firing,
        rules=looked,
        below=below,
        lead=lead,
        until=silent_since(status).get(name.owner),
        related=related,
        tasks=tasks,
        mqsc=lead[1].mqsc if lead is not None and lead[1].mqsc else _mqsc(looked),
        console=read_console(reader, name, (*firing, *below)[:_TOLD_BESIDE], situation.now),
        planned={} if stale else known_metrics(reader, name, wanted(name.kind), rules.facts, situation.now),
        chartable=chartable,
        metric=shown,
        trend=_trend(reader, name, shown, values, TimeRange(situation.now - span_ms, situation.now)) if shown else None,
    )


def _belongs(alert: Alert, name: ObjectName, related: Iterable[Related]) -> bool:
    """Whether an alert is about something that belongs to an object."""
    owners = {alert.key.object.owner, alert.scope.owner}
    if name.kind in ("queue_manager", "qsg"):
        return name.owner in owners
    if name.kind == "channel_initiator":
        return name.owner in owners and alert.scope.kind in ("channel", *TASKS)
    if name.kind == "cf_structure":
        return alert.scope in {each for one in related for each, _, _ in one.objects}
    return False


def _look(reader: StoreReader, rules: Judging, name: ObjectName, alerts: Iterable[Alert]) -> tuple[Looked, ...]:
    """What every rule in force for the object says of it: those that fire first, the worst of them on top.

    Those that only records could decide come last.
    """
    newest = {alert.key.rule: alert for alert in alerts}  # the store tells them in the order they arose
    forms = rules.rules.forms(name)
    judged = judge(reader, forms, rules.facts, name)
    looked = [Looked(form, found, newest.get(form.id)) for form, found in zip(forms, judged.findings, strict=True)]
    return tuple(sorted(looked, key=_rank))


def _told_of(looked: Iterable[Looked], kind: str) -> Iterator[str]:
    """The figures that the words of the firing rules tell, those of the worst first: what went wrong is what to look at."""
    for each in looked:
        if each.firing:
            # A number that only names something, such as a reason code, makes no course.
            yield from (
                metric.name
                for of_kind, metric in each.form.summary.metrics
                if of_kind == kind and metric.unit != "number"
            )


def _rank(looked: Looked) -> tuple[int, int]:
    truth = looked.finding.when.truth
    severity = looked.alert.severity if looked.alert is not None and looked.firing else 0
    if looked.needs_smf:
        return 4, 0
    return (0 if looked.firing else 1 if truth else 2 if truth is None else 3, -severity)


def _mqsc(looked: Iterable[Looked]) -> str:
    """The command to type next: that of the worst rule; where nothing is wrong that of the first that has one."""
    return next((each.finding.mqsc for each in looked if each.finding.mqsc), "")


def _chartable(kind: str, values: Mapping[str, CurrentValue]) -> tuple[str, ...]:
    """Numbers and states that may have a past, in the vocabulary's order."""
    return tuple(
        metric.name
        for metric in KINDS[kind].metrics
        if metric.in_history
        and metric.name in values
        and values[metric.name].value not in _NEVER_TOLD
        and not metric.declared
    )


_NEVER_TOLD = frozenset(
    {
        Absence.NEEDS_SMF,
        Absence.NEEDS_STATISTICS,
        Absence.NEEDS_CONSOLE,
        Absence.NOT_RETURNED,
        Absence.NOT_ON_ZOS,
        Absence.NOT_ON_DISTRIBUTED,
        Absence.NOT_DECLARED,
        Absence.NOT_LIVE,
        Absence.NOT_ASKED,
    }
)


def _trend(
    reader: StoreReader, name: ObjectName, metric: str, values: Mapping[str, CurrentValue], span: TimeRange
) -> TrendView:
    told = values[metric]
    why = told.value.value if isinstance(told.value, Absence) else ""
    series = reader.trend(name, metric, span.since, span.until)
    return view_of(name, metric_of(name.kind, metric), series, span, why)


def _group(status: StatusView) -> tuple[MemberView, ...]:
    return status.groups
