"""A report in Markdown, with tables as GitHub and others know them. Names from records are never markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mqvitals_agent.smf.report.document import Block, Heading, Items, Listing, Paragraph, Table
from mqvitals_agent.text.terminal import safe

_MARKS = re.compile(r"[\\`*\[<|~#&$@]|(?<!\w)_|_(?!\w)")
_LINKS = re.compile(r"(?i)(://|\bwww\.)")
_NUMBERED = re.compile(r"^(\d+)([.)])(?=\s|$)")
_FENCES = re.compile("`+")
_BEGINNINGS = "-+=>"


def markdown_lines(blocks: Iterable[Block]) -> Iterator[str]:
    """The lines of blocks."""
    first = True
    for block in blocks:
        if not first:
            yield ""
        first = False
        match block:
            case Heading(level, text):
                yield f"{'#' * level} {escaped_line(text)}"
            case Paragraph(text):
                yield escaped_line(text)
            case Items(texts):
                yield from (f"- {escaped_line(text)}" for text in texts)
            case Listing(lines, language):
                shown = [safe(line) for line in lines]
                # A fence is longer than any row of its signs within.
                fence = "`" * max(3, 1 + max((len(row) for line in shown for row in _FENCES.findall(line)), default=0))
                yield f"{fence}{language}"
                yield from shown
                yield fence
            case Table(titles, rows, right):
                yield _row(titles)
                yield "|" + "|".join(" ---: " if index in right else " --- " for index in range(len(titles))) + "|"
                yield from map(_row, rows)


def escaped(text: str) -> str:
    """Text that stands for itself within a line of Markdown."""
    found = _MARKS.sub(r"\\\g<0>", safe(text))
    return _LINKS.sub(lambda match: match[0].replace(":", "\\:").replace(".", "\\."), found)


def escaped_line(text: str) -> str:
    """Text that stands for itself where a line or an item begins."""
    found = _NUMBERED.sub(r"\1\\\2", escaped(text.strip()))
    return f"\\{found}" if found.startswith(tuple(_BEGINNINGS)) else found


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(escaped(cell) for cell in cells) + " |"
