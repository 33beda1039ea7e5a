"""Waiting for something, but not for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from mqvitals_agent.clock import Clock

_T = TypeVar("_T")

_FAREWELL_S = 0.3
"""How long a cancelled call may take to end; one that does not is left behind."""


async def limited(
    call: Coroutine[Any, Any, _T], clock: Clock, limit_ms: float, leftover: Callable[[_T], None] = lambda _: None
) -> _T:
    """What the call returns, or raises. Raises TimeoutError when it takes longer than ``limit_ms`` by the clock.

    ``leftover`` gets what the call returns too late, after the limit or when the caller has been cancelled: however late.
    """
    work = asyncio.create_task(call)
    alarm = asyncio.create_task(clock.sleep(limit_ms))
    taken = False
    try:
        await asyncio.wait({work, alarm}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            taken = True
            return work.result()
        raise TimeoutError
    finally:
        alarm.cancel()
        if not taken:
            work.add_done_callback(lambda done: _too_late(done, leftover))
        if not work.done():
            work.cancel()
            await asyncio.wait({work}, timeout=_FAREWELL_S)


def _too_late(done: asyncio.Task[_T], leftover: Callable[[_T], None]) -> None:
    # To ask for the exception is to say that nobody will miss it.
    if not done.cancelled() and done.exception() is None:
        leftover(done.result())
