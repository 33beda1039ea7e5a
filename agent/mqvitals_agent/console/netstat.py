"""The answer to ``NETSTAT ALL`` (TSO), ``netstat -A`` (z/OS UNIX) or ``D TCPIP,,N,ALL`` (console): TCP connections.

Each figure stands behind its label, several in a line; the labels are those of z/OS Communications Server, IP System Administrator's
Commands, Netstat ALL/-A report. Lines and columns differ from release to release and do not matter here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from mqvitals_agent.errors import MqvitalsError

MOST_LINES: Final = 2_000_000
"""More lines than this are no report of connections."""
_CLIENT: Final = re.compile(r"\bClient(?: Name)?:\s*(\S{1,8})(?:\s+Client Id:\s*([0-9A-F]{1,16}))?", re.IGNORECASE)
_SOCKET: Final = re.compile(r"\b(Local|Foreign) Socket:\s*(\S+?)\.\.(\d{1,5}|\S+)", re.IGNORECASE)
_STARTED: Final = re.compile(r"\b(StartDate|StartTime):\s*(\d\S{0,11})")
_NUMBER: Final = re.compile(
    r"(?<![A-Za-z])(CongestionWindow|SndWnd|MaxSndWnd|ReceiveBufferSize|SendBufferSize|ReceiveDataQueued|SendDataQueued|ReXmt"
    r"|ReXmtCount|DupACKs)\s*:\s*(\d{1,20})(?![\d.])",
    re.IGNORECASE,
)
_TRIP: Final = re.compile(r"\bSmooth ?trip ?time\s*:\s*(\d{1,9}(?:\.\d{1,6})?)", re.IGNORECASE)
_MAPPED: Final = "::ffff:"
"""How a report with long addresses begins those of IP version 4."""


class NetstatError(MqvitalsError):
    """A text that holds no connections."""


@dataclass(slots=True)
class TcpConnection:
    """A connection: the job that owns it, its sockets (address and port), when it began, and figures by lower-case label."""

    job: str
    number: str = ""
    local: tuple[str, str] = ("", "")
    foreign: tuple[str, str] = ("", "")
    began: str = ""
    figures: dict[str, float] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """Tells it from another connection between the same addresses."""
        return " ".join((self.number, *self.local, *self.foreign, self.began))


def tcp_connections(lines: Iterable[str]) -> list[TcpConnection]:
    """The connections with a partner, in the order of the text; listeners are left out. Raises NetstatError where it has none."""
    found: list[TcpConnection] = []
    for count, line in enumerate(lines):
        if count >= MOST_LINES:
            raise NetstatError(f"more than {MOST_LINES:,} lines: this is no report of connections")
        client = _CLIENT.search(line)
        if client is not None:
            found.append(TcpConnection(client[1].upper(), client[2] or ""))
        if found:
            _take(found[-1], line)
    if not found:
        raise NetstatError("no 'Client Name:' is in it; give the output of NETSTAT ALL (CLIENT xxxxCHIN")
    return [each for each in found if each.foreign[1].isdigit() and int(each.foreign[1])]


def _take(connection: TcpConnection, line: str) -> None:
    for side, address, port in _SOCKET.findall(line):
        socket = address.lower().removeprefix(_MAPPED), port
        if side.lower() == "local":
            connection.local = socket
        else:
            connection.foreign = socket
    for _, when in _STARTED.findall(line):
        connection.began = f"{connection.began} {when}".strip()
    for label, value in _figures(line):
        connection.figures.setdefault(label, value)


def _figures(line: str) -> Iterator[tuple[str, float]]:
    for label, digits in _NUMBER.findall(line):
        yield label.lower(), min(int(digits), 1 << 62)
    for milliseconds in _TRIP.findall(line):
        yield "trip_us", round(float(milliseconds) * 1000)
