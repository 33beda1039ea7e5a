"""What is to be sent now: of what the pipeline decided about each alert, the groups that are due, and when the next one is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mqvitals_agent.alerting.decision import DecisionReason
from mqvitals_agent.alerting.disposition import Delivery, Disposition
from mqvitals_agent.alerting.grouping import AlertGroup, due, repeats_at
from mqvitals_rules.lifecycle.alert import AlertState

GroupId = tuple[str, str]
"""(receiver, key of the group)."""


@dataclass(frozen=True, slots=True)
class DueGroup:
    """A group that is notified now, and the alerts that are told. ``repeated``: nothing has changed since the last time."""

    receiver: str
    key: str
    labels: Mapping[str, str]
    told: tuple[Disposition, ...]
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class NotificationPlan:
    """The groups that are notified now, the state of all groups after that, and when to look again.

    ``next`` is ms UTC; None: not before something changes.
    """

    due: tuple[DueGroup, ...]
    groups: Mapping[GroupId, AlertGroup]
    next: int | None


def plan_notifications(
    dispositions: Iterable[Disposition], groups: Mapping[GroupId, AlertGroup], now: int
) -> NotificationPlan:
    """What is sent at ``now`` (ms UTC). ``dispositions`` are those of all alerts that fire, or whose end is to be told.

    A group that nothing fires in and that has nothing to tell is forgotten: what begins then waits as in a new one.
    """
    members: dict[GroupId, list[tuple[Disposition, Delivery]]] = {}
    for each in dispositions:
        for delivery in each.deliveries:
            if delivery.resent:
                continue
            members.setdefault((delivery.receiver, delivery.key), []).append((each, delivery))
    found: list[DueGroup] = []
    after: dict[GroupId, AlertGroup] = {}
    times: list[int] = []
    for name, alerts in members.items():
        state = groups.get(name, AlertGroup(*name, labels=alerts[0][1].labels)).as_of(now)
        route = alerts[0][1].route
        state = _with_news(state, alerts)
        at = due(state, route)
        repeat = repeats_at(state, route)
        told: Sequence[Disposition] = ()
        if at is not None and at <= now:
            told = [each for each, delivery in alerts if delivery.is_news]
            found.append(DueGroup(*name, state.labels, tuple(told)))
            state = state.notified(now)
        elif at is None:
            told = [each for each, delivery in alerts if delivery.reason is DecisionReason.REPEATED]
            if told:
                found.append(DueGroup(*name, state.labels, tuple(told), repeated=True))
                state = state.notified(now)
            elif repeat is not None and repeat > now:
                times.append(repeat)
        else:
            times.append(at)
        fires = any(each.alert.state is AlertState.FIRING for each, _ in alerts)
        if told and fires and (repeat := repeats_at(state, route)) is not None:
            times.append(repeat)
        if not fires and state.waiting is None:
            # All that it was about has ended, and is told.
            state = replace(state, told=None)
        if (state.waiting, state.urgent, state.told) != (None, None, None):
            after[name] = state
    return NotificationPlan(tuple(found), after, min(times, default=None))


def _with_news(state: AlertGroup, alerts: Sequence[tuple[Disposition, Delivery]]) -> AlertGroup:
    news = [(each.alert, delivery) for each, delivery in alerts if delivery.is_news]
    if not news:
        return state.without_news()
    for alert, delivery in news:
        state = state.with_news(delivery.since, alert.severity, firing=alert.state is AlertState.FIRING)
    return state
