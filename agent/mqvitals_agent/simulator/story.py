"""Five minutes in the life of a small queue-sharing group, as numbers over cycles.

QM01 loses the consumer of ORDERS.REQUEST and its buffer pool 3 fills; the channel TO.QM02 runs full batches; TO.PARTNER
retries; a page set of QM02 and the structure APPL1 fill and stay full. Deterministic: the same cycle gives the same group.
"""

from __future__ import annotations

from dataclasses import dataclass

CYCLES = 36
INTERVAL_S = 10
SITE = "DEMOQSG"
GROUP = "DEMO"
QUEUE_MANAGERS = ("QM01", "QM02")

CONSUMER_GONE = range(5, 22)
FULL_BATCHES_FROM = 9
PARTNER_DOWN = range(14, 24)
POOL_BUFFERS = 20_000
PAGE_SET_PAGES = 400_000
STRUCTURE_ENTRIES = 250_000


@dataclass(frozen=True, slots=True)
class Scene:
    """What matters of one cycle. Depths in messages, percentages whole."""

    cycle: int
    orders_depth: int
    orders_consumers: int
    pool_free_pct: int
    transmission_depth: int
    batch_size_achieved: int
    partner_retrying: bool
    page_set_used_pct: float
    shared_depth: int
    structure_entries: int


def scene(cycle: int) -> Scene:
    """The group in this cycle, counted from 1."""
    gone = cycle in CONSUMER_GONE
    minutes_gone = max(0, min(cycle, CONSUMER_GONE[-1]) - CONSUMER_GONE[0] + 1)
    drained = max(0, cycle - CONSUMER_GONE[-1])
    backlog = max(0, 640 * minutes_gone - 1_300 * drained)
    growth = max(0, cycle - FULL_BATCHES_FROM + 1)
    shared = 150_000 + 3_100 * max(0, cycle - 12)
    return Scene(
        cycle=cycle,
        orders_depth=31 + (cycle * 7) % 13 + backlog,
        orders_consumers=0 if gone else 3,
        pool_free_pct=max(3, 62 - backlog * 62 // 10_000),
        transmission_depth=28 + (cycle * 5) % 11 + 140 * growth,
        batch_size_achieved=49 + cycle % 2 if growth else 21 + cycle % 3,
        partner_retrying=cycle in PARTNER_DOWN,
        page_set_used_pct=min(91.0, 68 + 0.85 * max(0, cycle - 6)),
        shared_depth=shared,
        structure_entries=min(STRUCTURE_ENTRIES * 93 // 100, shared + 9_000),
    )
