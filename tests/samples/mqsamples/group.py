"""A simulated queue-sharing group, polled as the agent polls a real one, but without waiting: its clock moves when somebody sleeps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from mqvitals_agent.clock import SystemClock
from mqvitals_agent.connection.connection import ConnectError, Connection, Exchange
from mqvitals_agent.connection.recording import RecordingWriter
from mqvitals_agent.connection.recording_format import RecordingHeader
from mqvitals_agent.poll.queries import ScheduledQuery, configured_ms, zos_queries
from mqvitals_agent.service.cycles.cycle import CycleExchanges
from mqvitals_agent.service.cycles.cycle_clock import Schedule
from mqvitals_agent.service.cycles.cycle_writer import CycleWriter
from mqvitals_agent.simulator.connector import SimulatedConnector, connectors
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import IncidentKind, Scenario, ScenarioIncident
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import RuleConfig

BEGIN = 1795176000000  # 2026-11-20 12:00:00 UTC
SITE = "PRDQSG"
WAIT_MS = 10_000

EVERYTHING = Scenario(
    "Everything at once",
    600_000,
    tuple(
        ScenarioIncident(at_s * 1000, lasts_s * 1000, what, name, value, command)
        for at_s, lasts_s, what, name, value, command in (
            (6, 20, IncidentKind.CONSUMER_GONE, "QM03/PAYMENTS.IN", 0, ""),
            (20, 600, IncidentKind.SLOW_CONSUMER, "QM01/ORDERS.REQUEST", 0.02, ""),
            (20, 600, IncidentKind.ARRIVALS, "PRDQ/APPL1.ORDERS", 8, ""),
            (30, 600, IncidentKind.CONSUMER_GONE, "QM02/PAYMENTS.IN", 0, ""),
            (40, 600, IncidentKind.NETWORK, "QM01/TO.QM02", 70_000, ""),
            (50, 600, IncidentKind.ARCHIVE_STOPPED, "QM02", 0, ""),
            (60, 600, IncidentKind.PARTNER_DOWN, "QM03/TO.PARTNER", 0, ""),
            (80, 600, IncidentKind.REFUSE, "QM03", 0, "INQUIRE_CHANNEL_INIT"),
            (100, 600, IncidentKind.DOWN, "QM04", 0, ""),
            (130, 10, IncidentKind.TRUNCATE, "QM02", 0, "INQUIRE_Q_STATUS"),
            (145, 10, IncidentKind.SILENT, "QM01", 0, "INQUIRE_Q_STATUS"),
            (160, 15, IncidentKind.DOWN, "QM02", 0, ""),
        )
    ),
)
"""Each kind of trouble. In the first two minutes one passes; after them answers are cut off or do not come, and one queue manager returns."""


class PlayedClock(SystemClock):
    """Time that goes by at once when somebody waits. Moments are ms since 1970 UTC."""

    def __init__(self, now: int) -> None:
        self.moment = float(now)

    def now(self) -> int:
        """The moment now."""
        return int(self.moment)

    async def sleep(self, ms: float) -> None:
        """It is so much later."""
        self.moment += max(ms, 0)


@dataclass
class _Member:
    """A queue manager, its connection while there is one, and when what was asked of it last."""

    connector: SimulatedConnector
    connection: Connection | None = None
    own: Schedule = field(default_factory=lambda: Schedule((), lambda _: 0))

    @property
    def name(self) -> str:
        return self.connector.queue_manager

    async def ask(self, clock: PlayedClock, table: Schedule, moment: int) -> list[Exchange]:
        if self.connection is None:
            try:
                self.connection = await self.connector.connect()
            except ConnectError as error:
                return [Exchange(0, clock.now(), 0, self.name, error=error.failure)]
        answered: list[Exchange] = []
        due = list(table.take_due(moment))
        while due and self.connection is not None:
            errand: ScheduledQuery = due.pop(0)
            exchange = await self.connection.ask(errand, WAIT_MS)
            answered.append(exchange)
            if exchange.error is not None:
                self.connection = None
                due.insert(0, errand)
            else:
                table.answered(errand, exchange.elapsed_ms, silent=False)
        for errand in due:
            table.missed(errand)
        return answered


async def cycles(
    scenario: Scenario, length_ms: int, every_ms: int, *, connected: bool
) -> AsyncIterator[CycleExchanges]:
    """What the members answer, cycle by cycle: ``length_ms`` of the scenario from BEGIN on, polled every ``every_ms``.

    ``connected``: the first cycle begins when all are connected already, so that each cycle begins at its moment to the ms.
    """
    begin = BEGIN
    clock = PlayedClock(begin)
    members = [_Member(each) for each in connectors(SimulatedGroup(scenario, begin, seed=1), clock)]

    def configured(question: str) -> int:
        return configured_ms(question, every_ms, {}, 0)

    wanted = zos_queries(Settings().polling)
    for each in members:
        each.own = Schedule([errand for errand in wanted if not errand.of_group], configured)
    of_group = Schedule([errand for errand in wanted if errand.of_group], configured)
    if connected:
        for each in members:
            each.connection = await each.connector.connect()
        clock.moment = float(begin)
    for number in range(1, length_ms // every_ms + 1):
        moment = begin + (number - 1) * every_ms
        clock.moment = max(clock.moment, moment)
        exchanges: list[Exchange] = []
        for each in members:
            exchanges += await each.ask(clock, each.own, moment)
        speaker = next((each for each in members if each.connection is not None), None)
        if speaker is not None:
            exchanges += await speaker.ask(clock, of_group, moment)
        exchanges.sort(key=lambda exchange: exchange.at)
        intervals = {each.name: (*each.own.intervals(), *of_group.intervals()) for each in members}
        yield CycleExchanges(number, moment, tuple(exchanges), intervals)


def batches(scenario: Scenario, length_ms: int, every_ms: int, *, connected: bool = False) -> list[CycleExchanges]:
    """All of ``cycles``, also where an event loop runs already."""

    async def gathered() -> list[CycleExchanges]:
        return [batch async for batch in cycles(scenario, length_ms, every_ms, connected=connected)]

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, gathered()).result()


def write_store(path: Path, judging: RuleConfig, scenario: Scenario, polled: Iterable[CycleExchanges]) -> None:
    """A store as a living agent fills it: samples, verdicts, alerts."""
    polled = list(polled)
    settings = replace(Settings(), name=LocatedText(SITE, Place("test")))
    keeper = CycleWriter(path, settings, judging, members(polled), source=f"scenario {scenario.title}, seed 1")
    keeper.open(polled[0].began)
    for batch in polled:
        assert not keeper.take(batch).errors
    keeper.close()


def write_recording(path: Path, scenario: Scenario, polled: Iterable[CycleExchanges], every_ms: int) -> None:
    """A recording as ``mqvitals record`` writes it."""
    polled = list(polled)
    source = f"scenario {scenario.title}, seed 1"
    names = tuple(members(polled))
    header = RecordingHeader(
        created=polled[0].began, source=source, name=SITE, queue_managers=names, interval_s=every_ms / 1000
    )
    with RecordingWriter(path, header) as writer:
        for batch in polled:
            for exchange in batch.exchanges:
                writer.write(exchange)


def members(polled: Iterable[CycleExchanges]) -> list[str]:
    """The names of the queue managers."""
    return sorted({name for batch in polled for name in batch.intervals})
