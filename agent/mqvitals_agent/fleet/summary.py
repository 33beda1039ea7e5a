"""What is shown of a group among others, and what becomes of it while time goes by and nothing new comes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from mqvitals_agent.text.severity import Health, worst
from mqvitals_agent.view.alerts.handling import NEW
from mqvitals_agent.view.status import DEFAULT_INTERVAL_MS, STALE_INTERVALS
from mqvitals_rules.lifecycle.alert import Severity

Counts = Mapping[Severity, int]

NO_COUNTS: Counts = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class OwnerSummary:
    """A queue manager, or with ``is_group`` the queue-sharing group.

    ``age_ms`` is that of its newest snapshot, ``interval_ms`` their usual distance, ``reachable`` whether it answers; None
    where the group's agent does not say. A ``stale`` one has the health UNKNOWN.
    """

    name: str
    health: Health
    reachable: bool | None = None
    age_ms: int | None = None
    interval_ms: int | None = None
    stale: bool = False
    is_group: bool = False

    def later(self, elapsed_ms: int) -> OwnerSummary:
        """The same when nothing has come for so much longer."""
        if self.age_ms is None:
            age_ms, overdue = None, elapsed_ms > STALE_INTERVALS * DEFAULT_INTERVAL_MS
        else:
            age_ms = self.age_ms + elapsed_ms
            overdue = bool(elapsed_ms) and age_ms > STALE_INTERVALS * (self.interval_ms or DEFAULT_INTERVAL_MS)
        stale = self.stale or overdue
        return replace(self, age_ms=age_ms, stale=stale, health=Health.UNKNOWN if stale else self.health)


@dataclass(frozen=True, slots=True)
class AlertSummary:
    """An alert that fires: its rule, object and the owner of that, its words, and how bad it is now.

    ``started`` is ms UTC by the clock of its agent, ``lasts_ms`` how long it has been firing; None: not known. ``mark`` says
    whether somebody has it, as on every list of alerts. ``advice`` and ``mqsc`` say what to do; empty where the agent does not.
    """

    rule: str
    object: str
    owner: str
    health: Health
    words: str
    started: int | None = None
    lasts_ms: int | None = None
    mark: str = ""
    advice: str = ""
    mqsc: str = ""


@dataclass(frozen=True, slots=True)
class AgentSummary:
    """One of the agents, or the store, that a group was read from.

    ``role`` is ``active`` or ``standby``, empty where there is but one; ``standing`` since when and why. ``problem`` says why it
    cannot be read; empty: it was read.
    """

    source: str
    role: str = ""
    standing: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """A group of the fleet, read at ``read_at`` (ms UTC by this machine's clock; None: it was never read), with the ages that it
    has at ``at``.

    ``key`` is where it is read, ``name`` its name in the fleet, and ``group`` as its agent says it. ``counts`` are those of
    alerts that fire by severity, without those that another one explains; None: not known. ``alerts`` are the worst of these,
    the worst first. ``problem`` says why it could not be read last; then all else is as of when it was. ``past``: it is a store
    that no agent fills. ``notes`` are sentences about what limits the rest. ``agents`` are all that it was read from.
    """

    key: str
    name: str
    agents: tuple[AgentSummary, ...]
    read_at: int | None = None
    at: int = 0
    group: str = ""
    health: Health = Health.UNKNOWN
    owners: tuple[OwnerSummary, ...] = ()
    counts: Counts | None = None
    alerts: tuple[AlertSummary, ...] = ()
    problem: str = ""
    past: bool = False
    notes: tuple[str, ...] = ()
    last_health: Health | None = None
    """Its health when it was read last, whatever became unknown since."""

    @property
    def source(self) -> str:
        """Where it is read, as it is shown."""
        return self.agents[0].source

    @property
    def role(self) -> str:
        """Which of two agents it was read from; empty where there is but one."""
        return self.agents[0].role

    @property
    def queue_managers(self) -> tuple[OwnerSummary, ...]:
        """Its queue managers, the worst first."""
        return tuple(
            sorted((each for each in self.owners if not each.is_group), key=lambda each: (-each.health, each.name))
        )

    @property
    def age_ms(self) -> int | None:
        """The age of its newest snapshot; None: not known."""
        return min((each.age_ms for each in self.owners if each.age_ms is not None), default=None)

    @property
    def stale(self) -> bool:
        """Whether nothing that is known of it describes the present."""
        return bool(self.problem) or self.past or (bool(self.owners) and all(each.stale for each in self.owners))

    @property
    def new_critical(self) -> int:
        """How many of its critical alerts nobody has acknowledged or silenced, among those that are known."""
        return sum(each.health is Health.CRITICAL and each.mark == NEW for each in self.alerts)

    def count(self, severity: Severity) -> int | None:
        """How many alerts of a severity fire; None: not known."""
        return None if self.counts is None else self.counts.get(severity, 0)

    def is_stale(self, alert: AlertSummary) -> bool:
        """Whether an alert is of the past, as its queue manager is silent."""
        return self.stale or any(each.stale for each in self.owners if each.name == alert.owner)

    def as_of(self, now: int) -> GroupSummary:
        """The group at ``now`` (ms UTC by this machine's clock) when nothing has come since: older, and perhaps stale."""
        if self.read_at is None:
            return self
        elapsed = max(now - self.at, 0)
        owners = tuple(each.later(elapsed) for each in self.owners)
        alerts = tuple(
            each if each.lasts_ms is None or self.is_stale(each) else replace(each, lasts_ms=each.lasts_ms + elapsed)
            for each in self.alerts
        )
        stale_now = any(after.stale and not before.stale for before, after in zip(self.owners, owners, strict=True))
        health = health_of_owners(owners) if stale_now else self.health
        if self.problem or self.past:
            health = Health.UNKNOWN
        return replace(self, at=max(now, self.at), owners=owners, alerts=alerts, health=health)

    def unreadable(self, problem: str) -> GroupSummary:
        """The same after an attempt to read it that failed: all that was known of it is kept, as old as it is."""
        first, *others = self.agents
        return replace(
            self,
            health=Health.UNKNOWN,
            problem=problem,
            agents=(replace(first, problem=problem), *others),
        )


def health_of_owners(owners: tuple[OwnerSummary, ...]) -> Health:
    """The worst health of them; UNKNOWN without a queue manager, as nothing is known then."""
    healths = [each.health for each in owners]
    if all(each.is_group for each in owners):
        healths.append(Health.UNKNOWN)
    return worst(healths)


def short_source(source: str) -> str:
    """A host without its scheme, a file without its folder."""
    return source.partition("://")[2] or source.rpartition("/")[2] or source
