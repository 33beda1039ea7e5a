"""Answers about handles, connections and instances: what is read of them, and what is said of those that fail."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.connection.connection import Exchange, MqiFailure, Reply
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import byte_string, encode_message, integer, string
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.who.holder import Holder, UnitOfWork
from mqvitals_agent.who.reading import HolderQueryResult, read_connections, read_handles, read_instances

STATUS, CONN, CHANNEL = mq.MQCMD_INQUIRE_Q_STATUS, mq.MQCMD_INQUIRE_CONNECTION, mq.MQCMD_INQUIRE_CHANNEL_STATUS
HANDLE: dict[int, Any] = {
    mq.MQCA_Q_NAME: "PAY.IN",
    mq.MQIACF_Q_STATUS_TYPE: mq.MQIACF_Q_HANDLE,
    mq.MQCACF_APPL_TAG: "PAYBATCH",
    mq.MQIA_APPL_TYPE: mq.MQAT_CICS,
    mq.MQCACF_APPL_DESC: "payments",
    mq.MQCACF_USER_IDENTIFIER: "PAYUSER",
    mq.MQCACF_ASID: "004B",
    mq.MQCACH_CHANNEL_NAME: "",
    mq.MQCACH_CONNECTION_NAME: "",
    mq.MQCACF_TRANSACTION_ID: "PAY1",
    mq.MQCACF_TASK_NUMBER: "0000123",
    mq.MQCACF_PSB_NAME: "PSB1",
    mq.MQCACF_PST_ID: "0007",
    mq.MQIACF_OPEN_INPUT_TYPE: mq.MQQSO_EXCLUSIVE,
    mq.MQIACF_OPEN_OUTPUT: mq.MQQSO_YES,
    mq.MQIACF_OPEN_BROWSE: mq.MQQSO_NO,
    mq.MQIACF_OPEN_INQUIRE: mq.MQQSO_YES,
    mq.MQIACF_HANDLE_STATE: mq.MQHSTATE_ACTIVE,
    mq.MQIACF_ASYNC_STATE: mq.MQAS_SUSPENDED_TEMPORARY,
}
CONNECTION: dict[int, Any] = {
    mq.MQBACF_CONNECTION_ID: bytes(range(24)),
    mq.MQCACF_APPL_TAG: "PAYBATCH",
    mq.MQCACH_CHANNEL_NAME: "",
    mq.MQIACF_UOW_STATE: mq.MQUOWST_PREPARED,
    mq.MQIACF_UOW_TYPE: mq.MQUOWT_RRS,
    mq.MQCACF_UOW_START_DATE: "2026-11-21",
    mq.MQCACF_UOW_START_TIME: "09.12.44",
    mq.MQCACF_UOW_LOG_START_DATE: "",
    mq.MQCACF_UOW_LOG_START_TIME: "",
}
INSTANCE: dict[int, Any] = {
    mq.MQCACH_CHANNEL_NAME: "APP.SVRCONN",
    mq.MQCACH_CONNECTION_NAME: "10.1.1.1",
    mq.MQCACH_CHANNEL_START_DATE: "2026-11-21",
    mq.MQCACH_CHANNEL_START_TIME: "08.00.00",
    mq.MQIACH_CHANNEL_STATUS: mq.MQCHS_RUNNING,
    mq.MQIACH_CHANNEL_SUBSTATE: 12345,
    mq.MQIACH_MSGS: 77,
    mq.MQCACH_LAST_MSG_DATE: "2026-11-21",
    mq.MQCACH_LAST_MSG_TIME: "09.00.00",
    mq.MQCACH_REMOTE_APPL_TAG: "java",
    mq.MQCACH_MCA_USER_ID: "APPUSER",
}


def parameter(number: int, value: int | str | bytes) -> Parameter:
    """A parameter of the type that the value has, whatever its number usually has."""
    if isinstance(value, int):
        return integer(number, value)
    return string(number, value) if isinstance(value, str) else byte_string(number, value)


def handles(exchange: Exchange, queue_manager: str = "QM01") -> HolderQueryResult[Holder]:
    """The handles of PAY.IN."""
    return read_handles(exchange, queue_manager, "PAY.IN", Decoder())


def test_a_handle(zos: Any) -> None:
    """Texts come without blanks, numbers by the names of MQSC, and what is not told is absent."""
    told = handles(zos.exchange(STATUS, [HANDLE]))
    assert told == HolderQueryResult(
        (
            Holder(
                application="PAYBATCH",
                application_type="CICS",
                description="payments",
                user="PAYUSER",
                asid="004B",
                channel="",
                connection_name="",
                transaction="PAY1",
                task="0000123",
                psb="PSB1",
                region="0007",
                process=None,
                thread=None,
                input="EXCL",
                output=True,
                browse=False,
                inquire=True,
                set=None,
                state="ACTIVE",
                async_state="SUSPTEMP",
            ),
        )
    )


def test_numbers_without_a_name(zos: Any) -> None:
    """A number that has no name is shown as its digits, and no yes or no is guessed."""
    strange = {**HANDLE, mq.MQIA_APPL_TYPE: 4711, mq.MQIACF_OPEN_INPUT_TYPE: -3, mq.MQIACF_OPEN_OUTPUT: 9}
    (found,) = handles(zos.exchange(STATUS, [strange])).items
    assert (found.application_type, found.input, found.output) == ("4711", "-3", None)


def test_a_classic_answer(distributed: Any) -> None:
    """A distributed queue manager answers with responses of type 2 and tells process and thread."""
    item = {**HANDLE, mq.MQIACF_PROCESS_ID: 4711, mq.MQIACF_THREAD_ID: 3}
    told = handles(distributed.exchange(STATUS, [item, item]), "DQM1")
    assert [(each.process, each.thread) for each in told.items] == [(4711, 3), (4711, 3)]
    assert not told.problem + told.note


def test_other_things_in_the_answer_are_left_out(zos: Any) -> None:
    """Another queue's handle, and a queue's status, are no handles of this queue."""
    other = {**HANDLE, mq.MQCA_Q_NAME: "PAY.OUT"}
    status = {mq.MQCA_Q_NAME: "PAY.IN", mq.MQIACF_Q_STATUS_TYPE: mq.MQIACF_Q_STATUS, mq.MQIA_CURRENT_Q_DEPTH: 3}
    assert handles(zos.exchange(STATUS, [other, status])) == HolderQueryResult()


def test_a_connection(zos: Any) -> None:
    """CONN is the last half of the identifier's second half; the unit of work has names and local times."""
    told = read_connections(zos.exchange(CONN, [CONNECTION]), "QM01", "PAYBATCH", Decoder())
    (found,) = told.items
    assert found.identifier == "1011121314151617"
    assert (found.application, found.channel) == ("PAYBATCH", "")
    assert found.unit_of_work == UnitOfWork("PREPARED", "RRS", "2026-11-21 09.12.44", "")


@pytest.mark.parametrize("state", [{}, {mq.MQIACF_UOW_STATE: mq.MQUOWST_NONE, mq.MQCACF_UOW_START_DATE: "2026-11-21"}])
def test_no_unit_of_work(zos: Any, state: dict[int, Any]) -> None:
    """A connection that says it has no unit of work, or says nothing of one, has none; an untold channel is not a local one."""
    item = {mq.MQCACF_APPL_TAG: "PAYBATCH", **state}
    (found,) = read_connections(zos.exchange(CONN, [item]), "QM01", "PAYBATCH", Decoder()).items
    assert found.unit_of_work is None
    assert found.channel is None


def test_connections_of_other_applications_are_left_out(zos: Any) -> None:
    """Should a filter not be honoured, other applications' connections are not taken for this one's."""
    item = {**CONNECTION, mq.MQCACF_APPL_TAG: "PAYBATCH2"}
    assert read_connections(zos.exchange(CONN, [item]), "QM01", "PAYBATCH", Decoder()) == HolderQueryResult()


def test_an_instance(zos: Any) -> None:
    """Status by name, an unknown substate by its digits, counters and local times."""
    (found,) = read_instances(zos.exchange(CHANNEL, [INSTANCE]), "QM01", "APP.SVRCONN", Decoder()).items
    assert (found.status, found.substate, found.msgs) == ("RUNNING", "12345", 77)
    assert (found.began, found.last_message) == ("2026-11-21 08.00.00", "2026-11-21 09.00.00")
    assert (found.remote_application, found.user) == ("java", "APPUSER")


@pytest.mark.parametrize("reason", [mq.MQRCCF_Q_STATUS_NOT_FOUND, mq.MQRCCF_NONE_FOUND])
def test_nobody(zos: Any, reason: int) -> None:
    """Not found is a good answer: nobody has the queue open."""
    told = handles(zos.exchange(STATUS, reason=reason))
    assert (told.items, told.problem, told.note) == ((), "", "")


def test_no_such_queue(zos: Any) -> None:
    """A queue that is not there is open to nobody, and that is said."""
    told = handles(zos.exchange(STATUS, reason=mq.MQRC_UNKNOWN_OBJECT_NAME))
    assert (told.items, told.problem) == ((), "")
    assert told.note == "QM01 has no local queue of that name"


def test_no_instance(zos: Any) -> None:
    """A channel without instances is a good answer."""
    told = read_instances(
        zos.exchange(CHANNEL, reason=mq.MQRCCF_CHL_STATUS_NOT_FOUND), "QM01", "APP.SVRCONN", Decoder()
    )
    assert (told.items, told.problem, told.note) == ((), "", "")


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (mq.MQRCCF_NOT_AUTHORIZED, "not authorised to DISPLAY QSTATUS; 'mqvitals doctor' shows what to ask for"),
        (mq.MQRC_NOT_AUTHORIZED, "not authorised to DISPLAY QSTATUS; 'mqvitals doctor' shows what to ask for"),
        (mq.MQRCCF_CFH_COMMAND_ERROR, "QM01 does not know DISPLAY QSTATUS"),
        (mq.MQRCCF_COMMAND_SCOPE_ERROR, "QM01 is not active in the queue-sharing group, or unknown there"),
        (3238, "DISPLAY QSTATUS failed (3238 MQRCCF_UNEXPECTED_ERROR); the job log of QM01 may show more"),
    ],
)
def test_a_refused_question(zos: Any, reason: int, said: str) -> None:
    """Every reason is a sentence, and never an empty list of handles that looks like nobody."""
    told = handles(zos.exchange(STATUS, reason=reason))
    assert (told.items, told.problem, told.reason) == ((), said, reason)


def test_no_channel_initiator(zos: Any) -> None:
    """Without a channel initiator there is no channel status."""
    told = read_instances(zos.exchange(CHANNEL, reason=mq.MQRCCF_NO_CHANNEL_INITIATOR), "QM01", "A", Decoder())
    assert told.problem == "DISPLAY CHSTATUS needs the channel initiator of QM01, which is not active"


@pytest.mark.parametrize(
    ("command", "error", "said"),
    [
        (STATUS, 2033, "no answer to DISPLAY QSTATUS came in time"),
        (STATUS, 2009, "the connection to QM01 failed (2009 MQRC_CONNECTION_BROKEN)"),
        (STATUS, 2035, "not authorised to DISPLAY QSTATUS; 'mqvitals doctor' shows what to ask for"),
        (STATUS, 2053, "DISPLAY QSTATUS failed (2053 MQRC_Q_FULL); the job log of QM01 may show more"),
        (None, 2059, "the connection to QM01 failed (2059 MQRC_Q_MGR_NOT_AVAILABLE)"),
    ],
)
def test_a_failed_call(zos: Any, command: int | None, error: int, said: str) -> None:
    """What MQ itself reports is a sentence too."""
    assert handles(zos.exchange(command, error=error)).problem == said


def test_nothing_came_and_nothing_was_said(zos: Any) -> None:
    """An exchange without replies and without an error is no good answer."""
    assert handles(Exchange(0, 1, 1, "QM01", STATUS, b"")).problem == "no answer to DISPLAY QSTATUS came in time"


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (2033, "the answer to DISPLAY QSTATUS did not come whole in time"),
        (2009, "the connection to QM01 failed (2009 MQRC_CONNECTION_BROKEN)"),
    ],
)
def test_an_answer_that_stops(zos: Any, error: int, why: str) -> None:
    """What came is shown with a note; a beginning without any handle is no empty answer."""
    told = handles(zos.exchange(STATUS, [HANDLE, HANDLE], error=error, keep=1))
    assert len(told.items) == 1
    assert told.note == f"{why}: there may be more than is shown"
    assert not told.problem
    begun = handles(zos.exchange(STATUS, reason=mq.MQRCCF_Q_STATUS_NOT_FOUND, error=error, keep=1))
    assert begun.problem == why


def test_a_damaged_message(zos: Any) -> None:
    """A message that cannot be read costs its own handle only, and is told of."""
    first, second, last = zos.replies(STATUS, [HANDLE, HANDLE])
    damaged = Reply(785, 500, second.data[:-5])
    told = handles(Exchange(0, 1, 1, "QM01", STATUS, b"", (first, damaged, last)))
    assert len(told.items) == 1
    assert told.note.startswith("1 of 3 messages in answer to DISPLAY QSTATUS cannot be read")
    alone = handles(Exchange(0, 1, 1, "QM01", STATUS, b"", (damaged, last)))
    assert alone.problem == "1 of 2 messages in answer to DISPLAY QSTATUS cannot be read"


def test_an_object_that_failed(zos: Any) -> None:
    """Handles beside a failure are shown with its reason."""
    told = handles(zos.exchange(STATUS, [HANDLE], reason=mq.MQRCCF_NOT_AUTHORIZED))
    assert len(told.items) == 1
    assert told.note.startswith("not authorised to DISPLAY QSTATUS")


def test_another_queue_manager(zos: Any) -> None:
    """An answer of another queue manager is not taken for the one that was asked."""
    told = handles(zos.exchange(STATUS, [HANDLE]), "QM02")
    assert (told.items, told.problem) == ((), "QM01 answered to DISPLAY QSTATUS instead of QM02")


def scoped(member: Any, items: list[dict[int, Any]], reason: int = 0, *, completed: bool = True) -> Exchange:
    """The answer of QM02 to a command with its scope, through QM01."""
    first, closing = b"\1" * 24, b"\2" * 24
    inner = member.replies(STATUS, items, reason)
    head = [byte_string(mq.MQBACF_RESPONSE_ID, first), string(mq.MQCACF_RESPONSE_Q_MGR_NAME, "QM01")]
    accepted = [*head, integer(mq.MQIACF_COMMAND_INFO, 1), integer(mq.MQIACF_CMDSCOPE_Q_MGR_COUNT, 1)]
    accepted.append(byte_string(mq.MQBACF_RESPONSE_SET, closing))
    end = [byte_string(mq.MQBACF_RESPONSE_ID, closing), head[1], integer(mq.MQIACF_COMMAND_INFO, 3)]
    before, after = (Reply(785, 500, encode_message(mq.MQCFT_XR_MSG, STATUS, each)) for each in (accepted, end))
    replies = (before, *inner, after) if completed else (before, *inner)
    failure = None if completed else MqiFailure(2, 2033)
    return Exchange(0, 1, 1, "QM01", STATUS, b"", replies, failure)


def test_a_member_through_another(member_of: Any) -> None:
    """With a command scope the handles of the member come through the connection of another."""
    qm02 = member_of("QM02")
    assert len(handles(scoped(qm02, [HANDLE]), "QM02").items) == 1
    assert handles(scoped(qm02, [], mq.MQRCCF_Q_STATUS_NOT_FOUND), "QM02").problem == ""
    late = handles(scoped(qm02, [HANDLE], completed=False), "QM02")
    assert len(late.items) == 1
    assert "did not come whole" in late.note


_INTERESTING = st.sampled_from([bytes(range(24)), b"", b"\xff" * 8, b"PAY.IN"])
_VALUES = st.integers(-(2**31), 2**31 - 1) | st.text(st.characters(codec="latin-1"), max_size=9) | _INTERESTING
_IDS = st.sampled_from([*HANDLE, *CONNECTION, *INSTANCE, mq.MQBACF_RESPONSE_SET, mq.MQIACF_COMMAND_INFO])


@given(data=st.data())
def test_no_reply_makes_reading_raise(data: st.DataObject) -> None:
    """Any parameters with any values of any type, cut or damaged anywhere, are read or told of; never raised."""
    command = data.draw(st.sampled_from([STATUS, CONN, CHANNEL]))
    pairs = st.lists(st.tuples(_IDS, _VALUES), max_size=8)
    replies = []
    for number, drawn in enumerate(data.draw(st.lists(pairs, max_size=4)), 1):
        whole = encode_message(
            data.draw(st.sampled_from([2, 16, 17, 18, 19, 77])),
            command,
            [parameter(*pair) for pair in drawn],
            sequence=number,
            control=data.draw(st.sampled_from([0, 1])),
            comp_code=data.draw(st.integers(-1, 3)),
            reason=data.draw(st.sampled_from([0, 2085, 3008, 3065, 3081, 4091, 123456])),
        )
        damaged = bytearray(whole)
        if data.draw(st.booleans()):
            damaged[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
        length = data.draw(st.just(len(whole)) | st.integers(0, len(whole)))
        replies.append(Reply(785, data.draw(st.sampled_from([500, 0, 99999])), bytes(damaged[:length])))
    failure = data.draw(st.none() | st.builds(MqiFailure, st.just(2), st.sampled_from([2009, 2033, 2035, 99999])))
    exchange = Exchange(0, 1, 1, "QM01", command, b"", tuple(replies), failure)
    for told in (
        handles(exchange),
        read_connections(exchange, "QM01", "PAY.IN", Decoder()),
        read_instances(exchange, "QM01", "PAY.IN", Decoder()),
    ):
        assert not (told.items and told.problem)
        assert len(told.items) <= len(replies)
        assert told.items or told.problem or told.note or failure is None


@given(st.lists(st.binary(max_size=120), max_size=4))
def test_no_bytes_make_reading_raise(replies: list[bytes]) -> None:
    """Bytes that are no PCF are no handles and no good answer."""
    exchange = Exchange(0, 1, 1, "QM01", STATUS, b"", tuple(Reply(785, 500, data) for data in replies))
    assert handles(exchange).problem
