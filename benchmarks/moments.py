"""What a step through time costs: frames as of past moments, beside the same frames of now, over a store of 10,000 queues.

    python benchmarks/moments.py [--store day.db] [--hours 3] [--steps 100]

CPU milliseconds of the reader, each place by itself: the first look at the past, then one cycle back at a time, as when a key
is held, and jumps to random moments. The peer is the same frame read live, in the same run.
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from math import ceil
from pathlib import Path

import day_store
from mqvitals_agent.gc_tuning import freeze_long_lived
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.samples.steps import TimeStep
from mqvitals_agent.view.frame import ALERTS, DETAIL, LIST, OVERVIEW, FrameRequest, read_frame
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import RuleConfig, load_rule_config
from mqvitals_rules.snapshot import ObjectName

SEED = 1
PAGES = (
    *("queue", "channel", "buffer_pool", "page_set", "log", "cf_structure", "channel_initiator", "queue_manager"),
    *("qsg", "smds", "smds_connection", "client", "cluster_queue_manager", "subscription"),
)
"""Of an object of each of these kinds the page is opened."""
LEAST_MS = 600_000
"""Jumps leave out the beginning of the store, where little is there to be read."""


def places(reader: StoreReader) -> Iterator[tuple[str, FrameRequest]]:
    """What people look at."""
    yield "overview", FrameRequest(OVERVIEW)
    yield "10,000 queues", FrameRequest(LIST, "queue")
    yield "2,000 channels", FrameRequest(LIST, "channel")
    yield "alerts", FrameRequest(ALERTS)
    names: dict[str, list[ObjectName]] = {}
    for each in reader.objects():
        names.setdefault(each.name.kind, []).append(each.name)
    for kind in PAGES:
        of_kind = names[kind]
        yield kind.replace("_", " "), FrameRequest(DETAIL, name=of_kind[len(of_kind) // 2])


def cpu_ms(work: Callable[[], object]) -> float:
    """The CPU time of a call, ms."""
    begun = time.process_time()
    work()
    return 1000 * (time.process_time() - begun)


def percentile(values: list[float], share: float) -> float:
    """The least value that a ``share`` of the values does not exceed."""
    ordered = sorted(values)
    return ordered[ceil(share * len(ordered)) - 1]


def measure(
    reader: StoreReader, rules: RuleConfig, request: FrameRequest, steps: int
) -> tuple[float, float, list[float], list[float]]:
    """The median of live reads, the first look at the past, and the costs of steps and of jumps, CPU ms."""
    now = reader.last_ts() or 0
    first = min(each.first_ts for each in reader.owners())
    draw = random.Random(SEED)
    at: int | None = None

    def step() -> None:
        nonlocal at
        at = reader.step(at, TimeStep.CYCLE, on=False)
        read_frame(reader, now, request._replace(at=at), rules)

    def jump() -> None:
        moment = draw.randint(min(first + LEAST_MS, now), now)
        read_frame(reader, now, request._replace(at=moment), rules)

    live = statistics.median(cpu_ms(lambda: read_frame(reader, now, request, rules)) for _ in range(5))
    reader.forget_moments()
    first_look = cpu_ms(step)  # it reads what the others find
    return live, first_look, [cpu_ms(step) for _ in range(steps)], [cpu_ms(jump) for _ in range(steps)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, help="a store of day_store.py (default: one is made)")
    parser.add_argument("--hours", type=float, default=1.0, help="length of the store that is made (default: 1)")
    parser.add_argument("--steps", type=int, default=100, help="steps, and jumps, of each place (default: 100)")
    parser.add_argument("--place", action="append", help="only this place; may be given again (default: all)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = arguments.store or Path(folder) / "day.db"
        if not store.exists():
            day_store.make(store, arguments.hours)
        rules = load_rule_config(Settings())
        with StoreReader.open(store) as reader:
            freeze_long_lived()
            print(
                f"{'CPU ms':24}{'live':>8}{'first':>8}{'step p50':>10}{'p99':>8}{'worst':>8}{'of live':>9}"
                f"{'jump p50':>10}{'p99':>8}{'worst':>8}"
            )
            for name, request in places(reader):
                if arguments.place and name not in arguments.place:
                    continue
                live, first_look, steps, jumps = measure(reader, rules, request, arguments.steps)
                half, most = percentile(steps, 0.5), percentile(steps, 0.99)
                print(
                    f"{name:24}{live:8.0f}{first_look:8.0f}{half:10.0f}{most:8.0f}{max(steps):8.0f}{half / live:9.2f}"
                    f"{percentile(jumps, 0.5):10.0f}{percentile(jumps, 0.99):8.0f}{max(jumps):8.0f}",
                    flush=True,
                )
                gc.collect()


if __name__ == "__main__":
    main()
