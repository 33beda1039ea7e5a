"""Names a person may have misspelt: what was meant, as a part of a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 64


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """``; did you mean 'store'?`` when a choice is close to ``word``, else an empty text."""
    if len(word) > _LONGEST:
        return ""  # comparing takes time by the square of the length, and nobody meant that
    by_lower = {choice.lower(): choice for choice in choices}
    close = get_close_matches(word.lower(), by_lower, n=1)
    return f"; did you mean '{by_lower[close[0]]}'?" if close else ""


def shown(text: str, longest: int = 60) -> str:
    """``text`` in quotes for a message: control characters written as escapes, a long one cut."""
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    if text.isprintable():
        return f"'{text}'"
    return "'" + "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text) + "'"
