"""A report for a terminal or a printer: lines of a width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mqvitals_agent.smf.report.columns import column_lines
from mqvitals_agent.smf.report.document import Block, Heading, Items, Listing, Paragraph, Table
from mqvitals_agent.text.terminal import cells, cut, safe, wrap

_RULES = {1: "=", 2: "-"}


def plain_lines(blocks: Iterable[Block], width: int) -> Iterator[str]:
    """The lines of blocks, each at most ``width`` cells, but for what is to be copied; safe for a terminal."""
    first = True
    for block in blocks:
        if not first:
            yield ""
        first = False
        match block:
            case Heading(level, text):
                shown = cut(safe(text), width)
                yield shown
                if level in _RULES:
                    yield _RULES[level] * cells(shown)
            case Paragraph(text):
                yield from wrap(safe(text), width)
            case Items(texts):
                for text in texts:
                    yield from wrap(safe(text), width, first="- ", rest="  ")
            case Listing(lines, _):
                # Not broken, however narrow the terminal is: they are to be copied.
                yield from (f"    {safe(line)}" for line in lines)
            case Table(titles, rows, right):
                rows_shown = [tuple(map(safe, row)) for row in (titles, *rows)]
                yield from (cut(line, width) for line in column_lines(rows_shown, width, right))
