"""An agent as a process that serves a simulated group, and requests to it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from mqsamples.patience import PATIENCE_S, awaited


class Answered(NamedTuple):
    """Status and body of an answer."""

    status: int
    body: str


@contextmanager
def serving_agent(folder: Path, settings: str = "", *, listen: str = "127.0.0.1:0", members: int = 4) -> Iterator[str]:
    """The address of an agent that monitors a simulated group once a second and is ready; its store is ``folder/store.db``."""
    config = folder / "mqvitals.yaml"
    config.write_text(f"polling: {{interval: 1s}}\n{settings}", encoding="utf-8")
    words = ["agent", "--scenario", "busy-morning", "--config", str(config), "--store", str(folder / "store.db")]
    words += ["--members", str(members)]
    command = [sys.executable, "-P", "-m", "mqvitals_tui.main", *words, "--listen", listen, "--log-format", "json"]
    log = folder / "log"
    with log.open("w") as errors, subprocess.Popen(command, stderr=errors) as agent:
        try:
            address = awaited(lambda: _address_in(log), agent)
            awaited(lambda: asked(f"{address}/-/ready").status == 200, agent)
            yield address
        finally:
            agent.send_signal(signal.SIGTERM)
            agent.wait(PATIENCE_S)


def asked(url: str, headers: dict[str, str] | None = None) -> Answered:
    """The answer to a request, also where it is a refusal."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), timeout=PATIENCE_S) as answer:
            return Answered(answer.status, answer.read().decode())
    except urllib.error.HTTPError as refusal:
        with refusal:
            return Answered(refusal.code, refusal.read().decode())


def _address_in(log: Path) -> str:
    for line in log.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry.get("event") == "serve.listens":
            return f"{'https' if entry['tls'] else 'http'}://{entry['address']}"
    return ""
