"""Recordings to redact: of an incident, compressed, and of quiet minutes, plain."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(params=["incident", "quiet"])
def recording(request: pytest.FixtureRequest, recordings: Callable[[str], Path], tmp_path: Path) -> Path:
    """A recording, plain or compressed."""
    packed = recordings(request.param)
    if request.param == "incident":
        return packed
    file = tmp_path / "quiet.jsonl"
    file.write_bytes(gzip.decompress(packed.read_bytes()))
    return file
