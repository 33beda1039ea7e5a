"""Buffer pools: 4 KB buffers in which the queue manager holds messages of private queues."""

# fmt: off
from __future__ import annotations

from mqvitals_rules.vocabulary.entry import answer, counter, gauge, records, state
from mqvitals_rules.vocabulary.metric import Kind

PURPOSES = {
    "system": 0, "system_shallow": 1, "system_deep": 2, "cluster_xmitq": 3, "short_lived": 4, "online": 5,
    "long_lived": 6, "batch": 7, "mixed": 8, "unclassified": 9,
}

_NOW = answer(
    "INQUIRE_USAGE",
    gauge("total", "buffers", "size of the pool",
          pcf="MQIACF_USAGE_TOTAL_BUFFERS", smf="QPSTNBUF"),
    gauge("free", "buffers", "buffers that are free, or hold only what is safely on disk, at this moment",
          pcf="MQIACF_USAGE_FREE_BUFF", smf="QPSTCBS"),
    gauge("free_pct", "pct", "share of the pool that is free at this moment",
          pcf="MQIACF_USAGE_FREE_BUFF_PERC", smf="QPSTCBS/QPSTNBUF"),
    gauge("worst_free_pct", "pct", "the least free share known: now, or lowest in the SMF interval",
          computed="the lower of free_pct and low_pct; where only one is known, that one"),
    state("location", {"BELOW": 0, "ABOVE": 1, "SWITCHING_ABOVE": 2, "SWITCHING_BELOW": 3},
          "whether the pool lies below or above the 2 GB bar",
          pcf="MQIACF_BUFFER_POOL_LOCATION", smf="QPSTFLAGS", mqsc="LOCATION", since=800),
    state("page_class", {"PAGE4KB": 0, "FIXED4KB": 1},
          "whether z/OS may page the pool out (PAGE4KB) or it is fixed in storage",
          pcf="MQIACF_PAGECLAS", smf="QPSTFLAGS", mqsc="PAGECLAS", since=800),
)

_INTERVAL = records(
    gauge("low", "buffers", "fewest free buffers in the interval", smf="QPSTCBSL"),
    gauge("low_pct", "pct", "smallest free share in the interval", smf="QPSTCBSL/QPSTNBUF"),
    counter("getp", "pages", "requests for a page whose contents were needed; may cause a read", smf="QPSTGETP"),
    counter("getn", "pages", "requests for a new or empty page; never a read", smf="QPSTGETN"),
    counter("rio", "pages", "pages read from page sets, one I/O each", smf="QPSTRIO"),
    counter("wio", "count", "write I/Os to page sets; one carries several pages", smf="QPSTWIO"),
    counter("tpw", "pages", "pages written to page sets", smf="QPSTTPW"),
    counter("stw", "pages", "pages changed and marked for writing", smf="QPSTSTW"),
    counter("imw", "pages", "pages written at once while a task waited; should be 0", smf="QPSTIMW"),
    counter("dwt", "count", "times the deferred write task was started (less than 15 % free)", smf="QPSTDWT"),
    counter("dmc", "count", "times the synchronous write threshold was hit (less than 5 % free); should be 0",
            smf="QPSTDMC"),
    counter("sos", "count", "times no buffer at all was to be had; severe", smf="QPSTSOS"),
    counter("stl", "count", "times a page was not in the pool and took a free buffer", smf="QPSTSTL"),
    counter("stla", "count", "times the hash chain changed while a buffer was taken", smf="QPSTSTLA"),
)

_DECLARED = (
    state("purpose", PURPOSES, "what the pool is for; decides whether a full pool is a fault",
          platform="zos", declared=True, default=PURPOSES["unclassified"]),
)

KIND = Kind(
    name="buffer_pool",
    meaning="a buffer pool of a queue manager, named by its number",
    poll="INQUIRE_USAGE",
    metrics=(*_NOW, *_INTERVAL, *_DECLARED),
    sets={
        # Pools that should never fill, because their messages live seconds or minutes; and the others.
        "SHORT": ("purpose", ("system", "system_shallow", "cluster_xmitq", "short_lived", "online", "mixed",
        "unclassified")),
        "LONG": ("purpose", ("system_deep", "long_lived", "batch")),
        # Pools for queues of applications.
        "APPLICATION": ("purpose", ("short_lived", "online", "long_lived", "batch", "mixed", "unclassified")),
    },
)
