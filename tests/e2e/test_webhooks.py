"""From a simulated incident to a receiver: each alert once firing and once resolved, whatever befalls receiver and agent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any

import pytest

SCENARIO = ("--scenario", "buffer-pool-thrash")
RULES = {"BP-03", "Q-02"}
Answer = Callable[[int], int]


class Receiver(ThreadingHTTPServer):
    """Keeps what is posted to it and answers with the status that ``answer`` gives for the number of the post."""

    daemon_threads = True

    def __init__(self, answer: Answer, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.answer = answer
        self.posts: list[tuple[int, dict[str, Any]]] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/alerts"

    def accepted(self) -> list[tuple[str, str, str]]:
        """(rule, status, fingerprint) of what was answered with 200, in order."""
        return [
            (alert["labels"]["alertname"], alert["status"], alert["fingerprint"])
            for status, payload in self.posts
            if status == 200
            for alert in payload["alerts"]
        ]


class _Handler(BaseHTTPRequestHandler):
    server: Receiver
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            status = self.server.answer(len(self.server.posts))
            self.server.posts.append((status, body))
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


@contextmanager
def receiving(answer: Answer = lambda _: 200) -> Iterator[Receiver]:
    with Receiver(answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def command(store: Path, url: str, length: str) -> list[str]:
    options = ("--store", str(store), "--webhook", url, "--for", length, "--speed", "60")
    return [sys.executable, "-m", "mqvitals_tui.main", "agent", *SCENARIO, *options]


def run(store: Path, url: str, length: str) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MQVITALS_CONFIG")}
    done = subprocess.run(
        command(store, url, length), capture_output=True, check=False, timeout=90, env=environment, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def check(accepted: list[tuple[str, str, str]], store: Path, *, times: int = 0) -> None:
    """Every alert of the store fired and, if it has ended, was resolved, under one key of its own; ``times`` each, or more."""
    listed = subprocess.run(
        [sys.executable, "-m", "mqvitals_tui.main", "alerts", "list", "--all", "--json", "--store", str(store)],
        capture_output=True,
        check=True,
    )
    alerts = [alert for alert in json.loads(listed.stdout) if alert["rule"] in RULES]
    assert {alert["rule"] for alert in alerts} == RULES
    for rule in RULES:
        told = {key: [s for _, s, other in accepted if other == key] for name, _, key in accepted if name == rule}
        ended = sum(alert["ended"] is not None for alert in alerts if alert["rule"] == rule)
        assert len(told) == sum(alert["rule"] == rule for alert in alerts)
        assert sum(statuses[-1] == "resolved" for statuses in told.values()) == ended
        for statuses in told.values():
            assert statuses[0] == "firing"
            if times:
                assert statuses.count("resolved") <= times
                assert statuses.count("firing") == times


def test_each_incident_is_told_once(tmp_path: Path) -> None:
    """Firing and resolved of each alert arrive, the resolved one once and last, in valid form."""
    with receiving() as receiver:
        run(tmp_path / "live.db", receiver.url, "10m")
        check(receiver.accepted(), tmp_path / "live.db", times=1)
        for _, payload in receiver.posts:
            assert payload["version"] == "4"
            assert payload["status"] in {"firing", "resolved"}
            assert {"groupKey", "receiver", "groupLabels", "commonLabels", "commonAnnotations"} <= payload.keys()
            for alert in payload["alerts"]:
                assert {"alertname", "severity"} <= alert["labels"].keys()
                assert (alert["endsAt"] == "0001-01-01T00:00:00Z") == (alert["status"] == "firing")


def test_receiver_in_trouble_loses_nothing(tmp_path: Path) -> None:
    """What was answered with 500 is sent again until it is taken; every notice arrives."""
    with receiving(lambda number: 500 if number % 2 == 0 else 200) as receiver:
        run(tmp_path / "live.db", receiver.url, "10m")
        check(receiver.accepted(), tmp_path / "live.db", times=1)
        assert sum(status == 500 for status, _ in receiver.posts) >= len(receiver.accepted())


@pytest.mark.timeout(180)
def test_killed_agent_loses_nothing(tmp_path: Path) -> None:
    """Killed without warning at random moments and started again, the agent tells of every incident under one key."""
    random = Random(5)
    store = tmp_path / "live.db"
    with receiving() as receiver:
        for _ in range(12):
            process = subprocess.Popen(command(store, receiver.url, "10m"), stderr=subprocess.DEVNULL)
            try:
                process.wait(random.uniform(0.9, 1.6))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
            process.wait()
        run(store, receiver.url, "10m")
        check(receiver.accepted(), store)
