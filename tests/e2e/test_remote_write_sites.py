"""Three sites and one real engine: one is cut off for 90 minutes of its time and its agent killed twice, another's clock set back.

For ``make soak``: it needs VictoriaMetrics and Prometheus, which come with packages of Debian (``make tools``), and takes some minutes; with
sixty queue managers a quarter of an hour. What it shows is tested without them in ``tests/agent/remote_write``.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from math import isclose
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from mqsamples.real_engines import RealEngine, engine_of
from mqsamples.sent import asked, gauges, label_of_names
from mqsamples.tools import needed

MINUTE = 60_000
WHOLE, CUT_FROM, CUT_UNTIL = 150, 20, 110
"""Minutes of each site's time, and when the second one is cut off."""
SET_BACK_AT, SET_BACK_MS = 60, 5_000
"""The minute in which the third one's clock is set back, and by how much."""
EXACT = 1e-12
PATIENCE_S = 1_800
"""Sixty queue managers on a busy machine."""


def wait_for(true: Callable[[], bool], within_s: float = 120) -> None:
    ends = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < ends, "it does not come true"
        time.sleep(0.1)


class Cut:
    """Hands requests on to an engine, or closes the connection while it is cut."""

    def __init__(self, engine: RealEngine) -> None:
        self.cut = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if outer.cut:
                    self.close_connection = True
                    return
                headers = {
                    name: value
                    for name, value in self.headers.items()
                    if name.lower() not in ("host", "content-length")
                }
                try:
                    with urlopen(Request(engine.write, body, headers), timeout=60) as response:
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


class Site:
    """An agent of a group of its own, as fast as it can. ``size``: the number of its queue managers, and its interval in seconds."""

    def __init__(self, folder: Path, name: str, url: str, seed: int, size: tuple[int, int]) -> None:
        self.name = name
        self._size = size
        self.store = folder / f"{name}.db"
        self._log = folder / f"{name}.log"
        self._seed = seed
        self._config = folder / f"{name}.yaml"
        self._config.write_text(
            f"remote_write:\n  - name: engine\n    url: {url}\n    external_labels: {{site: {name}}}\n"
            "    queue_config: {max_backoff: 20s}\n",
            encoding="utf-8",
        )
        self.process: subprocess.Popen[bytes] | None = None

    def run(self, minutes: float, *, set_back_at: int = 0) -> None:
        """Begin to run for so many minutes of its time, which end about now. Its clock is set back at a time, ms UTC; 0: never."""
        program = ["-m", "mqvitals_agent.commandline.runner"]
        if set_back_at:
            program = [str(Path(__file__).with_name("set_back.py")), str(set_back_at), str(SET_BACK_MS)]
        members, interval_s = self._size
        command = [sys.executable, *program, "agent", "--config", str(self._config), "--store", str(self.store)]
        command += ["--scenario", "busy-morning", "--seed", str(self._seed), "--members", str(members)]
        command += ["--qsg", f"PRD{self.name}", "--prefix", f"Q{self.name}"]
        command += ["--interval", f"{interval_s}s", "--speed", "max", "--for", f"{round(minutes * 60)}s"]
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(60)

    def end(self) -> None:
        assert self.process is not None
        assert self.process.wait(PATIENCE_S) in (0, 1), self._log.read_text()[-2000:]

    def query(self, query: str) -> list[tuple[object, ...]]:
        return asked(self.store, query)

    def last(self) -> int:
        """The time of its newest snapshot, ms UTC; 0: none."""
        found = self.query("SELECT max(last_ts) FROM owner")
        return int(str(found[0][0])) if found and found[0][0] is not None else 0

    def steps(self) -> list[int]:
        """The times from one of its cycles to the next, ms."""
        first = f"Q{self.name}01"
        query = f"SELECT DISTINCT s.ts FROM sample_queue AS s JOIN object AS o ON o.id = s.object_id WHERE o.owner = '{first}' ORDER BY s.ts"
        times = [int(str(ts)) for (ts,) in self.query(query)]
        return [later - earlier for earlier, later in pairwise(times)]

    def wait_until(self, ts: int) -> None:
        wait_for(lambda: self.last() >= ts, PATIENCE_S)

    def left(self) -> float:
        """Minutes from its newest snapshot until now."""
        return (time.time() * 1000 - self.last()) / MINUTE

    def sent_all(self) -> bool:
        return self.query("SELECT missed, refused FROM remote_write") == [(0, 0)] and not self.query(
            "SELECT number FROM stored_samples WHERE number > (SELECT place FROM remote_write)"
        )


@pytest.mark.soak
@pytest.mark.timeout(2 * PATIENCE_S)
@pytest.mark.parametrize("which", ["victoria-metrics", "prometheus"])
@pytest.mark.parametrize(("members", "interval_s"), [(4, 20), (20, 60)], ids=["twelve", "sixty"])
def test_three_sites_on_one_engine(tmp_path: Path, which: str, members: int, interval_s: int) -> None:
    """No gap, no duplicate, every sample equal to the store's; every queue manager's are told apart."""
    needed(which)
    began_at = time.monotonic()
    size = members, interval_s
    with ExitStack() as ending, engine_of(which, tmp_path) as engine:
        cut = Cut(engine)
        ending.callback(cut.server.server_close)
        ending.callback(cut.server.shutdown)
        began = int(time.time() * 1000) - WHOLE * MINUTE
        b = Site(tmp_path, "B", cut.write, 2, size)
        a, c = Site(tmp_path, "A", engine.write, 1, size), Site(tmp_path, "C", engine.write, 3, size)
        for site in (a, b, c):
            ending.callback(site.kill)
        b.run(WHOLE)
        b.wait_until(began + CUT_FROM * MINUTE)
        cut.cut = True
        a.run(WHOLE)
        b.wait_until(began + 50 * MINUTE)
        b.kill()
        b.run(b.left())
        b.wait_until(began + 80 * MINUTE)
        b.kill()
        c.run(WHOLE, set_back_at=began + SET_BACK_AT * MINUTE)
        a.end()
        c.end()
        # The others have written "now", and it goes on where it was killed.
        b.run(b.left())
        b.wait_until(began + CUT_UNTIL * MINUTE)
        cut.cut = False
        b.end()
        # The first cycle begins when all are connected.
        shorter = [step for step in c.steps()[1:] if step < interval_s * 1000]
        assert shorter == [interval_s * 1000 - SET_BACK_MS], "its clock was not set back once"
        owners: set[str] = set()
        compared = 0
        for site in (a, b, c):
            for _ in range(5):
                if not site.sent_all():
                    # An agent waits only so long at its end: what is left is sent by the next run.
                    site.run(site.left())
                    site.end()
            assert site.sent_all(), site.query("SELECT * FROM remote_write")
            found, count = _compare(engine, site)
            owners |= found
            compared += count
        # All queue managers and the three groups, whose names differ.
        assert len(owners) == 3 * (members + 1)
    sys.stdout.write(
        f"{which}, {3 * members} queue managers: {compared} samples compared, {time.monotonic() - began_at:.0f} s\n"
    )


def _compare(engine: RealEngine, site: Site) -> tuple[set[str], int]:
    """The queue managers and groups of a site, and how many samples were compared."""
    expected, labels = gauges(site.store), label_of_names()
    assert len(expected) > 100_000
    by_name: dict[str, dict[tuple[str, str, int], float]] = {}
    for (family, owner, thing, ts), value in expected.items():
        by_name.setdefault(family, {})[owner, thing, ts] = value
    for name, own in sorted(by_name.items()):
        had: dict[tuple[str, str, int], float] = {}
        for metric, points in engine.samples(site.name, name):
            if metric.get("source"):
                continue
            owner = metric.get("qmgr") or metric["qsg"]
            for ts, value in points:
                if value != value:
                    continue
                key = owner, metric[labels[name]], ts
                assert key not in had, f"{name} {key} twice"
                had[key] = value
        assert own.keys() <= had.keys(), (name, sorted(own.keys() - had.keys())[:3], len(own.keys() - had.keys()))
        # VictoriaMetrics keeps numbers as decimals, and so not always their last bit.
        differ = {key: (value, had[key]) for key, value in own.items() if not isclose(value, had[key], rel_tol=EXACT)}
        assert not differ, (name, differ)
        assert len(had) == len(own), name
    return {owner for _, owner, _, _ in expected}, len(expected)
