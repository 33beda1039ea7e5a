"""A table of texts that fits any width: columns that do not fit move below their rows, then the widest ones shrink."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from mqvitals_agent.text.styled import Line, Span, Tone, line
from mqvitals_agent.text.terminal import cells, cut, wrap
from mqvitals_agent.view.figures.table import Cell

_INDENT = "  "
_GAP = "  "
_LEAST = 8
"""The least cells of the widest column, however narrow the terminal is."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column: its title, the text of each row, and whether it is aligned right."""

    title: str
    texts: tuple[Cell, ...]
    right: bool = False

    @property
    def width(self) -> int:
        """Cells of its widest text."""
        return max(cells(self.title), *(cells(cell.text) for cell in self.texts))


def text_columns(
    titles: Sequence[str], rows: Sequence[Sequence[Cell]], right: Collection[str] = ()
) -> list[TextColumn]:
    """The columns of these rows; those without any text are left out."""
    columns = [
        TextColumn(title, texts, title in right) for title, texts in zip(titles, zip(*rows, strict=True), strict=True)
    ]
    return [each for each in columns if any(cell.text for cell in each.texts)]


def table_lines(
    columns: Sequence[TextColumn],
    keys: Sequence[str],
    width: int,
    *,
    folded: Sequence[str],
    first: Collection[str] = (),
) -> Iterator[Line]:
    """The titles and the rows for ``width`` cells; ``keys`` are those of the rows' lines, empty for none.

    ``folded`` are the columns that move below the rows where they do not fit, the first one first; of these, ``first``
    stand above the others.
    """
    kept, below = list(columns), list[TextColumn]()
    for title in folded:
        if _size(kept) <= width:
            break
        gone = [each for each in kept if each.title == title]
        below = [*gone, *below] if title in first else [*below, *gone]
        kept = [each for each in kept if each.title != title]
    widths = _widths(kept, width)
    yield _line(kept, [Cell(each.title, Tone.FAINT) for each in kept], widths)
    lead = " " * (cells(_INDENT) + widths[0] + cells(_GAP))
    for index, key in enumerate(keys):
        yield _line(kept, [each.texts[index] for each in kept], widths, key)
        for column in below:
            yield from _further(column.title, column.texts[index], lead, width)


def _further(title: str, cell: Cell, lead: str, width: int) -> Iterator[Line]:
    """A cell of a column that does not fit: below its row, after the column's title."""
    if not cell.text:
        return
    label = f"{lead}{title.lower()} "
    first, *rest = wrap(cell.text, width, first=label, rest=f"{lead}{_INDENT}")
    yield Line((Span(label, Tone.FAINT), Span(first[len(label) :], cell.tone)))
    yield from (line(each, cell.tone) for each in rest)


def _size(columns: Sequence[TextColumn]) -> int:
    return cells(_INDENT) + sum(each.width for each in columns) + cells(_GAP) * (len(columns) - 1)


def _widths(columns: Sequence[TextColumn], width: int) -> list[int]:
    """The widths of the columns: the widest shrink where all together do not fit."""
    widths = [each.width for each in columns]
    while (over := cells(_INDENT) + sum(widths) + cells(_GAP) * (len(widths) - 1) - width) > 0:
        widest = max(widths)
        if widest <= _LEAST:
            break
        widths[widths.index(widest)] = max(widest - over, _LEAST)
    return widths


def _line(columns: Sequence[TextColumn], texts: Sequence[Cell], widths: Sequence[int], key: str = "") -> Line:
    spans = []
    gap = _INDENT
    for column, cell, size in zip(columns, texts, widths, strict=True):
        text = cut(cell.text, size)
        room = " " * (size - cells(text))
        spans += [Span(gap + room), Span(text, cell.tone)] if column.right else [Span(gap), Span(text, cell.tone)]
        gap = _GAP if column.right else room + _GAP
    while spans and not spans[-1].text.strip():
        spans.pop()
    return Line(tuple(spans), key)
