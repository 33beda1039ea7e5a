"""The thread that computes and writes."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest

from mqvitals_agent.threads import ThreadWorker, WorkerEndedError


async def test_jobs_keep_their_order() -> None:
    """Jobs run one after another, in one thread that is not the loop's, also when more come than may wait."""
    worker = ThreadWorker()
    done: list[int] = []
    threads: set[int] = set()

    def job(number: int) -> int:
        done.append(number)
        threads.add(threading.get_ident())
        return number

    results = await asyncio.gather(*(worker.run(partial(job, number)) for number in range(50)))
    worker.end()
    assert results == done == list(range(50))
    assert len(threads) == 1
    assert threading.get_ident() not in threads


async def test_mistakes_come_back() -> None:
    """What a job raises is raised where it was called for, and the thread goes on."""
    worker = ThreadWorker()

    def broken() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        await worker.run(broken)
    assert await worker.run(lambda: 7) == 7
    worker.end()


async def test_cancelled_caller() -> None:
    """A caller that is cancelled leaves its job, which is done all the same; the next one gets its own answer."""
    worker = ThreadWorker()
    gate = threading.Event()
    done: list[str] = []

    def held() -> None:
        gate.wait(10)
        done.append("held")

    task = asyncio.create_task(worker.run(held))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.set()
    assert await worker.run(lambda: "next") == "next"
    assert done == ["held"]
    worker.end()


async def test_nothing_is_taken_after_the_end() -> None:
    """Whoever comes too late is told so, also who waited for room meanwhile; what was taken is done."""
    worker = ThreadWorker()
    gate = threading.Event()
    done: list[int] = []

    def job(number: int) -> None:
        assert gate.wait(10)
        done.append(number)

    calls = [asyncio.create_task(worker.run(partial(job, number))) for number in range(12)]
    await asyncio.sleep(0)
    worker.end()
    gate.set()
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert done == list(range(8))
    assert [type(each) for each in found[8:]] == [WorkerEndedError] * 4
    with pytest.raises(WorkerEndedError):
        await worker.run(lambda: 7)
