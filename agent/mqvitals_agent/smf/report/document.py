"""A report as data: headings, paragraphs, lists and tables of plain text. How they look is another's matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from mqvitals_agent.text.terminal import safe, to_ascii


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


def ascii_blocks(blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks whose texts hold no character beyond ASCII, so that columns fit what is written in the end."""

    def of(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(to_ascii(safe(text)) for text in texts)

    for block in blocks:
        match block:
            case Heading(text=text) | Paragraph(text=text):
                yield replace(block, text=to_ascii(safe(text)))
            case Items(texts):
                yield Items(of(texts))
            case Listing(lines, language):
                yield Listing(of(lines), language)
            case Table(titles, rows, right):
                yield Table(of(titles), tuple(map(of, rows)), right)


Block = Heading | Paragraph | Items | Table | Listing
"""Text in blocks is as the records have it: whoever writes it out makes it safe."""
