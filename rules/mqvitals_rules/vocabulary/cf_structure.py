"""Coupling facility structures of the queue-sharing group, its administration structure CSQ_ADMIN included."""

# fmt: off
from __future__ import annotations

from mqvitals_rules.vocabulary.entry import answer, counter, gauge, records, state, text
from mqvitals_rules.vocabulary.metric import Kind
from mqvitals_rules.vocabulary.states import CF_STATUS, NO_YES, OFFLOAD, SMDS_EXPAND

_SUMMARY = answer(
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

_BACKUP = answer(
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

_DEFINITION = answer(
    "INQUIRE_CF_STRUC",
    text("description", "what the definition says it is for",
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
    gauge("smds_buffers", "buffers", "buffers for shared message data sets, unless a data set says otherwise",
          pcf="MQIA_CF_SMDS_BUFFERS", mqsc="DSBUFS"),
    state("smds_expand", SMDS_EXPAND, "shared message data sets grow when they are nearly full",
          pcf="MQIACF_CF_SMDS_EXPAND", mqsc="DSEXPAND"),
    text("smds_name", "pattern of the data sets' names",
         pcf="MQCACF_CF_SMDS_GENERIC_NAME", mqsc="DSGROUP"),
    text("alteration_ts", "when the definition was last changed, local time of the queue manager",
         pcf="MQCA_ALTERATION_DATE MQCA_ALTERATION_TIME", mqsc="ALTDATE ALTTIME", computed="date and time as reported"),
)

_INTERVAL = records(
    counter("full_count", "count", "times the structure was full; puts failed with 2192", smf="QESTSFUL"),
    gauge("peak_entries", "count", "most list entries in use in the interval", smf="QESTMNUS"),
    gauge("peak_elements", "count", "most list elements in use in the interval", smf="QESTMLUS"),
    gauge("avg_call_us", "us", "time of a request to the coupling facility, average of the interval",
          smf="(QESTSSTC+QESTMSTC)/(QESTCSEC+QESTCMEC)"),
    counter("redrives", "count", "requests that timed out and were repeated", smf="QESTRSEC+QESTRMEC"),
)

_DECLARED = (
    gauge("full_threshold_pct", "pct", "FULLTHRESHOLD of the structure in the CFRM policy", platform="zos",
          declared=True, default=80),
    gauge("policy_initsize_kb", "KB", "INITSIZE of the structure in the CFRM policy", platform="zos", declared=True),
    gauge("policy_size_kb", "KB", "SIZE of the structure in the CFRM policy: how large it may become", platform="zos",
          declared=True),
    state("auto_alter", NO_YES, "ALLOWAUTOALT of the structure in the CFRM policy: the system may alter it", platform="zos",
          declared=True),
    gauge("elements_max", "count", "list elements there are, as D XCF,STR tells; no answer of MQ does", platform="zos",
          declared=True),
    gauge("recovery_target_s", "s", "how long a recovery of the structure may take", platform="zos",
          declared=True, needed=True),
)

KIND = Kind(
    name="cf_structure",
    meaning="a coupling facility structure of the group, without the group's prefix",
    poll="INQUIRE_CF_STRUC_STATUS",
    metrics=(*_SUMMARY, *_BACKUP, *_DEFINITION, *_INTERVAL, *_DECLARED),
    of_group=True,
)
