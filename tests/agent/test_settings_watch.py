"""Files of settings that are looked at while one of them does not answer."""

from __future__ import annotations

import asyncio
import threading
from contextlib import AbstractContextManager, nullcontext, suppress

from mqvitals_agent.clock import SystemClock
from mqvitals_agent.service.reload import FileMark, FileWatch


class Steps(SystemClock):
    """A clock whose sleepers wait for the next step."""

    def __init__(self) -> None:
        self.next = asyncio.Event()

    def now(self) -> int:
        return 0

    def hold(self) -> AbstractContextManager[None]:
        return nullcontext()

    async def sleep(self, ms: float) -> None:
        await self.next.wait()
        self.next.clear()


async def test_a_file_that_does_not_answer_hides_no_other() -> None:
    """It counts as unchanged; the other's change is told of, and its own when it answers again."""
    marks = {"a": FileMark(1, 1, 1), "b": FileMark(1, 1, 2)}
    hangs, release = threading.Event(), threading.Event()
    release.set()
    looks: dict[str, int] = {"a": 0, "b": 0}

    def mark(path: str) -> FileMark:
        looks[path] += 1
        if path == "a" and hangs.is_set():
            release.wait(60)
        return marks[path]

    clock, changes = Steps(), []

    async def changed() -> None:
        changes.append(dict(marks))

    watch = FileWatch(clock, changed, mark=mark, answer_s=0.01)
    await watch.watch(["a", "b"])
    running = asyncio.create_task(watch.run())

    async def look() -> None:
        before = looks["b"]
        clock.next.set()
        async with asyncio.timeout(60):
            while looks["b"] == before:  # noqa: ASYNC110 - a thread looks
                await asyncio.sleep(0.001)
        # Until it sleeps again.
        await asyncio.sleep(0.05)

    release.clear()
    hangs.set()
    marks["b"] = FileMark(2, 2, 2)
    await look()
    await look()
    assert len(changes) == 1
    assert looks["a"] == 2, "one look at the start, and one that hangs"
    marks["a"] = FileMark(3, 3, 3)
    hangs.clear()
    release.set()
    await look()
    await look()
    await look()
    assert len(changes) == 2
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
