"""The log of a queue manager: active logs, their offload to archive logs, and the parameters of both."""

# fmt: off
from __future__ import annotations

from collections.abc import Mapping

from mqvitals_rules.vocabulary.metric import NO_YES, Kind, Value, answer, counter, gauge, records, state, text

_STATUS = answer(
    "INQUIRE_LOG",
    gauge("full_logs", "count",
          "active logs that are full and not yet copied to an archive log; when all are, work stops",
          pcf="MQIACF_SYSP_FULL_LOGS"),
    gauge("total_logs", "count", "active logs of one copy",
          pcf="MQIACF_SYSP_TOTAL_LOGS"),
    gauge("used_pct", "pct", "how full the current active log is; of two copies, the fuller",
          pcf="MQIACF_SYSP_LOG_USED", computed="the highest of the log copies"),
    state("offload_status",
          {"BUSY": 30, "AVAILABLE": 32, "ALLOCATING_ARCHIVE": 34, "COPYING_BSDS": 35, "COPYING_LOG": 36},
          "what the task that copies full logs is doing; AVAILABLE: nothing to do",
          pcf="MQIACF_SYSP_OFFLOAD_STATUS"),
    state("suspend", NO_YES, "logging is suspended and all updates wait",
          pcf="MQIACF_SYSP_LOG_SUSPEND"),
    gauge("copies", "count", "log copies in use",
          computed="the number of log copies in the answer"),
    text("data_set_copy1", "current active log, copy 1",
         pcf="MQCACF_DATA_SET_NAME", computed="of log copy 1"),
    text("data_set_copy2", "current active log, copy 2",
         pcf="MQCACF_DATA_SET_NAME", computed="of log copy 2"),
    text("rba", "position of the newest log record",
         pcf="MQCACF_SYSP_LOG_RBA"),
    counter("written_bytes", "bytes", "what was logged, one copy counted",
            pcf="MQCACF_SYSP_LOG_RBA", computed="the growth of the newest log position, a hexadecimal number"),
    gauge("rba_width", "bytes",
          "bytes of its log positions, 6 or 8: from a position beyond the 6-byte range, CSQJ034I, or the fact rba_bytes",
          pcf="MQCACF_SYSP_LOG_RBA", computed="what the position, the newest CSQJ034I and the fact rba_bytes say"),
    gauge("rba_used_pct", "pct",
          "how much of the range of log positions is used; at 100 the queue manager ends. Of 6 bytes while rba_width is unknown",
          pcf="MQCACF_SYSP_LOG_RBA", computed="rba / FFF800000000, or FFFFFFC000000000 with 8 bytes"),
    gauge("rba_mb_per_day", "MB",
          "what the log grew by a day in the last 7 days; needs a day of history",
          pcf="MQCACF_SYSP_LOG_RBA", computed="written_bytes / the time that it covers"),
    gauge("rba_busiest_mb_per_day", "MB",
          "the same in the busiest of the last 8 weeks",
          pcf="MQCACF_SYSP_LOG_RBA", computed="the highest of the weeks with a day of history"),
    gauge("rba_days_left", "days",
          "for how long the range of log positions lasts at rba_mb_per_day; 36500: a hundred years or more",
          pcf="MQCACF_SYSP_LOG_RBA", computed="the bytes left / rba_mb_per_day"),
    gauge("rba_busiest_days_left", "days",
          "the same at rba_busiest_mb_per_day",
          pcf="MQCACF_SYSP_LOG_RBA", computed="the bytes left / rba_busiest_mb_per_day"),
    text("restart_rba", "log position at which the queue manager started",
         pcf="MQCACF_SYSP_Q_MGR_RBA"),
    state("complog", {"NONE": 0, "RLE": 1, "ANY": 268435455}, "compression of log records",
          pcf="MQIACF_LOG_COMPRESSION", mqsc="COMPLOG"),
)

_PARAMETERS = answer(
    "INQUIRE_LOG",
    state("dual_active", NO_YES, "active logs are written twice",
          pcf="MQIACF_SYSP_DUAL_ACTIVE", mqsc="TWOACTV"),
    state("dual_archive", NO_YES, "archive logs are written twice",
          pcf="MQIACF_SYSP_DUAL_ARCHIVE", mqsc="TWOARCH"),
    state("dual_bsds", NO_YES, "there are two bootstrap data sets",
          pcf="MQIACF_SYSP_DUAL_BSDS", mqsc="TWOBSDS"),
    state("offload", NO_YES, "full logs are copied to archive logs",
          pcf="MQIACF_SYSP_ARCHIVE", mqsc="OFFLOAD"),
    gauge("inbuff_kb", "KB", "buffer for reading logs",
          pcf="MQIACF_SYSP_IN_BUFFER_SIZE", mqsc="INBUFF"),
    gauge("outbuff_kb", "KB", "buffer for writing logs",
          pcf="MQIACF_SYSP_OUT_BUFFER_SIZE", mqsc="OUTBUFF"),
    gauge("wrthrsh", "buffers", "filled buffers that start a write",
          pcf="MQIACF_SYSP_OUT_BUFFER_COUNT", mqsc="WRTHRSH"),
    gauge("maxarch", "count", "archive logs remembered",
          pcf="MQIACF_SYSP_MAX_ARCHIVE", mqsc="MAXARCH"),
    gauge("maxrtu", "count", "tape units that may read archive logs",
          pcf="MQIACF_SYSP_MAX_READ_TAPES", mqsc="MAXRTU"),
    gauge("maxcnoff", "count", "logs that may be offloaded at one time",
          pcf="MQIACF_SYSP_MAX_CONC_OFFLOADS", mqsc="MAXCNOFF"),
    gauge("deallct_minutes", "minutes", "how long an unused archive tape stays allocated",
          pcf="MQIACF_SYSP_DEALLOC_INTERVAL", mqsc="DEALLCT"),
    state("zhywrite", NO_YES, "zHyperWrite is used",
          pcf="MQIACF_SYSP_ZHYPERWRITE", mqsc="ZHYWRITE"),
    state("zhylink", NO_YES, "zHyperLink is used",
          pcf="MQIACF_SYSP_ZHYPERLINK", mqsc="ZHYLINK"),
)

_SYSTEM = answer(
    "INQUIRE_SYSTEM",
    gauge("logload", "count", "log records between checkpoints",
          pcf="MQIACF_SYSP_CHKPOINT_COUNT", mqsc="LOGLOAD"),
    state("qindxbld", {"WAIT": 0, "NOWAIT": 1}, "whether a restart waits until all queue indexes are built",
          pcf="MQIACF_SYSP_Q_INDEX_DEFER", mqsc="QINDXBLD"),
)

_ARCHIVE = answer(
    "INQUIRE_ARCHIVE",
    state("archive_alcunit", {"BLK": 20, "TRK": 21, "CYL": 22}, "unit of archive_priqty and archive_secqty",
          pcf="MQIACF_SYSP_ALLOC_UNIT", mqsc="ALCUNIT"),
    gauge("archive_priqty", "count", "first space of an archive log on disk",
          pcf="MQIACF_SYSP_ALLOC_PRIMARY", mqsc="PRIQTY"),
    gauge("archive_secqty", "count", "further space of an archive log on disk",
          pcf="MQIACF_SYSP_ALLOC_SECONDARY", mqsc="SECQTY"),
    gauge("archive_retention_days", "days", "how long archive logs are kept",
          pcf="MQIACF_SYSP_ARCHIVE_RETAIN", mqsc="ARCRETN"),
    state("archive_wtor", NO_YES, "an operator must confirm the mounting of an archive log",
          pcf="MQIACF_SYSP_ARCHIVE_WTOR", mqsc="ARCWTOR"),
    text("archive_routing_codes", "routing codes of messages about archiving",
         pcf="MQIACF_SYSP_ROUTING_CODE", mqsc="ARCWRTC"),
    gauge("archive_block_bytes", "bytes", "block size of archive logs",
          pcf="MQIACF_SYSP_BLOCK_SIZE", mqsc="BLKSIZE"),
    state("archive_catalog", NO_YES, "archive logs are catalogued",
          pcf="MQIACF_SYSP_CATALOG", mqsc="CATALOG"),
    state("archive_compact", NO_YES, "archive logs on tape are compacted",
          pcf="MQIACF_SYSP_COMPACT", mqsc="COMPACT"),
    state("archive_protect", NO_YES, "a security profile is made for each archive log",
          pcf="MQIACF_SYSP_PROTECT", mqsc="PROTECT"),
    gauge("archive_quiesce_s", "s", "how long ARCHIVE LOG MODE(QUIESCE) may wait for work to end",
          pcf="MQIACF_SYSP_QUIESCE_INTERVAL", mqsc="QUIESCE"),
    state("archive_timestamp", {"NO": 0, "YES": 1, "EXTENDED": 2}, "names of archive logs hold the time",
          pcf="MQIACF_SYSP_TIMESTAMP", mqsc="TSTAMP"),
    text("archive_prefix_copy1", "first part of the names of archive logs, copy 1",
         pcf="MQCACF_SYSP_ARCHIVE_PFX1", mqsc="ARCPFX1"),
    text("archive_prefix_copy2", "first part of the names of archive logs, copy 2",
         pcf="MQCACF_SYSP_ARCHIVE_PFX2", mqsc="ARCPFX2"),
    text("archive_unit_copy1", "device of archive logs, copy 1",
         pcf="MQCACF_SYSP_ARCHIVE_UNIT1", mqsc="UNIT"),
    text("archive_unit_copy2", "device of archive logs, copy 2",
         pcf="MQCACF_SYSP_ARCHIVE_UNIT2", mqsc="UNIT2"),
    gauge("tape_units", "count", "tape units allocated for archive logs",
          pcf="MQIACF_SYSP_UNIT_STATUS", computed="the number of tape units in the answer"),
    gauge("tape_units_busy", "count", "tape units that are reading or writing",
          pcf="MQIACF_SYSP_UNIT_STATUS", computed="the number of tape units with status busy"),
)

_POSITIONS = answer(
    "INQUIRE_USAGE",
    text("oldest_uow_rba", "log position where the oldest unit of work that is still active began",
         pcf="MQCACF_USAGE_LOG_RBA", computed="of the item for the oldest active unit of work"),
    gauge("uow_span_mb", "MB", "what was logged since the oldest unit of work that is still active began; 0: none is",
          pcf="MQCACF_USAGE_LOG_RBA", computed="rba less oldest_uow_rba"),
    gauge("oldest_uow_age_s", "s", "how long ago it wrote its first log record; 0: none is active",
          pcf="MQCACF_USAGE_LOG_RBA", computed="from the positions of the log that the agent has seen, to the minute"),
    state("uow_in_current_log", NO_YES, "the oldest unit of work began in the current active log, as of the answer",
          pcf="MQCACF_DATA_SET_NAME", computed="oldest_uow_data_set is data_set_copy1 or data_set_copy2"),
    text("oldest_uow_data_set", "active log with that position; blank when it has left the active logs",
         pcf="MQCACF_DATA_SET_NAME", computed="of the item for the oldest active unit of work"),
    text("page_set_recovery_rba", "oldest log position needed to recover the page sets",
         pcf="MQCACF_USAGE_LOG_RBA", computed="of the item for page set recovery"),
    text("page_set_recovery_data_set", "active log with that position; blank when it has left the active logs",
         pcf="MQCACF_DATA_SET_NAME", computed="of the item for page set recovery"),
    text("cf_recovery_rba", "oldest log position needed to recover coupling facility structures",
         pcf="MQCACF_USAGE_LOG_RBA", computed="of the item for structure recovery"),
    text("cf_recovery_lrsn", "the same as a position that holds for the whole group",
         pcf="MQCACF_USAGE_LOG_LRSN", computed="of the item for structure recovery"),
    text("cf_recovery_data_set", "active log with that position; blank when it has left the active logs",
         pcf="MQCACF_DATA_SET_NAME", computed="of the item for structure recovery"),
)

_INTERVAL = records(
    counter("write_force", "count", "log write requests that forced the write", smf="QJSTWRF"),
    counter("wtb", "count", "waits because no log buffer was free; should be 0", smf="QJSTWTB"),
    counter("write_reqs", "count", "log write I/Os, both copies", smf="QJSTLOGW"),
    counter("ci_writes", "count", "control intervals (4 KB) written, both copies", smf="QJSTCIWR"),
    counter("cis_created", "count", "control intervals (4 KB) created in the active log", smf="QJSTBFFL"),
    counter("serial_writes", "count", "writes of one copy after the other although logging is dual", smf="QJSTSERW"),
    counter("suspends", "count", "times a task waited for a log write", smf="QJSTLSUS"),
    counter("thrsh", "count", "writes started because WRTHRSH buffers were filled", smf="QJSTTHRW"),
    counter("pagein", "count", "times a log buffer had to be paged in before a write; should be 0", smf="QJSTBPAG"),
    counter("checkpoints", "count", "checkpoints", smf="QJSTLLCP"),
    counter("cis_offload", "count", "control intervals (4 KB) copied to archive logs", smf="QJSTCIOF"),
    counter("reads_stor", "count", "log reads answered from the output buffers", smf="QJSTRBUF"),
    counter("reads_active", "count", "log reads from active logs", smf="QJSTRACT"),
    counter("reads_archive", "count", "log reads from archive logs", smf="QJSTRARH"),
    counter("io_count", "count", "log write I/Os, both copies", smf="QJSTIOCOUNT"),
    counter("io_count_copy1", "count", "log write I/Os, copy 1", smf="QJSTIOCOUNT"),
    counter("io_count_copy2", "count", "log write I/Os, copy 2", smf="QJSTIOCOUNT"),
    counter("io_time_us", "us", "time of log write I/Os, both copies", smf="QJSTIOTOTIO"),
    counter("io_time_us_copy1", "us", "time of log write I/Os, copy 1", smf="QJSTIOTOTIO"),
    counter("io_time_us_copy2", "us", "time of log write I/Os, copy 2", smf="QJSTIOTOTIO"),
    gauge("io_avg_us", "us", "mean time of a log write I/O in the interval, both copies", smf="QJSTIOTOTIO/QJSTIOCOUNT"),
    gauge("io_max_us", "us", "longest log write I/O of the interval", smf="QJSTIOMAXIO"),
    gauge("io_max_us_copy1", "us", "longest log write I/O of the interval, copy 1", smf="QJSTIOMAXIO"),
    gauge("io_max_us_copy2", "us", "longest log write I/O of the interval, copy 2", smf="QJSTIOMAXIO"),
    text("io_max_ts", "when the longest log write I/O was", smf="QJSTIOMAXIOT"),
    counter("comp_req", "count", "attempts to compress a log record", smf="QJSTCMPREQ"),
    counter("comp_fail", "count", "attempts that made it no smaller", smf="QJSTCMPFAIL"),
    counter("comp_before", "bytes", "log records before compression", smf="QJSTCMPUNCMP"),
    counter("comp_after", "bytes", "log records after compression", smf="QJSTCMPCOMP"),
    gauge("write_mb_s", "MB/s", "what was written to one log copy a second", smf="QJSTCIWR"),
    counter("logs_begun", "count", "log data sets that were begun in the interval, both copies", smf="QJSTCP1N+QJSTCP2N"),
    counter("logs_zhywrite_capable", "count", "of logs_begun, those on devices that are capable of zHyperWrite", smf="QJSTHWC"),
    counter("logs_zhywrite_enabled", "count", "of logs_begun, those written with zHyperWrite", smf="QJSTHWE"),
    counter("zhylink_cis", "count", "control intervals (4 KB) that were to be written with zHyperLink", smf="QJSTHLCICNTW"),
    counter("zhylink_cis_slow", "count", "of zhylink_cis, those that were written without it instead", smf="QJSTHLCICNTF"),
    gauge("record_interval_us", "us", "length of the interval of the newest record", smf="QWHSDURN"),
)

_ACTIVE_VOLUMES = ("active_volumes_copy1", "active_volumes_copy2")
_OTHER_VOLUMES = ("archive_volumes", "page_set_volumes")
VOLUMES = (*_ACTIVE_VOLUMES, *_OTHER_VOLUMES)
"""Facts that list volumes by their serials."""


def shared_volumes(log: Mapping[str, Value]) -> str | None:
    """The volumes of active logs that something else is on as well, in order; None where too little is declared.

    ``log`` holds the declared volumes as texts, blanks between them.
    """
    volumes = {metric: frozenset(str(log[metric]).upper().split()) for metric in VOLUMES if metric in log}
    active = [volumes[metric] for metric in _ACTIVE_VOLUMES if metric in volumes]
    if not active or len(volumes) < 2:
        return None
    others = [volumes[metric] for metric in _OTHER_VOLUMES if metric in volumes]
    both = active[0] & active[1] if len(active) > 1 else frozenset[str]()
    return " ".join(sorted(both | (frozenset().union(*active) & frozenset().union(*others))))


_DECLARED = (
    gauge("capacity_mb_s", "MB/s", "what the devices of one log copy can take",
          platform="zos", declared=True, needed=True),
    gauge("stripes", "count", "volumes over which VSAM stripes an active log; 1: not striped",
          platform="zos", declared=True, needed=True),
    gauge("data_set_mb", "MB", "size of the largest active log data set", platform="zos", declared=True),
    gauge("rba_bytes", "bytes", "bytes of its log positions, 6 or 8, as CSQJ034I shows at the start",
          platform="zos", declared=True),
    state("new_logs", {"unformatted": 0, "preformatted": 1}, "how active logs are made before they are added",
          platform="zos", declared=True, default=0),
    text("active_volumes_copy1", "volumes of the active logs, copy 1", platform="zos", declared=True, needed=True),
    text("active_volumes_copy2", "volumes of the active logs, copy 2", platform="zos", declared=True, needed=True),
    text("archive_volumes", "disk volumes of the archive logs", platform="zos", declared=True, needed=True),
    text("page_set_volumes", "volumes of busy page sets", platform="zos", declared=True, needed=True),
    text("shared_volumes", "volumes of active logs that archive logs, the other copy or busy page sets are on as well",
         platform="zos", declared=True, needed=True, derived_from=VOLUMES, derive=shared_volumes),
)

LOG_KIND = Kind(
    name="log",
    meaning="the log of a queue manager",
    poll="INQUIRE_LOG",
    metrics=(*_STATUS, *_PARAMETERS, *_SYSTEM, *_ARCHIVE, *_POSITIONS, *_INTERVAL, *_DECLARED),
    single=True,
    facts="logs",
)
