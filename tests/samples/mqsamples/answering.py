"""What an engine that took remote write answers to queries: the forms of PromQL that are asked, read by their own description."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import fsum
from urllib.parse import parse_qs

from mqsamples.engine import Engine
from mqvitals_agent.engine_history.answer import AnsweredSeries, EngineError, decode_answer

_QUERY = re.compile(r"(?:(\w+)\()?(\{.*\})\[(\d+)(ms|h|d)\](\)?)( / 3600)?", re.DOTALL)
_MATCHER = re.compile(r'(\w+)(=~?)"((?:[^"\\]|\\.)*)"')
_UNITS = {"ms": 1, "h": 3_600_000, "d": 86_400_000}


def unquoted(text: str) -> str:
    """What a text between quotation marks says."""
    plain = re.sub(r"\\U([0-9a-f]{8})", lambda match: chr(int(match[1], 16)), text)
    return str(json.loads(f'"{plain}"'))


def chosen(selector: str, labels: Mapping[str, str]) -> bool:
    """Whether a series with these labels is selected; a label that is missing is a blank one."""
    inside = selector[1:-1]
    matchers = _MATCHER.findall(inside)
    assert ",".join(f'{label}{how}"{text}"' for label, how, text in matchers) == inside, "it is a list of matchers"
    for label, how, text in matchers:
        value = labels.get(label, "")
        if how == "=" and value != unquoted(text):
            return False
        if how == "=~" and not re.fullmatch(unquoted(text), value, re.DOTALL):
            return False
    return True


@dataclass
class Answering:
    """Answers from what an engine took. ``most`` samples are answered at once; ``failure`` is raised instead of any answer."""

    taken: Engine
    most: int = 1_000_000
    failure: EngineError | None = None
    too_large: type[EngineError] = EngineError
    engine: str = "http://engine.example.com"
    asked: list[str] = field(default_factory=list)

    def ask(self, query: str, at: int) -> tuple[AnsweredSeries, ...]:
        """The series of a query, by way of the bytes of an answer."""
        self.asked.append(query)
        if self.failure is not None:
            raise self.failure
        return decode_answer(self.body(query, at), self.engine)

    def body(self, query: str, at: int) -> bytes:
        """The bytes of an answer."""
        match = _QUERY.fullmatch(query)
        assert match is not None, query
        function, selector, count, unit, _, hourly = match.groups()
        since = at - int(count) * _UNITS[unit]
        result: list[object] = []
        samples = 0
        for key in self.taken.taken:
            labels = dict(key)
            within = {ts: value for ts, value in sorted(self.taken.values(key).items()) if since <= ts <= at}
            if not within or not chosen(selector, labels):
                continue
            samples += len(within)
            if not function:
                values = [(ts / 1000, repr(float(value))) for ts, value in within.items()]
                result.append({"metric": labels, "values": values})
                continue
            value = _value(function, list(within.values()))
            shown = {label: text for label, text in labels.items() if label != "__name__"}
            result.append({"metric": shown, "value": (at / 1000, repr(value / 3600 if hourly else value))})
        if samples > self.most:
            raise self.too_large("too many samples")
        kind = "vector" if function else "matrix"
        return json.dumps({"status": "success", "data": {"resultType": kind, "result": result}}).encode()

    def close(self) -> None:
        """Nothing is kept."""


@contextmanager
def served(answering: Answering) -> Iterator[str]:
    """The address of a server on loopback that answers so."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            body = answering.body(asked["query"][0], round(float(asked["time"][0]) * 1000))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _value(function: str, values: Sequence[float]) -> float:
    match function:
        case "last_over_time":
            return values[-1]
        case "avg_over_time":
            return fsum(values) / len(values)
        case "sum_over_time":
            return fsum(values)
    raise AssertionError(function)
