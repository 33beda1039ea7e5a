"""What to ask of the queue managers: each question as a request ready to be put, by the settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer_filter, string_filter
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.pcf.names import command_name, parameter_number
from mqvitals_agent.poll import statistics
from mqvitals_agent.poll.command import form
from mqvitals_agent.poll.probe import Question
from mqvitals_agent.poll.probes import PROBES
from mqvitals_agent.poll.schedule import BACKUP, DATA_SETS, STATISTICS, USAGE, USUAL_MS
from mqvitals_config.collection import PollingSettings, parse_filter
from mqvitals_config.problem import LocatedText, Problem, did_you_mean
from mqvitals_rules.vocabulary.metric import ONLY_ZOS, Kind, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

OF_GROUP = frozenset({"INQUIRE_CF_STRUC", "INQUIRE_SMDS", "INQUIRE_QSG", "INQUIRE_CF_STRUC_STATUS", BACKUP})
"""Questions about the whole group: one member's answer is enough."""

OF_DISTRIBUTED = frozenset({"INQUIRE_Q_MGR_STATUS", STATISTICS})
"""Questions that only distributed queue managers can answer."""

_OF_USAGE = frozenset({USAGE, DATA_SETS})

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
    DATA_SETS: mq.MQCMD_INQUIRE_USAGE,
}


@dataclass(frozen=True, slots=True)
class Errand:
    """One request: the question it belongs to (a name of ``schedule.USUAL_MS``), its command and its bytes.

    ``scope`` is the member that it is about (CMDSCOPE), when that is asked through another; else empty.
    """

    question: str
    command: int
    request: bytes
    scope: str = ""

    @property
    def of_group(self) -> bool:
        """True when any member may be asked: about the whole group, or about one that has no connection of its own."""
        return self.question in OF_GROUP or bool(self.scope)

    @property
    def form(self) -> str:
        """The name of its readings of kind ``agent``."""
        return form(self.command, self.scope)


def errands_of_distributed(polling: PollingSettings, statistics_queue: str = "") -> tuple[Errand, ...]:
    """Everything to ask of a distributed queue manager by these settings, definitions first.

    It is no member of a group, and its objects have no disposition. ``statistics_queue`` is where statistics messages are
    taken from, empty: nowhere. Raises ValueError for what ``polling_problems`` tells.
    """
    found = []
    for question in USUAL_MS:
        if question == STATISTICS:
            if statistics_queue:
                found.append(Errand(question, statistics.COMMAND, statistics.ask(statistics_queue)))
        elif question not in ONLY_ZOS | OF_GROUP | _OF_USAGE:
            command = _COMMANDS[question]
            found += (
                Errand(question, command, PROBES[command].ask(replace(each, disposition=None)))
                for each in _questions(question, polling)
            )
    return tuple(found)


def errands(polling: PollingSettings, others: Sequence[str] = ()) -> tuple[Errand, ...]:
    """Everything to ask of queue managers on z/OS by these settings, definitions first.

    ``others`` are members of the group without a connection of their own: what is asked of each queue manager is asked about
    each of them too, with its name as the command scope. Raises ValueError for what ``polling_problems`` tells.
    """
    found = []
    for question in USUAL_MS:
        if question in OF_DISTRIBUTED or (question in _OF_USAGE and not polling.usage):
            continue
        command = _COMMANDS[question]
        scopes = ("",) if question in OF_GROUP else ("", *others)
        for each in _questions(question, polling):
            for scope in scopes:
                request = PROBES[command].ask(replace(each, scope=scope))
                found.append(Errand(question, command, request, scope))
    return tuple(found)


def _questions(question: str, polling: PollingSettings) -> Iterator[Question]:
    match question:
        case "INQUIRE_Q" | "INQUIRE_Q_STATUS":
            where = filter_of(polling.queues.where, "queue") if question == "INQUIRE_Q_STATUS" else None
            for name in dict.fromkeys(polling.queues.names):
                yield Question(str(name), where=where)
        case "INQUIRE_CHANNEL" | "INQUIRE_CHANNEL_STATUS":
            where = filter_of(polling.channels.where, "channel") if question == "INQUIRE_CHANNEL_STATUS" else None
            for name in dict.fromkeys(polling.channels.names):
                yield Question(str(name), where=where)
        case "INQUIRE_USAGE_SMDS":
            yield Question(part=mq.MQIACF_USAGE_SMDS)
        case "INQUIRE_CF_STRUC_STATUS_BACKUP":
            yield Question(part=mq.MQIACF_CF_STATUS_BACKUP)
        case _:
            yield Question()


def filter_of(text: str | None, kind: str) -> Parameter | None:
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
    """What the kind's status can be filtered by: keyword to parameter, the names of its states, and whether it is a text."""
    return {
        metric.mqsc: (
            parameter_number(metric.pcf),
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
        if name not in USUAL_MS:
            message = f"there is no question {name}{did_you_mean(name, list(USUAL_MS))}"
            problems.append(_problem(name, f"polling.intervals.{name}", message))
    for key, kind, text in (
        ("polling.queues.where", "queue", polling.queues.where),
        ("polling.channels.where", "channel", polling.channels.where),
    ):
        try:
            filter_of(text, kind)
        except ValueError as error:
            problems.append(_problem(text, key, str(error)))
    return tuple(problem for problem in problems if problem is not None)


def _problem(text: object, key: str, message: str) -> Problem | None:
    return Problem(text.place, key, message) if isinstance(text, LocatedText) else None
