"""Asking the store until it answers: what has been delivered must be noted before the next is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from mqvitals_agent.clock import Clock
from mqvitals_agent.notify.backoff import pause_ms
from mqvitals_agent.notify.log import Log
from mqvitals_agent.store.error import StoreError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """Goes on asking. ``about`` names in the log for what; ``chance`` gives random numbers from 0 to 1."""

    clock: Clock
    log: Log
    chance: Callable[[], float]
    about: str

    async def ask(self, question: Callable[[], Awaitable[T]]) -> T:
        """What the store says, however long it takes."""
        key, failures = f"outbox {self.about}", 0
        while True:
            try:
                found = await question()
            except StoreError as error:
                failures += 1
                self.log.changed(key, "outbox.failing", str(error), level="error", receiver=self.about)
                await self.clock.sleep(pause_ms(failures, self.chance()))
            else:
                self.log.changed(key, "outbox.failing", "")
                return found
