"""An alert about a receiver that fails goes through another one, and both are told its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from mqvitals_agent.alerting.disposition import Stage
from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.alerting.pipeline import Pipeline, PipelineState
from mqvitals_agent.alerting.routing import Route
from mqvitals_agent.service.agent_meters import MEASURE_MS, ReceiverMeter, receiver_values
from mqvitals_agent.store.rows.alerts.receivers import ReceiverRow
from mqvitals_config.receivers.http import WebhookSettings
from mqvitals_config.sections.matcher import parse_matcher
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity
from mqvitals_rules.snapshot import ObjectName, Snapshot
from mqvitals_rules.vocabulary.metric import Absence

Pool = Callable[..., Alert]
Webhook = Callable[..., WebhookSettings]
NOW = 1_795_176_000_000
PAGER = ObjectName("PRDQSG", "receiver", "pager")


def told(pool: Pool, webhook: Webhook, tree: Route, **settings: Any) -> dict[str, tuple[bool, str]]:
    """For each receiver whether it is told that the pager fails, and what the route's stage says."""
    receivers = {name: webhook(name=name, **settings.get(name, {})) for name in ("pager", "ops", "chat")}
    pipeline = Pipeline(Labeller("PRDQSG", {"PRDQSG"}), tree, receivers, {})
    alert = replace(pool("AGENT-12", severity=Severity.WARNING, family="", name=PAGER), started=NOW)
    (found,) = pipeline.dispositions([(1, alert)], [alert], PipelineState(), NOW)
    results = {each.receiver: next(r for r in each.results if r.stage is Stage.ROUTE) for each in found.deliveries}
    return {
        each.receiver: (each.is_news and results[each.receiver].passes, results[each.receiver].text)
        for each in found.deliveries
    }


def test_it_goes_to_all_others_when_no_route_leads_to_one(pool: Pool, webhook: Webhook) -> None:
    """The stage says why; the receiver itself is told it too, when it works again."""
    assert told(pool, webhook, Route("route", "pager")) == {
        "pager": (True, "route"),
        "ops": (True, "receiver 'pager' is failing: told to 'ops'"),
        "chat": (True, "receiver 'pager' is failing: told to 'chat'"),
    }


def test_a_route_to_another_one_is_enough(pool: Pool, webhook: Webhook) -> None:
    """Unless that route, or its receiver, does not want it."""
    agents = Route("route.routes[0]", "ops", (parse_matcher("rule=~AGENT-.*"),), goes_on=True)
    rest = Route("route.routes[1]", "pager")
    tree = Route("route", "pager", routes=(agents, rest))
    assert set(told(pool, webhook, tree)) == {"ops", "pager"}
    strict = told(pool, webhook, tree, ops={"min_severity": "critical"})
    assert {name for name, (news, _) in strict.items() if news} == {"pager", "chat"}
    away = replace(tree, routes=(replace(agents, goes_on=False), rest))
    assert set(told(pool, webhook, away)) == {"ops"}


def test_alerts_about_other_things_go_their_way(pool: Pool, webhook: Webhook) -> None:
    """Whatever the object is called."""
    receivers = {name: webhook(name=name) for name in ("pager", "ops")}
    pipeline = Pipeline(Labeller("PRDQSG", {"PRDQSG"}), Route("route", "pager"), receivers, {})
    alert = replace(pool(name=ObjectName("QM01", "queue", "pager")), started=NOW)
    (found,) = pipeline.dispositions([(1, alert)], [alert], PipelineState(), NOW)
    assert [each.receiver for each in found.deliveries] == ["pager"]


async def test_both_are_told_its_end(
    site: Any, hooks: Callable[[], Awaitable[Any]], pool: Pool, webhook: Webhook
) -> None:
    """The one that failed gets both when it works again."""
    pager, ops = await hooks(), await hooks()
    pager.answers = [503] * 50
    site.receivers = [webhook(pager.url, name="pager"), webhook(ops.url, name="ops")]
    site.tree = Route("route", "pager", wait=0, interval=0, repeat=None)
    failing = pool("AGENT-12", severity=Severity.WARNING, family="", name=PAGER)
    async with site.running() as notifier:
        site.change(failing)
        notifier.wake()
        await ops.until(1)
        await site.clock.advance(60_000)
        pager.answers.clear()
        await site.clock.advance(300_000)
        site.change(replace(failing, state=AlertState.RESOLVED))
        notifier.wake()
        await ops.until(2)
        await site.clock.advance(1_000)
    assert ops.rules == [("AGENT-12", "firing"), ("AGENT-12", "resolved")]
    assert list(dict.fromkeys(pager.rules)) == [("AGENT-12", "firing"), ("AGENT-12", "resolved")]


def row(name: str = "pager", **facts: Any) -> ReceiverRow:
    found = ReceiverRow(name, NOW - 9_000_000, NOW - 5_000, None, "", 0, None, 0, 0, "")
    return replace(found, **facts)


def test_the_metrics_of_a_receiver() -> None:
    """In seconds; what is not there is absent."""
    assert receiver_values(row(), NOW) == {
        "failing_s": 0,
        "accepted_ago_s": 5,
        "pending": 0,
        "oldest_pending_s": Absence.NOTHING_TO_TELL,
        "refused": 0,
        "trouble": Absence.NOTHING_TO_TELL,
    }
    failing = row(accepted=None, failing=NOW - 700_000, error="timeout", waiting=3, oldest=NOW - 650_500)
    assert receiver_values(failing, NOW) == {
        "failing_s": 700,
        "accepted_ago_s": Absence.NOTHING_TO_TELL,
        "pending": 3,
        "oldest_pending_s": 650,
        "refused": 0,
        "trouble": "timeout",
    }


def test_receivers_are_measured_each_minute_and_when_one_begins_to_fail() -> None:
    """Of the owner of the store; one that is removed is gone, also of an earlier run and of a former owner."""
    meter = ReceiverMeter()
    meter.remember(ObjectName("PRDQSG", "receiver", "old"))
    meter.remember(ObjectName("QM01", "receiver", "pager"))

    def measured(ms: int, *rows: ReceiverRow) -> list[tuple[str, bool, Any]]:
        snapshots = tuple(Snapshot(owner, owner == "PRDQSG", 1, NOW + ms, ()) for owner in ("QM01", "PRDQSG"))
        return [
            (str(reading.object), reading.gone, reading.values.get("failing_s"))
            for each in meter.added(snapshots, "PRDQSG", rows)
            for reading in each.readings
        ]

    assert measured(0, row()) == [
        ("QM01/receiver/pager", True, None),
        ("PRDQSG/receiver/old", True, None),
        ("PRDQSG/receiver/pager", False, 0),
    ]
    assert measured(10_000, row()) == []
    failing = row(failing=NOW + 15_000, error="timeout")
    assert measured(20_000, failing) == [("PRDQSG/receiver/pager", False, 5)]
    assert measured(30_000, failing) == []
    assert measured(20_000 + MEASURE_MS, failing) == [("PRDQSG/receiver/pager", False, 65)]
    assert measured(90_000, row("chat")) == [("PRDQSG/receiver/pager", True, None), ("PRDQSG/receiver/chat", False, 0)]
    assert meter.added((), None, ()) == ()


@pytest.mark.parametrize("rows", [(), (row(),)])
def test_without_an_owner_nothing_is_measured(rows: tuple[ReceiverRow, ...]) -> None:
    """In the first cycles the owner of the store is not known yet."""
    snapshot = Snapshot("QM01", False, 1, NOW, ())
    assert ReceiverMeter().added((snapshot,), None, rows) == (snapshot,)
