"""What a step through time costs: frames as of past moments, beside the same frames of now, over a store of 10,000 queues.

    python benchmarks/moments.py [--store day.db] [--hours 3] [--steps 100]

CPU milliseconds of the reader, each place by itself: the first look at the past, then one cycle back at a time, as when a key
is held, and jumps to random moments. One peer is the same frame read live, in the same run. The other is the plain walk of
pipeline.py, right before and after each step and jump: of a machine whose speed changes only what is so many times a walk can be
compared with another machine.
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
from typing import NamedTuple

import day_store
import pipeline
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


class Costs(NamedTuple):
    """Of steps or jumps: CPU ms, and how many times a plain walk beside it each took."""

    ms: list[float]
    walks: list[float]


def large_group_replies() -> list[bytes]:
    """What the plain walk goes over: a cycle's replies of 10,000 queues and 2,000 channels."""
    return [reply.data for exchange in pipeline.exchanges(1, definitions=False) for reply in exchange.replies]


def measured(work: Callable[[], object], count: int, replies: list[bytes]) -> Costs:
    """What ``count`` calls cost, with the plain walk over ``replies`` between them."""

    def walk() -> float:
        return cpu_ms(lambda: pipeline.plain_walk(replies))

    found = Costs([], [])
    before = walk()
    for _ in range(count):
        spent = cpu_ms(work)
        after = walk()
        found.ms.append(spent)
        found.walks.append(2 * spent / (before + after))
        before = after
    return found


def percentile(values: list[float], share: float) -> float:
    """The least value that a ``share`` of the values does not exceed."""
    ordered = sorted(values)
    return ordered[ceil(share * len(ordered)) - 1]


def measure(
    reader: StoreReader, rules: RuleConfig, request: FrameRequest, steps: int, replies: list[bytes]
) -> tuple[float, float, Costs, Costs]:
    """The median of live reads and the first look at the past, CPU ms; the costs of steps and of jumps."""
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
    return live, first_look, measured(step, steps, replies), measured(jump, steps, replies)


def told(costs: Costs) -> str:
    """The columns of steps or jumps."""
    half, most = percentile(costs.ms, 0.5), percentile(costs.ms, 0.99)
    return f"{half:8.0f}{most:6.0f}{max(costs.ms):7.0f}{percentile(costs.walks, 0.99):11.2f}"


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
        replies = large_group_replies()
        with StoreReader.open(store) as reader:
            freeze_long_lived()
            columns = f"{'p50':>8}{'p99':>6}{'worst':>7}{'p99 walks':>11}"
            print(f"{'CPU ms':20}{'live':>6}{'first':>7} | step{columns}{'of live':>9} | jump{columns}")
            for name, request in places(reader):
                if arguments.place and name not in arguments.place:
                    continue
                live, first_look, steps, jumps = measure(reader, rules, request, arguments.steps, replies)
                print(
                    f"{name:20}{live:6.0f}{first_look:7.0f} |     {told(steps)}{percentile(steps.ms, 0.5) / live:9.2f} |     {told(jumps)}",
                    flush=True,
                )
                gc.collect()


if __name__ == "__main__":
    main()
