"""Every key is explained where it works, and the last line names the right ones and fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual.app import App
from textual.binding import Binding

from mqsamples.pairs import alone
from mqvitals_agent.text.terminal import cells
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.keys import (
    ACROSS,
    ACTIONS,
    APP,
    BEFORE,
    BEFORE_SCREEN,
    CHOICE,
    DETAIL,
    EXPLANATION,
    EXTEND,
    FLEET,
    FLEET_COMMON,
    FLEET_GROUP,
    FORM,
    HELP,
    HOLDERS,
    MAIN,
    MOVES,
    SEEN,
    WHO,
    Hint,
    hint_line,
    key_names,
)
from mqvitals_tui.screens.frame_screen import FrameScreen
from mqvitals_tui.screens.help_screen import help_lines
from mqvitals_tui.tabs import EVERYWHERE, TABS_BY_ID, next_sibling
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import StatusBar
from mqvitals_tui.widgets.virtual_table import VirtualTable

Lives = Callable[[str], Any]


def hints(app: App[Any]) -> str:
    return app.screen.query_one("#keys", StatusBar).text


def test_bindings() -> None:
    """Every key can be changed by its id, explains itself, and has one meaning on each screen."""
    acts = (*ACTIONS, BEFORE, SEEN, EXTEND)
    bindings = (
        *APP,
        *EVERYWHERE,
        *MAIN,
        *DETAIL,
        WHO,
        *acts,
        *HOLDERS,
        *BEFORE_SCREEN,
        *HELP,
        *EXPLANATION,
        *CHOICE,
        *FORM,
        *FLEET,
        *FLEET_GROUP,
        FLEET_COMMON[0],
        *MOVES,
        *ACROSS,
    )
    assert all(isinstance(each, Binding) and each.id and each.tooltip for each in bindings)
    assert len({each.id for each in bindings}) == len(bindings)
    for group in ((*MAIN, WHO, *acts, *MOVES, *ACROSS), (*DETAIL, WHO, *ACTIONS, BEFORE, *MOVES), (*HOLDERS, *MOVES)):
        keys = [key for each in (*APP, *EVERYWHERE, *group) for key in each.key.split(",")]
        if group[0] is DETAIL[0]:
            # On a figure of an object it explains that; F1 leads to the help everywhere.
            keys.remove("question_mark")
        assert len(set(keys)) == len(keys)
    keys = [key for each in (*APP, *FORM) for key in each.key.split(",")]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("widget", [LinesView, VirtualTable])
def test_bindings_of_widgets(widget: type[Any]) -> None:
    """The lists' own keys have ids and sentences like all others."""
    bindings = [each for keys in widget()._bindings.key_to_bindings.values() for each in keys]
    assert {each.id for each in bindings} >= {each.id for each in MOVES}
    assert all(each.id and each.tooltip for each in bindings)


@pytest.mark.parametrize(
    "tab",
    ["overview", "queues", "structures", "data_sets", "alerts", "silences", "agent", "object", "queue", "holders"],
)
async def test_help_names_every_key_of_the_screen(lives: Lives, shown: Any, tab: str) -> None:
    """Each key that does something is in the help with its sentence, and no line is wider than the help."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        if tab == "object":
            app.open_object(ObjectName("QM01", "buffer_pool", "3"))
        elif tab == "queue":
            app.open_object(ObjectName("QM02", "queue", "PAYMENTS.IN"))
        elif tab == "holders":
            app.open_holders(ObjectName("QM02", "queue", "PAYMENTS.IN"))
        else:
            app.go_to(tab)
        await shown(pilot)
        screen = app.screen
        assert isinstance(screen, FrameScreen)
        for width in (40, 80, 200):
            assert_help_is_whole(screen, tab, width)


def assert_help_is_whole(screen: FrameScreen, tab: str, width: int) -> None:
    lines = [line.text for line in help_lines(screen.help_groups(), width)]
    assert all(cells(line) <= width for line in lines)
    words = " ".join(" ".join(lines).split())
    active = {each.binding.id: each.binding for each in screen.active_bindings.values()}
    useless = unused(tab)
    for name, binding in active.items():
        if name and name not in useless:
            assert " ".join(binding.tooltip.split()) in words or width == 40, name
            assert all(key in words for key in shown_keys(binding)), name
        elif name:
            assert binding.tooltip not in words, name
    for key in ("F3", "F7", "F8", "F12"):
        assert key in words
    assert "3270" in words


def shown_keys(binding: Binding) -> list[str]:
    return key_names(binding).split()


def unused(tab: str) -> set[str]:
    """The ids of bindings that are active but do nothing in a place, or that the toolkit has."""
    names = set()
    if tab in TABS_BY_ID and not TABS_BY_ID[tab].filters:
        names |= {"filter"}
    if tab in TABS_BY_ID and not TABS_BY_ID[tab].columns:
        names |= {"sort_next", "sort_previous", "reverse"}
    if tab not in TABS_BY_ID or next_sibling(TABS_BY_ID[tab]) is None:
        names |= {"data_sets"}
    if tab not in ("agent", "overview"):
        names |= {"focus_next", "focus_previous"}
    acting = {each.id for each in (*ACTIONS, BEFORE, SEEN, EXTEND) if each.id}
    of_tab = {
        "overview": acting - {"seen", "extend"},
        "alerts": acting - {"extend"},
        "journal": {"before"},
        "by_object": {"before"},
        "silences": {"silence", "maintenance", "undo", "extend"},
    }
    names |= acting - of_tab.get(tab, set())
    if tab in ("object", "queue", "holders"):
        names = set()
    return names if tab in ("queues", "queue") else names | {"who"}


@pytest.mark.parametrize("width", alone(60, 80, 120))
async def test_last_line_fits_and_is_right(lives: Lives, shown: Any, until: Any, width: int) -> None:
    """On each screen the hints are those of the screen, none is cut, and help and quit are always there."""
    app = lives("incident").app()
    async with app.run_test(size=(width, 24)) as pilot:
        await shown(pilot)
        for name in TABS_BY_ID:
            app.go_to(name)
            await shown(pilot)
            text = hints(app)
            assert cells(text) <= width, text
            assert "? help" in text
            assert "q quit" in text
            assert ("/ filter" in text) == TABS_BY_ID[name].filters
            assert width < 80 or ("< > sort" in text) == bool(TABS_BY_ID[name].columns)
            assert width < 80 or ("w who has it open" in text) == (name == "queues")
            assert ("d data sets" in text) == (name == "structures")
            assert ("d structures" in text) == (name == "structure_matrix")
            assert ("d letters" in text) == (name == "queues")
            assert ("d queues" in text) == (name == "letters")
        app.go_to("queues")
        await shown(pilot)
        await pilot.press("slash", "q")
        await until(pilot, lambda: "keep the filter" in hints(app))
        assert "q quit" not in hints(app)
        await pilot.press("enter")
        await until(pilot, lambda: "show all" in hints(app))
        assert cells(hints(app)) <= width
        assert "q quit" in hints(app)
        app.open_object(ObjectName("QM01", "buffer_pool", "3"))
        await shown(pilot)
        assert cells(hints(app)) <= width
        assert "F1 help" in hints(app)
        assert width < 80 or "f chart" in hints(app)
        assert "w who has it open" not in hints(app)
        app.open_object(ObjectName("QM02", "queue", "PAYMENTS.IN"))
        await shown(pilot)
        assert cells(hints(app)) <= width
        assert "w who has it open" in hints(app)
        app.open_holders(ObjectName("QM02", "queue", "PAYMENTS.IN"))
        await shown(pilot)
        assert cells(hints(app)) <= width
        assert "r ask again" in hints(app)


def test_hints_are_left_out_by_their_worth() -> None:
    """Where there is no room the most spared goes first, and what must stay stays."""
    hints = (Hint("a", "one"), Hint("b", "two", 2), Hint("c", "three", 1), Hint("d", "four"))
    assert hint_line(hints, 80, "5 of 7").text == " 5 of 7  a one  b two  c three  d four"
    assert hint_line(hints, 27).text == " a one  c three  d four"
    assert hint_line(hints, 5).text == " a one  d four"


async def test_data_sets_lie_behind_the_structures(lives: Lives, shown: Any, until: Any) -> None:
    """From the matrix d leads to the structures, their data sets and back; so does 5 again; Esc goes back a step each."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)

        def tab() -> str:
            return str(app._main.tab.id)

        for keys, wanted in (
            (("5", "d"), "structures"),
            (("d",), "data_sets"),
            (("d",), "structure_matrix"),
            (("5",), "structures"),
            (("5", "5"), "structure_matrix"),
        ):
            await pilot.press(*keys)
            await shown(pilot)
            assert tab() == wanted
        await pilot.press("d", "escape")
        assert tab() == "structure_matrix"
        await pilot.press("escape")
        assert tab() == "overview"
        await pilot.press("d")
        assert tab() == "overview"
