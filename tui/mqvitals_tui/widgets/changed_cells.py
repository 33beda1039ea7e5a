"""Repaints only the cells of a widget that changed: over a slow line every other byte delays what matters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.control import Control
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

_GAP = 8
"""Cells between two changes that are rather painted too: to move the cursor and set its colours takes as much."""


def changed_cells(before: Strip, after: Strip) -> list[tuple[int, int]]:
    """From which cell, and to before which, two lines of one width differ; of changes close together one from the first
    to the last.
    """
    old, new = list(_cells(before)), list(_cells(after))
    if old == new:
        return []
    found: list[tuple[int, int]] = []
    for place, (one, other) in enumerate(zip_longest(old, new)):
        if one == other:
            continue
        begin, end = place, place + 1
        # A character of two cells is painted as a whole.
        while begin > 0 and (_is_second(old, begin) or _is_second(new, begin)):
            begin -= 1
        while _is_second(old, end) or _is_second(new, end):
            end += 1
        if found and begin - found[-1][1] <= _GAP:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((begin, end))
    return found


_Cell = tuple[str, Style | None]


def _cells(strip: Strip) -> Iterator[_Cell]:
    """Each cell with its style; the second one of a wide character is empty."""
    for text, style, _ in strip:
        if text.isascii():
            for character in text:
                yield character, style
            continue
        whole: list[str] = []
        for character in text:
            size = cell_len(character)
            if size == 0 and whole:
                # What combines with the character before it.
                place = -1 if whole[-1] else -2
                whole[place] += character
            else:
                whole += [character, *[""] * (size - 1)]
        for character in whole:
            yield character, style


def _is_second(cells: list[_Cell], place: int) -> bool:
    return place < len(cells) and not cells[place][0]


class ShownLines:
    """The lines of a widget as they were last painted, by their distance from its top."""

    def __init__(self) -> None:
        self._shown: dict[int, Strip] = {}

    def note(self, y: int, strip: Strip) -> Strip:
        """A line is painted now; returns it."""
        self._shown[y] = strip
        return strip

    def refresh(self, widget: Widget, height: int, line_at: Callable[[int], Strip]) -> None:
        """Repaint what differs now in the first ``height`` lines. ``line_at`` makes one."""
        regions = []
        for y in range(height):
            before, after = self._shown.get(y), line_at(y)
            if before is None or before.cell_length != after.cell_length:
                regions.append(Region(0, y, widget.size.width, 1))
            elif before is not after:
                regions += [Region(begin, y, end - begin, 1) for begin, end in changed_cells(before, after)]
        if regions:
            widget.refresh(*regions)


class NarrowUpdate(CompositorUpdate):
    """An update of some cells that writes these alone: the toolkit's begins at the left edge of their widget."""

    def __init__(self, update: ChopsUpdate) -> None:
        self._update = update

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """As the toolkit's."""
        return self._update.__rich_console__(console, options)

    def render_segments(self, console: Console) -> str:
        """The sequences for a terminal."""
        written: list[str] = []
        for y, first, last in self._update.spans:
            for end, (x, strip) in zip(self._update.chop_ends[y], self._update.chops[y].items(), strict=False):
                if strip is None or x >= last or end <= first:
                    continue
                skipped = max(first - x, 0)
                written.append(Control.move_to(x + skipped, y).segment.text)
                written.append(strip.crop(skipped, min(end, last) - x).simplify().render(console))
        return "".join(written)


def narrowed(renderable: RenderableType | None) -> RenderableType | None:
    """What the toolkit wants to show, an update of some cells without the cells beside them."""
    return NarrowUpdate(renderable) if type(renderable) is ChopsUpdate else renderable
