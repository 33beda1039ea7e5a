"""E-mail through a real mail server on 127.0.0.1: TLS, users, answers of every kind, and what the mail is like."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast

import pytest
import trustme
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.notify.message import NotificationMessage, message_of
from mqvitals_agent.notify.notification import Notification, NotifiedAlert, notification_of_one
from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus
from mqvitals_agent.notify.receivers.attempt import PATIENCE_MS
from mqvitals_agent.notify.receivers.email import EmailReceiver, mail_of, own_name
from mqvitals_agent.notify.report import ReportMessage
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.secret import Secret
from mqvitals_config.receivers.servers import EmailSettings

ACCEPTED, REFUSED, AGAIN = DeliveryStatus.ACCEPTED, DeliveryStatus.REFUSED, DeliveryStatus.AGAIN
NOW = 1_795_176_000_000
LONG_MS = 300_000
OPS, MW = "ops@example.com", "mw@example.com"
Told = Callable[..., NotifiedAlert]
Group = Callable[..., Notification]


@dataclass
class Post:
    """A mail server. ``of_address`` are its answers about addresses, ``of_mail`` is that about the mail."""

    of_address: dict[str, str] = field(default_factory=dict)
    of_sender: str = ""
    of_mail: str = "250 kept"
    to: list[list[str]] = field(default_factory=list)
    mails: list[EmailMessage] = field(default_factory=list)
    users: list[tuple[bytes, bytes]] = field(default_factory=list)
    port: int = 0

    async def handle_MAIL(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if not self.of_sender:
            envelope.mail_from = address
        return self.of_sender or "250 ok"

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.of_address:
            return self.of_address[address]
        envelope.rcpt_tos.append(address)
        return "250 ok"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if self.of_mail.startswith("250"):
            self.to.append(envelope.rcpt_tos)
            self.mails.append(message_from_bytes(cast("bytes", envelope.content), policy=default))
        return self.of_mail

    def authenticate(self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.users.append((data.login, data.password))
        return AuthResult(success=data.password == b"Psecret", handled=False)


@asynccontextmanager
async def serving(post: Post, *, implicit: ssl.SSLContext | None = None, **options: Any) -> AsyncIterator[Post]:
    """The server on a port of 127.0.0.1."""
    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(post, hostname="mail.example.com", enable_SMTPUTF8=False, **options), "127.0.0.1", 0, ssl=implicit
    )
    post.port = server.sockets[0].getsockname()[1]
    try:
        yield post
    finally:
        server.close()


def located(text: str) -> LocatedText:
    return LocatedText(text, Place("mqvitals.yaml", 1, 1))


def settings_of(port: int, *to: str, **others: Any) -> EmailSettings:
    """The settings of a receiver at the server, without TLS unless a test wants it."""
    given = {"host": located("127.0.0.1"), "port": port, "tls": "none", "timeout": LONG_MS, **others}
    return EmailSettings(
        located("ops"),
        "email",
        sender=located("MQ alerts <mq@example.com>"),
        to=tuple(map(located, to or (OPS,))),
        **given,
    )


async def sent(settings: EmailSettings, notification: Notification) -> DeliveryOutcome:
    receiver = EmailReceiver(settings, lambda: NOW)
    try:
        return await receiver.send(notification)
    finally:
        await receiver.aclose()


async def test_a_report_is_a_mail_too() -> None:
    """To all addresses; those that have it get no second one when another is tried again."""
    report = ReportMessage("night", NOW, "Handover", None, {}, "brief", "text ● of it", "<!DOCTYPE html><p>page</p>")
    async with serving(Post()) as post:
        post.of_address[MW] = "451 later"
        receiver = EmailReceiver(settings_of(post.port, OPS, MW), lambda: NOW)
        assert (await receiver.send_report(report)).status is DeliveryStatus.AGAIN
        post.of_address.clear()
        assert (await receiver.send_report(report)).status is ACCEPTED
        await receiver.aclose()
    assert post.to == [[OPS], [MW]]
    one, other = post.mails
    assert one["Message-ID"] == other["Message-ID"]
    assert [each.get_filename() for each in one.iter_attachments()] == ["handover.html"]


@pytest.fixture(autouse=True)
def no_dns(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of the machine that runs the tests is not looked up."""
    monkeypatch.setattr("mqvitals_agent.notify.receivers.email.own_name", lambda: "mon1.example.com")


async def test_a_mail(told: Told, group: Group) -> None:
    """One for all alerts of a group and all addresses, in text and as HTML."""
    async with serving(Post()) as post:
        settings = settings_of(post.port, OPS, "Middleware Ä <mw@example.com>", OPS)
        outcome = await sent(settings, group(told(), told(4, severity="warning"), truncated=2))
    assert outcome == DeliveryOutcome(ACCEPTED, f"smtp://127.0.0.1:{post.port} accepted for 2 of 2")
    assert post.to == [[OPS, MW]]
    (mail,) = post.mails
    assert mail["Subject"] == "CRITICAL QM01: buffer pool 3: 4 % free (and 3 others)"
    assert mail["From"] == "MQ alerts <mq@example.com>"
    assert mail["To"].addresses[1].display_name == "Middleware Ä"
    assert mail["Date"] == "Fri, 20 Nov 2026 12:00:00 +0000"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Importance"] == "high"
    assert (mail["X-Mqvitals-Status"], mail["X-Mqvitals-Severity"]) == ("firing", "critical")
    assert mail.get_content_type() == "multipart/alternative"
    text, html = (part.get_content().replace("\r\n", "\n") for part in mail.iter_parts())
    assert text.startswith("CRITICAL QM01: buffer pool 3: 4 % free\n  where    QM01/buffer_pool/3\n")
    assert "\n\nWARNING QM01: buffer pool 4: 4 % free\n" in text
    assert "and 2 more alerts: 'mqvitals alerts list' shows them" in text
    assert "Move the queue &lt;APP.*&gt; &amp; co." in html
    assert "<code>DISPLAY USAGE PSID(*) TYPE(BUFFPOOL)</code>" in html


def test_a_mail_about_hundreds_of_alerts(told: Told, group: Group) -> None:
    """It stays small, and says how many more there are."""
    made = mail(group(*(told(number) for number in range(400)), truncated=100))
    html = made.get_body(("html",))
    assert html is not None
    assert "and 440 more alerts" in html.get_content()
    assert len(made.as_bytes()) < 150_000


def mail(notification: Notification) -> EmailMessage:
    return mail_of(notification, message_of(notification, NOW), "mq@example.com", [OPS], NOW)


def test_mails_of_a_group_stand_together(told: Told, group: Group) -> None:
    """Beginning and end have one thread; each has an identity of its own, the same for each attempt."""
    firing, resolved = group(told()), replace(group(told(ended=True)), number=8)
    first, again, last = mail(firing), mail(firing), mail(resolved)
    assert first["References"] == last["References"] == last["In-Reply-To"]
    assert first["Message-ID"] == again["Message-ID"] != last["Message-ID"]
    assert last["Subject"].startswith("RESOLVED ")
    assert last["Importance"] is None
    other = replace(firing, key="another")
    assert mail(other)["References"] != first["References"]
    assert mail(replace(firing, number=9))["Message-ID"] != first["Message-ID"]


class Tags(HTMLParser):
    """The tags of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)


@given(texts=st.lists(st.text(max_size=300), min_size=5, max_size=5), cut=st.booleans())
def test_whatever_the_texts_hold(texts: list[str], cut: bool) -> None:
    """They make no header, no address and no tag, and every server takes the mail."""
    name, rule, summary, advice, key = texts
    injected = f"{summary}\r\nBcc: evil@example.com\r\n\r\n<script>{name}"
    alert = NotifiedAlert({"alertname": rule, "object": name}, {"summary": injected, "advice": advice}, "00ff", NOW)
    notification = replace(notification_of_one(alert, "ops"), key=key)
    message = message_of(notification, NOW)
    if cut:
        message = replace(message, title=injected, text=injected)
    made = mail_of(notification, message, "mq@example.com", [OPS], NOW)
    raw = made.as_bytes()
    assert raw.isascii()
    assert all(len(line) <= 998 for line in raw.split(b"\r\n"))
    read = message_from_bytes(raw, policy=default)
    assert read.keys() == made.keys()
    assert "Bcc" not in read
    assert read["To"] == OPS
    assert " ".join(read["Subject"].split()) == " ".join(made["Subject"].split())
    html = read.get_body(("html",))
    assert html is not None
    assert Tags(html.get_content()).found <= {"html", "body", "pre", "div", "p", "b", "table", "tr", "td", "code"}


@pytest.mark.parametrize(
    ("answers", "status", "text"),
    [
        ({"of_mail": "554 no such content"}, REFUSED, "refused the mail: 554 no such content"),
        ({"of_mail": "451 disk full"}, AGAIN, "answered 451 disk full"),
        ({"of_sender": "550 not yours"}, AGAIN, "refused the sender: 550 not yours; check from"),
        ({"of_sender": "450 later"}, AGAIN, "refused the sender: 450 later; check from"),
        ({"of_address": {OPS: "550 no such user"}}, REFUSED, f"{OPS}: 550 no such user"),
        ({"of_address": {OPS: "450 greylisted"}}, AGAIN, f"{OPS}: 450 greylisted"),
    ],
)
async def test_answers(told: Told, group: Group, answers: Any, status: DeliveryStatus, text: str) -> None:
    """About the mail, the sender and the address."""
    async with serving(Post(**answers)) as post:
        outcome = await sent(settings_of(post.port), group(told()))
    assert outcome == DeliveryOutcome(status, f"smtp://127.0.0.1:{post.port} {text}")


async def test_an_address_that_is_refused(told: Told, group: Group, caplog: pytest.LogCaptureFixture) -> None:
    """The others get the mail, and the log says who does not."""
    async with serving(Post({MW: "550 no such user"})) as post:
        with caplog.at_level(logging.WARNING):
            outcome = await sent(settings_of(post.port, OPS, MW), group(told()))
    text = f"smtp://127.0.0.1:{post.port} accepted for 1 of 2; {MW}: 550 no such user"
    assert outcome == DeliveryOutcome(ACCEPTED, text)
    assert post.to == [[OPS]]
    (record,) = caplog.records
    assert record.getMessage() == f"receiver ops: not everybody gets its mails: {text}"


async def test_greylisting(told: Told, group: Group) -> None:
    """Whom a server asks to wait gets the mail with the next attempt; the others get it once."""
    async with serving(Post({MW: "450 greylisted"})) as post:
        receiver = EmailReceiver(settings_of(post.port, OPS, MW), lambda: NOW)
        first = await receiver.send(group(told()))
        assert first == DeliveryOutcome(
            AGAIN, f"smtp://127.0.0.1:{post.port} accepted for 1 of 2; {MW}: 450 greylisted"
        )
        post.of_address.clear()
        assert (await receiver.send(group(told()))).status is ACCEPTED
        assert post.to == [[OPS], [MW]]
        assert post.mails[0]["Message-ID"] == post.mails[1]["Message-ID"]
        assert (await receiver.send(replace(group(told()), number=8))).status is ACCEPTED
        assert post.to[2:] == [[OPS, MW]]


async def test_a_mailbox_that_is_full_for_days(told: Told, group: Group) -> None:
    """It holds up the others once, for some minutes, and not with every mail."""
    now = NOW
    async with serving(Post({MW: "452 full"})) as post:
        receiver = EmailReceiver(settings_of(post.port, OPS, MW), lambda: now)
        assert (await receiver.send(group(told()))).status is AGAIN
        now += PATIENCE_MS
        assert (await receiver.send(group(told()))).status is ACCEPTED
        assert (await receiver.send(replace(group(told()), number=8))).status is ACCEPTED
        assert post.to == [[OPS], [OPS]]
        post.of_address[OPS] = "451 busy"
        assert (await receiver.send(replace(group(told()), number=9))).status is AGAIN


@pytest.fixture
def server_tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> LocatedText:
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    return located(str(tmp_path / "ca.pem"))


@pytest.mark.filterwarnings(
    "ignore:Requiring AUTH while not requiring TLS"
)  # it does not see that TLS is there already
@pytest.mark.parametrize("tls", ["starttls", "implicit"])
async def test_tls_and_a_user(
    told: Told, group: Group, server_tls: ssl.SSLContext, ca_file: LocatedText, secret: Any, tls: str
) -> None:
    """Begun in the open or not, and with the password of the file."""
    post = Post()
    options: Any = (
        {"tls_context": server_tls, "require_starttls": True}
        if tls == "starttls"
        else {"implicit": server_tls, "auth_require_tls": False}
    )
    async with serving(post, authenticator=post.authenticate, auth_required=True, **options):
        settings = settings_of(
            post.port, tls=tls, ca_file=ca_file, user="mq", password_file=secret("password", "Psecret")
        )
        assert (await sent(settings, group(told()))).status is ACCEPTED
        assert post.users == [(b"mq", b"Psecret")]
        wrong = await sent(replace(settings, password_file=secret("password", "Pwrong")), group(told()))
        assert wrong.status is AGAIN
        assert wrong.text.endswith("; check user and password_file")
        assert "refused user and password: 535" in wrong.text
        assert "Pwrong" not in wrong.text
        nobody = await sent(replace(settings, user=None, password_file=None), group(told()))
        assert nobody.status is AGAIN
        assert nobody.text.endswith("; check user, password_file and tls")


@pytest.mark.parametrize("tls", ["starttls", "implicit"])
async def test_a_server_of_another_authority(told: Told, group: Group, server_tls: ssl.SSLContext, tls: str) -> None:
    """It gets neither password nor mail."""
    post = Post()
    options: Any = {"tls_context": server_tls} if tls == "starttls" else {"implicit": server_tls}
    async with serving(post, **options):
        outcome = await sent(settings_of(post.port, tls=tls), group(told()))
    assert outcome.status is AGAIN
    assert " cannot be trusted: " in outcome.text
    assert post.mails == []


async def test_a_server_without_tls_or_users(
    told: Told, group: Group, secret: Any, server_tls: Any, ca_file: Any
) -> None:
    """What the settings ask for is not left out: neither a mail nor a password goes in the open."""
    async with serving(Post()) as post:
        outcome = await sent(settings_of(post.port, tls="starttls"), group(told()))
        assert outcome == DeliveryOutcome(AGAIN, f"smtp://127.0.0.1:{post.port} does not offer STARTTLS; check tls")
    async with serving(Post(), implicit=server_tls) as post:
        with_user = {"user": "mq", "password_file": secret("password", "Psecret"), "ca_file": ca_file}
        outcome = await sent(settings_of(post.port, tls="implicit", **with_user), group(told()))
        assert outcome == DeliveryOutcome(
            AGAIN, f"smtp://127.0.0.1:{post.port} does not offer a way to log in; check user"
        )
    assert post.mails == []


@pytest.mark.parametrize(
    ("host", "full", "name"),
    [
        ("mon1.example.com", "", "mon1.example.com"),
        ("mon1", "mon1.example.com", "mon1.example.com"),
        ("mon1", "mon1", "[10.0.0.7]"),
        ("unknown", "unknown", "[127.0.0.1]"),
    ],
)
def test_the_name_of_this_machine(monkeypatch: pytest.MonkeyPatch, host: str, full: str, name: str) -> None:
    """Mail servers refuse a name without a domain; an address is always right."""

    def address(of: str) -> str:
        if of == "unknown":
            raise OSError
        return "10.0.0.7"

    monkeypatch.setattr("socket.gethostname", lambda: host)
    monkeypatch.setattr("socket.getfqdn", lambda: full)
    monkeypatch.setattr("socket.gethostbyname", address)
    assert own_name() == name


async def test_nobody_listens(told: Told, group: Group) -> None:
    """And a name that is none."""
    assert (
        await sent(settings_of(1), group(told()))
    ).text == "smtp://127.0.0.1:1 cannot be reached (Connection refused)"
    outcome = await sent(settings_of(25, host=located("x" * 64 + ".example")), group(told()))
    assert outcome.status is AGAIN
    assert outcome.text.endswith(" cannot be found: its name is not known")


@pytest.mark.parametrize(
    ("said", "timeout_ms", "text"),
    [
        (b"", 50, "did not take the mail within 50ms"),
        (b"220 mail.example.com\r\n", 50, "did not take the mail within 50ms"),
        (b"421 too busy\r\n", LONG_MS, "answered 421 too busy"),
        (b"220 hello\r\nend", LONG_MS, "closed the connection without an answer"),
        (b"\xff\xfe nonsense\r\n", LONG_MS, ""),
    ],
)
async def test_a_server_that_is_none(told: Told, group: Group, said: bytes, timeout_ms: int, text: str) -> None:
    """It hangs, is busy, goes away, or is something else."""
    done = asyncio.Event()

    async def handle(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said.removesuffix(b"end"))
        if not said.endswith(b"end"):
            await done.wait()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    outcome = await sent(settings_of(port, timeout=timeout_ms), group(told()))
    done.set()
    server.close()
    assert outcome.status is AGAIN
    assert outcome.text.startswith(f"smtp://127.0.0.1:{port} {text}")


async def test_a_password_that_cannot_be_read(told: Told, group: Group, tmp_path: Path) -> None:
    """Said with the name of its file."""
    absent = Secret.in_file(LocatedText("absent", Place(str(tmp_path / "mqvitals.yaml"))))
    outcome = await sent(settings_of(1, tls="implicit", user="mq", password_file=absent), group(told()))
    assert outcome.status is AGAIN
    assert f"the secret in file {tmp_path}/absent" in outcome.text


def test_what_is_shown(told: Told, group: Group) -> None:
    """Headers and text; the password is not read. The words may be those of the site."""

    def write(notification: Notification, now: int) -> NotificationMessage:
        return replace(message_of(notification, now), title="Our title", text="Our text\nin two lines")

    shown = EmailReceiver(settings_of(25), lambda: NOW, write=write).shown(group(told()))
    assert shown.startswith(
        "to smtp://127.0.0.1:25\nSubject: Our title\nFrom: MQ alerts <mq@example.com>\nTo: ops@example.com\n"
    )
    assert shown.endswith("\n\nOur text\nin two lines")
