"""The engine: which alert explains which, and how often what is no matter of minutes is judged."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.lifecycle.alert import AlertState, overshadowed
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.ruleset.pack import decode_packs
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Reported
from mqvitals_rules.vocabulary.tables import KINDS

RULES = (
    ("POOL", "operational", "buffer_pool", "free < 10", "critical", ""),
    ("PAGES", "operational", "page_set", "used_pct > 90", "warning", "POOL"),
    ("DEPTH", "operational", "queue", "depth > 5", "warning", "PAGES, POOL"),
    ("ADVICE", "review", "queue", "max_depth > 5", "info", ""),
)


def rules() -> RuleSet:
    text = "rules:"
    for name, kind, scope, when, severity, causes in RULES:
        text += f"""
  - {{id: {name}, title: t, kind: {kind}, scope: {scope}, when: {when}, clear: {{polls: 1}}, severity: {severity}, summary: s,
     advice: a, caveat: c, source: {{document: d, section: s}}, caused_by: [{causes}]}}"""
    decoded, problems = decode_packs([("own.yaml", text)], KINDS)
    assert not problems
    return RuleSet(decoded, KINDS)


Values = Mapping[str, Reported]


class Desk:
    def __init__(self, **options: int) -> None:
        self.history = MemoryHistory()
        self.engine = Engine(rules(), Facts(KINDS), self.history, **options)  # type: ignore[arg-type]
        self.cycle = 0

    def poll(self, seconds: int = 10, **objects: Values) -> None:
        """One cycle; ``queue_A={...}`` tells of QM01/queue/A."""
        self.cycle += seconds
        ts = self.cycle * 1000
        readings = []
        for word, values in objects.items():
            kind, name = word.rsplit("_", 1)
            readings.append(Reading(ObjectName("QM01", kind, name), KINDS[kind].poll, ts, values, 10_000))
        snapshot = Snapshot("QM01", False, self.cycle, ts, tuple(readings))
        self.history.add(snapshot)
        self.last = self.engine.evaluate(snapshot)

    def causes(self) -> dict[str, str | None]:
        return {
            f"{alert.key.rule} {alert.key.object.name}": alert.cause.rule if alert.cause else None
            for alert in self.engine.open_alerts
            if alert.state is AlertState.FIRING
        }


def test_a_chain_over_related_objects() -> None:
    """The queue's page set and its pool, by what the queue and the page set say; another queue's trouble is its own."""
    desk = Desk()
    bad: dict[str, Any] = {
        "buffer_pool_3": {"free": 5},
        "page_set_4": {"used_pct": 95, "buffer_pool": 3},
        "queue_A": {"depth": 9, "page_set": 4},
        "queue_B": {"depth": 9, "page_set": 5},
    }
    desk.poll(**bad)
    desk.poll(**bad)
    # Of two causes of A the pool is the more severe.
    assert desk.causes() == {"POOL 3": None, "PAGES 4": "POOL", "DEPTH A": "POOL", "DEPTH B": None}
    covered = overshadowed(desk.engine.open_alerts, {})
    assert {f"{key.rule} {key.object.name}" for key in covered} == {"PAGES 4", "DEPTH A"}
    desk.poll(**(bad | {"buffer_pool_3": {"free": 50}}))
    assert desk.causes() == {"PAGES 4": None, "DEPTH A": "PAGES", "DEPTH B": None}
    # What changed is told to the store, though nobody is called for it.
    assert {change.after.key.rule: change.visible for change in desk.last.transitions} == {
        "POOL": True,
        "PAGES": False,
        "DEPTH": False,
    }


MESSAGE_AND_FIGURE = """
rules:
  - {id: MESSAGE, title: t, kind: operational, scope: log, when: used_pct > 90, severity: critical, summary: s, hold: {polls: 1},
     advice: a, caveat: c, source: {document: d, section: s}, same_incident: [FIGURE]}
  - {id: FIGURE, title: t, kind: operational, scope: log, when: full_logs >= 3, severity: warning, summary: s, hold: {polls: 1},
     severity_if: [{when: full_logs >= 4, severity: critical}], advice: a, caveat: c, source: {document: d, section: s}}
"""


@pytest.mark.parametrize(
    ("polls", "explained"),
    [
        ([(95, 4)], "MESSAGE"),  # equal, and at the same poll: by name
        ([(95, 0), (95, 4)], "FIGURE"),  # equal: the message was first
        ([(50, 4), (95, 4)], "MESSAGE"),  # equal: the figure was first
        ([(50, 3), (95, 3)], "FIGURE"),  # the message is more severe
    ],
)
def test_of_two_reports_of_an_incident_one_explains_the_other(polls: list[tuple[int, int]], explained: str) -> None:
    """The more severe one, of equally severe ones the first, though only one of the rules names the other."""
    decoded, problems = decode_packs([("own.yaml", MESSAGE_AND_FIGURE)], KINDS)
    assert not problems
    history = MemoryHistory()
    engine = Engine(RuleSet(decoded, KINDS), Facts(KINDS), history)
    for cycle, (used, full) in enumerate(polls, 1):
        reading = Reading(
            ObjectName("QM01", "log"), "INQUIRE_LOG", cycle, {"used_pct": used, "full_logs": full}, 10_000
        )
        snapshot = Snapshot("QM01", False, cycle, cycle, (reading,))
        history.add(snapshot)
        engine.evaluate(snapshot)
    causes = {alert.key.rule: alert.cause and alert.cause.rule for alert in engine.open_alerts}
    assert causes == {"MESSAGE": None, "FIGURE": None} | {explained: next(iter({"MESSAGE", "FIGURE"} - {explained}))}


def test_causes_outlive_a_restart() -> None:
    desk = Desk()
    bad: dict[str, Any] = {"buffer_pool_3": {"free": 5}, "page_set_4": {"used_pct": 95, "buffer_pool": 3}}
    desk.poll(**bad)
    restarted = Engine(rules(), Facts(KINDS), desk.history, alerts=desk.engine.open_alerts)
    snapshot = Snapshot("QM01", False, 99, 99_000, ())
    # Nothing is known yet of how objects belong together.
    assert restarted.evaluate(snapshot).transitions == ()
    moved = Reading(ObjectName("QM01", "page_set", "4"), "INQUIRE_USAGE", 100_000, {"used_pct": 95, "buffer_pool": 2})
    told = restarted.evaluate(Snapshot("QM01", False, 100, 100_000, (moved,))).transitions
    assert [(change.after.key.rule, change.after.cause) for change in told] == [("PAGES", None)]


def test_advice_is_given_at_once_and_then_every_few_minutes() -> None:
    desk = Desk()
    advised = []
    for _ in range(120):
        desk.poll(queue_A={"depth": 0, "max_depth": 9 if desk.cycle % 20 else 1})
        if any(change.after.key.rule == "ADVICE" for change in desk.last.transitions):
            advised.append(desk.cycle)
    assert advised
    assert all(later - earlier >= 40 for earlier, later in pairwise(advised))
    calm = Desk()
    calm.poll(queue_A={"depth": 0, "max_depth": 9})
    assert calm.causes() == {"ADVICE A": None}


def test_how_often_can_be_said() -> None:
    desk = Desk(review_ms=0)
    desk.poll(queue_A={"depth": 0, "max_depth": 9})
    desk.poll(queue_A={"depth": 0, "max_depth": 1})
    assert desk.causes() == {}
    desk.poll(queue_A={"depth": 0, "max_depth": 9})
    assert desk.causes() == {"ADVICE A": None}
