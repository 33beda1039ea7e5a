"""Open handles and connections: INQUIRE_Q_STATUS of type handle, and INQUIRE_CONNECTION with units of work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.codepage import codec
from mqvitals_agent.pcf.encoder import byte_string
from mqvitals_agent.simulator.answer import CCSID
from mqvitals_agent.simulator.answers.common import (
    CommandRequest,
    ReplyItem,
    fulfils,
    integer,
    integers,
    local_time,
    refused_parameter,
    string,
)
from mqvitals_agent.simulator.applications import (
    Application,
    ApplicationKind,
    Applications,
    QueueHolder,
    all_holders,
    holders,
)
from mqvitals_agent.simulator.state import GroupState, HeldUnit, MemberState, QueueState

APPLICATION_TYPES: Final = {
    ApplicationKind.CICS: mq.MQAT_CICS,
    ApplicationKind.BATCH: mq.MQAT_BATCH,
    ApplicationKind.IMS: mq.MQAT_IMS,
    ApplicationKind.RRS_BATCH: mq.MQAT_RRS_BATCH,
    ApplicationKind.CHINIT: mq.MQAT_CHANNEL_INITIATOR,
    ApplicationKind.SYSTEM: mq.MQAT_QMGR,
}
"""APPLTYPE."""
UNIT_TYPES: Final = {
    ApplicationKind.CICS: mq.MQUOWT_CICS,
    ApplicationKind.BATCH: mq.MQUOWT_Q_MGR,
    ApplicationKind.IMS: mq.MQUOWT_IMS,
    ApplicationKind.RRS_BATCH: mq.MQUOWT_RRS,
    ApplicationKind.CHINIT: mq.MQUOWT_Q_MGR,
    ApplicationKind.SYSTEM: mq.MQUOWT_Q_MGR,
}
"""URTYPE: who coordinates the units of work of each."""
_OPEN_TYPES: Final = frozenset({mq.MQQSOT_ALL, mq.MQQSOT_INPUT, mq.MQQSOT_OUTPUT})
_SHARED: Final = mq.MQOO_INPUT_SHARED | mq.MQOO_FAIL_IF_QUIESCING
_EXCLUSIVE: Final = mq.MQOO_INPUT_EXCLUSIVE | mq.MQOO_FAIL_IF_QUIESCING
_OUTPUT: Final = mq.MQOO_OUTPUT | mq.MQOO_FAIL_IF_QUIESCING
_RBA_BYTES, _UNIT_BYTES = 8, 16
_LOGGED_A_SECOND: Final = 4_096


def handles(
    request: CommandRequest, group: GroupState, member: MemberState, queues: Iterable[tuple[QueueState, int]]
) -> Iterator[ReplyItem]:
    """The handles of ``queues`` (each with its disposition). Raises CommandRefusedError (3229) for a wrong open
    type.
    """
    wanted = request.choice(mq.MQIACF_OPEN_TYPE, mq.MQQSOT_ALL, _OPEN_TYPES)
    applications = Applications(group.seed, member)
    for queue, disposition in queues:
        for holder in holders(group, member, queue, applications):
            if wanted == mq.MQQSOT_ALL or (wanted == mq.MQQSOT_INPUT) == holder.gets:
                yield _item(holder, disposition, member)


def unit_identifiers(holder: QueueHolder, member: MemberState) -> tuple[bytes, bytes]:
    """QMURID, where in the log the unit of work began, and URID, its coordinator's identifier; zeros if absent."""
    if holder.unit_began is None:
        return bytes(_RBA_BYTES), bytes(_UNIT_BYTES)
    own = holder.application.identifier
    # The log of that time is not kept: any place that stays the same for the unit's life will do.
    seconds = max(holder.unit_began - member.started, 0) // 1000
    rba = member.log.start_rba + seconds * _LOGGED_A_SECOND + own[-1]
    outside = UNIT_TYPES[holder.application.kind] != mq.MQUOWT_Q_MGR
    return rba.to_bytes(_RBA_BYTES, "big"), own * 2 if outside else bytes(_UNIT_BYTES)


def _item(holder: QueueHolder, disposition: int, member: MemberState) -> ReplyItem:
    application = holder.application
    rba, external = unit_identifiers(holder, member)
    options, input_type = _OUTPUT, mq.MQQSO_NO
    if holder.gets:
        options, input_type = (_EXCLUSIVE, mq.MQQSO_EXCLUSIVE) if holder.exclusive else (_SHARED, mq.MQQSO_SHARED)
    return (
        string(mq.MQCA_Q_NAME, holder.queue),
        integer(mq.MQIACF_Q_STATUS_TYPE, mq.MQIACF_Q_HANDLE),
        integer(mq.MQIA_QSG_DISP, disposition),
        string(mq.MQCACF_APPL_TAG, application.name),
        string(mq.MQCACF_APPL_DESC, application.description),
        integer(mq.MQIA_APPL_TYPE, APPLICATION_TYPES[application.kind]),
        string(mq.MQCACF_ASID, application.asid),
        integer(mq.MQIACF_ASYNC_STATE, mq.MQAS_NONE),
        string(mq.MQCACH_CHANNEL_NAME, application.channel),
        string(mq.MQCACH_CONNECTION_NAME, application.connection_name),
        integer(mq.MQIACF_HANDLE_STATE, mq.MQHSTATE_ACTIVE if holder.active else mq.MQHSTATE_INACTIVE),
        integer(mq.MQIACF_OPEN_OPTIONS, options),
        integer(mq.MQIACF_OPEN_INPUT_TYPE, input_type),
        integer(mq.MQIACF_OPEN_OUTPUT, mq.MQQSO_YES if holder.puts else mq.MQQSO_NO),
        integer(mq.MQIACF_OPEN_BROWSE, mq.MQQSO_NO),
        integer(mq.MQIACF_OPEN_INQUIRE, mq.MQQSO_NO),
        integer(mq.MQIACF_OPEN_SET, mq.MQQSO_NO),
        string(mq.MQCACF_USER_IDENTIFIER, application.user),
        string(mq.MQCACF_PSB_NAME, application.psb),
        string(mq.MQCACF_PST_ID, application.region),
        string(mq.MQCACF_TASK_NUMBER, application.task),
        string(mq.MQCACF_TRANSACTION_ID, application.transaction),
        byte_string(mq.MQBACF_Q_MGR_UOW_ID, rba),
        byte_string(mq.MQBACF_EXTERNAL_UOW_ID, external),
        integer(mq.MQIACF_UOW_TYPE, UNIT_TYPES[application.kind]),
    )


_HOLDING: Final = {
    False: Application(
        "NIGHTJOB",
        ApplicationKind.BATCH,
        "BATCHUSR",
        "0042",
        bytes.fromhex("00DE1F0000000100"),
        description="Night run",
    ),
    True: Application(
        "CICSPA01",
        ApplicationKind.CICS,
        "CICSUSER",
        "0051",
        bytes.fromhex("00DE1F0000000200"),
        transaction="PAYG",
        task="0012345",
    ),
}
"""Who holds a unit of work that stays open, by whether it is in doubt."""
_TAG_BYTES: Final = 128
_TYPES: Final = frozenset({mq.MQIACF_CONN_INFO_CONN})
_DISPOSITIONS: Final = frozenset({mq.MQQSGD_ALL, mq.MQQSGD_Q_MGR, mq.MQQSGD_GROUP})


def connections(request: CommandRequest, group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    """The connections that have queues open. Their handles, the other types, are not simulated.

    Raises CommandRefusedError: 3228 without an identifier, 3203 with both kinds of it, 3229 for another type than CONN,
    a wrong disposition or an identifier that is too long or, when it is not generic, too short.
    """
    request.choice(mq.MQIACF_CONN_INFO_TYPE, mq.MQIACF_CONN_INFO_CONN, _TYPES)
    disposition = request.choice(mq.MQIA_UR_DISP, mq.MQQSGD_ALL, _DISPOSITIONS)
    prefix = _identifier_prefix(request)
    if disposition == mq.MQQSGD_GROUP:
        return  # no unit of work of a simulated group belongs to the group
    page = codec(CCSID)
    queue_manager = page.encode("CSQC") + page.encode(member.name[:4].ljust(12))
    # Usually few connections are wanted out of thousands, of one application or in a unit of work: make no items for
    # the others.
    tags = [condition for number, condition in request.filters if number == mq.MQCACF_APPL_TAG]
    states = [condition for number, condition in request.filters if number == mq.MQIACF_UOW_STATE]
    for holder in all_holders(group, member):
        if holder.unit_began is None and not all(fulfils(mq.MQUOWST_NONE, each) for each in states):
            continue
        identifier = queue_manager + holder.application.identifier
        if identifier.startswith(prefix) and all(fulfils(holder.application.name, each) for each in tags):
            yield _connection_item(holder, identifier, member)
    for number, unit in enumerate(group.fault(member.name).units):
        application = _HOLDING[unit.in_doubt]
        identifier = queue_manager + (int.from_bytes(application.identifier, "big") + number).to_bytes(8, "big")
        if identifier.startswith(prefix) and all(fulfils(application.name, each) for each in tags):
            held = QueueHolder("", application, gets=False, unit_began=group.now - unit.age_ms)
            yield _connection_item(held, identifier, member, unit)


def _identifier_prefix(request: CommandRequest) -> bytes:
    """The prefix of the wanted identifiers."""
    exact = request.values.get(mq.MQBACF_CONNECTION_ID)
    generic = request.values.get(mq.MQBACF_GENERIC_CONNECTION_ID)
    if isinstance(exact, bytes) and isinstance(generic, bytes):
        raise refused_parameter(mq.MQRCCF_PARM_CONFLICT, mq.MQBACF_GENERIC_CONNECTION_ID)
    if isinstance(exact, bytes):
        if len(exact) != mq.MQ_CONNECTION_ID_LENGTH:
            raise refused_parameter(mq.MQRCCF_PARM_VALUE_ERROR, mq.MQBACF_CONNECTION_ID)
        return exact
    if not isinstance(generic, bytes):
        raise refused_parameter(mq.MQRCCF_PARM_MISSING, mq.MQBACF_CONNECTION_ID)
    if len(generic) > mq.MQ_CONNECTION_ID_LENGTH:
        raise refused_parameter(mq.MQRCCF_PARM_VALUE_ERROR, mq.MQBACF_GENERIC_CONNECTION_ID)
    return generic


def _connection_item(
    holder: QueueHolder, identifier: bytes, member: MemberState, unit: HeldUnit | None = None
) -> ReplyItem:
    """A connection; ``unit`` is one that stays open, whose beginning in the log is known."""
    application = holder.application
    day, time = local_time(holder.unit_began, member.zone_ms)
    rba, external = unit_identifiers(holder, member)
    state = mq.MQUOWST_ACTIVE
    if unit is not None:
        rba = (member.log.rba - unit.bytes).to_bytes(_RBA_BYTES, "big")
        state = mq.MQUOWST_UNRESOLVED if unit.in_doubt else mq.MQUOWST_ACTIVE
    under_way = holder.unit_began is not None
    # A unit of work of another region has that region's identifier.
    network = application.identifier if under_way and application.kind is ApplicationKind.CICS else b""
    through = application.kind is ApplicationKind.CHINIT
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
        integer(mq.MQIACF_UOW_STATE, state if under_way else mq.MQUOWST_NONE),
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
