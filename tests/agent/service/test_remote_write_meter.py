"""What the agent's own metrics say of engines that samples are sent to."""

from __future__ import annotations

from dataclasses import replace

from mqvitals_agent.remote_write.state import RemoteState
from mqvitals_agent.service.agent_meters import RemoteWriteMeter, remote_write_values
from mqvitals_rules.snapshot import ObjectName, Snapshot
from mqvitals_rules.vocabulary.metric import Absence

NOW = 1_795_176_000_000
STATE = RemoteState("victoria", sent=100, sent_bytes=1000, missed=5, accepted_at=NOW - 3000)
NAMES = {"victoria"}


def snapshot(ts: int, owner: str = "PRDQSG") -> tuple[Snapshot, ...]:
    return (Snapshot(owner, owner == "PRDQSG", 1, ts, ()),)


def test_counters_are_increases_and_times_ages() -> None:
    """The first reading has none; a total that is lower than before is another file's."""
    first = remote_write_values(STATE, None, NOW)
    assert first["sent"] is Absence.FIRST_READING
    assert (first["failing_s"], first["accepted_ago_s"], first["pending"]) == (0, 3, 0)
    later = replace(STATE, sent=150, missed=0, pending=7, oldest=NOW - 60_000, failing_since=NOW - 90_000, error="busy")
    found = remote_write_values(later, STATE, NOW)
    assert (found["sent"], found["samples_missed"]) == (50, Absence.RESET)
    assert (found["failing_s"], found["oldest_pending_s"], found["trouble"]) == (90, 60, "busy")


def test_engines_are_measured_each_minute_and_when_one_fails() -> None:
    """Those of the owner of the store alone."""
    meter = RemoteWriteMeter()
    (measured,) = meter.added(snapshot(NOW), "PRDQSG", (STATE,), NAMES)
    assert [str(each.object) for each in measured.readings] == ["PRDQSG/remote_write/victoria"]
    assert not meter.added(snapshot(NOW + 10_000), "PRDQSG", (STATE,), NAMES)[0].readings
    assert not meter.added(snapshot(NOW + 70_000, "QM01"), "PRDQSG", (STATE,), NAMES)[0].readings
    failing = replace(STATE, error="busy", failing_since=NOW)
    (told,) = meter.added(snapshot(NOW + 20_000), "PRDQSG", (failing,), NAMES)[0].readings
    assert told.interval_ms == 20_000


def test_an_engine_is_gone_once_the_settings_are_without_it() -> None:
    """Not before the first cycle of a run is stored, when nothing is known of it: an alert about it goes on."""
    meter = RemoteWriteMeter()
    known = ObjectName("PRDQSG", "remote_write", "victoria")
    meter.remember(known)
    assert not meter.added(snapshot(NOW), "PRDQSG", (), NAMES)[0].readings
    (gone,) = meter.added(snapshot(NOW + 1), "PRDQSG", (), ())[0].readings
    assert (gone.object, gone.gone) == (known, True)
    assert not meter.added(snapshot(NOW + 2), "PRDQSG", (), ())[0].readings
