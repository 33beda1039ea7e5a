"""A small vocabulary, a store whose order is kept, and a sender to an engine that fails as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

from mqsamples.engine import Engine, Key
from mqvitals_agent.openmetrics.names import labels_of
from mqvitals_agent.remote_write.client import Meaning, PostOutcome, meaning_of
from mqvitals_agent.remote_write.outgoing import Outgoing
from mqvitals_agent.remote_write.sender import Sender
from mqvitals_agent.store.rows.remote_write import RemoteWriteRepository
from mqvitals_agent.store.writer import Store
from mqvitals_config.sections.remote_write import QueueSettings
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported, answer, counter, gauge, text

T = TypeVar("T")

MINUTE = 60_000
HOUR = 60 * MINUTE
START = 490_000 * HOUR
NAME = "victoria"
QUEUE = Kind(
    "queue",
    "a queue",
    "STATUS",
    (
        *answer(
            "STATUS",
            gauge("depth", "messages", "messages on the queue"),
            gauge("qtime_us_own", "us", "time on the queue"),
        ),
        *answer("RESET", counter("puts", "messages", "messages put")),
        *answer(
            "DEFINITION", gauge("max_depth", "messages", "how deep it may be"), text("description", "what it is for")
        ),
    ),
)
KINDS: Mapping[str, Kind] = {
    "queue": QUEUE,
    "queue_manager": Kind(
        "queue_manager", "a queue manager", "QMGR", answer("QMGR", gauge("connections", "count", "-"))
    ),
}
MOST_SLEEPS = 5_000
VERDICT: Any = SimpleNamespace(transitions=(), unknown=())


class Killed(Exception):  # noqa: N818 - the process ends
    """The process ends here."""


class InstantClock:
    """Sleeps take no time but its own."""

    def __init__(self) -> None:
        self.ts = START
        self.slept: list[float] = []

    def now(self) -> int:
        return self.ts

    def steady_s(self) -> float:
        return self.ts / 1000

    async def sleep(self, ms: float) -> None:
        self.slept.append(ms)
        assert len(self.slept) < MOST_SLEEPS, "it only fails"
        self.ts += int(ms)
        await asyncio.sleep(0)

    def hold(self) -> AbstractContextManager[None]:
        return nullcontext()


@dataclass
class Line:
    """Posts to an engine. ``faults`` are taken one a request: ``down`` does not reach it, of ``lost`` the answer is lost; with
    ``die`` and ``die taken`` the process ends; anything else, or none, goes through.
    """

    engine: Engine
    faults: list[str] = field(default_factory=list)
    posted: list[tuple[int, str]] = field(default_factory=list)
    retry_after: int | None = None

    async def post(self, body: bytes) -> PostOutcome:
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "down":
            return PostOutcome(Meaning.AGAIN, "it cannot be reached", self.retry_after)
        if fault == "die":
            raise Killed
        status, said = self.engine.take(body)
        self.posted.append((status, said))
        if fault == "lost":
            return PostOutcome(Meaning.AGAIN, "it did not answer", unknown=True)
        if fault == "die taken":
            raise Killed
        return PostOutcome(meaning_of(status), f"it answered {status}: {said}")

    async def aclose(self) -> None:
        """Nothing is kept."""


class World:
    """A store that is written, and a sender beside it that can be killed."""

    def __init__(self, folder: Path, engine: Engine, *, most: int = 7, round_samples: int = 20) -> None:
        self.path = folder / "store.db"
        self.engine = engine
        self.line = Line(engine)
        self.clock = InstantClock()
        self._most = most
        self._round_samples = round_samples
        self.now = START
        self.cycle = 0
        self.store = self._open()
        self.sender: Sender | None = None
        self._task: asyncio.Task[None] | None = None

    def _open(self) -> Store:
        store = Store.open(self.path, kinds=KINDS, ordered=True)
        store.remote_write.register((NAME,))
        return store

    def set_aside(self) -> None:
        """The file is away, and another one begun, as after damage."""
        self.store.close()
        for path in self.path.parent.glob("store.db*"):
            path.rename(path.with_name(f"old-{path.name}"))
        self.store = Store.open(self.path, kinds=KINDS, ordered=True)

    def begin_anew(self) -> None:
        """Another process writes the store."""
        self.store.close()
        self.store = self._open()

    def ts(self) -> int:
        """The time of the present cycle: never that of another one."""
        return self.now + self.cycle % 1000

    def poll(self, owner: str, values: Mapping[str, Mapping[str, Reported] | None]) -> Snapshot:
        """A cycle of a queue manager; a queue without values is gone."""
        self.cycle += 1
        ts = self.ts()
        readings = []
        for name, each in values.items():
            about = ObjectName(owner, "queue", name)
            if each is None:
                readings.append(Reading(about, "STATUS", ts, {}, gone=True))
                continue
            status = {key: value for key, value in each.items() if key != "max_depth"}
            answered = any(not isinstance(value, Absence) for value in status.values())
            readings.append(Reading(about, "STATUS", ts, status, 30_000, answered=answered))
            if "max_depth" in each:
                own = {"max_depth": each["max_depth"]}
                readings.append(Reading(about, "DEFINITION", ts, own, 30_000, poll=False))
        return self._write(Snapshot(owner, False, self.cycle, ts, tuple(readings)))

    def record(self, owner: str, ts: int, values: Mapping[str, Mapping[str, Reported]]) -> Snapshot:
        """SMF records of queues that ended at ``ts``."""
        readings = tuple(
            Reading(ObjectName(owner, "queue", name), "SMF", ts, each, 60_000, poll=False, source=Source.SMF)
            for name, each in values.items()
        )
        return self._write(Snapshot(owner, False, self.cycle, self.ts(), readings))

    def _write(self, snapshot: Snapshot) -> Snapshot:
        self.store.write(snapshot, VERDICT)
        if self.sender is not None:
            self.sender.wake()
        return snapshot

    async def on_store(self, function: Callable[[RemoteWriteRepository], T]) -> T:
        return function(self.store.remote_write)

    async def register(self) -> None:
        self.store.remote_write.register((NAME,))

    def begin(self) -> Sender:
        """Begin to send, as a process that knows nothing."""
        outgoing = Outgoing(self.path, NAME, {"site": "B"}, self._most, kinds=KINDS, round_samples=self._round_samples)
        clock: Any = self.clock
        queue = QueueSettings()
        self.sender = Sender(NAME, outgoing, self.line, queue, self.on_store, clock, lambda: 0.0, self.register)
        self._task = asyncio.create_task(self.sender.run())
        return self.sender

    async def send(self, faults: Iterable[str] = ()) -> bool:
        """Send until nothing waits; False: the process has died."""
        if self.sender is None or self._task is None:
            self.begin()
        assert self.sender is not None
        assert self._task is not None
        self.line.faults = list(faults)
        while True:
            self.sender.wake()
            drained = asyncio.ensure_future(self.sender.drain())
            await asyncio.wait({drained, self._task}, return_when=asyncio.FIRST_COMPLETED)
            drained.cancel()
            if self._task.done():
                with suppress(Killed):
                    self._task.result()
                self.sender = self._task = None
                return False
            if not self.line.faults and not self.pending():
                return True
            if not self.line.faults and not self.sender.state.error:
                await asyncio.sleep(0.001)
            if self.line.faults and not self.pending():
                return True
            await asyncio.sleep(0)

    def pending(self) -> int:
        """Rows of the order that were not sent."""
        with self.store.database.reading() as connection:
            (count,) = connection.execute(
                "SELECT count(*) FROM stored_samples WHERE number > (SELECT place FROM remote_write)"
            ).fetchone()
        return int(count)

    def row(self) -> tuple[int, int, int, int]:
        """The engine's place, that of its totals, and how many samples were missed and refused."""
        with self.store.database.reading() as connection:
            found = connection.execute("SELECT place, totals_place, missed, refused FROM remote_write").fetchone()
        return tuple(found)

    async def end(self) -> None:
        """Stop sending in order."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError, Killed):
                await self._task
        self.sender = self._task = None

    async def stop(self) -> None:
        """End all."""
        await self.end()
        self.store.close()


def key_of(
    name: str, queue: str, owner: str = "QM01", *, source: str = "", texts: Mapping[str, str] | None = None
) -> Key:
    """The series of a metric of a queue."""
    labels = dict(labels_of(ObjectName(owner, "queue", queue), texts or {}))
    labels |= {"__name__": name, "site": "B"} | ({"source": source} if source else {})
    return tuple(sorted(labels.items()))


DEPTH, QTIME, PUTS = "ibmmq_queue_depth", "mqvitals_queue_qtime_own_seconds", "ibmmq_queue_mqput_mqput1_count"
MAX_DEPTH, PUTS_RECORDED = "ibmmq_queue_attribute_max_depth", f"{PUTS}_increase"


@asynccontextmanager
async def world_in(folder: Path, engine: Engine | None = None, **how: int) -> AsyncIterator[World]:
    """A world in a folder; ``how`` are the sizes of requests and rounds."""
    world = World(folder, engine or Engine(), **how)
    try:
        yield world
    finally:
        await world.stop()
