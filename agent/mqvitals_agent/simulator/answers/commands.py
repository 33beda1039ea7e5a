"""The commands that a simulated queue manager knows: what each takes, who answers it, and what "not found" is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.simulator.answers import (
    cf_structure,
    channel,
    channel_initiator,
    connection,
    log,
    queue,
    queue_manager,
    usage,
)
from mqvitals_agent.simulator.answers.asked import Asked, Item
from mqvitals_agent.simulator.state import Group, Member

_INT: Final = mq.MQCFT_INTEGER
_TEXT: Final = mq.MQCFT_STRING
_LIST: Final = mq.MQCFT_INTEGER_LIST
_BYTES: Final = mq.MQCFT_BYTE_STRING


@dataclass(frozen=True, slots=True)
class Command:
    """``name`` without MQCMD; ``tell`` makes the items of one member; ``takes`` is its parameters and their structure types.

    ``needs`` are those that must be there, ``attributes`` the one that lists what is wanted, ``always`` what is told
    even if not in that list. ``generic`` and ``exact`` are the reasons when a generic or an exact name selects nothing
    (0: nothing is a good answer); ``exists`` tells that an exact name is defined, so the generic reason holds for it.
    ``scoped`` is true when it may be sent to other members; ``filtered`` when it takes a filter, ``sometimes`` are
    parameters that only some of its items have.
    """

    name: str
    tell: Callable[[Asked, Group, Member], Iterable[Item]]
    takes: Mapping[int, int]
    needs: tuple[int, ...] = ()
    attributes: int = 0
    always: frozenset[int] = frozenset()
    generic: int = 0
    exact: int = 0
    exists: Callable[[Asked, Group, Member], bool] | None = None
    scoped: bool = True
    filtered: bool = False
    sometimes: frozenset[int] = frozenset()

    def missing(self, asked: Asked, group: Group, member: Member) -> int:
        """The reason when nothing was found."""
        if not self.needs or asked.filters or asked.text(self.needs[-1]).endswith("*"):
            return self.generic
        if self.exists is not None and self.exists(asked, group, member):
            return self.generic
        return self.exact


COMMANDS: Final[Mapping[int, Command]] = {
    mq.MQCMD_INQUIRE_Q_MGR: Command(
        "INQUIRE_Q_MGR",
        queue_manager.attributes,
        {mq.MQIACF_Q_MGR_ATTRS: _LIST},
        attributes=mq.MQIACF_Q_MGR_ATTRS,
        always=frozenset({mq.MQCA_Q_MGR_NAME}),
    ),
    mq.MQCMD_INQUIRE_Q: Command(
        "INQUIRE_Q",
        queue.definitions,
        {
            mq.MQCA_Q_NAME: _TEXT,
            mq.MQIA_Q_TYPE: _INT,
            mq.MQIACF_Q_ATTRS: _LIST,
            mq.MQIA_QSG_DISP: _INT,
            mq.MQCA_CF_STRUC_NAME: _TEXT,
            mq.MQIA_PAGESET_ID: _INT,
            mq.MQCA_STORAGE_CLASS: _TEXT,
        },
        needs=(mq.MQCA_Q_NAME,),
        attributes=mq.MQIACF_Q_ATTRS,
        always=frozenset({mq.MQCA_Q_NAME, mq.MQIA_Q_TYPE, mq.MQIA_QSG_DISP}),
        generic=mq.MQRCCF_NONE_FOUND,
        exact=mq.MQRC_UNKNOWN_OBJECT_NAME,
        exists=queue.exists,
        filtered=True,
        sometimes=frozenset({mq.MQCA_STORAGE_CLASS, mq.MQIA_PAGESET_ID, mq.MQCA_CF_STRUC_NAME}),
    ),
    mq.MQCMD_INQUIRE_Q_STATUS: Command(
        "INQUIRE_Q_STATUS",
        queue.status,
        {
            mq.MQCA_Q_NAME: _TEXT,
            mq.MQIACF_Q_STATUS_TYPE: _INT,
            mq.MQIACF_Q_STATUS_ATTRS: _LIST,
            mq.MQIA_QSG_DISP: _INT,
            mq.MQIACF_OPEN_TYPE: _INT,
        },
        needs=(mq.MQCA_Q_NAME,),
        attributes=mq.MQIACF_Q_STATUS_ATTRS,
        always=frozenset({mq.MQCA_Q_NAME, mq.MQIACF_Q_STATUS_TYPE}),
        generic=mq.MQRCCF_Q_STATUS_NOT_FOUND,
        exact=mq.MQRC_UNKNOWN_OBJECT_NAME,
        exists=queue.exists,
        filtered=True,
    ),
    mq.MQCMD_INQUIRE_CONNECTION: Command(
        "INQUIRE_CONNECTION",
        connection.connections,
        {
            mq.MQBACF_CONNECTION_ID: _BYTES,
            mq.MQBACF_GENERIC_CONNECTION_ID: _BYTES,
            mq.MQIACF_CONN_INFO_TYPE: _INT,
            mq.MQIACF_CONNECTION_ATTRS: _LIST,
            mq.MQIA_UR_DISP: _INT,
        },
        attributes=mq.MQIACF_CONNECTION_ATTRS,
        always=frozenset({mq.MQBACF_CONNECTION_ID, mq.MQIACF_CONN_INFO_TYPE}),
        generic=mq.MQRCCF_NONE_FOUND,
        filtered=True,
    ),
    mq.MQCMD_INQUIRE_STG_CLASS: Command(
        "INQUIRE_STG_CLASS",
        queue.storage_classes,
        {
            mq.MQCA_STORAGE_CLASS: _TEXT,
            mq.MQIA_PAGESET_ID: _INT,
            mq.MQIA_QSG_DISP: _INT,
            mq.MQIACF_STORAGE_CLASS_ATTRS: _LIST,
        },
        needs=(mq.MQCA_STORAGE_CLASS,),
        attributes=mq.MQIACF_STORAGE_CLASS_ATTRS,
        always=frozenset({mq.MQCA_STORAGE_CLASS, mq.MQIA_PAGESET_ID, mq.MQIA_QSG_DISP}),
        generic=mq.MQRCCF_NONE_FOUND,
        exact=mq.MQRCCF_UNKNOWN_OBJECT_NAME,
        filtered=True,
    ),
    mq.MQCMD_INQUIRE_CHANNEL: Command(
        "INQUIRE_CHANNEL",
        channel.definitions,
        {
            mq.MQCACH_CHANNEL_NAME: _TEXT,
            mq.MQIACH_CHANNEL_TYPE: _INT,
            mq.MQIACF_CHANNEL_ATTRS: _LIST,
            mq.MQIA_QSG_DISP: _INT,
        },
        needs=(mq.MQCACH_CHANNEL_NAME,),
        attributes=mq.MQIACF_CHANNEL_ATTRS,
        always=frozenset({mq.MQCACH_CHANNEL_NAME, mq.MQIACH_CHANNEL_TYPE, mq.MQIA_QSG_DISP}),
        generic=mq.MQRCCF_CHANNEL_NOT_FOUND,
        exact=mq.MQRCCF_CHANNEL_NOT_FOUND,
        filtered=True,
        sometimes=channel.DEFINITION_SOMETIMES,
    ),
    mq.MQCMD_INQUIRE_CHANNEL_STATUS: Command(
        "INQUIRE_CHANNEL_STATUS",
        channel.status,
        {
            mq.MQCACH_CHANNEL_NAME: _TEXT,
            mq.MQIACH_CHANNEL_INSTANCE_TYPE: _INT,
            mq.MQIACH_CHANNEL_DISP: _INT,
            mq.MQCACH_CONNECTION_NAME: _TEXT,
            mq.MQCACH_XMIT_Q_NAME: _TEXT,
            mq.MQIACH_CHANNEL_INSTANCE_ATTRS: _LIST,
        },
        needs=(mq.MQCACH_CHANNEL_NAME,),
        attributes=mq.MQIACH_CHANNEL_INSTANCE_ATTRS,
        always=channel.STATUS_ALWAYS,
        generic=mq.MQRCCF_CHL_STATUS_NOT_FOUND,
        exact=mq.MQRCCF_CHL_STATUS_NOT_FOUND,
        filtered=True,
        sometimes=channel.STATUS_SOMETIMES,
    ),
    mq.MQCMD_INQUIRE_CF_STRUC: Command(
        "INQUIRE_CF_STRUC",
        cf_structure.definitions,
        {mq.MQCA_CF_STRUC_NAME: _TEXT, mq.MQIACF_CF_STRUC_ATTRS: _LIST},
        needs=(mq.MQCA_CF_STRUC_NAME,),
        attributes=mq.MQIACF_CF_STRUC_ATTRS,
        always=frozenset({mq.MQCA_CF_STRUC_NAME}),
        generic=mq.MQRCCF_NONE_FOUND,
        exact=mq.MQRCCF_UNKNOWN_OBJECT_NAME,
        scoped=False,
        filtered=True,
    ),
    mq.MQCMD_INQUIRE_CF_STRUC_STATUS: Command(
        "INQUIRE_CF_STRUC_STATUS",
        cf_structure.status,
        {mq.MQCA_CF_STRUC_NAME: _TEXT, mq.MQIACF_CF_STATUS_TYPE: _INT},
        needs=(mq.MQCA_CF_STRUC_NAME,),
        generic=mq.MQRCCF_NONE_FOUND,
        exact=mq.MQRCCF_UNKNOWN_OBJECT_NAME,
        scoped=False,
        filtered=True,
        sometimes=frozenset({mq.MQCACF_CF_STRUC_LOG_Q_MGRS}),
    ),
    mq.MQCMD_INQUIRE_SMDS: Command(
        "INQUIRE_SMDS",
        cf_structure.data_sets,
        {mq.MQCACF_CF_SMDS: _TEXT, mq.MQCA_CF_STRUC_NAME: _TEXT, mq.MQIACF_SMDS_ATTRS: _LIST},
        needs=(mq.MQCACF_CF_SMDS, mq.MQCA_CF_STRUC_NAME),
        attributes=mq.MQIACF_SMDS_ATTRS,
        always=frozenset({mq.MQCACF_CF_SMDS, mq.MQCA_CF_STRUC_NAME}),
        generic=mq.MQRCCF_NONE_FOUND,
        exact=mq.MQRCCF_UNKNOWN_OBJECT_NAME,
        scoped=False,
    ),
    mq.MQCMD_INQUIRE_USAGE: Command(
        "INQUIRE_USAGE",
        usage.usage,
        {mq.MQIACF_USAGE_TYPE: _INT, mq.MQIA_PAGESET_ID: _INT},
    ),
    mq.MQCMD_INQUIRE_CHANNEL_INIT: Command("INQUIRE_CHANNEL_INIT", channel_initiator.status, {}),
    mq.MQCMD_INQUIRE_LOG: Command("INQUIRE_LOG", log.status, {}),
    mq.MQCMD_INQUIRE_ARCHIVE: Command("INQUIRE_ARCHIVE", log.archive, {}),
    mq.MQCMD_INQUIRE_SYSTEM: Command("INQUIRE_SYSTEM", log.system, {}),
    mq.MQCMD_INQUIRE_QSG: Command(
        "INQUIRE_QSG",
        queue_manager.members,
        {mq.MQIACF_OBSOLETE_MSGS: _INT},
        scoped=False,
    ),
}
"""By number. Any other command is answered as z/OS answers one that it does not know (3007)."""
