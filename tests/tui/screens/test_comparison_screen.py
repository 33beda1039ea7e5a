"""Two moments compared on the screen: which are offered, and what the keys lead to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from textual.pilot import Pilot

from mqvitals_agent.store.rows.tables import LAST_MOMENT
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.screens.comparison_screen import ComparisonScreen, others
from mqvitals_tui.screens.detail_screen import DetailScreen
from mqvitals_tui.screens.lines_screen import LinesScreen

Lives = Callable[[str], Any]
Until = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]
SIZE = (120, 40)
NOW, HOUR = 1795176590000, 3_600_000
POOL = ObjectName("QM01", "buffer_pool", "3")


def test_which_moments_are_offered() -> None:
    """The mark, where one was made elsewhere, then the day before the moment, as on the page of an object; in the past now
    is next."""
    day = 24 * HOUR
    live = others(None, NOW, None)
    assert [each.ts for each in live] == [NOW - day, NOW - HOUR, NOW - 7 * day]
    assert others(None, NOW, NOW - 5)[0] == ("the mark", NOW - 5)
    then = NOW - HOUR
    assert [each.ts for each in others(then, NOW, then)] == [then - day, LAST_MOMENT, then - HOUR, then - 7 * day]
    assert [each.ts for each in others(then, NOW, NOW - 5)][:3] == [NOW - 5, then - day, LAST_MOMENT]


def _compared(app: Any) -> Callable[[], bool]:
    def seen() -> bool:
        screen = app.screen
        return isinstance(screen, ComparisonScreen) and screen.frame is not None and screen.frame.comparison is not None

    return seen


async def _cycles_back(app: Any, pilot: Any, until: Until, count: int) -> int:
    """The moment that ``count`` steps lead to, ms UTC; each step is taken before the next key is pressed."""
    news = app._screen_context.news
    for _ in range(count):
        before = news.at
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: news.at != before)  # noqa: B023 - used at once
    assert news.at is not None
    return int(news.at)


async def test_the_past_is_compared_with_now(lives: Lives, until: Until) -> None:
    """``=`` in the past compares with the day before it, with both times as titles, again ``=`` with now: what is different
    comes first, and Enter opens it as of then."""
    app = lives("incident").app()
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app._screen_context.news.newest is not None)
        at = await _cycles_back(app, pilot, until, 12)
        await pilot.press("equals_sign")
        await until(pilot, _compared(app))
        found = app.screen.frame.comparison
        assert found.now - found.then >= 24 * HOUR - 60_000
        assert found.now == at
        await pilot.press("equals_sign")
        await until(pilot, _compared(app))
        found = app.screen.frame.comparison
        assert found.name is None
        assert found.then == at < found.now
        assert " now " in next(each.text for each in app.screen.lines.lines if "difference" in each.text)
        assert found.differences
        assert "compared with now" in app.screen.query_one("#trail").text
        lines = app.screen.lines.lines
        first = next(each for each in lines if each.key)
        assert first.key == str(found.differences[0].name)
        await pilot.press("home", "enter")
        await until(pilot, lambda: isinstance(app.screen, DetailScreen))
        assert app.screen.trail[-1] == "compared"


async def test_a_mark_and_the_next_choice(lives: Lives, until: Until) -> None:
    """M marks a moment, and = goes from one choice to the next and round again; Esc leads back."""
    app = lives("incident").app()
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app._screen_context.news.newest is not None)
        await pilot.press("left_square_bracket", "left_square_bracket")
        await until(pilot, lambda: app._screen_context.news.at is not None)
        marked = app._screen_context.news.at
        await pilot.press("M", "l")
        await until(pilot, lambda: app._screen_context.news.at is None)
        app.open_object(POOL)
        await until(pilot, lambda: isinstance(app.screen, DetailScreen) and app.screen.frame is not None)
        await pilot.press("equals_sign")
        await until(pilot, _compared(app))
        found = app.screen.frame.comparison
        assert (found.name, found.then) == (POOL, marked)
        said = []
        for _ in range(4):
            said.append(app.screen.query_one("#trail").text.rpartition("compared with ")[2])
            await pilot.press("equals_sign")
            await until(pilot, _compared(app))
        assert said == ["the mark", "the same time yesterday", "an hour before", "the same time last week"]
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, DetailScreen))
        assert not isinstance(app.screen, LinesScreen)
