"""Syslog as RFC 5424 has it: one message an alert, by a socket of this machine, UDP, TCP (RFC 6587) or TLS (RFC 5425).

The structured data are for programs, the text is for people. A server on a stream answers nothing: the agent ends its side
of the connection, and what the server has not read by the time it ends its own is sent again.
"""

from __future__ import annotations

import errno
import os
import re
import select
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from mqvitals_agent.notify.message import NotificationMessage, messages_of_each
from mqvitals_agent.notify.notification import Notification, NotifiedAlert
from mqvitals_agent.notify.receiver import DeliveryOutcome
from mqvitals_agent.notify.receivers.attempt import (
    AttemptError,
    MessageReceiver,
    accepted,
    again,
    os_error_text,
    tls_trouble,
)
from mqvitals_agent.text.figure import counted
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.threads import BoundedCall, NoAnswerError
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_config.receivers.servers import (
    SYSLOG_PORT,
    SYSLOG_SOCKET,
    SYSLOG_TLS_PORT,
    SyslogFacility,
    SyslogSettings,
)
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.timestamps import iso

DATA_ID: Final = "mqvitals@32473"
"""The name of the structured data. 32473 is the enterprise number that IANA keeps for examples: mqvitals has none of its own."""

_SEVERITIES: Final = {Severity.CRITICAL: 2, Severity.WARNING: 4, Severity.INFO: 6}
_NOTICE: Final = 5
_BOM: Final = b"\xef\xbb\xbf"
_ELLIPSIS: Final = "…".encode()
_MOST_VALUE: Final = 100
"""Characters of a value in the structured data: more is cut."""
_ADMISSION_S: Final = 1.0
"""How long a server may take to refuse a client's certificate, when nothing shows that it has admitted the client."""
_NOT_NAME = re.compile(r"[^!-~]")
_ESCAPED = re.compile(r'(["\\\]])')


@dataclass(frozen=True, slots=True)
class SyslogSource:
    """What all messages of a receiver have in common: facility and application by the settings, this machine, this process."""

    facility: SyslogFacility
    app_name: str
    host: str
    process: int
    max_length: int


class SyslogReceiver(MessageReceiver[SyslogSettings]):
    """Sends a message for each alert of a notification."""

    def _begin(self) -> None:
        self._source = SyslogSource(
            self._settings.facility,
            self._settings.app_name,
            socket.gethostname(),
            os.getpid(),
            self._settings.max_length,
        )
        self._sending = BoundedCall()

    async def send(self, notification: Notification, /) -> DeliveryOutcome:
        """Send the messages of all alerts over one connection."""
        settings, where = self._settings, self._where
        messages = self._messages(notification)
        limit_s = settings.timeout / 1000
        try:
            _, tls = await self._credentials.read()
            await self._sending.run(lambda: _deliver(settings, tls, messages, limit_s), limit_s)
        except AttemptError as error:
            return error.outcome
        except (NoAnswerError, TimeoutError):
            return again(f"{where} did not take the messages within {format_duration(settings.timeout)}")
        except (OSError, ValueError) as error:
            return again(f"{where} {_trouble(error)}")
        return accepted(f"{where} was sent {counted(len(messages), 'message')}")

    def shown(self, notification: Notification, /) -> str:
        """The messages, each on a line, without the mark of UTF-8."""
        lines = [message.replace(_BOM, b"").decode() for message in self._messages(notification)]
        return "\n".join([f"to {self._where}", "", *lines])

    async def aclose(self) -> None:
        """Nothing is kept open."""

    @property
    def _where(self) -> str:
        settings = self._settings
        return (
            settings.socket or SYSLOG_SOCKET
            if settings.transport == "unix"
            else "{}://{}:{}".format(*_server(settings))
        )

    def _messages(self, notification: Notification) -> Sequence[bytes]:
        now = self._now()
        return [syslog_message(each, self._source, now) for each in messages_of_each(notification, self._write, now)]


def syslog_message(of_one: NotificationMessage, source: SyslogSource, now: int) -> bytes:
    """A message of one alert as syslog sends it at ``now`` (ms UTC), at most ``source.max_length`` bytes."""
    (words,) = of_one.alerts
    alert = words.alert
    severity = _SEVERITIES[alert.severity] if alert.ends is None else _NOTICE
    priority = get_args(SyslogFacility).index(source.facility) * 8 + severity
    header = [
        f"<{priority}>1",
        iso(now),
        _name(source.host, 255),
        _name(source.app_name, 48),
        str(source.process),
        _name(alert.labels.get("rule", ""), 32),
    ]
    text = of_one.text
    if text is None:
        text = "; ".join([f"{words.how_bad} {words.what}", *(f"{word}: {text}" for word, text in words.facts)])
    begin = " ".join([*header, _structured_data(alert, source.max_length // 2)]).encode() + b" " + _BOM
    end = safe(" ".join(text.split())).encode()
    if len(begin) + len(end) > source.max_length:
        room = source.max_length - len(begin) - len(_ELLIPSIS)
        end = end[:room].decode("utf-8", "ignore").encode() + _ELLIPSIS
    return begin + end


def _name(text: str, most: int) -> str:
    """``text`` as a field of the header, which holds no blanks and nothing beyond ASCII; ``-`` for an empty one."""
    return _NOT_NAME.sub("_", text)[:most] or "-"


def _structured_data(alert: NotifiedAlert, room: int) -> str:
    """What identifies the alert, and its labels as far as there is room for them (bytes)."""
    found = f"[{DATA_ID}"
    left = room - len(found)
    for index, (name, text) in enumerate(_parameters(alert)):
        value = _ESCAPED.sub(r"\\\1", safe(" ".join(text.split()))[:_MOST_VALUE])
        parameter = f' {name}="{value}"'
        left -= len(parameter.encode())
        if left < 0 and index >= _ALWAYS:
            break
        found += parameter
    return found + "]"


_ALWAYS: Final = 5


def _parameters(alert: NotifiedAlert) -> Iterator[tuple[str, str]]:
    labels = alert.labels
    own = {
        "status": alert.status.value,
        "severity": labels.get("severity", ""),
        "rule": labels.get("rule", "") or labels.get("alertname", ""),
        "object": labels.get("object", ""),
        "fingerprint": alert.fingerprint,
        "starts": iso(alert.starts),
        "ends": "" if alert.ends is None else iso(alert.ends),
    }
    yield from ((name, text) for name, text in own.items() if text)
    # A name has at most 32 characters; those of labels are letters, digits and underscores.
    yield from ((name, text) for name, text in labels.items() if name not in own and len(name) <= 32)


def _server(settings: SyslogSettings) -> tuple[str, str, int]:
    """Transport, host and port."""
    usual = SYSLOG_TLS_PORT if settings.transport == "tls" else SYSLOG_PORT
    return settings.transport, str(settings.host), settings.port or usual


def _deliver(settings: SyslogSettings, tls: ssl.SSLContext | None, messages: Sequence[bytes], limit_s: float) -> None:
    """Send messages, for a thread. Raises OSError, TimeoutError among them."""
    end = time.monotonic() + limit_s
    if settings.transport == "unix":
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as local:
            local.settimeout(_left(end))
            local.connect(settings.socket or SYSLOG_SOCKET)
            _send_each(local, messages, end)
        return
    _, host, port = _server(settings)
    if settings.transport == "udp":
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as datagrams:
            datagrams.connect(address)
            _send_each(datagrams, messages, end)
            # What ICMP says of a port where nobody listens, if it is here already.
            if number := datagrams.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(number, os.strerror(number))
        return
    with socket.create_connection((host, port), _left(end)) as stream:
        framed = b"".join(b"%d %b" % (len(message), message) for message in messages)
        if settings.transport == "tcp":
            _send_stream(stream, framed, end)
            return
        with (tls or ssl.create_default_context()).wrap_socket(stream, server_hostname=host) as secured:
            _await_admission(secured, end)
            _send_secured(secured, framed, end)


def _send_each(datagrams: socket.socket, messages: Sequence[bytes], end: float) -> None:
    for message in messages:
        datagrams.settimeout(_left(end))
        datagrams.send(message)


def _send_stream(stream: socket.socket, framed: bytes, end: float) -> None:
    """Send, end this side, and wait until the server has read everything and ends its own."""
    stream.settimeout(_left(end))
    stream.sendall(framed)
    stream.shutdown(socket.SHUT_WR)
    while stream.recv(4096):
        stream.settimeout(_left(end))


class _NotAdmittedError(OSError):
    """The server has ended the connection after the handshake."""


def _await_admission(secured: ssl.SSLSocket, end: float) -> None:
    """Wait until the server has judged this client's certificate: TLS 1.3 lets a client send before that.

    A server that sends a ticket has admitted the client. One that has none to send says nothing: then a while without a
    refusal is enough.
    """
    until = min(end, time.monotonic() + _ADMISSION_S)
    while secured.version() == "TLSv1.3" and not (secured.session and secured.session.has_ticket):
        if not select.select([secured], [], [], max(until - time.monotonic(), 0))[0]:
            return
        secured.settimeout(0)
        try:
            if secured.recv(1):
                return
        except ssl.SSLWantReadError:
            continue
        raise _NotAdmittedError


def _send_secured(secured: ssl.SSLSocket, framed: bytes, end: float) -> None:
    """The same over TLS, which has an end of its own."""
    secured.settimeout(_left(end))
    secured.sendall(framed)
    secured.settimeout(_left(end))
    try:
        secured.unwrap()
    except ssl.SSLEOFError:
        return  # it has read everything, else there would be a reset, and ends without the formality
    except OSError as error:
        if error.errno:
            raise


def _left(end: float) -> float:
    """The seconds to ``end``. Raises TimeoutError when there are none."""
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _trouble(error: OSError | ValueError) -> str:
    match error:
        case ssl.SSLError():
            return tls_trouble(error)
        case socket.gaierror() | ValueError():  # of a name that cannot be one in DNS
            return "cannot be found: its name is not known"
        case _NotAdmittedError():
            return "ended the connection after the TLS handshake: check client_certificate"
        case ConnectionResetError() | BrokenPipeError() | OSError(errno=errno.ENOTCONN):
            return "ended the connection before it had read the messages"
        case _:
            return f"cannot be reached ({os_error_text(error)})"
