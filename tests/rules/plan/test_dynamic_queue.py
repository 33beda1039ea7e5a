"""Temporary against permanent queues: the document's comparison."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.applications import temporary_queue_cost
from mqvitals_rules.plan.formula import PlanError

CALLS = st.integers(0, 10**6)


def test_the_documents_task() -> None:
    answer = temporary_queue_cost()
    assert (answer.value, answer.unit) == (140, "CPU microseconds")
    total = answer.rows[-1]
    assert (total["verb"], total["calls"]) == ("all calls", 10)
    assert (total["temporary_cpu_us"], total["permanent_cpu_us"]) == (633, 493)
    assert total["cpu_difference_pct"] == pytest.approx(28.4, abs=0.05)
    assert (total["temporary_elapsed_us"], total["permanent_elapsed_us"]) == (1366, 500)
    assert any("+866" in step for step in answer.steps)


@pytest.mark.parametrize(
    ("verb", "cpu_us", "cpu_pct", "document_cpu", "elapsed_us", "elapsed_pct", "document_elapsed"),
    [
        ("open", (125, 38), 228.9, 238, (850, 39), 2079.5, 2079),
        ("close", (111, 26), 326.9, 327, (113, 26), 334.6, 3347),
        ("put", (104, 113), -8.0, -8, (106, 115), -7.8, -8),
        ("inquire", (17, 18), -5.6, -5, (17, 18), -5.6, -5),
    ],
)
def test_every_verb(
    verb: str,
    cpu_us: tuple[int, int],
    cpu_pct: float,
    document_cpu: int,
    elapsed_us: tuple[int, int],
    elapsed_pct: float,
    document_elapsed: int,
) -> None:
    (row,) = [each for each in temporary_queue_cost().rows if each["verb"] == verb]
    assert (row["temporary_cpu_us"], row["permanent_cpu_us"]) == cpu_us
    assert (row["temporary_elapsed_us"], row["permanent_elapsed_us"]) == elapsed_us
    assert row["cpu_difference_pct"] == pytest.approx(cpu_pct, abs=0.05)
    assert row["elapsed_difference_pct"] == pytest.approx(elapsed_pct, abs=0.05)
    assert row["document_cpu_difference_pct"] == document_cpu
    assert row["document_elapsed_difference_pct"] == document_elapsed


def test_the_documents_two_errors_are_named() -> None:
    last = temporary_queue_cost().steps[-1]
    assert all(number in last for number in ("238", "229", "3347", "335"))


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match="opens must be 1 to"):
        temporary_queue_cost(opens=0)
    with pytest.raises(PlanError, match="puts must be 0 to"):
        temporary_queue_cost(puts=-1)


@given(st.integers(1, 10**6), CALLS, CALLS, CALLS, st.integers(0, 10**6))
def test_more_opens_never_cost_less(opens: int, closes: int, puts: int, inquires: int, more: int) -> None:
    before = temporary_queue_cost(opens=opens, closes=closes, puts=puts, inquires=inquires).value
    after = temporary_queue_cost(opens=opens + more, closes=closes, puts=puts, inquires=inquires).value
    assert before is not None
    assert after == before + 87 * more
