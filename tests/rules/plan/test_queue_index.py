"""Indexes of private queues: the worked examples of the documents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.formula import PlanError
from mqvitals_rules.plan.page_sets import LAYOUTS
from mqvitals_rules.plan.queue_index import (
    index_rebuild_cpu,
    index_rebuild_time,
    index_rebuild_time_by_pages,
    index_storage,
)


def test_100_million_messages_take_what_272_bytes_each_come_to() -> None:
    answer = index_storage(messages=100_000_000)
    assert (answer.value, answer.unit) == (27_200_000_000, "bytes")
    assert answer.value is not None
    assert answer.value / 2**20 == pytest.approx(25_940, abs=0.5)
    assert answer.value / 2**30 == pytest.approx(25.3, abs=0.05)
    assert answer.steps[1] == "= 25,940 MB = 25.3 GB"
    assert "the document prints 29,940 MB (29.2 GB)" in answer.steps[2]


def test_8_million_messages() -> None:
    answer = index_storage(messages=8_000_000)
    assert answer.value == 2_176_000_000
    assert not any("29,940" in step for step in answer.steps)


def test_13_million_messages_of_v53_take_a_gigabyte_below_the_bar() -> None:
    answer = index_storage(messages=13_000_000, release="v5.3")
    assert answer.value == 2**30
    assert "below the bar" in answer.steps[0]
    with pytest.raises(PlanError, match=r"messages must be 0 to 13,000,000 messages with release v5\.3, not 13000001"):
        index_storage(messages=13_000_001, release="v5.3")


@pytest.mark.parametrize(
    ("messages", "cpu_s", "elapsed_s", "document_cpu_s", "document_elapsed_s", "within"),
    [(8_000_000, 42, 280, 42, 280, 0), (100_000_000, 525, 3500, 530, 3600, 0.03)],
)
def test_restart_with_a_deep_queue(
    messages: int, cpu_s: float, elapsed_s: float, document_cpu_s: float, document_elapsed_s: float, within: float
) -> None:
    cpu, elapsed = index_rebuild_cpu(messages=messages), index_rebuild_time(messages=messages)
    assert (cpu.value, cpu.unit) == (cpu_s, "s")
    assert (elapsed.value, elapsed.unit) == (elapsed_s, "s")
    assert cpu.value == pytest.approx(document_cpu_s, rel=within)
    assert elapsed.value == pytest.approx(document_elapsed_s, rel=within)
    assert cpu.value == pytest.approx(0.15 * elapsed_s)
    expected = {
        "messages": messages,
        "cpu_s": cpu_s,
        "document_cpu_s": document_cpu_s,
        "elapsed_s": elapsed_s,
        "document_elapsed_s": document_elapsed_s,
    }
    assert expected in elapsed.rows
    assert elapsed.rows == cpu.rows
    assert len(cpu.rows) == 2


def test_what_the_document_says_of_small_messages_on_a_page() -> None:
    assert "7 messages to a page" in index_rebuild_time(messages=1).steps[0]
    assert "530 CPU seconds" in index_rebuild_cpu(messages=100_000_000).steps[-1]


def test_50000_messages_of_v53_take_30_seconds() -> None:
    answer = index_rebuild_time_by_pages(messages=50_000, msg_bytes=1024, layout="v6")
    assert (answer.value, answer.unit) == (30, "s")
    assert "= 25,000 pages read" in answer.steps[1]


@pytest.mark.parametrize(
    ("msg_bytes", "layout", "reads"), [(1024, "shipped", 50_000), (30_000, "v6", 50_000), (46, "maxshortmsgs-0", 6250)]
)
def test_only_the_first_page_of_a_message_is_read(msg_bytes: int, layout: str, reads: int) -> None:
    answer = index_rebuild_time_by_pages(messages=50_000, msg_bytes=msg_bytes, layout=layout, page_read_ms=1)
    assert answer.value == reads / 1000


def test_nonsense_is_refused() -> None:
    for calculator in (index_storage, index_rebuild_time, index_rebuild_cpu):
        with pytest.raises(PlanError, match="messages must be 0 to"):
            calculator(messages=-1)
    with pytest.raises(PlanError, match="page-read-ms must be"):
        index_rebuild_time_by_pages(messages=1, msg_bytes=1, page_read_ms=0)


_MESSAGES = st.integers(0, 13_000_000)


@given(_MESSAGES, _MESSAGES, st.integers(0, 40_000), st.sampled_from(LAYOUTS))
def test_more_messages_never_need_less(one: int, other: int, size: int, layout: str) -> None:
    fewer, more = sorted((one, other))
    for calculator, too in (
        (index_storage, {}),
        (index_storage, {"release": "v5.3"}),
        (index_rebuild_time, {}),
        (index_rebuild_cpu, {}),
        (index_rebuild_time_by_pages, {"msg_bytes": size, "layout": layout}),
    ):
        least, most = (calculator(messages=each, **too).value for each in (fewer, more))
        assert least is not None
        assert most is not None
        assert 0 <= least <= most
