"""Headers of messages on dead-letter queues: any byte order, character set and content; what is none is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.pcf.codepage import codec
from mqvitals_agent.pcf.dead_letter import HEADER_LENGTH, DeadLetterHeader, read_dead_letter_header
from mqvitals_agent.pcf.message import PcfError

NAMES = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/%", max_size=48)
ENCODINGS = {785: ">", 273: ">", 546: "<"}


def dead_letter_header(
    reason: int, queue: str, *, encoding: int = 785, ccsid: int = 500, put: str = "2026112009120050", version: int = 1
) -> bytes:
    """The bytes of a header, whose names are padded with blanks."""
    page = codec(ccsid)

    def text(value: str, length: int) -> bytes:
        return page.encode(value.ljust(length))

    return (
        text("DLH", 4)
        + pack(f"{ENCODINGS[encoding]}2i", version, reason)
        + text(queue, 48)
        + text("QM01", 48)
        + pack(f"{ENCODINGS[encoding]}2i", 785, 500)
        + text("MQSTR", 8)
        + pack(f"{ENCODINGS[encoding]}i", 11)
        + text("QM01CHIN", 28)
        + text(put, 16)
    )


@given(
    st.integers(-(2**31), 2**31 - 1),
    NAMES,
    st.sampled_from(sorted(ENCODINGS)),
    st.sampled_from((500, 1047, 37, 819, 1208)),
)
def test_every_header_is_read_as_it_was_written(reason: int, queue: str, encoding: int, ccsid: int) -> None:
    """Both byte orders, EBCDIC and ASCII; what follows the header is not looked at."""
    data = dead_letter_header(reason, queue, encoding=encoding, ccsid=ccsid)
    assert len(data) == HEADER_LENGTH
    put = round(datetime(2026, 11, 20, 9, 12, 0, 500_000, tzinfo=UTC).timestamp() * 1000)
    expected = DeadLetterHeader(reason, queue, "QM01", "MQSTR", "QM01CHIN", put)
    assert read_dead_letter_header(data, encoding, ccsid) == expected
    assert read_dead_letter_header(data + b"a customer's name", encoding, ccsid) == expected


def test_bytes_as_ibm_lays_them_out() -> None:
    """A header of z/OS, byte by byte: the offsets of the document."""
    data = bytearray(HEADER_LENGTH)
    data[0:4] = bytes.fromhex("c4d3c840")
    data[4:12] = bytes.fromhex("0000000100000805")
    data[12:60] = bytes.fromhex("d7c1e84bc9d5").ljust(48, b"\x40")
    data[60:108] = bytes.fromhex("d8d4f0f1").ljust(48, b"\x40")
    data[116:124] = bytes.fromhex("d4d8e2e3d9404040")
    data[128:156] = bytes.fromhex("d8d4f0f1c3c8c9d5").ljust(28, b"\x40")
    data[156:172] = bytes.fromhex("f2f0f2f6f1f1f2f0f0f9f1f2f0f0f5f0")
    found = read_dead_letter_header(bytes(data), 785, 500)
    assert (found.reason, found.queue, found.queue_manager, found.application) == (2053, "PAY.IN", "QM01", "QM01CHIN")
    assert bytes(data[4:172]) == bytearray(dead_letter_header(2053, "PAY.IN"))[4:108] + data[108:172]


@given(st.binary(max_size=HEADER_LENGTH + 8), st.sampled_from(sorted(ENCODINGS)), st.integers(-5, 1300))
def test_whatever_stands_there_nothing_else_is_raised(data: bytes, encoding: int, ccsid: int) -> None:
    """Bytes that are no header, and too few of them."""
    with pytest.raises(PcfError):
        read_dead_letter_header(data, encoding, ccsid)


@pytest.mark.parametrize("ccsid", [500, 1208])
def test_a_character_set_that_is_not_known_costs_no_header(ccsid: int) -> None:
    """0 and the like stand for the queue manager's own: the identifier tells ASCII from EBCDIC."""
    data = dead_letter_header(2085, "PAY.IN", ccsid=ccsid)
    assert read_dead_letter_header(data, 785, 0).queue == "PAY.IN"


@pytest.mark.parametrize("put", [" " * 16, "2026113309120050", "20261120091200X0"])
def test_a_time_that_cannot_be_read_is_left_out(put: str) -> None:
    """The rest of the header counts all the same."""
    assert read_dead_letter_header(dead_letter_header(2053, "Q", put=put), 785, 500).put is None


def test_another_version_is_refused() -> None:
    """Its layout is not known."""
    with pytest.raises(PcfError, match="version 1"):
        read_dead_letter_header(dead_letter_header(2053, "Q", version=2), 785, 500)
