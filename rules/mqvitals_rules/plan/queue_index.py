"""Indexes of private queues: their storage, the time and CPU to rebuild them at restart, what they save gets."""

from __future__ import annotations

from math import ceil

from mqvitals_rules.plan.formula import HIGHLIGHTS, MP1G, TUNING, Input, PlanError, Result, TableRow, formula
from mqvitals_rules.plan.page_sets import LAYOUT, MSG_BYTES, V6, footprint

MB = 2**20
GB = 2**30
ENTRY_BYTES = 272
"""Above the bar, from V7.0.1."""
PRINTED_MSGS = 100_000_000
"""For these the document prints 29,940 MB and 29.2 GB, which its own 272 bytes a message do not give."""
V53_MOST_MSGS = 13_000_000
V53_BYTES_OF_MOST = GB
CPU_US_PER_MSG = 5.25
ELAPSED_US_PER_MSG = 35
REBUILD_ROWS: tuple[TableRow, ...] = tuple(
    {
        "messages": messages,
        "cpu_s": messages * CPU_US_PER_MSG / 1e6,
        "document_cpu_s": cpu_s,
        "elapsed_s": messages * ELAPSED_US_PER_MSG / 1e6,
        "document_elapsed_s": elapsed_s,
    }
    for messages, cpu_s, elapsed_s in ((8_000_000, 42, 280), (PRINTED_MSGS, 530, 3600))
)
"""8 million were measured; 100 million are the document's trend line, its hour given as "about"."""

_MESSAGES = Input("messages", "messages", "messages on the indexed queue", 0, 1e10)
_RESTART_SOURCE = f"{MP1G} · The Effect of a Single Deep Indexed queue upon Queue Manager Restart"
_RESTART_MACHINE = (
    "z10 EC64, 3 processors; WebSphere MQ V7.0.1 with MAXSHORTMSGS 0, one queue of persistent 100-byte messages"
)
_PACKED_STEP = "measured with 7 messages to a page (so the document's table; its text has 8)"
_PARALLEL = "Up to 10 queues are rebuilt at once, the deepest first; how fast depends on the disks."
_PACKED_CAVEAT = (
    "Holds for messages packed on pages: of others each needs a page read of its own, which takes longer."
    " Beyond 8 million carried on along a straight line."
)


@formula(
    "index-storage",
    number="F-10",
    title="Storage of a private queue's index",
    inputs=(
        _MESSAGES,
        Input(
            "release",
            "",
            "v7.0.1 and later keep indexes above the bar, v5.3 below",
            default="v7.0.1",
            words=("v7.0.1", "v5.3"),
        ),
    ),
    measured_on="WebSphere MQ V7.0.1 and V5.3",
    caveat="Virtual storage: MEMLIMIT and paging space must allow for it. V5.3: an estimate from one point.",
    source=f"{MP1G} · How deep can I make my local queues?; {HIGHLIGHTS} · 4.2 Private indexed queue rebuild at restart",
    example={"messages": PRINTED_MSGS},
)
def index_storage(messages: int, release: str) -> Result:
    """Bytes. Raises PlanError for more messages than an index of V5.3 takes."""
    if release == "v5.3":
        if messages > V53_MOST_MSGS:
            raise PlanError(f"messages must be 0 to {V53_MOST_MSGS:,} messages with release v5.3, not {messages!r}")
        exact = messages * V53_BYTES_OF_MOST / V53_MOST_MSGS
        way = (
            f"{messages:,} messages x about {V53_BYTES_OF_MOST / V53_MOST_MSGS:.1f} bytes (1 GB for {V53_MOST_MSGS:,})"
        )
    else:
        exact = float(messages * ENTRY_BYTES)
        way = f"{messages:,} messages x {ENTRY_BYTES} bytes"
    steps = [
        f"{way} = {exact:,.0f} bytes {'below' if release == 'v5.3' else 'above'} the bar",
        f"= {exact / MB:,.0f} MB = {exact / GB:,.1f} GB",
    ]
    if release != "v5.3" and messages == PRINTED_MSGS:
        steps.append(f"the document prints 29,940 MB (29.2 GB), which does not agree with its {ENTRY_BYTES} bytes")
    return Result(ceil(exact), "bytes", tuple(steps), exact=exact)


def _rebuild(messages: int, us_per_msg: float, what: str) -> Result:
    seconds = messages * us_per_msg / 1e6
    steps = [_PACKED_STEP, f"{messages:,} messages x {us_per_msg:g} microseconds = {seconds:,.1f} s {what}"]
    if messages == PRINTED_MSGS:
        steps.append("the document reads 530 CPU seconds and about an hour off its trend line")
    return Result(seconds, "s", tuple(steps), rows=REBUILD_ROWS)


@formula(
    "index-rebuild-time",
    number="F-11",
    title="Elapsed time to rebuild a deep queue's index at restart",
    inputs=(_MESSAGES,),
    measured_on=_RESTART_MACHINE,
    caveat=f"{_PACKED_CAVEAT} {_PARALLEL}",
    source=_RESTART_SOURCE,
    example={"messages": 8_000_000},
)
def index_rebuild_time(messages: int) -> Result:
    """Elapsed seconds, one processor about 15 % busy."""
    return _rebuild(messages, ELAPSED_US_PER_MSG, "elapsed")


@formula(
    "index-rebuild-cpu",
    number="F-11",
    title="CPU time to rebuild a deep queue's index at restart",
    inputs=(_MESSAGES,),
    measured_on=_RESTART_MACHINE,
    caveat=_PACKED_CAVEAT,
    source=_RESTART_SOURCE,
    example={"messages": 8_000_000},
)
def index_rebuild_cpu(messages: int) -> Result:
    """CPU seconds."""
    return _rebuild(messages, CPU_US_PER_MSG, "CPU")


@formula(
    "index-rebuild-time-by-pages",
    number="F-11",
    title="Elapsed time to rebuild a queue's index, by the pages that must be read",
    inputs=(
        _MESSAGES,
        MSG_BYTES,
        LAYOUT,
        Input("page_read_ms", "ms", "time to read a page from the page set", 0.001, 1000, default=1.2, fraction=True),
    ),
    measured_on="WebSphere MQ V5.3 with ESS (Shark) disks: 25,000 pages in about 30 s",
    caveat=f"Disks of today read faster: give your own page-read-ms. {_PARALLEL}",
    source=f"{HIGHLIGHTS} · 4.2 Private indexed queue rebuild at restart",
    example={"messages": 50_000, "msg_bytes": 1024, "layout": V6},
)
def index_rebuild_time_by_pages(messages: int, msg_bytes: int, layout: str, page_read_ms: float) -> Result:
    """Elapsed seconds: of every message its first page is read, once if messages share it."""
    taken = footprint(msg_bytes, layout)
    reads = ceil(messages / taken.msgs)
    seconds = reads * page_read_ms / 1000
    steps = (
        f"{msg_bytes:,} bytes, layout {layout}: {taken}; of a message only the first page is read",
        f"{messages:,} messages / {taken.msgs} = {reads:,} pages read",
        f"{reads:,} pages x {page_read_ms:g} ms = {seconds:,.1f} s elapsed",
    )
    return Result(seconds, "s", steps)


_SKIPPED = 125
"""Messages passed over by each measured get without an index."""
_INDEXED_CPU_US, _NOT_INDEXED_CPU_US = 99, 369
_INDEXED_ELAPSED_US, _NOT_INDEXED_ELAPSED_US = 105, 384


@formula(
    "index-benefit",
    number="F-20",
    title="CPU that an index saves for gets by an identifier",
    inputs=(
        Input("gets", "calls", "MQGET calls by message, correlation or group identifier or token", 1, 1e12, 27),
        Input("skipped_per_get", "messages", "passed over by a get without an index", 0, 1e9, _SKIPPED, fraction=True),
    ),
    measured_on="two accounting records of 80-byte messages, depth up to 258; machine and release not named",
    caveat=(
        "Derived: the difference is taken to grow evenly with the messages passed over. A benefit was seen from depths of 5 to 10"
        " messages on. Very deep indexes make each get dearer, which is not in here."
    ),
    source=f"{TUNING} · Indexed vs Non-indexed - Comparison",
    example={"gets": 27, "skipped_per_get": 125},
)
def index_benefit(gets: int, skipped_per_get: float) -> Result:
    """CPU microseconds saved."""
    cpu = _index_row("cpu", _INDEXED_CPU_US, _NOT_INDEXED_CPU_US, gets, skipped_per_get, 272)
    elapsed = _index_row("elapsed", _INDEXED_ELAPSED_US, _NOT_INDEXED_ELAPSED_US, gets, skipped_per_get, 252)
    saved_us = (_NOT_INDEXED_CPU_US - _INDEXED_CPU_US) * gets * skipped_per_get / _SKIPPED
    skipped_us = (_NOT_INDEXED_CPU_US - _INDEXED_CPU_US) / _SKIPPED
    steps = (
        f"a message passed over takes ({_NOT_INDEXED_CPU_US} - {_INDEXED_CPU_US}) / {_SKIPPED} = {skipped_us:.2f} CPU microseconds",
        f"CPU: {gets:,} x {_INDEXED_CPU_US} = {cpu['indexed_us']:,} microseconds with the index, {cpu['not_indexed_us']:,.1f} without",
        f"elapsed time {elapsed['indexed_us']:,} and {elapsed['not_indexed_us']:,.1f} microseconds",
        "the document prints 252 % as the difference in elapsed time of 27 gets; (10,368 - 2,835) / 2,835 is 265.7 %",
    )
    return Result(saved_us, "CPU microseconds", steps, rows=(cpu, elapsed))


def _index_row(
    measure: str, indexed_us: int, not_indexed_us: int, gets: int, skipped: float, document_pct: int
) -> TableRow:
    with_us = indexed_us * gets
    more_us = (not_indexed_us - indexed_us) * gets * skipped / _SKIPPED
    return {
        "measure": measure,
        "indexed_us": with_us,
        "not_indexed_us": with_us + more_us,
        "difference_pct": 100 * more_us / with_us,
        "document_difference_pct": document_pct if skipped == _SKIPPED else None,
    }
