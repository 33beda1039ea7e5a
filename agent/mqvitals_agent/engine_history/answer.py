"""The answers of Prometheus' HTTP API to queries, as series of samples."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, isnan
from typing import Any, Final

from mqvitals_agent.errors import MqvitalsError
from mqvitals_agent.notify.receivers.attempt import excerpt
from mqvitals_agent.store.rows.tables import LAST_MOMENT

NAME: Final = "__name__"
"""The label of a series' name."""


class EngineError(MqvitalsError):
    """An engine does not answer a query, or not as one does. The message names its host and holds no secret."""


@dataclass(frozen=True, slots=True)
class AnsweredSeries:
    """A series of an answer: its labels, and the times (ms UTC, rising) and values of its samples.

    What is no number, such as the marker that a series ends, is no sample. Of samples of one time, as VictoriaMetrics keeps what
    is sent to it again, the last one counts.
    """

    labels: Mapping[str, str]
    ts: tuple[int, ...]
    values: tuple[float, ...]

    @property
    def name(self) -> str:
        """Its name; empty where the query has taken it away."""
        return self.labels.get(NAME, "")


def decode_answer(body: bytes, engine: str) -> tuple[AnsweredSeries, ...]:
    """The series of an answer to an instant query, a matrix or a vector. ``engine`` is what messages call it.

    Raises EngineError for whatever else.
    """
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise _no_answer(engine, f"no JSON: {excerpt(body, ())}") from None
    if not isinstance(answer, dict) or answer.get("status") != "success":
        raise _no_answer(engine, error_of(answer) or "no answer of the query API")
    data = answer.get("data")
    result = data.get("result") if isinstance(data, dict) else None
    kind = data.get("resultType") if isinstance(data, dict) else None
    if kind not in ("matrix", "vector") or not isinstance(result, list):
        raise _no_answer(engine, f"a result of type {excerpt(str(kind), ())}")
    if answer.get("isPartial") is True:
        raise EngineError(f"{engine} has only a part of the answer", "a node of its storage is missing")
    try:
        return tuple(_series(each, "values" if kind == "matrix" else "value") for each in result)
    except (AttributeError, TypeError, ValueError, KeyError, OverflowError) as error:
        raise _no_answer(engine, f"a series that cannot be read ({type(error).__name__})") from None


def error_of(answer: object) -> str:
    """What an answer says went wrong, on one line; empty where it says nothing."""
    if not isinstance(answer, dict):
        return ""
    found = answer.get("error")
    return excerpt(found, ()) if isinstance(found, str) else ""


def _no_answer(engine: str, what: str) -> EngineError:
    return EngineError(f"{engine} answered with {what}", "check history.url: it ends before /api/v1/query")


def _series(each: Any, key: str) -> AnsweredSeries:
    labels = each["metric"]
    if not all(isinstance(label, str) and isinstance(text, str) for label, text in labels.items()):
        raise TypeError("a label that is no text")
    points = each[key] if key == "values" else [each[key]]
    times: list[int] = []
    values: list[float] = []
    before = -1
    for moment, text in points:
        if isinstance(moment, bool) or not isinstance(moment, int | float) or not isinstance(text, str):
            raise TypeError("a sample that is none")
        ts, value = round(moment * 1000), float(text)
        if not before <= ts <= LAST_MOMENT:
            raise ValueError("times that fall")
        before = ts
        if isfinite(value):
            if times and times[-1] == ts:
                del times[-1], values[-1]
            times.append(ts)
            values.append(value)
        elif not isnan(value):
            raise ValueError("a value without bound")
    return AnsweredSeries(labels, tuple(times), tuple(values))
