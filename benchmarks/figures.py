"""What a running process takes, from ``/proc``: CPU time and memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")
_USER = 11
"""The place of the user's time in ``/proc/PID/stat`` behind the name; the system's follows."""


class Taken(NamedTuple):
    """CPU seconds since the process began, and MB it holds now: resident, its share of it (None where not reported)."""

    cpu_s: float
    rss_mb: float
    pss_mb: float | None


def taken(pid: int) -> Taken:
    """What a process has taken until now. Raises OSError when there is none."""
    folder = Path(f"/proc/{pid}")
    # The name may hold blanks and brackets: what follows its last bracket is in order.
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    cpu = (int(fields[_USER]) + int(fields[_USER + 1])) / _TICKS
    return Taken(cpu, _kb(folder / "status", "VmRSS") / 1024, _pss(folder))


def _pss(folder: Path) -> float | None:
    try:
        return _kb(folder / "smaps_rollup", "Pss") / 1024
    except (OSError, LookupError):
        return None


def _kb(file: Path, name: str) -> int:
    for line in file.read_text().splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0])
    raise LookupError(f"{file} has no {name}")
