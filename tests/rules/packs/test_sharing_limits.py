"""A structure with as many queues as the document's limit allows is too much for a test that is written out."""

from __future__ import annotations

import pytest

from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.testing import decode_tests, run_test

TEST = """\
tests:
  - name: Queues of a structure
    interval: 60s
    series:
      PRDQSG/cf_structure/APPL1: {{type: application}}
      PRDQSG/qsg: {{structure_count: 2, qmgr_count: 4}}
{queues}
    expect:
      - {{at: 0s, {expected}}}
"""


@pytest.mark.parametrize(
    ("queues", "expected"),
    [
        (460, "not_firing: [CF-11]"),
        (461, "firing: [{rule: CF-11, object: PRDQSG/cf_structure/APPL1, severity: warning}]"),
    ],
)
def test_queues_of_a_structure_near_their_limit(queues: int, expected: str) -> None:
    """Nine tenths of 512 are 460.8."""
    series = "\n".join(f"      PRDQSG/queue/Q{number}: {{cf_structure: APPL1}}" for number in range(queues))
    rules = load_rule_config(Settings()).rules
    (test,) = decode_tests("limits.test.yaml", TEST.format(queues=series, expected=expected), rules)
    assert run_test(test, rules) == []
