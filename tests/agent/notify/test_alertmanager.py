"""What fires is sent to Alertmanager again and again, to each member for itself, and what has ended until it must know."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from mqvitals_agent.alerting.labels import alert_name
from mqvitals_agent.notify.delivery import Notifier, make_receiver
from mqvitals_agent.notify.receiver import send_test_alert, shown_test_alert
from mqvitals_agent.store.rows.alerts.action_client import ActionClient
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.secret import Secret, WebAddress
from mqvitals_config.receivers.services import AlertmanagerSettings
from mqvitals_config.sections.matcher import parse_matcher
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import parse_iso

RESOLVED = AlertState.RESOLVED
Pool = Callable[..., Alert]
Hooks = Callable[[], Awaitable[Any]]
RESEND = 30_000


def settings(*hooks: Any, name: str = "am", **others: Any) -> AlertmanagerSettings:
    """The receiver whose members are these servers."""
    addresses = tuple(WebAddress(each.url.partition("/hook")[0]) for each in hooks)
    return AlertmanagerSettings(LocatedText(name, Place("x")), type="alertmanager", addresses=addresses, **others)


@asynccontextmanager
async def running(site: Any) -> Any:
    """The agent's delivery."""
    async with site.running(Notifier(site.outbox(), site.clock, lambda _: lambda: 1.0)) as notifier:
        yield notifier


def change(site: Any, notifier: Notifier, *alerts: Alert) -> None:
    """A cycle now."""
    site.cycle = (site.clock.now() - site.clock._begin) // 10_000 - 1
    site.change(*alerts)
    notifier.wake()


class Beliefs:
    """What an Alertmanager believes: alerts by their labels, each until it ends."""

    def __init__(self, site: Any, hook: Any) -> None:
        self._site = site
        self._hook = hook

    @property
    def firing(self) -> set[tuple[str, str]]:
        """(rule, severity) of what fires there now."""
        ends: dict[tuple[tuple[str, str], ...], int] = {}
        for post in self._hook.requests:
            for each in post:
                ends[tuple(sorted(each["labels"].items()))] = parse_iso(each["endsAt"])
        now = self._site.clock.now()
        return {(dict(key)["rule"], dict(key)["severity"]) for key, ts in ends.items() if ts > now}


async def test_what_fires_is_sent_again_and_its_end_for_a_quarter_of_an_hour(site: Any, hook: Any, pool: Pool) -> None:
    """With one beginning, an end four times the interval ahead, and under one set of labels."""
    site.receivers = [settings(hook, labels={"site": "north"})]
    alert = pool()
    async with running(site) as notifier:
        await site.clock.advance(20_000)
        began = site.clock.now()
        change(site, notifier, alert)
        await site.clock.advance(5 * RESEND + 1)
        assert len(hook.requests) == 6
        posts = [each for (each,) in hook.requests]
        assert {each["startsAt"] for each in posts} == {posts[0]["startsAt"]}
        assert parse_iso(posts[0]["startsAt"]) == began
        assert [parse_iso(each["endsAt"]) for each in posts] == [began + RESEND * (n + 4) for n in range(6)]
        assert all(each["labels"] == posts[0]["labels"] for each in posts)
        rule = site.outbox()._settings.rules.rule("BP-03")
        assert posts[0]["labels"] == {
            "alertname": alert_name(rule.title, "BP-03"),
            "rule": "BP-03",
            "family": "bp_free",
            "severity": "critical",
            "owner": "QM01",
            "queue_manager": "QM01",
            "kind": "buffer_pool",
            "object": "QM01/buffer_pool/3",
            "name": "3",
            "group": "PRDQSG",
            "site": "north",
        }
        assert posts[0]["annotations"]["summary"].endswith("4 % free")
        hook.requests.clear()
        await site.clock.advance(9_999)
        ended = site.clock.now()
        change(site, notifier, replace(alert, state=RESOLVED))
        await site.clock.advance(1_800_000)
        assert {parse_iso(each["endsAt"]) for (each,) in hook.requests} == {ended}
        assert {each["startsAt"] for (each,) in hook.requests} == {posts[0]["startsAt"]}
        assert len(hook.requests) == 30
        assert "fired_for" in hook.requests[0][0]["annotations"]
        assert site.row("SELECT count(*) FROM notice") == [(0,)]
        assert site.row("SELECT count(*) FROM resent") == [(0,)]


async def test_another_severity_is_another_alert(site: Any, hook: Any, pool: Pool) -> None:
    """The one of before ends in the same post in which the new one begins; back again it goes on with the first."""
    site.receivers = [settings(hook)]
    believed = Beliefs(site, hook)
    async with running(site) as notifier:
        for severity in (Severity.WARNING, Severity.CRITICAL, Severity.WARNING):
            await site.clock.advance(100_000)
            before = len(hook.requests)
            change(site, notifier, pool(severity=severity))
            await site.clock.advance(1)
            assert len(hook.requests) == before + 1
            assert believed.firing == {("BP-03", severity.name.lower())}
            assert len(hook.requests[-1]) == (1 if not before else 2)
        change(site, notifier, pool(severity=Severity.WARNING, state=RESOLVED))
        await site.clock.advance(1)
        assert believed.firing == set()


async def test_members_are_sent_to_each_by_itself(site: Any, hooks: Hooks, pool: Pool) -> None:
    """One that fails delays nobody; one that comes back hears all; only when all fail the receiver does."""
    good, bad = await hooks(), await hooks()
    bad.answers = [503] * 6
    site.receivers = [settings(good, bad)]
    async with running(site) as notifier:
        await site.clock.advance(10_000)
        change(site, notifier, pool())
        await site.clock.advance(50_000)
        assert len(good.requests) == 2
        assert len(bad.requests) == 5
        (row,) = site.receiver_rows()
        assert (row.failing, row.accepted is not None) == (None, True)
        assert "answered 503" in row.error
        await site.clock.advance(120_000)
        assert Beliefs(site, bad).firing == {("BP-03", "critical")}
        (row,) = site.receiver_rows()
        assert (row.failing, row.error) == (None, "")
        good.answers, bad.answers = [500] * 40, [500] * 40
        await site.clock.advance(60_000)
        (row,) = site.receiver_rows()
        assert row.failing is not None
        assert row.waiting == 1
        good.answers.clear()
        await site.clock.advance(40_000)
        assert site.receiver_rows()[0].failing is None
    said = [line.split()[1] for line in site.lines.said]
    assert said.count("receiver.failing") == 3
    assert said.count("receiver.back") == 2


async def test_a_failing_one_is_asked_until_it_works(site: Any, hook: Any, pool: Pool) -> None:
    """Also when nothing is left to be sent."""
    site.receivers = [settings(hook)]
    hook.answers = [503] * 1_000
    async with running(site) as notifier:
        await site.clock.advance(10_000)
        change(site, notifier, pool())
        await site.clock.advance(100_000)
        change(site, notifier, pool(state=RESOLVED))
        await site.clock.advance(1_000_000)
        hook.answers.clear()
        await site.clock.advance(40_000)
        assert hook.requests[-1] == []
        assert site.receiver_rows()[0].failing is None
        count = len(hook.requests)
        await site.clock.advance(400_000)
        assert len(hook.requests) == count


@contextmanager
def client(site: Any) -> Iterator[ActionClient]:
    """A person beside the agent."""
    with ActionClient.open(site.store.path) as found:
        yield found


async def test_silences_keep_new_alerts_away_and_end_none(site: Any, hook: Any, pool: Pool) -> None:
    """What Alertmanager has is sent on while someone mutes it here: it has not ended. New ones come when the silence is over."""
    site.receivers = [settings(hook)]
    believed = Beliefs(site, hook)
    known, new = pool(), pool("BP-07", family="")
    async with running(site) as notifier:
        await site.clock.advance(10_000)
        change(site, notifier, known)
        await site.clock.advance(10_000)
        now = site.clock.now()
        with client(site) as people:
            people.add_silence([parse_matcher("kind=buffer_pool")], "test", now, now + 400_000, now)
        change(site, notifier, new)
        await site.clock.advance(390_000)
        assert believed.firing == {("BP-03", "critical")}
        await site.clock.advance(20_000)
        assert believed.firing == {("BP-03", "critical"), ("BP-07", "critical")}
        with client(site) as people:
            now = site.clock.now()
            people.add_silence([parse_matcher("kind=buffer_pool")], "test", now, now + 400_000, now)
        change(site, notifier, replace(known, state=RESOLVED))
        await site.clock.advance(1)
        assert believed.firing == {("BP-07", "critical")}


async def test_a_restart_changes_nothing_there(site: Any, hook: Any, pool: Pool) -> None:
    """What fired fires on with its beginning; what ended while the agent was down ends; a severity that changed is known."""
    site.receivers = [settings(hook)]
    believed = Beliefs(site, hook)
    stays, ends, worsens = pool(), pool("BP-07", family=""), pool("BP-11", family="", severity=Severity.WARNING)
    async with running(site) as notifier:
        await site.clock.advance(10_000)
        change(site, notifier, stays, ends, worsens)
        await site.clock.advance(20_000)
        (first,) = hook.requests
    for _ in range(3):
        async with running(site):
            await site.clock.advance(1)
        assert {each["startsAt"] for each in hook.requests[-1]} == {first[0]["startsAt"]}
        assert len(believed.firing) == 3
    site.cycle = 4
    site.change(stays, replace(ends, state=RESOLVED), replace(worsens, severity=Severity.CRITICAL))
    await site.clock.advance(60_000)
    async with running(site):
        await site.clock.advance(1)
        assert believed.firing == {("BP-03", "critical"), ("BP-11", "critical")}
        assert len(hook.requests[-1]) == 4


async def test_thousands_of_alerts_in_one_cycle(site: Any, hooks: Hooks, pool: Pool, soak: bool) -> None:
    """To both members 1,000 (5,000 in ``make soak``) in posts of 200, none lost, neither beginnings nor ends."""
    count = 5_000 if soak else 1_000
    members = [await hooks(), await hooks()]
    site.receivers = [settings(*members)]
    many = [
        pool("Q-02", family="", name=ObjectName("QM01", "queue", f"APP.{number:04}"), severity=Severity.WARNING)
        for number in range(count)
    ]
    async with running(site) as notifier:
        for state in (AlertState.FIRING, RESOLVED):
            await site.clock.advance(100_000)
            for each in members:
                each.requests.clear()
            change(site, notifier, *(replace(each, state=state) for each in many))
            await site.clock.advance(1)
            for each in members:
                assert len(each.requests) <= count // 200
                assert len({alert["labels"]["object"] for post in each.requests for alert in post}) == count
                assert max(map(len, each.requests)) <= 250


async def test_what_is_refused_is_shown_and_sent_again(site: Any, hook: Any, pool: Pool) -> None:
    """Alertmanager says 400 when some alerts of a post are invalid, and takes the others."""

    async def refuse(_: web.Request) -> web.StreamResponse:
        return web.Response(status=400, text="bad labels")

    hook.answers = [refuse]
    site.receivers = [settings(hook)]
    async with running(site) as notifier:
        await site.clock.advance(10_000)
        change(site, notifier, pool())
        await site.clock.advance(1)
        assert "bad labels" in site.receiver_rows()[0].error
        await site.clock.advance(RESEND)
        assert len(hook.requests) == 2
        assert site.receiver_rows()[0].error == ""


async def test_a_receiver_that_goes_leaves_nothing(site: Any, hook: Any, pool: Pool) -> None:
    """And as a webhook of the same name it is told what fires."""
    site.receivers = [settings(hook)]
    async with running(site) as notifier:
        await site.clock.advance(10_000)
        change(site, notifier, pool())
        await site.clock.advance(1)
    site.receivers = [replace(settings(hook), name=LocatedText("other", Place("x")))]
    async with running(site):
        await site.clock.advance(1)
    assert site.row("SELECT DISTINCT receiver FROM resent") == [("other",)]


def test_the_test_alert_is_shown_for_each_member(tmp_path: Any) -> None:
    """With the path of the API, and without what is secret."""
    (tmp_path / "user").write_text("ada:Squiet\n")
    receiver = AlertmanagerSettings(
        LocatedText("am", Place("x")),
        type="alertmanager",
        addresses=(WebAddress("http://am1:9093"), WebAddress("https://am2/monitoring/")),
        credentials_file=Secret.in_file(LocatedText(str(tmp_path / "user"), Place("x"))),
    )
    firing, resolved = shown_test_alert(make_receiver(receiver, lambda: 1_795_176_000_000), receiver, 1_795_176_000_000)
    assert firing.count("POST ") == 2
    assert "POST http://am1:9093" in firing
    assert "Authorization: (hidden)" in firing
    assert '"endsAt": "2026-11-20T12:02:00.000Z"' in firing
    assert '"endsAt": "2026-11-20T12:00:00.000Z"' in resolved


async def test_the_test_alert_goes_to_every_member(hooks: Hooks) -> None:
    """Firing and then resolved; the address gets the path of the API, unless it has it."""
    one, two = await hooks(), await hooks()
    receiver = settings(one, two)
    outcomes = await send_test_alert(make_receiver(receiver, lambda: 5), receiver, 5)
    assert [status.value for status, _ in outcomes] == ["firing", "resolved"]
    assert [len(each.requests) for each in (one, two)] == [2, 2]
    two.answers = [500]
    ((_, outcome),) = await send_test_alert(make_receiver(receiver, lambda: 5), receiver, 5)
    assert outcome.status.value == "try again"
    assert "answered 500" in outcome.text


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Queue manager unreachable", "QueueManagerUnreachable"),
        ("Buffer pool's free buffers low (< 5 %)", "BufferPoolsFreeBuffersLow5Percent"),
        ("CF structure: full soon", "CFStructureFullSoon"),
        ("Über-Tiefe", "ÜberTiefe"),
        ("", "X-1"),
    ],
)
def test_names_of_alerts(title: str, name: str) -> None:
    """The words of the rule's title, as Prometheus' users write names."""
    assert alert_name(title, "X-1") == name


@pytest.mark.parametrize("seed", range(3))
async def test_members_believe_what_is_whatever_happens(seed: int, site: Any, hooks: Hooks, pool: Pool) -> None:
    """Alerts begin, change and end, the agent restarts, a member fails: the other one is never wrong, that one not for long."""
    dice = random.Random(seed)
    sound, shaky = await hooks(), await hooks()
    site.receivers = [settings(sound, shaky)]
    truth: dict[str, Severity] = {}
    for _ in range(8):
        async with running(site) as notifier:
            for _ in range(6):
                await site.clock.advance(10_000 * dice.randint(1, 12))
                rule = dice.choice(["Q-02", "Q-03", "CHL-16"])
                severity = dice.choice([Severity.WARNING, Severity.CRITICAL, None])
                if severity is not None:
                    truth[rule] = severity
                    change(site, notifier, pool(rule, family="", severity=severity))
                elif rule in truth:
                    severity = truth.pop(rule)
                    change(site, notifier, pool(rule, RESOLVED, severity, family=""))
                shaky.answers = [503] * dice.randint(0, 4)
                await site.clock.advance(1)
                is_so = {(rule, severity.name.lower()) for rule, severity in truth.items()}
                assert Beliefs(site, sound).firing == is_so
            shaky.answers.clear()
            await site.clock.advance(RESEND + 1)
            assert Beliefs(site, shaky).firing == Beliefs(site, sound).firing == is_so
        await site.clock.advance(dice.randint(1, 3 * RESEND))
