"""Repainting only what changed shows the same as repainting everything."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st
from rich.ansi import AnsiDecoder
from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from mqvitals_tui.widgets.changed_cells import (
    CompactUpdate,
    SgrState,
    changed_cells,
    sgr_between,
    sgr_state,
    with_fewer_styles,
)

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
    for line, column, text in MOVED.findall(CompactUpdate(update).render_segments(console)):
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


LOOKS = ("", "0", "1", "2", "3", "4", "7", "9", "22", "24", "29", "31", "97", "38;5;1", "38;2;1;0;49", "39")
GROUNDS = ("44", "107", "48;5;1", "48;2;1;0;49", "49")
codes = st.one_of(st.sampled_from(LOOKS), st.sampled_from(GROUNDS))
styles = st.lists(codes, max_size=4).map(lambda found: f"\x1b[{';'.join(found)}m")
moves = st.sampled_from(["\x1b[3;14H", "\n", "\r", "\x1b[2K", "\x1b[?25l"])
outputs = st.lists(st.one_of(styles, moves, st.sampled_from(["a", "12 %", "▕█▏", "漢"])), max_size=30).map("".join)
MOVE = re.compile(r"(\x1b\[[0-9;?]*[A-Za-ln-z]|[\r\n])")


def on_terminal(output: str) -> tuple[list[tuple[str, Style | None]], Style]:
    """What a terminal shows, as another program reads it: each character with its style, and moves; and the style at the
    end."""
    decoder = AnsiDecoder()
    told: list[tuple[str, Style | None]] = []
    for place, piece in enumerate(MOVE.split(output)):
        if place % 2:
            told.append((piece, None))
            continue
        found = decoder.decode_line(piece)
        shown = [Style()] * len(found.plain)
        for span in found.spans:
            shown[span.start : span.end] = [Style.parse(str(span.style))] * (span.end - span.start)
        told += [(character, bare(style)) for character, style in zip(found.plain, shown, strict=True)]
    return told, bare(decoder.style)


def bare(style: Style) -> Style:
    """A style without what it only says that it is not."""
    said = str(style).replace("on default", "").replace("default", "")
    return Style.parse(re.sub(r"not \w+", "", said))


@given(outputs)
@example("\x1b[1;2;3;4;7;9ma\x1b[22mb\x1b[23mc\x1b[24md\x1b[27me\x1b[29mf")
def test_with_fewer_styles_a_terminal_shows_the_same(output: str) -> None:
    """Every character with the same attributes and colours, every move in its place, and nothing is left set at the end."""
    told, _ = on_terminal(output)
    less = with_fewer_styles(output)
    assert on_terminal(less) == (told, Style())
    assert with_fewer_styles(less) == less


@given(styles, styles)
def test_the_way_from_one_style_to_another(before: str, more: str) -> None:
    """It leads there and back, and is never longer than setting everything anew."""
    first = sgr_state(SgrState(), before[2:-1])
    second = sgr_state(first, more[2:-1])
    ways(first, second)
    ways(second, first)


def ways(first: SgrState, second: SgrState) -> None:
    anew = sgr_between(SgrState(), second)
    way = sgr_between(first, second)
    assert on_terminal(sgr_between(SgrState(), first) + way + "x")[0] == on_terminal(anew + "x")[0]
    assert (way == "") is (first == second)
    assert len(way) <= len("\x1b[0;m") + len(anew)


@given(texts, texts)
def test_a_whole_screen_is_painted_as_the_toolkit_does(
    above: list[tuple[str, Style]], below: list[tuple[str, Style]]
) -> None:
    """With its lines where they were, in fewer bytes."""
    update = LayoutUpdate([[strip(above)], [strip(below)]], Region(0, 0, WIDTH, 2))
    console = Console(force_terminal=True, color_system="truecolor", legacy_windows=False)
    theirs, ours = update.render_segments(console), CompactUpdate(update).render_segments(console)
    assert on_terminal(ours) == on_terminal(theirs)
    assert len(ours) <= len(theirs)
