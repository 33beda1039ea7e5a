"""Two real Alertmanagers in a cluster on loopback: alerts appear, group, are silenced and end there. Needs ``make tools``."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from mqsamples.patience import PATIENCE_S, awaited
from mqsamples.tools import free_port, needed

ALERTMANAGER = needed("alertmanager")

RESEND_S = 5
# The second member tells what the first has not, this long after it; a group is told less often than that, as by default.
LOOK_S = 0.25
CONFIG = """
global: {resolve_timeout: 30s}
route: {receiver: hook, group_by: [rule], group_wait: 1s, group_interval: 6s, repeat_interval: 4h}
receivers:
  - name: hook
    webhook_configs: [{url: "%s"}]
"""


@dataclass
class Told:
    """What Alertmanager's own receiver is told: for each notification the state and severity of its alerts, by rule."""

    url: str = ""
    notifications: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)

    def about(self, rule: str) -> list[list[tuple[str, str]]]:
        return [alerts for each, alerts in self.notifications if each == rule]


@pytest.fixture
def told() -> Iterator[Told]:
    """A webhook on loopback."""
    found = Told()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            alerts = sorted((each["labels"]["severity"], each["status"]) for each in payload["alerts"])
            found.notifications.append((payload["groupLabels"]["rule"], alerts))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_port}/"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield found
    server.shutdown()
    server.server_close()


@dataclass(frozen=True)
class Member:
    """An Alertmanager."""

    address: str

    def call(self, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"{self.address}/api/v2/{path}",
            None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=5) as answer:
            return json.loads(answer.read())

    @property
    def alerts(self) -> dict[tuple[str, str], str]:
        """(rule, severity) of what fires -> active or suppressed."""
        return {
            (each["labels"]["rule"], each["labels"]["severity"]): each["status"]["state"]
            for each in self.call("alerts")
        }


def until(holds: Callable[[], bool], within_s: float = PATIENCE_S, about: str = "it") -> float:
    """How long it took, seconds."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < within_s, f"{about} does not happen"
        time.sleep(LOOK_S)
    return time.monotonic() - began


@pytest.fixture
def members(tmp_path: Path, told: Told) -> Iterator[tuple[Member, Member]]:
    """A cluster of two."""
    config = tmp_path / "alertmanager.yml"
    config.write_text(CONFIG % told.url)
    ports = [(free_port(), free_port()) for _ in range(2)]
    running = []
    for index, (web, cluster) in enumerate(ports):
        words = [
            f"--config.file={config}",
            f"--storage.path={tmp_path / f'am{index}'}",
            f"--web.listen-address=127.0.0.1:{web}",
            f"--cluster.listen-address=127.0.0.1:{cluster}",
            f"--cluster.peer=127.0.0.1:{ports[1 - index][1]}",
            "--cluster.pushpull-interval=1s",
            "--cluster.peer-timeout=1s",
            "--cluster.reconnect-interval=1s",
        ]
        with (tmp_path / f"am{index}.log").open("w") as log:
            running.append(subprocess.Popen([str(ALERTMANAGER), *words], stdout=log, stderr=log))
    found = Member(f"http://127.0.0.1:{ports[0][0]}"), Member(f"http://127.0.0.1:{ports[1][0]}")

    def joined(member: Member) -> bool:
        try:
            status = member.call("status")["cluster"]
        except OSError:
            return False
        return status["status"] == "ready" and len(status["peers"]) == 2

    try:
        awaited(lambda: all(map(joined, found)))
        yield found
    finally:
        for each in running:
            each.kill()
            each.wait()


class Agent:
    """The delivery of an agent, with a store of its own."""

    def __init__(self, folder: Path, name: str, members: tuple[Member, Member]) -> None:
        self._store = folder / f"{name}.db"
        self._config = folder / f"{name}.yaml"
        addresses = ", ".join(each.address for each in members)
        self._config.write_text(
            f"receivers: [{{name: am, type: alertmanager, addresses: [{addresses}], resend: {RESEND_S}s}}]\n"
        )
        self.start()

    def start(self, **severities: str | None) -> None:
        """Begin, with a first cycle."""
        words = [sys.executable, str(Path(__file__).with_name("delivering.py")), str(self._store), str(self._config)]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.cycle(**severities)

    def cycle(self, **severities: str | None) -> None:
        """Alerts of these rules fire with these severities, or end (None). Returns when that is stored."""
        self.begin_cycle(**severities)
        self.end_cycle()

    def begin_cycle(self, **severities: str | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({name.replace("_", "-"): to for name, to in severities.items()}) + "\n")
        self._process.stdin.flush()

    def end_cycle(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "stored\n"

    def kill(self) -> None:
        """As ``kill -9``."""
        self._process.kill()
        self._process.wait()
        for each in (self._process.stdin, self._process.stdout):
            assert each is not None
            each.close()


def test_an_incident_at_a_cluster_of_two(tmp_path: Path, members: tuple[Member, Member], told: Told) -> None:
    """Nothing ends while it fires, nothing is told twice, though one of two agents is killed again and again."""
    agents = [Agent(tmp_path, name, members) for name in ("first", "second")]
    both = {("Q-02", "warning"): "active", ("Q-03", "critical"): "active"}
    try:
        for agent in agents:
            agent.cycle(Q_02="warning", Q_03="critical")
        appeared = until(lambda: all(each.alerts == both for each in members))
        until(lambda: len(told.notifications) == 2)
        began = time.monotonic()
        starts = {each["startsAt"] for each in members[0].call("alerts")}
        kills = looks = 0
        while time.monotonic() - began < 9 * RESEND_S:
            if time.monotonic() - began > kills * 2 * RESEND_S:
                agents[0].kill()
                agents[0].start()
                kills += 1
            for member in members:
                assert member.alerts == both
                looks += 1
            time.sleep(LOOK_S)
        assert {each["startsAt"] for each in members[0].call("alerts")} == starts
        assert sorted(told.notifications) == [("Q-02", [("warning", "firing")]), ("Q-03", [("critical", "firing")])]
        groups = members[0].call("alerts/groups")
        assert sorted(each["labels"]["rule"] for each in groups) == ["Q-02", "Q-03"]
        silence = {
            "matchers": [{"name": "rule", "value": "Q-03", "isRegex": False, "isEqual": True}],
            "startsAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time())),
            "endsAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 600)),
            "createdBy": "test",
            "comment": "test",
        }
        members[0].call("silences", silence)
        until(lambda: all(each.alerts["Q-03", "critical"] == "suppressed" for each in members))
        for agent in agents:
            agent.begin_cycle(Q_02="critical")
        for agent in agents:
            agent.end_cycle()
        worse = until(lambda: all(("Q-02", "critical") in each.alerts and len(each.alerts) == 2 for each in members))
        until(lambda: len(told.about("Q-02")) == 2)
        agents[1].kill()
        agents[0].cycle(Q_02=None)
        agents[1].start(Q_02=None)
        ended = until(lambda: all(list(each.alerts) == [("Q-03", "critical")] for each in members), RESEND_S)
        until(lambda: len(told.about("Q-02")) >= 3)
        time.sleep(RESEND_S)
        for agent in agents:
            agent.kill()
        away = until(lambda: not any(each.alerts for each in members), 4 * RESEND_S + 5)
    finally:
        for agent in agents:
            agent.kill()
    began_as, worsened, *rest = told.about("Q-02")
    assert (began_as, worsened) == ([("warning", "firing")], [("critical", "firing"), ("warning", "resolved")])
    # Alertmanager names again what has ended not long before, as it does for Prometheus.
    assert [set(each) - {("warning", "resolved")} for each in rest] == [{("critical", "resolved")}]
    assert told.about("Q-03") == [[("critical", "firing")]]
    sys.stdout.write(
        f"appeared after {appeared:.1f} s, {kills} kills, {looks} looks, another severity after {worse:.1f} s, ended after {ended:.1f} s,"
        f" ended by themselves {away:.1f} s after the agents; notifications: {len(told.notifications)}"
    )
