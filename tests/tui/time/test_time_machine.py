"""The way through the past: every key, on every screen, beside what the store holds; and what may not be done there."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.samples.steps import TimeStep
from mqvitals_agent.text.figure import clock
from mqvitals_agent.view.frame import Frame
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.app import MqvitalsApp
from mqvitals_tui.main import main
from mqvitals_tui.screens.detail_screen import DetailScreen
from mqvitals_tui.screens.form_screen import FormScreen
from mqvitals_tui.screens.frame_screen import FrameScreen
from mqvitals_tui.screens.moment_form import MomentForm
from mqvitals_tui.tabs import TABS_BY_ID
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.painting import Banner, StatusBar

Lives = Callable[[str], Any]
Until = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]
SIZE = (120, 40)
POOL = ObjectName("QM01", "buffer_pool", "3")


@pytest.fixture(autouse=True)
def unplayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The past plays when a test says so, not by the clock of the machine."""
    monkeypatch.setattr("mqvitals_tui.app.MqvitalsApp._play", lambda _: None)


def at(app: Any) -> int | None:
    """The moment of the newest frame."""
    moment: int | None = app._screen_context.news.at
    return moment


def frame_of(app: Any) -> Frame:
    """What the screen on top shows."""
    frame: Frame = app.screen.frame
    return frame


def header(app: Any) -> Banner:
    banner = app.screen.query_one("#header", Banner)
    assert isinstance(banner, Banner)
    return banner


def here(app: Any, moment: int | None) -> Callable[[], bool]:
    """Whether the screen on top shows this moment, and says so."""

    def seen() -> bool:
        screen = app.screen
        if not isinstance(screen, FrameScreen) or screen.frame is None or screen.frame.request.at != moment:
            return False
        first = header(app).text.splitlines()[0]
        said = moment is not None and f"AS OF {clock(moment)}" in first.replace("2026-11-20 ", "")
        return header(app).turned == (moment is not None) and ("AS OF" in first) == said

    return seen


def end_of_cycle(life: Any, moment: int) -> int:
    """When the cycle of this moment was over."""
    with StoreReader.open(life.store) as reader:
        return reader.end_of_cycle(moment)


def steps(life: Any, step: TimeStep, count: int) -> list[int]:
    """The moments of the last ``count`` steps, the newest first."""
    found: list[int] = []
    with StoreReader.open(life.store) as reader:
        while len(found) < count:
            moment = reader.step(found[-1] if found else None, step, on=False)
            assert moment is not None
            found.append(moment)
    return found


async def ask_where(app: Any, pilot: Pilot[None], until: Until) -> None:
    """Open the form that asks for a moment."""
    await pilot.press("g")
    await until(pilot, lambda: isinstance(app.screen, MomentForm))


async def first_line_where(
    app: Any, tab: str, shown: Any, pilot: Pilot[None], true: Callable[[Any], bool]
) -> CursorView:
    """Put the cursor on the first line of a tab of which ``true(screen)`` holds."""
    app.go_to(tab)
    await shown(pilot)
    view = app.screen.query_one("#lines", CursorView)
    assert isinstance(view, CursorView)
    view.action_home()
    while not true(app.screen):
        view.action_down()
    return view


@pytest.mark.parametrize(
    ("back", "on", "step"),
    [
        ("left_square_bracket", "right_square_bracket", TimeStep.CYCLE),
        ("f10", "f11", TimeStep.CYCLE),
        ("left_curly_bracket", "right_curly_bracket", TimeStep.TRANSITION),
    ],
)
async def test_steps(lives: Lives, until: Until, shown: Any, back: str, on: str, step: TimeStep) -> None:
    """Back and on lead over the same moments; beyond the newest one it is now."""
    life = lives("incident")
    wanted = steps(life, step, 3)
    app = life.app()
    async with app.run_test(size=SIZE) as pilot:
        await shown(pilot)
        for moment in wanted:
            await pilot.press(back)
            await until(pilot, here(app, moment))
        for moment in reversed(wanted[:-1]):
            await pilot.press(on)
            await until(pilot, here(app, moment))
        await pilot.press(on)
        await until(pilot, here(app, None))
        await pilot.press(on)
        await until(pilot, lambda: any("This is now" in each.message for each in app._notifications))


async def test_the_first_cycle_is_the_first(lives: Lives, until: Until, shown: Any) -> None:
    """Who steps on before it is told so and stays."""
    life = lives("incident")
    app = life.app()
    with StoreReader.open(life.store) as reader:
        first = min(owner.first_ts for owner in reader.owners())
    async with app.run_test(size=SIZE) as pilot:
        await shown(pilot)
        app.travel_to(first)
        await until(pilot, lambda: at(app) is not None)
        before = at(app)
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: any("no earlier cycle" in each.message for each in app._notifications))
        assert at(app) == before
        app.travel_to(first - 1)
        await until(pilot, lambda: any("nothing was stored by then" in each.message for each in app._notifications))
        assert at(app) == before


@pytest.mark.parametrize("text", ["12:01", "-59s", "40s", "2026-11-20 12:01:00", "2026-11-20T12:01:00Z", "today 12:01"])
async def test_go_to_a_time(lives: Lives, until: Until, shown: Any, text: str) -> None:
    life = lives("incident")
    wanted = {"-59s": life.now - 59_000, "40s": life.now - 40_000}.get(text, life.now // 3_600_000 * 3_600_000 + 60_000)
    app = life.app()
    async with app.run_test(size=SIZE) as pilot:
        await shown(pilot)
        await ask_where(app, pilot, until)
        app.screen.query_one("#time").value = text
        await pilot.press("enter")
        await until(pilot, here(app, end_of_cycle(life, wanted)))
        await pilot.press("l")
        await until(pilot, here(app, None))


@pytest.mark.parametrize("text", ["25:00", "tomorrow 03:12", "2026-12-01 12:00", "whenever", ""])
async def test_no_time(lives: Lives, until: Until, shown: Any, text: str) -> None:
    """What is no past time is refused with the forms that are; what was typed stays."""
    app = lives("incident").app()
    async with app.run_test(size=SIZE) as pilot:
        await shown(pilot)
        await ask_where(app, pilot, until)
        app.screen.query_one("#time").value = text
        await pilot.press("enter")
        await until(pilot, lambda: "yesterday 03:12" in app.screen.problem)
        assert app.screen.values["time"] == text
        await pilot.press("escape")
        await until(pilot, here(app, None))


async def test_go_to_an_alert(lives: Lives, until: Until, shown: Any) -> None:
    """On the line of an alert its start stands in the field; its number leads there from everywhere."""
    life = lives("incident")
    app = life.app()
    async with app.run_test(size=SIZE) as pilot:
        await first_line_where(app, "alerts", shown, pilot, lambda screen: screen.chosen_moment is not None)
        number, started = app.screen.chosen_line.alert, app.screen.chosen_moment
        with StoreReader.open(life.store) as reader:
            end = reader.end_of_cycle(started)
        await ask_where(app, pilot, until)
        assert clock(started) in app.screen.values["time"]
        app.screen.query_one("#time").value = f"#{number}"
        await pilot.press("enter")
        await until(pilot, here(app, end))
        assert app.screen.frame.alert_numbered(number) is not None
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: at(app) not in (None, end) and app.screen.frame is not None)
        assert app.screen.frame.alert_numbered(number) is None
        await ask_where(app, pilot, until)
        app.screen.query_one("#time").value = "99999"
        await pilot.press("enter")
        await until(pilot, lambda: any("no alert 99999" in each.message for each in app._notifications))


async def test_play(lives: Lives, until: Until, shown: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Space plays and stops, x makes it faster; at the end of the store it is now."""
    monkeypatch.undo()
    monkeypatch.setattr("mqvitals_tui.app.TICK_S", 1_000_000.0)
    life = lives("incident")
    app = life.app()
    begin = end_of_cycle(life, life.now - 100_000)
    async with app.run_test(size=SIZE) as pilot:
        monkeypatch.setattr("mqvitals_tui.app.TICK_S", 1.0)
        await shown(pilot)
        await pilot.press("space")
        await until(pilot, lambda: any("nothing to play now" in each.message for each in app._notifications))
        app.travel_to(begin)
        await until(pilot, here(app, begin))
        app._play()
        await pilot.press("space")
        await until(pilot, lambda: "playing x1 " in header(app).text)
        app._play()
        await until(pilot, here(app, begin + 1_000))
        await pilot.press("x")
        app._play()
        await until(pilot, here(app, begin + 11_000))
        await pilot.press("space")
        app._play()
        await pilot.press("x")
        await pilot.press("space")
        await until(pilot, lambda: "playing x60 " in header(app).text)
        assert at(app) == begin + 11_000
        app._play()
        await until(pilot, here(app, begin + 71_000))
        app._play()
        await until(pilot, here(app, None))
        assert not app.player.playing
        await pilot.press("x")
        assert app.player.speed == 1


async def test_the_moment_stays_while_one_walks(lives: Lives, until: Until, shown: Any) -> None:
    """Places, objects, filters and sorts are as of then; the way back is too, and a second terminal stays at now."""
    life = lives("incident")
    (moment,) = steps(life, TimeStep.TRANSITION, 1)
    app, other = life.app(), life.app()
    async with other.run_test(size=SIZE) as second:
        await shown(second)
        async with app.run_test(size=SIZE) as pilot:
            await shown(pilot)
            await pilot.press("left_curly_bracket")
            await until(pilot, here(app, moment))
            for tab in TABS_BY_ID:
                app.go_to(tab)
                await until(pilot, here(app, moment))
            app.go_to("queues")
            await until(pilot, here(app, moment))
            await pilot.press("greater_than_sign", "greater_than_sign", "slash", *"qm01", "enter")
            await until(pilot, lambda: app.screen.filter_text == "qm01")
            sort = app.screen.sort
            await pilot.press("left_square_bracket")
            await until(pilot, lambda: at(app) not in (None, moment) and app.screen.frame is not None)
            assert (app.screen.filter_text, app.screen.sort) == ("qm01", sort)
            earlier = at(app)
            app.open_object(POOL)
            await until(pilot, here(app, earlier))
            assert isinstance(app.screen, DetailScreen)
            frame = app.screen.frame
            assert frame is not None
            assert frame.now == earlier
            await pilot.press("escape")
            await until(pilot, here(app, earlier))
            await pilot.press("l")
            await until(pilot, here(app, None))
        assert here(other, None)()


async def test_nobody_acts_on_the_past(lives: Lives, until: Until, shown: Any, noted: Any) -> None:
    """Each action is refused with a sentence that names the way back to now."""
    life = lives("incident")
    app = life.app()
    said = noted(app)
    async with app.run_test(size=SIZE) as pilot:
        app.go_to("alerts")
        await shown(pilot)
        keys = app.screen.query_one("#keys", StatusBar)
        assert "a acknowledge" in keys.text
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: at(app) is not None and app.screen.frame is not None)
        await until(pilot, lambda: "a acknowledge" not in keys.text)
        assert "b before it" in keys.text
        for key in ("a", "o", "n", "s", "m", "u", "A"):
            said.clear()
            await pilot.press(key)
            await until(pilot, partial(bool, said))
            assert "people act on alerts only now. l leads back to now" in said[-1]
            assert not isinstance(app.screen, FormScreen)
        app.open_holders(ObjectName("QM02", "queue", "PAYMENTS.IN"))
        await until(pilot, lambda: "can be asked only now" in said[-1])


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
async def test_the_moment_is_said_at_every_width(lives: Lives, until: Until, shown: Any, width: int) -> None:
    life = lives("incident")
    app = life.app()
    async with app.run_test(size=(width, 24)) as pilot:
        await shown(pilot)
        for before, after in pairwise(steps(life, TimeStep.CYCLE, 3)):
            app.travel_to(after)
            await until(pilot, here(app, after))
            assert before > after
        assert " ago)" in header(app).text.splitlines()[0]


async def test_go_to_an_entry_of_the_journal(lives: Lives, until: Until, shown: Any) -> None:
    """On a line of the journal its moment stands in the field; then the entry is the newest one."""
    life = lives("incident")
    app = life.app()
    async with app.run_test(size=SIZE) as pilot:
        view = await first_line_where(
            app, "journal", shown, pilot, lambda screen: screen.chosen_line is not None and bool(screen.chosen_line.at)
        )
        for _ in range(3):
            view.action_down()
        wanted = app.screen.chosen_line.at
        await ask_where(app, pilot, until)
        assert clock(wanted) in app.screen.values["time"]
        await pilot.press("enter")
        await until(
            pilot, lambda: at(app) is not None and isinstance(app.screen, FrameScreen) and bool(app.screen.frame)
        )
        moment, newest = at(app), max(entry.ts for entry in frame_of(app).journal)
        assert moment is not None
        assert newest <= moment
        assert moment // 1000 - wanted // 1000 in (0, 1)


@pytest.fixture
def of_records(tmp_path: Path) -> Path:
    """A store into which SMF records were imported, and no poll."""
    records, polled, store = tmp_path / "smf", tmp_path / "polled.db", tmp_path / "records.db"
    simulated = ("--scenario", "quiet", "--interval", "10s", "--speed", "max", "--for", "4m", "--store", str(polled))
    assert main(["agent", *simulated, "--smf", str(records), "--smf-interval", "30s"]) == 0
    assert main(["smf", "import", *map(str, sorted(records.glob("*.dat"))), "--store", str(store)]) == 0
    return store


async def test_a_store_of_records_alone_steps_through_its_intervals(
    of_records: Path, judging: RuleConfig, until: Until, shown: Any
) -> None:
    """Without a poll a cycle is an interval: each step leads to the end of one, on the screen as by the records."""
    with sqlite3.connect(of_records) as db:
        # Records of other kinds may be newer than those of buffer pools.
        ends = sorted({ts for (ts,) in db.execute("SELECT ts FROM record UNION SELECT ts FROM snapshot")}, reverse=True)
    assert len(ends) > 4
    app = MqvitalsApp(of_records, judging, lambda: ends[0] + 1_000, machine=lambda: ends[0] + 1_000)
    async with app.run_test(size=SIZE) as pilot:
        app.go_to("storage")
        await shown(pilot)
        seen = []
        for _ in range(4):
            before = at(app)
            await pilot.press("left_square_bracket")
            await until(pilot, partial(_elsewhere, app, before))
            seen.append(at(app))
            assert frame_of(app).items
        assert seen == ends[1:5]


def _elsewhere(app: Any, before: int | None) -> bool:
    """Whether the screen on top shows another moment."""
    return at(app) != before and app.screen.frame is not None
