"""Conditions of the rule language as PromQL, and what PromQL cannot say."""

from __future__ import annotations

import re

import pytest

from mqvitals_agent.openmetrics.names import sample_names
from mqvitals_agent.promql.condition import Translation
from mqvitals_agent.promql.number import NotCarriedError, duration
from mqvitals_rules.compiled_rule import compile_rule
from mqvitals_rules.expression import compile_expression
from mqvitals_rules.ruleset.pack import load_rules
from mqvitals_rules.vocabulary.tables import KINDS


def promql(scope: str, text: str) -> str:
    """A condition on objects of a kind."""
    kind = KINDS[scope]
    return Translation(kind).condition(compile_expression(text, kind, KINDS).root)


@pytest.mark.parametrize(
    ("scope", "text", "expected"),
    [
        ("queue", "depth > 5", "ibmmq_queue_depth > 5"),
        ("queue", "5 < depth <= 9", "ibmmq_queue_depth > 5 and ibmmq_queue_depth <= 9"),
        ("queue", "not (depth > 5 and input_handles == 0)", "ibmmq_queue_depth <= 5 or ibmmq_queue_input_handles != 0"),
        ("queue", "depth >= 0.8 * max_depth", "ibmmq_queue_depth >= (0.8 * ibmmq_queue_attribute_max_depth)"),
        ("channel", "status not in (RUNNING, STOPPED)", "ibmmq_channel_status != 3 and ibmmq_channel_status != 6"),
        ("channel", "status in (RUNNING, STOPPED)", "ibmmq_channel_status == 3 or ibmmq_channel_status == 6"),
        (
            "queue",
            'startswith(name, "A.") and depth > 2',
            'ibmmq_queue_depth{queue=~"A\\\\..*"} and ibmmq_queue_depth > 2',
        ),
        (
            "queue",
            "depth > 2 and not present(last_put_age_s)",
            "ibmmq_queue_depth > 2 unless ibmmq_queue_time_since_put",
        ),
        (
            "queue",
            "depth > 2 and channel_initiator.status == RUNNING",
            "ibmmq_queue_depth > 2 and (ibmmq_queue_depth and on (qmgr) (mqvitals_channel_initiator_status == 2))",
        ),
        (
            "queue",
            'min(depth, "5m") > 2',
            "(min_over_time(ibmmq_queue_depth[5m]) and ibmmq_queue_depth offset 5m) > 2",
        ),
        ("queue", 'rate(puts, "90s") > 2', "rate(ibmmq_queue_mqput_mqput1_count[90s]) > 2"),
        ("queue", "depth / input_handles > 3", "(ibmmq_queue_depth / (ibmmq_queue_input_handles != 0)) > 3"),
        ("page_set", "used_pct >= 57", "mqvitals_page_set_used_ratio >= 0.57"),
        ("queue", "service_interval_ms > 70", "mqvitals_queue_service_interval_seconds > 0.07"),
        ("queue", "max(1, depth) > 3", "clamp_min(ibmmq_queue_depth, 1) > 3"),
    ],
)
def test_what_is_carried(scope: str, text: str, expected: str) -> None:
    """Comparisons, sets, arithmetic, windows, names, and values that are absent."""
    assert promql(scope, text) == expected


@pytest.mark.parametrize(
    ("scope", "text", "reason"),
    [
        ("queue", 'seen("CSQM056E", "5m")', "no samples"),
        ("queue", "depth > 2 * baseline(depth)", "usual at this hour"),
        ("queue_manager", "any(queue, depth > 5)", "members"),
        ("queue", "rising(depth, 3)", "no polls"),
        ("queue", "puts > 3", "no intervals"),
        ("channel", "queue.depth > 3", "no label leads to the queue"),
        ("buffer_pool", "purpose == mixed", "only the configuration"),
        ("queue", "not present(depth)", "no metric is there"),
        ("channel_initiator", "listeners_running < listeners_needed and not present(status)", "no metric is there"),
    ],
)
def test_what_is_not_carried(scope: str, text: str, reason: str) -> None:
    """It is refused with the reason, never said in part."""
    with pytest.raises(NotCarriedError, match=reason):
        promql(scope, text)


def test_a_fact_that_need_not_be_declared_is_left_out() -> None:
    """As it is in the rule where nothing is declared."""
    text = "listeners_lost > 0 or present(listeners_needed) and listeners_running < listeners_needed"
    assert promql("channel_initiator", text) == "mqvitals_channel_initiator_listeners_lost > 0"


def test_shipped_rules_name_samples_that_exist() -> None:
    """Each shipped rule is carried with names of the page, or refused with a reason; a good part is carried."""
    names = {name for kind in KINDS.values() for metric in kind.metrics for name in sample_names(kind, metric)}
    carried = 0
    for rule in load_rules(KINDS):
        try:
            text = Translation(KINDS[rule.scope]).condition(compile_rule(rule, KINDS).when.root)
        except NotCarriedError:
            continue
        carried += 1
        assert set(re.findall(r"\b(?:ibmmq|mqvitals)_\w+", text)) <= names
    assert carried >= 80


def test_durations() -> None:
    """In the largest unit of which they are whole numbers."""
    assert [duration(ms) for ms in (300_000, 90_000, 86_400_000, 1500, 7_200_000)] == [
        "5m",
        "90s",
        "1d",
        "1500ms",
        "2h",
    ]
