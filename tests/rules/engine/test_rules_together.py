"""All rules of an object in one compiled function say what each says by itself: verdicts, first absences, alerts, what is unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from mqvitals_config.settings import Settings
from mqvitals_rules import rule_state
from mqvitals_rules.compiled_rule import compile_rule
from mqvitals_rules.engine import Engine, Evaluation
from mqvitals_rules.expression.compiler import EvaluateTogether, compile_together
from mqvitals_rules.expression.node import Condition
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.ruleset.pack import decode_packs
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType, Reported
from mqvitals_rules.vocabulary.tables import KINDS

INTERVAL = 60_000
CYCLES = 25
ABSENT = (Absence.NOT_RETURNED, Absence.NOT_COLLECTED, Absence.NOT_ASKED)
NUMBERS = (0, 1, 3, 50, 99, 4096, 1e6, 1e12)
OVERFLOWING = 10**300
"""An int whose square no float holds: to divide that raises OverflowError."""
RATIO = """rules:
  - {id: RATIO, title: t, kind: operational, scope: queue, when: depth * max_depth / input_handles > 1, severity: info,
     summary: s, advice: a, caveat: c, source: {document: d, section: s}}"""


def value_of(metric: Metric, random: Random, *, huge: bool) -> Reported:
    if random.random() < 0.15:
        return random.choice(ABSENT)
    if metric.type is MetricType.TEXT:
        return random.choice(("SYSTEM.A", "0", "1", "ORDERS", "APPL1"))
    if metric.type is MetricType.STATE:
        return random.choice(list(metric.values.values()) or [0, 1])
    return OVERFLOWING if huge and random.random() < 0.5 else random.choice(NUMBERS)


def values_of(kind: Kind, random: Random, *, huge: bool) -> dict[str, Reported]:
    told = [metric for metric in kind.metrics if not metric.declared and random.random() < 0.9]
    return {metric.name: value_of(metric, random, huge=huge) for metric in told}


def snapshots(seed: int, *, huge: bool = False) -> list[Snapshot]:
    """Polls of two objects of each kind; most of what was said stays as it was at the poll before."""
    random = Random(seed)
    names = [
        ObjectName("QM01", kind.name, "" if kind.single else name)
        for kind in KINDS.values()
        if not kind.of_group
        for name in (("",) if kind.single else ("0", "ORDERS"))
    ]
    values = {name: values_of(KINDS[name.kind], random, huge=huge) for name in names}
    made = []
    for cycle in range(1, CYCLES + 1):
        now = cycle * INTERVAL
        for name in names:
            if random.random() < 0.3:
                values[name] = values_of(KINDS[name.kind], random, huge=huge)
        readings = tuple(
            Reading(name, KINDS[name.kind].poll, now, values[name], INTERVAL if cycle > 1 else None) for name in names
        )
        made.append(Snapshot("QM01", False, cycle, now, readings))
    return made


def all_rules() -> RuleSet:
    """The shipped ones, and one whose calculation can overflow."""
    shipped = load_rule_config(Settings()).rules
    added, problems = decode_packs([("ours.yaml", RATIO)], KINDS)
    assert not problems
    return replace(shipped, rules=(*shipped.rules, *added), compiled={})


def evaluations(rules: RuleSet, given: list[Snapshot], *, console: bool = False) -> list[Evaluation]:
    judging, history = load_rule_config(Settings()), MemoryHistory()
    if console:
        history.follow("QM01")
    engine = Engine(rules, judging.facts, history, review_ms=2 * INTERVAL)
    found = []
    for snapshot in given:
        history.add(snapshot)
        found.append(engine.evaluate(snapshot))
    return found


@pytest.mark.parametrize(("seed", "huge"), [(1, False), (2, False), (3, True)])
def test_together_rules_say_what_each_says(seed: int, huge: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = all_rules()
    given = snapshots(seed, huge=huge)
    monkeypatch.setattr(rule_state, "_OFTEN", 1 << 60)
    alone = evaluations(rules, given)
    monkeypatch.setattr(rule_state, "_OFTEN", 3)
    together = evaluations(rules, given)
    assert any(evaluation.transitions for evaluation in alone)
    assert any(evaluation.unknown for evaluation in alone)
    assert together == alone


def alike(given: list[Snapshot]) -> list[Snapshot]:
    """The same, with two more objects beside each that report what it does."""
    return [
        replace(
            snapshot,
            readings=tuple(
                replace(reading, object=reading.object._replace(name=name))
                for reading in snapshot.readings
                for name in (
                    (reading.object.name,)
                    if KINDS[reading.object.kind].single
                    else (reading.object.name, f"{reading.object.name}.2", f"{reading.object.name}.3")
                )
            ),
        )
        for snapshot in given
    ]


@pytest.mark.parametrize(("seed", "console"), [(5, False), (6, True)])
def test_what_is_unknown_of_alike_objects_is_what_each_lacks(
    seed: int, console: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Verdicts that another object had are noted and counted as each would be; values of later polls take them back."""
    rules = all_rules()
    given = alike(snapshots(seed)[:6])
    monkeypatch.setattr(rule_state, "_OFTEN", 3)
    taken: list[int] = []
    take_alike = rule_state.RuleGroup.take_alike

    def counted(group: Any, verdicts: Any, *others: Any) -> Any:
        left = take_alike(group, verdicts, *others)
        taken.append(len(verdicts) - len(left))
        return left

    monkeypatch.setattr(rule_state.RuleGroup, "take_alike", counted)
    together = evaluations(rules, given, console=console)
    assert sum(taken) > 100
    monkeypatch.setattr(rule_state, "_ALIKE", 0)
    taken.clear()
    alone = evaluations(rules, given, console=console)
    assert not any(taken)
    assert together == alone


def test_of_a_plain_condition_the_first_absence_met_is_the_reason() -> None:
    """As a detailed look finds it. The console is followed, queues of events are not."""
    rules = load_rule_config(Settings()).rules
    compiled = {str(rule.id): compile_rule(rule, KINDS) for rule in rules.rules}
    plain = [each for each in compiled.values() if each.plain]
    assert any(each.when.messages for each in plain)
    detailed = {name: replace(each, plain=False) for name, each in compiled.items()}
    given = snapshots(4)
    found = evaluations(replace(rules, compiled=compiled), given, console=True)
    assert found == evaluations(replace(rules, compiled=detailed), given, console=True)
    assert {each.rule for each in found[-1].unknown} & {each.id for each in plain if each.when.messages}


def test_rules_are_compiled_together_once_they_are_judged_often(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def counted(conditions: Sequence[tuple[int, Condition]], unreported: Mapping[str, Absence]) -> EvaluateTogether:
        made.append(1)
        return compile_together(conditions, unreported)

    monkeypatch.setattr(rule_state, "compile_together", counted)
    monkeypatch.setattr(rule_state, "_OFTEN", CYCLES)
    rules = all_rules()
    evaluations(rules, snapshots(1)[: CYCLES // 2])
    assert not made, "few polls: nothing is compiled twice"
    evaluations(rules, snapshots(1))
    assert made
