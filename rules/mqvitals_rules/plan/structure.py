"""Coupling facility structures: how large, how many messages, how often to back up."""

from __future__ import annotations

from math import ceil, floor

from mqvitals_rules.plan.answer import Outcome
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.question import Input

HIGHLIGHTS = "Performance highlights - WebSphere MQ for z/OS V5.3 & V5.3.1"
LEAST_ELEMENT_BYTES = 1536
"""What a message takes at least: the smallest entry with its elements, as OS/390 V2.9 needs them."""
ELEMENT_BYTES = 256
MQMD_BYTES = 324
CONTROL_SHARE = 1.25
"""A quarter more for the coupling facility's own control storage."""
LEAST_KB = 16_384


def _message_bytes(msg_bytes: float) -> int:
    return max(LEAST_ELEMENT_BYTES, ceil(msg_bytes / ELEMENT_BYTES) * ELEMENT_BYTES)


@formula(
    "cf-structure-size",
    number="F-01",
    title="Size of an application structure for so many messages",
    inputs=(
        Input("msg_bytes", "bytes", "the longest message with all headers, MQMD included", 1, 64_512 + MQMD_BYTES),
        Input("max_msgs", "messages", "the most messages on all its queues", 1, 1e10),
    ),
    measured_on="arithmetic; the least of 1536 bytes is that of OS/390 V2.9",
    caveat=(
        "INITSIZE; give SIZE more. A quarter for control storage is too little for small structures with large messages, and each"
        " level of coupling facility code takes a little more."
    ),
    source=f"{HIGHLIGHTS} · 2.2.2.2 Application structures",
    example={"msg_bytes": 1536, "max_msgs": 275_000},
)
def cf_structure_size(msg_bytes: int, max_msgs: int) -> Outcome:
    """INITSIZE in KB (1024 bytes), at least 16 MB; the catalogue's F-01."""
    each = _message_bytes(msg_bytes)
    size_bytes = each * max_msgs * CONTROL_SHARE
    exact_kb = size_bytes / 1024
    kb = max(LEAST_KB, ceil(exact_kb))
    steps = [
        f"a message takes max({LEAST_ELEMENT_BYTES}, {msg_bytes:,} rounded up to {ELEMENT_BYTES}) = {each:,} bytes",
        f"{each:,} bytes x {max_msgs:,} messages x {CONTROL_SHARE} = {size_bytes:,.0f} bytes = {exact_kb:,.1f} KB",
    ]
    if kb == LEAST_KB:
        steps.append(f"at least {LEAST_KB:,} KB")
    return Outcome(kb, "KB", tuple(steps), exact=max(float(LEAST_KB), exact_kb))


@formula(
    "cf-structure-messages",
    number="F-02",
    title="Messages that fit into a structure",
    inputs=(
        Input("size_kb", "KB", "the structure's size", 1, 1e10),
        Input("user_bytes", "bytes", "data of a message, without MQMD", 0, 64_512),
    ),
    measured_on="arithmetic; the document's chart is some 2 to 10 % lower",
    caveat="For small structures with large messages treat it as 10 % uncertain: control storage takes more than a quarter there.",
    source=f"{HIGHLIGHTS} · 2.2.2.2 Application structures",
    example={"size_kb": 524_288, "user_bytes": 1212},
)
def cf_structure_messages(size_kb: int, user_bytes: int) -> Outcome:
    """Whole messages; the catalogue's F-02."""
    each = _message_bytes(user_bytes + MQMD_BYTES)
    exact = size_kb * 1024 / CONTROL_SHARE / each
    steps = (
        f"a message takes {user_bytes:,} + {MQMD_BYTES} bytes of MQMD, that is {each:,} bytes",
        f"{size_kb * 1024:,} bytes / {CONTROL_SHARE} / {each:,} = {exact:,.1f}",
    )
    return Outcome(floor(exact), "messages", steps, exact=exact)
