"""INQUIRE_PUBSUB_STATUS, INQUIRE_SUBSCRIPTION and INQUIRE_SECURITY."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.simulator.answers.common import CommandRequest, ReplyItem, integer, name_matches, string
from mqvitals_agent.simulator.state import GroupState, MemberState

SWITCHES: Final = {
    "SUBSYSTEM": mq.MQSECSW_SUBSYSTEM,
    "QMGR": mq.MQSECSW_Q_MGR,
    "QSG": mq.MQSECSW_QSG,
    "CONNECTION": mq.MQSECSW_CONNECTION,
    "COMMAND": mq.MQSECSW_COMMAND,
    "CONTEXT": mq.MQSECSW_CONTEXT,
    "ALTERNATE USER": mq.MQSECSW_ALTERNATE_USER,
    "PROCESS": mq.MQSECSW_PROCESS,
    "NAMELIST": mq.MQSECSW_NAMELIST,
    "QUEUE": mq.MQSECSW_Q,
    "TOPIC": mq.MQSECSW_TOPIC,
    "COMMAND RESOURCES": mq.MQSECSW_COMMAND_RESOURCES,
}
"""Security switches by their words."""


def pubsub_status(_request: CommandRequest, group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    """One item: the queue manager's own engine. Nobody has a parent or children."""
    failed = group.fault(member.name).pubsub_error
    yield (
        integer(mq.MQIACF_PS_STATUS_TYPE, mq.MQPSST_LOCAL),
        integer(mq.MQIACF_PUBSUB_STATUS, mq.MQPS_STATUS_ERROR if failed else mq.MQPS_STATUS_ACTIVE),
        string(mq.MQCA_Q_MGR_NAME, member.name),
    )


def subscriptions(request: CommandRequest, _group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    """One item a subscription. All are durable."""
    wanted = request.text(mq.MQCACF_SUB_NAME)
    if request.number(mq.MQIACF_DURABLE_SUBSCRIPTION, mq.MQSUB_DURABLE_YES) == mq.MQSUB_DURABLE_NO:
        return
    for each in sorted(member.subscriptions, key=lambda each: each.name):
        if name_matches(each.name, wanted):
            yield (
                string(mq.MQCACF_SUB_NAME, each.name),
                integer(mq.MQIACF_DURABLE_SUBSCRIPTION, mq.MQSUB_DURABLE_YES),
                integer(mq.MQIACF_SUB_TYPE, mq.MQSUBTYPE_API),
                string(mq.MQCACF_DESTINATION, each.destination),
                string(mq.MQCACF_DESTINATION_Q_MGR, member.name),
                string(mq.MQCACF_SUB_USER_ID, each.user),
            )


def security(_request: CommandRequest, _group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    """How long users are remembered, then one item a switch."""
    yield (integer(mq.MQIACF_SECURITY_TIMEOUT, 54),)
    yield (integer(mq.MQIACF_SECURITY_INTERVAL, 12),)
    for words, switch in SWITCHES.items():
        setting = mq.MQSECSW_OFF_FOUND if words in member.security_off else mq.MQSECSW_ON_NOT_FOUND
        yield (integer(mq.MQIACF_SECURITY_SWITCH, switch), integer(mq.MQIACF_SECURITY_SETTING, setting))
