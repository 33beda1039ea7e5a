"""Batches of a channel: the worked examples, and what must hold for every batch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.channels import batch_buffers, batch_bytes, batch_transfer_time, channel_ceiling
from mqvitals_rules.plan.formula import PlanError

BATCH = st.integers(1, 9999)
MESSAGES = st.integers(1, 10**9)
ONCE_US = st.integers(0, 60_000_000)


@pytest.mark.parametrize(
    ("batch_msgs", "time_us", "seconds"), [(1, 3_010_000, "= 3.010 s"), (100, 40_000, "= 0.040 s")]
)
def test_a_thousand_messages(batch_msgs: int, time_us: int, seconds: str) -> None:
    answer = batch_transfer_time(messages=1000, batch_msgs=batch_msgs)
    assert (answer.value, answer.unit, answer.exact) == (time_us, "us", time_us)
    assert answer.steps[-1].endswith(seconds)


def test_a_last_batch_that_is_not_full_costs_as_much_as_a_full_one() -> None:
    assert batch_transfer_time(messages=1001, batch_msgs=100).value == 43_010
    assert batch_transfer_time(messages=10, batch_msgs=100).value == 3100


def test_other_batch_sizes_stand_beside_the_one_asked_for() -> None:
    rows = batch_transfer_time(messages=1000, batch_msgs=50).rows
    assert [(row["batch_msgs"], row["batches"], row["time_us"]) for row in rows] == [
        (1, 1000, 3_010_000),
        (10, 100, 310_000),
        (50, 20, 70_000),
        (100, 10, 40_000),
        (1000, 1, 13_000),
    ]
    assert rows[2]["max_msgs_per_s"] == channel_ceiling(batch_msgs=50).value


@pytest.mark.parametrize(
    ("batch_msgs", "wait_us", "msgs_per_s", "exact"),
    [(1, 1000, 332, 1e6 / 3010), (50, 1000, 14_286, 100_000 / 7), (50, 80_000, 606, 20_000 / 33)],
)
def test_the_ceiling_of_a_channel(batch_msgs: int, wait_us: int, msgs_per_s: int, exact: float) -> None:
    answer = channel_ceiling(batch_msgs=batch_msgs, wait_us=wait_us)
    assert answer.unit == "messages/s"
    assert answer.exact == pytest.approx(exact)
    assert answer.value is not None
    assert round(answer.value) == msgs_per_s


@given(messages=MESSAGES, batch_msgs=st.integers(1, 9998), wait_us=ONCE_US)
def test_a_larger_batch_never_takes_longer(messages: int, batch_msgs: int, wait_us: int) -> None:
    smaller = batch_transfer_time(messages=messages, batch_msgs=batch_msgs, wait_us=wait_us).value
    larger = batch_transfer_time(messages=messages, batch_msgs=batch_msgs + 1, wait_us=wait_us).value
    assert smaller is not None
    assert larger is not None
    assert larger <= smaller


@given(messages=MESSAGES, batch_msgs=BATCH, wait_us=ONCE_US)
def test_more_messages_take_longer(messages: int, batch_msgs: int, wait_us: int) -> None:
    fewer = batch_transfer_time(messages=messages, batch_msgs=batch_msgs, wait_us=wait_us).value
    more = batch_transfer_time(messages=messages + 1, batch_msgs=batch_msgs, wait_us=wait_us).value
    assert fewer is not None
    assert more is not None
    assert more > fewer


@given(batch_msgs=st.integers(1, 9998), wait_us=st.integers(0, 59_000_000))
def test_the_ceiling_rises_with_the_batch_and_falls_with_the_wait(batch_msgs: int, wait_us: int) -> None:
    ceiling = channel_ceiling(batch_msgs=batch_msgs, wait_us=wait_us).exact
    larger = channel_ceiling(batch_msgs=batch_msgs + 1, wait_us=wait_us).exact
    farther = channel_ceiling(batch_msgs=batch_msgs, wait_us=wait_us + 1000).exact
    assert ceiling is not None
    assert larger is not None
    assert farther is not None
    assert 0 < farther < ceiling < larger < 100_000


@given(batches=st.integers(1, 1000), batch_msgs=BATCH, wait_us=ONCE_US)
def test_time_and_ceiling_agree_on_full_batches(batches: int, batch_msgs: int, wait_us: int) -> None:
    messages = batches * batch_msgs
    time_us = batch_transfer_time(messages=messages, batch_msgs=batch_msgs, wait_us=wait_us).exact
    ceiling = channel_ceiling(batch_msgs=batch_msgs, wait_us=wait_us).exact
    assert time_us is not None
    assert ceiling == pytest.approx(messages / time_us * 1e6)


@pytest.mark.parametrize(
    ("avg_bytes", "batch_limit_kb", "length"),
    [(1_048_576, 0, 1_048_576_000), (1_048_576, 10_240, 10_485_760), (100, 10_240, 100_000)],
)
def test_data_of_a_batch_of_a_thousand(avg_bytes: int, batch_limit_kb: int, length: int) -> None:
    answer = batch_bytes(batch_msgs=1000, avg_bytes=avg_bytes, batch_limit_kb=batch_limit_kb)
    assert (answer.value, answer.unit) == (length, "bytes")


@pytest.mark.parametrize(
    ("avg_bytes", "batch_limit_kb", "buffers"),
    [
        (1_048_576, 0, 260_000),
        (1_048_576, 10_240, 2600),
        (1_048_576, 10_000, 2600),
        (1, 0, 1000),
        (3635, 0, 1000),
        (3635.5, 0, 2000),
        (7683, 0, 2000),
        (7684, 0, 3000),
        (31_971, 0, 8000),
    ],
)
def test_buffers_of_a_batch_of_a_thousand(avg_bytes: float, batch_limit_kb: int, buffers: int) -> None:
    answer = batch_buffers(batch_msgs=1000, avg_bytes=avg_bytes, batch_limit_kb=batch_limit_kb)
    assert (answer.value, answer.unit) == (buffers, "buffers")


@given(batch_msgs=st.integers(1, 9998), avg_bytes=st.integers(1, 104_857_600), batch_limit_kb=st.integers(1, 999_999))
def test_a_limit_never_makes_a_batch_larger(batch_msgs: int, avg_bytes: int, batch_limit_kb: int) -> None:
    for what in (batch_bytes, batch_buffers):
        free = what(batch_msgs=batch_msgs, avg_bytes=avg_bytes, batch_limit_kb=0).value
        limited = what(batch_msgs=batch_msgs, avg_bytes=avg_bytes, batch_limit_kb=batch_limit_kb).value
        more = what(batch_msgs=batch_msgs + 1, avg_bytes=avg_bytes, batch_limit_kb=batch_limit_kb).value
        assert free is not None
        assert limited is not None
        assert more is not None
        assert 0 < limited <= free
        assert limited <= more


@given(batch_msgs=BATCH, avg_bytes=st.integers(1, 104_857_599))
def test_longer_messages_never_need_fewer_buffers(batch_msgs: int, avg_bytes: int) -> None:
    shorter = batch_buffers(batch_msgs=batch_msgs, avg_bytes=avg_bytes, batch_limit_kb=0).value
    longer = batch_buffers(batch_msgs=batch_msgs, avg_bytes=avg_bytes + 1, batch_limit_kb=0).value
    assert shorter is not None
    assert longer is not None
    assert shorter <= longer
    assert shorter * 4096 >= batch_msgs * avg_bytes


@pytest.mark.parametrize("batch_msgs", [0, -1, 10_000])
def test_a_batch_size_that_mq_refuses_is_refused(batch_msgs: int) -> None:
    with pytest.raises(PlanError, match=f"batch-msgs must be 1 to 9,999 messages, not {batch_msgs}"):
        channel_ceiling(batch_msgs=batch_msgs)


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match="messages must be given"):
        batch_transfer_time(batch_msgs=50)
    with pytest.raises(PlanError, match="wait-us must be 0 to 60,000,000 us, not -1"):
        batch_transfer_time(messages=1, batch_msgs=50, wait_us=-1)
    with pytest.raises(PlanError, match="avg-bytes must be 1 to 104,857,600 bytes, not 0"):
        batch_bytes(batch_msgs=50, avg_bytes=0, batch_limit_kb=0)
    with pytest.raises(PlanError, match="batch-limit-kb must be 0 to 999,999 KB"):
        batch_buffers(batch_msgs=50, avg_bytes=1, batch_limit_kb=1_000_000)
