"""A cycle at 10,000 queues and 2,000 channels, from its begin to stored: wall time, CPU and how free the event loop stays.

Three runs of the same minutes of the same simulated group of four queue managers:

- *group alone*: its queue managers are asked every question that is due, and nothing is done with the answers. No agent pays
  for this with real queue managers. The answers are kept.
- *agent on answers*: the service as it is, on connections that give the kept answers at once: what mqvitals itself costs.
- *agent on the group*: the service on the simulated group, in one process, as ``mqvitals agent --scenario`` runs it.

The first cycle asks for all definitions and makes every object, so it stands apart. A gap is how much later than asked
for the event loop came back to a task that sleeps 2 ms again and again, while a cycle is under way. When the first cycle is
stored, the garbage collector leaves alone what is there, as in the agent.

Peer: ``PCFExecute.unpack`` of ibmmq on the same messages, written for it in the byte order of this machine; it decodes
them and does nothing else. Without ibmmq a plain walk over the bytes with struct stands in.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from mqvitals_agent.clock import SystemClock
from mqvitals_agent.connection.connection import Connector, Exchange, Query
from mqvitals_agent.gc_tuning import MANY_THRESHOLDS, freeze_long_lived
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import encode_message
from mqvitals_agent.poll.queries import ScheduledQuery, configured_ms, zos_queries
from mqvitals_agent.service.cycles.cycle import StoredCycle
from mqvitals_agent.service.cycles.cycle_clock import Schedule
from mqvitals_agent.service.service import Service
from mqvitals_agent.simulator.connector import connectors
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import load_scenario
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config
from pcf_decode import INSTALL, ibmmq_unpack
from pipeline import plain_walk

QUEUES, CHANNELS = 10_000, 2_000
INTERVAL_MS = 5_000
BEGIN = 1_795_000_000_000
SCENARIO, SEED = "busy-morning", 1
WAIT_MS = 60_000
STEP_S = 0.002
Kept = dict[tuple[str, int, bytes], list[Exchange]]


class Standing(SystemClock):
    """A clock that stands still until it is set, and on which nothing waits."""

    def __init__(self, moment: int) -> None:
        self.moment = moment

    def now(self) -> int:
        return self.moment

    async def sleep(self, ms: float) -> None:  # noqa: ARG002 - the protocol's
        return


class SinceBegin(SystemClock):
    """The system's clock as if it had been ``BEGIN`` when it was made."""

    def __init__(self) -> None:
        self._ahead = super().now() - BEGIN

    def now(self) -> int:
        return super().now() - self._ahead


@dataclass
class Spent:
    """What each cycle took, ms, and the gaps of the event loop within cycles, ms."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    readings: int = 0


class Played:
    """Connects to a queue manager that gives kept answers, the newest of the moment, at once."""

    def __init__(self, queue_manager: str, kept: Kept, clock: SystemClock) -> None:
        self.queue_manager = queue_manager
        self._kept = kept
        self._clock = clock

    async def connect(self) -> Played:
        return self

    async def ask(self, query: Query, wait_ms: int) -> Exchange:  # noqa: ARG002 - the protocol's
        now = self._clock.now()
        found = self._kept[self.queue_manager, query.command, query.request]
        newest = next((each for each in reversed(found) if each.at <= now), found[0])
        await asyncio.sleep(0)
        return replace(newest, at=now)

    async def close(self) -> None:
        return


def world() -> SimulatedGroup:
    """The group, at its begin."""
    return SimulatedGroup(load_scenario(SCENARIO), BEGIN, seed=SEED, queues=QUEUES, channels=CHANNELS)


def settings() -> Settings:
    """The usual ones, at this interval."""
    usual = Settings()
    return replace(usual, polling=replace(usual.polling, interval=INTERVAL_MS))


async def group_alone(cycles: int) -> tuple[list[float], Kept, list[Exchange]]:
    """The CPU of each cycle's answers, ms; all of them; and those of the last cycle."""
    clock = Standing(BEGIN)
    connections = [(each.queue_manager, await each.connect()) for each in connectors(world(), clock, seed=SEED)]
    polling = settings().polling
    wanted = zos_queries(polling)

    def configured(question: str) -> int:
        return configured_ms(question, polling.interval, {}, 0)

    tables: dict[str, Schedule] = {
        name: Schedule([errand for errand in wanted if not errand.of_group], configured) for name, _ in connections
    }
    group = Schedule([errand for errand in wanted if errand.of_group], configured)
    spent: list[float] = []
    kept = Kept()
    last: list[Exchange] = []
    for cycle in range(cycles):
        clock.moment = BEGIN + cycle * INTERVAL_MS
        last = []
        begin = time.process_time()
        for place, (name, connection) in enumerate(connections):
            due: list[ScheduledQuery] = [
                *tables[name].take_due(clock.moment),
                *([] if place else group.take_due(clock.moment)),
            ]
            for errand in due:
                exchange = await connection.ask(errand, WAIT_MS)
                (group if errand.of_group else tables[name]).answered(errand, 0, silent=False)
                last.append(exchange)
        spent.append((time.process_time() - begin) * 1000)
        for exchange in last:
            assert exchange.command is not None
            assert exchange.request is not None
            kept.setdefault((exchange.queue_manager, exchange.command, exchange.request), []).append(exchange)
    return spent, kept, last


async def agent(cycles: int, ways: Callable[[SystemClock], Sequence[Connector]]) -> Spent:
    """What the service takes on these connections."""
    clock = SinceBegin()
    spent = Spent()
    turns: list[tuple[float, float]] = []
    last = 0.0

    def stored(cycle: StoredCycle) -> None:
        nonlocal last
        now, cpu = time.perf_counter(), time.process_time()
        took = clock.now() - cycle.began
        spent.wall.append(took)
        spent.cpu.append((cpu - last) * 1000)
        last = cpu
        spent.readings = cycle.readings
        begin = now - took / 1000
        spent.gaps += [gap for at, gap in turns if at >= begin]
        turns.clear()
        if len(spent.wall) == 1:
            # As ``mqvitals agent`` does it when the first cycle is stored.
            freeze_long_lived(MANY_THRESHOLDS)
        if len(spent.wall) == cycles:
            service.stop()

    async def watch() -> None:
        while True:
            begin = time.perf_counter()
            await asyncio.sleep(STEP_S)
            now = time.perf_counter()
            turns.append((now, max(0.0, now - begin - STEP_S) * 1000))

    with tempfile.TemporaryDirectory() as folder:
        service = Service(
            settings(),
            load_rule_config(Settings()),
            Path(folder) / "bench.db",
            ways(clock),
            clock,
            stored=stored,
            usage_floor_ms=0,
        )
        watching = asyncio.create_task(watch())
        last = time.process_time()
        await service.run()
        watching.cancel()
    return spent


def peer(exchanges: list[Exchange]) -> tuple[str, float, int]:
    """The peer's name, its CPU for the replies of a cycle, ms, and how many they are."""
    replies = [reply for exchange in exchanges for reply in exchange.replies]
    theirs = ibmmq_unpack()
    if theirs is None:
        begin = time.process_time()
        plain_walk([reply.data for reply in replies])
        return f"a plain walk with struct ({INSTALL})", (time.process_time() - begin) * 1000, len(replies)
    decoder = Decoder()
    rewritten = []
    for reply in replies:
        message = decoder.decode(reply.data, reply.ccsid)
        rewritten.append(
            encode_message(
                message.type,
                message.command,
                message.parameters,
                sequence=message.sequence,
                control=message.control,
                order="<" if sys.byteorder == "little" else ">",
                ccsid=1208,
            )
        )
    unpack, release = theirs
    begin = time.process_time()
    for data in rewritten:
        unpack(data)
    return f"ibmmq {release}, PCFExecute.unpack", (time.process_time() - begin) * 1000, len(replies)


def share(times: list[float], part: float) -> float:
    """The time that ``part`` of all do not exceed."""
    return sorted(times)[min(int(part * len(times)), len(times) - 1)]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="poll to stored, at 10,000 queues and 2,000 channels")
    parser.add_argument("--cycles", type=int, default=10, help="how many, the first apart (default: %(default)s)")
    cycles = max(parser.parse_args().cycles, 3)
    alone, kept, last = asyncio.run(group_alone(cycles))
    # What was kept is no part of the agent: its garbage collection must not walk over it.
    gc.collect()
    gc.freeze()
    played = asyncio.run(
        agent(cycles, lambda clock: [Played(name, kept, clock) for name in sorted({key[0] for key in kept})])
    )
    whole = asyncio.run(agent(cycles, lambda clock: connectors(world(), clock, seed=SEED)))
    name, theirs, replies = peer(last)
    print(
        f"{QUEUES:,} queues and {CHANNELS:,} channels more on four queue managers, {cycles} cycles every"
        f" {INTERVAL_MS / 1000:g} s; a cycle has {replies:,} replies, {whole.readings:,} readings"
    )
    print(
        f"  group alone       CPU {median(alone[1:]):6.0f} ms a cycle (first {alone[0]:.0f}): the simulation, not the agent"
    )
    for what, spent in (("agent on answers", played), ("agent on the group", whole)):
        print(
            f"  {what:18}CPU {median(spent.cpu[1:]):6.0f} ms a cycle (first {spent.cpu[0]:.0f}), begin to stored"
            f" {median(spent.wall[1:]):.0f} ms median, {max(spent.wall[1:]):.0f} worst (first {spent.wall[0]:.0f});"
            f" gaps of the event loop p50 {share(spent.gaps, 0.5):.1f}, p99 {share(spent.gaps, 0.99):.1f}, worst {max(spent.gaps):.1f} ms"
        )
    ratio = median(played.cpu[1:]) / theirs
    print(
        f"  peer: {name}: {theirs:.0f} ms CPU for the mere decoding of a cycle's replies;"
        f" the agent decodes, judges and stores them in {ratio:.2f} times that"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
