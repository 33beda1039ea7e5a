"""What was read last of a place is shown at once, marked with its age, until the newest is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.view.frame import LIST, OVERVIEW, Frame, FrameRequest, StorePosition
from mqvitals_agent.view.status import StatusData, status_of
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_tui.app import MqvitalsApp
from mqvitals_tui.feed import KeptFrames, LoadedFrame
from mqvitals_tui.screens.detail_screen import DetailScreen
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import Banner
from mqvitals_tui.widgets.virtual_table import VirtualTable

MARK = "as of 40 s ago, reading the newest"
"""What stands before the keys while what is shown is older than the newest poll."""


class HeldApp(MqvitalsApp):
    """Its feed reads a list or an object only while ``gate`` is open."""

    def __init__(self, *words: Any, **named: Any) -> None:
        super().__init__(*words, **named)
        self.gate = Event()
        self.gate.set()
        read = self._feed._read

        def held(reader: Any, request: FrameRequest) -> LoadedFrame:
            while request.screen != OVERVIEW and not self.gate.wait(0.02) and self.is_running:
                pass
            return read(reader, request)

        self._feed._read = held  # type: ignore[method-assign]


def keys_line(app: MqvitalsApp) -> str:
    """Empty while a screen is being opened."""
    found = app.screen.query("#keys")
    return found.first(Banner).text if found else ""


@pytest.mark.parametrize("place", ["list", "object"])
async def test_the_last_frame_is_shown_with_its_age(
    lives: Any, tmp_path: Path, judging: RuleConfig, shown: Any, until: Any, place: str
) -> None:
    """Back after polls that another screen has read, rows and figures are there at once and say as of when they are."""
    life = lives("incident").copied(tmp_path / "store.db")
    now = [life.now]
    app = HeldApp(life.store, judging, lambda: now[0], machine=lambda: now[0])

    def rows() -> int:
        if place == "list":
            return len(app.screen.query_one("#table", VirtualTable).items)
        return app.screen.query_one("#lines", LinesView).row_count

    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        await pilot.press("3")
        await until(pilot, lambda: bool(app.screen.query_one("#table", VirtualTable).items))
        if place == "object":
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, DetailScreen) and app.screen.frame is not None)
        before = rows()
        assert before
        assert "reading the newest" not in keys_line(app)
        name = getattr(app.screen, "object_name", None)
        app.go_to("overview")
        news = app._screen_context.news
        await until(pilot, lambda: news.newest is not None and news.newest.request.screen == OVERVIEW)
        # A poll of which the overview knows.
        newest = news.newest
        assert newest is not None
        held = newest.seq.ts
        app.gate.clear()
        news.newest = replace(newest, seq=newest.seq._replace(ts=held + 1))
        now[0] = held + 40_000
        if name is None:
            await pilot.press("3")
        else:
            app.open_object(name)
        await until(pilot, lambda: MARK in keys_line(app))
        assert rows() == before
        app.gate.set()
        await until(pilot, lambda: MARK not in keys_line(app))
        assert rows()


async def test_the_past_is_not_shown_for_now(lives: Any, shown: Any, until: Any) -> None:
    """What was read of now is not shown below the line of the past, nor the other way."""
    app = lives("incident").app()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        await pilot.press("3")
        await until(pilot, lambda: bool(app.screen.query_one("#table", VirtualTable).items))
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: app._main.frame is not None and app._main.frame.request.at is not None)
        await pilot.press("1")
        assert len(app._screen_context.kept) == 2
        await shown(pilot)
        assert app._main.frame is not None
        assert app._main.frame.request.at is not None
        assert "reading the newest" not in keys_line(app)


def frame_of(kind: str, rows: int, ts: int, at: int | None = None) -> LoadedFrame:
    data = StatusData(ts, past=False, origin="", group="", members=())
    items: Any = tuple(range(rows))
    request = FrameRequest(LIST, kind=kind, at=at)
    return LoadedFrame(Frame(request, StorePosition(ts), ts, ts, data, status_of(data, {}), items=items))


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 40), st.integers(1, 9), st.booleans())))
def test_what_is_kept_is_bounded(read: list[tuple[str, int, int, bool]]) -> None:
    """The newest frame is always there, none of the past, and of more than a few or than many rows only the newest."""
    kept = KeptFrames(3, 50)
    newest: dict[str, LoadedFrame] = {}
    for kind, rows, ts, past in read:
        frame = frame_of(kind, rows, ts, ts if past else None)
        kept.keep(frame)
        if past:
            continue
        newest = {**{name: each for name, each in newest.items() if name != kind}, kind: frame}
        found = [kept.of(FrameRequest(LIST, kind=name), frame_of("z", 0, 9).frame) for name in reversed(newest)]
        there = [each for each in found if each is not None]
        assert there[0] is frame
        assert there == list(reversed(newest.values()))[: len(there)]
        assert len(kept) == len(there) <= 3
        assert len(there) == 1 or sum(len(each.frame.items) for each in there) <= 50


def test_a_frame_of_a_later_store_is_none_of_this_one() -> None:
    """The newest frame says until when the store goes: what was read of another one is not shown."""
    kept = KeptFrames()
    kept.keep(frame_of("queue", 3, 5))
    assert kept.of(FrameRequest(LIST, kind="queue"), frame_of("queue", 0, 5).frame)
    assert kept.of(FrameRequest(LIST, kind="queue"), frame_of("queue", 0, 4).frame) is None
    assert kept.of(FrameRequest(LIST, kind="queue"), None) is None
