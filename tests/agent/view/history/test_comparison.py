"""Two moments compared: what is found, in which order, and its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.rows.samples.steps import TimeStep
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.frame import COMPARISON, FrameRequest, read_frame
from mqvitals_agent.view.history.comparison import MomentComparison, differences
from mqvitals_agent.view.screens.comparison import comparison_lines, difference_words
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Reported

QUEUE = ObjectName("QM01", "queue", "PAYMENTS.IN")
POOL = ObjectName("QM01", "buffer_pool", "3")
CHANNEL = ObjectName("QM01", "channel", "TO.BANK")
NOW = 1795176590000


def values(**found: Reported) -> Mapping[str, CurrentValue]:
    return {name: CurrentValue(value, NOW, "P", NOW, None) for name, value in found.items()}


@pytest.mark.parametrize(
    ("name", "then", "now", "words"),
    [
        (QUEUE, {"depth": 100}, {"depth": 9400}, "+9.3 k msgs (x94)"),
        (QUEUE, {"depth": 9400}, {"depth": 100}, "-9.3 k msgs (/94)"),
        (QUEUE, {"depth": 0}, {"depth": 1}, "+1 msg"),
        (POOL, {"free_pct": 61.0}, {"free_pct": 4.0}, "-57 points"),
        (CHANNEL, {"status": 3}, {"status": 5}, "changed"),
        (CHANNEL, {"msgs": 100.0}, {"msgs": 150.0}, "+50 msgs/s"),
        (QUEUE, {"depth": Absence.NO_ANSWER}, {"depth": 3}, ""),
    ],
)
def test_words(name: ObjectName, then: Mapping[str, Reported], now: Mapping[str, Reported], words: str) -> None:
    """Shares differ by points, other numbers by an amount and a factor, states in having changed."""
    (found,) = differences(name, values(**then), values(**now))
    assert difference_words(found) == words


def test_what_is_no_difference() -> None:
    """The same number, a change of less than 2 %, and what is not kept are none; so are texts."""
    then = values(depth=1000, input_handles=Absence.NOT_KEPT, description="a", output_handles=Absence.NO_ANSWER)
    now = values(depth=1010, input_handles=5, description="b", output_handles=Absence.UNREACHABLE)
    assert not list(differences(QUEUE, then, now))


def test_objects_that_come_and_go() -> None:
    """An object that was not there is new, one that is not there now is gone."""
    (came,) = differences(QUEUE, None, values(depth=5))
    (went,) = differences(QUEUE, values(depth=5), None)
    assert (difference_words(came), difference_words(went)) == ("new", "gone")
    assert not list(differences(QUEUE, None, None))


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_bigger_change_has_a_greater_size(before: int, after: int) -> None:
    """Both ways a change has the same size, and one that goes farther in the same direction a greater one."""
    there = list(differences(QUEUE, values(depth=before), values(depth=after)))
    back = list(differences(QUEUE, values(depth=after), values(depth=before)))
    assert [each.size for each in there] == pytest.approx([each.size for each in back])
    farther = list(differences(QUEUE, values(depth=min(before, after)), values(depth=2 * max(before, after) + 10)))
    assert farther[0].size > max((each.size for each in there), default=0)


@pytest.fixture(scope="module")
def compared(replayed: Callable[[str], Path]) -> tuple[MomentComparison, MomentComparison]:
    """The first and the last cycle of an incident: of the group, and of the pool that drains."""
    rules = load_rule_config(Settings())
    with StoreReader.open(replayed("incident")) as reader:
        first = reader.step(0, TimeStep.CYCLE, on=True)
        low = min((value, ts) for ts, value in reader.trend(POOL, "free_pct").points if value is not None)[1]
        group = read_frame(reader, NOW, FrameRequest(COMPARISON, at=low, against=first), rules).comparison
        pool = read_frame(reader, NOW, FrameRequest(COMPARISON, name=POOL, at=low, against=first), rules).comparison
    assert group is not None
    assert pool is not None
    return group, pool


def test_the_biggest_change_comes_first(compared: tuple[MomentComparison, MomentComparison]) -> None:
    """The queues that fill and the pool that drains are among the first; all that is shown differs."""
    group, pool = compared
    sizes = [each.size for each in group.differences]
    assert sizes == sorted(sizes, reverse=True)
    assert group.looked_at > 100
    assert {each.name for each in group.differences[:40]} & {POOL}
    assert "free_pct" in {each.metric.name for each in pool.differences if each.metric}
    assert {each.name for each in pool.differences} == {POOL}


@pytest.mark.parametrize("width", [72, 80, 120, 200])
def test_lines_fit(compared: tuple[MomentComparison, MomentComparison], width: int) -> None:
    """Every line fits, leads to its object, and names both moments at the top."""
    for comparison in compared:
        lines = comparison_lines(comparison, width)
        assert all(cells(each.text) <= width for each in lines)
        assert "2026-11-20 12:00:0" in lines[0].text
        assert [each.key for each in lines if each.key] == [str(each.name) for each in comparison.differences]
        titles = lines[1].text if lines[1].text.endswith("difference") else lines[2].text
        assert titles.split() == ["then", "now", "difference"]
        past = comparison_lines(comparison, width, is_now=False)
        assert any(each.text.split()[::2] == ["11-20", "11-20", "difference"] for each in past[:3])


def test_a_moment_before_the_store_begins(replayed: Callable[[str], Path]) -> None:
    """Nothing is compared, and nothing is called new: the lines say when the store begins."""
    rules = load_rule_config(Settings())
    with StoreReader.open(replayed("incident")) as reader:
        first = reader.step(0, TimeStep.CYCLE, on=True) or 0
        found = read_frame(reader, NOW, FrameRequest(COMPARISON, against=first - 3_600_000), rules).comparison
    assert found is not None
    assert not found.differences
    assert "the store begins at 2026-11-20 12:00:0" in comparison_lines(found, 80)[-1].text


def test_the_earlier_moment_comes_first(replayed: Callable[[str], Path]) -> None:
    """A past moment compared with now is then; now is now."""
    rules = load_rule_config(Settings())
    with StoreReader.open(replayed("incident")) as reader:
        first, last = reader.step(0, TimeStep.CYCLE, on=True) or 0, reader.last_ts() or 0
        one = read_frame(reader, NOW, FrameRequest(COMPARISON, at=first, against=last), rules).comparison
        other = read_frame(reader, NOW, FrameRequest(COMPARISON, at=last, against=first), rules).comparison
    assert one is not None
    assert one == other
    assert (one.then, one.now) == (first, last)
