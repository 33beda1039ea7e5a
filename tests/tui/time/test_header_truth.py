"""The header of every screen is that of the newest frame that any screen has read, wherever one walks while an agent writes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Event
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from textual import events
from textual.pilot import Pilot

from mqsamples.group import BEGIN, SITE, batches, members
from mqvitals_agent.service.cycles.cycle_writer import CycleWriter
from mqvitals_agent.simulator.scenario import Scenario
from mqvitals_agent.text.figure import clock, times_in, zone_name
from mqvitals_agent.text.severity import health_of
from mqvitals_agent.view.frame import Frame
from mqvitals_agent.view.status import counts
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_tui.app import MqvitalsApp
from mqvitals_tui.feed import FrameLoaded
from mqvitals_tui.screens.form_screen import FormScreen
from mqvitals_tui.screens.frame_screen import FrameScreen
from mqvitals_tui.screens.moment_form import MomentForm
from mqvitals_tui.widgets.painting import Banner
from mqvitals_tui.widgets.text_line import TextLine

Until = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]

EVERY_MS = 2_000
WALKS, STEPS, CYCLES = 12, 6, 4
"""The walks of a session, the keys of a walk, and the cycles that are written during a walk: after more than three without a new
snapshot a screen says that it is stale."""

KEYS = (
    *("1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "d", "d"),
    *(
        "enter",
        "enter",
        "enter",
        "enter",
        "down",
        "down",
        "up",
        "end",
        "right",
        "left",
        "escape",
        "escape",
        "escape",
        "escape",
    ),
    *(
        "question_mark",
        "colon",
        "slash",
        "plus",
        "minus",
        "r",
        "a",
        "s",
        "m",
        "n",
        "u",
        "tab",
        "tab",
        "f",
        "v",
        "z",
        "less_than_sign",
    ),
    *(
        "left_square_bracket",
        "left_square_bracket",
        "right_square_bracket",
        "left_curly_bracket",
        "right_curly_bracket",
    ),
    *("g", "l", "l", "space", "x", "M", "equals_sign", "equals_sign", "b", "b", "Z", "e", "o", "w"),
)
CHARACTERS = {"left_square_bracket": "[", "right_square_bracket": "]", "equals_sign": "=", "space": " "}
"""The characters of keys that have names: inputs take them."""


class WatchedApp(MqvitalsApp):
    """Keeps every frame that was read, and lets the feed read only while ``gate`` is open."""

    def __init__(self, *words: Any, **named: Any) -> None:
        super().__init__(*words, **named)
        self.frames: list[Frame] = []
        self.gate = Event()
        self.gate.set()
        read = self._feed._read

        def read_through_gate(*words: Any) -> Any:
            while not self.gate.wait(0.05) and self.is_running:
                pass
            return read(*words)

        self._feed._read = read_through_gate  # type: ignore[method-assign, assignment]

    def on_frame_loaded(self, message: FrameLoaded) -> None:
        # The toolkit calls the handler of each class, this one first.
        self.frames.append(message.read.frame)


def newest_ts(frame: Frame) -> int:
    return max(member.last_ts for member in frame.data.members)


def header_of(app: WatchedApp) -> str:
    """What stands in the header on top; empty before it was painted."""
    found = app.screen.query("#header")
    return " ".join(found.first(Banner).text.split()) if found else ""


def wrong_in_header(app: WatchedApp) -> list[str]:
    """What the newest frame says and the header on top does not."""
    screen = app.screen
    if not isinstance(screen, FrameScreen):
        # The help and the forms have a title; the palette lies over a screen that shows the header below it.
        return []
    frame, header = app.frames[-1], header_of(app)
    if not header:
        # The screen was pushed this moment: what it paints first is checked with the next key.
        return []
    wanted = [f"{health_of(severity).glyph} {count}" for severity, count in counts(frame.status.alerts) if count]
    with times_in(app._screen_context.zones.zone):
        newest, at = newest_ts(frame), frame.request.at
        wanted += [f"{clock(newest)} {zone_name(newest)}"]
        wanted += [] if at is None else [f"AS OF {clock(at)} {zone_name(at)}"]
    missing = [words for words in wanted if words not in header]
    unwanted = ["stale", "reading the store", *(["AS OF"] if at is None else [])]
    return missing + [words for words in unwanted if words in header]


SESSIONS = [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 42))]


@pytest.mark.parametrize("seed", SESSIONS)
async def test_random_walks(
    tmp_path: Path, judging: RuleConfig, scenarios: Mapping[str, Scenario], until: Until, seed: int
) -> None:
    """Tabs, objects, the past, comparisons, help, palette and forms, in any order; now and then a cycle is written."""
    polled = batches(scenarios["incident"], (WALKS + 1) * CYCLES * EVERY_MS, EVERY_MS)
    store = tmp_path / "store.db"
    settings = replace(Settings(), name=LocatedText(SITE, Place("test")))
    writer = CycleWriter(store, settings, judging, members(polled), source="walks")
    writer.open(polled[0].began)
    now = [BEGIN]

    def write() -> None:
        batch = polled.pop(0)
        now[0] = batch.began + 1_000
        assert not writer.take(batch).errors

    for _ in range(CYCLES):
        write()
    app = WatchedApp(store, judging, lambda: now[0], machine=lambda: now[0], zone=ZoneInfo("Europe/Berlin"))
    random = Random(seed)
    async with app.run_test(size=(random.choice((80, 120, 200)), 30)) as pilot:

        def has_caught_up() -> bool:
            """The newest frame is of the moment where the last key leads; and where that is now, of the last cycle."""
            if not app.frames or app._feed._ways or app.frames[-1].request.at != app._feed._at:
                return False
            return app._feed._at is not None or newest_ts(app.frames[-1]) > now[0] - EVERY_MS - 1_000

        async def caught_up() -> None:
            app.gate.set()
            app._feed._wake.set()
            await until(pilot, has_caught_up)

        async def press(key: str) -> None:
            """As a terminal does; nobody waits for a frame."""
            assert app._driver is not None
            event = events.Key(key, CHARACTERS.get(key, key if len(key) == 1 else None))
            event.set_sender(app)
            app._driver.send_message(event)
            # A screen that is being opened has nothing on it yet; what it paints first must be right.
            await until(pilot, lambda: not isinstance(app.screen, FrameScreen) or bool(header_of(app)))

        await caught_up()
        for walk in range(WALKS):
            trod: list[str] = []
            at = random.randrange(STEPS)
            for step in range(STEPS):
                key = random.choice(KEYS)
                form = app.screen
                if isinstance(form, FormScreen) and key == "enter":
                    # Leaving is part of a walk, acting is not; going to a time is.
                    if isinstance(form, MomentForm):
                        form.query_one("#time", TextLine).value = random.choice(
                            ("-4s", "-10s", "1", "12:00:04", "no time")
                        )
                    else:
                        key = "escape"
                trod.append(key)
                await press(key)
                if step == at:
                    for _ in range(CYCLES):
                        write()
                    await caught_up()
                    app.gate.clear()
                assert not wrong_in_header(app), f"seed {seed}, walk {walk}: {' '.join(trod)}"
            while not isinstance(app.screen, FrameScreen):
                await press("escape")
            assert not wrong_in_header(app), f"seed {seed}, walk {walk}, back: {' '.join(trod)}"
    writer.close()
