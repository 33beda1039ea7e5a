"""The overview uses the rows that it has: texts in full, then panels; on a small terminal the essentials stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.journal import JournalEntry
from mqvitals_agent.text.styled import Line, is_heading
from mqvitals_agent.text.terminal import ELLIPSIS, cells
from mqvitals_agent.view.alerts.words import object_key
from mqvitals_agent.view.frame import ALERTS, OVERVIEW, Frame, FrameRequest, read_frame
from mqvitals_agent.view.screens.alerts import alert_lines
from mqvitals_agent.view.screens.overview.page import overview_lines
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.journal import EntryKind
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import Banner

Lives = Callable[[str], Any]
CHROME = 3
"""Rows that are no part of the text: the header, the tabs, the keys."""


def frame_of(life: Any) -> Frame:
    with StoreReader.open(life.store) as reader:
        return read_frame(reader, life.now, FrameRequest(OVERVIEW), life.judging)


@pytest.fixture
def lines(lives: Lives) -> Callable[[str, int, int], tuple[Line, ...]]:
    """The text of the overview on a terminal of a size, in a state."""

    def of(state: str, width: int, height: int) -> tuple[Line, ...]:
        return overview_lines(frame_of(lives(state)), width - 1, height - CHROME)

    return of


def test_no_text_is_cut_while_rows_are_free(lives: Lives, lines: Callable[[str, int, int], tuple[Line, ...]]) -> None:
    """At 120x40 every alert that fits is there in full: a row is cut only where no row was left for the rest of it."""
    life = lives("incident")
    for height in range(20, 60):
        shown = lines("incident", 120, height)
        alerts = [each for each in shown if each.alert]
        cut = [each for each in alerts if each.text.rstrip().endswith(ELLIPSIS)]
        free = height - CHROME - len(shown)
        assert not cut or free <= 2, height
        panels = [each for each in shown if each.parts and not each.parts[0].at]
        assert not cut or not panels, height
    words = " ".join(" ".join(each.text for each in lines("incident", 120, 60)).split())
    for alert in frame_of(life).status.alerts:
        assert alert.key.rule in words


@pytest.mark.parametrize(("width", "height"), [(200, 60), (120, 40)])
def test_an_incident_fills_the_screen(
    lines: Callable[[str, int, int], tuple[Line, ...]], width: int, height: int
) -> None:
    """At most a quarter of the rows is empty, and no line is wider than the screen."""
    shown = lines("incident", width, height)
    used = [each for each in shown if each.text.strip()]
    assert len(shown) <= height - CHROME or not any(each.parts and not each.parts[0].at for each in shown)
    assert len(used) + CHROME >= 0.75 * height
    assert max(cells(each.text) for each in shown) < width


def test_the_essentials_stay_on_a_small_terminal(
    lives: Lives, lines: Callable[[str, int, int], tuple[Line, ...]]
) -> None:
    """At 80x24: each queue manager with its state and why, and the worst alert with what to do and what to type."""
    frame = frame_of(lives("incident"))
    text = [each.text for each in lines("incident", 80, 24)][: 24 - CHROME]
    for member in frame.status.queue_managers:
        row = next(each for each in text if f"  {member.name} " in f"{each} " and str(member.health) in each[:12])
        mine = [each for each in frame.status.alerts if member.name in (each.key.object.owner, each.scope.owner)]
        assert not mine or mine[0].key.rule in row
    assert frame.status.alerts[0].key.rule in "\n".join(text)
    assert any("to do:" in each for each in text)


def test_without_a_size_nothing_is_filled(lives: Lives) -> None:
    """Where it is not known how many rows are in sight, there are the essentials."""
    frame = frame_of(lives("incident"))
    assert len(overview_lines(frame, 119)) < len(overview_lines(frame, 119, 57))


def test_the_journal_takes_the_rows_that_panels_leave(lives: Lives) -> None:
    """Where all panels are whole and rows are free, more of the last minutes is shown, and no leader gives way."""
    life = lives("quiet")
    frame = frame_of(life)
    states = [
        JournalEntry(life.now - 1000 * n, EntryKind.STATE, ObjectName("QM01", "channel", f"C{n}"), "status", 3, 5)
        for n in range(60)
    ]
    frame = replace(frame, journal=tuple(reversed(states)))

    def recent(height: int) -> int:
        return sum(" QM01 C" in each.text for each in overview_lines(frame, 199, height))

    layers = (frame.leaders[at : at + 3] for at in range(0, len(frame.leaders), 3))
    whole = sum(1 + max(len(board.leaders) for board in layer) for layer in layers)
    least = next(height for height in range(20, 90) if recent(height) > 8)
    shown = overview_lines(frame, 199, least)
    titles = [place for place, each in enumerate(shown) if is_heading(each) and each.text.startswith("The last 15")]
    assert len(shown) - titles[0] - 1 - recent(least) >= whole
    assert [recent(least + more) for more in range(5)] == [9, 10, 11, 12, 13]


def test_panels_open_what_they_show(lives: Lives) -> None:
    """Each row of each panel leads to its own object."""
    frame = frame_of(lives("incident"))
    panels = [each for each in overview_lines(frame, 199, 57) if each.parts and not each.parts[0].at]
    names = {str(leader.name) for board in frame.leaders for leader in board.leaders}
    keys = {part.key for each in panels for part in each.parts}
    assert keys <= names
    assert len(keys) >= 10
    for each in panels:
        for part in each.parts:
            shown = each.text[part.begin : part.end]
            assert part.key.rpartition("/")[2][:8] in shown, shown


def test_the_strip_leads_to_its_moments(lives: Lives) -> None:
    """Each cell with data leads to the end of its time, the last one to now or a little later; a hole leads nowhere."""
    life = lives("incident")
    frame = frame_of(life)
    for each in overview_lines(frame, 199, 57):
        if each.parts and each.parts[0].at:
            moments = [part.at for part in each.parts]
            assert moments == sorted(set(moments))
            assert abs(moments[-1] - life.now) <= 3 * frame.heat.step_ms
            assert all(each.text[part.begin : part.end].strip() for part in each.parts)


def test_advice_is_counted_by_rule(lives: Lives) -> None:
    """``CHL-05 x20`` says more than that there is advice."""
    (line,) = (each.text for each in overview_lines(frame_of(lives("quiet")), 199) if "of advice" in each.text)
    assert " x" in line


@pytest.mark.parametrize("tab", ["overview", "alerts"])
async def test_a_strip_leads_into_the_past(lives: Lives, shown: Any, until: Any, tab: str) -> None:
    """Left enters a strip at its newest cell; the last line says where Enter leads, and then all screens are there."""
    app = lives("incident").app()
    async with app.run_test(size=(160, 40)) as pilot:
        await shown(pilot)
        app.go_to(tab)
        await shown(pilot)
        view = app.screen.query_one("#lines", LinesView)
        await pilot.press("home", "left", "left", "left")
        part = view.chosen_part
        assert part is not None
        await until(pilot, lambda: "as of" in app.screen.query_one("#keys", Banner).text)
        assert app.screen.chosen_moment == part.at
        await pilot.press("enter")
        # It ends with the cycle of that second.
        await until(pilot, lambda: app.screen.frame is not None and app.screen.frame.request.at is not None)
        assert abs(app.screen.frame.request.at - part.at) <= 2_000
        assert "AS OF" in app.screen.query_one("#header", Banner).text
        await pilot.press("l")
        await until(pilot, lambda: app.screen.frame is not None and app.screen.frame.request.at is None)


@pytest.mark.parametrize(("width", "least"), [(199, 5), (119, 1), (79, 0)])
def test_alerts_have_strips(lives: Lives, width: int, least: int) -> None:
    """Each where there is room: none is cut for it, and no line is wider than the screen."""
    life = lives("incident")
    with StoreReader.open(life.store) as reader:
        frame = read_frame(reader, life.now, FrameRequest(ALERTS), life.judging)
    shown = alert_lines(frame, width)
    strips = [each for each in shown if each.parts and each.parts[0].at]
    assert len(strips) >= least
    assert max(cells(each.text) for each in shown) <= width
    for each in strips:
        for part in each.parts:
            assert part.at <= life.now
            assert each.text[part.begin : part.end].strip()


@pytest.mark.parametrize("width", [79, 119, 199])
def test_advice_is_grouped_by_rule(lives: Lives, width: int) -> None:
    """A rule with many objects has one text and its objects below, each of which opens; none is lost."""
    life = lives("quiet")
    with StoreReader.open(life.store) as reader:
        frame = read_frame(reader, life.now, FrameRequest(ALERTS), life.judging)
    advice = [each for each in frame.alerts if each.kind_of_rule != "operational"]
    shown = alert_lines(frame, width)
    assert any(" x" in each.text and each.key for each in shown)
    assert max(cells(each.text) for each in shown) <= width
    keys = {part.key for each in shown for part in each.parts if not part.at} | {each.key for each in shown}
    assert {object_key(each) for each in advice} <= keys
    assert len(shown) < len(advice)
    for each in shown:
        for part in each.parts:
            assert part.end <= cells(each.text)
            assert part.at or part.key.partition("/")[0] in each.text[part.begin : part.end]
