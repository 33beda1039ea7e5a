"""A file system of some MB, for what happens when a disk is really full."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

_MOUNT = 'mount -t tmpfs -o "size=$1" none "$2" || exit 77; shift 2; exec "$@"'


def run_with_small_disk(folder: Path, size: str, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command that sees a new file system of ``size`` ("4m") at ``folder``; the test is skipped where none can be made."""
    try:
        run = subprocess.run(
            ["unshare", "--mount", "--map-root-user", "sh", "-c", _MOUNT, "sh", size, str(folder), *command],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    except FileNotFoundError:
        # It is Linux's own. What a writer does when SQLite finds no room is tested everywhere, by a limit of pages.
        pytest.skip("no unshare here to make a small file system with")
    if run.returncode in {1, 77} and ("unshare:" in run.stderr or "mount:" in run.stderr):
        # Many containers forbid user namespaces, and nothing in a test can allow them.
        pytest.skip("no permission here to mount a small file system")
    return run
