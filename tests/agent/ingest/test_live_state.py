"""What the agent knows now, for other threads: totals of counters, and objects of owners that still report."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.live import BEGIN, Group
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported

CHANNEL = ObjectName("QM01", "channel", "TO.QM02")
QUEUE = ObjectName("QM01", "queue", "ORDERS")
OTHER = ObjectName("QM02", "queue", "ORDERS")

INCREASES = st.lists(
    st.integers(0, 1 << 40) | st.sampled_from([Absence.RESET, Absence.FIRST_READING, Absence.NO_ANSWER])
)


@given(INCREASES)
def test_a_total_is_the_sum_of_the_increases_and_an_absence_adds_nothing(increases: list[Reported]) -> None:
    """Whatever comes between them; before the first increase there is no total."""
    group = Group()
    for each in increases:
        group.take({CHANNEL: {"msgs": each}})
    numbers = [each for each in increases if isinstance(each, int)]
    assert group.live.totals.of(CHANNEL).get("msgs") == (sum(numbers) if numbers else None)


def test_a_record_counts_once_and_those_of_the_time_before_the_agent_do_not() -> None:
    """Files of records are read again, and hold what the agent has not lived through."""
    group = Group()
    group.take({QUEUE: {"depth": 1}})
    for ts, puts in [
        (BEGIN - 60_000, 1000),
        (BEGIN + 1_800_000, 5),
        (BEGIN + 1_800_000, 5),
        (BEGIN + 900_000, 70),
        (BEGIN + 3_600_000, 6),
    ]:
        group.take({QUEUE: {"puts": puts}}, source=Source.SMF, probe="SMF 116-10", ts=ts, interval_ms=1_800_000)
    assert group.live.totals.of(QUEUE)["puts"] == 11


def test_an_object_that_is_gone_begins_anew() -> None:
    """Its series has ended."""
    group = Group()
    group.take({CHANNEL: {"msgs": 5}})
    group.take({CHANNEL: {}}, gone=True)
    assert group.live.totals.of(CHANNEL) == {}
    group.take({CHANNEL: {"msgs": 2}})
    assert group.live.totals.of(CHANNEL)["msgs"] == 2


def test_objects_are_there_by_kind_until_they_are_gone() -> None:
    """Of all owners, in the order in which they came."""
    group = Group()
    group.take({OTHER: {"depth": 2}})
    group.take({QUEUE: {"depth": 1}, CHANNEL: {"status": 3}})
    names = {kind: [state.name for state in states] for kind, states in group.live.states().items()}
    assert names == {"queue": [OTHER, QUEUE], "channel": [CHANNEL]}
    group.take({OTHER: {}}, gone=True)
    assert [state.name for state in group.live.states()["queue"]] == [QUEUE]


def test_without_a_cycle_there_is_nothing() -> None:
    """As between the start of the agent and its first answers."""
    group = Group()
    assert group.live.states() == {}
    assert group.live.alerts() == ()
    assert group.live.groups == frozenset()


@pytest.mark.parametrize("is_group", [True, False])
def test_it_knows_which_owners_are_groups(is_group: bool) -> None:
    """A shared queue belongs to the group."""
    group = Group()
    group.take({ObjectName("PRDQSG", "queue", "S"): {"depth": 1}}, group=is_group)
    assert group.live.groups == ({"PRDQSG"} if is_group else set())
