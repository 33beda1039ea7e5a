"""What a list of a few objects shows of the one under the cursor, where rows are free."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.text.styled import Line, Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.figures.table import Item
from mqvitals_agent.view.frame import LIST, Frame, FrameRequest, read_frame
from mqvitals_agent.view.lists.columns import STORAGE, STRUCTURES
from mqvitals_agent.view.screens.object.brief import LEAST_ROWS, brief_lines
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName

POOL = ObjectName("QM01", "buffer_pool", "3")


def of(frame: Frame, name: ObjectName = POOL) -> Item:
    return next(each for each in frame.items if each.name == name)


@pytest.fixture
def storage(stored: StoreReader, judging: RuleConfig) -> Frame:
    return read_frame(stored, stored.last_ts() or 0, FrameRequest(LIST, STORAGE), judging)


def text(lines: tuple[Line, ...]) -> str:
    return "\n".join(each.text for each in lines)


def test_an_ill_pool(storage: Frame) -> None:
    """Its alert, its figures with the threshold that is crossed, and the last hour in the colours of what it went through;
    of rules that fire nothing is left out."""
    lines = brief_lines(storage, of(storage), 120, 40)
    assert lines[0].text.startswith("QM01 buffer pool 3 ──")
    assert lines[1].text.startswith("  ● BP-03  ")
    assert lines[1].spans[0].tone is Tone.CRITICAL
    (free,) = (each for each in lines if each.text.startswith("  free_pct"))
    assert "4 %" in free.text
    assert "≤ 5 % ●" in free.text
    assert {Tone.CALM, Tone.CRITICAL} <= {span.tone for span in free.spans}
    assert "yesterday" not in text(lines)
    past = lines[[each.text.partition(" ─")[0] for each in lines].index("All of them, last 5m") + 1 :]
    assert past[0].text[:20] == "● QM01 buffer pool 3"


def test_a_threshold_that_asks_for_more_is_no_alarm(storage: Frame) -> None:
    """The rules' values that are reached while no rule holds stand in no colour, and none of them is shown."""
    data = replace(storage.data, alerts=())
    lines = brief_lines(replace(storage, data=data, status=replace(storage.status, firing=())), of(storage), 120, 40)
    (free,) = (each for each in lines if each.text.startswith("  free_pct"))
    assert "≤" not in free.text
    assert "no alert is open about it" in lines[1].text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(width=st.integers(20, 300), rows=st.integers(0, 60))
def test_it_keeps_to_its_place(storage: Frame, width: int, rows: int) -> None:
    """No wider and no longer than there is room, and nothing in it takes the cursor from what it is about."""
    lines = brief_lines(storage, of(storage), width, rows)
    assert len(lines) <= rows
    assert bool(lines) == (rows >= LEAST_ROWS)
    assert not any(each.is_stop for each in lines)
    assert all(cells(each.text) <= max(width, 40) for each in lines)


def test_what_fills_says_when_or_why_not(stored: StoreReader, judging: RuleConfig) -> None:
    """A structure at a level has no time until full, and says why."""
    frame = read_frame(stored, stored.last_ts() or 0, FrameRequest(LIST, STRUCTURES), judging)
    assert "no time until full" in text(
        brief_lines(frame, of(frame, ObjectName("PRDQSG", "cf_structure", "APPL1")), 100, 40)
    )


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_long_names_stay_apart(storage: Frame, width: int) -> None:
    """Of names that differ at their ends both ends are shown."""
    page_set = next(each for each in storage.items if each.name.kind == "page_set")
    twins = [page_set._replace(name=ObjectName("PRDQSG", "smds", f"STRUCTURE{n}/QM0{n}")) for n in (1, 2)]
    points = {"used_pct": ((storage.now - 60_000, 3.0), (storage.now, 4.0))}
    frame = replace(storage, items=tuple(twins), pasts={each.name: points for each in twins})
    shown = [each.text for each in brief_lines(frame, twins[0], width, 40)]
    assert any("/QM01" in each for each in shown[2:])
    assert any("/QM02" in each for each in shown[2:])


def test_what_is_stale_says_so(storage: Frame) -> None:
    """The figures stand in the tone of what is stale."""
    lines = brief_lines(storage, of(storage)._replace(stale=True), 120, 40)
    assert "  ? stale: no new data; these are the last known figures" in [each.text for each in lines]
    (free,) = (each for each in lines if each.text.startswith("  free_pct"))
    assert Tone.CRITICAL not in {span.tone for span in free.spans if "%" in span.text and "≤" not in span.text}


def test_long_lists_read_no_past(stored: StoreReader, judging: RuleConfig) -> None:
    """Of channels and queues, of which there may be thousands, nothing but the newest values is read."""
    for kind in ("queue", "channel"):
        frame = read_frame(stored, stored.last_ts() or 0, FrameRequest(LIST, kind), judging)
        assert frame.items
        assert not frame.pasts
