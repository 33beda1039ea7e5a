"""Damaged bytes: each kind of damage gives a PcfError that says where and what was expected."""

from __future__ import annotations

import struct
from time import process_time

import pytest

from mqvitals_agent.pcf import encoder
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.message import Message, Parameter, PcfError
from mqvitals_agent.pcf.structures import DEEPEST

INTEGER = encoder.integer(3, 9)
STRING = encoder.string(2016, "APPL1.ORDERS")
STRINGS = encoder.strings(2085, ("ONE", "TWO"))
LIST = encoder.integers(1605, (1, 2))
WIDE = encoder.integer64(746, 1)
WIDE_LIST = encoder.integers64(748, (1, 2))
BYTES = encoder.byte_string(7004, bytes(24))
FILTER = encoder.integer_filter(3, 4, 0)
TEXT_FILTER = encoder.string_filter(2016, 18, "A*")
BYTE_FILTER = encoder.byte_string_filter(7006, 2, b"\1")
GROUP = encoder.group(8011, (INTEGER,))


def damaged(parameter: Parameter | None, offset: int, value: int) -> bytes:
    """A message of one parameter (and a second) with one of its integers changed; ``offset`` is in the structure."""
    parameters = (INTEGER,) if parameter is None else (parameter, INTEGER)
    data = bytearray(encoder.encode_message(18, 41, parameters))
    struct.pack_into(">i", data, offset if parameter is None else 36 + offset, value)
    return bytes(data)


@pytest.mark.parametrize(
    ("parameter", "offset", "value", "where", "expected"),
    [
        (None, 4, 37, 4, "36, the length of a message header, in either byte order, not X'00000025'"),
        (None, 8, 0, 8, "a header version from 1 to 3, not 0"),
        (None, 8, 4, 8, "a header version from 1 to 3, not 4"),
        (None, 32, -1, 32, "a parameter count from 0 to 2, which is all that fits, not -1"),
        (None, 32, 0x7FFFFFFF, 32, "a parameter count from 0 to 2, which is all that fits, not 2147483647"),
        (None, 32, 2, 52, "a parameter structure, not the end of the data after 0 bytes"),
        (None, 32, 0, 36, "the end of the message after its 0 parameters, not 16 more bytes"),
        (INTEGER, 0, 17, 36, "a parameter structure, not a message header (type 17)"),
        (INTEGER, 4, -4, 40, "a structure length from 8 to 32, a multiple of 4, not -4"),
        (INTEGER, 4, 0, 40, "a structure length from 8 to 32, a multiple of 4, not 0"),
        (INTEGER, 4, 18, 40, "a structure length from 8 to 32, a multiple of 4, not 18"),
        (INTEGER, 4, 36, 40, "a structure length from 8 to 32, a multiple of 4, not 36"),
        (INTEGER, 4, 20, 40, "a structure length of 16, not 20"),
        (STRING, 4, 16, 40, "a structure length of at least 20, not 16"),
        (STRING, 16, -1, 52, "a string length from 0 to 12, not -1"),
        (STRING, 16, 13, 52, "a string length from 0 to 12, not 13"),
        (STRINGS, 4, 20, 40, "a structure length of at least 24, not 20"),
        (STRINGS, 16, 3, 52, "a count from 0 to 2, not 3"),
        (STRINGS, 16, -3, 52, "a count from 0 to 2, not -3"),
        (STRINGS, 20, -3, 56, "a string length from 0 to 8, not -3"),
        (STRINGS, 20, 9, 56, "a string length from 0 to 8, not 9"),
        (LIST, 12, 3, 48, "a count from 0 to 2, not 3"),
        (LIST, 12, -1, 48, "a count from 0 to 2, not -1"),
        (LIST, 4, 12, 40, "a structure length of at least 16, not 12"),
        (WIDE, 4, 16, 40, "a structure length of 24, not 16"),
        (WIDE_LIST, 12, 3, 48, "a count from 0 to 2, not 3"),
        (BYTES, 12, 25, 48, "a string length from 0 to 24, not 25"),
        (BYTES, 12, -25, 48, "a string length from 0 to 24, not -25"),
        (BYTES, 4, 8, 40, "a structure length of at least 16, not 8"),
        (FILTER, 4, 24, 40, "a structure length of 20, not 24"),
        (TEXT_FILTER, 20, 5, 56, "a string length from 0 to 4, not 5"),
        (TEXT_FILTER, 4, 20, 40, "a structure length of at least 24, not 20"),
        (BYTE_FILTER, 16, 5, 52, "a string length from 0 to 4, not 5"),
        (GROUP, 4, 20, 40, "a structure length of 16, not 20"),
        (GROUP, 12, -1, 48, "a group of 0 to 4 parameters, which is all that fits, not -1"),
        (GROUP, 12, 0x7FFFFFFF, 48, "a group of 0 to 4 parameters, which is all that fits, not 2147483647"),
        (GROUP, 12, 0, 68, "the end of the message after its 2 parameters, not 16 more bytes"),
    ],
)
def test_damage_is_named(parameter: Parameter | None, offset: int, value: int, where: int, expected: str) -> None:
    """One wrong number gives the offset and what was expected, whatever is wanted of the message."""
    data = damaged(parameter, offset, value)
    decoder = Decoder()
    # A sound message first: a kept shape must not hide the damage.
    for _ in range(2):
        sound = (INTEGER,) if parameter is None else (parameter, INTEGER)
        decoder.decode(encoder.encode_message(18, 41, sound), 500)
        decoder.decode_values(encoder.encode_message(18, 41, sound), 500, frozenset({3}))
    for decode in (
        lambda: decoder.decode(data, 500),
        lambda: decoder.decode_values(data, 500, frozenset({3})),
        lambda: decoder.decode_values(data, 500, frozenset()),
    ):
        with pytest.raises(PcfError) as caught:
            decode()
        assert (caught.value.offset, caught.value.expected) == (where, expected)
        assert str(caught.value) == f"at byte {where}: expected {expected}"


@pytest.mark.parametrize("parameter", [INTEGER, STRING, STRINGS, LIST, WIDE, BYTES, FILTER, TEXT_FILTER, GROUP])
def test_every_cut_is_noticed(parameter: Parameter) -> None:
    """A message cut at any byte is an error, never a shorter message."""
    data = encoder.encode_message(18, 41, (parameter, parameter))
    decoder = Decoder()
    decoder.decode(data, 500)
    for length in range(len(data)):
        with pytest.raises(PcfError):
            decoder.decode(data[:length], 500)


def test_groups_nest_only_so_deep() -> None:
    """Groups within groups are followed to a fixed depth, however deep the data say they go."""
    parameter = INTEGER
    for _ in range(DEEPEST):
        parameter = encoder.group(8011, (parameter,))
    assert Decoder().decode(encoder.encode_message(21, 165, (parameter,)), 0).parameters == (parameter,)
    data = encoder.encode_message(21, 165, (encoder.group(8011, (parameter,)),))
    with pytest.raises(PcfError, match=f"groups nested at most {DEEPEST} deep"):
        Decoder().decode(data, 0)


def test_many_empty_texts_take_no_memory() -> None:
    """A list of texts of no length cannot claim more of them than its structure has bytes."""
    data = bytearray(encoder.encode_message(18, 41, (encoder.strings(2085, ("", "")),)))
    struct.pack_into(">i", data, 36 + 16, 0x7FFFFFFF)
    with pytest.raises(PcfError, match="a count from 0 to 24"):
        Decoder().decode(bytes(data), 500)


def test_the_other_messages_of_a_file_survive() -> None:
    """In a run of messages a damaged one is reported in its place, and the others are read."""
    good = [encoder.encode_message(18, 41, (STRING, encoder.integer(3, number))) for number in range(5)]
    short = bytearray(good[1])
    struct.pack_into(">i", short, 40, 4)
    many = bytearray(good[2])
    struct.pack_into(">i", many, 32, 3)
    few = bytearray(good[3])
    struct.pack_into(">i", few, 32, 1)
    little = encoder.encode_message(18, 41, (STRING,), order="<")
    pieces = (
        good[0],
        bytes(short),
        little,
        bytes(many),
        good[1],
        bytes(many),
        little,
        bytes(few),
        good[4],
        b"\xde\xad",
    )
    data = b"".join(pieces)
    found = list(Decoder().decode_all(data, 500))
    kinds = ["M" if isinstance(item, Message) else "E" for item in found]
    assert "".join(kinds) == "MEMEMEMMEME"
    errors = [item for item in found if isinstance(item, PcfError)]
    assert errors[0].offset == len(good[0]) + 40
    assert "not a message header (type 18)" in errors[1].expected
    assert errors[-1].offset == len(data) - 2
    messages = [item for item in found if isinstance(item, Message)]
    assert [message.get(3) for message in messages] == [0, None, 1, None, None, 4]


def test_nothing_in_nothing() -> None:
    """No bytes are no messages, and no message."""
    assert list(Decoder().decode_all(b"", 500)) == []
    with pytest.raises(PcfError, match="at byte 0: expected a message header of 36 bytes"):
        Decoder().decode(b"", 500)


@pytest.mark.parametrize(
    "piece",
    [
        bytes.fromhex("00000012 00000024 00000003 00000029 00000001 00000001 00000000 00000000 00000000"),
        bytes.fromhex("00000012 00000024 00000003 00000029 00000001 00000001 00000000 00000000 00000001"),
        bytes.fromhex("12000000 24000000 03000000 29000000 01000000 01000000 00000000 00000000 00100000"),
        bytes.fromhex("24000000"),
        bytes.fromhex("00000024"),
        bytes.fromhex("00000014 00000010 00000003 00000001"),
        bytes(4),
    ],
    ids=["empty", "count", "little", "36 little", "36 big", "groups", "zeros"],
)
def test_hostile_files_take_time_in_proportion(piece: bytes) -> None:
    """Four times as much of anything repeated takes no sixteen times as long: nothing is looked at again and again."""

    def cpu_s(size: int) -> float:
        data = piece * (size // len(piece))
        times = []
        for _ in range(3):
            begin = process_time()
            for _ in Decoder().decode_all(data, 500):
                pass
            times.append(process_time() - begin)
        return min(times)

    # So little is there at least that the clock of the processor can tell.
    assert cpu_s(400_000) < 9 * cpu_s(100_000) + 0.01
