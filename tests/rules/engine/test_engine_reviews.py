"""Advice on many objects that are new together is judged over the following minutes, and all of it is judged."""

from __future__ import annotations

from collections import Counter

from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Engine, Evaluation
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.rule_state import AT_ONCE, REVIEW_MS
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.tables import KINDS

BEGIN, INTERVAL = 1_000_000, 30_000
EXPAND = KINDS["page_set"].metric("expand_type")
RULE = "PS-04"


def snapshot(cycle: int, count: int) -> Snapshot:
    """So many page sets that do not expand, which is advice."""
    assert EXPAND is not None
    values = {"expand_type": EXPAND.values["NONE"], "total_pages": 1000, "used_pct": 1.0, "status": 0}
    ts = BEGIN + cycle * INTERVAL
    readings = tuple(
        Reading(ObjectName("QM01", "page_set", str(number)), "INQUIRE_USAGE", ts, values, INTERVAL if cycle else None)
        for number in range(count)
    )
    return Snapshot("QM01", False, cycle + 1, ts, readings)


def cycles(count: int, number: int) -> list[Evaluation]:
    """What an engine says of so many page sets in its first cycles."""
    judging = load_rule_config(Settings())
    history = MemoryHistory()
    engine = Engine(judging.rules, judging.facts, history)
    found = []
    for cycle in range(number):
        each = snapshot(cycle, count)
        history.add(each)
        found.append(engine.evaluate(each))
    return found


def advised(evaluation: Evaluation) -> int:
    """How many alerts of the rule began."""
    return sum(change.after.key.rule == RULE and change.before is None for change in evaluation.transitions)


def test_advice_on_few_objects_is_judged_at_once() -> None:
    """As many as one cycle can bear."""
    assert advised(cycles(AT_ONCE, 1)[0]) == AT_ONCE


def test_advice_on_many_objects_is_spread() -> None:
    """No cycle judges much more than its share of them; within the usual time each has been judged, once."""
    many = 4 * AT_ONCE
    within = REVIEW_MS // INTERVAL + 1
    found = [advised(each) for each in cycles(many, within + 1)]
    assert found[0] == AT_ONCE
    share = (many - AT_ONCE) / (within - 1)
    assert all(0.7 * share < each < 1.3 * share for each in found[1:within])
    assert sum(found) == many


def test_what_somebody_should_act_on_is_judged_at_once() -> None:
    """At the first poll of each object, however many are new."""
    many = AT_ONCE + 1
    ids = Counter(each.rule for evaluation in cycles(many, 1) for each in evaluation.unknown for _ in range(each.count))
    assert ids["PS-02"] == many
