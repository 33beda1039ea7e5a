"""Virtual time: it moves from event to event, stands still while there is work, and never passes now."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import pytest

from mqvitals_agent.clock import SystemClock, VirtualClock, VirtualLoop, with_timeout
from mqvitals_agent.threads import ThreadWorker, run_in_loop

HOUR = 3_600_000


@dataclass
class Machine:
    """A machine's clocks, which only the test moves: seconds since its start, and a moment, ms."""

    seconds: float = 0.0

    def steady(self) -> float:
        return self.seconds

    def now(self) -> int:
        return round(self.seconds * 1000)


async def test_the_sleepers_wake_in_their_order() -> None:
    """Whoever sleeps less wakes first, whoever slept first wakes first at the same moment; no real time passes."""
    clock, woken = VirtualClock(1000), []

    async def sleep(name: str, ms: float) -> None:
        await clock.sleep(ms)
        woken.append((name, clock.now()))

    began = time.process_time()
    await asyncio.gather(sleep("b", 5 * HOUR), sleep("a", 0.2), sleep("c", 5 * HOUR), sleep("none", 0))
    assert woken == [("none", 1000), ("a", 1001), ("b", 1000 + 5 * HOUR), ("c", 1000 + 5 * HOUR)]
    assert time.process_time() - began < 5


async def test_a_moment_comes_when_the_one_before_is_done() -> None:
    """However many turns of the loop that takes."""
    clock, moments = VirtualClock(0), []

    async def work() -> None:
        await clock.sleep(1)
        for _ in range(500):
            await asyncio.sleep(0)
        moments.append(clock.now())

    await asyncio.gather(work(), clock.sleep(2))
    assert moments == [1]


async def test_one_that_is_cancelled_is_not_waited_for() -> None:
    """A long sleep that nobody needs any more costs no time."""
    clock = VirtualClock(0)
    task = asyncio.create_task(clock.sleep(HOUR))
    await clock.sleep(1)
    task.cancel()
    await clock.sleep(2 * HOUR)
    assert clock.now() == 2 * HOUR + 1


async def test_a_timer_is_done_in_its_order() -> None:
    """It comes behind who sleeps until the same moment since before; a cancelled timer costs no time."""
    clock, events = VirtualClock(0), []

    async def sleep(name: str, ms: float) -> None:
        await clock.sleep(ms)
        events.append((name, clock.now()))

    before = asyncio.create_task(sleep("before", HOUR))
    timer = clock.timer(HOUR)
    timer.add_done_callback(lambda _: events.append(("timer", clock.now())))
    clock.timer(2 * HOUR).cancel()
    await asyncio.sleep(0)
    await asyncio.gather(before, timer, sleep("after", HOUR), clock.timer(0))
    await clock.sleep(1)
    assert events == [("before", HOUR), ("timer", HOUR), ("after", HOUR)]
    assert clock.now() == HOUR + 1


async def test_what_ends_just_in_time_is_in_time() -> None:
    """A call that takes all of its time, but for one in several parts: the limit comes before the last of them."""
    clock = VirtualClock(0)

    async def twice(ms: float) -> None:
        await clock.sleep(ms)
        await clock.sleep(ms)

    await with_timeout(clock.sleep(HOUR), clock, HOUR)
    for call in (clock.sleep(HOUR + 1), twice(HOUR / 2)):
        with pytest.raises(TimeoutError):
            await with_timeout(call, clock, HOUR)
    assert clock.now() == 3 * HOUR


async def test_a_call_is_limited_by_the_clock_of_the_system_too() -> None:
    """A call that is done at once is in time, one that never ends is not."""
    await with_timeout(asyncio.sleep(0), SystemClock(), HOUR)
    with pytest.raises(TimeoutError):
        await with_timeout(asyncio.Event().wait(), SystemClock(), 1)


async def test_what_a_limited_call_raises_is_freed_at_once() -> None:
    """Without the collector, which an agent has come seldom: a queue manager that is down fails once a minute."""

    class RefusalError(Exception):
        pass

    async def call() -> None:
        raise RefusalError

    raised: list[weakref.ref[RefusalError]] = []
    gc.disable()
    try:
        try:
            await with_timeout(call(), SystemClock(), HOUR)
        except RefusalError as error:
            raised.append(weakref.ref(error))
        await asyncio.sleep(0)
        assert [each() for each in raised] == [None]
    finally:
        gc.enable()


@pytest.mark.parametrize("how", ["worker", "executor"])
async def test_time_stands_still_while_a_thread_works(how: str) -> None:
    """What a thread does takes no time, and everything that waits for a later moment waits for it."""
    clock, events = VirtualClock(0), []
    worker = ThreadWorker(clock=clock)
    begun = threading.Event()

    def work() -> str:
        begun.wait(0.05)
        return "done"

    async def ask() -> None:
        await clock.sleep(10)
        result = await (worker.run(work) if how == "worker" else asyncio.to_thread(work))
        events.append((result, clock.now()))

    async def others() -> None:
        await clock.sleep(11)
        events.append(("other", clock.now()))

    await asyncio.gather(ask(), others())
    assert events == [("done", 10), ("other", 11)]
    worker.end()


async def test_time_stands_still_while_a_call_goes_on_that_nobody_waits_for() -> None:
    """A job whose caller was cancelled is still under way."""
    clock, done = VirtualClock(0), threading.Event()
    worker = ThreadWorker(clock=clock)
    released = threading.Event()

    def work() -> None:
        released.wait(60)
        done.set()

    task = asyncio.create_task(worker.run(work))
    await asyncio.sleep(0)
    task.cancel()
    asyncio.get_running_loop().call_later(0.02, released.set)
    await clock.sleep(1)
    assert done.is_set()
    worker.end()


async def test_it_stands_still_while_it_is_held() -> None:
    """Real I/O holds it; real timers go on."""
    clock = VirtualClock(0)

    async def real() -> int:
        with clock.hold():
            await asyncio.sleep(0.02)
            return clock.now()

    seen, _ = await asyncio.gather(real(), clock.sleep(5))
    assert seen == 0
    assert clock.now() == 5


def test_what_threads_bring_has_its_place_however_long_they_take() -> None:
    """Two runs with other real delays give the same events at the same moments in the same order."""

    def events(delay: Callable[[], float]) -> list[tuple[str, int, int]]:
        clock, seen = VirtualClock(0), []

        async def live() -> None:
            worker = ThreadWorker(clock=clock)

            async def one(name: str, dice: Random) -> None:
                for turn in range(15):
                    await clock.sleep(dice.randrange(1, 8))
                    seen.append((name, turn, clock.now()))
                    await worker.run(lambda: time.sleep(delay()))
                    seen.append((f"{name} stored", turn, clock.now()))
                    await asyncio.sleep(0)
                    seen.append((f"{name} after", turn, clock.now()))

            await asyncio.gather(*(one(name, Random(name)) for name in "abc"))
            worker.end()

        run_in_loop(live(), clock)
        return seen

    dice = Random(7)
    quick = events(lambda: 0)
    assert events(lambda: dice.uniform(0, 0.003)) == quick
    assert len(quick) == 3 * 3 * 15


async def test_a_pace_is_kept_by_waiting() -> None:
    """At 10 times the pace of life a moment does not come before a tenth of its time; nobody is left out when it lags."""
    machine = Machine()
    clock = VirtualClock(0, pace=10, steady=machine.steady)
    task = asyncio.create_task(clock.sleep(1000))
    await asyncio.sleep(0)
    assert clock.step() == pytest.approx(0.1)
    machine.seconds = 0.04
    assert clock.step() == pytest.approx(0.06)
    clock.catch_up()
    assert clock.now() == 400
    machine.seconds = 0.3
    await task
    assert clock.now() == 1000
    assert clock.lag_s == pytest.approx(0.2)
    assert clock.speed == pytest.approx(1000 / 300)


async def test_it_does_not_pass_now() -> None:
    """A moment that lies ahead comes when it is now, and that this begins is told once."""
    machine, told = Machine(10.0), []
    clock = VirtualClock(0, latest=machine.now, caught_up=lambda: told.append(machine.now()))
    await clock.sleep(9_999)
    assert (clock.now(), told) == (9_999, [])
    task = asyncio.create_task(clock.sleep(2_001))
    await asyncio.sleep(0)
    assert clock.step() == pytest.approx(2.0)
    machine.seconds = 11.0
    assert clock.step() == pytest.approx(1.0)
    assert told == [10_000]
    clock.catch_up()
    assert clock.now() == 11_000
    machine.seconds = 12.0
    await task
    assert (clock.now(), told) == (12_000, [10_000])


async def test_to_advance_is_to_see_all_of_the_moment() -> None:
    """Also what is due at that moment by a sleep that began later, and what follows from it."""
    clock, done = VirtualClock(0), []

    async def late() -> None:
        await clock.sleep(4)
        await clock.sleep(6)
        await asyncio.sleep(0)
        done.append(clock.now())

    task = asyncio.create_task(late())
    await clock.advance(10)
    assert done == [10]
    await task


@pytest.mark.parametrize(
    ("move", "now", "elapsed_s"),
    [
        pytest.param(lambda clock: clock.set(1000), 1500, 0.5, id="set"),
        pytest.param(lambda clock: clock.suspend(60_000), HOUR + 60_500, 60.5, id="suspended"),
    ],
)
async def test_sleepers_sleep_as_long_as_before(
    move: Callable[[VirtualClock], None], now: int, elapsed_s: float
) -> None:
    """A clock that is set shows another time, and nothing more has elapsed; while a machine is suspended time elapses."""
    clock = VirtualClock(HOUR)
    began = clock.steady_s()
    task = asyncio.create_task(clock.sleep(500))
    await asyncio.sleep(0)
    move(clock)
    await task
    assert clock.now() == now
    assert clock.steady_s() - began == elapsed_s


def test_a_loop_that_cannot_move_it() -> None:
    """To sleep there would be for ever."""
    with asyncio.Runner() as runner, pytest.raises(RuntimeError, match="needs a VirtualLoop"):
        runner.run(VirtualClock(0).sleep(1))


async def test_one_clock_at_a_time() -> None:
    """A second one waits in vain for nobody: it is refused while the first is waited for, and taken afterwards."""
    first, second = VirtualClock(0), VirtualClock(0)
    task = asyncio.create_task(first.sleep(5))
    await asyncio.sleep(0)
    with pytest.raises(RuntimeError, match="one virtual clock"):
        await second.sleep(1)
    await task
    await second.sleep(1)
    assert (first.now(), second.now()) == (5, 1)


async def test_a_loop_without_a_clock_is_a_usual_one() -> None:
    """Real timers, threads and what they bring."""
    assert isinstance(asyncio.get_running_loop(), VirtualLoop)
    assert await asyncio.to_thread(lambda: 3) == 3
    await SystemClock().sleep(1)


def test_the_clock_of_the_system() -> None:
    """It runs in any loop, and nothing holds it."""
    clock = SystemClock()

    async def live() -> int:
        with clock.hold():
            await clock.sleep(1)
        return clock.now()

    began = clock.steady_s()
    assert abs(run_in_loop(live(), clock) - time.time() * 1000) < HOUR
    assert 0.001 <= clock.steady_s() - began < 3600
