"""Scans for expired messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.formula import PlanError
from mqvitals_rules.plan.shared_queues import expiry_scan_cost


def test_300_shared_queues_each_minute() -> None:
    answer = expiry_scan_cost(shared_queues=300, interval_s=60)
    assert (answer.value, answer.unit) == (5, "CPU ms/s")


def test_no_shared_queue_costs_nothing() -> None:
    assert expiry_scan_cost(shared_queues=0, interval_s=5).value == 0


@pytest.mark.parametrize("interval_s", [0, 4, 100_000_000])
def test_intervals_that_mq_does_not_take_are_refused(interval_s: int) -> None:
    with pytest.raises(PlanError, match="interval-s must be 5 to 99,999,999 seconds"):
        expiry_scan_cost(shared_queues=1, interval_s=interval_s)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(5, 10**6), st.integers(0, 10**6))
def test_more_queues_never_cost_less_and_longer_intervals_never_more(
    queues: int, more: int, interval: int, longer: int
) -> None:
    base = expiry_scan_cost(shared_queues=queues, interval_s=interval).value
    fuller = expiry_scan_cost(shared_queues=queues + more, interval_s=interval).value
    rarer = expiry_scan_cost(shared_queues=queues, interval_s=interval + longer).value
    assert base is not None
    assert fuller is not None
    assert rarer is not None
    assert 0 <= rarer <= base <= fuller
