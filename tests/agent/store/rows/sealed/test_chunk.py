"""The samples of an hour: what is merged and encoded comes back, sample by sample."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.rows.sealed.chunk import HourSamples, decode_samples, encode_samples, merged
from mqvitals_agent.store.rows.sealed.codec import DamagedChunkError, Number, encode

Rows = dict[int, tuple[int | None, int, dict[str, Number]]]
"""By time: interval, polled, values."""

METRICS = ("depth", "puts", "share")
VALUES = st.one_of(st.integers(-(1 << 62), 1 << 62), st.floats(allow_nan=False, allow_infinity=False))
SAMPLES = st.tuples(
    st.one_of(st.none(), st.integers(0, 10**7)),
    st.integers(0, 1),
    st.dictionaries(st.sampled_from(METRICS), VALUES, max_size=3),
)
ROWS = st.dictionaries(st.integers(0, 3_599_999), SAMPLES, max_size=30)
FEW_TIMES = st.dictionaries(st.integers(0, 9), SAMPLES, max_size=6)
"""Two of these have times in common."""


def samples(rows: Rows) -> HourSamples:
    ts = sorted(rows)
    return HourSamples(
        ts,
        [rows[at][0] for at in ts],
        [rows[at][1] for at in ts],
        {name: [rows[at][2].get(name) for at in ts] for name in METRICS},
    )


def rows_of(found: HourSamples) -> Rows:
    return {
        at: (
            found.intervals[place],
            found.polled[place],
            {name: value for name, cells in found.values.items() if (value := cells[place]) is not None},
        )
        for place, at in enumerate(found.ts)
    }


@given(ROWS, st.lists(st.integers(0, 3_599_999), unique=True), st.booleans())
def test_what_is_encoded_comes_back(rows: Rows, others: list[int], on_axis: bool) -> None:
    """Whether its times are those of snapshots or not; an axis may have more."""
    axis = sorted({*others, *(rows if on_axis else ())})
    blob, placed = encode_samples(samples(rows), METRICS, axis)
    assert placed == (set(rows) <= set(axis))
    found = decode_samples(blob, METRICS, axis if placed else None)
    assert rows_of(found) == rows
    assert list(found.ts) == sorted(rows)
    one = decode_samples(blob, METRICS, axis if placed else None, ("puts",))
    assert rows_of(one) == {
        at: (interval, polled, {name: value for name, value in values.items() if name == "puts"})
        for at, (interval, polled, values) in rows.items()
    }
    none = decode_samples(blob, METRICS, axis if placed else None, ())
    assert (list(none.ts), none.values) == (sorted(rows), {})


@given(FEW_TIMES, FEW_TIMES)
def test_two_together(older: Rows, newer: Rows) -> None:
    """As if each row of the newer were written over that of the older of its time, where it has a value; the longer interval holds."""
    expected: Rows = dict(older)
    for at, (interval, polled, values) in newer.items():
        old_interval, old_polled, old_values = expected.get(at, (None, 0, {}))
        expected[at] = (
            max((each for each in (old_interval, interval) if each is not None), default=None),
            max(polled, old_polled),
            {**old_values, **values},
        )
    assert rows_of(merged(samples(older), samples(newer))) == expected


def test_on_the_axis_times_take_nothing() -> None:
    """360 polls at uneven times need as many bytes as polls at even ones, and hardly more than none."""
    axis = [10_000 * n + n * n % 37 for n in range(360)]
    hour = HourSamples(axis, [10_000] * 360, [1] * 360, {"depth": [0] * 360})
    blob, placed = encode_samples(hour, ("depth",), axis)
    assert placed
    assert len(blob) < 60


def test_a_place_beyond_the_axis() -> None:
    """An axis that is shorter than the chunk says makes the chunk damaged, not wrong."""
    blob, _ = encode_samples(HourSamples([5, 7], [None, None], [1, 1], {}), (), [5, 7])
    with pytest.raises(DamagedChunkError):
        decode_samples(blob, (), [5])
    with pytest.raises(DamagedChunkError):
        decode_samples(encode([[1.5], [None], [1]]), (), None)
    with pytest.raises(DamagedChunkError):
        decode_samples(encode([[1], [None]]), (), None)
