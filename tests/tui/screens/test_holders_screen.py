"""Who has a queue open, on the screen: asked, awaited, told, asked again, and why it cannot be told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from mqvitals_agent.store.file.store_file import WriterLock
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.who.holder import (
    Holder,
    Holders,
    MemberHolders,
    MemberUnits,
    ReportedConnection,
    UnitOfWork,
    UnitsOfWork,
    from_json,
    to_json,
)
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.app import MqvitalsApp
from mqvitals_tui.screens.detail_screen import DetailScreen
from mqvitals_tui.screens.help_screen import HelpScreen
from mqvitals_tui.screens.holders_screen import HoldersScreen
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import Banner

Lives = Callable[[str], Any]
Shown = Callable[[Pilot[None]], Awaitable[None]]
Until = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]
Settled = Callable[[Pilot[None]], Awaitable[str]]
Answering = Callable[..., AbstractContextManager[None]]
Agrees = Callable[[str, str, tuple[int, int]], None]
Holding = Callable[[int], Callable[[ObjectName], str]]

QUEUE = ObjectName("QM02", "queue", "PAYMENTS.IN")
SHARED = ObjectName("PRDQSG", "queue", "APPL1.ORDERS")
SIZES = ((80, 24), (120, 40))
"""The goldens are of the last."""


@pytest.fixture
def life(lives: Lives, tmp_path: Path) -> Any:
    """A group with trouble, in a store of its own."""
    return lives("incident").copied(tmp_path / "asked.db")


def holders_screen(app: App[Any]) -> HoldersScreen:
    screen = app.screen
    assert isinstance(screen, HoldersScreen)
    return screen


def body(app: App[Any]) -> str:
    """The text, nothing before the screen is there."""
    return "\n".join(each.text for view in app.screen.query(LinesView) for each in view.lines)


def trail(app: App[Any]) -> str:
    return app.screen.query_one("#trail", Banner).text


@pytest.fixture
def agrees(golden: Callable[[Path, str], str]) -> Agrees:
    """The screen is the golden's, to the letter, and fills its terminal exactly."""

    def check(name: str, text: str, size: tuple[int, int]) -> None:
        lines = text.split("\n")
        assert len(lines) == size[1]
        assert max(map(cells, lines)) <= size[0]
        if size == SIZES[-1]:
            difference = golden(Path(__file__).parents[1] / "goldens" / f"holders-{name}.txt", f"{text}\n")
            assert not difference, difference

    return check


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(("name", "queue"), [("private", QUEUE), ("shared", SHARED)])
async def test_told(
    life: Any,
    answering: Answering,
    holding: Holding,
    until: Until,
    settled: Settled,
    shown: Shown,
    agrees: Agrees,
    name: str,
    queue: ObjectName,
    size: tuple[int, int],
) -> None:
    """What the agent answers, of a private queue and of a shared one of which one queue manager is silent."""
    app = life.app()
    with answering(life.store, holding(life.now - 3_000), lambda: life.now):
        async with app.run_test(size=size) as pilot:
            await shown(pilot)
            app.go_to("queues")
            app.open_holders(queue)
            await shown(pilot)
            await until(pilot, lambda: holders_screen(app).holders is not None)
            agrees(name, await settled(pilot), size)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_asking(
    life: Any,
    answering: Answering,
    until: Until,
    settled: Settled,
    shown: Shown,
    agrees: Agrees,
    size: tuple[int, int],
) -> None:
    """While the answer is awaited the screen says who is asked and for how long; leaving waits for nobody."""
    moment = [life.now]
    app = life.app(machine=lambda: moment[0])
    with answering(life.store, lambda _: None, lambda: life.now):
        async with app.run_test(size=size) as pilot:
            await shown(pilot)
            app.go_to("queues")
            app.open_holders(SHARED)
            await shown(pilot)
            moment[0] += 4_000
            holders_screen(app).repaint()
            await until(pilot, lambda: "QM04 … 4 s" in body(app))
            agrees("asking", await settled(pilot), size)
            screen = holders_screen(app)
            await pilot.press("r")
            assert screen._number == 1
            await pilot.press("escape")
            await until(pilot, lambda: not isinstance(app.screen, HoldersScreen))
            assert screen._gone.is_set()


async def test_without_an_agent(life: Any, until: Until, shown: Shown) -> None:
    """One sentence says what is missing and what to type."""
    app = life.app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        app.open_holders(QUEUE)
        await until(pilot, lambda: "no agent" in body(app))
        told = " ".join(body(app).split())
        assert told.startswith("? UNKNOWN no agent writes the store")
        assert told.endswith("only a running agent can ask queue managers; start 'mqvitals agent'")
        assert not holders_screen(app).asking


async def test_age_counts_and_r_asks_again(life: Any, answering: Answering, until: Until, shown: Shown) -> None:
    """The age of what was told grows by itself; asked again, it is told anew; a problem takes the place of old news."""
    moment = [life.now]
    answers = [3, 2, 1]

    def answer(queue: ObjectName) -> str:
        return to_json(Holders(queue, (MemberHolders("QM02", moment[0], answers.pop()),)))

    app = MqvitalsApp(life.store, life.judging, lambda: moment[0], machine=lambda: life.now)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        with answering(life.store, answer, lambda: life.now):
            app.open_holders(QUEUE)
            await until(pilot, lambda: "asked 0 s ago, answered in 1 ms" in body(app))
            moment[0] += 7_000
            await until(pilot, lambda: "asked 7 s ago, answered in 1 ms" in body(app))
            await pilot.press("r")
            await until(pilot, lambda: "asked 0 s ago, answered in 2 ms" in body(app))
        await pilot.press("r")
        await until(pilot, lambda: "no agent writes the store" in body(app))
        assert "answered in" not in body(app)


async def test_the_way_there_and_back(
    life: Any, answering: Answering, holding: Holding, until: Until, shown: Shown
) -> None:
    """From the list and from the detail by w, on to a channel by Enter, back step by step to the same line."""
    app = life.app()
    with answering(life.store, holding(life.now), lambda: life.now):
        async with app.run_test(size=(120, 40)) as pilot:
            await shown(pilot)
            app.open_object(QUEUE)
            await shown(pilot)
            await pilot.press("w")
            await until(pilot, lambda: holders_screen(app).holders is not None)
            assert trail(app) == " Overview › QM02 PAYMENTS.IN › who has it open"
            await pilot.press("down", "enter")
            await shown(pilot)
            assert isinstance(app.screen, DetailScreen)
            assert str(app.screen.object_name) == "QM02/channel/TO.QM03"
            assert trail(app) == " Overview › QM02 PAYMENTS.IN › who has it open › QM02 TO.QM03"
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, HoldersScreen))
            assert app.screen.query_one("#lines", LinesView).cursor_key == "QM02/channel/TO.QM03"
            await pilot.press("f3")
            await until(pilot, lambda: isinstance(app.screen, DetailScreen))
            await pilot.press("f12", "3")
            await shown(pilot)
            await pilot.press("w")
            await until(pilot, lambda: isinstance(app.screen, HoldersScreen))
            assert trail(app).startswith(" Queues › ")
            await pilot.press("question_mark")
            await until(pilot, lambda: isinstance(app.screen, HelpScreen))


async def test_w_on_a_log_asks_for_units_of_work(life: Any, answering: Answering, until: Until, shown: Shown) -> None:
    """The agent is asked for those of its queue manager, and the screen lists them."""
    unit = UnitOfWork("UNRESOLVED", "CICS", "2026-11-20 11.00.00", "2026-11-20 11.15.00", "0000001A2B3C0000")
    one = ReportedConnection("A1", "CICSPA01", "CICSUSER", "0031", "", "", "PAYG", "", "", None, None, unit)

    def answer(of: ObjectName) -> str:
        return to_json(UnitsOfWork(of, (MemberUnits(of.owner, life.now, 8, (one,)),)))

    app = life.app()
    with answering(life.store, answer, lambda: life.now):
        async with app.run_test(size=(120, 40)) as pilot:
            await shown(pilot)
            app.open_object(ObjectName("QM02", "log"))
            await shown(pilot)
            await pilot.press("w")
            await until(pilot, lambda: holders_screen(app).holders is not None)
            await shown(pilot)
            assert "units of work" in trail(app)
            assert "QM02: 1 unit of work: 1 UNRESOLVED" in body(app)
            assert "CICSPA01" in body(app)


async def test_w_where_there_is_no_queue(life: Any, shown: Shown, noted: Any) -> None:
    """What is no queue cannot be held open: nothing is asked, and a sentence says where to press w."""
    app = life.app()
    messages = noted(app)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        for tab in ("overview", "channels"):
            app.go_to(tab)
            await pilot.press("w")
            assert app.screen is app._main
        app.open_object(ObjectName("QM01", "buffer_pool", "3"))
        await shown(pilot)
        await pilot.press("w")
        assert isinstance(app.screen, DetailScreen)
        assert messages == [
            *["Put the cursor on a queue (3) or a log (7) and press w to ask who uses it now"] * 2,
            "w works on queues, queue managers and logs: it asks who uses them now",
        ]


async def test_a_replay_has_nobody_to_ask(tmp_path: Path, judging: RuleConfig, begin: int, until: Until) -> None:
    """The screen says that it is the past."""
    path = tmp_path / "past.db"
    Store.open(path, replay=True).close()
    app = MqvitalsApp(path, judging, lambda: begin)
    async with app.run_test(size=(80, 24)) as pilot:
        app.open_holders(QUEUE)
        await until(pilot, lambda: "holds a replay: it has no queue manager to ask" in " ".join(body(app).split()))


async def test_who_may_only_read(
    lives: Lives, open_folder: Path, ordinary_user: Callable[[], AbstractContextManager[None]], until: Until
) -> None:
    """A question has to be written: who may not write the store is told so."""
    life = lives("incident").copied(open_folder / "theirs.db")
    lock = WriterLock(life.store)
    life.store.chmod(0o444)
    app = life.app()
    try:
        async with app.run_test(size=(80, 24)) as pilot:
            with ordinary_user():
                app.open_holders(QUEUE)
                await until(pilot, lambda: "no permission for writing the store" in " ".join(body(app).split()))
    finally:
        lock.release()


async def test_hostile_answers(
    life: Any, answering: Answering, holding: Holding, until: Until, settled: Settled, shown: Shown
) -> None:
    """Whatever MQ says of applications: nothing of it steers the terminal or is markup."""
    evil = "\x1b[2J[bold]\u202eX[/x]\r\n"

    def answer(queue: ObjectName) -> str:
        handle = holding_one(holding, life.now)
        every = replace(handle, application=evil, user=evil, channel=evil, connection_name=evil, description=evil)
        return to_json(Holders(queue, (MemberHolders("QM02", life.now, 4, (every,), notes=(evil,)),)))

    app = life.app()
    with answering(life.store, answer, lambda: life.now):
        async with app.run_test(size=(80, 24)) as pilot:
            await shown(pilot)
            app.open_holders(QUEUE)
            await until(pilot, lambda: holders_screen(app).holders is not None)
            text = await settled(pilot)
            assert "\x1b" not in text
            assert "\u202e" not in text
            assert "[bold]" in text
            assert text.count("\n") == 23


def holding_one(holding: Holding, at: int) -> Holder:
    """One of the handles that the fixture tells."""
    return from_json(holding(at)(QUEUE)).members[0].holders[0]
