"""Whole runs of the command line, each in a process of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mqsamples.once import Once

Recordings = Callable[[str], Path]
PROGRAM = [sys.executable, "-P", "-m", "mqvitals_tui.main"]


@pytest.fixture(scope="session")
def mqvitals() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run ``mqvitals`` with these arguments; the exit code must be ``code`` when that is given."""

    def run(*arguments: str | Path, code: int | None = 0, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*PROGRAM, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            input=stdin,
            timeout=110,
        )
        assert code is None or done.returncode == code, (
            f"exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def incident(
    mqvitals: Callable[..., Any], recordings: Recordings, built_once: Once, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A store with the whole recording of an incident."""
    return _replayed("incident", mqvitals, recordings, built_once, tmp_path_factory)


@pytest.fixture(scope="session")
def quiet(
    mqvitals: Callable[..., Any], recordings: Recordings, built_once: Once, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A store with the whole recording of quiet minutes."""
    return _replayed("quiet", mqvitals, recordings, built_once, tmp_path_factory)


def _replayed(
    name: str, run: Callable[..., Any], recordings: Recordings, built_once: Once, factory: pytest.TempPathFactory
) -> Path:
    def build(path: Path) -> None:
        run("replay", recordings(name), "--speed", "max", "--store", path)

    # Readers leave files beside a store: each worker has its own.
    return Path(shutil.copy(built_once.built(f"e2e-{name}.db", build), factory.mktemp(name) / f"{name}.db"))
