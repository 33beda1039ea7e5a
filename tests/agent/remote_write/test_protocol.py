"""The bytes of the protocol, judged by a decoder that knows nothing of how they were made."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.engine import STALE, series_in, unsnap
from mqvitals_agent.remote_write.outgoing import Batch
from mqvitals_agent.remote_write.protocol import (
    Series,
    compress,
    decode_request,
    encode_labels,
    encode_sample,
    encode_stale,
    halves_of,
    series_of,
    varint,
)
from mqvitals_agent.remote_write.refusals import Refusals, parts_of, says_it_has_it, says_too_old
from mqvitals_agent.store.rows.remote_write import decode_totals, encode_totals

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
LABELS = st.dictionaries(TEXT, TEXT, max_size=6).map(lambda found: tuple(sorted(found.items())))
SAMPLES = st.dictionaries(
    st.integers(-(1 << 62), 1 << 62), st.none() | st.floats(allow_nan=False), min_size=1, max_size=12
)


def bits_of(value: float | None) -> int:
    return STALE if value is None else int.from_bytes(struct.pack("<d", value), "little")


def encoded(labels: tuple[tuple[str, str], ...], samples: dict[int, float | None]) -> Series:
    ordered = sorted(samples.items())
    data = b"".join(encode_stale(ts) if value is None else encode_sample(ts, value) for ts, value in ordered)
    return Series(series_of(encode_labels(labels), data), len(samples), ordered[0][0], ordered[-1][0])


@given(series=st.lists(st.tuples(LABELS, SAMPLES), max_size=5))
def test_what_is_encoded_is_decoded(series: list[tuple[tuple[tuple[str, str], ...], dict[int, float | None]]]) -> None:
    """By another decoder, and by the package; markers keep their bits."""
    made = [encoded(*each).data for each in series]
    expected = [(labels, [(ts, bits_of(value)) for ts, value in sorted(samples.items())]) for labels, samples in series]
    assert series_in(unsnap(compress(made))) == expected
    decoded = decode_request(b"".join(made))
    assert [
        (each.labels, [(ts, int.from_bytes(value, "little")) for ts, value in each.samples]) for each in decoded
    ] == expected


@given(number=st.integers(-(1 << 63), (1 << 64) - 1))
def test_numbers_are_read_again(number: int) -> None:
    """As protobuf has them: seven bits a byte, the last one marked."""
    data = varint(number)
    assert sum((byte & 0x7F) << 7 * place for place, byte in enumerate(data)) == number % (1 << 64)
    assert all(byte & 0x80 for byte in data[:-1])
    assert not data[-1] & 0x80


@given(text=st.text(max_size=20))
def test_any_text_can_be_a_label(text: str) -> None:
    """What is no Unicode is replaced: no text of MQ keeps a cycle from being sent."""
    ((labels, _),) = series_in(series_of(encode_labels((("a", text),)), encode_sample(1, 1)))
    assert dict(labels)["a"] == text.encode("utf-8", "replace").decode()


@given(series=st.lists(st.tuples(LABELS, SAMPLES), min_size=1, max_size=4))
def test_series_are_halved_until_samples_are_alone(
    series: list[tuple[tuple[tuple[str, str], ...], dict[int, float | None]]],
) -> None:
    """Nothing is lost on the way, and each half is smaller."""
    parts = [encoded(*each) for each in series]
    together = Series(b"".join(each.data for each in parts), sum(each.samples for each in parts), 0, 1 << 63)
    alone = []
    todo = [Batch((together, *parts))]
    while todo:
        batch = todo.pop()
        if batch.samples == 1:
            alone.append(batch.series[0].data)
            continue
        first, second = parts_of(batch)
        assert 0 < first.samples < batch.samples
        assert first.samples + second.samples == batch.samples
        todo += [first, second]
    found = sorted(series_in(b"".join(alone)))
    expected = [
        (labels, [(ts, bits_of(value))])
        for labels, samples in series
        for ts, value in samples.items()
        for _ in range(2)
    ]
    assert found == sorted(expected)
    with pytest.raises(ValueError, match="has no halves"):
        halves_of(encoded((), {1: 1.0}))


@given(samples=SAMPLES.filter(lambda found: len(found) > 1), place=st.integers(0, 11))
def test_what_is_too_old_is_left_out(samples: dict[int, float | None], place: int) -> None:
    """Up to the time of the sample that was refused, and nothing after it."""
    times = sorted(samples)
    oldest = times[min(place, len(times) - 1)]
    refusals = Refusals()
    refusals.note(encoded((("a", "b"),), {oldest: 1.0}), "out of bounds")
    rest = refusals.rest(Batch((encoded((), samples),)))
    left = [ts for each in rest.series for _, found in series_in(each.data) for ts, _ in found]
    assert left == [ts for ts in times if ts > oldest]
    assert refusals.samples == 1 + len(times) - len(left)


@pytest.mark.parametrize(
    ("text", "old", "known"),
    [
        ("out of bounds", True, False),
        ("too old sample", True, False),
        ("out of order sample", False, True),
        ("duplicate sample for timestamp", False, True),
        ("label value contains invalid UTF-8", False, False),
    ],
)
def test_the_words_of_engines(text: str, old: bool, known: bool) -> None:
    """As Prometheus writes them."""
    assert (says_too_old(text), says_it_has_it(text)) == (old, known)


@given(totals=st.dictionaries(st.integers(1, 1 << 40), st.floats(allow_nan=False)))
def test_totals_are_kept_to_the_last_bit(totals: dict[int, float]) -> None:
    """A damaged blob is refused."""
    assert decode_totals(encode_totals(totals)) == totals
    for wrong in (b"\x00", encode_totals(totals)[:-1]):
        with pytest.raises(ValueError, match=r"totals|bytes"):
            decode_totals(wrong)
    with pytest.raises(TypeError):
        decode_totals("text")
