"""Buffer pools: how many messages they hold, and how long they take in messages that nobody gets."""

from __future__ import annotations

from math import floor

from mqvitals_rules.plan.answer import Outcome
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.page_layout import LAYOUT, LAYOUT_CAVEAT, MP1G, MSG_BYTES, footprint
from mqvitals_rules.plan.question import Input, PlanError

TUNING = "Performance Tuning and Problem Determination"
MOST_BUFFERS = 999_999_999
DEFERRED_WRITE_PCT = 85
"""Above this the deferred write task takes pages out to the page sets."""

_BUFFERS = Input("buffers", "buffers", "the pool's size in buffers of 4 KB", 1, MOST_BUFFERS)


@formula(
    "buffer-pool-capacity",
    number="F-09",
    title="Messages that fit into a buffer pool",
    inputs=(_BUFFERS, MSG_BYTES, LAYOUT),
    measured_on="arithmetic; agrees with the measurement on V7.0.1 with 200,000 buffers and messages of 1 KB",
    caveat="The whole pool for messages; pages are written out from 85 % on. " + LAYOUT_CAVEAT,
    source=f"{MP1G} · Cost of putting messages to local indexed queues",
    example={"buffers": 200_000, "msg_bytes": 1024},
)
def buffer_pool_capacity(buffers: int, msg_bytes: int, layout: str) -> Outcome:
    """Whole messages; the catalogue's F-09."""
    taken = footprint(msg_bytes, layout)
    exact = buffers * taken.msgs / taken.pages
    steps = (
        f"{msg_bytes:,} bytes, layout {layout}: {taken}",
        f"{buffers:,} buffers x {taken.msgs} messages / {taken.pages:,} pages = {exact:,.1f} messages",
    )
    return Outcome(taken.msgs_in(buffers), "messages", steps, exact=exact)


@formula(
    "buffer-pool-outage-time",
    number="F-09",
    title="How long a buffer pool takes in messages while their consumer is down or slow",
    inputs=(
        _BUFFERS,
        MSG_BYTES,
        Input("put_per_s", "messages/s", "messages put in a second", 0, 1e9, fraction=True),
        Input("get_per_s", "messages/s", "messages got in a second", 0, 1e9, default=0, fraction=True),
        Input("used_buffers", "buffers", "buffers in use at the beginning", 0, MOST_BUFFERS, default=0),
        LAYOUT,
    ),
    measured_on="arithmetic",
    caveat=f"Until {DEFERRED_WRITE_PCT} % are used, for one pool of queues with steady rates. " + LAYOUT_CAVEAT,
    source=f"{TUNING} · Buffer Pool Use - General Recommendations",
    example={"buffers": 70_000, "msg_bytes": 3000, "put_per_s": 100},
)
def buffer_pool_outage_time(
    buffers: int, msg_bytes: int, put_per_s: float, get_per_s: float, used_buffers: int, layout: str
) -> Outcome:
    """Whole seconds; None when as much is got as put and there is room, for it never fills. The catalogue's F-09."""
    if used_buffers > buffers:
        raise PlanError(f"used-buffers must be 0 to {buffers:,} buffers, all the pool has, not {used_buffers!r}")
    taken = footprint(msg_bytes, layout)
    room = (DEFERRED_WRITE_PCT * buffers - 100 * used_buffers) / 100
    steps = [
        f"{msg_bytes:,} bytes, layout {layout}: {taken}",
        f"{DEFERRED_WRITE_PCT} % of {buffers:,} buffers less {used_buffers:,} used = {room:,.1f} buffers of room",
    ]
    if room <= 0:
        steps.append("no room: pages are being written out already")
        return Outcome(0, "s", tuple(steps))
    net = put_per_s - get_per_s
    if net <= 0:
        steps.append(f"{put_per_s:g} messages/s put, {get_per_s:g} got: it does not fill")
        return Outcome(None, "s", tuple(steps))
    exact = room * taken.msgs / taken.pages / net
    steps.append(
        f"{room:,.1f} buffers x {taken.msgs} messages / {taken.pages:,} pages"
        f" / ({put_per_s:g} - {get_per_s:g}) messages/s = {exact:,.1f} s"
    )
    return Outcome(floor(exact), "s", tuple(steps), exact=exact)
