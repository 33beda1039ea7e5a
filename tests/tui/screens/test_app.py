"""The whole interface over a store: its keys, its ways, its looks, and what it says when there is nothing to read."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input

from mqsamples.group import BEGIN
from mqsamples.patience import PATIENCE_S
from mqvitals_agent.store.writer import Store
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.app import MqvitalsApp
from mqvitals_tui.screens import frame_screen
from mqvitals_tui.screens.detail_screen import DetailScreen
from mqvitals_tui.screens.help_screen import HelpScreen
from mqvitals_tui.screens.main_screen import MainScreen
from mqvitals_tui.tabs import ROW, tab_row
from mqvitals_tui.themes import THEMES
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.virtual_table import VirtualTable

NOW = BEGIN + 205_000
"""9 s after the recording's last snapshot."""
SIZES = [(80, 24), (120, 40)]
"""The goldens are of the last."""
GOLDENS = Path(__file__).parents[1] / "goldens"

Text = Callable[[App[Any]], str]


@pytest.fixture(scope="session")
def incident(replayed: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store into which the recording of an incident was played; the screens show where its samples came from."""
    return Path(shutil.copy(replayed("incident"), tmp_path_factory.mktemp("app") / "incident.db"))


@pytest.fixture
def make(judging: RuleConfig) -> Callable[..., MqvitalsApp]:
    """Makes the app over a store, at a moment that stands still."""
    return lambda store, **more: MqvitalsApp(store, judging, lambda: NOW, **more)


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Wait for it, but not for ever."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        await pilot.pause()
    await pilot.pause()


def main_screen(app: App[Any]) -> MainScreen:
    screen = app.screen
    assert isinstance(screen, MainScreen)
    return screen


def detail_screen(app: App[Any]) -> DetailScreen:
    screen = app.screen
    assert isinstance(screen, DetailScreen)
    return screen


def lines_of(app: App[Any]) -> LinesView:
    return app.screen.query_one("#lines", LinesView)


def table_of(app: App[Any]) -> VirtualTable:
    return app.screen.query_one("#table", VirtualTable)


async def begin(pilot: Pilot[None]) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, MainScreen) and lines_of(pilot.app).row_count > 0)


async def visit(pilot: Pilot[None], key: str) -> None:
    """A digit, and what it shows."""
    await pilot.press(key)

    def there() -> bool:
        screen = pilot.app.screen
        if not isinstance(screen, MainScreen) or screen.frame is None:
            return False
        views = [view for view in screen.query("#lines, #table") if view.display]
        return any(isinstance(view, CursorView) and view.row_count > 0 for view in views)

    await until(pilot, there)


async def opened(pilot: Pilot[None], name: str) -> None:
    await until(
        pilot,
        lambda: (
            isinstance(pilot.app.screen, DetailScreen)
            and str(pilot.app.screen.object_name) == name
            and pilot.app.screen.frame is not None
            and lines_of(pilot.app).row_count > 0
        ),
    )


@pytest.mark.parametrize("size", SIZES)
async def test_screens(
    incident: Path,
    make: Callable[..., MqvitalsApp],
    screen_text: Text,
    missing: Any,
    golden: Any,
    size: tuple[int, int],
) -> None:
    """The overview, a list, the alerts and a detail look as they were agreed, in a small terminal and a larger one."""
    app = make(incident)
    seen: dict[str, str] = {}
    async with app.run_test(size=size) as pilot:
        await begin(pilot)
        seen["overview"] = screen_text(app)
        assert not missing(app)
        await visit(pilot, "4")
        seen["storage"] = screen_text(app)
        assert not missing(app)
        await visit(pilot, "8")
        seen["alerts"] = screen_text(app)
        assert not missing(app)
        app.open_object(ObjectName("QM01", "buffer_pool", "3"))
        await opened(pilot, "QM01/buffer_pool/3")
        seen["detail"] = screen_text(app)
        assert not missing(app)
    assert all("past" in text.split("\n")[0] + text.split("\n")[1] for text in seen.values())
    if size != SIZES[-1]:
        return
    differing = [golden(GOLDENS / f"{name}.txt", f"{text}\n") for name, text in seen.items()]
    assert not any(differing), "\n".join(filter(None, differing))


async def test_every_tab_has_its_digit(incident: Path, make: Callable[..., MqvitalsApp], screen_text: Text) -> None:
    """Each digit leads to its screen, whose title is marked, and no screen writes beyond its width."""
    app = make(incident)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        for tab in ROW:
            await visit(pilot, tab.key)
            assert main_screen(app).tab is tab
            assert f"›{tab.key} {tab.short}" in screen_text(app)


async def test_drill_down_and_back(incident: Path, make: Callable[..., MqvitalsApp], screen_text: Text) -> None:
    """Enter opens what is under the cursor, and what belongs to that; Esc, F3 and F12 each go one step back."""
    app = make(incident)
    async with app.run_test(size=(120, 40)) as pilot:
        await begin(pilot)
        await visit(pilot, "3")
        for _ in range(2):
            await pilot.press("down")  # worse ones stand above it
        assert table_of(app).cursor_key == "QM02/queue/PAYMENTS.IN"
        await pilot.press("enter")
        await opened(pilot, "QM02/queue/PAYMENTS.IN")
        assert "Queues › QM02 PAYMENTS.IN" in screen_text(app)
        # The cursor is on the object's alert first.
        assert lines_of(app).cursor_key == "QM02/queue/PAYMENTS.IN"
        # Below card, charts and what to do stands what belongs to it.
        for _ in range(30):
            if lines_of(app).cursor_key != "QM02/page_set/3":
                await pilot.press("down")
        assert lines_of(app).cursor_key == "QM02/page_set/3"
        await pilot.press("enter")
        await opened(pilot, "QM02/page_set/3")
        assert "Queues › QM02 PAYMENTS.IN › QM02 page set 3" in screen_text(app)
        await pilot.press("escape")
        await opened(pilot, "QM02/queue/PAYMENTS.IN")
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        assert table_of(app).cursor_key == "QM02/queue/PAYMENTS.IN"
        await pilot.press("enter")
        await opened(pilot, "QM02/queue/PAYMENTS.IN")
        await pilot.press("f12")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        await pilot.press("f3")
        await until(pilot, lambda: main_screen(app).tab.id == "overview")


async def test_a_digit_leads_out_of_any_depth(incident: Path, make: Callable[..., MqvitalsApp]) -> None:
    """From an object opened from an object a digit goes straight to its screen."""
    app = make(incident)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        for name in ("3", "4"):
            app.open_object(ObjectName("QM01", "buffer_pool", name))
            await opened(pilot, f"QM01/buffer_pool/{name}")
        await visit(pilot, "2")
        assert main_screen(app).tab.id == "channels"
        assert len(app.screen_stack) == 2


async def test_filter(incident: Path, make: Callable[..., MqvitalsApp], screen_text: Text) -> None:
    """What is typed filters at once and stays with its list; Esc takes it away; keys typed into it do nothing else."""
    app = make(incident)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        await visit(pilot, "3")
        total = table_of(app).row_count
        await pilot.press("slash", *"qm02", "space", *"payments")
        await until(pilot, lambda: 0 < table_of(app).row_count < total)
        assert {item.name.owner for item in table_of(app).items} == {"QM02"}
        assert main_screen(app).tab.id == "queues"
        await pilot.press("enter")
        assert table_of(app).has_focus
        assert f" {table_of(app).row_count} of {total}" in screen_text(app)
        await visit(pilot, "2")
        assert not app.screen.query_one("#filter", Input).display
        await visit(pilot, "3")
        assert app.screen.query_one("#filter", Input).value == "qm02 payments"
        await pilot.press("escape")
        await until(pilot, lambda: table_of(app).row_count == total)
        await pilot.press("slash", *"zzz")
        await until(pilot, lambda: table_of(app).row_count == 0)
        assert "Nothing matches the filter" in screen_text(app)
        await pilot.press("escape")
        await visit(pilot, "8")
        await until(pilot, lambda: "WARNING" in "".join(line.text for line in lines_of(app).lines))
        await pilot.press("slash", *"severity:critical")
        await until(pilot, lambda: "WARNING" not in "".join(line.text for line in lines_of(app).lines))
        assert "CRITICAL" in "".join(line.text for line in lines_of(app).lines)


async def test_order(incident: Path, make: Callable[..., MqvitalsApp]) -> None:
    """Columns sort one after the other, either way round, and beyond the last the worst come first again."""
    app = make(incident)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        await visit(pilot, "3")
        first = table_of(app).items
        await pilot.press("greater_than_sign", "greater_than_sign")
        assert main_screen(app).sort == ("name", False)
        names = [item.name.name for item in table_of(app).items]
        assert names == sorted(names, key=str.casefold) or names == sorted(names)
        await pilot.press("r")
        assert main_screen(app).sort == ("name", True)
        await pilot.press("less_than_sign", "less_than_sign")
        assert main_screen(app).sort is None
        assert table_of(app).items == first
        await pilot.press("r")
        assert main_screen(app).sort is not None


async def test_chart_of_an_object(incident: Path, make: Callable[..., MqvitalsApp], screen_text: Text) -> None:
    """Keys change how far the chart reaches back, and what it shows."""
    app = make(incident)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        app.open_object(ObjectName("QM01", "buffer_pool", "3"))
        await opened(pilot, "QM01/buffer_pool/3")
        assert "free_pct" in screen_text(app)
        assert "the last 5 minutes, UTC" in screen_text(app)
        await pilot.press("minus")
        await until(pilot, lambda: "the last minute, UTC" in screen_text(app))
        await pilot.press("plus", "plus", "plus", "plus")
        await until(pilot, lambda: "the last hour, UTC" in screen_text(app))
        before = detail_screen(app).request.metric
        await pilot.press("greater_than_sign")
        await until(pilot, lambda: detail_screen(app).frame is not None and detail_screen(app).request.metric != before)
        detail = detail_screen(app)
        assert detail.frame is not None
        assert detail.frame.detail is not None
        assert detail.frame.detail.metric == detail.request.metric
        assert f" {detail.request.metric}" in screen_text(app)


async def test_copy(incident: Path, make: Callable[..., MqvitalsApp]) -> None:
    """The MQSC command to type next goes to the clipboard."""
    app = make(incident)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        app.open_object(ObjectName("QM02", "queue", "PAYMENTS.IN"))
        await opened(pilot, "QM02/queue/PAYMENTS.IN")
        await pilot.press("c")
        await pilot.pause()
        assert app.clipboard == "DISPLAY QSTATUS(PAYMENTS.IN) TYPE(HANDLE) ALL"


async def test_pages(incident: Path, make: Callable[..., MqvitalsApp]) -> None:
    """F8 and F7 page, as hands from 3270 expect."""
    app = make(incident)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        await visit(pilot, "2")
        await pilot.press("f8")
        assert table_of(app).cursor > 5
        await pilot.press("f7")
        assert table_of(app).cursor == 0


async def test_themes(incident: Path, make: Callable[..., MqvitalsApp]) -> None:
    """The theme that was asked for is there from the start, and the key goes round all of them."""
    app = make(incident, theme="mqvitals-light")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        seen = [app.theme]
        for _ in THEMES:
            await pilot.press("T")
            seen.append(app.theme)
        assert seen[0] == seen[-1] == "mqvitals-light"
        assert set(seen) == {theme.name for theme in THEMES}


async def test_help(incident: Path, make: Callable[..., MqvitalsApp], screen_text: Text) -> None:
    """The help shows the keys of the screen below it, and goes away as it came."""
    app = make(incident)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        for key, title in (("1", "Here: Overview"), ("2", "Here: Channels")):
            await visit(pilot, key)
            await pilot.press("question_mark")
            await until(pilot, lambda: isinstance(app.screen, HelpScreen) and lines_of(app).row_count > 0)
            assert title in screen_text(app)
            await pilot.press("question_mark")
            await until(pilot, lambda: isinstance(app.screen, MainScreen))


@pytest.mark.parametrize("tab", ROW)
def test_row_of_tabs(tab: Any) -> None:
    """All places are in the row at 80 columns, and where one is said to be its key stands."""
    row, where = tab_row(tab, 80)
    assert len(row.text) <= 80
    for begins, ends, name in where:
        expected = next(each for each in ROW if each.id == name)
        assert row.text[begins:ends].startswith(f"{expected.key} ")
    assert row.text.count("›") == 1


async def test_click_on_a_place(incident: Path, make: Callable[..., MqvitalsApp]) -> None:
    """The row of places takes clicks."""
    app = make(incident)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        x = next(begins for begins, _, name in tab_row(ROW[0], 80)[1] if name == "alerts")
        await pilot.click("#tabs", offset=(x, 0))
        await until(pilot, lambda: main_screen(app).tab.id == "alerts")


async def test_palette(incident: Path, make: Callable[..., MqvitalsApp]) -> None:
    """The palette finds an object by a part of its name and opens it."""
    app = make(incident)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        await pilot.press(*"qm02/queue/payments.in")
        await until(pilot, lambda: app.screen.query("CommandList").first().option_count == 1)  # type: ignore[attr-defined]
        await pilot.press("enter")
        if isinstance(app.screen, CommandPalette):
            await pilot.press("enter")
        await opened(pilot, "QM02/queue/PAYMENTS.IN")


async def test_no_store_yet(
    incident: Path, tmp_path: Path, make: Callable[..., MqvitalsApp], screen_text: Text
) -> None:
    """Without a store the screen waits and says so; when one comes it is shown without a keystroke."""
    store = tmp_path / "late.db"
    app = make(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Waiting for the store" in screen_text(app))
        made = tmp_path / "made.db"
        shutil.copy(incident, made)
        made.rename(store)
        await begin(pilot)
        assert "Waiting" not in screen_text(app)


async def test_empty_store(tmp_path: Path, make: Callable[..., MqvitalsApp], screen_text: Text) -> None:
    """Of a store without a snapshot every screen says that nothing was stored yet."""
    store = tmp_path / "empty.db"
    Store.open(store, group="PRDQSG").close()
    app = make(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "No data stored yet" in screen_text(app))
        for tab in ROW:
            await pilot.press(tab.key)
            await until(pilot, lambda: main_screen(app).frame is not None)
            assert "No data stored yet" in screen_text(app)
        assert "OK" not in screen_text(app)


async def test_damaged_store(
    incident: Path, tmp_path: Path, make: Callable[..., MqvitalsApp], screen_text: Text
) -> None:
    """A store that becomes unreadable is reported on top, and what was read before stays below."""
    store = tmp_path / "x.db"
    shutil.copy(incident, store)
    app = make(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        bad = tmp_path / "bad"
        bad.write_bytes(b"no store at all " * 100)
        bad.rename(store)
        await until(pilot, lambda: "x.db" in screen_text(app))
        assert "Queue managers" in screen_text(app)


async def test_vanished_store(
    incident: Path, tmp_path: Path, make: Callable[..., MqvitalsApp], screen_text: Text
) -> None:
    """A store that vanishes is missed on every screen, what was read stays, and when it returns all goes on by itself."""
    store = tmp_path / "x.db"
    shutil.copy(incident, store)
    app = make(store)

    def vanished() -> bool:
        # A long path breaks the line anywhere.
        return "the values are the last ones read" in " ".join(screen_text(app).split())

    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        store.rename(tmp_path / "away.db")
        await until(pilot, vanished)
        assert "Queue managers" in screen_text(app)
        await pilot.press("2")
        await until(pilot, vanished)
        (tmp_path / "away.db").rename(store)
        await until(pilot, lambda: not vanished() and table_of(app).row_count > 0)


@pytest.fixture
def live_incident(tmp_path: Path, incident: Path) -> Path:
    """The store of the incident as that of a running agent: it becomes stale."""
    store = tmp_path / "live.db"
    shutil.copy(incident, store)
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE meta SET value = 'live' WHERE key = 'mode'")
    return store


async def test_only_the_screen_on_top_wants_anything(
    live_incident: Path, judging: RuleConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a queue manager falls silent while an object is open, the object is read anew and not the list below it."""
    monkeypatch.setattr(frame_screen, "TICK_S", 0.03)
    moment = [NOW]
    app = MqvitalsApp(live_incident, judging, lambda: moment[0])
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        app.open_object(ObjectName("QM01", "buffer_pool", "3"))
        await opened(pilot, "QM01/buffer_pool/3")
        wanted: list[str] = []
        monkeypatch.setattr(app._feed, "request", lambda request: wanted.append(request.screen))
        moment[0] += 600_000
        await until(pilot, lambda: bool(wanted))
        await pilot.pause(0.1)
        assert set(wanted) == {"detail"}


async def test_only_the_screen_on_top_is_painted(
    incident: Path, make: Callable[..., MqvitalsApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below the detail of an object the list costs nothing; below the palette, where it is in sight, it goes on."""
    monkeypatch.setattr(frame_screen, "TICK_S", 0.03)
    app = make(incident)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        below, painted = main_screen(app), 0

        def paint() -> None:
            nonlocal painted
            painted += 1

        app.open_object(ObjectName("QM01", "buffer_pool", "3"))
        await opened(pilot, "QM01/buffer_pool/3")
        monkeypatch.setattr(below, "repaint", paint)
        monkeypatch.setattr(below, "repaint_header", paint)
        await pilot.pause(0.1)
        assert painted == 0
        await pilot.press("escape", "colon")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        painted = 0
        await until(pilot, lambda: painted > 3)


async def test_names_are_not_markup(incident: Path, make: Callable[..., MqvitalsApp], screen_text: Text) -> None:
    """An object whose name looks like markup is shown as it is."""
    app = make(incident)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        app.open_object(ObjectName("QM01", "queue", "[red]X[/red]"))
        await opened(pilot, "QM01/queue/[red]X[/red]")
        assert "[red]X[/red]" in screen_text(app)


async def test_freshness_ticks(
    live_incident: Path, judging: RuleConfig, screen_text: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ages grow with the clock although nothing new was stored, and a store that stands still is called stale."""
    monkeypatch.setattr(frame_screen, "TICK_S", 0.03)
    moment = [NOW]
    app = MqvitalsApp(live_incident, judging, lambda: moment[0])
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        assert "(9 s ago)" in screen_text(app)
        moment[0] += 5_000
        await until(pilot, lambda: "(14 s ago)" in screen_text(app))
        assert "stale" not in screen_text(app)
        moment[0] += 600_000
        await until(pilot, lambda: "stale: no new data for 10m" in screen_text(app))
        await visit(pilot, "2")
        assert "OK" not in screen_text(app)
