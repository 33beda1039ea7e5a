"""A service that waits for a sign of life, such as healthchecks.io: a call of its address."""

from __future__ import annotations

from collections.abc import Callable

from mqvitals_agent.notify.message import WriteMessage, message_of
from mqvitals_agent.notify.notification import Notification
from mqvitals_agent.notify.receiver import DeliveryOutcome
from mqvitals_agent.notify.receivers.attempt import Credentials, Reveal
from mqvitals_agent.notify.receivers.http import HttpClient, HttpRequest, Revealed, revealed_address
from mqvitals_config.decoding.secret import Secret
from mqvitals_config.receivers.services import HeartbeatSettings

_TEST = "this is a test of mqvitals: nothing is late"


class HeartbeatReceiver:
    """Calls one address while cycles go on, and another, where there is one, while they are late."""

    def __init__(
        self,
        settings: HeartbeatSettings,
        now: Callable[[], int],
        *,
        write: WriteMessage = message_of,  # noqa: ARG002 - it has no words
        reveal: Reveal = Secret.reveal,
    ) -> None:
        self._settings = settings
        self._http = HttpClient(settings, now, Credentials(settings, reveal))
        self.every_ms = settings.every

    async def beat(self, late: str, /) -> DeliveryOutcome | None:
        """Make one attempt; None when cycles are late and there is no address for that."""
        if late and self._settings.fail_address is None:
            return None
        return await self._http.attempt(lambda revealed: self._request(late, revealed))

    async def send(self, notification: Notification, /) -> DeliveryOutcome:
        """For a test: a failure, where there is an address for it, and then that all is well."""
        late = self._test(notification)
        return await self._http.attempt(lambda revealed: self._request(late, revealed))

    def shown(self, notification: Notification, /) -> str:
        """The request of ``send``, without secrets."""
        late = self._test(notification)
        return self._http.shown(lambda revealed: self._request(late, revealed))

    async def aclose(self) -> None:
        """Close the session."""
        await self._http.aclose()

    def _test(self, notification: Notification) -> str:
        return _TEST if notification.firing and self._settings.fail_address is not None else ""

    def _request(self, late: str, revealed: Revealed) -> HttpRequest:
        settings = self._settings
        address = settings.fail_address if late else settings.address
        assert address is not None
        method = "POST" if late else settings.method
        return HttpRequest(
            revealed_address(address, revealed), late, content_type="text/plain; charset=utf-8", method=method
        )
