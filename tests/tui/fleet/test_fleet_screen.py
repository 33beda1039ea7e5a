"""The screen of the fleet: ten groups on one screen, what its keys do, and that one slow group holds up no key."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from mqsamples.fleet import NOW, STATUSES, Sent, active, document, sources, standby
from mqvitals_agent.fleet.sources import FleetSource, FleetWatch, sources_of
from mqvitals_agent.text.terminal import cells
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.fleet import FleetGroupSettings
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_tui.app import MqvitalsApp
from mqvitals_tui.keys import APP, FLEET, FLEET_COMMON, FLEET_GROUP, MOVES, key_names
from mqvitals_tui.screens.detail_screen import DetailScreen
from mqvitals_tui.screens.fleet_screen import FleetScreen, RemoteGroupScreen, WatchScreen
from mqvitals_tui.screens.help_screen import HelpScreen, help_lines
from mqvitals_tui.screens.main_screen import MainScreen
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import Banner, StatusBar

GOLDENS = Path(__file__).parents[1] / "goldens"
SIZES = ((80, 24), (120, 40), (200, 60))

Until = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]
Text = Callable[[App[Any]], str]
Golden = Callable[[Path, str], str]
Lives = Callable[[str], Any]
Shown = Callable[[Pilot[None]], Awaitable[None]]


def watching(found: list[Any], now: Callable[[], int] = lambda: NOW) -> FleetWatch:
    """A watch that reads each source once."""
    typed: list[FleetSource] = found
    return FleetWatch(typed, now, 3_600)


def over(judging: RuleConfig, watch: FleetWatch, now: Callable[[], int] = lambda: NOW) -> MqvitalsApp:
    """The interface that begins with the fleet."""
    return MqvitalsApp(None, judging, now, machine=now, fleet=watch)


def read(watch: FleetWatch) -> bool:
    """Whether each group was read, or could not be."""
    return all(each.read_at is not None or each.problem for each in watch.groups())


def lines(app: App[Any]) -> list[str]:
    """The lines of the screen on top, but header and keys."""
    return [line.text.rstrip() for line in app.screen.query_one(LinesView).lines]


def under_cursor(app: App[Any]) -> str:
    """The line under the cursor."""
    line = app.screen.query_one(LinesView).cursor_line
    return "" if line is None else line.text


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_ten_groups_on_one_screen(
    judging: RuleConfig, until: Until, screen_text: Text, golden: Golden, size: tuple[int, int]
) -> None:
    """Sixty queue managers in ten groups, the worst first, and below them what to do about the first."""
    watch = watching(sources())
    app = over(judging, watch)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: read(watch) and len(lines(app)) > 12)
        text = screen_text(app)
    rows = text.split("\n")
    assert max(map(cells, rows)) <= size[0]
    assert all(any(row[2:].find(f"PRD{letter}") > 0 for row in rows[:14]) for letter in "ABCDEFGHIJ")
    difference = golden(GOLDENS / f"fleet-{size[0]}x{size[1]}.txt", f"{text}\n")
    assert not difference, difference


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_page_of_a_group_elsewhere(
    judging: RuleConfig, until: Until, screen_text: Text, golden: Golden, size: tuple[int, int]
) -> None:
    """Queue managers, alerts and what to do, as its agent says."""
    watch = watching(sources())
    app = over(judging, watch)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: read(watch) and "PRDA" in under_cursor(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RemoteGroupScreen) and bool(lines(app)))
        text = screen_text(app)
    assert max(map(cells, text.split("\n"))) <= size[0]
    difference = golden(GOLDENS / f"fleet-group-{size[0]}x{size[1]}.txt", f"{text}\n")
    assert not difference, difference


async def test_the_cursor_shows_the_group_below(judging: RuleConfig, until: Until) -> None:
    """The rows that are left are about the group under the cursor; one that cannot be read says what to do."""
    watch = watching(sources())
    app = over(judging, watch)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: read(watch) and "PRDA" in under_cursor(app))
        assert any("DISPLAY QSTATUS(PAYMENTS.IN)" in line for line in lines(app))
        await pilot.press("j", "j", "j", "j", "j", "j")
        await until(pilot, lambda: "PRDJ" in under_cursor(app))
        assert any("No route to host" in line for line in lines(app)[12:])
        assert any("to do: is its agent running" in line for line in lines(app)[12:])


async def test_ages_count_on_and_nothing_stale_is_green(judging: RuleConfig, until: Until) -> None:
    """When nothing new comes, every group becomes unknown by itself."""
    now = [NOW]
    watch = watching(sources(), lambda: now[0])
    app = over(judging, watch, lambda: now[0])
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: read(watch) and any("✓ OK" in line for line in lines(app)))
        now[0] += 10_000
        await until(pilot, lambda: any(line.endswith("14s") for line in lines(app)))
        now[0] += 50_000
        await until(pilot, lambda: not any("✓" in line for line in lines(app)))
        assert all("? UNKNOWN" in line for line in lines(app)[1:11])
        assert "✓ 0 OK" in app.screen.query_one("#header", Banner).text


async def test_a_group_that_hangs_holds_up_no_key(judging: RuleConfig, until: Until) -> None:
    """While it is asked, the others are there and keys work."""

    class Hanging(Sent):
        async def document(self) -> object:
            await asyncio.Event().wait()
            return None

    key = "https://mqa.example.com:9157"
    watch = watching([Hanging("https://mqz.example.com:9157", "", "HANGS"), Sent(key, document(STATUSES[key]()))])
    app = over(judging, watch)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "PRDA" in "".join(lines(app)))
        assert any("HANGS" in line and "asking" in line for line in lines(app))
        await pilot.press("home", "enter")
        await until(pilot, lambda: isinstance(app.screen, RemoteGroupScreen))
        await pilot.press("escape", "end", "enter")
        await until(pilot, lambda: isinstance(app.screen, RemoteGroupScreen) and "HANGS" in "".join(lines(app)))


async def test_two_agents_are_one_line_through_a_takeover(judging: RuleConfig, until: Until) -> None:
    """The page of the group stays that of the group, whichever agent is active."""
    one = Sent("https://mqh1.example.com:9157", document(active()))
    other = Sent("https://mqh2.example.com:9157", document(standby()))
    watch = FleetWatch([one, other], lambda: NOW, 0.02)
    app = over(judging, watch)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: any("mqh1 active, mqh2 standby" in line for line in lines(app)))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RemoteGroupScreen) and "✓ OK" in "".join(lines(app)))
        one.answer, other.answer = "https://mqh1.example.com:9157 did not answer within 5s", document(active())
        await until(pilot, lambda: "? UNKNOWN  PRDH  one of its agents cannot be read" in lines(app)[0])
        assert any("did not answer within 5s" in line for line in lines(app))


def local(store: Path, name: str) -> FleetGroupSettings:
    """A store of this machine."""
    return FleetGroupSettings(store=LocatedText(str(store), Place("")), name=LocatedText(name, Place("")))


async def test_into_a_local_group_and_back(
    lives: Lives, judging: RuleConfig, until: Until, shown: Shown, tmp_path: Path
) -> None:
    """Enter leads to the group's own screens, with all their keys; F leads back to the line of that group, from everywhere."""
    ill, well = lives("incident"), lives("quiet")
    now = [ill.now]
    groups = [local(ill.store, "ILL"), local(well.store, "WELL"), local(tmp_path / "none.db", "NONE")]
    watch = FleetWatch(sources_of(groups, Settings(), lambda: now[0]), lambda: now[0], 3_600)
    app = over(judging, watch, lambda: now[0])
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(watch) and "ILL" in under_cursor(app))
        assert "● CRITICAL" in under_cursor(app)
        assert app.screen_stack[1:] == [app.screen]
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        await shown(pilot)
        assert app.store == ill.store
        assert app._main.frame is not None
        assert app._main.frame.status.health.word == "critical"
        await pilot.press("8")
        await shown(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, DetailScreen))
        await pilot.press("F")
        await until(pilot, lambda: isinstance(app.screen, FleetScreen) and "ILL" in under_cursor(app))
        await pilot.press("escape")
        assert isinstance(app.screen, DetailScreen)
        await pilot.press("F", "end", "enter")
        # The last line is that of the one without alerts, whose feed takes the place of the other's.
        await until(pilot, lambda: isinstance(app.screen, MainScreen) and app.store == well.store)
        await shown(pilot)
        assert app._main.frame is not None
        assert app._main.frame.status.health.word == "ok"
        assert len([each for each in app.screen_stack if isinstance(each, MainScreen | FleetScreen)]) == 1
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, FleetScreen) and "WELL" in under_cursor(app))
        feed = app._feed
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        assert app._feed is feed


async def test_a_store_that_is_missing_opens_and_waits(judging: RuleConfig, until: Until, tmp_path: Path) -> None:
    """Its own screen says what is missing; what was asked of the group before is not shown for it."""
    watch = FleetWatch(sources_of([local(tmp_path / "none.db", "NONE")], Settings(), lambda: NOW), lambda: NOW, 3_600)
    app = over(judging, watch)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: read(watch) and "NONE" in under_cursor(app))
        await pilot.press("enter")
        await until(
            pilot,
            lambda: (
                isinstance(app.screen, MainScreen)
                and "it does not exist yet" in " ".join(app.screen.query_one("#header", Banner).text.split())
            ),
        )


async def test_from_the_screens_of_a_store(lives: Lives, until: Until, shown: Shown) -> None:
    """F shows the fleet over what is there, and Esc leads back to it; without a fleet it says how to have one."""
    life = lives("quiet")
    found = sources()
    watch = watching(found)
    app = life.app(fleet=watch)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        assert "F fleet" in app.screen.query_one("#keys", StatusBar).text
        assert not any(each.asked for each in found)
        await pilot.press("3", "F")
        await until(pilot, lambda: isinstance(app.screen, FleetScreen) and read(watch))
        assert all(each.asked == 1 for each in found)
        await pilot.press("escape")
        assert isinstance(app.screen, MainScreen)
        assert app._main.tab.id == "queues"
        await pilot.press("escape", "escape")
        assert isinstance(app.screen, MainScreen)
    alone = life.app()
    async with alone.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        assert "F fleet" not in alone.screen.query_one("#keys", StatusBar).text
        await pilot.press("F")
        await until(pilot, lambda: any("There is no fleet" in each.message for each in alone._notifications))
        assert isinstance(alone.screen, MainScreen)


async def test_keys_are_explained(judging: RuleConfig, until: Until) -> None:
    """The help of both screens names each key that works there, and no other; the last line fits."""
    watch = watching(sources())
    app = over(judging, watch)
    async with app.run_test(size=(60, 24)) as pilot:
        await until(pilot, lambda: read(watch) and "PRDA" in under_cursor(app))
        for screen, own in ((FleetScreen, ()), (RemoteGroupScreen, FLEET_GROUP)):
            assert isinstance(app.screen, screen)
            assert isinstance(app.screen, WatchScreen)
            bar = app.screen.query_one("#keys", StatusBar).text
            assert cells(bar) <= 60
            assert "? help" in bar
            assert "q quit" in bar
            words = " ".join(
                " ".join(line.text for line in help_lines(app.screen.help_groups(), 80, app.screen.everywhere)).split()
            )
            for binding in (*own, *FLEET_COMMON, *MOVES, *APP):
                assert " ".join(binding.tooltip.split()) in words
                assert all(each in words for each in key_names(binding).split())
            assert "Go to the screen" not in words
            await pilot.press("f1")
            await until(pilot, lambda: isinstance(app.screen, HelpScreen))
            await pilot.press("escape", "Z", "T", "enter")
            await until(pilot, lambda: isinstance(app.screen, RemoteGroupScreen))
    assert len({each.id for each in (*FLEET, *FLEET_GROUP, *FLEET_COMMON, *MOVES)}) == len(
        (*FLEET, *FLEET_GROUP, *FLEET_COMMON, *MOVES)
    )


async def test_names_are_data(judging: RuleConfig, until: Until, screen_text: Text) -> None:
    """Names and words from elsewhere are no markup, move nothing and keep their column."""
    hostile = "\x1b[2J[red]漢漢漢漢漢漢漢漢\u202e[/x]"
    key = "https://mqa.example.com:9157"
    found = document(STATUSES[key]())
    found["group"] = hostile
    for each in (*found["queue_managers"], *found["groups"]):
        each["name"] = hostile
    for each in found["alerts"]:
        each.update(
            summary=hostile * 9, rule=hostile, object=hostile, queue_manager=hostile, advice=hostile, mqsc=hostile
        )
    watch = watching([Sent(key, found), Sent("https://b:1", hostile)])
    for size in ((40, 12), (80, 24), (200, 60)):
        app = over(judging, watch)
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda app=app: read(watch) and "[red]" in screen_text(app))  # type: ignore[misc]
            for keys in (("j", "k"), ("enter",)):
                await pilot.press(*keys)
                text = screen_text(app)
                assert all(row.isprintable() for row in text.split("\n"))
                assert max(map(cells, text.split("\n"))) <= size[0]


async def test_sizes(judging: RuleConfig, until: Until, screen_text: Text) -> None:
    """From small to large every line fits; below the least size it says so and counts all the same."""
    watch = watching(sources())
    app = over(judging, watch)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: read(watch) and "PRDA" in under_cursor(app))
        for width, height in ((39, 9), (40, 10), (50, 12), (100, 15), (160, 50)):
            await pilot.resize_terminal(width, height)
            await until(pilot, lambda w=width: app.screen.size.width == w)  # type: ignore[misc]
            await until(pilot, lambda: "● 2" in app.screen.query_one("#header", Banner).text)
            text = screen_text(app)
            assert max(map(cells, text.split("\n"))) <= width
            assert ("too small" in text) == (width < 40)
