"""INQUIRE_CONNECTION of type connection: one item a connection, with its unit of work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.codepage import codec
from mqvitals_agent.pcf.encoder import byte_string, integer, integers, string
from mqvitals_agent.simulator.answer import CCSID
from mqvitals_agent.simulator.answers.asked import Asked, Item, RefusedError
from mqvitals_agent.simulator.answers.condition import fulfils
from mqvitals_agent.simulator.answers.handle import APPLICATION_TYPES, UNIT_TYPES, unit_identifiers
from mqvitals_agent.simulator.answers.local_time import local_time
from mqvitals_agent.simulator.application import Kind
from mqvitals_agent.simulator.holder import Holder, all_holders
from mqvitals_agent.simulator.state import Group, Member

_TAG_BYTES: Final = 128
_TYPES: Final = frozenset({mq.MQIACF_CONN_INFO_CONN})
_DISPOSITIONS: Final = frozenset({mq.MQQSGD_ALL, mq.MQQSGD_Q_MGR, mq.MQQSGD_GROUP})


def connections(asked: Asked, group: Group, member: Member) -> Iterator[Item]:
    """The connections that have queues open. Their handles, the other types, are not simulated.

    Raises RefusedError: 3228 without an identifier, 3203 with both kinds of it, 3229 for another type than CONN, a wrong
    disposition or an identifier that is too long or, when it is not generic, too short.
    """
    asked.choice(mq.MQIACF_CONN_INFO_TYPE, mq.MQIACF_CONN_INFO_CONN, _TYPES)
    disposition = asked.choice(mq.MQIA_UR_DISP, mq.MQQSGD_ALL, _DISPOSITIONS)
    beginning = _beginning(asked)
    if disposition == mq.MQQSGD_GROUP:
        return  # no unit of work of a simulated group belongs to the group
    page = codec(CCSID)
    queue_manager = page.encode("CSQC") + page.encode(member.name[:4].ljust(12))
    # Of thousands of connections mostly those of one application are wanted: no items are made for the others.
    tags = [condition for number, condition in asked.filters if number == mq.MQCACF_APPL_TAG]
    for holder in all_holders(group, member):
        identifier = queue_manager + holder.application.identifier
        if identifier.startswith(beginning) and all(fulfils(holder.application.name, each) for each in tags):
            yield _item(holder, identifier, member)


def _beginning(asked: Asked) -> bytes:
    """What the wanted identifiers begin with."""
    exact = asked.values.get(mq.MQBACF_CONNECTION_ID)
    generic = asked.values.get(mq.MQBACF_GENERIC_CONNECTION_ID)
    if isinstance(exact, bytes) and isinstance(generic, bytes):
        raise _about(mq.MQRCCF_PARM_CONFLICT, mq.MQBACF_GENERIC_CONNECTION_ID)
    if isinstance(exact, bytes):
        if len(exact) != mq.MQ_CONNECTION_ID_LENGTH:
            raise _about(mq.MQRCCF_PARM_VALUE_ERROR, mq.MQBACF_CONNECTION_ID)
        return exact
    if not isinstance(generic, bytes):
        raise _about(mq.MQRCCF_PARM_MISSING, mq.MQBACF_CONNECTION_ID)
    if len(generic) > mq.MQ_CONNECTION_ID_LENGTH:
        raise _about(mq.MQRCCF_PARM_VALUE_ERROR, mq.MQBACF_GENERIC_CONNECTION_ID)
    return generic


def _about(reason: int, number: int) -> RefusedError:
    return RefusedError(reason, (integer(mq.MQIACF_PARAMETER_ID, number),))


def _item(holder: Holder, identifier: bytes, member: Member) -> Item:
    application = holder.application
    day, time = local_time(holder.unit_began, member.zone_ms)
    rba, external = unit_identifiers(holder, member)
    under_way = holder.unit_began is not None
    # What another region coordinates has the name that it has there.
    network = application.identifier if under_way and application.kind is Kind.CICS else b""
    through = application.kind is Kind.CHINIT
    return (
        byte_string(mq.MQBACF_CONNECTION_ID, identifier),
        integer(mq.MQIACF_CONN_INFO_TYPE, mq.MQIACF_CONN_INFO_CONN),
        string(mq.MQCACF_APPL_TAG, application.name),
        integer(mq.MQIA_APPL_TYPE, APPLICATION_TYPES[application.kind]),
        string(mq.MQCACF_ASID, application.asid),
        integer(mq.MQIACF_ASYNC_STATE, mq.MQAS_NONE),
        string(mq.MQCACH_CHANNEL_NAME, application.channel),
        string(mq.MQCACH_CONNECTION_NAME, application.connection_name),
        integers(mq.MQIACF_CONNECT_OPTIONS, (mq.MQCNO_HANDLE_SHARE_BLOCK if through else mq.MQCNO_HANDLE_SHARE_NONE,)),
        string(mq.MQCACF_USER_IDENTIFIER, application.user),
        integer(mq.MQIACF_UOW_STATE, mq.MQUOWST_ACTIVE if under_way else mq.MQUOWST_NONE),
        integer(mq.MQIACF_UOW_TYPE, UNIT_TYPES[application.kind]),
        string(mq.MQCACF_UOW_START_DATE, day),
        string(mq.MQCACF_UOW_START_TIME, time),
        string(mq.MQCACF_UOW_LOG_START_DATE, day),
        string(mq.MQCACF_UOW_LOG_START_TIME, time),
        byte_string(mq.MQBACF_Q_MGR_UOW_ID, rba),
        byte_string(mq.MQBACF_EXTERNAL_UOW_ID, external),
        byte_string(mq.MQBACF_ORIGIN_UOW_ID, network),
        string(mq.MQCACF_ORIGIN_NAME, application.name if network else ""),
        integer(mq.MQIA_UR_DISP, mq.MQQSGD_Q_MGR),
        string(mq.MQCACF_PSB_NAME, application.psb),
        string(mq.MQCACF_PST_ID, application.region),
        string(mq.MQCACF_TRANSACTION_ID, application.transaction),
        string(mq.MQCACF_TASK_NUMBER, application.task),
        byte_string(mq.MQBACF_CONN_TAG, identifier.ljust(_TAG_BYTES, b"\0")),
    )
