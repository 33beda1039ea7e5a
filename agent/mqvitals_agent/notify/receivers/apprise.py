"""Everything else: the services that the package apprise knows, which is an extra of mqvitals.

apprise blocks, so it runs in a thread. It says of each address whether it was notified, and why not in its log alone.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Final
from urllib.parse import unquote

from mqvitals_agent.notify.message import NotificationMessage
from mqvitals_agent.notify.notification import Notification
from mqvitals_agent.notify.receiver import DeliveryOutcome
from mqvitals_agent.notify.receivers.attempt import (
    HIDDEN,
    Addressees,
    AttemptError,
    MessageReceiver,
    accepted,
    again,
    excerpt,
)
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.threads import BoundedCall, NoAnswerError
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_config.receivers.services import APPRISE_MISSING, AppriseSettings
from mqvitals_rules.lifecycle.alert import Severity

_KINDS: Final = {Severity.CRITICAL: "failure", Severity.WARNING: "warning", Severity.INFO: "info"}
_GOOD: Final = "success"
_LOG: Final = "apprise"
_SECRET_PART = re.compile(r"[^/?&=#:@,]{4,}")


class AppriseReceiver(MessageReceiver[AppriseSettings]):
    """Notifies each address of a file through apprise."""

    def _begin(self) -> None:
        self._notifying = BoundedCall()
        self._addresses: Sequence[str] = ()
        self._addressees = Addressees(())

    async def send(self, notification: Notification, /) -> DeliveryOutcome:
        """Notify the addresses that have not accepted this notification yet."""
        settings = self._settings
        message = self._write(notification, self._now())
        try:
            texts, _ = await self._credentials.read()
            self._adopt(texts[settings.urls_file])
        except AttemptError as error:
            return error.outcome
        # A number alone would not do: that of a test alert is 0.
        alerts = (f"{each.fingerprint} {each.status.value}" for each in notification.alerts)
        names = self._addressees.ahead(" ".join((str(notification.number), notification.key, *alerts)))
        answers: dict[str, DeliveryOutcome] = {}
        addresses = {name: self._addresses[int(name.rpartition(" ")[2]) - 1] for name in names}
        try:
            await self._notifying.run(lambda: _notify(addresses, message, answers), settings.timeout / 1000)
        except AttemptError as error:
            return error.outcome
        except NoAnswerError:
            pass
        silent = again(f"it was not notified within {format_duration(settings.timeout)}")
        return self._addressees.settle({name: answers.get(name, silent) for name in names}, self._now())

    def shown(self, notification: Notification, /) -> str:
        """Kind, title and text."""
        message = self._write(notification, self._now())
        kind, title, text = _parts(message)
        return f"to {HIDDEN} addresses in {self._settings.urls_file.origin}\ntype: {kind}\ntitle: {title}\n\n{text}"

    async def aclose(self) -> None:
        """Nothing is kept open."""

    def _adopt(self, text: str) -> None:
        """Take the addresses of the file, when they are others than before. Raises AttemptError when there is none."""
        lines = (line.strip() for line in text.splitlines())
        addresses = tuple(line for line in lines if line and not line.startswith("#"))
        if not addresses:
            raise AttemptError(f"{self._settings.urls_file.origin} holds no address")
        if addresses != self._addresses:
            self._addresses = addresses
            self._addressees = Addressees([f"address {number}" for number in range(1, len(addresses) + 1)])


def _parts(message: NotificationMessage) -> tuple[str, str, str]:
    """What apprise calls the type of a notification, its title and its text."""
    kind = _GOOD if message.resolved else _KINDS[message.severity]
    return kind, safe(" ".join(message.title.split())), "\n".join(map(safe, message.plain.splitlines()))


def _notify(addresses: Mapping[str, str], message: NotificationMessage, answers: dict[str, DeliveryOutcome]) -> None:
    """Notify addresses one after another, for a thread. Each answer is in ``answers`` at once. Raises AttemptError."""
    apprise = _imported()
    kind, title, text = _parts(message)
    for name, address in addresses.items():
        with _warnings() as said:
            try:
                service = apprise.Apprise.instantiate(address, asset=apprise.AppriseAsset(app_id="mqvitals"))
                known = service is not None
                # Not by Apprise.notify: its threads keep the process from ending while a service hangs.
                done = known and service.notify(body=text, title=title, notify_type=kind, body_format="text")
            except Exception as error:  # noqa: BLE001 - it has a hundred plugins, and one that fails must not end the agent
                known, done = True, False
                said.append(type(error).__name__)
        if done:
            answers[name] = accepted("accepted")
        elif not known:
            answers[name] = again("it is no address that apprise knows")
        else:
            why = excerpt(said[0] if said else "apprise does not say why", _secrets_of(address))
            answers[name] = again(f"it was not notified: {why}")


def _imported() -> ModuleType:
    try:
        import apprise
    except ImportError:
        raise AttemptError(APPRISE_MISSING) from None
    # Its lines may hold addresses; what matters of them is in the outcome.
    logging.getLogger(_LOG).propagate = False
    return apprise


def _secrets_of(address: str) -> set[str]:
    """Every part of an address that a line of apprise's log may repeat."""
    rest = address.partition("://")[2]
    parts = {address, rest, *_SECRET_PART.findall(rest)}
    return parts | {unquote(part) for part in parts}


class _ThreadHandler(logging.Handler):
    """Keeps the warnings of one thread."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what this thread logs."""
        if record.thread == self._thread:
            self.said.append(record.getMessage())


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """What apprise warns of within, in this thread."""
    handler = _ThreadHandler()
    log = logging.getLogger(_LOG)
    log.addHandler(handler)
    try:
        yield handler.said
    finally:
        log.removeHandler(handler)
