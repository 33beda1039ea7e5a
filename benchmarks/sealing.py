"""How long a step of sealing holds up a cycle: an hour of the corpus of ``store.py`` is written, sealed and rolled up, step by step.

    python benchmarks/sealing.py [--objects 1000] [--hours 1] [--folder DIR]

Steps are those of the agent, between which it writes the log back when that is long. A cycle that arrives while one is
under way waits for its end: the aim is 50 ms. Times are CPU times of this thread and wall times, which on a busy machine count
others too. Peer: the same with the log written back by commits alone, on a copy of the same store.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory
from typing import NamedTuple

from corpus import HOUR_MS, START_MS, Corpus
from mqvitals_agent.gc_tuning import MANY_THRESHOLDS, freeze_long_lived
from mqvitals_agent.store.retention import Retention, RetentionPolicy
from mqvitals_agent.store.sealing import Sealing
from mqvitals_agent.store.writer import Store
from store import SEALED_MS, write_hour

AIM_MS = 50.0
DAY_HOURS = 24


class Spent(NamedTuple):
    """What a step took, ms."""

    cpu: float
    wall: float


def spent(work: Callable[[], object]) -> Spent:
    """What a call takes."""
    cpu, wall = time.thread_time(), time.perf_counter()
    work()
    return Spent(1000 * (time.thread_time() - cpu), 1000 * (time.perf_counter() - wall))


def seal(path: Path, hours: int, *, apart: bool) -> tuple[list[Spent], list[Spent]]:
    """The steps of sealing, and those that write the log back where that is done ``apart``."""
    now = START_MS + max(hours, DAY_HOURS) * HOUR_MS + SEALED_MS
    steps: list[Spent] = []
    logs: list[Spent] = []
    with Store.open(path) as store:
        retention, sealing = Retention(store, RetentionPolicy.of(None, None)), Sealing(store, None)
        more, done = True, False

        def step() -> None:
            nonlocal more
            more = sealing.step(now).more

        def write_back() -> None:
            nonlocal done
            done = retention.write_back()

        while more:
            if apart:
                took = spent(write_back)
                if done:
                    logs.append(took)
            steps.append(spent(step))
    return steps, logs


def told(what: str, found: Sequence[Spent]) -> None:
    """Print what steps took."""
    if not found:
        print(f"  {what:48} none")
        return
    for name, figures in (("CPU", [each.cpu for each in found]), ("wall", [each.wall for each in found])):
        ordered = sorted(figures)
        p99, worst = ordered[int(len(ordered) * 0.99)], ordered[-1]
        over = sum(each > AIM_MS for each in ordered)
        print(
            f"  {what if name == 'CPU' else '':48}{len(found):6,} steps  {name:4} median {ordered[len(ordered) // 2]:6.1f}"
            f"  p99 {p99:6.1f}  worst {worst:6.1f} ms  {over} over {AIM_MS:g}",
            flush=True,
        )


def main() -> int:
    """Measure and print; 1 where a step takes more CPU time than the aim."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=1000, help="queues (default: %(default)s)")
    parser.add_argument("--hours", type=int, default=1, help="of data (default: %(default)s)")
    parser.add_argument("--folder", type=Path, help="where to write; the default is a temporary folder")
    arguments = parser.parse_args()
    corpus = Corpus(arguments.objects, arguments.hours)
    with TemporaryDirectory(prefix="mqvitals-sealing-", dir=arguments.folder) as name:
        path, other = Path(name) / "store.db", Path(name) / "peer.db"
        with Store.open(path) as store:
            for hour in range(corpus.hours):
                write_hour(store, corpus, hour)
        copy(path, other)
        freeze_long_lived(MANY_THRESHOLDS)
        print(f"{corpus.objects:,} objects, {corpus.hours} h are sealed and rolled up")
        peer, _ = seal(other, corpus.hours, apart=False)
        steps, logs = seal(path, corpus.hours, apart=True)
    told("steps of sealing", steps)
    told("the log written back between them", logs)
    told("peer: the log written back by commits", peer)
    return int(max(each.cpu for each in (*steps, *logs)) > AIM_MS)


if __name__ == "__main__":
    raise SystemExit(main())
