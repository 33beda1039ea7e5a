"""Rows of days: what was given comes back to the type, shorter where little changes; damaged bytes are told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.rows.sealed.codec import DamagedChunkError
from mqvitals_agent.store.rows.sealed.rollup import MetricHour
from mqvitals_agent.store.rows.sealed.rollup_rows import decode_covers, decode_day, decode_total, encode_day

NUMBERS = st.one_of(
    st.integers(-10, 200),
    st.integers(-(2**40), 2**80),
    st.floats(allow_nan=False),
    st.sampled_from((0.0, -0.0, 1e300, float("inf"))),
)
HOURS = st.builds(MetricHour, st.integers(1, 400), NUMBERS, NUMBERS, NUMBERS, st.integers(0, 2**33), NUMBERS)
DAYS = st.dictionaries(
    st.sampled_from(("depth", "puts", "gets", "oldest_msg_s")),
    st.dictionaries(st.integers(0, 23), HOURS, max_size=24),
    max_size=4,
)


@given(DAYS)
def test_days_come_back(metrics: dict[str, dict[int, MetricHour]]) -> None:
    """Every metric with hours comes back as it was given, to the type of each number; one without has no row."""
    covers, rows = encode_day(metrics)
    known = decode_covers(covers)
    found = {name: decode_day(known, data).hours() for name, data in rows.items()}
    assert repr(found) == repr({name: dict(sorted(hours.items())) for name, hours in sorted(metrics.items()) if hours})


@given(DAYS)
def test_a_single_hour_is_that_of_the_day(metrics: dict[str, dict[int, MetricHour]]) -> None:
    """What its mean is made of, to the type; of an hour that the metric does not have nothing."""
    covers, rows = encode_day(metrics)
    known = decode_covers(covers)
    for name, data in rows.items():
        for hour in range(24):
            expected = metrics[name].get(hour)
            found = decode_total(known, data, hour)
            assert repr(found and tuple(found)) == repr(
                expected and (expected.count, expected.total, expected.covered_ms, expected.last)
            )


@given(DAYS, st.data())
def test_damaged_rows_are_told(metrics: dict[str, dict[int, MetricHour]], data: st.DataObject) -> None:
    """Bytes that were cut or changed give numbers or say that they are damaged, nothing else."""
    covers, rows = encode_day(metrics)
    for row in (covers, *rows.values()):
        place = data.draw(st.integers(0, max(len(row) - 1, 0)))
        changed = row[:place] + data.draw(st.binary(max_size=3)) + row[place + data.draw(st.integers(0, 2)) :]
        try:
            known = decode_covers(changed if row is covers else covers)
            for each in rows.values() if row is covers else [changed]:
                decode_total(known, each, data.draw(st.integers(0, 23)))
                decode_day(known, each).hours()
        except DamagedChunkError:
            pass


@pytest.mark.parametrize("value", [0, 5_000, 1.5])
def test_what_does_not_change_takes_some_ten_bytes(value: float) -> None:
    """A gauge that stays the same all day, polled at slightly different distances, is a short row."""
    hours = {
        hour: MetricHour(120, value, value, value * (3_600_000 + hour), 3_600_000 + hour, value) for hour in range(24)
    }
    _, rows = encode_day({"depth": hours, "input_handles": hours})
    assert {len(row) for row in rows.values()} <= {7, 8, 14}
