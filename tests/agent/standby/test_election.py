"""Which of several agents is active: the decision by itself, and agents over queue managers that come and go."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations, cycle
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.connection.connection import ConnectError, Exchange, MqiFailure, Query
from mqvitals_agent.standby.candidate import Candidate
from mqvitals_agent.standby.election import (
    ALONE_INTERVALS,
    LONG_PATIENCE_TRIES,
    PATIENCE_TRIES,
    Limits,
    OpenOutcome,
    Reason,
    Role,
    Standing,
    decide,
    pause_ms,
)
from mqvitals_agent.threads import run_in_loop

INTERVAL_MS = 10_000
LIMITS = Limits(INTERVAL_MS)
NAMES = ("QM01", "QM02", "QM03")
HELD, IN_USE, UNREACHED = OpenOutcome.HELD, OpenOutcome.IN_USE, OpenOutcome.UNREACHED
ANSWERS = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(OpenOutcome))


@given(ANSWERS, st.integers(0, 100_000), st.booleans())
def test_a_standby_agent_becomes_active_by_everything_that_it_reaches(
    answers: dict[str, OpenOutcome], now: int, peer: bool
) -> None:
    """It needs one reply queue at least, and no other agent may hold any."""
    after = decide(Standing(), answers, now, LIMITS, peer_heard=peer)
    wanted = HELD in answers.values() and IN_USE not in answers.values()
    assert (after.role is Role.ACTIVE) == wanted


@given(ANSWERS, st.integers(0, 100_000))
def test_an_active_agent_stays_while_nobody_else_is_seen(answers: dict[str, OpenOutcome], now: int) -> None:
    """Whatever it loses; and what is open elsewhere for a moment changes nothing while it holds anything."""
    before = Standing(Role.ACTIVE, Reason.HOLDS)
    after = decide(before, answers, now, LIMITS)
    lost = HELD not in answers.values() and IN_USE in answers.values()
    assert (after.role is Role.STANDBY) == lost


@given(st.permutations(NAMES), st.integers(1, 2), st.lists(st.integers(1, 3_000), min_size=1, max_size=30))
def test_of_two_active_agents_the_one_with_the_first_reply_queue_stays(
    order: list[str], first: int, steps: list[int]
) -> None:
    """Both look at the same moments: the other gives way first, and no later than the longest patience."""
    ours = {name: HELD if place < first else IN_USE for place, name in enumerate(order)}
    theirs = {name: IN_USE if place < first else HELD for place, name in enumerate(order)}
    one = other = Standing(Role.ACTIVE, Reason.HOLDS)
    now, pauses = 0, cycle(steps)
    while other.role is Role.ACTIVE:
        one, other = decide(one, ours, now, LIMITS), decide(other, theirs, now, LIMITS)
        assert one.role is Role.ACTIVE
        assert other.role is Role.STANDBY or now < PATIENCE_TRIES * LIMITS.try_ms
        now += next(pauses)


@pytest.mark.parametrize(("peer", "role"), [(True, Role.STANDBY), (False, Role.ACTIVE)])
def test_somebody_says_that_nothing_can_be_reached(peer: bool, role: Role) -> None:
    """After two intervals, unless the other agent is there to say so."""
    standing = Standing()
    for now in range(0, ALONE_INTERVALS * INTERVAL_MS + 1, LIMITS.try_ms):
        assert standing.role is Role.STANDBY
        standing = decide(standing, dict.fromkeys(NAMES, UNREACHED), now, LIMITS, peer_heard=peer)
    assert standing.role is role
    back = decide(standing, {"QM01": UNREACHED, "QM02": IN_USE}, now + 1, LIMITS, peer_heard=peer)
    assert back.role is Role.STANDBY


@given(st.sampled_from(Reason), st.floats(0, 1), st.integers(1_000, 600_000))
def test_a_standby_agent_tries_every_half_interval(reason: Reason, chance: float, interval: int) -> None:
    """And every ten seconds at least; after a try that was divided sooner, at a random moment."""
    limits = Limits(interval)
    pause = pause_ms(Standing(Role.STANDBY, reason), limits, chance)
    assert 0 < pause <= min(interval / 2, 10_000)


class ReplyQueue:
    """The reply queue of a queue manager: one at a time has it. ``cut`` are the agents that do not reach it."""

    def __init__(self) -> None:
        self.holder: HeldQueue | None = None
        self.cut: set[str] = set()
        self.slow_ms = 0


class HeldQueue:
    """A connection that holds it until it is closed, or lost."""

    def __init__(self, queue: ReplyQueue, agent: str) -> None:
        self.queue, self.agent = queue, agent
        self.lost = asyncio.Event()

    async def ask(self, query: Query, wait_ms: int) -> Exchange:
        raise AssertionError("nothing is asked here")

    async def close(self) -> None:
        if self.queue.holder is self:
            self.queue.holder = None
        self.lost.set()


@dataclass(frozen=True)
class QueueConnector:
    """The way of an agent to a reply queue."""

    queue_manager: str
    agent: str
    queue: ReplyQueue
    clock: VirtualClock
    random: Random = field(compare=False)

    async def connect(self) -> HeldQueue:
        await self.clock.sleep(self.random.uniform(1, 300) + self.queue.slow_ms)
        if self.agent in self.queue.cut:
            raise ConnectError(MqiFailure(2, 2538))
        if self.queue.holder is not None:
            raise ConnectError(MqiFailure(2, 2042), queue="MQVITALS.REPLY")
        self.queue.holder = HeldQueue(self.queue, self.agent)
        return self.queue.holder


class Agent:
    """An agent as its service is: it tries, is active until it gives way, and tries again."""

    def __init__(self, name: str, world: World, random: Random) -> None:
        self.name, self.world, self.random = name, world, random
        self.active = False
        connectors = [
            QueueConnector(each, name, queue, world.clock, random) for each, queue in sorted(world.queues.items())
        ]
        self.candidate = Candidate(connectors, world.clock, INTERVAL_MS, peer_heard=self.hears)
        self.connectors = connectors
        self.work = asyncio.ensure_future(self.run())

    def hears(self) -> bool:
        return any(each is not self for each in self.world.agents)

    async def run(self) -> None:
        while True:
            standing = await self.candidate.attempt()
            if standing.role is Role.STANDBY:
                await self.world.clock.sleep(pause_ms(standing, LIMITS, self.random.random()))
                continue
            self.active = True
            over = asyncio.Event()
            self.candidate.changed = over.set
            polling = [asyncio.ensure_future(self.poll(each)) for each in self.candidate.guarded(self.connectors)]
            try:
                await over.wait()
            finally:
                self.active = False
                for each in polling:
                    each.cancel()
                await asyncio.wait(polling)

    async def poll(self, connector: object) -> None:
        """As a poller: connected until the connection is lost, and then again after a while."""
        while True:
            with suppress(ConnectError):
                connection = await connector.connect()  # type: ignore[attr-defined]
                try:
                    await connection.lost.wait()
                finally:
                    await connection.close()
            await self.world.clock.sleep(self.random.uniform(0, INTERVAL_MS))

    def kill(self) -> None:
        """Its process is gone, and what it held with it."""
        self.world.agents.remove(self)
        self.work.cancel()
        for queue in self.world.queues.values():
            if queue.holder is not None and queue.holder.agent == self.name:
                queue.holder.lost.set()
                queue.holder = None


class World:
    """Queue managers and agents, and what must hold of them at every moment."""

    def __init__(self, clock: VirtualClock, agents: int, random: Random) -> None:
        self.clock, self.random = clock, random
        self.queues = {name: ReplyQueue() for name in NAMES}
        self.agents: list[Agent] = []
        self.started = 0
        self.two = self.none = 0
        for _ in range(agents):
            self.start()

    def start(self) -> None:
        self.started += 1
        self.agents.append(Agent(f"agent {self.started}", self, self.random))

    def set_ways(self, agent: Agent, cut: set[str]) -> None:
        """The agent reaches all queue managers but those that are ``cut``; connections to these are lost."""
        for name, queue in self.queues.items():
            (queue.cut.add if name in cut else queue.cut.discard)(agent.name)
            holder = queue.holder
            if name in cut and holder is not None and holder.agent == agent.name:
                queue.holder = None
                holder.lost.set()

    def reached(self, agent: Agent) -> set[str]:
        return {name for name, queue in self.queues.items() if agent.name not in queue.cut}

    async def watch(self, step_ms: int, most_two: int, most_none: int) -> None:
        """For how long two are active that reach the same, and none is although every agent reaches everything."""
        while True:
            await self.clock.sleep(step_ms)
            active = [each for each in self.agents if each.active]
            both = any(self.reached(one) & self.reached(other) for one, other in combinations(active, 2))
            self.two = self.two + step_ms if both else 0
            whole = self.agents and all(self.reached(each) == set(NAMES) for each in self.agents)
            self.none = self.none + step_ms if whole and not active else 0
            assert self.two <= most_two, "two agents are active"
            assert self.none <= most_none, "no agent is active"


MOST_TWO_MS = LONG_PATIENCE_TRIES * LIMITS.try_ms + INTERVAL_MS + 1_000
"""The longest patience, and the pause of a poller until it tries again."""
CUT = st.sets(st.sampled_from(NAMES), max_size=3)
STEPS = st.lists(
    st.tuples(st.sampled_from(["kill", "start", "cut"]), st.integers(0, 2), CUT, st.integers(0, 40_000)), max_size=12
)


@settings(deadline=None)
@given(st.integers(2, 3), STEPS, st.integers(0, 1_000_000))
def test_agents_over_queue_managers_that_come_and_go(
    agents: int, steps: list[tuple[str, int, set[str], int]], seed: int
) -> None:
    """Whatever is cut, killed and started: never two for long, and one within two intervals where nothing is cut."""
    clock, random = VirtualClock(0), Random(seed)

    async def run() -> None:
        world = World(clock, agents, random)
        watch = asyncio.ensure_future(world.watch(100, MOST_TWO_MS, 2 * INTERVAL_MS))
        try:
            for what, which, cut, pause in steps:
                if what == "kill" and world.agents:
                    world.agents[which % len(world.agents)].kill()
                elif what == "start" and len(world.agents) < 3:
                    world.start()
                elif what == "cut" and world.agents:
                    world.set_ways(world.agents[which % len(world.agents)], cut)
                await clock.sleep(pause + 1)
            if not world.agents:
                world.start()
            for each in world.agents:
                world.set_ways(each, set())
            await clock.sleep(10 * INTERVAL_MS)
            assert sum(each.active for each in world.agents) == 1
            assert not watch.done(), watch.exception()
        finally:
            watch.cancel()
            for each in list(world.agents):
                each.kill()
            with suppress(asyncio.CancelledError):
                await watch

    run_in_loop(run(), clock)


@settings(deadline=None)
@given(CUT, st.integers(0, 1_000_000))
def test_two_that_were_apart_become_one(first: set[str], seed: int) -> None:
    """Each was active over what it alone reached; once both reach everything, one gives way, and one stays or takes over."""
    clock, random = VirtualClock(0), Random(seed)

    async def run() -> None:
        world = World(clock, 2, random)
        world.set_ways(world.agents[0], first)
        world.set_ways(world.agents[1], set(NAMES) - first)
        await clock.sleep(3 * INTERVAL_MS)
        assert sum(each.active for each in world.agents) == (2 if 0 < len(first) < 3 else 1)
        for each in world.agents:
            world.set_ways(each, set())
        await clock.sleep(MOST_TWO_MS)
        assert sum(each.active for each in world.agents) <= 1
        await clock.sleep(2 * INTERVAL_MS)
        assert sum(each.active for each in world.agents) == 1
        for each in list(world.agents):
            each.kill()

    run_in_loop(run(), clock)


@settings(deadline=None)
@given(st.integers(2, 3), st.integers(0, 1_000_000))
def test_an_undisturbed_agent_stays_active(agents: int, seed: int) -> None:
    """The tries of the others take nothing away from it, also while it loses and regains one connection."""
    clock, random = VirtualClock(0), Random(seed)

    async def run() -> None:
        world = World(clock, agents, random)
        await clock.sleep(3 * INTERVAL_MS)
        (active,) = (each for each in world.agents if each.active)
        for name in NAMES:
            world.set_ways(active, {name})
            await clock.sleep(500)
            world.set_ways(active, set())
            await clock.sleep(3 * INTERVAL_MS)
            assert [each for each in world.agents if each.active] == [active]
        for each in list(world.agents):
            each.kill()

    run_in_loop(run(), clock)


@settings(deadline=None)
@given(st.lists(st.integers(0, 40_000), min_size=3, max_size=3), st.integers(0, 1_000_000))
def test_slow_queue_managers_are_not_waited_for_one_by_one(slow: list[int], seed: int) -> None:
    """As long as one answers at all somebody is active, and only one; those that never answer delay nothing for long."""
    clock, random = VirtualClock(0), Random(seed)

    async def run() -> None:
        world = World(clock, 2, random)
        for queue, ms in zip(world.queues.values(), slow, strict=True):
            queue.slow_ms = ms
        quickest = min(slow)
        await clock.sleep(3 * INTERVAL_MS + 4 * quickest)
        active = [each for each in world.agents if each.active]
        assert len(active) <= 1
        assert active or quickest > 29_000
        for each in list(world.agents):
            each.kill()

    run_in_loop(run(), clock)


def test_who_is_refused_asks_seldom() -> None:
    """Only a person can correct that: after 5, then 10 minutes, however often an agent on standby tries."""
    clock, asked = VirtualClock(0), list[int]()

    @dataclass(frozen=True)
    class Refusing:
        queue_manager: str = "QM01"

        async def connect(self) -> HeldQueue:
            asked.append(clock.now())
            raise ConnectError(MqiFailure(2, 2035))

    async def run() -> None:
        candidate = Candidate([Refusing()], clock, INTERVAL_MS)
        while clock.now() < 20 * 60_000:
            await candidate.attempt()
            await clock.sleep(1_000)

    run_in_loop(run(), clock)
    assert asked == [0, 5 * 60_000, 15 * 60_000]
