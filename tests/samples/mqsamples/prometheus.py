"""Programs of Prometheus, where they are there, and a server that answers queries."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import quote

from mqsamples.patience import awaited
from mqsamples.serving import asked

TOOLS = Path(__file__).resolve().parents[3] / ".tools"


def program(name: str) -> Path | None:
    """Where a program is: as the environment says, as ``make tools`` put it, or as a package did."""
    named = os.environ.get(f"MQVITALS_{name.upper()}") or next(
        filter(None, (path if (path := str(TOOLS / name)) and Path(path).is_file() else None, shutil.which(name))), None
    )
    return Path(named) if named and Path(named).is_file() else None


PROMTOOL, PROMETHEUS, ALERTMANAGER = program("promtool"), program("prometheus"), program("alertmanager")


def free_port() -> int:
    """A port of loopback that nobody has."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def alertmanager(folder: Path) -> Iterator[str]:
    """The address of an Alertmanager that tells nobody."""
    config = folder / "alertmanager.yml"
    config.write_text("route: {receiver: nobody}\nreceivers: [{name: nobody}]\n", encoding="utf-8")
    address = f"127.0.0.1:{free_port()}"
    words = [f"--config.file={config}", f"--storage.path={folder / 'alertmanager'}", f"--web.listen-address={address}"]
    with (
        (folder / "alertmanager.log").open("w") as log,
        subprocess.Popen([str(ALERTMANAGER), *words, "--cluster.listen-address="], stdout=log, stderr=log) as server,
    ):
        try:

            def ready() -> bool:
                with suppress(URLError, ConnectionError):
                    return asked(f"http://{address}/-/ready").status == 200
                return False

            awaited(ready, server)
            yield f"http://{address}"
        finally:
            server.terminate()
            server.wait(60)


@contextmanager
def prometheus(folder: Path, scrape: str, data: Path) -> Iterator[Callable[[str], list[dict[str, Any]]]]:
    """Ask a Prometheus with this scrape configuration; an expression gives the result of an instant query."""
    config = folder / "prometheus.yml"
    config.write_text(scrape, encoding="utf-8")
    port = free_port()
    command = [
        str(PROMETHEUS),
        f"--config.file={config}",
        f"--storage.tsdb.path={data}",
        "--storage.tsdb.retention.time=10y",
    ]
    with (
        (folder / "prometheus.log").open("w") as log,
        subprocess.Popen([*command, f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log) as server,
    ):
        try:

            def query(expression: str) -> list[dict[str, Any]]:
                with suppress(URLError, ConnectionError):
                    body = asked(f"http://127.0.0.1:{port}/api/v1/query?query={quote(expression)}").body
                    if body.startswith("{"):
                        found: list[dict[str, Any]] = json.loads(body).get("data", {}).get("result", [])
                        return found
                return []

            awaited(lambda: query("vector(1)"), server)
            yield query
        finally:
            server.terminate()
            server.wait(60)
