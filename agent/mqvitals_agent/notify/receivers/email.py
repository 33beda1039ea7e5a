"""E-mail: each notification is one mail to all addresses, handed over to a mail server by SMTP.

What a server answers is about the connection, the sender, an address, or the mail: each means something else for the
notification.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from hashlib import blake2b
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

import aiosmtplib

from mqvitals_agent.log import as_change, forget
from mqvitals_agent.notify.message import AlertMessage, NotificationMessage, more_words
from mqvitals_agent.notify.notification import Notification
from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus
from mqvitals_agent.notify.receivers.attempt import (
    Addressees,
    AttemptError,
    MessageReceiver,
    accepted,
    again,
    excerpt,
    os_error_text,
    refused,
    tls_trouble,
)
from mqvitals_agent.notify.report import ReportMessage
from mqvitals_agent.text.terminal import safe
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_config.receivers.servers import MAIL_PORTS, EmailSettings, mail_parts
from mqvitals_rules.lifecycle.alert import Severity

MOST_ALERTS: Final = 60
"""Alerts that are laid out as HTML: about as many as the text has room for."""
_POLICY: Final = SMTP.clone(cte_type="7bit")
"""Every server takes 7 bits."""
_COLOURS: Final = {Severity.CRITICAL: "#b3261e", Severity.WARNING: "#8a5a00", Severity.INFO: "#1f5fbf"}
_GOOD: Final = "#1a7f37"
_FONT: Final = "font-family: sans-serif; font-size: 14px;"


def mail_of(
    notification: Notification, message: NotificationMessage, sender: str, to: Sequence[str], now: int
) -> EmailMessage:
    """The mail of a notification at ``now`` (ms UTC). Its Message-ID is the same for each attempt to send it.

    Mails of one group have the same References, so that mail programs show the end of an alert below its beginning.
    """
    thread = _hash(notification.receiver, notification.key)
    mail = _headed_mail(message.title, sender, to, now, _digest(notification), f"{thread}.group")
    mail["X-Mqvitals-Status"] = notification.status.value
    mail["X-Mqvitals-Severity"] = message.severity.name.lower()
    if message.severity is Severity.CRITICAL and not message.resolved:
        mail["Importance"] = "high"
    mail.set_content(_lines(message.plain) + "\n")
    mail.add_alternative(html_of(message), subtype="html")
    return mail


def report_mail(report: ReportMessage, receiver: str, sender: str, to: Sequence[str], now: int) -> EmailMessage:
    """The mail of a report at ``now`` (ms UTC): text, and the page, which is attached too, since many mail programs show
    no charts. Its Message-ID is the same for each attempt to send it; the mails of one report have the same References.
    """
    thread = f"{_hash(receiver, report.name)}.report"
    mail = _headed_mail(report.title, sender, to, now, _hash(receiver, report.key), thread)
    mail.set_content(report.text + "\n")
    mail.add_alternative(report.page, subtype="html")
    mail.add_attachment(report.page, subtype="html", filename="handover.html")
    return mail


def _headed_mail(title: str, sender: str, to: Sequence[str], now: int, identity: str, thread: str) -> EmailMessage:
    """A mail without text; ``identity`` and ``thread`` are the parts before the domain of its Message-ID and References."""
    mail = EmailMessage(_POLICY)
    domain = mail_parts(sender)[1].rpartition("@")[2]
    # The library's own way of encoding a subject loses blanks between words beyond ASCII.
    subject = one_line(title)
    mail.set_raw("Subject", Header(subject, None if subject.isascii() else "utf-8", 76, "Subject").encode())
    mail["From"] = _address(sender)
    mail["To"] = [_address(each) for each in to]
    mail["Date"] = datetime.fromtimestamp(now / 1000, UTC)
    mail["Message-ID"] = f"<mqvitals.{identity}@{domain}>"
    mail["In-Reply-To"] = mail["References"] = f"<mqvitals.{thread}@{domain}>"
    mail["Auto-Submitted"] = "auto-generated"
    # Exchange sends out-of-office replies else.
    mail["X-Auto-Response-Suppress"] = "All"
    return mail


def one_line(text: str) -> str:
    """``text`` as a header can hold it: no line ends and no control characters."""
    return safe(" ".join(text.split()))


def _lines(text: str) -> str:
    return "\n".join(map(safe, text.splitlines()))


def _address(text: str) -> Address:
    name, mailbox = mail_parts(text)
    return Address(name, addr_spec=mailbox)


def _digest(notification: Notification) -> str:
    """What identifies a notification: its number alone would not, as a new store begins anew."""
    alerts = (f"{each.fingerprint} {each.status.value} {each.severity.name}" for each in notification.alerts)
    return _hash(notification.receiver, notification.key, str(notification.number), *alerts)


def _hash(*texts: str) -> str:
    return blake2b("\0".join(texts).encode("utf-8", "replace"), digest_size=12).hexdigest()


def html_of(message: NotificationMessage) -> str:
    """A message as a page of HTML that loads nothing. Texts are never markup."""
    page = Element("html")
    body = SubElement(page, "body", {"style": _FONT})
    if message.text is not None:
        SubElement(body, "pre", {"style": "white-space: pre-wrap;"}).text = _lines(message.text)
    else:
        for each in message.alerts[:MOST_ALERTS]:
            _add_alert(body, each)
        if more := message.more + len(message.alerts[MOST_ALERTS:]):
            SubElement(body, "p").text = more_words(more)
    return f"<!DOCTYPE html>\n{tostring(page, encoding='unicode', method='html')}\n"


def _add_alert(body: Element, alert: AlertMessage) -> None:
    colour = _GOOD if alert.alert.ends is not None else _COLOURS[alert.alert.severity]
    box = SubElement(
        body, "div", {"style": f"border-left: 4px solid {colour}; padding-left: 10px; margin-bottom: 16px;"}
    )
    heading = SubElement(box, "p", {"style": "margin: 0 0 6px;"})
    SubElement(heading, "b", {"style": f"color: {colour};"}).text = alert.how_bad
    SubElement(heading, "b").text = f" {safe(alert.what)}"
    table = SubElement(box, "table", {"style": f"{_FONT} border-collapse: collapse;"})
    for word, text in alert.facts:
        row = SubElement(table, "tr", {"style": "vertical-align: top;"})
        SubElement(row, "td", {"style": "color: #666; padding-right: 12px; white-space: nowrap;"}).text = word
        cell = SubElement(row, "td", {"style": "white-space: pre-wrap;"})
        if text == alert.link and text.startswith(("https://", "http://")):
            cell = SubElement(cell, "a", {"href": text})
        elif text == alert.mqsc:
            cell = SubElement(cell, "code")
        cell.text = _lines(text)


_LOG = logging.getLogger(__name__)

_NOT_OFFERED: Final = (aiosmtplib.SMTPException, aiosmtplib.SMTPNotSupported)
_QUIT_S: Final = 1.0
"""How long the server may take to say goodbye once it has the mail."""


class EmailReceiver(MessageReceiver[EmailSettings]):
    """Hands mails over to a mail server, each over a connection of its own."""

    def _begin(self) -> None:
        self._own_name = ""
        # One mailbox that stands there twice gets one mail.
        self._addressees = Addressees(list(dict.fromkeys(mail_parts(each)[1] for each in self._settings.to)))

    async def send(self, notification: Notification, /) -> DeliveryOutcome:
        """Hand over one mail, to the addresses that have not accepted it yet."""
        return await self._deliver(self._mail(notification))

    async def send_report(self, report: ReportMessage, /) -> DeliveryOutcome:
        """Hand over the mail of a report, as ``send`` does."""
        settings = self._settings
        mail = report_mail(report, str(settings.name), settings.sender, settings.to, self._now())
        return await self._deliver(mail)

    async def _deliver(self, mail: EmailMessage) -> DeliveryOutcome:
        settings = self._settings
        try:
            texts, tls = await self._credentials.read()
            password = "" if settings.password_file is None else texts[settings.password_file]
            answers = await self._hand_over(mail, self._addressees.ahead(mail["Message-ID"]), tls, password)
        except _MailRefusedError as error:
            return refused(f"{self._where} {error}")
        except AttemptError as error:
            return error.outcome
        outcome = self._addressees.settle(answers, self._now())
        outcome = replace(outcome, text=f"{self._where} {outcome.text}")
        self._log_refusals(outcome, answers)
        return outcome

    def shown(self, notification: Notification, /) -> str:
        """The headers and the text of the mail."""
        mail = self._mail(notification)
        text = mail.get_body(("plain",))
        assert text is not None
        headers = [f"{name}: {value}" for name, value in mail.items() if not name.startswith(("Content-", "MIME-"))]
        return "\n".join([f"to {self._where}", *headers, "", text.get_content().rstrip("\n")])

    async def aclose(self) -> None:
        """Nothing is kept open."""

    @property
    def _where(self) -> str:
        return f"smtp://{self._settings.host}:{self._port}"

    @property
    def _port(self) -> int:
        return self._settings.port or MAIL_PORTS[self._settings.tls]

    def _mail(self, notification: Notification) -> EmailMessage:
        settings, now = self._settings, self._now()
        return mail_of(notification, self._write(notification, now), settings.sender, settings.to, now)

    async def _hand_over(
        self, mail: EmailMessage, to: Sequence[str], tls: ssl.SSLContext | None, password: str
    ) -> Mapping[str, DeliveryOutcome]:
        """What the server answers for each address. Raises AttemptError and _MailRefusedError."""
        settings = self._settings
        client = aiosmtplib.SMTP(
            hostname=str(settings.host),
            port=self._port,
            timeout=settings.timeout / 1000,
            use_tls=settings.tls == "implicit",
            start_tls=False,
        )
        steps = _Steps(self._where, settings, password)
        try:
            try:
                async with asyncio.timeout(settings.timeout / 1000):
                    if tls is None and settings.tls != "none":
                        tls = await asyncio.to_thread(ssl.create_default_context)
                    self._own_name = self._own_name or await asyncio.to_thread(own_name)
                    await client.connect(tls_context=tls, local_hostname=self._own_name)
                    if settings.tls == "starttls":
                        steps.now = "starttls"
                        await client.starttls()
                    if settings.user is not None:
                        steps.now = "login"
                        await client.login(settings.user, password)
                    steps.now = "mail"
                    sender = mail_parts(settings.sender)[1]
                    problems, _ = await client.sendmail(sender, to, mail.as_bytes())
            except aiosmtplib.SMTPRecipientsRefused as error:
                return {each.recipient: steps.answer(each.code, each.message) for each in error.recipients}
            except (aiosmtplib.SMTPException, OSError, ValueError) as error:
                raise steps.error(error) from None
            # The server has the mail, whatever happens now.
            with suppress(aiosmtplib.SMTPException, OSError):
                async with asyncio.timeout(_QUIT_S):
                    await client.quit()
        finally:
            client.close()
        answers = {name: steps.answer(*response) for name, response in problems.items()}
        return {name: answers.get(name, accepted("accepted")) for name in to}

    def _log_refusals(self, outcome: DeliveryOutcome, answers: Mapping[str, DeliveryOutcome]) -> None:
        """A mail that only some have got is done all the same; nothing else would show who gets none."""
        name = str(self._settings.name)
        key = f"addresses {name}"
        if outcome.status is not DeliveryStatus.ACCEPTED:
            return
        if all(each.status is DeliveryStatus.ACCEPTED for each in answers.values()):
            forget(_LOG, key)
            return
        extra = as_change(key, "receiver.addresses_refused", receiver=name)
        _LOG.warning(f"receiver {name}: not everybody gets its mails: {outcome.text}", extra=extra)


def own_name() -> str:
    """By what this machine introduces itself to a mail server: its name with a domain, else its address. It may ask DNS."""
    name = socket.gethostname()
    if "." not in name:
        name = socket.getfqdn()
    if "." in name and name.isascii():
        return name
    try:
        return f"[{socket.gethostbyname(socket.gethostname())}]"
    except OSError:
        return "[127.0.0.1]"


class _MailRefusedError(Exception):
    """The server does not take this mail; it may take others."""


class _Steps:
    """Where an attempt stands, and what an error means there. ``now`` is connect, starttls, login or mail."""

    def __init__(self, where: str, settings: EmailSettings, password: str) -> None:
        self.now = "connect"
        self._where = where
        self._settings = settings
        user = settings.user or ""
        plain = (password, f"{user}:{password}", f"\0{user}\0{password}") if password else ()
        self._secrets = [*plain, *(b64encode(text.encode()).decode() for text in plain)]

    def answer(self, code: int, text: str) -> DeliveryOutcome:
        """What the answer about an address means."""
        return (refused if 500 <= code < 600 else again)(self._said(code, text))

    def error(self, error: Exception) -> AttemptError | _MailRefusedError:
        """What an error means for the notification, for people."""
        if isinstance(error, aiosmtplib.SMTPDataError) and 500 <= error.code < 600:
            return _MailRefusedError(f"refused the mail: {self._said(error.code, error.message)}")
        return AttemptError(f"{self._where} {self._trouble(error)}")

    def _said(self, code: int, text: str) -> str:
        return excerpt(f"{code} {text}", self._secrets)

    def _trouble(self, error: Exception) -> str:
        cause = error.__cause__ or error.__context__ or error
        match error:
            case TimeoutError():
                return f"did not take the mail within {format_duration(self._settings.timeout)}"
            case aiosmtplib.SMTPAuthenticationError():
                return (
                    f"refused user and password: {self._said(error.code, error.message)}; check user and password_file"
                )
            case aiosmtplib.SMTPSenderRefused():
                hint = "check user, password_file and tls" if error.code == 530 else "check from"
                return f"refused the sender: {self._said(error.code, error.message)}; {hint}"
            case aiosmtplib.SMTPResponseException():
                return f"answered {self._said(error.code, error.message)}"
            case aiosmtplib.SMTPException() if type(error) in _NOT_OFFERED and self.now in ("starttls", "login"):
                offer = "STARTTLS; check tls" if self.now == "starttls" else "a way to log in; check user"
                return f"does not offer {offer}"
        match cause:
            case ssl.SSLError():
                return tls_trouble(cause)
            case socket.gaierror() | UnicodeError():
                return "cannot be found: its name is not known"
            case OSError() if self.now == "connect" and cause.errno:
                return f"cannot be reached ({os_error_text(cause)})"
            case ConnectionError():
                return "closed the connection without an answer"
            case _:
                return f"cannot be used ({type(cause).__name__})"
