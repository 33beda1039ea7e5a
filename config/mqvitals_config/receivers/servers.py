"""Settings of receivers that are servers with a protocol of their own: syslog and mail."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Annotated, Final, Literal

from mqvitals_config.decoding.problem import LocatedText
from mqvitals_config.decoding.scalars import resolved_path
from mqvitals_config.decoding.schema import Convert, Doc, SecretFile, matching
from mqvitals_config.receivers.receiver import TlsReceiverSettings

HOST_FORM = "the name or the IP address of a host"
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_.])?")


def server_host(text: LocatedText) -> LocatedText:
    """``text`` itself, the name or the address of a host; raises ValueError."""
    if _HOST.fullmatch(text):
        return text
    try:
        ip_address(text)
    except ValueError:
        host, _, port = text.rpartition(":")
        hint = "; its port is written as port" if _HOST.fullmatch(host) and port.isdigit() else ""
        raise ValueError(f"expected {HOST_FORM}{hint}") from None
    return text


def server_port(number: int) -> int:
    """``number`` itself, a port; raises ValueError."""
    if not 1 <= number <= 65_535:
        raise ValueError("a port is from 1 to 65535")
    return number


ServerHost = Annotated[Annotated[LocatedText, Convert(server_host, HOST_FORM)] | None, Doc("The host of the server.")]
ServerPort = Annotated[
    Annotated[int, server_port] | None, Doc("The port of the server.", default="that of its protocol")
]

SyslogTransport = Literal["unix", "udp", "tcp", "tls"]
SyslogFacility = Literal[
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "ntp", "audit", "alert",
    "clock", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
]  # fmt: skip
"""In the order of their numbers in RFC 5424."""

SYSLOG_SOCKET: Final = "/dev/log"
SYSLOG_PORT: Final = 514
SYSLOG_TLS_PORT: Final = 6514


@dataclass(frozen=True, slots=True)
class SyslogSettings(TlsReceiverSettings):
    """A server of syslog messages as RFC 5424 has them."""

    transport: Annotated[
        SyslogTransport,
        Doc(
            "How messages reach it: by a socket of this machine, or over the network. Of UDP nobody learns what is lost."
        ),
    ] = "unix"
    socket: Annotated[
        Annotated[LocatedText, Convert(resolved_path, "the path of a socket")] | None,
        Doc("The socket of this machine.", default=SYSLOG_SOCKET),
    ] = None
    host: ServerHost = None
    port: ServerPort = None
    facility: Annotated[SyslogFacility, Doc("The facility of its messages.")] = "daemon"
    app_name: Annotated[
        Annotated[str, matching("[!-~]{1,48}", "expected 1 to 48 printable characters of ASCII, without blanks")],
        Doc("The name of the program in its messages."),
    ] = "mqvitals"
    max_length: Annotated[
        int,
        Doc("The most bytes of one message, from 1024 to 60000. The end of a longer text is cut."),
    ] = 2048

    def __post_init__(self) -> None:
        # A class with slots is made anew by the decorator, so super() without arguments would not find it.
        TlsReceiverSettings.__post_init__(self)
        if self.template is not None:
            self.template.refuse_title()
        if not 1024 <= self.max_length <= 60_000:
            raise ValueError("max_length must be from 1024 to 60000")
        if self.transport == "unix" and (self.host is not None or self.port is not None):
            raise ValueError("host and port are of a server on the network; give transport: udp, tcp or tls")
        if self.transport != "unix" and self.host is None:
            raise ValueError(f"transport {self.transport} needs the host of the server")
        if self.transport != "unix" and self.socket is not None:
            raise ValueError(f"socket is for transport unix, not for {self.transport}")
        if self.transport != "tls" and (self.ca_file is not None or self.client_certificate is not None):
            raise ValueError(f"ca_file and client_certificate are for transport tls, not for {self.transport}")


MAIL_FORM = "an address such as mq@example.com or MQ alerts <mq@example.com>"
_LOCAL_PART = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
_DOMAIN = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*"
_MAIL = re.compile(
    rf"(?:(?P<name>[^<>\"@,;]*?)\s*<(?P<named>{_LOCAL_PART}@{_DOMAIN})>|(?P<bare>{_LOCAL_PART}@{_DOMAIN}))"
)


def mail_address(text: LocatedText) -> LocatedText:
    """``text`` itself, the address of a mailbox with or without a name before it; raises ValueError."""
    if len(text) > 254 or not text.isprintable() or not _MAIL.fullmatch(text):
        raise ValueError(f"expected {MAIL_FORM}")
    return text


def mail_parts(address: str) -> tuple[str, str]:
    """Name, which may be empty, and mailbox of an address that ``mail_address`` takes."""
    found = _MAIL.fullmatch(address)
    assert found
    return (found["name"] or "").strip(), found["named"] or found["bare"]


MailAddress = Annotated[LocatedText, Convert(mail_address, MAIL_FORM)]
MailTls = Literal["starttls", "implicit", "none"]
MAIL_PORTS: Final[dict[MailTls, int]] = {"starttls": 587, "implicit": 465, "none": 25}


@dataclass(frozen=True, slots=True)
class EmailSettings(TlsReceiverSettings):
    """A mail server, and those to whom it brings mails."""

    host: ServerHost = None
    port: ServerPort = None
    tls: Annotated[
        MailTls,
        Doc("How the connection to it is encrypted: after it has begun, from the beginning, or not at all."),
    ] = "starttls"
    user: Annotated[str | None, Doc("The user by whose name mails are handed over.")] = None
    password_file: Annotated[SecretFile | None, Doc("A file that holds the user's password, and nothing else.")] = None
    sender: Annotated[MailAddress, Doc("The address that mails are from.")] = field(
        kw_only=True, metadata={"key": "from"}
    )
    to: Annotated[tuple[MailAddress, ...], Doc("The addresses to which mails go.")] = field(kw_only=True)

    def __post_init__(self) -> None:
        TlsReceiverSettings.__post_init__(self)
        if self.host is None:
            raise ValueError("this receiver needs the host of the mail server")
        if not self.to:
            raise ValueError("to names no address")
        if (self.user is None) != (self.password_file is None):
            raise ValueError("user and password_file go together; one of them is missing")
        if self.tls == "none" and self.user is not None:
            raise ValueError("a password is not sent over a connection without TLS; give tls: starttls or implicit")
        if self.tls == "none" and (self.ca_file is not None or self.client_certificate is not None):
            raise ValueError("ca_file and client_certificate are for TLS, and tls is none")
