"""The queue manager's scans for expired messages: what they cost."""

from __future__ import annotations

from mqvitals_rules.plan.answer import Outcome
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.question import Input
from mqvitals_rules.plan.structure import HIGHLIGHTS

LEAST_INTERVAL_S = 5
MOST_INTERVAL_S = 99_999_999


@formula(
    "expiry-scan-cost",
    number="F-31",
    title="CPU of the scans for expired messages on shared queues",
    inputs=(
        Input("shared_queues", "queues", "shared queues defined in the queue sharing group", 0, 1e7),
        Input("interval_s", "seconds", "EXPRYINT", LEAST_INTERVAL_S, MOST_INTERVAL_S),
        Input("queue_cpu_ms", "milliseconds", "CPU of a scan for each shared queue", 0, 1e6, 1, fraction=True),
    ),
    measured_on="9672-X27, WebSphere MQ V5.3; of the order of 1 millisecond",
    caveat=(
        "One queue manager of the group pays it. Browsing queues that hold messages, and deleting the expired ones, comes on top."
        " Private queues cost next to nothing."
    ),
    source=f"{HIGHLIGHTS} · 8.0 Queue manager initiated expiry processing",
    example={"shared_queues": 300, "interval_s": 60},
)
def expiry_scan_cost(shared_queues: int, interval_s: int, queue_cpu_ms: float) -> Outcome:
    """CPU milliseconds in each second, on average; the catalogue's F-31."""
    scan_ms = shared_queues * queue_cpu_ms
    cost = scan_ms / interval_s
    steps = (
        f"a scan: {shared_queues:,} queues x {queue_cpu_ms:,} = {scan_ms:,.1f} CPU milliseconds",
        f"every {interval_s:,} seconds: {cost:,.3f} CPU milliseconds per second",
    )
    return Outcome(cost, "CPU ms/s", steps)
