"""From a simulated incident to a receiver: each alert once firing and once resolved, whatever befalls receiver and agent."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mqsamples.patience import PATIENCE_S, awaited
from mqsamples.small_disk import run_with_small_disk
from mqsamples.warm import WarmProcess, run_warm
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.view.frame import FrameRequest, read_frame
from mqvitals_agent.view.screens.agent import agent_lines
from mqvitals_config.settings import Settings
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.timestamps import parse_iso

RULES = {"BP-03", "Q-02"}
NEVER, LATE, LOST, UNDER_WAY = "never", "late", "lost", "under way"
PATIENT_S = 2
"""How long an agent waits for the answer of a receiver that hangs or is late: a busy machine answers sooner."""
Answer = Callable[[int], int | str]
SECRETS = ("Tsecretpath", "Qsecretkey", "Psecretword", "Btokensecret", b64encode(b"user:Psecretword").decode())


class Receiver:
    """Keeps what is posted to it and answers with the status that ``answer`` gives for the number of the post.

    ``NEVER`` leaves a post without an answer, ``LATE`` answers with 200 when nobody waits any more, ``LOST`` says that the
    agent has died meanwhile.
    """

    def __init__(self, answer: Answer = lambda _: 200) -> None:
        self.answer = answer
        self.posts: list[tuple[int | str, dict[str, Any]]] = []
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self._port = 0
        self.open()

    def open(self) -> None:
        """Listen, at the same port as before."""
        self._server = _Server(self, self._port)
        self._port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def close(self) -> None:
        """Refuse connections."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def deafen(self) -> None:
        """Listen no more, in the midst of a post, which is still answered."""
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/alerts"

    def accepted(self) -> list[tuple[str, str, str]]:
        """(rule, status, fingerprint) of what was answered with 200, in order."""
        with self.lock:
            return [
                (alert["labels"]["alertname"], alert["status"], alert["fingerprint"])
                for status, payload in self.posts
                if status == 200
                for alert in payload["alerts"]
            ]

    def answers(self) -> Counter[int | str]:
        """How often each answer was given."""
        with self.lock:
            return Counter(status for status, _ in self.posts)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, receiver: Receiver, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.receiver = receiver


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        receiver = self.server.receiver
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with receiver.lock:
            number = len(receiver.posts)
            receiver.posts.append((UNDER_WAY, body))
        status = receiver.answer(number)
        with receiver.lock:
            receiver.posts[number] = (status, body)
        if status in {NEVER, LATE}:
            receiver.ended.wait(60 if status == NEVER else 1.5 * PATIENT_S)
        if status in {NEVER, LOST}:
            self.close_connection = True
            return
        said = b"" if status in {200, LATE} else f"no {self.path} {self.headers['Authorization']}".encode()
        try:
            self.send_response(200 if isinstance(status, str) else status)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)
        except OSError:
            # Nobody waits for a late answer.
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


@contextmanager
def receiving(answer: Answer = lambda _: 200) -> Iterator[Receiver]:
    receiver = Receiver(answer)
    try:
        yield receiver
    finally:
        receiver.ended.set()
        receiver.close()


def command(store: Path, *options: str) -> list[str]:
    return ["agent", "--scenario", "buffer-pool-thrash", "--store", str(store), *options]


def alone(path: Path, **receivers: Any) -> tuple[str, str]:
    """Settings in which each receiver, an address or its settings, is told each alert by itself and at once."""
    listed = [{"name": name, **(each if isinstance(each, dict) else {"url": each})} for name, each in receivers.items()]
    route = {
        "receiver": listed[0]["name"],
        "group_by": ["..."],
        "group_wait": "0s",
        "group_interval": "1s",
        "repeat_interval": "never",
        "routes": [{"receiver": each["name"], "continue": True} for each in listed],
    }
    path.write_text(json.dumps({"receivers": listed, "route": route}))
    return "--config", str(path)


def run(store: Path, *options: str) -> str:
    """Run the agent to its end; returns its log."""
    done = run_warm(command(store, *options))
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr


def pending(store: Path) -> dict[str, int]:
    """How many notifications wait, by receiver."""
    with StoreReader.open(store) as reader:
        return {each.name: each.waiting for each in reader.receivers()}


def alerts(store: Path) -> list[Alert]:
    """Every alert of the store that is about the incident."""
    with StoreReader.open(store) as reader:
        every = [each.alert for each in reader.alerts(include_ended=True)]
    return [alert for alert in every if alert.key.rule in RULES]


def check_once(accepted: list[tuple[str, str, str]], known: list[Alert]) -> None:
    """Every alert of the store fired once and, if it has ended, was resolved once and after that, under a key of its own."""
    assert {alert.key.rule for alert in known} == RULES
    told: dict[tuple[str, str], list[str]] = {}
    for rule, status, key in accepted:
        told.setdefault((rule, key), []).append(status)
    assert all(statuses in (["firing"], ["firing", "resolved"]) for statuses in told.values()), told
    for rule in RULES:
        alerts = [alert for alert in known if alert.key.rule == rule]
        statuses = [statuses for (name, _), statuses in told.items() if name == rule]
        assert len(statuses) == len(alerts)
        assert statuses.count(["firing", "resolved"]) == sum(alert.ended is not None for alert in alerts)


def check_valid(payload: dict[str, Any]) -> None:
    """Version 4 of Alertmanager's webhooks."""
    assert payload["version"] == "4"
    assert payload["status"] in {"firing", "resolved"}
    assert isinstance(payload["groupKey"], str)
    assert payload["groupKey"]
    assert isinstance(payload["receiver"], str)
    assert isinstance(payload["truncatedAlerts"], int)
    assert isinstance(payload["externalURL"], str)
    for name in ("groupLabels", "commonLabels", "commonAnnotations"):
        assert all(isinstance(text, str) for text in payload[name].values())
    assert payload["alerts"]
    for alert in payload["alerts"]:
        assert alert["status"] == payload["status"]
        assert {"alertname", "severity"} <= alert["labels"].keys()
        assert all(isinstance(text, str) for text in {**alert["labels"], **alert["annotations"]}.values())
        starts = parse_iso(alert["startsAt"])
        if alert["status"] == "firing":
            assert alert["endsAt"] == "0001-01-01T00:00:00Z"
        else:
            assert parse_iso(alert["endsAt"]) > starts
        assert len(alert["fingerprint"]) == 16
        assert isinstance(alert["generatorURL"], str)


@dataclass
class Trouble:
    """From its first accepted post on a receiver answers with ``kind``, until the healthy one has had three.

    Virtual time stands still while anybody is told, so that each receiver has had its second notice before anyone has the third.
    """

    kind: int | str
    healthy: Receiver
    lasting: bool = False
    receiver: Receiver = field(init=False)

    def __post_init__(self) -> None:
        self.receiver = Receiver(self.answer)

    def answer(self, number: int) -> int | str:
        if self.kind == DOWN:
            if number == 0:
                self.receiver.deafen()
            return 200
        over = not self.lasting and len(self.healthy.posts) >= 3
        return self.kind if number and not over else 200


@dataclass
class Troubled:
    """A run in which every receiver but one is in trouble for a while."""

    store: Path
    log: str
    healthy: Receiver
    receivers: dict[str, Receiver]
    known: list[Alert]


DOWN = "down"
KINDS: dict[str, int | str] = {
    "hanging": NEVER,
    "late": LATE,
    "denied": 403,
    "webhook-1": 500,
    "webhook-2": 400,
    "webhook-3": 404,
    "webhook-4": DOWN,
}
LASTING: dict[str, int | str] = {"webhook-5": 500, "webhook-6": 400}
HEALTHY = "webhook-7"


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Troubled]:
    """One run: receivers in trouble from their first notice on, two that stay so, and a healthy one.

    The last notice is made after seven minutes, and the trouble is over by then. The pause before the next attempt is five
    minutes at most; the scenario's second round has its first alert after twelve.
    """
    folder = tmp_path_factory.mktemp("troubled")
    (folder / "token").write_text("Btokensecret\n")
    with receiving() as healthy:
        troubles = {
            name: Trouble(kind, healthy, lasting=name in LASTING) for name, kind in {**KINDS, **LASTING}.items()
        }
        receivers = {name: trouble.receiver for name, trouble in troubles.items()}
        secret = {
            name: f"{receiver.url.replace('://', '://user:Psecretword@')}/Tsecretpath?key=Qsecretkey"
            for name, receiver in receivers.items()
        }
        config = folder / "mqvitals.yaml"
        named = {name: {"url": secret[name], "timeout": f"{PATIENT_S}s"} for name in ("hanging", "late")}
        alone(config, **named, denied={"url": secret["denied"], "token_file": str(folder / "token")})

        def told(number: int) -> int:
            if number == 2:
                receivers["webhook-4"].open()
            return 200

        healthy.answer = told
        try:
            webhooks = [secret[name] for name in sorted(secret) if name.startswith("webhook")]
            options = [option for url in (*webhooks, healthy.url) for option in ("--webhook", url)]
            store = folder / "live.db"
            log = run(store, "--config", str(config), *options, "--for", "11m30s", "--speed", "max")
            yield Troubled(store, log, healthy, receivers, alerts(store))
        finally:
            for receiver in receivers.values():
                receiver.ended.set()
            for receiver in receivers.values():
                receiver.close()


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_a_receiver_in_trouble_loses_nothing(troubled: Troubled, name: str, kind: int | str) -> None:
    """Down, hanging, too late, 500, 400, 403 and 404 in between: each incident is accepted once firing and once resolved."""
    receiver = troubled.receivers[name]
    check_once(receiver.accepted(), troubled.known)
    for _, payload in receiver.posts:
        check_valid(payload)
        assert payload["receiver"] == name
    if kind == DOWN:
        assert (
            f"receiver {name}: {receiver.url.removesuffix('/alerts')} cannot be reached (Connection refused)"
            in troubled.log
        )
    else:
        assert receiver.answers()[kind] >= 1
    # What befell it has been said, and that it is over.
    events = ("notice.refused", "notice.taken") if kind == 400 else ("receiver.failing", "receiver.back")
    for event in events:
        assert f"{event} receiver {name}: " in troubled.log


def test_a_healthy_one_beside_them_is_not_delayed(troubled: Troubled) -> None:
    """It has every notice once, in valid form, each as soon as there is one, while the others are still in trouble."""
    check_once(troubled.healthy.accepted(), troubled.known)
    assert troubled.healthy.answers() == {200: 4}
    for _, payload in troubled.healthy.posts:
        check_valid(payload)
    with closing(sqlite3.connect(f"file:{troubled.store}?mode=ro", uri=True)) as db:
        waited = [
            done - made for done, made in db.execute("SELECT done_ts, made_ts FROM notice WHERE receiver = 'webhook-7'")
        ]
    assert len(waited) == 4
    assert max(waited) < 1000


def screen(store: Path) -> str:
    """The agent's screen."""
    with StoreReader.open(store) as reader:
        frame = read_frame(reader, reader.last_ts() or 0, FrameRequest("agent"), load_rule_config(Settings()))
    return "\n".join(line.text for line in agent_lines(frame, 400))


def test_what_stays_in_trouble_is_seen_and_kept(troubled: Troubled) -> None:
    """A receiver that fails, and one that refuses every notice but the first: log and screen say so, and all of it waits."""
    failing, refusing = (
        "\n".join(line for line in screen(troubled.store).splitlines() if name in line) for name in LASTING
    )
    assert "▲ WARNING   receiver webhook-5: failing for " in failing
    assert "answered 500: no " in failing
    assert "3 notifications wait, the oldest for " in failing
    assert "▲ WARNING   receiver webhook-6: last accepted " in refusing
    assert "3 notifications wait" in refusing
    # One of them comes after another about the same alert, and has not been tried.
    assert "2 notifications refused so far: http://127.0.0.1:" in refusing
    assert f"✓ OK        receiver {HEALTHY}: last accepted " in screen(troubled.store)
    assert "notifications pending for the next run: 3 to webhook-5, 3 to webhook-6 (notices=6)" in troubled.log


def test_no_secret_is_written(troubled: Troubled) -> None:
    """Name, password, path and query of an address and the token are in no file of the store, no log line and on no screen."""
    listed = run_warm(["alerts", "list", "--all", "--store", str(troubled.store)])
    assert listed.returncode == 0
    shown = listed.stdout
    files = b"".join(path.read_bytes() for path in sorted(troubled.store.parent.glob("live.db*")))
    assert b"answered 400: no /(hidden)/(hidden)?key=(hidden) Basic (hidden)" in files
    shown += screen(troubled.store)
    assert "answered 400: no /(hidden)/(hidden)?key=(hidden) Basic (hidden)" in shown
    assert "answered 403: no /(hidden)/(hidden)?key=(hidden) Bearer (hidden)" in troubled.log
    for secret in SECRETS:
        assert secret not in troubled.log
        assert secret not in shown
        assert secret.encode() not in files


GROWING_DISK = """
asked=$1 grown=$2 disk=$3 kept=$4; shift 4
(until [ -e "$asked" ]; do sleep 0.05; done; mount -o remount,size=64m "$disk" && touch "$grown") &
"$@"; code=$?
kill $! 2>/dev/null
cp "$disk"/live.db* "$kept" || exit 1
exit $code
"""
"""Runs a command on a disk that grows once a file is there, and keeps the store."""


def test_a_full_disk_holds_no_alert_back(tmp_path: Path) -> None:
    """On 4 MB the store soon has no room: each start and end is sent within two cycles, once, and is stored when there is room."""
    disk, kept, asked, grown = (tmp_path / name for name in ("disk", "kept", "asked", "grown"))
    disk.mkdir()
    kept.mkdir()
    order: list[tuple[str, str]] = []

    def grow(number: int) -> int:
        """The disk grows while the receiver is told of the second incident; virtual time stands still meanwhile."""
        with receiver.lock:
            alert = receiver.posts[number][1]["alerts"][0]
        order.append((alert["labels"]["alertname"], alert["status"]))
        if order.count(("BP-03", "firing")) == 2 and not asked.exists():
            asked.touch()
            awaited(grown.exists)
        return 200

    with receiving(grow) as receiver:
        config = alone(tmp_path / "mqvitals.yaml", all={"url": receiver.url, "timeout": "1m"})
        virtual = ("--interval", "30s", "--speed", "max", "--for", "15m")
        agent = command(disk / "live.db", *config, *virtual)
        program = [sys.executable, "-P", "-m", "mqvitals_tui.main", *agent]
        run = run_with_small_disk(
            disk, "4m", ["sh", "-c", GROWING_DISK, "sh", *map(str, (asked, grown, disk, kept)), *program]
        )
        assert run.returncode == 0, run.stderr[-4000:]
        accepted = receiver.accepted()
    assert "the disk is full" in run.stderr
    full, room = order.index(("AGENT-10", "firing")), order.index(("AGENT-10", "resolved"))
    while_full = order[full:room]
    assert while_full.count(("BP-03", "firing")) == 2
    assert ("BP-03", "resolved") in while_full
    check_once(accepted, alerts(kept / "live.db"))
    with closing(sqlite3.connect(kept / "live.db")) as db:
        sent = db.execute("SELECT status, payload, done_ts, outcome FROM notice").fetchall()
        cycles = [number for (number,) in db.execute("SELECT cycle FROM snapshot WHERE owner = 'QM01' ORDER BY ts")]
    assert len(sent) == len(accepted)
    for status, payload, done, outcome in sent:
        alert = json.loads(payload)
        assert outcome == "accepted"
        assert 0 <= done - alert["starts" if status == "firing" else "ends"] <= 60_000
    assert cycles == list(range(1, len(cycles) + 1)), "what waited while the disk was full is in the file"


def phase(store: Path) -> tuple[int, ...]:
    """How far a store is: alerts open and ended, notices owed and done."""
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return tuple(
            db.execute(sql).fetchone()[0]
            for sql in (
                "SELECT count(*) FROM alert WHERE state <> 'resolved'",
                "SELECT count(*) FROM alert WHERE state = 'resolved'",
                "SELECT count(*) FROM notice WHERE done_ts IS NULL",
                "SELECT count(*) FROM notice WHERE done_ts IS NOT NULL",
            )
        )


def last_cycle(store: Path) -> int:
    """The number of the last cycle that is stored; 0 where there is no store yet. Cheap: it is asked again and again."""
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT coalesce(max(last_cycle), 0) FROM owner").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


@pytest.mark.timeout(600)
def test_killed_agent_loses_nothing(tmp_path: Path, soak: bool) -> None:
    """Killed after random numbers of cycles (20 times in `make soak`), and twice while a notice is under way: every incident arrives, under one key of its own."""
    dice = Random(5)
    store = tmp_path / "live.db"
    agent: list[WarmProcess] = []

    def answer(number: int) -> int | str:
        if number in {0, 3}:
            # It is there, and nobody hears that it is.
            agent[-1].send_signal(signal.SIGKILL)
            return LOST
        return 200

    phases = set()
    with receiving(answer) as receiver:
        known_as = alone(tmp_path / "mqvitals.yaml", **{"webhook-1": receiver.url})
        options = (*known_as, "--interval", "10s" if soak else "30s", "--speed", "max", "--for")
        kills, longest = (20, 5) if soak else (5, 6)
        while len(agent) < kills or len(receiver.posts) <= 3:
            after = last_cycle(store) + dice.randint(1, longest)
            # The first one goes back far enough for all.
            agent.append(WarmProcess(command(store, *options, "3h"), stderr=subprocess.DEVNULL))
            while agent[-1].poll() is None and last_cycle(store) < after:
                time.sleep(0.05)
            agent[-1].send_signal(signal.SIGKILL)
            assert agent[-1].wait() == -signal.SIGKILL
            phases.add(phase(store))
        run(store, *options, "10m" if soak else "1m")
        known = alerts(store)
        accepted = receiver.accepted()
        posted = [(alert["fingerprint"], alert["status"]) for _, each in receiver.posts for alert in each["alerts"]]
    assert len(phases) >= (5 if soak else 4), phases
    # Twice only what may have been there already, and never anything older after something newer.
    check_once(list(dict.fromkeys(accepted)), known)
    assert receiver.answers()[LOST] == 2
    repeated = {each for each, count in Counter(posted).items() if count > 1}
    assert {posted[0], posted[3]} <= repeated
    assert all(other == each or each not in posted[posted.index(other) + 1 :] for each, other in pairwise(posted))


def test_other_receivers_after_a_reload(tmp_path: Path) -> None:
    """One that is new is told what fires, what the one that is gone was owed is dropped, a third notices nothing of it."""
    config = tmp_path / "mqvitals.yaml"
    agent: list[WarmProcess] = []

    def write(**receivers: str) -> None:
        alone(config, **receivers)

    def reload(number: int) -> int:
        """While this one is being told virtual time stands still: the first alert fires, and no other one."""
        if number == 0:
            awaited(lambda: len(stays.accepted()) == 1, agent[0])
            write(stays=stays.url, new=new.url, holds=holds.url)
            agent[0].send_signal(signal.SIGHUP)
            awaited(new.accepted, agent[0])
        return 200

    with receiving() as stays, receiving() as new, receiving(reload) as holds:
        write(stays=stays.url, gone="http://127.0.0.1:1/hook", holds=holds.url)
        agent.append(
            WarmProcess(
                command(tmp_path / "live.db", "--config", str(config), "--speed", "max", "--for", "10h"),
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        try:
            awaited(new.accepted, agent[0])
            agent[0].send_signal(signal.SIGTERM)
            _, log = agent[0].communicate(timeout=PATIENCE_S)
        finally:
            agent[0].kill()
    assert new.accepted()[0][1] == "firing"
    assert new.accepted()[0] == stays.accepted()[0]
    assert len(set(stays.accepted())) == len(stays.accepted())
    assert "receiver gone is no longer in the settings: " in log
    assert "receiver new is new: it is notified about the alerts that fire (" in log


def test_a_signal_ends_it_within_a_second_though_a_receiver_hangs(tmp_path: Path) -> None:
    """What is owed waits for the next run, the log says so, and the next run sends it; nothing is dropped on the way."""
    store, config = tmp_path / "live.db", tmp_path / "mqvitals.yaml"
    with receiving(lambda number: NEVER if number == 0 else 200) as receiver:
        alone(config, **{"webhook-1": {"url": receiver.url, "timeout": f"{PATIENCE_S}s"}})
        options = ("--config", str(config), "--speed", "max", "--for")
        agent = WarmProcess(command(store, *options, "1h"), stderr=subprocess.PIPE, text=True)
        try:
            awaited(lambda: receiver.posts, agent)
            began = time.monotonic()
            agent.send_signal(signal.SIGTERM)
            _, log = agent.communicate(timeout=PATIENCE_S)
        finally:
            agent.kill()
        # A second where the machine does nothing else. Whoever waited for the receiver would wait for a minute.
        assert time.monotonic() - began < PATIENCE_S / 4
        assert agent.returncode == 0
        assert "notifications pending for the next run: 1 to webhook-1 (notices=1)" in log
        run(store, *options, "10m")
        check_once(receiver.accepted(), alerts(store))


def test_what_is_owed_at_the_end_is_sent_before_it_leaves(tmp_path: Path) -> None:
    """A run that ends just after the incident began has told of it; without its receiver the next one drops what is owed."""
    store = tmp_path / "live.db"
    hold = threading.Event()

    def last(number: int) -> int:
        """Virtual time stands still once both alerts fire."""
        if number == 1:
            hold.wait(PATIENCE_S)
        return 200

    with receiving() as receiver, receiving(last) as holds:
        urls = (receiver.url, "http://127.0.0.1:1/x", holds.url)
        hooks = alone(tmp_path / "mqvitals.yaml", **{f"webhook-{number}": url for number, url in enumerate(urls, 1)})
        agent = WarmProcess(
            command(store, *hooks, "--speed", "max", "--for", "1h"),
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            awaited(lambda: len(holds.posts) == 2 and len(receiver.accepted()) == 2, agent)
            # What is accepted and not yet noted would be sent again.
            awaited(lambda: pending(store)["webhook-1"] == 0, agent)
            agent.send_signal(signal.SIGTERM)
            _, log = agent.communicate(timeout=PATIENCE_S)
        finally:
            hold.set()
            agent.kill()
        fired = alerts(store)
        assert {alert.key.rule for alert in fired} == RULES
        assert {status for _, status, _ in receiver.accepted()} == {"firing"}
        assert len(receiver.accepted()) == len(fired)
    assert f"notifications pending for the next run: {len(fired)} to webhook-2, 1 to webhook-3" in log
    with receiving() as receiver:
        # Three minutes of the calm part of the scenario, which begins anew every ten.
        log = run(
            store, *alone(tmp_path / "later.yaml", **{"webhook-1": receiver.url}), "--speed", "max", "--for", "3m"
        )
        # It is told the end of what an earlier run told it, and never the beginning again.
        assert {status for _, status, _ in receiver.accepted()} == {"resolved"}
        assert len(receiver.accepted()) == len(fired)
    assert "receiver.dropped receiver webhook-2 is no longer in the settings" in log
    assert "receiver.dropped receiver webhook-1" not in log
