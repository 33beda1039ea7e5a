"""Scenarios: what befalls a simulated group and when, as YAML files beside this module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from importlib.resources import files
from typing import Annotated

from mqvitals_config.decoder import decode
from mqvitals_config.scalars import DURATION_FORM, parse_duration
from mqvitals_config.schema import Convert

SCENARIOS = (
    "quiet",
    "buffer-pool-thrash",
    "slow-network",
    "structure-filling",
    "partner-down",
    "consumer-gone",
    "busy-morning",
)

Length = Annotated[int, Convert(parse_duration, DURATION_FORM, raw=True)]
"""A duration, ms."""


class ScenarioError(Exception):
    """There is no such scenario; the text lists those there are."""


class What(Enum):
    """What an incident does to its object, and what ``value`` then means."""

    CONSUMER_GONE = "consumer_gone"  # a queue's consumers close it
    SLOW_CONSUMER = "slow_consumer"  # they get ``value`` times as much as usual
    ARRIVALS = "arrivals"  # ``value`` times as many messages come
    NETWORK = "network"  # a channel's network time is ``value`` microseconds
    PARTNER_DOWN = "partner_down"  # a channel's partner does not answer
    ARCHIVE_STOPPED = "archive_stopped"  # full logs are not offloaded
    DOWN = "down"  # the queue manager is away
    REFUSE = "refuse"  # it refuses the ``command``
    SILENT = "silent"  # it never answers the ``command``
    TRUNCATE = "truncate"  # its answer to the ``command`` stops half way
    SLOW = "slow"  # every answer takes ``value`` ms longer


@dataclass(frozen=True, slots=True)
class Incident:
    """One trouble, ``at`` so long after the scenario's beginning and ``lasts`` so long (ms).

    ``object`` is ``QM01/ORDERS.REQUEST`` (a queue or a channel of a queue manager), ``PRDQ/APPL1.ORDERS`` (a shared
    queue) or ``QM01``.
    """

    at: Length
    lasts: Length
    what: What
    object: str
    value: float = 0.0
    command: str = ""

    def active(self, since_begin: int) -> bool:
        """True while it goes on."""
        return self.at <= since_begin < self.at + self.lasts


@dataclass(frozen=True, slots=True)
class Scenario:
    """A course of events that begins anew after ``length`` (ms)."""

    title: str
    length: Length
    incidents: tuple[Incident, ...] = ()

    def active(self, since_begin: int) -> Iterator[Incident]:
        """The incidents that go on so long after the beginning."""
        return (incident for incident in self.incidents if incident.active(since_begin % self.length))


def load_scenario(name: str) -> Scenario:
    """The scenario of that name. Raises ScenarioError when there is none, ConfigError for a file with mistakes."""
    if name not in SCENARIOS:
        raise ScenarioError(f"there is no scenario {name!r}; there are {', '.join(SCENARIOS)}")
    path = f"{name}.yaml"
    text = files("mqvitals_agent.simulator").joinpath("scenarios", path).read_text("utf-8")
    return decode(path, text, Scenario)
