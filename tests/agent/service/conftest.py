"""Queue managers that follow a script, and a service over both."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

import pytest

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.connection.connection import ConnectError, Exchange, MqiCalls, MqiFailure, Query, Reply
from mqvitals_agent.log import LineHandler, logging_to
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import encode_message, integer, string
from mqvitals_agent.pcf.message import FilterValue, Parameter
from mqvitals_agent.pcf.names import command_name
from mqvitals_agent.service.agent_meters import DiskSpace
from mqvitals_agent.service.cycles.cycle import StoredCycle
from mqvitals_agent.service.service import Service
from mqvitals_agent.simulator.answer import answer
from mqvitals_agent.threads import ThreadWorker
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")

BEGAN = 1795176000000  # 2026-11-20 12:00:00 UTC


class NobodyAsks:
    """The clock of people, where there are none: who looks for their questions looks once."""

    def now(self) -> int:
        return BEGAN

    async def sleep(self, ms: float) -> None:
        await asyncio.get_running_loop().create_future()


class InlineWorker(ThreadWorker):
    """Does everything at once, in the test's own thread."""

    def __init__(self) -> None:
        """No thread."""

    async def run(self, function: Callable[[*_Ts], _T], *arguments: *_Ts) -> _T:
        return function(*arguments)

    def end(self) -> None:
        """Nothing to end."""


@dataclass(eq=False)
class Script:
    """A queue manager that does what the test wants; it is its own connector and connection.

    ``took`` is the time of an answer by command (ms), ``items`` what it tells, ``silent`` commands end with 2033 after the
    wait, ``truncated`` ones too but for their first messages, ``hung`` ones never, ``refused`` ones are answered 2035.
    ``down`` is why connecting fails, ``stuck`` makes it hang; with ``connect_anyway`` only asking fails. ``deaf`` makes it
    hang too, but a connection comes of it when it is cancelled. ``close_fails`` is what closing raises in the end.
    ``calls`` are those of MQ that it says hung. ``platform`` is what it says it runs on (0: nothing), ``statistics_queue`` where
    its statistics messages lie; ``fails`` are commands that end with another reason. With ``no_lists`` it refuses every
    list of attributes, with ``no_filters`` every filter.
    """

    queue_manager: str
    clock: VirtualClock
    took: dict[str, int] = field(default_factory=dict)
    items: dict[str, Sequence[Sequence[Parameter]]] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    hung: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    truncated: set[str] = field(default_factory=set)
    down: int = 0
    stuck: bool = False
    deaf: bool = False
    close_fails: Exception | None = None
    calls: MqiCalls = field(default_factory=MqiCalls)
    platform: int = 0
    statistics_queue: str = ""
    fails: dict[str, int] = field(default_factory=dict)
    connect_anyway: bool = False
    no_lists: bool = False
    no_filters: bool = False
    attempts: list[int] = field(default_factory=list)
    asked: list[tuple[int, str]] = field(default_factory=list)
    open: int = 0
    most_at_once: int = 0
    requests: list[bytes] = field(default_factory=list)
    _at_once: int = 0

    async def connect(self) -> Script:
        self.attempts.append(self.clock.now() - BEGAN)
        if self.stuck:
            await asyncio.get_running_loop().create_future()
        if self.deaf:
            with suppress(asyncio.CancelledError):
                await asyncio.get_running_loop().create_future()
        if self.down and not self.connect_anyway:
            raise ConnectError(MqiFailure(2, self.down))
        self.open += 1
        return self

    async def close(self) -> None:
        self.open -= 1
        if self.close_fails is not None:
            raise self.close_fails

    async def ask(self, query: Query, wait_ms: int) -> Exchange:
        command, request = query.command, query.request
        name = command_name(command) or ""
        at = self.clock.now()
        self.asked.append((at - BEGAN, name))
        self.requests.append(request)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            if name in self.hung:
                await asyncio.get_running_loop().create_future()
            took = wait_ms if name in self.silent | self.truncated else self.took.get(name, 0)
            if took:
                await self.clock.sleep(took)
        finally:
            self._at_once -= 1
        exchange = Exchange(0, at, took, self.queue_manager, command, request)
        if self.down:
            return replace(exchange, error=MqiFailure(2, 2009))
        if name in self.fails:
            return replace(exchange, error=MqiFailure(2, self.fails[name]))
        if name in self.silent:
            return replace(exchange, error=MqiFailure(2, 2033))
        replies = tuple(self._replies(command, name, self._refusal(name, request)))
        if name in self.truncated:
            return replace(exchange, replies=replies[:-1], error=MqiFailure(2, 2033))
        return replace(exchange, replies=replies)

    def _refusal(self, name: str, request: bytes) -> int:
        lists = self.no_lists or self.no_filters
        values = tuple(Decoder().decode(request, 1208).values.values()) if lists else ()
        if self.no_lists and any(isinstance(each, tuple) and each != (mq.MQIACF_ALL,) for each in values):
            return mq.MQRCCF_CFIL_PARM_ID_ERROR
        if self.no_filters and any(isinstance(each, FilterValue) for each in values):
            return mq.MQRCCF_CFIF_PARM_ID_ERROR
        return mq.MQRC_NOT_AUTHORIZED if name in self.refused else 0

    def _replies(self, command: int, name: str, reason: int) -> Iterable[Reply]:
        if reason:
            said = string(mq.MQCACF_RESPONSE_Q_MGR_NAME, self.queue_manager)
            for kind, control in ((mq.MQCFT_XR_MSG, mq.MQCFC_NOT_LAST), (mq.MQCFT_XR_SUMMARY, mq.MQCFC_LAST)):
                yield Reply(
                    785,
                    500,
                    encode_message(
                        kind, command, [said], control=control, comp_code=mq.MQCC_FAILED, reason=reason, ccsid=500
                    ),
                )
            return
        for data in answer(self.queue_manager, command, self.items.get(name, ()), len(self.asked)):
            yield Reply(785, 500, data)

    def times(self, name: str) -> list[int]:
        """When a command was asked, ms since the beginning."""
        return [at for at, each in self.asked if each == name]


def depth(name: str, messages: int) -> Sequence[Parameter]:
    """A queue's status."""
    return (
        string(mq.MQCA_Q_NAME, name),
        integer(mq.MQIACF_Q_STATUS_TYPE, mq.MQIACF_Q_STATUS),
        integer(mq.MQIA_CURRENT_Q_DEPTH, messages),
        integer(mq.MQIA_QSG_DISP, mq.MQQSGD_Q_MGR),
    )


class House:
    """A store, a clock, and queue managers QM01 to QM03 that a service may ask."""

    def __init__(self, folder: Path) -> None:
        self.clock = VirtualClock(BEGAN)
        self.store = folder / "samples.db"
        self.scripts = [Script(name, self.clock) for name in ("QM01", "QM02", "QM03")]
        self.log = io.StringIO()
        self.handler = LineHandler(self.log, self.clock)
        self.stored: list[StoredCycle] = []
        self.tapped: list[Exchange] = []
        self.settings = Settings()
        self.worker = InlineWorker()
        self.service: Service | None = None
        """The service that runs, or ran last."""

    def of(self, name: str) -> Script:
        return next(script for script in self.scripts if script.queue_manager == name)

    def make(self, **options: Any) -> Service:
        """A service over the scripts; random waits are the longest possible, and nobody asks unless ``requests_clock`` is given."""
        options.setdefault("requests_clock", NobodyAsks())
        return Service(
            self.settings,
            load_rule_config(self.settings),
            self.store,
            self.scripts,
            self.clock,
            stored=self.stored.append,
            tap=self.tapped.append,
            uniform=lambda _, longest: longest,
            worker=self.worker,
            **options,
        )

    @asynccontextmanager
    async def running(self, **options: Any) -> AsyncIterator[Service]:
        """A service that runs until the block ends."""
        self.service = service = self.make(**options)
        task = asyncio.create_task(service.run())
        await self.clock.advance(0)
        try:
            yield service
        finally:
            service.stop()
            async with asyncio.timeout(60):
                await task


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """Somewhere for a service to live, on a disk that is half empty whatever the machine's is."""
    monkeypatch.setattr("mqvitals_agent.service.cycles.cycle_writer.disk_space", lambda _: DiskSpace(1 << 40, 1 << 39))
    made = House(tmp_path)
    with logging_to(made.handler):
        yield made


@pytest.fixture
def queue_depth() -> Callable[[str, int], Sequence[Parameter]]:
    """What makes a queue's status."""
    return depth
