"""Whole runs of the command line, each in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
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


WIDTH, HEIGHT = 120, 40
SOON_S = 60


class Terminal:
    """A terminal of 120 by 40 cells in which a command runs."""

    def __init__(self, socket: Path, command: str) -> None:
        self._tmux = ("tmux", "-S", str(socket), "-f", os.devnull)
        self.call("new-session", "-d", "-x", str(WIDTH), "-y", str(HEIGHT), command)

    def call(self, *words: str) -> str:
        """What tmux answers; nothing when it has ended."""
        done = subprocess.run([*self._tmux, *words], capture_output=True, text=True, check=False, timeout=20)
        return done.stdout

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        self.call("send-keys", *keys)

    def screen(self) -> str:
        """The text on the screen."""
        return self.call("capture-pane", "-p")

    def wait(self, seen: Callable[[str], object], seconds: float = SOON_S) -> str:
        """The screen as soon as this is seen on it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            screen = self.screen()
            if seen(screen):
                return screen
            time.sleep(0.2)
        raise AssertionError(f"not seen within {seconds:g} s:\n{self.screen()}")
