"""Expensive samples, built once for all workers of a test run."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


class Once:
    """Files that any worker may need: the first one builds them, the others wait for it and read."""

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        base = factory.getbasetemp()
        # The folders of the workers of pytest-xdist lie in one folder of the whole run.
        self._folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "samples"
        self._folder.mkdir(exist_ok=True)

    def built(self, name: str, build: Callable[[Path], object]) -> Path:
        """The file of that name; ``build(path)`` writes it when it does not exist yet. It must not be changed afterwards."""
        path = self._folder / name
        with (self._folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                unfinished = self._folder / f"unfinished.{name}"
                unfinished.unlink(missing_ok=True)
                build(unfinished)
                unfinished.rename(path)
        return path
