"""What a test can order a stand-in queue manager to do, in this process or over the control port."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypedDict

Send = Callable[[str, dict[str, Any]], Any]
"""Carries out the order of that name with those arguments and returns what comes of it."""

ORDERS: Final = frozenset(
    {
        "refuse",
        "allow",
        "hang",
        "release",
        "break_after",
        "break_connections",
        "quiesce",
        "stop",
        "start",
        "stop_command_server",
        "start_command_server",
        "slow",
        "refuse_command",
        "silence_command",
        "truncate_command",
        "limit",
        "offset_clock",
        "plant",
        "state",
    }
)


class Connected(TypedDict):
    """What a client said of itself in MQCONNX."""

    queue_manager: str
    channel: str
    addresses: str
    user: str
    application: str
    cipher: str
    peer: str
    key_repository: str
    certificate_label: str
    ccdt_url: str
    options: int
    has_password: bool


class State(TypedDict):
    """What a queue manager counted since it was made. ``connected`` is every MQCONNX that it let in, oldest first."""

    calls: dict[str, int]
    connections: int
    handles: int
    waiting: int
    hung: int
    violations: list[str]
    connected: list[Connected]
    depths: dict[str, int]


class Orders:
    """The orders to one queue manager. Every method returns when the order is in force; ValueError for a wrong one."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def refuse(
        self,
        verb: str,
        reason: int,
        *,
        object: str = "",  # noqa: A002 - what MQ calls it
        times: int | None = None,
        warn: bool = False,
    ) -> None:
        """Answer a verb (connect, open, put, get, inquire, close...) with that reason from now on, or so many times.

        With ``object`` only for that queue (for a dynamic one the model's name does, too). ``warn``: completion code 1;
        a message that is got then is delivered, and not converted.
        """
        self._send("refuse", {"verb": verb, "reason": reason, "object": object, "times": times, "warn": warn})

    def allow(self) -> None:
        """Forget all refusals, and let all commands be answered."""
        self._send("allow", {})

    def hang(self, verb: str, *, object: str = "") -> None:  # noqa: A002
        """Do not answer that verb, of that object if there is one, until ``release``."""
        self._send("hang", {"verb": verb, "object": object})

    def release(self) -> None:
        """Carry out the calls that hang, in their order, and let none hang any more."""
        self._send("release", {})

    def break_after(self, replies: int) -> None:
        """Deliver so many more messages; the MQGET after that finds its connection broken. Happens once."""
        self._send("break_after", {"replies": replies})

    def break_connections(self) -> None:
        """Break all connections there are now. New ones are let in."""
        self._send("break_connections", {})

    def quiesce(self) -> None:
        """Refuse with 2161 new connections and calls with FAIL_IF_QUIESCING, and end waits that have it. ``start`` ends it."""
        self._send("quiesce", {})

    def stop(self, *, listener: bool = True) -> None:
        """Break all connections and lose all messages; connecting gives 2059, or 2538 when the listener stops, too."""
        self._send("stop", {"listener": listener})

    def start(self) -> None:
        """Let connections in again, on the same port."""
        self._send("start", {})

    def stop_command_server(self) -> None:
        """Leave requests on the command queue."""
        self._send("stop_command_server", {})

    def start_command_server(self) -> None:
        """Answer the requests that are on the command queue, and those that come."""
        self._send("start_command_server", {})

    def slow(self, ms: int) -> None:
        """Let every answer of the command server take so much longer."""
        self._send("slow", {"ms": ms})

    def refuse_command(self, command: str, reason: int = 2035) -> None:
        """Let the command server refuse that command (``INQUIRE_ARCHIVE``) with 2035 or another reason (3081)."""
        self._send("refuse_command", {"command": command, "reason": reason})

    def silence_command(self, command: str) -> None:
        """Let the command server never answer that command."""
        self._send("silence_command", {"command": command})

    def truncate_command(self, command: str) -> None:
        """Let its answer to that command stop half way."""
        self._send("truncate_command", {"command": command})

    def limit(self, queue: str, *, max_depth: int = 999_999_999, max_length: int = 4_194_304) -> None:
        """Let the queue take so many messages (then 2053), and no longer ones (2030)."""
        self._send("limit", {"queue": queue, "max_depth": max_depth, "max_length": max_length})

    def offset_clock(self, ms: int) -> None:
        """Let the queue manager's clock be so much ahead (before, when negative) of this machine's."""
        self._send("offset_clock", {"ms": ms})

    def plant(self, queue: str, *, count: int = 1, correl_id: bytes = b"stale", data: bytes = b"") -> None:
        """Put so many replies on that queue that nobody waits for."""
        self._send("plant", {"queue": queue, "count": count, "correl_id": correl_id.hex(), "data": data.hex()})

    def state(self) -> State:
        """The counts."""
        state: State = self._send("state", {})
        return state
