"""Publish/subscribe and security: what queue managers report of their engine, durable subscriptions and switches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.kinds import publish_subscribe
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from tests.agent.poll.conftest import Talk

SUBSCRIPTION, PUBSUB, SECURITY = (
    mq.MQCMD_INQUIRE_SUBSCRIPTION,
    mq.MQCMD_INQUIRE_PUBSUB_STATUS,
    mq.MQCMD_INQUIRE_SECURITY,
)


def subscription(name: str, queue: str, *, at: str = "QM01", durable: int = mq.MQSUB_DURABLE_YES) -> dict[int, Any]:
    """An item about a subscription."""
    return {
        mq.MQCACF_SUB_NAME: name,
        mq.MQIACF_DURABLE_SUBSCRIPTION: durable,
        mq.MQCACF_DESTINATION: queue,
        mq.MQCACF_DESTINATION_Q_MGR: at,
        mq.MQCACF_SUB_USER_ID: f"U{name}",
    }


def test_durable_subscriptions_are_counted_by_the_queue_that_they_fill(talk: Talk) -> None:
    """Others, and those whose queue is on another queue manager, are left out."""
    items = [
        subscription("B", "NEWS"),
        subscription("A", "NEWS", at=""),
        subscription("C", "PRICES"),
        subscription("D", "NEWS", durable=mq.MQSUB_DURABLE_NO),
        subscription("E", "AWAY", at="QM09"),
    ]
    talk.ask(SUBSCRIPTION, items)
    told = talk.end()
    reading = told.reading("QM01/subscription/NEWS")
    assert reading.poll
    assert reading.values == {"destination": "NEWS", "subscriptions": 2, "subscription_name": "A", "user": "UA"}
    assert told.value("QM01/subscription/PRICES", "subscriptions") == 1
    assert not told.readings("QM01/subscription/AWAY")
    counts = told.reading("QM01/queue_manager", "INQUIRE_SUBSCRIPTION").values
    assert counts == {"durable_subscriptions": 3, "subscription_queues": 2}
    talk.ask(SUBSCRIPTION, items[:2])
    assert talk.end().reading("QM01/subscription/PRICES").gone


def test_a_part_of_an_answer_counts_nothing(talk: Talk) -> None:
    """What did not come may be more."""
    talk.ask(SUBSCRIPTION, [subscription("A", "NEWS"), subscription("B", "NEWS")], keep=1)
    assert not talk.end().readings("QM01/queue_manager", "INQUIRE_SUBSCRIPTION")


def test_the_queues_are_bounded(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    """All are counted; the first by name are kept."""
    monkeypatch.setattr(publish_subscribe, "MOST_QUEUES", 3)
    talk.ask(SUBSCRIPTION, [subscription(f"S{number}", f"Q{number}") for number in (5, 1, 4, 2, 3)])
    told = talk.end()
    kept = [name for name in range(1, 6) if told.readings(f"QM01/subscription/Q{name}")]
    assert kept == [1, 2, 3]
    assert told.value("QM01/queue_manager", "subscription_queues") == 5


def test_the_engine_of_the_queue_manager_itself_counts(talk: Talk) -> None:
    """Not that of a parent or child."""
    items = [
        {mq.MQIACF_PS_STATUS_TYPE: 2, mq.MQIACF_PUBSUB_STATUS: mq.MQPS_STATUS_ACTIVE},
        {mq.MQIACF_PS_STATUS_TYPE: mq.MQPSST_LOCAL, mq.MQIACF_PUBSUB_STATUS: mq.MQPS_STATUS_REFUSED},
    ]
    talk.ask(PUBSUB, items)
    assert talk.end().value("QM01/queue_manager", "pubsub_status") == mq.MQPS_STATUS_REFUSED


@pytest.mark.parametrize(
    ("setting", "value"), [(21, 0), (22, 1), (23, 0), (24, 1), (25, 0), (26, 1), (99, Absence.NOT_RETURNED)]
)
def test_security_switches(talk: Talk, setting: int, value: object) -> None:
    """Each comes as an item; a setting that nobody knows is absent, neither on nor off."""
    items = [
        {mq.MQIACF_SECURITY_TIMEOUT: 54},
        {mq.MQIACF_SECURITY_SWITCH: mq.MQSECSW_COMMAND, mq.MQIACF_SECURITY_SETTING: setting},
        {mq.MQIACF_SECURITY_SWITCH: mq.MQSECSW_TOPIC, mq.MQIACF_SECURITY_SETTING: mq.MQSECSW_OFF_FOUND},
        {mq.MQIACF_SECURITY_SWITCH: mq.MQSECSW_QSG, mq.MQIACF_SECURITY_SETTING: mq.MQSECSW_OFF_FOUND},
    ]
    talk.ask(SECURITY, items)
    values = talk.end().reading("QM01/queue_manager", "INQUIRE_SECURITY").values
    assert values["command_security"] == value
    assert values["subsystem_security"] is Absence.NOT_RETURNED
    assert values["security_off"] == ("COMMAND, TOPIC" if value == 0 else "TOPIC")


def test_each_is_refused_alone(talk: Talk) -> None:
    """What one command is for is not authorised; the others are answered."""
    for command in (SUBSCRIPTION, SECURITY):
        talk.ask(command, reason=2035)
    talk.ask(PUBSUB, [{mq.MQIACF_PS_STATUS_TYPE: mq.MQPSST_LOCAL, mq.MQIACF_PUBSUB_STATUS: mq.MQPS_STATUS_ACTIVE}])
    told = talk.end()
    assert told.value("QM01/queue_manager", "pubsub_status") == mq.MQPS_STATUS_ACTIVE
    for form, keyword in (("INQUIRE_SUBSCRIPTION", "SUB"), ("INQUIRE_SECURITY", "SECURITY")):
        assert told.value(f"QM01/agent/{form}", "mqsc") == f"DISPLAY {keyword}"
        assert told.value(f"QM01/agent/{form}", "reason") == 2035
