"""Character sets: against Python's where it has them, against the reference characters where it has not."""

from __future__ import annotations

import pytest

from mqvitals_agent.pcf.codepage import codec, known_ccsids
from mqvitals_agent.pcf.error import PcfError

EVERY_BYTE = bytes(range(256))


@pytest.mark.parametrize("ccsid", [37, 273, 500, 1140])
def test_ebcdic_pages_are_python_s(ccsid: int) -> None:
    """Pages that Python has too are the same, but for the line end and one accent of 273."""
    python = EVERY_BYTE.decode(f"cp{ccsid:03}")
    ours = "".join(codec(ccsid).decode(bytes([byte]) + b"\xc1")[0] for byte in EVERY_BYTE)
    different = {byte for byte in EVERY_BYTE if ours[byte] != python[byte]}
    assert different == ({0x15, 0xBC} if ccsid == 273 else {0x15})
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
    ],
)
def test_characters_of_other_pages(ccsid: int, data: str, text: str) -> None:
    """The characters that differ between the pages are those of the page."""
    assert codec(ccsid).decode(bytes.fromhex(data)) == text
    assert codec(ccsid).encode(text) == bytes.fromhex(data)


@pytest.mark.parametrize("ccsid", known_ccsids())
def test_names_survive_every_page(ccsid: int) -> None:
    """The characters of object names are in every character set, and come back as they were."""
    names = "ABCXYZ.abcxyz_0189/% (*)=+-,:;'"
    page = codec(ccsid)
    assert page.decode(page.encode(names)) == names


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
    with pytest.raises(PcfError, match=f"not CCSID {ccsid}"):
        codec(ccsid)
