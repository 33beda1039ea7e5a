"""Answers to the requests of ``question``: from an exchange to handles, connections and channel instances, or to a sentence.

Nothing that comes from a queue manager raises. What came of an answer that is not whole is told with a note; only where
nothing came there is a problem instead. "Not found" is a whole answer that tells of nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar

from mqvitals_agent.connection.exchange import Exchange
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.answer import TRACKED, AnswerTracker, MemberAnswer, Reply
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.error import PcfError
from mqvitals_agent.pcf.names import reason_name
from mqvitals_agent.poll.command import form, mqsc
from mqvitals_agent.poll.outcome import CONNECTION_FAILURES, NO_REPLY, of_answer
from mqvitals_agent.who import naming
from mqvitals_agent.who.holder import Holder, UnitOfWork
from mqvitals_agent.who.naming import named
from mqvitals_agent.who.question import CONNECTION_ATTRIBUTES
from mqvitals_agent.who.told import ToldConnection, ToldInstance
from mqvitals_rules.snapshot import Outcome

_T = TypeVar("_T")

_HANDLE: Final = TRACKED | {
    mq.MQCA_Q_NAME,
    mq.MQIACF_Q_STATUS_TYPE,
    mq.MQCACF_APPL_TAG,
    mq.MQIA_APPL_TYPE,
    mq.MQCACF_APPL_DESC,
    mq.MQCACF_USER_IDENTIFIER,
    mq.MQCACF_ASID,
    mq.MQCACH_CHANNEL_NAME,
    mq.MQCACH_CONNECTION_NAME,
    mq.MQCACF_TRANSACTION_ID,
    mq.MQCACF_TASK_NUMBER,
    mq.MQCACF_PSB_NAME,
    mq.MQCACF_PST_ID,
    mq.MQIACF_PROCESS_ID,
    mq.MQIACF_THREAD_ID,
    mq.MQIACF_OPEN_INPUT_TYPE,
    mq.MQIACF_OPEN_OUTPUT,
    mq.MQIACF_OPEN_BROWSE,
    mq.MQIACF_OPEN_INQUIRE,
    mq.MQIACF_OPEN_SET,
    mq.MQIACF_HANDLE_STATE,
    mq.MQIACF_ASYNC_STATE,
}
_CONNECTION: Final = TRACKED | CONNECTION_ATTRIBUTES | {mq.MQIACF_CONN_INFO_TYPE}
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
"""CONN is the last 8 bytes of a connection identifier; the 16 before them are EXTCONN, alike for all of a queue manager."""
_YES_NO: Final = {mq.MQQSO_NO: False, mq.MQQSO_YES: True}
_NO_SUCH_QUEUE: Final = frozenset({mq.MQRC_UNKNOWN_OBJECT_NAME, mq.MQRCCF_UNKNOWN_OBJECT_NAME})
_NO_CHANNEL_INITIATOR: Final = frozenset({mq.MQRCCF_CHL_SYSTEM_NOT_ACTIVE, mq.MQRCCF_NO_CHANNEL_INITIATOR})


@dataclass(frozen=True, slots=True)
class Told(Generic[_T]):
    """What an answer tells. ``problem`` is why it tells nothing, ``note`` what else there is to know; sentences, or empty.

    ``reason`` is the reason code of MQ behind the one or the other, 0 where none is.
    """

    items: tuple[_T, ...] = ()
    problem: str = ""
    note: str = ""
    reason: int = 0


def read_handles(exchange: Exchange, queue_manager: str, queue: str, decoder: Decoder) -> Told[Holder]:
    """The handles of a queue, as the queue manager answered: one entry for each, in the order of the answer."""
    heard = _hear(exchange, queue_manager, mq.MQCMD_INQUIRE_Q_STATUS, _HANDLE, decoder)
    handles = tuple(
        _handle(item)
        for item in heard.items
        if _text(item, mq.MQCA_Q_NAME) in ("", queue)
        and item.get(mq.MQIACF_Q_STATUS_TYPE) in (None, mq.MQIACF_Q_HANDLE)
    )
    if not handles and not heard.cause and heard.reason in _NO_SUCH_QUEUE:
        return Told(note=f"{queue_manager} has no local queue of that name", reason=heard.reason)
    return _told(heard, handles)


def read_connections(
    exchange: Exchange, queue_manager: str, application: str, decoder: Decoder
) -> Told[ToldConnection]:
    """The connections of an application, as the queue manager answered."""
    heard = _hear(exchange, queue_manager, mq.MQCMD_INQUIRE_CONNECTION, _CONNECTION, decoder)
    return _told(
        heard,
        tuple(
            _connection(item, application)
            for item in heard.items
            if _text(item, mq.MQCACF_APPL_TAG) in ("", application)
            and item.get(mq.MQIACF_CONN_INFO_TYPE) in (None, mq.MQIACF_CONN_INFO_CONN)
        ),
    )


def read_instances(exchange: Exchange, queue_manager: str, channel: str, decoder: Decoder) -> Told[ToldInstance]:
    """The current instances of a channel, as the queue manager answered."""
    heard = _hear(exchange, queue_manager, mq.MQCMD_INQUIRE_CHANNEL_STATUS, _INSTANCE, decoder)
    return _told(
        heard,
        tuple(
            _instance(item, channel)
            for item in heard.items
            if _text(item, mq.MQCACH_CHANNEL_NAME) in ("", channel)
            and item.get(mq.MQIACH_CHANNEL_INSTANCE_TYPE) in (None, mq.MQOT_CURRENT_CHANNEL)
        ),
    )


class _Heard(NamedTuple):
    """An answer before it is read. ``cause`` says why it is not whole, empty when it is; then ``reason`` may be "not found"."""

    items: tuple[Reply, ...]
    cause: str
    reason: int


def _hear(exchange: Exchange, queue_manager: str, command: int, wanted: frozenset[int], decoder: Decoder) -> _Heard:
    tracker = AnswerTracker()
    damaged = 0
    for reply in exchange.replies:
        try:
            tracker.add(decoder.decode_values(reply.data, reply.ccsid, wanted))
        except PcfError:
            damaged += 1
    members = tracker.answers()
    own = [member for member in members if member.queue_manager in ("", queue_manager)]
    items = tuple(item for member in own for item in member.items)
    what = mqsc(form(command))
    reason = _reason(own or members)
    if reason and of_answer(reason) is not Outcome.NOT_FOUND:
        return _Heard(items, _failure(reason, what, queue_manager), reason)
    if exchange.error is not None:
        failed = exchange.error.reason
        if exchange.command is None or failed in CONNECTION_FAILURES:
            return _Heard(items, f"the connection to {exchange.queue_manager} failed ({_code(failed)})", failed)
        if failed != NO_REPLY:
            return _Heard(items, _failure(failed, what, queue_manager), failed)
    if damaged:
        return _Heard(items, f"{damaged} of {len(exchange.replies)} messages in answer to {what} cannot be read", 0)
    if not own and members:
        others = ", ".join(member.queue_manager for member in members)
        return _Heard((), f"{others} answered to {what} instead of {queue_manager}", 0)
    if not own:
        return _Heard((), f"no answer to {what} came in time", NO_REPLY)
    if exchange.error is not None or not tracker.complete or not all(member.complete for member in own):
        return _Heard(items, f"the answer to {what} did not come whole in time", NO_REPLY)
    return _Heard(items, "", reason)


def _reason(members: list[MemberAnswer] | tuple[MemberAnswer, ...]) -> int:
    """The first reason that is more than "not found", else that one."""
    reasons = [member.reason for member in members if member.reason]
    return next((each for each in reasons if of_answer(each) is not Outcome.NOT_FOUND), reasons[0] if reasons else 0)


def _failure(reason: int, what: str, queue_manager: str) -> str:
    outcome = of_answer(reason)
    if outcome is Outcome.REFUSED:
        return f"not authorised to {what}; 'mqvitals doctor' says what to ask for"
    if outcome is Outcome.UNKNOWN_COMMAND:
        return f"{queue_manager} does not know {what}"
    if reason in _NO_CHANNEL_INITIATOR:
        return f"{what} needs the channel initiator of {queue_manager}, which is not active"
    if reason == mq.MQRCCF_COMMAND_SCOPE_ERROR:
        return f"{queue_manager} is not active in the queue-sharing group, or unknown there"
    return f"{what} failed ({_code(reason)}); the job log of {queue_manager} may say more"


def _code(reason: int) -> str:
    name = reason_name(reason)
    return f"{reason} {name}" if name else str(reason)


def _told(heard: _Heard, items: tuple[_T, ...]) -> Told[_T]:
    if not heard.cause:
        return Told(items, reason=heard.reason)
    if items:
        return Told(items, note=f"{heard.cause}: there may be more than is shown", reason=heard.reason)
    return Told(problem=heard.cause, reason=heard.reason)


def _handle(item: Reply) -> Holder:
    return Holder(
        application=_text(item, mq.MQCACF_APPL_TAG),
        application_type=named(item.get(mq.MQIA_APPL_TYPE), naming.APPLICATION_TYPE),
        description=_text(item, mq.MQCACF_APPL_DESC),
        user=_text(item, mq.MQCACF_USER_IDENTIFIER),
        asid=_text(item, mq.MQCACF_ASID),
        channel=_text(item, mq.MQCACH_CHANNEL_NAME),
        connection_name=_text(item, mq.MQCACH_CONNECTION_NAME),
        transaction=_text(item, mq.MQCACF_TRANSACTION_ID),
        task=_text(item, mq.MQCACF_TASK_NUMBER),
        psb=_text(item, mq.MQCACF_PSB_NAME),
        region=_text(item, mq.MQCACF_PST_ID),
        process=_number(item, mq.MQIACF_PROCESS_ID),
        thread=_number(item, mq.MQIACF_THREAD_ID),
        input=named(item.get(mq.MQIACF_OPEN_INPUT_TYPE), naming.INPUT),
        output=_yes(item, mq.MQIACF_OPEN_OUTPUT),
        browse=_yes(item, mq.MQIACF_OPEN_BROWSE),
        inquire=_yes(item, mq.MQIACF_OPEN_INQUIRE),
        set=_yes(item, mq.MQIACF_OPEN_SET),
        state=named(item.get(mq.MQIACF_HANDLE_STATE), naming.HANDLE_STATE),
        async_state=named(item.get(mq.MQIACF_ASYNC_STATE), naming.ASYNC_STATE),
    )


def _connection(item: Reply, application: str) -> ToldConnection:
    identifier = item.get(mq.MQBACF_CONNECTION_ID)
    return ToldConnection(
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


def _unit_of_work(item: Reply) -> UnitOfWork | None:
    """The unit of work of a connection; None where it says that there is none, or says nothing."""
    state = named(item.get(mq.MQIACF_UOW_STATE), naming.UNIT_STATE)
    began = _moment(item, mq.MQCACF_UOW_START_DATE, mq.MQCACF_UOW_START_TIME)
    if state == "NONE" or not (state or began):
        return None
    return UnitOfWork(
        state,
        named(item.get(mq.MQIACF_UOW_TYPE), naming.UNIT_TYPE),
        began,
        _moment(item, mq.MQCACF_UOW_LOG_START_DATE, mq.MQCACF_UOW_LOG_START_TIME),
    )


def _instance(item: Reply, channel: str) -> ToldInstance:
    return ToldInstance(
        channel=channel,
        connection_name=_text(item, mq.MQCACH_CONNECTION_NAME),
        began=_moment(item, mq.MQCACH_CHANNEL_START_DATE, mq.MQCACH_CHANNEL_START_TIME),
        status=named(item.get(mq.MQIACH_CHANNEL_STATUS), naming.CHANNEL_STATUS),
        substate=named(item.get(mq.MQIACH_CHANNEL_SUBSTATE), naming.CHANNEL_SUBSTATE),
        msgs=_number(item, mq.MQIACH_MSGS),
        last_message=_moment(item, mq.MQCACH_LAST_MSG_DATE, mq.MQCACH_LAST_MSG_TIME),
        remote_application=_text(item, mq.MQCACH_REMOTE_APPL_TAG),
        user=_text(item, mq.MQCACH_MCA_USER_ID),
    )


def _text(item: Reply, number: int) -> str:
    value = item.get(number)
    return value.rstrip(" \0") if isinstance(value, str) else ""


def _number(item: Reply, number: int) -> int | None:
    value = item.get(number)
    return value if type(value) is int else None


def _yes(item: Reply, number: int) -> bool | None:
    value = item.get(number)
    return _YES_NO.get(value) if type(value) is int else None


def _moment(item: Reply, date: int, time: int) -> str:
    """A local date and time as MQ wrote them; empty where the date is blank."""
    day = _text(item, date)
    return f"{day} {_text(item, time)}".rstrip() if day else ""
