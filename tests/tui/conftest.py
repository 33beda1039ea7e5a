"""What the tests of the terminal interface share: a screen's text, and stores that a simulated group filled."""

from __future__ import annotations

import shutil
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot

from mqsamples.group import BEGIN, EVERYTHING, SITE, batches, write_store
from mqsamples.once import Once
from mqsamples.patience import PATIENCE_S
from mqvitals_agent.simulator.scenario import Scenario, load_scenario
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.view.alerts.words import shown_severity
from mqvitals_agent.view.frame import Frame
from mqvitals_agent.view.lists.key_figures import worst_and_fullest
from mqvitals_agent.view.status import counts
from mqvitals_agent.who.holder import HandleConnection as HeldBy
from mqvitals_agent.who.holder import HandleInstance, Holder, Holders, MemberHolders, UnitOfWork, to_json
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import RuleConfig, load_rule_config
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_tui.app import MqvitalsApp
from mqvitals_tui.screens.frame_screen import FrameScreen
from mqvitals_tui.screens.main_screen import MainScreen
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import Banner
from mqvitals_tui.widgets.virtual_table import VirtualTable

"""Until something is taken for hanging, real time: a loaded machine is slow."""
EVERY_MS = 2_000

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
            instance=HandleInstance(1, "RUNNING", "MQGET", 1234, _BEGAN, "pay.App", "MQPAY"),
        )
        for n, channel in enumerate(("TO.QM01", "TO.QM03", "TO.QM04", "TO.PARTNER"))
    ),
)
"""Handles of applications and of channels, more than a small terminal has room for."""

Until = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]


@pytest.fixture(scope="session", autouse=True)
def parsed_styles() -> Iterator[None]:
    """The style sheets of toolkit and screens are parsed once for each theme, not by every app that a test starts.

    The toolkit remembers them too, for one app. Sets of rules are not changed after they were parsed.
    """
    parse = Stylesheet._parse_rules
    parsed: dict[Any, list[RuleSet]] = {}

    def remembered(sheet: Stylesheet, css: str, read_from: Any, *words: Any, **named: Any) -> list[RuleSet]:
        key = (frozenset(sheet._variables.items()), css, read_from, words, frozenset(named.items()))
        if key not in parsed:
            parsed[key] = parse(sheet, css, read_from, *words, **named)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", remembered)
        yield


@pytest.fixture
def screen_text() -> Callable[[App[Any]], str]:
    """A function that gives the text of an app's screen, its lines without blanks at their ends."""

    def text(app: App[Any]) -> str:
        # The toolkit has no public way to the painted cells.
        strips = app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    return text


@pytest.fixture(scope="session")
def judging() -> RuleConfig:
    """The built-in rules."""
    return load_rule_config(Settings())


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
def noted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], list[str]]:
    """``noted(app)`` is what an app says from now on, which is shown too.

    A toast is gone after some seconds of real time, so its message is noted when it comes.
    """

    def messages(app: Any) -> list[str]:
        said: list[str] = []
        notify = app.notify

        def note(message: str, **options: Any) -> None:
            said.append(message)
            notify(message, **options)

        monkeypatch.setattr(app, "notify", note)
        return said

    return messages


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


@pytest.fixture
def missing() -> Callable[[App[Any]], list[str]]:
    """A function that gives what the screen on top must show at every width, and does not: signs, objects, alerts, commands."""

    def of(app: App[Any]) -> list[str]:
        screen = app.screen
        assert isinstance(screen, FrameScreen)
        frame = screen.frame
        if frame is None:
            return ["a frame"]
        lines = [line.text for view in screen.query(LinesView) if view.display for line in view.lines]
        rows = [*lines, *(text for view in screen.query(VirtualTable) if view.display for text in _rows_in_sight(view))]
        header = screen.query_one("#header", Banner).text
        signs = [f"{health_of(severity).glyph} {count}" for severity, count in counts(frame.status.alerts) if count]
        lost = [sign for sign in signs if sign not in header]
        matrix = isinstance(screen, MainScreen) and screen.tab.matrix
        wanted = _in_cells(frame) if matrix else _on_lines(frame)
        lost += [" ".join(parts) for parts in wanted if not any(all(p in row for p in parts) for row in rows)]
        flat = " ".join(" ".join(lines).split())
        return lost + [words for words in _in_text(frame) if " ".join(words.split()) not in flat]

    return of


def _rows_in_sight(table: VirtualTable) -> list[str]:
    return ["".join(segment.text for segment in table.render_line(y)) for y in range(table.size.height)]


def _shown_name(name: ObjectName) -> str:
    """What a list calls an object: a client by its address, others by their names."""
    return name.name.split("/")[1] if name.kind == "client" and "/" in name.name else name.name or name.owner


def _on_lines(frame: Frame) -> list[tuple[str, str]]:
    """Parts that stand on one line: glyph and word beside the object or rule that they are about."""
    status, screen = frame.status, frame.request.screen
    members = [(str(each.health), each.name) for each in status.queue_managers]
    if screen == "overview":
        structures = [(str(health), name.name) for health, name in worst_and_fullest(status)]
        return [*members, *structures, *((str(health_of(each.severity)), each.key.rule) for each in status.alerts)]
    if screen == "alerts":
        return [(str(health_of(shown_severity(each))), each.key.rule) for each in frame.alerts]
    if screen == "agent":
        return [("", each.name) for each in status.queue_managers] + [
            ("receiver", each.name) for each in frame.receivers
        ]
    if screen == "list":
        # Names of any length are cut; so many lines even the smallest terminal has room for.
        return [(str(each.health), _shown_name(each.name)[:7]) for each in frame.items[:3]]
    detail = frame.detail
    if detail is None:
        return []
    firing = [(health_of(each.severity).glyph, each.key.rule) for each in (*detail.alerts, *detail.below)]
    return [(str(detail.health), detail.name.name or detail.name.owner), *firing] if detail.known else []


def _in_cells(frame: Frame) -> list[tuple[str, str]]:
    """Of a matrix: the sign of what is ill beside its name, whose last part is that of its row or column."""
    ill = (each for each in frame.items if each.health >= Health.WARNING)
    return [(each.health.glyph, (each.name.name or each.name.owner).partition("/")[0]) for each in ill]


def _in_text(frame: Frame) -> list[str]:
    """Words that may go over several lines: the command to type next, and every figure that is known."""
    detail = frame.detail
    if detail is None or not detail.known:
        return []
    known = [name for name, value in (detail.values or {}).items() if not isinstance(value.value, Absence)]
    return [*known, *([detail.mqsc] if detail.mqsc else [])]


@dataclass(frozen=True)
class Life:
    """A store that a simulated group filled, and the moment ``now`` (ms UTC) to look at it."""

    store: Path
    now: int
    judging: RuleConfig

    def app(self, **options: Any) -> MqvitalsApp:
        """The interface over it; its clocks stand still."""
        return MqvitalsApp(self.store, self.judging, lambda: self.now, **{"machine": lambda: self.now, **options})

    def copied(self, path: Path) -> Life:
        """The same in a store of its own, into which questions may be put."""
        shutil.copy(self.store, path)
        return replace(self, store=path)


@pytest.fixture(scope="session")
def lives(
    tmp_path_factory: pytest.TempPathFactory, built_once: Once, judging: RuleConfig, scenarios: Mapping[str, Scenario]
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

            def build(path: Path) -> None:
                scenario = scenarios[state]
                write_store(path, judging, scenario, batches(scenario, LENGTHS_MS[state], EVERY_MS))

            # Readers leave files beside it: each worker reads its own.
            path = Path(
                shutil.copy(built_once.built(f"{state}.db", build), tmp_path_factory.mktemp(state) / "store.db")
            )
            return Life(path, BEGIN + LENGTHS_MS[state] - EVERY_MS + 1_000, judging)
        path = tmp_path_factory.mktemp(state) / "store.db"
        Store.open(path, group=SITE).close()
        return Life(path, BEGIN, judging)

    def life(state: str) -> Life:
        if state not in made:
            made[state] = make(state)
        return made[state]

    return life
