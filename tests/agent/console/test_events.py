"""Event messages: from bytes to an id, words with inserts and an object; damaged ones are that one error and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.connection.connection import Reply
from mqvitals_agent.console.event import Event, event_words, read_event, with_differences
from mqvitals_agent.console.message import message_inserts
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import byte_string, encode_message, group, integer, string
from mqvitals_agent.pcf.message import Parameter, PcfError
from mqvitals_agent.pcf.names import reason_name
from mqvitals_rules.vocabulary.tables import KINDS

QMGR = string(mq.MQCA_Q_MGR_NAME, "QM01", 48)
BASE_QUEUE = string(mq.MQCA_BASE_Q_NAME, "PAY.IN", 48)
CHANNEL = string(mq.MQCACH_CHANNEL_NAME, "TO.QM02", 20)
WHO = (
    string(mq.MQCACF_EVENT_USER_ID, "OPER1", 12),
    byte_string(mq.MQBACF_EVENT_ACCOUNTING_TOKEN, bytes(32)),
    string(mq.MQCACF_EVENT_APPL_NAME, "CSQOREXX", 28),
    integer(mq.MQIACF_EVENT_ORIGIN, mq.MQEVO_CONSOLE),
    string(mq.MQCACF_EVENT_Q_MGR, "QM01", 48),
)


def event_bytes(reason: int, *parameters: Parameter, control: int = 1, type_: int = mq.MQCFT_EVENT) -> bytes:
    return encode_message(
        type_, 45, parameters, version=mq.MQCFH_VERSION_1, control=control, comp_code=1, reason=reason
    )


def event(reason: int, *parameters: Parameter, control: int = 1) -> Event:
    return read_event(Reply(785, 500, event_bytes(reason, *parameters, control=control)), Decoder(lenient=True))


def test_a_depth_event_is_about_its_queue() -> None:
    """The id is the reason's, the words say what it means, the counters are inserts that rules can read."""
    found = event(2224, QMGR, BASE_QUEUE, integer(mq.MQIA_HIGH_Q_DEPTH, 4000), integer(mq.MQIA_MSG_ENQ_COUNT, 12))
    assert (found.code, found.queue_manager, found.kind, found.name) == ("event:2224", "QM01", "queue", "PAY.IN")
    assert found.text == (
        "event:2224 MQRC_Q_DEPTH_HIGH: the depth has reached QDEPTHHI; queue=PAY.IN, high_depth=4000, puts=12"
    )
    assert message_inserts(found.text) == {"queue": "PAY.IN", "high_depth": "4000", "puts": "12"}


def test_the_qualifier_is_part_of_the_id() -> None:
    """It tells an error from an end in order; what MQ says about the error is beside it."""
    found = event(
        2283,
        QMGR,
        CHANNEL,
        integer(mq.MQIACF_REASON_QUALIFIER, 8),
        integer(mq.MQIACF_ERROR_IDENTIFIER, 0x20009599),
        string(mq.MQCACH_CONNECTION_NAME, "10.1.1.1(1414)", 264),
    )
    assert (found.code, found.kind, found.name) == ("event:2283:8", "channel", "TO.QM02")
    assert ": the channel stopped, because of an error; channel=TO.QM02" in found.text
    assert message_inserts(found.text)["error"] == "20009599"
    assert message_inserts(found.text)["conn"] == "10.1.1.1(1414)"


@pytest.mark.parametrize(
    ("parameters", "about"),
    [
        ((integer(mq.MQIACF_OBJECT_TYPE, 1), string(mq.MQCA_Q_NAME, "PAY.IN")), ("queue", "PAY.IN")),
        ((integer(mq.MQIACF_OBJECT_TYPE, 6), CHANNEL), ("channel", "TO.QM02")),
        ((integer(mq.MQIACF_OBJECT_TYPE, 5),), ("queue_manager", "")),
        ((integer(mq.MQIACF_OBJECT_TYPE, 8),), ("", "")),
    ],
)
def test_a_change_says_who_changed_what(parameters: tuple[Parameter, ...], about: tuple[str, str]) -> None:
    """User, application and origin; an object that is not monitored has no name."""
    found = event(2368, *WHO, *parameters)
    assert (found.kind, found.name) == about
    told = message_inserts(found.text)
    assert (told["user"], told["application"], told["origin"]) == ("OPER1", "CSQOREXX", "console")


def test_the_messages_before_and_after_a_change_show_the_difference() -> None:
    """By its MQSC keyword; the user who made it, and the time, are no difference."""
    named = (integer(mq.MQIACF_OBJECT_TYPE, 1), string(mq.MQCA_Q_NAME, "PAY.IN"))
    before = event(
        2368, *named, integer(mq.MQIA_MAX_Q_DEPTH, 5000), string(mq.MQCA_Q_DESC, "old"), string(3045, "A"), control=0
    )
    after = event(2368, *named, integer(mq.MQIA_MAX_Q_DEPTH, 50000), string(mq.MQCA_Q_DESC, ""), string(3045, "B"))
    assert (before.before, after.before) == (True, False)
    told = message_inserts(with_differences(after, before).text)
    assert told["changed"] == "MAXDEPTH 5000 -> 50000; DESCR old -> ''"
    assert with_differences(after, after) == after


@pytest.mark.parametrize(
    ("command", "about"),
    [
        ("ALTER QLOCAL(PAY.IN) DESCR('a, b=c')", ("queue", "PAY.IN")),
        ("alter ql('pay.in') maxdepth(5)", ("queue", "pay.in")),
        ("DEFINE CHANNEL(TO.QM02) CHLTYPE(SDR)", ("channel", "TO.QM02")),
        ("ALTER QMGR CMDEV(NODISPLAY)", ("queue_manager", "")),
        ("DELETE QLOCAL(PAY.*)", ("", "")),
        ("STOP CHINIT", ("", "")),
    ],
)
def test_a_command_is_about_the_object_that_it_names(command: str, about: tuple[str, str]) -> None:
    """Its whole text is an insert, whatever is in it."""
    context = group(mq.MQGACF_COMMAND_CONTEXT, WHO)
    data = group(mq.MQGACF_COMMAND_DATA, [string(mq.MQCACF_COMMAND_MQSC, command)])
    found = event(2412, context, data)
    assert (found.code, found.kind, found.name) == ("event:2412", *about)
    assert message_inserts(found.text)["command"] == command
    assert message_inserts(found.text)["user"] == "OPER1"


def test_an_event_that_nobody_knows_is_kept() -> None:
    """With its number, about nothing."""
    found = event(2999, QMGR)
    assert (found.code, found.kind, found.text) == ("event:2999", "", "event:2999 reason 2999")


def test_words_are_of_reasons_and_kinds_that_exist() -> None:
    """The table names nothing else."""
    for reason, words in event_words().items():
        assert reason_name(reason), reason
        assert not words.kind or words.kind in KINDS
        assert all(each.isdecimal() for each in words.qualifiers)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "at byte 0"),
        (event_bytes(2224, BASE_QUEUE)[:-1], "expected"),
        (event_bytes(2224, BASE_QUEUE, type_=mq.MQCFT_XR_ITEM), "the header type 7 of an event, not 18"),
        (event_bytes(-1, BASE_QUEUE), "the reason of an event, not -1"),
        (event_bytes(31999, BASE_QUEUE), "the reason of an event, not 31999"),
    ],
)
def test_what_is_no_event_is_said(data: bytes, words: str) -> None:
    """The one error of decoding, with where it is."""
    with pytest.raises(PcfError) as told:
        read_event(Reply(785, 500, data), Decoder(lenient=True))
    assert words in told.value.message


WHOLE = [
    event_bytes(2224, QMGR, BASE_QUEUE, integer(mq.MQIA_HIGH_Q_DEPTH, 4000)),
    event_bytes(2283, QMGR, CHANNEL, integer(mq.MQIACF_REASON_QUALIFIER, 8)),
    event_bytes(2368, *WHO, integer(mq.MQIACF_OBJECT_TYPE, 1), string(mq.MQCA_Q_NAME, "PAY.IN")),
    event_bytes(2412, group(mq.MQGACF_COMMAND_CONTEXT, WHO), group(8002, [string(3075, "ALTER QL(A) GET(ENABLED)")])),
]


@given(
    st.sampled_from(WHOLE),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), min_size=1, max_size=8),
    st.integers(0, 400),
    st.sampled_from([500, 1208, 0, -1, 99999]),
)
def test_a_mutated_event_is_read_or_refused(data: bytes, changes: list[tuple[int, int]], cut: int, ccsid: int) -> None:
    """Whatever it holds: an event whose text and inserts are text, or that one error."""
    mutated = bytearray(data)
    for place, value in changes:
        mutated[place % len(mutated)] = value
    reply = Reply(785, ccsid, bytes(mutated[: max(cut, 1)] if cut < 100 else mutated))
    try:
        found = read_event(reply, Decoder(lenient=True))
    except PcfError:
        return
    assert found.text.startswith(found.code)
    assert "\n" not in found.text
    assert all(isinstance(text, str) for text in message_inserts(found.text).values())
    assert with_differences(found, found) == found
