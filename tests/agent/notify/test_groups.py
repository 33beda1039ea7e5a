"""Alerts that are told together: few notifications, none lost, none that someone asked not to hear."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC
from typing import Any

import pytest

from mqvitals_agent.alerting.calendar import TimeInterval, TimeSpan
from mqvitals_agent.alerting.maintenance import MaintenanceWindow, SiteCalendar
from mqvitals_agent.alerting.routing import Route
from mqvitals_agent.store.rows.alerts.action_client import ActionClient
from mqvitals_config.receivers.http import WebhookSettings
from mqvitals_config.sections.matcher import parse_matcher
from mqvitals_config.sections.time_intervals import ClockRange
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.snapshot import ObjectName

FIRING, RESOLVED = AlertState.FIRING, AlertState.RESOLVED
WARNING, CRITICAL = Severity.WARNING, Severity.CRITICAL
BY_OWNER = Route("route", "ops", group_by=("group", "owner"))
MINUTE, HOUR = 60_000, 3_600_000
Pool = Callable[..., Alert]
Webhook = Callable[..., WebhookSettings]
Settled = Callable[[Any], Awaitable[None]]


def told(hook: Any) -> list[Any]:
    """The status of each post, and rule and status of its alerts."""
    return [
        (each["status"], [(one["labels"]["alertname"], one["status"]) for one in each["alerts"]])
        for each in hook.requests
    ]


def of_channels(pool: Pool, count: int, **facts: Any) -> list[Alert]:
    """An alert about each of so many channels of QM01."""
    return [
        pool("CHL-16", family="", name=ObjectName("QM01", "channel", f"TO.{number:04}"), severity=WARNING, **facts)
        for number in range(count)
    ]


async def test_a_queue_manager_with_its_channels_is_one_post(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """Whether its channels are explained by it or are told beside it; and so is their end."""
    site.receivers, site.tree = [webhook(hook.url)], BY_OWNER
    down = pool("AGENT-01", family="", name=ObjectName("QM01", "queue_manager"))
    site.change(down, *of_channels(pool, 200))
    async with site.running():
        await hook.until(1)
        await settled(site)
        assert len(hook.requests) == 1
        (post,) = hook.requests
        assert (len(post["alerts"]), post["groupLabels"], post["truncatedAlerts"]) == (
            201,
            {"group": "PRDQSG", "owner": "QM01"},
            0,
        )
        assert post["groupKey"] == '{}:{group="PRDQSG", owner="QM01"}'
        site.change(*(replace(each, state=RESOLVED) for each in (down, *of_channels(pool, 200))))
        await hook.until(2)
        await settled(site)
    assert [(each["status"], len(each["alerts"])) for each in hook.requests] == [("firing", 201), ("resolved", 201)]


async def test_channels_that_their_queue_manager_explains_are_not_told(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """One post with one alert."""
    site.receivers, site.tree = [webhook(hook.url)], BY_OWNER
    down = pool("AGENT-01", family="", name=ObjectName("QM01", "queue_manager"))
    site.change(down, *of_channels(pool, 200, cause=down.key))
    async with site.running():
        await hook.until(1)
        await settled(site)
    assert told(hook) == [("firing", [("AGENT-01", "firing")])]


async def test_thousands_of_alerts_in_one_cycle(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled, soak: bool
) -> None:
    """Of 1,000 (5,000 in ``make soak``) none is lost, neither its beginning nor its end; a post has 500 at most, and 100 on average."""
    count = 5_000 if soak else 1_000
    site.receivers, site.tree = [webhook(hook.url)], BY_OWNER
    many = [
        pool("Q-02", family="", name=ObjectName("QM01", "queue", f"APP.{number:04}"), severity=WARNING)
        for number in range(count)
    ]
    for state in (FIRING, RESOLVED):
        hook.requests.clear()
        site.change(*(replace(each, state=state) for each in many))
        async with site.running():
            await site.until(lambda: sum(len(each["alerts"]) for each in hook.requests) >= count)
            await settled(site)
        assert len(hook.requests) <= count // 100
        assert all(len(each["alerts"]) <= 500 for each in hook.requests)
        seen = [
            alert["fingerprint"] for each in hook.requests for alert in each["alerts"] if alert["status"] == state.value
        ]
        assert len(set(seen)) == count
        assert {each["status"] for each in hook.requests} == {state.value}
        # The last one told 200 alerts, with 100 of the others that the receiver knew and that fire on.
        last = hook.requests[-1]
        assert (len(last["alerts"]), last["truncatedAlerts"]) == ((300, count - 300) if state is FIRING else (200, 0))


async def test_the_group_fires_until_all_have_ended(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """What fires on is shown beside what has ended; what begins in a known group waits for the interval."""
    site.receivers, site.tree = [webhook(hook.url)], BY_OWNER
    first, second = pool("A-1", family="", severity=WARNING), pool("A-2", family="", severity=WARNING)
    async with site.running() as notifier:
        began = site.clock.now()
        site.change(first)
        notifier.wake()
        await hook.until(1)
        assert site.clock.now() == began + 30_000
        site.change(second)
        notifier.wake()
        await hook.until(2)
        assert site.clock.now() == began + 330_000
        site.change(replace(first, state=RESOLVED))
        notifier.wake()
        await hook.until(3)
        site.change(replace(second, state=RESOLVED))
        notifier.wake()
        await hook.until(4)
        await settled(site)
    assert [(status, sorted(alerts)) for status, alerts in told(hook)] == [
        ("firing", [("A-1", "firing")]),
        ("firing", [("A-1", "firing"), ("A-2", "firing")]),
        ("firing", [("A-1", "resolved"), ("A-2", "firing")]),
        ("resolved", [("A-2", "resolved")]),
    ]
    assert site.row("SELECT count(*) FROM alert_group") == [(0,)]


async def test_critical_does_not_wait_for_the_interval(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """Nor does an alert that becomes critical: both wait no longer than for a new group."""
    site.receivers, site.tree = [webhook(hook.url)], BY_OWNER
    mild = pool("A-1", family="", severity=WARNING)
    async with site.running() as notifier:
        began = site.clock.now()
        site.change(mild)
        notifier.wake()
        await hook.until(1)
        site.change(replace(mild, severity=CRITICAL))
        notifier.wake()
        await hook.until(2)
        assert site.clock.now() <= began + 60_000
        site.change(pool("A-2", family=""))
        notifier.wake()
        await hook.until(3)
        assert site.clock.now() <= began + 90_000


async def test_what_fires_on_is_repeated(site: Any, hook: Any, pool: Pool, webhook: Webhook) -> None:
    """After the route's interval, with what it is by then, and marked in the store; with a number of its own."""
    site.receivers = [webhook(hook.url)]
    site.tree = replace(BY_OWNER, repeat=4 * HOUR)
    site.change(pool("A-1", family="", severity=WARNING, summary="4 % free"))
    began = site.clock.now()
    async with site.running() as notifier:
        await hook.until(1)
        site.change(pool("A-1", family="", severity=WARNING, summary="2 % free"))
        notifier.wake()
        await hook.until(2)
        assert site.clock.now() == began + 30_000 + 4 * HOUR
    assert [each["alerts"][0]["annotations"]["summary"] for each in hook.requests] == [
        "QM01: 4 % free",
        "QM01: 2 % free",
    ]
    assert site.row("SELECT number, repeated FROM notice ORDER BY id")[:2] == [(1, 0), (2, 1)]


@pytest.fixture
def people(site: Any) -> ActionClient:
    """Someone who works beside the agent."""
    return ActionClient.open(site.store.path, "bob")


async def test_what_is_silenced_while_the_receiver_is_down_is_withheld(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled, people: ActionClient
) -> None:
    """The others of its notification arrive; it is told when the silence ends and it still fires."""
    site.receivers, site.tree = [webhook(hook.url)], BY_OWNER
    hook.answers = [500]
    site.change(pool("A-1", family=""), pool("A-2", family=""), pool("A-3", family=""))
    async with site.running():
        await hook.until(1)
        silence = people.add_silence(
            [parse_matcher("rule=~A-1|A-3")], "noisy", site.clock.now(), site.clock.now() + HOUR, site.clock.now()
        )
        await hook.until(2)
        await settled(site)
        assert told(hook)[1] == ("firing", [("A-2", "firing")])
        assert site.row("SELECT outcome FROM notice ORDER BY id") == [("withheld",), ("accepted",), ("withheld",)]
        site.change(replace(pool("A-3", family=""), state=RESOLVED))
        await hook.until(3)
        # It may have arrived with the attempt that failed: its end is told, too.
        assert ("A-3", "resolved") in told(hook)[2][1]
        await hook.until(4)
        assert site.clock.now() >= silence.ends
    assert sorted(told(hook)[3][1]) == [("A-1", "firing"), ("A-2", "firing")]


async def test_maintenance_mutes_until_it_ends(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """What then still fires is told at that moment, which nothing but the calendar announces; what has ended never."""
    site.receivers, site.tree = [webhook(hook.url)], BY_OWNER
    now = site.clock.now()
    first, second = TimeSpan(now, now + HOUR), TimeSpan(now + 2 * HOUR, now + 3 * HOUR)
    pools = (ObjectPattern.parse("*/buffer_pool"),)
    site.calendar = SiteCalendar(
        windows=tuple(MaintenanceWindow("IPL", "as ever", UTC, each, objects=pools) for each in (first, second))
    )
    alert, brief = pool("A-1", family=""), pool("A-2", family="")
    site.change(alert, brief)
    async with site.running() as notifier:
        await settled(site)
        site.change(replace(brief, state=RESOLVED))
        assert hook.requests == []
        await hook.until(1)
        assert first.end <= site.clock.now() <= first.end + 31_000
        await settled(site)
        await site.clock.sleep(second.start + MINUTE - site.clock.now())
        # It is known as firing: its end is told, whatever is muted.
        site.change(replace(alert, state=RESOLVED), pool("A-3", family=""))
        notifier.wake()
        await hook.until(2)
        assert second.start < site.clock.now() < second.end
        await hook.until(3)
        assert second.end <= site.clock.now() <= second.end + 31_000
    assert told(hook) == [
        ("firing", [("A-1", "firing")]),
        ("resolved", [("A-1", "resolved")]),
        ("firing", [("A-3", "firing")]),
    ]


async def test_other_settings_bring_and_take_windows(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """From the next look on: what a window that is gone has muted is told, and what a new one mutes is not."""
    site.receivers, site.tree = [webhook(hook.url)], BY_OWNER
    now = site.clock.now()
    span = TimeSpan(now, now + 10 * HOUR)
    pools, channels = ((ObjectPattern.parse(f"*/{kind}"),) for kind in ("buffer_pool", "channel"))

    def of(objects: tuple[ObjectPattern, ...]) -> SiteCalendar:
        return SiteCalendar(windows=(MaintenanceWindow("IPL", "as ever", UTC, span, objects=objects),))

    site.calendar = of(pools)
    site.change(pool("A-1", family=""))
    async with site.running():
        await settled(site)
    site.calendar = of(channels)
    site.change(*of_channels(pool, 3))
    async with site.running():
        await hook.until(1)
        await settled(site)
        assert site.clock.now() < span.end
    assert told(hook) == [("firing", [("A-1", "firing")])]


async def test_a_muted_route_notifies_when_its_time_interval_ends(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """At that minute, with no cycle meanwhile."""
    site.receivers = [webhook(hook.url)]
    site.tree = Route("route", "ops", routes=(replace(BY_OWNER, path="route.routes[0]", muted=("noon",)),))
    noon = TimeInterval(UTC, (ClockRange(12 * 60, 13 * 60),))
    site.calendar = SiteCalendar({"noon": (noon,)})
    site.change(pool("A-1", family=""))
    async with site.running():
        await hook.until(1)
        ends = 1_795_176_000_000 + HOUR
        assert ends <= site.clock.now() <= ends + 31_000


async def test_an_acknowledged_alert_is_not_repeated(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled, people: ActionClient
) -> None:
    """Until it is worse, or the acknowledgement is taken back; its end is told all the same."""
    site.receivers, site.tree = [webhook(hook.url)], replace(BY_OWNER, repeat=HOUR)
    alert = pool("A-1", family="", severity=WARNING)
    site.change(alert)
    async with site.running() as notifier:
        await hook.until(1)
        await settled(site)
        people.acknowledge(1, site.clock.now(), note="mine")
        notifier.wake()
        await site.clock.sleep(10 * HOUR)
        assert len(hook.requests) == 1
        people.undo_acknowledgement(1, site.clock.now())
        notifier.wake()
        await hook.until(2)
        people.acknowledge(1, site.clock.now(), note="mine again")
        site.change(replace(alert, severity=CRITICAL))
        notifier.wake()
        await hook.until(3)
        assert hook.received[2] == ("firing", "critical")
        people.acknowledge(1, site.clock.now(), note="really")
        site.change(replace(alert, severity=CRITICAL, state=RESOLVED))
        notifier.wake()
        await hook.until(4)
    assert hook.received == [
        ("firing", "warning"),
        ("firing", "warning"),
        ("firing", "critical"),
        ("resolved", "critical"),
    ]


async def test_a_group_that_waits_is_told_by_the_next_run(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """When the agent ends in between: what began and what ended meanwhile, after the rest of the wait."""
    site.receivers, site.tree = [webhook(hook.url)], BY_OWNER
    one, other = pool("A-1", family="", severity=WARNING), pool("A-2", family="", severity=WARNING)
    site.change(one)
    async with site.running():
        await hook.until(1)
        await settled(site)
    site.change(replace(one, state=RESOLVED), other)
    async with site.running() as notifier:
        await notifier.begun()
    assert len(hook.requests) == 1
    async with site.running():
        await hook.until(2)
        await settled(site)
    assert sorted(told(hook)[1][1]) == [("A-1", "resolved"), ("A-2", "firing")]


async def test_one_that_is_refused_among_many_holds_up_few(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """The receiver does not take one alert: the others arrive by smaller notifications, and it is tried for a day."""
    from aiohttp import web

    async def picky(request: web.Request) -> web.Response:
        bad = any(each["labels"]["name"] == "TO.0005" for each in hook.requests[-1]["alerts"])
        return web.Response(status=400 if bad else 200)

    hook.answers = [picky] * 2_000
    site.receivers, site.tree = [webhook(hook.url)], replace(BY_OWNER, wait=0, repeat=None)
    site.change(*of_channels(pool, 20))
    async with site.running():
        await settled(site)
    outcomes = site.row("SELECT outcome, count(*) FROM notice GROUP BY outcome ORDER BY outcome")
    assert outcomes == [("accepted", 19), ("refused", 1)]
