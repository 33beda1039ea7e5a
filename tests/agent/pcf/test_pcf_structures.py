"""Every structure, both byte orders: encoded, decoded, and as the reference writes them out in hex."""

from __future__ import annotations

import pytest

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf import encoder
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.message import FilterValue, Message, Parameter, PcfError
from mqvitals_agent.pcf.structures import Order

EVERYTHING = (
    encoder.integer(mq.MQIA_CURRENT_Q_DEPTH, -1),
    encoder.integer64(mq.MQIAMO64_BYTES, 5_000_000_000),
    encoder.integers(mq.MQIACH_NETWORK_TIME_INDICATOR, (190, -1)),
    encoder.integers(mq.MQIACF_Q_ATTRS, ()),
    encoder.integers64(mq.MQIAMO64_PUT_BYTES, (1 << 40, -(1 << 40), 7)),
    encoder.string(mq.MQCA_Q_NAME, "APPL1.ORDERS"),
    encoder.string(mq.MQCA_Q_DESC, "[/x] <b> öäü"),
    encoder.string(mq.MQCA_QSG_NAME, ""),
    encoder.strings(mq.MQCA_TPIPE_NAME, ("ONE", "THREE", "")),
    encoder.strings(mq.MQCACF_CF_STRUC_LOG_Q_MGRS, ()),
    encoder.strings(mq.MQCACF_CF_STRUC_NAMES, ("", "")),
    encoder.byte_string(mq.MQBACF_RESPONSE_ID, bytes(range(24))),
    encoder.byte_string(mq.MQBACF_EXTERNAL_UOW_ID, b"\x01\x02\x03"),
    encoder.byte_string(mq.MQBACF_GENERIC_CONNECTION_ID, b""),
    encoder.integer_filter(mq.MQIA_CURRENT_Q_DEPTH, mq.MQCFOP_GREATER, 0),
    encoder.string_filter(mq.MQCA_CLUSTER_NAME, mq.MQCFOP_LIKE, "PROD*"),
    encoder.byte_string_filter(mq.MQBACF_CONNECTION_ID, mq.MQCFOP_EQUAL, b"\xff" * 5),
    encoder.group(
        mq.MQGACF_Q_STATISTICS_DATA,
        (
            encoder.string(mq.MQCA_Q_NAME, "A"),
            encoder.group(mq.MQGACF_COMMAND_DATA, (encoder.integer(mq.MQIA_Q_TYPE, 1),)),
            encoder.group(mq.MQGACF_COMMAND_CONTEXT, ()),
        ),
    ),
    encoder.integer(mq.MQIA_CURRENT_Q_DEPTH, 2),
)


@pytest.mark.parametrize("order", [">", "<"])
@pytest.mark.parametrize("ccsid", [37, 273, 500, 1047, 1140, 819, 1208])
def test_every_structure_survives_both_byte_orders(order: Order, ccsid: int) -> None:
    """What is encoded is decoded again, in both byte orders and every required character set."""
    message = Message(18, 41, sequence=7, control=0, comp_code=1, reason=3008, parameters=EVERYTHING)
    data = encoder.encode(message, order=order, ccsid=ccsid)
    assert len(data) % 4 == 0
    decoded = Decoder().decode(data, 0)
    assert decoded == message
    assert hash(decoded) == hash(message)
    assert not decoded.last


@pytest.mark.parametrize("parameter", EVERYTHING, ids=lambda parameter: f"type{parameter.type}")
def test_each_structure_alone(parameter: Parameter) -> None:
    """Each structure decodes on its own, first by the walk and then, where there is one, by its shape."""
    data = encoder.encode_message(18, 41, (parameter,))
    decoder = Decoder()
    for _ in range(3):
        assert decoder.decode(data, 500).parameters == (parameter,)
        assert decoder.decode_values(data, 500, frozenset({parameter.id})).values == {parameter.id: parameter.value}
        assert decoder.decode_values(data, 500, frozenset()).values == {}


def test_values_are_the_first_of_each() -> None:
    """A repeated parameter keeps all its values, and the dictionary has the first."""
    message = Decoder().decode(encoder.encode_message(18, 41, EVERYTHING), 500)
    assert message.values[mq.MQIA_CURRENT_Q_DEPTH] == -1
    assert message.get(mq.MQIA_CURRENT_Q_DEPTH) == -1
    assert message.all(mq.MQIA_CURRENT_Q_DEPTH) == (-1, FilterValue(mq.MQCFOP_GREATER, 0), 2)
    assert message.get(mq.MQIA_MAX_Q_DEPTH) is None
    assert message.all(mq.MQIA_MAX_Q_DEPTH) == ()


REQUEST = """
    00000010 00000024 00000003 0000002A 00000001 00000001 00000000 00000000 00000002
    00000004 00000018 00000DAD 000004B8 00000001 2A000000
    00000003 00000010 000005F3 000003F3
"""
RESPONSE_ID = (
    "00000009 00000028 00001B5C 00000018 01020304 05060708 090A0B0C 0D0E0F10 11121314 15161718"
    "00000004 00000044 00000BFE 000001F4 00000030 D4D8F0F1" + 11 * "40404040"
)
FAILURE = (
    "00000011 00000024 00000003 0000002A 00000001 00000000 00000002 00000BF9 00000002" + RESPONSE_ID,
    "00000013 00000024 00000003 0000002A 00000002 00000001 00000002 00000BC0 00000002" + RESPONSE_ID,
)


def test_the_request_written_out_in_the_reference() -> None:
    """The example request reads as a request for the current status of all channels."""
    message = Decoder().decode(bytes.fromhex(REQUEST), 500)
    assert message == Message(
        mq.MQCFT_COMMAND_XR,
        mq.MQCMD_INQUIRE_CHANNEL_STATUS,
        parameters=(
            encoder.string(mq.MQCACH_CHANNEL_NAME, "*"),
            encoder.integer(mq.MQIACH_CHANNEL_INSTANCE_TYPE, mq.MQOT_CURRENT_CHANNEL),
        ),
    )
    assert message.last


def test_the_request_is_encoded_with_blanks() -> None:
    """Our own request is the same but for the pad bytes, which carry no meaning: blanks, as in the recordings."""
    data = encoder.request(
        mq.MQCMD_INQUIRE_CHANNEL_STATUS,
        (
            encoder.string(mq.MQCACH_CHANNEL_NAME, "*"),
            encoder.integer(mq.MQIACH_CHANNEL_INSTANCE_TYPE, mq.MQOT_CURRENT_CHANNEL),
        ),
    )
    assert data == bytes.fromhex(REQUEST.replace("2A000000", "2A202020"))


def test_the_failure_written_out_in_the_reference() -> None:
    """The example failure reads as its reason and the summary, byte for byte what the encoder writes."""
    first, second = (Decoder().decode(bytes.fromhex(text), 0) for text in FAILURE)
    assert (first.type, first.sequence, first.last, first.comp_code, first.reason) == (17, 1, False, 2, 3065)
    assert (second.type, second.sequence, second.last, second.comp_code, second.reason) == (19, 2, True, 2, 3008)
    assert first.parameters == second.parameters
    assert first.values == {7004: bytes(range(1, 25)), 3070: "MQ01"}
    padded = (encoder.byte_string(7004, bytes(range(1, 25))), encoder.string(3070, "MQ01", 48))
    encoded = encoder.encode_message(17, 42, padded, sequence=1, control=0, comp_code=2, reason=3065)
    assert encoded == bytes.fromhex(FAILURE[0])


def test_texts_of_other_character_sets() -> None:
    """A text may be in another character set than the message's, or leave it to the message descriptor."""
    data = encoder.encode_message(
        18,
        13,
        (encoder.string(2016, "Q"), encoder.string(2013, "[x]")),
        ccsid=500,
        ccsids={2013: 1047},
        inherit=True,
    )
    assert data[36 + 12 : 36 + 16] == bytes(4)
    decoder = Decoder()
    for _ in range(2):
        assert decoder.decode(data, 500).values == {2016: "Q", 2013: "[x]"}
        assert decoder.decode(data, 819).values == {2016: "\xd8", 2013: "[x]"}
        with pytest.raises(PcfError, match="at byte 48: expected a known character set, not CCSID 4711"):
            decoder.decode(data, 4711)
        assert decoder.decode_values(data, 4711, frozenset({2013})).values == {2013: "[x]"}


def test_structures_of_unknown_types_are_skipped() -> None:
    """A structure of a type that is not known, even one with nothing but its length, is stepped over."""
    head = bytes.fromhex("00000012 00000024 00000003 00000029 00000001 00000001 00000000 00000000 00000004")
    known = encoder.encode_message(18, 41, (encoder.integer(3, 9),))[36:]
    unknown = bytes.fromhex("00000063 00000014 00000001 00000002 00000003")
    small = bytes.fromhex("0000FF63 00000008")
    data = head + unknown + known + small + small
    decoder = Decoder()
    for _ in range(2):
        assert decoder.decode(data, 0).parameters == (encoder.integer(3, 9),)
        assert decoder.decode_values(data, 0, frozenset({3, 1})).values == {3: 9}


@pytest.mark.parametrize(
    ("parameter", "says"),
    [
        (Parameter(3, mq.MQCFT_INTEGER, 1 << 31), "parameter 3: 2147483648 does not fit"),
        (Parameter(3, mq.MQCFT_INTEGER, "text"), "parameter 3: structure type 3 cannot hold 'text'"),
        (Parameter(3, mq.MQCFT_STRING, 5), "structure type 4 cannot hold 5"),
        (Parameter(3, mq.MQCFT_STRING_LIST, (1, 2)), "a string list cannot hold"),
        (Parameter(3, mq.MQCFT_INTEGER_LIST, ("a",)), "does not fit structure type 5"),
        (Parameter(3, mq.MQCFT_GROUP, (1,)), "structure type 20 cannot hold"),
        (Parameter(3, mq.MQCFT_INTEGER_FILTER, FilterValue(1, "x")), "structure type 13 cannot hold"),
        (Parameter(3, 99, 1), "structure type 99 cannot hold"),
    ],
)
def test_what_cannot_be_encoded(parameter: Parameter, says: str) -> None:
    """A value that is not of its structure's type is refused by name, never written as something else."""
    with pytest.raises(ValueError, match=says):
        encoder.encode_message(18, 41, (parameter,))


def test_a_header_field_that_does_not_fit() -> None:
    """A header field of more than 32 bits is refused."""
    with pytest.raises(ValueError, match="header field"):
        encoder.encode_message(18, 1 << 40, ())


def test_lists_are_padded_as_a_whole() -> None:
    """In a string list every text takes the length of the longest, and only the whole is padded."""
    data = encoder.encode_message(18, 41, (encoder.strings(2085, ("ONE", "FOURS")),), ccsid=819)
    expected = "00000006 00000024 00000825 00000333 00000002 00000005 4f4e452020 464f555253 2020"
    assert data[36:] == bytes.fromhex(expected)
