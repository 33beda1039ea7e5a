"""What the agent tells of its small server: when it is news, once a minute, and for how long it cannot listen."""

from __future__ import annotations

from mqvitals_agent.service.server_meter import ServerMeter, ServerState
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS

BEGIN = 1_800_000_000_000
NAME = ObjectName("PRDQSG", "server")
WELL = ServerState(address="127.0.0.1:9157", pages=4, refused=1, series=500)
AWAY = ServerState(trouble="cannot serve at 127.0.0.1:9157: in use")


def taken(
    meter: ServerMeter, state: ServerState | None, seconds: int, owner: str | None = "PRDQSG"
) -> tuple[Reading, ...]:
    """What is added to the snapshots of a cycle that begins so long after the first one; it is in the right one."""
    snapshots = tuple(Snapshot(each, each == "PRDQSG", 1, BEGIN + seconds * 1000, ()) for each in ("QM01", "PRDQSG"))
    _, group = meter.added(snapshots, owner, state)
    return group.readings


def test_it_is_told_at_once_and_then_once_a_minute() -> None:
    """With counters as increases, and only metrics that there are."""
    meter = ServerMeter()
    (first,) = taken(meter, WELL, 0)
    assert first.object == NAME
    assert first.values.keys() == {metric.name for metric in KINDS["server"].metrics}
    assert (first.values["listening"], first.values["address"], first.values["series"]) == (1, "127.0.0.1:9157", 500)
    assert first.values["pages"] is Absence.FIRST_READING
    assert taken(meter, WELL, 59) == ()
    (second,) = taken(meter, ServerState("127.0.0.1:9157", pages=10, refused=1, series=501), 60)
    assert (second.values["pages"], second.values["refused"], second.interval_ms) == (6, 0, 60_000)


def test_trouble_is_news_and_is_timed() -> None:
    """From the cycle that saw it first; it ends at once."""
    meter = ServerMeter()
    taken(meter, WELL, 0)
    (lost,) = taken(meter, AWAY, 10)
    assert (lost.values["listening"], lost.values["failing_s"], lost.values["trouble"]) == (0, 0, AWAY.trouble)
    assert lost.values["address"] is Absence.NOTHING_TO_TELL
    (still,) = taken(meter, AWAY, 70)
    assert still.values["failing_s"] == 60
    (back,) = taken(meter, WELL, 80)
    assert (back.values["failing_s"], back.values["trouble"]) == (0, Absence.NOTHING_TO_TELL)


def test_a_server_that_is_turned_off_is_gone_and_one_that_never_was_is_not_there() -> None:
    """Also one of an earlier run."""
    assert taken(ServerMeter(), None, 0) == ()
    meter = ServerMeter()
    taken(meter, WELL, 0)
    (gone,) = taken(meter, None, 10)
    assert gone.gone
    assert taken(meter, None, 20) == ()
    again = ServerMeter()
    again.remember(NAME)
    assert [each.gone for each in taken(again, None, 0)] == [True]


def test_while_it_is_not_known_to_whom_it_belongs_nothing_is_told() -> None:
    """As in the first cycles of an agent."""
    meter = ServerMeter()
    meter.remember(NAME)
    assert taken(meter, WELL, 0, owner=None) == ()
    (told,) = taken(meter, WELL, 10)
    assert not told.gone
