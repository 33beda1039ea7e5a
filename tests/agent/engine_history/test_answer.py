"""Answers of engines: what is none is an EngineError, whatever it is."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.engine_history.answer import EngineError, decode_answer

ENGINE = "http://engine.example.com"
LABELS = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3)
SAMPLES = st.dictionaries(st.integers(0, 4_000_000_000_000), st.floats(), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def body(result: object, kind: str = "matrix", **more: object) -> bytes:
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": result}, **more}).encode()


def written(value: float) -> str:
    """As Go writes numbers."""
    return repr(value).replace("inf", "Inf").replace("nan", "NaN")


@given(series=st.lists(st.tuples(LABELS, SAMPLES), max_size=4))
def test_samples_are_decoded_to_the_bit(series: list[tuple[dict[str, str], dict[int, float]]]) -> None:
    """Times to the millisecond, values to their last bit; a marker that a series ends is no sample."""
    result = [
        {"metric": labels, "values": [[ts / 1000, written(value)] for ts, value in sorted(samples.items())]}
        for labels, samples in series
    ]
    if any(value in (float("inf"), float("-inf")) for _, samples in series for value in samples.values()):
        with pytest.raises(EngineError):
            decode_answer(body(result), ENGINE)
        return
    found = decode_answer(body(result), ENGINE)
    assert [dict(each.labels) for each in found] == [labels for labels, _ in series]
    for each, (_, samples) in zip(found, series, strict=True):
        assert dict(zip(each.ts, each.values, strict=True)) == {
            ts: value for ts, value in samples.items() if isfinite(value)
        }


@given(content=st.binary(max_size=60) | JSON.map(lambda found: json.dumps(found).encode()))
def test_whatever_comes_is_refused_with_a_sentence(content: bytes) -> None:
    """Bytes, and JSON of another form."""
    with pytest.raises(EngineError, match=ENGINE):
        decode_answer(content, ENGINE)


@given(
    mutation=JSON,
    place=st.sampled_from(
        ("status", "data", "resultType", "result", "series", "metric", "values", "sample", "moment", "value")
    ),
)
def test_a_part_of_another_form_is_refused(mutation: Any, place: str) -> None:
    """Or is what it was; and never is anything else raised."""
    sample: Any = [mutation if place == "moment" else 1.5, mutation if place == "value" else "2"]
    series: Any = {
        "metric": mutation if place == "metric" else {"__name__": "up"},
        "values": mutation if place == "values" else [mutation if place == "sample" else sample],
    }
    data = {
        "resultType": mutation if place == "resultType" else "matrix",
        "result": mutation if place == "result" else [mutation if place == "series" else series],
    }
    answer = {
        "status": mutation if place == "status" else "success",
        "data": mutation if place == "data" else data,
    }
    try:
        found = decode_answer(json.dumps(answer).encode(), ENGINE)
    except EngineError:
        return
    assert all(
        isinstance(ts, int) and isfinite(value)
        for each in found
        for ts, value in zip(each.ts, each.values, strict=True)
    )


def test_a_sample_that_an_engine_has_twice_is_one() -> None:
    """VictoriaMetrics keeps what a killed agent sends again."""
    (found,) = decode_answer(body([{"metric": {}, "values": [[1, "5"], [1, "5"], [2, "6"], [2, "7"]]}]), ENGINE)
    assert (found.ts, found.values) == ((1000, 2000), (5.0, 7.0))


def test_deep_nesting_and_times_that_do_not_rise_are_refused() -> None:
    """So is an answer that a node of the engine is missing from."""
    for content in (
        b"[" * 100_000,
        body([{"metric": {}, "values": [[2, "1"], [1, "1"]]}]),
        body([{"metric": {}, "values": [[1e300, "1"]]}]),
        body([], isPartial=True),
    ):
        with pytest.raises(EngineError):
            decode_answer(content, ENGINE)


def test_control_characters_of_an_engine_are_shown_as_text() -> None:
    """Its words are data."""
    with pytest.raises(EngineError) as raised:
        decode_answer(json.dumps({"status": "error", "error": "\x1b[2Jtoo bad"}).encode(), ENGINE)
    assert "\x1b" not in raised.value.message
    assert "too bad" in raised.value.message
