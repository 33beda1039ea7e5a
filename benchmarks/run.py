"""All benchmarks, one after another: ``make bench``. Each prints its figures as a ratio against a named peer of the same run.

``--quick`` shortens the two that take minutes: enough to see that they work, and not for figures to quote.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent


class Benchmark(NamedTuple):
    """A script, how long it takes where that is minutes, and its arguments when there is little time."""

    script: str
    takes: str = ""
    quick: tuple[str, ...] = ()


ORDER = (
    Benchmark("pcf_decode.py"),
    Benchmark("mqi.py"),
    Benchmark("smf.py", "two minutes", ("--megabytes", "10")),
    Benchmark("pipeline.py"),
    Benchmark("rules.py", "two minutes", ("--cycles", "10")),
    Benchmark("page_size.py"),
    Benchmark("store.py", "half an hour", ("--objects", "100", "--hours", "6", "--peer-objects", "20")),
    Benchmark("retention.py", "three minutes", ("--polls", "200")),
    Benchmark("sealing.py", "two minutes", ("--objects", "100")),
    Benchmark("remote_write.py", quick=("--cycles", "2")),
    Benchmark("sizing.py", "ten minutes, with the programs of make tools", ("--minutes", "5")),
    Benchmark("repaint.py"),
    Benchmark("start_up.py"),
    Benchmark("cycle.py", "two minutes", ("--cycles", "4")),
    Benchmark("scrape.py", quick=("--cycles", "3")),
    Benchmark("key_latency.py", "seven minutes", ("--keys", "100")),
    Benchmark("moments.py"),
    Benchmark("screen.py", "a quarter of an hour, and 15 GB", ("--hours", "0.5", "--keys", "100", "--seconds", "15")),
    Benchmark("idle.py", "eleven minutes", ("--minutes", "1")),
    Benchmark("month.py", "half an hour", ("--days", "1")),
)


def main() -> int:
    """Run every benchmark in a process of its own; the exit code is the worst of theirs."""
    parser = argparse.ArgumentParser(description="all benchmarks, about an hour")
    parser.add_argument("--quick", action="store_true", help="shorten those that take minutes")
    quick = parser.parse_args().quick
    worst = 0
    for each in ORDER:
        print(f"== {each.script}{'' if quick or not each.takes else f' ({each.takes})'}", flush=True)
        command = [sys.executable, str(HERE / each.script), *(each.quick if quick else ())]
        worst = max(worst, subprocess.run(command, check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
