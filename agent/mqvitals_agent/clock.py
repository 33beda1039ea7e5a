"""Time as a parameter: the system's clock, and a virtual clock that moves from event to event.

Virtual time stands still while there is anything to do. An event loop has nothing to do when it asks its selector to
wait: ``VirtualLoop`` then moves the clock to the next sleeper. So work takes no virtual time, however slow the machine
is, and the order of events depends on their times alone.
"""

from __future__ import annotations

import asyncio
import heapq
import selectors
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import Context
from itertools import count
from math import ceil
from typing import Any, Final, Protocol, TypeVar, TypeVarTuple, Unpack

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")

_SHORTEST_WAIT_S: Final = 0.001
"""The resolution of epoll."""
_STEADY_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""CLOCK_MONOTONIC stands still while Linux is suspended, though queue managers go on counting."""

_NO_LOOP: Final = "a virtual clock needs a VirtualLoop: see threads.run_in_loop"


class Clock(Protocol):
    """A source of time. Times are ms since 1970 UTC, lengths ms."""

    def now(self) -> int:
        """The time now."""
        ...

    async def sleep(self, ms: float) -> None:
        """Wait by this clock; not at all for 0 or less."""
        ...

    def timer(self, ms: float) -> asyncio.Future[None]:
        """A future that is done after this time. It starts behind what the event loop is to do already.

        Cancel it when nothing waits for it any more.
        """
        ...

    def hold(self) -> AbstractContextManager[None]:
        """Within, real work is under way (a thread, a socket, a subprocess): virtual time stands still."""
        ...

    def steady_s(self) -> float:
        """Seconds that only grow, also when ``now`` is set: for elapsed time. Work takes no virtual time."""
        ...


class SystemClock:
    """The operating system's clock."""

    def now(self) -> int:
        """The time now."""
        return time.time_ns() // 1_000_000

    async def sleep(self, ms: float) -> None:
        """Wait by the event loop's timer."""
        await asyncio.sleep(max(ms, 0) / 1000)

    def timer(self, ms: float) -> asyncio.Future[None]:
        """A future that the event loop's timer completes."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        handle = loop.call_later(max(ms, 0) / 1000, _complete, future)
        future.add_done_callback(lambda _: handle.cancel())
        return future

    def hold(self) -> AbstractContextManager[None]:
        """Real time goes on."""
        return nullcontext()

    def steady_s(self) -> float:
        """Seconds since the system started, including its suspension where the system counts that."""
        return time.clock_gettime(_STEADY_CLOCK)


class VirtualClock:
    """A clock that moves from one sleeper to the next while a ``VirtualLoop`` is idle and nothing holds it.

    ``pace`` is a multiple of real time, None: without waiting. When work takes longer, virtual time lags behind; no
    event is left out. ``latest`` returns the real time: virtual time does not go beyond it, and ``caught_up`` is called
    the first time that it has to wait for it. ``steady`` is a real clock of seconds.

    It belongs to the event loop in which something first sleeps by it. Use it in that loop's thread.
    """

    def __init__(
        self,
        begin: int,
        *,
        pace: float | None = None,
        latest: Callable[[], int] | None = None,
        caught_up: Callable[[], None] | None = None,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._begin = self._now = begin
        self._pace = pace
        self._latest = latest
        self.caught_up = caught_up
        self._steady = steady
        self._from: float | None = None
        self._sleepers: list[tuple[float, bool, int, asyncio.Future[None]]] = []
        self._numbers = count()
        self._holds = 0
        self._lag_s = 0.0
        self._set_by = 0

    def now(self) -> int:
        """The time of the last event."""
        return self._now

    async def sleep(self, ms: float) -> None:
        """Wait by this clock. Raises RuntimeError where the running event loop cannot move it."""
        if ms <= 0:
            await asyncio.sleep(0)
            return
        await self._sleeper(self._loop(), ms, last=False)

    def timer(self, ms: float) -> asyncio.Future[None]:
        """A future that is done after this time. Raises as ``sleep``."""
        loop = self._loop()
        future: asyncio.Future[None] = loop.create_future()
        if ms <= 0:
            loop.call_soon(_complete, future)
        else:
            # A sleeper of the same moment that slept before is before it.
            loop.call_soon(self._push, future, ms)
        return future

    async def advance(self, ms: float) -> None:
        """Wait until everything that is due until then is done, at its end too. Raises as ``sleep``."""
        await self._sleeper(self._loop(), ms, last=True)

    def _sleeper(self, loop: VirtualLoop, ms: float, *, last: bool) -> asyncio.Future[None]:
        future: asyncio.Future[None] = loop.create_future()
        self._push(future, ms, last=last)
        return future

    def _push(self, future: asyncio.Future[None], ms: float, *, last: bool = False) -> None:
        heapq.heappush(self._sleepers, (self._now + ms, last, next(self._numbers), future))

    def _loop(self) -> VirtualLoop:
        loop = asyncio.get_running_loop()
        if not isinstance(loop, VirtualLoop):
            raise RuntimeError(_NO_LOOP)  # noqa: TRY004 - the caller's argument is right, where it runs is not
        loop.move(self)
        return loop

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Within, virtual time stands still; real work is under way."""
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1

    def steady_s(self) -> float:
        """Virtual seconds, also when the clock was set meanwhile."""
        return (self._now - self._set_by) / 1000

    @property
    def lag_s(self) -> float:
        """The real seconds by which virtual time lags behind its pace."""
        return self._lag_s

    @property
    def pace(self) -> float | None:
        """The multiple of real time that is wanted; None: without waiting."""
        return self._pace

    @property
    def speed(self) -> float:
        """The multiple of real time so far."""
        passed = 0.0 if self._from is None else self._steady() - self._from
        return (self._now - self._begin) / 1000 / passed if passed > 0 else 0.0

    @property
    def awaited(self) -> bool:
        """Whether there is a sleeper or a hold."""
        return bool(self._holds) or any(not each[-1].done() for each in self._sleepers)

    def set(self, now: int) -> None:
        """Set the clock as an operator would: no time elapses, sleepers wait as long as before."""
        self._set_by += now - self._now
        self.suspend(now - self._now)

    def suspend(self, ms: int) -> None:
        """Let time elapse as while the machine is suspended: sleepers wait as long as before."""
        self._sleepers = [(each[0] + ms, *each[1:]) for each in self._sleepers]
        self._now += ms

    def begin(self) -> None:
        """Start the pace, the first time that it is called."""
        if self._from is None:
            self._from = self._steady()

    def step(self) -> float | None:
        """Move to the next sleeper, wake it and return 0; else the real seconds until it is due, None: none is."""
        while self._sleepers and self._sleepers[0][-1].done():
            heapq.heappop(self._sleepers)
        if not self._sleepers or self._holds:
            return None
        moment = ceil(self._sleepers[0][0])
        early = self._early_s(moment)
        if early > 0:
            return max(early, _SHORTEST_WAIT_S)
        self._now = max(self._now, moment)
        heapq.heappop(self._sleepers)[-1].set_result(None)
        return 0.0

    def catch_up(self) -> None:
        """Follow real time up to the next sleeper, so that real events that come meanwhile are before it."""
        if not self._sleepers or self._holds:
            return
        reached = self._sleepers[0][0]
        if self._pace is not None and self._from is not None:
            reached = min(reached, self._begin + (self._steady() - self._from) * 1000 * self._pace)
        if self._latest is not None:
            reached = min(reached, self._latest())
        self._now = max(self._now, int(reached))

    def _early_s(self, moment: int) -> float:
        """The real seconds until a time is due; 0 or less when it is."""
        early = 0.0
        if self._pace is not None and self._from is not None:
            early = (moment - self._begin) / 1000 / self._pace - (self._steady() - self._from)
            self._lag_s = max(-early, 0.0)
        if self._latest is not None and (ahead := (moment - self._latest()) / 1000) > max(early, 0):
            early = ahead
            if self.caught_up is not None:
                caught_up, self.caught_up = self.caught_up, None
                caught_up()
        return early


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that moves a virtual clock whenever it is idle; without one it is an ordinary loop.

    With a clock, callbacks of other threads run only when the loop is idle, so that their place among events does not
    depend on the speed of the thread. Calls in the executor hold the clock.
    """

    def __init__(self) -> None:
        super().__init__(_IdleSelector(self))
        self._clock: VirtualClock | None = None
        self._own_thread = threading.get_ident()
        self._callbacks: deque[asyncio.Handle] = deque()

    @property
    def clock(self) -> VirtualClock | None:
        """The clock that it moves."""
        return self._clock

    def move(self, clock: VirtualClock) -> None:
        """Move this clock from now on. Raises RuntimeError when another one has sleepers or holds."""
        if self._clock is not clock:
            if self._clock is not None and self._clock.awaited:
                raise RuntimeError("an event loop moves one virtual clock")
            self._clock = clock
            clock.begin()

    def idle(self, timeout: float | None, poll: Callable[[float | None], list[Any]]) -> list[Any]:
        """What the selector returns when the loop is idle: its events, or none once a sleeper was woken."""
        if self._callbacks:
            while self._callbacks:
                handle = self._callbacks.popleft()
                if not handle.cancelled():
                    self.call_soon(handle._run)
            return []
        if self._clock is None:
            return poll(timeout)
        if events := poll(0):
            return events
        wait = self._clock.step()
        if wait == 0:
            return []
        if wait is None:
            return poll(timeout)
        events = poll(wait if timeout is None else min(wait, timeout))
        self._clock.catch_up()
        return events

    def call_soon_threadsafe(
        self, callback: Callable[[Unpack[_Ts]], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """As in any loop; a callback of another thread runs when the loop is idle."""
        if self._clock is None or threading.get_ident() == self._own_thread:
            return super().call_soon_threadsafe(callback, *args, context=context)
        handle = asyncio.Handle(callback, args, self, context)
        self._callbacks.append(handle)
        super().call_soon_threadsafe(_wake)
        return handle

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[_Ts]], _T], *args: *_Ts
    ) -> asyncio.Future[_T]:
        """As in any loop; the clock stands still meanwhile."""
        future = super().run_in_executor(executor, func, *args)
        if self._clock is not None:
            hold = self._clock.hold()
            hold.__enter__()
            future.add_done_callback(lambda _: hold.__exit__(None, None, None))
        return future


class _IdleSelector(selectors.DefaultSelector):
    """Calls ``VirtualLoop.idle`` instead of waiting."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout <= 0:
            # Virtual time stands still while there is anything to do: so can real events, and each look is a system call.
            return super().select(timeout) if self._loop.clock is None else []
        return self._loop.idle(timeout, super().select)


@contextmanager
def held() -> Iterator[None]:
    """Within, the virtual clock of the running event loop stands still, if there is one."""
    loop = asyncio.get_running_loop()
    with nullcontext() if not isinstance(loop, VirtualLoop) or loop.clock is None else loop.clock.hold():
        yield


def _complete(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _wake() -> None:
    """Does nothing: its call ends the loop's wait."""


_CANCEL_S: Final = 0.3
"""A cancelled call may take this long to end; it is abandoned after that."""


async def with_timeout(
    call: Coroutine[Any, Any, _T], clock: Clock, limit_ms: float, late: Callable[[_T], None] = lambda _: None
) -> _T:
    """What the call returns or raises. Raises TimeoutError when it takes longer than ``limit_ms`` by the clock.

    ``late`` gets what the call returns after the limit, or after the caller was cancelled.
    """
    work = asyncio.create_task(call)
    alarm = clock.timer(limit_ms)
    either: tuple[asyncio.Future[Any], ...] = work, alarm
    taken = False
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            taken = True
            return work.result()
        raise TimeoutError
    finally:
        alarm.cancel()
        if not taken:
            work.add_done_callback(lambda done: _on_late(done, late))
        if not work.done():
            work.cancel()
            await asyncio.wait({work}, timeout=_CANCEL_S)
        # What is raised holds this frame: a frame that held the task, which holds what it raised, would keep all of it
        # until the collector comes, which an agent has come seldom.
        del work, either


def _on_late(done: asyncio.Task[_T], late: Callable[[_T], None]) -> None:
    # Retrieving the exception keeps asyncio from reporting it.
    if not done.cancelled() and done.exception() is None:
        late(done.result())
