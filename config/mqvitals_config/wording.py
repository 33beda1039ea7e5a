"""Words for messages: lists of what could stand in a file."""

from __future__ import annotations

from collections.abc import Iterable

from mqvitals_config.suggestion import shown


def word_of(text: str) -> str:
    """A key or number of the file as part of a message: safe and not too long."""
    return shown(text)[1:-1]


def listing(words: Iterable[str], last: str = "and") -> str:
    """``a, b and c``."""
    *first, final = list(words) or ["nothing"]
    return f"{', '.join(first)} {last} {final}" if first else final
