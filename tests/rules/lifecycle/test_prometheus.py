"""The life cycle against Prometheus's own: ``for`` and ``keep_firing_for``, judged by promtool. Needs ``make tools``."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

from mqsamples.tools import needed
from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.ruleset.pack import decode_packs
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.tables import KINDS

PROMTOOL = needed("promtool")

QUEUE = ObjectName("QM01", "queue", "ORDERS")
INTERVAL_S = 10
POLLS = 40
SERIES = 150

RULE = """
rules:
  - id: DEEP
    title: deep
    kind: operational
    scope: queue
    when: depth > 0
    hold: {{for: {hold}s}}
    clear: {{for: {clear}s}}
    severity: warning
    summary: deep
    advice: a
    caveat: c
    source: {{document: d, section: s}}
"""


def ours(depths: list[int], hold: int, clear: int) -> list[str]:
    """The state of the alert after each poll, empty where there is none."""
    decoded, problems = decode_packs([("own.yaml", RULE.format(hold=hold, clear=clear))], KINDS)
    assert not problems
    engine = Engine(RuleSet(decoded, KINDS), Facts(KINDS), MemoryHistory())
    states = []
    for poll, depth in enumerate(depths):
        ts = poll * INTERVAL_S * 1000
        reading = Reading(QUEUE, "INQUIRE_Q_STATUS", ts, {"depth": depth}, INTERVAL_S * 1000)
        engine.evaluate(Snapshot("QM01", False, poll + 1, ts, (reading,)))
        states.append(next((alert.state.value for alert in engine.open_alerts), ""))
    return states


def unit_test(folder: Path, number: int, depths: list[int], hold: int, clear: int, states: list[str]) -> Path:
    """A unit test of Prometheus's that expects our states of the same series."""
    rules = folder / f"rules-{number}.json"
    rules.write_text(
        json.dumps(
            {
                "groups": [
                    {
                        "name": "g",
                        "rules": [
                            {"alert": "DEEP", "expr": "depth > 0", "for": f"{hold}s", "keep_firing_for": f"{clear}s"}
                        ],
                    }
                ]
            }
        )
    )
    expected = [
        {
            "expr": "count by (alertstate) (ALERTS)",
            "eval_time": f"{poll * INTERVAL_S}s",
            "exp_samples": [{"labels": f'{{alertstate="{state}"}}', "value": 1}] if state else [],
        }
        for poll, state in enumerate(states)
    ]
    test = folder / f"test-{number}.json"
    test.write_text(
        json.dumps(
            {
                "rule_files": [rules.name],
                "evaluation_interval": f"{INTERVAL_S}s",
                "tests": [
                    {
                        "interval": f"{INTERVAL_S}s",
                        "input_series": [{"series": "depth", "values": " ".join(map(str, depths))}],
                        "promql_expr_test": expected,
                    }
                ],
            }
        )
    )
    return test


def drawn(number: int) -> tuple[list[int], int, int]:
    """Runs of zeros and ones, so that long and short stays both come up; and how long to hold and to clear."""
    dice = random.Random(number)
    depths: list[int] = []
    while len(depths) < POLLS:
        depths += [len(depths) % 2 if dice.random() < 0.1 else dice.randint(0, 1)] * dice.randint(1, 6)
    return depths[:POLLS], dice.choice((0, 5, 10, 20, 25, 30)), dice.choice((0, 5, 10, 20, 35))


def judged(tests: list[Path]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(PROMTOOL), "test", "rules", *map(str, tests)], capture_output=True, text=True, check=False, timeout=300
    )


def test_the_same_times_as_prometheus(tmp_path: Path) -> None:
    """Pending, firing and over on the same polls, for every series, hold and clear that is drawn."""
    tests = []
    seen = set()
    for number in range(SERIES):
        depths, hold, clear = drawn(number)
        states = ours(depths, hold, clear)
        seen |= set(states)
        tests.append(unit_test(tmp_path, number, depths, hold, clear, states))
    assert seen == {"", "pending", "firing"}
    done = judged(tests)
    assert done.returncode == 0, (done.stdout + done.stderr)[:4000]


def test_prometheus_would_tell(tmp_path: Path) -> None:
    """One poll later is another time."""
    depths = [0, 1, 1, 1, 1, 0, 0, 0]
    states = ours(depths, 20, 10)
    assert states == ["", "pending", "pending", "firing", "firing", "firing", "", ""]
    assert judged([unit_test(tmp_path, 0, depths, 20, 10, states)]).returncode == 0
    assert judged([unit_test(tmp_path, 1, depths, 20, 10, ["", *states[:-1]])]).returncode == 1
