"""What a request selects: names, filters, attributes, dispositions, scopes; and how a queue manager says no."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import (
    encode_message,
    integer,
    integer_filter,
    integers,
    request,
    string,
    string_filter,
)
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_agent.simulator.answers.common import name_matches
from mqvitals_agent.simulator.state import Fault

NAMES = st.text(st.sampled_from("AB.*"), max_size=6)
EVERY_QUEUE = string(mq.MQCA_Q_NAME, "*")
ALL = integer(mq.MQIA_QSG_DISP, mq.MQQSGD_ALL)


def status_of(*parameters: Parameter) -> bytes:
    """A request for the status of queues."""
    return request(mq.MQCMD_INQUIRE_Q_STATUS, parameters)


@given(NAMES, NAMES)
def test_a_pattern_means_its_beginning_or_itself(name: str, pattern: str) -> None:
    """Only the last asterisk is generic."""
    beginning = re.escape(pattern.removesuffix("*"))
    expected = re.compile(f"{beginning}.*" if pattern.endswith("*") else beginning, re.DOTALL)
    assert name_matches(name, pattern) is (expected.fullmatch(name) is not None)


@given(NAMES, st.integers(0, 6))
def test_every_beginning_of_a_name_selects_it(name: str, length: int) -> None:
    """A name is selected by any beginning of itself and an asterisk, and by itself."""
    assert name_matches(name, f"{name[:length]}*")
    assert name_matches(name, name)


@pytest.mark.parametrize(
    ("pattern", "disposition", "expected"),
    [
        ("*", mq.MQQSGD_ALL, ["APPL1.ORDERS", "ORDERS.REPLY", "ORDERS.REQUEST", "PARTNER.XMIT", "UNWATCHED"]),
        ("ORD*", mq.MQQSGD_ALL, ["ORDERS.REPLY", "ORDERS.REQUEST"]),
        ("UNWATCHED", mq.MQQSGD_LIVE, ["UNWATCHED"]),
        ("*", mq.MQQSGD_SHARED, ["APPL1.ORDERS"]),
        ("A*", mq.MQQSGD_ALL, ["APPL1.ORDERS"]),
        ("P*", mq.MQQSGD_PRIVATE, ["PARTNER.XMIT"]),
    ],
)
def test_queues_by_name_and_disposition(talk: Any, pattern: str, disposition: int, expected: list[str]) -> None:
    """Definition and status select alike, in the order of the names."""
    for command in (mq.MQCMD_INQUIRE_Q, mq.MQCMD_INQUIRE_Q_STATUS):
        exchange = talk.ask(command, QueryOptions(pattern, disposition=disposition))
        assert talk.names(exchange, mq.MQCA_Q_NAME) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (integer_filter(mq.MQIA_CURRENT_Q_DEPTH, mq.MQCFOP_GREATER, 7), ["APPL1.ORDERS", "ORDERS.REQUEST"]),
        (integer_filter(mq.MQIA_CURRENT_Q_DEPTH, mq.MQCFOP_NOT_GREATER, 5), ["ORDERS.REPLY", "UNWATCHED"]),
        (integer_filter(mq.MQIA_QSG_DISP, mq.MQCFOP_EQUAL, mq.MQQSGD_SHARED), ["APPL1.ORDERS"]),
        (integer_filter(mq.MQIA_MONITORING_Q, mq.MQCFOP_EQUAL, mq.MQMON_OFF), ["UNWATCHED"]),
        (string_filter(mq.MQCACF_LAST_PUT_DATE, mq.MQCFOP_NOT_EQUAL, ""), ["APPL1.ORDERS", "ORDERS.REQUEST"]),
        (string_filter(mq.MQCACF_LAST_PUT_DATE, mq.MQCFOP_LIKE, "2026*"), ["APPL1.ORDERS", "ORDERS.REQUEST"]),
        (integer_filter(mq.MQIACF_Q_TIME_INDICATOR, mq.MQCFOP_CONTAINS, 3_824), ["APPL1.ORDERS"]),
    ],
)
def test_filters(talk: Any, condition: Parameter, expected: list[str]) -> None:
    """Only what fulfils the condition is reported."""
    exchange = talk.send(mq.MQCMD_INQUIRE_Q_STATUS, status_of(EVERY_QUEUE, ALL, condition))
    assert talk.names(exchange, mq.MQCA_Q_NAME) == expected


def test_wanted_attributes(talk: Any) -> None:
    """A list of attributes shortens the items to those and the names."""
    wanted = integers(mq.MQIACF_Q_STATUS_ATTRS, [mq.MQIA_CURRENT_Q_DEPTH])
    exchange = talk.send(mq.MQCMD_INQUIRE_Q_STATUS, status_of(string(mq.MQCA_Q_NAME, "UNWATCHED"), wanted))
    ((member),) = talk.heard(exchange)
    assert [parameter.id for parameter in member.items[0].parameters][2:] == [
        mq.MQCA_Q_NAME,
        mq.MQIACF_Q_STATUS_TYPE,
        mq.MQIA_CURRENT_Q_DEPTH,
    ]


@pytest.mark.parametrize(
    ("command", "name", "reason"),
    [
        (mq.MQCMD_INQUIRE_CHANNEL_STATUS, "TO.NOWHERE", 3065),
        (mq.MQCMD_INQUIRE_CHANNEL_STATUS, "FROM.PARTNER", 3065),
        (mq.MQCMD_INQUIRE_CHANNEL, "NO*", 4032),
        (mq.MQCMD_INQUIRE_Q_STATUS, "GONE.QUEUE", 2085),
        (mq.MQCMD_INQUIRE_Q_STATUS, "GONE*", 4091),
        (mq.MQCMD_INQUIRE_Q, "GONE.QUEUE", 2085),
        (mq.MQCMD_INQUIRE_Q, "GONE*", 3200),
        (mq.MQCMD_INQUIRE_STG_CLASS, "NONE", 3312),
        (mq.MQCMD_INQUIRE_CF_STRUC_STATUS, "NONE", 3312),
        (mq.MQCMD_INQUIRE_CF_STRUC, "N*E", 3312),
        (mq.MQCMD_INQUIRE_CF_STRUC, "CSQ_ADMIN", 3208),
        (mq.MQCMD_INQUIRE_SMDS, "NOREC", 3312),
        (mq.MQCMD_INQUIRE_SMDSCONN, "NOREC", 3312),
    ],
)
def test_not_found(talk: Any, command: int, name: str, reason: int) -> None:
    """Each command has its own word for it, and the answer is complete all the same."""
    exchange = talk.ask(command, QueryOptions(name))
    assert len(exchange.replies) == 2
    assert talk.reason(exchange) == reason


@pytest.mark.parametrize(
    ("command", "parameters", "reason"),
    [
        (mq.MQCMD_INQUIRE_Q_MGR_STATUS, (), 3007),
        (9999, (), 3007),
        (mq.MQCMD_INQUIRE_Q, (), 3228),
        (mq.MQCMD_INQUIRE_Q, (EVERY_QUEUE, EVERY_QUEUE), 3017),
        (mq.MQCMD_INQUIRE_Q, (EVERY_QUEUE, integer(mq.MQIA_Q_TYPE, 77)), 3229),
        (mq.MQCMD_INQUIRE_Q, (integer(mq.MQCA_Q_NAME, 1),), 3013),
        (mq.MQCMD_INQUIRE_Q, (EVERY_QUEUE, integer(mq.MQIACH_BATCHES, 1)), 3014),
        (mq.MQCMD_INQUIRE_LOG, (EVERY_QUEUE,), 3015),
        (mq.MQCMD_INQUIRE_LOG, (integers(mq.MQIACF_Q_ATTRS, [1]),), 3047),
        (mq.MQCMD_INQUIRE_QSG, (string(mq.MQCACF_COMMAND_SCOPE, "*"),), 3015),
        (mq.MQCMD_INQUIRE_LOG, (string(mq.MQCACF_COMMAND_SCOPE, "QM99"),), 3225),
        (mq.MQCMD_INQUIRE_LOG, (integer_filter(mq.MQIACF_SYSP_FULL_LOGS, mq.MQCFOP_GREATER, 1),), 3243),
        (
            mq.MQCMD_INQUIRE_Q_STATUS,
            (EVERY_QUEUE, *[integer_filter(mq.MQIA_CURRENT_Q_DEPTH, mq.MQCFOP_GREATER, 1)] * 2),
            3248,
        ),
        (mq.MQCMD_INQUIRE_Q_STATUS, (EVERY_QUEUE, integer_filter(mq.MQIACH_BATCHES, mq.MQCFOP_GREATER, 1)), 3243),
        (mq.MQCMD_INQUIRE_Q_STATUS, (EVERY_QUEUE, integer_filter(mq.MQIA_CURRENT_Q_DEPTH, 99, 1)), 3150),
        (
            mq.MQCMD_INQUIRE_Q_STATUS,
            (EVERY_QUEUE, string_filter(mq.MQIA_CURRENT_Q_DEPTH, mq.MQCFOP_EQUAL, "1")),
            3150,
        ),
        (mq.MQCMD_INQUIRE_CHANNEL, (string(mq.MQCACH_CHANNEL_NAME, "*"), integer(mq.MQIACH_CHANNEL_TYPE, 99)), 3034),
    ],
)
def test_bad_requests(talk: Any, command: int, parameters: tuple[Parameter, ...], reason: int) -> None:
    """A request that z/OS would not carry out is refused with z/OS's reason."""
    assert talk.reason(talk.send(command, request(command, parameters))) == reason


def test_a_request_of_another_form_is_refused(talk: Any) -> None:
    """Type 1 is not for z/OS, a cut body does not fit its length, and what is no message at all is never answered."""
    old = encode_message(mq.MQCFT_COMMAND, mq.MQCMD_INQUIRE_LOG, (), ccsid=1208)
    assert talk.reason(talk.send(mq.MQCMD_INQUIRE_LOG, old)) == 3001
    cut = status_of(EVERY_QUEUE)[:-4]
    assert talk.reason(talk.send(mq.MQCMD_INQUIRE_Q_STATUS, cut)) == 3016
    exchange = talk.send(mq.MQCMD_INQUIRE_LOG, b"hello")
    assert exchange.replies == ()
    assert exchange.error.reason == 2033


def test_a_stopped_channel_initiator_tells_no_status(talk: Any) -> None:
    """Without the channel initiator channels are unknown."""
    talk.group.members["QM01"].chinit_running = False
    assert talk.reason(talk.ask(mq.MQCMD_INQUIRE_CHANNEL_STATUS)) == 3217


def test_a_scoped_command_is_answered_by_every_active_member(talk: Any) -> None:
    """Accepted, a set of each member under its own name, completed; a member that is down is not among them."""
    talk.group.faults["QM03"] = Fault(down=True)
    exchange = talk.ask(mq.MQCMD_INQUIRE_CHANNEL_STATUS, QueryOptions(scope="*"))
    answers = {member.queue_manager: member for member in talk.heard(exchange)}
    assert sorted(answers) == ["QM01", "QM02"]
    assert len(answers["QM01"].items) == 3
    assert answers["QM02"].reason == 3065
    assert all(member.complete for member in answers.values())
    ends = (Decoder().decode(reply.data, reply.ccsid) for reply in (exchange.replies[0], exchange.replies[-1]))
    assert [message.get(mq.MQIACF_COMMAND_INFO) for message in ends] == [
        mq.MQCMDI_CMDSCOPE_ACCEPTED,
        mq.MQCMDI_CMDSCOPE_COMPLETED,
    ]


def test_a_scope_may_name_one_member(talk: Any) -> None:
    """The named member answers, whichever was asked."""
    exchange = talk.ask(mq.MQCMD_INQUIRE_USAGE, QueryOptions(scope="QM02"))
    ((member),) = talk.heard(exchange)
    assert member.queue_manager == "QM02"
    assert len(member.items) == 4


def test_page_sets_by_number(talk: Any) -> None:
    """One page set comes with its pool; one that is not there with nothing."""
    only = request(mq.MQCMD_INQUIRE_USAGE, (integer(mq.MQIA_PAGESET_ID, 4),))
    exchange = talk.send(mq.MQCMD_INQUIRE_USAGE, only)
    assert talk.names(exchange, mq.MQIACF_BUFFER_POOL_ID) == [3, 3]


@pytest.mark.parametrize(
    "part",
    [mq.MQIACF_CF_STATUS_CONNECT, mq.MQIACF_CF_STATUS_SMDS],
)
def test_other_parts_of_structure_status(talk: Any, part: int) -> None:
    """Connections of every member to every structure, and the state of every shared message data set."""
    exchange = talk.ask(mq.MQCMD_INQUIRE_CF_STRUC_STATUS, QueryOptions("APPL1", part=part))
    assert set(talk.names(exchange, mq.MQIACF_CF_STATUS_TYPE)) == {part}
    assert len(exchange.replies) == 4
