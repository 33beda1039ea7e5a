"""Rules and their PromQL come to the same, judged by promtool over random pasts. Opt-in: ``make tools``."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mqsamples.tools import needed
from mqvitals_agent.openmetrics.labels import text_of
from mqvitals_agent.openmetrics.names import family_of, labels_of
from mqvitals_agent.promql.condition import Translation
from mqvitals_agent.promql.rule_file import ExportedRule, exported, rule_file
from mqvitals_rules.compiled_rule import compile_rule
from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.ruleset.pack import decode_packs
from mqvitals_rules.ruleset.rule import Rule
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

PROMTOOL = needed("promtool")

INTERVAL_S = 10
POLLS = 30
QUEUES = 20
INITIATOR = ObjectName("QM01", "channel_initiator")
CONDITIONS = (
    "depth > 5 and input_handles == 0",
    "not (depth > 5 and not input_handles == 0)",
    "depth >= 0.5 * max_depth",
    "max(2, 0.5 * max_depth) <= depth",
    "min(depth, max_depth) > 4",
    "depth / input_handles > 3",
    "3 < depth <= 7 or usage == XMITQ",
    "usage in (NORMAL, XMITQ) and depth * 2 - max_depth > 0",
    "depth > 3 and (not present(last_put_age_s) or last_put_age_s > 4)",
    "depth > 3 and not present(last_put_age_s)",
    "service_interval_ms >= 7",
    "service_interval_ms > depth * 1.5",
    'not startswith(name, "A.") and depth > 2',
    'name != "A.3" and depth > 2',
    "depth > 2 and channel_initiator.status == RUNNING",
    "depth > channel_initiator.actchl",
    "channel_initiator.actchl + depth > 8",
)
OVER_TIME = (
    'min(depth, "65s") > 1',
    'max(depth, "65s") < 9 and depth > 0',
    'avg(depth, "65s") >= 5',
    'median(depth, "65s") > 5',
    'delta(puts, "1m") > 25',
    'rate(puts, "1m") > 0.5 and depth > 3',
    'unchanged(usage, "65s") and depth > 3',
)
"""The windows over gauges begin between two samples: one at the very begin of a window belongs to it in Prometheus 2 alone."""
SETTLED = 15
"""A window counts as covered in the rule language a little earlier; by this poll all alerts have forgotten that."""

PACK = """
  - id: R-{number}
    title: deep
    kind: operational
    scope: queue
    when: '{when}'
    hold: {{polls: {hold}}}
    clear: {{polls: {clear}}}
    severity: warning
    summary: deep
    advice: a
    caveat: c
    source: {{document: d, section: s}}
"""

Values = Mapping[str, Any]


def rules_of(conditions: Sequence[str], hold: int, clear: int) -> tuple[Rule, ...]:
    """A rule for each condition."""
    packs = [PACK.format(number=number, when=when, hold=hold, clear=clear) for number, when in enumerate(conditions)]
    decoded, problems = decode_packs([("own.yaml", "rules:" + "".join(packs))], KINDS)
    assert not problems
    return tuple(decoded)


def past(seed: int, *, absent: float) -> list[dict[ObjectName, Values]]:
    """The values of all objects at each poll; ``absent`` is the share of values that are."""
    chance = random.Random(seed)

    def value(present: int) -> int | Absence:
        return Absence.NOT_COLLECTED if chance.random() < absent else present

    polls = []
    usages = [0] * QUEUES
    for _ in range(POLLS):
        found: dict[ObjectName, Values] = {
            INITIATOR: {"status": value(chance.choice((0, 2))), "actchl": value(chance.randrange(10))}
        }
        for number in range(QUEUES):
            if chance.random() < 0.05:
                usages[number] = 1 - usages[number]
            found[ObjectName("QM01", "queue", f"{'AB'[number % 2]}.{number}")] = {
                "depth": value(chance.randrange(11)),
                "max_depth": value(chance.choice((4, 8, 10))),
                "input_handles": value(chance.randrange(3)),
                "usage": value(usages[number]),
                "last_put_age_s": value(chance.randrange(9)),
                "service_interval_ms": value(chance.randrange(15)),
                "puts": chance.randrange(10),
            }
        polls.append(found)
    return polls


def ours(rules: Sequence[Rule], polls: Sequence[Mapping[ObjectName, Values]]) -> list[set[tuple[str, str]]]:
    """Rule and name of the object of each firing alert, at each poll."""
    history = MemoryHistory()
    engine = Engine(RuleSet(tuple(rules), KINDS), Facts(KINDS), history)
    states = []
    for poll, objects in enumerate(polls):
        ts = poll * INTERVAL_S * 1000
        readings = tuple(
            Reading(name, KINDS[name.kind].poll, ts, dict(values), INTERVAL_S * 1000)
            for name, values in objects.items()
        )
        snapshot = Snapshot("QM01", False, poll + 1, ts, readings)
        history.add(snapshot)
        engine.evaluate(snapshot)
        firing = (alert for alert in engine.open_alerts if alert.state.value == "firing")
        states.append({(alert.key.rule, alert.key.object.name) for alert in firing})
    return states


def series(polls: Sequence[Mapping[ObjectName, Values]]) -> list[dict[str, str]]:
    """The same values as series of a unit test of Prometheus."""
    found = []
    for name, first in polls[0].items():
        for metric_name in first:
            metric = KINDS[name.kind].metric(metric_name)
            assert metric is not None
            family = family_of(KINDS[name.kind], metric)
            assert family is not None
            values, total = [], 0
            for poll in polls:
                value = poll[name][metric_name]
                if isinstance(value, Absence):
                    values.append("stale")
                    continue
                if metric.type is MetricType.COUNTER:
                    total += value
                    value = total
                values.append(repr(family.value_of(value)))
            found.append({"series": family.sample + text_of(labels_of(name, {})), "values": " ".join(values)})
    return found


def judged(
    tmp_path: Path, file: str, polls: Sequence[Mapping[ObjectName, Values]], tests: list[dict[str, Any]]
) -> None:
    """Let promtool judge; it fails with what differs."""
    (tmp_path / "rules.yml").write_text(file, "utf-8")
    test = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": f"{INTERVAL_S}s",
        "tests": [{"interval": f"{INTERVAL_S}s", "input_series": series(polls), "promql_expr_test": tests}],
    }
    path = tmp_path / "test.json"
    path.write_text(json.dumps(test), "utf-8")
    done = subprocess.run([PROMTOOL, "test", "rules", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[:4000]


def expected(query: str, poll: int, names: set[str]) -> dict[str, Any]:
    """What a query must answer at a poll: a sample for each of these queues."""
    samples = [{"labels": f'{{queue="{name}"}}', "value": 1} for name in sorted(names)]
    return {"expr": f"group by (queue) ({query})", "eval_time": f"{poll * INTERVAL_S}s", "exp_samples": samples}


@pytest.mark.parametrize("absent", [0.0, 0.3])
def test_conditions_hold_for_the_same_objects(tmp_path: Path, absent: float) -> None:
    """With values that are absent, too: what is unknown holds in neither."""
    rules = rules_of(CONDITIONS, 1, 1)
    tests, true = [], 0
    polls = past(7, absent=absent)
    for poll, objects in enumerate(polls):
        # Each poll by itself: an alert that fires goes on while its condition is unknown.
        firing = ours(rules, [objects])[0]
        true += len(firing)
        for rule in rules:
            query = Translation(KINDS["queue"]).condition(compile_rule(rule, KINDS).when.root)
            tests.append(expected(query, poll, {name for found, name in firing if found == rule.id}))
    assert true > POLLS * QUEUES
    judged(tmp_path, rule_file([]), polls, tests)


def test_alerts_fire_and_end_at_the_same_polls(tmp_path: Path) -> None:
    """With holds and clears that count polls, and windows over the past."""
    rules = rules_of((*CONDITIONS[:4], *OVER_TIME), 2, 3)
    exports = [exported(compile_rule(rule, KINDS), INTERVAL_S * 1000) for rule in rules]
    assert all(isinstance(each, ExportedRule) for each in exports)
    polls = past(11, absent=0)
    states = ours(rules, polls)
    tests = [
        expected(
            f'ALERTS{{alertstate="firing", alertname="{rule.id}"}}',
            poll,
            {name for found, name in states[poll] if found == rule.id},
        )
        for rule in rules
        for poll in range(SETTLED, POLLS)
    ]
    assert sum(map(len, states)) > POLLS * QUEUES
    judged(tmp_path, rule_file(exports), polls, tests)
