"""Ten groups with sixty queue managers in a mix of states, each as the JSON that its agent makes of its status."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.fleet.decode import StatusError
from mqvitals_agent.fleet.sources import FleetError
from mqvitals_agent.openmetrics.segments import Page
from mqvitals_agent.server.server import AgentServer, Served
from mqvitals_agent.store.result import AgentStanding, CurrentValue
from mqvitals_agent.view.alerts.handling import AlertActions, Handlings
from mqvitals_agent.view.alerts.words import AlertAdvice
from mqvitals_agent.view.status import OwnerData, StatusData, status_of
from mqvitals_agent.view.status_json import status_json
from mqvitals_config.sections.serve import ListenAddress, ServeSettings
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity
from mqvitals_rules.snapshot import ObjectName

NOW = 1795176720000  # 2026-11-20 12:12:00 UTC
INTERVAL_MS = 10_000
MINUTE_MS = 60_000

ADVICE = AlertAdvice(
    "Find out which application no longer gets messages, and start it again.", "DISPLAY QSTATUS(PAYMENTS.IN) ALL"
)


def alert(name: ObjectName, severity: Severity, lasts_ms: int, words: str, rule: str = "Q-02") -> Alert:
    """An operational alert that has been firing for so long at NOW."""
    begun = NOW - lasts_ms
    key = AlertKey(rule, name)
    return Alert(
        key,
        name,
        "operational",
        "",
        AlertState.FIRING,
        severity,
        severity,
        since=begun,
        updated=NOW,
        summary=words,
        started=begun,
    )


def data(
    group: str,
    members: int,
    alerts: Sequence[Alert] = (),
    *,
    silent: Mapping[str, int] | None = None,
    standing: AgentStanding | None = None,
) -> StatusData:
    """A group with so many queue managers, named after it, that reported 4 s before NOW.

    ``silent`` have reported nothing for so long, ms.
    """
    names = [f"{group[-1]}Q{number:02}" for number in range(1, members + 1)]
    quiet = silent or {}
    owners = tuple(
        OwnerData(name, name == group, NOW - 3_600_000, NOW - quiet.get(name, 4_000), INTERVAL_MS)
        for name in (*names, group)
    )
    current = {
        ObjectName(name, "queue_manager"): {"reachable": CurrentValue(1, NOW, "CONNECTION", NOW, None)}
        for name in names
    }
    actions = {(each.key, each.started): AlertActions(number) for number, each in enumerate(alerts, 1)}
    return StatusData(
        NOW,
        False,
        "live",
        group,
        owners,
        current,
        tuple(alerts),
        handled=Handlings(actions, NOW),
        standing=standing,
    )


def document(status: StatusData) -> dict[str, Any]:
    """The status of a group as it comes over the network."""
    view = status_of(status)
    groups = [each.name for each in view.groups]
    advice = {each.key: ADVICE for each in view.alerts[:1]}
    found: dict[str, Any] = json.loads(json.dumps(status_json(view, Labeller.of_store(None, groups), advice)))
    return found


def _prda() -> StatusData:
    alerts = (
        alert(
            ObjectName("AQ02", "queue", "PAYMENTS.IN"),
            Severity.CRITICAL,
            41 * MINUTE_MS,
            "queue PAYMENTS.IN: depth 48211 of 50000 messages, full in 4m12s, and nobody has it open for input",
        ),
        alert(
            ObjectName("AQ04", "buffer_pool", "3"),
            Severity.WARNING,
            12 * MINUTE_MS,
            "buffer pool 3: 11 % free",
            "BP-02",
        ),
        alert(ObjectName("AQ05", "channel", "TO.BANK"), Severity.WARNING, 3 * MINUTE_MS, "RETRYING for 3m", "CHL-16"),
    )
    return data("PRDA", 6, alerts)


def _prdb() -> StatusData:
    structure = ObjectName("PRDB", "cf_structure", "APPL1")
    words = "structure APPL1: 222063 of 250000 entries in use (88.83 %)"
    return data("PRDB", 6, (alert(structure, Severity.CRITICAL, 2 * MINUTE_MS + 5_000, words, "CF-05"),))


def _unreachable() -> StatusData:
    name = ObjectName("CQ03", "queue_manager")
    status = data("PRDC", 4, (alert(name, Severity.WARNING, 9 * MINUTE_MS, "not reachable: reason 2059", "AGENT-01"),))
    gone = {name: {"reachable": CurrentValue(0, NOW, "CONNECTION", NOW, None)}}
    return replace(status, current={**status.current, **gone})


def _large() -> StatusData:
    alerts = (
        alert(ObjectName("DQ07", "log"), Severity.WARNING, 26 * 3_600_000, "3 full logs wait to be archived", "LOG-03"),
        alert(ObjectName("DQ11", "page_set", "4"), Severity.WARNING, 71 * MINUTE_MS, "page set 4: 91 % used", "PS-01"),
    )
    return data("PRDD", 14, alerts)


def _silent() -> StatusData:
    """Its agent has ended 12 minutes ago."""
    words = "structure CSQ_ADMIN: failed"
    before = data(
        "PRDE", 6, (alert(ObjectName("PRDE", "cf_structure", "CSQ_ADMIN"), Severity.CRITICAL, 800_000, words),)
    )
    members = tuple(replace(each, last_ts=NOW - 12 * MINUTE_MS) for each in before.members)
    return replace(before, members=members)


def active(group: str = "PRDH") -> StatusData:
    """The one of two agents that polls."""
    return data(group, 4, standing=AgentStanding("active", NOW - 7_200_000, "it has the reply queues open", "mon2"))


def standby(group: str = "PRDH") -> StatusData:
    """The other one, whose values are from before."""
    standing = AgentStanding("standby", NOW - 7_200_000, "another agent has the reply queue open", "mon1", follows=True)
    before = data(group, 4, standing=standing)
    return replace(before, members=tuple(replace(each, last_ts=NOW - 7_200_000) for each in before.members))


STATUSES: Mapping[str, Callable[[], StatusData]] = {
    "https://mqa.example.com:9157": _prda,
    "https://mqb.example.com:9157": _prdb,
    "/var/lib/mqvitals/prdc.db": _unreachable,
    "https://mqd.example.com:9157": _large,
    "/var/lib/mqvitals/prde.db": _silent,
    "https://mqf.example.com:9157": lambda: data("PRDF", 6, silent={"FQ02": 95_000}),
    "https://mqg.example.com:9157": lambda: data("PRDG", 8),
    "https://mqh1.example.com:9157": active,
    "https://mqh2.example.com:9157": standby,
    "/var/lib/mqvitals/prdi.db": lambda: data("PRDI", 6),
}
"""By where it is read, the status of nine groups, of which one has two agents. They have sixty queue managers."""

ABSENT = "https://mqj.example.com:9157"
"""The tenth one, whose agent does not answer."""


class Sent:
    """A source of the fleet that returns what a test gives it: a document, or the sentence of a failure."""

    def __init__(self, key: str, answer: Any, name: str = "") -> None:
        self.key = self.shown = key
        self.name = name
        self.answer = answer
        self.asked = 0

    async def document(self) -> object:
        """The document. Raises FleetError for a text."""
        self.asked += 1
        if isinstance(self.answer, str):
            raise FleetError(self.answer)
        if isinstance(self.answer, StatusError):
            raise self.answer
        return self.answer


def sources() -> list[Sent]:
    """All ten groups."""
    found = [Sent(key, document(make())) for key, make in STATUSES.items()]
    return [*found, Sent(ABSENT, f"{ABSENT} cannot be reached (No route to host)", "PRDJ")]


FREE = ListenAddress("127.0.0.1", 0)
WELL = json.dumps(document(data("PRDG", 3))).encode()
"""The status of a group of which nothing is wrong."""


@asynccontextmanager
async def served_status(
    body: Callable[[], bytes] = lambda: WELL, settings: ServeSettings | None = None
) -> AsyncIterator[tuple[str, asyncio.Task[None]]]:
    """An agent's server that sends this as its status: its address, and the task that ends it."""
    settings = settings or ServeSettings(FREE)
    server = AgentServer(settings, Served(lambda _: Page(()), body, str))
    task = asyncio.create_task(server.run())
    try:
        async with asyncio.timeout(120):
            while server.address is None:
                assert not server.trouble
                await asyncio.sleep(0.01)
        yield f"{'http' if settings.tls is None else 'https'}://{server.address}", task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def sent_raw(sent: bytes | None) -> AsyncIterator[str]:
    """A server that sends these bytes to whoever connects, whatever is asked; None: it takes the request and hangs."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            if sent is None:
                await reader.read()
            else:
                writer.write(sent)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
