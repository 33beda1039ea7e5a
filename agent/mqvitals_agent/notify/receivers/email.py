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
from email.message import EmailMessage
from typing import Final

import aiosmtplib

from mqvitals_agent.log import as_change, forget
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
from mqvitals_agent.notify.receivers.mail import mail_of, report_mail
from mqvitals_agent.notify.report import ReportMessage
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_config.receivers.servers import MAIL_PORTS, EmailSettings, mail_parts

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
