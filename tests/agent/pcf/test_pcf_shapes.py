"""The kept shapes: the same result as the careful walk, for any messages, within bounds."""

from __future__ import annotations

import random
import struct

import pytest

from mqvitals_agent.pcf import decoder as decoder_module
from mqvitals_agent.pcf import encoder
from mqvitals_agent.pcf.codepage import LONGEST_TEXT, MOST_TEXTS, TextPool
from mqvitals_agent.pcf.decoder import SHAPES_BYTES, SHAPES_OF_A_KEY, Decoder
from mqvitals_agent.pcf.message import Parameter


def shapes_of(decoder: Decoder) -> int:
    """How many shapes the decoder keeps."""
    return sum(map(len, decoder._shapes.values()))


def queue(name: str, depth: int, width: int = 48) -> bytes:
    """A queue status reply."""
    return encoder.encode_message(18, 41, (encoder.string(2016, name, width), encoder.integer(3, depth)))


def test_a_repeated_shape_is_compiled_once() -> None:
    """Replies of one shape share it, and each keeps its own header and values."""
    decoder = Decoder()
    for depth in range(50):
        message = decoder.decode(queue(f"Q{depth}", depth), 500)
        assert message.values == {2016: f"Q{depth}", 3: depth}
    assert shapes_of(decoder) == 1


def test_messages_of_the_same_length_and_another_shape() -> None:
    """Messages that differ only inside, at equal length, command and count, get each their own values."""
    decoder = Decoder()
    messages = [
        (encoder.integer(3, 1), encoder.integer(15, 2)),
        (encoder.integer(15, 2), encoder.integer(3, 1)),
        (encoder.integers(1605, (7, 8)), encoder.byte_string(7004, b"12345678")),
        (encoder.string(2016, "ABCD"), encoder.string(2013, "")),
        (encoder.string(2016, "ABC"), encoder.string(2013, "")),
        (encoder.string(2016, ""), encoder.string(2013, "ABC")),
    ]
    for _ in range(3):
        for parameters in messages:
            for wanted in (frozenset({3, 2016}), frozenset({15, 7004, 1605, 2013})):
                data = encoder.encode_message(18, 41, parameters)
                assert decoder.decode(data, 500).parameters == parameters
                expected = {parameter.id: parameter.value for parameter in parameters if parameter.id in wanted}
                assert decoder.decode_values(data, 500, wanted).values == expected


def test_the_character_set_of_the_message_is_part_of_the_shape() -> None:
    """Texts that inherit their character set are decoded in that of each message, not of the first."""
    decoder = Decoder()
    parameter = encoder.string(2013, "[x]")
    for _ in range(3):
        for ccsid in (500, 1047, 1208):
            data = encoder.encode_message(18, 13, (parameter,), ccsid=ccsid, inherit=True)
            assert decoder.decode(data, ccsid).get(2013) == "[x]"


def test_wide_integers_with_anything_in_the_reserved_field() -> None:
    """The reserved field of a 64-bit integer is no part of the shape and no part of the value."""
    decoder = Decoder()
    data = bytearray(encoder.encode_message(18, 41, (encoder.integer64(746, -2),)))
    for reserved in (0, 1, -1):
        struct.pack_into(">i", data, 48, reserved)
        assert decoder.decode(bytes(data), 500).get(746) == -2
    assert shapes_of(decoder) == 1


def test_repeats_of_a_wanted_parameter() -> None:
    """Of a parameter that is there several times, Values has the first, and the rest beside it, in order."""
    parameters = tuple(encoder.byte_string(7003, bytes([number]) * 24) for number in range(3))
    data = encoder.encode_message(17, 41, (*parameters, encoder.integer(3, 1)))
    decoder = Decoder()
    for _ in range(3):
        values = decoder.decode_values(data, 500, frozenset({7003}))
        assert values.values == {7003: bytes(24)}
        assert values.all(7003) == (bytes(24), b"\1" * 24, b"\2" * 24)
        assert values.get(3) is None
        assert values.all(3) == ()
        assert values.last
        assert "7003" in repr(values)


def test_the_number_of_shapes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many shapes come, those that are kept stay within the bound, and results stay right."""
    monkeypatch.setattr(decoder_module, "SHAPES_BYTES", 20_000)
    decoder = Decoder()
    chance = random.Random(1)
    for number in range(2000):
        name = "N" * chance.randint(1, 48)
        text = "D" * chance.randint(0, 64)
        parameters = (encoder.string(2016, name), encoder.string(2013, text), encoder.integer(3, number))
        data = encoder.encode_message(18, 13, parameters)
        assert decoder.decode(data, 500).parameters == parameters
        assert decoder._size <= 20_000
        assert decoder._size == sum(shape.size for shapes in decoder._shapes.values() for shape in shapes)
    assert SHAPES_BYTES > 1_000_000


def test_old_shapes_of_a_key_make_room() -> None:
    """Shapes of the same key that no longer come are given up for those that do."""
    decoder = Decoder()

    def reply(first: int) -> bytes:
        return encoder.encode_message(18, 13, (encoder.string(1, "A" * first), encoder.string(2, "B" * (64 - first))))

    for first in range(0, 64, 4):
        decoder.decode(reply(first), 500)
    assert shapes_of(decoder) == SHAPES_OF_A_KEY
    for _ in range(1000):
        decoder.decode(reply(60), 500)
    key = next(iter(decoder._shapes))
    assert decoder._shape(key, reply(60)) is not None


def test_compiling_is_paid_for_by_walking() -> None:
    """When no shape ever comes again, compiling stops, and takes up again when messages were walked."""
    decoder = Decoder()
    decoder._credit = 0
    for number in range(10):
        decoder.decode(queue("Q", 1, number + 1), 500)
    assert shapes_of(decoder) == 0
    for _ in range(20):
        decoder.decode(queue("Q", 1), 500)
    assert shapes_of(decoder) == 1


def test_long_messages_are_not_kept() -> None:
    """The shape of a very long message is not kept, and its values are right all the same."""
    parameters = tuple(encoder.string(3075, "X" * 1000) for _ in range(40))
    data = encoder.encode_message(7, 99, parameters)
    decoder = Decoder()
    for _ in range(2):
        assert decoder.decode(data, 500).parameters == parameters
    assert shapes_of(decoder) == 0


def test_texts_are_forgotten_past_the_bound() -> None:
    """The remembered texts of all character sets together stay within the bound, and long ones are not kept."""
    pool = TextPool()
    texts = pool.of(500, 0)
    for number in range(MOST_TEXTS + 10):
        assert texts[str(number).encode("cp500")] == str(number)
        assert len(texts) <= MOST_TEXTS
    assert len(texts) < 100
    assert texts[b"\xc1" * (LONGEST_TEXT + 1)] == "A" * (LONGEST_TEXT + 1)
    assert b"\xc1" * (LONGEST_TEXT + 1) not in texts
    for number in range(MOST_TEXTS - 20):
        texts[b"\xc1" + str(number).encode("cp500")]
    others = pool.of(819, 0)
    assert len(texts) <= pool.share == MOST_TEXTS // 2
    assert others[b"A"] == "A"


def test_parameters_compare_by_value() -> None:
    """A decoded message equals one made from the same parameters, and tells itself."""
    message = Decoder().decode(queue("Q1", 5), 500)
    assert message.parameters == (Parameter(2016, 4, "Q1"), Parameter(3, 3, 5))
    assert message != "Q1"
    assert "value='Q1'" in repr(message)
