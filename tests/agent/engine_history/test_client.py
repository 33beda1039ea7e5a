"""Questions to an engine over HTTP: what is sent, how long an answer may be and take, and what errors say."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from mqvitals_agent.engine_history.answer import EngineError
from mqvitals_agent.engine_history.client import QueryClient, TooLargeError
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.secret import Secret, WebAddress
from mqvitals_config.sections.engine_access import AuthorizationSettings, BasicAuthSettings
from mqvitals_config.sections.history import HistorySettings

NOWHERE = Place("test")
MATRIX = json.dumps(
    {"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {"a": "b"}, "values": [[1.5, "2"]]}]}}
).encode()
PASSWORD = "hunter2secret"


class Served:
    """What a server got, and what it answers: status, body and headers."""

    def __init__(self) -> None:
        self.got: list[tuple[str, dict[str, str], dict[str, list[str]]]] = []
        self.status = 200
        self.body = MATRIX
        self.headers: dict[str, str] = {}
        self.connections: set[object] = set()
        self.closes = False
        self.hangs: threading.Event | None = None


@contextmanager
def serving() -> Iterator[tuple[Served, str]]:
    served = Served()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            served.got.append((self.path, dict(self.headers.items()), parse_qs(body)))
            served.connections.add(self.client_address)
            if served.hangs is not None:
                served.hangs.wait(60)
            self.send_response(served.status)
            for name, value in served.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(served.body)))
            self.end_headers()
            self.wfile.write(served.body)
            # Without a word of it.
            self.close_connection = served.closes

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served, f"http://127.0.0.1:{server.server_port}"
    finally:
        if served.hangs is not None:
            served.hangs.set()
        server.shutdown()
        server.server_close()


def history(url: str, **more: Any) -> HistorySettings:
    return HistorySettings(backend="prometheus", url=WebAddress(LocatedText(url, NOWHERE)), **more)


def secret(folder: Path, text: str = PASSWORD) -> Secret:
    path = folder / "secret"
    path.write_text(text + "\n", encoding="utf-8")
    return Secret.in_file(LocatedText(str(path), NOWHERE))


def test_a_query_is_posted_and_its_answer_decoded() -> None:
    """On one connection, below the path of the address, packed or not; a connection that was closed meanwhile is opened again."""
    with serving() as (served, url):
        client = QueryClient(history(f"{url}/select/0/prometheus/", headers={"X-Scope-OrgID": "mq"}))
        for _ in range(3):
            (series,) = client.ask("up[5m]", 1_500)
            assert (dict(series.labels), series.ts, series.values) == ({"a": "b"}, (1500,), (2.0,))
        assert len(served.connections) == 1
        served.body, served.headers = gzip.compress(MATRIX), {"Content-Encoding": "gzip"}
        served.closes = True
        assert client.ask("up[5m]", 1_500) == (series,)
        assert client.ask("up[5m]", 1_500) == (series,)
        client.close()
        path, headers, asked = served.got[0]
        assert path == "/select/0/prometheus/api/v1/query"
        assert headers["X-Scope-OrgID"] == "mq"
        assert (asked["query"], asked["time"]) == (["up[5m]"], ["1.500"])


def test_who_asks_is_said_in_the_header(tmp_path: Path) -> None:
    """By name and password, by a word of the site's own, by a token, or as the address says."""
    file = secret(tmp_path)
    basic = f"Basic {b64encode(f'mq:{PASSWORD}'.encode()).decode()}"
    with serving() as (served, url):
        for settings, expected in (
            (history(url, basic_auth=BasicAuthSettings("mq", file)), basic),
            (history(url, authorization=AuthorizationSettings(file, "ApiKey")), f"ApiKey {PASSWORD}"),
            (history(url, bearer_token_file=file), f"Bearer {PASSWORD}"),
            (history(url.replace("//", f"//mq:{PASSWORD}@")), basic),
            (history(url), None),
        ):
            client = QueryClient(settings)
            client.ask("up", 0)
            client.close()
            assert served.got[-1][1].get("Authorization") == expected


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (401, b"who are you", "check its token"),
        (404, b"", "check its address"),
        (302, b"", "check its address"),
        (400, b'{"status":"error","error":"parse error"}', "parse error"),
        (500, b"\x1b[2J" + b"x" * 10_000, "answered 500"),
        (200, b"<html>", "history.url"),
    ],
)
def test_a_refusal_says_what_to_do(tmp_path: Path, status: int, body: bytes, said: str) -> None:
    """With the host, and what the engine said, cut and as plain text; never with a secret that it repeats."""
    with serving() as (served, url):
        served.status, served.body = status, body + PASSWORD.encode()[: 99 if status == 401 else 0]
        client = QueryClient(history(f"{url}/prefix", bearer_token_file=secret(tmp_path)))
        with closing(client), pytest.raises(EngineError, match=url) as raised:
            client.ask("up", 0)
    text = str(raised.value)
    assert said in text
    assert PASSWORD not in text
    assert "\x1b" not in text
    assert len(text) < 400


def test_an_answer_is_read_to_a_bound() -> None:
    """Also one that is small until it is unpacked; a query that would take too much of the engine is refused as too large."""
    with serving() as (served, url):
        client = QueryClient(history(url), most_bytes=1024**2)
        served.body = b" " * (1024**2 + 1)
        with pytest.raises(TooLargeError):
            client.ask("up", 0)
        served.body, served.headers = gzip.compress(b" " * 50_000_000), {"Content-Encoding": "gzip"}
        with pytest.raises(TooLargeError):
            client.ask("up", 0)
        served.headers, served.status = {}, 422
        served.body = b'{"status":"error","error":"query processing would load too many samples into memory"}'
        with pytest.raises(TooLargeError):
            client.ask("up", 0)
        served.status, served.body = 200, MATRIX
        assert client.ask("up", 1_500)
        client.close()


def answering(answer: Callable[[socket.socket], object]) -> tuple[socket.socket, str]:
    """A server that treats each connection as told."""
    server = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.recv(65_536)
                answer(connection)

    threading.Thread(target=run, daemon=True).start()
    return server, f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda _: None, "without an answer"),
        (lambda connection: connection.sendall(b"SSH-2.0-OpenSSH\r\n"), "does not answer as an HTTP server"),
        (
            lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"),
            "no JSON|without an answer",
        ),
        (
            lambda connection: connection.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope"
            ),
            "does not answer as",
        ),
    ],
)
def test_what_is_no_answer_is_an_error(answer: Callable[[socket.socket], object], said: str) -> None:
    """A sentence, whatever came."""
    server, url = answering(answer)
    with server, closing(QueryClient(history(url))) as client, pytest.raises(EngineError, match=said):
        client.ask("up", 0)


def test_nobody_there() -> None:
    """The operating system's reason, and what to check."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(EngineError, match="cannot be reached") as raised:
        QueryClient(history(f"http://127.0.0.1:{port}")).ask("up", 0)
    assert raised.value.hint == "is it running? check history.url"


def test_an_answer_that_trickles_is_cut_when_its_time_is_over() -> None:
    """Each byte comes in time, all of them never."""
    gone = threading.Event()

    def trickle(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while not gone.wait(0.02):
            try:
                connection.sendall(b"X-More: and more\r\n")
            except OSError:
                gone.set()

    server, url = answering(trickle)
    with server, pytest.raises(EngineError, match="within 300ms"):
        QueryClient(history(url, timeout=300)).ask("up", 0)
    gone.set()


def test_a_secret_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """The file, and nothing of it."""
    missing = Secret.in_file(LocatedText(str(tmp_path / "none"), NOWHERE))
    with pytest.raises(EngineError, match="none"):
        QueryClient(history("http://127.0.0.1:9", bearer_token_file=missing)).ask("up", 0)
