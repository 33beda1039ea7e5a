"""What an operator does with alerts on the screens: acknowledge, note, take over, silence, plan maintenance, take back."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from textual.message import Message

from mqvitals_agent.store.error import StoreError, StoreErrorKind
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.alerts.action_client import ActionClient
from mqvitals_agent.store.rows.alerts.actions import Actions
from mqvitals_agent.text.styled import Line
from mqvitals_agent.view.alerts.handling import NEW
from mqvitals_agent.view.frame import ALERTS, DETAIL, OVERVIEW, Frame, FrameRequest, read_frame
from mqvitals_agent.view.screens.alerts import alert_lines
from mqvitals_agent.view.screens.object.page import detail_lines
from mqvitals_agent.view.screens.overview.page import overview_lines
from mqvitals_config.sections.matcher import parse_matcher
from mqvitals_config.settings import Settings, TuiSettings
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.rule import RuleKind
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.feed import COSTLY_S, Feed, FrameLoaded
from mqvitals_tui.screens.form_screen import FormScreen
from mqvitals_tui.screens.frame_screen import FrameScreen
from mqvitals_tui.screens.main_screen import MainScreen
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.text_line import TextLine

Lives = Callable[[str], Any]
Shown = Any
Until = Any
HOUR = 3_600_000


@pytest.fixture
def life(lives: Lives, tmp_path: Path) -> Any:
    """The incident, in a store of its own."""
    return lives("incident").copied(tmp_path / "own.db")


def actions(life: Any) -> Actions:
    with StoreReader.open(life.store) as reader:
        return reader.actions()


def frame_of(life: Any, request: FrameRequest) -> Frame:
    with StoreReader.open(life.store) as reader:
        return read_frame(reader, life.now, request, life.judging)


def lines_of(frame: Frame, width: int) -> tuple[Line, ...]:
    if frame.request.screen == OVERVIEW:
        return overview_lines(frame, width)
    return tuple(detail_lines(frame, width) if frame.request.screen == DETAIL else alert_lines(frame, width))


def first_alert(app: Any) -> Line:
    """Put the cursor on the first alert; returns its line."""
    view: LinesView = app.screen.query_one("#lines", LinesView)
    row, line = next((row, line) for row, line in enumerate(view.lines) if line.alert)
    view._move(row)
    return line


async def form(app: Any, pilot: Any, until: Until, key: str) -> FormScreen:
    await pilot.press(key)
    await until(pilot, lambda: isinstance(app.screen, FormScreen))
    screen = app.screen
    assert isinstance(screen, FormScreen)
    return screen


async def done(app: Any, pilot: Any, until: Until) -> None:
    """Enter, and wait until the form is gone and the screen has read what it did."""
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, FrameScreen))


@pytest.mark.parametrize("tab", ["overview", "alerts"])
async def test_acknowledge(life: Any, shown: Shown, until: Until, tab: str) -> None:
    """a, a note, Enter: the store has it, and the screen shows who has the alert, and it no longer as new."""
    app = life.app(author="anna")
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        app.go_to(tab)
        await shown(pilot)
        number = first_alert(app).alert
        await form(app, pilot, until, "a")
        await pilot.press(*"on it")
        await done(app, pilot, until)
        (made,) = actions(life).acknowledgements_of(number)
        assert (made.author, made.note, made.made) == ("anna", "on it", life.now)

        def says() -> bool:
            view = app.screen.query_one("#lines", LinesView)
            return "anna has it" in "\n".join(line.text for line in view.lines)

        await until(pilot, says)
        view = app.screen.query_one("#lines", LinesView)
        mine = next(line for line in view.lines if line.alert == number)
        assert mine.spans[0].bold is False
        assert view.cursor_line is not None
        assert view.cursor_line.alert == number


async def test_two_operators(life: Any, shown: Shown, until: Until) -> None:
    """The first acknowledgement wins and is named, both notes are kept; o takes the alert over, u takes that back."""
    app = life.app(author="anna")
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        app.go_to("alerts")
        await shown(pilot)
        number = first_alert(app).alert
        with ActionClient.open(life.store, "ben") as client:
            client.acknowledge(number, life.now - 1_000, note="the reader is down")
        await form(app, pilot, until, "a")
        await pilot.press(*"me too")
        await done(app, pilot, until)
        assert "ben has it" in "".join(each.message for each in app._notifications)
        assert [each.note for each in actions(life).acknowledgements_of(number)] == ["the reader is down", "me too"]
        await form(app, pilot, until, "o")
        await done(app, pilot, until)
        frame = frame_of(life, FrameRequest(ALERTS))
        alert = frame.alert_numbered(number)
        assert alert is not None
        found = frame.handled.of(alert)
        assert found is not None
        assert found.acknowledged.by is not None
        assert found.acknowledged.by.author == "anna"
        undo = await form(app, pilot, until, "u")
        await until(pilot, lambda: any("your acknowledgement of" in line.text for line in undo.about(100)))
        await done(app, pilot, until)
        assert frame_of(life, FrameRequest(ALERTS)).handled.asks(alert)


async def test_note(life: Any, shown: Shown, until: Until) -> None:
    """n keeps a note, of an object's worst alert too; an empty one is refused, and the form stays."""
    app = life.app(author="anna")
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        app.open_object(ObjectName("QM01", "buffer_pool", "3"))
        await shown(pilot)
        screen = await form(app, pilot, until, "n")
        await pilot.press("enter")
        await until(pilot, lambda: "the note is empty" in screen.problem)
        await pilot.press(*"seen before")
        await done(app, pilot, until)
        (note,) = [each for some in actions(life).notes.values() for each in some]
        assert (note.author, note.text) == ("anna", "seen before")


async def test_refused(life: Any, shown: Shown, until: Until, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may not write is told so in a sentence, and nothing that was typed is lost."""

    def refuse(path: Path, _: str | None = None) -> ActionClient:
        raise StoreError(f"you may not write {path}", "ask for store.mode 0660", StoreErrorKind.PERMISSION)

    app = life.app(author="anna")
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        app.go_to("alerts")
        await shown(pilot)
        first_alert(app)
        screen = await form(app, pilot, until, "a")
        await pilot.press(*"my words")
        with monkeypatch.context() as patch:
            patch.setattr(ActionClient, "open", refuse)
            await pilot.press("enter")
            await until(pilot, lambda: bool(screen.problem))
        assert "you may not write" in screen.problem
        assert "store.mode 0660" in screen.problem
        await pilot.press("tab", "shift+tab", "!")
        assert screen.query_one("#note", TextLine).value == "my words!"
        await done(app, pilot, until)


async def test_silence(life: Any, shown: Shown, until: Until) -> None:
    """s begins with the narrowest matchers and shows what they match while one types; without a reason nothing is done."""
    app = life.app(author="anna")
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        app.go_to("alerts")
        await shown(pilot)
        number = first_alert(app).alert
        screen = await form(app, pilot, until, "s")
        lines = screen.query_one("#lines", LinesView)
        await until(pilot, lambda: any("Would silence this alert" in line.text for line in lines.lines))
        await pilot.press("enter")
        await until(pilot, lambda: "write why" in screen.problem)
        screen.query_one("#matchers", TextLine).value = "severity=critical"
        await until(pilot, lambda: any("Would silence these" in line.text for line in lines.lines))
        screen.query_one("#matchers", TextLine).value = "rul=X"
        await until(pilot, lambda: any("no alert has the label rul" in line.text for line in lines.lines))
        screen.query_one("#matchers", TextLine).value = "severity=critical"
        await pilot.press(*"batch run")
        await done(app, pilot, until)
        (made,) = actions(life).silences
        assert (made.author, made.reason, made.ends - made.starts) == ("anna", "batch run", 2 * HOUR)
        frame = frame_of(life, FrameRequest(OVERVIEW))
        alert = frame.alert_numbered(number)
        assert alert is not None
        assert not frame.handled.asks(alert)
        app.go_to("silences")
        await shown(pilot)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, FormScreen))
        await done(app, pilot, until)
        assert actions(life).silences[0].ends == made.ends + 2 * HOUR
        await form(app, pilot, until, "u")
        await until(pilot, lambda: app.screen._found is not None)
        await done(app, pilot, until)
        assert actions(life).silences[0].ends == life.now


async def test_maintenance(life: Any, shown: Shown, until: Until) -> None:
    """m plans a silence of the queue manager under the cursor; it does not begin at once because a field was left empty."""
    app = life.app(author="anna")
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        screen = await form(app, pilot, until, "m")
        await pilot.press("enter")
        await until(pilot, lambda: bool(screen.problem))
        assert isinstance(app.focused, TextLine)
        assert app.focused.id == "begins"
        await pilot.press(*"3h", "tab", "tab", *"upgrade")
        await done(app, pilot, until)
        (made,) = actions(life).silences
        assert (made.starts, made.ends) == (life.now + 3 * HOUR, life.now + 5 * HOUR)
        assert str(made.matchers[0]).startswith("queue_manager=QM")
        assert frame_of(life, FrameRequest(OVERVIEW)).handled.asks(
            frame_of(life, FrameRequest(OVERVIEW)).status.alerts[0]
        )


async def test_nothing_to_act_on(life: Any, shown: Shown, until: Until) -> None:
    """Where the cursor is on no alert the screen says where alerts are; keys of actions do nothing else there."""
    app = life.app(author="anna")
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        app.go_to("queues")
        await shown(pilot)
        await pilot.press("a")
        await until(pilot, lambda: len(app._notifications) == 1)
        assert isinstance(app.screen, MainScreen)


def test_other_screens_see_it(life: Any) -> None:
    """An action changes what the next look at the store finds, though no poll came; without one nothing is read again."""
    posted: list[Message] = []
    feed = Feed(life.store, life.judging, lambda: life.now, posted.append, cpu_s=lambda: 0.0)
    feed._check()
    feed._check()
    assert len(posted) == 1
    with ActionClient.open(life.store, "ben") as client:
        client.add_silence((parse_matcher("severity=critical"),), "known", life.now, life.now + HOUR, life.now)
    feed._check()
    feed._close()
    assert len(posted) == 2
    last = posted[-1]
    assert isinstance(last, FrameLoaded)
    frame = last.read.frame
    critical = [each for each in frame.status.alerts if each.severity is Severity.CRITICAL]
    assert critical
    assert not any(map(frame.handled.asks, critical))


def test_a_costly_look_waits_until_the_store_rests(life: Any) -> None:
    """The snapshots of a large group come one after another: it is read once they have all come, or after some waits."""
    posted: list[Message] = []
    ticks = count(0, COSTLY_S)
    feed = Feed(life.store, life.judging, lambda: life.now, posted.append, cpu_s=lambda: next(ticks))

    def act() -> None:
        with ActionClient.open(life.store, "ben") as client:
            client.add_silence((parse_matcher("severity=critical"),), "known", life.now, life.now + HOUR, life.now)

    feed._check()
    act()
    feed._check()
    assert len(posted) == 1
    feed._check()
    assert len(posted) == 2
    looks = 0
    while len(posted) == 2:
        act()
        feed._check()
        looks += 1
        assert looks < 20
    feed._close()
    assert looks > 2


@pytest.mark.parametrize("every", [0, 1, 2, 3])
def test_what_nobody_has_acknowledged_is_bold_on_every_list(life: Any, every: int) -> None:
    """Of every open alert one of ``every`` is acknowledged: at any width the others are bold and marked, and it is plain."""
    frame = frame_of(life, FrameRequest(ALERTS))
    opened = [each for each in frame.alerts if each.ended is None and each.kind_of_rule == RuleKind.OPERATIONAL.value]
    numbers = sorted(frame.handled.number(each) for each in opened)
    assert len(numbers) >= 3
    chosen = set(numbers[::every]) if every else set()
    with ActionClient.open(life.store, "anna") as client:
        for number in chosen:
            client.acknowledge(number, life.now)
    objects = {each.scope for each in opened} | {ObjectName(each.scope.owner, "queue_manager") for each in opened}
    requests = [FrameRequest(OVERVIEW), FrameRequest(ALERTS), *(FrameRequest(DETAIL, name=each) for each in objects)]
    frames = [frame_of(life, request) for request in requests]
    for width in (79, 119, 199):
        seen = set()
        for each in frames:
            heads: dict[int, Line] = {}
            for line in lines_of(each, width):
                if line.alert in numbers:
                    heads.setdefault(line.alert, line)
            seen |= set(heads)
            for number, line in heads.items():
                bold = number not in chosen
                assert line.spans[0].bold is bold, line.text
                assert (f" {NEW} " in line.text[:14]) is bold, line.text
        assert seen == set(numbers), width


def test_worse_asks_anew_and_what_ended_stays_until_seen(life: Any) -> None:
    """An acknowledgement of a milder alert does not hold; an alert that ended stays new until somebody acknowledged it."""
    frame = frame_of(life, FrameRequest(ALERTS))
    ended = [each for each in frame.alerts if each.ended is not None and each.worst >= Severity.WARNING]
    for alert in [each for each in ended if each.kind_of_rule == RuleKind.OPERATIONAL.value]:
        assert frame.handled.asks(alert)
        with ActionClient.open(life.store, "anna") as client:
            client.acknowledge(frame.handled.number(alert), life.now)
        assert not frame_of(life, FrameRequest(ALERTS)).handled.asks(alert)


async def test_bell(life: Any, shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """A critical alert that was not there before rings once; those of the first frame and known ones do not."""
    app = life.app(settings=Settings(tui=TuiSettings(bell=True)))
    rung: list[int] = []
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        monkeypatch.setattr(app, "bell", lambda: rung.append(1))
        frame = frame_of(life, FrameRequest(OVERVIEW))
        app._ring(frame)
        assert not rung
        app._known = frozenset()
        app._ring(frame)
        app._ring(frame)
        assert len(rung) == 1
