"""Running totals become increases, and never invent any."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.poll.counters import SATURATED_AT, Counters
from mqvitals_rules.vocabulary.metric import Absence


def increase(counters: Counters, **totals: int | Absence) -> object:
    """The object's increase of ``msgs`` from totals by instance."""
    return counters.increases("QM01/channel/A", {key: {"msgs": total} for key, total in totals.items()})[0].get("msgs")


def test_increase_since_the_previous_reading() -> None:
    """The first reading proves nothing; from the second on there is the difference."""
    counters = Counters(("msgs",), saturated_at=SATURATED_AT)
    assert increase(counters, a=1000) is Absence.FIRST_READING
    assert increase(counters, a=1500) == 500
    assert increase(counters, a=1500) == 0


def test_decrease_is_a_reset() -> None:
    """A wrap and a reset look alike: what was counted meanwhile is not known."""
    counters = Counters(("msgs",), saturated_at=SATURATED_AT)
    increase(counters, a=999_608_764)
    assert increase(counters, a=4_300_776) is Absence.RESET
    assert increase(counters, a=4_300_777) == 1


def test_new_instance_is_a_reset_even_when_its_total_is_greater() -> None:
    """A channel that was started again counts from zero, however far it has come."""
    counters = Counters(("msgs",), saturated_at=SATURATED_AT)
    increase(counters, before=10)
    assert increase(counters, after=5000) is Absence.RESET
    assert increase(counters, after=5007) == 7


def test_pinned_counter_is_saturated() -> None:
    """At 999,999,999 a channel counter sticks: there is no increase to tell, and none after it either."""
    counters = Counters(("msgs",), saturated_at=SATURATED_AT)
    assert increase(counters, a=SATURATED_AT) is Absence.FIRST_READING
    assert increase(counters, a=SATURATED_AT) is Absence.SATURATED
    assert increase(counters, a=12) is Absence.RESET


def test_other_counters_know_no_saturation() -> None:
    """A log position may pass 999,999,999."""
    counters = Counters(("msgs",))
    increase(counters, a=SATURATED_AT - 1)
    assert increase(counters, a=SATURATED_AT) == 1


def test_absent_total_keeps_its_reason() -> None:
    """What is not returned is not returned, and the next reading has nothing to compare with."""
    counters = Counters(("msgs",), saturated_at=SATURATED_AT)
    increase(counters, a=1)
    assert increase(counters, a=Absence.NOT_RETURNED) is Absence.NOT_RETURNED
    assert increase(counters, a=9) is Absence.FIRST_READING


def test_several_instances_are_summed() -> None:
    """Instances that were there before add up; one that is new beside them counts from its next reading on."""
    counters = Counters(("msgs",), saturated_at=SATURATED_AT)
    assert increase(counters, a=10, b=20) is Absence.FIRST_READING
    assert increase(counters, a=11, b=25) == 6
    assert increase(counters, a=12, b=25, c=1000) == 1
    assert increase(counters, a=12, c=1002) == 2
    assert increase(counters, a=3, c=1002) is Absence.RESET
    assert increase(counters, a=4, c=SATURATED_AT) is Absence.SATURATED
    assert increase(counters, d=1, e=1) is Absence.RESET


def test_each_instance_has_its_own_increase() -> None:
    """Beside the sum, the increases are told by instance."""
    counters = Counters(("msgs",), saturated_at=SATURATED_AT)
    counters.increases("o", {"a": {"msgs": 1}, "b": {"msgs": 2}})
    _, each = counters.increases("o", {"a": {"msgs": 4}, "c": {"msgs": 9}})
    assert each == {"a": {"msgs": 3}, "c": {"msgs": Absence.RESET}}


def test_inactive_channel_is_remembered() -> None:
    """After a time without instances the next one is new, not the first."""
    counters = Counters(("msgs",), saturated_at=SATURATED_AT)
    increase(counters, a=5)
    assert counters.increases("QM01/channel/A", {}) == ({}, {})
    assert increase(counters, a=6) is Absence.RESET


def test_forgotten_object_begins_anew() -> None:
    """An object that was gone and returns is another one."""
    counters = Counters(("msgs",))
    increase(counters, a=5)
    counters.forget("QM01/channel/A")
    assert increase(counters, a=6) is Absence.FIRST_READING


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(0, SATURATED_AT), max_size=3), max_size=6))
def test_increases_are_never_negative(history: list[dict[str, int]]) -> None:
    """Whatever the totals do, an increase is a number from 0 on, or absent."""
    counters = Counters(("msgs",), saturated_at=SATURATED_AT)
    for instances in history:
        together, each = counters.increases("o", {key: {"msgs": total} for key, total in instances.items()})
        assert each.keys() == instances.keys()
        for value in (*together.values(), *(told["msgs"] for told in each.values())):
            assert isinstance(value, Absence) or (isinstance(value, int) and value >= 0)
