"""A replay that is told to stop, and one whose store is taken away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mqvitals_agent.cli.main import main
from mqvitals_agent.store.reader import StoreReader

PROGRAM = (sys.executable, "-P", "-m", "mqvitals_agent.cli.main", "replay")


@pytest.fixture
def player(tmp_path: Path) -> subprocess.Popen[str]:
    """A replay that has stored its first cycles and has more before it."""
    run = ["--scenario", "quiet", "--interval", "10s", "--for", "5m", "--speed", "150"]
    assert main(["record", str(tmp_path / "small.jsonl"), *run]) == 0
    words = [str(tmp_path / "small.jsonl"), "--store", str(tmp_path / "x.db"), "--speed", "50", "-v"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MQVITALS_")}
    process = subprocess.Popen([*PROGRAM, *words], stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    for _ in range(2):
        assert "cycle" in process.stderr.readline()
    return process


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals_end_in_order(player: subprocess.Popen[str], tmp_path: Path, number: int, code: int) -> None:
    """As after Ctrl-C the summary is told and the store closed; a second signal in the same moment changes nothing."""
    for _ in range(2):
        player.send_signal(number)
    _, rest = player.communicate(timeout=30)
    assert player.returncode == code
    assert "interrupted after" in rest
    assert "Traceback" not in rest
    assert not (tmp_path / "x.db-wal").exists()
    assert not (tmp_path / "x.db.lock").exists()
    with StoreReader.open(tmp_path / "x.db") as reader:
        assert 1 <= reader.owners()[0].last_cycle < 30


def test_deleted_store(player: subprocess.Popen[str], tmp_path: Path) -> None:
    """A store deleted meanwhile ends the replay with a sentence instead of playing into nowhere."""
    (tmp_path / "x.db").unlink()
    _, rest = player.communicate(timeout=30)
    assert player.returncode == 2
    assert "has been deleted while it was written" in rest
    assert "replayed" not in rest


def test_ignored_hangup_stays_ignored(tmp_path: Path) -> None:
    """Under nohup a terminal that is closed stops nothing."""
    code = (
        "import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from mqvitals_agent.cli.stop import stoppable\n"
        "with stoppable() as stop:\n    os.kill(os.getpid(), signal.SIGHUP)\n    print(stop.code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "None\n"


def test_a_late_second_signal_changes_nothing() -> None:
    """The exit code of the first signal stands, also when another comes while the program is on its way out."""
    code = (
        "import os, signal, sys\n"
        "from mqvitals_agent.cli.stop import stoppable\n"
        "with stoppable() as stop:\n"
        "    try:\n        os.kill(os.getpid(), signal.SIGTERM)\n    except KeyboardInterrupt:\n        pass\n"
        "os.kill(os.getpid(), signal.SIGHUP)\n"
        "sys.exit(stop.code)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 143
