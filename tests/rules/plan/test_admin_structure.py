"""The administration structure: the document's example and its bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.formula import PlanError
from mqvitals_rules.plan.structures import csq_admin_queue_managers

ENTRIES = st.integers(1, 10**9)


def test_9362_entries_are_enough_for_nine_queue_managers() -> None:
    answer = csq_admin_queue_managers(entries_max=9362, entries_used=53)
    assert (answer.value, answer.unit) == (9, "queue managers")
    assert answer.exact == pytest.approx(9.362)
    assert answer.steps[-1] == "in use: 53 of 9,362 entries = 0.57 %"


@pytest.mark.parametrize(("entries", "queue_managers"), [(999, 0), (1000, 1), (8999, 8), (9000, 9), (10_000, 10)])
def test_a_thousand_entries_each(entries: int, queue_managers: int) -> None:
    assert csq_admin_queue_managers(entries_max=entries).value == queue_managers


def test_the_share_in_use_is_not_made_up() -> None:
    assert len(csq_admin_queue_managers(entries_max=9362).steps) == 1


@given(ENTRIES, ENTRIES)
def test_more_entries_never_serve_fewer(one: int, other: int) -> None:
    fewer, more = (csq_admin_queue_managers(entries_max=each) for each in sorted((one, other)))
    assert fewer.value is not None
    assert more.value is not None
    assert fewer.value <= more.value
    assert fewer.value * 1000 <= min(one, other)


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match="entries-max must be 1 to 1,000,000,000 entries, not 0"):
        csq_admin_queue_managers(entries_max=0)
    with pytest.raises(PlanError, match=r"entries-used must be at most entries-max \(10\), not 11"):
        csq_admin_queue_managers(entries_max=10, entries_used=11)


def test_every_entry_can_be_in_use() -> None:
    steps = csq_admin_queue_managers(entries_max=1000, entries_used=1000).steps
    assert steps[-1] == "in use: 1,000 of 1,000 entries = 100.00 %"
