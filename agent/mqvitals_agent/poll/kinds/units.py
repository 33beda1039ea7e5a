"""INQUIRE_CONNECTION: how many units of work are active and in doubt, and which are the oldest.

Only connections with a unit of work are asked for, and their answer becomes one row of the queue manager.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.answer import DecodedReply
from mqvitals_agent.pcf.encoder import byte_string, integer, integer_filter, integers
from mqvitals_agent.poll.columns import LocalTimes, MetricValues
from mqvitals_agent.poll.local_time import local_ms
from mqvitals_agent.poll.probe import CycleRows, MemberReport, Probe, probe_part, wanted_parameters
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.queue_manager import QUEUE_MANAGER_KIND

UNITS = probe_part(QUEUE_MANAGER_KIND, "INQUIRE_CONNECTION")

IN_DOUBT: Final = frozenset({mq.MQUOWST_PREPARED, mq.MQUOWST_UNRESOLVED})
UNIT_TYPE: Final[Mapping[int, str]] = {
    mq.MQUOWT_Q_MGR: "QMGR",
    mq.MQUOWT_CICS: "CICS",
    mq.MQUOWT_RRS: "RRS",
    mq.MQUOWT_IMS: "IMS",
    mq.MQUOWT_XA: "XA",
}
"""URTYPE: who coordinates a unit of work."""
_CONN_BYTES: Final = 8
_ATTRIBUTES: Final = (
    mq.MQCACF_APPL_TAG,
    mq.MQIA_APPL_TYPE,
    mq.MQCACF_USER_IDENTIFIER,
    mq.MQCACH_CHANNEL_NAME,
    mq.MQCACH_CONNECTION_NAME,
    mq.MQIACF_UOW_STATE,
    mq.MQIACF_UOW_TYPE,
    mq.MQCACF_UOW_START_DATE,
    mq.MQCACF_UOW_START_TIME,
    mq.MQCACF_UOW_LOG_START_DATE,
    mq.MQCACF_UOW_LOG_START_TIME,
    mq.MQBACF_Q_MGR_UOW_ID,
)


def read_units(answer: MemberReport, rows: CycleRows) -> None:
    """One row of the queue manager, also when no connection has a unit of work."""
    if answer.selection.partial:
        return  # of one application: it says nothing about the others
    states: dict[int, list[DecodedReply]] = {}
    for item in answer.items:
        state = item.get(mq.MQIACF_UOW_STATE)
        if type(state) is int:
            states.setdefault(state, []).append(item)
    active = states.get(mq.MQUOWST_ACTIVE, [])
    doubtful = [item for state in sorted(IN_DOUBT) for item in states.get(state, ())]
    logged = [(logged_ms(item), item) for item in active if logged_ms(item) is not None]
    in_doubt = [(_begun_ms(item), item) for item in doubtful]
    metrics: MetricValues = {
        "units_active": len(active),
        "units_logged": len(logged),
        "units_prepared": len(states.get(mq.MQUOWST_PREPARED, ())),
        "units_unresolved": len(states.get(mq.MQUOWST_UNRESOLVED, ())),
    }
    local = {
        **_oldest(in_doubt, metrics, "indoubt_age_s", "indoubt_oldest"),
        **_oldest(logged, metrics, "logged_age_s", "logged_oldest"),
    }
    if not answer.whole:
        # What did not come may be older and more.
        metrics = dict.fromkeys(metrics, Absence.NO_ANSWER)
        local = {}
    rows.put(UNITS, answer.queue_manager, "", answer.row(metrics, local))


def _oldest(units: Sequence[tuple[int | None, DecodedReply]], metrics: MetricValues, age: str, who: str) -> LocalTimes:
    """Put the age and the words of the oldest unit of work into ``metrics``."""
    dated = [(ms, item) for ms, item in units if ms is not None]
    metrics[age] = metrics[who] = Absence.NOT_RETURNED if units else Absence.NOTHING_TO_TELL
    if not dated:
        return {}
    began, item = min(dated, key=lambda each: each[0])
    metrics[age] = Absence.TIME_ZONE_UNKNOWN
    metrics[who] = words_of(item)
    return {age: began}


def logged_ms(item: DecodedReply) -> int | None:
    """When it wrote its first log record, on the queue manager's clock face; None: it wrote none."""
    return local_ms(item.get(mq.MQCACF_UOW_LOG_START_DATE), item.get(mq.MQCACF_UOW_LOG_START_TIME))


def _begun_ms(item: DecodedReply) -> int | None:
    logged = logged_ms(item)
    if logged is not None:
        return logged
    return local_ms(item.get(mq.MQCACF_UOW_START_DATE), item.get(mq.MQCACF_UOW_START_TIME))


def words_of(item: DecodedReply) -> str:
    """``CICSPA01, user CICSUSER, CICS, connection 000000000000002A, QMURID 0000001A2B3C``."""
    kind = item.get(mq.MQIACF_UOW_TYPE)
    unit, connection = unit_id(item), connection_id(item)
    via = " from ".join(filter(None, (_text(item, mq.MQCACH_CHANNEL_NAME), _text(item, mq.MQCACH_CONNECTION_NAME))))
    user = _text(item, mq.MQCACF_USER_IDENTIFIER)
    parts = (
        _text(item, mq.MQCACF_APPL_TAG) or "(no name)",
        f"user {user}" if user else "",
        via,
        UNIT_TYPE.get(kind, f"URTYPE {kind}") if type(kind) is int else "",
        f"connection {connection}" if connection else "",
        f"QMURID {unit}" if unit else "",
    )
    return ", ".join(filter(None, parts))


def unit_id(item: DecodedReply) -> str:
    """QMURID in hexadecimal, on z/OS the log position where it began; empty when it has none."""
    value = item.get(mq.MQBACF_Q_MGR_UOW_ID)
    return value.hex().upper() if isinstance(value, bytes) and value.strip(b"\0") else ""


def connection_id(item: DecodedReply) -> str:
    """CONN in hexadecimal; empty when it is not reported."""
    value = item.get(mq.MQBACF_CONNECTION_ID)
    return value[-_CONN_BYTES:].hex().upper() if isinstance(value, bytes) else ""


def _text(item: DecodedReply, number: int) -> str:
    value = item.get(number)
    return value.rstrip(" \0") if isinstance(value, str) else ""


UNITS_PROBE = Probe(
    mq.MQCMD_INQUIRE_CONNECTION,
    read_units,
    lambda selection: () if selection.partial else (UNITS,),
    wanted_parameters(mq.MQBACF_CONNECTION_ID, *_ATTRIBUTES),
    parameters=lambda _: (
        byte_string(mq.MQBACF_GENERIC_CONNECTION_ID, b""),
        integer(mq.MQIACF_CONN_INFO_TYPE, mq.MQIACF_CONN_INFO_CONN),
        integers(mq.MQIACF_CONNECTION_ATTRS, (mq.MQBACF_CONNECTION_ID, *_ATTRIBUTES)),
        integer_filter(mq.MQIACF_UOW_STATE, mq.MQCFOP_NOT_EQUAL, mq.MQUOWST_NONE),
    ),
    of_none=True,
)
PROBES = (UNITS_PROBE,)
