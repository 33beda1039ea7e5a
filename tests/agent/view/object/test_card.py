"""The card of an object: which figures stand on it, and what each says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.styled import Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.figures.values import MAIN_METRIC
from mqvitals_agent.view.frame import DETAIL, FrameRequest, read_frame
from mqvitals_agent.view.object.card import CARD, MOST, CardFigure, card_metrics, crossed, read_card, shown_threshold
from mqvitals_agent.view.object.card_lines import card_lines, card_titles
from mqvitals_agent.view.screens.object.page import detail_lines
from mqvitals_agent.view.screens.object.sections import PageState
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.thresholds import Threshold
from mqvitals_rules.vocabulary.metric import Absence, Metric, MetricType, Reported
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.vocabulary.tables import metric as metric_of

NOW = 1795176590000
DAY = 86_400_000
MINUTE = 60_000
QUEUE = ObjectName("QM01", "queue", "APPL.IN")
WARN = Threshold("depth", 1000, low_is_bad=False, severity=Severity.WARNING, rule="Q-02")
ALARM = Threshold("depth", 5000, low_is_bad=False, severity=Severity.CRITICAL, rule="Q-01")


def told(value: Reported, probe: str = "INQUIRE_Q_STATUS") -> CurrentValue:
    return CurrentValue(value, NOW, probe, NOW, None)


def depth(value: Reported, *thresholds: Threshold, yesterday: float | None = None) -> CardFigure:
    return CardFigure(metric_of("queue", "depth"), told(value), ((NOW, 1.0),), None, yesterday, thresholds)


def value_for(metric: Metric) -> Reported:
    """A value that the metric can have."""
    if metric.type is MetricType.STATE:
        return next(iter(metric.values.values()))
    return 50 if metric.unit == "pct" else 7


def test_each_kind_has_a_card_with_its_main_figure() -> None:
    """Of metrics with a past; a kind that is added needs its card."""
    assert set(CARD) == set(KINDS)
    for kind, names in CARD.items():
        assert len(set(names)) == len(names) > 0
        for name in names:
            assert metric_of(kind, name).in_history, (kind, name)
        if kind not in ("log", "cf_structure"):
            assert MAIN_METRIC[kind] == names[0] or kind == "channel_initiator"
        assert MAIN_METRIC[kind] in names[:MOST]


@given(st.dictionaries(st.sampled_from(CARD["queue"]), st.sampled_from([1, Absence.NEEDS_SMF, Absence.NO_ANSWER])))
def test_what_can_never_be_known_takes_no_place(values: dict[str, Reported]) -> None:
    """At most eight, in the order of the table; what is absent for another reason stays, with it."""
    found = card_metrics("queue", {name: told(value) for name, value in values.items()})
    assert len(found) <= MOST
    possible = [name for name in CARD["queue"] if values.get(name, Absence.NEEDS_SMF) is not Absence.NEEDS_SMF]
    assert list(found) == possible[:MOST]


@pytest.mark.parametrize(
    ("value", "worst", "shown"),
    [(10, None, WARN), (999, None, WARN), (4000, WARN, WARN), (5000, ALARM, ALARM), (9000, ALARM, ALARM)],
)
def test_the_threshold_is_the_worst_crossed_or_the_nearest(
    value: int, worst: Threshold | None, shown: Threshold
) -> None:
    """And the figure has the tone of the one that it has crossed."""
    each = depth(value, WARN, ALARM)
    assert crossed(each) == worst
    assert shown_threshold(each) == shown
    (line,) = card_lines([each], NOW, 100)
    tone = {None: Tone.STRONG, WARN: Tone.WARNING, ALARM: Tone.CRITICAL}[worst]
    assert tone in {span.tone for span in line.spans}
    assert ("▲" in line.text or "●" in line.text) == (worst is not None)


def test_a_threshold_alone_alarms_nobody() -> None:
    """Beyond a bound of a rule that does not fire for another reason the figure stays plain; the bound stands there."""
    each = depth(4500, WARN._replace(idle=True), ALARM)
    assert crossed(each) is None
    (line,) = card_lines([each], NOW, 100)
    assert "▲" not in line.text
    assert Tone.WARNING not in {span.tone for span in line.spans}
    assert "msgs" in line.text.split("≥")[1]


def test_values_are_whole_where_there_is_room() -> None:
    """A value with a long unit is not cut while the row has room for it."""
    each = CardFigure(metric_of("buffer_pool", "free"), told(9_100), ((NOW, 1.0),), None, None)
    (line,) = card_lines([each], NOW, 80)
    assert "9.1 k buffers" in line.text


def test_a_figure_says_value_age_and_yesterday() -> None:
    """In columns below their titles, each line with its metric."""
    card = [depth(1200, WARN, yesterday=300)]
    (line,) = card_lines(card, NOW + 3000, 100)
    assert line.figure == "depth"
    assert line.text.split()[:5] == ["depth", "1.2", "k", "msgs", "3s"]
    assert line.text.rstrip().endswith("300 msgs")
    titles = card_titles(card, NOW + 3000, 100)
    assert titles.split()[0] == "now"
    assert cells(titles.rstrip()) == cells(line.text.rstrip())


def test_absence_has_its_reason() -> None:
    """No number, no zero, no past."""
    (line,) = card_lines([depth(Absence.NOT_COLLECTED)], NOW, 100)
    assert line.text.split(maxsplit=1)[1] == "not collected"
    assert line.spans[-1].tone is Tone.ABSENT
    (none,) = card_lines([], NOW, 100)
    assert none.spans[0].tone is Tone.ABSENT


@given(width=st.integers(40, 250), value=st.floats(-1e15, 1e15), yesterday=st.none() | st.floats(-1e15, 1e15))
def test_a_card_fits_any_width(width: int, value: float, yesterday: float | None) -> None:
    """Columns go where there is no room for them; no line is wider than the page."""
    card = [depth(value, WARN, ALARM, yesterday=yesterday), depth(Absence.UNREACHABLE)]
    assert all(cells(line.text) <= width for line in card_lines(card, NOW, width))
    assert cells(card_titles(card, NOW, width)) <= width


@pytest.fixture
def past(tmp_path: Path, judging: RuleConfig) -> Iterator[StoreReader]:
    """A queue now and a day ago, and a channel whose messages are counted by polls of different distance."""
    path = tmp_path / "past.db"
    channel = ObjectName("QM01", "channel", "TO.QM02")
    with Store.open(path, replay=True, source="made up", group="PRDQSG") as store:
        intake = Ingest(store, judging)
        moments = [NOW - DAY - MINUTE, NOW - DAY, NOW - 60_000, NOW - 50_000, NOW - 20_000, NOW]
        for cycle, ts in enumerate(moments, 1):
            ms = 10_000 if cycle < 2 else ts - moments[cycle - 2]
            readings = (
                Reading(QUEUE, "INQUIRE_Q_STATUS", ts, {"depth": 10 * cycle, "input_handles": 1}, ms),
                Reading(
                    channel,
                    "INQUIRE_CHANNEL_STATUS",
                    ts,
                    {"status": 3, "msgs": 240 * ms // 1000},
                    ms if cycle > 1 else None,
                ),
            )
            intake.take([Snapshot("QM01", False, cycle, ts, readings)])
    with StoreReader.open(path) as reader:
        yield reader


def test_the_past_of_a_card(past: StoreReader) -> None:
    """Yesterday is the value of a day ago; a channel's messages are a rate, whatever the distance of the polls."""
    found = {each.metric.name: each for each in read_card(past, QUEUE, past.current(QUEUE), (), NOW)}
    assert found["depth"].yesterday == 20
    assert [value for _, value in found["depth"].points] == [30, 40, 50, 60]
    channel = ObjectName("QM01", "channel", "TO.QM02")
    (msgs,) = (each for each in read_card(past, channel, past.current(channel), (), NOW) if each.counted)
    assert msgs.rate == pytest.approx(240)
    assert [value for _, value in msgs.points][1:] == [pytest.approx(240)] * 3


def test_several_trends_are_each_as_by_itself(past: StoreReader) -> None:
    """For any bounds: the same points, intervals and source."""
    for since, until in ((None, None), (NOW - 55_000, None), (NOW - DAY, NOW - 1), (NOW + 1, NOW + 2)):
        found = past.trends(QUEUE, ("depth", "input_handles", "qtime_us_short"), since, until)
        assert found == {metric: past.trend(QUEUE, metric, since, until) for metric in found}
    assert past.trends(QUEUE, ()) == {}


def test_card_and_advice_are_in_sight_for_every_kind(
    tmp_path: Path, judging: RuleConfig, kind_names: Callable[[], list[ObjectName]]
) -> None:
    """Twenty lines of eighty cells have the whole card and the beginning of what to do, whatever the kind."""
    path = tmp_path / "kinds.db"
    with Store.open(path, replay=True, source="made up", group="PRDQSG") as store:
        intake = Ingest(store, judging)
        for cycle in range(1, 6):
            ts = NOW + cycle * 10_000
            readings = [
                Reading(
                    name,
                    KINDS[name.kind].poll,
                    ts,
                    {m: value_for(metric_of(name.kind, m)) for m in CARD[name.kind]},
                    10_000,
                )
                for name in kind_names()
            ]
            intake.take([Snapshot("QM01", False, cycle, ts, tuple(readings))])
    with StoreReader.open(path) as reader:
        for name in kind_names():
            frame = read_frame(reader, 0, FrameRequest(DETAIL, name=name), judging)
            assert frame.detail is not None
            seen = detail_lines(frame, 79, PageState(height=20))[:20]
            begin = next(row for row, line in enumerate(seen) if line.section == "card")
            shown = [line.figure for line in seen[begin + 1 : begin + 1 + len(frame.detail.card)]]
            assert shown == list(card_metrics(name.kind, frame.detail.values or {})), name
            assert shown, name
            if any(each.firing for each in frame.detail.rules) or frame.detail.mqsc:
                place = next(row for row, line in enumerate(seen) if line.section == "to do")
                assert place + 1 < len(seen), name


@pytest.fixture
def kind_names() -> Callable[[], list[ObjectName]]:
    """An object of each kind."""
    return lambda: [ObjectName("QM01", kind.name, "" if kind.single else "3") for kind in KINDS.values()]
