"""Syslog over real sockets: what arrives is read by the grammar of RFC 5424, written down here once more."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.notify.message import NotificationMessage, message_of
from mqvitals_agent.notify.notification import Notification, NotifiedAlert, notification_of_one
from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus
from mqvitals_agent.notify.receivers.syslog import SyslogReceiver, SyslogSource, syslog_message
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.receivers.servers import SyslogSettings

ACCEPTED, AGAIN = DeliveryStatus.ACCEPTED, DeliveryStatus.AGAIN
NOW = 1_795_176_000_000
LONG_MS = 300_000
Told = Callable[..., NotifiedAlert]
Group = Callable[..., Notification]

_MESSAGE = re.compile(
    rb"<(?P<pri>\d{1,3})>(?P<version>[1-9]\d{0,2})"
    rb" (?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d))"
    rb" (?P<host>[!-~]{1,255}) (?P<app>[!-~]{1,48}) (?P<process>[!-~]{1,128}) (?P<id>[!-~]{1,32})"
    rb" (?P<data>-|(?:\[(?:[^\]\\]|\\.)*\])+)"
    rb"(?: \xef\xbb\xbf(?P<text>.*))?",
    re.DOTALL,
)
_ELEMENT = re.compile(r'\[([!#-<>-\\^-~]{1,32})((?: [!#-<>-\\^-~]{1,32}="(?:[^"\\\]]|\\["\\\]])*")*)\]')
_PARAMETER = re.compile(r' ([!#-<>-\\^-~]{1,32})="((?:[^"\\\]]|\\["\\\]])*)"')


@dataclass
class Read:
    """A message as a program reads it."""

    facility: int
    severity: int
    header: list[str]
    data_id: str
    data: dict[str, str]
    text: str


def read(message: bytes) -> Read:
    found = _MESSAGE.fullmatch(message)
    assert found, message
    assert found["version"] == b"1"
    element = _ELEMENT.fullmatch(found["data"].decode())
    assert element, found["data"]
    parameters = _PARAMETER.findall(element[2])
    data = {name: re.sub(r'\\(["\\\]])', r"\1", value) for name, value in parameters}
    assert len(data) == len(parameters)
    text = found["text"].decode()
    assert not re.search("[\x00-\x1f\x7f\x80-\x9f]", text + "".join(data.values()))
    header = [found[word].decode() for word in ("time", "host", "app", "process", "id")]
    return Read(*divmod(int(found["pri"]), 8), header, element[1], data, text)


def located(text: str) -> LocatedText:
    return LocatedText(text, Place("mqvitals.yaml", 1, 1))


def settings_of(transport: Any, port: int | None = None, **others: Any) -> SyslogSettings:
    if port is not None:
        others |= {"host": located(others.get("host", "127.0.0.1")), "port": port}
    return SyslogSettings(located("ops"), "syslog", transport=transport, **{"timeout": LONG_MS, **others})


async def sent(settings: SyslogSettings, notification: Notification) -> DeliveryOutcome:
    receiver = SyslogReceiver(settings, lambda: NOW)
    try:
        return await receiver.send(notification)
    finally:
        await receiver.aclose()


SOURCE = SyslogSource("local0", "mqvitals", "mon1.example.com", 42, 2048)


def message_of_alert(alert: NotifiedAlert, source: SyslogSource = SOURCE) -> bytes:
    return syslog_message(message_of(notification_of_one(alert, "ops"), NOW), source, NOW)


def test_a_message(told: Told) -> None:
    """Priority, header, structured data and text."""
    found = read(message_of_alert(told().with_labels({"team": "payments"})))
    assert (found.facility, found.severity) == (16, 2)
    assert found.header == ["2026-11-20T12:00:00.000Z", "mon1.example.com", "mqvitals", "42", "BP-03"]
    assert found.data_id == "mqvitals@32473"
    assert found.data == {
        "status": "firing",
        "severity": "critical",
        "rule": "BP-03",
        "object": "QM01/buffer_pool/3",
        "fingerprint": "0000000000000003",
        "starts": "2026-11-20T11:55:48.000Z",
        "alertname": "BP-03",
        "family": "bp_free",
        "owner": "QM01",
        "queue_manager": "QM01",
        "kind": "buffer_pool",
        "name": "3",
        "group": "PRDQSG",
        "team": "payments",
    }
    assert found.text == (
        "CRITICAL QM01: buffer pool 3: 4 % free; where: QM01/buffer_pool/3; since: 2026-11-20 11:55:48 UTC (for 4m12s);"
        " figures: 3 % at worst; rule: BP-03; to do: Find what fills it. Move the queue <APP.*> & co.;"
        " MQSC: DISPLAY USAGE PSID(*) TYPE(BUFFPOOL); source: MP16, Buffer pools"
    )


@pytest.mark.parametrize(("severity", "number"), [("critical", 2), ("warning", 4), ("info", 6)])
def test_severities(told: Told, severity: str, number: int) -> None:
    """Critical, warning and informational; what has ended is a notice."""
    assert read(message_of_alert(told(severity=severity))).severity == number
    ended = read(message_of_alert(told(severity=severity, ended=True)))
    assert ended.severity == 5
    assert ended.data["ends"] == "2026-11-20T12:00:00.000Z"
    assert ended.text.startswith("RESOLVED ")


@given(
    texts=st.lists(st.text(max_size=300), min_size=4, max_size=4),
    length=st.integers(1024, 4096),
    host=st.text(max_size=300),
)
def test_whatever_the_texts_hold(texts: list[str], length: int, host: str) -> None:
    """The message is one of RFC 5424, and not longer than the settings allow."""
    name, rule, summary, site = texts
    alert = NotifiedAlert(
        {"alertname": rule, "rule": rule, "severity": "info", "object": name, "site": site, "a" * 40: "x"},
        {"summary": summary, "advice": "ü" * 3_000},
        "00ff",
        NOW,
    )
    message = message_of_alert(alert, SyslogSource("daemon", "mq", host, 1, length))
    assert len(message) <= length
    found = read(message)
    assert found.data["fingerprint"] == "00ff"
    assert found.text.startswith("INFO ")
    assert found.text.endswith("…")


async def test_udp(told: Told, group: Group) -> None:
    """A datagram an alert."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        outcome = await sent(settings_of("udp", port), group(told(), told(4, ended=True)))
        assert outcome == DeliveryOutcome(ACCEPTED, f"udp://127.0.0.1:{port} was sent 2 messages")
        found = [read(server.recv(65_536)) for _ in range(2)]
    assert [(each.data["object"], each.data["status"]) for each in found] == [
        ("QM01/buffer_pool/3", "firing"),
        ("QM01/buffer_pool/4", "resolved"),
    ]
    assert found[0].header[1] == socket.gethostname()


async def test_a_socket_of_this_machine(told: Told, group: Group, tmp_path: Path) -> None:
    """As /dev/log is one; and one that is not there."""
    path = tmp_path / "log"
    settings = settings_of("unix", socket=located(str(path)))
    assert await sent(settings, group(told())) == DeliveryOutcome(
        AGAIN, f"{path} cannot be reached (No such file or directory)"
    )
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(str(path))
        assert (await sent(settings, group(told()))).status is ACCEPTED
        assert read(server.recv(65_536)).data["rule"] == "BP-03"
    assert (await sent(settings, group(told()))).text == f"{path} cannot be reached (Connection refused)"


@asynccontextmanager
async def serving(
    handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """A server of a stream on 127.0.0.1; gives its port."""
    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


class Collector:
    """Reads messages with counted octets until the other side ends, and then ends too."""

    def __init__(self) -> None:
        self.messages: list[Read] = []

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while prefix := await reader.read(1):
            length = int(prefix + (await reader.readuntil(b" ")))
            self.messages.append(read(await reader.readexactly(length)))
        writer.close()


async def test_tcp(told: Told, group: Group) -> None:
    """Each message after its length, and all of them read when the attempt ends."""
    collector = Collector()
    async with serving(collector.handle) as port:
        outcome = await sent(settings_of("tcp", port), group(*(told(number) for number in range(300))))
        assert outcome.status is ACCEPTED
        assert [each.data["name"] for each in collector.messages] == [str(number) for number in range(300)]


async def test_a_server_that_reads_nothing(told: Told, group: Group) -> None:
    """The kernel of its machine takes what it never reads: that is not delivered."""
    done = asyncio.Event()

    async def hanging(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await done.wait()
        writer.close()

    async with serving(hanging) as port:
        outcome = await sent(settings_of("tcp", port, timeout=50), group(told()))
        done.set()
    assert outcome == DeliveryOutcome(AGAIN, f"tcp://127.0.0.1:{port} did not take the messages within 50ms")


async def test_a_server_that_goes_away(told: Told, group: Group) -> None:
    """Half open: it resets the connection with messages unread."""

    async def gone(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(10)
        lingering = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, lingering)
        writer.transport.abort()

    async with serving(gone) as port:
        outcome = await sent(settings_of("tcp", port), group(*(told(number) for number in range(300))))
    assert outcome == DeliveryOutcome(
        AGAIN, f"tcp://127.0.0.1:{port} ended the connection before it had read the messages"
    )


@pytest.mark.parametrize("transport", ["tcp", "tls"])
async def test_nobody_listens(told: Told, group: Group, transport: str) -> None:
    """And a name that is none."""
    outcome = await sent(settings_of(transport, 1), group(told()))
    assert outcome == DeliveryOutcome(AGAIN, f"{transport}://127.0.0.1:1 cannot be reached (Connection refused)")
    outcome = await sent(settings_of(transport, 1, host="x" * 64 + ".example"), group(told()))
    assert outcome.text.endswith(":1 cannot be found: its name is not known")


@pytest.fixture
def server_tls(authority: trustme.CA) -> ssl.SSLContext:
    """TLS for 127.0.0.1, for clients with a certificate of the authority."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    return context


@pytest.fixture
def files(authority: trustme.CA, tmp_path: Path) -> dict[str, LocatedText]:
    """The authority's certificate, and one of a client with its key."""
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    authority.issue_cert("agent@site.example").private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "agent.pem"))
    return {"ca_file": located(str(tmp_path / "ca.pem")), "client_certificate": located(str(tmp_path / "agent.pem"))}


async def test_tls(told: Told, group: Group, server_tls: ssl.SSLContext, files: dict[str, LocatedText]) -> None:
    """Both sides know each other, and all messages are read when the attempt ends."""
    collector = Collector()
    async with serving(collector.handle, server_tls) as port:
        outcome = await sent(settings_of("tls", port, **files), group(*(told(number) for number in range(300))))
    assert outcome == DeliveryOutcome(ACCEPTED, f"tls://127.0.0.1:{port} was sent 300 messages")
    assert len(collector.messages) == 300


async def test_a_client_that_tls_does_not_let_in(
    told: Told, group: Group, server_tls: ssl.SSLContext, files: dict[str, LocatedText], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In TLS 1.3 it could send before the server says so: nothing is sent, and nothing taken for delivered."""
    monkeypatch.setattr("mqvitals_agent.notify.receivers.syslog._ADMISSION_S", 300)
    collector = Collector()
    async with serving(collector.handle, server_tls) as port:
        outcome = await sent(settings_of("tls", port, ca_file=files["ca_file"]), group(told()))
    assert outcome.status is AGAIN
    assert collector.messages == []


async def test_a_server_of_another_authority(told: Told, group: Group, server_tls: ssl.SSLContext) -> None:
    """Nothing is sent to it."""
    collector = Collector()
    async with serving(collector.handle, server_tls) as port:
        outcome = await sent(settings_of("tls", port), group(told()))
    assert outcome.status is AGAIN
    assert ": self-signed certificate in certificate chain" in outcome.text
    assert collector.messages == []


async def test_a_file_of_certificates_that_is_not_there(told: Told, group: Group) -> None:
    """Said with its name."""
    outcome = await sent(settings_of("tls", 1, ca_file=located("/absent/ca.pem")), group(told()))
    assert outcome == DeliveryOutcome(AGAIN, "ca_file /absent/ca.pem cannot be read: No such file or directory")


def test_words_of_the_site(told: Told, group: Group) -> None:
    """What a template makes of each alert, on one line."""

    def write(notification: Notification, now: int) -> NotificationMessage:
        return replace(message_of(notification, now), text=f"{len(notification.alerts)} ours\nand theirs")

    receiver = SyslogReceiver(settings_of("unix"), lambda: NOW, write=write)
    shown = receiver.shown(group(told(), told(4)))
    assert shown.count("] 1 ours and theirs") == 2


def test_what_is_shown(told: Told, group: Group) -> None:
    """Where to, and the messages."""
    shown = SyslogReceiver(settings_of("tls", host=located("logs.example.com")), lambda: NOW).shown(group(told()))
    assert shown.startswith("to tls://logs.example.com:6514\n\n<26>1 2026-11-20T12:00:00.000Z ")
    assert "] CRITICAL QM01: buffer pool 3: 4 % free; where: " in shown
