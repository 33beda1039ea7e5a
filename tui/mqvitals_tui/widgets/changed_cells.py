"""Repaints only the cells of a widget that changed, and sets only the colours that change: over a slow line every other byte
delays what matters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import zip_longest
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.control import Control
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

_GAP = 8
"""So few unchanged cells between two changes are painted too: to move the cursor and set its colours takes as much."""


_Cell = tuple[str, Style | None]


def changed_cells(before: Strip, after: Strip) -> list[tuple[int, int]]:
    """From which cell, and to before which, two lines of one width differ; of changes close together one from the first
    to the last.
    """
    ones, others = list(before), list(after)
    # Most segments are the same: their cells need no look.
    while ones and others and ones[-1] == others[-1]:
        ones.pop()
        others.pop()
    same = next((at for at, (one, other) in enumerate(zip(ones, others, strict=False)) if one != other), None)
    same = min(len(ones), len(others)) if same is None else same
    skipped = sum(cell_len(each.text) for each in ones[:same])
    old, new = list(_cells(ones[same:])), list(_cells(others[same:]))
    return [(skipped + begin, skipped + end) for begin, end in _spans(old, new)]


def _spans(old: list[_Cell], new: list[_Cell]) -> list[tuple[int, int]]:
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


def _cells(segments: Iterable[Segment]) -> Iterator[_Cell]:
    """Each cell with its style; the second one of a wide character is empty."""
    for text, style, _ in segments:
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


class SgrState(NamedTuple):
    """How a terminal paints text: parameters of its attributes in order, of its colour and of its ground, empty where its
    own."""

    attributes: tuple[str, ...] = ()
    colour: str = ""
    ground: str = ""


_PLAIN: Final = SgrState()
_TOKEN: Final = re.compile(r"\x1b\[([0-9;]*)m|\x1b\[[0-9;?]*[A-Za-ln-z]|[\r\n]+|([^\x1b\r\n]+|\x1b)")
_COLOUR: Final = re.compile("[39][0-8]")
_GROUND: Final = re.compile("4[0-8]|10[0-7]")
_ENDS: Final = {"22": "12", "23": "3", "24": "4", "25": "56", "27": "7", "28": "8", "29": "9"}
"""The parameters that end attributes, and which."""
_LONG: Final = {"5": 3, "2": 5}
"""How many parameters a colour of a palette has, and a true one."""


@lru_cache(1024)
def sgr_state(before: SgrState, parameters: str) -> SgrState:
    """What a terminal in the state ``before`` paints like after a sequence with these parameters (``1;38;5;7``)."""
    attributes, colour, ground = before
    codes = parameters.split(";")
    place = 0
    while place < len(codes):
        code, length = codes[place], 1
        if code in ("38", "48"):
            length = _LONG.get(codes[place + 1] if place + 1 < len(codes) else "", 1)
        whole = ";".join(codes[place : place + length])
        if code in ("", "0"):
            attributes, colour, ground = _PLAIN
        elif code == "39":
            colour = ""
        elif code == "49":
            ground = ""
        elif code in _ENDS:
            attributes = tuple(each for each in attributes if each not in _ENDS[code] and (code, each) != ("24", "21"))
        elif _COLOUR.fullmatch(code):
            colour = whole
        elif _GROUND.fullmatch(code):
            ground = whole
        elif code not in attributes:
            attributes = (*attributes, code)
        place += length
    return SgrState(attributes, colour, ground)


@lru_cache(4096)
def sgr_between(before: SgrState, after: SgrState) -> str:
    """The shortest sequence that leads from one state to another; empty where they are the same."""
    if before == after:
        return ""
    anew = ";".join(("0", *after.attributes, *filter(None, after[1:])))
    if after.attributes[: len(before.attributes)] != before.attributes:
        return f"\x1b[{anew}m"
    changed = list(after.attributes[len(before.attributes) :])
    changed += [after.colour or "39"] if after.colour != before.colour else []
    changed += [after.ground or "49"] if after.ground != before.ground else []
    return f"\x1b[{min(anew, ';'.join(changed), key=len)}m"


def with_fewer_styles(output: str) -> str:
    """Output of the toolkit, which sets and resets all colours of each text, without what changes nothing.

    It begins and ends without any style, and paints the same.
    """
    written: list[str] = []
    now = wanted = _PLAIN
    for found in _TOKEN.finditer(output):
        if found[1] is not None:
            wanted = sgr_state(wanted, found[1])
            continue
        if found[2] is not None:
            written.append(sgr_between(now, wanted))
            now = wanted
        # Moves paint nothing.
        written.append(found[0])
    written.append(sgr_between(now, _PLAIN))
    return "".join(written)


class CompactUpdate(CompositorUpdate):
    """An update that sets only the colours that change; one of some cells writes these alone, where the toolkit's begins at
    the left edge of their widget."""

    def __init__(self, update: ChopsUpdate | LayoutUpdate) -> None:
        self._update = update

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """As the toolkit's."""
        return self._update.__rich_console__(console, options)

    def render_segments(self, console: Console) -> str:
        """The sequences for a terminal."""
        if isinstance(self._update, LayoutUpdate):
            return with_fewer_styles(self._update.render_segments(console))
        written: list[str] = []
        for y, first, last in self._update.spans:
            for end, (x, strip) in zip(self._update.chop_ends[y], self._update.chops[y].items(), strict=False):
                if strip is None or x >= last or end <= first:
                    continue
                skipped = max(first - x, 0)
                written.append(Control.move_to(x + skipped, y).segment.text)
                written.append(strip.crop(skipped, min(end, last) - x).simplify().render(console))
        return with_fewer_styles("".join(written))


def compacted(renderable: RenderableType | None) -> RenderableType | None:
    """What the toolkit wants to show, an update in fewer bytes."""
    return CompactUpdate(renderable) if isinstance(renderable, ChopsUpdate | LayoutUpdate) else renderable
