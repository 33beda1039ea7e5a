"""A receiver with given answers, a store with alerts."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from mqvitals_agent.alerting.maintenance import NO_CALENDAR, SiteCalendar
from mqvitals_agent.alerting.routing import Route, every_receiver
from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.log import LineHandler, logging_to
from mqvitals_agent.notify.delivery import Notifier
from mqvitals_agent.notify.outbox import Outbox, OutboxSettings
from mqvitals_agent.notify.receivers.webhook import WebhookReceiver
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.alerts.notifications import UpdateOutbox
from mqvitals_agent.store.rows.alerts.receivers import ReceiverRow
from mqvitals_agent.store.writer import Store
from mqvitals_agent.threads import ThreadWorker
from mqvitals_config.decoding.secret import Secret
from mqvitals_config.receivers.receiver import ReceiverSettings
from mqvitals_config.sections.alerting import ALL_LABELS
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, Transition, Why
from mqvitals_rules.ruleset.pack import read_rules
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Snapshot
from mqvitals_rules.vocabulary.tables import KINDS

START = 1_795_176_000_000
POOL = ObjectName("QM01", "buffer_pool", "3")
T = TypeVar("T")
_Ts = TypeVarTuple("_Ts")


class NotedClock(VirtualClock):
    """Notes the lengths of all sleeps and timers."""

    def __init__(self) -> None:
        super().__init__(START)
        self.slept: list[float] = []

    async def sleep(self, ms: float) -> None:
        self.slept.append(ms)
        await super().sleep(ms)

    def timer(self, ms: float) -> asyncio.Future[None]:
        self.slept.append(ms)
        return super().timer(ms)


class Lines(LineHandler):
    """The log: what was said of deliveries in ``said``, which receivers came and went in ``adopted``."""

    def __init__(self) -> None:
        super().__init__(io.StringIO(), VirtualClock(START))
        self.said: list[str] = []
        self.adopted: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        facts = record.__dict__
        lines = self.adopted if facts["event"] in {"receiver.new", "receiver.dropped"} else self.said
        lines.append(f"{record.levelname.lower()} {facts['event']} {record.getMessage()} {facts['facts']}")


@dataclass
class Hook:
    """A webhook on 127.0.0.1. ``answers`` are taken one a request; then everything is accepted.

    An answer is a status, a function of the request, or an Event to wait for (a receiver that hangs).
    """

    answers: list[Any] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(json.loads(await request.text()))
        self.headers.append(dict(request.headers))
        self.arrived.set()
        answer = self.answers.pop(0) if self.answers else 200
        if isinstance(answer, asyncio.Event):
            await answer.wait()
            answer = 200
        if callable(answer):
            return await answer(request)  # type: ignore[no-any-return]
        return web.Response(status=answer)

    @property
    def received(self) -> list[tuple[str, str]]:
        """(status, severity) of what came."""
        return [(each["status"], each["alerts"][0]["labels"]["severity"]) for each in self.requests]

    @property
    def rules(self) -> list[tuple[str, str]]:
        """(rule, status) of what came."""
        return [(each["commonLabels"]["alertname"], each["status"]) for each in self.requests]

    @property
    def keys(self) -> list[str]:
        return [each["alerts"][0]["fingerprint"] for each in self.requests]

    async def until(self, count: int) -> None:
        while len(self.requests) < count:
            self.arrived.clear()
            await self.arrived.wait()


@pytest.fixture
async def hooks() -> AsyncIterator[Callable[[], Awaitable[Hook]]]:
    """Makes webhooks."""
    servers: list[TestServer] = []

    async def make() -> Hook:
        hook = Hook()
        app = web.Application()
        app.router.add_post("/{tail:.*}", hook.handle)
        server = TestServer(app, host="127.0.0.1", port=0)
        await server.start_server(shutdown_timeout=0.01)
        servers.append(server)
        hook.url = f"http://127.0.0.1:{server.port}/hook/Tsecretpath?key=Qsecretkey"
        return hook

    yield make
    for server in servers:
        await server.close()


@pytest.fixture
async def hook(hooks: Callable[[], Awaitable[Hook]]) -> Hook:
    """One webhook."""
    return await hooks()


@cache
def ruleset() -> RuleSet:
    return RuleSet(read_rules(KINDS)[0], KINDS)


class InlineThread(ThreadWorker):
    """Runs functions at once, and notes that it was asked."""

    def __init__(self, asked: asyncio.Event) -> None:
        self._asked = asked

    async def run(self, function: Callable[[*_Ts], T], *arguments: *_Ts) -> T:
        self._asked.set()
        return function(*arguments)


@dataclass
class Site:
    """A store, the receivers of its alerts, and the way from one to the other."""

    store: Store
    clock: NotedClock = field(default_factory=NotedClock)
    lines: Lines = field(default_factory=Lines)
    receivers: list[ReceiverSettings] = field(default_factory=list)
    open: dict[AlertKey, Alert] = field(default_factory=dict)
    cycle: int = 0
    tree: Route | None = None
    calendar: SiteCalendar = NO_CALENDAR
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    def outbox(self, group: str = "PRDQSG") -> Outbox:
        settings = OutboxSettings(tuple(self.receivers), ruleset(), self.route(), group, calendar=self.calendar)
        return Outbox(lambda: self.store, InlineThread(self.asked), settings, self.clock.now)

    def route(self) -> Route:
        """Every receiver gets every alert by itself, at once, unless a test has a route of its own."""
        if self.tree is not None:
            return self.tree
        least = {str(each.name): Severity[each.min_severity.upper()] for each in self.receivers if each.takes_alerts}
        found = every_receiver(tuple(least), least)
        return replace(
            found,
            routes=tuple(
                replace(each, group_by=(ALL_LABELS,), wait=0, interval=0, repeat=None) for each in found.routes
            ),
        )

    def change(self, *alerts: Alert, update_outbox: UpdateOutbox | None = None) -> None:
        """A cycle after which the alerts are so."""
        self.cycle += 1
        ts = START + self.cycle * 10_000
        changes = []
        for alert in alerts:
            alert = replace(alert, updated=ts, ended=ts if alert.state is AlertState.RESOLVED else None)
            before = self.open.pop(alert.key, None)
            if before is not None and before.started is not None:
                alert = replace(alert, started=before.started)
            elif alert.state is not AlertState.PENDING:
                alert = replace(alert, started=ts)
            changes.append(Transition(alert, before, Why.HELD))
            if alert.state is not AlertState.RESOLVED:
                self.open[alert.key] = alert
        self.store.write(
            Snapshot("QM01", False, self.cycle, ts, ()),
            Evaluation(tuple(changes), ()),
            update_outbox or self.outbox().update,
        )

    def notifier(self, reveal: Any = Secret.reveal) -> Notifier:
        return Notifier(
            self.outbox(),
            self.clock,
            chance_of=lambda _: lambda: 1.0,
            make=lambda settings, now: WebhookReceiver(settings, now, reveal=reveal),
        )

    @asynccontextmanager
    async def running(self, notifier: Notifier | None = None) -> AsyncIterator[Notifier]:
        """A notifier at work."""
        notifier = notifier or self.notifier()
        task = asyncio.create_task(notifier.run())
        try:
            yield notifier
        finally:
            notifier.close()
            await task

    def outcomes(self, receiver: str = "ops") -> list[tuple[str, str, str]]:
        """(rule, status, outcome) of a receiver's notifications in their order; no outcome: pending."""
        rows = self.row("SELECT receiver, status, coalesce(outcome, ''), payload FROM notice ORDER BY id")
        return [
            (json.loads(payload)["labels"]["alertname"], status, outcome)
            for name, status, outcome, payload in rows
            if name == receiver
        ]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits for something that delivery brings about: it asks the store after everything it does."""
        while not holds():
            self.asked.clear()
            await self.asked.wait()

    def receiver_rows(self) -> tuple[ReceiverRow, ...]:
        with StoreReader.open(self.store.path) as reader:
            return reader.receivers()

    def row(self, sql: str) -> Any:
        return self.store._connection.execute(sql).fetchall()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A new store in a folder of its own."""
    store = Store.open(tmp_path / "store.db")
    found = Site(store)
    with logging_to(found.lines):
        yield found
    store.close()


@pytest.fixture
def settled() -> Callable[[Site], Awaitable[None]]:
    """Waits until nothing is pending."""

    async def wait(site: Site) -> None:
        await site.until(lambda: site.row("SELECT count(*) FROM notice WHERE done_ts IS NULL") == [(0,)])

    return wait
