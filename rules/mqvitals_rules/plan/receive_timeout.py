"""What waiting with a receive time-out costs."""

from __future__ import annotations

from mqvitals_rules.plan.answer import Outcome
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.question import Input

_BATCH = Input(
    "achieved_batch_msgs",
    "messages",
    "messages of a batch as achieved (XBATCHSZ), not BATCHSZ",
    1,
    9999,
    fraction=True,
)
_WAIT = Input("wait_cpu_ms", "CPU ms", "CPU of one wait", 0.0001, 1000, default=0.08, fraction=True)
_MEASURED_ON = "2064-1C4, V5.3: 0.08 to 0.09 CPU ms a wait"
_CAVEAT = (
    "Of each end; the receiver may wait more often than once a batch. Neither the length of the wait nor the time-out value matters. Not for"
    " SVRCONN channels. Raise the achieved batch size before switching the time-out off."
)
_SOURCE = (
    "Performance highlights - WebSphere MQ for z/OS V5.3 & V5.3.1 · 9.1 Performance Implications of Receive Time-out"
)


@formula(
    "receive-timeout-cost",
    number="F-24",
    title="CPU a second that a receive time-out adds",
    inputs=(Input("msgs_per_s", "messages/s", "rate of the channel", 0, 1e7, fraction=True), _BATCH, _WAIT),
    measured_on=_MEASURED_ON,
    caveat=_CAVEAT,
    source=_SOURCE,
    example={"msgs_per_s": 1000, "achieved_batch_msgs": 50},
)
def receive_timeout_cost(msgs_per_s: float, achieved_batch_msgs: float, wait_cpu_ms: float) -> Outcome:
    """CPU milliseconds a second at each end; the catalogue's F-24."""
    waits_per_s = msgs_per_s / achieved_batch_msgs
    exact = waits_per_s * wait_cpu_ms
    steps = (
        f"{msgs_per_s:,} messages/s / {achieved_batch_msgs:,} messages a batch = {waits_per_s:,.6g} waits/s",
        f"{waits_per_s:,.6g} waits/s x {wait_cpu_ms:,} CPU ms = {exact:,.6g} CPU ms/s",
    )
    return Outcome(exact, "CPU ms/s", steps)


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
        _BATCH,
        _WAIT,
    ),
    measured_on=_MEASURED_ON,
    caveat=_CAVEAT,
    source=_SOURCE,
    example={"msg_cpu_ms": 0.55, "achieved_batch_msgs": 1},
)
def receive_timeout_overhead(msg_cpu_ms: float, achieved_batch_msgs: float, wait_cpu_ms: float) -> Outcome:
    """Percent at each end; the examples of the catalogue's F-24."""
    batch_cpu_ms = msg_cpu_ms * achieved_batch_msgs
    exact = wait_cpu_ms / batch_cpu_ms * 100
    steps = (
        f"a batch: {achieved_batch_msgs:,} messages x {msg_cpu_ms:,} CPU ms = {batch_cpu_ms:,.6g} CPU ms",
        f"{wait_cpu_ms:,} / {batch_cpu_ms:,.6g} CPU ms = {exact:,.2f} %",
    )
    return Outcome(round(exact, 2), "%", steps, exact=exact)
