"""How queue managers are reached: channels, addresses, keys, users. Each setting is given for all, or for one.

The lengths are those of the fields of MQCD, MQCNO, MQSCO and MQCSP in IBM's headers cmqc.h and cmqxc.h
(``MQ_CHANNEL_NAME_LENGTH`` and so on). A longer value is refused, never cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Annotated, Final, Literal

from mqvitals_config.decoding.problem import LocatedText, Problem
from mqvitals_config.decoding.scalars import resolved_path
from mqvitals_config.decoding.schema import Convert, Doc, SecretFile, matching

CHANNEL_LENGTH: Final = 20
ADDRESSES_LENGTH: Final = 264
NAME_LENGTH: Final = 48
APPLICATION_LENGTH: Final = 28
CIPHER_LENGTH: Final = 32
KEY_REPOSITORY_LENGTH: Final = 256
LABEL_LENGTH: Final = 64
PEER_NAME_LENGTH: Final = 1024
URL_LENGTH: Final = 1024
CREDENTIAL_LENGTH: Final = 1024


_NAME = "[A-Za-z0-9._/%]"
_HOST = re.compile(r"[A-Za-z0-9.:_-]{1,240}(\([0-9]{1,5}\))?")
ADDRESS_FORM = "a host and its port, such as mvs1.example(1414)"


def address(text: LocatedText) -> LocatedText:
    """``text`` itself, a host and a port; raises ValueError."""
    if not _HOST.fullmatch(text):
        raise ValueError(f"expected {ADDRESS_FORM}")
    port = text.partition("(")[2].rstrip(")")
    if port and not 1 <= int(port) <= 65535:
        raise ValueError("a port is from 1 to 65535")
    return text


def application(text: LocatedText) -> LocatedText:
    """``text`` itself, an application's name; raises ValueError."""
    if not text or len(text) > APPLICATION_LENGTH or not text.isascii() or not text.isprintable():
        raise ValueError(f"an application's name has 1 to {APPLICATION_LENGTH} characters of ASCII")
    return text


def printable(length: int) -> Convert:
    """Takes ASCII that can be shown, at most ``length`` characters of it."""

    def checked(text: LocatedText) -> LocatedText:
        if not text or not text.isascii() or not text.isprintable():
            raise ValueError("expected characters of ASCII, none of them a control character")
        return _fitting(text, length)

    return Convert(checked)


def label(text: LocatedText) -> LocatedText:
    """``text`` itself, a certificate's label; raises ValueError."""
    if not text or not text.isprintable():
        raise ValueError("expected a label, without control characters")
    return _fitting(text, LABEL_LENGTH)


def key_repository(text: LocatedText) -> LocatedText:
    """The path of a key repository, beside the file that names it when it is relative; raises ValueError."""
    return _fitting(resolved_path(text), KEY_REPOSITORY_LENGTH)


def _fitting(text: LocatedText, length: int) -> LocatedText:
    """``text`` itself. Raises ValueError when MQ has no room for it, with a sentence that does not show it."""
    taken = len(text.encode("utf-8", "surrogateescape"))
    if taken > length:
        raise ValueError(f"this is {taken} bytes long, and MQ takes {length}")
    return text


ObjectText = Annotated[
    LocatedText,
    matching(f"{_NAME}{{1,48}}", "expected a name of MQ, at most 48 letters, digits and . _ / %", "a name of MQ"),
]
ChannelText = Annotated[
    LocatedText,
    matching(
        f"{_NAME}{{1,20}}",
        "expected the name of a channel, at most 20 letters, digits and . _ / %",
        "the name of a channel",
    ),
]
DynamicText = Annotated[
    LocatedText,
    matching(
        rf"{_NAME}{{1,32}}\*?",
        "expected the beginning of a queue's name, at most 32 characters, and a *",
        "the beginning of a queue's name and a *",
    ),
]
Address = Annotated[LocatedText, Convert(address, ADDRESS_FORM)]
ApplicationText = Annotated[LocatedText, Convert(application, "a name")]
VariableText = Annotated[
    LocatedText,
    matching(
        "[A-Za-z_][A-Za-z0-9_]{0,99}",
        "a variable's name has letters, digits and underscores, and does not begin with a digit",
        "the name of an environment variable",
    ),
]
Cipher = Annotated[LocatedText, printable(CIPHER_LENGTH)]
PeerName = Annotated[LocatedText, printable(PEER_NAME_LENGTH)]
Label = Annotated[LocatedText, Convert(label)]
TableAddress = Annotated[LocatedText, printable(URL_LENGTH)]
User = Annotated[LocatedText, printable(CREDENTIAL_LENGTH)]
KeyRepository = Annotated[LocatedText, Convert(key_repository, "the path of a key repository")]


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """TLS, as the channel's definition at the queue manager asks for it."""

    cipher: Annotated[
        Cipher | None,
        Doc(
            "The CipherSpec, the same as SSLCIPH of the channel, such as ANY_TLS12_OR_HIGHER. With `ccdt_url` it is in the"
            " table.",
            default="required with `channel`",
        ),
    ] = None
    key_repository: Annotated[
        KeyRepository | None,
        Doc("The key repository with the certificates, its path as the MQ client wants it (without `.kdb`)."),
    ] = None
    peer_name: Annotated[
        PeerName | None,
        Doc(
            "What the queue manager's certificate must contain, written as SSLPEER: CN=QM01,O=Example. With `ccdt_url` it"
            " is in the table."
        ),
    ] = None
    certificate_label: Annotated[
        Label | None, Doc("The label of our own certificate.", default="the MQ client chooses")
    ] = None


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """How to reach queue managers. What is not given for one of them is taken from the group's ``connection``."""

    binding: Annotated[
        Literal["auto", "ibmmq", "pymqi"] | None,
        Doc("The Python package that calls the MQ client; auto takes ibmmq, or else pymqi.", default="auto"),
    ] = None
    channel: Annotated[ChannelText | None, Doc("The server-connection channel.")] = None
    connection_names: Annotated[
        tuple[Address, ...],
        Doc(f"Where the queue manager listens, {ADDRESS_FORM}. Several are tried in turn."),
    ] = ()
    ccdt_url: Annotated[
        TableAddress | None,
        Doc(
            "A client channel definition table, instead of channel and connection_names: file:///etc/mq/ccdt.json. pymqi"
            " takes it only from the environment, as MQCCDTURL."
        ),
    ] = None
    tls: Annotated[TlsSettings | None, Doc("TLS; without it the connection is not encrypted.")] = None
    user: Annotated[
        User | None,
        Doc("The user id to connect with.", default="assigned by the channel's rules"),
    ] = None
    password_file: Annotated[SecretFile | None, Doc("A file that holds the password and nothing else.")] = None
    password_variable: Annotated[
        VariableText | None,
        Doc(
            "The environment variable that holds the password; with `_FILE` after its name, the file that does.",
            default="MQVITALS_PASSWORD",
        ),
    ] = None
    application_name: Annotated[
        ApplicationText | None,
        Doc("What DISPLAY CONN shows as APPLTAG. pymqi cannot set it.", default="mqvitals"),
    ] = None
    command_queue: Annotated[
        ObjectText | None,
        Doc("The queue that the command server reads.", default="read from the queue manager"),
    ] = None
    reply_queue: Annotated[
        ObjectText | None,
        Doc(
            "A permanent local queue for answers, of this agent alone, best with INDXTYPE(CORRELID).",
            default="a dynamic queue made from `reply_model`",
        ),
    ] = None
    reply_model: Annotated[
        ObjectText | None,
        Doc(
            "The model of a dynamic queue for answers.",
            default="SYSTEM.COMMAND.REPLY.MODEL, SYSTEM.DEFAULT.MODEL.QUEUE on other platforms than z/OS",
        ),
    ] = None
    dynamic_name: Annotated[
        DynamicText | None,
        Doc("What the name of a dynamic queue begins with; RACF checks it.", default="MQVITALS.*"),
    ] = None
    convert: Annotated[
        bool | None,
        Doc("Whether the queue manager's answers are converted on their way. Not needed.", default="false"),
    ] = None

    def completed_by(self, general: ConnectionSettings) -> ConnectionSettings:
        """These settings, completed by the ``general`` ones.

        With a channel table no channel is inherited, and the other way round.
        """
        own = {item.name: getattr(self, item.name) for item in fields(self)}
        given = {name: value for name, value in own.items() if value is not None and value != ()}
        if self.password_file is not None:
            general = replace(general, password_variable=None)
        elif self.password_variable is not None:
            general = replace(general, password_file=None)
        if self.ccdt_url is not None:
            general = replace(general, channel=None, connection_names=())
        elif self.channel is not None or self.connection_names:
            general = replace(general, ccdt_url=None)
        return replace(general, **given)

    @property
    def is_reachable(self) -> bool:
        """Whether a queue manager can be reached by it."""
        return self.ccdt_url is not None or (self.channel is not None and bool(self.connection_names))


def connection_contradictions(way: ConnectionSettings, queue_manager: LocatedText, path: str) -> Iterator[Problem]:
    """Contradictions in the connection settings of one queue manager, completed by the group's.

    A queue manager without addresses is no mistake: another member of the group can answer for it.
    """
    names = ",".join(way.connection_names)
    if way.ccdt_url is not None and (way.channel is not None or way.connection_names):
        yield Problem(way.ccdt_url.place, path, "give either ccdt_url, or channel and connection_names")
    elif way.connection_names and way.channel is None:
        yield Problem(queue_manager.place, path, f"{queue_manager} has connection_names and no channel")
    if way.is_reachable and not queue_manager.isascii():
        yield Problem(queue_manager.place, path, f"{queue_manager} has characters that no queue manager's name has")
    if way.channel is not None and way.is_reachable and way.tls is not None and way.tls.cipher is None:
        yield Problem(queue_manager.place, path, f"the tls of {queue_manager} has no cipher")
    if len(names) > ADDRESSES_LENGTH:
        message = f"the connection_names of {queue_manager} are longer than {ADDRESSES_LENGTH} characters together"
        yield Problem(way.connection_names[0].place, path, message)
    if way.user is None and (way.password_file is not None or way.password_variable is not None):
        yield Problem(queue_manager.place, path, f"{queue_manager} has a password and no user")
    if way.password_file is not None and way.password_variable is not None:
        message = f"{queue_manager} has two passwords; give either password_file or password_variable"
        yield Problem(way.password_variable.place, path, message)
