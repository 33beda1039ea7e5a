"""Channels: INQUIRE_CHANNEL_STATUS for current instances and their starts, INQUIRE_CHANNEL for definitions.

A channel is one object, whatever its restarts and instances. Of several current instances the object has

* counters: the sum of their increases (see ``Counters``);
* ``status``: the worst, in the order of ``WORST_STATUS``; other states and texts are those of the instance with the
  worst status;
* ``indoubt``, ``stop_requested``: the greatest, for one in trouble is enough;
* ``conversations``, ``current_msgs``: the sum; ``short_left``, ``long_left``: the least;
* other gauges, the short-term and long-term averages among them: the greatest, which is the worst;
* ``instances_max_client``, ``top_client``: the address with the most instances, of a server-connection channel;
* times: the newest; ``instances`` and ``tls_instances``: how many there are;
* the starts: see ``ChannelStarts``.

A value that only some instances report is taken from those. An inactive channel has no figures except those that are
added up over channels: these are 0. Its type and its transmission queue are those of its definition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer, string
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.poll.columns import LocalTimes, MetricValues, ParameterPicker, ParameterValues, columns_by_platform
from mqvitals_agent.poll.kinds.channel_starts import tls_instances
from mqvitals_agent.poll.kinds.client import CLIENT, address_metrics
from mqvitals_agent.poll.probe import (
    ChannelDefinition,
    CycleRows,
    InstanceRow,
    MemberReport,
    Probe,
    ProbePart,
    QueryOptions,
    attribute_list,
    half_of_channels,
    probe_part,
    wanted_parameters,
)
from mqvitals_agent.poll.selection import RequestSelection
from mqvitals_rules.vocabulary.channel import CHANNEL_KIND
from mqvitals_rules.vocabulary.metric import Absence, MetricType, Reported

STATUS = probe_part(CHANNEL_KIND, "INQUIRE_CHANNEL_STATUS")
DEFINITION = probe_part(CHANNEL_KIND, "INQUIRE_CHANNEL")

WORST_STATUS = (6, 5, 8, 4, 9, 7, 1, 2, 13, 14, 3, 0)
"""Statuses, the worst first: stopped, retrying, paused, stopping, disconnected, requesting, binding, starting, initializing,
switching, running, inactive. A status that is not in the list is worse than running."""

OF_CLIENTS = frozenset(
    {
        "status", "substate", "type", "indoubt", "stop_requested", "disposition", "conversations", "conversations_max",
        "msgs", "bytes_sent", "bytes_rcvd", "max_msg_length", "monchl", "statchl", "ssl_cipher", "security_protocol",
        "conname", "xmitq", "remote_queue_manager", "remote_application", "running_on", "mca_user",
        "start_ts", "start_age_s", "last_msg_ts", "last_msg_age_s",
    }
)  # fmt: skip
"""What is asked of server connections: there may be ten thousand, and the rest is for channels between queue managers.

Without ``xmitq``, which is never in their answer, each of them might belong to any transmission queue.
"""

_COLUMNS = columns_by_platform(CHANNEL_KIND, "INQUIRE_CHANNEL_STATUS")
_OF_CLIENTS = columns_by_platform(CHANNEL_KIND, "INQUIRE_CHANNEL_STATUS", only=OF_CLIENTS)
_DEFINITION = columns_by_platform(CHANNEL_KIND, "INQUIRE_CHANNEL")
_NOT_ASKED: MetricValues = dict.fromkeys(set(_COLUMNS[False].names) - set(_OF_CLIENTS[False].names), Absence.NOT_ASKED)
# It is known without asking that they send from no queue; else every transmission queue might have them as channels.
_NOT_ASKED["xmitq"] = Absence.NOTHING_TO_TELL
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
"""Identifies the instances of one name; a restart makes another one."""
_PICK = ParameterPicker(mq.MQCACH_CHANNEL_NAME, mq.MQIACH_CHANNEL_INSTANCE_TYPE, mq.MQIA_MONITORING_CHANNEL, *_KEY)

_ALWAYS = frozenset(
    {
        mq.MQCACH_CHANNEL_NAME,
        mq.MQIACH_CHANNEL_DISP,
        mq.MQIACH_CHANNEL_INSTANCE_TYPE,
        mq.MQIACH_CHANNEL_TYPE,
        mq.MQCACH_CONNECTION_NAME,
        mq.MQCACH_XMIT_Q_NAME,
        mq.MQCA_REMOTE_Q_MGR_NAME,
        mq.MQIACH_CHANNEL_STATUS,
        mq.MQIACH_CHANNEL_SUBSTATE,
        mq.MQIACH_STOP_REQUESTED,
    }
)
"""Status that is returned whatever is asked for."""
_ALWAYS_DEFINED = frozenset({mq.MQCACH_CHANNEL_NAME, mq.MQIACH_CHANNEL_TYPE, mq.MQIA_QSG_DISP})
"""Of a definition likewise."""
_READ_OF_STATUS = frozenset({mq.MQIA_MONITORING_CHANNEL, *_KEY})

_EXITS = (
    mq.MQCACH_SEC_EXIT_NAME,
    mq.MQCACH_MSG_EXIT_NAME,
    mq.MQCACH_SEND_EXIT_NAME,
    mq.MQCACH_RCV_EXIT_NAME,
    mq.MQCACH_MR_EXIT_NAME,
)

_READ_OF_DEFINITION = frozenset({mq.MQCACH_XMIT_Q_NAME, *_EXITS})

_RANK = {status: rank for rank, status in enumerate(WORST_STATUS)}
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
_COMBINED = _SUMMED | _LEAST | _GREATEST
"""Of several instances these are combined; the others are those of the worst one."""


def _status_parameters(options: QueryOptions) -> tuple[Parameter, ...]:
    part = options.part or mq.MQOT_CURRENT_CHANNEL
    wanted = (_OF_CLIENTS if options.clients else _COLUMNS)[False].wanted | _READ_OF_STATUS
    return (
        string(mq.MQCACH_CHANNEL_NAME, options.name),
        integer(mq.MQIACH_CHANNEL_INSTANCE_TYPE, part),
        *attribute_list(options, mq.MQIACH_CHANNEL_INSTANCE_ATTRS, wanted, _ALWAYS),
        *half_of_channels(options),
    )


def _definition_parameters(options: QueryOptions) -> tuple[Parameter, ...]:
    wanted = _DEFINITION[False].wanted | _READ_OF_DEFINITION
    return (
        string(mq.MQCACH_CHANNEL_NAME, options.name),
        integer(mq.MQIACH_CHANNEL_TYPE, mq.MQCHT_ALL),
        *attribute_list(options, mq.MQIACF_CHANNEL_ATTRS, wanted, _ALWAYS_DEFINED),
    )


def _status_parts(selection: RequestSelection) -> tuple[ProbePart, ...]:
    """Current status holds channels, and with server connections among them their clients."""
    if selection.part != mq.MQOT_CURRENT_CHANNEL:
        return ()
    return (STATUS,) if selection.clients is False else (STATUS, CLIENT)


def read_status(answer: MemberReport, rows: CycleRows) -> None:
    """The current instances of each channel; saved and short status say nothing of the present."""
    clients = answer.selection.clients is True
    columns = (_OF_CLIENTS if clients else _COLUMNS)[answer.distributed]
    channels: dict[str, list[InstanceRow]] = {}
    newest = 0
    for item in answer.items:
        name, kind, level, *key_values = _PICK(item)
        if not name or type(name) is not str or kind not in (None, mq.MQOT_CURRENT_CHANNEL):
            continue
        monitored = type(level) is int and level > 0
        metrics = columns.read_item(item, long_first=answer.distributed, monitored=monitored)
        if clients:
            metrics = {**_NOT_ASKED, **metrics}
        local = columns.read_item_times(item, metrics)
        for told in local.values():
            if told > newest:
                newest = told
        key = tuple(map(str, key_values))
        channels.setdefault(name, []).append(InstanceRow(key, metrics, local))
    for name, instances in channels.items():
        row = answer.row({})
        row.instances = instances
        rows.put(STATUS, answer.queue_manager, name, row)
    rows.see(answer, newest)


def read_definition(answer: MemberReport, rows: CycleRows) -> None:
    """One row a channel that can run here: client definitions and templates are left out."""
    columns = _DEFINITION[answer.distributed]
    defined = rows.channels_defined.setdefault(answer.queue_manager, {})
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
        xmitq = values.get(mq.MQCACH_XMIT_Q_NAME)
        defined[name] = ChannelDefinition(kind if type(kind) is int else 0, xmitq if type(xmitq) is str else "")
        metrics = columns.read(values)
        metrics["exits"] = _exits(values)
        rows.put(DEFINITION, answer.queue_manager, name, answer.row(metrics, columns.read_times(values, metrics)))


def _exits(values: ParameterValues) -> Reported:
    """How many exits a definition names.

    Of one kind there is a name or a list of names; which kinds there are depends on the type.
    """
    reported = [values[number] for number in _EXITS if number in values]
    if not reported:
        return Absence.NOT_RETURNED
    names = [name for each in reported for name in (each if type(each) is tuple else (each,))]
    return sum(type(name) is str and bool(name.strip()) for name in names)


def instance_totals(instances: Sequence[InstanceRow]) -> dict[tuple[str, ...], MetricValues]:
    """The running totals by instance key. Instances with the same key (one client, the same second) count together."""
    found: dict[tuple[str, ...], MetricValues] = {}
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


def combined_instances(instances: Sequence[InstanceRow]) -> tuple[MetricValues, LocalTimes]:
    """The object's metrics (without counters) and local times from its instances."""
    addresses = address_metrics(instances)
    if len(instances) == 1:
        (only,) = instances
        values = only.values
        values["instances"] = 1
        values["tls_instances"] = tls_instances(instances)
        values.update(addresses)
        return values, only.local
    ordered = sorted(instances, key=_rank)
    values = ordered[0].values.copy()
    for name in _COMBINED & values.keys():
        if values[name] is Absence.NOT_ASKED:
            continue
        values[name] = _one(name, [instance.values[name] for instance in ordered])
    values["instances"] = len(instances)
    values["tls_instances"] = tls_instances(instances)
    values.update(addresses)
    local = {}
    for times in _COLUMNS[False].times:
        reported = [(ms, instance) for instance in ordered if (ms := instance.local.get(times.age)) is not None]
        if reported:
            seen, newest = max(reported, key=lambda pair: pair[0])
            values[times.age] = Absence.TIME_ZONE_UNKNOWN
            if times.text:
                values[times.text] = newest.values[times.text]
            local[times.age] = seen
    return values, local


def _rank(instance: InstanceRow) -> float:
    status = instance.values["status"]
    return _RANK.get(status, _UNRANKED) if type(status) is int else _UNRANKED


def _one(name: str, reported: Sequence[Reported]) -> Reported:
    numbers = [value for value in reported if type(value) is int]
    if not numbers:
        return reported[0]
    if name in _SUMMED:
        return sum(numbers)
    return min(numbers) if name in _LEAST else max(numbers)


def traffic_metrics(values: Mapping[str, Reported]) -> MetricValues:
    """What follows from the increases of a channel with a status: bytes both ways, and batches where there are any."""
    batches = 0 if values["type"] == mq.MQCHT_SVRCONN else values["batches"]
    return {"carried_bytes": _added(values["bytes_sent"], values["bytes_rcvd"]), "batch_ends": batches}


STATUS_PROBE = Probe(
    mq.MQCMD_INQUIRE_CHANNEL_STATUS,
    read_status,
    _status_parts,
    wanted_parameters(
        mq.MQCACH_CHANNEL_NAME,
        mq.MQIACH_CHANNEL_INSTANCE_TYPE,
        mq.MQIA_MONITORING_CHANNEL,
        *_KEY,
        columns=[c.wanted for c in _COLUMNS.values()],
    ),
    mq.MQCACH_CHANNEL_NAME,
    _status_parameters,
)
DEFINITION_PROBE = Probe(
    mq.MQCMD_INQUIRE_CHANNEL,
    read_definition,
    lambda _: (DEFINITION,),
    wanted_parameters(
        mq.MQCACH_CHANNEL_NAME,
        mq.MQIACH_CHANNEL_TYPE,
        mq.MQCACH_XMIT_Q_NAME,
        mq.MQIA_QSG_DISP,
        *_EXITS,
        columns=[c.wanted for c in _DEFINITION.values()],
    ),
    mq.MQCACH_CHANNEL_NAME,
    _definition_parameters,
)

PROBES = (STATUS_PROBE, DEFINITION_PROBE)
