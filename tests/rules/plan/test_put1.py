"""MQPUT1 against MQOPEN, MQPUT and MQCLOSE: the document's table, and where the two meet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.applications import mqput1_break_even
from mqvitals_rules.plan.formula import PlanError


@pytest.mark.parametrize(
    ("puts", "by_put1", "by_put", "document", "elapsed_put1", "elapsed_put"),
    [
        (1, 117, 171, None, 121, 176),
        (2, 234, 243, 213, 242, 250),
        (3, 351, 315, None, 363, 324),
        (3000, 351_000, 216_099, 216_000, 363_000, 222_102),
    ],
)
def test_every_row_of_the_document(
    puts: int, by_put1: int, by_put: int, document: int | None, elapsed_put1: int, elapsed_put: int
) -> None:
    answer = mqput1_break_even(puts=puts)
    (row,) = [each for each in answer.rows if each["puts"] == puts]
    assert (row["put1_cpu_us"], row["open_put_close_cpu_us"]) == (by_put1, by_put)
    assert row["saved_cpu_us"] == by_put1 - by_put
    assert row["document_open_put_close_cpu_us"] == document
    assert (row["put1_elapsed_us"], row["open_put_close_elapsed_us"]) == (elapsed_put1, elapsed_put)


def test_three_messages_are_enough_not_two() -> None:
    answer = mqput1_break_even()
    assert (answer.value, answer.unit) == (3, "messages")
    assert answer.exact == pytest.approx(2.2)
    assert [row["puts"] for row in answer.rows] == [1, 2, 3, 3000]
    assert any("elapsed time: less by the three calls from 3 messages" in step for step in answer.steps)
    assert any("213" in step and "243" in step for step in answer.steps)


def test_the_same_cost_is_not_yet_less() -> None:
    answer = mqput1_break_even(put1_cpu_us=100, open_cpu_us=60, put_cpu_us=50, close_cpu_us=40)
    assert (answer.value, answer.exact) == (3, 2)
    assert all(row["document_open_put_close_cpu_us"] is None for row in answer.rows)
    assert not any("213" in step for step in answer.steps)


def test_there_may_be_no_such_number() -> None:
    answer = mqput1_break_even(put1_cpu_us=72)
    assert (answer.value, answer.exact) == (None, None)
    assert "never" in answer.steps[2]


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match="puts must be 1 to"):
        mqput1_break_even(puts=0)
    with pytest.raises(PlanError, match="put-cpu-us must be 0 to"):
        mqput1_break_even(put_cpu_us=-1)


COST = st.integers(0, 10_000)


@given(COST, COST, COST, COST)
def test_from_the_answer_on_the_three_calls_cost_less(put1: int, opened: int, put: int, closed: int) -> None:
    answer = mqput1_break_even(put1_cpu_us=put1, open_cpu_us=opened, put_cpu_us=put, close_cpu_us=closed)
    if answer.value is None:
        assert put1 <= put
        return
    least = int(answer.value)
    assert opened + closed + put * least < put1 * least
    assert opened + closed + put * (least - 1) >= put1 * (least - 1)


@given(st.integers(73, 1000), st.integers(0, 1000), st.integers(0, 1000))
def test_dearer_opens_never_need_fewer_messages(put1: int, opened: int, more: int) -> None:
    least = mqput1_break_even(put1_cpu_us=put1, open_cpu_us=opened).value
    later = mqput1_break_even(put1_cpu_us=put1, open_cpu_us=opened + more).value
    assert least is not None
    assert later is not None
    assert least <= later
