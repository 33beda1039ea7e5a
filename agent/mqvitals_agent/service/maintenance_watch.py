"""Logs when maintenance windows begin and end. What they mute the outbox decides, which looks at the same calendar."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Final

from mqvitals_agent.alerting.maintenance import MaintenanceSpan, SiteCalendar, moment_text, spans_of
from mqvitals_agent.clock import Clock, with_timeout
from mqvitals_agent.log import as_event
from mqvitals_rules.timestamps import iso

_LOG = logging.getLogger(__name__)

_LONGEST_MS: Final = 60_000
"""The clock may be set while a window is awaited: it is looked at so often."""


class MaintenanceWatch:
    """Logs each beginning and end once, in ``run``. Used on the event loop's thread.

    A window that is on when the agent starts, or that a reload brings, begins then; one that a reload takes away ends then.
    ``clock`` is the agent's.
    """

    def __init__(self, calendar: SiteCalendar, clock: Clock) -> None:
        self._calendar = calendar
        self._clock = clock
        self._on: dict[str, MaintenanceSpan] = {}
        self._changed = asyncio.Event()

    def configure(self, calendar: SiteCalendar) -> None:
        """Use another calendar from now on."""
        self._calendar = calendar
        self._changed.set()

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            self._changed.clear()
            now = self._clock.now()
            self._look(now)
            change = self._calendar.next_change(now)
            if change is None:
                await self._changed.wait()
            else:
                with suppress(TimeoutError):
                    await with_timeout(self._changed.wait(), self._clock, min(change - now, _LONGEST_MS))

    def _look(self, now: int) -> None:
        before = self._on
        self._on = {each.name: each for each in spans_of(self._calendar.windows, now, now + 1)}
        for name in before:
            if name not in self._on:
                _LOG.info(f"maintenance '{name}' has ended", extra=as_event("maintenance.ended", maintenance=name))
        for name, each in self._on.items():
            if name not in before:
                about = "; ".join(dict.fromkeys(f"{window.about_text}: {window.reason}" for window in each.windows))
                until = moment_text(each.span.end, each.zone, now)
                _LOG.info(
                    f"maintenance '{name}' has begun, until {until}; nothing is notified about {about}",
                    extra=as_event("maintenance.began", maintenance=name, until=iso(each.span.end)),
                )
