"""Costs on other machines: the worked examples."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.applications import cpu_busy, lspr_translate
from mqvitals_rules.plan.formula import PlanError


def test_2084_304_to_2064_1c5() -> None:
    answer = lspr_translate(cost_us=100, target_itr=2.45, target_processors=5)
    assert answer.unit == "CPU microseconds"
    assert answer.value is not None
    assert answer.value == pytest.approx(100 * 0.90 / 0.49)
    ratio = 100 / answer.value
    assert ratio == pytest.approx(0.5444, abs=0.0001)
    assert round(ratio, 2) == 0.54
    assert "= 0.49" in answer.steps[0]
    assert "= 0.9" in answer.steps[1]
    assert "= 0.5444" in answer.steps[2]


def test_the_other_report_has_another_ratio() -> None:
    answer = lspr_translate(cost_us=52, target_itr=2.35, target_processors=5, measured_itr=3.60, measured_processors=4)
    assert answer.value == pytest.approx(100, rel=0.005)
    assert all(number in answer.caveat for number in ("1.47", "2.35", "0.52", "0.54"))


def test_640_milliseconds_on_five_processors() -> None:
    answer = cpu_busy(cost_ms_per_s=640, processors=5)
    assert answer.value == pytest.approx(12.8)
    assert answer.unit == "%"


def test_more_than_the_machine_has_is_said() -> None:
    assert "more than the machine has" in cpu_busy(cost_ms_per_s=5001, processors=5).caveat
    assert "more than the machine has" not in cpu_busy(cost_ms_per_s=5000, processors=5).caveat


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match="target-itr must be"):
        lspr_translate(cost_us=1, target_itr=0, target_processors=1)
    with pytest.raises(PlanError, match="target-processors must be 1 to"):
        lspr_translate(cost_us=1, target_itr=1, target_processors=0)
    with pytest.raises(PlanError, match="processors must be 1 to"):
        cpu_busy(cost_ms_per_s=1, processors=0)


RATIO = st.floats(0.01, 1000)


@given(st.integers(0, 10**9), RATIO, RATIO, st.integers(1, 256), st.integers(1, 256))
def test_there_and_back_is_the_same(cost: int, one: float, other: float, ones: int, others: int) -> None:
    there = lspr_translate(
        cost_us=cost, target_itr=one, target_processors=ones, measured_itr=other, measured_processors=others
    ).value
    assert there is not None
    back = (
        cost
        if there > 1e15
        else lspr_translate(
            cost_us=there, target_itr=other, target_processors=others, measured_itr=one, measured_processors=ones
        ).value
    )
    assert back == pytest.approx(cost)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 128), st.integers(0, 128))
def test_more_work_is_never_less_busy_and_more_processors_never_busier(
    cost: int, more: int, processors: int, extra: int
) -> None:
    busy = cpu_busy(cost_ms_per_s=cost, processors=processors).value
    busier = cpu_busy(cost_ms_per_s=cost + more, processors=processors).value
    idler = cpu_busy(cost_ms_per_s=cost, processors=processors + extra).value
    assert busy is not None
    assert busier is not None
    assert idler is not None
    assert 0 <= idler <= busy <= busier
