"""Waiting for something, but not for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from mqvitals_agent.clock import Clock

_T = TypeVar("_T")

_FAREWELL_S = 0.3
"""How long a cancelled call may take to end; one that does not is left behind."""


async def limited(call: Coroutine[Any, Any, _T], clock: Clock, limit_ms: float) -> _T:
    """What the call returns, or raises. Raises TimeoutError when it takes longer than ``limit_ms`` by the clock."""
    work = asyncio.create_task(call)
    alarm = asyncio.create_task(clock.sleep(limit_ms))
    try:
        await asyncio.wait({work, alarm}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        raise TimeoutError
    finally:
        alarm.cancel()
        if not work.done():
            work.cancel()
            await asyncio.wait({work}, timeout=_FAREWELL_S)
