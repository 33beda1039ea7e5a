"""Threads beside the event loop: one that runs functions in order, and daemon threads for calls that may hang.

``asyncio.to_thread`` and the loop's own executor use threads that both the loop's end and the interpreter's wait for:
one call that hangs in them keeps the process from ending.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final, Protocol, TypeVar, TypeVarTuple

from mqvitals_agent.clock import Clock, SystemClock, VirtualClock, VirtualLoop, held
from mqvitals_agent.errors import MqvitalsError

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")
_Rows_co = TypeVar("_Rows_co", covariant=True)

_BOUND = 8
"""Jobs that may wait; ``run`` waits before it adds one more. Nothing is dropped."""


class WorkerEndedError(MqvitalsError):
    """A worker was called after its end."""


class OnStore(Protocol[_Rows_co]):
    """Calls a function with some rows of the store on the store's thread. Raises StoreError."""

    def __call__(self, function: Callable[[_Rows_co], _T], /) -> Awaitable[_T]:
        """What ``function`` returns."""
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

    async def run(self, function: Callable[[*_Ts], _T], *arguments: *_Ts) -> _T:
        """The result of ``function(*arguments)``, which runs also when the caller is cancelled.

        Raises what it raises, and WorkerEndedError after the end.
        """
        async with self._slots:
            if self._ended:
                raise WorkerEndedError("the worker has ended")
            loop = asyncio.get_running_loop()
            future: asyncio.Future[_T] = loop.create_future()
            hold = self._clock.hold()

            def job() -> None:
                try:
                    result = function(*arguments)
                except BaseException as error:  # noqa: BLE001 - it is raised in the caller
                    resolve(future.set_exception, error)
                else:
                    resolve(future.set_result, result)

            def resolve(how: Callable[[Any], None], outcome: object) -> None:
                def in_loop() -> None:
                    hold.__exit__(None, None, None)
                    if not future.done():
                        how(outcome)

                with suppress(RuntimeError):  # the loop has ended, and with it the caller
                    loop.call_soon_threadsafe(in_loop)

            # Held until the job is done, also when the caller was cancelled.
            hold.__enter__()
            self._jobs.put(job)
            return await future

    def end(self) -> None:
        """Accept no more jobs; those that wait still run."""
        self._ended = True
        self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


MOST_THREADS: Final = 64
"""Calls of one executor that may be under way; each that hangs keeps its thread."""


class NoAnswerError(MqvitalsError):
    """A call has not returned in time. It continues in its thread."""


class DaemonThreads(ThreadPoolExecutor):
    """An executor with a daemon thread for each call; the end of the process does not wait for them.

    asyncio takes only a ThreadPoolExecutor as the default executor of a loop, so it is one by name.
    """

    def __init__(self, most: int = MOST_THREADS) -> None:
        super().__init__(1)
        self._free = threading.Semaphore(most)

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Run ``fn`` in a new daemon thread. The future fails with OSError when too many calls are under way."""
        future: Future[_T] = Future()
        if not self._free.acquire(blocking=False):
            future.set_exception(OSError(None, "too many calls have not returned"))
            return future

        def run() -> None:
            try:
                if not future.set_running_or_notify_cancel():
                    return
                try:
                    result = fn(*args, **kwargs)
                except BaseException as error:  # noqa: BLE001 - ``result()`` raises it
                    future.set_exception(error)
                else:
                    future.set_result(result)
            finally:
                self._free.release()

        threading.Thread(target=run, name="mqvitals-call", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - the signature of the base
        """Return at once."""
        super().shutdown(wait=False, cancel_futures=cancel_futures)


_THREADS = DaemonThreads()


class BoundedCall:
    """Makes calls that may hang, one after another: while one hangs, the next is not made.

    So repeated attempts never have more than one thread that hangs.
    """

    def __init__(self) -> None:
        self._before: asyncio.Future[Any] | None = None

    async def run(self, function: Callable[[], _T], limit_s: float) -> _T:
        """What ``function`` returns; raises what it raises, and NoAnswerError after ``limit_s`` seconds of real time.

        Virtual time stands still meanwhile.
        """
        with held():
            return await self._run(function, limit_s)

    async def _run(self, function: Callable[[], _T], limit_s: float) -> _T:
        loop = asyncio.get_running_loop()
        end = loop.time() + limit_s
        while self._before is not None and not self._before.done():
            if not await _done(self._before, end - loop.time()):
                raise NoAnswerError
        # Not by the loop's executor: an abandoned call must hold no clock.
        call: asyncio.Future[_T] = asyncio.wrap_future(_THREADS.submit(function))
        self._before = call
        # Retrieving the exception keeps asyncio from reporting it once the call is abandoned.
        call.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        if not await _done(call, end - loop.time()):
            raise NoAnswerError
        return call.result()


async def _done(call: asyncio.Future[Any], within_s: float) -> bool:
    done, _ = await asyncio.wait({call}, timeout=max(within_s, 0))
    return bool(done)


def run_in_loop(main: Coroutine[Any, Any, _T], clock: Clock | None = None) -> _T:
    """As ``asyncio.run``, but a thread that hangs does not keep the process from ending; moves a virtual ``clock``."""
    with asyncio.Runner(loop_factory=VirtualLoop if isinstance(clock, VirtualClock) else None) as runner:
        runner.get_loop().set_default_executor(DaemonThreads())
        return runner.run(main)
