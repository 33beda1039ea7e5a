"""Channels: batches, the network under them, message retry of the receiver, waiting with a receive time-out."""

from __future__ import annotations

from math import ceil

from mqvitals_rules.plan.formula import HIGHLIGHTS, MOST_US, TUNING, Input, Result, TableRow, formula
from mqvitals_rules.plan.page_sets import MOST_MSG_BYTES, message_pages

MOST_BATCH_MSGS = 9999
"""The maximum of BATCHSZ."""
COMPARED_BATCHES = (1, 10, 50, 100, 1000)

_BATCH = Input(
    "batch_msgs", "messages", "messages of a full batch (BATCHSZ; the lower of both ends)", 1, MOST_BATCH_MSGS
)
_COSTS = (
    Input("each_us", "us", "MQGET and TCP send of one message", 0.001, MOST_US, default=10, fraction=True),
    Input("put_us", "us", "the put out of syncpoint once a batch", 0, MOST_US, default=1000, fraction=True),
    Input("commit_us", "us", "the commit once a batch", 0, MOST_US, default=1000, fraction=True),
    Input(
        "wait_us",
        "us",
        "wait for the partner once a batch: NETTIME and the partner's own time",
        0,
        MOST_US,
        default=1000,
        fraction=True,
    ),
)
_SLIDES = "round figures of the slides; neither machine nor release is named"
_MEASURE = (
    "Full batches, one channel, nothing else on the network. Replace the default times by measured ones: the wait by NETTIME and the"
    " partner's own time, which is about 10 us a message and a commit of about 1000 us."
)


def _transfer_us(messages: int, batch_msgs: int, each_us: float, once_us: float) -> float:
    return messages * each_us + ceil(messages / batch_msgs) * once_us


def _ceiling(batch_msgs: int, each_us: float, once_us: float) -> float:
    return batch_msgs * 1e6 / (batch_msgs * each_us + once_us)


@formula(
    "batch-transfer-time",
    number="F-13",
    title="Time to move so many messages with a batch size",
    inputs=(Input("messages", "messages", "messages to move", 1, 1e12), _BATCH, *_COSTS),
    measured_on=_SLIDES,
    caveat=_MEASURE,
    source=f"{TUNING} · Where is the time spent",
    example={"messages": 1000, "batch_msgs": 100},
)
def batch_transfer_time(
    messages: int, batch_msgs: int, each_us: float, put_us: float, commit_us: float, wait_us: float
) -> Result:
    """Microseconds at the sending end, beside those of other batch sizes."""
    once_us = put_us + commit_us + wait_us
    exact = _transfer_us(messages, batch_msgs, each_us, once_us)
    batches = ceil(messages / batch_msgs)
    rows: list[TableRow] = [
        {
            "batch_msgs": size,
            "batches": ceil(messages / size),
            "time_us": round(_transfer_us(messages, size, each_us, once_us)),
            "max_msgs_per_s": round(_ceiling(size, each_us, once_us), 3),
        }
        for size in sorted({*COMPARED_BATCHES, batch_msgs})
    ]
    steps = (
        f"{messages:,} messages x {each_us:,} us = {messages * each_us:,.0f} us",
        f"{messages:,} messages / {batch_msgs:,} = {batches:,} batches",
        f"a batch: {put_us:,} us put + {commit_us:,} us commit + {wait_us:,} us wait = {once_us:,} us",
        f"{messages * each_us:,.0f} us + {batches:,} x {once_us:,} us = {exact:,.0f} us = {exact / 1e6:,.3f} s",
    )
    return Result(round(exact), "us", steps, exact=exact, rows=tuple(rows))


@formula(
    "channel-ceiling",
    number="F-14",
    title="Most messages a second through a channel with a batch size",
    inputs=(_BATCH, *_COSTS),
    measured_on=_SLIDES,
    caveat=f"Derived from the time to move messages. {_MEASURE}",
    source=f"{TUNING} · Where is the time spent",
    example={"batch_msgs": 50, "wait_us": 80_000},
)
def channel_ceiling(batch_msgs: int, each_us: float, put_us: float, commit_us: float, wait_us: float) -> Result:
    """Messages a second with every batch full."""
    once_us = put_us + commit_us + wait_us
    batch_us = batch_msgs * each_us + once_us
    exact = _ceiling(batch_msgs, each_us, once_us)
    steps = (
        f"a full batch: {batch_msgs:,} x {each_us:,} us + {put_us:,} us put + {commit_us:,} us commit + {wait_us:,} us wait = {batch_us:,.0f} us",
        f"{batch_msgs:,} messages x 1,000,000 us / {batch_us:,.0f} us = {exact:,.1f} messages/s",
    )
    return Result(round(exact, 3), "messages/s", steps, exact=exact)


_LIMITED = (
    _BATCH,
    Input("avg_bytes", "bytes", "average message, all headers but the MQMD included", 1, MOST_MSG_BYTES, fraction=True),
    Input("batch_limit_kb", "KB", "data of a batch (BATCHLIM); 0 is no limit", 0, 999_999),
)
_LIMIT_SOURCE = f"{TUNING} · What can cause problems (second slide)"


def _messages_of(batch_msgs: int, avg_bytes: float, batch_limit_kb: int) -> int:
    """Messages of a batch, with the one that reaches the limit, which still belongs to it."""
    return min(batch_msgs, ceil(batch_limit_kb * 1024 / avg_bytes)) if batch_limit_kb else batch_msgs


@formula(
    "batch-bytes",
    number="F-17",
    title="Data of a full batch",
    inputs=_LIMITED,
    measured_on="arithmetic",
    caveat="Derived. The message that reaches the limit still belongs to the batch, which may be longer by nearly that message.",
    source=_LIMIT_SOURCE,
    example={"batch_msgs": 1000, "avg_bytes": 1_048_576, "batch_limit_kb": 10_240},
)
def batch_bytes(batch_msgs: int, avg_bytes: float, batch_limit_kb: int) -> Result:
    """Bytes, no more than BATCHLIM; the first half of F-17."""
    whole = batch_msgs * avg_bytes
    steps = [f"{batch_msgs:,} messages x {avg_bytes:,} bytes = {whole:,.0f} bytes"]
    exact = whole
    if batch_limit_kb:
        exact = min(whole, batch_limit_kb * 1024)
        steps.append(f"at most {batch_limit_kb:,} KB = {batch_limit_kb * 1024:,} bytes: {exact:,.0f} bytes")
    return Result(ceil(exact), "bytes", tuple(steps), exact=exact)


@formula(
    "batch-buffers",
    number="F-17",
    title="Buffers that a batch holds at the receiver",
    inputs=_LIMITED,
    measured_on="arithmetic; pages of a message as in V7.0.1 as shipped",
    caveat=(
        "Derived. Until the batch is committed its messages stay in the receiver's buffer pool; compare with the free buffers there."
        " Messages of very unequal length need more than their average suggests."
    ),
    source=_LIMIT_SOURCE,
    example={"batch_msgs": 1000, "avg_bytes": 1_048_576, "batch_limit_kb": 0},
)
def batch_buffers(batch_msgs: int, avg_bytes: float, batch_limit_kb: int) -> Result:
    """Buffers of 4 KB; the second half of F-17, with the pages of F-08."""
    messages = _messages_of(batch_msgs, avg_bytes, batch_limit_kb)
    pages = message_pages(avg_bytes)
    limit = f"BATCHLIM {batch_limit_kb:,} KB" if batch_limit_kb else "no BATCHLIM"
    steps = (
        f"a batch: {batch_msgs:,} messages, {limit}: {messages:,} messages",
        f"a message of {avg_bytes:,} bytes takes {pages:,} pages of 4 KB",
        f"{messages:,} messages x {pages:,} pages = {messages * pages:,} buffers",
    )
    return Result(messages * pages, "buffers", steps)


SMALL_WINDOW_BYTES = 32 * 1024
LARGE_WINDOW_BYTES = 64 * 1024


@formula(
    "tcp-window-rate",
    number="F-15",
    title="Most data a second over a distance with a small TCP receive window",
    inputs=(
        Input("receive_window_bytes", "bytes", "the TCP receive window, as NETSTAT shows it", 1, 2**30),
        Input("rtt_ms", "ms", "round trip, as ping shows it", 0.001, 60_000, fraction=True),
    ),
    measured_on="arithmetic; the document's UK to US round trip is 80 ms on one slide and 94.71 ms, measured, on another",
    caveat=(
        "Derived, of one connection, and an upper bound: bandwidth, loss and the time of batches come on top. Below 64 KB let MQ ask for"
        " dynamic buffers: RECOVER QMGR(TUNE CHINTCPRBDYNSZ n) and CHINTCPSBDYNSZ."
    ),
    source=f"{TUNING} · Tuning TCP parameters",
    example={"receive_window_bytes": 16_384, "rtt_ms": 80},
)
def tcp_window_rate(receive_window_bytes: int, rtt_ms: float) -> Result:
    """KB (1024 bytes) a second; no value where the document names no bound."""
    if receive_window_bytes >= LARGE_WINDOW_BYTES:
        steps: tuple[str, ...] = (
            f"{receive_window_bytes:,} bytes are at least 64 KB: TCP sizes its buffers by itself, the window sets no bound",
            'the document prints "> 64K" beside 65,536: 64 KB itself is large enough',
        )
        return Result(None, "KB/s", steps)
    if receive_window_bytes >= SMALL_WINDOW_BYTES:
        steps = (f"{receive_window_bytes:,} bytes are between 32 and 64 KB: the document has no figure for these",)
        return Result(None, "KB/s", steps)
    exact = 32 * 1000 / rtt_ms
    steps = (
        f"{receive_window_bytes:,} bytes are less than 32 KB: TCP sends 32 KB, then waits for the acknowledgement",
        f"32 KB / {rtt_ms:,} ms = {exact:,.1f} KB/s",
    )
    return Result(round(exact, 3), "KB/s", steps, exact=exact)


MOST = 999_999_999


@formula(
    "message-retry-block",
    number="F-16",
    title="How long a message that cannot be put holds up its channel",
    inputs=(
        Input("retry_count", "", "MRRTY, how often the put is tried again", 0, MOST),
        Input("retry_interval_ms", "ms", "MRTMR, the wait before each", 0, MOST),
    ),
    measured_on="arithmetic",
    caveat=(
        "Derived, of one message; the next that cannot be put waits as long again, and all messages behind it wait too, for other queues as well."
    ),
    source=f"{TUNING} · What can cause problems (first slide)",
    example={"retry_count": 10, "retry_interval_ms": 1000},
)
def message_retry_block(retry_count: int, retry_interval_ms: int) -> Result:
    """Milliseconds at most."""
    block = retry_count * retry_interval_ms
    steps = [f"{retry_count:,} retries x {retry_interval_ms:,} ms = {block:,} ms = {block / 1000:,.1f} s"]
    if not block:
        steps.append("no wait: the message goes to the dead-letter queue at once")
    return Result(block, "ms", tuple(steps))


_ACHIEVED_BATCH = Input(
    "achieved_batch_msgs",
    "messages",
    "messages of a batch as achieved (XBATCHSZ), not BATCHSZ",
    1,
    9999,
    fraction=True,
)
_WAIT = Input("wait_cpu_ms", "CPU ms", "CPU of one wait", 0.0001, 1000, default=0.08, fraction=True)
_WAIT_MEASURED_ON = "2064-1C4, V5.3: 0.08 to 0.09 CPU ms a wait"
_WAIT_CAVEAT = (
    "Of each end; the receiver may wait more often than once a batch. Neither the length of the wait nor the time-out value matters. Not for"
    " SVRCONN channels. Raise the achieved batch size before switching the time-out off."
)
_WAIT_SOURCE = f"{HIGHLIGHTS} · 9.1 Performance Implications of Receive Time-out"


@formula(
    "receive-timeout-cost",
    number="F-24",
    title="CPU a second that a receive time-out adds",
    inputs=(Input("msgs_per_s", "messages/s", "rate of the channel", 0, 1e7, fraction=True), _ACHIEVED_BATCH, _WAIT),
    measured_on=_WAIT_MEASURED_ON,
    caveat=_WAIT_CAVEAT,
    source=_WAIT_SOURCE,
    example={"msgs_per_s": 1000, "achieved_batch_msgs": 50},
)
def receive_timeout_cost(msgs_per_s: float, achieved_batch_msgs: float, wait_cpu_ms: float) -> Result:
    """CPU milliseconds a second at each end."""
    waits_per_s = msgs_per_s / achieved_batch_msgs
    exact = waits_per_s * wait_cpu_ms
    steps = (
        f"{msgs_per_s:,} messages/s / {achieved_batch_msgs:,} messages a batch = {waits_per_s:,.6g} waits/s",
        f"{waits_per_s:,.6g} waits/s x {wait_cpu_ms:,} CPU ms = {exact:,.6g} CPU ms/s",
    )
    return Result(exact, "CPU ms/s", steps)


@formula(
    "receive-timeout-overhead",
    number="F-24",
    title="Share that a receive time-out adds to the CPU of moving messages",
    inputs=(
        Input(
            "msg_cpu_ms",
            "CPU ms",
            "CPU of moving one message at one end, without time-out",
            0.0001,
            10_000,
            fraction=True,
        ),
        _ACHIEVED_BATCH,
        _WAIT,
    ),
    measured_on=_WAIT_MEASURED_ON,
    caveat=_WAIT_CAVEAT,
    source=_WAIT_SOURCE,
    example={"msg_cpu_ms": 0.55, "achieved_batch_msgs": 1},
)
def receive_timeout_overhead(msg_cpu_ms: float, achieved_batch_msgs: float, wait_cpu_ms: float) -> Result:
    """Percent at each end; the examples of F-24."""
    batch_cpu_ms = msg_cpu_ms * achieved_batch_msgs
    exact = wait_cpu_ms / batch_cpu_ms * 100
    steps = (
        f"a batch: {achieved_batch_msgs:,} messages x {msg_cpu_ms:,} CPU ms = {batch_cpu_ms:,.6g} CPU ms",
        f"{wait_cpu_ms:,} / {batch_cpu_ms:,.6g} CPU ms = {exact:,.2f} %",
    )
    return Result(round(exact, 2), "%", steps, exact=exact)
