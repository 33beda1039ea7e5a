"""Receive time-out: the worked examples, and what must hold for every batch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.channels import receive_timeout_cost, receive_timeout_overhead
from mqvitals_rules.plan.formula import PlanError

BATCH = st.floats(1, 9000)


@pytest.mark.parametrize(
    ("msg_cpu_ms", "batch", "exact", "document", "within"),
    [(0.55, 1, 8 / 0.55, 15, 0.5), (0.33, 50, 8 / 16.5, 0.5, 0.05)],
)
def test_the_share_that_it_adds(msg_cpu_ms: float, batch: int, exact: float, document: float, within: float) -> None:
    answer = receive_timeout_overhead(msg_cpu_ms=msg_cpu_ms, achieved_batch_msgs=batch)
    assert answer.unit == "%"
    assert answer.exact == pytest.approx(exact)
    assert answer.value == pytest.approx(exact, abs=0.005)
    assert answer.value == pytest.approx(document, abs=within)


@pytest.mark.parametrize(("rate", "batch", "cost"), [(1000, 1, 80), (1000, 50, 1.6), (30, 1, 2.4), (0, 1, 0)])
def test_the_cost_a_second(rate: int, batch: int, cost: float) -> None:
    answer = receive_timeout_cost(msgs_per_s=rate, achieved_batch_msgs=batch)
    assert answer.value == pytest.approx(cost)
    assert answer.unit == "CPU ms/s"


def test_the_dearer_end_of_the_measurement() -> None:
    assert receive_timeout_cost(msgs_per_s=1000, achieved_batch_msgs=1, wait_cpu_ms=0.09).value == pytest.approx(90)


@given(rate=st.floats(0, 1e6), batch=BATCH, msg_cpu_ms=st.floats(0.01, 100))
def test_larger_batches_never_cost_more_and_more_messages_never_less(
    rate: float, batch: float, msg_cpu_ms: float
) -> None:
    cost = receive_timeout_cost(msgs_per_s=rate, achieved_batch_msgs=batch).exact
    larger = receive_timeout_cost(msgs_per_s=rate, achieved_batch_msgs=batch + 1).exact
    busier = receive_timeout_cost(msgs_per_s=rate + 1, achieved_batch_msgs=batch).exact
    assert cost is not None
    assert larger is not None
    assert busier is not None
    assert 0 <= larger <= cost <= busier
    share = receive_timeout_overhead(msg_cpu_ms=msg_cpu_ms, achieved_batch_msgs=batch).exact
    less = receive_timeout_overhead(msg_cpu_ms=msg_cpu_ms, achieved_batch_msgs=batch + 1).exact
    assert share is not None
    assert less is not None
    assert 0 < less < share


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match=r"achieved-batch-msgs must be 1 to 9,999 messages, not 0\.5"):
        receive_timeout_cost(msgs_per_s=1, achieved_batch_msgs=0.5)
    with pytest.raises(PlanError, match="msgs-per-s must be"):
        receive_timeout_cost(msgs_per_s=-1, achieved_batch_msgs=1)
    with pytest.raises(PlanError, match="msg-cpu-ms must be"):
        receive_timeout_overhead(msg_cpu_ms=0, achieved_batch_msgs=1)
