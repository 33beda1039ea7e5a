"""The pages that the server sends, made in a thread beside the event loop: metrics, and the status of the group."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from prometheus_client.registry import Collector

from mqvitals_agent.ingest.live_state import LiveState
from mqvitals_agent.log import as_event
from mqvitals_agent.openmetrics.exposition import END, Exposition, Extent, Format
from mqvitals_agent.openmetrics.health import AgentHealth, AlertSeries, registry_of, rendered
from mqvitals_agent.openmetrics.segments import Page, Segment
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.view.alerts.handling import AlertSite
from mqvitals_agent.view.status import read_status_data, status_json, status_of

_LOG = logging.getLogger(__name__)

_NAMED = 5
"""Metrics that a line of the log names."""


class MetricsPages:
    """Makes pages of metrics: the objects of ``live``, its alerts, and what the agent says of itself.

    ``now`` is as for ``Exposition``; ``others`` have further metrics. Use it in one thread.
    """

    def __init__(
        self,
        live: LiveState,
        health: AgentHealth,
        extent: Extent,
        now: Callable[[], int | None],
        others: Collection[Collector] = (),
    ) -> None:
        self._exposition = Exposition(live, extent, now)
        self._health = health
        self._registry = registry_of(AlertSeries(live), health, *others)
        self._told: tuple[str, ...] = ()

    def use(self, extent: Extent) -> None:
        """Pages hold so much from now on."""
        self._exposition.extent = extent

    def page(self, form: Format) -> Page:
        """The page of now."""
        began = time.thread_time()
        segments, outcome = self._exposition.samples(form)
        self._health.outcome, self._health.limit = outcome, self._exposition.extent.limit
        if outcome.metrics_left_out != self._told:
            self._tell(outcome.metrics_left_out, outcome.left_out)
        own = rendered(self._registry, form)
        page = Page((*segments, Segment.of(own + END[form])))
        self._health.scrapes += 1
        self._health.scrape_cpu_s += time.thread_time() - began
        return page

    def _tell(self, left_out: tuple[str, ...], series: int) -> None:
        self._told = left_out
        if not left_out:
            _LOG.info("/metrics has all series again", extra=as_event("serve.series_complete"))
            return
        more = f" and {len(left_out) - _NAMED} more" if len(left_out) > _NAMED else ""
        _LOG.warning(
            f"/metrics leaves out {series:,} series of {len(left_out)} metrics, as serve.limit is"
            f" {self._exposition.extent.limit:,}: {', '.join(left_out[:_NAMED])}{more}; raise it, or set serve.definitions"
            " to false",
            extra=as_event("serve.series_left_out", series=series, metrics=len(left_out)),
        )


@dataclass(frozen=True, slots=True)
class StatusSource:
    """What the status of a group is made of: its store, the settings' words on alerts, and ranks of rules in families."""

    store: Path
    site_of: Callable[[Collection[str]], AlertSite]
    ranks: Callable[[], Mapping[str, int]]
    now: Callable[[], int]
    machine: Callable[[], int]

    def body(self) -> bytes:
        """The object of ``mqvitals status --json``. Raises StoreError."""
        with StoreReader.open(self.store) as reader:
            data = read_status_data(reader, self.now(), site_of=self.site_of, machine=self.machine())
        view = status_of(data, self.ranks())
        labeller = self.site_of([member.name for member in view.groups]).labeller
        return json.dumps(status_json(view, labeller)).encode()
