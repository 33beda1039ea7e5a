"""Character sets: against the characters of IBM's tables, and what becomes of texts in sets that are not known."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.pcf.codepage import INVARIANT, UnknownCodePage, codec, is_known_ccsid, known_ccsids
from mqvitals_agent.pcf.message import PcfError

EVERY_BYTE = bytes(range(256))
NAMES = "ABCXYZ.abcxyz_0189/% (*)=+-,:;'"


@pytest.mark.parametrize("ccsid", [37, 273, 424, 500, 875, 1026, 1140])
def test_pages_that_python_has_are_python_s(ccsid: int) -> None:
    """They are the same but for the line end."""
    python = EVERY_BYTE.decode(f"cp{ccsid:03}", "replace")
    ours = "".join(codec(ccsid).decode(bytes([byte]) + b"\xc1")[0] for byte in EVERY_BYTE)
    assert {byte for byte in EVERY_BYTE if ours[byte] != python[byte]} <= {0x15}
    assert ours[0x15] == "\n"


def test_1047_against_known_bytes() -> None:
    """1047 differs from 037 in the characters that C and shell programs live on, and in the line ends."""
    page = codec(1047)
    assert page.decode(bytes.fromhex("adbd5f4fbbb0ba4a5a79a1c0d0e07b5b7c6d6e")) == "[]^|¨¬Ý¢!`~{}\\#$@_>"
    base = codec(37)
    different = {byte for byte in EVERY_BYTE if page.decode(bytes([byte, 0xC1])) != base.decode(bytes([byte, 0xC1]))}
    assert different == {0x25, 0x5F, 0xAD, 0xB0, 0xBA, 0xBB, 0xBD}


@pytest.mark.parametrize(
    ("ccsid", "data", "text"),
    [
        (37, "babb5f4a", "[]¬¢"),
        (273, "63fc4a5a6ad0e0c0a14379b5", "[]ÄÜöüÖäß{`@"),
        (500, "4a5a5f4fbb", "[]^!|"),
        (1140, "9f", "€"),
        (1141, "9f", "€"),
        (1148, "9f4a", "€["),
        (285, "5b4ab1bb", "£$[]"),
        (297, "90b5c0d0", "[]éè"),
        (819, "5b5de4", "[]ä"),
        (1208, "5b5dc3a4e282ac", "[]ä€"),
        (1252, "80", "€"),
        (870, "4a5a6a", "[]|"),
        (1153, "9f", "€"),
        (1025, "ae9f", "жп"),
        (1154, "e1", "€"),
        (1026, "4a5b7b", "ÇİÖ"),
        (1122, "6ad08c", "öåš"),
        (1157, "5a", "€"),
        (424, "4142", "אב"),
        (875, "4142", "ΑΒ"),
        (4971, "fc", "€"),
        (838, "4243", "กข"),
        (420, "56", "ا"),
        (290, "8189c1", "ｱｹA"),
        (930, "62c1", "aA"),
        (939, "81c1", "aA"),
        (1390, "e1", "€"),
        (932, "8341", "ア"),
        (950, "a4a4", "中"),
        (1200, "00410042", "AB"),
    ],
)
def test_characters_of_other_pages(ccsid: int, data: str, text: str) -> None:
    """The characters that differ between the pages are those of the page."""
    assert codec(ccsid).decode(bytes.fromhex(data)) == text
    assert codec(ccsid).encode(text) == bytes.fromhex(data)


@pytest.mark.parametrize("ccsid", known_ccsids())
def test_names_survive_every_page(ccsid: int) -> None:
    """The characters of object names are in every character set, and come back as they were."""
    page = codec(ccsid)
    assert page.decode(page.encode(NAMES)) == NAMES


@pytest.mark.parametrize("ccsid", [930, 933, 935, 937, 939, 1364, 1371, 1388, 1390, 1399, 5026, 5035])
def test_double_bytes_do_not_harm_the_rest(ccsid: int) -> None:
    """Each double byte is one replacement character; shift-out, shift-in and what stands outside are read."""
    page = codec(ccsid)
    name = page.encode("PAY")
    assert page.decode(name + b"\x0e\x45\x66\x44\x81\x0f" + name) == "PAY\ufffd\ufffdPAY"
    assert page.decode(name + b"\x0e\x45\x66\x44") == "PAY\ufffd\ufffd"


@given(st.text(alphabet=sorted(INVARIANT - {"\n", "\r", "\t", "\0"}), min_size=1, max_size=48))
def test_invariant_characters_are_alike_everywhere(text: str) -> None:
    """But for the pages with Katakana at the small letters' place."""
    data = codec(500).encode(text)
    for ccsid in known_ccsids():
        page = codec(ccsid)
        if page.encode("A") == b"\xc1" and page.encode("a") == b"\x81":
            assert page.decode(data) == text.rstrip()


@pytest.mark.parametrize("ccsid", known_ccsids())
def test_nothing_fails(ccsid: int) -> None:
    """Any bytes decode to something, any text encodes to something."""
    page = codec(ccsid)
    assert page.decode(EVERY_BYTE)
    assert page.encode("\u4e2d\U0001f600") not in {b"", None}


@pytest.mark.parametrize("ccsid", [37, 500, 819, 1047, 1208])
def test_padding_is_trimmed(ccsid: int) -> None:
    """Trailing blanks and NULs go, leading and inner blanks stay."""
    page = codec(ccsid)
    assert page.decode(page.encode("  A B   ") + b"\0\0" + page.encode(" ") + b"\0") == "  A B"
    assert page.decode(b"\0" * 48) == ""


@pytest.mark.parametrize("ccsid", [-1, 0, 1, 4711, 2**31 - 1])
def test_unknown_character_sets(ccsid: int) -> None:
    """A number that is no known character set is named in the error."""
    assert not is_known_ccsid(ccsid)
    with pytest.raises(PcfError, match=f"not CCSID {ccsid}"):
        codec(ccsid)


@pytest.mark.parametrize(
    ("ccsid", "name"), list(product([37, 500, 1047, 819, 1208], ["QM01", "APP.ORDERS_2", "KLMN", "a/b%"]))
)
def test_names_in_an_unknown_character_set(ccsid: int, name: str) -> None:
    """Whether they are EBCDIC or ASCII shows in the bytes, with blanks behind them or without."""
    for padding in ("", " " * 40):
        assert UnknownCodePage(4711).decode(codec(ccsid).encode(name + padding)) == name


@given(st.binary(max_size=100))
def test_unknown_character_sets_invent_nothing(data: bytes) -> None:
    """Only what is sure is read: a character that depends on the page is a replacement character."""
    text = UnknownCodePage(4711).decode(data)
    assert all(character in INVARIANT or character == "\ufffd" or character.isascii() for character in text)
