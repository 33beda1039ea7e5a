"""Log data: the worked examples and tables of the documents, and what must hold for any input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.formula import Formula, PlanError
from mqvitals_rules.plan.logs import (
    log_data_rate,
    log_fill_time,
    log_statistics_rate,
    qsg_log_rate_loss,
    unformatted_log,
)

LENGTHS = st.integers(0, 104_857_600)
RATES = st.integers(1, 10**7)


def _inputs(**inputs: float | str) -> dict[str, float | str]:
    return inputs


def _value(formula: Formula, **inputs: float | str) -> float:
    value = formula(**inputs).value
    assert value is not None
    return value


def test_400_messages_of_1_kb_in_a_group() -> None:
    answer = log_data_rate(msg_bytes=1024, msgs_per_s=400, in_qsg="yes")
    assert answer.value == pytest.approx(0.9765625)
    assert answer.unit == "MB/s"
    assert answer.value == pytest.approx(0.97, abs=0.01)
    lasts = log_fill_time(msg_bytes=1024, msgs_per_s=400, in_qsg="yes", log_gb=4)
    assert lasts.value == pytest.approx(69.9, abs=0.05)
    assert lasts.unit == "minutes"
    assert log_fill_time(msg_bytes=1024, msgs_per_s=400, in_qsg="yes").value == lasts.value


@pytest.mark.parametrize(("in_qsg", "each"), [("no", 1024 + 1280), ("yes", 1024 + 1536)])
def test_headers_of_a_message(in_qsg: str, each: int) -> None:
    assert _value(log_data_rate, msg_bytes=1024, msgs_per_s=1, in_qsg=in_qsg) * 2**20 == pytest.approx(each)


def test_a_request_and_reply_of_1_mb_by_the_crude_estimate() -> None:
    answer = log_data_rate(msg_bytes=1_048_576, msgs_per_s=2, in_qsg="no")
    assert answer.value == pytest.approx(2.0024, abs=0.0001)
    assert "logged 2.15 MB where this gives 2.00" in answer.caveat


@given(LENGTHS, LENGTHS, RATES, st.sampled_from(["yes", "no"]))
def test_longer_messages_never_log_less(one: int, other: int, msgs_per_s: int, in_qsg: str) -> None:
    short, long = (_inputs(msg_bytes=each, msgs_per_s=msgs_per_s, in_qsg=in_qsg) for each in sorted((one, other)))
    assert 0 < _value(log_data_rate, **short) <= _value(log_data_rate, **long)
    assert _value(log_fill_time, **short) >= _value(log_fill_time, **long) > 0


@given(LENGTHS, RATES, RATES)
def test_more_messages_fill_a_log_no_later(msg_bytes: int, one: int, other: int) -> None:
    few, many = sorted((one, other))
    fewer = _value(log_fill_time, msg_bytes=msg_bytes, msgs_per_s=few, in_qsg="yes")
    assert fewer >= _value(log_fill_time, msg_bytes=msg_bytes, msgs_per_s=many, in_qsg="yes")
    assert fewer <= _value(log_fill_time, msg_bytes=msg_bytes, msgs_per_s=few, in_qsg="no")


def test_nonsense_of_a_rate_is_refused() -> None:
    with pytest.raises(PlanError, match="msgs-per-s must be"):
        log_fill_time(msg_bytes=1, msgs_per_s=0, in_qsg="no")
    with pytest.raises(PlanError, match="msg-bytes must be 0 to 104,857,600 bytes"):
        log_data_rate(msg_bytes=104_857_601, msgs_per_s=1, in_qsg="no")
    with pytest.raises(PlanError, match="in-qsg must be yes or no, not 'maybe'"):
        log_data_rate(msg_bytes=1, msgs_per_s=1, in_qsg="maybe")
    with pytest.raises(PlanError, match="in-qsg must be given"):
        log_data_rate(msg_bytes=1, msgs_per_s=1)


SAMPLE = {"ci_writes": 5_472_360, "cis_created": 2_731_415}


def test_the_sample_report_is_of_dual_logging() -> None:
    answer = log_statistics_rate(**SAMPLE, interval_s=1)
    assert answer.value == pytest.approx(10_688.2, abs=0.05)
    assert answer.unit == "MB/s"
    assert answer.value == pytest.approx(10_688, abs=0.5)
    assert answer.steps[0].endswith("= 2.0035")
    assert answer.steps[1].startswith("2 copies, inferred")
    assert "guess" not in answer.caveat


def test_copies_can_be_given() -> None:
    one, two = (_value(log_statistics_rate, **SAMPLE, interval_s=60, copies=each) for each in ("1", "2"))
    assert one == pytest.approx(2 * two)
    assert two == _value(log_statistics_rate, **SAMPLE, interval_s=60)


def test_copies_that_the_statistics_do_not_tell() -> None:
    assert "the copies are a guess" in log_statistics_rate(ci_writes=170, cis_created=100, interval_s=60).caveat
    with pytest.raises(PlanError, match="copies must be given, 1 or 2"):
        log_statistics_rate(ci_writes=300, cis_created=100, interval_s=60)
    with pytest.raises(PlanError, match="copies must be given, 1 or 2"):
        log_statistics_rate(ci_writes=1, cis_created=100, interval_s=60)
    assert _value(log_statistics_rate, ci_writes=300, cis_created=100, interval_s=60, copies="2") > 0


def test_nothing_written_is_no_rate() -> None:
    answer = log_statistics_rate(ci_writes=0, cis_created=1, interval_s=60)
    assert answer.value == 0
    assert "guess" not in answer.caveat


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.integers(1, 302_400))
def test_more_writes_never_mean_a_lower_rate(one: int, other: int, interval_s: int) -> None:
    few, many = sorted((one, other))
    inputs = _inputs(cis_created=1000, interval_s=interval_s, copies="2")
    fewer = _value(log_statistics_rate, ci_writes=few, **inputs)
    assert 0 <= fewer <= _value(log_statistics_rate, ci_writes=many, **inputs)
    assert _value(log_statistics_rate, ci_writes=few, **{**inputs, "interval_s": 2 * interval_s}) <= fewer


def test_no_interval_and_nothing_created_are_refused() -> None:
    with pytest.raises(PlanError, match="interval-s must be 1 to 604,800 s, not 0"):
        log_statistics_rate(**SAMPLE, interval_s=0)
    with pytest.raises(PlanError, match="cis-created must be 1 to"):
        log_statistics_rate(ci_writes=1, cis_created=0, interval_s=60)


LOSSES = [(4_194_304, 1), (5000, 5), (1000, 7), (100, 10)]


@pytest.mark.parametrize(("msg_bytes", "lost"), LOSSES)
def test_loss_by_joining_a_group(msg_bytes: int, lost: int) -> None:
    answer = qsg_log_rate_loss(msg_bytes=msg_bytes)
    assert (answer.value, answer.unit) == (lost, "%")
    assert {"msg_bytes": msg_bytes, "rate_lost_pct": lost} in answer.rows
    assert len(answer.rows) == len(LOSSES)


@given(st.integers(100, 104_857_600), st.integers(100, 104_857_600))
def test_longer_messages_never_lose_more(one: int, other: int) -> None:
    short, long = (_value(qsg_log_rate_loss, msg_bytes=each) for each in sorted((one, other)))
    assert 10 >= short >= long >= 1


def test_between_measured_lengths_the_greater_loss_is_given() -> None:
    answer = qsg_log_rate_loss(msg_bytes=4999)
    assert answer.value == 7
    assert answer.steps[-1] == "with 4,999 bytes it is at most that"
    with pytest.raises(PlanError, match="msg-bytes must be 100 to 104,857,600 bytes, not 99"):
        qsg_log_rate_loss(msg_bytes=99)


FIRST_USE = [("data-rate", -50), ("response-time", 33), ("throughput", -25)]


@pytest.mark.parametrize(("measure", "change"), FIRST_USE)
def test_first_use_of_an_unformatted_log(measure: str, change: int) -> None:
    answer = unformatted_log(measure=measure)
    assert (answer.value, answer.unit) == (change, "%")
    assert [(each["measure"], each["change_pct"]) for each in answer.rows] == FIRST_USE


def test_only_what_was_measured_of_an_unformatted_log() -> None:
    assert unformatted_log().value == -50
    with pytest.raises(PlanError, match="measure must be data-rate, response-time or throughput"):
        unformatted_log(measure="cpu")


def test_a_single_log() -> None:
    answer = log_statistics_rate(ci_writes=2560, cis_created=2550, interval_s=10)
    assert answer.value == 1
    assert answer.steps[1].startswith("1 copy, inferred")
