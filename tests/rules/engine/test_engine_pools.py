"""The worst that is known of a buffer pool, and rules that count records otherwise than polls."""

from __future__ import annotations

from mqsamples.shipped import engine_rules
from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.lifecycle.alert import AlertState
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

POOL = ObjectName("QM01", "buffer_pool", "1")
BEGIN = 1_763_640_000_000
MINUTE = 60_000


class Desk:
    """An engine with a memory; time is in minutes from the beginning."""

    def __init__(self) -> None:
        self.history = MemoryHistory()
        self.engine = Engine(engine_rules(), Facts(KINDS), self.history)
        self.cycle = 0

    def tell(self, minute: float, *readings: Reading) -> dict[str, Absence]:
        """Take in readings; the rules that are unknown, and why."""
        self.cycle += 1
        snapshot = Snapshot("QM01", False, self.cycle, at(minute), readings)
        self.history.add(snapshot)
        return {each.rule: each.reason for each in self.engine.evaluate(snapshot).unknown}

    def worst(self) -> Reported:
        state = self.engine.latest.state(POOL)
        assert state is not None
        return state.values["worst_free_pct"]

    def firing(self) -> set[str]:
        return {alert.key.rule for alert in self.engine.open_alerts if alert.state is AlertState.FIRING}


def at(minute: float) -> int:
    return BEGIN + round(minute * MINUTE)


def poll(minute: float, free: Reported) -> Reading:
    answered = free is not Absence.NO_ANSWER
    values = {"free_pct": free, "worst_free_pct": free}
    return Reading(POOL, "INQUIRE_USAGE", at(minute), values, MINUTE, answered=answered)


def record(minute: float, **values: Reported) -> Reading:
    return Reading(POOL, "SMF 115-215", at(minute), values, 30 * MINUTE, poll=False, source=Source.SMF)


def low(minute: float, pct: float, free: float = 60) -> Reading:
    return record(minute, low_pct=pct, free_pct=free, worst_free_pct=min(pct, free))


def test_the_worst_is_the_lower_of_poll_and_record() -> None:
    """A newer poll does not hide what a record told of its interval, and a record not what a poll tells now."""
    desk = Desk()
    desk.tell(30, poll(30, 53), low(30, 19))
    assert desk.worst() == 19
    desk.tell(31, poll(31, 53))
    assert desk.worst() == 19
    desk.tell(32, poll(32, 4))
    assert desk.worst() == 4
    desk.tell(60.5, poll(60.5, 70), low(60, 50))
    assert desk.worst() == 50


def test_a_record_is_believed_for_a_time() -> None:
    """Once the record is stale the poll alone is the worst that is known."""
    desk = Desk()
    for minute in range(30, 106):
        desk.tell(minute, poll(minute, 53), *([low(30, 19)] if minute == 30 else []))
        assert desk.worst() == 19
    desk.tell(106, poll(106, 53))
    assert desk.worst() == 53


def test_a_record_does_not_answer_for_a_poll() -> None:
    """Where the poll is without an answer the worst is not known, whatever an older record told."""
    desk = Desk()
    desk.tell(30, poll(30, 53), low(30, 19))
    desk.tell(31, poll(31, Absence.NO_ANSWER))
    assert desk.worst() is Absence.NO_ANSWER


def test_one_record_fires_where_it_takes_two_polls() -> None:
    """The lowest of an interval fires at once; it takes two clean records, or three polls, to end that."""
    recorded, polled = Desk(), Desk()
    recorded.tell(30, low(30, 12))
    polled.tell(30, poll(30, 12))
    assert recorded.firing() == {"BP-02"}
    assert polled.firing() == set()
    polled.tell(31, poll(31, 12))
    assert polled.firing() == {"BP-02"}
    recorded.tell(60, low(60, 40))
    assert recorded.firing() == {"BP-02"}
    recorded.tell(90, low(90, 40))
    assert recorded.firing() == set()
    for minute, firing in ((32, {"BP-02"}), (33, {"BP-02"}), (34, set())):
        polled.tell(minute, poll(minute, 40))
        assert polled.firing() == firing


def test_of_an_object_that_only_records_tell_the_rest_is_unknown() -> None:
    """What neither polls nor its record tell is unknown for a pool that is never polled, not merely silent."""
    desk = Desk()
    unknown = desk.tell(30, record(30, low_pct=60.0, worst_free_pct=60.0, dwt=0, dmc=0))
    assert unknown == dict.fromkeys(("BP-06", "BP-09", "BP-10"), Absence.NEEDS_SMF)
