"""The pages of metrics that the server sends, made in a thread beside the event loop."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection

from prometheus_client.registry import Collector

from mqvitals_agent.ingest.live_state import LiveState
from mqvitals_agent.log import as_event
from mqvitals_agent.openmetrics.exposition import END, Exposition, Extent, Format
from mqvitals_agent.openmetrics.health import AgentHealth, AlertSeries, registry_of, rendered
from mqvitals_agent.openmetrics.segments import Page, Segment

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
        segments, content = self._exposition.samples(form)
        self._health.content, self._health.limit = content, self._exposition.extent.limit
        if content.metrics_left_out != self._told:
            self._tell(content.metrics_left_out, content.left_out)
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
