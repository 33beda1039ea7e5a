"""An agent that is killed again and again, with receivers in trouble and people who mute: nothing is lost, nothing is told twice
but under its own key, nothing that is muted is told.
"""

from __future__ import annotations

import asyncio
import shutil
from bisect import bisect_right
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from mqvitals_agent.alerting.decision import NotificationStatus
from mqvitals_agent.alerting.routing import Route
from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.notify.delivery import Notifier
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.resilient import ResilientStore
from mqvitals_agent.store.rows.alerts.action_client import ActionClient
from mqvitals_agent.store.rows.alerts.alert_rows import StoredAlert
from mqvitals_agent.store.rows.alerts.notification_rows import PendingNotification, StoredNotification
from mqvitals_agent.store.writer import Store
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.secret import Secret, WebAddress
from mqvitals_config.receivers.http import webhook_of
from mqvitals_config.receivers.receiver import ReceiverSettings
from mqvitals_config.receivers.services import (
    PagerDutySettings,
    ServiceNowSettings,
    SlackSettings,
    SplunkSettings,
    TeamsSettings,
)
from mqvitals_config.sections.matcher import parse_matcher
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity
from mqvitals_rules.snapshot import ObjectName

FIRING, RESOLVED = NotificationStatus.FIRING, NotificationStatus.RESOLVED
CYCLE_MS, DAY_MS = 10_000, 86_400_000
TOLD_AFTER = 6
"""What fires for so many cycles is told, whatever its group waits for."""
PACED = Route("route", "webhook", wait=10_000, interval=20_000, repeat=None, goes_on=True)
GROUPS = {
    "webhook": ("...",),
    "slack": ("owner",),
    "teams": (),
    "pagerduty": ("owner",),
    "servicenow": ("severity",),
    "splunk": ("owner", "severity"),
}
START = 1_795_176_000_000
TROUBLES = ("up", "down", "slow", "400", "403", "429", "503", "half-open")
WEIGHTS = (100, 8, 1, 8, 4, 8, 8, 12)
Pool = Callable[..., Alert]


@dataclass(frozen=True)
class Incident:
    """An alert that fires from one cycle to another, and becomes critical in between or not."""

    name: ObjectName
    begins: int
    ends: int
    worsens: int

    def severity(self, cycle: int) -> Severity:
        return Severity.CRITICAL if cycle >= self.worsens else Severity.WARNING


def incidents(dice: Random, cycles: int) -> list[Incident]:
    """Some in each cycle, now and then very many; some outlast everything. An object has one at a time."""
    free: dict[ObjectName, int] = {
        ObjectName(f"QM0{owner}", "queue", f"APP.{number:03}."): 0 for owner in (1, 2, 3) for number in range(40)
    }
    found = []
    for cycle in range(cycles):
        names = [name for name, since in free.items() if since <= cycle]
        dice.shuffle(names)
        for name in names[: 25 if dice.random() < 0.02 else dice.choice((0, 0, 1, 1, 2))]:
            length = dice.randint(TOLD_AFTER, 30)
            ends = cycles + 1 if dice.random() < 0.05 else cycle + length
            worsens = cycle + dice.choice((0, 0, 4, 10_000))
            found.append(Incident(name, cycle, ends, worsens))
            free[name] = ends + 2
    return found


@dataclass
class Mute:
    """Someone said not to be told: about an alert (its number), or about an object. Moments are numbers of events."""

    about: int | str
    begins: int
    until: int
    id: int = 0
    ended: int | None = None


@dataclass(frozen=True)
class Event:
    """A notification that a receiver is being sent, or that has arrived there.

    ``taken`` is the number of events before it was taken out of the outbox: from then on nothing can hold it back.
    """

    ts: int
    receiver: str
    stored: StoredNotification
    arrived: bool
    taken: int


@dataclass
class Figures:
    """What happened."""

    kills: int = 0
    arrived: int = 0
    doubles: int = 0
    told: int = 0
    troubles: dict[str, int] = field(default_factory=lambda: defaultdict(int))


class Chaos:
    """The world around an agent: receivers, people, and the moment at which the next kill comes."""

    def __init__(self, site: Any, pool: Pool, dice: Random, folder: Path) -> None:
        self.site, self.pool, self.dice, self.folder = site, pool, dice, folder
        self.path = folder / "0.db"
        self.clock: VirtualClock = site.clock
        self.events: list[Event] = []
        self.mutes: list[Mute] = []
        self.cycle_begins: list[int] = []
        """The number of events at the beginning of each cycle that was completed."""
        self.figures = Figures()
        self.current: dict[str, Event] = {}
        self.left = 0
        self.dead = asyncio.Event()
        self.trouble = True
        self.everything: tuple[StoredAlert, ...] = ()
        """All alerts of the store at the end."""
        self.next_path = self.path
        self.faults: list[str] = []
        """What receivers missed in what they were sent."""

    def tick(self, *_: object) -> None:
        """A moment at which the agent may be killed: before a statement of the store, or while something is on the wire.

        What SQLite has written by then is all that the next life knows.
        """
        if self.dead.is_set() or not self.left:
            return
        self.left -= 1
        if not self.left:
            self.figures.kills += 1
            copy = self.folder / f"{self.figures.kills}.db"
            for ending in ("", "-wal"):
                source = self.path.with_name(self.path.name + ending)
                if source.exists():
                    shutil.copy(source, copy.with_name(copy.name + ending))
            self.next_path = copy
            self.dead.set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """A receiver over HTTP that is up, down, slow, refuses, asks for a pause, or breaks off."""
        receiver = request.path.split("/")[1]
        body = await request.text()
        self.tick()
        kind = self.dice.choices(TROUBLES, WEIGHTS)[0] if self.trouble else "up"
        if self.dead.is_set():
            kind = "down"
        current = self.current[receiver]
        stored = current.stored
        if kind in {"up", "slow", "half-open"}:
            # Some services show few alerts: the news among them, where they are few.
            for each in stored.alerts if len(stored.alerts) <= 3 else ():
                self.faults += [] if name_of(each) in body else [f"{receiver} is not told {each} in {body}"]
            self.events.append(replace(current, ts=self.clock.now(), arrived=True))
            self.figures.arrived += 1
        if kind != "up":
            self.figures.troubles[kind] += 1
        self.tick()
        if kind in {"down", "half-open"} or self.dead.is_set():
            assert request.transport is not None
            request.transport.abort()
        if kind == "slow":
            await asyncio.sleep(0.3)
        if kind.isdigit():
            return web.Response(status=int(kind), headers={"Retry-After": "20"} if kind == "429" else {})
        return web.Response(status=202)

    def take(self, taken: StoredNotification | None, receiver: str) -> StoredNotification | None:
        """Note what a receiver is going to be sent."""
        if taken is not None and not self.dead.is_set():
            event = self.current[receiver] = Event(self.clock.now(), receiver, taken, False, len(self.events))
            self.events.append(event)
        return taken

    @asynccontextmanager
    async def life(self) -> AsyncIterator[Notifier]:
        """An agent from its start to its end, or to the moment at which it is killed."""
        site = self.site
        store = ResilientStore(
            lambda now, busy: Store.open(self.path, created=now, busy_ms=busy), self.clock.now, steady=lambda: 0.0
        )
        store.file._connection.set_trace_callback(self.tick)
        site.store, site.open = store, {each.key: each for each in store.alerts.all_open()}
        self.outbox = outbox = site.outbox()
        taking = outbox.take
        outbox.take = lambda receiver: self.take(taking(receiver), receiver)
        notifier = Notifier(outbox, self.clock, lambda _: lambda: 0.3)
        task = asyncio.create_task(notifier.run())
        try:
            yield notifier
        finally:
            notifier.close()
            await task
            store.close()
            if self.dead.is_set():
                self.path = self.next_path

    async def cycle(self, number: int, plan: list[Incident], notifier: Notifier) -> None:
        """What people do, what the rules find, and ten seconds."""
        await self.clock.advance(CYCLE_MS)
        if self.dead.is_set():
            return
        begins = len(self.events)
        if self.dice.random() < 0.6:
            self.people()
        self.alerts(number, plan)
        notifier.wake()
        await self.clock.advance(1)
        if not self.dead.is_set():
            self.cycle_begins.append(begins)

    def alerts(self, number: int, plan: list[Incident]) -> None:
        """The changes that bring the alerts of the store to those of the plan."""
        wanted = {each.name: each.severity(number) for each in plan if each.begins <= number < each.ends}
        known = {key.object: alert for key, alert in self.site.open.items()}
        changes = [
            self.pool("Q-02", family="", name=name, severity=severity)
            for name, severity in wanted.items()
            if name not in known or known[name].severity is not severity
        ]
        changes += [
            self.pool("Q-02", family="", name=name, severity=alert.severity, state=AlertState.RESOLVED)
            for name, alert in known.items()
            if name not in wanted
        ]
        self.site.cycle = (self.clock.now() - START) // CYCLE_MS - 1
        self.site.change(*changes, update_outbox=self.outbox.update)

    def people(self) -> None:
        """Someone mutes an alert that gets no worse, or takes that back."""
        now = self.clock.now()
        # One that becomes worse later in this cycle asks anew, whoever has it.
        firing = [each for each in self.site.store.alerts.firing() if each.alert.severity is Severity.CRITICAL]
        # What waits for its delivery is what a mute must catch.
        waits = self.site.store.notifications.undelivered()
        if self.dead.is_set():
            return  # killed while this was read: what people did now would be in no later store
        standing = [each for each in self.mutes if each.ended is None and now < each.until]
        with ActionClient.open(self.path, "bob") as client:
            if standing and self.dice.random() < 0.4:
                mute = self.dice.choice(standing)
                if isinstance(mute.about, str):
                    client.end_silence(mute.id, now)
                elif any(each.id == mute.about for each in firing):
                    client.undo_acknowledgement(mute.about, now)
                else:
                    return
                mute.ended = len(self.events)
            elif firing:
                alert = self.dice.choice([each for each in firing if each.id in waits] or firing)
                until = now + self.dice.randint(3, 30) * CYCLE_MS
                if any(each.about in (alert.id, str(alert.alert.key.object)) for each in standing):
                    return
                if self.dice.random() < 0.5:
                    matchers = [parse_matcher(f'object="{alert.alert.key.object}"')]
                    made = client.add_silence(matchers, "noisy", now, until, now)
                    self.mutes.append(Mute(str(alert.alert.key.object), len(self.events), until, made.id))
                else:
                    ends = self.dice.choice((None, until))
                    client.acknowledge(alert.id, now, note="mine", until=ends)
                    self.mutes.append(Mute(alert.id, len(self.events), until if ends else now + DAY_MS * 1000))

    async def live(self, plan: list[Incident], kills: int) -> None:
        """Lives of agents, until the last of them is killed."""
        while self.figures.kills < kills:
            self.dead.clear()
            self.left = self.dice.randint(1, 1_000)
            async with self.life() as notifier:
                work = asyncio.create_task(self.cycles(plan, notifier))
                dead = asyncio.create_task(self.dead.wait())
                await asyncio.wait({work, dead}, return_when=asyncio.FIRST_COMPLETED)
                dead.cancel()
                work.cancel()
                await asyncio.gather(work, dead, return_exceptions=True)

    async def cycles(self, plan: list[Incident], notifier: Notifier) -> None:
        while True:
            await self.cycle(len(self.cycle_begins), plan, notifier)

    async def settle(self) -> None:
        """A last life, in which all receivers are well and everybody has time."""
        self.trouble, self.left = False, 0
        self.dead.clear()
        async with self.life():
            await self.clock.advance(3_600_000)
            assert self.site.store.notifications.pending_counts() == {}
        with StoreReader.open(self.path) as reader:
            self.everything = reader.alerts(include_ended=True)

    def windows(self, alert: Alert, number: int) -> list[tuple[int, int]]:
        """The events between which an alert was muted."""
        times = [each.ts for each in self.events]
        found = []
        for mute in self.mutes:
            if mute.about in (number, str(alert.key.object)):
                end = bisect_right(times, mute.until - 1)
                found.append((mute.begins, end if mute.ended is None else min(end, mute.ended)))
        return found


def name_of(pending: PendingNotification) -> str:
    """The name of the object of an alert, which stands in whatever a receiver is sent."""
    return pending.payload.partition('"object": "')[2].partition('"')[0].rpartition("/")[2]


def check(chaos: Chaos, plan: list[Incident]) -> None:
    """What each receiver knows at the end, and how it came to know it."""
    alerts = {each.id: each.alert for each in chaos.everything}
    windows = {number: chaos.windows(alert, number) for number, alert in alerts.items()}
    histories: dict[tuple[str, int], list[tuple[int, PendingNotification]]] = defaultdict(list)
    for index, event in enumerate(chaos.events):
        for each in (*event.stored.alerts, *event.stored.beside):
            if each.status is FIRING:
                assert not any(first <= event.taken < end for first, end in windows[each.alert_id]), (event, each)
        if event.arrived:
            for each in event.stored.alerts:
                histories[event.receiver, each.alert_id].append((index, each))
    by_name: dict[ObjectName, list[int]] = defaultdict(list)
    for number, alert in sorted(alerts.items()):
        by_name[alert.key.object].append(number)
    of = {
        number: incident
        for name, numbers in by_name.items()
        for number, incident in zip(numbers, (each for each in plan if each.name == name), strict=False)
    }
    for number, alert in alerts.items():
        for receiver in GROUPS:
            history = histories[receiver, number]
            check_alert(chaos, alert, of[number], windows[number], history)


def check_alert(
    chaos: Chaos,
    alert: Alert,
    incident: Incident,
    muted: list[tuple[int, int]],
    history: list[tuple[int, PendingNotification]],
) -> None:
    """What one receiver was told about an alert."""
    told = list(dict.fromkeys(each for _, each in history))
    chaos.figures.told += len(told)
    chaos.figures.doubles += len(history) - len(told)
    # A double is the same row, and never comes after a newer one.
    made = [each.made for _, each in history]
    assert made == sorted(made), history
    assert len({each.fingerprint for each in told}) <= 1
    words = [(each.status, each.severity) for each in told]
    ended = alert.state is AlertState.RESOLVED
    last = len(chaos.events)
    if not muted:
        assert len(set(words)) == len(words), words
        assert words, (alert, history)
    if words:
        # What was muted after an attempt that may have arrived is told its end all the same.
        assert words[0][0] is FIRING or muted
        assert [status for status, _ in words].count(RESOLVED) == ended, words
        assert (words[-1][0] is RESOLVED) is ended, words
    if not ended and not any(end >= last for _, end in muted):
        assert words[-1] == (FIRING, alert.severity)
    end = max((end for _, end in muted), default=last)
    if end < last and incident.ends - bisect_right(chaos.cycle_begins, end) > TOLD_AFTER:
        # It fired long enough after it was muted last.
        assert any(index >= end and each.status is FIRING for index, each in history), (alert, muted, history)


@pytest.fixture
async def chaos(site: Any, pool: Pool, tmp_path: Path) -> AsyncIterator[Callable[[int], Chaos]]:
    """A world around an agent, by the seed of its dice."""
    made: list[Chaos] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        return await made[-1].handle(request)

    app = web.Application()
    app.router.add_post("/{tail:.*}", handle)
    server = TestServer(app, host="127.0.0.1", port=0)
    await server.start_server(shutdown_timeout=0.01)
    (tmp_path / "secret").write_text("agent:Psecret\n")

    def make(seed: int) -> Chaos:
        site.store.close()
        folder = tmp_path / str(seed)
        folder.mkdir()
        site.receivers = [settings_of(kind, f"http://127.0.0.1:{server.port}/{kind}", tmp_path) for kind in GROUPS]
        routes = tuple(
            replace(PACED, path=f"route.routes[{index}]", receiver=kind, group_by=labels)
            for index, (kind, labels) in enumerate(GROUPS.items())
        )
        site.tree = Route("route", "webhook", routes=routes)
        made.append(Chaos(site, pool, Random(seed), folder))
        return made[-1]

    yield make
    await server.close()


def settings_of(kind: str, url: str, folder: Path) -> ReceiverSettings:
    """A receiver of each type over HTTP, which waits 200 ms for an answer."""
    name, address = LocatedText(kind, Place("mqvitals.yaml", 1, 1)), WebAddress(url)
    secret = Secret.in_file(LocatedText("secret", Place(str(folder / "mqvitals.yaml"))))
    match kind:
        case "webhook":
            return replace(webhook_of(url, name=kind), timeout=200)
        case "slack":
            return SlackSettings(name, "slack", url=address, timeout=200)
        case "teams":
            return TeamsSettings(name, "teams", url=address, timeout=200)
        case "pagerduty":
            return PagerDutySettings(name, "pagerduty", url=address, routing_key_file=secret, timeout=200)
        case "servicenow":
            return ServiceNowSettings(name, "servicenow", url=address, credentials_file=secret, timeout=200)
        case _:
            return SplunkSettings(name, "splunk", url=address, hec_token_file=secret, timeout=200)


@pytest.mark.parametrize("kills", [12, pytest.param(200, marks=[pytest.mark.soak, pytest.mark.timeout(1_800)])])
async def test_killed_at_random_moments(chaos: Callable[[int], Chaos], kills: int) -> None:
    """Every beginning and every end arrives at every receiver, in the order of each alert, whatever befalls agent and receiver.

    Twice comes only what was under way. What is acknowledged or silenced is not told, and is told when that ends while it fires.
    """
    world = chaos(kills)
    plan = incidents(world.dice, 3 * kills + 20)
    await world.live(plan, kills)
    await world.settle()
    assert world.faults == []
    check(world, plan)
    figures = world.figures
    assert figures.kills == kills
    assert figures.told > kills
    assert figures.doubles
    if kills > 100:
        assert set(figures.troubles) == set(TROUBLES) - {"up"}
        assert len(world.mutes) > kills // 10
