"""The means of hours that the store no longer holds, from an engine: asked for in a thread of its own, so that no cycle waits."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping
from queue import SimpleQueue
from statistics import fmean
from typing import Final

from mqvitals_agent.engine_history.answer import EngineError
from mqvitals_agent.engine_history.client import QueryClient
from mqvitals_agent.engine_history.engine_samples import PatientClient
from mqvitals_agent.engine_history.series_names import SeriesNames, series_of_metric
from mqvitals_agent.log import as_event
from mqvitals_agent.openmetrics.names import object_of_labels
from mqvitals_agent.text.terminal import safe
from mqvitals_config.sections.history import PROMETHEUS
from mqvitals_config.settings import Settings
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.tables import KINDS

_LOG = logging.getLogger(__name__)
_MOST_KEPT: Final = 512
"""Hours of metrics that are kept; each is asked for once, some time before it is needed."""

_SPAN: Final = f"{HOUR_MS - 1}ms"
"""Without the sample of the hour's very begin, which is about the hour before: Prometheus before 3.0 takes both ends."""

_Key = tuple[str, str, int]
"""Kind, metric, and the begin of the hour, ms UTC."""


class EngineHourMeans:
    """Implements ``mqvitals_agent.ingest.stored_baselines.FurtherHours``: whoever asks never waits.

    The engine averages what it has of an hour itself: values of a gauge by their count, and of a counter the increase a second
    as its ``rate`` has it.
    """

    def __init__(self, client: PatientClient, names: SeriesNames) -> None:
        self._client = client
        self._names = names
        self._found: OrderedDict[_Key, Mapping[ObjectName, float]] = OrderedDict()
        self._asked: set[_Key] = set()
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[_Key | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._failing = False

    @classmethod
    def of(cls, settings: Settings) -> EngineHourMeans | None:
        """Those of the engine of ``history``; None: the store is all that is read."""
        history = settings.history
        if history.backend != PROMETHEUS or history.url is None:
            return None
        return cls(PatientClient(QueryClient(history)), SeriesNames(history.labels(settings.remote_write)))

    def hour(self, kind: str, metric: str, hour: int) -> Mapping[ObjectName, float] | None:
        """The means of an hour that began at ``hour`` (ms UTC), of all objects of a kind of which the engine has any.

        None: it is not known yet, and has been asked for unless the engine has failed just now.
        """
        key = kind, metric, hour
        with self._lock:
            found = self._found.get(key)
            if found is not None or key in self._asked or self._client.pausing:
                return found
            self._asked.add(key)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="mqvitals-hours", daemon=True)
            self._thread.start()
        self._jobs.put(key)
        return None

    def close(self) -> None:
        """Ask no more. It does not wait for an answer that is under way."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (key := self._jobs.get()) is not None:
            self.answer(key)
        self._client.close()

    def answer(self, key: _Key) -> None:
        """Ask the engine for an hour of a metric, and keep the answer; of a failure the log tells once."""
        try:
            found = self._ask(*key)
        except EngineError as error:
            with self._lock:
                self._asked.discard(key)
            if not self._failing:
                _LOG.warning(
                    f"baselines are without hours that only an engine has: {safe(str(error))}",
                    extra=as_event("history.failing"),
                )
            self._failing = True
            return
        if self._failing:
            _LOG.info("the engine of history answers again", extra=as_event("history.answers"))
        self._failing = False
        with self._lock:
            self._found[key] = found
            self._asked.discard(key)
            while len(self._found) > _MOST_KEPT:
                self._found.popitem(last=False)

    def _ask(self, kind: str, metric: str, hour: int) -> Mapping[ObjectName, float]:
        """Raises EngineError."""
        series, known = series_of_metric(KINDS[kind], metric), KINDS[kind].metric(metric)
        if series is None or known is None:
            return {}
        recorded = known.needs_smf or known.needs_statistics
        selector = self._names.selector_of_kind(kind, series, recorded=recorded)
        if not series.total:
            query = f"avg_over_time({selector}[{_SPAN}])"
        elif recorded:
            query = f"sum_over_time({selector}[{_SPAN}]) / 3600"
        else:
            query = f"rate({selector}[{_SPAN}])"
        means: dict[ObjectName, list[float]] = {}
        for each in self._client.ask(query, hour + HOUR_MS):
            name = object_of_labels(kind, each.labels)
            value = series.family.stored_of(each.values[-1]) if each.values else None
            if name is not None and value is not None:
                means.setdefault(name, []).append(value)
        # Several series of an object are parts of the hour, before and after its labels changed.
        return {name: fmean(values) for name, values in means.items()}
