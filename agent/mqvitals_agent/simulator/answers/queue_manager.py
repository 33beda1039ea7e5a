"""INQUIRE_Q_MGR, INQUIRE_QSG, INQUIRE_CHANNEL_INIT, INQUIRE_LOG, INQUIRE_ARCHIVE and INQUIRE_SYSTEM."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import strings
from mqvitals_agent.simulator.answers.common import (
    QUEUE_MANAGER_LEVEL,
    CommandRequest,
    ReplyItem,
    integer,
    integers,
    local_time,
    string,
)
from mqvitals_agent.simulator.state import GroupState, LogState, MemberState

DB2: Final = "DBP1"
CCSID: Final = 500
DEAD_LETTER_QUEUE: Final = "SYSTEM.DEAD.LETTER.QUEUE"
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


def version(command_level: int) -> str:
    """VVRRMMFF of a command level."""
    return f"{command_level // 100:02}{command_level // 10 % 10:02}{command_level % 10:02}00"


def queue_manager_attributes(_request: CommandRequest, group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
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
        integer(mq.MQIA_PUBSUB_MODE, mq.MQPSM_ENABLED),
        integer(mq.MQIA_ACTIVE_CHANNELS, member.max_active_channels),
        integer(mq.MQIA_MAX_CHANNELS, member.max_channels),
        integer(mq.MQIA_TCP_CHANNELS, member.max_channels),
        integer(mq.MQIA_LU62_CHANNELS, 0),
        integer(mq.MQIA_CHINIT_ADAPTERS, member.tasks["adapters"][1]),
        integer(mq.MQIA_CHINIT_DISPATCHERS, member.tasks["dispatchers"][1]),
        integer(mq.MQIA_SSL_TASKS, member.tasks["ssl"][1]),
        integer(mq.MQIA_RECEIVE_TIMEOUT, 0),
        integer(mq.MQIA_RECEIVE_TIMEOUT_TYPE, 0),
        integer(mq.MQIA_RECEIVE_TIMEOUT_MIN, 0),
        integer(mq.MQIA_EXPIRY_INTERVAL, 60),
        integer(mq.MQIA_MONITORING_Q, QUEUE_MANAGER_LEVEL),
        integer(mq.MQIA_MONITORING_CHANNEL, QUEUE_MANAGER_LEVEL),
        integer(mq.MQIA_MONITORING_AUTO_CLUSSDR, QUEUE_MANAGER_LEVEL),
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


def group_members(_request: CommandRequest, group: GroupState, _member: MemberState) -> Iterator[ReplyItem]:
    """One item a member of the group, whether it is active or not."""
    for each in sorted(group.members.values(), key=lambda each: each.number):
        fault = group.fault(each.name)
        away = mq.MQQSGS_FAILED if fault.failed else mq.MQQSGS_INACTIVE
        status = away if fault.down else mq.MQQSGS_ACTIVE
        db2 = mq.MQQSGS_INACTIVE if fault.down or fault.db2_lost else mq.MQQSGS_ACTIVE
        yield (
            string(mq.MQCA_QSG_NAME, group.name),
            string(mq.MQCA_Q_MGR_NAME, each.name),
            integer(mq.MQIACF_Q_MGR_NUMBER, each.number),
            string(mq.MQCACF_Q_MGR_CPF, f"!{each.name}"),
            integer(mq.MQIACF_Q_MGR_STATUS, status),
            integer(mq.MQIA_COMMAND_LEVEL, each.command_level),
            integer(mq.MQIACF_DB2_CONN_STATUS, db2),
            string(mq.MQCACF_DB2_NAME, DB2),
        )


def channel_initiator_status(_request: CommandRequest, group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    """Tasks, channels by state, and the listeners; all zero or stopped while the channel initiator is down."""
    running = member.chinit_running
    channels = member.channels.values() if running else ()
    instances = [each for channel in channels for each in group.instances(member, channel)]
    states = Counter(each.status for each in instances)
    current = len(instances) - states["INACTIVE"]
    active = sum(each.active for each in instances)
    adapters, dispatchers, ssl = (member.tasks[kind] for kind in ("adapters", "dispatchers", "ssl"))
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
        # Those that nobody starts are listed too.
        for disposition, protocol in (
            (mq.MQINBD_GROUP, mq.MQXPT_TCP),
            (mq.MQINBD_Q_MGR, mq.MQXPT_LU62),
            (mq.MQINBD_GROUP, mq.MQXPT_LU62),
        ):
            yield (
                integer(mq.MQIACH_INBOUND_DISP, disposition),
                integer(mq.MQIACH_LISTENER_STATUS, mq.MQSVC_STATUS_STOPPED),
                integer(mq.MQIACH_XMIT_PROTOCOL_TYPE, protocol),
            )


def rba_text(rba: int) -> str:
    """A log position as z/OS writes it."""
    return f"{rba:016X}"


def log_data_set(member: MemberState, rba: int, copy: int = 1) -> str:
    """The active log that holds a position; empty when the position is no longer in the active logs."""
    log = member.log
    number = rba // log.log_bytes
    if not 0 <= log.rba // log.log_bytes - number < log.total_logs:
        return ""
    return f"MQPRD.{member.name}.LOGCOPY{copy}.DS{number % log.total_logs + 1:02}"


def used_pct(log: LogState) -> int:
    """The used part of the current active log, in percent."""
    return log.rba % log.log_bytes * 100 // log.log_bytes


def log_status(_request: CommandRequest, group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    """The parameters at start and those changed since, each log copy, and the log's status."""
    log, fault = member.log, group.fault(member.name)
    dual = mq.MQSYSP_YES if log.copies > 1 else mq.MQSYSP_NO
    yield (
        integer(mq.MQIACF_SYSP_TYPE, mq.MQSYSP_TYPE_INITIAL),
        integer(mq.MQIACF_SYSP_DEALLOC_INTERVAL, 0),
        integer(mq.MQIACF_SYSP_MAX_ARCHIVE, 500),
        integer(mq.MQIACF_SYSP_MAX_READ_TAPES, 2),
        integer(mq.MQIACF_SYSP_MAX_CONC_OFFLOADS, 31),
        integer(mq.MQIACF_SYSP_IN_BUFFER_SIZE, 60),
        integer(mq.MQIACF_SYSP_OUT_BUFFER_SIZE, 4000),
        integer(mq.MQIACF_SYSP_OUT_BUFFER_COUNT, 20),
        integer(mq.MQIACF_SYSP_ARCHIVE, mq.MQSYSP_YES),
        integer(mq.MQIACF_SYSP_DUAL_ACTIVE, dual),
        integer(mq.MQIACF_SYSP_DUAL_ARCHIVE, mq.MQSYSP_YES),
        integer(mq.MQIACF_SYSP_DUAL_BSDS, mq.MQSYSP_YES),
        integer(mq.MQIACF_SYSP_ZHYPERWRITE, mq.MQSYSP_NO),
    )
    yield (
        integer(mq.MQIACF_SYSP_TYPE, mq.MQSYSP_TYPE_SET),
        integer(mq.MQIACF_SYSP_MAX_READ_TAPES, 4),
    )
    for copy in range(1, log.copies + 1):
        yield (
            integer(mq.MQIACF_SYSP_TYPE, mq.MQSYSP_TYPE_LOG_COPY),
            integer(mq.MQIACF_SYSP_LOG_COPY, copy),
            integer(mq.MQIACF_SYSP_LOG_USED, used_pct(log)),
            string(mq.MQCACF_DATA_SET_NAME, log_data_set(member, log.rba, copy)),
            integer(mq.MQIACF_DS_ENCRYPTED, mq.MQSYSP_NO),
        )
    day, time = local_time(member.started, member.zone_ms)
    yield (
        integer(mq.MQIACF_SYSP_TYPE, mq.MQSYSP_TYPE_LOG_STATUS),
        integer(mq.MQIACF_SYSP_TOTAL_LOGS, log.total_logs),
        integer(mq.MQIACF_SYSP_FULL_LOGS, log.full_logs),
        integer(mq.MQIACF_SYSP_LOG_SUSPEND, mq.MQSYSP_YES if log.suspended or fault.log_suspended else mq.MQSYSP_NO),
        integer(
            mq.MQIACF_SYSP_OFFLOAD_STATUS,
            mq.MQSYSP_STATUS_COPYING_LOG if log.archiving else mq.MQSYSP_STATUS_AVAILABLE,
        ),
        string(mq.MQCACF_SYSP_LOG_RBA, rba_text(log.rba + fault.rba_offset)),
        string(mq.MQCACF_SYSP_Q_MGR_RBA, rba_text(log.start_rba + fault.rba_offset)),
        string(mq.MQCACF_SYSP_Q_MGR_DATE, day),
        string(mq.MQCACF_SYSP_Q_MGR_TIME, time),
        integer(mq.MQIACF_LOG_COMPRESSION, mq.MQCOMPRESS_NONE),
    )


def archive_parameters(_request: CommandRequest, _group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    """The archiving parameters. Archive logs are on disk, so there are no tape units."""
    yield (
        integer(mq.MQIACF_SYSP_TYPE, mq.MQSYSP_TYPE_INITIAL),
        integer(mq.MQIACF_SYSP_ALLOC_UNIT, mq.MQSYSP_ALLOC_CYL),
        integer(mq.MQIACF_SYSP_ALLOC_PRIMARY, 1390),
        integer(mq.MQIACF_SYSP_ALLOC_SECONDARY, 100),
        integer(mq.MQIACF_SYSP_ARCHIVE_RETAIN, 30),
        integer(mq.MQIACF_SYSP_ARCHIVE_WTOR, mq.MQSYSP_NO),
        integer(mq.MQIACF_SYSP_BLOCK_SIZE, 24_576),
        integer(mq.MQIACF_SYSP_CATALOG, mq.MQSYSP_YES),
        integer(mq.MQIACF_SYSP_COMPACT, mq.MQSYSP_NO),
        integer(mq.MQIACF_SYSP_PROTECT, mq.MQSYSP_NO),
        integer(mq.MQIACF_SYSP_QUIESCE_INTERVAL, 5),
        integer(mq.MQIACF_SYSP_TIMESTAMP, mq.MQSYSP_YES),
        string(mq.MQCACF_SYSP_ARCHIVE_PFX1, f"MQPRD.{member.name}.ARCHLOG1"),
        string(mq.MQCACF_SYSP_ARCHIVE_PFX2, f"MQPRD.{member.name}.ARCHLOG2"),
        string(mq.MQCACF_SYSP_ARCHIVE_UNIT1, "SYSDA"),
        string(mq.MQCACF_SYSP_ARCHIVE_UNIT2, "SYSDA"),
        integers(mq.MQIACF_SYSP_ROUTING_CODE, (1, 3, 4)),
    )


def system_parameters(_request: CommandRequest, group: GroupState, _member: MemberState) -> Iterator[ReplyItem]:
    """The system parameters at start, and those changed since."""
    yield (
        integer(mq.MQIACF_SYSP_TYPE, mq.MQSYSP_TYPE_INITIAL),
        integer(mq.MQIACF_SYSP_CHKPOINT_COUNT, 500_000),
        integer(mq.MQIACF_SYSP_CLUSTER_CACHE, 1),
        integer(mq.MQIA_CODED_CHAR_SET_ID, CCSID),
        string(mq.MQCACF_SYSP_CMD_USER_ID, "CSQOPR"),
        string(mq.MQCACF_DB2_NAME, DB2),
        string(mq.MQCACF_DSG_NAME, "DSNPRD"),
        string(mq.MQCA_QSG_NAME, group.name),
        integer(mq.MQIACF_SYSP_DB2_TASKS, 4),
        integer(mq.MQIACF_SYSP_DB2_BLOB_TASKS, 4),
        strings(mq.MQCACF_EXCL_OPERATOR_MESSAGES, ("X511", "X512")),
        integer(mq.MQIACF_SYSP_EXIT_INTERVAL, 30),
        integer(mq.MQIACF_SYSP_EXIT_TASKS, 8),
        integer(mq.MQIACF_SYSP_MAX_ACE_POOL, 0),
        integer(mq.MQIACF_MULC_CAPTURE, 1),
        integer(mq.MQIACF_SYSP_Q_INDEX_DEFER, 1),
        integer(mq.MQIACF_SYSP_RESLEVEL_AUDIT, mq.MQSYSP_YES),
        string(mq.MQCACF_SYSP_SERVICE, ""),
        integer(mq.MQIACF_SYSP_SMF_ACCOUNTING, mq.MQSYSP_NO),
        integer(mq.MQIACF_SYSP_SMF_STATS, mq.MQSYSP_YES),
        integer(mq.MQIACF_SYSP_SMF_STAT_TIME_MINS, 30),
        integer(mq.MQIACF_SYSP_SMF_STAT_TIME_SECS, 0),
        integer(mq.MQIACF_SYSP_SMF_ACCT_TIME_MINS, -1),
        integer(mq.MQIACF_SYSP_SMF_ACCT_TIME_SECS, 0),
        integer(mq.MQIA_PROT_POLICY_CAPABILITY, 0),
        integers(mq.MQIACF_SYSP_TRACE_CLASS, (1,)),
        integer(mq.MQIACF_SYSP_TRACE_SIZE, 99),
        integer(mq.MQIACF_SYSP_WLM_INTERVAL, 30),
        integer(mq.MQIACF_SYSP_WLM_INT_UNITS, 0),
        integers(mq.MQIACF_SYSP_ROUTING_CODE, (1,)),
    )
    yield (
        integer(mq.MQIACF_SYSP_TYPE, mq.MQSYSP_TYPE_SET),
        integer(mq.MQIACF_SYSP_SMF_STAT_TIME_MINS, 15),
    )
