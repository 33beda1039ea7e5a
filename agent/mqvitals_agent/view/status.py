"""The status of the group as of a moment: read from a store in one go, evaluated by pure functions, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.store.file.store_file import trouble_of, writer_of
from mqvitals_agent.store.result import RECORDS_ALONE, AgentStanding, CurrentValue, UnknownRow
from mqvitals_agent.text.figure import age, moment, number, number_of, zone_name
from mqvitals_agent.text.severity import Exit, Health, exit_of, health_of, worst
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.alerts.handling import AlertSite, Handlings, read_alert_actions
from mqvitals_agent.view.alerts.maintenance import mutings
from mqvitals_agent.view.alerts.words import worst_first
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, Severity, overshadowed, stages
from mqvitals_rules.ruleset.rule import RuleKind
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from mqvitals_agent.store.reader import StoreReader


DEFAULT_INTERVAL_MS = 30_000
"""The interval that is assumed while there are fewer than two snapshots."""

FIGURES: Mapping[str, tuple[str, ...]] = {
    "queue_manager": ("reachable", "reason"),
    "agent": ("outcome",),
    "buffer_pool": ("free_pct",),
    "page_set": ("used_pct",),
    "channel": ("status",),
    "channel_initiator": (
        "status",
        "adapters_started",
        "adapters_max",
        "dispatchers_started",
        "dispatchers_max",
    ),
    "log": ("full_logs", "total_logs"),
    "qsg": ("qmgr_count", "members_active", "failed_members", "db2_active", "members_without_db2"),
    "cf_structure": ("status", "entries_pct", "entries_used", "entries_max", "size_used_pct"),
}
"""The metrics that the status shows, by kind."""

Current = Mapping[ObjectName, Mapping[str, CurrentValue]]


@dataclass(frozen=True, slots=True)
class OwnerData:
    """A queue manager, or the group: the times of its first and last snapshot, ms UTC, and their usual interval, ms."""

    name: str
    is_group: bool
    first_ts: int
    last_ts: int
    interval_ms: int = DEFAULT_INTERVAL_MS


@dataclass(frozen=True, slots=True)
class StatusData:
    """The input of the status, as of ``now`` (ms UTC; of a replayed store its last snapshot).

    ``alerts`` are those firing, advice on the configuration included. ``refused`` is the problem of settings or rules
    that the agent did not accept, ``unstored`` what keeps the agent from writing the store. ``handled`` is what people
    did about the alerts.
    """

    now: int
    past: bool
    origin: str
    group: str
    members: tuple[OwnerData, ...]
    current: Current = field(default_factory=dict)
    alerts: tuple[Alert, ...] = ()
    unknown: tuple[UnknownRow, ...] = ()
    refused: str = ""
    unstored: str = ""
    handled: Handlings = field(default_factory=Handlings)
    as_of: int | None = None
    """The past moment as of which a store was read, ms UTC; then ``now`` is that. None: as it is now."""
    standing: AgentStanding | None = None
    """Which of two agents fills the store; None: there is but one, or it is the past."""


def _no_site(groups: Collection[str]) -> AlertSite:
    """For a store whose settings are not known."""
    return AlertSite(Labeller.of_store(None, groups))


def read_status_data(
    reader: StoreReader,
    clock: int,
    figures: Mapping[str, tuple[str, ...]] = FIGURES,
    *,
    site_of: Callable[[Collection[str]], AlertSite] = _no_site,
    machine: int | None = None,
) -> StatusData:
    """Read the situation. ``clock`` is the time now, for a store that a running agent fills. Raises StoreError.

    ``figures`` are the metrics to read, by kind. ``site_of`` gives what the site says of alerts, in a store with these
    groups. ``machine`` is the machine's time, by which people act; None: ``clock`` is that. All are ms UTC.
    """
    meta = reader.meta()
    machine = clock if machine is None else machine
    members = tuple(
        OwnerData(
            each.name,
            each.is_group,
            each.first_ts,
            each.last_ts,
            snapshot_interval_ms(reader.snapshot_times(each.name, 20)),
        )
        for each in reader.owners()
        if not each.unwatched
    )
    current: dict[ObjectName, Mapping[str, CurrentValue]] = {}
    for member in members:
        for kind, metrics in figures.items():
            current.update(reader.current_by_kind(member.name, kind, metrics))
    stored = reader.alerts()
    site = site_of([member.name for member in members if member.is_group])
    now = max((member.last_ts for member in members), default=clock) if meta.past else clock
    if meta.as_of is not None:
        now = machine = meta.as_of
    muted = mutings(reader, site.calendar, site.labeller, now)
    actions = read_alert_actions(stored, reader.actions(), site.labeller, machine, muted)
    return StatusData(
        now=now,
        past=meta.past,
        origin=meta.origin,
        group=meta.group,
        members=members,
        current=current,
        alerts=tuple(each.alert for each in stored),
        unknown=reader.unknown_counts(),
        refused=meta.refused,
        unstored="" if meta.past else trouble_of(reader.path),
        handled=Handlings(actions, machine, meta.past),
        as_of=meta.as_of,
        # Where no agent runs, none waits either.
        standing=None if meta.past or writer_of(reader.path) is None else meta.standing,
    )


def role_words(data: StatusData) -> str:
    """Which of two agents fills the store, for the first line: ``active`` or ``standby``; empty where there is but one."""
    return "" if data.standing is None else safe(data.standing.role)


def standby_words(data: StatusData) -> str:
    """The sentence for the store of an agent that waits while another one polls; empty for any other."""
    standing = data.standing
    if standing is None or not standing.waits:
        return ""
    of = f" of {safe(standing.peer)}" if standing.peer else ""
    since = f"since {moment(standing.since)} {zone_name(standing.since)}, for {age(max(data.now - standing.since, 0))}"
    follows = "its alerts are followed" if standing.follows else "its alerts are not followed"
    return f"standby{of} {since}: {safe(standing.reason)}; {follows}. Nothing is polled here, and the values are those from before"


def refused_words(data: StatusData) -> str:
    """The sentence for settings and rules that the agent did not accept; empty when there are none."""
    if not data.refused or data.past:
        return ""
    return f"The settings and rules from before are in force, for those of now cannot be used: {safe(data.refused)}"


def unstored_words(data: StatusData) -> str:
    """The sentence for an agent that cannot write the store; empty while it can."""
    if not data.unstored:
        return ""
    return f"The agent runs and sends alerts, but cannot store its samples, so this is old: {safe(data.unstored)}"


def unreachable_words(data: StatusData, last_ts: int | None) -> str:
    """The words for a queue manager that is not reachable and last reported something at ``last_ts`` (ms UTC)."""
    if data.origin == RECORDS_ALONE:
        return "known by its SMF records alone"
    return "never reached" if last_ts is None else f"unreachable: these figures are {age(data.now - last_ts)} old"


def snapshot_interval_ms(times: list[int]) -> int:
    """The median interval of snapshots, ms; ``times`` are those of the newest, oldest first."""
    distances = [after - before for before, after in pairwise(times)]
    return int(median(distances)) if distances else DEFAULT_INTERVAL_MS


def interval_words(interval_ms: float) -> str:
    """How far apart snapshots are, to the second: ``10 s``. The header and every other place say it by this."""
    return age(round(interval_ms / 1000) * 1000)


STALE_INTERVALS = 3
"""A snapshot older than this many intervals is stale."""


@dataclass(frozen=True, slots=True)
class OwnerStatus:
    """A queue manager or the group.

    ``reachable`` is None when that is not known. ``age_ms`` is that of its newest snapshot, ``stale`` true when that is
    too old to describe the present. ``alerts`` counts its operational alerts.
    """

    name: str
    is_group: bool
    health: Health
    reachable: bool | None
    age_ms: int
    stale: bool
    alerts: tuple[tuple[Severity, int], ...]


@dataclass(frozen=True, slots=True)
class GroupStatus:
    """The status of the whole group; ``alerts`` are the operational ones, worst first; ``advice`` counts the others.

    Of alerts of one family about one object only the worst is among them, and none that another one explains.
    ``explained`` says which one explains those, which are among ``firing``: an object with an explained alert is not
    OK.
    """

    data: StatusData
    health: Health
    queue_managers: tuple[OwnerStatus, ...]
    group: OwnerStatus | None
    alerts: tuple[Alert, ...]
    advice: int
    unknown: tuple[tuple[Absence, int], ...]
    explained: Mapping[AlertKey, AlertKey] = field(default_factory=dict)
    firing: tuple[Alert, ...] = ()
    other_groups: tuple[OwnerStatus, ...] = ()
    """Further queue-sharing groups: SMF records of several may be in one store."""

    @property
    def groups(self) -> tuple[OwnerStatus, ...]:
        """All queue-sharing groups."""
        return (*((self.group,) if self.group else ()), *self.other_groups)

    @property
    def owners(self) -> tuple[OwnerStatus, ...]:
        """All queue managers, and the groups behind them."""
        return (*self.queue_managers, *self.groups)

    @property
    def stale(self) -> frozenset[str]:
        """The names of the owners that are stale."""
        return frozenset(member.name for member in self.owners if member.stale)

    @property
    def exit(self) -> Exit:
        """The exit code and its reason: UNKNOWN while the agent cannot store."""
        return exit_of(Health.UNKNOWN if self.data.unstored else self.health)


_OPERATIONAL = RuleKind.OPERATIONAL.value


def status_of(data: StatusData, ranks: Mapping[str, int] | None = None) -> GroupStatus:
    """Evaluate a situation. ``ranks`` are those of rules in their families, by rule id."""
    everything = [alert for alert in data.alerts if alert.kind_of_rule == _OPERATIONAL]
    covered = overshadowed(everything, ranks or {})
    milder = stages(everything, ranks or {})
    explained = {key: stands for key, stands in covered.items() if key not in milder}
    operational = [alert for alert in everything if alert.key not in covered]
    firing = [alert for alert in everything if alert.key not in covered or alert.key in explained]
    unknown: Counter[Absence] = Counter()
    for row in data.unknown:
        unknown[row.reason] += row.count
    status = GroupStatus(
        data=data,
        health=Health.UNKNOWN,
        queue_managers=(),
        group=None,
        alerts=tuple(worst_first(operational)),
        advice=len(data.alerts) - len(everything),
        unknown=tuple(sorted(unknown.items(), key=lambda item: (-item[1], item[0].value))),
        explained=explained,
        firing=tuple(worst_first(firing)),
    )
    return aged_status(status, data)


def aged_status(status: GroupStatus, data: StatusData) -> GroupStatus:
    """The status of a situation that differs only in its now, and in when its owners reported last."""
    members = [_owner_status(member, data, status.alerts, status.firing) for member in data.members]
    queue_managers = tuple(member for member in members if not member.is_group)
    groups = tuple(member for member in members if member.is_group)
    healths = [member.health for member in members]
    if not queue_managers:
        # A store without data must not look OK.
        healths.append(Health.UNKNOWN)
    return replace(
        status,
        data=data,
        health=worst(healths),
        queue_managers=queue_managers,
        group=groups[0] if groups else None,
        other_groups=groups[1:],
    )


def silent_since(view: GroupStatus) -> Mapping[str, int]:
    """The owners that are stale, and the time of their last snapshot (ms UTC)."""
    return {member.name: view.data.now - member.age_ms for member in view.owners if member.stale}


def last_known(view: GroupStatus) -> Mapping[str, int]:
    """The time (ms UTC) as of which the alerts of a stale owner are shown, by ``status`` and ``alerts list`` alike.

    When all owners are stale, all are shown as of the newest of these times.
    """
    silent = silent_since(view)
    if silent and len(silent) == len(view.owners):
        return dict.fromkeys(silent, max(silent.values()))
    return silent


def health_of_object(name: ObjectName, alerts: Iterable[Alert]) -> Health:
    """The worst alert about one object."""
    return worst(health_of(alert.severity) for alert in alerts if alert.key.object == name)


def counts(alerts: Iterable[Alert]) -> tuple[tuple[Severity, int], ...]:
    """The number of alerts of each severity, the worst first, zeros included."""
    counted = Counter(alert.severity for alert in alerts)
    return tuple((severity, counted[severity]) for severity in sorted(Severity, reverse=True))


def new_counts(view: GroupStatus) -> Mapping[Severity, int]:
    """How many alerts of each severity somebody should look at: those that nobody has acknowledged or silenced."""
    if view.data.past:
        return {}
    return Counter(alert.severity for alert in view.alerts if view.data.handled.asks(alert))


def _owner_status(
    member: OwnerData, data: StatusData, operational: Sequence[Alert], firing: Sequence[Alert]
) -> OwnerStatus:
    own = [alert for alert in operational if alert.key.object.owner == member.name]
    age_ms = max(data.now - member.last_ts, 0)
    stale = age_ms > STALE_INTERVALS * member.interval_ms
    reachable = None if member.is_group else _reachable(member.name, data)
    # An alert that another owner's alert explains counts here, though the other one is listed.
    health = worst(health_of(alert.severity) for alert in firing if alert.key.object.owner == member.name)
    if stale:
        # Its alerts are of the past; its present state is unknown.
        health = Health.UNKNOWN
    elif not member.is_group and reachable is not True:
        # Never reached, or not now: without an alert that is unknown, not OK.
        health = max(health, Health.UNKNOWN)
    return OwnerStatus(member.name, member.is_group, health, reachable, age_ms, stale, counts(own))


def _reachable(name: str, data: StatusData) -> bool | None:
    latest = data.current.get(ObjectName(name, "queue_manager"), {}).get("reachable")
    if latest is None or isinstance(latest.value, Absence | str):
        return None
    return latest.value == 1


UnknownCounts = Sequence[tuple[Absence, int]]

TO_DO: Mapping[Absence, str] = {
    Absence.UNREACHABLE: "see its alert AGENT-01: is it up, and does it accept the agent's channel? 'mqvitals doctor' tries",
    Absence.NOT_AUTHORISED: "authorise the agent's user id: 'mqvitals doctor' shows for what",
    Absence.NO_ANSWER: "see which command got none on the screen Agent (0), then try it: 'mqvitals doctor'",
    Absence.STALE: "see on the screen Agent (0) whether the agent still gets it, and how often it asks",
    Absence.TIME_ZONE_UNKNOWN: "set time_zone of the queue manager in the configuration",
    Absence.OUT_OF_RANGE: "an answer or a record is damaged: keep it with 'mqvitals record', and report it",
}
"""The reasons for an unknown verdict about which somebody can do something within the hour, and what."""

_NEEDS = {
    Absence.NEEDS_SMF: ("needs SMF records", "need SMF records"),
    Absence.AWAITED: ("waits for the next SMF record", "wait for the next SMF record"),
    Absence.NEEDS_STATISTICS: ("needs statistics messages", "need statistics messages"),
    Absence.NEEDS_CONSOLE: ("needs console messages", "need console messages"),
    Absence.NEEDS_EVENTS: ("needs event messages", "need event messages"),
    Absence.NOT_COLLECTED: ("needs monitoring, which is off", "need monitoring, which is off"),
    Absence.NOT_ASKED: ("needs an answer not asked for yet", "need answers not asked for yet"),
    Absence.FIRST_READING: ("needs a second reading", "need a second reading"),
    Absence.RESET: ("needs a second reading after a reset", "need a second reading after a reset"),
    Absence.SATURATED: ("is about a saturated counter", "are about saturated counters"),
    Absence.WINDOW: ("needs more history", "need more history"),
    Absence.NOT_KEPT: ("is about what is not kept", "are about what is not kept"),
    Absence.NOTHING_TO_TELL: ("has no data to evaluate yet", "have no data to evaluate yet"),
    Absence.RESTARTED: ("is about a queue manager restarted lately", "are about queue managers restarted lately"),
    Absence.INACTIVE: ("is about an inactive channel", "are about inactive channels"),
    Absence.OFFLINE: ("is about what is offline", "are about what is offline"),
    Absence.NOT_IN_USE: ("is about what is not in use", "are about what is not in use"),
    Absence.NOT_DECLARED: ("needs a declaration", "need declarations"),
    Absence.NOT_RETURNED: ("is about what MQ does not report", "are about what MQ does not report"),
    Absence.NOT_LIVE: ("is about live connections", "are about live connections"),
    Absence.NOT_ON_ZOS: ("is not for z/OS", "are not for z/OS"),
    Absence.NOT_ON_DISTRIBUTED: ("is for z/OS only", "are for z/OS only"),
}
"""The other reasons: permanent ones, and those that pass by themselves. Words for one verdict and for several."""


def troubling(unknown: UnknownCounts) -> tuple[tuple[Absence, int], ...]:
    """The reasons, with their numbers, about which somebody can do something within the hour."""
    return tuple((reason, count) for reason, count in unknown if reason in TO_DO)


def without_answer(unknown: UnknownCounts) -> str:
    """In words how many verdicts are unknown for the other reasons, by reason; empty when there are none."""
    named = [(_NEEDS[reason][count != 1], count) for reason, count in unknown if reason in _NEEDS and count]
    # The first says what is counted.
    return ", ".join(
        f"{number(count) if place else number_of(count, 'verdict')} {words}"
        for place, (words, count) in enumerate(named)
    )
