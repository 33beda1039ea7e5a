"""The engine over records: they come late and by the half hour, beside polls by the half minute."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.latest import LatestValues
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Transition, Why
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.ruleset.pack import decode_packs
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

BEGIN = 1_763_640_000_000
MINUTE = 60_000
HALF_HOUR = 30 * MINUTE
CHIN = ObjectName("QM01", "channel_initiator")
QUEUE = ObjectName("QM01", "queue", "ORDERS")

PACK = """
rules:
  - {common}
    id: T-01
    when: failed_gets > 5
  - {common}
    id: T-02
    when: rate(failed_gets, "10m") > 0.01
  - {common}
    id: T-03
    when: depth > 10 and avg(depth_max, "10m") > 10
  - {common}
    id: T-04
    when: depth > 10
""".replace(
    "{common}",
    """title: A test
    kind: operational
    scope: queue
    hold: {polls: 2}
    clear: {polls: 1}
    severity: warning
    summary: "{name}"
    advice: None.
    caveat: None.
    source:
      - {document: None, section: None}
    needs: [nothing]""",
)


@cache
def rules() -> RuleSet:
    found, problems = decode_packs([("test.yaml", PACK)], KINDS)
    assert not problems, problems
    return RuleSet(found, KINDS)


class Desk:
    """An engine with a memory. Time is in minutes from the beginning."""

    def __init__(self, alerts: tuple[Alert, ...] = (), history: MemoryHistory | None = None) -> None:
        self.history = history or MemoryHistory()
        self.engine = Engine(rules(), Facts(KINDS), self.history, alerts=alerts)
        self.cycle = 0

    def tell(self, minute: float, *readings: Reading) -> list[tuple[str, Why, float]]:
        self.cycle += 1
        snapshot = Snapshot("QM01", False, self.cycle, at(minute), readings)
        self.history.add(snapshot)
        changes = self.engine.evaluate(snapshot).transitions
        return [(change.after.key.rule, change.why, (change.after.updated - BEGIN) / MINUTE) for change in changes]

    def unknown(self, minute: float, *readings: Reading) -> dict[tuple[str, Absence], int]:
        self.cycle += 1
        snapshot = Snapshot("QM01", False, self.cycle, at(minute), readings)
        self.history.add(snapshot)
        return {(each.rule, each.reason): each.count for each in self.engine.evaluate(snapshot).unknown}

    def firing(self) -> set[str]:
        return {alert.key.rule for alert in self.engine.open_alerts if alert.state is AlertState.FIRING}


def at(minute: float) -> int:
    return BEGIN + round(minute * MINUTE)


def poll(minute: float, answered: bool = True, **values: Reported) -> Reading:
    return Reading(QUEUE, "INQUIRE_Q_STATUS", at(minute), values, 30_000, answered=answered)


def record(minute: float, probe: str = "STATQ", length: int = 30, **values: Reported) -> Reading:
    return Reading(QUEUE, probe, at(minute), values, length * MINUTE, poll=False, source=Source.STATISTICS)


def test_a_record_is_the_poll_of_a_rule_about_records() -> None:
    """A hold of two counts two records however many polls lie between, and its alert is dated by the records' ends."""
    desk = Desk()
    assert desk.tell(30.5, poll(30.5, depth=1), record(30, failed_gets=6)) == [("T-01", Why.CONDITION_HOLDS, 30)]
    for minute in range(31, 60):
        assert desk.tell(minute, poll(minute, depth=1)) == []
    assert desk.tell(60.5, poll(60.5, depth=1), record(60, failed_gets=7)) == [("T-01", Why.HELD, 60)]
    assert desk.tell(91, poll(91, depth=1), record(90, failed_gets=0)) == [("T-01", Why.CLEARED, 90)]


def test_polls_are_judged_as_ever() -> None:
    """A rule about what polls tell counts polls, and takes no record for one."""
    desk = Desk()
    assert desk.tell(1, poll(1, depth=11)) == [("T-04", Why.CONDITION_HOLDS, 1)]
    assert desk.tell(2, record(2, failed_gets=0)) == []
    assert desk.tell(2.5, poll(2.5, depth=11)) == [("T-04", Why.HELD, 2.5)]


def test_an_object_that_is_never_polled_is_judged_by_its_records() -> None:
    """Records alone are enough for the rules about them."""
    desk = Desk()
    desk.tell(30, record(30, failed_gets=6))
    desk.tell(60, record(60, failed_gets=6))
    assert desk.firing() == {"T-01"}


def test_a_late_record_changes_nothing_now() -> None:
    """A record that is older than the newest neither replaces a value nor opens, holds or ends an alert."""
    desk = Desk()
    desk.tell(60, record(60, failed_gets=0))
    assert desk.tell(61, record(30, failed_gets=9)) == []
    state = desk.engine.latest.state(QUEUE)
    assert state is not None
    assert state.values["failed_gets"] == 0
    assert desk.tell(90, record(90, failed_gets=6)) == [("T-01", Why.CONDITION_HOLDS, 90)]
    assert desk.tell(91, record(60, failed_gets=6)) == []


def test_a_record_told_again_is_not_judged_again() -> None:
    """The same record is one poll, in the same snapshot and in a later one."""
    desk = Desk()
    told = record(30, failed_gets=6)
    assert len(desk.tell(30, told, told)) == 1
    assert desk.tell(31, told) == []


def test_records_that_come_at_once_are_judged_one_after_another() -> None:
    """Each sees what was known at its end, and nothing of the records after it; in whatever order they stand."""
    desk = Desk()
    found = desk.tell(
        40,
        record(40, length=10, failed_gets=0),
        record(20, length=10, failed_gets=7),
        record(30, length=10, failed_gets=8),
    )
    assert found == [
        ("T-01", Why.CONDITION_HOLDS, 20),
        ("T-02", Why.CONDITION_HOLDS, 20),
        ("T-01", Why.HELD, 30),
        ("T-02", Why.HELD, 30),
        ("T-01", Why.CLEARED, 40),
        ("T-02", Why.CLEARED, 40),
    ]


def test_what_is_past_opens_no_alert() -> None:
    """A record of yesterday fills the past; nobody is told that it was bad then."""
    desk = Desk()
    assert desk.tell(24 * 60, record(30, failed_gets=9), record(60, failed_gets=9)) == []
    assert len(desk.history.points(QUEUE, "failed_gets", 0)) == 2


def test_a_record_is_fresh_for_two_and_a_half_of_its_intervals() -> None:
    """Polls by the half minute do not make it stale; when the records end, what they told is unknown and their alerts end."""
    desk = Desk()
    desk.tell(30, record(30, failed_gets=6), poll(30, depth=1))
    desk.tell(60, record(60, failed_gets=6), poll(60, depth=1))
    for minute in range(61, 136):
        assert desk.tell(minute, poll(minute, depth=1)) == []
    assert desk.firing() == {"T-01"}
    assert desk.unknown(136, poll(136, depth=1))["T-01", Absence.STALE] == 1
    desk.tell(137, poll(137, depth=1))
    assert ("T-01", Why.UNKNOWN, 138) in desk.tell(138, poll(138, depth=1))


def test_a_window_holds_the_newest_record_while_it_is_fresh() -> None:
    """A rule about polls and records looks back from the end of the newest record: ten minutes are covered by its thirty."""
    desk = Desk()
    desk.tell(30, record(30, depth_max=20), poll(30, depth=1))
    assert desk.tell(55, poll(55, depth=11)) == [("T-03", Why.CONDITION_HOLDS, 55), ("T-04", Why.CONDITION_HOLDS, 55)]
    assert ("T-03", Why.HELD, 56) in desk.tell(56, poll(56, depth=11))
    desk.tell(60, record(60, depth_max=5))
    assert ("T-03", Why.CLEARED, 61) in desk.tell(61, poll(61, depth=11))


def test_before_the_first_record_a_rule_is_unknown_for_want_of_records() -> None:
    """As ever: polls judge it and say what is missing; the first record settles it."""
    desk = Desk()
    assert desk.unknown(1, poll(1, depth=1))["T-01", Absence.NEEDS_SMF] == 1
    assert not any(rule == "T-01" for rule, _ in desk.unknown(2, poll(2, depth=1), record(2, failed_gets=0)))


def test_a_restart_goes_on_from_the_newest_record() -> None:
    """An engine that learns the stored record first leaves the open alert alone until the next record."""
    desk = Desk()
    told = record(60, failed_gets=6)
    desk.tell(30, record(30, failed_gets=6))
    desk.tell(60, told)
    anew = Desk(desk.engine.open_alerts, desk.history)
    anew.engine.observe(Snapshot("QM01", False, 0, 0, (told,)))
    for minute in range(61, 70):
        assert anew.tell(minute, poll(minute, depth=1)) == []
    assert anew.tell(70, told) == []
    assert anew.tell(91, record(90, failed_gets=0)) == [("T-01", Why.CLEARED, 90)]


@pytest.mark.parametrize(("end", "back"), [(40, False), (59, False), (60, True)])
def test_a_record_from_before_an_object_went_is_not_about_it_now(end: int, back: bool) -> None:
    """A deleted object comes back only with a record that began after that."""
    desk = Desk()
    desk.tell(1, poll(1, depth=1))
    desk.tell(30, Reading(QUEUE, "INQUIRE_Q_STATUS", at(30), {}, gone=True))
    desk.tell(60, record(end, failed_gets=9))
    assert (desk.engine.latest.state(QUEUE) is not None) is back
    assert bool(desk.engine.open_alerts) is back


def test_of_polls_and_records_the_newer_counts() -> None:
    """A metric of both: the newest by time, a value before a mere absence, but not before a poll without answer."""
    world = LatestValues(KINDS, Facts(KINDS))

    def now(*readings: Reading) -> Reported | None:
        world.learn(Snapshot("QM01", False, 1, at(0), readings))
        state = world.state(QUEUE)
        assert state is not None
        return state.values.get("depth")

    assert now(poll(1, depth=1)) == 1
    assert now(record(2, depth=2)) == 2
    assert now(poll(3, depth=3)) == 3
    assert now(record(2.5, depth=4)) == 3
    assert now(poll(4, depth=Absence.NOT_COLLECTED)) == 4
    assert now(poll(5, answered=False, depth=Absence.NO_ANSWER)) is Absence.NO_ANSWER
    assert now(record(4.5, depth=5)) is Absence.NO_ANSWER
    assert now(record(6, depth=6)) == 6
    assert now(record(7, depth=Absence.RESET)) is Absence.RESET
    assert now(record(8, depth=8), record(9, "OTHER", depth=Absence.RESET)) == 8


@given(
    order=st.permutations(list(range(6))),
    cuts=st.sets(st.integers(1, 5)),
    again=st.integers(0, 5),
    polled=st.booleans(),
)
def test_any_order_of_records_is_the_same_world(order: list[int], cuts: set[int], again: int, polled: bool) -> None:
    """However records are ordered, cut into snapshots and repeated, values and windows are the same in the end."""
    records = [
        *(record(30 * number, failed_gets=number, depth_max=number) for number in range(1, 4)),
        record(120, failed_gets=Absence.RESET, depth_max=4),
        record(75, "OTHER", gets=5, depth_max=50),
        record(60, "OTHER", gets=6),
    ]

    def outcome(snapshots: list[list[Reading]]) -> object:
        desk = Desk()
        desk.tell(0, poll(0, depth=1, depth_max=Absence.NEEDS_SMF))
        for readings in snapshots:
            desk.tell(120, *readings, *([poll(120, depth=1, depth_max=Absence.NEEDS_SMF)] if polled else []))
        state = desk.engine.latest.state(QUEUE)
        assert state is not None
        windows = [desk.history.points(QUEUE, metric, 0) for metric in ("failed_gets", "depth_max", "gets")]
        return state.values, state.recorded, state.from_records, windows

    shuffled = [records[place] for place in order]
    bounds = [0, *sorted(cuts), len(shuffled)]
    assert outcome([shuffled[a:b] for a, b in pairwise(bounds)] + [[records[again]]]) == outcome([records])


@given(
    bad=st.lists(st.booleans(), min_size=1, max_size=8),
    polls=st.integers(0, 5),
    lag=st.integers(0, 25),
)
def test_polls_between_records_change_nothing_about_their_rules(bad: list[bool], polls: int, lag: int) -> None:
    """An alert about records goes the same way whether polls come between them or not, and whenever they arrive."""

    def life(between: int, delay: int) -> list[tuple[str, Why, float]]:
        desk = Desk()
        changes: list[tuple[str, Why, float]] = []
        for number, is_bad in enumerate(bad, 1):
            changes += desk.tell(30 * number + delay, record(30 * number, failed_gets=9 if is_bad else 0))
            for count in range(between):
                minute = 30 * number + delay + (count + 1) * 0.5
                changes += desk.tell(minute, poll(minute, depth=1))
        return [change for change in changes if change[0] == "T-01"]

    assert life(polls, lag) == life(0, 0)


def test_transitions_are_of_one_alert() -> None:
    """The alert of records has one beginning and one end, with the times of the records."""
    desk = Desk()
    found: list[Transition] = []
    for number, value in enumerate((9, 9, 0), 1):
        snapshot = Snapshot("QM01", False, number, at(30 * number + 5), (record(30 * number, failed_gets=value),))
        desk.history.add(snapshot)
        found += desk.engine.evaluate(snapshot).transitions
    last = [change.after for change in found if change.after.key.rule == "T-01"][-1]
    assert (last.since, last.started, last.ended) == (at(30), at(60), at(90))
