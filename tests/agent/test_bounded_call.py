"""Calls that hang: given up in time, never more than one at once, and no hindrance to the end of loop and process."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time

import pytest

from mqvitals_agent.threads import BoundedCall, DaemonThreads, NoAnswerError, run_in_loop

AT_ONCE_S = 0.02


async def test_a_call_gives_what_the_function_gives() -> None:
    """Its result, or what it raises, a TimeoutError of the operating system among that."""
    call = BoundedCall()
    assert await call.run(lambda: 7, 10) == 7

    def fails() -> None:
        raise TimeoutError(110, "Connection timed out")

    with pytest.raises(TimeoutError, match="Connection timed out"):
        await call.run(fails, 10)
    assert await call.run(lambda: 8, 10) == 8


async def test_a_call_that_hangs_is_given_up_and_not_repeated() -> None:
    """As long as it hangs the next is not made; when it returns, the next goes its way."""
    release = threading.Event()
    made: list[int] = []

    def hang() -> None:
        made.append(1)
        release.wait(60)

    call = BoundedCall()
    for _ in range(5):
        with pytest.raises(NoAnswerError):
            await call.run(hang, AT_ONCE_S)
    assert made == [1]
    waiting = asyncio.create_task(call.run(lambda: "next", 60))
    await asyncio.sleep(0)
    release.set()
    assert await waiting == "next"


async def test_a_mistake_after_the_end_of_waiting_is_nobodys() -> None:
    """It is not reported as one that was never looked at."""
    release, told = threading.Event(), []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))

    def hang() -> None:
        release.wait(60)
        raise ValueError

    call = BoundedCall()
    with pytest.raises(NoAnswerError):
        await call.run(hang, AT_ONCE_S)
    release.set()
    assert await call.run(lambda: 1, 60) == 1
    assert told == []


def test_threads_are_limited() -> None:
    """One more call fails; one that has returned makes room."""
    release = threading.Event()
    threads = DaemonThreads(1)
    first = threads.submit(release.wait, 60)
    with pytest.raises(OSError, match="too many calls have not returned"):
        threads.submit(int).result(60)
    release.set()
    assert first.result(60)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            assert threads.submit(int, "5").result(60) == 5
        except OSError:
            time.sleep(0.001)  # the first thread is just about to end
        else:
            return
    pytest.fail("no room was made")


def test_the_loop_ends_while_a_call_hangs() -> None:
    """Of the loop's own executor too, which looks names up."""
    release = threading.Event()

    async def main() -> str:
        asyncio.get_running_loop().run_in_executor(None, release.wait, 60)
        await asyncio.sleep(0)
        return "ended"

    try:
        assert run_in_loop(main()) == "ended"
    finally:
        release.set()


def test_the_process_ends_while_a_call_hangs() -> None:
    """The interpreter waits for no thread that hangs."""
    program = """
import asyncio, threading
from mqvitals_agent.threads import BoundedCall, NoAnswerError, run_in_loop
async def main():
    try:
        await BoundedCall().run(threading.Event().wait, 0.01)
    except NoAnswerError:
        print("given up")
    asyncio.get_running_loop().run_in_executor(None, threading.Event().wait)
run_in_loop(main())
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "given up\n", "")
