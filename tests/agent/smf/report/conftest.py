"""Files of records with a known fault each, and the command that reports them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.cli.smf.report import add_arguments
from mqvitals_agent.cli.smf.report import run as run_report

MINUTES_US = 60_000_000


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., str]:
    """Writes records to a file and gives its path."""

    def written(*records: bytes, name: str = "data.smf") -> str:
        path = tmp_path / name
        path.write_bytes(b"".join(records))
        return str(path)

    return written


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Runs the command; its exit code and what it wrote."""

    def run(*words: str) -> tuple[int, str]:
        parser = argparse.ArgumentParser()
        add_arguments(parser)
        code = run_report(parser.parse_args(words))
        return int(code), capsys.readouterr().out

    return run


@pytest.fixture
def pools(smf: Any) -> Callable[..., bytes]:
    """A record of buffer pools in the half hour of a number: ``pools(2, smf.pool(...))``."""

    def made(number: int, *sections: bytes, **more: Any) -> bytes:
        start = smf.NOON_US + number * 30 * MINUTES_US
        data: bytes = smf.record(115, 215, {1: sections}, start_us=start, sequence=number, **more)
        return data

    return made


@pytest.fixture
def task(smf: Any) -> Callable[..., bytes]:
    """A section of an adapter or dispatcher: times in microseconds."""

    def made(number: int, requests: int, cpu_us: int = 0, elapsed_us: int = 0, size: int = 32) -> bytes:
        values = {0: (4, number), 4: (4, requests), 8: (8, cpu_us << 12), 16: (8, elapsed_us << 12)}
        data: bytes = smf.section(size, values)
        return data

    return made


@pytest.fixture
def initiator(smf: Any) -> Callable[[], bytes]:
    """The section of a channel initiator with 20 of 200 channels."""

    def made() -> bytes:
        data: bytes = smf.section(120, {20: (4, 20), 24: (4, 200), 28: (4, 18), 32: (4, 200)})
        return data

    return made


@pytest.fixture
def channel(smf: Any) -> Callable[..., bytes]:
    """A section of a sender channel; ``fields`` by offset as (length, value)."""

    def made(name: str, fields: dict[int, tuple[int, int]]) -> bytes:
        data = bytearray(smf.section(336, {37: (1, 1), 38: (1, 3), **fields}))
        data[16:36] = smf.ebcdic(name, 20)
        return bytes(data)

    return made
