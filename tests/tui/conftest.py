"""What the tests of the terminal interface share: a screen's text, and stores that a simulated group filled."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from mqvitals_agent.clock import SystemClock
from mqvitals_agent.connection.connection import ConnectError, Connection
from mqvitals_agent.connection.exchange import Exchange
from mqvitals_agent.poll.errand import Errand, errands
from mqvitals_agent.poll.schedule import configured_ms
from mqvitals_agent.service.keeper import Batch, Keeper
from mqvitals_agent.service.timetable import Timetable
from mqvitals_agent.simulator.connector import SimulatedConnector, connectors
from mqvitals_agent.simulator.model import World
from mqvitals_agent.simulator.scenario import Incident, Scenario, What, load_scenario
from mqvitals_agent.store.writer import Store
from mqvitals_agent.who.answer import to_json
from mqvitals_agent.who.holder import Connection as HeldBy
from mqvitals_agent.who.holder import Holder, Holders, Instance, MemberHolders, UnitOfWork
from mqvitals_config.problem import LocatedText, Place
from mqvitals_config.settings import Settings
from mqvitals_rules.check import Judging, prepare
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.app import MqvitalsApp
from mqvitals_tui.screens.frame_screen import FrameScreen
from mqvitals_tui.widgets.cursor_view import CursorView

PATIENCE_S = 30
BEGIN = 1795176000000  # 2026-11-20 12:00:00 UTC
EVERY_MS = 2_000
SITE = "PRDQSG"

EVERYTHING = Scenario(
    "Everything at once",
    600_000,
    tuple(
        Incident(at_s * 1000, lasts_s * 1000, what, name, value, command)
        for at_s, lasts_s, what, name, value, command in (
            (6, 20, What.CONSUMER_GONE, "QM03/PAYMENTS.IN", 0, ""),
            (20, 600, What.SLOW_CONSUMER, "QM01/ORDERS.REQUEST", 0.02, ""),
            (20, 600, What.ARRIVALS, "PRDQ/APPL1.ORDERS", 8, ""),
            (30, 600, What.CONSUMER_GONE, "QM02/PAYMENTS.IN", 0, ""),
            (40, 600, What.NETWORK, "QM01/TO.QM02", 70_000, ""),
            (50, 600, What.ARCHIVE_STOPPED, "QM02", 0, ""),
            (60, 600, What.PARTNER_DOWN, "QM03/TO.PARTNER", 0, ""),
            (80, 600, What.REFUSE, "QM03", 0, "INQUIRE_CHANNEL_INIT"),
            (100, 600, What.DOWN, "QM04", 0, ""),
        )
    ),
)
"""What the ``incident`` is: each kind of trouble, and one that has passed."""

LENGTHS_MS = {"quiet": 120_000, "incident": 120_000}

_BEGAN = "2026-11-20 12:00:31"


def _handle(application: str, kind: str, **told: Any) -> Holder:
    names = ("description", "channel", "connection_name", "transaction", "task", "psb", "region", "async_state")
    plain: dict[str, Any] = dict.fromkeys(names, "") | dict.fromkeys(("output", "browse", "inquire", "set"), False)
    plain |= {"process": None, "thread": None, "input": "NO", "state": "INACTIVE", "connection": HeldBy(1, "A1", None)}
    return Holder(
        **{**plain, "application": application, "application_type": kind, "asid": "0031", "user": "MQUSER"} | told
    )


HANDLES = (
    *(_handle("CICSPRD1", "CICS", transaction="PAYT", task=f"{n:07}", input="SHARED") for n in range(20)),
    _handle("NIGHTJOB", "BATCH", output=True, connection=HeldBy(1, "C3", UnitOfWork("UNRESOLVED", "RRS", _BEGAN, ""))),
    *(
        _handle(
            "QM02CHIN",
            "CHINIT",
            user=f"USER{n}",
            output=True,
            channel=channel,
            connection_name=f"10.1.1.{n}",
            instance=Instance(1, "RUNNING", "MQGET", 1234, _BEGAN, "pay.App", "MQPAY"),
        )
        for n, channel in enumerate(("TO.QM01", "TO.QM03", "TO.QM04", "TO.PARTNER"))
    ),
)
"""Handles of applications and of channels, more than a small terminal has room for."""

Until = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]


@pytest.fixture
def screen_text() -> Callable[[App[Any]], str]:
    """A function that gives the text of an app's screen, its lines without blanks at their ends."""

    def text(app: App[Any]) -> str:
        # The toolkit has no public way to the painted cells.
        strips = app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    return text


@pytest.fixture(scope="session")
def judging() -> Judging:
    """The built-in rules."""
    return prepare(Settings())


@pytest.fixture(scope="session")
def begin() -> int:
    """When the simulated groups of ``lives`` began to live, ms UTC."""
    return BEGIN


@pytest.fixture(scope="session")
def scenarios() -> Mapping[str, Scenario]:
    """What happens to the simulated groups of ``lives``."""
    return {"quiet": load_scenario("quiet"), "incident": EVERYTHING}


@pytest.fixture
def until() -> Until:
    """Waits for a condition, but not for ever, and then for the screen to be painted."""

    async def wait(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, "it did not come about"
            # Not until the process is idle, which takes long: until everybody has had a turn.
            await pilot.pause(0.005)
        await pilot.pause(0.005)

    return wait


@pytest.fixture
def shown(until: Until) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Waits until the screen on top shows what it wants."""

    async def wait(pilot: Pilot[None]) -> None:
        def here() -> bool:
            screen = pilot.app.screen
            return isinstance(screen, FrameScreen) and screen.frame is not None

        await until(pilot, here)

    return wait


@pytest.fixture
def holding() -> Callable[[int], Callable[[ObjectName], str]]:
    """Who has a queue open, as the agent's answer: ``holding(at)(name)``, asked at the moment ``at``, ms UTC.

    Of a shared queue QM01 and QM02 tell, and QM03 cannot be asked.
    """

    def answers(at: int) -> Callable[[ObjectName], str]:
        def answer(queue: ObjectName) -> str:
            if queue.owner != SITE:
                return to_json(Holders(queue, (MemberHolders(queue.owner, at, 40, HANDLES),)))
            told = (MemberHolders("QM01", at, 40, HANDLES[:1]), MemberHolders("QM02", at, 7))
            silent = MemberHolders("QM03", at, 15_000, problem="It does not answer.")
            return to_json(Holders(queue, (*told, silent)))

        return answer

    return answers


@pytest.fixture
def settled(until: Until, screen_text: Callable[[App[Any]], str]) -> Callable[[Pilot[None]], Awaitable[str]]:
    """The text of the screen when nothing moves any more: scroll bars come a little after what they are for."""

    async def wait(pilot: Pilot[None]) -> str:
        views = [view for view in pilot.app.screen.query("#lines, #table") if isinstance(view, CursorView)]
        await until(
            pilot,
            lambda: all(
                view.show_vertical_scrollbar is (view.row_count + view.header > view.size.height)
                for view in views
                if view.display
            ),
        )
        before = ""
        while before != (now := screen_text(pilot.app)):
            before = now
            await pilot.pause(0.005)
        return now

    return wait


@dataclass(frozen=True)
class Life:
    """A store that a simulated group filled, and the moment ``now`` (ms UTC) to look at it."""

    store: Path
    now: int
    judging: Judging

    def app(self, **options: Any) -> MqvitalsApp:
        """The interface over it; its clocks stand still."""
        return MqvitalsApp(self.store, self.judging, lambda: self.now, **{"machine": lambda: self.now, **options})

    def copied(self, path: Path) -> Life:
        """The same in a store of its own, into which questions may be put."""
        shutil.copy(self.store, path)
        return replace(self, store=path)


@pytest.fixture(scope="session")
def lives(
    tmp_path_factory: pytest.TempPathFactory, judging: Judging, scenarios: Mapping[str, Scenario]
) -> Callable[[str], Life]:
    """The states in which screens are looked at: ``quiet``, ``incident``, ``stale`` (long after the incident), ``empty``.

    Each store is filled once, the way of a living agent: questions, PCF answers, samples, verdicts, store.
    """
    made: dict[str, Life] = {}

    def make(state: str) -> Life:
        if state == "stale":
            before = life("incident")
            return replace(before, now=before.now + 15 * 60_000)
        if state in LENGTHS_MS:
            path = tmp_path_factory.mktemp(state) / "store.db"
            # A thread has no loop yet, whoever asks for the fixture.
            with ThreadPoolExecutor(1) as thread:
                last = thread.submit(asyncio.run, live(path, judging, scenarios[state], LENGTHS_MS[state])).result()
            return Life(path, last + 1_000, judging)
        path = tmp_path_factory.mktemp(state) / "store.db"
        Store.open(path, group=SITE).close()
        return Life(path, BEGIN, judging)

    def life(state: str) -> Life:
        if state not in made:
            made[state] = make(state)
        return made[state]

    return life


class _Clock(SystemClock):
    """Time that goes by at once when somebody waits."""

    def __init__(self, now: int) -> None:
        self.moment = float(now)

    def now(self) -> int:
        return int(self.moment)

    async def sleep(self, ms: float) -> None:
        self.moment += max(ms, 0)


async def live(path: Path, judging: Judging, scenario: Scenario, length_ms: int) -> int:
    """Let a simulated group live and an agent watch it; returns the moment of its last cycle, ms UTC."""
    named = LocatedText(SITE, Place("test"))
    settings = replace(Settings(), name=named)
    clock = _Clock(BEGIN)
    members = [_Asked(each) for each in connectors(World(scenario, BEGIN, seed=1), clock)]
    polling = settings.polling

    def configured(question: str) -> int:
        return configured_ms(question, EVERY_MS, {}, 0)

    wanted = errands(polling)
    for each in members:
        each.own = Timetable([errand for errand in wanted if not errand.of_group], configured)
    of_group = Timetable([errand for errand in wanted if errand.of_group], configured)
    keeper = Keeper(
        path, settings, judging, [each.name for each in members], source=f"scenario {scenario.title}, seed 1"
    )
    keeper.open(BEGIN)
    moment = BEGIN
    for number in range(1, length_ms // EVERY_MS + 1):
        moment = BEGIN + (number - 1) * EVERY_MS
        clock.moment = max(clock.moment, moment)
        exchanges: list[Exchange] = []
        for each in members:
            exchanges += await each.ask(clock, each.own, moment)
        speaker = next((each for each in members if each.connection is not None), None)
        if speaker is not None:
            exchanges += await speaker.ask(clock, of_group, moment)
        exchanges.sort(key=lambda exchange: exchange.at)
        intervals = {each.name: (*each.own.intervals(), *of_group.intervals()) for each in members}
        stored = keeper.take(Batch(number, moment, tuple(exchanges), intervals))
        assert not stored.errors
    keeper.close()
    return moment


@dataclass
class _Asked:
    """A queue manager, its connection while there is one, and when what was asked of it last."""

    connector: SimulatedConnector
    connection: Connection | None = None
    own: Timetable = field(default_factory=lambda: Timetable((), lambda _: 0))

    @property
    def name(self) -> str:
        return self.connector.queue_manager

    async def ask(self, clock: _Clock, table: Timetable, moment: int) -> list[Exchange]:
        if self.connection is None:
            try:
                self.connection = await self.connector.connect()
            except ConnectError as error:
                return [Exchange(0, clock.now(), 0, self.name, error=error.failure)]
        told: list[Exchange] = []
        due = list(table.take_due(moment))
        while due and self.connection is not None:
            errand: Errand = due.pop(0)
            exchange = await self.connection.ask(errand.command, errand.request, 10_000)
            told.append(exchange)
            if exchange.error is not None:
                self.connection = None
                due.insert(0, errand)
            else:
                table.answered(errand, exchange.elapsed_ms, silent=False)
        for errand in due:
            table.missed(errand)
        return told
