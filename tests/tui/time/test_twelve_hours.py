"""A screen that is open for a night: after twelve hours of polls and keys it holds no more than after the first."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mqsamples.group import BEGIN, SITE, batches, members
from mqvitals_agent.service.cycles.cycle_writer import CycleWriter
from mqvitals_agent.simulator.scenario import Scenario
from mqvitals_agent.view.frame import Frame
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_tui.app import MqvitalsApp
from mqvitals_tui.screens.frame_screen import FrameScreen
from mqvitals_tui.tabs import TABS

OBJECTS = ("2", "3", "6")
"""Lists whose first object is opened in each round."""
VALUES = {"Region", "Size", "Offset", "Spacing", "Color", "ColorTriplet"}
"""The toolkit keeps thousands of these in caches of its own, which are bounded but take long to fill."""
SLACK = 1.1
"""How many times as much may be there in the end: what is on its way at the moment of counting differs."""
ALLOWED = 400
"""Lines, strips and messages that may be on their way."""


def _module(each: object) -> str:
    """Where the class of an object is from; of some classes of libraries ``__module__`` is no text."""
    module = type(each).__module__
    return module if isinstance(module, str) else ""


@contextmanager
def _no_other_thread() -> Iterator[None]:
    """Nothing else runs. A list of all objects also holds the tuples that other threads are making, and CPython fails to finish
    a tuple that somebody else holds.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(60)
    # Who waits already waits by the interval of before, and has its turn now.
    time.sleep(10 * before)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def held() -> tuple[Counter[str], int, int]:
    """What of screens and frames there is, by type; open files; threads."""
    gc.collect()
    with _no_other_thread():
        found = Counter(
            type(each).__qualname__
            for each in gc.get_objects()
            if type(each).__name__ not in VALUES
            and (isinstance(each, Frame) or _module(each).startswith(("mqvitals_tui", "textual.", "rich.")))
        )
    return found, len(list(Path("/dev/fd").iterdir())), threading.active_count()


@pytest.mark.parametrize(
    ("hours", "every_ms"),
    [
        pytest.param(0, 10_000, id="two-rounds"),
        pytest.param(12, 60_000, id="12", marks=[pytest.mark.soak, pytest.mark.timeout(3600)]),
    ],
)
async def test_nothing_grows(
    tmp_path: Path, judging: RuleConfig, scenarios: Mapping[str, Scenario], until: Any, hours: int, every_ms: int
) -> None:
    """All places, objects, the past, the help and the palette again and again, at each step a cycle of the agent."""
    # A palette that was closed this moment still ends its search: not last, before all is counted.
    steps = [("help", ""), ("past", ""), *(("object", key) for key in OBJECTS), *(("tab", tab.id) for tab in TABS)]
    cycles = max(hours * 3_600_000 // every_ms, 2 * len(steps)) + 2
    polled = batches(scenarios["incident"], cycles * every_ms, every_ms)
    writer = CycleWriter(
        tmp_path / "store.db",
        replace(Settings(), name=LocatedText(SITE, Place("test"))),
        judging,
        members(polled),
        source="night",
    )
    writer.open(polled[0].began)
    now = [BEGIN]

    def write() -> None:
        batch = polled.pop(0)
        now[0] = batch.began + 1_000
        assert not writer.take(batch).errors

    write()
    write()
    app = MqvitalsApp(tmp_path / "store.db", judging, lambda: now[0], machine=lambda: now[0])
    async with app.run_test(size=(120, 40)) as pilot:
        news = app._screen_context.news

        def shows_newest() -> bool:
            top = app.screen
            frame = top.frame if isinstance(top, FrameScreen) else None
            return frame is not None and frame.request.at is None and frame.seq.ts >= now[0] - 1_000

        async def read() -> None:
            """Until the screen on top shows the newest cycle."""
            app._feed._wake.set()
            await until(pilot, shows_newest)

        async def step(what: str, which: str) -> None:
            if what == "tab":
                app.go_to(which)
            elif what == "object":
                await pilot.press(which)
                await read()
                depth = len(app.screen_stack)
                await pilot.press("enter")
                await until(pilot, lambda: len(app.screen_stack) > depth)
                await read()
                await pilot.press("escape")
            elif what == "past":
                await pilot.press("left_square_bracket")
                await until(pilot, lambda: news.at is not None)
                await pilot.press("l")
                await until(pilot, lambda: news.at is None)
            else:
                for key in ("f1", "escape", "colon", "escape"):
                    depth = len(app.screen_stack)
                    await pilot.press(key)
                    await until(pilot, lambda: len(app.screen_stack) != depth)  # noqa: B023 - used at once
            await read()

        await read()
        begun = None
        while len(polled) >= len(steps):
            for what, which in steps:
                write()
                await step(what, which)
            app.go_to("overview")
            await read()
            if begun is None:
                begun = held()
        assert begun is not None
        (first, files, threads), (last, files_now, threads_now) = begun, held()
        assert files_now <= files
        assert threads_now <= threads
        assert last.total() <= SLACK * first.total() + ALLOWED, (last - first).most_common(8)
        assert last["LoadedFrame"] <= first["LoadedFrame"] + 2
        assert last["Frame"] <= first["Frame"] + 2
    writer.close()
