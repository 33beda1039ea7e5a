"""Any bytes at all: only PcfError, in bounded time, and the same by every way of decoding."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from mqsamples.pcf import Pcf
from mqvitals_agent.connection.recording import open_recording
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf import encoder
from mqvitals_agent.pcf.answer import TRACKED, AnswerTracker
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.message import FilterValue, Message, Parameter, PcfError, Value
from mqvitals_agent.pcf.structures import Order

IDS = st.sampled_from((3, 15, 2016, 3070, 7003, 7004, 1120, 1121, 1605, 8011)) | st.integers(-(2**31), 2**31 - 1)
NARROW = st.integers(-(2**31), 2**31 - 1)
WIDE = st.integers(-(2**63), 2**63 - 1)
# What every single-byte page here has, without what is trimmed at the end.
TEXT = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcxyz0123456789./_% ()*", max_size=60).map(str.rstrip)
CCSIDS = st.sampled_from((37, 273, 500, 819, 1047, 1140, 1208))
ORDERS: st.SearchStrategy[Order] = st.sampled_from((">", "<"))
OPERATORS = st.sampled_from((mq.MQCFOP_EQUAL, mq.MQCFOP_LIKE, 7))


def parameter(kind: int, values: st.SearchStrategy[Value]) -> st.SearchStrategy[Parameter]:
    """Parameters of one structure type."""
    return st.builds(Parameter, IDS, st.just(kind), values)


FLAT = st.one_of(
    parameter(mq.MQCFT_INTEGER, NARROW),
    parameter(mq.MQCFT_INTEGER64, WIDE),
    parameter(mq.MQCFT_INTEGER_LIST, st.lists(NARROW, max_size=5).map(tuple)),
    parameter(mq.MQCFT_INTEGER64_LIST, st.lists(WIDE, max_size=5).map(tuple)),
    parameter(mq.MQCFT_STRING, TEXT),
    parameter(mq.MQCFT_STRING_LIST, st.lists(TEXT, max_size=4).map(tuple)),
    parameter(mq.MQCFT_BYTE_STRING, st.binary(max_size=30)),
    parameter(mq.MQCFT_INTEGER_FILTER, st.builds(FilterValue, OPERATORS, NARROW)),
    parameter(mq.MQCFT_STRING_FILTER, st.builds(FilterValue, OPERATORS, TEXT)),
    parameter(mq.MQCFT_BYTE_STRING_FILTER, st.builds(FilterValue, OPERATORS, st.binary(max_size=9))),
)
PARAMETERS = st.recursive(
    FLAT,
    lambda inner: parameter(mq.MQCFT_GROUP, st.lists(inner, max_size=4).map(tuple)),
    max_leaves=8,
)
MESSAGES = st.builds(
    Message,
    st.sampled_from((2, 7, 16, 17, 18, 19, 21)),
    NARROW,
    NARROW,
    st.sampled_from((0, 1)),
    st.sampled_from((-1, 0, 1, 2, 99)),
    NARROW,
    st.lists(PARAMETERS, max_size=8),
)
# One decoder for all examples: whatever came before must not change what comes out.
SHARED = Decoder()


def everything(decoder: Decoder, data: bytes, ccsid: int) -> list[str]:
    """What each way of decoding makes of the data; anything but PcfError escapes."""
    said = []
    offsets: list[int] = []
    for _ in range(2):
        try:
            message = decoder.decode(data, ccsid)
        except PcfError as error:
            said.append(str(error))
            offsets.append(error.offset)
        else:
            said.append(repr(message))
            assert message.parameters is message.parameters
            assert list(message.values) == list(dict.fromkeys(parameter.id for parameter in message.parameters))
            follow(message)
        for wanted in (TRACKED, frozenset({3, 2016, 1605, 8011})):
            try:
                values = decoder.decode_values(data, ccsid, wanted)
            except PcfError as error:
                said.append(str(error))
            else:
                said.append(repr(values) + repr(values.repeated))
                AnswerTracker().add(values)
    said.extend(str(found) for found in decoder.decode_all(data, ccsid))
    assert all(0 <= offset <= len(data) for offset in offsets)
    return said


def follow(message: Message) -> None:
    """The tracker takes any message, and can be asked at any time."""
    tracker = AnswerTracker()
    for _ in range(2):
        tracker.add(message)
        assert tracker.complete in {True, False}
        for answer in tracker.answers():
            assert answer.comp_code in {-1, 0, 1, 2, 99} or message.comp_code == answer.comp_code


@given(st.binary(max_size=400), st.integers(-5, 2000))
def test_random_bytes(data: bytes, ccsid: int) -> None:
    """Random bytes raise PcfError or are decoded, and nothing else happens."""
    everything(SHARED, data, ccsid)


@given(st.binary(max_size=300), ORDERS, st.integers(-1, 12), CCSIDS)
def test_random_bytes_after_a_header(data: bytes, order: Order, count: int, ccsid: int) -> None:
    """The same behind a sound header, which lets the bytes be read as structures."""
    head = bytearray(encoder.encode_message(18, 41, (), order=order))
    head[32:36] = count.to_bytes(4, "big" if order == ">" else "little", signed=True)
    everything(SHARED, bytes(head) + data, ccsid)


@given(MESSAGES, ORDERS, CCSIDS)
@settings(max_examples=2 * settings().max_examples)
def test_what_is_encoded_is_decoded(message: Message, order: Order, ccsid: int) -> None:
    """Any message comes back equal, from a fresh decoder and from one that knows its shape."""
    data = encoder.encode(message, order=order, ccsid=ccsid)
    decoder = Decoder()
    for _ in range(3):
        assert decoder.decode(data, 0) == message
    assert list(decoder.decode_all(data + data, 0)) == [message, message]


@given(MESSAGES, ORDERS, CCSIDS, st.sets(IDS, max_size=6))
def test_the_wanted_values_are_those_of_the_whole(message: Message, order: Order, ccsid: int, ids: set[int]) -> None:
    """Decoding only what is wanted gives what decoding everything gives for it."""
    data = encoder.encode(message, order=order, ccsid=ccsid)
    wanted = frozenset(ids | {parameter.id for parameter in message.parameters[::2]})
    decoder = Decoder()
    for _ in range(3):
        values = decoder.decode_values(data, 0, wanted)
        assert values.values == {number: value for number, value in message.values.items() if number in wanted}
        assert all(values.all(number) == message.all(number) for number in wanted)
        header = (values.type, values.command, values.sequence, values.control, values.comp_code, values.reason)
        assert header == (
            message.type,
            message.command,
            message.sequence,
            message.control,
            message.comp_code,
            message.reason,
        )


@given(st.lists(MESSAGES, min_size=1, max_size=3), ORDERS, CCSIDS, st.integers(0, 2**32), st.integers(1, 6))
@settings(max_examples=2 * settings().max_examples)
def test_mutated_messages(messages: list[Message], order: Order, ccsid: int, seed: int, changes: int) -> None:
    """Sound messages with some bytes changed, cut out or doubled never raise anything but PcfError.

    And a decoder that has kept the shapes of the sound ones says the same as one that has seen nothing.
    """
    data = b"".join(encoder.encode(message, order=order, ccsid=ccsid) for message in messages)
    knowing = Decoder()
    for found in knowing.decode_all(data, ccsid):
        assert isinstance(found, Message)
    single = encoder.encode(messages[0], order=order, ccsid=ccsid)
    knowing.decode(single, ccsid)
    knowing.decode_values(single, ccsid, TRACKED)
    for sound in (single, data):
        mutated = mutate(sound, random.Random(seed), changes)
        assert everything(knowing, mutated, ccsid) == everything(Decoder(), mutated, ccsid)


def test_mutated_replies_of_queue_managers(recordings: Callable[[str], Path]) -> None:
    """The same with the shapes of replies: those of a simulated group, and nested statistics in the other byte order."""
    chance = random.Random(20261120)
    pcf = Pcf("<", 1208)
    queue = pcf.group(8011, pcf.string(2016, "APP", 48), pcf.integers(735, 4, 1), pcf.integers64(747, 1, 1 << 40))
    nested = pcf.group(8002, pcf.string(2016, ""), pcf.integer_filter(3, 4, 0), pcf.group(8003, pcf.integer(20, 1)))
    replies = [(1208, pcf.message(21, 165, pcf.string(2015, "DQM", 48), queue, queue, nested))] * 60
    recorded = [reply for exchange in open_recording(recordings("quiet")) for reply in exchange.replies]
    replies.extend((reply.ccsid, reply.data) for reply in chance.sample(recorded, 600))
    for ccsid, data in replies:
        SHARED.decode(data, ccsid)
        mutated = mutate(data, chance, chance.randint(1, 4))
        assert everything(SHARED, mutated, ccsid) == everything(Decoder(), mutated, ccsid)


def mutate(data: bytes, chance: random.Random, changes: int) -> bytes:
    """The data with some bytes changed, removed or repeated."""
    changed = bytearray(data)
    for _ in range(changes):
        if not changed:
            break
        at = chance.randrange(len(changed))
        what = chance.random()
        if what < 0.5:
            changed[at] = chance.choice((0, 1, 4, 20, 127, 128, 255, chance.randrange(256)))
        elif what < 0.7:
            word = at & ~3
            changed[word : word + 4] = chance.choice((0, 1, -1, 36, 2**31 - 1, -(2**31))).to_bytes(
                4, "big", signed=True
            )
        elif what < 0.85:
            del changed[at : at + chance.choice((1, 4, 16))]
        else:
            changed[at:at] = changed[at : at + chance.choice((1, 4, 36))]
    return bytes(changed)
