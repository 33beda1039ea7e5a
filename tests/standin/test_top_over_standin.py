"""``mqvitals top --config`` on a real terminal: it brings an agent on living connections, and takes it along when it ends."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path
from struct import pack
from termios import TIOCSWINSZ

import pytest
from mqstandin.library import Bindings
from mqstandin.server import StandIn

from mqsamples.pairs import paired
from mqsamples.patience import PATIENCE_S, awaited


class Terminal:
    """A pseudo-terminal of 120 by 40 cells with ``top`` in it, and what it drew."""

    def __init__(self, words: list[str], environment: dict[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        ioctl(theirs, TIOCSWINSZ, pack("HHHH", 40, 120, 0, 0))
        self.process = subprocess.Popen(
            words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
        )
        os.close(theirs)
        self.drawn = b""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._ours, 65536)
            except OSError:
                return
            if not data:
                return
            self.drawn += data

    def press(self, key: bytes) -> None:
        """Press a key."""
        os.write(self._ours, key)

    def close(self) -> None:
        """End what still runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._ours)


def agents(config: Path) -> list[int]:
    """The agents that run with this configuration."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"agent" in words and os.fsencode(config) in words:
                found.append(int(entry.name))
    return found


@pytest.fixture
def terminal(request: pytest.FixtureRequest, bindings: Bindings, group: StandIn, tmp_path: Path) -> Iterator[Terminal]:
    """``top`` with a configuration that leads to QM01, and no store named."""
    binding: str = request.param
    bindings.require(binding)
    way = {"channel": "MQVITALS.SVRCONN", "binding": binding, "connection_names": [group.address("QM01")]}
    settings = {"polling": {"interval": "1s"}, "queue_managers": [{"name": "QM01", "connection": way}]}
    config = tmp_path / "mqvitals.yaml"
    config.write_text(json.dumps(settings))
    (tmp_path / "temporary").mkdir()
    environment = bindings.environment(binding, TERM="xterm-256color", TMPDIR=str(tmp_path / "temporary"))
    environment["PYTHONPATH"] += os.pathsep + os.pathsep.join(sys.path)
    for name in ("COLUMNS", "LINES", "MQVITALS_STORE", "MQVITALS_CONFIG"):
        environment.pop(name, None)
    words = [sys.executable, "-m", "mqvitals_tui.main", "top", "--config", str(config)]
    living = Terminal(words, environment)
    yield living
    living.close()


@pytest.mark.parametrize(("how", "terminal"), paired(("key", "kill"), ("ibmmq", "pymqi")), indirect=["terminal"])
def test_the_agent_comes_and_goes_with_the_screen(terminal: Terminal, group: StandIn, tmp_path: Path, how: str) -> None:
    """A queue of the queue manager is drawn; after q or kill -9 no process, folder or connection is left."""
    config, temporary = tmp_path / "mqvitals.yaml", tmp_path / "temporary"
    awaited(lambda: group.at("QM01").state()["connections"] == 1, said=lambda: terminal.drawn[-2000:])
    assert len(agents(config)) == 1
    awaited(
        lambda: b"Queue managers" in terminal.drawn and b"QM01" in terminal.drawn, said=lambda: terminal.drawn[-2000:]
    )
    if how == "key":
        terminal.press(b"q")
        assert terminal.process.wait(PATIENCE_S) == 0
        awaited(lambda: b"the temporary store is deleted" in terminal.drawn, said=lambda: terminal.drawn[-500:])
        assert not agents(config)
        assert not list(temporary.iterdir())
    else:
        terminal.process.send_signal(signal.SIGKILL)
        awaited(lambda: not agents(config) and not list(temporary.iterdir()), said=lambda: agents(config))
    awaited(lambda: group.at("QM01").state()["connections"] == 0)
