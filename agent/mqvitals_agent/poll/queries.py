"""What is asked of queue managers and when: the probes, the intervals, and each query as a request in bytes.

Lengths are ms; moments are those of the base interval's grid, ms of elapsed time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from mqvitals_agent.connection.connection import BROWSE_DEAD_LETTERS, Query
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer_filter, string_filter
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.pcf.names import command_name
from mqvitals_agent.poll.columns import metric_parameter
from mqvitals_agent.poll.command_form import command_form
from mqvitals_agent.poll.kinds import (
    channel,
    cluster,
    dead_letters,
    log,
    publish_subscribe,
    qsg,
    queue,
    queue_manager,
    statistics,
    storage,
    units,
)
from mqvitals_agent.poll.probe import Probe, QueryOptions
from mqvitals_config.decoding.problem import LocatedText, Problem, did_you_mean
from mqvitals_config.sections.collection import PollingSettings, parse_filter
from mqvitals_rules.vocabulary.dead_letter import DEAD_LETTERS
from mqvitals_rules.vocabulary.metric import ONLY_ZOS, Kind, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

BASE_INTERVAL_MS = 30_000
"""The base interval that ``DEFAULT_INTERVALS_MS`` belongs to."""

USAGE_FLOOR_MS = 60_000
"""DISPLAY USAGE makes a queue manager look at all its page sets, DISPLAY CONN at all its threads: never more often than
this against a real one."""

USAGE = "INQUIRE_USAGE"
DATA_SETS = "INQUIRE_USAGE_SMDS"
"""The part of it about shared message data sets, which the one about page sets and pools leaves out. Their rules are
evaluated when the answer about their state comes (``SMDS_STATE``): it is sent as often as that query."""
POSITIONS = "INQUIRE_USAGE_DATASET"
"""The part of it about positions in the log that are still needed."""
UNITS = "INQUIRE_CONNECTION"
"""Only connections that have a unit of work, but the queue manager looks at all of its threads."""
BACKUP = "INQUIRE_CF_STRUC_STATUS_BACKUP"
CONNECTIONS = "INQUIRE_CF_STRUC_STATUS_CONNECT"
SMDS_STATE = "INQUIRE_CF_STRUC_STATUS_SMDS"
"""Other parts of INQUIRE_CF_STRUC_STATUS: when structures were backed up, who is connected, how the data sets are."""
CLIENTS = "INQUIRE_CHANNEL_STATUS_SVRCONN"
"""The half of INQUIRE_CHANNEL_STATUS about server connections, with few attributes: there may be ten thousand."""
CHANNEL_INITIATOR = "INQUIRE_CHANNEL_INIT"
CLUSTER = "INQUIRE_CLUSTER_Q_MGR"
"""One reply for each queue manager and channel that the cluster cache knows, which can be many."""
STATISTICS = "STATISTICS"
"""No command, but taking messages from the statistics queue of a distributed queue manager."""

DEFAULT_INTERVALS_MS: Mapping[str, int] = {
    "INQUIRE_Q_MGR": 300_000,
    "INQUIRE_Q_MGR_STATUS": 60_000,
    "INQUIRE_STG_CLASS": 900_000,
    "INQUIRE_CF_STRUC": 900_000,
    "INQUIRE_SMDS": 900_000,
    "INQUIRE_CHANNEL": 900_000,
    "INQUIRE_Q": 900_000,
    "INQUIRE_CHANNEL_STATUS": 30_000,
    "INQUIRE_Q_STATUS": 30_000,
    CHANNEL_INITIATOR: 30_000,
    CLIENTS: 60_000,
    "INQUIRE_LOG": 30_000,
    "INQUIRE_QSG": 60_000,
    "INQUIRE_CF_STRUC_STATUS": 60_000,
    USAGE: 60_000,
    DATA_SETS: 300_000,
    POSITIONS: 300_000,
    UNITS: 300_000,
    "INQUIRE_SMDSCONN": 60_000,
    BACKUP: 300_000,
    CONNECTIONS: 300_000,
    SMDS_STATE: 300_000,
    CLUSTER: 300_000,
    "INQUIRE_PUBSUB_STATUS": 300_000,
    "INQUIRE_SUBSCRIPTION": 3_600_000,
    "INQUIRE_SECURITY": 3_600_000,
    "INQUIRE_SYSTEM": 3_600_000,
    "INQUIRE_ARCHIVE": 3_600_000,
    STATISTICS: 60_000,
    DEAD_LETTERS: 300_000,
}
"""The queries in the order in which they are sent, definitions first, with intervals at the usual base interval."""

MANY_REPLIES: Mapping[str, tuple[int, int]] = {CLUSTER: (500, 3)}
"""Query -> the number of replies from which it is sent less often, and by which factor."""

_TOO_LONG = 10
"""An answer that takes more than its interval's tenth part is asked for half as often."""
_QUICK = 20
"""One that takes less than the twentieth part would not be too long at twice the pace."""
_QUICK_ANSWERS = 3
_SILENT_DOUBLED = 2
_LONGEST_MS = 3_600_000
_MOST_DOUBLED = 16


def configured_ms(
    question: str, base_ms: int, intervals: Mapping[str, int] | None = None, usage_floor_ms: int = USAGE_FLOOR_MS
) -> int:
    """How often a question is asked unless its answers take long.

    ``intervals`` are those that the site sets itself. Otherwise a shorter base interval shortens all in proportion, and
    a longer one lengthens those that are shorter than it.
    """
    own = (intervals or {}).get(question)
    interval = (
        max(base_ms, DEFAULT_INTERVALS_MS[question] * min(base_ms, BASE_INTERVAL_MS) // BASE_INTERVAL_MS)
        if own is None
        else own
    )
    return max(interval, usage_floor_ms) if question in _COSTLY else interval


def retry_ms(question: str, base_ms: int, unanswered: int, usage_floor_ms: int = USAGE_FLOOR_MS) -> int:
    """How long after it was sent a query is sent again that got no answer so many times in a row, if that is sooner
    than it is due.

    Twice the base interval, then four times and so on: a queue manager that answers again is found out about within
    the time that it was silent, also by what is asked once an hour.
    """
    wait = base_ms << min(unanswered, _MOST_DOUBLED)
    return max(wait, usage_floor_ms) if question in _COSTLY else wait


def is_due(moment: int, asked: int | None, interval_ms: int) -> bool:
    """Whether a query last sent at ``asked`` (None: never) is due at this moment of the grid."""
    return asked is None or moment - asked >= interval_ms


class IntervalStretch(NamedTuple):
    """How many times an interval was doubled, and how many quick answers came since it last changed."""

    doubled: int = 0
    quick: int = 0

    def of(self, configured: int) -> int:
        """The interval in force, ms."""
        return configured << self.doubled


def slowdown(question: str, replies: int) -> int:
    """The factor of a query's interval after an answer with so many replies."""
    many, factor = MANY_REPLIES.get(question, (0, 1))
    return factor if many and replies >= many else 1


def stretched_interval(
    before: IntervalStretch, configured: int, elapsed_ms: int, *, silent: bool = False
) -> tuple[IntervalStretch, str]:
    """What an answer's time makes of the interval, and why; the reason is empty when nothing changes.

    ``silent``: no answer came. How long one takes is not known then, so the interval grows to four times at most.
    """
    interval = before.of(configured)
    if elapsed_ms * _TOO_LONG > interval:
        full = 2 * interval > max(_LONGEST_MS, configured) or (silent and before.doubled >= _SILENT_DOUBLED)
        if full:
            return IntervalStretch(before.doubled), ""
        what = "no answer came within" if silent else "the answer took"
        return (
            IntervalStretch(before.doubled + 1),
            f"{what} {_seconds(elapsed_ms)}, more than a tenth of the interval: asked every {_seconds(2 * interval)}",
        )
    if not before.doubled or silent or elapsed_ms * _QUICK >= interval:
        return IntervalStretch(before.doubled), ""
    if before.quick + 1 < _QUICK_ANSWERS:
        return IntervalStretch(before.doubled, before.quick + 1), ""
    return IntervalStretch(before.doubled - 1), f"the answers come quickly again: asked every {_seconds(interval // 2)}"


def _seconds(ms: int) -> str:
    return f"{ms / 1000:g} s"


CLIENTS_A_MINUTE = 2_500
"""So many replies about server connections a minute, at most: each costs the queue manager a message."""


def clients_interval_ms(configured: int, channels: int) -> int:
    """How often server connections are asked for when so many channels have a status: doubled while it is too often."""
    interval = configured
    while channels * 60_000 > CLIENTS_A_MINUTE * interval and 2 * interval <= _LONGEST_MS:
        interval *= 2
    return interval


PROBES: Mapping[int, Probe] = {
    probe.command: probe
    for kind in (queue_manager, channel, queue, qsg, storage, log, units, cluster, publish_subscribe)
    for probe in kind.PROBES
}
"""All probes by the number of their command.

A kind of object has one module: what is asked of it, and how answers are read.
"""


GROUP_QUERIES = frozenset(
    {"INQUIRE_CF_STRUC", "INQUIRE_SMDS", "INQUIRE_QSG", "INQUIRE_CF_STRUC_STATUS", BACKUP, CONNECTIONS, SMDS_STATE}
)
"""Questions about the whole group: one member's answer is enough."""

DISTRIBUTED_QUERIES = frozenset({"INQUIRE_Q_MGR_STATUS", STATISTICS})
"""Questions that only distributed queue managers can answer."""

_OF_USAGE = frozenset({USAGE, DATA_SETS, POSITIONS})
_COSTLY = _OF_USAGE | {UNITS}

_OPERATORS = {
    "LT": mq.MQCFOP_LESS,
    "GT": mq.MQCFOP_GREATER,
    "EQ": mq.MQCFOP_EQUAL,
    "NE": mq.MQCFOP_NOT_EQUAL,
    "LE": mq.MQCFOP_NOT_GREATER,
    "GE": mq.MQCFOP_NOT_LESS,
    "LK": mq.MQCFOP_LIKE,
    "NL": mq.MQCFOP_NOT_LIKE,
}

_COMMANDS = {name: number for number in PROBES if (name := command_name(number))} | {
    BACKUP: mq.MQCMD_INQUIRE_CF_STRUC_STATUS,
    CONNECTIONS: mq.MQCMD_INQUIRE_CF_STRUC_STATUS,
    SMDS_STATE: mq.MQCMD_INQUIRE_CF_STRUC_STATUS,
    DATA_SETS: mq.MQCMD_INQUIRE_USAGE,
    POSITIONS: mq.MQCMD_INQUIRE_USAGE,
    CLIENTS: mq.MQCMD_INQUIRE_CHANNEL_STATUS,
}

_GROUP_COMMANDS = frozenset(_COMMANDS[question] for question in GROUP_QUERIES)


def for_any_member(command: int, scope: str) -> bool:
    """Whether any member of the group can be sent a command: it is about the group, or about a member that is named."""
    return scope != "*" if scope else command in _GROUP_COMMANDS


LIST_REFUSED = frozenset({mq.MQRCCF_CFIN_PARM_ID_ERROR, mq.MQRCCF_CFIL_PARM_ID_ERROR, mq.MQRCCF_PARM_VALUE_ERROR})
"""Reasons of an answer when the list of attributes has one that the queue manager's level does not know."""
FILTER_REFUSED = frozenset({mq.MQRCCF_CFIF_PARM_ID_ERROR, mq.MQRCCF_FILTER_ERROR})
"""Reasons when channels cannot be selected by their type."""

_PARTS = {
    BACKUP: mq.MQIACF_CF_STATUS_BACKUP,
    CONNECTIONS: mq.MQIACF_CF_STATUS_CONNECT,
    SMDS_STATE: mq.MQIACF_CF_STATUS_SMDS,
    DATA_SETS: mq.MQIACF_USAGE_SMDS,
    POSITIONS: mq.MQIACF_USAGE_DATA_SET,
}


@dataclass(frozen=True, slots=True)
class ScheduledQuery(Query):
    """A query that is sent regularly: the name of its interval in ``DEFAULT_INTERVALS_MS``.

    ``scope`` is the member that it is about (CMDSCOPE), when that is asked through another; else empty.
    ``without_list`` is the same for all attributes, ``without_half`` the same for all channels; None: it is so already.
    """

    question: str = ""
    scope: str = ""
    without_list: ScheduledQuery | None = field(default=None, compare=False, repr=False)
    without_half: ScheduledQuery | None = field(default=None, compare=False, repr=False)

    def plainer(self, reasons: Collection[int]) -> ScheduledQuery | None:
        """The query to send instead when an answer failed for one of these reasons; None when it is not at fault."""
        if self.without_list is not None and not LIST_REFUSED.isdisjoint(reasons):
            return self.without_list
        return None if FILTER_REFUSED.isdisjoint(reasons) else self.without_half

    @property
    def of_group(self) -> bool:
        """True when any member may be asked: about the whole group, or about one that has no connection of its own."""
        return self.question in GROUP_QUERIES or bool(self.scope)

    @property
    def form(self) -> str:
        """The name of its readings of kind ``agent``."""
        return command_form(self.command, self.scope)


def distributed_queries(polling: PollingSettings, statistics_queue: str = "") -> tuple[ScheduledQuery, ...]:
    """Everything to ask of a distributed queue manager by these settings, definitions first.

    It is no member of a group, and its objects have no disposition. ``statistics_queue`` is where statistics messages
    are taken from, empty: nowhere. Raises ValueError for what ``polling_problems`` returns.
    """
    found = []
    for question in DEFAULT_INTERVALS_MS:
        if question == STATISTICS:
            if statistics_queue:
                found.append(ScheduledQuery(statistics.COMMAND, statistics.ask(statistics_queue), question=question))
        elif question == DEAD_LETTERS:
            found += _dead_letters(polling)
        elif question not in ONLY_ZOS | GROUP_QUERIES | _OF_USAGE:
            found += (
                _scheduled(question, replace(each, disposition=None, listed=False))
                for each in _questions(question, polling)
            )
    return tuple(found)


def zos_queries(polling: PollingSettings, others: Sequence[str] = ()) -> tuple[ScheduledQuery, ...]:
    """Everything to ask of queue managers on z/OS by these settings, definitions first.

    ``others`` are members of the group without a connection of their own: what is asked of each queue manager is
    asked about each of them too, with its name as the command scope. Raises ValueError for what ``polling_problems``
    returns.
    """
    found: list[ScheduledQuery] = []
    for question in DEFAULT_INTERVALS_MS:
        if question in DISTRIBUTED_QUERIES or (question in _OF_USAGE and not polling.usage):
            continue
        if question == DEAD_LETTERS:
            found += _dead_letters(polling)
            continue
        scopes = ("",) if question in GROUP_QUERIES else ("", *others)
        for each in _questions(question, polling):
            found += (_scheduled(question, replace(each, scope=scope)) for scope in scopes)
    return tuple(found)


def _dead_letters(polling: PollingSettings) -> tuple[ScheduledQuery, ...]:
    """The look at a queue manager's own dead-letter queue, where the settings want it."""
    if not polling.dead_letters:
        return ()
    return (ScheduledQuery(BROWSE_DEAD_LETTERS, dead_letters.REQUEST, question=DEAD_LETTERS),)


def _scheduled(question: str, options: QueryOptions) -> ScheduledQuery:
    query = PROBES[_COMMANDS[question]].query(options)
    return ScheduledQuery(
        query.command,
        query.request,
        query.parameters,
        query.key,
        question,
        options.scope,
        _scheduled(question, replace(options, listed=False)) if options.listed else None,
        None if options.clients is None else _scheduled(question, replace(options, clients=None)),
    )


def _questions(question: str, polling: PollingSettings) -> Iterator[QueryOptions]:
    if question in ("INQUIRE_Q", "INQUIRE_Q_STATUS"):
        names, only = polling.queues.names, filter_parameter(polling.queues.where, "queue")
    elif _COMMANDS[question] in (mq.MQCMD_INQUIRE_CHANNEL, mq.MQCMD_INQUIRE_CHANNEL_STATUS):
        names, only = polling.channels.names, filter_parameter(polling.channels.where, "channel")
    else:
        yield QueryOptions(part=_PARTS.get(question, 0))
        return
    clients = None
    if _COMMANDS[question] == mq.MQCMD_INQUIRE_CHANNEL_STATUS and only is None:
        clients = question == CLIENTS
    elif question == CLIENTS:
        return  # a command takes one filter: with the site's own all channels are asked for together
    if question in ("INQUIRE_Q", "INQUIRE_CHANNEL"):
        only = None
    for name in dict.fromkeys(names):
        yield QueryOptions(str(name), where=only, clients=clients, listed=True)


def filter_parameter(text: str | None, kind: str) -> Parameter | None:
    """The filter parameter for ``CURDEPTH GT 0`` and the like; None without a text.

    Raises ValueError: no such keyword in the kind's status, or a value that does not fit it.
    """
    if text is None:
        return None
    keyword, operator, value = parse_filter(text)
    known = _keywords(KINDS[kind])
    found = known.get(keyword)
    if found is None:
        raise ValueError(
            f"{keyword} cannot be filtered by{did_you_mean(keyword, list(known))}; there are {', '.join(sorted(known))}"
        )
    number, states, is_text = found
    if is_text:
        return string_filter(number, _OPERATORS[operator], str(value))
    if operator in ("LK", "NL"):
        raise ValueError(f"{operator} compares names, and {keyword} is a number")
    if isinstance(value, str):
        state = states.get(value.lower())
        if state is None:
            there_are = f"; there are {', '.join(sorted(map(str.upper, states)))}" if states else ", which is a number"
            raise ValueError(f"{value} is no value of {keyword}{there_are}")
        value = state
    return integer_filter(number, _OPERATORS[operator], value)


def _keywords(kind: Kind) -> dict[str, tuple[int, dict[str, int], bool]]:
    """Filters of the kind's status: keyword to parameter, names of its states, and whether it is a text."""
    return {
        metric.mqsc: (
            metric_parameter(kind, metric, metric.pcf),
            {name.lower(): value for name, value in metric.values.items()},
            metric.type is MetricType.TEXT,
        )
        for metric in kind.metrics
        if metric.command == kind.poll and metric.mqsc and metric.pcf.replace("_", "").isalnum()
    }


def polling_problems(polling: PollingSettings) -> tuple[Problem, ...]:
    """Questions that do not exist and filters that do not fit, each at its place in the configuration."""
    problems = []
    for name in polling.intervals:
        if name not in DEFAULT_INTERVALS_MS:
            message = f"there is no question {name}{did_you_mean(name, list(DEFAULT_INTERVALS_MS))}"
            problems.append(_problem(name, f"polling.intervals.{name}", message))
    for key, kind, text in (
        ("polling.queues.where", "queue", polling.queues.where),
        ("polling.channels.where", "channel", polling.channels.where),
    ):
        try:
            filter_parameter(text, kind)
        except ValueError as error:
            problems.append(_problem(text, key, str(error)))
    return tuple(problem for problem in problems if problem is not None)


def _problem(text: object, key: str, message: str) -> Problem | None:
    return Problem(text.place, key, message) if isinstance(text, LocatedText) else None
