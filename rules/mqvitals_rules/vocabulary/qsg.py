"""What belongs to the queue-sharing group: the group itself, its coupling facility structures, shared message data
sets.

CSQ_ADMIN, the administration structure, is one of the structures. A shared message data set holds large messages of
shared queues, of one member for one structure.
"""

from __future__ import annotations

from mqvitals_rules.vocabulary.metric import (
    CF_ACCESS,
    CF_STATUS,
    NO_YES,
    OFFLOAD,
    SMDS_EXPAND,
    Kind,
    answer,
    counter,
    gauge,
    records,
    state,
    text,
)

# fmt: off

_MEMBERS = answer(
    "INQUIRE_QSG",
    text("name", "the group's name in MQ, at most four characters",
         pcf="MQCA_QSG_NAME", mqsc="QSGNAME"),
    gauge("qmgr_count", "count", "queue managers defined in the group",
          computed="the number of members in the answer"),
    gauge("members_active", "count", "members that are active",
          pcf="MQIACF_Q_MGR_STATUS", computed="the number of members with status ACTIVE"),
    gauge("members_inactive", "count", "members that were stopped in order",
          pcf="MQIACF_Q_MGR_STATUS", computed="the number of members with status INACTIVE"),
    gauge("members_failed", "count", "members that have failed and may hold up others",
          pcf="MQIACF_Q_MGR_STATUS", computed="the number of members with status FAILED"),
    text("inactive_members", "which members were stopped in order; blank: none",
         pcf="MQCA_Q_MGR_NAME", computed="the names of the members with status INACTIVE"),
    text("failed_members", "which members have failed; blank: none",
         pcf="MQCA_Q_MGR_NAME", computed="the names of the members with status FAILED"),
    gauge("db2_active", "count", "members with an active connection to Db2",
          pcf="MQIACF_DB2_CONN_STATUS", computed="the number of members whose Db2 connection is ACTIVE"),
    text("members_without_db2", "which active members have no active connection to Db2; blank: none",
         pcf="MQCA_Q_MGR_NAME", computed="the names of the ACTIVE members whose Db2 connection is not ACTIVE"),
    gauge("lowest_command_level", "number", "lowest command level of the members; decides what the group can use",
          pcf="MQIA_COMMAND_LEVEL", computed="the lowest of the members"),
    gauge("command_levels", "count", "different command levels of the members",
          pcf="MQIA_COMMAND_LEVEL", computed="how many levels the members have"),
    text("members", "the members and their status",
         pcf="MQCA_Q_MGR_NAME", computed="name and status of each member, in the order of their names"),
)

_STRUCTURES = answer(
    "INQUIRE_CF_STRUC",
    gauge("structure_count", "count", "application structures of the group",
          computed="the number of structures in the answer"),
)

_CHANGES = (
    gauge("altered_1d", "count",
          "definitions of shared queues, group queues and structures last changed within 24 hours",
          command="INQUIRE_Q", platform="zos", computed="from date and time of the alterations and the time zones"),
)

_QSG_DECLARED = (
    gauge("cf_busy_pct", "pct", "how busy the busiest coupling facility of the group is: as RMF measured it, else as declared",
          platform="zos", declared=True, needed=True, smf="R744PBSY/(R744PBSY+R744PWAI)"),
    gauge("cfcc_level", "number", "lowest level of coupling facility code", platform="zos", declared=True, needed=True),
    gauge("sysplex_structures", "count", "structures of all sorts in the sysplex", platform="zos", declared=True),
)

_QSG_MEASURED = records(
    text("cf_busy_measured", "when and of which coupling facility RMF measured cf_busy_pct; absent where it is declared only",
         smf="R744FNAM"),
    gauge("cf_free_pct", "pct", "free storage of the coupling facility of the group that has least", smf="R744GTSF/R744GTSD"),
)

QSG_KIND = Kind(
    name="qsg",
    meaning="the queue-sharing group",
    poll="INQUIRE_QSG",
    metrics=(*_MEMBERS, *_STRUCTURES, *_CHANGES, *_QSG_MEASURED, *_QSG_DECLARED),
    single=True,
    of_group=True,
    facts="groups",
)


_CF_STRUCTURE_SUMMARY = answer(
    "INQUIRE_CF_STRUC_STATUS",
    state("status", CF_STATUS, "state of the structure; NOTFOUND: not yet allocated in the coupling facility",
          pcf="MQIACF_CF_STRUC_STATUS", mqsc="STATUS"),
    state("type", {"application": 0, "admin": 1}, "holds messages, or is the group's administration structure",
          pcf="MQIACF_CF_STRUC_TYPE", mqsc="CFTYPE"),
    gauge("size_max_kb", "KB", "allocated size",
          pcf="MQIACF_CF_STRUC_SIZE_MAX", mqsc="SIZEMAX"),
    gauge("size_used_pct", "pct", "share of the size in use",
          pcf="MQIACF_CF_STRUC_SIZE_USED", mqsc="SIZEUSED"),
    gauge("entries_max", "count", "list entries there are; a message takes at least one",
          pcf="MQIACF_CF_STRUC_ENTRIES_MAX", mqsc="ENTSMAX"),
    gauge("entries_used", "count", "list entries in use",
          pcf="MQIACF_CF_STRUC_ENTRIES_USED", mqsc="ENTSUSED"),
    gauge("entries_pct", "pct", "share of the list entries in use",
          computed="entries_used / entries_max"),
    state("offload_use", OFFLOAD, "where offloaded messages lie now",
          pcf="MQIA_CF_OFFLDUSE", mqsc="OFFLDUSE"),
    text("fail_ts", "when the structure failed, local time of the queue manager; absent if it has not",
         pcf="MQCACF_FAIL_DATE MQCACF_FAIL_TIME", mqsc="FAILDATE FAILTIME", computed="date and time as reported"),
)

_CF_STRUCTURE_BACKUP = answer(
    "INQUIRE_CF_STRUC_STATUS",
    state("backup_made", NO_YES, "there is a backup to recover from",
          computed="NO where the answer leaves the backup's date blank"),
    text("backup_ts", "when the last backup was made, local time of the queue manager",
         pcf="MQCACF_BACKUP_DATE MQCACF_BACKUP_TIME", mqsc="BKUPDATE BKUPTIME", computed="date and time as reported"),
    gauge("backup_age_s", "s", "how long ago the last backup was made; all log since then is read to recover",
          pcf="MQCACF_BACKUP_DATE MQCACF_BACKUP_TIME", mqsc="BKUPDATE BKUPTIME",
          computed="from date, time and the queue manager's time zone"),
    gauge("backup_size_mb", "MB", "size of the last backup",
          pcf="MQIACF_CF_STRUC_BACKUP_SIZE", mqsc="BKUPSIZE"),
    text("backup_rba", "log position where the last backup begins",
         pcf="MQCACF_CF_STRUC_BACKUP_START", mqsc="BKUPSRBA"),
    text("backup_end_rba", "log position where the last backup ends",
         pcf="MQCACF_CF_STRUC_BACKUP_END", mqsc="BKUPERBA"),
    text("backup_queue_manager", "queue manager in whose log the backup is",
         pcf="MQCA_Q_MGR_NAME", mqsc="QMNAME"),
    text("backup_logs", "queue managers whose logs are needed to recover the structure",
         pcf="MQCACF_CF_STRUC_LOG_Q_MGRS", mqsc="LOGS"),
)

_CF_STRUCTURE_CONNECTIONS = answer(
    "INQUIRE_CF_STRUC_STATUS",
    gauge("members_connected", "number", "queue managers of the group that are connected to it",
          computed="answers to DISPLAY CFSTATUS TYPE(CONNECT) with status ACTIVE"),
    gauge("connections_failed", "number", "queue managers of the group whose connection to it failed",
          computed="those with status FAILED"),
    text("failed_connections", "names of the queue managers whose connection to it failed, blank if there is none",
         computed="from each member's status"),
    text("connections", "each queue manager of the group, and the status of its connection to it",
         computed="from each member's status"),
)

_CF_STRUCTURE_DEFINITION = answer(
    "INQUIRE_CF_STRUC",
    text("description", "description in the definition",
         pcf="MQCA_CF_STRUC_DESC", mqsc="DESCR"),
    gauge("cflevel", "number", "functional level; 5 allows offloading of messages",
          pcf="MQIA_CF_LEVEL", mqsc="CFLEVEL"),
    state("recover", NO_YES, "can be backed up and recovered; only then it may hold persistent messages",
          pcf="MQIA_CF_RECOVER", mqsc="RECOVER"),
    state("cfconlos", {"TERMINATE": 0, "TOLERATE": 1, "ASQMGR": 2},
          "what a queue manager does when it loses the structure",
          pcf="MQIA_CF_CFCONLOS", mqsc="CFCONLOS"),
    state("recauto", NO_YES, "is recovered without being asked",
          pcf="MQIA_CF_RECAUTO", mqsc="RECAUTO"),
    state("offload", OFFLOAD, "where large messages are offloaded to",
          pcf="MQIA_CF_OFFLOAD", mqsc="OFFLOAD"),
    gauge("offload_1_pct", "pct", "how full the structure is when offload rule 1 begins",
          pcf="MQIA_CF_OFFLOAD_THRESHOLD1", mqsc="OFFLD1TH"),
    gauge("offload_2_pct", "pct", "how full the structure is when offload rule 2 begins",
          pcf="MQIA_CF_OFFLOAD_THRESHOLD2", mqsc="OFFLD2TH"),
    gauge("offload_3_pct", "pct", "how full the structure is when offload rule 3 begins",
          pcf="MQIA_CF_OFFLOAD_THRESHOLD3", mqsc="OFFLD3TH"),
    text("offload_1_size", "message size from which rule 1 offloads",
         pcf="MQCACF_CF_OFFLOAD_SIZE1", mqsc="OFFLD1SZ"),
    text("offload_2_size", "message size from which rule 2 offloads",
         pcf="MQCACF_CF_OFFLOAD_SIZE2", mqsc="OFFLD2SZ"),
    text("offload_3_size", "message size from which rule 3 offloads",
         pcf="MQCACF_CF_OFFLOAD_SIZE3", mqsc="OFFLD3SZ"),
    state("smds_block",
          {"DEFAULT": 0, "K8": 1, "K16": 2, "K32": 3, "K64": 4, "K128": 5, "K256": 6, "K512": 7, "K1024": 8},
          "block size of its shared message data sets",
          pcf="MQIACF_CF_SMDS_BLOCK_SIZE", mqsc="DSBLOCK"),
    gauge("smds_buffers", "buffers", "buffers for shared message data sets, unless a data set has its own number",
          pcf="MQIA_CF_SMDS_BUFFERS", mqsc="DSBUFS"),
    state("smds_expand", SMDS_EXPAND, "shared message data sets grow when they are nearly full",
          pcf="MQIACF_CF_SMDS_EXPAND", mqsc="DSEXPAND"),
    text("smds_name", "pattern of the data sets' names",
         pcf="MQCACF_CF_SMDS_GENERIC_NAME", mqsc="DSGROUP"),
    text("alteration_ts", "when the definition was last changed, local time of the queue manager",
         pcf="MQCA_ALTERATION_DATE MQCA_ALTERATION_TIME", mqsc="ALTDATE ALTTIME", computed="date and time as reported"),
)

_CF_STRUCTURE_INTERVAL = records(
    counter("full_count", "count", "times the structure was full; puts failed with 2192", smf="QESTSFUL"),
    gauge("peak_entries", "count", "most list entries in use in the interval", smf="QESTMNUS"),
    gauge("peak_elements", "count", "most list elements in use in the interval", smf="QESTMLUS"),
    gauge("avg_call_us", "us", "time of a request to the coupling facility, average of the interval",
          smf="(QESTSSTC+QESTMSTC)/(QESTCSEC+QESTCMEC)"),
    counter("requests", "count", "requests to the coupling facility, for one entry and for several",
            smf="QESTCSEC+QESTCMEC"),
    counter("redrives", "count", "requests that timed out and were repeated", smf="QESTRSEC+QESTRMEC"),
)

_CF_STRUCTURE_MEASURED = records(
    text("cf_name", "coupling facility that it is in, as RMF has it", smf="R744FNAM"),
    counter("cf_requests", "count", "requests of the systems to it, as RMF counts them", smf="R744STRC"),
    counter("sync_requests", "count", "requests during which the system waited", smf="R744SSRC"),
    gauge("sync_avg_us", "us", "time of a synchronous request, average of the interval", smf="R744SSTM/R744SSRC"),
    counter("async_requests", "count", "requests during which the system did other work", smf="R744SARC"),
    gauge("async_avg_us", "us", "time of an asynchronous request, average of the interval", smf="R744SATM/R744SARC"),
    counter("changed_requests", "count", "synchronous requests that were made asynchronous for lack of resources", smf="R744SSTA"),
    counter("delayed_requests", "count", "requests that were queued before they could be sent", smf="R744SQRC"),
    gauge("delayed_avg_us", "us", "time in the queue of a delayed request, average of the interval", smf="R744SQTM/R744SQRC"),
)

_XCF = "imported: the answer to D XCF,STR,STRNAME="

_CF_STRUCTURE_IMPORTED = (
    gauge("policy_minsize_kb", "KB", "MINSIZE of the structure in the CFRM policy", platform="zos", command="D XCF", computed=_XCF),
    gauge("actual_size_kb", "KB", "size that the structure has in the coupling facility, as z/OS says", platform="zos",
          command="D XCF", computed=_XCF),
    text("policy_duplex", "DUPLEX of the structure in the CFRM policy", platform="zos", command="D XCF", computed=_XCF),
    text("preference_list", "coupling facilities in which the CFRM policy allows it, the preferred one first", platform="zos",
         command="D XCF", computed=_XCF),
    text("policy_measured", "when D XCF showed the policy; absent where it is declared only", platform="zos", command="D XCF", computed=_XCF),
)

_CF_STRUCTURE_DECLARED = (
    gauge("full_threshold_pct", "pct", "FULLTHRESHOLD of the structure in the CFRM policy", platform="zos",
          declared=True, default=80),
    gauge("policy_initsize_kb", "KB", "INITSIZE of the structure in the CFRM policy", platform="zos", declared=True),
    gauge("policy_size_kb", "KB", "SIZE of the structure in the CFRM policy: how large it may become", platform="zos",
          declared=True),
    state("auto_alter", NO_YES, "ALLOWAUTOALT of the structure in the CFRM policy: the system may alter it", platform="zos",
          declared=True),
    gauge("elements_max", "count", "list elements there are, as D XCF,STR shows; no command of MQ reports it", platform="zos",
          declared=True),
    gauge("recovery_target_s", "s", "how long a recovery of the structure may take", platform="zos",
          declared=True, needed=True),
)

CF_STRUCTURE_KIND = Kind(
    name="cf_structure",
    meaning="a coupling facility structure of the group, without the group's prefix",
    poll="INQUIRE_CF_STRUC_STATUS",
    metrics=(
        *_CF_STRUCTURE_SUMMARY,
        *_CF_STRUCTURE_BACKUP,
        *_CF_STRUCTURE_CONNECTIONS,
        *_CF_STRUCTURE_DEFINITION,
        *_CF_STRUCTURE_INTERVAL,
        *_CF_STRUCTURE_MEASURED,
        *_CF_STRUCTURE_IMPORTED,
        *_CF_STRUCTURE_DECLARED,
    ),
    of_group=True,
    facts="cf_structures",
)


_SMDS_DEFINITION = answer(
    "INQUIRE_SMDS",
    gauge("buffers_defined", "buffers", "buffers, as defined for this member",
          pcf="MQIA_CF_SMDS_BUFFERS", mqsc="DSBUFS"),
    state("expand", SMDS_EXPAND, "grows when it is nearly full",
          pcf="MQIACF_CF_SMDS_EXPAND", mqsc="DSEXPAND"),
)

_SMDS_USAGE = answer(
    "INQUIRE_USAGE",
    state("status", {"AVAILABLE": 0, "NODATA": 1}, "whether there is data about the data set",
          pcf="MQIACF_SMDS_STATUS"),
    gauge("offload_msgs", "messages", "messages the member has offloaded to it",
          pcf="MQIACF_USAGE_OFFLOAD_MSGS", smf="QESDSMMC"),
    gauge("total_blocks", "blocks", "blocks of the data set",
          pcf="MQIACF_USAGE_TOTAL_BLOCKS", smf="QESDSMBT"),
    gauge("data_blocks", "blocks", "blocks for messages",
          pcf="MQIACF_USAGE_DATA_BLOCKS", smf="QESDSMBD"),
    gauge("used_blocks", "blocks", "blocks for messages in use",
          pcf="MQIACF_USAGE_USED_BLOCKS", smf="QESDSMBU"),
    gauge("used_pct", "pct", "share of the blocks for messages in use",
          pcf="MQIACF_USAGE_USED_RATE", smf="QESDSMBU/QESDSMBD"),
    gauge("block_kb", "KB", "size of a buffer",
          pcf="MQIACF_USAGE_BLOCK_SIZE"),
    gauge("buffers", "buffers", "buffers there are",
          pcf="MQIACF_USAGE_TOTAL_BUFFERS", smf="QESDBFTO"),
    gauge("buffers_in_use", "buffers", "buffers with I/O under way",
          pcf="MQIACF_USAGE_INUSE_BUFFERS", smf="QESDBFUS+QESDBFUP"),
    gauge("buffers_saved", "buffers", "free buffers whose data may save a read",
          pcf="MQIACF_USAGE_SAVED_BUFFERS", smf="QESDBFFS"),
    gauge("buffers_empty", "buffers", "free and empty buffers",
          pcf="MQIACF_USAGE_EMPTY_BUFFERS", smf="QESDBFFE"),
    gauge("reads_saved_pct", "pct", "share of the reads that saved data made needless",
          pcf="MQIACF_USAGE_READS_SAVED", smf="QESDBFRS/QESDBFRR"),
    gauge("lowest_free", "buffers",
          "fewest free buffers; below zero, so many requests were waiting at the worst moment",
          signed=True, pcf="MQIACF_USAGE_LOWEST_FREE", smf="QESDBFMF"),
    gauge("waits_pct", "pct", "share of the requests that had to wait for a buffer",
          pcf="MQIACF_USAGE_WAIT_RATE"),
)

_SMDS_INTERVAL = records(
    counter("alloc_failures", "count", "times no block was to be had; a large message could not be put", smf="QESDSMFL"),
    gauge("peak_used_blocks", "blocks", "most blocks for messages in use in the interval", smf="QESDSMMU"),
)

_SMDS_STATE = answer(
    "INQUIRE_CF_STRUC_STATUS",
    state("data_set_status", CF_STATUS, "whether its messages can be read; NEW, EMPTY and RECOVERED pass by themselves",
          pcf="MQIACF_CF_STRUC_STATUS", mqsc="STATUS"),
    state("access", CF_ACCESS, "whether the queue managers may use it",
          pcf="MQIACF_CF_STRUC_ACCESS", mqsc="ACCESS"),
    text("fail_ts", "when the data set failed, local time of the queue manager; absent if it has not",
         pcf="MQCACF_FAIL_DATE MQCACF_FAIL_TIME", mqsc="FAILDATE FAILTIME", computed="date and time as reported"),
    text("recovery_ts", "when its recovery began, local time of the queue manager; absent if none is under way",
         pcf="MQCACF_RECOVERY_DATE MQCACF_RECOVERY_TIME", mqsc="RCVDATE RCVTIME", computed="date and time as reported"),
)

SMDS_KIND = Kind(
    name="smds",
    meaning="one member's shared message data set for one structure",
    poll="INQUIRE_CF_STRUC_STATUS SMDS",
    metrics=(*_SMDS_DEFINITION, *_SMDS_STATE, *_SMDS_USAGE, *_SMDS_INTERVAL),
    of_group=True,
)

SMDS_CONNECTION_KIND = Kind(
    name="smds_connection",
    meaning="one queue manager's connection to a member's shared message data set: structure, then whose data set",
    poll="INQUIRE_SMDSCONN",
    metrics=answer(
        "INQUIRE_SMDSCONN",
        text("data_set", "the data set: structure and owner", computed="from CFSTRUCT and SMDSCONN"),
        state("status",
              {"CLOSED": 0, "CLOSING": 1, "OPENING": 2, "OPEN": 3, "NOTENABLED": 4, "ALLOCFAIL": 5, "OPENFAIL": 6,
               "STGFAIL": 7, "DATAFAIL": 8},
              "whether this queue manager has it open; it is opened at its first use",
              pcf="MQIACF_SMDS_STATUS", mqsc="STATUS"),
        state("avail", {"NORMAL": 0, "ERROR": 1, "STOPPED": 2}, "whether this queue manager may open it",
              pcf="MQIACF_SMDS_AVAIL", mqsc="AVAIL"),
        state("open_mode", {"NONE": 0, "READONLY": 1, "UPDATE": 2, "RECOVERY": 3}, "how this queue manager has it open",
              pcf="MQIACF_SMDS_OPENMODE", mqsc="OPENMODE"),
        state("expand_status", {"NORMAL": 0, "FAILED": 1, "MAXIMUM": 2},
              "whether it could be expanded when it was last tried; the owner's connection tells",
              pcf="MQIACF_SMDS_EXPANDST", mqsc="EXPANDST"),
    ),
)
