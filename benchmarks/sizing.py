"""What a group costs an engine: series, samples a second, bytes on the wire and on the engine's disk. The figures of docs/fleet.md.

An agent monitors a simulated group for an hour of its time, as fast as it can, and sends it to a real VictoriaMetrics and a real Prometheus
(``make tools``). Three groups are compared: four queue managers, eight, and four with 1,000 more queues. What a queue manager and a queue
add is the difference. Bytes on disk are those of VictoriaMetrics after all parts are merged, and of a block that Prometheus makes of its head.
Run it: python benchmarks/sizing.py [--minutes 60] [--interval 30]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import HTTPError
from urllib.request import Request, urlopen

TOOLS = Path(__file__).resolve().parents[1] / ".tools"
GROUPS = (("4 queue managers", 4, 0), ("8 queue managers", 8, 0), ("4, and 1,000 queues", 4, 1_000))
ENGINES = ("victoria-metrics", "prometheus")


@dataclass(slots=True)
class Measured:
    """One group at one engine. ``sent`` and ``disk`` are bytes."""

    series: int
    samples: int
    sent: int
    disk: int


class Counting:
    """Hands requests on to an engine and counts the bytes of their bodies."""

    def __init__(self, write: str) -> None:
        self.sent = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.sent += len(body)
                headers = {
                    name: value
                    for name, value in self.headers.items()
                    if name.lower() not in ("host", "content-length")
                }
                try:
                    with urlopen(Request(write, body, headers), timeout=60) as response:
                        status, said = response.status, response.read()
                except HTTPError as error:
                    status, said = error.code, error.read()
                self.send_response(status)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.write = f"http://127.0.0.1:{self.server.server_port}/api/v1/write"


def free_port() -> int:
    """A port of loopback that nobody has."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def fetched(url: str, body: bytes | None = None) -> str:
    """The body of an answer."""
    with urlopen(Request(url, body), timeout=120) as response:
        return str(response.read().decode())


@contextmanager
def engine(which: str, folder: Path) -> Iterator[str]:
    """The address of a server that keeps its data in ``folder/data``."""
    folder.mkdir()
    base = f"127.0.0.1:{free_port()}"
    if which == "prometheus":
        config = folder / "prometheus.yml"
        config.write_text("storage: {tsdb: {out_of_order_time_window: 6h}}\n", encoding="utf-8")
        words = ["--web.enable-remote-write-receiver", "--web.enable-admin-api", f"--config.file={config}"]
        words += [f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address={base}"]
    else:
        words = [f"-storageDataPath={folder / 'data'}", f"-httpListenAddr={base}", "-retentionPeriod=1y"]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen([str(TOOLS / which), *words], stdout=log, stderr=log) as server,
    ):
        try:
            for _ in range(600):
                try:
                    fetched(f"http://{base}{'/-/ready' if which == 'prometheus' else '/health'}")
                    break
                except OSError:
                    time.sleep(0.1)
            yield f"http://{base}"
        finally:
            server.terminate()
            server.wait(60)


def size(folder: Path) -> int:
    """The bytes of all files below a folder."""
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())


def value_of(page: str, name: str) -> int:
    """The sum of a metric's samples on a page of metrics."""
    return round(sum(float(line.rpartition(" ")[2]) for line in page.splitlines() if line.startswith(name)))


def measured(which: str, base: str, folder: Path, sent: int) -> Measured:
    """What an engine says that it has, and what its files take."""
    page = fetched(f"{base}/metrics")
    if which == "prometheus":
        name = json.loads(fetched(f"{base}/api/v1/admin/tsdb/snapshot", b""))["data"]["name"]
        series, samples = (
            value_of(page, "prometheus_tsdb_head_series "),
            value_of(page, "prometheus_tsdb_head_samples_appended_total"),
        )
        return Measured(series, samples, sent, size(folder / "data" / "snapshots" / name))
    for path in ("/internal/force_flush", "/internal/force_merge"):
        fetched(base + path)
    before = -1
    while (now := size(folder / "data" / "data")) != before:
        before = now
        time.sleep(5)
    series = json.loads(fetched(f"{base}/api/v1/status/tsdb"))["data"]["totalSeries"]
    return Measured(
        series, value_of(page, 'vm_rows_inserted_total{type="promremotewrite"}'), sent, size(folder / "data")
    )


def agent(folder: Path, writes: Sequence[str], words: Sequence[str]) -> float:
    """Run an agent that sends to these addresses until all is sent; the CPU time of it, in seconds, simulation and all."""
    config = folder / "agent.yaml"
    engines = "".join(f"  - {{name: e{place}, url: '{url}'}}\n" for place, url in enumerate(writes))
    config.write_text(f"remote_write:\n{engines}", encoding="utf-8")
    command = [sys.executable, "-m", "mqvitals_agent.commandline.runner", "agent", "--config", str(config)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with (folder / "agent.log").open("w") as log:
        subprocess.run(
            [*command, "--store", str(folder / "agent.db"), *words], stdout=log, stderr=log, check=False, env=os.environ
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print a line for each group and engine."""
    parser = argparse.ArgumentParser(description="What a group costs an engine.")
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--interval", type=int, default=30, help="seconds")
    arguments = parser.parse_args()
    if absent := [which for which in ENGINES if not (TOOLS / which).is_file()]:
        print(f"left out: {' and '.join(absent)} are not there: make tools")
        return
    for title, members, queues in GROUPS:
        with TemporaryDirectory() as name, ExitStack() as ending:
            folder = Path(name)
            bases = [ending.enter_context(engine(which, folder / which)) for which in ENGINES]
            counting = [Counting(f"{base}/api/v1/write") for base in bases]
            words = ["--scenario", "quiet", "--members", str(members), "--queues", str(queues), "--speed", "max"]
            cpu = agent(
                folder,
                [each.write for each in counting],
                [*words, "--interval", f"{arguments.interval}s", "--for", f"{arguments.minutes}m"],
            )
            store = (
                size(folder / "agent.db") if (folder / "agent.db").is_dir() else (folder / "agent.db").stat().st_size
            )
            print(f"{title}: {cpu:.0f} s of CPU in all, store {store / 1e6:.1f} MB", flush=True)
            for which, base, counter in zip(ENGINES, bases, counting, strict=True):
                found = measured(which, base, folder / which, counter.sent)
                print(
                    f"  {which}: {found.series} series, {found.samples} samples, {found.samples / arguments.minutes / 60:.0f} a second,"
                    f" {found.sent / found.samples:.1f} bytes a sample sent, {found.disk / found.samples:.2f} on disk",
                    flush=True,
                )
                counter.server.shutdown()


if __name__ == "__main__":
    main()
