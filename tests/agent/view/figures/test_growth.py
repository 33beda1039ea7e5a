"""When something that fills will be full: only what grows in a line has a time, and what has none has a reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Tone
from mqvitals_agent.view.figures.forecast import FARTHEST_MS, LEAST_MS, full_in
from mqvitals_agent.view.figures.table import Cell
from mqvitals_agent.view.frame import FrameRequest, read_frame
from mqvitals_agent.view.lists.columns import COLUMNS
from mqvitals_agent.view.screens.object.page import detail_lines
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Reported

MINUTE = 60_000
NOW = 1795176590000


def series(*values: float | None, every: int = MINUTE) -> list[tuple[int, float | None]]:
    """Polls of which the newest is of now."""
    return [(NOW - (len(values) - 1 - place) * every, value) for place, value in enumerate(values)]


def test_a_steady_rise_has_its_time() -> None:
    """80 per cent and one point a minute: full in twenty minutes; a poll without an answer changes nothing."""
    assert full_in(series(*range(71, 81)), NOW).ms == 20 * MINUTE
    assert full_in(series(*range(70, 75), None, *range(76, 81)), NOW).ms == 20 * MINUTE
    assert full_in(series(*range(72, 81)), NOW).reason == "too few values yet"
    assert full_in(series(*(63.5 + place / 2 for place in range(10))), NOW, limit=69).ms == 2 * MINUTE
    assert full_in(series(*range(71, 81)), NOW + MINUTE).ms == 19 * MINUTE


def test_what_pauses_has_none() -> None:
    """A rise that came to rest has no time, though a straight line through all of it still goes up."""
    assert full_in(series(*range(69, 80), 79.0), NOW).reason == "it has stopped growing"
    assert full_in(series(*range(68, 79), 77.5), NOW).reason == "it has stopped growing"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ((), "too few values yet"),
        ((5.0,), "too few values yet"),
        ((50.0,) * 12, "it does not grow"),
        (tuple(range(80, 68, -1)), "it does not grow"),
        ((50.0, 50.2, 50.1, 50.3, 50.2, 50.4) * 2, "it does not grow in a line"),
        ((50.0, 60.0, 40.0, 65.0, 45.0, 55.0) * 2, "it does not grow in a line"),
        ((*range(89, 99), 99.0, 100.0), "full"),
        ((float("nan"),) * 12, "too few values yet"),
    ],
)
def test_what_does_not_grow_has_none(values: tuple[float, ...], reason: str) -> None:
    """Constant, falling, to and fro, full already, or nothing at all: no time is made up."""
    assert full_in(series(*values), NOW) == (None, 0, reason)


def test_far_away_and_too_short() -> None:
    """More than a day ahead is not said, nor is what was seen for a few seconds only."""
    slow = series(*(10 + place * 0.1 for place in range(12)), every=10 * MINUTE)
    assert full_in(slow, NOW).reason == "that is more than a day ahead"
    assert full_in(series(*range(71, 81), every=2_000), NOW).reason == "seen for less than 1m00s"


def test_only_the_newest_polls_count() -> None:
    """An hour of calm before does not hide that it fills now."""
    points = series(*((40.0,) * 50), *(40.0 + 2 * place for place in range(12)))
    ahead = full_in(points, NOW)
    assert ahead.ms == pytest.approx(19 * MINUTE, abs=MINUTE)
    assert ahead.basis_ms < 15 * MINUTE


def test_steps_of_whole_messages() -> None:
    """A queue that gets a message every seven seconds and is polled every two grows in steps, and has its time."""
    points = series(*(4_000 + 2 * poll // 7 for poll in range(300)), every=2_000)
    assert full_in(points, NOW, limit=5_000).ms == pytest.approx((1_000 - 600 / 7) * 7_000, rel=0.1)


@given(
    st.integers(1_000, 300_000),
    st.floats(60_000, FARTHEST_MS),
    st.floats(1, 99),
    st.integers(60 * MINUTE, 90 * MINUTE),
    st.sampled_from([1.0, 100.0, 999_999.0]),
)
def test_any_straight_fill_is_forecast(every: int, ahead_ms: float, now_at: float, past_ms: int, limit: float) -> None:
    """Whatever its slope and the distance of the polls, from 1 to 300 seconds, its time is right within 10 per cent."""
    share = now_at / 100
    slope = limit * (1 - share) / ahead_ms
    count = min(past_ms // every, int(limit * share / (slope * every))) + 1
    points = series(*(limit * share - slope * every * (count - 1 - place) for place in range(count)), every=every)
    found = full_in(points, NOW, limit)
    if count < 10 or (count - 1) * every < LEAST_MS:
        assert found.ms is None
        assert found.reason
    else:
        assert found.ms == pytest.approx(ahead_ms, rel=0.1, abs=2)


@given(st.integers(0, 2**32), st.integers(1_000, 300_000), st.floats(5, 95), st.floats(0.001, 4), st.booleans())
def test_noise_around_a_level_has_none(seed: int, every: int, level: float, height: float, whole: bool) -> None:
    """However near to full it is, and however often it is polled."""
    random = Random(seed)
    values = [level + random.uniform(-height, height) for _ in range(3_600_000 // every)]
    points = series(*(round(each) if whole else each for each in values), every=every)
    found = full_in(points, NOW)
    assert found.ms is None
    assert found.reason in (
        "it does not grow",
        "it does not grow in a line",
        "it has stopped growing",
        "too few values yet",
    )


@given(st.integers(0, 2**32), st.integers(1_000, 120_000), st.floats(10 * MINUTE, 5 * 60 * MINUTE))
def test_a_noisy_fill_is_forecast_or_has_a_reason(seed: int, every: int, ahead_ms: float) -> None:
    """A time that is told of a line with a little noise is right within a third."""
    random = Random(seed)
    slope = 50 / ahead_ms
    count = 3_600_000 // every
    values = [max(50 - slope * every * (count - 1 - place), 0) + random.gauss(0, 0.1) for place in range(count)]
    found = full_in(series(*values, every=every), NOW)
    if found.ms is None:
        assert found.reason
    else:
        assert found.ms == pytest.approx(ahead_ms, rel=1 / 3)


@given(st.lists(st.tuples(st.integers(0, 2**42), st.none() | st.floats()), max_size=60), st.integers(0, 2**42))
def test_anything_has_a_time_or_a_reason(points: list[tuple[int, float | None]], now: int) -> None:
    """Never both, never neither."""
    found = full_in(sorted(points, key=lambda point: point[0]), now)
    assert (found.ms is None) is bool(found.reason)
    assert found.ms is None or 0 <= found.ms <= FARTHEST_MS


FILLS: Mapping[str, tuple[ObjectName, str, Mapping[str, Reported]]] = {
    "storage": (ObjectName("QM01", "page_set", "4"), "used_pct", {"total_pages": 1000, "buffer_pool": 3}),
    "cf_structure": (ObjectName("PRDQSG", "cf_structure", "APPL1"), "entries_pct", {"status": 1}),
    "smds": (ObjectName("QM01", "smds", "APPL1"), "used_pct", {"data_set_status": 1}),
    "queue": (ObjectName("QM01", "queue", "PAYMENTS.IN"), "depth", {"max_depth": 5_000}),
}
"""By list what fills in it: object, metric, and what else is reported."""


@pytest.fixture(params=FILLS)
def filling(request: pytest.FixtureRequest, tmp_path: Path, judging: RuleConfig) -> Iterator[tuple[str, StoreReader]]:
    """A list, and a store in which something of it fills from 50 to 60 per cent in five minutes, polled every two
    seconds, as the demonstration polls; and something else rests."""
    name, metric, others = FILLS[request.param]
    most = float(others.get("max_depth", 100))  # type: ignore[arg-type]
    with Store.open(tmp_path / "store.db", group="PRDQSG") as store:
        intake = Ingest(store, judging)
        for poll in range(151):
            ts = NOW - (150 - poll) * 2_000
            share = 0.5 + 0.1 * poll / 150
            value = round(share * most) if metric == "depth" else share * most
            rests = name._replace(name="99")
            told: dict[ObjectName, Mapping[str, Reported]] = {
                name: {**others, metric: value},
                rests: {**others, metric: round(most / 2)},
            }
            readings = tuple(
                Reading(each, "PROBE", ts, values, None if poll == 0 else 2_000) for each, values in told.items()
            )
            intake.take([Snapshot(name.owner, name.owner == "PRDQSG", poll + 1, ts, readings)])
    with StoreReader.open(tmp_path / "store.db") as reader:
        yield request.param, reader


def test_lists_and_pages_tell_when_it_is_full(filling: tuple[str, StoreReader], judging: RuleConfig) -> None:
    """Twenty minutes before: in the list beside the figure, in the colour of a warning, and on the object's page with its
    basis, though it is polled every two seconds; what rests says why there is no time. A moment before it said more."""
    kind, reader = filling
    name, *_ = FILLS[kind]
    rests = name._replace(name="99")

    def listed(at: int | None = None) -> dict[ObjectName, Cell]:
        frame = read_frame(reader, NOW, FrameRequest("list", kind, at=at), judging)
        column = next(each for each in COLUMNS[kind] if each.id == "full_in")
        return {item.name: column.cell(item, NOW) for item in frame.items}

    def page(of: ObjectName) -> list[str]:
        frame = read_frame(reader, NOW, FrameRequest("detail", name=of), judging)
        return [line.text for line in detail_lines(frame, 120)]

    shown = listed()
    assert shown[rests].text == ""
    minutes = int(shown[name].text.partition("m")[0])
    assert minutes == pytest.approx(20, abs=1)
    ill = read_frame(reader, NOW, FrameRequest("list", kind), judging)
    health = next(item.health for item in ill.items if item.name == name)
    assert shown[name].tone is (Tone.WARNING if health < Health.WARNING else Tone.PLAIN)
    before = int(listed(NOW - 2 * MINUTE)[name].text.partition("m")[0])
    assert before == pytest.approx(22, abs=1)
    assert any(f"full in {shown[name].text} if it goes on as in the last" in text for text in page(name))
    assert any("no time until full: it does not grow" in text for text in page(rests))
