"""What retention costs: cycles of 2,000 queues through windows, rules and store, with and without deletions between them.

Both ways go on side by side in one run, cycle by cycle in turn, each on a store of its own: one deletes what is older than ``keep`` after each
cycle, as the agent does, the other keeps everything. Only cycles after ``keep`` are counted, when as much is deleted as comes in. Times are CPU
times of this thread, which other work on the machine changes little; *step* is one transaction of retention, in CPU and in wall time.

Peer: the same cycles without retention. Run it: python benchmarks/retention.py [--objects 2000] [--polls 360] [--folder DIR]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.store.retention import STEP_S, Retention, RetentionPolicy
from mqvitals_agent.store.writer import Store
from mqvitals_config.sections.store import SHORTEST_KEEP_MS
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config
from page_size import INTERVAL_MS, snapshots, written

KEPT = SHORTEST_KEEP_MS // INTERVAL_MS
MOST = 1.10
"""How much longer the slowest hundredth of cycles may take with retention."""


def percentile(figures: Sequence[float], share: int) -> float:
    """The figure that ``share`` percent of them do not exceed."""
    return statistics.quantiles(figures, n=100, method="inclusive")[share - 1]


def main() -> int:
    """Measure and print; exit code 1 when cycles with retention take too long."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=2000)
    parser.add_argument("--polls", type=int, default=3 * KEPT)
    parser.add_argument("--folder", type=Path, help="where to write; the default is a temporary folder")
    arguments = parser.parse_args()
    if arguments.polls < KEPT + 20:
        parser.error(f"--polls must be {KEPT + 20} at least: the first {KEPT} fill the store")
    config = load_rule_config(Settings())
    cycles: dict[bool, list[float]] = {True: [], False: []}
    volume = {True: 0, False: 0}
    steps: list[tuple[float, float]] = []
    each_cycle: list[float] = []
    deleted = 0
    with (
        TemporaryDirectory(dir=arguments.folder) as folder,
        Store.open(Path(folder) / "kept.db") as kept,
        Store.open(Path(folder) / "grows.db") as grows,
    ):
        intakes = {True: Ingest(kept, config), False: Ingest(grows, config)}
        retention = Retention(kept, RetentionPolicy.of(SHORTEST_KEEP_MS, None))
        for number, snapshot in enumerate(snapshots(arguments.objects, arguments.polls)):
            counted = number > KEPT + 1
            # Who goes first finds the snapshot in no cache.
            for way in (number % 2 == 0, number % 2 != 0):
                before, bytes_before = time.thread_time(), written()
                intakes[way].take((snapshot,))
                if counted:
                    cycles[way].append(time.thread_time() - before)
                    volume[way] += written() - bytes_before
                if not way:
                    continue
                began, bytes_before = time.thread_time(), written()
                more = True
                while more:
                    cpu, wall = time.thread_time(), time.perf_counter()
                    step = retention.step(snapshot.ts)
                    more = step.more
                    deleted += step.rows if counted else 0
                    if counted:
                        steps.append((time.thread_time() - cpu, time.perf_counter() - wall))
                if counted:
                    each_cycle.append(time.thread_time() - began)
                    volume[True] += written() - bytes_before
        sizes = {True: retention.size(), False: Retention(grows, RetentionPolicy.of(None, None)).size()}
    count = len(cycles[True])
    print(
        f"{arguments.objects:,} queues, {count} cycles after {KEPT} that fill the store; {deleted / count:,.0f} rows deleted a cycle"
    )
    print("           | CPU ms: median |    p99 | written MB a cycle | pages in use MB | file MB")
    for way, name in ((True, "retention"), (False, "without")):
        figures = cycles[way]
        print(
            f"{name:10} | {statistics.median(figures) * 1e3:14.1f} | {percentile(figures, 99) * 1e3:6.1f} |"
            f" {volume[way] / count / 1e6:18.2f} | {sizes[way].data / 1e6:15.1f} | {sizes[way].files / 1e6:7.1f}"
        )
    cpu_steps, wall_steps = ([each[index] for each in steps] for index in (0, 1))
    print(
        f"deleting after a cycle: {statistics.median(each_cycle) * 1e3:.1f} ms CPU (median), {percentile(each_cycle, 99) * 1e3:.1f} (p99);"
        f" a step: {percentile(cpu_steps, 99) * 1e3:.1f} ms CPU, {percentile(wall_steps, 99) * 1e3:.1f} ms wall (p99),"
        f" {max(wall_steps) * 1e3:.1f} ms wall at most; meant to end after {STEP_S * 1e3:.0f} ms and a commit"
    )
    ratio = percentile(cycles[True], 99) / percentile(cycles[False], 99)
    middle = statistics.median(cycles[True]) / statistics.median(cycles[False])
    print(
        f"a cycle with retention takes {middle:.3f} times as long as without (median), {ratio:.3f} times at p99; at most {MOST}"
    )
    return int(ratio > MOST)


if __name__ == "__main__":
    raise SystemExit(main())
