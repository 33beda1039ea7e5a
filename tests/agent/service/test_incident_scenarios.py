"""Incidents of operation on the whole path: simulated answers, alerts, causes, words, and what a webhook is posted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mqvitals_agent.notify.notification import notification_from
from mqvitals_agent.notify.outbox import Outbox
from mqvitals_agent.notify.webhook import webhook_payload
from mqvitals_agent.simulator.connector import connectors
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import IncidentKind, Scenario, ScenarioIncident, load_scenario
from mqvitals_agent.store.rows.notifications import NotificationOutcome
from mqvitals_config.receiver import webhook_of
from mqvitals_rules.lifecycle.alert import AlertState
from mqvitals_rules.ruleset.config import load_rule_config

WEBHOOK = webhook_of("http://127.0.0.1:1/", name="ops")
CYCLE_MS, MINUTE_MS = 10_000, 60_000


@dataclass
class Played:
    """What a scenario led to: the alerts that a webhook was posted, in order, and each alert's last cause."""

    posts: list[Mapping[str, Any]]
    causes: dict[str, str | None]

    def told(self, status: str) -> list[str]:
        """``RULE object severity`` of the posts with that status, in order."""
        labels = [post["labels"] for post in self.posts if post["status"] == status]
        return [f"{each['alertname']} {each['object']} {each['severity']}" for each in labels]

    def words(self, alert: str) -> Mapping[str, str]:
        """The annotations of the last post that says that an alert (``RULE object``) fires."""
        return next(
            post["annotations"]
            for post in reversed(self.posts)
            if f"{post['labels']['alertname']} {post['labels']['object']}" == alert and post["status"] == "firing"
        )


async def played(house: Any, scenario: Scenario, minutes: int) -> Played:
    """Play the first ``minutes`` of a scenario, and post what is to be sent after every cycle."""
    house.scripts = connectors(SimulatedGroup(scenario, house.clock.now()), house.clock)
    house.settings = replace(house.settings, polling=replace(house.settings.polling, interval=CYCLE_MS))
    rules = load_rule_config(house.settings).rules
    outbox = Outbox(lambda: service.resilient_store, None, (WEBHOOK,), rules)  # type: ignore[arg-type]
    found = Played([], {})
    async with house.running(build_notifications=outbox.pending) as service:
        for _ in range(minutes * MINUTE_MS // CYCLE_MS):
            await house.clock.advance(CYCLE_MS)
            now = house.clock.now()
            notifications = service.resilient_store.notifications
            for stored in notifications.due("ops", now, 100):
                found.posts += json.loads(webhook_payload(notification_from(stored.notification), "ops"))["alerts"]
                notifications.done(stored.id, now, NotificationOutcome.ACCEPTED)
            for each in service.resilient_store.alerts.firing():
                alert = each.alert
                assert alert.state is AlertState.FIRING
                found.causes[f"{alert.key.rule} {alert.key.object}"] = alert.cause and alert.cause.rule
    return found


async def test_channels_that_stand_still(house: Any) -> None:
    """One alert for each queue, with the channel and its status; each ends when its channel sends again."""
    found = await played(house, load_scenario("channel-stuck"), 20)
    queues = [f"OPS-101 QM0{number}/queue/PARTNER" for number in (1, 2, 3, 4)]
    assert found.told("firing") == [*(f"{queue} warning" for queue in queues), f"{queues[1]} critical"]
    assert sorted(found.told("resolved")) == sorted(
        [f"{queues[0]} warning", f"{queues[1]} critical", f"{queues[2]} warning", f"{queues[3]} warning"]
    )
    assert {found.causes[queue] for queue in queues} == {None}
    for queue, status in zip(queues, ("STOPPED", "INACTIVE", "BINDING", "RUNNING"), strict=True):
        words = found.words(queue)
        assert "messages wait, the oldest for " in words["summary"]
        assert words["summary"].endswith(f"and none leaves; TO.PARTNER is {status}")
        assert status in words["advice"]
        assert words["mqsc"] == "DISPLAY CHSTATUS(*) XMITQ(PARTNER) ALL"
    assert "the oldest for 900 s" in found.words(queues[1])["summary"]


async def test_a_retrying_channel_and_its_queue_are_one_incident(house: Any) -> None:
    """The queue is not drained either, but the alert about the channel is the one that is sent."""
    down = ScenarioIncident(MINUTE_MS, 17 * MINUTE_MS, IncidentKind.PARTNER_DOWN, "QM01/TO.PARTNER")
    found = await played(house, Scenario("A partner is away for long", 30 * MINUTE_MS, (down,)), 21)
    channel, queue = "CHL-16 QM01/channel/TO.PARTNER", "OPS-101 QM01/queue/PARTNER"
    assert found.causes[queue] == "CHL-16"
    assert [each for each in found.told("firing") if each.startswith(("CHL", "OPS"))] == [
        f"{channel} warning",
        f"{channel} critical",
    ]
    assert [each for each in found.told("resolved") if each.startswith(("CHL", "OPS"))] == [f"{channel} critical"]


async def test_a_member_of_the_group_is_lost(house: Any) -> None:
    """It is named, and so is the one that later loses Db2; both alerts end by themselves."""
    found = await played(house, load_scenario("member-lost"), 12)
    lost, db2 = "OPS-113 PRDQ/qsg", "OPS-114 PRDQ/qsg"
    assert found.told("firing") == ["AGENT-01 QM03/queue_manager critical", f"{lost} critical", f"{db2} critical"]
    assert sorted(found.told("resolved")) == sorted(found.told("firing"))
    assert found.words(lost)["summary"] == "group PRDQ: QM03 failed (1 of 4 members)"
    assert found.words(db2)["summary"].endswith("QM02 without connection to Db2 (connected: 3 of 4 active members)")
    assert found.causes["CHL-16 QM01/channel/TO.QM03"] == "AGENT-01"
    assert "CSQ5003A" in found.words(db2)["advice"]
    assert "CSQE011I" in found.words(lost)["advice"]
