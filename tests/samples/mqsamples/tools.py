"""Real programs that tests ask where they are there, and ports for them."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[3] / ".tools"


def program(name: str) -> Path | None:
    """Where a program is: as the environment says, as ``make tools`` put it, or as a package did."""
    named = os.environ.get(f"MQVITALS_{name.upper().replace('-', '_')}") or shutil.which(name, path=str(TOOLS))
    found = named or shutil.which(name)
    return Path(found) if found and Path(found).is_file() else None


def needed(name: str) -> Path:
    """Where a program is. The test that asks, or the module, is skipped where it is not: it is built with Go or comes with a
    package of Debian, which ``make setup`` cannot install. What it judges is tested without it too.
    """
    found = program(name)
    if found is None:
        pytest.skip(f"{name} is not there: make tools", allow_module_level=True)
    return found


def free_port() -> int:
    """A port of loopback that nobody has."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
