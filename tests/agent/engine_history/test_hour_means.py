"""Baselines with hours that only an engine has: asked for beside the cycles, and taken when they are there."""

from __future__ import annotations

import logging
import struct
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from mqsamples.answering import Answering
from mqsamples.engine import Engine
from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.doctor.finding import CheckResult
from mqvitals_agent.engine_history.answer import EngineError
from mqvitals_agent.engine_history.engine_samples import PatientClient
from mqvitals_agent.engine_history.hour_means import EngineHourMeans
from mqvitals_agent.engine_history.probe import probe_history
from mqvitals_agent.engine_history.series_names import SeriesNames
from mqvitals_agent.ingest.stored_baselines import ComparedHours, StoredBaselines
from mqvitals_agent.openmetrics.names import labels_of
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.secret import WebAddress
from mqvitals_config.sections.history import HistorySettings
from mqvitals_config.settings import Settings
from mqvitals_rules.history import hours, no_zone
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import HOUR_MS, MINUTE_MS

NOW = 490_000 * HOUR_MS + 5 * MINUTE_MS
NAME = ObjectName("QM01", "queue", "A")
PAYLOAD = struct.Struct("<d")


def taken(samples: Mapping[str, Mapping[int, float]], **labels: str) -> Engine:
    """An engine with these series of the queue."""
    engine = Engine()
    for name, of_series in samples.items():
        key = tuple(sorted((dict(labels_of(NAME, {})) | {"__name__": name, "site": "B"} | labels).items()))
        engine.taken[key] = {ts: int.from_bytes(PAYLOAD.pack(value), "little") for ts, value in of_series.items()}
    return engine


def means_of(answering: Answering) -> EngineHourMeans:
    return EngineHourMeans(PatientClient(answering, steady_s=lambda: 0.0), SeriesNames({"site": "B"}))


class Past:
    """A store that holds only the newest of the hours."""

    failing = False

    def hour_means(self, kind: str, metric: str, begun: Sequence[int]) -> dict[ObjectName, list[float]]:
        assert metric == "depth"
        return {ObjectName("QM01", kind, "A"): [4.0] for ts in begun if ts == hours(NOW)[0]}


class Later:
    """Knows an hour from the second look on."""

    def __init__(self) -> None:
        self.looks: dict[int, int] = {}

    def hour(self, kind: str, metric: str, hour: int) -> Mapping[ObjectName, float] | None:
        assert (kind, metric) == ("queue", "depth")
        self.looks[hour] = self.looks.get(hour, 0) + 1
        return None if self.looks[hour] == 1 else {NAME: 2.0}


def test_a_baseline_is_what_the_store_has_until_the_engine_has_answered() -> None:
    """No look waits, no hour counts twice, and what is known is not asked for again."""
    later = Later()
    known = StoredBaselines(cast("Any", Past()), ComparedHours(no_zone), later)
    assert list(known.means(NAME, "depth", NOW)) == [4.0]
    assert sorted(known.means(NAME, "depth", NOW + MINUTE_MS)) == [2.0] * 7 + [4.0]
    before = dict(later.looks)
    assert sorted(known.means(NAME, "depth", NOW + 2 * MINUTE_MS)) == [2.0] * 7 + [4.0]
    assert {hour: later.looks[hour] for hour in hours(NOW)[1:]} == {hour: before[hour] for hour in hours(NOW)[1:]}


def test_an_hour_of_all_objects_is_one_query() -> None:
    """A gauge's mean in the unit of the store; of records of a counter the increase a second."""
    hour = hours(NOW)[3]
    samples = {hour + minute * MINUTE_MS: 2.0 + minute % 2 for minute in range(1, 61)}
    # That of the very begin is about the hour before, and the engine takes both ends.
    samples[hour] = 1_000.0
    answering = Answering(taken({"ibmmq_queue_depth": samples}))
    means = means_of(answering)
    means.answer(("queue", "depth", hour))
    (found,) = (means.hour("queue", "depth", hour) or {}).items()
    assert found[0] == NAME
    assert found[1] == pytest.approx(2.5)
    means.answer(("queue", "depth", hour - HOUR_MS))
    assert means.hour("queue", "depth", hour - HOUR_MS) == {NAME: 1_000.0}
    means.answer(("queue", "depth", hour - 2 * HOUR_MS))
    assert means.hour("queue", "depth", hour - 2 * HOUR_MS) == {}
    recorded = taken({"mqvitals_queue_qtime_own_seconds": samples})
    assert means_of(Answering(recorded)).hour("queue", "no such metric", hour) is None


def test_an_engine_that_fails_is_logged_once_and_asked_again_later(caplog: pytest.LogCaptureFixture) -> None:
    """Until it answers, the hour is unknown."""
    hour, elapsed = hours(NOW)[3], [0.0]
    answering = Answering(taken({"ibmmq_queue_depth": {hour + 1: 3.0}}), failure=EngineError("the engine is away"))
    means = EngineHourMeans(PatientClient(answering, steady_s=lambda: elapsed[0]), SeriesNames({"site": "B"}))
    with caplog.at_level(logging.INFO):
        means.answer(("queue", "depth", hour))
        means.answer(("queue", "depth", hour))
        assert means.hour("queue", "depth", hour) is None
        answering.failure, elapsed[0] = None, 60.0
        means.answer(("queue", "depth", hour))
    assert means.hour("queue", "depth", hour) == {NAME: 3.0}
    said = [each.getMessage() for each in caplog.records]
    assert said == [
        "baselines are without hours that only an engine has: the engine is away",
        "the engine of history answers again",
    ]


def settings(backend: Any = "prometheus") -> Settings:
    url = WebAddress(LocatedText("http://engine.example.com:9090", Place("test")))
    return Settings(history=HistorySettings(backend=backend, url=url, external_labels={"site": "B"}))


def test_the_doctor_asks_whether_there_are_samples_of_the_group() -> None:
    """It says which labels it has looked for; without an engine it says nothing."""
    clock = VirtualClock(NOW)
    labels = dict(labels_of(ObjectName("QM01", "queue_manager"), {})) | {"__name__": "ibmmq_qmgr_status", "site": "B"}
    engine = Engine()
    engine.taken[tuple(sorted(labels.items()))] = {NOW - HOUR_MS: int.from_bytes(PAYLOAD.pack(2.0), "little")}

    class Counting(Answering):
        def ask(self, query: str, at: int) -> Any:
            assert query.startswith("count(")
            return super().ask(query.removeprefix("count(").removesuffix(")"), at)

    def found(answering: Answering, of: Settings) -> list[tuple[str, CheckResult]]:
        return [(each.check, each.result) for each in probe_history(of, clock, lambda _: answering)]

    assert found(Counting(engine), settings()) == [
        ("answers queries", CheckResult.WORKS),
        ("has samples of the last day", CheckResult.WORKS),
    ]
    assert found(Counting(engine), settings("sqlite")) == []
    (_, advised) = probe_history(settings(), clock, lambda _: Counting(Engine()))
    assert advised.result is CheckResult.ADVISED
    assert "site=B" in advised.text[0]
    failing = Counting(engine, failure=EngineError("http://engine.example.com cannot be reached", "is it running?"))
    assert found(failing, settings()) == [("answers queries", CheckResult.NO_ANSWER)]
