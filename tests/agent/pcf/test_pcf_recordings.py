"""Real shapes of answers: the sample recordings and messages, against what IBM's Java classes read in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.connection.exchange import Exchange
from mqvitals_agent.connection.recording import read
from mqvitals_agent.pcf.answer import TRACKED, AnswerTracker, MemberAnswer
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import request
from mqvitals_agent.pcf.message import Filter, Message

NAMES = ("recording-incident", "recording-quiet")
# What Java's trim() takes away at both ends.
_JAVA_TRIM = "".join(map(chr, range(0x21)))


@pytest.fixture(scope="module", params=NAMES)
def recorded(request: pytest.FixtureRequest, shared_data: Path) -> tuple[list[Exchange], dict[str, Any]]:
    """The exchanges of a recording, and what is expected of it."""
    folder = shared_data / "pcf"
    expected = json.loads((folder / f"{request.param}.expected.json").read_text(encoding="utf-8"))
    return list(read(folder / f"{request.param}.jsonl.gz")), expected


def as_java(value: object) -> object:
    """A value as the expected files have it."""
    if isinstance(value, str):
        return value.strip(_JAVA_TRIM)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Filter):
        return as_java(value.value)
    if isinstance(value, tuple):
        return [as_java(member) for member in value]
    return value


def test_every_expected_message(recorded: tuple[list[Exchange], dict[str, Any]]) -> None:
    """The messages that the expected file spells out are decoded to the same parameters."""
    exchanges, expected = recorded
    by_line = {exchange.line: exchange for exchange in exchanges}
    decoder = Decoder()
    for chosen in expected["messages"]:
        reply = by_line[chosen["line"]].replies[chosen["reply"]]
        for _ in range(2):
            message = decoder.decode(reply.data, reply.ccsid)
            decoded = chosen["decoded"]
            assert [as_java(parameter) for parameter in message.parameters] == decoded["params"]
            assert [
                message.type,
                message.command,
                message.sequence,
                message.control,
                message.comp_code,
                message.reason,
            ] == [decoded[key] for key in ("type", "command", "seq", "control", "compCode", "reason")]
    assert len(expected["messages"]) > 50


def test_requests_are_encoded_byte_for_byte(recorded: tuple[list[Exchange], dict[str, Any]]) -> None:
    """Every recorded request, decoded and encoded again, is the same bytes."""
    exchanges, _ = recorded
    decoder = Decoder()
    count = 0
    for exchange in exchanges:
        if exchange.request is not None:
            message = decoder.decode(exchange.request, 0)
            assert request(message.command, message.parameters) == exchange.request
            count += 1
    assert count > 900


def test_every_answer_ends_with_its_last_reply(recorded: tuple[list[Exchange], dict[str, Any]]) -> None:
    """An answer is complete exactly at its last reply, one that the recorder gave up on never is.

    The values that are wanted are those of the whole message, in every reply.
    """
    exchanges, expected = recorded
    decoder = Decoder()
    replies = 0
    for exchange in exchanges:
        tracker = AnswerTracker()
        for number, reply in enumerate(exchange.replies, 1):
            values = decoder.decode_values(reply.data, reply.ccsid, TRACKED)
            whole = decoder.decode(reply.data, reply.ccsid)
            assert values.values == {key: value for key, value in whole.values.items() if key in TRACKED}
            tracker.add(values)
            ended = number == len(exchange.replies) and exchange.error is None
            assert tracker.complete == ended, f"line {exchange.line}, reply {number}"
            replies += 1
        assert all(answer.complete for answer in tracker.answers()) or exchange.error is not None
    assert replies == expected["replies"]


def test_unusual_answers(shared_data: Path) -> None:
    """What was refused, not found, cut short or answered by some members only is told so."""
    wanted = {31, 218, 456, 952, 1848}
    answers = {
        exchange.line: followed(exchange)
        for exchange in read(shared_data / "pcf" / "recording-incident.jsonl.gz")
        if exchange.line in wanted
    }
    assert answers[31] == {"QM02": (0, 3081, 2, True, False)}
    assert answers[218] == {"QM01": (0, 3065, 2, True, False)}
    assert answers[1848] == {"QM03": (0, 2085, 2, True, False)}
    assert answers[952] == {"QM04": (35, 0, 0, False, False)}
    assert answers[456] == {
        "QM01": (4, 0, 0, True, True),
        "QM02": (0, 3081, 2, True, True),
        "QM03": (2, 0, 0, True, True),
        "QM04": (0, 3065, 2, True, True),
    }


def followed(exchange: Exchange) -> dict[str, tuple[int, int, int, bool, bool]]:
    """What each member answered."""
    decoder = Decoder()
    tracker = AnswerTracker()
    for reply in exchange.replies:
        tracker.add(decoder.decode(reply.data, reply.ccsid))
    return {answer.queue_manager: _told(answer) for answer in tracker.answers()}


def _told(answer: MemberAnswer) -> tuple[int, int, int, bool, bool]:
    return len(answer.items), answer.reason, answer.comp_code, answer.complete, answer.scoped


def test_messages_of_distributed_queue_managers(shared_data: Path) -> None:
    """A real statistics message with nested groups and wide lists, and a real command event with a filter."""
    statistics, *rest = Decoder().decode_all((shared_data / "pcf" / "statistics_q.dat").read_bytes(), 1208)
    assert not rest
    assert isinstance(statistics, Message)
    groups = statistics.all(8011)
    assert len(groups) == statistics.get(732) == 16
    assert isinstance(groups[0], tuple)
    assert (2016, 4, "SYSTEM.ADMIN.COMMAND.QUEUE") in groups[0]
    event, *rest = Decoder().decode_all((shared_data / "pcf" / "pcf_with_cfif.dat").read_bytes(), 1208)
    assert not rest
    assert isinstance(event, Message)
    assert (event.type, event.command, event.reason) == (7, 99, 2412)
    data = event.get(8002)
    assert isinstance(data, tuple)
    assert (3, 13, Filter(4, 0)) in data
