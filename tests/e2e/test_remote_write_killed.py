"""An agent that is killed while it sends: the engine has every sample of the store once, with its value."""

from __future__ import annotations

import random
import subprocess
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from mqsamples.engine import STALE, Engine, value_of
from mqsamples.sent import Row, asked, gauges, label_of_names
from mqsamples.warm import WarmProcess

MINUTES, SOAK_MINUTES = 8, 60


class Hook:
    """An engine over HTTP on loopback. ``on_request`` may keep it from taking a request, or from answering it."""

    def __init__(self) -> None:
        self.engine = Engine()
        self.on_request: Callable[[bool], bool] = lambda _: False
        """Called before (False) and after (True) the engine takes a request; True: there is no answer."""
        outer, lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with lock:
                    silent = outer.on_request(False)
                    if not silent:
                        status, said = outer.engine.take(body)
                        silent = outer.on_request(True)
                if silent:
                    self.close_connection = True
                    return
                self.send_response(status)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said.encode())

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/api/v1/write"


def minutes_left(store: Path) -> float:
    """From the newest snapshot until now."""
    found = asked(store, "SELECT max(last_ts) FROM owner")
    last = int(str(found[0][0])) if found and found[0][0] is not None else 0
    return (time.time() * 1000 - last) / 60_000


def killing(agent: WarmProcess, count: int, *, answered: bool) -> Callable[[bool], bool]:
    """Kills an agent at its so manieth request, before the engine takes it, or when it has."""
    seen = 0

    def on_request(taken: bool) -> bool:
        nonlocal seen
        seen += taken is answered
        if seen < count or taken is not answered:
            return False
        agent.kill()
        return True

    return on_request


def test_killed_while_it_sends(tmp_path: Path, soak: bool) -> None:
    """At random requests (40 in `make soak`), before the engine has taken one or before it has answered."""
    hook = Hook()
    try:
        _kill_again_and_again(hook, tmp_path, 40 if soak else 2, SOAK_MINUTES if soak else MINUTES)
    finally:
        hook.server.shutdown()
        hook.server.server_close()


def _kill_again_and_again(hook: Hook, tmp_path: Path, times: int, left: float) -> None:
    config, store = tmp_path / "mqvitals.yaml", tmp_path / "store.db"
    config.write_text(
        f"serve: {{listen: 'off'}}\nremote_write:\n  - name: engine\n    url: {hook.url}\n"
        "    queue_config: {max_samples_per_send: 300, batch_send_deadline: 0s}\n",
        encoding="utf-8",
    )
    dice = random.Random(19)
    kills = 0
    while True:
        command = ["agent", "--config", str(config), "--store", str(store), "--scenario", "busy-morning"]
        command += ["--interval", "10s", "--speed", "max", "--for", f"{max(round(left * 60), 1)}s"]
        last = kills == times
        with WarmProcess(command, stderr=subprocess.DEVNULL) as agent:
            if not last:
                hook.on_request = killing(agent, dice.randrange(3, 60), answered=dice.random() < 0.5)
            code = agent.wait(300)
        hook.on_request = lambda _: False
        if last:
            assert code in (0, 1)
            break
        kills += 1
        left = minutes_left(store) if store.exists() else left
    assert asked(store, "SELECT missed, refused FROM remote_write") == [(0, 0)]
    assert not asked(store, "SELECT number FROM stored_samples WHERE number > (SELECT place FROM remote_write)")
    assert hook.engine.conflicts == []
    labels, had = label_of_names(), dict[Row, float]()
    for key, samples in hook.engine.taken.items():
        series = dict(key)
        if series["__name__"] in labels and "source" not in series:
            owner = series.get("qmgr") or series["qsg"]
            for ts, bits in samples.items():
                if bits != STALE:
                    row = series["__name__"], owner, series[labels[series["__name__"]]], ts
                    assert row not in had
                    had[row] = value_of(bits)
    expected = gauges(store)
    assert len(expected) > 1_000
    assert {row: had.get(row) for row in expected} == expected
