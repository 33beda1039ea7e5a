"""Every glyph has a form in each set of symbols, of as many cells; the locale of a terminal chooses the set."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.chart import MARK, Scale, TimeRange, plot
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.sparkline import BLOCKS
from mqvitals_agent.text.symbols import BRAILLE, Symbols, drawn, symbols_of_locale
from mqvitals_agent.text.terminal import cells, safe

FRAMES = "".join(map(chr, range(0x2500, 0x25A0)))
CURVE = ['   /""""\\.', " ./      '\\", "/'        '\\"]
MARKS = "…·›‹▲▼↑↓✓●◆µ−–≥≤×"


@given(st.text() | st.text("".join(map(chr, BRAILLE)) + FRAMES + MARKS), st.sampled_from(Symbols))
def test_no_cell_moves(text: str, symbols: Symbols) -> None:
    """Any text takes as many cells in every set; in ASCII it is ASCII, and what was ASCII stays as it is."""
    shown = drawn(safe(text), symbols)
    assert cells(shown) == cells(safe(text))
    assert shown.isascii() or symbols is not Symbols.ASCII
    if safe(text).isascii():
        assert shown == safe(text)


def test_glyphs_are_never_unknown() -> None:
    """No block, dot, line, sign or mark but the shade of unknown looks like the sign of UNKNOWN; those of health stay
    apart."""
    for glyph in (*map(chr, BRAILLE), *set(FRAMES) - {"░"}, *MARKS, *BLOCKS, MARK):
        assert drawn(glyph, Symbols.ASCII) != "?", hex(ord(glyph))
    assert len({drawn(health.glyph, Symbols.ASCII) for health in Health}) == len(Health)


def test_heights_stay_apart() -> None:
    """The eight heights of a sparkline are eight characters in every set, and none of them is blank."""
    for symbols in Symbols:
        assert len(set(drawn(BLOCKS, symbols)) - {" "}) == len(BLOCKS)


@given(st.integers(0, 255))
def test_dots_in_quarters_and_characters(bits: int) -> None:
    """A cell without dots is blank in every set, and no other is; the set of blocks has no braille."""
    dots = chr(BRAILLE.start + bits)
    assert (drawn(dots, Symbols.BLOCK) == " ") is (bits == 0)
    assert (drawn(dots, Symbols.ASCII) == " ") is (bits == 0)
    assert ord(drawn(dots, Symbols.BLOCK)) not in BRAILLE


def test_a_curve_in_every_set() -> None:
    """A rise, a level stretch and a fall are seen as such in each."""
    points = [(0, 0.0), (30, 100.0), (60, 100.0), (90, 0.0)]
    lines = plot(points, Scale(0.0, 100.0, ()), TimeRange(0, 90), width=12, height=3)
    assert [drawn(each, Symbols.BLOCK).rstrip() for each in lines] == ["   ▟▀▀▀▀▜▖", " ▗▛      ▝▄", "▄▘        ▝▚"]
    assert [drawn(each, Symbols.ASCII).rstrip() for each in lines] == CURVE


@pytest.mark.parametrize(
    ("environ", "utf8_mode", "symbols"),
    [
        ({"LANG": "de_DE.UTF-8"}, False, Symbols.BRAILLE),
        ({"LANG": "C.utf8"}, False, Symbols.BRAILLE),
        ({"LC_CTYPE": "UTF-8"}, False, Symbols.BRAILLE),
        ({"LC_ALL": "C", "LANG": "en_GB.UTF-8"}, True, Symbols.ASCII),
        ({"LC_ALL": "", "LANG": "en_GB.UTF-8"}, False, Symbols.BRAILLE),
        ({"LANG": "en_US.ISO-8859-1"}, False, Symbols.ASCII),
        ({"LC_ALL": "POSIX"}, True, Symbols.ASCII),
        # The interpreter has set LC_CTYPE, because the locale was C, or one that is not installed.
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True, Symbols.ASCII),
        ({"LC_CTYPE": "C.UTF-8"}, True, Symbols.ASCII),
        ({"LANG": "de_DE.UTF-8", "LC_CTYPE": "C.UTF-8"}, True, Symbols.BRAILLE),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False, Symbols.BRAILLE),
        ({}, True, Symbols.ASCII),
    ],
)
def test_symbols_of_a_locale(environ: dict[str, str], utf8_mode: bool, symbols: Symbols) -> None:
    """UTF-8 gives braille, anything else ASCII, as far as the user chose the locale."""
    assert symbols_of_locale(environ, utf8_mode=utf8_mode) is symbols
