"""The commands that a simulated queue manager supports: their parameters, who answers them, and how a request is
refused.

A malformed request is refused for the reason that z/OS gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.message import FilterValue, Message, Parameter, Value
from mqvitals_agent.simulator.answers import channel, cluster, handles, publish_subscribe, queue, queue_manager, storage
from mqvitals_agent.simulator.answers.common import CommandRefusedError, CommandRequest, ReplyItem, refused_parameter
from mqvitals_agent.simulator.state import GroupState, MemberState

_INT: Final = mq.MQCFT_INTEGER
_TEXT: Final = mq.MQCFT_STRING
_LIST: Final = mq.MQCFT_INTEGER_LIST
_BYTES: Final = mq.MQCFT_BYTE_STRING


@dataclass(frozen=True, slots=True)
class SupportedCommand:
    """``name`` without MQCMD; ``items`` makes the items of one member; ``takes`` are its parameters by structure type.

    ``needs`` are required parameters, ``attributes`` the one that lists the wanted attributes, ``always`` attributes
    that are returned in any case. ``generic`` and ``exact`` are the reasons when a generic or an exact name selects
    nothing (0: an empty answer); ``exists`` says whether an exact name is defined, which then has the generic reason.
    ``scoped``: it may be sent to other members. ``filtered``: it takes a filter. ``sometimes``: parameters that only
    some items have.
    """

    name: str
    items: Callable[[CommandRequest, GroupState, MemberState], Iterable[ReplyItem]]
    takes: Mapping[int, int]
    needs: tuple[int, ...] = ()
    attributes: int = 0
    always: frozenset[int] = frozenset()
    generic: int = 0
    exact: int = 0
    exists: Callable[[CommandRequest, GroupState, MemberState], bool] | None = None
    scoped: bool = True
    filtered: bool = False
    sometimes: frozenset[int] = frozenset()

    def missing(self, request: CommandRequest, group: GroupState, member: MemberState) -> int:
        """The reason when nothing was found."""
        if not self.needs or request.filters or request.text(self.needs[-1]).endswith("*"):
            return self.generic
        if self.exists is not None and self.exists(request, group, member):
            return self.generic
        return self.exact


COMMANDS: Final[Mapping[int, SupportedCommand]] = {
    mq.MQCMD_INQUIRE_Q_MGR: SupportedCommand(
        "INQUIRE_Q_MGR",
        queue_manager.queue_manager_attributes,
        {mq.MQIACF_Q_MGR_ATTRS: _LIST},
        attributes=mq.MQIACF_Q_MGR_ATTRS,
        always=frozenset({mq.MQCA_Q_MGR_NAME}),
    ),
    mq.MQCMD_INQUIRE_Q: SupportedCommand(
        "INQUIRE_Q",
        queue.queue_definitions,
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
        exists=queue.queue_exists,
        filtered=True,
        sometimes=frozenset({mq.MQCA_STORAGE_CLASS, mq.MQIA_PAGESET_ID, mq.MQCA_CF_STRUC_NAME}),
    ),
    mq.MQCMD_INQUIRE_Q_STATUS: SupportedCommand(
        "INQUIRE_Q_STATUS",
        queue.queue_status,
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
        exists=queue.queue_exists,
        filtered=True,
    ),
    mq.MQCMD_INQUIRE_CONNECTION: SupportedCommand(
        "INQUIRE_CONNECTION",
        handles.connections,
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
    mq.MQCMD_INQUIRE_STG_CLASS: SupportedCommand(
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
    mq.MQCMD_INQUIRE_CHANNEL: SupportedCommand(
        "INQUIRE_CHANNEL",
        channel.channel_definitions,
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
    mq.MQCMD_INQUIRE_CHANNEL_STATUS: SupportedCommand(
        "INQUIRE_CHANNEL_STATUS",
        channel.channel_status,
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
    mq.MQCMD_INQUIRE_CF_STRUC: SupportedCommand(
        "INQUIRE_CF_STRUC",
        storage.structure_definitions,
        {mq.MQCA_CF_STRUC_NAME: _TEXT, mq.MQIACF_CF_STRUC_ATTRS: _LIST},
        needs=(mq.MQCA_CF_STRUC_NAME,),
        attributes=mq.MQIACF_CF_STRUC_ATTRS,
        always=frozenset({mq.MQCA_CF_STRUC_NAME}),
        generic=mq.MQRCCF_NONE_FOUND,
        exact=mq.MQRCCF_UNKNOWN_OBJECT_NAME,
        scoped=False,
        filtered=True,
    ),
    mq.MQCMD_INQUIRE_CF_STRUC_STATUS: SupportedCommand(
        "INQUIRE_CF_STRUC_STATUS",
        storage.structure_status,
        {mq.MQCA_CF_STRUC_NAME: _TEXT, mq.MQIACF_CF_STATUS_TYPE: _INT},
        needs=(mq.MQCA_CF_STRUC_NAME,),
        generic=mq.MQRCCF_NONE_FOUND,
        exact=mq.MQRCCF_UNKNOWN_OBJECT_NAME,
        scoped=False,
        filtered=True,
        sometimes=frozenset({mq.MQCACF_CF_STRUC_LOG_Q_MGRS}),
    ),
    mq.MQCMD_INQUIRE_SMDS: SupportedCommand(
        "INQUIRE_SMDS",
        storage.shared_data_sets,
        {mq.MQCACF_CF_SMDS: _TEXT, mq.MQCA_CF_STRUC_NAME: _TEXT, mq.MQIACF_SMDS_ATTRS: _LIST},
        needs=(mq.MQCACF_CF_SMDS, mq.MQCA_CF_STRUC_NAME),
        attributes=mq.MQIACF_SMDS_ATTRS,
        always=frozenset({mq.MQCACF_CF_SMDS, mq.MQCA_CF_STRUC_NAME}),
        generic=mq.MQRCCF_NONE_FOUND,
        exact=mq.MQRCCF_UNKNOWN_OBJECT_NAME,
        scoped=False,
    ),
    mq.MQCMD_INQUIRE_SMDSCONN: SupportedCommand(
        "INQUIRE_SMDSCONN",
        storage.data_set_connections,
        {mq.MQCACF_CF_SMDSCONN: _TEXT, mq.MQCA_CF_STRUC_NAME: _TEXT},
        needs=(mq.MQCACF_CF_SMDSCONN, mq.MQCA_CF_STRUC_NAME),
        generic=mq.MQRCCF_NONE_FOUND,
        exact=mq.MQRCCF_UNKNOWN_OBJECT_NAME,
    ),
    mq.MQCMD_INQUIRE_USAGE: SupportedCommand(
        "INQUIRE_USAGE",
        storage.usage,
        {mq.MQIACF_USAGE_TYPE: _INT, mq.MQIA_PAGESET_ID: _INT},
    ),
    mq.MQCMD_INQUIRE_CLUSTER_Q_MGR: SupportedCommand(
        "INQUIRE_CLUSTER_Q_MGR",
        cluster.cluster_queue_managers,
        {mq.MQCA_CLUSTER_Q_MGR_NAME: _TEXT, mq.MQIACF_CLUSTER_Q_MGR_ATTRS: _LIST},
        needs=(mq.MQCA_CLUSTER_Q_MGR_NAME,),
        attributes=mq.MQIACF_CLUSTER_Q_MGR_ATTRS,
        always=frozenset({mq.MQCA_CLUSTER_Q_MGR_NAME, mq.MQCA_CLUSTER_NAME, mq.MQCACH_CHANNEL_NAME}),
        generic=mq.MQRCCF_NONE_FOUND,
        exact=mq.MQRCCF_UNKNOWN_OBJECT_NAME,
        filtered=True,
    ),
    mq.MQCMD_INQUIRE_PUBSUB_STATUS: SupportedCommand(
        "INQUIRE_PUBSUB_STATUS", publish_subscribe.pubsub_status, {mq.MQIACF_PS_STATUS_TYPE: _INT}
    ),
    mq.MQCMD_INQUIRE_SUBSCRIPTION: SupportedCommand(
        "INQUIRE_SUBSCRIPTION",
        publish_subscribe.subscriptions,
        {mq.MQCACF_SUB_NAME: _TEXT, mq.MQIACF_DURABLE_SUBSCRIPTION: _INT, mq.MQIACF_SUB_ATTRS: _LIST},
        needs=(mq.MQCACF_SUB_NAME,),
        attributes=mq.MQIACF_SUB_ATTRS,
        always=frozenset({mq.MQCACF_SUB_NAME}),
        generic=mq.MQRCCF_NONE_FOUND,
        exact=mq.MQRCCF_UNKNOWN_OBJECT_NAME,
        filtered=True,
    ),
    mq.MQCMD_INQUIRE_SECURITY: SupportedCommand(
        "INQUIRE_SECURITY", publish_subscribe.security, {mq.MQIACF_SECURITY_ATTRS: _LIST}
    ),
    mq.MQCMD_INQUIRE_CHANNEL_INIT: SupportedCommand("INQUIRE_CHANNEL_INIT", queue_manager.channel_initiator_status, {}),
    mq.MQCMD_INQUIRE_LOG: SupportedCommand("INQUIRE_LOG", queue_manager.log_status, {}),
    mq.MQCMD_INQUIRE_ARCHIVE: SupportedCommand("INQUIRE_ARCHIVE", queue_manager.archive_parameters, {}),
    mq.MQCMD_INQUIRE_SYSTEM: SupportedCommand("INQUIRE_SYSTEM", queue_manager.system_parameters, {}),
    mq.MQCMD_INQUIRE_QSG: SupportedCommand(
        "INQUIRE_QSG",
        queue_manager.group_members,
        {mq.MQIACF_OBSOLETE_MSGS: _INT},
        scoped=False,
    ),
}
"""By number. Other commands are refused as unknown ones on z/OS (3007)."""


_NOT_HERE: Final = {
    mq.MQCFT_INTEGER: mq.MQRCCF_CFIN_PARM_ID_ERROR,
    mq.MQCFT_STRING: mq.MQRCCF_CFST_PARM_ID_ERROR,
    mq.MQCFT_INTEGER_LIST: mq.MQRCCF_CFIL_PARM_ID_ERROR,
    mq.MQCFT_STRING_LIST: mq.MQRCCF_CFSL_PARM_ID_ERROR,
    mq.MQCFT_BYTE_STRING: mq.MQRCCF_CFBS_PARM_ID_ERROR,
    mq.MQCFT_INTEGER_FILTER: mq.MQRCCF_CFIF_PARM_ID_ERROR,
}
"""The reason for a parameter that the command does not take, by its structure type."""


def parse_request(message: Message) -> tuple[SupportedCommand, CommandRequest]:
    """The command and its request. Raises CommandRefusedError for a malformed message."""
    if message.type != mq.MQCFT_COMMAND_XR:
        raise CommandRefusedError(mq.MQRCCF_CFH_TYPE_ERROR)
    command = COMMANDS.get(message.command)
    if command is None:
        raise refused_parameter(mq.MQRCCF_CFH_COMMAND_ERROR, 0)
    values: dict[int, Value] = {}
    filters: list[tuple[int, FilterValue]] = []
    for parameter in message.parameters:
        if isinstance(parameter.value, FilterValue) and command.filtered:
            filters.append((parameter.id, parameter.value))
            continue
        _check(command, parameter, values)
        values[parameter.id] = parameter.value
    if len(filters) > 1:
        raise CommandRefusedError(mq.MQRCCF_TOO_MANY_FILTERS)
    for number in command.needs:
        if not values.get(number):
            raise refused_parameter(mq.MQRCCF_PARM_MISSING, number)
    return command, CommandRequest(message.command, values, tuple(filters))


def _check(command: SupportedCommand, parameter: Parameter, before: dict[int, Value]) -> None:
    if parameter.id == mq.MQCACF_COMMAND_SCOPE and command.scoped:
        expected: int | None = mq.MQCFT_STRING
    else:
        expected = command.takes.get(parameter.id)
    if expected is None:
        raise refused_parameter(_NOT_HERE.get(parameter.type, mq.MQRCCF_STRUCTURE_TYPE_ERROR), parameter.id)
    if parameter.type != expected:
        raise refused_parameter(mq.MQRCCF_STRUCTURE_TYPE_ERROR, parameter.id)
    if parameter.id in before:
        raise refused_parameter(mq.MQRCCF_CFIN_DUPLICATE_PARM, parameter.id)
