"""The requests that find out who has a queue open. IBM's names: Inquire Queue Status, Connection, Channel Status.

Applications and channels are those that the handles told; only their first ``MOST`` are asked about, for each costs a command.
"""

from __future__ import annotations

import re
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import byte_string, integer, integers, string_filter
from mqvitals_agent.poll.channel import ask_status as ask_channel_status
from mqvitals_agent.poll.probe import Question, ask
from mqvitals_agent.poll.queue import ask_status as ask_queue_status

MOST: Final = 8
"""How many applications, and how many channels, one queue manager is asked about."""

_NAME: Final = re.compile(r"[A-Za-z0-9./_%]+")

_CONNECTION: Final = (
    mq.MQBACF_CONNECTION_ID,
    mq.MQCACF_APPL_TAG,
    mq.MQCACF_USER_IDENTIFIER,
    mq.MQCACH_CHANNEL_NAME,
    mq.MQCACH_CONNECTION_NAME,
    mq.MQIACF_UOW_STATE,
    mq.MQIACF_UOW_TYPE,
    mq.MQCACF_UOW_START_DATE,
    mq.MQCACF_UOW_START_TIME,
    mq.MQCACF_UOW_LOG_START_DATE,
    mq.MQCACF_UOW_LOG_START_TIME,
)
_ZOS: Final = (mq.MQCACF_ASID, mq.MQCACF_TASK_NUMBER, mq.MQCACF_TRANSACTION_ID, mq.MQCACF_PST_ID)
_DISTRIBUTED: Final = (mq.MQIACF_PROCESS_ID, mq.MQIACF_THREAD_ID)
CONNECTION_ATTRIBUTES: Final = frozenset({*_CONNECTION, *_ZOS, *_DISTRIBUTED})
"""What is wanted of a connection, of any platform."""


def is_exact(name: str, longest: int) -> bool:
    """True for a whole name of MQ with at most so many characters: not empty, and without ``*``, which would ask for all."""
    return len(name) <= longest and _NAME.fullmatch(name) is not None


def ask_handles(queue: str, scope: str, *, disposition: bool = True) -> bytes:
    """DISPLAY QSTATUS(queue) TYPE(HANDLE), shared queues too; without the ``disposition`` where it is no parameter."""
    wanted = mq.MQQSGD_ALL if disposition else None
    return ask_queue_status(Question(queue, mq.MQIACF_Q_HANDLE, wanted, scope))


def ask_connections(application: str, scope: str, *, distributed: bool | None = False) -> bytes:
    """DISPLAY CONN(*) TYPE(CONN) WHERE(APPLTAG EQ application) and what is wanted of a platform; None: all that there is."""
    platform = _DISTRIBUTED if distributed else _ZOS
    attributes = () if distributed is None else (integers(mq.MQIACF_CONNECTION_ATTRS, (*_CONNECTION, *platform)),)
    return ask(
        mq.MQCMD_INQUIRE_CONNECTION,
        Question(scope=scope, where=string_filter(mq.MQCACF_APPL_TAG, mq.MQCFOP_EQUAL, application)),
        byte_string(mq.MQBACF_GENERIC_CONNECTION_ID, b""),
        integer(mq.MQIACF_CONN_INFO_TYPE, mq.MQIACF_CONN_INFO_CONN),
        *attributes,
    )


def ask_instances(channel: str, scope: str) -> bytes:
    """DISPLAY CHSTATUS(channel) CURRENT."""
    return ask_channel_status(Question(channel, scope=scope))
