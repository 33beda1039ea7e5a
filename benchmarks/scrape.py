"""A scrape of /metrics with 10,000 queues and 2,000 channels: CPU of a page after each cycle, its size and its series.

The peer of the same run is prometheus_client's own exposition of the same samples, without and with gzip at the same level.
The first page renders everything; later ones what a cycle has changed. After a cycle with definitions these are new objects with
old values. The pages are compared: both have the same samples.
"""

from __future__ import annotations

import argparse
import gzip
import resource
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import TypeVar

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from answers import BEGIN
from group import Group
from mqvitals_agent.ingest.live_state import LiveState
from mqvitals_agent.openmetrics.exposition import Exposition, Extent, Format
from mqvitals_agent.openmetrics.names import Family, families_of, label_texts, labels_of, owner_texts
from mqvitals_agent.openmetrics.segments import Page
from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.latest_state import LatestState
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.vocabulary.metric import MetricType
from mqvitals_rules.vocabulary.tables import KINDS

_ALL = Extent(50_000_000)
_T = TypeVar("_T")


class Peer(Collector):
    """The same samples as objects of prometheus_client, made anew for each page as its users do."""

    def __init__(self, live: LiveState) -> None:
        self._live = live

    def collect(self) -> Iterator[Metric]:
        """Every family with its samples."""
        states = self._live.states()
        owners = {
            state.name.owner: owner_texts(label_texts(KINDS["queue_manager"], _present(state)))
            for state in states.get("queue_manager", ())
        }
        groups = self._live.groups
        for kind in KINDS.values():
            there = states.get(kind.name, [])
            labels = [
                dict(
                    labels_of(
                        state.name, {**owners.get(state.name.owner, {}), **label_texts(kind, _present(state))}, groups
                    )
                )
                for state in there
            ]
            for metric in kind.metrics:
                for family in families_of(kind, metric):
                    found = Metric(family.sample, family.help, "untyped")
                    for state, texts in zip(there, labels, strict=True):
                        value = self._value(family, state, declared=metric.declared)
                        if value is not None:
                            found.add_sample(family.sample, texts, value)
                    if found.samples:
                        yield found

    def _value(self, family: Family, state: LatestState, *, declared: bool) -> float | None:
        value = state.values.get(family.metric)
        if not isinstance(value, int | float) or (declared and family.metric not in state.from_records):
            return None
        if family.type is MetricType.COUNTER:
            return self._live.totals.of(state.name).get(family.metric)
        return family.value_of(value)


def _present(state: LatestState) -> dict[str, int | float | str]:
    return {name: value for name, value in state.values.items() if isinstance(value, int | float | str)}


def timed(function: Callable[[], _T]) -> tuple[float, _T]:
    """CPU seconds of a call, and what it returns."""
    began = time.process_time()
    found = function()
    return time.process_time() - began, found


def samples(page: bytes) -> dict[str, float]:
    """Each line of samples; the order of labels does not count."""
    found = {}
    for line in page.decode().splitlines():
        if not line.startswith("#"):
            series, _, value = line.rpartition(" ")
            name, _, labels = series.partition("{")
            found[name + ",".join(sorted(labels.rstrip("}").split('",')))] = float(value)
    return found


def main() -> int:
    """Print what pages take, and what the peer's take."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cycles", type=int, default=12)
    cycles = parser.parse_args().cycles
    config = load_rule_config(Settings())
    live, engine, group = LiveState(), Engine(config.rules, config.facts, MemoryHistory()), Group()
    live.follow(engine)
    exposition = Exposition(live, _ALL, lambda: BEGIN)
    noted = []

    def cycle(number: int) -> None:
        for snapshot in group.snapshots(number):
            engine.observe(snapshot)
            noted.append(timed(lambda: live.note(snapshot))[0])  # noqa: B023 - called at once

    def page() -> tuple[Page, int]:
        segments, outcome = exposition.samples(Format.TEXT)
        return Page(tuple(segments)), outcome.series

    def sent() -> tuple[bytes, Page, int]:
        made, series = page()
        return b"".join(made.gzipped()), made, series

    cycle(0)
    first, (body, made, series) = timed(sent)
    print(
        f"first page: {first * 1000:.0f} ms CPU; {series:,} series, {made.size / 1e6:.1f} MB, {len(body) / 1e6:.2f} MB gzipped"
    )
    later = []
    for number in range(1, cycles + 1):
        cycle(number)
        later.append(timed(sent)[0])
    again = timed(sent)[0]
    ours = median(later)
    print(
        f"page after a cycle: {ours * 1000:.0f} ms CPU (median of {cycles}; at most {max(later) * 1000:.0f}), gzipped"
    )
    print(f"page without a cycle since the last: {again * 1000:.0f} ms CPU")
    print(f"counting of a cycle's increases, for all queue managers: {sum(noted) / (cycles + 1) * 1000:.1f} ms CPU")
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Peer(live))
    peers, text = timed(lambda: generate_latest(registry))
    zipped, _ = timed(lambda: gzip.compress(text, 1))
    same = samples(b"".join(page()[0].plain())) == samples(text)
    print(
        f"peer, prometheus_client: {peers * 1000:.0f} ms CPU, and {zipped * 1000:.0f} ms for gzip; {len(text) / 1e6:.1f} MB"
    )
    print(f"ratio: {(peers + zipped) / ours:.0f} times the CPU of ours; the same samples: {'yes' if same else 'NO'}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
