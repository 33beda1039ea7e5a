"""TYPE(HANDLE) and INQUIRE_CONNECTION: what is selected, what is reported, how wrong requests are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import (
    byte_string,
    byte_string_filter,
    integer,
    integer_filter,
    integers,
    request,
    string,
    string_filter,
)
from mqvitals_agent.pcf.message import Message, Parameter
from mqvitals_agent.simulator.answer import CCSID
from mqvitals_agent.simulator.connector import CommandServer
from mqvitals_agent.simulator.state import GroupState, MemberState, QueueState

STATUS, CONN = mq.MQCMD_INQUIRE_Q_STATUS, mq.MQCMD_INQUIRE_CONNECTION
HANDLES = integer(mq.MQIACF_Q_STATUS_TYPE, mq.MQIACF_Q_HANDLE)
EVERY = string(mq.MQCA_Q_NAME, "*")
ALL = integer(mq.MQIA_QSG_DISP, mq.MQQSGD_ALL)
EVERY_CONNECTION = byte_string(mq.MQBACF_GENERIC_CONNECTION_ID, b"")
REQUEST = string(mq.MQCA_Q_NAME, "ORDERS.REQUEST")
OF_HANDLES = [
    mq.MQCA_Q_NAME, mq.MQIACF_Q_STATUS_TYPE, mq.MQIA_QSG_DISP,
    mq.MQCACF_APPL_TAG, mq.MQCACF_APPL_DESC, mq.MQIA_APPL_TYPE, mq.MQCACF_ASID, mq.MQIACF_ASYNC_STATE,
    mq.MQCACH_CHANNEL_NAME, mq.MQCACH_CONNECTION_NAME, mq.MQIACF_HANDLE_STATE, mq.MQIACF_OPEN_OPTIONS,
    mq.MQIACF_OPEN_INPUT_TYPE, mq.MQIACF_OPEN_OUTPUT, mq.MQIACF_OPEN_BROWSE, mq.MQIACF_OPEN_INQUIRE,
    mq.MQIACF_OPEN_SET, mq.MQCACF_USER_IDENTIFIER, mq.MQCACF_PSB_NAME, mq.MQCACF_PST_ID,
    mq.MQCACF_TASK_NUMBER, mq.MQCACF_TRANSACTION_ID, mq.MQBACF_Q_MGR_UOW_ID, mq.MQBACF_EXTERNAL_UOW_ID,
    mq.MQIACF_UOW_TYPE,
]  # fmt: skip
OF_CONNECTIONS = {
    mq.MQBACF_CONNECTION_ID, mq.MQIACF_CONN_INFO_TYPE, mq.MQCACF_APPL_TAG, mq.MQIA_APPL_TYPE, mq.MQCACF_ASID,
    mq.MQIACF_ASYNC_STATE, mq.MQCACH_CHANNEL_NAME, mq.MQCACH_CONNECTION_NAME, mq.MQIACF_CONNECT_OPTIONS,
    mq.MQCACF_USER_IDENTIFIER, mq.MQIACF_UOW_STATE, mq.MQIACF_UOW_TYPE, mq.MQCACF_UOW_START_DATE,
    mq.MQCACF_UOW_START_TIME, mq.MQCACF_UOW_LOG_START_DATE, mq.MQCACF_UOW_LOG_START_TIME, mq.MQBACF_Q_MGR_UOW_ID,
    mq.MQBACF_EXTERNAL_UOW_ID, mq.MQBACF_ORIGIN_UOW_ID, mq.MQCACF_ORIGIN_NAME, mq.MQIA_UR_DISP, mq.MQCACF_PSB_NAME,
    mq.MQCACF_PST_ID, mq.MQCACF_TRANSACTION_ID, mq.MQCACF_TASK_NUMBER, mq.MQBACF_CONN_TAG,
}  # fmt: skip


def items(talk: Any, command: int, *parameters: Parameter, queue_manager: str = "QM01") -> list[Message]:
    """The items of an answer."""
    exchange = talk.send(command, request(command, parameters), queue_manager, feed=False)
    return [item for member in talk.heard(exchange) for item in member.items]


def found_bytes(item: Message) -> bytes:
    """The identifier of a connection."""
    found = item.get(mq.MQBACF_CONNECTION_ID)
    assert isinstance(found, bytes)
    return found


def reason(talk: Any, command: int, *parameters: Parameter) -> int:
    """The reason of an answer."""
    found = talk.reason(talk.send(command, request(command, parameters), feed=False))
    assert isinstance(found, int)
    return found


@pytest.fixture
def held(group: GroupState) -> GroupState:
    """The group, with a transmission queue that its channel reads and a unit of work since an hour ago."""
    member = group.members["QM01"]
    xmit = member.queues["PARTNER.XMIT"]
    xmit.input_handles, xmit.output_handles, xmit.shareable = 1, 1, False
    member.queues["ORDERS.REQUEST"].held_since = group.now - 3_600_000
    return group


def test_every_parameter_of_a_handle(talk: Any, held: GroupState) -> None:
    """Each item has what z/OS reports, in that order; as many items as the queue has handles."""
    found = items(talk, STATUS, HANDLES, REQUEST)
    queue = held.members["QM01"].queues["ORDERS.REQUEST"]
    assert len(found) == queue.input_handles + queue.output_handles == 7
    for item in found:
        assert [each.id for each in item.parameters][2:] == OF_HANDLES
        assert item.get(mq.MQIACF_Q_STATUS_TYPE) == mq.MQIACF_Q_HANDLE


@pytest.mark.parametrize(
    ("open_type", "inputs", "outputs"),
    [(mq.MQQSOT_ALL, 3, 4), (mq.MQQSOT_INPUT, 3, 0), (mq.MQQSOT_OUTPUT, 0, 4)],
)
def test_open_types(talk: Any, open_type: int, inputs: int, outputs: int) -> None:
    """OPENTYPE selects handles that get, or those that put."""
    found = items(talk, STATUS, HANDLES, REQUEST, integer(mq.MQIACF_OPEN_TYPE, open_type))
    assert sum(item.get(mq.MQIACF_OPEN_INPUT_TYPE) == mq.MQQSO_SHARED for item in found) == inputs
    assert sum(item.get(mq.MQIACF_OPEN_OUTPUT) == mq.MQQSO_YES for item in found) == outputs
    assert len(found) == inputs + outputs


def test_a_queue_that_is_not_shareable_is_open_exclusively(talk: Any, held: GroupState) -> None:
    """INPUT(EXCL), the open option that goes with it, and NOSHARE in the definition agree."""
    xmit = string(mq.MQCA_Q_NAME, "PARTNER.XMIT")
    reader, writer = items(talk, STATUS, HANDLES, xmit)
    assert reader.get(mq.MQIACF_OPEN_INPUT_TYPE) == mq.MQQSO_EXCLUSIVE
    assert reader.get(mq.MQIACF_OPEN_OPTIONS) == mq.MQOO_INPUT_EXCLUSIVE | mq.MQOO_FAIL_IF_QUIESCING
    assert reader.get(mq.MQCACH_CHANNEL_NAME) == "TO.PARTNER"
    assert reader.get(mq.MQCACH_CONNECTION_NAME) == "mq.partner.example(1414)"
    assert reader.get(mq.MQIA_APPL_TYPE) == mq.MQAT_CHANNEL_INITIATOR
    assert (writer.get(mq.MQIACF_OPEN_INPUT_TYPE), writer.get(mq.MQIACF_OPEN_OUTPUT)) == (mq.MQQSO_NO, mq.MQQSO_YES)
    (definition,) = items(talk, mq.MQCMD_INQUIRE_Q, xmit)
    assert definition.get(mq.MQIA_SHAREABILITY) == 0


@pytest.mark.parametrize("queue_manager", ["QM01", "QM02", "QM03"])
def test_of_a_shared_queue_every_member_tells_its_own(talk: Any, queue_manager: str) -> None:
    """The handles of the member that answers, with the disposition."""
    found = items(talk, STATUS, HANDLES, string(mq.MQCA_Q_NAME, "APPL1.ORDERS"), ALL, queue_manager=queue_manager)
    number = int(queue_manager[-1])
    assert len(found) == number + 10 * number
    assert {item.get(mq.MQIA_QSG_DISP) for item in found} == {mq.MQQSGD_SHARED}


def test_handles_of_all_members(talk: Any) -> None:
    """A scope makes every member report its own handles."""
    found = items(talk, STATUS, HANDLES, EVERY, ALL, string(mq.MQCACF_COMMAND_SCOPE, "*"))
    assert len(found) == 11 + 22 + 33 + 7


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (integer_filter(mq.MQIACF_OPEN_OUTPUT, mq.MQCFOP_EQUAL, mq.MQQSO_YES), 4),
        (string_filter(mq.MQCACF_APPL_TAG, mq.MQCFOP_LIKE, "NOSUCH*"), 0),
    ],
)
def test_filters_of_handles(talk: Any, condition: Parameter, expected: int) -> None:
    """Handles are filtered as anything else."""
    found = items(talk, STATUS, HANDLES, REQUEST, condition)
    assert len(found) == expected


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ((string(mq.MQCA_Q_NAME, "UNWATCHED"),), 4091),
        ((string(mq.MQCA_Q_NAME, "UN*"),), 4091),
        ((string(mq.MQCA_Q_NAME, "GONE.QUEUE"),), 2085),
        ((EVERY, integer(mq.MQIACF_OPEN_TYPE, 9)), 3229),
    ],
)
def test_no_handles(talk: Any, parameters: tuple[Parameter, ...], expected: int) -> None:
    """It is not open, there is no such queue, there is no such open type."""
    assert reason(talk, STATUS, HANDLES, *parameters) == expected


def test_every_parameter_of_a_connection(talk: Any) -> None:
    """Each connection has what z/OS reports and an identifier of 24 bytes that no other has."""
    found = items(talk, CONN, EVERY_CONNECTION)
    assert found
    for item in found:
        assert {each.id for each in item.parameters[2:]} == OF_CONNECTIONS
    identifiers = {item.get(mq.MQBACF_CONNECTION_ID) for item in found}
    assert len(identifiers) == len(found)
    assert {len(each) for each in identifiers if isinstance(each, bytes)} == {24}


def test_connections_are_found_by_identifier(talk: Any) -> None:
    """The exact identifier, and any beginning of it, find the connection; the queue manager's 16 bytes find all."""
    found = items(talk, CONN, EVERY_CONNECTION)
    for item in found:
        identifier = found_bytes(item)
        (exact,) = items(talk, CONN, byte_string(mq.MQBACF_CONNECTION_ID, identifier))
        assert exact.values == {**item.values, mq.MQBACF_RESPONSE_ID: exact.get(mq.MQBACF_RESPONSE_ID)}
        several = items(talk, CONN, byte_string(mq.MQBACF_GENERIC_CONNECTION_ID, identifier[:20]))
        assert identifier in {each.get(mq.MQBACF_CONNECTION_ID) for each in several}
    all_of_it = items(talk, CONN, byte_string(mq.MQBACF_GENERIC_CONNECTION_ID, found_bytes(found[0])[:16]))
    assert len(all_of_it) == len(found)


def test_every_handle_has_its_connection(talk: Any, held: GroupState) -> None:
    """A connection reports the same application, address space, user, channel, partner, task and unit of work as its handle."""
    reported = [
        mq.MQCACF_APPL_TAG, mq.MQIA_APPL_TYPE, mq.MQCACF_ASID, mq.MQCACH_CHANNEL_NAME, mq.MQCACH_CONNECTION_NAME,
        mq.MQCACF_USER_IDENTIFIER, mq.MQCACF_PSB_NAME, mq.MQCACF_PST_ID, mq.MQCACF_TASK_NUMBER,
        mq.MQCACF_TRANSACTION_ID, mq.MQBACF_Q_MGR_UOW_ID, mq.MQBACF_EXTERNAL_UOW_ID, mq.MQIACF_UOW_TYPE,
    ]  # fmt: skip
    for name in held.members:
        handles = items(talk, STATUS, HANDLES, EVERY, ALL, queue_manager=name)
        connections = items(talk, CONN, EVERY_CONNECTION, queue_manager=name)
        assert sorted([item.get(each) for each in reported] for item in handles) == sorted(
            [item.get(each) for each in reported] for item in connections
        )


def test_a_unit_of_work_in_local_time(talk: Any, held: GroupState) -> None:
    """One that was held since an hour before 13:00 local time began at 12.00.00; the others have none and blank times."""
    (one,) = items(talk, CONN, EVERY_CONNECTION, string_filter(mq.MQCACF_UOW_START_TIME, mq.MQCFOP_EQUAL, "12.00.00"))
    assert one.get(mq.MQIACF_UOW_STATE) == mq.MQUOWST_ACTIVE
    assert one.get(mq.MQCACF_UOW_START_DATE) == one.get(mq.MQCACF_UOW_LOG_START_DATE) == "2026-11-20"
    assert one.get(mq.MQBACF_Q_MGR_UOW_ID) != bytes(8)
    none = items(talk, CONN, EVERY_CONNECTION, integer_filter(mq.MQIACF_UOW_STATE, mq.MQCFOP_EQUAL, 0))
    assert none
    for item in none:
        assert item.get(mq.MQCACF_UOW_START_DATE) == item.get(mq.MQCACF_UOW_START_TIME) == ""
        assert item.get(mq.MQBACF_Q_MGR_UOW_ID) == bytes(8)


def test_filters_of_connections(talk: Any, held: GroupState) -> None:
    """Filters on a number, a text and bytes select what an unfiltered answer holds of them."""
    found = items(talk, CONN, EVERY_CONNECTION)
    make: Callable[[int, int, Any], Parameter]
    for number, make in (
        (mq.MQIA_APPL_TYPE, integer_filter),
        (mq.MQCACF_APPL_TAG, string_filter),
        (mq.MQBACF_CONNECTION_ID, byte_string_filter),
    ):
        values: set[Any] = {item.get(number) for item in found}
        for value in values:
            for operator, holds in ((mq.MQCFOP_EQUAL, True), (mq.MQCFOP_NOT_EQUAL, False)):
                condition = make(number, operator, value)
                expected = sum((item.get(number) == value) is holds for item in found)
                assert len(items(talk, CONN, EVERY_CONNECTION, condition)) == expected
    several = items(talk, CONN, EVERY_CONNECTION, string_filter(mq.MQCACF_APPL_TAG, mq.MQCFOP_LIKE, "QM01*"))
    assert {item.get(mq.MQCACF_APPL_TAG) for item in several} == {"QM01CHIN"}


def test_wanted_attributes_of_connections(talk: Any) -> None:
    """A list of attributes shortens the items to those and the identifier."""
    wanted = integers(mq.MQIACF_CONNECTION_ATTRS, [mq.MQCACF_APPL_TAG, mq.MQIACF_UOW_STATE])
    for item in items(talk, CONN, EVERY_CONNECTION, wanted):
        assert [each.id for each in item.parameters][2:] == [
            mq.MQBACF_CONNECTION_ID,
            mq.MQIACF_CONN_INFO_TYPE,
            mq.MQCACF_APPL_TAG,
            mq.MQIACF_UOW_STATE,
        ]


def test_connections_of_all_members(talk: Any) -> None:
    """With a scope every member reports its own, whose identifiers begin with its name."""
    found = items(talk, CONN, EVERY_CONNECTION, string(mq.MQCACF_COMMAND_SCOPE, "*"))
    beginnings = {(item.get(mq.MQCACF_RESPONSE_Q_MGR_NAME), found_bytes(item)[:16]) for item in found}
    assert beginnings == {(name, f"CSQC{name}".ljust(16).encode("cp500")) for name in ("QM01", "QM02", "QM03")}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ((), 3228),
        ((integer(mq.MQIACF_CONN_INFO_TYPE, mq.MQIACF_CONN_INFO_CONN),), 3228),
        ((EVERY_CONNECTION, byte_string(mq.MQBACF_CONNECTION_ID, bytes(24))), 3203),
        ((byte_string(mq.MQBACF_CONNECTION_ID, bytes(24)),), 3200),
        ((byte_string(mq.MQBACF_CONNECTION_ID, bytes(8)),), 3229),
        ((byte_string(mq.MQBACF_GENERIC_CONNECTION_ID, bytes(25)),), 3229),
        ((byte_string(mq.MQBACF_GENERIC_CONNECTION_ID, b"\1"),), 3200),
        ((string(mq.MQBACF_GENERIC_CONNECTION_ID, ""),), 3013),
        ((EVERY_CONNECTION, EVERY_CONNECTION), 3017),
        ((EVERY_CONNECTION, integer(mq.MQIACF_CONN_INFO_TYPE, mq.MQIACF_CONN_INFO_HANDLE)), 3229),
        ((EVERY_CONNECTION, integer(mq.MQIACF_CONN_INFO_TYPE, mq.MQIACF_CONN_INFO_ALL)), 3229),
        ((EVERY_CONNECTION, integer(mq.MQIA_UR_DISP, 9)), 3229),
        ((EVERY_CONNECTION, integer(mq.MQIA_UR_DISP, mq.MQQSGD_GROUP)), 3200),
        ((EVERY_CONNECTION, EVERY), 3015),
        ((EVERY_CONNECTION, byte_string(mq.MQBACF_EXTERNAL_UOW_ID, b"")), 3256),
        ((EVERY_CONNECTION, string_filter(mq.MQCACF_APPL_TAG, mq.MQCFOP_EQUAL, "NOSUCHAPP")), 3200),
        ((EVERY_CONNECTION, string_filter(mq.MQCACF_APPL_TAG, 99, "QM01CHIN")), 3150),
        ((EVERY_CONNECTION, integer_filter(mq.MQCACF_APPL_TAG, mq.MQCFOP_EQUAL, 1)), 3150),
        ((EVERY_CONNECTION, byte_string_filter(mq.MQBACF_CONNECTION_ID, mq.MQCFOP_LIKE, b"")), 3150),
        ((EVERY_CONNECTION, integer_filter(mq.MQIACH_BATCHES, mq.MQCFOP_EQUAL, 1)), 3243),
        ((EVERY_CONNECTION, *[integer_filter(mq.MQIACF_UOW_STATE, mq.MQCFOP_EQUAL, 1)] * 2), 3248),
        ((EVERY_CONNECTION, string(mq.MQCACF_COMMAND_SCOPE, "QM99")), 3225),
    ],
)
def test_bad_requests_for_connections(talk: Any, parameters: tuple[Parameter, ...], expected: int) -> None:
    """Nothing fits, or the request is not what z/OS would carry out."""
    assert reason(talk, CONN, *parameters) == expected


COUNTS = st.integers(0, 40)
JOB_NAME = 8


def reported_by(group: GroupState, command: int, *parameters: Parameter) -> list[Message]:
    """The items of QM01's own answer."""
    answer = CommandServer("QM01").answer(request(command, parameters), group)
    messages = [Decoder().decode(data, CCSID) for data in answer.messages]
    assert messages[-1].last
    return [message for message in messages if message.type == mq.MQCFT_XR_ITEM]


@given(COUNTS, COUNTS, st.text("AB.Z19", min_size=1, max_size=20), st.booleans(), st.integers(0, 9))
def test_any_queue_has_the_handles_it_counts(inputs: int, outputs: int, name: str, shareable: bool, seed: int) -> None:
    """With any name of a queue and any number of handles, all handles are reported, and the messages can be read."""
    queue = QueueState(name, input_handles=inputs, output_handles=outputs, shareable=shareable)
    group = GroupState(
        "SITE", "GRP", 1_795_176_000_000, {"QM01": MemberState("QM01", 1, queues={name: queue})}, seed=seed
    )
    reported = reported_by(group, STATUS, HANDLES, EVERY)
    assert sum(item.get(mq.MQIACF_OPEN_INPUT_TYPE) != mq.MQQSO_NO for item in reported) == inputs
    assert sum(item.get(mq.MQIACF_OPEN_OUTPUT) == mq.MQQSO_YES for item in reported) == outputs
    connections = reported_by(group, CONN, EVERY_CONNECTION)
    assert len({item.get(mq.MQBACF_CONNECTION_ID) for item in connections}) == inputs + outputs
    for item in (*reported, *connections):
        tag = item.get(mq.MQCACF_APPL_TAG)
        assert isinstance(tag, str)
        assert 1 <= len(tag) <= JOB_NAME
