"""One thread for everything that computes or writes, so that the event loop stays free."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

from mqvitals_agent.clock import Clock, SystemClock

_T = TypeVar("_T")

_BOUND = 8
"""Jobs that may wait. Whoever brings one more waits himself: nothing is dropped."""


class WorkerEndedError(Exception):
    """A worker was asked for something after its end."""


class Worker(Protocol):
    """Runs functions one after another, in the order in which they were brought, all in one thread."""

    async def call(self, function: Callable[[], _T]) -> _T:
        """What the function returns; raises what it raises, and WorkerEndedError after the end."""
        ...

    def end(self) -> None:
        """Take no more. A second call does nothing."""
        ...


class ThreadWorker:
    """A daemon thread: a call that hangs does not keep the process from ending. It holds ``clock`` while it works."""

    def __init__(self, name: str = "mqvitals-store", clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._ended = False
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._slots = asyncio.Semaphore(_BOUND)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether the thread has not ended yet."""
        return self._thread.is_alive()

    async def call(self, function: Callable[[], _T]) -> _T:
        """What the function returns; raises what it raises, and WorkerEndedError after the end.

        When the caller is cancelled the function runs nevertheless.
        """
        async with self._slots:
            if self._ended:
                raise WorkerEndedError("the worker has ended")
            loop = asyncio.get_running_loop()
            future: asyncio.Future[_T] = loop.create_future()
            hold = self._clock.hold()

            def job() -> None:
                try:
                    result = function()
                except BaseException as error:  # noqa: BLE001 - it is raised where it was called for
                    tell(future.set_exception, error)
                else:
                    tell(future.set_result, result)

            def tell(how: Callable[[Any], None], what: object) -> None:
                def told() -> None:
                    hold.__exit__(None, None, None)
                    if not future.done():
                        how(what)

                with suppress(RuntimeError):  # the loop has ended, and with it whoever waited
                    loop.call_soon_threadsafe(told)

            # Until it is done, also when nobody waits for it any more.
            hold.__enter__()
            self._jobs.put(job)
            return await future

    def end(self) -> None:
        """Take no more; what was taken is still done."""
        self._ended = True
        self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
