"""INQUIRE_Q_MGR and INQUIRE_QSG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer, string
from mqvitals_agent.simulator.answers.asked import Asked, Item
from mqvitals_agent.simulator.answers.level import OF_QUEUE_MANAGER
from mqvitals_agent.simulator.state import Fault, Group, Member

DB2: Final = "DBP1"
CCSID: Final = 500
DEAD_LETTER_QUEUE: Final = "SYSTEM.DEAD.LETTER.QUEUE"
_TASKS: Final[Mapping[str, int]] = {"adapters": 8, "dispatchers": 5, "ssl": 4}

_EVENTS: Final = (
    (mq.MQIA_AUTHORITY_EVENT, mq.MQEVR_DISABLED),
    (mq.MQIA_INHIBIT_EVENT, mq.MQEVR_DISABLED),
    (mq.MQIA_LOCAL_EVENT, mq.MQEVR_DISABLED),
    (mq.MQIA_REMOTE_EVENT, mq.MQEVR_DISABLED),
    (mq.MQIA_START_STOP_EVENT, mq.MQEVR_ENABLED),
    (mq.MQIA_PERFORMANCE_EVENT, mq.MQEVR_ENABLED),
    (mq.MQIA_CHANNEL_EVENT, mq.MQEVR_EXCEPTION),
    (mq.MQIA_SSL_EVENT, mq.MQEVR_ENABLED),
    (mq.MQIA_BRIDGE_EVENT, mq.MQEVR_DISABLED),
    (mq.MQIA_CONFIGURATION_EVENT, mq.MQEVR_ENABLED),
    (mq.MQIA_COMMAND_EVENT, mq.MQEVR_NO_DISPLAY),
)


def tasks(member: Member, kind: str) -> tuple[int, int]:
    """The channel initiator's tasks of a kind: started and configured."""
    usual = _TASKS[kind]
    return member.tasks.get(kind, (usual, usual))


def version(command_level: int) -> str:
    """VVRRMMFF of a command level."""
    return f"{command_level // 100:02}{command_level // 10 % 10:02}{command_level % 10:02}00"


def attributes(_asked: Asked, group: Group, member: Member) -> Iterator[Item]:
    """The one item of the queue manager."""
    yield (
        string(mq.MQCA_Q_MGR_NAME, member.name),
        string(mq.MQCA_Q_MGR_DESC, f"{group.site} {member.name}, simulated"),
        string(mq.MQCA_Q_MGR_IDENTIFIER, f"{member.name}.{group.name}.C5D2F1A1{member.number:02}"),
        string(mq.MQCA_VERSION, version(member.command_level)),
        integer(mq.MQIA_COMMAND_LEVEL, member.command_level),
        integer(mq.MQIA_PLATFORM, mq.MQPL_ZOS),
        integer(mq.MQIA_CODED_CHAR_SET_ID, CCSID),
        string(mq.MQCA_QSG_NAME, group.name),
        string(mq.MQCA_COMMAND_INPUT_Q_NAME, "SYSTEM.COMMAND.INPUT"),
        string(mq.MQCA_DEAD_LETTER_Q_NAME, DEAD_LETTER_QUEUE),
        string(mq.MQCA_DEF_XMIT_Q_NAME, ""),
        integer(mq.MQIA_MAX_HANDLES, 256),
        integer(mq.MQIA_MAX_UNCOMMITTED_MSGS, 10_000),
        integer(mq.MQIA_MAX_MSG_LENGTH, 104_857_600),
        integer(mq.MQIA_ACTIVE_CHANNELS, member.max_active_channels),
        integer(mq.MQIA_MAX_CHANNELS, member.max_channels),
        integer(mq.MQIA_TCP_CHANNELS, member.max_channels),
        integer(mq.MQIA_LU62_CHANNELS, 0),
        integer(mq.MQIA_CHINIT_ADAPTERS, tasks(member, "adapters")[1]),
        integer(mq.MQIA_CHINIT_DISPATCHERS, tasks(member, "dispatchers")[1]),
        integer(mq.MQIA_SSL_TASKS, tasks(member, "ssl")[1]),
        integer(mq.MQIA_RECEIVE_TIMEOUT, 0),
        integer(mq.MQIA_RECEIVE_TIMEOUT_TYPE, 0),
        integer(mq.MQIA_RECEIVE_TIMEOUT_MIN, 0),
        integer(mq.MQIA_EXPIRY_INTERVAL, 60),
        integer(mq.MQIA_MONITORING_Q, OF_QUEUE_MANAGER),
        integer(mq.MQIA_MONITORING_CHANNEL, OF_QUEUE_MANAGER),
        integer(mq.MQIA_MONITORING_AUTO_CLUSSDR, OF_QUEUE_MANAGER),
        integer(mq.MQIA_STATISTICS_Q, mq.MQMON_OFF),
        integer(mq.MQIA_STATISTICS_CHANNEL, mq.MQMON_OFF),
        integer(mq.MQIA_STATISTICS_AUTO_CLUSSDR, mq.MQMON_OFF),
        *(integer(number, value) for number, value in _EVENTS),
        integer(mq.MQIA_QMGR_CFCONLOS, mq.MQCFCONLOS_TOLERATE),
        integer(mq.MQIA_INTRA_GROUP_QUEUING, 0),
        integer(mq.MQIA_SHARED_Q_Q_MGR_NAME, 0),
        integer(mq.MQIA_GROUP_UR, 0),
        integer(mq.MQIA_CHLAUTH_RECORDS, 1),
        integer(mq.MQIA_PROT_POLICY_CAPABILITY, 0),
        string(mq.MQCA_CREATION_DATE, "2019-03-11"),
        string(mq.MQCA_CREATION_TIME, "09.14.02"),
        string(mq.MQCA_ALTERATION_DATE, "2026-09-30"),
        string(mq.MQCA_ALTERATION_TIME, "07.45.10"),
    )


def active(group: Group, member: Member) -> bool:
    """True while the queue manager is up."""
    return not group.faults.get(member.name, Fault()).down


def members(_asked: Asked, group: Group, _member: Member) -> Iterator[Item]:
    """One item a member of the group, whether it is active or not."""
    for each in sorted(group.members.values(), key=lambda each: each.number):
        status = mq.MQQSGS_ACTIVE if active(group, each) else mq.MQQSGS_INACTIVE
        yield (
            string(mq.MQCA_QSG_NAME, group.name),
            string(mq.MQCA_Q_MGR_NAME, each.name),
            integer(mq.MQIACF_Q_MGR_NUMBER, each.number),
            string(mq.MQCACF_Q_MGR_CPF, f"!{each.name}"),
            integer(mq.MQIACF_Q_MGR_STATUS, status),
            integer(mq.MQIA_COMMAND_LEVEL, each.command_level),
            integer(mq.MQIACF_DB2_CONN_STATUS, status),
            string(mq.MQCACF_DB2_NAME, DB2),
        )
