"""A table in lines of a width: what is too long for its column goes on below, within the column."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest

from mqvitals_agent.text.terminal import cells, fit, table, wrap

_GAP = 2
_LONGEST_WORD = 24
"""Words up to so many cells are not broken."""


def column_lines(rows: Sequence[Sequence[str]], width: int, right: Collection[int]) -> Iterator[str]:
    """The lines of rows, the first of which are the titles; columns in ``right`` hold numbers and are never broken, but their titles are.

    Where even narrow columns do not fit beside each other, the last ones stand on a further line of each row. Cells are safe text.
    """
    widths = _widths(rows, width, right)
    if widths is None:
        for lines in table(rows, width, right=right, indent=2):
            yield from lines
        return
    for row in rows:
        parts = [wrap(cell, size) if cells(cell) > size else [cell] for cell, size in zip(row, widths, strict=True)]
        for line in zip_longest(*parts, fillvalue=""):
            shown = (fit(text, widths[place], right=place in right) for place, text in enumerate(line))
            yield (" " * _GAP).join(shown).rstrip()


def _widths(rows: Sequence[Sequence[str]], width: int, right: Collection[int]) -> list[int] | None:
    """How wide each column is; None: they do not fit."""
    columns = list(zip(*rows, strict=True))
    room = width - _GAP * (len(columns) - 1)
    # A title of several words may stand on several lines.
    least = []
    for place, column in enumerate(columns):
        words = max((cells(word) for word in column[0].split()), default=0)
        if place in right:
            words = max(words, *map(cells, column[1:]), 0)
        else:
            longest = max((cells(word) for cell in column[1:] for word in cell.split()), default=0)
            words = max(words, min(longest, _LONGEST_WORD))
        least.append(words)
    bodies = [max(map(cells, column[1:]), default=0) for column in columns]
    widths = [max(map(cells, column)) for column in columns]
    while sum(widths) > room:
        spare = [size - low for size, low in zip(widths, least, strict=True)]
        if not any(spare):
            return None
        # Titles give first, then the widest, so that as few cells as possible are broken.
        place = max(range(len(widths)), key=lambda each: (spare[each] > 0, widths[each] > bodies[each], widths[each]))
        widths[place] -= 1
    return widths
