"""Shared queues: their cost beside private ones, in queue managers and coupling facility; scans for
expired messages.
"""

from __future__ import annotations

from itertools import pairwise

from mqvitals_rules.plan.formula import HIGHLIGHTS, Input, PlanError, Result, TableRow, formula

_Measured = tuple[tuple[int, float], ...]

_MORE_PCT: dict[str, _Measured] = {
    "persistent": ((1000, 37), (5000, 0)),
    "non-persistent": ((1000, 100), (5000, 75), (64_512, 16)),
}
"""Length of the message in bytes; CPU time in percent more than of a private queue, with one queue manager."""
_EACH_EXTRA_PCT: dict[str, _Measured] = {
    "persistent": ((1000, 9), (5000, 8)),
    "non-persistent": ((1000, 5), (5000, 5), (64_512, 5)),
}
_CF_US: _Measured = ((1000, 200), (5000, 270))
"""Length of the message in bytes; microseconds of a processor of the coupling facility."""
_MEASURED_QUEUE_MANAGERS = {"persistent": 4, "non-persistent": 2}
CF_GUIDELINE_PCT = 50
_MEASURED_ON = "2064 (1C3 persistent, 1C2 non-persistent), z/OS 1.2, CFP links to a 3-way coupling facility; V5.3"


def _between(measured: _Measured, msg_bytes: int) -> float:
    """Linear interpolation between the two measured lengths around this one."""
    for (shorter, first), (longer, second) in pairwise(measured):
        if msg_bytes <= longer:
            return first + (second - first) * (msg_bytes - shorter) / (longer - shorter)
    raise PlanError(f"msg-bytes must be {measured[0][0]:,} to {measured[-1][0]:,} bytes, not {msg_bytes:,}")


def _straight(measured: _Measured, msg_bytes: int) -> str:
    if any(msg_bytes == each for each, _ in measured):
        return ""
    lengths = ", ".join(f"{each:,}" for each, _ in measured)
    return f"Only {lengths} bytes were measured; between them a straight line is assumed."


def _cpu_rows() -> tuple[TableRow, ...]:
    return tuple(
        {
            "persistence": persistence,
            "msg_bytes": msg_bytes,
            "more_cpu_pct": more,
            "each_extra_queue_manager_pct": _between(_EACH_EXTRA_PCT[persistence], msg_bytes),
        }
        for persistence, measured in _MORE_PCT.items()
        for msg_bytes, more in measured
    )


@formula(
    "shared-queue-cpu",
    number="F-29",
    title="CPU time of request and reply by shared queues against private ones",
    inputs=(
        Input("persistence", "", "of the messages", words=tuple(_MORE_PCT)),
        Input("msg_bytes", "bytes", "length of a message; persistent ones were measured up to 5,000", 1000, 64_512),
        Input("queue_managers", "queue managers", "that work on the shared queues", 1, 32, default=1),
    ),
    measured_on=_MEASURED_ON,
    caveat=(
        "Rules of thumb, against private queues at their best: every message stayed in the buffer pool. What an extra queue manager"
        " adds is read as percent of the private cost, added up, not compounded. Where the reason is a remote queue in the same sysplex,"
        " a shared queue spares the channels too, which is not counted here."
    ),
    source=f"{HIGHLIGHTS} · 2.3.2 Shared queue persistent message - CPU costs; 2.4.2 Shared queue non persistent message - CPU costs",
    example={"persistence": "persistent", "msg_bytes": 1000, "queue_managers": 3},
)
def shared_queue_cpu(persistence: str, msg_bytes: int, queue_managers: int) -> Result:
    """Percent more CPU time than with private queues."""
    measured = _MORE_PCT[persistence]
    longest = measured[-1][0]
    if msg_bytes > longest:
        raise PlanError(f"msg-bytes must be 1,000 to {longest:,} bytes for {persistence} messages, not {msg_bytes:,}")
    more = _between(measured, msg_bytes)
    each_extra = _between(_EACH_EXTRA_PCT[persistence], msg_bytes)
    extra = queue_managers - 1
    total = more + extra * each_extra
    compounded = ((1 + more / 100) * (1 + each_extra / 100) ** extra - 1) * 100
    steps = [
        f"{more:+.1f} % with one queue manager, {persistence}, {msg_bytes:,} bytes",
        f"{more:.1f} + {extra} extra queue managers x {each_extra:.2f} % = {total:+.1f} %",
    ]
    if extra:
        steps.append(f"compounded it would be {compounded:+.1f} %")
    caveats = [_straight(measured, msg_bytes)]
    most = _MEASURED_QUEUE_MANAGERS[persistence]
    if queue_managers > most:
        caveats.append(f"No more than {most} queue managers were measured with {persistence} messages.")
    return Result(total, "%", tuple(steps), rows=_cpu_rows(), caveat=" ".join(each for each in caveats if each))


SHARED_RATE_LOST_PCT = 8


@formula(
    "shared-queue-rate",
    number="F-29",
    title="Persistent rate of one queue manager on shared queues, from that on private ones",
    inputs=(Input("private_per_s", "messages/s", "greatest rate on private queues", 0, 1e7, fraction=True),),
    measured_on="2064-1C3, z/OS 1.2, CFP links to a 3-way coupling facility, ESS 2105-F20; V5.3",
    caveat="Of one queue manager: with more of them, each with its own log, the same queues carry a multiple.",
    source=f"{HIGHLIGHTS} · 2.3.1 Shared queue persistent message - throughput",
    example={"private_per_s": 1000},
)
def shared_queue_rate(private_per_s: float) -> Result:
    """Messages a second."""
    shared = private_per_s * (100 - SHARED_RATE_LOST_PCT) / 100
    step = f"{private_per_s:,.10g} messages/s less about {SHARED_RATE_LOST_PCT} % = {shared:,.1f} messages/s"
    return Result(shared, "messages/s", (step,))


_STRUCTURE_PCT = {"1": 0, "2": 21}


@formula(
    "cf-structures-cpu",
    number="F-29",
    title="CPU time of using two application structures against one",
    inputs=(
        Input(
            "structures", "", "application structures in the units of work", default="2", words=tuple(_STRUCTURE_PCT)
        ),
    ),
    measured_on="request and reply driven locally; V5.2, machine not named here",
    caveat="Nothing more where every MQGET and MQPUT is out of syncpoint.",
    source=f"{HIGHLIGHTS} · 2.2.1 How many CF structures should be defined ?",
    example={"structures": "2"},
)
def cf_structures_cpu(structures: str) -> Result:
    """Percent more CPU time than with one structure."""
    more = _STRUCTURE_PCT[structures]
    rows: tuple[TableRow, ...] = tuple(
        {"structures": int(each), "more_cpu_pct": pct} for each, pct in _STRUCTURE_PCT.items()
    )
    return Result(more, "%", (f"{more:+d} % CPU time with {structures} against 1",), rows=rows)


_LINK_PCT = {"ICS": 13, "CBS": 16, "CFS": 34}


@formula(
    "cf-link-cpu",
    number="F-29",
    title="CPU time of shared queues by the type of coupling link",
    inputs=(Input("link", "", "type of the link", words=tuple(_LINK_PCT)),),
    measured_on="9672, thin clients, 1000-byte non-persistent messages; V5.2 shared against V2.1 private",
    caveat=(
        "Depends much on the workload, and is most for short messages. ICS stays in the box, CBS reaches 10 metres, CFS 27 km; on 2064 they"
        " are ICP, CBP and CFP, measured with other figures."
    ),
    source=f"{HIGHLIGHTS} · 2.1 CF link type and shared queue performance",
    example={"link": "CFS"},
)
def cf_link_cpu(link: str) -> Result:
    """Percent more CPU time than with private queues."""
    more = _LINK_PCT[link]
    rows: tuple[TableRow, ...] = tuple({"link": each, "more_cpu_pct": pct} for each, pct in _LINK_PCT.items())
    return Result(more, "%", (f"about {more:+d} % CPU time with {link} links",), rows=rows)


@formula(
    "cf-processor-use",
    number="F-30",
    title="How busy shared-queue messages keep the coupling facility",
    inputs=(
        Input("msgs_per_s", "messages/s", "shared messages put and got, persistent or not", 0, 1e7, fraction=True),
        Input("msg_bytes", "bytes", "length of a message", 1000, 5000, default=1000),
        Input("cf_processors", "processors", "of the coupling facility", 1, 64),
    ),
    measured_on=_MEASURED_ON,
    caveat=(
        f"By CFP links. Keep a coupling facility under {CF_GUIDELINE_PCT} %, so that it can take over the work of another. The cost of a"
        " message does not grow with the number of queue managers."
    ),
    source=f"{HIGHLIGHTS} · 2.3.3 Shared queue persistent message - CF usage; 2.4.3 Shared queue non persistent message - CF costs",
    example={"msgs_per_s": 11_000, "msg_bytes": 1000, "cf_processors": 3},
)
def cf_processor_use(msgs_per_s: float, msg_bytes: int, cf_processors: int) -> Result:
    """Percent of its processors."""
    each_us = _between(_CF_US, msg_bytes)
    available_us = cf_processors * 1_000_000
    use = msgs_per_s * each_us / available_us * 100
    most = CF_GUIDELINE_PCT / 100 * available_us / each_us
    side = "above" if use > CF_GUIDELINE_PCT else "within"
    steps = (
        f"a message of {msg_bytes:,} bytes takes {each_us:,.1f} CF microseconds",
        f"{msgs_per_s:,.10g} messages/s x {each_us:,.1f} us / ({cf_processors} x 1,000,000 us) = {use:,.1f} %",
        f"{side} the guideline of {CF_GUIDELINE_PCT} %, which {most:,.0f} messages/s reach",
    )
    caveats = [_straight(_CF_US, msg_bytes)]
    if use > 100:
        caveats.append("More than the coupling facility can do.")
    rows: tuple[TableRow, ...] = tuple({"msg_bytes": each, "cf_us_per_message": us} for each, us in _CF_US)
    return Result(use, "%", steps, rows=rows, caveat=" ".join(each for each in caveats if each))


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
def expiry_scan_cost(shared_queues: int, interval_s: int, queue_cpu_ms: float) -> Result:
    """CPU milliseconds in each second, on average."""
    scan_ms = shared_queues * queue_cpu_ms
    cost = scan_ms / interval_s
    steps = (
        f"a scan: {shared_queues:,} queues x {queue_cpu_ms:,} = {scan_ms:,.1f} CPU milliseconds",
        f"every {interval_s:,} seconds: {cost:,.3f} CPU milliseconds per second",
    )
    return Result(cost, "CPU ms/s", steps)
