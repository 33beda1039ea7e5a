"""Prometheus with the samples of a corpus, as a peer: what they take on disk, and what its answers cost."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from corpus import INTERVAL_MS, METRICS, START_MS, Corpus

TOOLS = Path(__file__).resolve().parents[1] / ".tools"
_FEATURES = ("--storage.tsdb.retention.time=100y", "--log.level=error")
_PATIENCE_S = 60.0


def program(name: str) -> str | None:
    """The path of one of its programs, None: it is not installed."""
    unpacked = TOOLS / name
    return str(unpacked) if unpacked.exists() else shutil.which(name)


class Peer:
    """A Prometheus in ``folder`` with every metric of the objects ``numbers`` of a corpus. Raises OSError and
    subprocess.CalledProcessError.
    """

    def __init__(self, folder: Path, corpus: Corpus, numbers: Sequence[int]) -> None:
        self.corpus = corpus
        self.numbers = numbers
        self.data = folder / "tsdb"
        self._folder = folder
        text = folder / "samples.om"
        with text.open("w") as stream:
            for metric in METRICS:
                stream.write(f"# TYPE {metric} gauge\n")
                for number in numbers:
                    name = corpus.name(number)
                    for poll, value in enumerate(corpus.series(number, metric)):
                        ts = (START_MS + poll * INTERVAL_MS) / 1000
                        stream.write(f'{metric}{{queue="{name}"}} {value} {ts:.3f}\n')
            stream.write("# EOF\n")
        self.data.mkdir()
        command = (program("promtool") or "promtool", "tsdb", "create-blocks-from", "openmetrics")
        subprocess.run((*command, str(text), str(self.data)), check=True, stdout=subprocess.DEVNULL)
        text.unlink()

    @property
    def values(self) -> int:
        return len(self.numbers) * self.corpus.values // self.corpus.objects

    def bytes(self) -> int:
        """Of its blocks: chunks and indexes."""
        return sum(file.stat().st_size for file in self.data.rglob("*") if file.is_file())

    @contextmanager
    def serving(self) -> Iterator[tuple[int, str]]:
        """The number of its process, and where it answers. Raises OSError."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        config = self._folder / "prometheus.yml"
        config.write_text("{}\n")
        command = (
            program("prometheus") or "prometheus",
            f"--config.file={config}",
            f"--storage.tsdb.path={self.data}",
            f"--web.listen-address={address}",
        )
        with (self._folder / "prometheus.log").open("wb") as log:
            server = subprocess.Popen((*command, *_FEATURES), stdout=log, stderr=log)
        try:
            until = time.monotonic() + _PATIENCE_S
            while True:
                try:
                    ask(address, "query", query="vector(1)", time=1)
                    break
                except URLError:
                    if server.poll() is not None or time.monotonic() > until:
                        raise
                    time.sleep(0.2)
            yield server.pid, address
        finally:
            server.kill()
            server.wait()


def ask(address: str, question: str, **parameters: Any) -> list[Any]:
    """The results of a query. Raises URLError."""
    with urlopen(f"http://{address}/api/v1/{question}?{urlencode(parameters)}", timeout=_PATIENCE_S) as answer:
        found: list[Any] = json.loads(answer.read())["data"]["result"]
        return found
