"""Recordings to redact: the shared ones, and one that the simulator makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_agent.cli.main import main


@pytest.fixture(params=["incident", "quiet", "simulated"])
def recording(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A recording, plain or compressed."""
    if request.param != "simulated":
        folder: Path = request.getfixturevalue("shared_data")
        return folder / "pcf" / f"recording-{request.param}.jsonl.gz"
    file = tmp_path / "simulated.jsonl"
    run = ("--scenario", "busy-morning", "--for", "5m", "--speed", "100", "--interval", "10s")
    assert main(["record", str(file), *run]) == 0
    return file
