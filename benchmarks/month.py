"""Thirty simulated days of an agent, without waiting: CPU, memory and the size of the store at the end of each day.

    python benchmarks/month.py --days 30
    python benchmarks/month.py --days 30 --queues 2000 --interval 5m

It runs ``mqvitals agent --scenario busy-morning --speed max`` with ``store.keep: {raw: 3d, hours: 2y, alerts: 3d}`` as a process of its own,
and looks at that process and at its store whenever the store has gone a day further. *hours* is what the rolled-up hours take of the store,
which grow for as long as they are kept. Aims: 30 days in at most 30 minutes of CPU (43,200 cycles: about 40 ms each); memory, and the size of
the store without these hours, on the last day within 10 % of those two days after the first ``--keep``: the samples of a day go once its hours
are made.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from mqvitals_agent.commandline.time_arguments import duration
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.file.store_info import read_info
from mqvitals_agent.store.reader import StoreReader

DAY_MS = 86_400_000
AIM_CPU_S = 60.0
"""A day: thirty are half an hour."""
AIM_FLAT = 0.10
_LOOK_S = 2.0
_TRENDS = 20
_PROGRAM = (sys.executable, "-P", "-m", "mqvitals_agent.commandline.runner", "agent")


class Day(NamedTuple):
    """What a simulated day took, and how things are at its end."""

    cpu_s: float
    wall_s: float
    rss_mb: float
    store_mb: float
    hours_mb: float
    trend_ms: float


def cpu_s(pid: int) -> float:
    """The CPU that a process has taken, s."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_mb(pid: int) -> float:
    """The memory that a process has resident, MB."""
    return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def store_mb(store: Path) -> float:
    """The store with its write-ahead log, MB."""
    files = (store, store.with_name(f"{store.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists()) / 1e6


def hours_mb(store: Path) -> float:
    """What the rolled-up hours take, MB."""
    return sum(kind.hours for kind in read_info(store).kinds.values()) / 1e6


def span_ms(store: Path) -> tuple[int, int]:
    """The moments of the store's beginning and of its newest snapshot, ms; both 0 while there is none."""
    try:
        with StoreReader.open(store) as reader:
            return min((owner.first_ts for owner in reader.owners()), default=0), reader.last_ts() or 0
    except StoreError:
        return 0, 0


def trend_ms(store: Path) -> float:
    """The CPU that the newest 24 hours of a metric take to read, ms: the median of some queues."""
    spent = []
    with StoreReader.open(store) as reader:
        last = reader.last_ts() or 0
        queues = reader.objects("*/queue/*")
        names = [found.name for found in queues[:: max(len(queues) // _TRENDS, 1)]]
        for name in names:
            began = time.process_time()
            reader.trend(name, "depth", last - DAY_MS, last)
            spent.append(time.process_time() - began)
    return median(spent) * 1000 if spent else 0.0


def days(agent: subprocess.Popen[bytes], store: Path, count: int, cycles: int) -> list[Day]:
    """Watch the agent; a line is printed for each day of so many cycles when it is over."""
    found: list[Day] = []
    began, cpu, wall = 0, cpu_s(agent.pid), time.monotonic()
    rss = rss_mb(agent.pid)
    print(
        f"{'day':>4}{'CPU s':>9}{'ms a cycle':>12}{'wall s':>9}{'RSS MB':>9}{'store MB':>10}{'hours MB':>10}{'trend ms':>10}"
    )
    while len(found) < count:
        ended = agent.poll() is not None
        first, last = span_ms(store)
        began = began or first
        if not ended:
            # Once it has ended there is no more to be seen of it.
            now, rss = cpu_s(agent.pid), rss_mb(agent.pid)
        if ended or (began and last - began >= DAY_MS * (len(found) + 1)):
            sizes = store_mb(store), hours_mb(store)
            found.append(Day(now - cpu, time.monotonic() - wall, rss, *sizes, trend_ms(store)))
            cpu, wall, day = now, time.monotonic(), found[-1]
            print(
                f"{len(found):4}{day.cpu_s:9.1f}{day.cpu_s * 1000 / cycles:12.1f}{day.wall_s:9.0f}{day.rss_mb:9.1f}"
                f"{day.store_mb:10.1f}{day.hours_mb:10.1f}{day.trend_ms:10.1f}",
                flush=True,
            )
        if ended:
            break
        time.sleep(_LOOK_S)
    return found


def flat(found: list[Day], keep: int) -> bool:
    """Whether size and memory of the last day are about those of the day when the first samples have gone; says so."""
    settled = keep + 2
    if len(found) <= settled:
        print(f"  no word on what is flat: that takes more than {settled} days")
        return True
    first, last = found[settled - 1], found[-1]
    good = True
    for what, before, after in (
        ("store without hours", first.store_mb - first.hours_mb, last.store_mb - last.hours_mb),
        ("memory", first.rss_mb, last.rss_mb),
    ):
        change = after / before - 1
        good = good and change <= AIM_FLAT
        print(f"  {what}: {before:.1f} MB on day {settled}, {after:.1f} MB on day {len(found)}: {change:+.1%}")
    return good


def main() -> int:
    """Measure and print; 1 where an aim is missed."""
    parser = argparse.ArgumentParser(description="simulated days of an agent: CPU, memory, size of the store")
    parser.add_argument("--days", type=int, default=30, help="how many (default: %(default)s)")
    parser.add_argument(
        "--keep", type=int, default=3, help="days that the store keeps samples and alerts (default: %(default)s)"
    )
    parser.add_argument("--scenario", default="busy-morning", help="what happens (default: %(default)s)")
    parser.add_argument(
        "--queues", type=int, default=0, help="additional queues, over all queue managers (default: none)"
    )
    parser.add_argument("--interval", type=duration, default="1m", help="from poll to poll (default: %(default)s)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mqvitals-month-") as name:
        folder = Path(name)
        store, config = folder / "month.db", folder / "mqvitals.yaml"
        kept = f"{{raw: {arguments.keep}d, hours: 2y, alerts: {arguments.keep}d}}"
        config.write_text(f"store: {{keep: {kept}}}\nlog: {{level: error}}\n", "utf-8")
        words = (
            *("--config", str(config), "--store", str(store), "--scenario", arguments.scenario),
            *(
                "--queues",
                str(arguments.queues),
                "--interval",
                f"{arguments.interval // 1000}s",
                "--for",
                f"{arguments.days}d",
                "--speed",
                "max",
            ),
        )
        environment = {key: value for key, value in os.environ.items() if not key.startswith("MQVITALS_")}
        with (folder / "agent.log").open("wb") as log:
            agent = subprocess.Popen([*_PROGRAM, *words], env=environment, stderr=log)
            try:
                found = days(agent, store, arguments.days, DAY_MS // arguments.interval)
                code = agent.wait()
            finally:
                agent.kill()
                agent.wait()
        if code:
            print((folder / "agent.log").read_text("utf-8", "replace")[-2000:], file=sys.stderr)
            return 1
    mean = sum(day.cpu_s for day in found) / len(found)
    print(f"  CPU of 30 such days: {mean * 30 / 60:.1f} minutes (aim: {AIM_CPU_S * 30 / 60:.0f})")
    return 0 if flat(found, arguments.keep) and mean <= AIM_CPU_S else 1


if __name__ == "__main__":
    sys.exit(main())
