"""The engine over snapshots: what is judged, what ends, what is unknown, and that a restart changes nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mqsamples.shipped import engine_rules
from mqvitals_rules.engine import Engine, Evaluation
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity, Standing, Transition, Why, overshadowed
from mqvitals_rules.ruleset.facts import Fact, Facts
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.ruleset.tuning import Tuning
from mqvitals_rules.snapshot import ObjectName, Outcome, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.storage import PURPOSES
from mqvitals_rules.vocabulary.tables import KINDS

BEGIN = 1_000_000
INTERVAL = 10_000
POOL = ObjectName("QM01", "buffer_pool", "0")
QUEUE = ObjectName("QM01", "queue", "ORDERS")


class Desk:
    """An engine with a memory, fed cycle by cycle."""

    def __init__(self, rules: RuleSet | None = None, *facts: Fact, alerts: tuple[Alert, ...] = ()) -> None:
        self.history = MemoryHistory()
        self.rules = rules or engine_rules()
        self.facts = Facts(KINDS, facts)
        self.engine = Engine(self.rules, self.facts, self.history, alerts=alerts)
        self.cycle = 0

    def poll(self, *readings: Reading, group: bool = False) -> Evaluation:
        snapshot = Snapshot(readings[0].object.owner, group, self.cycle + 1, self.now, readings)
        self.cycle += 1
        self.history.add(snapshot)
        return self.engine.evaluate(snapshot)

    @property
    def now(self) -> int:
        return BEGIN + self.cycle * INTERVAL

    def tell(self, name: ObjectName, *, poll: bool = True, answered: bool = True, **values: Reported) -> Reading:
        interval = INTERVAL if self.cycle else None
        return Reading(name, KINDS[name.kind].poll, self.now, values, interval, poll, answered)

    def gone(self, name: ObjectName) -> Reading:
        return Reading(name, KINDS[name.kind].poll, self.now, {}, INTERVAL, gone=True)

    def firing(self) -> dict[str, Severity]:
        return {
            f"{alert.key.rule} {alert.scope}": alert.severity
            for alert in self.engine.open_alerts
            if alert.state is AlertState.FIRING
        }


def pool(desk: Desk, free: Reported, name: ObjectName = POOL) -> Reading:
    return desk.tell(name, free_pct=free, worst_free_pct=free, low_pct=Absence.NEEDS_SMF)


def reasons(evaluation: Evaluation) -> list[Why]:
    return [change.why for change in evaluation.transitions]


def test_an_alert_begins_with_the_poll_that_fulfils_its_hold() -> None:
    """The start of an alert is the time of the snapshot on which it began firing; its words carry the values with their units."""
    desk = Desk()
    desk.poll(pool(desk, 18))
    evaluation = desk.poll(pool(desk, 17))
    [change] = evaluation.transitions
    assert (change.after.state, change.after.since, change.after.started) == (
        AlertState.FIRING,
        BEGIN,
        BEGIN + INTERVAL,
    )
    assert (
        change.after.summary
        == "buffer pool 0 (system): 17 % free, a pool of short-lived messages should stay above 20 %"
    )


def test_only_polled_objects_are_judged() -> None:
    """A reading that is no poll is learnt and judged with the next poll; a rule's hold does not move on."""
    desk = Desk()
    desk.poll(pool(desk, 18))
    assert desk.poll(replace(pool(desk, 18), poll=False)).transitions == ()
    assert reasons(desk.poll(pool(desk, 18))) == [Why.HELD]


def test_two_readings_of_a_cycle_are_one_poll() -> None:
    """A hold counts at most one poll a cycle, even when an object is told of twice."""
    desk = Desk()
    desk.poll(pool(desk, 18), pool(desk, 18))
    assert desk.firing() == {}


def test_a_gone_object_ends_its_alerts() -> None:
    """What no longer exists alerts no more, is not unknown either, and begins anew when it comes back."""
    desk = Desk()
    desk.poll(pool(desk, 3))
    assert "BP-03 QM01/buffer_pool/0" in desk.firing()
    evaluation = desk.poll(desk.gone(POOL))
    assert reasons(evaluation) == [Why.GONE]
    assert desk.engine.open_alerts == ()
    assert reasons(desk.poll(pool(desk, 3))) == [Why.HELD]


def test_unknown_is_counted_by_rule_and_reason() -> None:
    """What cannot be judged is counted for the owner until it can be; it is neither an alert nor silently good."""
    desk = Desk()
    channel = ObjectName("QM01", "channel", "TO.QM02")
    told = desk.tell(
        channel,
        status=3,
        type=1,
        batchsz=50,
        xbatchsz_short=Absence.NOT_COLLECTED,
        msgs=1,
        nettime_us_short=Absence.NOT_COLLECTED,
    )
    other = desk.tell(POOL, worst_free_pct=Absence.NO_ANSWER, answered=False)
    unknown = {(rule, reason): count for rule, reason, count in desk.poll(told, other).unknown}
    assert unknown["CHL-07", Absence.NEEDS_SMF] == 1
    assert unknown["CHL-01", Absence.NOT_COLLECTED] == 1
    assert unknown["BP-03", Absence.NO_ANSWER] == 1
    after = {(rule, reason): count for rule, reason, count in desk.poll(pool(desk, 60)).unknown}
    assert ("BP-03", Absence.NO_ANSWER) not in after
    assert after["CHL-07", Absence.NEEDS_SMF] == 1  # not polled again, so still unknown
    gone = desk.poll(desk.gone(channel)).unknown
    assert [count for count in gone if count.rule.startswith("CHL")] == []


def test_the_reason_is_the_absence_that_matters() -> None:
    """Where one side of an 'or' is known to be false the reason is that of the other side."""
    desk = Desk()
    structure = ObjectName("PRDQSG", "cf_structure", "APPL1")
    evaluation = desk.poll(desk.tell(structure, type=0, entries_pct=10, size_used_pct=Absence.NOT_RETURNED), group=True)
    unknown = {rule: reason for rule, reason, _ in evaluation.unknown}
    assert unknown.pop("CF-03") is Absence.NOT_RETURNED
    assert set(unknown) == {"CF-04"}  # which needs the entries and SMF
    evaluation = desk.poll(desk.tell(structure, type=0, entries_pct=90, size_used_pct=Absence.NOT_RETURNED), group=True)
    assert {rule for rule, _, _ in evaluation.unknown} == {"CF-04"}


def test_three_silent_polls_end_an_alert_as_unknown() -> None:
    """Two polls without an answer keep an alert, the third ends it with that reason."""
    desk = Desk()
    desk.poll(pool(desk, 3))
    silent = [
        desk.poll(desk.tell(POOL, worst_free_pct=Absence.NO_ANSWER, free_pct=Absence.NO_ANSWER, answered=False))
        for _ in range(3)
    ]
    assert [change.why for evaluation in silent for change in evaluation.transitions if change.visible] == [Why.UNKNOWN]
    assert desk.engine.open_alerts == ()


def test_an_overdue_value_is_stale() -> None:
    """A definition that is told no more is believed for three of its intervals, then a rule that needs it says unknown."""
    desk = Desk()

    def told(*, definition: bool) -> Evaluation:
        readings = [desk.tell(QUEUE, depth=5000 + desk.cycle, input_handles=0, dead_letter=0)]
        if definition:
            readings.append(Reading(QUEUE, "INQUIRE_Q", desk.now, {"usage": 0, "max_depth": 9999}, None, poll=False))
        return desk.poll(*readings)

    told(definition=True)
    told(definition=True)
    for _ in range(3):
        assert ("Q-03", Absence.STALE) not in {(rule, reason) for rule, reason, _ in told(definition=False).unknown}
    assert ("Q-03", Absence.STALE) in {(rule, reason) for rule, reason, _ in told(definition=False).unknown}
    assert ("Q-03", Absence.STALE) not in {(rule, reason) for rule, reason, _ in told(definition=True).unknown}


def test_a_definition_without_an_answer_keeps_its_last_values() -> None:
    """An unanswered question about definitions takes nothing away from what is known; an unanswered poll does."""
    desk = Desk()
    desk.poll(
        desk.tell(QUEUE, depth=1, input_handles=0, dead_letter=0),
        Reading(QUEUE, "INQUIRE_Q", desk.now, {"usage": 0, "max_depth": 9999}, poll=False),
    )
    desk.poll(
        desk.tell(QUEUE, depth=2, input_handles=0, dead_letter=0),
        Reading(QUEUE, "INQUIRE_Q", desk.now, {"usage": Absence.NO_ANSWER}, poll=False, answered=False),
    )
    state = desk.engine.latest.state(QUEUE)
    assert state is not None
    assert state.values["usage"] == 0


def test_thresholds_hold_for_the_objects_they_name() -> None:
    """An override counts for what its pattern selects, the last one for what several select; other objects keep the shipped value."""
    tuning = (
        Tuning("BP-03", ObjectPattern.parse("*/buffer_pool/*"), values={"synchronous_write_pct": 30}),
        Tuning("BP-03", ObjectPattern.parse("QM02/buffer_pool/?"), values={"synchronous_write_pct": 10}),
    )
    desk = Desk(RuleSet(engine_rules().rules, KINDS, tuning))
    for owner in ("QM01", "QM02"):
        desk.poll(pool(desk, 25, ObjectName(owner, "buffer_pool", "4")))
    assert set(desk.firing()) == {"BP-03 QM01/buffer_pool/4"}


def test_a_threshold_without_a_pattern_holds_for_all() -> None:
    """Without objects an override counts everywhere."""
    desk = Desk(RuleSet(engine_rules().rules, KINDS, (Tuning("BP-03", values={"synchronous_write_pct": 30}),)))
    desk.poll(pool(desk, 25))
    assert set(desk.firing()) == {"BP-03 QM01/buffer_pool/0"}


def test_a_disabled_rule_does_not_judge() -> None:
    """What is switched off neither fires nor counts as unknown."""
    needs_smf = {f"BP-{number:02}" for number in range(4, 11)}
    desk = Desk(RuleSet(engine_rules().rules, KINDS, disabled=frozenset({"BP-03"}) | needs_smf))
    evaluation = desk.poll(desk.tell(POOL, worst_free_pct=Absence.NO_ANSWER, answered=False))
    assert {count.rule for count in evaluation.unknown} == {"BP-01", "BP-02"}
    desk.poll(pool(desk, 1))
    assert desk.firing() == {}


def test_facts_decide() -> None:
    """A declared purpose takes the place of the default; the last fact that selects an object counts."""
    facts = (
        Fact(
            ObjectPattern.parse("*/buffer_pool/*"),
            "purpose",
            PURPOSES["short_lived"],
        ),
        Fact(ObjectPattern.parse("QM01/buffer_pool/7"), "purpose", PURPOSES["batch"]),
    )
    desk = Desk(None, *facts)
    for _ in range(2):
        desk.poll(*(pool(desk, 10, ObjectName("QM01", "buffer_pool", number)) for number in ("6", "7")))
    assert desk.firing() == {"BP-02 QM01/buffer_pool/6": Severity.WARNING}


def test_a_rule_no_longer_in_force_ends_its_alerts() -> None:
    """Alerts of a rule that was removed or switched off end with the owner's next snapshot, once, and with that reason."""
    desk = Desk()
    desk.poll(pool(desk, 3))
    without = RuleSet(engine_rules().rules, KINDS, disabled=frozenset({"BP-03"}))
    later = Desk(without, alerts=desk.engine.open_alerts)
    elsewhere = later.poll(pool(later, 60, ObjectName("QM02", "buffer_pool", "0")))
    assert elsewhere.transitions == ()
    assert reasons(later.poll(pool(later, 60))) == [Why.TURNED_OFF]
    assert later.poll(pool(later, 60)).transitions == ()


def test_a_refused_form_of_a_command_is_an_alert_of_its_own() -> None:
    """Two forms that are refused are two alerts about one queue manager; each ends when its own form succeeds."""
    desk = Desk()
    plain = ObjectName("QM02", "agent", "INQUIRE_CHANNEL_STATUS")
    scoped = ObjectName("QM02", "agent", "INQUIRE_CHANNEL_STATUS CMDSCOPE(*)")
    refused = desk.poll(*(desk.tell(name, outcome=Outcome.REFUSED.value, reason=3081) for name in (plain, scoped)))
    assert {(str(change.after.key.object), change.after.key.instance) for change in refused.transitions} == {
        ("QM02/queue_manager", "INQUIRE_CHANNEL_STATUS"),
        ("QM02/queue_manager", "INQUIRE_CHANNEL_STATUS CMDSCOPE(*)"),
    }
    ended = desk.poll(desk.tell(plain, outcome=Outcome.OK.value, reason=0))
    assert [change.after.key.instance for change in ended.transitions] == ["INQUIRE_CHANNEL_STATUS"]
    # It is neither refused nor answered: the alert goes on, as of something that was.
    (eased,) = desk.poll(desk.tell(scoped, outcome=Outcome.UNREACHABLE.value, reason=2009)).transitions
    assert (eased.after.state, eased.after.standing) == (AlertState.FIRING, Standing.EASED)
    assert desk.poll(desk.tell(scoped, outcome=Outcome.UNREACHABLE.value, reason=2009)).transitions == ()


def test_related_objects_are_found_through_the_group() -> None:
    """A structure is judged with the number of queue managers, which the group's own object tells."""
    desk = Desk()
    admin = ObjectName("PRDQSG", "cf_structure", "CSQ_ADMIN")
    group = ObjectName("PRDQSG", "qsg")
    desk.poll(desk.tell(group, qmgr_count=10), desk.tell(admin, type=1, entries_max=9362, entries_used=50), group=True)
    assert set(desk.firing()) == {"CF-01 PRDQSG/cf_structure/CSQ_ADMIN"}


def test_the_worst_stage_stands_for_its_family() -> None:
    """A pool at 4 % fires three stages; two of them are overshadowed by the critical one."""
    desk = Desk()
    for free in (18, 18, 12, 12, 4):
        desk.poll(pool(desk, free))
    shadows = overshadowed(desk.engine.open_alerts, engine_rules().ranks)
    assert {(shadowed.rule, by.rule) for shadowed, by in shadows.items()} == {("BP-01", "BP-03"), ("BP-02", "BP-03")}
    # Of two alerts of one severity the rank decides, not the name of the rule.
    equal = [replace(alert, severity=Severity.WARNING) for alert in desk.engine.open_alerts]
    shadows = overshadowed(equal, {"BP-01": 3, "BP-02": 2, "BP-03": 1})
    assert {(shadowed.rule, by.rule) for shadowed, by in shadows.items()} == {("BP-02", "BP-01"), ("BP-03", "BP-01")}


def test_words_of_mq_cannot_steer_a_terminal() -> None:
    """Control characters in a name do not get into an alert's words."""
    desk = Desk()
    evil = ObjectName("QM01", "queue", "A\x1b[2J{depth}")
    for depth in range(1, 6):
        desk.poll(
            desk.tell(
                evil, depth=depth, input_handles=0, usage=0, max_depth=10, dead_letter=0, get_enabled=0, usually_read=1
            )
        )
    [alert] = [alert for alert in desk.engine.open_alerts if alert.key.rule == "Q-03"]
    assert alert.summary.isprintable()
    assert "{depth}" in alert.summary  # and what looks like a field of the template is none


def test_an_observed_snapshot_is_not_judged() -> None:
    """Resuming learns values without counting polls."""
    desk = Desk()
    desk.engine.observe(Snapshot("QM01", False, 1, BEGIN, (pool(desk, 3),)))
    assert desk.engine.open_alerts == ()
    assert desk.engine.latest.state(POOL) is not None


frees = st.lists(st.sampled_from([60, 24, 18, 12, 7, 4, None]), min_size=1, max_size=25)


@settings(max_examples=settings().max_examples)
@given(frees, st.integers(0, 24))
def test_a_restart_changes_nothing(sequence: list[int | None], cut: int) -> None:
    """An engine restored from its open alerts goes on as if the first had never stopped."""

    def run(*, stop: int) -> list[Transition]:
        desk = Desk()
        changes: list[Transition] = []
        for index, free in enumerate(sequence):
            if index == stop:
                desk.engine = Engine(desk.rules, desk.facts, desk.history, alerts=desk.engine.open_alerts)
            value: Reported = Absence.NO_ANSWER if free is None else free
            reading = replace(pool(desk, value), answered=free is not None)
            changes += desk.poll(reading).transitions
        return changes

    assert run(stop=cut) == run(stop=-1)


@pytest.mark.parametrize("text", ["", "QM01", "QM01/", "/queue/X", "QM01//X"])
def test_pattern_that_is_none(text: str) -> None:
    """A pattern has an owner and a kind at least."""
    with pytest.raises(ValueError, match="owner/kind/name"):
        ObjectPattern.parse(text)


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("*/queue/BATCH.*", "QM01/queue/BATCH.FEED", True),
        ("*/queue/BATCH.*", "QM01/queue/XBATCH.FEED", False),
        ("*/queue/BATCH.*", "QM01/channel/BATCH.FEED", False),
        ("QM0?/queue/A/B", "QM02/queue/A/B", True),
        ("QM0?/queue/A.B", "QM02/queue/AxB", False),
        ("*/channel_initiator", "QM02/channel_initiator", True),
        ("QM01/queue", "QM01/queue/ANY", True),
        ("***/queue/*[x]", "QM01/queue/A[x]", True),
    ],
)
def test_patterns(pattern: str, name: str, *, matches: bool) -> None:
    """Stars and question marks are wild; nothing else is, whatever else MQ names may hold."""
    assert ObjectPattern.parse(pattern).matches(ObjectName.parse(name)) is matches
