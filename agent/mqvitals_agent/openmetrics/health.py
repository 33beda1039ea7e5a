"""What the agent says of itself beside the vocabulary, and its alerts, as metrics of prometheus_client.

What it measures of its commands, its store and its receivers are metrics of the vocabulary, and not here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest as as_text
from prometheus_client.openmetrics.exposition import generate_latest as as_openmetrics
from prometheus_client.registry import Collector

from mqvitals_agent import __version__
from mqvitals_agent.ingest.live_state import LiveState
from mqvitals_agent.openmetrics.exposition import END, Format, PageContent
from mqvitals_agent.text.terminal import safe
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.vocabulary.tables import KINDS

_PREFIX = "mqvitals_agent_"


@dataclass(frozen=True, slots=True)
class CycleFigures:
    """Of one cycle: how long it took from its beginning until it was stored (s), and what came of it."""

    took_s: float
    exchanges: int
    readings: int
    errors: int
    firing: int


class AgentHealth(Collector):
    """Counts what the agent does. ``steady_s`` returns elapsed time, ``interval_s`` the interval of cycles, both seconds."""

    def __init__(self, interval_s: Callable[[], float], steady_s: Callable[[], float] = time.monotonic) -> None:
        self._interval_s = interval_s
        self._steady_s = steady_s
        self._cycles = self._exchanges = self._readings = self._errors = 0
        self._last: CycleFigures | None = None
        self._last_at = 0.0
        self._left_out_cycles = 0
        self.scrapes = 0
        self.scrapes_refused = 0
        self.scrape_cpu_s = 0.0
        self.content = PageContent()
        self.limit = 0
        self.active: bool | None = None
        """Of two agents for a group, whether this one polls; None: there is but one."""

    def note_cycle(self, figures: CycleFigures, left_out: int) -> None:
        """A cycle is stored; ``left_out`` counts those of the grid that did not begin, since the agent began."""
        self._cycles += 1
        self._exchanges += figures.exchanges
        self._readings += figures.readings
        self._errors += figures.errors
        self._left_out_cycles = left_out
        self._last, self._last_at = figures, self._steady_s()

    def collect(self) -> Iterator[Metric]:
        """The metrics as they are now."""
        info = GaugeMetricFamily(f"{_PREFIX}version", "the version of the agent, as a label", labels=["version"])
        info.add_metric([__version__], 1)
        yield info
        # One that is alone is active too.
        yield _gauge(
            "active", "1 of the agent that polls; 0 of one that waits for it (standby)", self.active is not False
        )
        yield _counter("cycles", "cycles that were stored since the agent began", self._cycles)
        yield _counter(
            "cycles_left_out", "cycles that did not begin, as one before took too long", self._left_out_cycles
        )
        yield _counter("exchanges", "commands with their answers", self._exchanges)
        yield _counter("readings", "readings of objects that were stored", self._readings)
        yield _counter("errors", "times the store could not take what it should", self._errors)
        yield _gauge("interval_seconds", "time from the beginning of one cycle to that of the next", self._interval_s())
        if self._last is not None:
            yield _gauge(
                "cycle_seconds", "time of the last cycle, from its beginning until it was stored", self._last.took_s
            )
            yield _gauge("lag_seconds", "time since a cycle was last stored", self._steady_s() - self._last_at)
            yield _gauge("alerts_firing", "operational alerts that fire", self._last.firing)
        yield _counter("scrapes", "pages of metrics that were made", self.scrapes)
        yield _counter(
            "scrapes_refused", "requests that were refused, as too many were under way", self.scrapes_refused
        )
        yield _counter("scrape_cpu_seconds", "processor time of making them", self.scrape_cpu_s)
        yield _gauge("series", "series of objects in this page", self.content.series)
        yield _gauge("series_limit", "most series of objects, serve.limit", self.limit)
        yield _gauge(
            "series_left_out",
            "series that are left out of this page, as they are beyond the limit",
            self.content.left_out,
        )


class AlertSeries(Collector):
    """The alerts that are pending or firing, each with the value 1."""

    def __init__(self, live: LiveState) -> None:
        self._live = live

    def collect(self) -> Iterator[Metric]:
        """One family, empty when there is no alert."""
        groups = self._live.groups
        family = GaugeMetricFamily("mqvitals_alerts", "alerts that are pending or firing, with the value 1")
        seen = set()
        for alert in self._live.alerts():
            labels = alert_labels(alert, is_group=alert.key.object.owner in groups)
            key = tuple(sorted(labels.items()))
            if key not in seen:
                seen.add(key)
                family.add_sample(family.name, labels, 1)
        yield family


def alert_labels(alert: Alert, *, is_group: bool) -> dict[str, str]:
    """The labels of an alert: rule, severity and state, and the object that it is about."""
    about = alert.key.object
    kind = KINDS.get(about.kind)
    group = is_group or (kind is not None and kind.of_group)
    labels = {
        "rule": alert.key.rule,
        "severity": alert.severity.name.lower(),
        "alertstate": alert.state.value,
        "type": alert.kind_of_rule,
        "qsg" if group else "qmgr": about.owner,
        "kind": about.kind,
        "object": about.name,
        "alert_instance": alert.key.instance,
    }
    return {label: safe(text) for label, text in labels.items() if text}


def registry_of(*collectors: Collector) -> CollectorRegistry:
    """A registry of these collectors and of the process."""
    registry = CollectorRegistry(auto_describe=False)
    ProcessCollector(registry=registry)
    for collector in collectors:
        registry.register(collector)
    return registry


def rendered(registry: CollectorRegistry, form: Format) -> bytes:
    """The metrics of a registry, without the end of a page."""
    if form is Format.OPENMETRICS:
        return bytes(as_openmetrics(registry)).removesuffix(END[form])  # type: ignore[no-untyped-call]
    return as_text(registry)


def _counter(name: str, text: str, value: float) -> CounterMetricFamily:
    return CounterMetricFamily(_PREFIX + name, text, value=value)


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(_PREFIX + name, text, value=value)
