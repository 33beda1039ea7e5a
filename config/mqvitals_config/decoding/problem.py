"""A mistake in a file that a person wrote: its place, its sentence, and the words such sentences are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""What ends a line in a YAML file, and so what line numbers count."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a file: line and column count from 1; 0 means the whole file."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.path
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake: where it is, the key it belongs to (may be empty), what is wrong and what would be right."""

    place: Place
    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.key}: {self.message}" if self.key else f"{self.place}: {self.message}"


class ConfigError(Exception):
    """A file cannot be used. ``problems`` holds every mistake found, in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(problems))
        super().__init__("\n".join(map(str, self.problems)))


class LocatedNumber(float):
    """A number of a file with its place, for later checks of its meaning."""

    __slots__ = ("place",)

    place: Place

    def __new__(cls, value: float, place: Place) -> LocatedNumber:
        """Wrap ``value``, which stands at ``place``."""
        number = super().__new__(cls, value)
        number.place = place
        return number

    def __getnewargs__(self) -> tuple[float, Place]:  # type: ignore[override]
        # Copying and pickling call __new__ again; a plain float would pass its value alone.
        return float(self), self.place


class LocatedText(str):
    """A text of a file with its place, for later checks of its meaning.

    ``place`` is where its first character stands: inside the quotes of a quoted text, on the first line of a block.
    ``source`` is the text as the file writes it from there on, empty where that is the same.
    """

    __slots__ = ("place", "source")

    place: Place
    source: str

    def __new__(cls, value: str, place: Place, source: str = "") -> LocatedText:
        """Wrap ``value``, which stands at ``place``."""
        text = super().__new__(cls, value)
        text.place = place
        text.source = source
        return text

    def __getnewargs__(self) -> tuple[str, Place, str]:  # type: ignore[override]
        # Copying and pickling call __new__ again; a plain str would pass its value alone.
        return str(self), self.place, self.source

    def at(self, offset: int) -> Place:
        """Where the character at ``offset`` of the text stands in the file, also when the text spans several lines.

        Escapes of a double-quoted text may shift it by a few columns.
        """
        if not self.source:
            return Place(self.place.path, self.place.line, self.place.column + offset)
        position = found = 0
        for char in self[: offset + 1]:
            if char.isspace():
                found = position
                position += self.source[position : position + 1].isspace()
                continue
            # What the file has more of is indentation, line ends and escapes: search on from the last character.
            ahead = self.source.find(char, position)
            if ahead >= 0:
                found, position = ahead, ahead + 1
        before = LINE_BREAK.split(self.source[:found])
        column = len(before[-1]) + (self.place.column if len(before) == 1 else 1)
        return Place(self.place.path, self.place.line + len(before) - 1, column)


def repeated(texts: Iterable[LocatedText]) -> Iterator[tuple[int, LocatedText, LocatedText]]:
    """Each text that occurred before: its index, the text, and its first occurrence."""
    first: dict[str, LocatedText] = {}
    for index, text in enumerate(texts):
        earlier = first.setdefault(text, text)
        if earlier is not text:
            yield index, text, earlier


_LONGEST = 64


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """``; did you mean 'store'?`` when a choice is close to ``word``, else an empty text."""
    found = suggestion(word, choices)
    return f"; {found}" if found else ""


def suggestion(word: str, choices: Iterable[str]) -> str:
    """``did you mean 'store'?`` when a choice is close to ``word``, else an empty text."""
    if len(word) > _LONGEST:
        return ""  # comparing takes time by the square of the length, and no name is that long
    by_lower = {choice.lower(): choice for choice in choices}
    close = get_close_matches(word.lower(), by_lower, n=1)
    return f"did you mean '{by_lower[close[0]]}'?" if close else ""


_PLAIN = 60
"""The most characters of a text that is shown whole."""


def shown(text: str, longest: int = _PLAIN) -> str:
    """``text`` in quotes for a message: control characters written as escapes, a long one cut."""
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    if text.isprintable():
        return f"'{text}'"
    return "'" + "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text) + "'"


def word_of(text: str) -> str:
    """A key or number of the file as part of a message: safe and not too long."""
    # Most are keys of ours: thousands are looked at when rules are read.
    return text if len(text) <= _PLAIN and text.isidentifier() and text.isascii() else shown(text)[1:-1]


def listing(words: Iterable[str], last: str = "and") -> str:
    """``a, b and c``."""
    *first, final = list(words) or ["nothing"]
    return f"{', '.join(first)} {last} {final}" if first else final
