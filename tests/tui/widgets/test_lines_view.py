"""Lines are read one by one; the cursor stops at those that lead somewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.strip import Strip

from mqvitals_agent.text.styled import Line, Part, Span, Tone, line
from mqvitals_tui.themes import DARK, LIGHT, THEMES
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import Banner, StatusBar

Text = Callable[[App[Any]], str]


class Reading(App[None]):
    """A title, a text, and a line of keys."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.highlighted: list[str] = []

    def compose(self) -> ComposeResult:
        yield Banner(id="title")
        yield LinesView()
        yield StatusBar(id="keys")

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK.name
        self.query_one("#title", Banner).show((line("mqvitals", Tone.STRONG),))
        self.query_one("#keys", StatusBar).show((line("Enter open  q quit"),))
        self.lines.focus()

    def on_cursor_view_opened(self, message: CursorView.Opened) -> None:
        self.opened.append(message.key)

    def on_cursor_view_highlighted(self, message: CursorView.Highlighted) -> None:
        self.highlighted.append(message.key)

    @property
    def lines(self) -> LinesView:
        return self.query_one(LinesView)


def text(count: int, stops: Sequence[int]) -> list[Line]:
    return [line(f"line {row}", key=f"k{row}" if row in stops else "") for row in range(count)]


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ([], "k2"),
        (["down"], "k5"),
        (["j", "j"], "k6"),
        (["j", "j", "k"], "k5"),
        (["up"], "k2"),
        (["end"], "k6"),
        (["end", "home"], "k2"),
        (["down"] * 9, "k6"),
    ],
)
async def test_cursor_walks_only_lines_with_a_key(keys: list[str], key: str) -> None:
    """Lines that lead nowhere are passed over."""
    app = Reading()
    async with app.run_test(size=(40, 12)) as pilot:
        app.lines.show(text(8, (2, 5, 6)))
        await pilot.press(*keys)
        assert app.lines.cursor_key == key
        await pilot.press("enter")
        assert app.opened == [key]
        assert app.highlighted[-1] == key


@pytest.mark.parametrize("count", [0, 1, 8])
async def test_a_text_without_sections_has_no_next_one(count: int) -> None:
    """The key of the next section leaves the cursor where it is, also before anything is shown."""
    app = Reading()
    async with app.run_test(size=(40, 12)):
        app.lines.show(text(count, range(count)))
        before = app.lines.cursor
        for step in (1, -1):
            app.lines.go_to_part(step)
            assert app.lines.cursor == before


async def test_no_line_is_jumped_over_unread() -> None:
    """When the next stop is out of sight the text moves by one line until it comes."""
    app = Reading()
    async with app.run_test(size=(40, 12)) as pilot:
        app.lines.show(text(60, (0, 40)))
        await pilot.press(*["down"] * 30)
        assert (app.lines.scroll_offset.y, app.lines.cursor) == (30, 0)
        await pilot.press("down")
        assert app.lines.cursor == 40
        await pilot.press(*["up"] * 10)
        assert app.lines.cursor == 40
        assert app.lines.scroll_offset.y == 21
        await pilot.press(*["up"] * 30)
        assert (app.lines.scroll_offset.y, app.lines.cursor) == (0, 0)


@pytest.mark.parametrize(
    ("keys", "top"),
    [
        (["down"], 1),
        (["f8"], 10),
        (["pagedown", "pageup"], 0),
        (["end"], 40),
        (["end", "k"], 39),
        (["end", "home"], 0),
        (["enter", "up"], 0),
    ],
)
async def test_a_text_without_keys_scrolls(keys: list[str], top: int) -> None:
    """All keys move the text, Enter opens nothing."""
    app = Reading()
    async with app.run_test(size=(40, 12)) as pilot:
        app.lines.show(text(50, ()))
        await pilot.press(*keys)
        assert app.lines.scroll_offset.y == top
        assert app.opened == []
        assert app.lines.cursor == -1


async def test_pages_take_the_cursor_along() -> None:
    """After a page down the cursor is on a line in sight that leads somewhere, and back."""
    app = Reading()
    async with app.run_test(size=(40, 12)) as pilot:
        app.lines.show(text(100, range(0, 100, 3)))
        for row in (9, 18, 27):
            await pilot.press("f8")
            assert app.lines.scroll_offset.y <= app.lines.cursor < app.lines.scroll_offset.y + 10
            assert abs(app.lines.cursor - row) <= 3
        await pilot.press("f7", "f7", "f7", "f7")
        assert app.lines.cursor == 0


async def test_cursor_keeps_its_key_when_lines_change() -> None:
    """Lines inserted above do not move the cursor to another object; when its line is gone it stays near."""
    app = Reading()
    async with app.run_test(size=(40, 12)) as pilot:
        app.lines.show(text(8, (2, 5, 6)))
        await pilot.press("down")
        app.lines.show([line("new"), line("new", key="n"), *text(8, (2, 5, 6))])
        await pilot.pause()
        assert app.lines.cursor_key == "k5"
        assert app.lines.cursor == 7
        app.lines.show(text(8, (2, 6)))
        await pilot.pause()
        assert app.lines.cursor_key == "k6"
        app.lines.show(())
        await pilot.press("down", "up", "f8", "end", "enter")
        assert app.lines.cursor_key == ""
        assert app.highlighted[-1] == ""


async def test_clicks() -> None:
    """A click on a line that leads nowhere does nothing; a double click opens."""
    app = Reading()
    async with app.run_test(size=(40, 12)) as pilot:
        app.lines.show(text(8, (2, 5, 6)))
        await pilot.click(LinesView, offset=(1, 3))
        assert app.lines.cursor_key == "k2"
        await pilot.double_click(LinesView, offset=(1, 5))
        assert app.opened == ["k5"]


async def test_long_and_hostile_lines_are_cut_to_the_view(screen_text: Text, until: Any) -> None:
    """What does not fit ends in an ellipsis; markup and controls are shown, not obeyed."""
    app = Reading()
    shown = [
        line("x" * 100),
        Line((Span("a" * 39), Span("bcd", Tone.CRITICAL))),
        Line((Span("a" * 40), Span("b", Tone.OK))),
        Line((Span("a" * 40), Span("   "))),
        line("漢" * 48),
        line("[/x] [red]"),
        line("\x1b[31mred\n"),
        Line((Span("e\u0301" * 50), Span("", Tone.OK))),
    ]
    async with app.run_test(size=(40, 12)) as pilot:
        app.lines.show(shown)
        await pilot.pause()
        lines = screen_text(app).splitlines()[1:]
        assert lines[0] == "x" * 39 + "…"
        assert lines[1] == "a" * 39 + "…"
        assert lines[2] == "a" * 39 + "…"
        assert lines[3] == "a" * 40
        assert lines[4] == "漢" * 19 + "…"
        assert lines[5] == "[/x] [red]"
        assert lines[6] == "␛[31mred␊"
        assert all(cell_len(text) <= 40 for text in lines)
        # The toolkit lets a burst of new sizes settle for a moment before it lays anything out.
        await pilot.resize_terminal(20, 6)
        await until(pilot, lambda: app.lines.size == (20, 4))
        assert screen_text(app).splitlines()[1] == "x" * 17 + "…"


async def test_bars_stand_above_and_below_and_change(screen_text: Text) -> None:
    """The title is the first line and the keys the last; both show what they are given last."""
    app = Reading()
    async with app.run_test(size=(40, 12)) as pilot:
        app.lines.show(text(50, ()))
        await pilot.press("end")
        assert screen_text(app).splitlines()[0] == "mqvitals"
        assert screen_text(app).splitlines()[-1] == "Enter open  q quit"
        app.query_one("#title", Banner).show((Line((Span("[b]PRDQ "), Span("● 1 critical", Tone.CRITICAL))),))
        await pilot.pause()
        assert screen_text(app).splitlines()[0] == "[b]PRDQ ● 1 critical"
        assert app.query_one("#title", Banner).text == "[b]PRDQ ● 1 critical"


async def test_theme_switch_paints_lines_anew() -> None:
    """No line keeps the colours of the theme before."""
    app = Reading()
    async with app.run_test(size=(40, 12)) as pilot:
        app.lines.show([line("bad", Tone.CRITICAL), line("good", Tone.OK)])
        await pilot.pause()
        before = [segment.style for y in (0, 1) for segment in app.lines.render_line(y)]
        app.theme = LIGHT.name
        await pilot.pause()
        after = [segment.style for y in (0, 1) for segment in app.lines.render_line(y)]
        assert not set(before) & set(after)


async def test_the_same_lines_again_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each second the screen shows what it has; only what looks different is painted."""
    app = Reading()
    async with app.run_test(size=(40, 12)) as pilot:
        app.lines.show(text(50, (3,)))
        await pilot.pause()
        painted: list[int] = []

        def note(_: LinesView, y: int) -> Strip:
            painted.append(y)
            return Strip.blank(40)

        monkeypatch.setattr(LinesView, "render_line", note)
        app.lines.show(text(50, (3,)))
        await pilot.pause()
        assert painted == []
        app.lines.show(text(50, (4,)))
        await pilot.pause()
        assert painted


def matrix(*names: str) -> tuple[Line, ...]:
    """Rows of three cells, each of which leads somewhere."""
    return tuple(
        Line(
            (Span(f"{name}   left middle right"),),
            f"{name}-left",
            parts=(Part(4, 8, f"{name}-left"), Part(9, 15, f"{name}-middle"), Part(16, 21, f"{name}-right")),
        )
        for name in names
    )


async def test_parts_of_lines() -> None:
    """Left and right go over the parts of a line and stop at its ends; up and down keep the place; Enter opens the part."""
    app = Reading()
    async with app.run_test(size=(40, 12)) as pilot:
        app.lines.show(matrix("a", "b", "c"))
        app.lines.focus()
        seen = []
        for key in ("right", "down", "right", "right", "up", "left", "left", "left"):
            await pilot.press(key)
            seen.append(app.lines.cursor_key)
        assert seen == ["a-middle", "b-middle", "b-right", "b-right", "a-right", "a-middle", "a-left", "a-left"]
        await pilot.press("right", "enter")
        assert app.opened == ["a-middle"]
        # The rows move: the cursor stays on its cell.
        app.lines.show(matrix("x", "b", "a"))
        assert app.lines.cursor_key == "a-middle"


async def test_the_way_into_a_strip_and_out() -> None:
    """A strip is entered at the end where one begins, and left at its ends; the line itself is opened meanwhile."""
    app = Reading()
    strip = tuple(Part(x, x + 1, "q", at=1000 + x, words="OK") for x in range(4, 7))
    async with app.run_test(size=(40, 12)) as pilot:
        app.lines.show((Line((Span("q   ▁▁▁"),), "q", parts=strip),))
        app.lines.focus()
        assert app.lines.chosen_part is None
        seen = []
        for key in ("left", "left", "right", "right", "right", "left", "left", "left"):
            await pilot.press(key)
            seen.append(0 if app.lines.chosen_part is None else app.lines.chosen_part.at)
        assert seen == [1006, 1005, 1006, 0, 1004, 0, 1006, 1005]


async def test_a_chosen_part_is_seen() -> None:
    """It looks different from the rest of its line, with colours and without."""
    app = Reading()
    async with app.run_test(size=(40, 12)) as pilot:
        app.lines.show(matrix("a", "b"))
        app.lines.focus()
        await pilot.press("right")
        segments = list(app.lines.render_line(0))
        looks = {segment.text.strip(): segment.style for segment in segments}
        assert looks["middle"] not in [style for text, style in looks.items() if text != "middle"]
