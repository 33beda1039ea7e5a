"""Text from MQ on a terminal: harmless, measured in cells, cut, wrapped, in columns."""

from __future__ import annotations

from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.terminal import cells, cut, cut_middle, fit, safe, table, wrap

ANY_TEXT = st.text(st.characters(), max_size=60)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("ORDERS.REQUEST", "ORDERS.REQUEST"),
        ("[/x] <b>", "[/x] <b>"),
        ("\x1b[2J", "␛[2J"),
        ("a\r\nb\tc\x00", "a␍␊b␉c␀"),
        ("\x7f\x9b31m", "␡\\u009b31m"),
        ("\u202eevil", "\\u202eevil"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\ud800", "\\ud800"),
        ("\U000e0001", "\\U000e0001"),
        ("a\u2028b", "a\\u2028b"),
        ("no\u00a0break\u3000", "no break "),
        ("\u0301x", "◌\u0301x"),
        ("e" + "\u0301" * 50, "e" + "\u0301" * 3),
        ("日本", "日本"),
        ("\u2764\ufe0f", "\u2764\\ufe0f"),
        ("\U0001f44b\U0001f3fd", "\U0001f44b\\U0001f3fd"),
        ("\u1100\u1161", "\u1100\\u1161"),
        ("한", "한"),
    ],
)
def test_safe(raw: str, shown: str) -> None:
    """What could steer a terminal is replaced by something visible; the rest stays."""
    assert safe(raw) == shown


@given(ANY_TEXT)
def test_safe_leaves_nothing_that_steers(raw: str) -> None:
    """No control, format or separator character survives, and making safe twice changes nothing."""
    shown = safe(raw)
    assert not {category(char) for char in shown} & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert safe(shown) == shown
    shown.encode("utf-8")


def test_cells() -> None:
    """Wide characters take two cells, combining marks none, glyphs and braille one."""
    assert cells("BP3 4 %") == 7
    assert cells("日本") == 4
    assert cells("e\u0301") == 1
    assert cells("●▲◆✓?│⣿") == 7


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [("abc", 5, "abc"), ("abcdef", 4, "abc…"), ("日本語", 4, "日…"), ("abc", 0, ""), ("", 0, ""), ("日", 1, "…")],
)
def test_cut(text: str, width: int, shown: str) -> None:
    """What is cut says so, and never half of a wide character."""
    assert cut(text, width) == shown


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("EVENTS SYSTEM.ADMIN.PERFM.EVENT", 21, "EVENTS SYS…ERFM.EVENT"),
        ("abcdef", 6, "abcdef"),
        ("abcdef", 4, "ab…f"),
        ("日本語", 5, "日…語"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
    ],
)
def test_cut_in_the_middle(text: str, width: int, shown: str) -> None:
    """Beginning and end stay, and what was between them leaves an ellipsis."""
    assert cut_middle(text, width) == shown


@given(ANY_TEXT.map(safe), st.integers(0, 30))
def test_a_text_cut_in_the_middle_is_never_too_wide(text: str, width: int) -> None:
    """Whatever the characters, it takes at most the width."""
    assert cells(cut_middle(text, width)) <= width


@given(ANY_TEXT.map(safe), st.integers(1, 30), st.booleans())
def test_fit_is_exact(text: str, width: int, right: bool) -> None:
    """A fitted text takes exactly the width asked for."""
    assert cells(fit(text, width, right=right)) == width


@given(ANY_TEXT.map(safe), st.integers(12, 40))
def test_wrap_loses_nothing_and_fits(text: str, width: int) -> None:
    """Wrapped text keeps every character but blanks, and no line is wider than allowed."""
    lines = wrap(text, width, first="* ", rest="  ")
    assert all(cells(line) <= width for line in lines)
    assert "".join("".join(lines)[1:].split()) == "".join(text.split())


def test_wrap() -> None:
    """Lines break at blanks, and a word that is longer than a line breaks where it must."""
    assert wrap("one two three", 9, rest="  ") == ["one two", "  three"]
    assert wrap("ABCDEFGHIJKLMNOPQRST", 10, first="- ") == ["- ABCDEFGH", "IJKLMNOPQR", "ST"]
    assert wrap("", 10, first="- ") == ["-"]


def test_table() -> None:
    """Columns stand below each other in cells, not characters."""
    rows = [("日本", "1"), ("a", "10")]
    assert table(rows, 20, right={1}) == [["日本   1"], ["a     10"]]


def test_table_closes_up_before_it_breaks() -> None:
    """Where two blanks between columns are too much one is used, and only then a further line."""
    rows = [("aaaa", "bbbb", "cccc")]
    assert table(rows, 16) == [["aaaa  bbbb  cccc"]]
    assert table(rows, 14) == [["aaaa bbbb cccc"]]
    assert table(rows, 13, indent=2) == [["aaaa bbbb", "  cccc"]]


@given(
    st.integers(1, 5).flatmap(lambda n: st.lists(st.tuples(*[ANY_TEXT.map(safe)] * n), min_size=1, max_size=4)),
    st.integers(10, 80),
)
def test_table_fits(rows: list[tuple[str, ...]], width: int) -> None:
    """No line of a table is wider than allowed, and all rows have as many lines."""
    lines = table(rows, width, indent=4)
    assert all(cells(line) <= width for row in lines for line in row)
    assert len({len(row) for row in lines}) == 1
