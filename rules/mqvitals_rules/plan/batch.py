"""Batches of a channel: how long they take, how much fits through, what they hold at the receiver."""

from __future__ import annotations

from math import ceil

from mqvitals_rules.plan.answer import Outcome, Row
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.page_layout import MOST_MSG_BYTES, SHIPPED, footprint
from mqvitals_rules.plan.question import Input

TUNING = "Performance Tuning and Problem Determination"
MOST_BATCH_MSGS = 9999
"""What BATCHSZ can be at most."""
COMPARED_BATCHES = (1, 10, 50, 100, 1000)
MOST_US = 60e6

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
) -> Outcome:
    """Microseconds at the sending end, beside those of other batch sizes; the catalogue's F-13."""
    once_us = put_us + commit_us + wait_us
    exact = _transfer_us(messages, batch_msgs, each_us, once_us)
    batches = ceil(messages / batch_msgs)
    rows: list[Row] = [
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
    return Outcome(round(exact), "us", steps, exact=exact, rows=tuple(rows))


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
def channel_ceiling(batch_msgs: int, each_us: float, put_us: float, commit_us: float, wait_us: float) -> Outcome:
    """Messages a second with every batch full; the catalogue's F-14."""
    once_us = put_us + commit_us + wait_us
    batch_us = batch_msgs * each_us + once_us
    exact = _ceiling(batch_msgs, each_us, once_us)
    steps = (
        f"a full batch: {batch_msgs:,} x {each_us:,} us + {put_us:,} us put + {commit_us:,} us commit + {wait_us:,} us wait = {batch_us:,.0f} us",
        f"{batch_msgs:,} messages x 1,000,000 us / {batch_us:,.0f} us = {exact:,.1f} messages/s",
    )
    return Outcome(round(exact, 3), "messages/s", steps, exact=exact)


_LIMITED = (
    _BATCH,
    Input("avg_bytes", "bytes", "average message, all headers but the MQMD included", 1, MOST_MSG_BYTES, fraction=True),
    Input("batch_limit_kb", "KB", "data of a batch (BATCHLIM); 0 is no limit", 0, 999_999),
)
_LIMIT_SOURCE = f"{TUNING} · What can cause problems (second slide)"


def _messages_of(batch_msgs: int, avg_bytes: float, batch_limit_kb: int) -> int:
    """With the message that reaches the limit: it still belongs to the batch."""
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
def batch_bytes(batch_msgs: int, avg_bytes: float, batch_limit_kb: int) -> Outcome:
    """Bytes, no more than BATCHLIM; the first half of the catalogue's F-17."""
    whole = batch_msgs * avg_bytes
    steps = [f"{batch_msgs:,} messages x {avg_bytes:,} bytes = {whole:,.0f} bytes"]
    exact = whole
    if batch_limit_kb:
        exact = min(whole, batch_limit_kb * 1024)
        steps.append(f"at most {batch_limit_kb:,} KB = {batch_limit_kb * 1024:,} bytes: {exact:,.0f} bytes")
    return Outcome(ceil(exact), "bytes", tuple(steps), exact=exact)


@formula(
    "batch-buffers",
    number="F-17",
    title="Buffers that a batch holds at the receiver",
    inputs=_LIMITED,
    measured_on="arithmetic; pages of a message as in V7.0.1 as shipped",
    caveat=(
        "Derived. Until the batch is committed its messages stay in the receiver's buffer pool; compare with the free buffers there."
        " Messages of very unequal length need more than their average says."
    ),
    source=_LIMIT_SOURCE,
    example={"batch_msgs": 1000, "avg_bytes": 1_048_576, "batch_limit_kb": 0},
)
def batch_buffers(batch_msgs: int, avg_bytes: float, batch_limit_kb: int) -> Outcome:
    """Buffers of 4 KB; the second half of the catalogue's F-17, with the pages of F-08."""
    messages = _messages_of(batch_msgs, avg_bytes, batch_limit_kb)
    pages = footprint(ceil(avg_bytes), SHIPPED).pages
    limit = f"BATCHLIM {batch_limit_kb:,} KB" if batch_limit_kb else "no BATCHLIM"
    steps = (
        f"a batch: {batch_msgs:,} messages, {limit}: {messages:,} messages",
        f"a message of {avg_bytes:,} bytes takes {pages:,} pages of 4 KB",
        f"{messages:,} messages x {pages:,} pages = {messages * pages:,} buffers",
    )
    return Outcome(messages * pages, "buffers", steps)
