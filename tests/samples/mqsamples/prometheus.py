"""A Prometheus that scrapes and answers queries, and an Alertmanager; whoever begins one is skipped where it is not there."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import quote

from mqsamples.patience import awaited
from mqsamples.serving import asked
from mqsamples.tools import free_port, needed


@contextmanager
def alertmanager(folder: Path) -> Iterator[str]:
    """The address of an Alertmanager that tells nobody."""
    config = folder / "alertmanager.yml"
    config.write_text("route: {receiver: nobody}\nreceivers: [{name: nobody}]\n", encoding="utf-8")
    address = f"127.0.0.1:{free_port()}"
    words = [f"--config.file={config}", f"--storage.path={folder / 'alertmanager'}", f"--web.listen-address={address}"]
    with (
        (folder / "alertmanager.log").open("w") as log,
        subprocess.Popen(
            [str(needed("alertmanager")), *words, "--cluster.listen-address="], stdout=log, stderr=log
        ) as server,
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
        str(needed("prometheus")),
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
