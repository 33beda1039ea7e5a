"""The agent reads event queues: nothing twice and nothing lost, whatever the store, the queue and the connection do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

import pytest

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.connection.connection import (
    MOST_EVENTS,
    READ_EVENTS,
    EventQuery,
    EventStep,
    Exchange,
    MqiFailure,
    Reply,
)
from mqvitals_agent.console.event_watch import FORGET_MS, SAME_MS, EventWatch, QueueProgress
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import encode_message, integer, string
from mqvitals_agent.simulator.connector import connectors
from mqvitals_agent.simulator.events import EventQueues, ScenarioEvent
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import IncidentKind, Scenario, ScenarioIncident
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.threads import ThreadWorker
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.collection import EventSettings, PollingSettings
from mqvitals_config.settings import Settings
from mqvitals_rules.snapshot import ObjectName

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")

PERFORMANCE = "SYSTEM.ADMIN.PERFM.EVENT"
EVERY_MS = 30_000


def depth_high(number: int, *, queue: str = "PAY.IN", owner: str = "QM01", put: int = 0, shared: bytes = b"") -> Reply:
    parameters = [
        string(mq.MQCA_Q_MGR_NAME, owner, 48),
        string(mq.MQCA_BASE_Q_NAME, queue, 48),
        integer(mq.MQIA_HIGH_Q_DEPTH, number),
    ]
    data = encode_message(mq.MQCFT_EVENT, mq.MQCMD_PERFM_EVENT, parameters, reason=2224)
    return Reply(785, 500, data, put or 1_795_000_000_000 + number, number.to_bytes(24, "big"), shared)


@dataclass
class Queues:
    """The event queues of queue managers, with everything that is asked of them."""

    lying: dict[str, list[Reply]] = field(default_factory=dict)
    refused: int = 0
    lost: bool = False
    steps: list[EventStep] = field(default_factory=list)
    noted: list[Exchange] = field(default_factory=list)
    _taken: dict[str, list[Reply]] = field(default_factory=dict)

    async def ask(self, queue_manager: str, query: EventQuery) -> Exchange:
        self.steps.append(query.step)
        found: list[Reply] = []
        error = MqiFailure(2, 2009) if self.lost else MqiFailure(2, self.refused) if self.refused else None
        lying = self.lying.setdefault(queue_manager, [])
        if error is None and query.step is EventStep.COMMIT:
            self._taken.pop(queue_manager, None)
        elif error is None and query.step is EventStep.BACK_OUT:
            lying[:0] = self._taken.pop(queue_manager, [])
        elif error is None:
            ids = [each.message_id for each in lying]
            if query.after and query.after not in ids:
                error = MqiFailure(2, 2033)
            else:
                place = ids.index(query.after) + 1 if query.after else 0
                found = lying[place : place + MOST_EVENTS]
        if query.step is EventStep.GET:
            self._taken[queue_manager] = found
            del lying[: len(found)]
        return Exchange(0, 1_795_000_000_000, 1, queue_manager, READ_EVENTS, query.request, tuple(found), error)

    def crash(self) -> None:
        """The connection ends: what was taken and not committed is back."""
        for name, taken in self._taken.items():
            self.lying[name][:0] = taken
        self._taken.clear()


class Depot(ThreadWorker):
    """A store that may fail, or die once it has stored."""

    def __init__(self) -> None:
        self.fails = False

    async def run(self, function: Callable[[*_Ts], _T], *arguments: *_Ts) -> _T:
        if self.fails:
            raise StoreError("the disk is full")
        return function(*arguments)


@dataclass
class Room:
    """A store, event queues, and the watch over both."""

    path: Path
    clock: VirtualClock
    queues: Queues = field(default_factory=Queues)
    depot: Depot = field(default_factory=Depot)
    read: Any = "browse"
    members: tuple[str, ...] = ("QM01",)
    names: tuple[str, ...] = (PERFORMANCE,)

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        names = tuple(LocatedText(name, Place("mqvitals.yaml", 1, 1)) for name in self.names)
        settings = Settings(polling=PollingSettings(events=EventSettings(names, self.read) if names else None))
        with Store.open(self.path) as store:
            watch = EventWatch(
                lambda: settings,
                lambda: self.members,
                self.queues.ask,
                self.queues.noted.append,
                lambda: store,
                self.depot,
                self.clock,
            )
            task = asyncio.create_task(watch.run())
            await self.clock.advance(0)
            try:
                yield
            finally:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    def told(self) -> list[tuple[str, str, int]]:
        """Owner, high depth and number of the stored events."""
        with StoreReader.open(self.path) as reader:
            found = reader.messages()
        return [(each.owner, each.text.rpartition("high_depth=")[2], each.times) for each in found]

    def problems(self) -> list[str]:
        with StoreReader.open(self.path) as reader:
            return [each.problem for each in reader.event_queues()]

    def sources(self) -> dict[str, frozenset[str]]:
        with StoreReader.open(self.path) as reader:
            return dict(reader.sources_followed())


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path / "mqvitals.db", VirtualClock(1_795_000_100_000))


async def test_browsing_goes_on_behind_the_last_message(room: Room) -> None:
    """Nothing is taken, nothing is stored twice, also after a restart; a message of the same moment is new."""
    lying = room.queues.lying["QM01"] = [depth_high(1), depth_high(2)]
    async with room.watching():
        assert room.told() == [("QM01", "1", 1), ("QM01", "2", 1)]
        lying.append(depth_high(3, put=lying[1].put or 0))
        await room.clock.advance(EVERY_MS)
        assert [each[1] for each in room.told()] == ["1", "2", "3"]
        assert room.sources() == {"QM01": frozenset({"performance"})}
    lying.append(depth_high(4))
    async with room.watching():
        assert room.told() == [("QM01", number, 1) for number in "1234"]
    assert set(room.queues.steps) == {EventStep.BROWSE}
    assert len(lying) == 4


async def test_a_place_that_is_gone_is_looked_for(room: Room) -> None:
    """Somebody has removed the last message, and others stay: what was read before is passed over, the new is not."""
    first = [depth_high(number, put=1_795_000_000_000 + number * 10_000) for number in range(1, 9)]
    room.queues.lying["QM01"] = list(first)
    async with room.watching():
        assert len(room.told()) == 8
        room.queues.lying["QM01"] = [*first[:7], depth_high(9, put=1_795_000_100_000)]
        await room.clock.advance(EVERY_MS)
        assert room.told() == [("QM01", str(number), 1) for number in range(1, 10)]
        room.queues.lying["QM01"] = []
        await room.clock.advance(EVERY_MS)
        room.queues.lying["QM01"] = [depth_high(10)]
        await room.clock.advance(EVERY_MS)
    assert ("QM01", "10", 1) in room.told()


def test_what_was_read_before_is_known_by_its_time_where_the_place_was_lost() -> None:
    """Identifiers are kept of the last messages only; one put within seconds of the newest, or at no known time, is new."""
    newest = 1_795_000_100_000
    read = [depth_high(number, put=newest - number) for number in range(MOST_EVENTS + 50)]
    progress = QueueProgress().after(read, 0, "")
    assert (progress.newest, progress.last) == (newest, read[-1].message_id)
    assert progress.known == tuple(each.message_id for each in read[-MOST_EVENTS:])
    forgotten = replace(read[0], put=newest - SAME_MS - 1)
    assert not progress.is_known(forgotten)
    again = replace(progress, again=True)
    assert again.is_known(forgotten)
    assert again.is_known(read[-1])
    for put in (newest - SAME_MS, None):
        assert not again.is_known(replace(forgotten, put=put))


def test_a_whole_queue_is_looked_at_until_a_step_is_not_full() -> None:
    """Then the place is known again, at the last message; the newest is the newest of all."""
    read = [depth_high(number, put=5_000) for number in range(1, MOST_EVENTS + 1)]
    progress = replace(QueueProgress(newest=9_000), again=True).after(read, 1, "at byte 3")
    assert (progress.again, progress.newest) == (True, 9_000)
    progress = progress.after([replace(depth_high(7_000), put=None)], 0, "")
    assert (progress.again, progress.newest, progress.last) == (False, 9_000, depth_high(7_000).message_id)
    assert (progress.unreadable, progress.why) == (1, "at byte 3")


def test_how_far_a_queue_was_read_is_kept() -> None:
    """Whatever else the store has stands for the beginning."""
    progress = QueueProgress(b"last", 5, (b"one", b"two"), again=True, unreadable=3, why="at byte 0")
    assert QueueProgress.from_json(progress.to_json()) == progress
    for damaged in ("", "[]", "{}", progress.to_json().replace(b"one".hex(), "xyz")):
        assert QueueProgress.from_json(damaged) == QueueProgress()


async def test_a_long_queue_is_read_in_several_steps(room: Room) -> None:
    """Each is bounded, and each is stored by itself."""
    room.queues.lying["QM01"] = [depth_high(number) for number in range(1, MOST_EVENTS * 2 + 6)]
    async with room.watching():
        assert len(room.told()) == MOST_EVENTS * 2 + 5
    assert room.queues.steps.count(EventStep.BROWSE) == 3


async def test_what_is_taken_is_stored_first(room: Room) -> None:
    """While the store fails the messages stay on the queue; then they are taken, once."""
    room.read = "get"
    room.queues.lying["QM01"] = [depth_high(1), depth_high(2)]
    async with room.watching():
        assert room.queues.steps == [EventStep.GET, EventStep.COMMIT]
        assert room.queues.lying["QM01"] == []
        room.queues.lying["QM01"] = [depth_high(3)]
        room.depot.fails = True
        await room.clock.advance(2 * EVERY_MS)
        assert room.queues.steps[-2:] == [EventStep.GET, EventStep.BACK_OUT]
        assert len(room.queues.lying["QM01"]) == 1
        room.depot.fails = False
        await room.clock.advance(EVERY_MS)
        assert room.queues.lying["QM01"] == []
    assert room.told() == [("QM01", number, 1) for number in "123"]


async def test_what_comes_again_after_a_crash_is_known(room: Room) -> None:
    """Stored, and not committed: the messages are on the queue again, and are passed over by their identifiers."""
    room.read = "get"
    room.queues.lying["QM01"] = [depth_high(1), depth_high(2)]
    commit = room.queues.ask

    async def die(queue_manager: str, query: EventQuery) -> Exchange:
        if query.step is EventStep.COMMIT:
            room.queues.crash()
            return Exchange(0, 0, 0, queue_manager, READ_EVENTS, error=MqiFailure(2, 2009))
        return await commit(queue_manager, query)

    room.queues.ask = die  # type: ignore[method-assign]
    async with room.watching():
        assert len(room.told()) == 2
    assert len(room.queues.lying["QM01"]) == 2
    room.queues.ask = commit  # type: ignore[method-assign]
    room.queues.lying["QM01"].append(depth_high(3))
    async with room.watching():
        assert room.told() == [("QM01", number, 1) for number in "123"]
    assert room.queues.lying["QM01"] == []


async def test_a_refused_queue_is_no_longer_followed(room: Room) -> None:
    """Only the queue is: its events are unknown until it can be opened again. A lost connection is no refusal."""
    async with room.watching():
        assert room.sources() == {"QM01": frozenset({"performance"})}
        room.queues.refused = 2035
        await room.clock.advance(EVERY_MS)
        assert (room.problems(), room.sources()) == (["MQRC_NOT_AUTHORIZED"], {})
        assert room.queues.noted[-1].error == MqiFailure(2, 2035)
        room.queues.refused, room.queues.lost = 0, True
        noted = len(room.queues.noted)
        await room.clock.advance(EVERY_MS)
        assert room.problems() == ["MQRC_NOT_AUTHORIZED"]
        assert len(room.queues.noted) == noted, "the poller tells of the connection"
        room.queues.lost = False
        await room.clock.advance(EVERY_MS)
        assert (room.problems(), room.sources()) == ([""], {"QM01": frozenset({"performance"})})


async def test_a_damaged_message_costs_nothing_but_itself(room: Room, caplog: pytest.LogCaptureFixture) -> None:
    """It is counted and named, and the ones around it are stored."""
    bad = replace(depth_high(2), data=depth_high(2).data[:-3])
    room.queues.lying["QM01"] = [depth_high(1), bad, replace(bad, data=b"", message_id=bytes(23) + b"x"), depth_high(3)]
    async with room.watching():
        assert [each[1] for each in room.told()] == ["1", "3"]
        with StoreReader.open(room.path) as reader:
            (queue,) = reader.event_queues()
        assert '"unreadable": 2' in queue.state
    (line,) = [each.message for each in caplog.records if "no events that can be read" in each.message]
    assert line.startswith(
        f"{PERFORMANCE} of QM01: 2 of the messages are no events that can be read, the last of them: at"
    )


async def test_events_about_a_shared_queue_are_told_once(room: Room) -> None:
    """Each member writes one, with the same CorrelId; two of one member, or about private queues, are two."""
    room.members = ("QM01", "QM02")
    same = b"shared event".ljust(24, b"\0")
    room.queues.lying = {
        "QM01": [depth_high(1, queue="SHARED", shared=same), depth_high(3)],
        "QM02": [depth_high(2, queue="SHARED", owner="QM02", shared=same), depth_high(4, owner="QM02")],
    }
    async with room.watching():
        assert sorted(room.told()) == [("QM01", "1", 1), ("QM01", "3", 1), ("QM02", "4", 1)]


async def test_events_of_others_on_one_queue(room: Room, caplog: pytest.LogCaptureFixture) -> None:
    """Of a queue manager that is monitored they are its own; of another one they are left out, and that is said once."""
    room.members = ("QM01", "QM02")
    room.queues.lying["QM01"] = [depth_high(1, owner="QM02"), depth_high(2, owner="QM77"), depth_high(3, owner="QM77")]
    caplog.set_level("INFO")
    async with room.watching():
        assert room.told() == [("QM02", "1", 1)]
        assert room.sources()["QM02"] == frozenset({"performance"})
    assert sum("QM77, which is not monitored here" in each.message for each in caplog.records) == 1


async def test_old_events_are_deleted(room: Room) -> None:
    """Once an hour, what is older than ``console.keep``, 30 days."""
    month_ms = 30 * 24 * 3_600_000
    now = room.clock.now()
    room.queues.lying["QM01"] = [
        depth_high(1, put=now - month_ms),
        depth_high(2, put=now - month_ms + FORGET_MS + EVERY_MS),
    ]
    async with room.watching():
        await room.clock.advance(FORGET_MS - EVERY_MS)
        assert [each[1] for each in room.told()] == ["1", "2"]
        await room.clock.advance(EVERY_MS)
        assert [each[1] for each in room.told()] == ["2"]


async def test_what_is_read_follows_the_settings(room: Room) -> None:
    """Without queues nothing is asked, and nothing counts as followed any more."""
    async with room.watching():
        assert room.sources()
    room.names = ()
    room.queues.steps.clear()
    async with room.watching():
        await room.clock.advance(EVERY_MS)
        assert (room.queues.steps, room.sources()) == ([], {})


async def test_the_service_reads_them_and_counts_what_that_costs(house: Any) -> None:
    """Over a connection of its cycles; a refusal is that queue's alone, and AGENT-03 tells of it."""
    scenario = Scenario(
        "events",
        3_600_000,
        (ScenarioIncident(120_000, 300_000, IncidentKind.REFUSE, "QM02", command="EVENTS"),),
        events=(ScenarioEvent(30_000, "QM01/PAY.IN", 2224), ScenarioEvent(90_000, "QM01/PAY.IN", 2225)),
    )
    house.scripts = connectors(SimulatedGroup(scenario, house.clock.now()), house.clock)[:2]
    names = (LocatedText(PERFORMANCE, Place("mqvitals.yaml", 1, 1)),)
    polling = replace(house.settings.polling, interval=EVERY_MS, events=EventSettings(names, "get"))
    house.settings = replace(house.settings, polling=polling)
    async with house.running():
        for _ in range(8):
            await house.clock.advance(EVERY_MS)
        with StoreReader.open(house.store) as reader:
            assert [(each.owner, each.code) for each in reader.messages()] == [
                ("QM01", "event:2224"),
                ("QM01", "event:2225"),
            ]
            refused = [each.alert.key for each in reader.alerts() if each.alert.key.rule == "AGENT-03"]
            assert [(each.object.owner, each.instance) for each in refused] == [("QM02", f"EVENTS {PERFORMANCE}")]
            assert "QM02" not in reader.sources_followed()
            cost = reader.current(ObjectName("QM01", "agent", f"EVENTS {PERFORMANCE}"))
            assert cost["every_ms"].value == polling.events.every


def test_a_simulated_queue_is_taken_from_and_backed_out() -> None:
    """As a queue manager does it: uncommitted messages come again, committed ones do not."""
    queues = EventQueues(0, 1000, (ScenarioEvent(100, "QM01/A", 2224), ScenarioEvent(200, "QM01/A", 2225)))

    def step(kind: EventStep, now: int = 500, after: bytes = b"") -> tuple[list[int | None], int]:
        query = EventQuery(READ_EVENTS, b"", queue=PERFORMANCE, step=kind, after=after)
        replies, error = queues.step("QM01", query, now)
        return [each.put for each in replies], error.reason if error else 0

    assert step(EventStep.BROWSE) == ([100, 200], 0)
    assert step(EventStep.BROWSE, after=b"nowhere") == ([], 2033)
    assert step(EventStep.GET) == ([100, 200], 0)
    step(EventStep.BACK_OUT)
    assert step(EventStep.GET) == ([100, 200], 0)
    step(EventStep.COMMIT)
    assert step(EventStep.GET, 1150) == ([1100], 0)
    other = EventQuery(READ_EVENTS, b"", queue="NO.SUCH.QUEUE")
    assert queues.step("QM01", other, 0) == ((), MqiFailure(2, 2085))
