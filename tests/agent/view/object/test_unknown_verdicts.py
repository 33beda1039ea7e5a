"""Which unknown verdicts count, and the list of those about which somebody can do something."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mqsamples.group import BEGIN, SITE, cycles
from mqvitals_agent.service.cycles.cycle_writer import CycleWriter
from mqvitals_agent.simulator.scenario import IncidentKind, load_scenario
from mqvitals_agent.simulator.site import DEFAULT_NAMES
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import UnknownRow
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.frame import UNKNOWN, FrameRequest, read_frame
from mqvitals_agent.view.object.unknown_verdicts import MOST_OBJECTS, read_unknown_verdicts
from mqvitals_agent.view.screens.unknown import UNKNOWN_KEY, unknown_hint, unknown_lines
from mqvitals_agent.view.status import TO_DO, StatusData, status_of, troubling, without_answer
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.settings import Settings
from mqvitals_rules.latest_state import LatestState
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import FRESH_INTERVALS, PATIENCE_MS, ObjectName, Reading, Source
from mqvitals_rules.vocabulary.metric import Absence

MINUTE = 60_000


@pytest.mark.parametrize("reason", Absence)
def test_each_reason_either_counts_or_is_told_apart(reason: Absence) -> None:
    """A reason about which somebody can do something counts; each other one has its own words, and no reason both."""
    counts = bool(troubling([(reason, 3)]))
    assert counts is (reason in TO_DO)
    assert counts is not bool(without_answer([(reason, 3)]))


@pytest.mark.parametrize(
    "reason", [Absence.WINDOW, Absence.NOT_DECLARED, Absence.FIRST_READING, Absence.AWAITED, Absence.NEEDS_SMF]
)
def test_what_passes_or_is_wanted_so_does_not_count(reason: Absence) -> None:
    """A short history, a missing declaration, a first reading or a record that is still to come is nobody's task."""
    assert not troubling([(reason, 7)])


@pytest.mark.parametrize("length_ms", [5_000, MINUTE, 30 * MINUTE, 60 * MINUTE])
def test_a_short_interval_awaits_the_next_record(length_ms: int) -> None:
    """Once it is over its value counts for nothing, but it is stale only when a usual interval would be over too."""
    pool = ObjectName("QM01", "buffer_pool", "3")
    state = LatestState(pool, {})
    state.learn_record(Reading(pool, "SMF", BEGIN, {"low_pct": 4.0}, length_ms, poll=False, source=Source.SMF))
    over, late = BEGIN + round(FRESH_INTERVALS * length_ms), BEGIN + PATIENCE_MS
    seen = []
    for now in (over, over + 1, late, late + 1, max(over, late) + 1):
        if now >= over:
            state.expire(now)
            seen.append(state.values["low_pct"])
    if length_ms < 30 * MINUTE:
        assert seen == [4.0, Absence.AWAITED, Absence.AWAITED, Absence.STALE, Absence.STALE]
    else:
        assert (seen[0], seen[-1]) == (4.0, Absence.STALE)
        assert Absence.AWAITED not in seen


@pytest.mark.parametrize("name", ["quiet", "busy-morning"])
async def test_a_healthy_group_has_none_from_its_first_minute_on(
    tmp_path: Path, judging: RuleConfig, name: str
) -> None:
    """As the demonstration polls it, every two seconds, until an incident hides something."""
    settings = replace(Settings(), name=LocatedText(SITE, Place("test")))
    path = tmp_path / "store.db"
    writer = CycleWriter(path, settings, judging, list(DEFAULT_NAMES.members), source=name)
    writer.open(BEGIN)
    scenario = load_scenario(name)
    hides = (IncidentKind.DOWN, IncidentKind.REFUSE, IncidentKind.SILENT, IncidentKind.TRUNCATE)
    calm = min((each.at for each in scenario.incidents if each.what in hides), default=2 * MINUTE)
    assert calm > MINUTE, "there is something to look at"
    async for batch in cycles(scenario, min(calm, 100_000), 2_000, connected=True):
        writer.take(batch)
        if batch.began - BEGIN >= MINUTE:
            with StoreReader.open(path) as reader:
                counts = [(each.reason, each.count) for each in reader.unknown_counts()]
            assert troubling(counts) == (), batch.began - BEGIN
    writer.close()


def test_the_list_names_rules_objects_and_since_when(stored: StoreReader, judging: RuleConfig) -> None:
    """Objects are those for which the rule is unknown, at most a few for each rule; the number stays the whole one."""
    names = {each.name for each in stored.objects("QM01/queue/*")}
    rows = [
        UnknownRow("QM01", "Q-11", Absence.STALE, 1),
        UnknownRow("QM01", "Q-15", Absence.NOT_AUTHORISED, 900),
        UnknownRow("QM01", "GONE-1", Absence.NO_ANSWER, 2),
        UnknownRow("QM01", "Q-05", Absence.NEEDS_SMF, 2),
        UnknownRow("QM02", "Q-01", Absence.UNREACHABLE, 5),
        UnknownRow("QM02", "Q-02", Absence.UNREACHABLE, 6),
    ]
    found = read_unknown_verdicts(stored, rows, judging)
    assert [(each.owner, each.rule, each.count) for each in found] == [
        ("QM02", "", 11),
        ("QM01", "Q-15", 900),
        ("QM01", "GONE-1", 2),
        ("QM01", "Q-11", 1),
    ]
    assert found[0].rules == 2
    for each in found[1:]:
        assert len(each.objects) <= min(each.count, MOST_OBJECTS)
        assert {one.name for one in each.objects} <= names


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_the_list_fits_and_says_what_to_do(stored: StoreReader, judging: RuleConfig, width: int) -> None:
    """By reason one sentence says what to do; every object can be opened."""
    frame = read_frame(stored, 1795176590000, FrameRequest(UNKNOWN), judging)
    rows = (UnknownRow("QM01", "Q-01", Absence.NO_ANSWER, 3), UnknownRow("QM02", "Q-01", Absence.UNREACHABLE, 5))
    data = replace(frame.data, unknown=rows)
    frame = replace(frame, data=data, status=status_of(data), unknown=read_unknown_verdicts(stored, rows, judging))
    lines = unknown_lines(frame, width)
    assert [each.text for each in lines if cells(each.text) > width] == []
    words = " ".join(" ".join(each.text for each in lines).split())
    for reason in (Absence.NO_ANSWER, Absence.UNREACHABLE):
        assert f"to do: {TO_DO[reason]}" in words
    assert "QM02: 5 verdicts of 1 rule" in words
    assert "QM02/queue_manager" in {each.key for each in lines}
    assert all(ObjectName.parse(each.key) for each in lines if each.key)


def test_the_overview_leads_to_the_list_only_where_there_is_one(healthy: StatusData) -> None:
    """Nothing that somebody could do means no line."""
    assert unknown_hint(status_of(healthy), 80) == ()
    passing = UnknownRow("QM01", "Q-01", Absence.WINDOW, 3)
    assert unknown_hint(status_of(replace(healthy, unknown=(passing,))), 80) == ()
    refused = UnknownRow("QM01", "Q-01", Absence.NOT_AUTHORISED, 1)
    (line,) = unknown_hint(status_of(replace(healthy, unknown=(passing, refused))), 80)
    assert (line.key, line.text.startswith("? 1 verdict unknown")) == (UNKNOWN_KEY, True)
