"""Names of numbers as MQSC writes them, where the vocabulary of metrics has none. A number without a name is its digits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.message import Value
from mqvitals_rules.vocabulary import states

Names = Mapping[int, str]


def _by_number(names: Mapping[str, int]) -> Names:
    return {number: name for name, number in names.items()}


CHANNEL_STATUS: Final = _by_number(states.CHANNEL_STATUS)
CHANNEL_SUBSTATE: Final = _by_number(states.CHANNEL_SUBSTATE)

APPLICATION_TYPE: Final[Names] = {
    mq.MQAT_CICS: "CICS",
    mq.MQAT_ZOS: "ZOS",
    mq.MQAT_IMS: "IMS",
    mq.MQAT_QMGR: "SYSTEM",
    mq.MQAT_USER: "USER",
    mq.MQAT_CHANNEL_INITIATOR: "CHINIT",
    mq.MQAT_BATCH: "BATCH",
    mq.MQAT_RRS_BATCH: "RRSBATCH",
    mq.MQAT_SYSTEM_EXTENSION: "SYSTEMEXT",
}
"""APPLTYPE."""
INPUT: Final[Names] = {mq.MQQSO_NO: "NO", mq.MQQSO_SHARED: "SHARED", mq.MQQSO_EXCLUSIVE: "EXCL"}
"""INPUT."""
HANDLE_STATE: Final[Names] = {mq.MQHSTATE_INACTIVE: "INACTIVE", mq.MQHSTATE_ACTIVE: "ACTIVE"}
"""HSTATE."""
ASYNC_STATE: Final[Names] = {
    mq.MQAS_NONE: "NONE",
    mq.MQAS_STARTED: "STARTED",
    mq.MQAS_START_WAIT: "STARTWAIT",
    mq.MQAS_STOPPED: "STOPPED",
    mq.MQAS_SUSPENDED: "SUSPENDED",
    mq.MQAS_SUSPENDED_TEMPORARY: "SUSPTEMP",
    mq.MQAS_ACTIVE: "ACTIVE",
    mq.MQAS_INACTIVE: "INACTIVE",
}
"""ASTATE."""
UNIT_STATE: Final[Names] = {
    mq.MQUOWST_NONE: "NONE",
    mq.MQUOWST_ACTIVE: "ACTIVE",
    mq.MQUOWST_PREPARED: "PREPARED",
    mq.MQUOWST_UNRESOLVED: "UNRESOLVED",
}
"""UOWSTATE."""
UNIT_TYPE: Final[Names] = {
    mq.MQUOWT_Q_MGR: "QMGR",
    mq.MQUOWT_CICS: "CICS",
    mq.MQUOWT_RRS: "RRS",
    mq.MQUOWT_IMS: "IMS",
    mq.MQUOWT_XA: "XA",
}
"""URTYPE."""


def named(value: Value | None, names: Names) -> str:
    """The name of a number, else its digits; empty for what is no number."""
    if type(value) is not int:
        return ""
    return names.get(value) or str(value)
