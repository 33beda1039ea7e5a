"""The table paints only what is in sight, and its cursor stays on its item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.message import Message

from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Tone
from mqvitals_agent.view.figures.table import Cell, Column, Item
from mqvitals_agent.view.lists.columns import COLUMNS, spaced
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.themes import DARK, LIGHT, THEMES
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.virtual_table import VirtualTable

Text = Callable[[App[Any]], str]


class Showing(App[None]):
    """One table on the whole screen."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Message] = []

    def compose(self) -> ComposeResult:
        yield VirtualTable(empty="No queues are watched")

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK.name
        self.query_one(VirtualTable).focus()

    def on_cursor_view_opened(self, message: CursorView.Opened) -> None:
        self.seen.append(message)

    def on_cursor_view_highlighted(self, message: CursorView.Highlighted) -> None:
        self.seen.append(message)

    def on_virtual_table_sorted(self, message: VirtualTable.Sorted) -> None:
        self.seen.append(message)

    @property
    def table(self) -> VirtualTable:
        return self.query_one(VirtualTable)

    def keys(self, kind: type[Any]) -> list[str]:
        return [message.key for message in self.seen if isinstance(message, kind)]


def item(name: str) -> Item:
    return Item(ObjectName("QM01", "queue", name), Health.OK, {})


def items(count: int) -> tuple[Item, ...]:
    return tuple(item(f"Q{number:05d}") for number in range(count))


class Counting:
    """Columns that count how often a cell was asked for."""

    def __init__(self, count: int = 12, width: int = 11) -> None:
        self.calls = 0
        self.columns = tuple(
            Column(
                f"c{number}", f"Title {number}", 20 if number == 0 else width, self.cell, lambda item: item.name.name
            )
            for number in range(count)
        )

    def cell(self, item: Item, now: int) -> Cell:
        self.calls += 1
        return Cell(f"{item.name.name} {now}", Tone.WARNING if now % 2 else Tone.PLAIN)


async def test_only_cells_in_sight_are_made_for_ten_thousand_items() -> None:
    """One showing asks for at most a screenful of cells, and the same again for new items."""
    app, counting = Showing(), Counting()
    async with app.run_test(size=(160, 50)) as pilot:
        for now in (1, 2, 3):
            counting.calls = 0
            app.table.show(counting.columns, items(10_000), now)
            await pilot.pause()
            assert 0 < counting.calls <= 12 * 49


async def test_moving_the_cursor_makes_no_cells_again() -> None:
    """The cells of lines in sight are kept until something new is shown."""
    app, counting = Showing(), Counting()
    async with app.run_test(size=(160, 50)) as pilot:
        app.table.show(counting.columns, items(10_000), 1)
        await pilot.pause()
        counting.calls = 0
        await pilot.press("j", "down", "k")
        assert counting.calls == 0
        assert app.table.cursor == 1


async def test_header_stays_and_shows_the_sort(screen_text: Text) -> None:
    """The header does not scroll, and the sorted column carries the direction."""
    app, counting = Showing(), Counting(3)
    async with app.run_test(size=(60, 10)) as pilot:
        app.table.show(counting.columns, items(100), 1, ("c1", True))
        await pilot.press("end")
        lines = screen_text(app).splitlines()
        assert lines[0].split() == ["Title", "0", "Title", "1↓", "Title", "2"]
        assert lines[9].startswith("Q00099 1")
        app.table.show(counting.columns, items(100), 1, ("c0", False))
        await pilot.pause()
        assert screen_text(app).splitlines()[0].startswith("Title 0↑")


async def test_commands_about_event_queues_can_be_told_apart(screen_text: Text) -> None:
    """At 80 columns no two rows of the agent's list show the same name."""
    families = ("QMGR", "CHANNEL", "PERFM", "CONFIG", "COMMAND")
    names = [ObjectName("QM01", "agent", f"EVENTS SYSTEM.ADMIN.{each}.EVENT") for each in families]
    app = Showing()
    async with app.run_test(size=(80, 10)) as pilot:
        app.table.show(spaced(COLUMNS["agent"], 80), tuple(Item(name, Health.OK, {}) for name in names), 1)
        await pilot.pause()
        rows = screen_text(app).splitlines()[1:6]
        assert len(set(rows)) == len(families)
        assert all("EVENTS SYS" in row and ".EVENT " in row for row in rows)


@pytest.mark.parametrize(
    ("keys", "row"),
    [
        (["down"], 1),
        (["j", "j", "k"], 1),
        (["pagedown"], 9),
        (["f8", "f8", "f7"], 9),
        (["end"], 99),
        (["end", "pageup"], 90),
        (["end", "home"], 0),
        (["up"], 0),
        (["end", "down"], 99),
        (["f8"] * 20, 99),
        (["f8"] * 20 + ["f7"] * 20, 0),
    ],
)
async def test_keys_move_the_cursor_and_it_stays_in_sight(keys: list[str], row: int) -> None:
    """Every key that moves goes where a reader expects, and the line is on the screen."""
    app, counting = Showing(), Counting(3)
    async with app.run_test(size=(60, 10)) as pilot:
        app.table.show(counting.columns, items(100), 1)
        await pilot.press(*keys)
        await pilot.pause()
        assert app.table.cursor == row
        top = app.table.scroll_offset.y
        assert top <= row < top + 9
        assert app.keys(CursorView.Highlighted)[-1] == f"QM01/queue/Q{row:05d}"


async def test_cursor_follows_its_item_when_items_move() -> None:
    """After sorting the other way the cursor is on the same item and in sight."""
    app, counting = Showing(), Counting(3)
    async with app.run_test(size=(60, 10)) as pilot:
        app.table.show(counting.columns, items(1000), 1)
        await pilot.press("down", "down", "down")
        app.table.show(counting.columns, items(1000)[::-1], 2)
        await pilot.pause()
        assert app.table.cursor_key == "QM01/queue/Q00003"
        assert app.table.cursor == 996
        assert app.table.scroll_offset.y + 9 > 996 >= app.table.scroll_offset.y
        app.table.show(counting.columns, (*items(3), item("Q00003")), 3)
        await pilot.pause()
        assert app.table.cursor == 3
        assert app.table.scroll_offset.y == 0


async def test_cursor_of_a_vanished_item_stays_where_it_was() -> None:
    """When its item is gone the cursor is on the one in its place, and says so."""
    app, counting = Showing(), Counting(3)
    async with app.run_test(size=(60, 10)) as pilot:
        app.table.show(counting.columns, items(10), 1)
        await pilot.press("down", "down")
        app.table.show(counting.columns, (*items(2), item("Q00009")), 2)
        await pilot.pause()
        assert app.table.cursor_key == "QM01/queue/Q00009"
        assert app.keys(CursorView.Highlighted)[-1] == "QM01/queue/Q00009"


async def test_a_view_scrolled_away_is_not_pulled_back_by_new_items() -> None:
    """Whoever scrolls with the wheel to read on keeps the place when the next poll arrives."""
    app, counting = Showing(), Counting(3)
    async with app.run_test(size=(60, 10)) as pilot:
        app.table.show(counting.columns, items(100), 1)
        await pilot.pause()
        app.table.scroll_to(y=50, animate=False)
        await pilot.pause()
        app.table.show(counting.columns, items(100), 2)
        await pilot.pause()
        assert app.table.scroll_offset.y == 50


async def test_go_to_finds_an_item_by_key() -> None:
    """A key puts the cursor there; an unknown one changes nothing."""
    app, counting = Showing(), Counting(3)
    async with app.run_test(size=(60, 10)) as pilot:
        app.table.show(counting.columns, items(100), 1)
        await pilot.pause()
        assert app.table.go_to("QM01/queue/Q00077")
        assert not app.table.go_to("QM01/queue/NONE")
        assert app.table.cursor == 77


async def test_enter_and_double_click_open_and_a_click_selects() -> None:
    """Enter and the second click tell the key; the first click only moves the cursor."""
    app, counting = Showing(), Counting(3)
    async with app.run_test(size=(60, 10)) as pilot:
        app.table.show(counting.columns, items(100), 1)
        await pilot.press("down", "enter")
        assert app.keys(CursorView.Opened) == ["QM01/queue/Q00001"]
        await pilot.click(VirtualTable, offset=(5, 4))
        assert app.table.cursor == 3
        assert len(app.keys(CursorView.Opened)) == 1
        await pilot.double_click(VirtualTable, offset=(5, 6))
        assert app.keys(CursorView.Opened)[1:] == ["QM01/queue/Q00005"]


async def test_click_on_a_title_asks_to_sort() -> None:
    """The message names the column under the pointer, also when scrolled sideways."""
    app, counting = Showing(), Counting(12)
    async with app.run_test(size=(60, 10)) as pilot:
        app.table.show(counting.columns, items(100), 1)
        await pilot.click(VirtualTable, offset=(22, 0))
        await pilot.press("right")
        await pilot.click(VirtualTable, offset=(2, 0))
        assert [message.column for message in app.seen if isinstance(message, VirtualTable.Sorted)] == ["c1", "c1"]


async def test_right_and_left_go_by_columns_with_the_header(screen_text: Text) -> None:
    """Sideways scrolling begins at a column, header and cells alike, and comes back."""
    app, counting = Showing(), Counting(12)
    async with app.run_test(size=(60, 10)) as pilot:
        app.table.show(counting.columns, items(3), 1)
        await pilot.press("right", "right")
        lines = screen_text(app).splitlines()
        assert lines[0].startswith("Title 2")
        assert lines[1].startswith("Q00000 1")
        await pilot.press("left", "left", "left")
        assert screen_text(app).startswith("Title 0")


async def test_no_items_say_why_and_no_key_breaks(screen_text: Text) -> None:
    """An empty table shows its sentence; keys do nothing; items may come and go."""
    app, counting = Showing(), Counting(3)
    async with app.run_test(size=(60, 10)) as pilot:
        app.table.show(counting.columns, (), 1)
        await pilot.press("down", "up", "pagedown", "f7", "home", "end", "enter", "left", "right")
        assert screen_text(app).splitlines()[1] == " No queues are watched"
        assert app.table.cursor_key == ""
        app.table.show(counting.columns, items(5), 2)
        await pilot.press("down")
        assert app.table.cursor_key == "QM01/queue/Q00001"
        app.table.show(counting.columns, (), 3, empty="Nothing matches")
        await pilot.pause()
        assert screen_text(app).splitlines()[1] == " Nothing matches"
        assert app.keys(CursorView.Highlighted)[-1] == ""
        assert app.keys(CursorView.Opened) == []


HOSTILE = (
    "[/x]",
    "[bold red]no[/]",
    "\x1b[2J\x1b[31mred",
    "漢" * 48,
    "e\u0301" * 30,
    "❤️👍🏽가 ﷺ",
    "\u202etxet",
    "a\nb\tc",
)


async def test_hostile_text_stays_in_its_column(screen_text: Text) -> None:
    """Markup is shown as it is, nothing steers the terminal, and every line keeps its columns."""
    app = Showing()
    columns = (
        Column("a", "Name", 12, lambda item, now: Cell(item.name.name), lambda item: item.name.name),
        Column("b", "[/b]", 7, lambda item, now: Cell(item.name.name, Tone.CRITICAL), lambda item: None, right=True),
        Column("c", "漢漢漢漢", 5, lambda item, now: Cell("end"), lambda item: None),
    )
    async with app.run_test(size=(30, 12)) as pilot:
        app.table.show(columns, tuple(map(item, HOSTILE)), 1)
        await pilot.pause()
        text = screen_text(app)
        assert "[/x]" in text
        assert "[bold red]n…" in text
        assert "␛[2J␛[31mred" in text
        assert not any(ord(char) < 32 for char in text.replace("\n", ""))
        for strip in app.screen._compositor.render_strips():
            assert cell_len("".join(segment.text for segment in strip)) == 30
        for line in text.splitlines()[1 : len(HOSTILE) + 1]:
            before, _, _ = line.partition("end")
            assert cell_len(before) == 21
        await pilot.press("right", *["down"] * 7)


async def test_resizing_keeps_cursor_and_fills_the_screen(screen_text: Text, until: Any) -> None:
    """After a resize the view shows as many lines as fit, down to one."""
    app, counting = Showing(), Counting(3)
    async with app.run_test(size=(60, 10)) as pilot:
        app.table.show(counting.columns, items(100), 1)
        await pilot.press(*["down"] * 5)
        for width, height in ((200, 60), (20, 3), (60, 2), (10, 1), (80, 24)):
            await pilot.resize_terminal(width, height)
            await until(pilot, lambda size=(width, height): app.screen.size == app.table.outer_size == size)
            assert len(screen_text(app).splitlines()) == height
            assert app.table.cursor == 5
        lines = screen_text(app).splitlines()
        assert lines[23].startswith(f"Q{app.table.scroll_offset.y + 22:05d}")


async def test_cursor_stays_in_sight_when_the_terminal_shrinks(until: Any) -> None:
    """A smaller screen scrolls so that the cursor is on it."""
    app, counting = Showing(), Counting(3)
    async with app.run_test(size=(60, 40)) as pilot:
        app.table.show(counting.columns, items(100), 1)
        await pilot.press(*["down"] * 30)
        await pilot.resize_terminal(60, 10)
        await until(pilot, lambda: app.table.outer_size == (60, 10))
        top = app.table.scroll_offset.y
        assert top <= 30 < top + 9


async def test_theme_switch_paints_anew() -> None:
    """No line keeps the colours of the theme before."""
    app, counting = Showing(), Counting(3)
    async with app.run_test(size=(60, 10)) as pilot:
        app.table.show(counting.columns, items(100), 1)
        await pilot.pause()
        before = colours(app)
        app.theme = LIGHT.name
        await pilot.pause()
        assert colours(app).isdisjoint(before)


async def test_other_themes_work_too() -> None:
    """The widgets ask a theme for nothing that the toolkit's own themes do not have."""
    app, counting = Showing(), Counting(3)
    async with app.run_test(size=(60, 10)) as pilot:
        app.table.show(counting.columns, items(100), 1)
        for theme in ("textual-light", "nord", "ansi-dark"):
            app.theme = theme
            await pilot.pause()


async def test_cursor_looks_different_with_and_without_the_focus() -> None:
    """The line of the cursor differs from the others, and from itself without the focus."""
    app, counting = Showing(), Counting(3)
    async with app.run_test(size=(60, 10)) as pilot:
        app.table.show(counting.columns, items(100), 2)
        await pilot.pause()
        focused, other = app.table.render_line(1), app.table.render_line(2)
        app.table.blur()
        await pilot.pause()
        blurred = app.table.render_line(1)
        grounds = {next(iter(strip)).style for strip in (focused, other, blurred)}
        assert len(grounds) == 3


def colours(app: Showing) -> set[object]:
    return {
        part
        for y in range(1, 9)
        for segment in app.table.render_line(y)
        if segment.style is not None
        for part in (segment.style.color, segment.style.bgcolor)
    }
