"""The tree of routes, from which an alert's labels choose receivers, in the way that Alertmanager's users know."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mqvitals_agent.alerting.labels import Labels
from mqvitals_config.alerting import ALL_LABELS
from mqvitals_config.matcher import Matcher, match
from mqvitals_rules.lifecycle.alert import Severity


@dataclass(frozen=True, slots=True)
class Route:
    """A node of the tree, with what it inherits already filled in.

    ``path`` names it for people: ``route``, ``route.routes[2]``. ``wait``, ``interval`` and ``repeat`` are ms: from an
    alert's start to the first notification of its group; between notifications of a group in which something changed;
    between repetitions while nothing changes (None: never). ``muted`` and ``active`` name time intervals: it notifies
    outside all of the former and, where there are some, inside one of the latter.
    """

    path: str
    receiver: str = ""
    matchers: tuple[Matcher, ...] = ()
    group_by: tuple[str, ...] = ()
    wait: int = 30_000
    interval: int = 300_000
    repeat: int | None = 14_400_000
    min_severity: Severity = Severity.WARNING
    muted: tuple[str, ...] = ()
    active: tuple[str, ...] = ()
    goes_on: bool = False
    routes: tuple[Route, ...] = ()


@dataclass(frozen=True, slots=True)
class Destination:
    """A route at which an alert arrives. ``way`` are the routes that it took, the root first."""

    route: Route
    way: tuple[Route, ...]

    @property
    def receiver(self) -> str:
        """The receiver's name."""
        return self.route.receiver


def destinations(root: Route, labels: Labels) -> tuple[Destination, ...]:
    """Where an alert with these labels arrives, in the order of the tree.

    At each node the first route below whose matchers all match takes it; with ``continue`` the next ones are tried too.
    Where none does, the node itself takes it. Severity and time are decided about later: they do not change the way.
    """
    return tuple(_arrivals(root, labels, ()))


def _arrivals(node: Route, labels: Labels, way: tuple[Route, ...]) -> Iterator[Destination]:
    way = (*way, node)
    taken = False
    for child in node.routes:
        if match(child.matchers, labels):
            taken = True
            yield from _arrivals(child, labels, way)
            if not child.goes_on:
                return
    if not taken:
        yield Destination(node, way)


def group_labels(route: Route, labels: Labels) -> Labels:
    """The labels that the alerts of one notification have in common, by the route's ``group_by``."""
    if ALL_LABELS in route.group_by:
        return dict(sorted(labels.items()))
    return {name: labels[name] for name in sorted(route.group_by) if name in labels}


def group_key(route: Route, labels: Labels) -> str:
    """Identifies a group: ``route.routes[1]:{owner="QM01"}``. A route that stays keeps its groups across restarts."""
    return f"{route.path}:{braced(group_labels(route, labels))}"


def braced(labels: Mapping[str, str]) -> str:
    """``{kind="queue", owner="QM01"}``."""
    return "{" + ", ".join(f"{name}={json.dumps(value)}" for name, value in sorted(labels.items())) + "}"


def every_receiver(names: Sequence[str], least: Mapping[str, Severity]) -> Route:
    """The tree of a site that has none: every receiver gets every alert that is severe enough for it (``least``)."""
    children = tuple(
        Route(
            f"route.routes[{index}]",
            name,
            group_by=DEFAULT_GROUP_BY,
            min_severity=least.get(name, Severity.WARNING),
            goes_on=True,
        )
        for index, name in enumerate(names)
    )
    return Route("route", names[0] if names else "", group_by=DEFAULT_GROUP_BY, routes=children)


DEFAULT_GROUP_BY: Final = ("group", "owner")
"""One notification for what befalls a queue manager, or what belongs to the whole group."""
