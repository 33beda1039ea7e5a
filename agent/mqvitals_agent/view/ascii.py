"""Our signs in ASCII, for a terminal whose character set lacks them.

The five signs of health stay different from each other, and none but UNKNOWN becomes a question mark.
"""

from __future__ import annotations

SIGNS = {"●": "*", "▲": "!", "◆": "i", "✓": "+"}
"""CRITICAL, WARNING, INFO and OK; UNKNOWN is ``?`` everywhere."""

_LINES = {"│": "|", "┤": "+", "└": "+", "─": "-"}
_LETTERS = {"µ": "u", "μ": "u", "…": "...", "–": "-", "—": "-", "−": "-", "‘": "'", "’": "'", "“": '"', "”": '"'}
_TABLE = SIGNS | _LINES | _LETTERS

_BRAILLE = range(0x2800, 0x2900)
_PICTURES = {chr(0x2400 + code): f"\\x{code:02x}" for code in range(0x20)} | {"␡": "\\x7f"}


def to_ascii(text: str) -> str:
    """``text`` with every character beyond ASCII as ``in_ascii`` writes it."""
    return text if text.isascii() else "".join(char if char.isascii() else in_ascii(char) for char in text)


def in_ascii(char: str) -> str:
    """One character in ASCII: our own signs as their likes, a cell of a chart as ``*``, others as their number."""
    known = _TABLE.get(char) or _PICTURES.get(char)
    if known is not None:
        return known
    code = ord(char)
    if code in _BRAILLE:
        return " " if code == _BRAILLE.start else "*"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
