"""Whole runs of the command line, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = [sys.executable, "-P", "-m", "mqvitals_tui.main"]
BATCH_QUEUES = 'facts:\n  queues:\n    - {objects: "*/queue/BATCH.FEED", role: batch}\n'


@pytest.fixture(scope="session")
def mqvitals() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run ``mqvitals`` with these arguments; the exit code must be ``code`` when that is given."""

    def run(*arguments: str | Path, code: int | None = 0, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("MQVITALS_")}
        done = subprocess.run(
            [*PROGRAM, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            input=stdin,
            env=environment,
            timeout=110,
        )
        assert code is None or done.returncode == code, (
            f"exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def recordings(shared_data: Path) -> Path:
    """The folder of the shared recordings."""
    return shared_data / "pcf"


@pytest.fixture(scope="session")
def expected(recordings: Path) -> Callable[[str], dict[str, Any]]:
    """What must be seen in a recording: ``expected("incident")``."""

    def load(name: str) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads((recordings / f"recording-{name}.expected.json").read_text("utf-8"))
        return loaded

    return load


@pytest.fixture(scope="session")
def declared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configuration that declares BATCH.FEED as a batch queue."""
    path = tmp_path_factory.mktemp("config") / "mqvitals.yaml"
    path.write_text(BATCH_QUEUES, "utf-8")
    return path


@pytest.fixture(scope="session")
def incident(
    mqvitals: Callable[..., Any], recordings: Path, declared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A store with the whole incident recording, BATCH.FEED declared as batch."""
    store = tmp_path_factory.mktemp("incident") / "incident.db"
    mqvitals(
        "replay", recordings / "recording-incident.jsonl.gz", "--speed", "max", "--store", store, "--config", declared
    )
    return store


@pytest.fixture(scope="session")
def quiet(mqvitals: Callable[..., Any], recordings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the whole quiet recording."""
    store = tmp_path_factory.mktemp("quiet") / "quiet.db"
    mqvitals("replay", recordings / "recording-quiet.jsonl.gz", "--speed", "max", "--store", store)
    return store
