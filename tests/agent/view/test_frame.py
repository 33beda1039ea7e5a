"""What is read for a screen."""

from __future__ import annotations

import pytest

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.view.frame import FrameRequest, StorePosition, read_frame, store_position
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.facts import BufferPoolFact, FactSettings
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import RuleConfig, load_rule_config
from mqvitals_rules.snapshot import ObjectName

NOW = 1795176590000


@pytest.fixture
def judging() -> RuleConfig:
    """The shipped rules, for a pool of short-lived messages."""
    place = Place("test", 1, 1)
    pool = BufferPoolFact(LocatedText("*/buffer_pool/3", place), LocatedText("short_lived", place))
    return load_rule_config(Settings(facts=FactSettings(buffer_pools=(pool,))))


def test_peek_tells_whether_anything_is_new(stored: StoreReader, empty: StoreReader, judging: RuleConfig) -> None:
    """The newest snapshot and the cycles of all owners; a frame has the same."""
    assert store_position(empty) == StorePosition(0, 0)
    assert store_position(stored) == StorePosition(NOW, 24)
    assert read_frame(stored, 0, FrameRequest(), judging).seq == store_position(stored)


def test_a_replay_is_read_as_of_its_end(stored: StoreReader, judging: RuleConfig) -> None:
    """Its last snapshot is now, whatever the clock says."""
    frame = read_frame(stored, NOW + 10**9, FrameRequest(), judging)
    assert (frame.now, frame.read_at) == (NOW, NOW + 10**9)
    assert not any(member.stale for member in frame.status.queue_managers)


@pytest.mark.parametrize("screen", ["overview", "list", "alerts", "agent", "detail"])
def test_every_frame_has_the_status(stored: StoreReader, judging: RuleConfig, screen: str) -> None:
    """The header of every screen counts the same alerts."""
    request = FrameRequest(screen, kind="queue", name=ObjectName("QM01", "queue", "APPL.IN"))
    frame = read_frame(stored, 0, request, judging)
    overview = read_frame(stored, 0, FrameRequest(), judging)
    assert frame.status.alerts == overview.status.alerts
    assert frame.status.health is overview.status.health


def test_only_the_overview_reads_its_figures(stored: StoreReader, judging: RuleConfig) -> None:
    """A list does not read the state of every channel for its header."""
    frame = read_frame(stored, 0, FrameRequest("list", "queue"), judging)
    assert {name.kind for name in frame.data.current} == {"queue_manager"}
    assert not frame.history.points


def test_the_alerts_say_which_stands_for_which(stored: StoreReader, judging: RuleConfig) -> None:
    """Of the pool's alerts the worst stands for the milder ones of its family."""
    frame = read_frame(stored, 0, FrameRequest("alerts"), judging)
    rules = {alert.key.rule for alert in frame.alerts}
    assert "BP-03" in rules
    assert {key.rule for key in frame.covered.values()} <= {"BP-03"}
    assert frame.covered
