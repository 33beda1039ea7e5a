"""Shared queues: the rules of thumb of the document, and what must hold between them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.formula import Formula, PlanError
from mqvitals_rules.plan.shared_queues import (
    cf_link_cpu,
    cf_processor_use,
    cf_structures_cpu,
    shared_queue_cpu,
    shared_queue_rate,
)


def _value(formula: Formula, **inputs: float | str) -> float:
    value = formula(**inputs).value
    assert value is not None
    return value


MORE = [
    ("persistent", 1000, 37, 9),
    ("persistent", 5000, 0, 8),
    ("non-persistent", 1000, 100, 5),
    ("non-persistent", 5000, 75, 5),
    ("non-persistent", 64_512, 16, 5),
]


@pytest.mark.parametrize(("persistence", "msg_bytes", "more", "each_extra"), MORE)
def test_cpu_of_a_measured_length(persistence: str, msg_bytes: int, more: int, each_extra: int) -> None:
    answer = shared_queue_cpu(persistence=persistence, msg_bytes=msg_bytes)
    assert (answer.value, answer.unit) == (more, "%")
    assert _value(shared_queue_cpu, persistence=persistence, msg_bytes=msg_bytes, queue_managers=2) == more + each_extra
    assert {
        "persistence": persistence,
        "msg_bytes": msg_bytes,
        "more_cpu_pct": more,
        "each_extra_queue_manager_pct": each_extra,
    } in answer.rows
    assert len(answer.rows) == len(MORE)
    assert "straight line" not in answer.caveat


def test_three_queue_managers_add_up() -> None:
    answer = shared_queue_cpu(persistence="persistent", msg_bytes=1000, queue_managers=3)
    assert answer.value == 55
    assert "added up, not compounded" in answer.caveat
    assert answer.steps[-1] == "compounded it would be +62.8 %"


def test_what_was_not_measured_is_said() -> None:
    between = shared_queue_cpu(persistence="persistent", msg_bytes=3000, queue_managers=5)
    assert between.value == pytest.approx(18.5 + 4 * 8.5)
    assert "Only 1,000, 5,000 bytes were measured" in between.caveat
    assert "No more than 4 queue managers were measured" in between.caveat
    with pytest.raises(PlanError, match="msg-bytes must be 1,000 to 5,000 bytes for persistent messages, not 5,001"):
        shared_queue_cpu(persistence="persistent", msg_bytes=5001)


@given(st.integers(1000, 64_512), st.integers(1000, 64_512), st.integers(1, 31))
def test_longer_messages_never_cost_more_and_more_queue_managers_never_less(one: int, other: int, many: int) -> None:
    short, long = (
        _value(shared_queue_cpu, persistence="non-persistent", msg_bytes=each, queue_managers=many)
        for each in sorted((one, other))
    )
    assert short >= long >= 16
    assert long < _value(
        shared_queue_cpu, persistence="non-persistent", msg_bytes=max(one, other), queue_managers=many + 1
    )


@given(st.integers(1000, 5000), st.integers(1000, 5000), st.integers(1, 32))
def test_longer_persistent_messages_never_cost_more(one: int, other: int, many: int) -> None:
    short, long = (
        _value(shared_queue_cpu, persistence="persistent", msg_bytes=each, queue_managers=many)
        for each in sorted((one, other))
    )
    assert 37 + 31 * 9 >= short >= long >= 0


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match="queue-managers must be 1 to 32 queue managers, not 33"):
        shared_queue_cpu(persistence="persistent", msg_bytes=1000, queue_managers=33)
    with pytest.raises(PlanError, match="persistence must be persistent or non-persistent"):
        shared_queue_cpu(persistence="both", msg_bytes=1000)
    with pytest.raises(PlanError, match="cf-processors must be 1 to 64 processors, not 0"):
        cf_processor_use(msgs_per_s=1, cf_processors=0)
    with pytest.raises(PlanError, match="private-per-s must be"):
        shared_queue_rate(private_per_s=-1)


def test_rate_of_one_queue_manager() -> None:
    assert shared_queue_rate(private_per_s=1000).value == 920


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_a_faster_queue_manager_stays_faster_but_never_as_fast_as_private(one: int, other: int) -> None:
    slow, fast = sorted((one, other))
    assert _value(shared_queue_rate, private_per_s=slow) <= _value(shared_queue_rate, private_per_s=fast) <= fast


def test_two_application_structures() -> None:
    assert cf_structures_cpu(structures="2").value == 21
    assert cf_structures_cpu(structures="1").value == 0
    assert cf_structures_cpu().rows == (
        {"structures": 1, "more_cpu_pct": 0},
        {"structures": 2, "more_cpu_pct": 21},
    )
    with pytest.raises(PlanError, match="structures must be 1 or 2"):
        cf_structures_cpu(structures="3")


LINKS = [("ICS", 13), ("CBS", 16), ("CFS", 34)]


@pytest.mark.parametrize(("link", "more"), LINKS)
def test_cpu_by_link(link: str, more: int) -> None:
    answer = cf_link_cpu(link=link)
    assert answer.value == more
    assert [(each["link"], each["more_cpu_pct"]) for each in answer.rows] == LINKS
    with pytest.raises(PlanError, match="link must be ICS, CBS or CFS"):
        cf_link_cpu(link=link.lower())


@pytest.mark.parametrize(("msg_bytes", "each_us"), [(1000, 200), (5000, 270)])
def test_cf_time_of_a_message(msg_bytes: int, each_us: int) -> None:
    answer = cf_processor_use(msgs_per_s=10_000, msg_bytes=msg_bytes, cf_processors=1)
    assert answer.value == each_us
    assert {"msg_bytes": msg_bytes, "cf_us_per_message": each_us} in answer.rows
    assert "More than the coupling facility can do" in answer.caveat


def test_11000_messages_a_second_are_above_the_guideline() -> None:
    answer = cf_processor_use(msgs_per_s=11_000, msg_bytes=1000, cf_processors=3)
    assert answer.value == pytest.approx(73.3, abs=0.05)
    assert answer.unit == "%"
    assert answer.steps[-1] == "above the guideline of 50 %, which 7,500 messages/s reach"
    assert "can do" not in answer.caveat
    assert cf_processor_use(msgs_per_s=7500, cf_processors=3).steps[-1].startswith("within")


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(1000, 5000), st.integers(1, 63))
def test_more_messages_never_use_less_and_more_processors_never_more(
    one: int, other: int, msg_bytes: int, processors: int
) -> None:
    few, many = sorted((one, other))
    inputs = {"msg_bytes": msg_bytes, "cf_processors": processors}
    fewer = _value(cf_processor_use, msgs_per_s=few, **inputs)
    assert 0 <= fewer <= _value(cf_processor_use, msgs_per_s=many, **inputs)
    assert _value(cf_processor_use, msgs_per_s=few, **{**inputs, "cf_processors": processors + 1}) <= fewer
    assert _value(cf_processor_use, msgs_per_s=few, **{**inputs, "msg_bytes": 5000}) >= fewer


@pytest.mark.parametrize(("persistence", "most"), [("persistent", 4), ("non-persistent", 2)])
def test_more_queue_managers_than_were_measured(persistence: str, most: int) -> None:
    said = f"No more than {most} queue managers were measured"
    for many in (most, most + 1):
        answer = shared_queue_cpu(persistence=persistence, msg_bytes=1000, queue_managers=many)
        assert (said in answer.caveat) == (many > most)


@pytest.mark.parametrize(("msgs_per_s", "too_many"), [(5000, False), (5001, True)])
def test_a_coupling_facility_cannot_be_more_than_busy(msgs_per_s: int, too_many: bool) -> None:
    caveat = cf_processor_use(msgs_per_s=msgs_per_s, cf_processors=1).caveat
    assert ("More than the coupling facility can do" in caveat) is too_many


@pytest.mark.parametrize("msg_bytes", [999, 5001])
def test_cf_time_only_of_what_was_measured(msg_bytes: int) -> None:
    with pytest.raises(PlanError, match="msg-bytes must be 1,000 to 5,000 bytes"):
        cf_processor_use(msgs_per_s=1, msg_bytes=msg_bytes, cf_processors=1)
