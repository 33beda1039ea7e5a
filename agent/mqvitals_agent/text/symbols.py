"""The three sets of symbols in which charts, sparklines, meters, frames and marks are drawn, and which one a terminal
gets.

Everything is drawn with braille, blocks, lines and signs of Unicode. ``drawn`` translates a text into another set
afterwards, cell for cell: what makes a line need not know the set, and no column moves. A new glyph that has no similar
character below gets one in ``_ASCII_CELLS``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import Final
from unicodedata import name

from mqvitals_agent.text.terminal import cells


class Symbols(Enum):
    """A set of symbols; the values are those of the setting ``tui.symbols``."""

    BRAILLE = "braille"  # charts of two columns and four rows of dots to a cell
    BLOCK = "block"  # charts of two columns and two rows of blocks to a cell, for fonts without braille
    ASCII = "ascii"  # nothing beyond ASCII


SYMBOL_SETS: Final = tuple(each.value for each in Symbols)
"""Their names."""

SIGNS: Final = {"●": "X", "▲": "!", "◆": "i", "✓": "+"}
"""CRITICAL, WARNING, INFO and OK in ASCII; UNKNOWN is ``?`` everywhere, and ``*`` marks what nobody has acknowledged."""

BRAILLE: Final = range(0x2800, 0x2900)
"""The codes of braille cells; the first is blank."""

_LEVELS = dict(zip("▁▂▃▄▅▆▇█", "_.-=+*%#", strict=True))
"""The blocks of a sparkline, the lowest first. Eight characters that differ, the higher the darker."""
_PARTS = dict(zip("▏▎▍▌▋▊▉", "|||===+", strict=True))
"""The left parts of a cell: the thin ones are edges and ticks, the wide ones a meter's last cell, the widest a notch."""
# A light shade is a stretch of a strip whose state is unknown.
_BLOCKS = (
    _LEVELS
    | _PARTS
    | {"▐": "=", "▕": "|", "▔": "-", "▀": '"', "░": "?", "▒": ":", "▓": "%"}
    | {"▖": ".", "▗": ".", "▘": "'", "▝": "'", "▙": "L", "▚": "\\", "▛": "P", "▜": "7", "▞": "/", "▟": "J"}
)
_MARKS = {
    "▼": "v",
    "↑": "^",
    "↓": "v",
    "←": "<",
    "→": ">",
    "↔": "-",
    "↕": "|",
    "⇄": "-",
    "▴": "^",
    "▾": "v",
    "◀": "<",
    "▶": ">",
    "◂": "<",
    "▸": ">",
    "‹": "<",
    "›": ">",
    "«": "<",
    "»": ">",
    "·": "-",
    "•": "*",
    "○": "o",
    "◌": "o",
    "◇": "o",
    "△": "^",
    "▽": "v",
    "■": "#",
    "□": "o",
    "▪": "*",
    "▮": "#",
    "✗": "x",
    "✕": "x",
    "×": "x",
    "≤": "<",
    "≥": ">",
    "≈": "~",
    "±": "~",
    "°": "o",
    "µ": "u",
    "μ": "u",
    "–": "-",
    "—": "-",
    "−": "-",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
}
_ASCII_CELLS: Final[Mapping[str, str]] = SIGNS | _BLOCKS | _MARKS | {"…": "~"}

_LINES = range(0x2500, 0x2580)
_QUADRANTS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"
_LEFT, _RIGHT = (0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80)
"""The bits of a braille cell's dots, from the top."""

_WIDER = {"…": "..."}
_PICTURES = {chr(0x2400 + code): f"\\x{code:02x}" for code in range(0x20)} | {"␡": "\\x7f"}


def drawn(text: str, symbols: Symbols) -> str:
    """``text`` in a set of symbols, of exactly as many cells. In ASCII a letter beyond it is ``?``."""
    if symbols is Symbols.BRAILLE or text.isascii():
        return text
    one = _ascii_cells if symbols is Symbols.ASCII else _block_cell
    return "".join(char if char.isascii() else one(char) for char in text)


def symbols_of_locale(environ: Mapping[str, str], *, utf8_mode: bool) -> Symbols:
    """The set for a terminal whose environment this is: ASCII where the locale is not one of UTF-8, C and none included.

    ``utf8_mode`` is ``sys.flags.utf8_mode``: with it ``LC_CTYPE=C.UTF-8`` was set by the interpreter, not by the user.
    """
    ctype = environ.get("LC_CTYPE", "")
    if utf8_mode and ctype in ("C.UTF-8", "C.utf8", "UTF-8"):
        ctype = ""
    locale = environ.get("LC_ALL") or ctype or environ.get("LANG") or "C"
    return Symbols.BRAILLE if "utf8" in locale.lower().replace("-", "") else Symbols.ASCII


def to_ascii(text: str) -> str:
    """``text`` with every character beyond ASCII as ``in_ascii`` writes it."""
    return text if text.isascii() else "".join(char if char.isascii() else in_ascii(char) for char in text)


def in_ascii(char: str) -> str:
    """One character in ASCII, in as many characters as it takes: what is drawn by a similar one, letters as their
    number."""
    known = _WIDER.get(char) or _PICTURES.get(char) or _drawn_in_ascii(char)
    if known:
        return known
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@lru_cache(maxsize=4096)
def _ascii_cells(char: str) -> str:
    return _drawn_in_ascii(char) or "?" * cells(char)


def _drawn_in_ascii(char: str) -> str:
    """The character of ASCII for a glyph; empty for what is none."""
    code = ord(char)
    if code in BRAILLE:
        return _dots_in_ascii(code - BRAILLE.start)
    if code in _LINES:
        return _line_in_ascii(name(char))
    return _ASCII_CELLS.get(char, "")


def _line_in_ascii(described: str) -> str:
    """A line or corner of a frame by its name in Unicode."""
    if "DIAGONAL" in described:
        return "X" if "CROSS" in described else "/" if "UPPER RIGHT TO LOWER LEFT" in described else "\\"
    across = any(word in described for word in ("HORIZONTAL", "LEFT", "RIGHT"))
    along = any(word in described for word in ("VERTICAL", "UP", "DOWN"))
    if across and along:
        return "+"
    # The thick part of an axis is the time of an alert.
    return "|" if along else "=" if "HEAVY" in described or "DOUBLE" in described else "-"


def _dots_in_ascii(bits: int) -> str:
    """The dots of a braille cell by their slope and height: a line that runs level, rises or falls still does."""
    left = [row for row, bit in enumerate(_LEFT) if bits & bit]
    right = [row for row, bit in enumerate(_RIGHT) if bits & bit]
    both = left + right
    if not both:
        return " "
    if len(both) >= 6:
        return "#"
    if max(len(left), len(right)) >= 3:
        return "|"
    if left and right and abs(fall := sum(right) / len(right) - sum(left) / len(left)) >= 1:
        return "\\" if fall > 0 else "/"
    height = sum(both) / len(both)
    if height < 1:
        return '"' if left and right else "'"
    return "-" if height < 2.5 else "_" if left and right else "."


def _block_cell(char: str) -> str:
    """A braille cell in quarters of a cell; anything else as it is."""
    code = ord(char)
    if code not in BRAILLE:
        return char
    bits = code - BRAILLE.start
    quarters = (
        (_LEFT[0] | _LEFT[1], 1),
        (_RIGHT[0] | _RIGHT[1], 2),
        (_LEFT[2] | _LEFT[3], 4),
        (_RIGHT[2] | _RIGHT[3], 8),
    )
    return _QUADRANTS[sum(quarter for dots, quarter in quarters if bits & dots)]
