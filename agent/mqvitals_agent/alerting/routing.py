"""The tree of routes, from which an alert's labels choose receivers, in the way that Alertmanager's users know."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import Final

from mqvitals_agent.alerting.labels import Labels
from mqvitals_config.sections.alerting import ALL_LABELS
from mqvitals_config.sections.matcher import Matcher
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.vocabulary.agent import RECEIVER_KIND


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


class StepOutcome(Enum):
    """What a route did with an alert."""

    ARRIVES = "the alert arrives here"
    LEADS_ON = "it takes the alert on to a route below"
    NO_MATCH = "a matcher does not match"
    NOT_TRIED = "a route before it took the alert, and has no continue"


@dataclass(frozen=True, slots=True)
class Step:
    """A route on the way of an alert. ``way`` are the routes to it, the root first and itself last.

    ``failed`` is the first matcher that does not match, None where all do or where it was not tried.
    """

    way: tuple[Route, ...]
    outcome: StepOutcome
    failed: Matcher | None = None

    @property
    def route(self) -> Route:
        """The route itself."""
        return self.way[-1]


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
    return tuple(
        Destination(each.route, each.way) for each in steps(root, labels) if each.outcome is StepOutcome.ARRIVES
    )


def steps(root: Route, labels: Labels) -> tuple[Step, ...]:
    """Every route that was tried with an alert, those beside them that were not, and why; each before those below it."""
    return tuple(_steps((root,), labels))


def _steps(way: tuple[Route, ...], labels: Labels) -> list[Step]:
    below: list[Step] = []
    taken = ended = False
    for child in way[-1].routes:
        failed = None if ended else next((each for each in child.matchers if not each.matches(labels)), None)
        if ended or failed is not None:
            below.append(Step((*way, child), StepOutcome.NOT_TRIED if ended else StepOutcome.NO_MATCH, failed))
            continue
        below += _steps((*way, child), labels)
        taken = True
        ended = not child.goes_on
    return [Step(way, StepOutcome.LEADS_ON if taken else StepOutcome.ARRIVES), *below]


def receivers_of(root: Route) -> frozenset[str]:
    """The names of the receivers to which a tree leads."""
    return frozenset({root.receiver}.union(*map(receivers_of, root.routes)))


def besides(root: Route, name: str, receivers: Iterable[str]) -> tuple[Destination, ...]:
    """Every receiver but ``name``, for an alert about that one which would otherwise be told to nobody else."""
    return tuple(
        Destination(replace(root, receiver=each, routes=(), min_severity=Severity.INFO), ())
        for each in receivers
        if each != name
    )


def failing_receiver(labels: Labels) -> str:
    """The receiver that an alert is about, by its labels; empty when it is about something else."""
    return labels.get("name", "") if labels.get("kind") == RECEIVER_KIND.name else ""


def besides_words(name: str, receiver: str) -> str:
    """Why an alert about receiver ``name`` goes to another one."""
    return f"receiver '{name}' is failing: told to '{receiver}'"


def group_labels(route: Route, labels: Labels) -> Labels:
    """The labels that the alerts of one notification have in common, by the route's ``group_by``."""
    if ALL_LABELS in route.group_by:
        return dict(sorted(labels.items()))
    return {name: labels[name] for name in sorted(route.group_by) if name in labels}


def group_key(way: Sequence[Route], labels: Labels) -> str:
    """Identifies a group of the last route of ``way``: ``{}/{team="payments"}:{owner="QM01"}``, as Alertmanager's does.

    A route is named by its matchers and by those of the routes above it, so that its groups stay the same when another one is
    added before it. Those beside each other with the same matchers and receiver are told apart by their order.
    """
    names = []
    for above, route in pairwise((None, *way)):
        if route is None or not route.path:
            continue
        alike = () if above is None else tuple(each for each in above.routes if _is_alike(each, route))
        place = alike.index(route) + 1 if route in alike else 1
        names.append(_matchers_name(route) + (f"#{place}" if place > 1 else ""))
    return f"{'/'.join(names)}:{braced(group_labels(way[-1], labels))}"


def _is_alike(one: Route, other: Route) -> bool:
    return one.receiver == other.receiver and _matchers_name(one) == _matchers_name(other)


def _matchers_name(route: Route) -> str:
    return "{" + ", ".join(sorted(map(str, route.matchers))) + "}"


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
