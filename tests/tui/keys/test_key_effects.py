"""Every key that the help of a screen names does there what its sentence says, and the way back leads to the same line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unicodedata import lookup

import pytest
from textual import events
from textual.binding import Binding
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input

from mqvitals_agent.store.rows.alerts.action_client import ActionClient
from mqvitals_config.sections.matcher import parse_matcher
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.keys import ACROSS, APP, HELP, MOVES
from mqvitals_tui.screens.before_screen import BeforeScreen
from mqvitals_tui.screens.comparison_screen import ComparisonScreen
from mqvitals_tui.screens.detail_screen import DetailScreen
from mqvitals_tui.screens.figure_screens import ChoiceScreen, ExplanationScreen
from mqvitals_tui.screens.form_screen import FormScreen
from mqvitals_tui.screens.frame_screen import FrameScreen
from mqvitals_tui.screens.help_screen import HelpScreen
from mqvitals_tui.screens.holders_screen import HoldersScreen
from mqvitals_tui.screens.main_screen import MainScreen
from mqvitals_tui.screens.moment_form import MomentForm
from mqvitals_tui.tabs import EVERYWHERE, ROW, TABS_BY_ID, next_sibling, siblings
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.virtual_table import VirtualTable

Lives = Callable[[str], Any]
Shown = Callable[[Pilot[None]], Awaitable[None]]
Until = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]

OBJECTS = {"object": ObjectName("QM01", "buffer_pool", "3"), "queue": ObjectName("QM02", "queue", "PAYMENTS.IN")}
COMMANDS = {"object": "DISPLAY USAGE PSID(*) TYPE(PAGESET)", "queue": "DISPLAY QSTATUS(PAYMENTS.IN) TYPE(HANDLE) ALL"}
SCREENS = (*TABS_BY_ID, *OBJECTS, "holders", "before", "comparison")


@dataclass
class Stage:
    """A screen under test, how to come back to it, who left the program, and what it said."""

    pilot: Pilot[None]
    shown: Shown
    until: Until
    screen: str
    left: list[bool]
    said: list[str] = field(default_factory=list)

    @property
    def app(self) -> Any:
        return self.pilot.app

    @property
    def main(self) -> MainScreen:
        screen = self.app.screen
        assert isinstance(screen, MainScreen)
        return screen

    @property
    def view(self) -> Any:
        """The list or the text in which keys move."""
        screen = self.app.screen
        table = isinstance(screen, MainScreen) and bool(screen.tab.columns)
        found = screen.query_one("#table" if table else "#lines")
        assert isinstance(found, CursorView)
        return found

    async def begin(self) -> None:
        """The screen as who opens it finds it, but with the cursor away from the first and the last line."""
        self.app.go_to(self.screen if self.screen in TABS_BY_ID else "overview")
        if self.screen in OBJECTS:
            self.app.open_object(OBJECTS[self.screen])
        elif self.screen == "before":
            alerts = (line.alert for line in self.app.screen.query_one("#lines", LinesView).lines)
            await self.shown(self.pilot)
            self.app.open_before(max(alerts, default=1) or 1)
            await self.see(lambda: self.app.screen.frame is not None)
        elif self.screen == "comparison":
            # The store is younger than a day: what is compared is a minute before.
            self.app._mark = self.app._screen_context.news.newest.now - 60_000
            self.app.action_compare()
            await self.see(lambda: self.app.screen.frame is not None)
        elif self.screen == "holders":
            self.app.open_holders(OBJECTS["queue"])
            await self.see(lambda: self.app.screen.holders is not None)
        else:
            main = self.main
            main._sorts.clear()
            main._filters.clear()
            main.go_to(TABS_BY_ID[self.screen])
        await self.shown(self.pilot)
        self.app.screen.set_focus(self.view)
        self.view.action_home()
        await self.pilot.pause(0)

    async def press(self, *keys: str) -> None:
        """Send keys as a terminal does, and let everybody act on them."""
        driver = self.app._driver
        assert driver is not None
        for key in keys:
            name = NAMES.get(key, key)
            try:
                char = key if len(key) == 1 else lookup(name.upper().replace("_", " "))
            except KeyError:
                char = None
            event = events.Key(key, char)
            event.set_sender(self.app)
            driver.send_message(event)
        await self.pilot.pause(0.005)

    async def see(self, condition: Callable[[], bool]) -> None:
        await self.until(self.pilot, condition)


NAMES = {"slash": "solidus", "minus": "hyphen_minus", "plus": "plus_sign", "question_mark": "question_mark"}

Effect = Callable[[Stage, str], Awaitable[None]]


async def goes_to(stage: Stage, key: str) -> None:
    """A digit leads to its screen; one's own to what lies behind it, where there is something."""
    here = TABS_BY_ID.get(stage.screen)
    following = next_sibling(here) if here is not None and here.key == key else None
    wanted = (following or next(tab for tab in ROW if tab.key == key)).id
    await stage.press(key)
    await stage.see(lambda: isinstance(stage.app.screen, MainScreen) and stage.main.tab.id == wanted)


async def finds(stage: Stage, key: str) -> None:
    await stage.press(key)
    await stage.see(lambda: isinstance(stage.app.screen, CommandPalette))
    await stage.press("escape")
    await stage.see(lambda: isinstance(stage.app.screen, FrameScreen))


async def helps(stage: Stage, key: str) -> None:
    await stage.press(key)
    await stage.see(lambda: isinstance(stage.app.screen, HelpScreen))
    await stage.press("escape")
    await stage.see(lambda: isinstance(stage.app.screen, FrameScreen))


async def changes_theme(stage: Stage, key: str) -> None:
    before = stage.app.theme
    await stage.press(key)
    await stage.see(lambda: stage.app.theme != before)


async def leaves(stage: Stage, key: str) -> None:
    stage.left.clear()
    await stage.press(key)
    await stage.see(lambda: stage.left == [True])


async def filters(stage: Stage, key: str) -> None:
    await stage.press(key, "q", "m", "0", "1")
    await stage.see(lambda: stage.main.filter_text == "qm01")
    assert stage.main.query_one("#filter", Input).display


async def sorts_on(stage: Stage, key: str) -> None:
    await stage.press(key)
    await stage.see(lambda: stage.main.sort == ("health", False))
    await stage.press(key)
    await stage.see(lambda: stage.main.sort == ("name", False))


async def sorts_back(stage: Stage, key: str) -> None:
    await stage.press("greater_than_sign", "greater_than_sign", key)
    await stage.see(lambda: stage.main.sort == ("health", False))
    await stage.press(key)
    await stage.see(lambda: stage.main.sort is None)


async def reverses(stage: Stage, key: str) -> None:
    await stage.press("greater_than_sign", "greater_than_sign")
    await stage.see(lambda: stage.main.sort == ("name", False))
    before = [item.key for item in items(stage)]
    await stage.press(key)
    await stage.see(lambda: stage.main.sort == ("name", True))
    assert len(before) < 2 or before != [item.key for item in items(stage)]


async def goes_behind(stage: Stage, key: str) -> None:
    following = next_sibling(TABS_BY_ID[stage.screen])
    assert following is not None
    wanted = following.id
    await stage.press(key)
    await stage.see(lambda: stage.main.tab.id == wanted)


async def goes_back_from_place(stage: Stage, key: str) -> None:
    """First the filter goes, then the place; from the overview there is no way back."""
    if TABS_BY_ID[stage.screen].filters:
        await stage.press("slash", "q")
        await stage.see(lambda: stage.main.filter_text == "q")
        await stage.press(key)
        await stage.see(lambda: not stage.main.filter_text and stage.main.tab.id == stage.screen)
    await stage.press(key)
    tab = TABS_BY_ID[stage.screen]
    first = siblings(tab)[0]
    wanted = first if first is not tab else ROW[0]
    await stage.see(lambda: stage.main.tab is wanted)


async def goes_to_other_part(stage: Stage, key: str) -> None:
    """The overview is one text: the cursor goes to another part of it."""
    if stage.screen == "overview":
        line = stage.view.cursor
        await stage.press(key)
        await stage.see(lambda: stage.view.cursor != line)
        return
    before = stage.app.screen.focused
    await stage.press(key)
    await stage.see(lambda: stage.app.screen.focused is not before)


async def goes_back_from_object(stage: Stage, key: str) -> None:
    await stage.press(key)
    await stage.see(lambda: isinstance(stage.app.screen, MainScreen))


async def shows_longer(stage: Stage, key: str) -> None:
    before = stage.app.screen.span_ms
    await stage.press(key)
    await stage.see(lambda: bool(stage.app.screen.span_ms > before))


async def shows_shorter(stage: Stage, key: str) -> None:
    before = stage.app.screen.span_ms
    await stage.press(key)
    await stage.see(lambda: bool(stage.app.screen.span_ms < before))


async def charts_another(stage: Stage, key: str) -> None:
    detail = stage.app.screen.frame.detail
    step = -1 if key == "less_than_sign" else 1
    wanted = detail.chartable[(detail.chartable.index(detail.metric) + step) % len(detail.chartable)]
    await stage.press(key)
    await stage.see(lambda: bool(stage.app.screen.request.metric == wanted))
    await stage.shown(stage.pilot)
    assert stage.app.screen.frame.detail.metric == wanted


async def on_a_figure(stage: Stage) -> str:
    """The cursor on the first figure of the page that can be charted and is not, and its metric."""
    detail = stage.app.screen.frame.detail
    row, metric = next(
        (row, line.figure)
        for row, line in enumerate(stage.view.lines)
        if line.figure in detail.chartable and line.figure != detail.metric
    )
    stage.view._move(row)
    await stage.pilot.pause(0)
    return str(metric)


def on_a_related_object(stage: Stage) -> None:
    """The cursor on the first line of the page that leads to another object."""
    own = str(stage.app.screen.object_name)
    stage.view._move(next(row for row, line in enumerate(stage.view.lines) if line.key and line.key != own))


async def adds_to_the_board(stage: Stage, key: str) -> None:
    """Pressed again it takes the chart away."""
    metric = await on_a_figure(stage)
    await stage.press(key)
    await stage.see(lambda: any(each.metric == metric for each in stage.app.screen.request.board))
    await stage.shown(stage.pilot)
    assert [each.metric.name for each in stage.app.screen.frame.detail.board] == [metric]
    stage.view.go_to_part(0)
    await on_the_line_of(stage, metric)
    await stage.press(key)
    await stage.see(lambda: not stage.app.screen.request.board)
    await stage.shown(stage.pilot)


async def on_the_line_of(stage: Stage, metric: str) -> None:
    stage.view._move(next(row for row, line in enumerate(stage.view.lines) if line.figure == metric))
    await stage.pilot.pause(0)


async def chooses_a_chart(stage: Stage, key: str) -> None:
    """The first of the list is on the letter that stands first."""
    await stage.press(key)
    await stage.see(lambda: isinstance(stage.app.screen, ChoiceScreen))
    await stage.press("escape")
    await stage.see(lambda: isinstance(stage.app.screen, DetailScreen))


async def explains(stage: Stage, key: str) -> None:
    """A figure under the cursor; elsewhere the keys."""
    metric = await on_a_figure(stage)
    await stage.press(key)
    await stage.see(lambda: isinstance(stage.app.screen, ExplanationScreen))
    await stage.see(lambda: metric in stage.app.screen.query_one(LinesView).lines[0].text)
    await stage.press("escape")
    await stage.see(lambda: isinstance(stage.app.screen, DetailScreen))
    stage.view._move(next(row for row, line in enumerate(stage.view.lines) if line.section == "to do"))
    await stage.press(key)
    await stage.see(lambda: isinstance(stage.app.screen, HelpScreen))
    await stage.press("escape")
    await stage.see(lambda: isinstance(stage.app.screen, DetailScreen))


async def goes_to_part_of_page(stage: Stage, key: str) -> None:
    await stage.press(key)
    await stage.see(lambda: bool(stage.view.cursor_line.section))


async def zooms(stage: Stage, key: str) -> None:
    """The charts say so; a further press brings the whole scale back."""

    def told() -> bool:
        return any("zoomed" in line.text for line in stage.view.lines)

    whole = [line.text for line in stage.view.lines]
    await stage.press(key)
    await stage.see(told)
    await stage.press(key)
    await stage.see(lambda: not told())
    assert [line.text for line in stage.view.lines] == whole


async def reads_values(stage: Stage, key: str) -> None:
    """The cursor comes from the end of the chart, and past the end it goes."""

    def cursor() -> int | None:
        found: int | None = stage.app.screen._ago_ms
        return found

    await stage.press("left", "left")
    await stage.see(lambda: any("┴" in line.text for line in stage.view.lines))
    before = cursor()
    assert before is not None
    await stage.press(key)
    await stage.see(lambda: cursor() != before)
    assert (key == "left") is ((cursor() or 0) > before)
    await stage.press(*["right"] * 4)
    await stage.see(lambda: cursor() is None and not any("┴" in line.text for line in stage.view.lines))


def goes_to_an_alert(stage: Stage) -> None:
    """Put the cursor on a line about an alert."""
    view = stage.view
    assert isinstance(view, LinesView)
    line = next(each for each in view.lines if each.alert and each.key)
    view.go_to(line.key)
    assert view.cursor_line is not None
    assert view.cursor_line.key == line.key


async def shows_what_was_before(stage: Stage, key: str) -> None:
    """What came before the alert under the cursor; an object's page needs no cursor."""
    if stage.screen in TABS_BY_ID:
        goes_to_an_alert(stage)
    line = stage.app.screen.chosen_line
    said = len(stage.said)
    await stage.press(key)
    if line is None or not line.alert:
        await stage.see(lambda: len(stage.said) > said)
        return
    await stage.see(lambda: isinstance(stage.app.screen, BeforeScreen) and stage.app.screen.frame is not None)
    assert stage.app.screen.frame.before.alert is not None


async def goes_back_from_what_was_before(stage: Stage, key: str) -> None:
    assert isinstance(stage.app.screen, BeforeScreen)
    await stage.press(key)
    await stage.see(lambda: isinstance(stage.app.screen, MainScreen))


async def opens_a_form(stage: Stage, key: str) -> None:
    """The form for the alert under the cursor; where there is nothing to act on the screen says so."""
    if stage.screen == "overview":
        goes_to_an_alert(stage)
    said = len(stage.said)
    await stage.press(key)
    await stage.see(lambda: isinstance(stage.app.screen, FormScreen) or len(stage.said) > said)
    if isinstance(stage.app.screen, FormScreen):
        await stage.press("escape")
        await stage.see(lambda: isinstance(stage.app.screen, FrameScreen))


async def copies(stage: Stage, key: str) -> None:
    await stage.press(key)
    await stage.see(lambda: stage.app.clipboard == COMMANDS[stage.screen])


async def asks_who(stage: Stage, key: str) -> None:
    """Of the object that is shown, else of the queue under the cursor."""
    wanted = OBJECTS["queue"] if stage.screen == "queue" else ObjectName.parse(stage.view.cursor_key)
    await stage.press(key)
    await stage.see(lambda: isinstance(stage.app.screen, HoldersScreen))
    assert stage.app.screen.queue == wanted
    await stage.see(lambda: stage.app.screen.holders is not None)


async def asks_again(stage: Stage, key: str) -> None:
    screen = stage.app.screen
    before = screen.holders
    await stage.press(key)
    await stage.see(lambda: screen.holders is not before and not screen.asking)


async def goes_down(stage: Stage, key: str) -> None:
    view = stage.view
    before = (view.cursor, view.scroll_offset.y)
    await stage.press(key)
    if view.row_count > 1:
        await stage.see(lambda: (view.cursor, view.scroll_offset.y) > before)


async def goes_up(stage: Stage, key: str) -> None:
    view = stage.view
    view.action_down()
    view.action_down()
    before = (view.cursor, view.scroll_offset.y)
    await stage.press(key)
    if before != (0, 0) and view.row_count > 1:
        await stage.see(lambda: view.cursor < before[0] or view.scroll_offset.y < before[1])


async def turns_on(stage: Stage, key: str) -> None:
    view = stage.view
    before = (view.cursor, view.scroll_offset.y)
    await stage.press(key)
    if view.row_count > view.page:
        await stage.see(lambda: view.scroll_offset.y > before[1])


async def turns_back(stage: Stage, key: str) -> None:
    view = stage.view
    view.action_end()
    await stage.pilot.pause(0)
    before = view.scroll_offset.y
    await stage.press(key)
    if view.row_count > view.page:
        await stage.see(lambda: view.scroll_offset.y < before)


async def goes_to_first(stage: Stage, key: str) -> None:
    view = stage.view
    view.action_end()
    await stage.press(key)
    await stage.see(lambda: view.scroll_offset.y == 0)
    first = view._stops[0] if view._stops else -1
    assert view.cursor == first


async def goes_to_last(stage: Stage, key: str) -> None:
    view = stage.view
    await stage.press(key)
    await stage.see(lambda: view.scroll_offset.y == max(view.row_count - view.page, 0))
    last = view._stops[-1] if view._stops else -1
    assert view.cursor == last


async def opens(stage: Stage, key: str) -> None:
    """What is under the cursor opens, and the way back leads to the same line."""
    view = stage.view
    if isinstance(stage.app.screen, DetailScreen):
        on_a_related_object(stage)
    else:
        view.action_down()
    wanted, depth = view.cursor_key, len(stage.app.screen_stack)
    assert wanted
    await stage.press(key)
    await stage.see(lambda: len(stage.app.screen_stack) == depth + 1)
    assert isinstance(stage.app.screen, DetailScreen)
    assert str(stage.app.screen.object_name) == wanted
    await stage.shown(stage.pilot)
    await stage.press("escape")
    await stage.see(lambda: len(stage.app.screen_stack) == depth)
    await stage.shown(stage.pilot)
    assert stage.view is view
    assert view.cursor_key == wanted


async def moves_across(stage: Stage, key: str) -> None:
    """In a line with parts to the next one. A table as far as it is wider than the terminal: the cursor stays on its line."""
    view = stage.view
    before = view.cursor_key
    if isinstance(view, LinesView):
        row, parts = view.cursor, view.lines[view.cursor].parts
        await stage.press("right")
        here = parts.index(view.chosen_part)
        await stage.press(key)
        there = -1 if view.chosen_part is None else parts.index(view.chosen_part)
        assert view.cursor == row
        # Out of a strip of moments there is a way to the whole line; the ends of other lines stop.
        assert there in ({here - 1, 0} if key == "left" else {here + 1, len(parts) - 1})
        return
    await stage.press(key)
    assert view.cursor_key == before
    assert 0 <= view.scroll_offset.x <= max(view.virtual_size.width - view.size.width, 0)


def items(stage: Stage) -> Any:
    return stage.main.query_one("#table", VirtualTable).items


def moment(stage: Stage) -> int | None:
    """The past moment that the screen on top shows."""
    frame = stage.app.screen.frame
    return -1 if frame is None else frame.request.at


async def steps_back(stage: Stage, key: str) -> None:
    await stage.press(key)
    await stage.see(lambda: (moment(stage) or 0) > 0)
    await stage.press("l")
    await stage.see(lambda: moment(stage) is None)


async def steps_on(stage: Stage, key: str) -> None:
    """From two steps back to one; at now there is none."""
    back = {"right_curly_bracket": "left_curly_bracket"}.get(key, "left_square_bracket")
    await stage.press(back)
    await stage.see(lambda: (moment(stage) or 0) > 0)
    nearer = moment(stage)
    await stage.press(back)
    await stage.see(lambda: 0 < (moment(stage) or 0) < (nearer or 0))
    await stage.press(key)
    await stage.see(lambda: moment(stage) == nearer)
    await returns_to_now(stage, "l")


async def returns_to_now(stage: Stage, key: str) -> None:
    await stage.press("left_square_bracket")
    await stage.see(lambda: (moment(stage) or 0) > 0)
    await stage.press(key)
    await stage.see(lambda: moment(stage) is None)


async def asks_for_a_time(stage: Stage, key: str) -> None:
    await stage.press(key)
    await stage.see(lambda: isinstance(stage.app.screen, MomentForm))
    await stage.press("escape")
    await stage.see(lambda: isinstance(stage.app.screen, FrameScreen))


async def plays(stage: Stage, key: str) -> None:
    """A further press stops it."""
    await stage.press("left_square_bracket")
    await stage.see(lambda: (moment(stage) or 0) > 0)
    await stage.press(key)
    await stage.see(lambda: bool(stage.app.player.playing))
    await stage.press(key)
    await stage.see(lambda: not stage.app.player.playing)
    await stage.press("l")
    await stage.see(lambda: moment(stage) is None)


async def changes_speed(stage: Stage, key: str) -> None:
    for speed in (10, 60, 1):
        await stage.press(key)
        await stage.see(lambda speed=speed: bool(stage.app.player.speed == speed))  # type: ignore[misc]


async def marks(stage: Stage, key: str) -> None:
    said = len(stage.said)
    await stage.press(key)
    await stage.see(lambda: len(stage.said) > said)
    assert stage.app._mark is not None


async def compares(stage: Stage, key: str) -> None:
    await stage.press(key)
    await stage.see(lambda: isinstance(stage.app.screen, ComparisonScreen))


async def compares_with_another(stage: Stage, key: str) -> None:
    before = stage.app.screen.request.against
    await stage.press(key)
    await stage.see(
        lambda: isinstance(stage.app.screen, ComparisonScreen) and stage.app.screen.request.against != before
    )


async def changes_zone(stage: Stage, key: str) -> None:
    """The times are in the next zone; without another one the screen says so."""
    said = len(stage.said)
    await stage.press(key)
    await stage.see(lambda: len(stage.said) > said)


async def wants_a_fleet(stage: Stage, key: str) -> None:
    """Where no groups are configured the screen says how to; ``test_fleet_screen`` has the rest."""
    said = len(stage.said)
    await stage.press(key)
    await stage.see(lambda: len(stage.said) > said)


EFFECTS: dict[str, Effect] = {
    "next_zone": changes_zone,
    "mark": marks,
    "compare": compares,
    "compare_next": compares_with_another,
    **dict.fromkeys(("cycle_back", "alert_back"), steps_back),
    **dict.fromkeys(("cycle_on", "alert_on"), steps_on),
    "go_to_time": asks_for_a_time,
    "live": returns_to_now,
    "play": plays,
    "speed": changes_speed,
    **{f"place_{tab.id}": goes_to for tab in ROW},
    "find": finds,
    "keys": helps,
    "next_theme": changes_theme,
    "quit": leaves,
    "leave": leaves,
    "filter": filters,
    "sort_next": sorts_on,
    "sort_previous": sorts_back,
    "reverse": reverses,
    "data_sets": goes_behind,
    "main_back": goes_back_from_place,
    "focus_next": goes_to_other_part,
    "focus_previous": goes_to_other_part,
    "detail_back": goes_back_from_object,
    "span_longer": shows_longer,
    "span_shorter": shows_shorter,
    **dict.fromkeys(
        ("acknowledge", "note", "take_over", "silence", "maintenance", "undo", "seen", "extend"), opens_a_form
    ),
    "metric_next": charts_another,
    "metric_previous": charts_another,
    "add_chart": adds_to_the_board,
    "choose_chart": chooses_a_chart,
    "explain": explains,
    "part_next": goes_to_part_of_page,
    "part_previous": goes_to_part_of_page,
    "zoom": zooms,
    "cursor_later": reads_values,
    "cursor_earlier": reads_values,
    "copy": copies,
    "who": asks_who,
    "ask_again": asks_again,
    "holders_back": goes_back_from_object,
    "comparison_back": goes_back_from_object,
    "before": shows_what_was_before,
    "before_back": goes_back_from_what_was_before,
    "up": goes_up,
    "down": goes_down,
    "page_up": turns_back,
    "page_down": turns_on,
    "home": goes_to_first,
    "end": goes_to_last,
    "open": opens,
    "left": moves_across,
    "right": moves_across,
    "fleet": wants_a_fleet,
}
"""What each binding, by its id, must be seen to do."""


def documented(screen: FrameScreen) -> Iterator[Binding]:
    """The bindings that the help of a screen names."""
    for _, bindings in screen.help_groups():
        yield from bindings
    yield from EVERYWHERE
    yield from APP


@pytest.mark.parametrize("screen", SCREENS)
async def test_every_key_does_what_the_help_says(
    lives: Lives,
    shown: Shown,
    until: Until,
    monkeypatch: pytest.MonkeyPatch,
    screen: str,
    soak: bool,
    answering: Any,
    holding: Any,
    noted: Callable[[Any], list[str]],
    tmp_path: Path,
) -> None:
    """Each key of each binding, one after the other, each on the screen as it is when it is opened.

    In ``make soak``. Else one key of each binding, which is another one on another screen, and of the bindings that all
    screens or all lists have every sixteenth, on each screen others: no binding is left out on all.
    """
    life = lives("incident").copied(tmp_path / "asked.db")
    with ActionClient.open(life.store, "anna") as client:
        for number in range(20):
            matchers = (parse_matcher(f"rule=NONE-{number}"),)
            client.add_silence(matchers, "so that there is a list", life.now, life.now + 3_600_000, life.now)
    app = life.app()
    left: list[bool] = []
    async with app.run_test(size=(80, 24)) as pilot:
        agent = answering(life.store, holding(life.now), lambda: life.now)
        with agent, monkeypatch.context() as patch:
            patch.setattr(app, "exit", lambda *_, **__: left.append(True))
            await shown(pilot)
            stage = Stage(pilot, shown, until, screen, left, noted(app))
            await stage.begin()
            keys = [(binding, binding.key.split(",")) for binding in documented(app.screen)]
            tab = SCREENS.index(screen)
            for binding, names in keys:
                common = binding in (*EVERYWHERE, *APP, *MOVES, *ACROSS)
                if soak:
                    chosen = names
                elif common and ([*EFFECTS].index(str(binding.id)) + tab) % 16:
                    chosen = []
                else:
                    chosen = [names[tab % len(names)]]
                for key in chosen:
                    await stage.begin()
                    await EFFECTS[str(binding.id)](stage, key)
            assert sum(len(names) for _, names in keys) >= 30


@pytest.mark.parametrize("key", [key for binding in HELP for key in binding.key.split(",")])
async def test_the_help_goes_away_by_each_of_its_keys(lives: Lives, shown: Shown, until: Until, key: str) -> None:
    """And what was below is there again, its cursor on the same line."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        stage = Stage(pilot, shown, until, "queues", [])
        await stage.begin()
        await stage.press("j", "j")
        await stage.see(lambda: stage.view.cursor == 2)
        await stage.press("question_mark")
        await stage.see(lambda: isinstance(app.screen, HelpScreen))
        await stage.press("pagedown", key)
        await stage.see(lambda: isinstance(app.screen, MainScreen))
        assert stage.view.cursor == 2


async def test_a_place_remembers_its_line(lives: Lives, shown: Shown, until: Until) -> None:
    """Three objects deep and back by Esc, F3 and F12: each list and text has its cursor where it was left."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        stage = Stage(pilot, shown, until, "queues", [])
        await stage.begin()
        trail = []
        for _ in range(3):
            if isinstance(app.screen, DetailScreen):
                on_a_related_object(stage)
            else:
                await stage.press("j")
                await stage.see(lambda: bool(stage.view.cursor_key))
            trail.append(stage.view.cursor_key)
            await stage.press("enter")
            await stage.see(lambda: isinstance(app.screen, DetailScreen) and str(app.screen.object_name) == trail[-1])
            await shown(pilot)
        for key in ("escape", "f3", "f12"):
            await stage.press(key)
            await shown(pilot)
            assert stage.view.cursor_key == trail.pop()
        assert stage.main.tab.id == "queues"
