"""All benchmarks, one after another: ``make bench``. Each prints its figures as a ratio against a named peer of the same run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ORDER = ("pcf_decode.py", "pipeline.py", "page_size.py", "repaint.py", "start_up.py")


def main() -> int:
    """Run every benchmark in a process of its own; the exit code is the worst of theirs."""
    worst = 0
    for name in ORDER:
        print(f"== {name}", flush=True)
        worst = max(worst, subprocess.run([sys.executable, str(HERE / name)], check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
