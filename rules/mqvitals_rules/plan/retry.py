"""Message retry of a receiving channel."""

from __future__ import annotations

from mqvitals_rules.plan.answer import Outcome
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.question import Input

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
    source="Performance Tuning and Problem Determination · What can cause problems (first slide)",
    example={"retry_count": 10, "retry_interval_ms": 1000},
)
def message_retry_block(retry_count: int, retry_interval_ms: int) -> Outcome:
    """Milliseconds at most; the catalogue's F-16."""
    block = retry_count * retry_interval_ms
    steps = [f"{retry_count:,} retries x {retry_interval_ms:,} ms = {block:,} ms = {block / 1000:,.1f} s"]
    if not block:
        steps.append("no wait: the message goes to the dead-letter queue at once")
    return Outcome(block, "ms", tuple(steps))
