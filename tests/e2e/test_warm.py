"""What tests fork from a server of processes does what a process of its own does."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from mqsamples.warm import WarmProcess, run_warm

from .conftest import PROGRAM


def test_it_is_as_one_that_begins_at_nothing(quiet: Path, tmp_path: Path) -> None:
    """The same exit code, output and complaints, of what works, of what fails and of what is typed wrongly."""
    for words in (
        ["status", "--store", str(quiet)],
        ["status", "--store", str(tmp_path / "none.db")],
        ["rules", "explain", "BP-03", "--nonsense"],
    ):
        own = subprocess.run([*PROGRAM, *words], capture_output=True, text=True, check=False)
        warm = run_warm(words)
        assert (warm.returncode, warm.stdout, warm.stderr) == (own.returncode, own.stdout, own.stderr)


def test_each_is_a_process_of_its_own(tmp_path: Path) -> None:
    """One that is killed says so, and takes no other one with it."""
    words = ["agent", "--scenario", "quiet", "--for", "1h", "--store"]
    one, other = (
        WarmProcess([*words, str(tmp_path / name)], stderr=subprocess.PIPE, text=True)
        for name in ("one.db", "other.db")
    )
    with one, other:
        for each in (one, other):
            assert each.stderr is not None
            assert "agent.begins" in each.stderr.readline()
        one.kill()
        assert one.wait(60) == -signal.SIGKILL
        assert other.poll() is None
        other.send_signal(signal.SIGTERM)
        assert "agent.ended stopped by SIGTERM" in other.communicate(timeout=60)[1]
        assert other.returncode == 0
