"""Every screen in every state: as text, agreed to the letter, at one size; at another it fits and shows all that matters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from mqvitals_agent.text.terminal import cells
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.screens.help_screen import HelpScreen
from mqvitals_tui.tabs import TABS_BY_ID
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.lines_view import LinesView

GOLDENS = Path(__file__).parents[1] / "goldens"
STATES = ("quiet", "incident", "stale", "empty")
SIZE, OTHER_SIZE = (120, 40), (80, 24)
"""The size of the goldens, and the other one that is supported in full; ``test_terminal_sizes`` has any size."""

OBJECTS: Mapping[str, ObjectName] = {
    "pool": ObjectName("QM01", "buffer_pool", "3"),
    "channel": ObjectName("QM03", "channel", "TO.PARTNER"),
    "queue": ObjectName("QM02", "queue", "PAYMENTS.IN"),
    "pageset": ObjectName("QM01", "page_set", "3"),
    "structure": ObjectName("PRDQSG", "cf_structure", "APPL1"),
    "qmgr": ObjectName("QM04", "queue_manager"),
    "log": ObjectName("QM02", "log"),
    "initiator": ObjectName("QM03", "channel_initiator"),
}
"""The objects whose details are looked at; in the incident there is trouble with each of them."""

HELPS = ("overview", "queues", "structures", "alerts", "agent", "detail")
"""The screens of which each has a help of its own."""

Lives = Callable[[str], Any]
Shown = Callable[[Pilot[None]], Awaitable[None]]
Until = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]
Text = Callable[[App[Any]], str]
Golden = Callable[[Path, str], str]
Missing = Callable[[App[Any]], list[str]]
Walk = Callable[[Any, tuple[int, int]], Awaitable[dict[str, str]]]


def lines_in(app: App[Any]) -> int:
    """How many lines the screen on top has to show; none before it is there."""
    return sum(view.row_count for view in app.screen.query(LinesView))


def names(state: str) -> list[str]:
    """The files of a state, without their ends."""
    screens = [*TABS_BY_ID, *(f"detail-{name}" for name in OBJECTS)]
    return [f"{state}-{screen}" for screen in screens]


async def settled(pilot: Pilot[None], until: Until, text: Text) -> str:
    """The text of the screen when nothing moves any more: scroll bars come a little after what they are for."""
    app = pilot.app
    await until(
        pilot,
        lambda: all(
            view.show_vertical_scrollbar is (view.row_count + view.header > view.size.height)
            for view in app.screen.query("#lines, #table")
            if isinstance(view, CursorView) and view.display
        ),
    )
    before = ""
    while before != (now := text(app)):
        before = now
        await pilot.pause(0.005)
    return now


@pytest.fixture
def walk(shown: Shown, until: Until, screen_text: Text, missing: Missing) -> Walk:
    """A function that gives the text of each tab and each detail; each fits its terminal and shows all that matters."""

    async def over(app: Any, size: tuple[int, int]) -> dict[str, str]:
        seen: dict[str, str] = {}

        async def look(name: str) -> None:
            await shown(pilot)
            text = seen[name] = await settled(pilot, until, screen_text)
            assert not missing(app), name
            lines = text.split("\n")
            assert len(lines) == size[1], name
            assert max(map(cells, lines)) <= size[0], name

        async with app.run_test(size=size) as pilot:
            await shown(pilot)
            for tab in TABS_BY_ID:
                app.go_to(tab)
                await look(tab)
            for name, each in OBJECTS.items():
                app.go_to("overview")
                app.open_object(each)
                await look(f"detail-{name}")
        return seen

    return over


@pytest.mark.parametrize("state", STATES)
async def test_screens(lives: Lives, walk: Walk, golden: Golden, state: str) -> None:
    """Each screen of a state looks as agreed."""
    seen = await walk(lives(state).app(), SIZE)
    assert [f"{state}-{name}" for name in seen] == names(state)
    differing = [golden(GOLDENS / f"{state}-{name}.txt", f"{text}\n") for name, text in seen.items()]
    assert not any(differing), "\n".join(filter(None, differing))


async def test_the_other_size(lives: Lives, walk: Walk, soak: bool) -> None:
    """On a smaller terminal every screen fits and shows all that matters, and each state can be told from the others.

    Of the incident, and of it long after; of all states in ``make soak``.
    """
    states = STATES if soak else ("incident", "stale")
    seen = [await walk(lives(state).app(), OTHER_SIZE) for state in states]
    for name in seen[0]:
        assert len({each[name] for each in seen}) == len(states), name


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("screen", ["journal", "by_object", "before"])
async def test_the_journal_and_what_came_before(
    lives: Lives, shown: Shown, until: Until, screen_text: Text, golden: Golden, screen: str, size: tuple[int, int]
) -> None:
    """The journal, by time and by object, and what came before the channel's alert, at three sizes."""
    app = lives("incident").app()
    async with app.run_test(size=size) as pilot:
        await shown(pilot)
        if screen == "before":
            app.go_to("alerts")
            await shown(pilot)
            lines = app.screen.query_one(LinesView).lines
            app.open_before(next(line.alert for line in lines if line.alert and line.key == str(OBJECTS["channel"])))
        else:
            app.go_to(screen)
        await shown(pilot)
        text = await settled(pilot, until, screen_text)
    assert max(map(cells, text.split("\n"))) <= size[0]
    difference = golden(GOLDENS / f"{screen}-{size[0]}x{size[1]}.txt", f"{text}\n")
    assert not difference, difference


@pytest.mark.parametrize("below", HELPS)
async def test_help(lives: Lives, shown: Shown, until: Until, screen_text: Text, golden: Golden, below: str) -> None:
    """The help of each sort of screen looks as agreed; it does not depend on the state. On a smaller terminal it has the same words."""
    app = lives("quiet").app()
    async with app.run_test(size=SIZE) as pilot:
        await shown(pilot)
        if below == "detail":
            app.open_object(OBJECTS["pool"])
        else:
            app.go_to(below)
        await shown(pilot)
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen) and lines_in(app) > 0)
        text = await settled(pilot, until, screen_text)
        difference = golden(GOLDENS / f"help-{below}.txt", f"{text}\n")
        assert not difference, difference
        words = _help_words(app)
        await pilot.resize_terminal(*OTHER_SIZE)
        await until(pilot, lambda: app.screen.size == OTHER_SIZE)
        smaller = await settled(pilot, until, screen_text)
        assert max(map(cells, smaller.split("\n"))) <= OTHER_SIZE[0]
        assert _help_words(app) == words


def _help_words(app: App[Any]) -> list[str]:
    """All words of the help, whatever its lines."""
    return [word for line in app.screen.query_one(LinesView).lines for word in line.text.split() if set(word) != {"─"}]


def test_no_golden_is_left_over() -> None:
    """A golden that no screen is compared with would promise what nobody checks."""
    known = {f"{name}.txt" for state in STATES for name in names(state)}
    known |= {f"help-{below}.txt" for below in HELPS}
    known |= {f"holders-{name}.txt" for name in ("private", "shared", "asking")}
    smf = ("chinit", "storage", *(f"detail-{name}" for name in ("pool", "log", "channel", "initiator", "dispatcher")))
    known |= {f"smf-{name}.txt" for name in smf}
    pages = ("pool", "queue", "channel", "structure", "qmgr")
    known |= {f"page-{name}-{size}.txt" for name in pages for size in ("80x24", "200x60")}
    known |= {
        f"{name}-{size}.txt" for name in ("journal", "by_object", "before") for size in ("80x24", "120x40", "200x60")
    }
    known |= {f"{name}-{size}.txt" for name in ("fleet", "fleet-group") for size in ("80x24", "120x40", "200x60")}
    # Those of a replayed recording: the past.
    known |= {f"{screen}.txt" for screen in ("overview", "storage", "alerts", "detail")}
    assert {path.name for path in GOLDENS.iterdir()} == known


def test_states_differ() -> None:
    """Quiet, incident, stale and empty can be told apart on every screen."""
    for screens in zip(*map(names, STATES), strict=True):
        texts = [(GOLDENS / f"{name}.txt").read_text("utf-8") for name in screens]
        assert len(set(texts)) == len(STATES), screens
