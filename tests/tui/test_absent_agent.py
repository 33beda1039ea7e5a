"""What the screens say when nobody writes the store, or nobody has ever written one: what is so, and what to type."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_tui.app import MqvitalsApp
from mqvitals_tui.child_agent import LOG, exit_message
from mqvitals_tui.tabs import TABS_BY_ID
from mqvitals_tui.widgets.painting import Banner

Lives = Callable[[str], Any]
Shown = Callable[[Pilot[None]], Awaitable[None]]


async def test_without_a_store_every_place_says_so(
    tmp_path: Path, judging: RuleConfig, until: Any, screen_text: Any
) -> None:
    """Nothing is said to be read while there is nothing to read."""
    app = MqvitalsApp(tmp_path / "none.db", judging, lambda: 0)

    def said() -> bool:
        # Where the line breaks depends on the length of the path.
        return "does not exist yet" in " ".join(screen_text(app).split())

    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, said)
        for tab in TABS_BY_ID:
            app.go_to(tab)
            await until(pilot, said)
            assert "reading the store" not in screen_text(app), tab
            assert ("there is no store yet" in screen_text(app)) == bool(TABS_BY_ID[tab].columns), tab


async def test_a_store_that_cannot_be_read(tmp_path: Path, judging: RuleConfig, until: Any, screen_text: Any) -> None:
    """A list says that it has nothing to show, the header why."""
    path = tmp_path / "bad.db"
    path.write_bytes(b"no store at all " * 300)
    app = MqvitalsApp(path, judging, lambda: 0)
    async with app.run_test(size=(80, 24)) as pilot:
        app.go_to("queues")
        await until(pilot, lambda: "the store cannot be read" in screen_text(app))
        assert "reading the store" not in screen_text(app)


def header(app: Any) -> str:
    return " ".join(app.screen.query_one("#header", Banner).text.split())


@pytest.mark.parametrize("width", [80, 120])
async def test_stale_says_what_to_type(lives: Lives, shown: Shown, width: int) -> None:
    """Who is asked whether the agent runs is told how to start one."""
    app = lives("stale").app()
    async with app.run_test(size=(width, 24)) as pilot:
        await shown(pilot)
        assert "Is the agent running? 'mqvitals agent' starts it; its log shows why it ended." in header(app)


async def test_the_end_of_the_agent_that_was_brought_along(lives: Lives, shown: Shown, until: Any) -> None:
    """It is said on every screen as soon as it is known, in few lines; and nobody is asked whether it runs."""
    ended = [""]
    app = lives("stale").app(ended=lambda: ended[0])
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        assert "Is the agent running?" in header(app)
        ended[0] = "The agent has ended; its log ends: no [b]space[/b] \x1b[2J left " + "x " * 400
        for tab in ("overview", "queues"):
            app.go_to(tab)
            await shown(pilot)
            await until(pilot, lambda: "The agent has ended; its log ends: no [b]space[/b]" in header(app))
            assert "\x1b" not in header(app)
            assert "Is the agent running?" not in header(app)
            assert "The values are the last known ones" in header(app)
            assert app.screen.query_one("#header", Banner).size.height <= 6


def test_ended_words(tmp_path: Path) -> None:
    """Nothing while the agent runs; then that it has ended and the last line of its log, however often it is asked."""
    (tmp_path / LOG).write_text("first\nmqvitals: disk full\n", "utf-8")
    living = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    words = exit_message(living, tmp_path, what="the agent")
    try:
        assert words() == ""
    finally:
        living.communicate()
    assert words() == "The agent has ended; its log ends: disk full"
    (tmp_path / LOG).write_text("other\n", "utf-8")
    assert words() == "The agent has ended; its log ends: disk full"


def test_ended_without_a_word(tmp_path: Path) -> None:
    """An empty log is said to be empty."""
    living = subprocess.Popen([sys.executable, "-c", ""])
    living.wait()
    assert exit_message(living, tmp_path, what="the agent")() == "The agent has ended; its log ends: it is empty"
