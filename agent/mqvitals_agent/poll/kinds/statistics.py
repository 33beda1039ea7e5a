"""Statistics messages: what distributed queue managers report of whole intervals, by the queue they put them to.

No command is answered: the messages are taken from the queue, and are gone with that. One message reports calls of
the MQI (of the queue manager as a whole), of queues, or of channels; several may be written for one interval. Which
parameter fills which metric is in the vocabulary. Of a channel with several instances in an interval

* what counts is added, the least and the greatest are those of all;
* averages are weighed by the batches, those of queues by the messages got.

What nothing happened for has no average: a network time of 0 means that none was measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from mqvitals_agent.connection.connection import Exchange
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf import encoder
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.message import Message, Parameter, PcfError, Value
from mqvitals_agent.poll.columns import metric_parameter
from mqvitals_agent.poll.local_time import local_ms
from mqvitals_rules.instant_context import Formula, compile_formula
from mqvitals_rules.snapshot import ObjectName, Reading, Source, is_object_name
from mqvitals_rules.vocabulary import channel, queue, queue_manager
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType, Reported, within_range

PROBE: Final = "STATISTICS"
"""The name of the question, and of the readings."""
COMMAND: Final = mq.MQCMD_STATISTICS_Q
"""What exchanges with the statistics queue say that they asked; it is never put to a command server."""

_KINDS: Final[Mapping[int, tuple[Kind, int, int]]] = {
    mq.MQCMD_STATISTICS_MQI: (queue_manager.QUEUE_MANAGER_KIND, 0, 0),
    mq.MQCMD_STATISTICS_Q: (queue.QUEUE_KIND, mq.MQGACF_Q_STATISTICS_DATA, mq.MQCA_Q_NAME),
    mq.MQCMD_STATISTICS_CHANNEL: (channel.CHANNEL_KIND, mq.MQGACF_CHL_STATISTICS_DATA, mq.MQCACH_CHANNEL_NAME),
}
"""By command: kind of object, group that describes one, parameter that names it (0: the message itself)."""

StatisticsValues = dict[str, Reported]
_ValueFunction = Callable[[Mapping[int, Value]], Reported]
_OPERAND: Final = re.compile(r"(MQ\w+)(?:\[([01])\])?")
_AS_NAMES: Final = str.maketrans("[", "_", "]")
"""``MQIAMO_PUTS[1]`` is ``MQIAMO_PUTS_1`` in the rule language."""


def _function(kind: Kind, metric: Metric) -> _ValueFunction:
    """From the parameters of a message to the value of a metric: of one parameter, or calculated in the rule language."""
    operands = {
        found[0].translate(_AS_NAMES): (metric_parameter(kind, metric, found[1]), int(found[2]) if found[2] else None)
        for found in _OPERAND.finditer(metric.statistics)
    }
    expression = metric.statistics.translate(_AS_NAMES)
    if expression in operands:
        number, half = operands[expression]
        return lambda values: _number(values.get(number), half)
    calculate = compile_formula(expression, operands)

    def value_of(values: Mapping[int, Value]) -> Reported:
        numbers = {name: _number(values.get(number), half) for name, (number, half) in operands.items()}
        return calculate(numbers.__getitem__)

    return value_of


_FUNCTIONS: Final = {
    kind.name: tuple((m.name, _function(kind, m)) for m in kind.metrics if m.statistics)
    for kind, _, _ in _KINDS.values()
}
_RATES: Final = {
    kind.name: tuple(m.name for m in kind.metrics if m.statistics and m.unit == "per_s")
    for kind, _, _ in _KINDS.values()
}
_ADDED: Final = {
    kind.name: frozenset(m.name for m in kind.metrics if m.type is MetricType.COUNTER).union(_RATES[kind.name])
    for kind, _, _ in _KINDS.values()
}


class _AverageFormula(NamedTuple):
    """What a time, or another average, is calculated from: numbers that follow from the values of the same instance.

    ``measured`` is 0 when there is none, ``weight`` is what it counts beside other instances (0: alike).
    """

    measured: Formula
    weight: Formula


def _averages(kind: Kind, **expressions: tuple[str, str]) -> Mapping[str, _AverageFormula]:
    names = [metric.name for metric in kind.metrics if metric.statistics]
    return {
        name: _AverageFormula(compile_formula(measured, names), compile_formula(weight, names))
        for name, (measured, weight) in expressions.items()
    }


_BATCHES: Final = "full_batches + incomplete_batches"
_AVERAGES: Final = {
    queue_manager.QUEUE_MANAGER_KIND.name: {},
    queue.QUEUE_KIND.name: _averages(
        queue.QUEUE_KIND,
        qtime_avg_us_nonpersistent=("gets - persistent_gets", "gets - persistent_gets"),
        qtime_avg_us_persistent=("persistent_gets", "persistent_gets"),
    ),
    channel.CHANNEL_KIND.name: _averages(
        channel.CHANNEL_KIND,
        nettime_avg_us=("nettime_max_us", _BATCHES),
        nettime_min_us=("nettime_max_us", _BATCHES),
        nettime_max_us=("nettime_max_us", "0"),
        exittime_avg_us=("exittime_max_us", _BATCHES),
        exittime_min_us=("exittime_max_us", _BATCHES),
        exittime_max_us=("exittime_max_us", "0"),
        msgs_per_batch=(_BATCHES, _BATCHES),
    ),
}


class StatisticsKey(NamedTuple):
    """A queue manager's object and an interval in its local time, ms (None: not reported)."""

    queue_manager: str
    kind: str
    name: str
    start: int | None
    end: int | None


@dataclass(slots=True)
class StatisticsRecord:
    """What statistics messages report of one object and interval. ``put`` is when the last of them was put, ms UTC.

    A ``temporary`` queue is a dynamic one that goes with the handle that made it.
    """

    key: StatisticsKey
    values: StatisticsValues
    put: int
    temporary: bool


class StatisticsResult(NamedTuple):
    """The records of an exchange, how many messages are ``damaged``, and the commands of unknown ones."""

    records: tuple[StatisticsRecord, ...]
    damaged: int
    unknown: tuple[int, ...]


def ask(queue_name: str) -> bytes:
    """What stands as the request in the exchange of a read: the queue that was read."""
    return encoder.request(COMMAND, (encoder.string(mq.MQCA_Q_NAME, queue_name),))


def read(exchange: Exchange, decoder: Decoder) -> StatisticsResult:
    """The records in the messages that an exchange took from a statistics queue. Never raises for what they hold.

    A message that does not say whose it is is that of the queue manager that was read.
    """
    parts: dict[StatisticsKey, list[StatisticsValues]] = {}
    records: dict[StatisticsKey, StatisticsRecord] = {}
    damaged, unknown = 0, []
    for reply in exchange.replies:
        try:
            message = decoder.decode(reply.data, reply.ccsid)
        except PcfError:
            damaged += 1
            continue
        if message.type != mq.MQCFT_STATISTICS or message.command not in _KINDS:
            unknown.append(message.command)
            continue
        put = exchange.at if reply.put is None else reply.put
        for key, values, temporary in _reported(message, exchange.queue_manager):
            parts.setdefault(key, []).append(values)
            records[key] = StatisticsRecord(key, values, put, temporary)
    for key, record in records.items():
        record.values = _settled(key.kind, _together(key.kind, parts[key]))
    return StatisticsResult(tuple(records.values()), damaged, tuple(unknown))


def reading(record: StatisticsRecord, utc: Callable[[int], int | None]) -> Reading:
    """The record as a reading; ``utc`` converts local times, and returns None as long as the zone is unknown.

    Then the moment when the message was put is the interval's end: it is written at once.
    """
    _, kind, name, start, end = record.key
    end_utc = None if end is None else utc(end)
    start_utc = None if start is None else utc(start)
    length = None
    if end_utc is not None and start_utc is not None:
        length = end_utc - start_utc
    elif start is not None and end is not None:
        length = end - start
    if length is not None and length <= 0:
        length = None
    values = dict(record.values)
    for rate in _RATES[kind]:
        count = values[rate]
        if not isinstance(count, Absence):
            values[rate] = Absence.NOT_RETURNED if length is None else float(count) * 1000 / length
    values = {name: within_range(value) for name, value in values.items()}
    return Reading(
        ObjectName(record.key.queue_manager, kind, name),
        PROBE,
        record.put if end_utc is None else end_utc,
        values,
        length,
        poll=False,
        source=Source.STATISTICS,
    )


def _reported(message: Message, queue_manager_read: str) -> Iterable[tuple[StatisticsKey, StatisticsValues, bool]]:
    kind, group, name_id = _KINDS[message.command]
    top = message.values
    named = top.get(mq.MQCA_Q_MGR_NAME)
    whose = named if type(named) is str and named else queue_manager_read
    start = local_ms(top.get(mq.MQCAMO_START_DATE), top.get(mq.MQCAMO_START_TIME))
    end = local_ms(top.get(mq.MQCAMO_END_DATE), top.get(mq.MQCAMO_END_TIME))
    if not group:
        yield StatisticsKey(whose, kind.name, "", start, end), _values(kind.name, top), False
        return
    for parameter in message.parameters:
        if parameter.id != group or parameter.type != mq.MQCFT_GROUP or type(parameter.value) is not tuple:
            continue
        members: dict[int, Value] = {}
        for member in parameter.value:
            if isinstance(member, Parameter):
                members.setdefault(member.id, member.value)
        name = members.get(name_id)
        if type(name) is str and is_object_name(name):
            temporary = members.get(mq.MQIA_DEFINITION_TYPE) == mq.MQQDT_TEMPORARY_DYNAMIC
            yield StatisticsKey(whose, kind.name, name, start, end), _values(kind.name, members), temporary


def _values(kind: str, parameters: Mapping[int, Value]) -> StatisticsValues:
    return {name: value_of(parameters) for name, value_of in _FUNCTIONS[kind]}


def _number(value: Value | None, half: int | None) -> int | Absence:
    """A number, one half of a pair, or the sum of a list. Below 0 it stands for something that was not collected."""
    if type(value) is int:
        numbers: tuple[object, ...] = (value,)
        if half is not None:
            return Absence.NOT_RETURNED
    elif type(value) is tuple and value and (half is None or len(value) == 2):
        numbers = value if half is None else (value[half],)
    else:
        return Absence.NOT_RETURNED
    total = 0
    for each in numbers:
        if type(each) is not int:
            return Absence.NOT_RETURNED
        if each < 0:
            return Absence.NOT_COLLECTED
        total += each
    return total


def _together(kind: str, parts: Sequence[StatisticsValues]) -> StatisticsValues:
    """One object's values from those of its instances, or of several messages of one interval."""
    if len(parts) == 1:
        return parts[0]
    return {name: _one(kind, name, parts) for name in parts[0]}


def _one(kind: str, name: str, parts: Sequence[StatisticsValues]) -> Reported:
    average = _AVERAGES[kind].get(name)
    weights = [0 if average is None else _positive(average.weight(part.__getitem__)) for part in parts]
    reported = [
        (value, weight)
        for part, weight in zip(parts, weights, strict=True)
        if type(value := part[name]) is int and (weight or not any(weights))
    ]
    if not reported:
        return parts[0][name]
    numbers = [value for value, _ in reported]
    if name in _ADDED[kind]:
        return sum(numbers)
    if "_min" in name:
        return min(numbers)
    whole = sum(weight for _, weight in reported)
    return round(sum(value * weight for value, weight in reported) / whole) if whole else max(numbers)


def _positive(number: float | Absence) -> float:
    return 0 if isinstance(number, Absence) else max(number, 0)


def _settled(kind: str, values: StatisticsValues) -> StatisticsValues:
    """Without averages that are of nothing."""
    missing: StatisticsValues = {}
    for name, average in _AVERAGES[kind].items():
        measured = average.measured(values.__getitem__)
        if type(values[name]) is int and (isinstance(measured, Absence) or not measured):
            missing[name] = measured or Absence.NOTHING_TO_TELL
    return values | missing
