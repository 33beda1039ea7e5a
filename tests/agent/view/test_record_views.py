"""What records tell, in lists, on an object's screen and in what rules say of it; and rules after a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Tone
from mqvitals_agent.view.figures.table import Item, value_cell
from mqvitals_agent.view.figures.values import PER_SECOND, with_rates
from mqvitals_agent.view.object.explanation import explain_object
from mqvitals_rules.lifecycle.alert import AlertState
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported

BEGIN = 1_763_640_000_000
MINUTE = 60_000
CHIN = ObjectName("QM01", "channel_initiator")


def poll(minute: int, name: ObjectName = CHIN, **values: Reported) -> Reading:
    return Reading(name, "INQUIRE_CHANNEL_INIT", BEGIN + minute * MINUTE, values, MINUTE)


def record(minute: int, name: ObjectName = CHIN, **values: Reported) -> Reading:
    ts = BEGIN + minute * MINUTE
    return Reading(name, "SMF_115_231", ts, values, 30 * MINUTE, poll=False, source=Source.SMF)


class Agent:
    """A store and what goes into it, minute by minute; it can be started anew."""

    def __init__(self, path: Path, judging: RuleConfig) -> None:
        self.store = Store.open(path)
        self.reader = StoreReader.open(path)
        self._intake = Ingest(self.store, judging, older=self.reader)

    def take(self, minute: int, *readings: Reading) -> None:
        self._intake.take([Snapshot("QM01", False, minute, BEGIN + minute * MINUTE, readings)])

    def firing(self) -> set[str]:
        return {each.key.rule for each in self.store.alerts.all_open() if each.state is AlertState.FIRING}

    def close(self) -> None:
        self.reader.close()
        self.store.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "records.db"


def test_an_alert_about_records_outlives_a_restart(path: Path, judging: RuleConfig) -> None:
    """The agent that starts between two records knows the last one: the alert neither ends nor begins anew."""
    agent = Agent(path, judging)
    agent.take(30, poll(30, adapters_max=30), record(30, adapters_unused=0))
    agent.take(60, poll(60, adapters_max=30), record(60, adapters_unused=0))
    assert agent.firing() == {"CHIN-01"}
    agent.close()
    agent = Agent(path, judging)
    for minute in range(61, 70):
        agent.take(minute, poll(minute, adapters_max=30))
    assert agent.firing() == {"CHIN-01"}
    agent.take(91, record(90, adapters_unused=2))
    assert agent.firing() == set()
    agent.close()


def test_what_rules_say_of_records(path: Path, judging: RuleConfig) -> None:
    """`rules explain` judges by the newest record, and calls it stale when two and a half of its intervals are over."""
    agent = Agent(path, judging)
    agent.take(30, poll(30, adapters_max=30), record(30, adapters_unused=0))
    rule = judging.rules.rule("CHIN-01")
    assert rule is not None
    form = judging.rules.rule_for(rule, CHIN)
    assert form is not None
    for minute, truth, missing in ((105, True, []), (106, None, [Absence.STALE])):
        agent.take(minute, poll(minute, adapters_max=30))
        [finding] = explain_object(agent.reader, [form], judging.facts, CHIN).findings
        assert finding.when.truth is truth
        assert [each.absence for each in finding.when.missing] == missing
    agent.close()


def test_a_cell_of_a_record_is_stale_by_its_own_interval(path: Path, judging: RuleConfig) -> None:
    """A half hour's figure an hour later is as good as new; when no record has come for 75 minutes it is marked."""
    agent = Agent(path, judging)
    agent.take(30, poll(30, adapters_max=30), record(30, adapters_unused=3))
    for minute, tone in ((105, Tone.PLAIN), (106, Tone.STALE)):
        agent.take(minute, poll(minute, adapters_max=30))
        values = agent.reader.current(CHIN)
        item = Item(CHIN, Health.OK, values)
        assert value_cell(values["adapters_unused"], lambda told: str(told.value), item, main=False).tone is tone
        assert value_cell(values["adapters_max"], lambda told: str(told.value), item, main=False).tone is Tone.PLAIN
    agent.close()


def test_rates_go_by_the_interval_of_their_own_source(path: Path, judging: RuleConfig) -> None:
    """An increase of a record is over its half hour, one of a poll over its minute, side by side in a list."""
    polled, recorded = (ObjectName("QM01", "channel", name) for name in ("A", "B"))
    agent = Agent(path, judging)
    agent.take(31, poll(31, polled, msgs=120), poll(31, recorded), record(30, recorded, msgs=1800))
    found = with_rates(agent.reader, "channel", agent.reader.current_by_kind("QM01", "channel"))
    assert (found[polled][PER_SECOND].value, found[recorded][PER_SECOND].value) == (2, 1)
    agent.close()


def test_a_trend_has_one_source(path: Path, judging: RuleConfig) -> None:
    """Where polls and records tell the same counter, a trend shows the polls; where nobody polled, the records."""
    name = ObjectName("QM01", "channel", "A")
    agent = Agent(path, judging)
    for minute in range(1, 61):
        answered = minute > 30
        reading = poll(minute, name, msgs=60 if answered else Absence.NO_ANSWER)
        agent.take(minute, reading, *([record(minute, name, msgs=1800)] if minute % 30 == 0 else []))

    def values(first: int, last: int) -> list[float | None]:
        points = agent.reader.trend(name, "msgs", BEGIN + first * MINUTE, BEGIN + last * MINUTE).points
        return [value for _, value in points]

    assert values(31, 60) == [60] * 30
    assert values(1, 60) == [1800, 1800]
    agent.close()
