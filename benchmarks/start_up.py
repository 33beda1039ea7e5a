"""``mqvitals --help`` against a bare Python that does nothing: whole processes, in turn, medians of wall milliseconds."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 15


def milliseconds(command: list[str]) -> float:
    """Wall time of one run of ``command``."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1000


def main() -> None:
    """Print the medians, their difference and their ratio."""
    bare = [sys.executable, "-c", "pass"]
    ours = [sys.executable, "-c", "import sys; from mqvitals_tui.main import main; sys.exit(main(['--help']))"]
    for command in (bare, ours):
        milliseconds(command)
    pairs = [(milliseconds(bare), milliseconds(ours)) for _ in range(RUNS)]
    first, second = statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)
    print(
        f"bare Python {first:.0f} ms, mqvitals --help {second:.0f} ms: {second - first:.0f} ms over it, {second / first:.1f} times"
    )


if __name__ == "__main__":
    main()
