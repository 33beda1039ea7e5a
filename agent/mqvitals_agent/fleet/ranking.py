"""The order of the groups of a fleet, each with the reason for its place; two agents of one group are one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from mqvitals_agent.fleet.summary import GroupSummary, short_source
from mqvitals_agent.text.figure import counted
from mqvitals_agent.text.severity import Health
from mqvitals_rules.lifecycle.alert import Severity

ACTIVE = "active"
TWO_ACTIVE = "two agents say that they are active: both poll, and both notify"
NONE_ACTIVE = "no agent is active: nothing is polled"


class RankedGroup(NamedTuple):
    """A group and the reason for its place, a clause such as ``2 critical alerts, 1 not acknowledged``."""

    group: GroupSummary
    reason: str


def ranked(groups: Iterable[GroupSummary]) -> tuple[RankedGroup, ...]:
    """The groups, two agents of one group as one, the worst first.

    By health; of these with the same one first where critical alerts are new, then by numbers of critical and of warning
    alerts, of unknown groups by what they were when they were read last, and by name.
    """
    found = merged(groups)
    names = Counter(each.name for each in found)
    # Groups that happen to have one name are told apart by where they are read.
    told = (
        replace(each, name=f"{each.name} {short_source(each.source)}") if names[each.name] > 1 else each
        for each in found
    )
    return tuple(RankedGroup(each, _reason(each)) for each in sorted(told, key=_place))


def _place(group: GroupSummary) -> tuple[int, int, int, int, int, str, str]:
    was = -1 if group.last_health is None else int(group.last_health)
    return (
        -group.health,
        -was if group.health is Health.UNKNOWN else 0,
        -group.new_critical,
        -(group.count(Severity.CRITICAL) or 0),
        -(group.count(Severity.WARNING) or 0),
        group.name,
        group.key,
    )


def _reason(group: GroupSummary) -> str:
    if group.problem:
        was = "" if group.last_health is None else f"; it was {group.last_health.name}"
        return f"it cannot be read{was}"
    if group.read_at is None:
        return "it was not read yet"
    if group.health >= Health.WARNING:
        severity = Severity.CRITICAL if group.health is Health.CRITICAL else Severity.WARNING
        word = severity.name.lower()
        number = group.count(severity)
        if not number:
            # A queue manager has this severity by an alert that another one explains.
            return f"an object is {word}"
        new = group.new_critical if severity is Severity.CRITICAL else 0
        told = f", {f'{new:,} ' if new < number else ''}not acknowledged" if new else ""
        return f"{counted(number, f'{word} alert')}{told}"
    if group.health is Health.UNKNOWN:
        return _unknown(group)
    return "nothing is wrong" if group.health is Health.OK else "nothing is wrong; there is information"


def _unknown(group: GroupSummary) -> str:
    members = group.queue_managers
    unknown = sum(each.health is Health.UNKNOWN for each in members)
    if group.past:
        return "it is of the past"
    if not members:
        return "no queue manager has reported"
    if unknown:
        return f"{unknown:,} of {counted(len(members), 'queue manager')} unknown"
    silent = next((each for each in group.agents if each.problem), None)
    return "its state is not known" if silent is None else "one of its agents cannot be read"


def merged(groups: Iterable[GroupSummary]) -> tuple[GroupSummary, ...]:
    """The groups in their order, those of which two agents were asked as one that names both.

    Groups are the same when they have one name, and one of them says that there is another agent. Where neither does, they are
    two groups that happen to have one name.
    """
    families: list[list[GroupSummary]] = []
    for group in groups:
        family = next((each for each in families if any(_same(group, other) for other in each)), None)
        if family is None:
            families.append([group])
        else:
            family.append(group)
    return tuple(each for family in families for each in _merged(family))


def _same(group: GroupSummary, other: GroupSummary) -> bool:
    return group.name == other.name or bool(group.group and group.group == other.group)


def _merged(family: Sequence[GroupSummary]) -> Sequence[GroupSummary]:
    """What is one group, and the others by themselves."""
    pair = [each for each in family if each.role or each.problem]
    if len(pair) < 2 or not any(each.role for each in pair):
        return family
    return [_one(pair), *(each for each in family if each not in pair)]


def _one(pair: Sequence[GroupSummary]) -> GroupSummary:
    """One group of what its agents say: as the active one says it, else the one with the newest data."""
    lead, *others = sorted(
        pair, key=lambda each: (bool(each.problem), each.role != ACTIVE, each.age_ms is None, each.age_ms or 0)
    )
    health, notes = lead.health, list(lead.notes)
    active = sum(each.role == ACTIVE and not each.problem for each in pair)
    if active > 1:
        notes.append(TWO_ACTIVE)
        health = max(health, Health.UNKNOWN, *(each.health for each in others))
    elif not active:
        notes.append(NONE_ACTIVE)
        health = Health.UNKNOWN
    if any(each.problem for each in others):
        # What watches the group is not as it should be: it is not OK.
        health = max(health, Health.UNKNOWN)
    return replace(
        lead,
        health=health,
        notes=tuple(notes),
        agents=tuple(agent for each in (lead, *others) for agent in each.agents),
    )
