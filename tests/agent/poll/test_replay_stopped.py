"""A replay that is told to stop, and one whose store is taken away."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mqsamples.warm import WarmProcess
from mqvitals_agent.store.reader import StoreReader


@pytest.fixture
def player(recordings: Callable[[str], Path], tmp_path: Path) -> Iterator[Callable[[int], WarmProcess]]:
    """Starts a replay, so many times as fast as life, that has stored its first cycle and has 190 s before it."""
    started: list[WarmProcess] = []

    def start(speed: int) -> WarmProcess:
        words = [str(recordings("quiet")), "--store", str(tmp_path / "x.db"), "--speed", str(speed), "-v"]
        process = WarmProcess(["replay", *words], stderr=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stderr is not None
        assert "cycle" in process.stderr.readline()
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals_end_in_order(player: Callable[[int], WarmProcess], tmp_path: Path, number: int, code: int) -> None:
    """As after Ctrl-C the summary is told and the store closed; a second signal in the same moment changes nothing."""
    process = player(1)
    for _ in range(2):
        process.send_signal(number)
    _, rest = process.communicate(timeout=300)
    assert process.returncode == code
    assert "interrupted after" in rest
    assert "Traceback" not in rest
    assert not (tmp_path / "x.db-wal").exists()
    assert not (tmp_path / "x.db.lock").exists()
    with StoreReader.open(tmp_path / "x.db") as reader:
        assert 1 <= reader.owners()[0].last_cycle < 20


def test_deleted_store(player: Callable[[int], WarmProcess], tmp_path: Path) -> None:
    """A store deleted meanwhile ends the replay with a sentence instead of playing into nowhere."""
    process = player(5)
    (tmp_path / "x.db").unlink()
    _, rest = process.communicate(timeout=300)
    assert process.returncode == 2
    assert "has been deleted while it was written" in rest
    assert "replayed" not in rest


def test_ignored_hangup_stays_ignored(tmp_path: Path) -> None:
    """Under nohup a terminal that is closed stops nothing."""
    code = (
        "import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from mqvitals_agent.commandline.runner import stoppable\n"
        "with stoppable() as stop:\n    os.kill(os.getpid(), signal.SIGHUP)\n    print(stop.code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "None\n"


def test_a_late_second_signal_changes_nothing() -> None:
    """The exit code of the first signal stands, also when another comes while the program is on its way out."""
    code = (
        "import os, signal, sys\n"
        "from mqvitals_agent.commandline.runner import stoppable\n"
        "with stoppable() as stop:\n"
        "    try:\n        os.kill(os.getpid(), signal.SIGTERM)\n    except KeyboardInterrupt:\n        pass\n"
        "os.kill(os.getpid(), signal.SIGHUP)\n"
        "sys.exit(stop.code)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 143
