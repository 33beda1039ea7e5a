"""Scenarios of the simulated group, YAML files beside this module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from importlib.resources import files

from mqvitals_agent.errors import MqvitalsError
from mqvitals_agent.simulator.answers.channel import CHANNEL_STATUSES
from mqvitals_agent.simulator.events import Length, ScenarioEvent
from mqvitals_agent.simulator.site import DEFAULT_NAMES, ZONE_MS, SimulatedNames
from mqvitals_agent.simulator.state import QueueState
from mqvitals_config.decoding.decoder import decode

SCENARIOS = (
    "quiet",
    "buffer-pool-thrash",
    "slow-network",
    "structure-filling",
    "partner-down",
    "consumer-gone",
    "channel-stuck",
    "member-lost",
    "trigger-lost",
    "copies-filling",
    "log-suspended",
    "rba-end",
    "long-uow",
    "cluster-repository-lost",
    "dead-letters",
    "client-flood",
    "definition-altered",
    "events-read",
    "busy-morning",
    "ordinary-week",
)

_HOUR = 3_600_000
_DAY = 24 * _HOUR
_HOURS, _HOURS_OF_WEEK, _SATURDAY = 24, 168, 5
WEEK_MS = 7 * _DAY
FOR_WEEKS_MS = 20 * _DAY
"""So long before the beginning came the messages that nobody gets."""
_A_MONDAY = 4 * _DAY
"""5 January 1970."""


class ScenarioError(MqvitalsError):
    """There is no such scenario; the text lists the known ones."""


class IncidentKind(Enum):
    """The effect of an incident on its object, and the meaning of its ``value``."""

    CONSUMER_GONE = "consumer_gone"  # a queue's consumers close it
    JOB_PUTS = "job_puts"  # a job puts to a queue that only jobs use
    JOB_GETS = "job_gets"  # a job gets from one
    GET_INHIBITED = "get_inhibited"  # an operator inhibits gets from a queue, and allows them at the end
    BACKUP = "backup"  # the messages of a structure are backed up: BACKUP CFSTRUCT
    CLIENTS_AWAY = "clients_away"  # the clients of a server-connection channel disconnect
    SLOW_CONSUMER = "slow_consumer"  # they get ``value`` times as much as usual
    MAX_DEPTH = "max_depth"  # an operator alters a queue's MAXDEPTH to ``value``, and back at the end
    BATCH_SIZE = "batch_size"  # an operator alters a sender channel's BATCHSZ to ``value``, and back at the end
    EXPANSION = "expansion"  # a page set gets ``value`` more pages, and keeps them
    ARRIVALS = "arrivals"  # ``value`` times as many messages come
    NETWORK = "network"  # a channel's network time is ``value`` microseconds
    PARTNER_DOWN = "partner_down"  # a channel's partner does not answer
    CHANNEL_STUCK = "channel_stuck"  # a sender channel stays in ``status``; INACTIVE: its trigger is off
    CLIENT_FLOOD = "client_flood"  # ``value`` clients connect to a server-connection channel within two minutes
    CLIENT_LEAK = "client_leak"  # ``value`` clients an hour connect to one and stay
    ARCHIVE_STOPPED = "archive_stopped"  # full logs are not offloaded
    DOWN = "down"  # the queue manager is away
    RESTART = "restart"  # it is stopped and started again
    INITIATOR_DOWN = "initiator_down"  # its channel initiator is stopped and started again
    MEMBER_FAILED = "member_failed"  # it is away, and the group reports that it failed
    DB2_LOST = "db2_lost"  # it has no connection to Db2
    LOG_SUSPENDED = "log_suspended"  # its logging is suspended: all updates wait
    RBA = "rba"  # its log positions are ``value`` bytes further; afterwards it has reset its log
    LONG_UNIT = "long_unit"  # a batch job has a unit of work with log records
    IN_DOUBT = "in_doubt"  # a unit of work of a CICS region is unresolved
    REFUSE = "refuse"  # it refuses the ``command``
    SILENT = "silent"  # it never answers the ``command``
    TRUNCATE = "truncate"  # its answer to the ``command`` stops half way
    DEAD_LETTERS = "dead_letters"  # ``value`` messages for a queue are on the dead-letter queue, for ``reason``
    SLOW = "slow"  # every answer takes ``value`` ms longer
    DATA_SET_ERROR = "data_set_error"  # a queue manager cannot read a shared message data set
    DATA_SET_STOPPED = "data_set_stopped"  # an operator has stopped its connection to one
    DATA_SET_NOT_EXPANDED = "data_set_not_expanded"  # one could not be expanded
    DATA_SET_FAILED = "data_set_failed"  # one has failed, for all queue managers
    CLUSTER_SUSPENDED = "cluster_suspended"  # a queue manager is suspended from its clusters
    REPOSITORY_LOST = "repository_lost"  # it has no full repository any more
    PUBSUB_ERROR = "pubsub_error"  # its publish/subscribe engine has ended in error


@dataclass(frozen=True, slots=True)
class ScenarioIncident:
    """One problem, ``at`` ms after the scenario's beginning, for ``lasts`` ms.

    ``object`` is ``QM01/ORDERS.REQUEST`` (a queue or a channel of a queue manager; ``QM01/4`` a page set), ``PRDQ/APPL1.ORDERS`` (a shared
    queue), ``QM01/APPL2/QM02`` (QM01's connection to QM02's shared message data set), ``PRDQ/APPL2/QM02`` (the data set)
    or ``QM01``; in a file ``*`` before the first stroke stands for each queue manager. It comes ``times`` times, one
    ``every`` so many ms.
    """

    at: Length
    lasts: Length
    what: IncidentKind
    object: str
    value: float = 0.0
    command: str = ""
    status: str = ""
    reason: int = 0
    every: Length = 0
    times: int = 1

    def __post_init__(self) -> None:
        """Raise ValueError for a status that no channel has."""
        if self.what is IncidentKind.CHANNEL_STUCK and self.status not in CHANNEL_STATUSES:
            raise ValueError(f"a channel is stuck in one of {', '.join(CHANNEL_STATUSES)}, not in {self.status!r}")

    def began(self, since_begin: int) -> int | None:
        """When it came last, ms after the scenario's beginning; None while it does not last."""
        if since_begin < self.at:
            return None
        came = self.at
        if self.every:
            came += min((since_begin - self.at) // self.every, self.times - 1) * self.every
        return came if since_begin < came + self.lasts else None

    def beginnings(self) -> Iterator[int]:
        """Each time that it comes, ms after the scenario's beginning."""
        return (self.at + number * self.every for number in range(self.times))


@dataclass(frozen=True, slots=True)
class ScenarioQueue:
    """A private queue that the site has in this scenario only. ``object`` is ``QM01/PAY.IN``.

    ``arrivals`` are messages put a second, ``service`` what its ``readers`` can get. ``trigger`` is its trigger type;
    copies go to ``stream_queue``, another of these queues. An application that ``ends_after`` is started by a trigger and
    ends when the queue was empty for so long. Where only ``jobs`` use it, nobody does but by an incident. ``depth``
    messages have been there for weeks. ``closes``: nobody has it open at night.
    """

    object: str
    arrivals: float = 0.0
    service: float = 0.0
    readers: int = 1
    max_depth: int = 999_999_999
    trigger: str = "NONE"
    initiation_queue: str = ""
    process: str = ""
    backout_queue: str = ""
    stream_queue: str = ""
    must_duplicate: bool = False
    storage_class: str = "APPL"
    message_bytes: int = 1000
    trigger_depth: int = 1
    ends_after: Length = 0
    jobs: bool = False
    closes: bool = False
    get_inhibited: bool = False
    depth: int = 0

    def state(self, altered: int) -> QueueState:
        """The queue as it begins, defined at ``altered``."""
        return QueueState(
            self.object.partition("/")[2],
            storage_class=self.storage_class,
            message_bytes=self.message_bytes,
            max_depth=self.max_depth,
            altered=altered,
            created=altered,
            get_inhibited=self.get_inhibited,
            trigger_depth=self.trigger_depth,
            triggered=self.trigger != "NONE",
            trigger_type=self.trigger,
            initiation_queue=self.initiation_queue,
            process=self.process,
            backout_queue=self.backout_queue,
            stream_queue=self.stream_queue,
            must_duplicate=self.must_duplicate,
        )


@dataclass(frozen=True, slots=True)
class Week:
    """The share of the usual traffic at the beginning of each hour of a working day, of Saturday and of Sunday, in local time.

    Channels without a message for ``disconnect`` ms end, and are started again by their triggers.
    """

    working_day: tuple[float, ...]
    saturday: tuple[float, ...]
    sunday: tuple[float, ...]
    disconnect: Length

    def __post_init__(self) -> None:
        """Raise ValueError for a day that has not 24 hours."""
        if {len(day) for day in (self.working_day, self.saturday, self.sunday)} != {_HOURS}:
            raise ValueError("a day has 24 hours, each with its share of the traffic")

    def share(self, since_monday: int) -> float:
        """The share at a time after Monday 00:00, ms; it changes evenly within an hour."""
        hour, part = divmod(since_monday % WEEK_MS, _HOUR)
        before, after = (self._at(each % _HOURS_OF_WEEK) for each in (hour, hour + 1))
        return before + (after - before) * part / _HOUR

    def _at(self, hour: int) -> float:
        day, hour_of_day = divmod(hour, _HOURS)
        of_day = self.working_day if day < _SATURDAY else self.saturday if day == _SATURDAY else self.sunday
        return of_day[hour_of_day]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A series of incidents that repeats after ``length`` ms. ``log_mb``: the size of each active log, in millions of bytes.

    One with a ``week`` begins on Monday 00:00 local time, whenever it is looked at first. It is simulated in steps of
    ``step`` ms: longer ones for weeks that are to be played in minutes.
    """

    title: str
    length: Length
    incidents: tuple[ScenarioIncident, ...] = ()
    queues: tuple[ScenarioQueue, ...] = ()
    log_mb: float = 150
    events: tuple[ScenarioEvent, ...] = ()
    week: Week | None = None
    step: Length = 1000

    def active(self, since_begin: int) -> Iterator[ScenarioIncident]:
        """The incidents at a time after the beginning."""
        now = since_begin % self.length
        return (incident for incident in self.incidents if incident.began(now) is not None)

    def returns(self, name: str) -> list[int]:
        """When a queue manager comes back after each of its outages, ms after the beginning."""
        outages = (IncidentKind.DOWN, IncidentKind.MEMBER_FAILED, IncidentKind.RESTART)
        return [
            began + each.lasts
            for each in self.incidents
            if each.what in outages and each.object == name
            for began in each.beginnings()
        ]

    def began(self, moment: int) -> int:
        """When it began, as of a moment at which it is looked at first. Both ms since 1970 UTC."""
        return moment if self.week is None else moment - (moment - _A_MONDAY + ZONE_MS) % WEEK_MS

    def of_group(self, names: SimulatedNames) -> Scenario:
        """The same with the objects of a group of these names. What is about queue managers that it has not is left out."""
        return replace(
            self,
            incidents=tuple(
                replace(each, object=name) for each in self.incidents for name in _named(each.object, names)
            ),
            queues=tuple(replace(each, object=name) for each in self.queues for name in _named(each.object, names)),
            events=tuple(replace(each, object=name) for each in self.events for name in _named(each.object, names)),
        )


_NUMBERED = re.compile(r"\bQM(\d\d)\b")


def _named(name: str, names: SimulatedNames) -> tuple[str, ...]:
    """An object of a scenario under the names of a group: one for each queue manager for ``*``, none where the group lacks one."""
    if name.startswith("*/"):
        return tuple(f"{member}{name[1:]}" for member in names.members)
    if any(int(number) > names.count for number in _NUMBERED.findall(name)):
        return ()
    renamed = _NUMBERED.sub(lambda match: names.member(int(match[1])), name)
    owner, stroke, rest = renamed.partition("/")
    return (f"{names.group if owner == DEFAULT_NAMES.group else owner}{stroke}{rest}",)


def load_scenario(name: str, names: SimulatedNames = DEFAULT_NAMES) -> Scenario:
    """The scenario of that name, for a group of these ``names``.

    Raises ScenarioError when there is none, ConfigError for a file with mistakes.
    """
    if name not in SCENARIOS:
        raise ScenarioError(f"there is no scenario {name!r}; there are {', '.join(SCENARIOS)}")
    path = f"{name}.yaml"
    text = files("mqvitals_agent.simulator").joinpath("scenarios", path).read_text("utf-8")
    return decode(path, text, Scenario).of_group(names)
