"""Adapters and dispatchers: the worked examples, every row of the tables, and what must hold for every input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.channel_initiator import adapter_busy, adapter_wait, chiadaps, chidisps
from mqvitals_rules.plan.formula import PlanError


@pytest.mark.parametrize(
    ("processors", "adapters"), [(1, 30), (4, 30), (5, 38), (8, 62), (15, 118), (16, 120), (17, 120), (256, 120)]
)
def test_adapters_for_so_many_processors(processors: int, adapters: int) -> None:
    answer = chiadaps(processors=processors)
    assert (answer.value, answer.unit) == (adapters, "adapters")
    assert any("at most 120" in step for step in answer.steps) is (processors >= 16)


@given(processors=st.integers(1, 255))
def test_more_processors_never_want_fewer_tasks(processors: int) -> None:
    for what in (chiadaps, chidisps):
        tasks = what(processors=processors).value
        more = what(processors=processors + 1).value
        assert tasks is not None
        assert more is not None
        assert tasks <= more
    assert 30 <= (chiadaps(processors=processors).value or 0) <= 120
    assert chidisps(processors=processors).value == processors


@pytest.mark.parametrize(
    ("dispatchers", "rate", "cpu_us", "elapsed_us", "busy_pct", "wait_us"),
    [
        (1, 12_839, 454, 53, 20, 18),
        (2, 14_639, 469, 83, 37, 48),
        (3, 14_721, 469, 111, 49, 76),
        (4, 14_362, 479, 141, 58, 106),
        (5, 14_095, 477, 169, 72, 134),
        (6, 14_387, 473, 183, 80, 148),
        (8, 13_913, 477, 223, 93, 188),
        (10, 13_623, 471, 242, 100, 207),
    ],
)
def test_every_row_of_the_dispatchers(
    dispatchers: int, rate: int, cpu_us: int, elapsed_us: int, busy_pct: int, wait_us: int
) -> None:
    [row] = [each for each in chidisps(processors=3).rows if each["dispatchers"] == dispatchers]
    assert (row["adapters"], row["transactions_per_s"], row["transaction_cpu_us"]) == (10, rate, cpu_us)
    assert (row["adapter_avg_elapsed_us"], row["adapters_busy_pct"]) == (elapsed_us, busy_pct)
    assert (row["adapter_avg_cpu_us"], row["adapter_wait_us"]) == (35, wait_us)
    assert adapter_wait(avg_elapsed_us=elapsed_us, avg_cpu_us=35).value == wait_us
    derived = adapter_busy(requests_per_s=rate * 3.03, avg_elapsed_us=elapsed_us, adapters=10).value
    assert derived == pytest.approx(row["derived_busy_pct"], abs=0.05)
    assert derived == pytest.approx(busy_pct, rel=0.2 / 3.03)


@pytest.mark.parametrize(
    ("adapters", "rate", "cpu_us", "elapsed_us", "busy_pct"),
    [
        (1, 10_022, 439, 33, 100),
        (2, 13_291, 454, 50, 100),
        (3, 14_000, 465, 71, 100),
        (4, 14_215, 465, 93, 100),
        (5, 14_585, 469, 102, 90),
        (6, 14_487, 474, 108, 79),
        (8, 14_746, 464, 110, 61),
        (10, 14_527, 474, 111, 49),
    ],
)
def test_every_row_of_the_adapters(adapters: int, rate: int, cpu_us: int, elapsed_us: int, busy_pct: int) -> None:
    answer = adapter_busy(requests_per_s=rate * 3.03, avg_elapsed_us=elapsed_us, adapters=adapters)
    [row] = [each for each in answer.rows if each["adapters"] == adapters]
    assert (row["dispatchers"], row["transactions_per_s"], row["transaction_cpu_us"]) == (3, rate, cpu_us)
    assert (row["adapter_avg_elapsed_us"], row["adapters_busy_pct"]) == (elapsed_us, busy_pct)
    assert answer.value == pytest.approx(row["derived_busy_pct"], abs=0.05)
    assert answer.value == pytest.approx(busy_pct, rel=0.02)


def test_the_tables_have_their_rows_alone() -> None:
    assert len(chidisps(processors=1).rows) == 8
    assert len(adapter_busy(requests_per_s=0, avg_elapsed_us=0, adapters=1).rows) == 8


def test_the_wait_of_ten_dispatchers() -> None:
    answer = adapter_wait(avg_elapsed_us=242, avg_cpu_us=35)
    assert (answer.value, answer.unit) == (207, "us")


@given(rate=st.floats(0, 1e6), elapsed_us=st.floats(0, 1e6), adapters=st.integers(1, 9998))
def test_more_adapters_are_never_busier(rate: float, elapsed_us: float, adapters: int) -> None:
    busy = adapter_busy(requests_per_s=rate, avg_elapsed_us=elapsed_us, adapters=adapters)
    more = adapter_busy(requests_per_s=rate, avg_elapsed_us=elapsed_us, adapters=adapters + 1)
    slower = adapter_busy(requests_per_s=rate, avg_elapsed_us=elapsed_us + 1, adapters=adapters)
    assert busy.exact is not None
    assert more.exact is not None
    assert slower.exact is not None
    assert 0 <= more.exact <= busy.exact <= slower.exact
    assert ("More than the adapters can do" in busy.caveat) is (busy.exact > 100)


@pytest.mark.parametrize(("rate", "busy_pct", "told"), [(95, 95, False), (100, 100, False), (101, 101, True)])
def test_more_than_the_adapters_can_do_is_told(rate: int, busy_pct: int, told: bool) -> None:
    answer = adapter_busy(requests_per_s=rate, avg_elapsed_us=10_000, adapters=1)
    assert answer.value == busy_pct
    assert ("More than the adapters can do" in answer.caveat) is told


@given(cpu_us=st.integers(0, 10**6), wait_us=st.integers(0, 10**6))
def test_the_wait_is_what_is_not_cpu(cpu_us: int, wait_us: int) -> None:
    assert adapter_wait(avg_elapsed_us=cpu_us + wait_us, avg_cpu_us=cpu_us).value == wait_us


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match="processors must be 1 to 256 processors, not 0"):
        chiadaps(processors=0)
    with pytest.raises(PlanError, match="processors is a whole number"):
        chidisps(processors=2.5)
    with pytest.raises(PlanError, match="adapters must be 1 to"):
        adapter_busy(requests_per_s=1, avg_elapsed_us=1, adapters=0)
    with pytest.raises(PlanError, match="avg-cpu-us must be at most avg-elapsed-us, 10 us, not 11"):
        adapter_wait(avg_elapsed_us=10, avg_cpu_us=11)
