"""Properties and selectors: the document's figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.applications import property_put_cost, selector_get_cost, selector_getters_growth
from mqvitals_rules.plan.formula import PlanError


@pytest.mark.parametrize(("properties", "cost_us"), [(0, 0), (1, 12), (2, 13), (15, 26), (16, 27)])
def test_properties_of_a_put(properties: int, cost_us: int) -> None:
    answer = property_put_cost(properties=properties)
    assert (answer.value, answer.unit) == (cost_us, "CPU microseconds per put")


def test_more_properties_than_measured_are_said() -> None:
    assert "Measured up to 15" in property_put_cost(properties=16).caveat
    assert "Measured up to 15" not in property_put_cost(properties=15).caveat


def test_a_hundred_thousand_other_messages_take_a_second() -> None:
    answer = selector_get_cost(other_msgs=100_000)
    assert (answer.value, answer.unit) == (1_000_000, "CPU microseconds per get")
    assert "1.000 processors" in answer.steps[1]
    assert "almost a second" in answer.caveat


def test_getters_cost_their_square() -> None:
    answer = selector_getters_growth(getters_now=2, getters_then=6)
    assert (answer.value, answer.unit) == (9, "times")
    assert selector_getters_growth(getters_now=7, getters_then=7).value == 1
    assert selector_getters_growth(getters_then=10).value == 100


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match="properties must be 0 to"):
        property_put_cost(properties=-1)
    with pytest.raises(PlanError, match="other-msgs must be given"):
        selector_get_cost()
    with pytest.raises(PlanError, match="getters-now must be 1 to"):
        selector_getters_growth(getters_now=0, getters_then=1)


@given(st.integers(0, 5000), st.integers(0, 5000))
def test_more_is_never_cheaper(few: int, more: int) -> None:
    for cheap, dear in (
        (property_put_cost(properties=few), property_put_cost(properties=few + more)),
        (selector_get_cost(other_msgs=few), selector_get_cost(other_msgs=few + more)),
        (selector_getters_growth(getters_then=few + 1), selector_getters_growth(getters_then=few + more + 1)),
    ):
        assert cheap.value is not None
        assert dear.value is not None
        assert 0 <= cheap.value <= dear.value
