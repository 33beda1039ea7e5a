"""The network under a channel."""

from __future__ import annotations

from mqvitals_rules.plan.answer import Outcome
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.question import Input

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
    source="Performance Tuning and Problem Determination · Tuning TCP parameters",
    example={"receive_window_bytes": 16_384, "rtt_ms": 80},
)
def tcp_window_rate(receive_window_bytes: int, rtt_ms: float) -> Outcome:
    """KB (1024 bytes) a second; no value where the document names no bound; the catalogue's F-15."""
    if receive_window_bytes >= LARGE_WINDOW_BYTES:
        steps: tuple[str, ...] = (
            f"{receive_window_bytes:,} bytes are at least 64 KB: TCP sizes its buffers by itself, the window sets no bound",
            'the document prints "> 64K" beside 65,536: 64 KB itself is large enough',
        )
        return Outcome(None, "KB/s", steps)
    if receive_window_bytes >= SMALL_WINDOW_BYTES:
        steps = (f"{receive_window_bytes:,} bytes are between 32 and 64 KB: the document says nothing of these",)
        return Outcome(None, "KB/s", steps)
    exact = 32 * 1000 / rtt_ms
    steps = (
        f"{receive_window_bytes:,} bytes are less than 32 KB: TCP sends 32 KB, then waits for the acknowledgement",
        f"32 KB / {rtt_ms:,} ms = {exact:,.1f} KB/s",
    )
    return Outcome(round(exact, 3), "KB/s", steps, exact=exact)
