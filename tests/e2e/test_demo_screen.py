"""The demonstration on a real terminal: it lives, the red line leads to its cause, and nothing stays behind."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import PROGRAM, SOON_S, Terminal

ILL_S = 240
"""The group is ill after a minute and a half of real time; a busy machine adds to that."""

# A program of the system, which no package index has: it is the terminal that the screen is looked at in.
pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """The folder in which the demonstration makes its own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


@pytest.fixture
def terminal(tmp_path: Path, temporary: Path) -> Iterator[Terminal]:
    """A terminal with a demonstration in it, and its exit code afterwards."""
    program = shlex.join([*PROGRAM, "demo"])
    socket = tmp_path / "s"
    # The toolkit would believe these more than the terminal.
    plain = "env -u COLUMNS -u LINES -u NO_COLOR"
    folder = shlex.quote(f"TMPDIR={temporary}")
    living = Terminal(socket, f"{plain} {folder} {program}; echo ended with $?; exec sleep 120")
    yield living
    living.call("kill-server")


def processes(folder: Path) -> list[int]:
    """The processes whose command line names this folder's store."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if b"--store\0" + os.fsencode(folder) in words:
                found.append(int(entry.name))
    return found


@pytest.mark.timeout(500)
def test_from_the_red_line_to_its_cause(terminal: Terminal, temporary: Path) -> None:
    """A person sees CRITICAL, opens it, finds chart, rule and source, and ends it with one key."""
    terminal.wait(lambda screen: "Queue managers" in screen and "PRDQSG" in screen)
    assert len(processes(temporary)) == 1
    terminal.wait(lambda screen: re.search(r"● CRITICAL .* BP-03 .*pool 3", screen), ILL_S)
    terminal.press("8")
    terminal.wait(lambda screen: "›8 Alerts" in screen and re.search(r"CRITICAL .*pool 3", screen))
    terminal.press("Enter")
    found = terminal.wait(lambda screen: "pool 3" in screen and "BP-03" in screen and "What to do" in screen)
    assert re.search("[\u2801-\u28ff]", found), "there is no chart"
    terminal.press("End")
    terminal.wait(lambda screen: "source " in screen)
    terminal.press("q")
    assert "ended with 0" in terminal.wait(lambda screen: "ended with" in screen)
    assert not processes(temporary)
    assert not list(temporary.iterdir())


@pytest.mark.parametrize(("name", "code"), [("TERM", 143), ("HUP", 129)])
def test_ended_from_outside(terminal: Terminal, temporary: Path, name: str, code: int) -> None:
    """A signal leaves neither a process nor a folder nor a spoiled terminal behind."""
    terminal.wait(lambda screen: "Queue managers" in screen and "PRDQSG" in screen)
    (agent,) = processes(temporary)
    status = Path(f"/proc/{agent}/status").read_text("utf-8")
    parent = re.search(r"^PPid:\s+(\d+)", status, re.MULTILINE)
    assert parent is not None
    subprocess.run(["kill", f"-{name}", parent[1]], check=True)
    terminal.wait(lambda screen: f"ended with {code}" in screen)
    assert not processes(temporary)
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("how", ["key", "closed"])
def test_ended_at_the_terminal(terminal: Terminal, temporary: Path, how: str) -> None:
    """Ctrl-C, or closing the terminal, ends both processes and removes the folder."""
    terminal.wait(lambda screen: "Queue managers" in screen and "PRDQSG" in screen)
    assert len(processes(temporary)) == 1
    if how == "key":
        terminal.press("C-c")
    else:
        terminal.call("kill-server")
    end = time.monotonic() + SOON_S
    while processes(temporary) or any(temporary.iterdir()):
        assert time.monotonic() < end, "something stays behind"
        time.sleep(0.1)
