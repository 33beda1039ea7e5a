"""Time as it is passed to whatever needs it: the moment now and waiting, in life or faster."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """Where the time comes from. Moments are ms since 1970 UTC, lengths ms."""

    def now(self) -> int:
        """The moment now."""
        ...

    async def sleep(self, ms: float) -> None:
        """Wait for so long by this clock; not at all for nothing or less."""
        ...


class SystemClock:
    """The operating system's clock; or one that began at the moment ``begin`` and goes ``speed`` times as fast."""

    def __init__(
        self,
        begin: int | None = None,
        speed: float = 1.0,
        *,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._begin = begin
        self._speed = speed
        self._steady = steady
        self._from = steady()

    def now(self) -> int:
        """The moment now."""
        if self._begin is None:
            return time.time_ns() // 1_000_000
        return self._begin + int((self._steady() - self._from) * 1000 * self._speed)

    async def sleep(self, ms: float) -> None:
        """Wait for so long by this clock."""
        await asyncio.sleep(max(ms, 0) / 1000 / self._speed)
