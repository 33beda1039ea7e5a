"""What an index saves: the document's 27 gets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.formula import PlanError
from mqvitals_rules.plan.queue_index import index_benefit


def test_the_documents_comparison() -> None:
    answer = index_benefit(gets=27, skipped_per_get=125)
    assert answer.value == pytest.approx(9963 - 2673)
    assert answer.unit == "CPU microseconds"
    cpu, elapsed = answer.rows
    assert cpu["indexed_us"] == 2673
    assert cpu["not_indexed_us"] == pytest.approx(9963)
    assert cpu["difference_pct"] == pytest.approx(272.7, abs=0.05)
    assert cpu["document_difference_pct"] == 272
    assert elapsed["indexed_us"] == 2835
    assert elapsed["not_indexed_us"] == pytest.approx(10_368)
    assert elapsed["difference_pct"] == pytest.approx(265.7, abs=0.05)
    assert elapsed["document_difference_pct"] == 252
    assert any("252" in step and "265.7" in step for step in answer.steps)


def test_a_get_of_the_document_saves_270_microseconds() -> None:
    assert index_benefit(gets=1).value == pytest.approx(369 - 99)
    assert index_benefit().inputs == {"gets": 27, "skipped_per_get": 125}


def test_a_message_passed_over_takes_about_two_microseconds() -> None:
    assert index_benefit(gets=1, skipped_per_get=1).value == pytest.approx(2.2, rel=0.02)


def test_other_depths_have_no_printed_difference() -> None:
    assert [row["document_difference_pct"] for row in index_benefit(skipped_per_get=10).rows] == [None, None]


def test_nothing_passed_over_saves_nothing() -> None:
    assert index_benefit(skipped_per_get=0).value == 0


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match="gets must be 1 to"):
        index_benefit(gets=0)
    with pytest.raises(PlanError, match="skipped-per-get must be 0 to"):
        index_benefit(skipped_per_get=-1)


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 1000), st.integers(0, 1000))
def test_more_gets_or_deeper_queues_never_save_less(gets: int, skipped: int, more_gets: int, deeper: int) -> None:
    before = index_benefit(gets=gets, skipped_per_get=skipped).value
    after = index_benefit(gets=gets + more_gets, skipped_per_get=skipped + deeper).value
    assert before is not None
    assert after is not None
    assert 0 <= before <= after
