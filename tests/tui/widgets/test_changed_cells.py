"""Repainting only what changed shows the same as repainting everything."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate
from textual.strip import Strip

from mqvitals_tui.widgets.changed_cells import NarrowUpdate, changed_cells

STYLES = (Style(), Style(bold=True), Style(color="red"), Style(bgcolor="blue"))
WIDTH = 24
texts = st.lists(
    st.tuples(st.text(st.sampled_from("ab 12█▏漢é"), min_size=1, max_size=6), st.sampled_from(STYLES)), max_size=8
)


def strip(parts: list[tuple[str, Style]]) -> Strip:
    return Strip([Segment(text, style) for text, style in parts]).adjust_cell_length(WIDTH, STYLES[0])


def painted(over: Strip, spans: list[tuple[int, int]], new: Strip) -> list[tuple[str, Style | None]]:
    """The cells of a line after these spans of another one were written over it."""
    parts = []
    at = 0
    for begin, end in spans:
        parts += [over.crop(at, begin), new.crop(begin, end)]
        at = end
    parts.append(over.crop(at, WIDTH))
    return [(character, style) for each in parts for text, style, _ in each for character in text]


def characters(line: Strip) -> list[tuple[str, Style | None]]:
    return [(character, style) for text, style, _ in line for character in text]


@given(texts, texts)
def test_what_changed_makes_of_the_old_line_the_new_one(
    before: list[tuple[str, Style]], after: list[tuple[str, Style]]
) -> None:
    old, new = strip(before), strip(after)
    spans = changed_cells(old, new)
    assert painted(old, spans, new) == characters(new)
    assert all(0 <= begin < end <= WIDTH for begin, end in spans)
    assert spans == sorted(spans)
    assert changed_cells(new, new) == []
    assert (spans == []) is (characters(old) == characters(new))


MOVED = re.compile(r"\x1b\[(\d+);(\d+)H|\x1b\[[0-9;]*m|([^\x1b]+)")


@given(texts, texts, st.integers(0, WIDTH - 1), st.integers(1, WIDTH))
def test_an_update_writes_the_cells_that_it_is_about(
    left: list[tuple[str, Style]], right: list[tuple[str, Style]], begin: int, length: int
) -> None:
    """Of two widgets beside each other, one span over both of them."""
    end = min(begin + length, 2 * WIDTH)
    first, second = strip(left), strip(right)
    update = ChopsUpdate([{0: first, WIDTH: second}], [(0, begin, end)], [[WIDTH, 2 * WIDTH]])
    console = Console(force_terminal=True, color_system="truecolor", legacy_windows=False)
    whole = Strip.join([first, second])
    shown: dict[int, str] = {}
    x = 0
    for line, column, text in MOVED.findall(NarrowUpdate(update).render_segments(console)):
        if line:
            assert line == "1"
            x = int(column) - 1
        for character in text:
            shown[x] = character
            x += cell_len(character)
    wanted: dict[int, str] = {}
    for first_cell, last_cell in ((begin, min(end, WIDTH)), (max(begin, WIDTH), end)):
        x = first_cell
        for character in whole.crop(first_cell, last_cell).text if first_cell < last_cell else "":
            wanted[x] = character
            x += cell_len(character)
    assert shown == wanted
