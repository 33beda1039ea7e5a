"""Which page size the store should have: polls of queues written as the agent writes them, then read as `trend` reads them.

Run it on a quiet machine: python benchmarks/page_size.py [--objects 2000] [--polls 300] [--folder DIR]
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Metric, MetricType, Reported
from mqvitals_rules.vocabulary.tables import KINDS

SIZES = (4096, 8192, 16384, 32768)
START = 1_763_640_000_000
INTERVAL_MS = 30_000
DEFINITIONS_EVERY = 30


@dataclass(frozen=True)
class Figures:
    page_size: int
    cpu_ms: float
    wall_ms: float
    worst_ms: float
    written_mb: float
    file_mb: float
    row_bytes: float
    trend_ms: float
    last_ms: float
    current_ms: float


def value(metric: Metric, random_source: random.Random, index: int) -> Reported:
    match metric.type:
        case MetricType.TEXT:
            return f"{metric.name.upper()}.{index:05d}"
        case MetricType.STATE:
            return index % 2
        case _:
            return random_source.randrange(100_000)


def snapshots(objects: int, polls: int) -> Iterator[Snapshot]:
    """Polls of queues, four in ten idle, four lightly used, two busy; definitions every thirtieth poll."""
    source = random.Random(4711)
    queue = KINDS["queue"]
    status = [metric for metric in queue.metrics if metric.command == "INQUIRE_Q_STATUS"]
    definition = [metric for metric in queue.metrics if metric.command == "INQUIRE_Q"]
    names = [ObjectName("QM01", "queue", f"APPL{index % 50:02d}.REQUEST.{index:05d}") for index in range(objects)]
    now = [{metric.name: value(metric, source, index) for metric in status} for index in range(objects)]
    defined = [{metric.name: value(metric, source, index) for metric in definition} for index in range(objects)]
    moving = [metric.name for metric in status if metric.type in {MetricType.GAUGE, MetricType.COUNTER}]
    for poll in range(polls):
        ts = START + poll * INTERVAL_MS
        readings = []
        for index, name in enumerate(names):
            share = (0.0, 0.25, 0.8)[(index % 10 >= 4) + (index % 10 >= 8)]
            for metric in moving:
                if source.random() < share:
                    now[index][metric] = source.randrange(100_000)
            readings.append(Reading(name, "INQUIRE_Q_STATUS", ts, dict(now[index]), INTERVAL_MS))
            if poll % DEFINITIONS_EVERY == 0:
                readings.append(Reading(name, "INQUIRE_Q", ts, dict(defined[index]), INTERVAL_MS, poll=False))
        yield Snapshot("QM01", group=False, cycle=poll + 1, ts=ts, readings=tuple(readings))


def written() -> int:
    """Bytes that this process has handed to the operating system for writing: log, checkpoints and all."""
    return int(Path("/proc/self/io").read_text().split("wchar: ")[1].split()[0])


def measure(page_size: int, objects: int, polls: int, folder: Path) -> Figures:
    path = folder / f"{page_size}.db"
    cpu: list[float] = []
    wall: list[float] = []
    bytes_before = written()
    with Store.open(path, page_size=page_size) as store:
        for snapshot in snapshots(objects, polls):
            cpu_before, wall_before = time.process_time(), time.perf_counter()
            store.write(snapshot, Evaluation((), ()))
            cpu.append(time.process_time() - cpu_before)
            wall.append(time.perf_counter() - wall_before)
    volume = written() - bytes_before
    queries: dict[str, list[float]] = {"trend": [], "last": [], "current": []}
    with StoreReader.open(path) as reader:
        names = [row.name for row in reader.objects()]
        rows = len(reader.trend(names[0], "depth").points)
        assert rows == polls, "every poll is a point"
        for name in names[:: max(1, len(names) // 40)]:
            began = time.perf_counter()
            reader.trend(name, "depth")
            queries["trend"].append(time.perf_counter() - began)
            began = time.perf_counter()
            reader.samples(name, "depth", newest=10)
            queries["last"].append(time.perf_counter() - began)
            began = time.perf_counter()
            reader.current(name)
            queries["current"].append(time.perf_counter() - began)
    connection = sqlite3.connect(path)
    (history,) = connection.execute("SELECT sum(pgsize) FROM dbstat WHERE name = 'sample_queue'").fetchone()
    connection.close()
    return Figures(
        page_size,
        statistics.median(cpu[1:]) * 1e3,
        statistics.median(wall[1:]) * 1e3,
        max(wall[1:]) * 1e3,
        volume / 1e6,
        path.stat().st_size / 1e6,
        history / (objects * polls),
        *(statistics.median(each) * 1e3 for each in queries.values()),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=2000)
    parser.add_argument("--polls", type=int, default=300)
    parser.add_argument("--folder", type=Path, help="where to write; the default is a temporary folder")
    arguments = parser.parse_args()
    print(
        f"{arguments.objects:,} queues, {arguments.polls} polls; times are per poll of all queues, or per query (median)"
    )
    print(
        "page size | CPU ms | wall ms | worst ms | rows/s CPU | written MB | file MB | bytes/row | trend ms | last 10 ms | now ms"
    )
    for page_size in SIZES:
        with TemporaryDirectory(dir=arguments.folder) as name:
            f = measure(page_size, arguments.objects, arguments.polls, Path(name))
        print(
            f"{f.page_size:9} | {f.cpu_ms:6.1f} | {f.wall_ms:7.1f} | {f.worst_ms:8.1f} | {arguments.objects / f.cpu_ms * 1e3:10,.0f} |"
            f" {f.written_mb:10.1f} | {f.file_mb:7.1f} | {f.row_bytes:9.1f} | {f.trend_ms:8.2f} | {f.last_ms:10.2f} | {f.current_ms:6.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
