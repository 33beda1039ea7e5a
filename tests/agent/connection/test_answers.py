"""Replies of one command: decoded once, followed to the end of the answer, counted for their senders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from mqvitals_agent.connection.answer import AnswerReader, read_answer
from mqvitals_agent.connection.connection import Exchange, Query, Reply
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.answer import TRACKED
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import byte_string, encode_message, integer, string
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_agent.poll.queries import PROBES

STATUS = mq.MQCMD_INQUIRE_Q_STATUS
CCSID = 500
AT = 1_795_176_000_000
SET = b"CSQ QM01".ljust(24, b"\1")


def reply(sequence: int, name: str, *, last: bool, member: str = "QM01", depth: int = 3) -> Reply:
    """One item of a queue's status, as z/OS sends it."""
    parameters: Sequence[Parameter] = (
        byte_string(mq.MQBACF_RESPONSE_ID, SET),
        string(mq.MQCACF_RESPONSE_Q_MGR_NAME, member),
        string(mq.MQCA_Q_NAME, name),
        integer(mq.MQIACF_Q_STATUS_TYPE, mq.MQIACF_Q_STATUS),
        integer(mq.MQIA_CURRENT_Q_DEPTH, depth),
        integer(mq.MQIA_QSG_DISP, mq.MQQSGD_Q_MGR),
    )
    control = mq.MQCFC_LAST if last else mq.MQCFC_NOT_LAST
    data = encode_message(mq.MQCFT_XR_ITEM, STATUS, parameters, sequence=sequence, control=control, ccsid=CCSID)
    return Reply(785, CCSID, data, AT + 10 * sequence)


def reader(query: Query) -> AnswerReader:
    return AnswerReader(Decoder(lenient=True), "QM01", query.parameters, query.key)


QUERY = PROBES[STATUS].query(QueryOptions())


def test_an_answer_holds_items_and_totals_by_queue_manager() -> None:
    """The items of the member with completion and reason; its replies, bytes and last put time."""
    replies = [reply(1, "A", last=False), reply(2, "B", last=True)]
    found = reader(QUERY)
    found.add(replies[:1])
    assert not found.complete
    found.add(replies[1:])
    answer = found.answer()
    assert found.complete
    assert answer.complete
    (member,) = answer.members
    assert (member.queue_manager, member.comp_code, member.reason, member.complete) == ("QM01", 0, 0, True)
    assert [item.get(mq.MQCA_Q_NAME) for item in member.items] == ["A", "B"]
    total = answer.totals["QM01"]
    assert (total.replies, total.bytes, total.put) == (2, sum(len(each.data) for each in replies), AT + 20)


@pytest.mark.parametrize("name", ["A\1B", "A" * 80 + "\n"])
def test_a_name_that_no_object_has_ends_the_answer_and_is_left_out(name: str) -> None:
    """As the last message it ends the answer nevertheless: nothing is waited for in vain."""
    found = reader(QUERY)
    found.add([reply(1, "A", last=False), reply(2, name, last=True)])
    answer = found.answer()
    assert found.complete
    assert answer.damaged == 1
    (member,) = answer.members
    assert [item.get(mq.MQCA_Q_NAME) for item in member.items] == ["A"]


def test_bytes_that_are_no_message_leave_a_gap() -> None:
    """The sets that they belong to are not whole, and they count for the queue manager that was asked."""
    found = reader(QUERY)
    found.add([reply(1, "A", last=False, member="QM02"), Reply(785, CCSID, b"\x15"), reply(3, "B", last=True)])
    answer = found.answer()
    assert answer.damaged == 1
    assert not answer.members[0].complete
    assert {name: each.replies for name, each in answer.totals.items()} == {"QM02": 1, "QM01": 2}


def test_what_the_connection_decoded_is_not_decoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The collector takes the items of a live exchange, and decodes the bytes of a recorded one: the snapshots are equal."""
    replies = (reply(1, "A", last=False), reply(2, "B", last=True))
    recorded = Exchange(0, AT, 7, "QM01", STATUS, QUERY.request, replies)
    live = replace(recorded, answer=read_answer(recorded, Decoder(lenient=True), QUERY.parameters, QUERY.key))
    decoded: list[bytes] = []
    decode_values = Decoder.decode_values

    def counted(self: Decoder, data: bytes, ccsid: int, wanted: frozenset[int]) -> object:
        decoded.append(data)
        return decode_values(self, data, ccsid, wanted)

    monkeypatch.setattr(Decoder, "decode_values", counted)
    snapshots = []
    for exchange in (live, recorded):
        collector = Collector("", ["QM01"])
        collector.feed(exchange)
        snapshots.append(collector.end_cycle(1))
    assert decoded == [each.data for each in replies]
    assert snapshots[0] == snapshots[1]
    assert {each.object.name for each in snapshots[0][0].readings if each.object.kind == "queue"} == {"A", "B"}


def test_without_parameters_only_the_answer_is_followed() -> None:
    """A command that nothing reads."""
    found = AnswerReader(Decoder(), "QM01")
    found.add([reply(1, "A", last=True)])
    (member,) = found.answer().members
    assert set(member.items[0].values) <= TRACKED
