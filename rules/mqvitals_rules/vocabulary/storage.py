"""Storage of private queues: buffer pools (4 KB buffers in virtual storage) and page sets (data sets)."""

from __future__ import annotations

from collections.abc import Mapping

from mqvitals_rules.vocabulary.metric import NO_YES, Kind, Value, answer, counter, gauge, records, state, text

# fmt: off

PURPOSES = {
    "system": 0, "system_shallow": 1, "system_deep": 2, "cluster_xmitq": 3, "short_lived": 4, "online": 5,
    "long_lived": 6, "batch": 7, "mixed": 8, "unclassified": 9,
}
POOL_LAYOUT = {"none": 0, "ibm": 1, "gse2017": 2}
"""Published arrangements of buffer pools: IBM's documentation, and the presentation of 2017. They contradict each other."""
_LAYOUTS: Mapping[Value, Mapping[str, Value]] = {
    POOL_LAYOUT["ibm"]: {"1": PURPOSES["long_lived"], "2": PURPOSES["short_lived"], "3": PURPOSES["mixed"]},
    POOL_LAYOUT["gse2017"]: {"1": PURPOSES["system_shallow"], "2": PURPOSES["system_deep"]},
}

_BUFFER_POOL_NOW = answer(
    "INQUIRE_USAGE",
    gauge("total", "buffers", "size of the pool",
          pcf="MQIACF_USAGE_TOTAL_BUFFERS", smf="QPSTNBUF"),
    gauge("free", "buffers", "buffers that are free, or hold only what is safely on disk, at this moment",
          pcf="MQIACF_USAGE_FREE_BUFF", smf="QPSTCBS"),
    gauge("free_pct", "pct", "share of the pool that is free at this moment",
          pcf="MQIACF_USAGE_FREE_BUFF_PERC", smf="QPSTCBS/QPSTNBUF"),
    gauge("worst_free_pct", "pct", "the least free share known: now, or lowest in the SMF interval",
          computed="the lower of free_pct and low_pct; where only one is known, that one"),
    gauge("day_low_pct", "pct", "the smallest free share of a whole day, yesterday or the day before; needs two weeks of history",
          pcf="MQIACF_USAGE_FREE_BUFF_PERC", computed="the lowest free_pct and low_pct of the hours of that day"),
    gauge("day_low_fall_pct", "pct", "how much of the pool day_low_pct fell by a day in the last two weeks; 0 unless it fell in both of them",
          pcf="MQIACF_USAGE_FREE_BUFF_PERC", computed="from that day and the same weekday of the two weeks before"),
    state("location", {"BELOW": 0, "ABOVE": 1, "SWITCHING_ABOVE": 2, "SWITCHING_BELOW": 3},
          "whether the pool lies below or above the 2 GB bar",
          pcf="MQIACF_BUFFER_POOL_LOCATION", smf="QPSTFLAGS", mqsc="LOCATION", since=800),
    state("page_class", {"PAGE4KB": 0, "FIXED4KB": 1},
          "whether z/OS may page the pool out (PAGE4KB) or it is fixed in storage",
          pcf="MQIACF_PAGECLAS", smf="QPSTFLAGS", mqsc="PAGECLAS", since=800),
    state("system_queues_only", NO_YES, "every queue of its page sets is known, and all are SYSTEM queues",
          computed="from the definitions of all private queues; absent while any is not known, and for a pool without queues"),
)

_BUFFER_POOL_INTERVAL = records(
    gauge("low", "buffers", "fewest free buffers in the interval", smf="QPSTCBSL"),
    gauge("low_pct", "pct", "smallest free share in the interval", smf="QPSTCBSL/QPSTNBUF"),
    counter("getp", "pages", "requests for a page whose contents were needed; may cause a read", smf="QPSTGETP"),
    counter("getn", "pages", "requests for a new or empty page; never a read", smf="QPSTGETN"),
    counter("rio", "pages", "pages read from page sets, one I/O each", smf="QPSTRIO"),
    counter("wio", "count", "write I/Os to page sets; one carries several pages", smf="QPSTWIO"),
    counter("tpw", "pages", "pages written to page sets", smf="QPSTTPW"),
    counter("stw", "pages", "pages changed and marked for writing", smf="QPSTSTW"),
    counter("imw", "pages", "pages written while a task or a checkpoint waited; each checkpoint writes some, so it is trouble only with dmc above 0", smf="QPSTIMW"),
    counter("dwt", "count", "times the deferred write task was started (less than 15 % free)", smf="QPSTDWT"),
    counter("dmc", "count", "times the synchronous write threshold was hit (less than 5 % free); should be 0",
            smf="QPSTDMC"),
    counter("sos", "count", "times no buffer at all was to be had; severe", smf="QPSTSOS"),
    counter("stl", "count", "times a page was not in the pool and took a free buffer", smf="QPSTSTL"),
    counter("stla", "count", "times the hash chain changed while a buffer was taken", smf="QPSTSTLA"),
)

_BUFFER_POOL_DECLARED = (
    state("purpose", PURPOSES, "what the pool is for; decides whether a full pool is a fault",
          platform="zos", declared=True, default=PURPOSES["unclassified"],
          defaults={"0": PURPOSES["system"]}, layouts=_LAYOUTS),
)

BUFFER_POOL_KIND = Kind(
    name="buffer_pool",
    meaning="a buffer pool of a queue manager, named by its number",
    poll="INQUIRE_USAGE",
    metrics=(*_BUFFER_POOL_NOW, *_BUFFER_POOL_INTERVAL, *_BUFFER_POOL_DECLARED),
    sets={
        # Pools that should never fill, because their messages live seconds or minutes; and the others.
        "SHORT": ("purpose", ("system", "system_shallow", "cluster_xmitq", "short_lived", "online", "mixed",
        "unclassified")),
        "LONG": ("purpose", ("system_deep", "long_lived", "batch")),
        # Pools for queues of applications.
        "APPLICATION": ("purpose", ("short_lived", "online", "long_lived", "batch", "mixed", "unclassified")),
    },
    facts="buffer_pools",
)


_PAGE_SET_NOW = answer(
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

_PAGE_SET_INTERVAL = records(
    counter("full_count", "count", "times the page set was full; puts failed with 2192", smf="QIS1FULL"),
    counter("imm_writes", "count", "write I/Os for which a task waited", smf="QIS1IMWN"),
    counter("reads", "count", "read I/Os", smf="QIS1GETN"),
)

_PAGE_SET_DECLARED = (
    gauge("limit_gb", "GB", "how large its data set can become", platform="zos", declared=True, needed=True),
)

PAGE_SET_KIND = Kind(
    name="page_set",
    meaning="a page set of a queue manager, named by its number",
    poll="INQUIRE_USAGE",
    metrics=(*_PAGE_SET_NOW, *_PAGE_SET_INTERVAL, *_PAGE_SET_DECLARED),
    facts="page_sets",
)
