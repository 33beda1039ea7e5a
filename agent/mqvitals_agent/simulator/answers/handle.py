"""INQUIRE_Q_STATUS of type handle: one item an open handle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import byte_string, integer, string
from mqvitals_agent.simulator.answers.asked import Asked, Item
from mqvitals_agent.simulator.application import Applications, Kind
from mqvitals_agent.simulator.holder import Holder, holders
from mqvitals_agent.simulator.state import Group, Member, Queue

APPLICATION_TYPES: Final = {
    Kind.CICS: mq.MQAT_CICS,
    Kind.BATCH: mq.MQAT_BATCH,
    Kind.IMS: mq.MQAT_IMS,
    Kind.RRS_BATCH: mq.MQAT_RRS_BATCH,
    Kind.CHINIT: mq.MQAT_CHANNEL_INITIATOR,
    Kind.SYSTEM: mq.MQAT_QMGR,
}
"""APPLTYPE."""
UNIT_TYPES: Final = {
    Kind.CICS: mq.MQUOWT_CICS,
    Kind.BATCH: mq.MQUOWT_Q_MGR,
    Kind.IMS: mq.MQUOWT_IMS,
    Kind.RRS_BATCH: mq.MQUOWT_RRS,
    Kind.CHINIT: mq.MQUOWT_Q_MGR,
    Kind.SYSTEM: mq.MQUOWT_Q_MGR,
}
"""URTYPE: who coordinates the units of work of each."""
_OPEN_TYPES: Final = frozenset({mq.MQQSOT_ALL, mq.MQQSOT_INPUT, mq.MQQSOT_OUTPUT})
_SHARED: Final = mq.MQOO_INPUT_SHARED | mq.MQOO_FAIL_IF_QUIESCING
_EXCLUSIVE: Final = mq.MQOO_INPUT_EXCLUSIVE | mq.MQOO_FAIL_IF_QUIESCING
_OUTPUT: Final = mq.MQOO_OUTPUT | mq.MQOO_FAIL_IF_QUIESCING
_RBA_BYTES, _UNIT_BYTES = 8, 16
_LOGGED_A_SECOND: Final = 4_096


def handles(asked: Asked, group: Group, member: Member, queues: Iterable[tuple[Queue, int]]) -> Iterator[Item]:
    """The handles of ``queues``, each given with its disposition. Raises RefusedError: 3229 for a wrong open type."""
    wanted = asked.choice(mq.MQIACF_OPEN_TYPE, mq.MQQSOT_ALL, _OPEN_TYPES)
    applications = Applications(group.seed, member)
    for queue, disposition in queues:
        for holder in holders(group, member, queue, applications):
            if wanted == mq.MQQSOT_ALL or (wanted == mq.MQQSOT_INPUT) == holder.gets:
                yield _item(holder, disposition, member)


def unit_identifiers(holder: Holder, member: Member) -> tuple[bytes, bytes]:
    """QMURID, where in the log the unit of work began, and URID, what its coordinator calls it; zeros for what is not there."""
    if holder.unit_began is None:
        return bytes(_RBA_BYTES), bytes(_UNIT_BYTES)
    own = holder.application.identifier
    # The log of back then is not remembered: a place in it that stays the same as long as the unit lasts.
    seconds = max(holder.unit_began - member.started, 0) // 1000
    rba = member.log.start_rba + seconds * _LOGGED_A_SECOND + own[-1]
    outside = UNIT_TYPES[holder.application.kind] != mq.MQUOWT_Q_MGR
    return rba.to_bytes(_RBA_BYTES, "big"), own * 2 if outside else bytes(_UNIT_BYTES)


def _item(holder: Holder, disposition: int, member: Member) -> Item:
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
