"""INQUIRE_LOG, INQUIRE_ARCHIVE and INQUIRE_SYSTEM."""

from __future__ import annotations

from collections.abc import Iterator

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer, integers, string, strings
from mqvitals_agent.simulator.answers.asked import Asked, Item
from mqvitals_agent.simulator.answers.local_time import local_time
from mqvitals_agent.simulator.answers.queue_manager import CCSID, DB2
from mqvitals_agent.simulator.state import Group, Log, Member


def position(rba: int) -> str:
    """A log position as z/OS writes it."""
    return f"{rba:016X}"


def data_set(member: Member, rba: int, copy: int = 1) -> str:
    """The active log that holds a position; blank when the position has left the active logs."""
    log = member.log
    number = rba // log.log_bytes
    if not 0 <= log.rba // log.log_bytes - number < log.total_logs:
        return ""
    return f"MQPRD.{member.name}.LOGCOPY{copy}.DS{number % log.total_logs + 1:02}"


def used_pct(log: Log) -> int:
    """How full the current active log is, in percent."""
    return log.rba % log.log_bytes * 100 // log.log_bytes


def status(_asked: Asked, _group: Group, member: Member) -> Iterator[Item]:
    """The parameters at start and those changed since, each log copy, and the log's status."""
    log = member.log
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
            string(mq.MQCACF_DATA_SET_NAME, data_set(member, log.rba, copy)),
            integer(mq.MQIACF_DS_ENCRYPTED, mq.MQSYSP_NO),
        )
    day, time = local_time(member.started, member.zone_ms)
    yield (
        integer(mq.MQIACF_SYSP_TYPE, mq.MQSYSP_TYPE_LOG_STATUS),
        integer(mq.MQIACF_SYSP_TOTAL_LOGS, log.total_logs),
        integer(mq.MQIACF_SYSP_FULL_LOGS, log.full_logs),
        integer(mq.MQIACF_SYSP_LOG_SUSPEND, mq.MQSYSP_YES if log.suspended else mq.MQSYSP_NO),
        integer(
            mq.MQIACF_SYSP_OFFLOAD_STATUS,
            mq.MQSYSP_STATUS_COPYING_LOG if log.archiving else mq.MQSYSP_STATUS_AVAILABLE,
        ),
        string(mq.MQCACF_SYSP_LOG_RBA, position(log.rba)),
        string(mq.MQCACF_SYSP_Q_MGR_RBA, position(log.start_rba)),
        string(mq.MQCACF_SYSP_Q_MGR_DATE, day),
        string(mq.MQCACF_SYSP_Q_MGR_TIME, time),
        integer(mq.MQIACF_LOG_COMPRESSION, mq.MQCOMPRESS_NONE),
    )


def archive(_asked: Asked, _group: Group, member: Member) -> Iterator[Item]:
    """The archiving parameters. Archive logs are on disk, so no tape units are told."""
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


def system(_asked: Asked, group: Group, _member: Member) -> Iterator[Item]:
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
