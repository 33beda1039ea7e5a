"""Samples as columns are read like a list of samples."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.rows.samples.sample import Sample, SampleColumns

NUMBERS = st.one_of(st.none(), st.integers(), st.floats(allow_nan=False))
SAMPLES = st.lists(st.builds(Sample, st.integers(), st.one_of(st.none(), st.integers()), NUMBERS), max_size=12)
ENDS = st.one_of(st.none(), st.integers(-15, 15))
PLACES = st.one_of(st.integers(-15, 15), st.builds(slice, ENDS, ENDS, st.sampled_from((None, 1, 2, -1))))


def taken(samples: Any, place: Any) -> Any:
    """What is at a place, or that there is nothing."""
    try:
        return samples[place]
    except IndexError:
        return "nothing"


@given(SAMPLES, PLACES)
def test_columns_are_read_like_a_list(samples: list[Sample], place: int | slice) -> None:
    """Every sample, place, slice and order of a list, equal to it and to no other one."""
    columns = SampleColumns(*zip(*samples, strict=True))
    assert list(columns) == samples
    assert list(reversed(columns)) == samples[::-1]
    assert all(type(each) is Sample for each in columns)
    assert (len(columns), bool(columns)) == (len(samples), bool(samples))
    assert taken(columns, place) == taken(samples, place)
    assert columns == samples
    assert columns != [*samples, Sample(0, None, None)]
    assert all(repr(each) in repr(columns) for each in samples)
