"""Two agents for one simulated group, one of which is killed again and again: nothing is lost and nothing told twice."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from mqsamples.patience import PATIENCE_S, awaited
from mqsamples.tools import free_port
from mqsamples.warm import WarmProcess
from mqvitals_agent.store.reader import StoreReader
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.timestamps import iso

NEWS_S = 30
"""So long it waits for a notification before it ends an agent."""
INTERVAL_MS = 10_000
SPEED = 4.0
"""The group's time goes so much faster."""

Told = tuple[str, str, str]
"""Fingerprint, beginning and status of an alert."""


class KnownAlert(NamedTuple):
    """An alert of a store: its rule and beginning as receivers know it, when it began and ended, ms UTC."""

    name: tuple[str, str]
    started: int
    ended: int | None


class Receiver:
    """A webhook that counts what it is told by fingerprint, beginning and status."""

    def __init__(self) -> None:
        self.told: Counter[Told] = Counter()
        self.rules: dict[str, str] = {}
        self.lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                receiver.take(body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def take(self, body: dict[str, Any]) -> None:
        with self.lock:
            for each in body["alerts"]:
                self.told[each["fingerprint"], each["startsAt"], each["status"]] += 1
                self.rules[each["fingerprint"]] = each["labels"]["alertname"]

    def await_news(self, within_s: float) -> bool:
        """Whether something is told within this time."""
        with self.lock:
            before, end = sum(self.told.values()), time.monotonic() + within_s
        while time.monotonic() < end:
            with self.lock:
                if sum(self.told.values()) > before:
                    return True
            time.sleep(0.02)
        return False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/alerts"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    try:
        yield receiver
    finally:
        receiver.close()


class Agent:
    """One of two agents, which is started again after each end."""

    def __init__(self, name: str, folder: Path, receiver: Receiver) -> None:
        self.name, self.folder, self.receiver = name, folder, receiver
        self.port = free_port()
        self.store = folder / f"{name}.db"
        self.events: list[dict[str, Any]] = []
        self.news = threading.Condition()
        self.process: WarmProcess | None = None
        self.other: Agent = self

    def start(self) -> None:
        settings = {
            "standby": {"peer": f"http://127.0.0.1:{self.other.port}"},
            "polling": {"interval": f"{INTERVAL_MS // 1000}s"},
            "store": {"path": str(self.store)},
            "log": {"format": "json"},
            "receivers": [{"name": "ops", "url": self.receiver.url}],
            "route": {
                "receiver": "ops",
                "group_by": ["..."],
                "group_wait": "0s",
                "group_interval": "1s",
                "repeat_interval": "never",
            },
        }
        path = self.folder / f"{self.name}.yaml"
        path.write_text(json.dumps(settings))
        words = ["agent", "--config", str(path), "--scenario", "buffer-pool-thrash", "--speed", str(SPEED)]
        words += ["--group-folder", str(self.folder / "group"), "--listen", f"127.0.0.1:{self.port}"]
        with self.news:
            self.events.clear()
        self.process = WarmProcess(words, stderr=subprocess.PIPE, text=True)
        self.reading = threading.Thread(target=self._read, args=(self.process,), daemon=True)
        self.reading.start()

    def _read(self, process: WarmProcess) -> None:
        assert process.stderr
        for line in process.stderr:
            with self.news:
                if process is self.process:
                    self.events.append(json.loads(line) if line.startswith("{") else {"event": "", "text": line})
                    self.news.notify_all()
        process.stderr.close()

    def await_event(self, *names: str) -> None:
        """The event has been logged since the last start."""
        with self.news:
            assert self.news.wait_for(lambda: self.has(*names), PATIENCE_S), (self.name, names, self.events)

    def has(self, *names: str) -> bool:
        return any(each["event"] in names for each in self.events)

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE_S)
        self.reading.join(PATIENCE_S)

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            assert self.process.wait(PATIENCE_S) == 0, self.events
            self.reading.join(PATIENCE_S)

    def polls(self) -> list[int]:
        """When a queue manager was polled, ms UTC."""
        if not self.store.exists():
            return []
        with closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)) as db:
            return [row[0] for row in db.execute("SELECT DISTINCT ts FROM snapshot")]

    def pending(self) -> int:
        """How many notifications wait."""
        with StoreReader.open(self.store) as reader:
            return sum(each.waiting for each in reader.receivers())

    def alerts(self) -> list[KnownAlert]:
        """Every alert that receivers are told of."""
        with StoreReader.open(self.store) as reader:
            every = [each.alert for each in reader.alerts(include_ended=True, review=False)]
        return [
            KnownAlert((each.key.rule, iso(each.started)), each.started, each.ended)
            for each in every
            if each.started is not None and each.worst > Severity.INFO
        ]


@pytest.mark.timeout(3_600)
def test_the_active_agent_is_killed(tmp_path: Path, soak: bool) -> None:
    """Again and again at random moments, now and then ended in order: the other goes on with its alerts, and each is told once."""
    dice = Random(19)
    with receiving() as receiver:
        active, other = Agent("a", tmp_path, receiver), Agent("b", tmp_path, receiver)
        active.other, other.other = other, active
        try:
            active.start()
            active.await_event("standby.taken_over")
            other.start()
            for number in range(50 if soak else 4):
                other.await_event("standby.following")
                if number % 2 and receiver.await_news(NEWS_S):
                    # What was told just now must be known to the other.
                    time.sleep(dice.uniform(0.2, 1))
                else:
                    time.sleep(dice.uniform(0, 20 if soak else 12))
                if number % 4 == 3 and not soak:
                    active.end()
                else:
                    active.kill()
                active, other = other, active
                active.await_event("standby.taken_over")
                time.sleep(dice.uniform(0, 4))
                other.start()
            other.await_event("standby.following")
            # What has begun by now is told when the last has polled a few times more and nothing waits.
            by = max(other.polls())
            awaited(lambda: max(active.polls(), default=0) > by + 4 * INTERVAL_MS and not active.pending())
        finally:
            for each in (other, active):
                each.end()
        told = receiver.told
        assert told
        assert max(told.values()) == 1, told
        begun = {(receiver.rules[key], since) for key, since, status in told if status == "firing"}
        ended = {(receiver.rules[key], since) for key, since, status in told if status == "resolved"}
        known = active.alerts()
        assert {each.name for each in known if each.started <= by} <= begun <= {each.name for each in known}
        assert {each.name for each in known if each.ended is not None and each.ended <= by} <= ended
        assert ended <= {each.name for each in known if each.ended is not None}
        polls = sorted({*active.polls(), *other.polls()})
        gaps = [after - before for before, after in pairwise(polls)]
        if soak:
            assert max(gaps) <= 2 * INTERVAL_MS, sorted(gaps)[-5:]
