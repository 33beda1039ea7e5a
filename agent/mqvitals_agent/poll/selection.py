"""What a request selected: an answer says nothing about objects that its request did not select."""

from __future__ import annotations

from dataclasses import dataclass

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.message import Message

_NAME = {
    mq.MQCMD_INQUIRE_Q: mq.MQCA_Q_NAME,
    mq.MQCMD_INQUIRE_Q_STATUS: mq.MQCA_Q_NAME,
    mq.MQCMD_INQUIRE_CHANNEL: mq.MQCACH_CHANNEL_NAME,
    mq.MQCMD_INQUIRE_CHANNEL_STATUS: mq.MQCACH_CHANNEL_NAME,
    mq.MQCMD_INQUIRE_CF_STRUC: mq.MQCA_CF_STRUC_NAME,
    mq.MQCMD_INQUIRE_CF_STRUC_STATUS: mq.MQCA_CF_STRUC_NAME,
    mq.MQCMD_INQUIRE_STG_CLASS: mq.MQCA_STORAGE_CLASS,
    mq.MQCMD_INQUIRE_SMDS: mq.MQCA_CF_STRUC_NAME,
}
"""The parameter that names the wanted objects, for commands that have one."""

_PART = {
    mq.MQCMD_INQUIRE_Q_STATUS: (mq.MQIACF_Q_STATUS_TYPE, mq.MQIACF_Q_STATUS),
    mq.MQCMD_INQUIRE_CHANNEL_STATUS: (mq.MQIACH_CHANNEL_INSTANCE_TYPE, mq.MQOT_CURRENT_CHANNEL),
    mq.MQCMD_INQUIRE_CF_STRUC_STATUS: (mq.MQIACF_CF_STATUS_TYPE, mq.MQIACF_CF_STATUS_SUMMARY),
    mq.MQCMD_INQUIRE_USAGE: (mq.MQIACF_USAGE_TYPE, mq.MQIACF_USAGE_PAGESET),
}
"""The parameter that says which part of what a command can tell is wanted, and the part when it is left out."""

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
        mq.MQCACF_COMMAND_SCOPE,
        mq.MQIA_QSG_DISP,
    }
)
"""Lists of wanted attributes restrict what is told of an object, not which objects; scope and disposition are kept apart."""

_ALL = {
    (mq.MQIACH_CHANNEL_TYPE, mq.MQCHT_ALL),
    (mq.MQIACH_CHANNEL_DISP, mq.MQCHLD_ALL),
    (mq.MQIA_Q_TYPE, mq.MQQT_ALL),
    (mq.MQIA_Q_TYPE, mq.MQQT_LOCAL),  # only local queues are polled
    (mq.MQCACF_CF_SMDS, "*"),
}
"""Parameters that restrict nothing when they have this value."""

_SHARED_TOO = frozenset({mq.MQQSGD_ALL, mq.MQQSGD_SHARED, mq.MQQSGD_LIVE})


@dataclass(frozen=True, slots=True)
class Selection:
    """``name`` may end in ``*``. ``part`` is the kind of answer (``MQIACF_CF_STATUS_BACKUP`` ...), 0 for commands with one.

    ``disposition`` is a ``MQQSGD_...`` number, for queues only; without one the queue manager's own are meant. ``scope``
    is the command scope, empty for the queue manager that got the command. ``partial`` is true when a filter or another
    restriction selects among the named objects: then an object that is not in the answer may still be there.
    """

    command: int
    name: str = "*"
    part: int = 0
    disposition: int = mq.MQQSGD_Q_MGR
    scope: str = ""
    partial: bool = False

    def selects(self, name: str) -> bool:
        """True when an object of that name is among those asked for."""
        if self.partial:
            return False
        return name.startswith(self.name[:-1]) if self.name.endswith("*") else name == self.name

    @property
    def shared_queues(self) -> bool:
        """True when shared queues were asked for."""
        return self.disposition in _SHARED_TOO

    @property
    def private_queues(self) -> bool:
        """True when the queue manager's own queues were asked for."""
        return self.disposition != mq.MQQSGD_SHARED


def unreadable(command: int) -> Selection:
    """For a request that is missing or cannot be read: its answer is taken as of the usual part, and tells of nothing else."""
    return Selection(command, part=_PART.get(command, (0, 0))[1], disposition=mq.MQQSGD_ALL, partial=True)


def of_request(request: Message) -> Selection:
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
    return Selection(
        command,
        name if isinstance(name, str) else "*",
        part,
        disposition if isinstance(disposition, int) else mq.MQQSGD_Q_MGR,
        scope if isinstance(scope, str) else "",
        any(
            id_ not in used and id_ not in _NEUTRAL and (id_, value) not in _ALL  # a filter's value equals none of them
            for id_, value in values.items()
        ),
    )
