"""Channels: INQUIRE_CHANNEL_STATUS for the current instances, INQUIRE_CHANNEL for what is defined.

A channel is one object, whatever its restarts and instances. Of several current instances the object has

* counters: the sum of their increases (see ``counter``);
* ``status``: the worst, in the order of ``WORST``; other states and texts are those of the instance with the worst status;
* ``indoubt``, ``stop_requested``: the greatest, for one in trouble is enough;
* ``conversations``, ``current_msgs``: the sum; ``short_left``, ``long_left``: the least;
* other gauges, the short-term and long-term averages among them: the greatest, which is the worst;
* times: the newest; ``instances`` and ``tls_instances``: how many there are;
* the starts: see ``start``.

A value that only some instances tell is taken from those. An inactive channel has no figures, but for those that are made to be added up
over channels: these are 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer, string
from mqvitals_agent.poll import start
from mqvitals_agent.poll.columns import Columns, Local, Picker, Values
from mqvitals_agent.poll.columns import Row as Metrics
from mqvitals_agent.poll.probe import Answer, InstanceRow, Part, Probe, Question, Rows, ask, part, wanted
from mqvitals_agent.poll.selection import Selection
from mqvitals_rules.vocabulary.channel import CHANNEL_KIND
from mqvitals_rules.vocabulary.metric import Absence, MetricType, Reported

STATUS = part(CHANNEL_KIND, "INQUIRE_CHANNEL_STATUS")
DEFINITION = part(CHANNEL_KIND, "INQUIRE_CHANNEL")

WORST = (6, 5, 8, 4, 9, 7, 1, 2, 13, 14, 3, 0)
"""Statuses, the worst first: stopped, retrying, paused, stopping, disconnected, requesting, binding, starting, initializing,
switching, running, inactive. A status that is not in the list is worse than running."""

_COLUMNS = {
    distributed: Columns(CHANNEL_KIND, "INQUIRE_CHANNEL_STATUS", platform="distributed" if distributed else "zos")
    for distributed in (False, True)
}
_DEFINITION = {
    distributed: Columns(CHANNEL_KIND, "INQUIRE_CHANNEL", platform="distributed" if distributed else "zos")
    for distributed in (False, True)
}
_COMPUTED = frozenset(metric.name for metric in CHANNEL_KIND.metrics if metric.computed)
COUNTERS = tuple(name for name in _COLUMNS[False].counters if name not in _COMPUTED)

_KEY = (
    mq.MQCA_Q_MGR_NAME,
    mq.MQCACH_CONNECTION_NAME,
    mq.MQCACH_XMIT_Q_NAME,
    mq.MQCA_REMOTE_Q_MGR_NAME,
    mq.MQCACH_CHANNEL_START_DATE,
    mq.MQCACH_CHANNEL_START_TIME,
)
"""What tells instances of one name apart; a restart makes another one."""
_PICK = Picker(mq.MQCACH_CHANNEL_NAME, mq.MQIACH_CHANNEL_INSTANCE_TYPE, mq.MQIA_MONITORING_CHANNEL, *_KEY)

_EXITS = (
    mq.MQCACH_SEC_EXIT_NAME,
    mq.MQCACH_MSG_EXIT_NAME,
    mq.MQCACH_SEND_EXIT_NAME,
    mq.MQCACH_RCV_EXIT_NAME,
    mq.MQCACH_MR_EXIT_NAME,
)

_RANK = {status: rank for rank, status in enumerate(WORST)}
_UNRANKED = _RANK[mq.MQCHS_RUNNING] - 0.5
_SUMMED = frozenset({"conversations", "current_msgs"})
_LEAST = frozenset({"short_left", "long_left"})
_GREATEST = frozenset({"indoubt", "stop_requested"}) | {
    metric.name
    for metric in CHANNEL_KIND.metrics
    if metric.name in STATUS.metrics
    and metric.type is MetricType.GAUGE
    and metric.name not in _SUMMED | _LEAST | {"current_seq", "last_seq"}
}


def ask_status(question: Question) -> bytes:
    """DISPLAY CHSTATUS(name) CURRENT."""
    return ask(
        mq.MQCMD_INQUIRE_CHANNEL_STATUS,
        question,
        string(mq.MQCACH_CHANNEL_NAME, question.name),
        integer(mq.MQIACH_CHANNEL_INSTANCE_TYPE, question.part or mq.MQOT_CURRENT_CHANNEL),
    )


def ask_definition(question: Question) -> bytes:
    """DISPLAY CHANNEL(name)."""
    return ask(
        mq.MQCMD_INQUIRE_CHANNEL,
        question,
        string(mq.MQCACH_CHANNEL_NAME, question.name),
        integer(mq.MQIACH_CHANNEL_TYPE, mq.MQCHT_ALL),
    )


def _status_parts(selection: Selection) -> tuple[Part, ...]:
    return (STATUS,) if selection.part == mq.MQOT_CURRENT_CHANNEL else ()


def read_status(answer: Answer, rows: Rows) -> None:
    """The current instances of each channel; saved and short status say nothing of the present."""
    columns = _COLUMNS[answer.distributed]
    channels: dict[str, list[InstanceRow]] = {}
    newest = 0
    for item in answer.items:
        name, kind, level, *told = _PICK(item)
        if not name or type(name) is not str or kind not in (None, mq.MQOT_CURRENT_CHANNEL):
            continue
        monitored = type(level) is int and level > 0
        metrics = columns.read_item(item, long_first=answer.distributed, monitored=monitored)
        local = columns.read_item_times(item, metrics)
        for seen in local:
            newest = max(newest, seen.ms)
        key = tuple(map(str, told))
        channels.setdefault(name, []).append(InstanceRow(key, metrics, local))
    for name, instances in channels.items():
        row = answer.row({})
        row.instances = instances
        rows.put(STATUS, answer.queue_manager, name, row)
    rows.see(answer, newest)


def read_definition(answer: Answer, rows: Rows) -> None:
    """One row a channel that can run here: client definitions and templates are left out."""
    columns = _DEFINITION[answer.distributed]
    types = rows.channel_types.setdefault(answer.queue_manager, {})
    for item in answer.items:
        values = item.values
        name = values.get(mq.MQCACH_CHANNEL_NAME)
        kind = values.get(mq.MQIACH_CHANNEL_TYPE)
        if (
            not name
            or type(name) is not str
            or values.get(mq.MQIA_QSG_DISP) == mq.MQQSGD_GROUP
            or kind == mq.MQCHT_CLNTCONN
        ):
            continue
        types[name] = kind if type(kind) is int else 0
        metrics = columns.read(values)
        metrics["exits"] = _exits(values)
        rows.put(DEFINITION, answer.queue_manager, name, answer.row(metrics, columns.read_times(values, metrics)))


def _exits(values: Values) -> Reported:
    """How many exits a definition names. Of one kind there is a name or a list of names; which kinds there are depends on the type."""
    told = [values[number] for number in _EXITS if number in values]
    if not told:
        return Absence.NOT_RETURNED
    names = [name for each in told for name in (each if type(each) is tuple else (each,))]
    return sum(type(name) is str and bool(name.strip()) for name in names)


def totals(instances: Sequence[InstanceRow]) -> dict[tuple[str, ...], Metrics]:
    """The running totals by instance key. Instances with the same key (one client, the same second) count together."""
    found: dict[tuple[str, ...], Metrics] = {}
    for instance in instances:
        own = {name: instance.values[name] for name in COUNTERS}
        before = found.get(instance.key)
        if before is not None:
            own = {name: _added(before[name], own[name]) for name in COUNTERS}
        found[instance.key] = own
    return found


def _added(one: Reported, other: Reported) -> Reported:
    if type(one) is int and type(other) is int:
        return one + other
    return one if isinstance(one, Absence) else other


def together(instances: Sequence[InstanceRow]) -> tuple[Metrics, Sequence[Local]]:
    """The object's metrics (without counters) and local times from its instances."""
    if len(instances) == 1:
        (only,) = instances
        values = only.values
        values["instances"] = 1
        values["tls_instances"] = start.tls_instances(instances)
        return values, only.local
    ordered = sorted(instances, key=_rank)
    values = {name: _one(name, [instance.values[name] for instance in ordered]) for name in ordered[0].values}
    values["instances"] = len(instances)
    values["tls_instances"] = start.tls_instances(instances)
    local = []
    for times in _COLUMNS[False].times:
        told = [(seen, instance) for instance in ordered for seen in instance.local if seen.age == times.age]
        if told:
            seen, newest = max(told, key=lambda pair: pair[0].ms)
            values[times.age] = Absence.TIME_ZONE_UNKNOWN
            if times.text:
                values[times.text] = newest.values[times.text]
            local.append(seen)
    return values, local


def _rank(instance: InstanceRow) -> float:
    status = instance.values["status"]
    return _RANK.get(status, _UNRANKED) if type(status) is int else _UNRANKED


def _one(name: str, told: Sequence[Reported]) -> Reported:
    if name not in _GREATEST and name not in _SUMMED and name not in _LEAST:
        return told[0]
    numbers = [value for value in told if type(value) is int]
    if not numbers:
        return told[0]
    if name in _SUMMED:
        return sum(numbers)
    return min(numbers) if name in _LEAST else max(numbers)


def traffic(values: Mapping[str, Reported]) -> Metrics:
    """What follows from the increases of a channel with a status: bytes both ways, and batches where there are any."""
    batches = 0 if values["type"] == mq.MQCHT_SVRCONN else values["batches"]
    return {"carried_bytes": _added(values["bytes_sent"], values["bytes_rcvd"]), "batch_ends": batches}


def inactive(kind: int | None) -> Mapping[str, Reported]:
    """The metrics of a channel without a current instance; ``kind`` is its type, where a definition has told it."""
    values: dict[str, Reported] = dict.fromkeys(STATUS.metrics, Absence.INACTIVE)
    values["status"] = mq.MQCHS_INACTIVE
    values.update(dict.fromkeys(("instances", "tls_instances", "carried_bytes", "batch_ends"), 0))
    if kind:
        values["type"] = kind
    return values


STATUS_PROBE = Probe(
    mq.MQCMD_INQUIRE_CHANNEL_STATUS,
    "INQUIRE_CHANNEL_STATUS",
    ask_status,
    _status_parts,
    read_status,
    wanted(
        mq.MQCACH_CHANNEL_NAME,
        mq.MQIACH_CHANNEL_INSTANCE_TYPE,
        mq.MQIA_MONITORING_CHANNEL,
        *_KEY,
        columns=[c.wanted for c in _COLUMNS.values()],
    ),
    mq.MQCACH_CHANNEL_NAME,
)
DEFINITION_PROBE = Probe(
    mq.MQCMD_INQUIRE_CHANNEL,
    "INQUIRE_CHANNEL",
    ask_definition,
    lambda _: (DEFINITION,),
    read_definition,
    wanted(
        mq.MQCACH_CHANNEL_NAME,
        mq.MQIACH_CHANNEL_TYPE,
        mq.MQIA_QSG_DISP,
        *_EXITS,
        columns=[c.wanted for c in _DEFINITION.values()],
    ),
    mq.MQCACH_CHANNEL_NAME,
)
