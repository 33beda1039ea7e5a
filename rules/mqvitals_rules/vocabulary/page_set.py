"""Page sets: the data sets that hold object definitions and the messages of private queues."""

# fmt: off
from __future__ import annotations

from mqvitals_rules.vocabulary.entry import answer, counter, gauge, records, state, text
from mqvitals_rules.vocabulary.metric import Kind
from mqvitals_rules.vocabulary.states import NO_YES

_NOW = answer(
    "INQUIRE_USAGE",
    gauge("total_pages", "pages", "size of the page set in pages of 4 KB",
          pcf="MQIACF_USAGE_TOTAL_PAGES", smf="QIS1TOPG"),
    gauge("unused_pages", "pages", "pages that hold nothing",
          pcf="MQIACF_USAGE_UNUSED_PAGES", smf="QIS1UNPG"),
    gauge("used_pct", "pct", "share of the pages in use; from 85 puts are slowed down while the page set grows",
          computed="(total_pages - unused_pages) / total_pages"),
    gauge("persist_pages", "pages", "pages with object definitions and persistent messages",
          pcf="MQIACF_USAGE_PERSIST_PAGES", smf="QIS1PPG"),
    gauge("nonpersist_pages", "pages", "pages with non-persistent messages",
          pcf="MQIACF_USAGE_NONPERSIST_PAGES", smf="QIS1NPPG"),
    counter("expand_count", "count", "times the page set was made larger (a running total since restart)",
            pcf="MQIACF_USAGE_EXPAND_COUNT", smf="QIS1EXPN"),
    state("expand_type", {"USER": 1, "SYSTEM": 2, "NONE": 3}, "how a full page set is made larger; with NONE it is not",
          pcf="MQIACF_USAGE_EXPAND_TYPE", smf="QIS1EXPM", mqsc="EXPAND"),
    state("status", {"AVAILABLE": 0, "DEFINED": 1, "OFFLINE": 2, "NOTDEFINED": 3, "SUSPENDED": 4},
          "DEFINED: not opened since restart; SUSPENDED: the queue manager has lost access to it",
          pcf="MQIACF_PAGESET_STATUS", smf="QIS1STAT"),
    gauge("buffer_pool", "number", "the buffer pool it uses",
          pcf="MQIACF_BUFFER_POOL_ID", smf="QIS1BPNO", mqsc="BUFFPOOL"),
    state("encrypted", NO_YES, "whether z/OS encrypts the data set",
          pcf="MQIACF_DS_ENCRYPTED", smf="QIS1FLAG"),
    text("recovery_rba", "oldest log position needed to recover it",
         pcf="MQCACF_USAGE_LOG_RBA"),
    gauge("restart_extents", "count", "extents at restart; current releases do not report it",
          pcf="MQIACF_USAGE_RESTART_EXTENTS"),
)

_INTERVAL = records(
    counter("full_count", "count", "times the page set was full; puts failed with 2192", smf="QIS1FULL"),
    counter("imm_writes", "count", "write I/Os for which a task waited", smf="QIS1IMWN"),
    counter("reads", "count", "read I/Os", smf="QIS1GETN"),
)

_DECLARED = (
    gauge("limit_gb", "GB", "how large its data set can become", platform="zos", declared=True, needed=True),
)

KIND = Kind(
    name="page_set",
    meaning="a page set of a queue manager, named by its number",
    poll="INQUIRE_USAGE",
    metrics=(*_NOW, *_INTERVAL, *_DECLARED),
)
