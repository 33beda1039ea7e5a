"""Shapes of answers: messages written byte by byte from IBM's layouts, and the recordings of a simulated group."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mqsamples.pcf import CFGR, CFIF, CFIL, CFIL64, CFIN, CFST, Pcf
from mqvitals_agent.connection.connection import Exchange
from mqvitals_agent.connection.recording import open_recording
from mqvitals_agent.pcf.answer import TRACKED, AnswerTracker
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import request
from mqvitals_agent.pcf.message import FilterValue, Message, Parameter

Recordings = Callable[[str], Path]

ZOS = Pcf(">", 500)
LINUX = Pcf("<", 1208)


@pytest.fixture(scope="module", params=["incident", "quiet"])
def recorded(request: pytest.FixtureRequest, recordings: Recordings) -> list[Exchange]:
    """The exchanges of a recording."""
    return list(open_recording(recordings(request.param)))


def test_an_item_of_channel_status_from_z_os() -> None:
    """Its header and every parameter, with texts in EBCDIC filled to their lengths, also when its shape is known."""
    data = ZOS.message(
        18,  # MQCFT_XR_ITEM
        42,  # MQCMD_INQUIRE_CHANNEL_STATUS
        ZOS.octets(7004, bytes(range(24))),  # MQBACF_RESPONSE_ID
        ZOS.string(3070, "QM01", 48),  # MQCACF_RESPONSE_Q_MGR_NAME
        ZOS.string(3501, "TO.QM02", 20),  # MQCACH_CHANNEL_NAME
        ZOS.integer(1527, 3),  # MQIACH_CHANNEL_STATUS: running
        ZOS.integers(1605, 190, -1),  # MQIACH_NETWORK_TIME_INDICATOR
        ZOS.strings(3079, ["A", "BC", ""], 3),
        ZOS.integer64(745, 5_000_000_000),
        sequence=2,
        last=False,
    )
    decoder = Decoder()
    for _ in range(3):
        message = decoder.decode(data, 0)
        assert (message.type, message.command, message.sequence, message.last) == (18, 42, 2, False)
        assert (message.comp_code, message.reason) == (0, 0)
        assert message.values == {
            7004: bytes(range(24)),
            3070: "QM01",
            3501: "TO.QM02",
            1527: 3,
            1605: (190, -1),
            3079: ("A", "BC", ""),
            745: 5_000_000_000,
        }


def test_a_refusal_by_one_member() -> None:
    """What was not found, and the summary that ends the member's answer."""
    identity = (ZOS.octets(7004, bytes(24)), ZOS.string(3070, "QM02", 48))
    tracker = AnswerTracker()
    decoder = Decoder()
    tracker.add(decoder.decode(ZOS.message(17, 42, *identity, comp_code=2, reason=3065, last=False), 0))
    assert not tracker.complete
    tracker.add(decoder.decode(ZOS.message(19, 42, *identity, sequence=2, comp_code=2, reason=3008), 0))
    assert tracker.complete
    (answer,) = tracker.answers()
    assert (answer.queue_manager, answer.reason, answer.comp_code, len(answer.items)) == ("QM02", 3065, 2, 0)


def test_statistics_of_a_distributed_queue_manager() -> None:
    """Groups within a message, wide lists, and the other byte order; groups keep their members in order."""
    queues = [
        LINUX.group(
            8011,  # MQGACF_Q_STATISTICS_DATA
            LINUX.string(2016, name, 48),
            LINUX.integers(735, puts, 1),  # MQIAMO_PUTS
            LINUX.integers64(747, 1000 * puts, 1 << 40),  # MQIAMO64_PUT_BYTES
        )
        for name, puts in (("SYSTEM.ADMIN.COMMAND.QUEUE", 4), ("APP", 0))
    ]
    data = LINUX.message(21, 165, LINUX.string(2015, "DQM", 48), LINUX.integer(732, 2), *queues)
    statistics, *rest = Decoder().decode_all(data, 1208)
    assert not rest
    assert isinstance(statistics, Message)
    assert statistics.get(732) == len(statistics.all(8011)) == 2
    assert statistics.all(8011)[0] == (
        Parameter(2016, CFST, "SYSTEM.ADMIN.COMMAND.QUEUE"),
        Parameter(735, CFIL, (4, 1)),
        Parameter(747, CFIL64, (4000, 1 << 40)),
    )


def test_a_command_event_with_a_filter() -> None:
    """A filter within a group within the message."""
    context = LINUX.group(8001, LINUX.string(3045, "mqm", 12), LINUX.integer(1011, 1))
    inner = LINUX.group(8003, LINUX.integer(20, 1))
    command = LINUX.group(8002, LINUX.string(2016, "", 0), LINUX.integer_filter(3, 4, 0), inner)
    event = Decoder().decode(LINUX.message(7, 99, context, command, reason=2412), 1208)
    assert (event.type, event.command, event.reason) == (7, 99, 2412)
    assert event.get(8002) == (
        Parameter(2016, CFST, ""),
        Parameter(3, CFIF, FilterValue(4, 0)),
        Parameter(8003, CFGR, (Parameter(20, CFIN, 1),)),
    )


def test_requests_are_encoded_byte_for_byte(recorded: list[Exchange]) -> None:
    """Every recorded request, decoded and encoded again, is the same bytes."""
    decoder = Decoder()
    asked = {exchange.request for exchange in recorded if exchange.request is not None}
    assert asked
    for data in asked:
        message = decoder.decode(data, 0)
        assert request(message.command, message.parameters) == data


def test_every_answer_ends_with_its_last_reply(recorded: list[Exchange]) -> None:
    """An answer is complete exactly at its last reply, one that the recorder gave up on never is.

    The values that are wanted are those of the whole message, in every reply.
    """
    decoder = Decoder()
    given_up = 0
    for exchange in recorded:
        tracker = AnswerTracker()
        for number, reply in enumerate(exchange.replies, 1):
            values = decoder.decode_values(reply.data, reply.ccsid, TRACKED)
            whole = decoder.decode(reply.data, reply.ccsid)
            assert values.values == {key: value for key, value in whole.values.items() if key in TRACKED}
            tracker.add(values)
            ended = number == len(exchange.replies) and exchange.error is None
            assert tracker.complete == ended, f"line {exchange.line}, reply {number}"
        assert all(answer.complete for answer in tracker.answers()) or exchange.error is not None
        given_up += bool(exchange.replies) and exchange.error is not None
    assert given_up or not any(exchange.error for exchange in recorded)


def test_unusual_answers(recordings: Recordings) -> None:
    """What was refused, cut short, or answered by some members only is told so."""
    decoder = Decoder()
    refused: set[tuple[str, int, int]] = set()
    cut: set[str] = set()
    for exchange in open_recording(recordings("incident")):
        tracker = AnswerTracker()
        for reply in exchange.replies:
            tracker.add(decoder.decode(reply.data, reply.ccsid))
        for answer in tracker.answers():
            if not answer.complete:
                assert answer.items
                cut.add(answer.queue_manager)
            elif answer.comp_code == 2:
                refused.add((answer.queue_manager, answer.reason, len(answer.items)))
    assert ("QM03", 2035, 0) in refused
    assert cut == {"QM02"}
