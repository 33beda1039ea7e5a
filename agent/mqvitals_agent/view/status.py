"""How the group is: the view model behind the status screen, its JSON and its exit code. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mqvitals_agent.text.severity import Exit, Health, exit_of, health_of, worst
from mqvitals_agent.view.alerts import as_json, worst_first
from mqvitals_agent.view.situation import Member, Situation
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, Severity
from mqvitals_rules.lifecycle.family import overshadowed, stages
from mqvitals_rules.moment import iso
from mqvitals_rules.rule import RuleKind
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence

STALE_INTERVALS = 3
"""A snapshot older than this many intervals says nothing about now."""


@dataclass(frozen=True, slots=True)
class MemberView:
    """A queue manager or the group.

    ``reachable`` is None when that is not known. ``age_ms`` is that of its newest snapshot, ``stale`` true when that is
    too old to tell how it is now. ``alerts`` counts its operational alerts.
    """

    name: str
    is_group: bool
    health: Health
    reachable: bool | None
    age_ms: int
    stale: bool
    alerts: tuple[tuple[Severity, int], ...]


@dataclass(frozen=True, slots=True)
class StatusView:
    """The status of the whole group; ``alerts`` are the operational ones, worst first; ``advice`` counts the others.

    Of alerts of one family about one object only the worst is among them, and none that another one explains. ``explained`` says which one
    explains those, which are among ``firing``: an object is not well because its trouble has a cause elsewhere.
    """

    situation: Situation
    health: Health
    queue_managers: tuple[MemberView, ...]
    group: MemberView | None
    alerts: tuple[Alert, ...]
    advice: int
    unknown: tuple[tuple[Absence, int], ...]
    explained: Mapping[AlertKey, AlertKey] = field(default_factory=dict)
    firing: tuple[Alert, ...] = ()
    other_groups: tuple[MemberView, ...] = ()
    """Further queue-sharing groups: SMF records of several may be in one store."""

    @property
    def groups(self) -> tuple[MemberView, ...]:
        """All queue-sharing groups."""
        return (*((self.group,) if self.group else ()), *self.other_groups)

    @property
    def owners(self) -> tuple[MemberView, ...]:
        """All queue managers, and the groups behind them."""
        return (*self.queue_managers, *self.groups)

    @property
    def exit(self) -> Exit:
        """The exit code and why: what cannot be stored now cannot be told from here."""
        return exit_of(Health.UNKNOWN if self.situation.unstored else self.health)


def status_of(situation: Situation, ranks: Mapping[str, int] | None = None) -> StatusView:
    """Judge a situation. ``ranks`` are those of rules in their families, by rule id."""
    everything = [alert for alert in situation.alerts if alert.kind_of_rule == RuleKind.OPERATIONAL.value]
    covered = overshadowed(everything, ranks or {})
    milder = stages(everything, ranks or {})
    explained = {key: stands for key, stands in covered.items() if key not in milder}
    operational = [alert for alert in everything if alert.key not in covered]
    firing = [alert for alert in everything if alert.key not in covered or alert.key in explained]
    members = [_member(member, situation, operational, firing) for member in situation.members]
    queue_managers = tuple(member for member in members if not member.is_group)
    groups = tuple(member for member in members if member.is_group)
    unknown: Counter[Absence] = Counter()
    for row in situation.unknown:
        unknown[row.reason] += row.count
    healths = [member.health for member in members]
    if not queue_managers:
        # A store in which nothing was ever seen must not look well.
        healths.append(Health.UNKNOWN)
    return StatusView(
        situation=situation,
        health=worst(healths),
        queue_managers=queue_managers,
        group=groups[0] if groups else None,
        alerts=tuple(worst_first(operational)),
        advice=len(situation.alerts) - len(everything),
        unknown=tuple(sorted(unknown.items(), key=lambda item: (-item[1], item[0].value))),
        explained=explained,
        firing=tuple(worst_first(firing)),
        other_groups=groups[1:],
    )


def silent_since(view: StatusView) -> Mapping[str, int]:
    """The owners of which nothing new has come, and when the last came (ms UTC)."""
    return {member.name: view.situation.now - member.age_ms for member in view.owners if member.stale}


def last_known(view: StatusView) -> Mapping[str, int]:
    """As of when (ms UTC) the alerts of an owner are shown of which nothing new has come, by ``status`` and ``alerts list`` alike.

    When nothing new has come of any, all are shown as of the newest of them.
    """
    silent = silent_since(view)
    if silent and len(silent) == len(view.owners):
        return dict.fromkeys(silent, max(silent.values()))
    return silent


def health_of_object(name: ObjectName, alerts: Iterable[Alert]) -> Health:
    """The worst alert about one object."""
    return worst(health_of(alert.severity) for alert in alerts if alert.key.object == name)


def counts(alerts: Iterable[Alert]) -> tuple[tuple[Severity, int], ...]:
    """How many alerts there are of each severity, the worst first, also where there are none."""
    counted = Counter(alert.severity for alert in alerts)
    return tuple((severity, counted[severity]) for severity in sorted(Severity, reverse=True))


def status_json(view: StatusView) -> dict[str, Any]:
    """The object of ``mqvitals status --json``. ``refused`` is in it while settings or rules cannot be used, ``unstored`` while the agent cannot store."""
    situation = view.situation
    return {
        "at": iso(situation.now),
        "source": situation.origin,
        "group": situation.group,
        "severity": view.health.word,
        "queue_managers": [
            {
                "name": member.name,
                "severity": member.health.word,
                "reachable": member.reachable,
                "age_s": round(member.age_ms / 1000, 3),
                "alerts": {severity.name.lower(): number for severity, number in member.alerts},
            }
            for member in view.queue_managers
        ],
        "groups": [
            {"name": member.name, "severity": member.health.word, "age_s": round(member.age_ms / 1000, 3)}
            for member in view.groups
        ],
        "alerts": [as_json(alert) for alert in view.firing],
        **({"refused": situation.refused} if situation.refused else {}),
        **({"unstored": situation.unstored} if situation.unstored else {}),
    }


def _member(member: Member, situation: Situation, operational: Sequence[Alert], firing: Sequence[Alert]) -> MemberView:
    own = [alert for alert in operational if alert.key.object.owner == member.name]
    age_ms = max(situation.now - member.last_ts, 0)
    stale = age_ms > STALE_INTERVALS * member.interval_ms
    reachable = None if member.is_group else _reachable(member.name, situation)
    # What another owner's trouble brought about counts here, though it is told there.
    health = worst(health_of(alert.severity) for alert in firing if alert.key.object.owner == member.name)
    if stale:
        # Its alerts are of the past; how it is now cannot be told.
        health = Health.UNKNOWN
    elif not member.is_group and reachable is not True:
        # Never reached, or not now: where no alert speaks, that is not health.
        health = max(health, Health.UNKNOWN)
    return MemberView(member.name, member.is_group, health, reachable, age_ms, stale, counts(own))


def _reachable(name: str, situation: Situation) -> bool | None:
    told = situation.current.get(ObjectName(name, "queue_manager"), {}).get("reachable")
    if told is None or isinstance(told.value, Absence | str):
        return None
    return told.value == 1
