"""What becomes of an alert on its way to receivers: what each stage said, and where it is delivered."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from mqvitals_agent.alerting.decision import DecisionReason
from mqvitals_agent.alerting.labels import Labels
from mqvitals_agent.alerting.routing import Destination, Route
from mqvitals_rules.lifecycle.alert import Alert


class Stage(Enum):
    """The stages, in their order. Those from ``ROUTE`` on are of each receiver by itself."""

    CAUSE = "cause"
    FAMILY = "family"
    MAINTENANCE = "maintenance"
    SILENCE = "silence"
    ACKNOWLEDGED = "acknowledged"
    ROUTE = "route"
    GROUP = "group"
    DEDUP = "dedup"
    REPEAT = "repeat"


class StageResult(NamedTuple):
    """Whether a stage lets an alert pass, and why."""

    stage: Stage
    passes: bool
    text: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a receiver gets of an alert, or why it gets nothing.

    ``key`` and ``labels`` are those of the group with which it is told. ``since`` is when what is to be told happened
    (ms UTC). ``results`` are those of the stages from the route on, up to the first that does not let it pass.
    ``resent``: the receiver is sent all that fires again and again, so groups and the outbox have no part in it.
    ``why``: why it goes to this receiver, where no route leads it there.
    """

    destination: Destination
    key: str
    labels: Labels
    reason: DecisionReason
    since: int
    results: tuple[StageResult, ...] = ()
    resent: bool = False
    why: str = ""

    @property
    def receiver(self) -> str:
        """The receiver's name."""
        return self.destination.receiver

    @property
    def route(self) -> Route:
        """The route by which it goes."""
        return self.destination.route

    @property
    def way(self) -> str:
        """The routes that it took, for people."""
        return self.why or " > ".join(each.path for each in self.destination.way) or "it knows the alert"

    @property
    def is_news(self) -> bool:
        """True when the receiver is to be told something that it does not know, now or with its group."""
        if self.resent:
            return False
        return self.reason is DecisionReason.GROUP_WAITS or (
            self.reason.notifies and self.reason is not DecisionReason.REPEATED
        )


@dataclass(frozen=True, slots=True)
class Disposition:
    """What becomes of an alert (``number`` in the store): results of the stages, and what each receiver gets.

    ``excluded`` is why no receiver is notified while it fires; the results then end with the stage that says so.
    """

    number: int
    alert: Alert
    labels: Labels
    results: tuple[StageResult, ...]
    excluded: DecisionReason | None
    deliveries: tuple[Delivery, ...]
