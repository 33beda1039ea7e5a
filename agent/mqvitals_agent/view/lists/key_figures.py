"""The key figures of queue managers and structures, each small enough for one cell, in words.

A figure that is older than the newest snapshot shows its own age (``BP3 4 % 41s``); one that is absent shows why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import NamedTuple

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.figure import figure, number, short_age, whole_percent
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.figures.values import Values, number_in, plain_number
from mqvitals_agent.view.status import (
    STALE_INTERVALS,
    Current,
    GroupStatus,
    OwnerData,
    OwnerStatus,
    health_of_object,
)
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName, Outcome
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS, metric

NOT_ASKED = Absence.NOT_ASKED.value
_OWN_KINDS = frozenset({"queue_manager", "agent"})
_OF_OUTCOME = (
    (Outcome.REFUSED, Absence.NOT_AUTHORISED),
    (Outcome.UNREACHABLE, Absence.UNREACHABLE),
    (Outcome.INCOMPLETE, Absence.NO_ANSWER),
    (Outcome.DAMAGED, Absence.NO_ANSWER),
    (Outcome.FAILED, Absence.NO_ANSWER),
    (Outcome.UNKNOWN_COMMAND, Absence.NO_ANSWER),
)
_CHANNEL_STATES = metric("channel", "status").values
_RUNNING, _RETRYING, _STOPPED, _INACTIVE = (
    _CHANNEL_STATES[name] for name in ("RUNNING", "RETRYING", "STOPPED", "INACTIVE")
)


class ExtremeFigure(NamedTuple):
    """The object with the least or greatest value of a metric."""

    name: ObjectName
    latest: CurrentValue


def objects_of_kind(current: Current, owner: str, kind: str) -> dict[ObjectName, Values]:
    """What is known of an owner's objects of a kind."""
    return {name: values for name, values in current.items() if name.owner == owner and name.kind == kind}


def least_free(current: Current, member: OwnerData, now: int) -> str:
    """The buffer pool with the least free: ``BP3 4 %``."""
    return _extreme_text(current, member, now, kind="buffer_pool", name="free_pct", prefix="BP", sign=-1)


def fullest(current: Current, member: OwnerData, now: int, *, aged: bool = True) -> str:
    """The page set with the most used: ``PS4 62 %``; its own age with it unless ``aged`` is false."""
    return _extreme_text(current, member, now, kind="page_set", name="used_pct", prefix="PS", sign=1, aged=aged)


def group_members(current: Current, group: OwnerData, now: int) -> str:
    """The members of a group: ``3 of 4 members active, failed: QM03; Db2: 2, without: QM02``; empty while nothing is
    known of them.
    """
    values = current.get(ObjectName(group.name, "qsg"), {})
    active = values.get("members_active")
    if active is None:
        return ""
    if isinstance(active.value, Absence):
        return f"members: {_reason([active])}"
    failed, without = (_names(values.get(name)) for name in ("failed_members", "members_without_db2"))
    text = f"{plain_number(active)} of {plain_number(values.get('qmgr_count'))} members active"
    text += f", failed: {failed}" if failed else ""
    text += f"; Db2: {plain_number(values.get('db2_active'))}" + (f", without: {without}" if without else "")
    return text + own_age(active, group, now)


def _names(latest: CurrentValue | None) -> str:
    return safe(latest.value) if latest is not None and isinstance(latest.value, str) else ""


def channel_counts(current: Current, member: OwnerData, now: int, alerts: Iterable[Alert] = ()) -> str:
    """Channels by state, and how many have alerts: ``48 run 1 retry ▲1``.

    Inactive channels are not counted.
    """
    states = [
        values["status"] for values in objects_of_kind(current, member.name, "channel").values() if "status" in values
    ]
    if not states:
        return nothing_known(current, member.name, "channel")
    numbers = Counter(each.value for each in states)
    absent = sum(count for value, count in numbers.items() if isinstance(value, Absence))
    if absent == len(states):
        return _reason(states)
    run, retry, stop = numbers[_RUNNING], numbers[_RETRYING], numbers[_STOPPED]
    other = len(states) - absent - run - retry - stop - numbers[_INACTIVE]
    parts = [f"{number(run)} run"]
    parts += [
        f"{number(count)} {word}" for count, word in ((retry, "retry"), (stop, "stop"), (other, "other")) if count
    ]
    parts += [f"? {number(absent)}"] if absent else []
    about: dict[ObjectName, Health] = {}
    for alert in alerts:
        if (alert.scope.owner, alert.scope.kind) == (member.name, "channel"):
            about[alert.scope] = max(about.get(alert.scope, Health.OK), health_of(alert.severity))
    ill = [health for health in about.values() if health >= Health.WARNING]
    parts += [f"{max(ill).glyph}{number(len(ill))}"] if ill else []
    # The newest is as of the last answer; a single channel may have been asked for by name since.
    return " ".join(parts) + own_age(max(states, key=lambda each: each.ts or 0), member, now)


def task_counts(current: Current, member: OwnerData, now: int) -> str:
    """Adapters and dispatchers, started of configured: ``8/8 A 5/5 D``, or that the channel initiator does not run."""
    values = current.get(ObjectName(member.name, "channel_initiator"))
    if not values:
        return nothing_known(current, member.name, "channel_initiator")
    status = values.get("status")
    if status is not None and not isinstance(status.value, Absence):
        word = figure(status.value, metric("channel_initiator", "status"))
        if word != "RUNNING":
            return word + own_age(status, member, now)
    pairs = [
        (plain_number(values.get(f"{kind}_started")), plain_number(values.get(f"{kind}_max")), letter)
        for kind, letter in (("adapters", "A"), ("dispatchers", "D"))
    ]
    latest = max(values.values(), key=lambda each: each.ts or 0)
    if all(started == most == "?" for started, most, _ in pairs):
        return _reason(list(values.values()))
    return " ".join(f"{started}/{most} {letter}" for started, most, letter in pairs) + own_age(latest, member, now)


def full_logs(current: Current, member: OwnerData, now: int) -> str:
    """Active logs that wait to be archived, of all: ``0/8``."""
    values = current.get(ObjectName(member.name, "log"), {})
    full = values.get("full_logs")
    if full is None:
        return nothing_known(current, member.name, "log")
    if isinstance(full.value, Absence):
        return full.value.value
    return (
        f"{plain_number(values.get('full_logs'))}/{plain_number(values.get('total_logs'))}{own_age(full, member, now)}"
    )


def extreme_figure(current: Current, owner: str, kind: str, name: str, sign: int) -> ExtremeFigure | None:
    """The object of a kind whose metric is the greatest (``sign`` 1) or the least (-1); None when none is known."""
    present = [
        (sign * latest.value, ExtremeFigure(object_name, latest))
        for object_name, values in objects_of_kind(current, owner, kind).items()
        if (latest := values.get(name)) is not None and not isinstance(latest.value, Absence | str)
    ]
    return max(present, key=lambda pair: pair[0])[1] if present else None


def reason_of(current: Current, owner: str, kind: str, name: str) -> str:
    """Why no object of a kind has a figure: the most frequent reason, or the outcome of the command that reports
    them."""
    found = [values[name] for values in objects_of_kind(current, owner, kind).values() if name in values]
    return _reason(found) if found else nothing_known(current, owner, kind)


def nothing_known(current: Current, owner: str, kind: str) -> str:
    """Why no object of a kind is known: the outcome of its command, or that it was not asked."""
    poll = KINDS[kind].poll_command
    outcomes = {
        values["outcome"].value
        for name, values in objects_of_kind(current, owner, "agent").items()
        if name.name.partition(" ")[0] == poll and "outcome" in values
    }
    return next((absence.value for outcome, absence in _OF_OUTCOME if outcome.value in outcomes), NOT_ASKED)


def _extreme_text(
    current: Current, member: OwnerData, now: int, *, kind: str, name: str, prefix: str, sign: int, aged: bool = True
) -> str:
    extreme = extreme_figure(current, member.name, kind, name, sign)
    if extreme is None:
        return reason_of(current, member.name, kind, name)
    share = extreme.latest.value
    assert not isinstance(share, Absence | str)
    old = own_age(extreme.latest, member, now) if aged else ""
    return f"{prefix}{safe(extreme.name.name)} {whole_percent(abs(share))}{old}"


def _reason(found: Iterable[CurrentValue]) -> str:
    """Why there is no figure: the most frequent reason."""
    reasons = Counter(each.value.value for each in found if isinstance(each.value, Absence))
    return reasons.most_common(1)[0][0] if reasons else NOT_ASKED


def newest_ts(current: Current, owner: str) -> int | None:
    """When the newest of an owner's figures was reported, ms UTC; the agent's own metrics do not count."""
    times = [
        latest.ts
        for name, values in current.items()
        if name.owner == owner and name.kind not in _OWN_KINDS
        for latest in values.values()
        if latest.ts is not None
    ]
    return max(times, default=None)


def own_age(latest: CurrentValue | None, member: OwnerData, now: int) -> str:
    """The age of a figure that the newest snapshot did not bring."""
    if latest is None or latest.ts is None or member.last_ts - latest.ts < member.interval_ms / 2:
        return ""
    return f" {short_age(now - latest.ts)}"


def as_seen(view: GroupStatus, member: OwnerData) -> OwnerData:
    """The owner as of the newest of its figures, where it has reported nothing for a while.

    So the line has one age, instead of one in every cell.
    """
    seen = newest_ts(view.data.current, member.name)
    if seen is None or seen >= member.last_ts - member.interval_ms / 2:
        return member
    return replace(member, last_ts=seen)


def seen_ts(view: GroupStatus, member: OwnerStatus) -> int | None:
    """When it last reported something, ms UTC; None: never."""
    if member.reachable:
        return view.data.now - member.age_ms
    return newest_ts(view.data.current, member.name)


def groups_of(view: GroupStatus) -> dict[str, OwnerData]:
    """The queue-sharing groups by name: one, but for stores of SMF records of several."""
    return {member.name: member for member in view.data.members if member.is_group}


def structure_name(name: ObjectName, groups: Collection[str]) -> str:
    """A structure's name, with its group's where there are several."""
    return safe(f"{name.owner}/{name.name}" if len(groups) > 1 else name.name)


def worst_and_fullest(view: GroupStatus) -> list[tuple[Health, ObjectName]]:
    """The structures of the groups with their health, the worst first, then the fullest."""
    ranked = sorted(
        (
            (_structure_health(view, group, name, values), share_of_entries(values), name)
            for group in groups_of(view).values()
            for name, values in objects_of_kind(view.data.current, group.name, "cf_structure").items()
        ),
        key=lambda item: (-item[0], -item[1], item[2]),
    )
    return [(health, name) for health, _, name in ranked]


def _structure_health(view: GroupStatus, group: OwnerData, name: ObjectName, values: Values) -> Health:
    """The health by its alerts; without alerts OK only when its figures are present and current."""
    if group.name in view.stale:
        return Health.UNKNOWN
    latest = values.get("entries_pct")
    fresh = (
        latest is not None
        and latest.ts is not None
        and group.last_ts - latest.ts <= STALE_INTERVALS * group.interval_ms
    )
    known = fresh and latest is not None and not isinstance(latest.value, Absence)
    return max(health_of_object(name, view.firing), Health.OK if known else Health.UNKNOWN)


def share_of_entries(values: Values) -> float:
    """How full a structure is; -1 where that is not known."""
    share = number_in(values.get("entries_pct"))
    return -1.0 if share is None else share
