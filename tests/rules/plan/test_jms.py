"""JMS against the MQI: the document's factors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.applications import jms_multiplier
from mqvitals_rules.plan.formula import PlanError

FACTORS = [("rule-of-thumb", 3, 4), ("non-persistent", 5, 5), ("persistent", 2.5, 2.5)]


@pytest.mark.parametrize(("workload", "least", "most"), FACTORS)
def test_every_factor(workload: str, least: float, most: float) -> None:
    answer = jms_multiplier(mqi_cpu_us=100, workload=workload)
    assert (answer.value, answer.unit) == (100 * most, "CPU microseconds")
    (row,) = [each for each in answer.rows if each["workload"] == workload]
    assert (row["least_factor"], row["most_factor"]) == (least, most)
    assert (row["least_cpu_us"], row["most_cpu_us"]) == (100 * least, 100 * most)


def test_the_rule_of_thumb_says_its_range() -> None:
    assert "3 to 4" in jms_multiplier(mqi_cpu_us=100).steps[1]
    assert len(jms_multiplier(mqi_cpu_us=100, workload="persistent").steps) == 1


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match="workload must be rule-of-thumb, non-persistent or persistent"):
        jms_multiplier(mqi_cpu_us=1, workload="fast")
    with pytest.raises(PlanError, match="mqi-cpu-us must be 0 to"):
        jms_multiplier(mqi_cpu_us=-1)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from([each[0] for each in FACTORS]))
def test_dearer_messages_never_get_cheaper(cost: int, more: int, workload: str) -> None:
    before = jms_multiplier(mqi_cpu_us=cost, workload=workload).value
    after = jms_multiplier(mqi_cpu_us=cost + more, workload=workload).value
    assert before is not None
    assert after is not None
    assert cost <= before <= after
