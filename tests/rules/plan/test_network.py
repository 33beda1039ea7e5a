"""TCP windows, message retry and rates of intervals: the worked examples, and what must hold for every input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.channels import message_retry_block, tcp_window_rate
from mqvitals_rules.plan.formula import PlanError
from mqvitals_rules.plan.logs import interval_rate


@pytest.mark.parametrize(("rtt_ms", "kb_per_s"), [(80, 400), (94.71, 337.874), (5, 6400)])
def test_a_small_window_bounds_the_rate(rtt_ms: float, kb_per_s: float) -> None:
    answer = tcp_window_rate(receive_window_bytes=32_767, rtt_ms=rtt_ms)
    assert (answer.value, answer.unit) == (kb_per_s, "KB/s")


@pytest.mark.parametrize(
    ("window", "bounded", "why"),
    [
        (32_767, True, "less than 32 KB"),
        (32_768, False, "has no figure"),
        (65_535, False, "has no figure"),
        (65_536, False, "no bound"),
    ],
)
def test_only_below_32_kb_is_there_a_bound(window: int, bounded: bool, why: str) -> None:
    answer = tcp_window_rate(receive_window_bytes=window, rtt_ms=80)
    assert (answer.value is not None) is bounded
    assert (answer.exact is not None) is bounded
    assert why in answer.steps[0]


@given(rtt_ms=st.floats(0.001, 30_000))
def test_a_longer_way_never_carries_more(rtt_ms: float) -> None:
    near = tcp_window_rate(receive_window_bytes=1, rtt_ms=rtt_ms).value
    far = tcp_window_rate(receive_window_bytes=1, rtt_ms=rtt_ms * 2).value
    assert near is not None
    assert far is not None
    assert 0 < far < near


@pytest.mark.parametrize(
    ("count", "interval_ms", "block_ms"), [(10, 1000, 10_000), (0, 1000, 0), (3, 0, 0), (999_999_999, 2, 1_999_999_998)]
)
def test_a_message_that_cannot_be_put_blocks_so_long(count: int, interval_ms: int, block_ms: int) -> None:
    answer = message_retry_block(retry_count=count, retry_interval_ms=interval_ms)
    assert (answer.value, answer.unit) == (block_ms, "ms")
    assert any("dead-letter queue" in step for step in answer.steps) is (block_ms == 0)


@given(count=st.integers(0, 999_999_998), interval_ms=st.integers(0, 999_999_998))
def test_more_retries_never_block_shorter(count: int, interval_ms: int) -> None:
    block = message_retry_block(retry_count=count, retry_interval_ms=interval_ms).value
    oftener = message_retry_block(retry_count=count + 1, retry_interval_ms=interval_ms).value
    slower = message_retry_block(retry_count=count, retry_interval_ms=interval_ms + 1).value
    assert block is not None
    assert oftener is not None
    assert slower is not None
    assert block <= oftener
    assert block <= slower


def test_the_channel_sample_is_of_145_seconds() -> None:
    assert interval_rate(amount=120_266_176, start_s=0, end_s=145).value == pytest.approx(829_421, rel=0.000_01)
    assert interval_rate(amount=33_896, start_s=1000, end_s=1145).value == pytest.approx(233.8, abs=0.05)


@given(amount=st.integers(0, 10**15), start_s=st.integers(0, 10**9), seconds=st.integers(1, 10**6))
def test_a_longer_interval_never_gives_a_higher_rate(amount: int, start_s: int, seconds: int) -> None:
    rate = interval_rate(amount=amount, start_s=start_s, end_s=start_s + seconds).value
    longer = interval_rate(amount=amount, start_s=start_s, end_s=start_s + seconds + 1).value
    assert rate is not None
    assert longer is not None
    assert 0 <= longer <= rate
    assert rate * seconds == pytest.approx(amount)


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match="rtt-ms must be"):
        tcp_window_rate(receive_window_bytes=1, rtt_ms=0)
    with pytest.raises(PlanError, match="receive-window-bytes must be 1 to"):
        tcp_window_rate(receive_window_bytes=0, rtt_ms=1)
    with pytest.raises(PlanError, match="retry-count must be 0 to 999,999,999, not -1"):
        message_retry_block(retry_count=-1, retry_interval_ms=1)
    for end in (99, 100):
        with pytest.raises(PlanError, match=f"end-s must be after start-s, 100, not {end}"):
            interval_rate(amount=1, start_s=100, end_s=end)
    with pytest.raises(PlanError, match="amount must be"):
        interval_rate(amount=-1, start_s=0, end_s=1)
