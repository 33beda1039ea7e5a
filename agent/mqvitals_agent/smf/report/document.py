"""A report as data: headings, paragraphs, lists and tables of plain text. How they look is another's matter."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """``level`` 1 is the title."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Some sentences."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list of sentences."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns with titles; those in ``right`` hold numbers and stand at their right side."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines to be copied as they are: part of a configuration, a command. ``language`` is what they are written in, empty for none."""

    lines: tuple[str, ...]
    language: str = ""


Block = Heading | Paragraph | Items | Table | Listing
"""Text in blocks is as the records have it: whoever writes it out makes it safe."""
