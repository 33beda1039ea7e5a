"""Incidents of operation on the whole path: simulated answers, alerts, causes, words, and what a webhook is posted."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import pytest

from mqvitals_agent.alerting.maintenance import NO_CALENDAR, SiteCalendar
from mqvitals_agent.alerting.routing import Route
from mqvitals_agent.notify.notification import notification_from, webhook_payload
from mqvitals_agent.notify.outbox import Outbox, OutboxSettings
from mqvitals_agent.simulator.connector import connectors
from mqvitals_agent.simulator.incidents import flood
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import IncidentKind, Scenario, ScenarioIncident, load_scenario
from mqvitals_agent.simulator.site import DEFAULT_NAMES, build
from mqvitals_agent.simulator.state import Fault, GroupState
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.alerts.notification_rows import NotificationOutcome
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.receivers.http import webhook_of
from mqvitals_config.sections.alerting import ALL_LABELS
from mqvitals_config.sections.collection import EventSettings
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.ruleset.config import load_rule_config

WEBHOOK = webhook_of("http://127.0.0.1:1/", name="ops")
FAMILIES = ("QMGR", "CHANNEL", "PERFM", "CONFIG", "COMMAND")
CYCLE_MS, MINUTE_MS = 30_000, 60_000


@dataclass
class Played:
    """What a scenario led to: the alerts that a webhook was posted, in order, and each alert as it last was while
    something explained it, or as it last fired.
    """

    posts: list[Mapping[str, Any]]
    alerts: dict[str, Alert]

    def told(self, status: str) -> list[str]:
        """``RULE object severity`` of the posts with that status, in order."""
        labels = [post["labels"] for post in self.posts if post["status"] == status]
        return [f"{each['alertname']} {each['object']} {each['severity']}" for each in labels]

    def cause(self, alert: str) -> str | None:
        """The rule whose alert explained an alert (``RULE object``)."""
        cause = self.alerts[alert].cause
        return None if cause is None else cause.rule

    def words(self, alert: str) -> Mapping[str, str]:
        """The annotations of the last post that says that an alert (``RULE object``) fires."""
        return next(
            post["annotations"]
            for post in reversed(self.posts)
            if f"{post['labels']['alertname']} {post['labels']['object']}" == alert and post["status"] == "firing"
        )


class StandingGroup:
    """The simulated group without any traffic, so that hours cost nothing; only its incidents go on."""

    def __init__(self, began: int, *incidents: ScenarioIncident) -> None:
        self._began = began
        self._incidents = incidents
        self._group = build(began)

    def advance(self, now: int) -> GroupState:
        """The group as of ``now``."""
        self._group.now = now
        for each in self._incidents:
            owner, _, channel = each.object.partition("/")
            clients = flood(self._began + each.at, max(now - self._began - each.at, 0), each)
            self._group.faults[owner] = Fault(clients={channel: clients})
        return self._group


async def played(
    house: Any,
    scenario: Scenario | StandingGroup,
    minutes: int,
    cycle_ms: int = CYCLE_MS,
    watched: Collection[str] = DEFAULT_NAMES.members,
    wait_ms: int = 1,
    calendar: SiteCalendar = NO_CALENDAR,
) -> Played:
    """Play the first ``minutes`` of a scenario, and post what is to be sent after every cycle.

    ``wait_ms`` is the wait of a group: what ends that soon after its cause is not told.
    ``watched``: the queue managers that the agent asks, where what the others report has no part in the incident.
    """
    group = SimulatedGroup(scenario, house.clock.now()) if isinstance(scenario, Scenario) else scenario
    house.scripts = [each for each in connectors(group, house.clock) if each.queue_manager in watched]
    house.settings = replace(house.settings, polling=replace(house.settings.polling, interval=cycle_ms))
    rules = load_rule_config(house.settings).rules
    # Each alert by itself: what is told is held here, not with what.
    alone = Route("route", "ops", group_by=(ALL_LABELS,), wait=wait_ms, interval=0, repeat=None)
    settings = OutboxSettings((WEBHOOK,), rules, alone, calendar=calendar)
    outbox = Outbox(lambda: service.resilient_store, None, settings, house.clock.now)  # type: ignore[arg-type]
    found = Played([], {})
    async with house.running(update_outbox=outbox.update) as service:
        for _ in range(minutes * MINUTE_MS // cycle_ms):
            await house.clock.advance(cycle_ms)
            now = house.clock.now()
            outbox.evaluate()
            notifications = service.resilient_store.notifications
            for stored in notifications.due("ops", now, 100):
                found.posts += json.loads(webhook_payload(notification_from(stored)))["alerts"]
                notifications.done(stored.number, now, NotificationOutcome.ACCEPTED)
            for each in service.resilient_store.alerts.firing():
                name = f"{each.alert.key.rule} {each.alert.key.object}"
                if each.alert.cause is not None or name not in found.alerts or found.alerts[name].cause is None:
                    found.alerts[name] = each.alert
    return found


async def test_channels_that_stand_still(house: Any) -> None:
    """One alert for each queue, with the channel and its status; each ends when its channel sends again."""
    found = await played(house, load_scenario("channel-stuck"), 20)
    queues = [f"OPS-101 QM0{number}/queue/PARTNER" for number in (1, 2, 3, 4)]
    assert found.told("firing") == [*(f"{queue} warning" for queue in queues), f"{queues[1]} critical"]
    assert sorted(found.told("resolved")) == sorted(
        [f"{queues[0]} warning", f"{queues[1]} critical", f"{queues[2]} warning", f"{queues[3]} warning"]
    )
    assert {found.cause(queue) for queue in queues} == {None}
    for queue, status in zip(queues, ("STOPPED", "INACTIVE", "BINDING", "RUNNING"), strict=True):
        words = found.words(queue)
        assert "messages wait, the oldest for " in words["summary"]
        assert words["summary"].endswith(f"and none leaves; TO.PARTNER is {status}")
        assert status in words["advice"]
        assert words["mqsc"] == "DISPLAY CHSTATUS(*) XMITQ(PARTNER) ALL"
    assert "the oldest for 15 min" in found.words(queues[1])["summary"]


async def test_a_retrying_channel_and_its_queue_are_one_incident(house: Any) -> None:
    """The queue is not drained either, but the alert about the channel is the one that is sent."""
    down = ScenarioIncident(MINUTE_MS, 17 * MINUTE_MS, IncidentKind.PARTNER_DOWN, "QM01/TO.PARTNER")
    found = await played(
        house, Scenario("A partner is away for long", 30 * MINUTE_MS, (down,)), 21, watched=["QM01", "QM02"]
    )
    channel, queue = "CHL-16 QM01/channel/TO.PARTNER", "OPS-101 QM01/queue/PARTNER"
    assert found.cause(queue) == "CHL-16"
    assert [each for each in found.told("firing") if each.startswith(("CHL", "OPS"))] == [
        f"{channel} warning",
        f"{channel} critical",
    ]
    assert [each for each in found.told("resolved") if each.startswith(("CHL", "OPS"))] == [f"{channel} critical"]


async def test_the_full_repositories_of_a_cluster_are_given_up(house: Any) -> None:
    """Every member reports that there is none left; the first alert stands for all, with what it means and what to do.

    It ends when one comes back. One that is left is advice, which no receiver gets. QM04 knows only the full repositories and itself.
    """
    found = await played(house, load_scenario("cluster-repository-lost"), 29)
    alerts = [f"OPS-182 QM0{number}/cluster_queue_manager/PRDCLUS/QM0{number}" for number in (1, 2, 3, 4)]
    assert found.told("firing") == found.told("resolved") == [f"{alerts[0]} critical"]
    assert [found.cause(alert) for alert in alerts] == [None, "OPS-182", "OPS-182", "OPS-182"]
    words = found.words(alerts[0])
    assert words["summary"].startswith("PRDCLUS/QM01: no queue manager that QM01 knows has a full repository")
    assert "ALTER QMGR REPOS(PRDCLUS) on each" in words["advice"]
    assert words["mqsc"] == "DISPLAY CLUSQMGR(*) CLUSTER(PRDCLUS) QMTYPE DEFTYPE STATUS"
    left = found.alerts["OPS-187 QM04/cluster_queue_manager/PRDCLUS/QM04"].summary
    assert left == "PRDCLUS/QM04: full repositories that QM04 knows: PRDCLUS/QM02; two are right"


async def test_publish_subscribe_ends_in_error(house: Any) -> None:
    """One critical alert with what to do, which ends when the engine works again."""
    wrong = ScenarioIncident(2 * MINUTE_MS, 6 * MINUTE_MS, IncidentKind.PUBSUB_ERROR, "QM03")
    found = await played(house, Scenario("The engine ends", 30 * MINUTE_MS, (wrong,)), 12)
    alert = "OPS-251 QM03/queue_manager"
    assert found.told("firing") == found.told("resolved") == [f"{alert} critical"]
    assert "is ERROR, though PSMODE is ENABLED" in found.words(alert)["summary"]
    assert found.words(alert)["mqsc"] == "DISPLAY PUBSUB ALL"


async def test_a_shared_message_data_set_breaks(house: Any) -> None:
    """First for two members, then for all as it failed: one alert, which names them; the failure explains it."""
    minutes = range(1, 9)
    broken = [
        ScenarioIncident(minute * MINUTE_MS, MINUTE_MS, IncidentKind.DATA_SET_ERROR, f"{name}/APPL2/QM02")
        for minute in minutes
        for name in ("QM01", "QM03")
    ]
    failed = ScenarioIncident(5 * MINUTE_MS, 4 * MINUTE_MS, IncidentKind.DATA_SET_FAILED, "PRDQ/APPL2/QM02")
    stopped = ScenarioIncident(10 * MINUTE_MS, 4 * MINUTE_MS, IncidentKind.DATA_SET_STOPPED, "QM04/APPL2/QM01")
    full = ScenarioIncident(10 * MINUTE_MS, 4 * MINUTE_MS, IncidentKind.DATA_SET_NOT_EXPANDED, "QM03/APPL2/QM03")
    found = await played(
        house, Scenario("A data set breaks", 30 * MINUTE_MS, (*broken, failed, stopped, full)), 18, 20_000
    )
    unusable, lost = "OPS-171 PRDQ/smds/APPL2/QM02", "OPS-175 PRDQ/smds/APPL2/QM02"
    by_hand, tight = "OPS-172 PRDQ/smds/APPL2/QM01", "OPS-174 PRDQ/smds/APPL2/QM03"
    told = [each for each in found.told("firing") if each.startswith("OPS-17")]
    assert told[:2] == [f"{unusable} critical", f"{lost} critical"]
    assert sorted(told[2:]) == [f"{by_hand} warning", f"{tight} warning"]
    assert set(told) == {each for each in found.told("resolved") if each.startswith("OPS-17")}
    words = found.words(unusable)["summary"]
    assert "not usable on QM01 (DATAFAIL, AVAIL ERROR), QM03 (DATAFAIL, AVAIL ERROR); large messages" in words
    assert "stopped by STOP SMDSCONN on QM04;" in found.words(by_hand)["summary"]
    assert "(QM03 reports FAILED)" in found.words(tight)["summary"]
    assert "status FAILED, access SUSPENDED" in found.words(lost)["summary"]
    assert found.cause(unusable) == "OPS-175"


async def test_a_member_of_the_group_is_lost(house: Any) -> None:
    """One incident, with the failed member named under it; the later loss of Db2 is another; both end by themselves."""
    found = await played(house, load_scenario("member-lost"), 13, wait_ms=MINUTE_MS)
    unreachable, lost, db2 = "AGENT-01 QM03/queue_manager", "OPS-113 PRDQ/qsg", "OPS-114 PRDQ/qsg"
    assert found.told("firing") == [f"{unreachable} critical", f"{db2} critical"]
    assert found.told("resolved") == found.told("firing")
    assert found.alerts[lost].summary == "group PRDQ: QM03 failed (1 of 4 members)"
    assert {found.cause(lost), found.cause("CHL-16 QM01/channel/TO.QM03")} == {"AGENT-01"}
    assert found.words(db2)["summary"].endswith("QM02 without connection to Db2 (connected: 3 of 4 active members)")
    assert "CSQ5003A" in found.words(db2)["advice"]


async def test_a_trigger_monitor_that_ends(house: Any) -> None:
    """The initiation queue without reader is told, with the queues that it starts, until the monitor is back."""
    found = await played(house, load_scenario("trigger-lost"), 11, watched=["QM01"])
    told = "OPS-191 QM01/queue/CICS01.INITQ"
    assert [each for each in found.told("firing") if each.startswith(told)] == [f"{told} warning"]
    assert [each for each in found.told("resolved") if each.startswith(told)] == [f"{told} warning"]
    assert found.cause(told) is None
    queue = "OPS-192 QM01/queue/REFUNDS.IN"
    assert found.cause(queue) == "OPS-191"
    assert not [each for each in found.told("firing") if each.startswith(queue)]
    words = found.words(told)
    assert "initiation queue CICS01.INITQ: no trigger monitor has it open" in words["summary"]
    assert "STARTCKTI" in words["advice"]
    assert words["mqsc"] == "DISPLAY QSTATUS(CICS01.INITQ) TYPE(HANDLE) ALL"


async def test_copies_that_nobody_reads(house: Any) -> None:
    """The original is told of, before its puts fail."""
    found = await played(house, load_scenario("copies-filling"), 10, watched=["QM01"])
    told = "OPS-261 QM01/queue/PAYROLL.IN"
    assert [each for each in found.told("firing") if each.startswith(told)] == [f"{told} critical"]
    assert [each for each in found.told("resolved") if each.startswith(told)] == [f"{told} critical"]
    assert "its copies go to PAYROLL.COPY" in found.words(told)["summary"]
    assert found.words(told)["mqsc"] == "DISPLAY QLOCAL(PAYROLL.COPY) CURDEPTH MAXDEPTH PUT"


async def test_dead_letters_for_five_reasons(house: Any) -> None:
    """One alert for each reason and queue, with the cause, whom to tell and since when; each ends with its messages."""
    house.settings = replace(house.settings, polling=replace(house.settings.polling, dead_letters=True))
    found = await played(house, load_scenario("dead-letters"), 26, watched=["QM01"])
    expected = [
        "OPS-162 QM01/dead_letter/2053/PAYMENTS.IN warning",
        "OPS-162 QM01/dead_letter/2192/PAYMENTS.LARGE critical",
        "OPS-162 QM01/dead_letter/2085/PAYMNTS.IN warning",
        "OPS-162 QM01/dead_letter/2035/ORDERS.REQUEST warning",
        "OPS-195 QM01/dead_letter/265/REFUNDS.IN warning",
    ]
    for status in ("firing", "resolved"):
        assert sorted(each for each in found.told(status) if each.startswith(("OPS-162", "OPS-195"))) == sorted(
            expected
        )
    words = found.words("OPS-162 QM01/dead_letter/2053/PAYMENTS.IN")
    assert "37 messages for PAYMENTS.IN on the dead-letter queue: 2053 MQRC_Q_FULL, since " in words["summary"]
    assert words["summary"].endswith("; common cause: the consumer stopped, or MAXDEPTH; tell the application")
    assert "CSQUDLQH" in words["advice"]
    assert found.cause("OPS-162 QM01/dead_letter/2192/PAYMENTS.LARGE") is None


async def test_clients_from_twelve_addresses(house: Any) -> None:
    """300 connections, 160 of them from one address: one alert with that address explains the other, and both end."""
    found = await played(house, load_scenario("client-flood"), 10, watched=["QM01", "QM02"])
    limit, all_clients = "OPS-152 QM01/channel/CLIENTS.ORDERS", "OPS-151 QM01/channel/CLIENTS.ORDERS"
    assert found.told("firing") == [f"{limit} critical"]
    assert found.told("resolved") == [f"{limit} critical"]
    assert found.cause(all_clients) == "OPS-152"
    assert found.alerts[all_clients].summary.startswith("channel CLIENTS.ORDERS: 303 client connections of at most 330")
    words = found.words(limit)
    assert "160 instances from 10.60.0.1, MAXINSTC is 160" in words["summary"]
    assert words["mqsc"] == "DISPLAY CHSTATUS(CLIENTS.ORDERS) CONNAME RAPPLTAG MCAUSER"
    assert "STOP CHANNEL(CLIENTS.ORDERS) CONNAME('10.60.0.1')" in words["advice"]
    assert "mqvitals clients QM01 --channel CLIENTS.ORDERS" in words["advice"]


async def test_clients_that_never_disconnect(house: Any) -> None:
    """A leak of ten connections an hour is seen after seven hours, with the address; it is no reason to post anything."""
    leak = ScenarioIncident(MINUTE_MS, 600 * MINUTE_MS, IncidentKind.CLIENT_LEAK, "QM02/CLIENTS.ORDERS", 10)
    found = await played(house, StandingGroup(house.clock.now(), leak), 450, 10 * MINUTE_MS, ["QM02"])
    alert = found.alerts["OPS-154 QM02/channel/CLIENTS.ORDERS"]
    assert (alert.severity.name, alert.cause) == ("INFO", None)
    assert "10.60.1.7 has the most" in alert.summary
    assert not [each for each in found.told("firing") if each.startswith("OPS")]


@pytest.mark.parametrize("read", ["browse", "get"])
async def test_what_event_queues_tell(house: Any, read: Literal["browse", "get"]) -> None:
    """The event is the cause of what polls find later; each ends with its other event; a change has its user."""
    names = tuple(LocatedText(f"SYSTEM.ADMIN.{each}.EVENT", Place("mqvitals.yaml", 1, 1)) for each in FAMILIES)
    house.settings = replace(house.settings, polling=replace(house.settings.polling, events=EventSettings(names, read)))
    found = await played(house, load_scenario("events-read"), 19, watched=["QM01", "QM02"])
    channel, queue = "EVT-283 QM01/channel/TO.PARTNER", "EVT-224 QM01/queue/PAY.BURST"
    assert found.told("firing") == [f"{channel} warning", f"{queue} warning"]
    assert found.told("resolved") == [f"{channel} warning", f"{queue} warning"]
    assert found.cause("CHL-16 QM01/channel/TO.PARTNER") == "EVT-283"
    words = found.words(channel)
    assert words["summary"].startswith(
        "channel TO.PARTNER of QM01: event 2283, it stopped because of an error; it is RETRYING; connection 192.0.2.17(1414)"
    )
    assert words["mqsc"] == "DISPLAY CHSTATUS(TO.PARTNER) ALL"
    assert "START CHANNEL(TO.PARTNER)" in words["advice"]
    assert "highest depth 4000" in found.words(queue)["summary"]
    with StoreReader.open(house.store) as reader:
        told = [(each.code, each.name, each.times) for each in reader.messages(owners=("QM01",))]
    assert told == [
        ("event:2283:9", "TO.PARTNER", 1),
        ("event:2282", "TO.PARTNER", 1),
        ("event:2224", "PAY.BURST", 1),
        ("event:2225", "PAY.BURST", 1),
        ("event:2368", "PAYMENTS.IN", 1),
        ("event:2412", "PAYMENTS.IN", 1),
    ]
