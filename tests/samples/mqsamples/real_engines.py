"""Prometheus and VictoriaMetrics themselves, started on loopback, for tests that are skipped without them (``make tools``)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

from mqsamples.patience import awaited
from mqsamples.tools import free_port, needed


def fetched(url: str) -> str:
    """What a server answers."""
    with urlopen(url, timeout=60) as response:
        return str(response.read().decode())


@dataclass
class RealEngine:
    """A server on loopback: where it takes samples, and all that it has."""

    base: str
    prometheus: bool

    @property
    def write(self) -> str:
        """Where it takes samples."""
        return f"{self.base}/api/v1/write"

    def samples(self, site: str, name: str) -> Iterator[tuple[Mapping[str, str], list[tuple[int, float]]]]:
        """The series of a name from a site, with their samples."""
        selector = f'{name}{{site="{site}"}}'
        if not self.prometheus:
            text = fetched(f"{self.base}/api/v1/export?match[]={quote(selector)}")
            for each in map(json.loads, text.splitlines()):
                points = zip(each["timestamps"], each["values"], strict=True)
                yield each["metric"], [(ts, float(value)) for ts, value in points if value is not None]
            return
        found = json.loads(fetched(f"{self.base}/api/v1/query?query={quote(f'{selector}[6h]')}"))
        for each in found["data"]["result"]:
            yield each["metric"], [(round(ts * 1000), float(value)) for ts, value in each["values"]]


@contextmanager
def engine_of(which: str, folder: Path) -> Iterator[RealEngine]:
    """One of the two, with its data in a folder."""
    port = free_port()
    data = str(folder / "data")
    if which == "prometheus":
        config = folder / "prometheus.yml"
        config.write_text("storage: {tsdb: {out_of_order_time_window: 6h}}\n", encoding="utf-8")
        own = ["--web.enable-remote-write-receiver", f"--config.file={config}", f"--storage.tsdb.path={data}"]
        command = [str(needed("prometheus")), *own, f"--web.listen-address=127.0.0.1:{port}"]
    else:
        own = [f"-storageDataPath={data}", f"-httpListenAddr=127.0.0.1:{port}", "-retentionPeriod=1y"]
        # After a kill an agent may send its last requests again; the same sample twice is kept once.
        command = [str(needed("victoria-metrics")), *own, "-search.latencyOffset=0s", "-dedup.minScrapeInterval=1ms"]

    def healthy() -> bool:
        try:
            fetched(f"http://127.0.0.1:{port}{'/-/ready' if which == 'prometheus' else '/health'}")
        except (URLError, ConnectionError):
            return False
        return True

    with (folder / "engine.log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as server:
        try:
            awaited(healthy, server)
            yield RealEngine(f"http://127.0.0.1:{port}", which == "prometheus")
        finally:
            server.terminate()
            server.wait(60)
