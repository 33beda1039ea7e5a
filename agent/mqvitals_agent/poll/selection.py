"""What a request selects, and what its answer proves about objects that are not in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mqvitals_agent.connection.connection import READ_EVENTS
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.message import FilterValue, Message, Value
from mqvitals_rules.vocabulary.metric import Absence

_NAME = {
    mq.MQCMD_INQUIRE_Q: mq.MQCA_Q_NAME,
    mq.MQCMD_INQUIRE_Q_STATUS: mq.MQCA_Q_NAME,
    mq.MQCMD_INQUIRE_CHANNEL: mq.MQCACH_CHANNEL_NAME,
    mq.MQCMD_INQUIRE_CHANNEL_STATUS: mq.MQCACH_CHANNEL_NAME,
    mq.MQCMD_INQUIRE_CF_STRUC: mq.MQCA_CF_STRUC_NAME,
    mq.MQCMD_INQUIRE_CF_STRUC_STATUS: mq.MQCA_CF_STRUC_NAME,
    mq.MQCMD_INQUIRE_STG_CLASS: mq.MQCA_STORAGE_CLASS,
    mq.MQCMD_INQUIRE_SMDS: mq.MQCA_CF_STRUC_NAME,
    mq.MQCMD_INQUIRE_SMDSCONN: mq.MQCA_CF_STRUC_NAME,
    mq.MQCMD_INQUIRE_CLUSTER_Q_MGR: mq.MQCA_CLUSTER_Q_MGR_NAME,
    mq.MQCMD_INQUIRE_SUBSCRIPTION: mq.MQCACF_SUB_NAME,
    READ_EVENTS: mq.MQCA_Q_NAME,
}
"""The parameter that names the wanted objects, or the queue that is read, for what has one."""

_PART = {
    mq.MQCMD_INQUIRE_Q_STATUS: (mq.MQIACF_Q_STATUS_TYPE, mq.MQIACF_Q_STATUS),
    mq.MQCMD_INQUIRE_CHANNEL_STATUS: (mq.MQIACH_CHANNEL_INSTANCE_TYPE, mq.MQOT_CURRENT_CHANNEL),
    mq.MQCMD_INQUIRE_CF_STRUC_STATUS: (mq.MQIACF_CF_STATUS_TYPE, mq.MQIACF_CF_STATUS_SUMMARY),
    mq.MQCMD_INQUIRE_USAGE: (mq.MQIACF_USAGE_TYPE, mq.MQIACF_USAGE_PAGESET),
    mq.MQCMD_INQUIRE_CONNECTION: (mq.MQIACF_CONN_INFO_TYPE, mq.MQIACF_CONN_INFO_CONN),
}
"""The parameter that selects a part of a command's answers, and the part when it is left out."""

_NEUTRAL = frozenset(
    {
        mq.MQIACF_Q_MGR_ATTRS,
        mq.MQIACF_Q_ATTRS,
        mq.MQIACF_Q_STATUS_ATTRS,
        mq.MQIACF_CHANNEL_ATTRS,
        mq.MQIACH_CHANNEL_INSTANCE_ATTRS,
        mq.MQIACF_CF_STRUC_ATTRS,
        mq.MQIACF_STORAGE_CLASS_ATTRS,
        mq.MQIACF_SMDS_ATTRS,
        mq.MQIACF_CLUSTER_Q_MGR_ATTRS,
        mq.MQIACF_SECURITY_ATTRS,
        mq.MQIACF_SUB_ATTRS,
        mq.MQIACF_CONNECTION_ATTRS,
        mq.MQCACF_COMMAND_SCOPE,
        mq.MQIA_QSG_DISP,
    }
)
"""These restrict the attributes of an object, not which objects; scope and disposition are fields of their own."""

_ALL = {
    (mq.MQIACH_CHANNEL_TYPE, mq.MQCHT_ALL),
    (mq.MQIACH_CHANNEL_DISP, mq.MQCHLD_ALL),
    (mq.MQIA_Q_TYPE, mq.MQQT_ALL),
    (mq.MQIA_Q_TYPE, mq.MQQT_LOCAL),  # only local queues are polled
    (mq.MQCACF_CF_SMDS, "*"),
    (mq.MQBACF_GENERIC_CONNECTION_ID, b""),
    (mq.MQIACF_UOW_STATE, FilterValue(mq.MQCFOP_NOT_EQUAL, mq.MQUOWST_NONE)),  # connections without one are not counted
    (mq.MQCACF_CF_SMDSCONN, "*"),
    (mq.MQIACF_DURABLE_SUBSCRIPTION, mq.MQSUB_DURABLE_YES),  # others are not counted
    (mq.MQIACF_PS_STATUS_TYPE, mq.MQPSST_LOCAL),
}
"""Parameters that restrict nothing when they have this value."""

_CLIENTS = {
    FilterValue(mq.MQCFOP_EQUAL, mq.MQCHT_SVRCONN): True,
    FilterValue(mq.MQCFOP_NOT_EQUAL, mq.MQCHT_SVRCONN): False,
}
"""Filters on the type of a channel: whether they select server connections, or everything else."""

_SHARED_TOO = frozenset({mq.MQQSGD_ALL, mq.MQQSGD_SHARED, mq.MQQSGD_LIVE})


@dataclass(frozen=True, slots=True)
class RequestSelection:
    """``name`` may end in ``*``. ``part`` is the kind of answer (``MQIACF_CF_STATUS_BACKUP`` ...), 0 for commands with one.

    ``disposition`` is a ``MQQSGD_...`` number, for queues only; without one the queue manager's own are meant.
    ``scope`` is the command scope, empty for the queue manager that got the command. ``partial`` is true when a
    filter or another restriction selects among the named objects: then an object that is not in the answer may still
    be there. ``clients``, of channel status only: True for server connections alone, False for all other channels, None
    for both; about a channel of the other half the answer proves nothing.
    """

    command: int
    name: str = "*"
    part: int = 0
    disposition: int = mq.MQQSGD_Q_MGR
    scope: str = ""
    partial: bool = False
    clients: bool | None = None

    def selects(self, name: str) -> bool:
        """True when an object of that name is among those asked for, a channel if it is of the half asked for."""
        if self.partial:
            return False
        return name.startswith(self.name[:-1]) if self.name.endswith("*") else name == self.name

    @property
    def selects_all(self) -> bool:
        """True when every object was asked for."""
        return self.name == "*" and not self.partial and self.clients is None

    @property
    def shared_queues(self) -> bool:
        """True when shared queues were asked for."""
        return self.disposition in _SHARED_TOO

    @property
    def private_queues(self) -> bool:
        """True when the queue manager's own queues were asked for."""
        return self.disposition != mq.MQQSGD_SHARED


def unreadable_selection(command: int) -> RequestSelection:
    """For a request that is missing or cannot be read: its answer proves nothing about missing objects."""
    return RequestSelection(command, part=_PART.get(command, (0, 0))[1], disposition=mq.MQQSGD_ALL, partial=True)


def selection_of(request: Message) -> RequestSelection:
    """What this request selects."""
    command = request.command
    values = request.values
    name_id = _NAME.get(command, 0)
    part_id, part = _PART.get(command, (0, 0))
    used = {name_id, part_id}
    found = values.get(part_id)
    if isinstance(found, int):
        part = found
    name = values.get(name_id, "*")
    scope = values.get(mq.MQCACF_COMMAND_SCOPE, "")
    disposition = values.get(mq.MQIA_QSG_DISP, mq.MQQSGD_Q_MGR)
    clients = _half(command, values.get(mq.MQIACH_CHANNEL_TYPE))
    if clients is not None:
        used.add(mq.MQIACH_CHANNEL_TYPE)
    return RequestSelection(
        command,
        name if isinstance(name, str) else "*",
        part,
        disposition if isinstance(disposition, int) else mq.MQQSGD_Q_MGR,
        scope if isinstance(scope, str) else "",
        any(
            id_ not in used and id_ not in _NEUTRAL and (id_, value) not in _ALL  # a filter's value equals none of them
            for id_, value in values.items()
        ),
        clients,
    )


def _half(command: int, kind: Value | FilterValue | None) -> bool | None:
    """Which half of the channels a condition on their type selects; None when it is no such condition."""
    if command != mq.MQCMD_INQUIRE_CHANNEL_STATUS or not isinstance(kind, FilterValue):
        return None
    return _CLIENTS.get(kind)


@dataclass(slots=True)
class QueryResult:
    """One question that was put to an owner, and what of its answer: ``absence`` None means that it came whole.

    ``failed`` are the objects that the answer names without attributes.
    """

    selection: RequestSelection
    absence: Absence | None
    failed: frozenset[str] = frozenset()


_HALVES = 2


def missing_reason(
    name: str, questions: Sequence[QueryResult], default: Absence | None, *, client: bool | None = None
) -> Absence | None:
    """Why an object is missing: None when a complete answer would hold it; NOT_ASKED without a query.

    ``client``: whether a channel is a server connection, None where that is not known or makes no difference. Then only
    answers about both halves prove that it is not there.
    """
    found = default or Absence.NOT_ASKED
    whole: set[bool | None] = set()
    for asked in questions:
        if name in asked.failed:
            return asked.absence or Absence.NO_ANSWER
        half = asked.selection.clients
        if not asked.selection.selects(name) or (half is not None and client is not None and half is not client):
            continue
        if asked.absence is None:
            whole.add(half)
        elif found is not Absence.UNREACHABLE:
            found = asked.absence
    return None if None in whole or (client in whole if client is not None else len(whole) == _HALVES) else found
