"""The engine with tuning: what is off ends and stays silent, holds and severities are the site's, and what matches nothing changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity, Transition, Why
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.ruleset.rule import Clear, Hold
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.ruleset.tuning import Tuning
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Reported
from mqvitals_rules.vocabulary.tables import KINDS

INTERVAL = 60_000
AVAILABLE = next(each for each in KINDS["page_set"].metrics if each.name == "status").values["AVAILABLE"]
FOUR, FIVE = ObjectName("QM01", "page_set", "4"), ObjectName("QM01", "page_set", "5")
ONLY_FOUR = ObjectPattern.parse("*/page_set/4")


@cache
def shipped() -> RuleSet:
    """The shipped rules of page sets."""
    every = load_rule_config(Settings()).rules
    return replace(every, rules=tuple(rule for rule in every.rules if rule.scope == "page_set"), compiled={})


class Group:
    """An engine that is told how full page sets are, a minute apart; it may go on with other rules."""

    def __init__(self, *tuning: Tuning) -> None:
        self.history = MemoryHistory()
        self.cycle = 0
        self.alerts: tuple[Alert, ...] = ()
        self.reload(*tuning)

    def reload(self, *tuning: Tuning) -> None:
        rules = replace(shipped(), tuning=tuning)
        self.engine = Engine(rules, Facts(KINDS), self.history, alerts=self.alerts, review_ms=0)

    def poll(self, used_pct: Reported, names: Iterable[ObjectName] = (FOUR, FIVE)) -> Sequence[Transition]:
        self.cycle += 1
        ts = self.cycle * INTERVAL
        values = {"used_pct": used_pct, "status": AVAILABLE, "total_pages": 1000}
        readings = tuple(Reading(name, "INQUIRE_USAGE", ts, values, INTERVAL) for name in names)
        snapshot = Snapshot("QM01", False, self.cycle, ts, readings)
        self.history.add(snapshot)
        found = self.engine.evaluate(snapshot).transitions
        self.alerts = self.engine.open_alerts
        return found

    def firing(self) -> dict[str, Severity]:
        return {
            f"{alert.key.rule} {alert.scope.name}": alert.severity
            for alert in self.alerts
            if alert.state is AlertState.FIRING
        }


def test_a_rule_that_is_off_for_an_object_is_silent_for_it_alone() -> None:
    """Neither an alert nor an unknown verdict of it."""
    group = Group(Tuning("PS-01", ONLY_FOUR, off=True))
    for _ in range(3):
        group.poll(90)
    assert group.firing() == {"PS-01 5": Severity.WARNING}


def test_an_alert_of_a_rule_that_is_turned_off_ends_with_the_reason() -> None:
    """With the next snapshot, once, not as cleared; the other object's goes on."""
    group = Group()
    for _ in range(3):
        group.poll(90)
    group.reload(Tuning("PS-01", ONLY_FOUR, off=True, reason="it is emptied at night"))
    (ended,) = group.poll(90)
    assert (ended.after.scope, ended.after.state, ended.why) == (FOUR, AlertState.RESOLVED, Why.TURNED_OFF)
    assert ended.visible
    assert ended.after.why_text == "turned off by the settings (it is emptied at night)"
    assert group.firing() == {"PS-01 5": Severity.WARNING}
    assert not group.poll(90)
    # Turned on again it begins anew, after its hold.
    group.reload()
    group.poll(90)
    assert [each.why for each in group.poll(90) if each.visible] == [Why.HELD]


def test_another_severity_holds_for_open_alerts_too() -> None:
    """From the next poll on; the cases of the rule no longer count."""
    group = Group()
    for _ in range(3):
        group.poll(90)
    group.reload(Tuning("PS-01", ONLY_FOUR, severity=Severity.CRITICAL), Tuning("PS-01", severity=Severity.INFO))
    assert {change.why for change in group.poll(97)} >= {Why.SEVERITY_CHANGED}
    assert {each: severity for each, severity in group.firing().items() if each.startswith("PS-01")} == {
        "PS-01 4": Severity.INFO,
        "PS-01 5": Severity.INFO,
    }
    group.reload(Tuning("PS-01", ONLY_FOUR, severity=Severity.CRITICAL))
    raised = [change for change in group.poll(90) if change.after.scope == FOUR and change.visible]
    assert [(each.after.severity, each.why) for each in raised] == [(Severity.CRITICAL, Why.SEVERITY_CHANGED)]


def test_another_hold_and_clear() -> None:
    """The object waits for its own, the other one for the rule's."""
    group = Group(Tuning("PS-01", ONLY_FOUR, hold=Hold(duration_ms=5 * INTERVAL), clear=Clear(polls=1)))
    begun: dict[str, int] = {}
    for cycle in range(8):
        group.poll(90)
        for name in group.firing():
            begun.setdefault(name, cycle)
    assert begun == {"PS-01 5": 1, "PS-01 4": 5}
    group.poll(10)
    assert group.firing() == {"PS-01 5": Severity.WARNING}


NAMES = (FOUR, FIVE, ObjectName("QM01", "page_set", "17"))
NOTHING = ("QM9?/page_set/*", "*/page_set/X*", "QM01/queue/4", "QM9*/*", "*/page_set/44")

tunings = st.builds(
    Tuning,
    rule=st.sampled_from([str(rule.id) for rule in shipped().rules] + ["Q-03"]),
    objects=st.sampled_from(NOTHING).map(ObjectPattern.parse),
    off=st.sampled_from((None, True, False)),
    severity=st.sampled_from((None, *Severity)),
    hold=st.sampled_from((None, Hold(5), Hold(duration_ms=1))),
    clear=st.sampled_from((None, Clear(polls=1))),
)


@given(st.lists(tunings, max_size=6), st.lists(st.integers(0, 100), min_size=1, max_size=8))
def test_tuning_that_matches_nothing_changes_nothing(entries: list[Tuning], used: list[int]) -> None:
    """The same transitions at each poll as without it, whatever it would change."""
    plain, tuned = Group(), Group(*entries)
    for value in used:
        assert plain.poll(value, NAMES) == tuned.poll(value, NAMES)


@given(st.lists(tunings, max_size=6))
def test_tuning_that_matches_nothing_gives_the_very_same_rules(entries: list[Tuning]) -> None:
    """Objects share one tuple of them, so that the engine keeps one group of rules."""
    rules = replace(shipped(), tuning=tuple(entries))
    assert {id(rules.rules_for(name)) for name in NAMES} == {id(rules.rules_for(FOUR))}
