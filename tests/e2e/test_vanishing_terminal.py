"""A terminal that takes no more output, and then goes: neither the screen nor the agent that it brought stays behind."""

from __future__ import annotations

import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from fcntl import ioctl
from pathlib import Path
from typing import Any

import pytest

from mqsamples.pairs import paired
from mqsamples.patience import PATIENCE_S
from mqvitals_tui.terminal import ORDERLY_S, ForcedExit

from .conftest import PROGRAM

AT_MOST_S = 3.0
"""From the end of the terminal to that of both processes."""

_TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


class Screen:
    """A program on a terminal whose other side is held here."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.ours, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
        environment = {
            name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES", "NO_COLOR"}
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", _TAKE_TERMINAL, *command],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**environment, "TERM": "xterm-256color", "TMPDIR": str(folder)},
            start_new_session=True,
        )
        os.close(theirs)
        os.set_blocking(self.ours, False)

    def wait(self, word: bytes) -> None:
        """Read until it has been written."""
        seen, end = b"", time.monotonic() + PATIENCE_S
        while word not in seen:
            assert time.monotonic() < end, seen[-2000:]
            select.select([self.ours], [], [], 1)
            try:
                seen += os.read(self.ours, 1 << 16)
            except BlockingIOError:
                continue

    def stall(self) -> None:
        """Make it write much, and read nothing, until the thread that writes stands still."""
        for key in (b"?", b"\x1b", b"?", b"\x1b") * 20:
            try:
                os.write(self.ours, key)
            except BlockingIOError:
                break
            time.sleep(0.02)

    def close(self) -> None:
        if self.ours >= 0:
            os.close(self.ours)
            self.ours = -1


def children(process: int) -> list[int]:
    """The processes that one has begun and that live."""
    found = Path(f"/proc/{process}/task/{process}/children").read_text("utf-8")
    return [int(word) for word in found.split()]


def lives(process: int) -> bool:
    """Whether a process is there, and no mere remnant that nobody asked about."""
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Callable[[list[str]], Screen]]:
    made: list[Screen] = []

    def make(words: list[str]) -> Screen:
        made.append(Screen([*PROGRAM, *words], tmp_path))
        return made[-1]

    yield make
    for each in made:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()
        each.close()


@pytest.mark.parametrize(("command", "how"), paired(("demo", "top"), ("closed", "SIGTERM")))
def test_nothing_stays_behind(screen: Callable[[list[str]], Screen], tmp_path: Path, command: str, how: str) -> None:
    """Whether the terminal goes, or somebody ends the program while the terminal takes nothing."""
    words = ["demo"] if command == "demo" else ["top", "--scenario", "quiet", "--store", str(tmp_path / "x.db")]
    living = screen(words)
    living.wait(b"Queue managers")
    (agent,) = children(living.process.pid)
    living.stall()
    began = time.monotonic()
    if how == "closed":
        living.close()
    else:
        living.process.send_signal(signal.SIGTERM)
    code = living.process.wait(PATIENCE_S)
    while lives(agent):
        assert time.monotonic() - began < PATIENCE_S
        time.sleep(0.01)
    lasted = time.monotonic() - began
    assert code == 128 + (signal.SIGHUP if how == "closed" else signal.SIGTERM)
    assert lasted < AT_MOST_S
    assert not list(tmp_path.glob("mqvitals-*")), "the temporary folder"


class Child:
    """An agent that does not end."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def terminate(self) -> None:
        self.told.append("terminate")

    def kill(self) -> None:
        self.told.append("kill")


def test_an_end_by_force(tmp_path: Path) -> None:
    """The agent is told at once, and killed when the time is over; the folder goes; the exit code says which signal."""
    left: list[int] = []
    gone = threading.Event()

    def leave(code: int) -> None:
        left.append(code)
        gone.set()

    child: Any = Child()
    folder = tmp_path / "folder"
    folder.mkdir()
    with ForcedExit(0.01, leave) as forced:
        forced.include_child(child, folder)
        forced.begin(signal.SIGTERM)
        forced.begin(signal.SIGHUP)
        assert gone.wait(PATIENCE_S)
    assert child.told == ["terminate", "kill"]
    assert left == [143]
    assert not folder.exists()


def test_no_end_by_force_after_one_in_order() -> None:
    """Nor when nobody asked for an end."""
    left: list[int] = []
    with ForcedExit(PATIENCE_S, left.append):
        pass
    with ForcedExit(PATIENCE_S, left.append) as forced:
        forced.begin(signal.SIGTERM)
    for thread in threading.enumerate():
        if thread.name == "mqvitals-end":
            thread.join(PATIENCE_S)
    assert left == []
    assert ORDERLY_S < AT_MOST_S


def test_a_failed_write_is_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the toolkit's thread; a mistake in another thread is told as ever."""
    begun: list[int] = []
    told: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda found: told.append(found.thread.name))
    monkeypatch.setattr(os, "kill", lambda _, number: begun.append(number))

    def fail(error: Exception) -> None:
        raise error

    with ForcedExit(PATIENCE_S, begun.append) as forced:
        monkeypatch.setattr(forced, "begin", begun.append)
        for name, error in (
            ("other", OSError(5, "EIO")),
            ("textual-output", ValueError()),
            ("textual-output", OSError(5, "")),
        ):
            thread = threading.Thread(target=fail, args=(error,), name=name)
            thread.start()
            thread.join(PATIENCE_S)
    assert told == ["other", "textual-output"]
    assert begun == [signal.SIGHUP] * 2
