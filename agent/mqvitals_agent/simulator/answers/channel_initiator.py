"""INQUIRE_CHANNEL_INIT: the channel initiator, then its listener."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer, string
from mqvitals_agent.simulator.answers.asked import Asked, Item
from mqvitals_agent.simulator.answers.queue_manager import tasks
from mqvitals_agent.simulator.state import Group, Member

_NOT_ACTIVE = ("RETRYING", "STOPPED", "INACTIVE")


def status(_asked: Asked, _group: Group, member: Member) -> Iterator[Item]:
    """Tasks, channels by state, and the listener; while it is down nothing is started and nothing listens."""
    running = member.chinit_running
    states: Counter[str] = Counter()
    if running:
        states.update(instance.status for channel in member.channels.values() for instance in channel.instances)
    current = sum(states.values()) - states["INACTIVE"]
    active = sum(count for state, count in states.items() if state not in _NOT_ACTIVE)
    adapters, dispatchers, ssl = (tasks(member, kind) for kind in ("adapters", "dispatchers", "ssl"))
    yield (
        integer(mq.MQIACF_CHINIT_STATUS, mq.MQSVC_STATUS_RUNNING if running else mq.MQSVC_STATUS_STOPPED),
        integer(mq.MQIACH_ADAPS_STARTED, adapters[0] if running else 0),
        integer(mq.MQIACH_ADAPS_MAX, adapters[1]),
        integer(mq.MQIACH_DISPS_STARTED, dispatchers[0] if running else 0),
        integer(mq.MQIACH_DISPS_MAX, dispatchers[1]),
        integer(mq.MQIACH_SSLTASKS_STARTED, ssl[0] if running else 0),
        integer(mq.MQIACH_SSLTASKS_MAX, ssl[1]),
        integer(mq.MQIACH_CURRENT_CHL, current),
        integer(mq.MQIACH_CURRENT_CHL_MAX, member.max_channels),
        integer(mq.MQIACH_CURRENT_CHL_TCP, current),
        integer(mq.MQIACH_CURRENT_CHL_LU62, 0),
        integer(mq.MQIACH_ACTIVE_CHL, active),
        integer(mq.MQIACH_ACTIVE_CHL_MAX, member.max_active_channels),
        integer(mq.MQIACH_ACTIVE_CHL_STARTED, active - states["PAUSED"]),
        integer(mq.MQIACH_ACTIVE_CHL_PAUSED, states["PAUSED"]),
        integer(mq.MQIACH_ACTIVE_CHL_RETRY, states["RETRYING"]),
        integer(mq.MQIACH_ACTIVE_CHL_STOPPED, states["STOPPED"]),
        string(mq.MQCACH_TCP_NAME, "TCPIP"),
    )
    if running:
        yield (
            integer(mq.MQIACH_INBOUND_DISP, mq.MQINBD_Q_MGR),
            integer(mq.MQIACH_LISTENER_STATUS, mq.MQSVC_STATUS_RUNNING),
            integer(mq.MQIACH_XMIT_PROTOCOL_TYPE, mq.MQXPT_TCP),
            string(mq.MQCACH_IP_ADDRESS, "*"),
            integer(mq.MQIACH_PORT_NUMBER, 1414),
        )
