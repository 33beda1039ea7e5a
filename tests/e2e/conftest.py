"""Whole runs of the command line, each in a process of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mqsamples.warm import run_warm

Stores = Callable[[str], Path]
PROGRAM = [sys.executable, "-P", "-m", "mqvitals_tui.main"]


@pytest.fixture(scope="session")
def mqvitals() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run ``mqvitals`` with these arguments; the exit code must be ``code`` when that is given."""

    def run(*arguments: str | Path, code: int | None = 0, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        done = run_warm(list(map(str, arguments)), stdin=stdin)
        assert code is None or done.returncode == code, (
            f"exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def incident(replayed: Stores, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the whole recording of an incident."""
    return _own(replayed("incident"), tmp_path_factory)


@pytest.fixture(scope="session")
def quiet(replayed: Stores, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the whole recording of quiet minutes."""
    return _own(replayed("quiet"), tmp_path_factory)


def _own(store: Path, factory: pytest.TempPathFactory) -> Path:
    # Readers leave files beside a store: each worker has its own.
    return Path(shutil.copy(store, factory.mktemp("replayed") / store.name))
