"""When a group of alerts is notified: a machine of three times, with the clock as a parameter."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from mqvitals_agent.alerting.labels import Labels
from mqvitals_agent.alerting.routing import Route
from mqvitals_rules.lifecycle.alert import Severity


@dataclass(frozen=True, slots=True)
class AlertGroup:
    """The state of a group at one receiver, which the store keeps. Times are ms UTC.

    ``labels`` are what its alerts have in common by the route.
    ``waiting`` is since when something is to be told, ``urgent`` since when something critical is; None: nothing.
    ``told`` is the last notification; None: there was none, or all that it was about has ended.
    """

    receiver: str
    key: str
    waiting: int | None = None
    urgent: int | None = None
    told: int | None = None
    labels: Labels = field(default_factory=dict)

    def as_of(self, now: int) -> AlertGroup:
        """With no time after ``now``: a clock that was set back since must not delay anything."""
        times = [None if ts is None else min(ts, now) for ts in (self.waiting, self.urgent, self.told)]
        return replace(self, waiting=times[0], urgent=times[1], told=times[2])

    def with_news(self, now: int, worst: Severity, *, firing: bool) -> AlertGroup:
        """With something to tell since ``now``; ``worst`` is the worst severity of what is told, if it is ``firing``."""
        critical = firing and worst is Severity.CRITICAL
        return replace(
            self,
            waiting=now if self.waiting is None else min(now, self.waiting),
            urgent=(now if self.urgent is None else min(now, self.urgent)) if critical else self.urgent,
        )

    def without_news(self) -> AlertGroup:
        """Nothing is to be told any more: what waited has ended, or someone said that it has it."""
        return replace(self, waiting=None, urgent=None)

    def notified(self, now: int) -> AlertGroup:
        """After a notification at ``now``."""
        return replace(self, waiting=None, urgent=None, told=now)


def due(group: AlertGroup, route: Route) -> int | None:
    """When the group is to be notified next (ms UTC); None while nothing is to be told.

    News wait ``wait`` in a group that was not told anything yet, and at least ``interval`` since the last notification in
    another, so that one fault gives few notifications. What is critical waits no longer than ``wait`` in any group.
    """
    times = []
    if group.waiting is not None:
        first = group.waiting + route.wait
        times.append(first if group.told is None else max(first, group.told + route.interval))
    if group.urgent is not None:
        times.append(group.urgent + route.wait)
    return min(times, default=None)


def repeats_at(group: AlertGroup, route: Route) -> int | None:
    """When what still fires is told again (ms UTC); None: never, or nothing was told."""
    return None if group.told is None or route.repeat is None else group.told + route.repeat
