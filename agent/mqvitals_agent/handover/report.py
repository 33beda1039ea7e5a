"""The model of a handover: all that it tells, from which each form is rendered. Times are ms UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mqvitals_agent.store.rows.alerts.actions import AuditEntry
from mqvitals_agent.store.rows.changes import Change
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.view.alerts.actions import Handling
from mqvitals_agent.view.alerts.words import AlertAdvice
from mqvitals_agent.view.history.changes import Author
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, Severity
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Metric


@dataclass(frozen=True, slots=True)
class OpenAlert:
    """An alert that fires at the end of the time, as it was then. ``explains`` counts the alerts that it stands for."""

    alert: Alert
    handling: Handling
    advice: AlertAdvice = field(default_factory=AlertAdvice)
    explains: int = 0


@dataclass(frozen=True, slots=True)
class EndedAlerts:
    """What one rule reported about one object and has ended: once, or again and again.

    ``worst`` is the most severe of them. ``fired_ms`` is how long they fired within the time of the report, together;
    ``worst_value`` the figure of the rule at its worst in words, empty without one. ``follows`` is an alert that fired each
    time and may have caused it. ``handled`` are those about which somebody did something.
    """

    worst: Alert
    times: int
    fired_ms: int
    began: int
    ended: int
    worst_value: str
    follows: AlertKey | None = None
    handled: tuple[Handling, ...] = ()


@dataclass(frozen=True, slots=True)
class Mute:
    """A silence, or a maintenance window, and the alerts that receivers were not told for it.

    ``span`` is what lies of it in the time of the report.
    """

    words: str
    span: TimeRange
    hid: tuple[Alert, ...]


@dataclass(frozen=True, slots=True)
class WorstTrend:
    """A figure that came near the value at which a rule fires, or passed it.

    ``start`` and ``last`` are the first and the last value, ``worst`` the one nearest to the limit, at ``worst_ts``.
    ``limit`` None: the rule has no single one. ``low_is_bad``: low values are the worse ones.
    """

    object: ObjectName
    metric: Metric
    rule: str
    points: tuple[tuple[int, int | float | None], ...]
    limit: float | None
    start: float
    worst: float
    worst_ts: int
    last: float
    last_ts: int
    low_is_bad: bool = False


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is full in ``in_ms`` from the end of the report, if it goes on as it did over the last ``basis_ms``.

    ``now`` is its last value in words.
    """

    object: ObjectName
    metric: Metric
    in_ms: int
    basis_ms: int
    now: str


@dataclass(frozen=True, slots=True)
class DataQuality:
    """How much of the time there are data about.

    ``silent`` are times without any snapshot: the agent did not run, or could not store. ``gaps`` are those of one owner
    alone. ``unreachable`` are the queue managers that did not answer, each with how many of its polls found it so, and of
    how many. ``unknown`` says for how many objects a rule could not be judged in the last snapshot, by reason, and which
    rules. ``remarks`` are further sentences.
    """

    snapshots: Mapping[str, int]
    silent: tuple[TimeRange, ...] = ()
    gaps: tuple[tuple[str, TimeRange], ...] = ()
    unreachable: tuple[tuple[str, int, int], ...] = ()
    unknown: tuple[tuple[Absence, int, tuple[str, ...]], ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Handover:
    """A handover over ``span``. ``rules`` watched ``objects``. Lists are worst first, then newest first.

    ``more_changes`` and ``more_actions`` count older ones that are left out. ``past``: the store is a replay, whose end
    counts as now. ``least`` is the mildest severity that is reported; ``owners`` those that were asked for (none: all).
    """

    group: str
    origin: str
    span: TimeRange
    past: bool
    rules: int
    objects: int
    least: Severity
    owners: tuple[str, ...]
    opened: tuple[OpenAlert, ...]
    ended: tuple[EndedAlerts, ...]
    mutes: tuple[Mute, ...]
    changes: tuple[Change, ...]
    authors: Mapping[Change, Author]
    actions: tuple[AuditEntry, ...]
    trends: tuple[WorstTrend, ...]
    forecasts: tuple[Forecast, ...]
    quality: DataQuality
    more_changes: bool = False
    more_actions: bool = False

    @property
    def silent_since(self) -> Mapping[str, int]:
        """The owners of which nothing is known at the end of the time, and since when."""
        ends = [(name, gap) for name, gap in self.quality.gaps if gap.until >= self.span.until]
        ends += [
            (name, gap)
            for gap in self.quality.silent
            if gap.until >= self.span.until
            for name in self.quality.snapshots
        ]
        return {name: gap.since for name, gap in ends}

    def open_count(self, severity: Severity) -> int:
        """How many open alerts have this severity."""
        return sum(each.alert.severity is severity for each in self.opened)

    @property
    def unattended(self) -> int:
        """How many open alerts nobody has."""
        return sum(each.handling.acknowledged.state.asks for each in self.opened)
