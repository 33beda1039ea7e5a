"""What came before an alert: the score of a figure, the score of an entry, the order of the lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.changes import Change
from mqvitals_agent.store.rows.journal import JournalEntry
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.history.before import (
    BEFORE_MS,
    Before,
    BeforeLine,
    before_lines,
    departure_of,
    departure_words,
    distance,
    each_further_less,
    entry_score,
    figure_score,
    read_before,
    spread_over,
)
from mqvitals_agent.view.status import read_status_data, status_of
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.journal import EntryKind
from mqvitals_rules.vocabulary.tables import metric

NOW = 1_795_176_590_000
QUEUE = ObjectName("QM01", "queue", "PAYMENTS.IN")
VALUES = st.floats(-1e12, 1e12)


def points(*values: float) -> list[tuple[int, float]]:
    return [(NOW + number * 10_000, value) for number, value in enumerate(values)]


def test_a_figure_that_left_its_range() -> None:
    found = departure_of(points(3, 2, 500, 4), points(*[2, 3, 2, 1, 2, 3]), [], "messages")
    assert found is not None
    assert (found.value, found.usual, found.ts, found.of_days) == (500, 2, NOW + 20_000, None)
    assert found.score == found.of_hour > 100


def test_what_comes_each_day_at_this_hour_is_usual() -> None:
    before = points(*[2, 3, 2, 1, 2, 3])
    found = departure_of(points(500), before, [480, 510, 505, 495, 520])
    assert found is not None
    assert found.of_days is not None
    assert found.score == found.of_days < 1 < found.of_hour


def test_too_little_to_compare() -> None:
    assert departure_of([], points(1, 2, 3, 4, 5, 6), []) is None
    assert departure_of(points(9), points(1, 2, 3, 4), []) is None
    found = departure_of(points(9), points(1, 2, 3, 4, 5), [1, 2, 3])
    assert found is not None
    assert found.of_days is None


@pytest.mark.parametrize(("value", "unit", "far"), [(10.0, "us", False), (1.0, "pct", False), (90.0, "pct", True)])
def test_a_figure_that_never_moved_may_move_a_little(value: float, unit: str, far: bool) -> None:
    assert (distance(value, [0.0] * 20, unit) >= 4) is far


@given(VALUES, st.lists(VALUES, min_size=5, max_size=30))
def test_a_distance_is_finite_and_grows(value: float, usual: list[float]) -> None:
    """Zero at the median, no sign, and never less for a value farther out."""
    middle = sorted(usual)[len(usual) // 2] if len(usual) % 2 else None
    found = distance(value, usual)
    assert 0 <= found <= 1000
    if middle is not None:
        assert distance(middle, usual) == 0
        assert distance(middle + 2 * (value - middle), usual) >= found * 0.999


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.sampled_from([1.0, 0.85, 0.7]))
def test_figures_stand_below_the_changes_of_their_object(one: float, other: float, nearness: float) -> None:
    low, high = sorted((one, other))
    assert figure_score(low, nearness) <= figure_score(high, nearness) <= 40 * nearness
    early = JournalEntry(NOW - BEFORE_MS, EntryKind.STATE, QUEUE, "status", 1, 2)
    assert figure_score(high, nearness) < entry_score(early, nearness, NOW, 0)


def test_entries_weigh_by_kind_nearness_time_and_habit() -> None:
    def score(kind: EntryKind = EntryKind.STATE, ago: int = 60_000, nearness: float = 1.0, usual: int = 0) -> float:
        return entry_score(JournalEntry(NOW - ago, kind, QUEUE, "x", 1, 2), nearness, NOW, usual)

    assert score(EntryKind.DEFINITION) > score(EntryKind.STATE) > score(EntryKind.MESSAGE) > score(EntryKind.LOG)
    assert score() > score(ago=600_000) > score(ago=600_000, nearness=0.7)
    assert score() > score(usual=1) > score(usual=20)
    assert score(EntryKind.ALERT) == 0


def test_routine_weighs_little_from_the_first_time_on() -> None:
    """A log that is offloaded stands below a state that changed, though a young store has not seen it before."""
    states = metric("log", "offload_status").values
    log = ObjectName("QM01", "log")

    def score(old: str, new: str) -> float:
        entry = JournalEntry(NOW - 30_000, EntryKind.STATE, log, "offload_status", states[old], states[new])
        return entry_score(entry, 1.0, NOW, 0)

    assert score("AVAILABLE", "COPYING_LOG") < entry_score(
        JournalEntry(NOW - 30_000, EntryKind.MESSAGE, log, "CSQJ110E"), 0.7, NOW, 0
    )
    # An offload that waits for a volume is none.
    assert score("AVAILABLE", "ALLOCATING_ARCHIVE") == score("BUSY", "ALLOCATING_ARCHIVE") > score("AVAILABLE", "BUSY")


def test_each_further_figure_of_an_object_weighs_less() -> None:
    depth, other = metric("queue", "depth"), ObjectName("QM01", "queue", "OTHER")
    lines = [
        BeforeLine(score, name, metric=depth) for score, name in ((40, QUEUE), (39, QUEUE), (38, other), (37, QUEUE))
    ]
    found = {(each.name, round(each.score, 2)) for each in each_further_less(lines)}
    assert found == {(QUEUE, 40), (QUEUE, 31.2), (other, 38), (QUEUE, 23.68)}


@given(st.lists(st.integers(0, 10_000), unique=True, max_size=200).map(sorted), st.integers(1, 60))
def test_moments_are_spread_and_the_last_is_among_them(moments: list[int], most: int) -> None:
    found = spread_over(moments, most)
    assert len(found) == min(len(moments), most)
    assert found == sorted(set(found))
    assert set(found) <= set(moments)
    assert not moments or found[-1] == moments[-1]


def test_the_words_of_a_figure() -> None:
    departure = departure_of(points(4812), points(*[2] * 10), [2] * 5)
    assert departure is not None
    assert departure_words(metric("queue", "depth"), departure) == (
        "depth 4.8 k msgs, usually 2 msgs: over 1000 x its deviation in the 1m30s before, over 1000 x at this hour of other days"
    )


def test_before_the_alert_of_a_store(stored: StoreReader) -> None:
    """The pool that drained: its own figures are told, highest first; as of a moment before it there is no such alert."""
    status = status_of(read_status_data(stored, NOW, {}))
    alert = next(each for each in stored.alerts(include_ended=True) if each.alert.key.object.kind == "buffer_pool")
    before = read_before(stored, status, alert.id)
    assert before.alert == alert.alert
    assert [each.score for each in before.lines] == sorted((each.score for each in before.lines), reverse=True)
    assert before.since == before.until - BEFORE_MS or before.until > before.since
    assert read_before(stored, status, 99_999) == Before()
    assert read_before(stored.as_of(before.since), status, alert.id) == Before()


@pytest.mark.parametrize("width", [20, 40, 80, 120, 200])
def test_lines_fit(stored: StoreReader, width: int) -> None:
    status = status_of(read_status_data(stored, NOW, {}))
    alert = stored.alerts(include_ended=True)[0]
    raised = Change(QUEUE, "max_depth", 5000, 50000, NOW, NOW - 60_000)
    entry = JournalEntry(NOW, EntryKind.DEFINITION, QUEUE, "max_depth", 5000, 50000, change=raised)
    departure = departure_of(points(4812), points(*[2] * 10), [])
    told = (BeforeLine(98, QUEUE, entry), BeforeLine(40, QUEUE, metric=metric("queue", "depth"), departure=departure))
    for before in (
        read_before(stored, status, alert.id),
        Before(),
        Before(alert.alert, told, NOW - BEFORE_MS, NOW, 2, 9),
    ):
        lines = before_lines(before, NOW, width)
        assert lines
        assert all(cells(line.text) <= width for line in lines)
    if width >= 80:
        text = " ".join(" ".join(line.text for line in lines).split())
        assert "98 12:09:50 QM01 PAYMENTS.IN: MAXDEPTH 5,000 msgs -> 50,000 msgs" in text
        assert "none of it need be the cause" in text
    assert {line.key for line in lines} == {"", str(QUEUE)}
