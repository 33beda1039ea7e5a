"""What an attempt needs whatever its protocol: secrets and certificates read beside the event loop, texts without secrets."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Final, Generic, TypeVar

from mqvitals_agent.notify.message import WriteMessage, message_of
from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus
from mqvitals_agent.text.terminal import cut, safe
from mqvitals_agent.threads import BoundedCall, NoAnswerError
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_config.decoding.secret import Secret, SecretError
from mqvitals_config.receivers.receiver import ReceiverSettings, TlsReceiverSettings

HIDDEN: Final = "(hidden)"
"""What stands for a secret where something is shown."""

EXCERPT_CELLS: Final = 160

Reveal = Callable[[Secret], str]
"""Returns the text of a secret. Raises SecretError; may hang."""


class AttemptError(Exception):
    """An attempt cannot be made or has failed, for a reason that may pass; the message is for people and holds no secret."""

    @property
    def outcome(self) -> DeliveryOutcome:
        """It is tried again."""
        return again(str(self))


class Credentials:
    """The secrets and certificates of a receiver, read for every attempt: a changed file works without a restart.

    ``reveal`` may hang, so it runs in a thread.
    """

    def __init__(self, settings: ReceiverSettings, reveal: Reveal = Secret.reveal) -> None:
        self._settings = settings
        self._secrets = secrets_of(settings)
        self._reveal = reveal
        self._reading = BoundedCall()

    async def read(self) -> tuple[Mapping[Secret, str], ssl.SSLContext | None]:
        """The texts of all secrets, without blanks around them, and how the other side's certificate is checked.

        It may take the receiver's timeout. No context: as the operating system does it. Raises AttemptError.
        """
        timeout = self._settings.timeout
        try:
            return await self._reading.run(self._read, timeout / 1000)
        except NoAnswerError:
            files = " or ".join(dict.fromkeys(each.origin for each in self._secrets)) or "ca_file"
            within = format_duration(timeout)
            raise AttemptError(f"{files} could not be read within {within}: check its file system") from None
        except SecretError as error:
            raise AttemptError(str(error)) from None

    def _read(self) -> tuple[Mapping[Secret, str], ssl.SSLContext | None]:
        texts = {secret: self._reveal(secret).strip() for secret in self._secrets}
        return texts, tls_context(self._settings) if isinstance(self._settings, TlsReceiverSettings) else None


S = TypeVar("S", bound=ReceiverSettings)


class MessageReceiver(Generic[S]):
    """What receivers of messages are made with. A subclass makes in ``_begin`` what else it keeps.

    ``now`` returns the time in ms UTC, ``write`` puts a notification into words, ``reveal`` returns the text of a secret.
    """

    def __init__(
        self,
        settings: S,
        now: Callable[[], int],
        *,
        write: WriteMessage = message_of,
        reveal: Reveal = Secret.reveal,
    ) -> None:
        self._settings = settings
        self._now = now
        self._write = write
        self._credentials = Credentials(settings, reveal)
        self._begin()

    def _begin(self) -> None:
        """Called last when it is made."""


def secrets_of(settings: ReceiverSettings) -> tuple[Secret, ...]:
    """Every secret that an attempt may need."""
    found = []
    for item in fields(settings):
        value = getattr(settings, item.name)
        several = value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else (value,)
        found += [each for each in several if isinstance(each, Secret)]
    return tuple(found)


def tls_context(settings: TlsReceiverSettings) -> ssl.SSLContext | None:
    """How the receiver's certificate is checked; None: as the operating system does it. Raises AttemptError."""
    if settings.ca_file is None and settings.client_certificate is None:
        return None
    names = "client_certificate", "client_key_file"
    return context_of(settings.ca_file, settings.client_certificate, settings.client_key_file, names)


def context_of(
    authorities: str | None, certificate: str | None, key: str | None, names: tuple[str, str]
) -> ssl.SSLContext:
    """A context that trusts these authorities (None: those of the operating system), with our certificate and its key, all
    files; ``names`` are those of the two settings. Raises AttemptError.
    """
    try:
        context = ssl.create_default_context(cafile=authorities)
    except (OSError, ssl.SSLError) as error:
        raise AttemptError(f"ca_file {authorities} {_file_trouble(error)}") from None
    if certificate is not None:
        try:
            # A key with a password would ask for it at the terminal.
            context.load_cert_chain(certificate, key, password=lambda: "")
        except (OSError, ssl.SSLError) as error:
            files = f" or {names[1]} ".join(filter(None, (certificate, key)))
            raise AttemptError(f"{names[0]} {files} {_file_trouble(error)}") from None
    return context


def _file_trouble(error: OSError) -> str:
    if isinstance(error, ssl.SSLError) or not error.errno:
        return "holds no certificate and key in PEM that fit together and need no password"
    return f"cannot be read: {os.strerror(error.errno)}"


def excerpt(text: str | bytes, secrets: Iterable[str]) -> str:
    """The beginning of what another program says, on one line, without those of ``secrets`` that it repeats."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return cut(safe(" ".join(text.split())), EXCERPT_CELLS)


def readable(body: str) -> str:
    """A body of JSON with a line for each value; another as it is."""
    try:
        return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except ValueError:
        return body


def os_error_text(error: OSError) -> str:
    """What the operating system calls an error."""
    return os.strerror(error.errno) if error.errno else type(error).__name__


def tls_trouble(error: ssl.SSLError) -> str:
    """Why a connection over TLS has failed. A certificate is refused with the reason that OpenSSL gives."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"cannot be trusted: {safe(error.verify_message)}"
    return f"cannot be trusted: the TLS handshake failed ({safe(error.reason or type(error).__name__)})"


def accepted(text: str) -> DeliveryOutcome:
    """The receiver has taken the notification."""
    return DeliveryOutcome(DeliveryStatus.ACCEPTED, text)


def refused(text: str) -> DeliveryOutcome:
    """The receiver does not take this notification."""
    return DeliveryOutcome(DeliveryStatus.REFUSED, text)


def again(text: str) -> DeliveryOutcome:
    """The receiver has a problem, or its settings do."""
    return DeliveryOutcome(DeliveryStatus.AGAIN, text)


PATIENCE_MS: Final = 900_000
"""How long one of several addresses that does not accept now keeps a notification from being done: greylisting takes minutes."""
_MOST_NAMED: Final = 3


class Addressees:
    """Keeps who of several addresses has accepted a notification: an attempt that is repeated goes to the others alone.

    An address that accepts nothing for longer than PATIENCE_MS holds up nobody any more until it accepts something. What is
    kept here ends with the process: then an address may get a notification twice.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._key = ""
        self._taken: set[str] = set()
        self._since: dict[str, int] = {}

    def ahead(self, key: str) -> list[str]:
        """Those that have not accepted the notification ``key`` yet."""
        if key != self._key:
            self._key, self._taken = key, set()
        return [name for name in self._names if name not in self._taken]

    def settle(self, answers: Mapping[str, DeliveryOutcome], now: int) -> DeliveryOutcome:
        """The outcome of an attempt at ``now`` (ms UTC) for the notification of the last ``ahead``.

        It is accepted when one has accepted it, and the others refuse it or have accepted nothing for a long time.
        """
        of_status = {
            status: [name for name, answer in answers.items() if answer.status is status] for status in DeliveryStatus
        }
        self._taken.update(of_status[DeliveryStatus.ACCEPTED])
        later = of_status[DeliveryStatus.AGAIN]
        self._since = {name: self._since.get(name, now) for name in later}
        text = f"accepted for {len(self._taken)} of {len(self._names)}" if len(self._names) > 1 else ""
        troubles = [f"{name}: {answers[name].text}" for name in (*later, *of_status[DeliveryStatus.REFUSED])]
        if len(troubles) > _MOST_NAMED:
            troubles[_MOST_NAMED:] = [f"and {len(troubles) - _MOST_NAMED} more"]
        text = "; ".join([text, *troubles] if text else troubles) or "accepted"
        waited_for = [name for name in later if now - self._since[name] < PATIENCE_MS]
        if waited_for or (later and not self._taken):
            return again(text)
        return accepted(text) if self._taken else refused(text)
