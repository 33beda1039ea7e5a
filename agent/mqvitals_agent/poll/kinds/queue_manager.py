"""The queue manager and its channel initiator: INQUIRE_Q_MGR, INQUIRE_CHANNEL_INIT; off z/OS INQUIRE_Q_MGR_STATUS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integers
from mqvitals_agent.poll.columns import MetricColumns, MetricValues, ParameterValues, columns_by_platform
from mqvitals_agent.poll.probe import CycleRows, Listener, MemberReport, Probe, probe_part, wanted_parameters
from mqvitals_rules.snapshot import is_owner_name
from mqvitals_rules.vocabulary.channel_initiator import CHANNEL_INITIATOR_KIND
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.queue_manager import QUEUE_MANAGER_KIND

ATTRIBUTES = probe_part(QUEUE_MANAGER_KIND, "INQUIRE_Q_MGR")
STATUS = probe_part(QUEUE_MANAGER_KIND, "INQUIRE_Q_MGR_STATUS")
CONFIGURED = probe_part(CHANNEL_INITIATOR_KIND, "INQUIRE_Q_MGR")

_ATTRIBUTES = columns_by_platform(QUEUE_MANAGER_KIND, "INQUIRE_Q_MGR")
_CONFIGURED = MetricColumns(CHANNEL_INITIATOR_KIND, "INQUIRE_Q_MGR")
_STATUS = MetricColumns(QUEUE_MANAGER_KIND, "INQUIRE_Q_MGR_STATUS", platform="distributed")


def read_attributes(answer: MemberReport, rows: CycleRows) -> None:
    """The attributes, and what other probes need to know of the queue manager: platform, dead-letter queue, group."""
    values = answer.items[0].values
    distributed = values.get(mq.MQIA_PLATFORM, mq.MQPL_ZOS) != mq.MQPL_ZOS
    rows.distributed[answer.queue_manager] = distributed
    dead_letter_queue = values.get(mq.MQCA_DEAD_LETTER_Q_NAME)
    if type(dead_letter_queue) is str:
        rows.dead_letter_queues[answer.queue_manager] = dead_letter_queue
    group = values.get(mq.MQCA_QSG_NAME)
    if type(group) is str and is_owner_name(group):
        rows.group = group
    columns = _ATTRIBUTES[distributed]
    metrics = columns.read(values)
    totals: MetricValues | None = None
    if not distributed:
        metrics["qsg_joined"] = Absence.FIRST_READING
        name = metrics["qsg_name"]
        totals = {"qsg_joined": int(bool(name.strip())) if type(name) is str else name}
    local = columns.read_times(values, metrics)
    rows.put(ATTRIBUTES, answer.queue_manager, "", answer.row(metrics, local, totals=totals))
    if not distributed:
        rows.put(CONFIGURED, answer.queue_manager, "", answer.row(_CONFIGURED.read(values)))


def read_status(answer: MemberReport, rows: CycleRows) -> None:
    """What runs inside the queue manager, and since when."""
    values = answer.items[0].values
    metrics = _STATUS.read(values)
    rows.put(STATUS, answer.queue_manager, "", answer.row(metrics, _STATUS.read_times(values, metrics)))


STATUS_PROBE = Probe(
    mq.MQCMD_INQUIRE_Q_MGR_STATUS,
    read_status,
    lambda _: (STATUS,),
    wanted_parameters(columns=[_STATUS.wanted]),
)
ATTRIBUTES_PROBE = Probe(
    mq.MQCMD_INQUIRE_Q_MGR,
    read_attributes,
    lambda _: (ATTRIBUTES, CONFIGURED),
    wanted_parameters(
        mq.MQIA_PLATFORM,
        mq.MQCA_DEAD_LETTER_Q_NAME,
        mq.MQCA_QSG_NAME,
        columns=[_CONFIGURED.wanted, *(columns.wanted for columns in _ATTRIBUTES.values())],
    ),
    parameters=lambda _: (integers(mq.MQIACF_Q_MGR_ATTRS, [mq.MQIACF_ALL]),),
)


CHANNEL_INITIATOR = probe_part(CHANNEL_INITIATOR_KIND, "INQUIRE_CHANNEL_INIT")
_COLUMNS = MetricColumns(CHANNEL_INITIATOR_KIND, "INQUIRE_CHANNEL_INIT")


_LISTENER_KEY = (mq.MQIACH_XMIT_PROTOCOL_TYPE, mq.MQIACH_INBOUND_DISP, mq.MQIACH_PORT_NUMBER, mq.MQCACH_LU_NAME)


def _listener(values: ParameterValues) -> Listener:
    return Listener(tuple(values.get(number) for number in _LISTENER_KEY), values[mq.MQIACH_LISTENER_STATUS])


class LostListeners:
    """How many listeners of each sort ran at a time, since a channel initiator was last seen not running.

    Listeners that nobody started are listed too; one that is not running is lost only if it ran before.
    """

    def __init__(self) -> None:
        self._ran: dict[str, Counter[tuple[object, ...]]] = {}

    def count(self, queue_manager: str, status: Reported, listeners: Iterable[Listener]) -> Reported:
        """Note an answer; returns how many are lost. Absent while the channel initiator does not run."""
        if status != mq.MQSVC_STATUS_RUNNING:
            self._ran.pop(queue_manager, None)
            return status if isinstance(status, Absence) else Absence.INACTIVE
        running, retrying = Counter[tuple[object, ...]](), Counter[tuple[object, ...]]()
        for each in listeners:
            running[each.key] += each.status == mq.MQSVC_STATUS_RUNNING
            retrying[each.key] += each.status == mq.MQSVC_STATUS_RETRYING
        ran = self._ran.setdefault(queue_manager, Counter())
        ran |= running
        return sum(max(ran[key] - running[key], retrying[key]) for key in ran.keys() | retrying.keys())


def read_channel_initiator(answer: MemberReport, rows: CycleRows) -> None:
    """One row: the channel initiator's item and the number of listeners, all and those that run or do not."""
    found = [_listener(item.values) for item in answer.items if mq.MQIACH_LISTENER_STATUS in item.values]
    listeners = [each.status for each in found]
    item = next((item for item in answer.items if mq.MQIACF_CHINIT_STATUS in item.values), None)
    if item is None:
        return
    metrics = _COLUMNS.read(item.values)
    metrics["listeners"] = len(listeners)
    metrics["listeners_down"] = sum(status != mq.MQSVC_STATUS_RUNNING for status in listeners)
    metrics["listeners_running"] = listeners.count(mq.MQSVC_STATUS_RUNNING)
    metrics["tcp_listeners_running"] = sum(
        each.status == mq.MQSVC_STATUS_RUNNING and each.key[0] == mq.MQXPT_TCP for each in found
    )
    rows.listeners[answer.queue_manager] = found
    rows.put(CHANNEL_INITIATOR, answer.queue_manager, "", answer.row(metrics))


CHANNEL_INITIATOR_PROBE = Probe(
    mq.MQCMD_INQUIRE_CHANNEL_INIT,
    read_channel_initiator,
    lambda _: (CHANNEL_INITIATOR,),
    wanted_parameters(mq.MQIACF_CHINIT_STATUS, mq.MQIACH_LISTENER_STATUS, *_LISTENER_KEY, columns=[_COLUMNS.wanted]),
)

SECURITY = probe_part(QUEUE_MANAGER_KIND, "INQUIRE_SECURITY")
_SWITCHES: Mapping[int, tuple[str, str]] = {
    mq.MQSECSW_SUBSYSTEM: ("SUBSYSTEM", "subsystem_security"),
    mq.MQSECSW_CONNECTION: ("CONNECTION", "connection_security"),
    mq.MQSECSW_COMMAND: ("COMMAND", "command_security"),
    mq.MQSECSW_COMMAND_RESOURCES: ("COMMAND RESOURCES", "command_resource_security"),
    mq.MQSECSW_Q: ("QUEUE", "queue_security"),
    mq.MQSECSW_PROCESS: ("PROCESS", ""),
    mq.MQSECSW_NAMELIST: ("NAMELIST", ""),
    mq.MQSECSW_TOPIC: ("TOPIC", ""),
    mq.MQSECSW_CONTEXT: ("CONTEXT", ""),
    mq.MQSECSW_ALTERNATE_USER: ("ALTERNATE USER", ""),
}
"""Security switches: their words, and the metric; those of the group and of the queue manager only say where is looked."""
_OFF = frozenset({mq.MQSECSW_OFF_FOUND, mq.MQSECSW_OFF_NOT_FOUND, mq.MQSECSW_OFF_ERROR})
_ON = frozenset({mq.MQSECSW_ON_FOUND, mq.MQSECSW_ON_NOT_FOUND, mq.MQSECSW_ON_OVERRIDDEN})


def read_security(answer: MemberReport, rows: CycleRows) -> None:
    """One row with the switches; each has an item of its own. A setting that is none of IBM's is absent."""
    metrics: MetricValues = dict.fromkeys(SECURITY.metrics, Absence.NOT_RETURNED)
    off = []
    for item in answer.items:
        switch, setting = item.values.get(mq.MQIACF_SECURITY_SWITCH), item.values.get(mq.MQIACF_SECURITY_SETTING)
        found = _SWITCHES.get(switch) if type(switch) is int else None
        if found is None or setting not in _OFF | _ON:
            continue
        words, metric = found
        if metric:
            metrics[metric] = int(setting in _ON)
        if setting in _OFF:
            off.append(words)
    metrics["security_off"] = ", ".join(sorted(off))
    rows.put(SECURITY, answer.queue_manager, "", answer.row(metrics))


SECURITY_PROBE = Probe(
    mq.MQCMD_INQUIRE_SECURITY,
    read_security,
    lambda _: (SECURITY,),
    wanted_parameters(mq.MQIACF_SECURITY_SWITCH, mq.MQIACF_SECURITY_SETTING),
    parameters=lambda _: (integers(mq.MQIACF_SECURITY_ATTRS, [mq.MQIACF_ALL]),),
)

PROBES = (ATTRIBUTES_PROBE, STATUS_PROBE, CHANNEL_INITIATOR_PROBE, SECURITY_PROBE)
