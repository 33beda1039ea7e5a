"""Requests for handles, connections and channel instances, and what their answers say.

Nothing that comes from a queue manager raises. An answer that is incomplete is returned with a note; when nothing
came, the result has a problem instead. "Not found" is a complete answer without items.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, NamedTuple, TypeVar

from mqvitals_agent.connection.answer import CONNECTION_FAILURES, NO_REPLY, outcome_of_answer, read_answer
from mqvitals_agent.connection.connection import Exchange, Query
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.answer import TRACKED, DecodedReply, MemberAnswer
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import byte_string, integer, integer_filter, integers, string_filter
from mqvitals_agent.pcf.names import reason_name
from mqvitals_agent.poll.command_form import command_form, display_command
from mqvitals_agent.poll.kinds.channel import STATUS_PROBE as CHANNEL_PROBE
from mqvitals_agent.poll.kinds.queue import STATUS_PROBE as QUEUE_PROBE
from mqvitals_agent.poll.kinds.units import UNIT_TYPE, unit_id
from mqvitals_agent.poll.probe import QueryOptions, pcf_request
from mqvitals_agent.who.holder import Holder, ReportedConnection, ReportedInstance, UnitOfWork
from mqvitals_rules.snapshot import Outcome
from mqvitals_rules.vocabulary import metric as states

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


MOST_QUERIES: Final = 8
"""The most applications, and the most channels, that are queried of one queue manager: each costs a command."""

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
"""The attributes of a connection that are read, of any platform."""


def is_exact(name: str, longest: int) -> bool:
    """True for a full MQ name of at most ``longest`` characters: not empty and without ``*``."""
    return len(name) <= longest and _NAME.fullmatch(name) is not None


def ask_handles(queue: str, scope: str, *, disposition: bool = True) -> Query:
    """DISPLAY QSTATUS(queue) TYPE(HANDLE); ``disposition``: name that parameter, to include shared queues."""
    wanted = mq.MQQSGD_ALL if disposition else None
    request = QUEUE_PROBE.ask(QueryOptions(queue, mq.MQIACF_Q_HANDLE, wanted, scope))
    return Query(mq.MQCMD_INQUIRE_Q_STATUS, request, _HANDLE)


def ask_connections(application: str, scope: str, *, distributed: bool | None = False) -> Query:
    """DISPLAY CONN(*) TYPE(CONN) WHERE(APPLTAG EQ application) with a platform's attributes; None: all."""
    platform = _DISTRIBUTED if distributed else _ZOS
    attributes = () if distributed is None else (integers(mq.MQIACF_CONNECTION_ATTRS, (*_CONNECTION, *platform)),)
    request = pcf_request(
        mq.MQCMD_INQUIRE_CONNECTION,
        QueryOptions(scope=scope, where=string_filter(mq.MQCACF_APPL_TAG, mq.MQCFOP_EQUAL, application)),
        byte_string(mq.MQBACF_GENERIC_CONNECTION_ID, b""),
        integer(mq.MQIACF_CONN_INFO_TYPE, mq.MQIACF_CONN_INFO_CONN),
        *attributes,
    )
    return Query(mq.MQCMD_INQUIRE_CONNECTION, request, _CONNECTION_PARAMETERS)


def ask_units(scope: str) -> Query:
    """DISPLAY CONN(*) TYPE(CONN) WHERE(UOWSTATE NE NONE) ALL: all attributes, as the filter leaves few connections."""
    request = pcf_request(
        mq.MQCMD_INQUIRE_CONNECTION,
        QueryOptions(scope=scope, where=integer_filter(mq.MQIACF_UOW_STATE, mq.MQCFOP_NOT_EQUAL, mq.MQUOWST_NONE)),
        byte_string(mq.MQBACF_GENERIC_CONNECTION_ID, b""),
        integer(mq.MQIACF_CONN_INFO_TYPE, mq.MQIACF_CONN_INFO_CONN),
    )
    return Query(mq.MQCMD_INQUIRE_CONNECTION, request, _CONNECTION_PARAMETERS)


def ask_instances(channel: str, scope: str) -> Query:
    """DISPLAY CHSTATUS(channel) CURRENT."""
    return Query(mq.MQCMD_INQUIRE_CHANNEL_STATUS, CHANNEL_PROBE.ask(QueryOptions(channel, scope=scope)), _INSTANCE)


_T = TypeVar("_T")

_YES_NO: Final = {mq.MQQSO_NO: False, mq.MQQSO_YES: True}


def _text(item: DecodedReply, number: int) -> str:
    value = item.get(number)
    return value.rstrip(" \0") if isinstance(value, str) else ""


def _name(item: DecodedReply, number: int, names: Names) -> str:
    """The name of a number, else its digits; empty when the value is no number."""
    value = item.get(number)
    return names.get(value) or str(value) if type(value) is int else ""


def _number(item: DecodedReply, number: int) -> int | None:
    value = item.get(number)
    return value if type(value) is int else None


def _yes(item: DecodedReply, number: int) -> bool | None:
    value = item.get(number)
    return _YES_NO.get(value) if type(value) is int else None


_HANDLE_FIELDS: Final[Mapping[str, tuple[int, Callable[[DecodedReply, int], Any]]]] = {
    "application": (mq.MQCACF_APPL_TAG, _text),
    "application_type": (mq.MQIA_APPL_TYPE, partial(_name, names=APPLICATION_TYPE)),
    "description": (mq.MQCACF_APPL_DESC, _text),
    "user": (mq.MQCACF_USER_IDENTIFIER, _text),
    "asid": (mq.MQCACF_ASID, _text),
    "channel": (mq.MQCACH_CHANNEL_NAME, _text),
    "connection_name": (mq.MQCACH_CONNECTION_NAME, _text),
    "transaction": (mq.MQCACF_TRANSACTION_ID, _text),
    "task": (mq.MQCACF_TASK_NUMBER, _text),
    "psb": (mq.MQCACF_PSB_NAME, _text),
    "region": (mq.MQCACF_PST_ID, _text),
    "process": (mq.MQIACF_PROCESS_ID, _number),
    "thread": (mq.MQIACF_THREAD_ID, _number),
    "input": (mq.MQIACF_OPEN_INPUT_TYPE, partial(_name, names=INPUT)),
    "output": (mq.MQIACF_OPEN_OUTPUT, _yes),
    "browse": (mq.MQIACF_OPEN_BROWSE, _yes),
    "inquire": (mq.MQIACF_OPEN_INQUIRE, _yes),
    "set": (mq.MQIACF_OPEN_SET, _yes),
    "state": (mq.MQIACF_HANDLE_STATE, partial(_name, names=HANDLE_STATE)),
    "async_state": (mq.MQIACF_ASYNC_STATE, partial(_name, names=ASYNC_STATE)),
}
"""The fields of a holder, each with its parameter and how it is read."""
_HANDLE: Final = TRACKED | {mq.MQCA_Q_NAME, mq.MQIACF_Q_STATUS_TYPE, *(number for number, _ in _HANDLE_FIELDS.values())}
_CONNECTION_PARAMETERS: Final = TRACKED | CONNECTION_ATTRIBUTES | {mq.MQIACF_CONN_INFO_TYPE, mq.MQBACF_Q_MGR_UOW_ID}
_INSTANCE: Final = TRACKED | {
    mq.MQCACH_CHANNEL_NAME,
    mq.MQIACH_CHANNEL_INSTANCE_TYPE,
    mq.MQCACH_CONNECTION_NAME,
    mq.MQCACH_CHANNEL_START_DATE,
    mq.MQCACH_CHANNEL_START_TIME,
    mq.MQIACH_CHANNEL_STATUS,
    mq.MQIACH_CHANNEL_SUBSTATE,
    mq.MQIACH_MSGS,
    mq.MQCACH_LAST_MSG_DATE,
    mq.MQCACH_LAST_MSG_TIME,
    mq.MQCACH_REMOTE_APPL_TAG,
    mq.MQCACH_MCA_USER_ID,
}
_CONN_BYTES: Final = 8
"""CONN is the last 8 bytes of a connection identifier; the 16 before them are EXTCONN, the same for a whole queue
manager."""
_NO_SUCH_QUEUE: Final = frozenset({mq.MQRC_UNKNOWN_OBJECT_NAME, mq.MQRCCF_UNKNOWN_OBJECT_NAME})
_NO_CHANNEL_INITIATOR: Final = frozenset({mq.MQRCCF_CHL_SYSTEM_NOT_ACTIVE, mq.MQRCCF_NO_CHANNEL_INITIATOR})


@dataclass(frozen=True, slots=True)
class HolderQueryResult(Generic[_T]):
    """The items of an answer. ``problem`` says why there are none, ``note`` what else is known; sentences, or empty.

    ``reason`` is the reason code of MQ behind the one or the other, 0 where none is.
    """

    items: tuple[_T, ...] = ()
    problem: str = ""
    note: str = ""
    reason: int = 0


def read_handles(exchange: Exchange, queue_manager: str, queue: str, decoder: Decoder) -> HolderQueryResult[Holder]:
    """The handles of a queue, as the queue manager answered: one entry for each, in the order of the answer."""
    raw = _raw_answer(exchange, queue_manager, mq.MQCMD_INQUIRE_Q_STATUS, _HANDLE, decoder)
    handles = tuple(
        Holder(**{field: read(item, number) for field, (number, read) in _HANDLE_FIELDS.items()})
        for item in raw.items
        if _text(item, mq.MQCA_Q_NAME) in ("", queue)
        and item.get(mq.MQIACF_Q_STATUS_TYPE) in (None, mq.MQIACF_Q_HANDLE)
    )
    if not handles and not raw.cause and raw.reason in _NO_SUCH_QUEUE:
        return HolderQueryResult(note=f"{queue_manager} has no local queue of that name", reason=raw.reason)
    return _result(raw, handles)


def read_connections(
    exchange: Exchange, queue_manager: str, application: str, decoder: Decoder
) -> HolderQueryResult[ReportedConnection]:
    """The connections of an application, as the queue manager answered."""
    raw = _raw_answer(exchange, queue_manager, mq.MQCMD_INQUIRE_CONNECTION, _CONNECTION_PARAMETERS, decoder)
    return _result(
        raw,
        tuple(
            _connection(item, application)
            for item in raw.items
            if _text(item, mq.MQCACF_APPL_TAG) in ("", application)
            and item.get(mq.MQIACF_CONN_INFO_TYPE) in (None, mq.MQIACF_CONN_INFO_CONN)
        ),
    )


def read_all_connections(
    exchange: Exchange, queue_manager: str, decoder: Decoder
) -> HolderQueryResult[ReportedConnection]:
    """The connections of all applications that have a unit of work, as the queue manager answered."""
    raw = _raw_answer(exchange, queue_manager, mq.MQCMD_INQUIRE_CONNECTION, _CONNECTION_PARAMETERS, decoder)
    found = (_connection(item, _text(item, mq.MQCACF_APPL_TAG)) for item in raw.items)
    return _result(raw, tuple(each for each in found if each.unit_of_work is not None))


def read_instances(
    exchange: Exchange, queue_manager: str, channel: str, decoder: Decoder
) -> HolderQueryResult[ReportedInstance]:
    """The current instances of a channel, as the queue manager answered."""
    raw = _raw_answer(exchange, queue_manager, mq.MQCMD_INQUIRE_CHANNEL_STATUS, _INSTANCE, decoder)
    return _result(
        raw,
        tuple(
            _instance(item, channel)
            for item in raw.items
            if _text(item, mq.MQCACH_CHANNEL_NAME) in ("", channel)
            and item.get(mq.MQIACH_CHANNEL_INSTANCE_TYPE) in (None, mq.MQOT_CURRENT_CHANNEL)
        ),
    )


class _RawAnswer(NamedTuple):
    """An answer before it is read.

    ``cause`` says why it is incomplete; empty: complete, and ``reason`` may be "not found".
    """

    items: tuple[DecodedReply, ...]
    cause: str
    reason: int


def _raw_answer(
    exchange: Exchange, queue_manager: str, command: int, wanted: frozenset[int], decoder: Decoder
) -> _RawAnswer:
    answer = read_answer(exchange, decoder, wanted)
    members = answer.members
    own = [member for member in members if member.queue_manager in ("", queue_manager)]
    items = tuple(item for member in own for item in member.items)
    what = display_command(command_form(command))
    reason = _reason(own or members)
    if reason and outcome_of_answer(reason) is not Outcome.NOT_FOUND:
        return _RawAnswer(items, _failure(reason, what, queue_manager), reason)
    if exchange.error is not None:
        failed = exchange.error.reason
        if exchange.command is None or failed in CONNECTION_FAILURES:
            return _RawAnswer(items, f"the connection to {exchange.queue_manager} failed ({_code(failed)})", failed)
        if failed != NO_REPLY:
            return _RawAnswer(items, _failure(failed, what, queue_manager), failed)
    if answer.damaged:
        return _RawAnswer(
            items, f"{answer.damaged} of {len(exchange.replies)} messages in answer to {what} cannot be read", 0
        )
    if not own and members:
        others = ", ".join(member.queue_manager for member in members)
        return _RawAnswer((), f"{others} answered to {what} instead of {queue_manager}", 0)
    if not own:
        return _RawAnswer((), f"no answer to {what} came in time", NO_REPLY)
    if exchange.error is not None or not answer.complete or not all(member.complete for member in own):
        return _RawAnswer(items, f"the answer to {what} did not come whole in time", NO_REPLY)
    return _RawAnswer(items, "", reason)


def _reason(members: list[MemberAnswer] | tuple[MemberAnswer, ...]) -> int:
    """The first reason other than "not found", else "not found"."""
    reasons = [member.reason for member in members if member.reason]
    return next(
        (each for each in reasons if outcome_of_answer(each) is not Outcome.NOT_FOUND), reasons[0] if reasons else 0
    )


def _failure(reason: int, what: str, queue_manager: str) -> str:
    outcome = outcome_of_answer(reason)
    if outcome is Outcome.REFUSED:
        return f"not authorised to {what}; 'mqvitals doctor' shows what to ask for"
    if outcome is Outcome.UNKNOWN_COMMAND:
        return f"{queue_manager} does not know {what}"
    if reason in _NO_CHANNEL_INITIATOR:
        return f"{what} needs the channel initiator of {queue_manager}, which is not active"
    if reason == mq.MQRCCF_COMMAND_SCOPE_ERROR:
        return f"{queue_manager} is not active in the queue-sharing group, or unknown there"
    return f"{what} failed ({_code(reason)}); the job log of {queue_manager} may show more"


def _code(reason: int) -> str:
    name = reason_name(reason)
    return f"{reason} {name}" if name else str(reason)


def _result(raw: _RawAnswer, items: tuple[_T, ...]) -> HolderQueryResult[_T]:
    if not raw.cause:
        return HolderQueryResult(items, reason=raw.reason)
    if items:
        return HolderQueryResult(items, note=f"{raw.cause}: there may be more than is shown", reason=raw.reason)
    return HolderQueryResult(problem=raw.cause, reason=raw.reason)


def _connection(item: DecodedReply, application: str) -> ReportedConnection:
    identifier = item.get(mq.MQBACF_CONNECTION_ID)
    return ReportedConnection(
        identifier=identifier[-_CONN_BYTES:].hex().upper() if isinstance(identifier, bytes) else "",
        application=application,  # what the filter selected
        user=_text(item, mq.MQCACF_USER_IDENTIFIER),
        asid=_text(item, mq.MQCACF_ASID),
        channel=_text(item, mq.MQCACH_CHANNEL_NAME) if type(item.get(mq.MQCACH_CHANNEL_NAME)) is str else None,
        connection_name=_text(item, mq.MQCACH_CONNECTION_NAME),
        transaction=_text(item, mq.MQCACF_TRANSACTION_ID),
        task=_text(item, mq.MQCACF_TASK_NUMBER),
        region=_text(item, mq.MQCACF_PST_ID),
        process=_number(item, mq.MQIACF_PROCESS_ID),
        thread=_number(item, mq.MQIACF_THREAD_ID),
        unit_of_work=_unit_of_work(item),
    )


def _unit_of_work(item: DecodedReply) -> UnitOfWork | None:
    """The unit of work of a connection; None when there is none, or none is reported."""
    state = _name(item, mq.MQIACF_UOW_STATE, UNIT_STATE)
    began = _moment(item, mq.MQCACF_UOW_START_DATE, mq.MQCACF_UOW_START_TIME)
    if state == "NONE" or not (state or began):
        return None
    return UnitOfWork(
        state,
        _name(item, mq.MQIACF_UOW_TYPE, UNIT_TYPE),
        began,
        _moment(item, mq.MQCACF_UOW_LOG_START_DATE, mq.MQCACF_UOW_LOG_START_TIME),
        unit_id(item),
    )


def _instance(item: DecodedReply, channel: str) -> ReportedInstance:
    return ReportedInstance(
        channel=channel,
        connection_name=_text(item, mq.MQCACH_CONNECTION_NAME),
        began=_moment(item, mq.MQCACH_CHANNEL_START_DATE, mq.MQCACH_CHANNEL_START_TIME),
        status=_name(item, mq.MQIACH_CHANNEL_STATUS, CHANNEL_STATUS),
        substate=_name(item, mq.MQIACH_CHANNEL_SUBSTATE, CHANNEL_SUBSTATE),
        msgs=_number(item, mq.MQIACH_MSGS),
        last_message=_moment(item, mq.MQCACH_LAST_MSG_DATE, mq.MQCACH_LAST_MSG_TIME),
        remote_application=_text(item, mq.MQCACH_REMOTE_APPL_TAG),
        user=_text(item, mq.MQCACH_MCA_USER_ID),
    )


def _moment(item: DecodedReply, date: int, time: int) -> str:
    """A local date and time as MQ wrote them; empty where the date is blank."""
    day = _text(item, date)
    return f"{day} {_text(item, time)}".rstrip() if day else ""
