"""Every screen in every state at two sizes, as text: what an operator sees is agreed, to the letter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from mqvitals_agent.text.terminal import cells
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.keys import TABS_BY_ID
from mqvitals_tui.screens.help_screen import HelpScreen
from mqvitals_tui.widgets.cursor_view import CursorView, LinesView

GOLDENS = Path(__file__).parent / "goldens"
STATES = ("quiet", "incident", "stale", "empty")
SIZES = ((80, 24), (120, 40))

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


def lines_in(app: App[Any]) -> int:
    """How many lines the screen on top has to show; none before it is there."""
    return sum(view.row_count for view in app.screen.query(LinesView))


def names(state: str, width: int) -> list[str]:
    """The files of a state and a width, without their ends."""
    screens = [*TABS_BY_ID, *(f"detail-{name}" for name in OBJECTS)]
    return [f"{state}-{screen}-{width}" for screen in screens]


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


async def walk(app: Any, size: tuple[int, int], shown: Shown, until: Until, text: Text) -> dict[str, str]:
    """The text of each place and each detail."""
    seen: dict[str, str] = {}
    async with app.run_test(size=size) as pilot:
        await shown(pilot)
        for place in TABS_BY_ID:
            app.go_to(place)
            await shown(pilot)
            seen[place] = await settled(pilot, until, text)
        for name, each in OBJECTS.items():
            app.go_to("overview")
            app.open_object(each)
            await shown(pilot)
            seen[f"detail-{name}"] = await settled(pilot, until, text)
    return seen


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("state", STATES)
async def test_screens(
    lives: Lives, shown: Shown, until: Until, screen_text: Text, golden: Golden, state: str, size: tuple[int, int]
) -> None:
    """Each screen of a state looks as agreed, and none writes beyond its width or height."""
    seen = await walk(lives(state).app(), size, shown, until, screen_text)
    for name, text in seen.items():
        lines = text.split("\n")
        assert len(lines) == size[1], name
        assert max(map(cells, lines)) <= size[0], name
    assert [f"{state}-{name}-{size[0]}" for name in seen] == names(state, size[0])
    differing = [golden(GOLDENS / f"{state}-{name}-{size[0]}.txt", f"{text}\n") for name, text in seen.items()]
    assert not any(differing), "\n".join(filter(None, differing))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("below", HELPS)
async def test_help(
    lives: Lives, shown: Shown, until: Until, screen_text: Text, golden: Golden, below: str, size: tuple[int, int]
) -> None:
    """The help of each sort of screen looks as agreed; it does not depend on the state."""
    app = lives("quiet").app()
    async with app.run_test(size=size) as pilot:
        await shown(pilot)
        if below == "detail":
            app.open_object(OBJECTS["pool"])
        else:
            app.go_to(below)
        await shown(pilot)
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen) and lines_in(app) > 0)
        text = await settled(pilot, until, screen_text)
        difference = golden(GOLDENS / f"help-{below}-{size[0]}.txt", f"{text}\n")
        assert not difference, difference


def test_no_golden_is_left_over() -> None:
    """A golden that no screen is compared with would promise what nobody checks."""
    known = {f"{name}.txt" for state in STATES for width, _ in SIZES for name in names(state, width)}
    known |= {f"help-{below}-{width}.txt" for below in HELPS for width, _ in SIZES}
    known |= {f"holders-{name}-{width}.txt" for name in ("private", "shared", "asking") for width, _ in SIZES}
    smf = ("chinit", "storage", *(f"detail-{name}" for name in ("pool", "log", "channel", "initiator", "dispatcher")))
    known |= {f"smf-{name}-{width}.txt" for name in smf for width, _ in SIZES}
    # Those of a replayed recording: the past.
    known |= {f"{screen}-{width}.txt" for screen in ("overview", "storage", "alerts", "detail") for width, _ in SIZES}
    assert {path.name for path in GOLDENS.iterdir()} == known


def test_states_differ() -> None:
    """Quiet, incident, stale and empty can be told apart on every screen and at every size."""
    for width, _ in SIZES:
        for screens in zip(*(names(state, width) for state in STATES), strict=True):
            texts = [(GOLDENS / f"{name}.txt").read_text("utf-8") for name in screens]
            assert len(set(texts)) == len(STATES), screens
