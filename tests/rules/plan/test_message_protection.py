"""Advanced Message Security: the measured costs, and key reuse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.formula import PlanError
from mqvitals_rules.plan.security import ams_channel_scaling, ams_cost, ams_key_reuse, ams_streaming_cost


@pytest.mark.parametrize(
    ("protection", "cpu_us", "added_pct", "rate"),
    [
        ("unprotected", 200, 0, 1737),
        ("confidentiality", 350, 75, 1355),
        ("confidentiality-two-islands", 460, 130, 1179),
        ("privacy", 800, 300, 434),
    ],
)
def test_request_and_reply(protection: str, cpu_us: int, added_pct: int, rate: int) -> None:
    (row,) = [each for each in ams_cost(protection="privacy").rows if each["protection"] == protection]
    assert row["cpu_us"] == cpu_us
    assert row["added_pct"] == pytest.approx(added_pct)
    assert row["measured_rate_per_s"] == pytest.approx(rate, abs=0.5)
    if protection != "unprotected":
        answer = ams_cost(protection=protection)
        assert (answer.value, answer.unit) == (cpu_us, "CPU microseconds per transaction")


def test_request_and_reply_say_the_rate() -> None:
    assert ams_cost(protection="confidentiality").steps[1] == "measured rate 1,737 x 0.78 = 1,355 per second"


def test_a_second_island_takes_31_percent_more() -> None:
    one, two = (ams_cost(protection=each).value for each in ("confidentiality", "confidentiality-two-islands"))
    assert one is not None
    assert two is not None
    assert two - one == 110
    assert 100 * (two - one) / one == pytest.approx(31, abs=0.5)
    assert "100 to 140" in ams_cost(protection="confidentiality-two-islands").caveat


def test_one_direction_is_half() -> None:
    answer = ams_cost(protection="confidentiality", direction="one-way")
    assert answer.value == 275
    assert answer.steps[0] == "one direction takes half of 150 = 75 CPU microseconds"
    assert len(answer.steps) == 2
    assert all(row["measured_rate_per_s"] is None for row in answer.rows)
    assert "derived" not in answer.caveat
    assert "derived" in ams_cost(protection="privacy", direction="one-way").caveat


def test_the_documents_75_microseconds_of_privacy_are_named() -> None:
    assert "prints 75 microseconds" in ams_cost(protection="privacy").caveat


@given(st.integers(1, 10**6), st.sampled_from(["confidentiality", "confidentiality-two-islands", "privacy"]))
def test_what_is_added_does_not_depend_on_the_application(base: int, protection: str) -> None:
    value = ams_cost(protection=protection, base_cpu_us=base).value
    usual = ams_cost(protection=protection).value
    assert value is not None
    assert usual is not None
    assert value - base == usual - 200


@pytest.mark.parametrize(("protection", "rate"), [("unprotected", 400), ("end-to-end", 460), ("interception", 430)])
def test_five_channel_pairs(protection: str, rate: float) -> None:
    answer = ams_channel_scaling(one_pair_per_s=100, protection=protection)
    assert answer.value == pytest.approx(rate)
    assert answer.unit == "per second"
    (row,) = [each for each in answer.rows if each["protection"] == protection]
    assert row["five_pairs_per_s"] == answer.value
    assert "about 5 %" in answer.steps[-1]


STREAMING = [
    ("none", 0, 0, 0, "yes"),
    ("integrity", 13, 10, 14, "no"),
    ("privacy", 14, 10, 14, "no"),
    ("confidentiality-reuse-1", 5, 10, 14, "no"),
    ("confidentiality-reuse-32", 5, 7, 7, "yes"),
    ("confidentiality-reuse-64", 5, 7, 7, "yes"),
    ("confidentiality-reuse-unlimited", 5, 7, 7, "yes"),
]


@pytest.mark.parametrize(("protection", "get_us", "least_us", "most_us", "kept"), STREAMING)
def test_a_stream_of_messages(protection: str, get_us: int, least_us: int, most_us: int, kept: str) -> None:
    answer = ams_streaming_cost(msgs_per_s=10_000, protection=protection)
    assert (answer.value, answer.unit) == (10 * (get_us + most_us), "CPU ms/s")
    (row,) = [each for each in answer.rows if each["protection"] == protection]
    assert (row["get_us"], row["mq_least_us"], row["mq_most_us"]) == (get_us, least_us, most_us)
    assert row["kept_10000_per_s"] == kept
    assert ("did not keep up" in answer.caveat) == (kept == "no")


@given(st.integers(0, 10**5), st.integers(0, 10**5), st.sampled_from([each[0] for each in STREAMING]))
def test_more_messages_never_cost_less(rate: int, more: int, protection: str) -> None:
    before = ams_streaming_cost(msgs_per_s=rate, protection=protection).value
    after = ams_streaming_cost(msgs_per_s=rate + more, protection=protection).value
    assert before is not None
    assert after is not None
    assert 0 <= before <= after


@pytest.mark.parametrize(
    ("msgs", "key_reuse", "operations", "avoided"),
    [(10, 10, 1, 90), (10, 32, 1, 90), (10, -1, 1, 90), (10, 0, 10, 0), (10, 1, 10, 0), (10, 3, 4, 60), (1, -1, 1, 0)],
)
def test_key_reuse(msgs: int, key_reuse: int, operations: int, avoided: float) -> None:
    answer = ams_key_reuse(msgs=msgs, key_reuse=key_reuse)
    assert answer.value == pytest.approx(avoided)
    assert answer.unit == "%"
    assert f"operations: {operations} instead of {msgs} (" in answer.steps[0]
    (row,) = [each for each in answer.rows if each["key_reuse"] == key_reuse]
    assert row["operations"] == operations


def test_key_reuse_is_set_beside_the_usual_ones() -> None:
    rows = ams_key_reuse(msgs=640, key_reuse=10).rows
    assert [(row["key_reuse"], row["operations"]) for row in rows] == [
        (0, 640),
        (1, 640),
        (32, 20),
        (64, 10),
        (10, 64),
        (-1, 1),
    ]


@given(st.integers(1, 10**9), st.integers(0, 9_000_000), st.integers(0, 900_000))
def test_more_reuse_never_avoids_less_and_unlimited_avoids_most(msgs: int, reuse: int, more: int) -> None:
    less, longer, unlimited = (ams_key_reuse(msgs=msgs, key_reuse=each).value for each in (reuse, reuse + more, -1))
    assert less is not None
    assert longer is not None
    assert unlimited is not None
    assert 0 <= less <= longer <= unlimited < 100


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match="protection must be given"):
        ams_cost()
    with pytest.raises(PlanError, match="base-cpu-us must be 1 to"):
        ams_cost(protection="privacy", base_cpu_us=0)
    with pytest.raises(PlanError, match="msgs must be 1 to"):
        ams_key_reuse(msgs=0, key_reuse=1)
    for key_reuse in (-2, 10_000_000):
        with pytest.raises(PlanError, match="key-reuse must be -1 to 9,999,999"):
            ams_key_reuse(msgs=1, key_reuse=key_reuse)
