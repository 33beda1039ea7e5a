"""Adapter and dispatcher tasks of the channel initiator."""

from __future__ import annotations

from mqvitals_rules.plan.answer import Outcome, Row
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.question import Input, PlanError

INTERCEPTION = "IBM MQ for z/OS V9.1.3 AMS Interception on Server to Server Message Channels"
MOST_PROCESSORS = 256
DEFAULT_ADAPTERS = 8
MOST_TASKS = 9999
MOST_US = 60e6
ADAPTER_CPU_US = 35
REQUESTS_PER_TRANSACTION = 3.03
"""Adapter requests of one transaction: what makes rate and elapsed time of both tables agree with how busy they say the adapters were."""
TABLE_ADAPTERS = 10
TABLE_DISPATCHERS = 3

_DISPATCHER_TABLE = {
    1: (12_839, 454, 53, 20),
    2: (14_639, 469, 83, 37),
    3: (14_721, 469, 111, 49),
    4: (14_362, 479, 141, 58),
    5: (14_095, 477, 169, 72),
    6: (14_387, 473, 183, 80),
    8: (13_913, 477, 223, 93),
    10: (13_623, 471, 242, 100),
}
"""By dispatchers: transactions a second, CPU us of a transaction, adapter's average elapsed us, adapters busy in percent."""
_ADAPTER_TABLE = {
    1: (10_022, 439, 33, 100),
    2: (13_291, 454, 50, 100),
    3: (14_000, 465, 71, 100),
    4: (14_215, 465, 93, 100),
    5: (14_585, 469, 102, 90),
    6: (14_487, 474, 108, 79),
    8: (14_746, 464, 110, 61),
    10: (14_527, 474, 111, 49),
}
"""By adapters, the same."""
_MEASURED_ON = "z14 (3906-7E1), 3 processors a system, V9.1.3, 50 channel pairs, AMS interception, confidentiality with key reuse 32, 32 KB non-persistent"


def _busy_pct(requests_per_s: float, avg_elapsed_us: float, adapters: int) -> float:
    return requests_per_s * avg_elapsed_us / (adapters * 1e6) * 100


def _row(dispatchers: int, adapters: int, rest: tuple[int, int, int, int]) -> dict[str, int | float]:
    transactions_per_s, transaction_cpu_us, avg_elapsed_us, busy_pct = rest
    derived = _busy_pct(transactions_per_s * REQUESTS_PER_TRANSACTION, avg_elapsed_us, adapters)
    return {
        "dispatchers": dispatchers,
        "adapters": adapters,
        "transactions_per_s": transactions_per_s,
        "transaction_cpu_us": transaction_cpu_us,
        "adapter_avg_elapsed_us": avg_elapsed_us,
        "adapters_busy_pct": busy_pct,
        "derived_busy_pct": round(derived, 1),
    }


@formula(
    "chiadaps",
    number="F-21",
    title="CHIADAPS for persistent messages or AMS interception",
    inputs=(Input("processors", "processors", "processors of the LPAR", 1, MOST_PROCESSORS),),
    measured_on="a rule of thumb; the document prints the rule, the values follow",
    caveat=(
        f"The default is {DEFAULT_ADAPTERS}. For channel work that waits: persistent messages, AMS interception. Where the channel initiator does"
        " interception alone, more adapters may only wait longer for the local lock. It takes effect when the channel initiator starts again."
    ),
    source=f"{INTERCEPTION} · Guidance for adapters and dispatchers with AMS Message Channel Interception",
    example={"processors": 8},
)
def chiadaps(processors: int) -> Outcome:
    """Adapter tasks, 30 to 120; the catalogue's F-21."""
    more = max(0, processors - 4)
    wanted = 30 + 8 * more
    steps = [f"30 for up to 4 processors + 8 x {more:,} more = {wanted:,} adapters"]
    if wanted > 120:
        steps.append("at most 120; no harm was seen from so many where fewer would do")
    return Outcome(min(120, wanted), "adapters", tuple(steps))


@formula(
    "chidisps",
    number="F-22",
    title="Most dispatchers that make sense, and what their number did in a measurement",
    inputs=(Input("processors", "processors", "processors of the LPAR", 1, MOST_PROCESSORS),),
    measured_on=_MEASURED_ON,
    caveat=(
        "An upper bound: as few as possible, as long as none is used at capacity. With AMS interception the best rate came with 2 to 3; fewer may"
        " hold up other channels."
    ),
    source=(
        "Performance Tuning and Problem Determination · Chinit Statistics - Dispatchers;"
        f" {INTERCEPTION} · Varying the number of dispatchers"
    ),
    example={"processors": 3},
)
def chidisps(processors: int) -> Outcome:
    """Dispatcher tasks, no more than processors; the bound has no number in the catalogue, the table is that of F-22."""
    rows: tuple[Row, ...] = tuple(
        {
            **_row(dispatchers, TABLE_ADAPTERS, rest),
            "adapter_avg_cpu_us": ADAPTER_CPU_US,
            "adapter_wait_us": rest[2] - ADAPTER_CPU_US,
        }
        for dispatchers, rest in _DISPATCHER_TABLE.items()
    )
    steps = (
        f"no more dispatchers than processors: {processors:,}",
        f"measured with {TABLE_ADAPTERS} adapters: more dispatchers than 3 only made adapters wait longer",
    )
    return Outcome(processors, "dispatchers", steps, rows=rows)


@formula(
    "adapter-wait",
    number="F-22",
    title="Wait in an adapter request",
    inputs=(
        Input("avg_elapsed_us", "us", "average elapsed time of a request", 0, MOST_US, fraction=True),
        Input("avg_cpu_us", "us", "average CPU time of a request", 0, MOST_US, fraction=True),
    ),
    measured_on=_MEASURED_ON,
    caveat=(
        "Waits for log writes, message selection, a full buffer pool, the local lock or cryptographic hardware; where processors are short, for"
        " those too."
    ),
    source=f"{INTERCEPTION} · Varying the number of dispatchers",
    example={"avg_elapsed_us": 242, "avg_cpu_us": 35},
)
def adapter_wait(avg_elapsed_us: float, avg_cpu_us: float) -> Outcome:
    """Microseconds a request; the catalogue's F-22. Raises PlanError for more CPU than elapsed time."""
    if avg_cpu_us > avg_elapsed_us:
        raise PlanError(f"avg-cpu-us must be at most avg-elapsed-us, {avg_elapsed_us:,} us, not {avg_cpu_us!r}")
    wait = avg_elapsed_us - avg_cpu_us
    return Outcome(wait, "us", (f"{avg_elapsed_us:,} us elapsed - {avg_cpu_us:,} us CPU = {wait:,.6g} us",))


@formula(
    "adapter-busy",
    number="F-22",
    title="How busy the adapters are, and what their number did in a measurement",
    inputs=(
        Input("requests_per_s", "requests/s", "adapter requests of all tasks", 0, 1e9, fraction=True),
        Input("avg_elapsed_us", "us", "average elapsed time of a request", 0, MOST_US, fraction=True),
        Input("adapters", "adapters", "adapter tasks (CHIADAPS)", 1, MOST_TASKS),
    ),
    measured_on=_MEASURED_ON,
    caveat=(
        "Derived, an average over all tasks. Elapsed time is taken to stay as it is: more adapters may wait longer for the local lock, more"
        f" requests longer for the log. The table's derived column takes {REQUESTS_PER_TRANSACTION} requests a transaction."
    ),
    source=f"{INTERCEPTION} · Varying the number of adapters",
    example={"requests_per_s": 44_194, "avg_elapsed_us": 102, "adapters": 5},
)
def adapter_busy(requests_per_s: float, avg_elapsed_us: float, adapters: int) -> Outcome:
    """Percent of the adapters' time; the catalogue's F-22."""
    exact = _busy_pct(requests_per_s, avg_elapsed_us, adapters)
    steps = (
        f"{requests_per_s:,} requests/s x {avg_elapsed_us:,} us = {requests_per_s * avg_elapsed_us:,.0f} us/s",
        f"{adapters:,} adapters have {adapters * 1_000_000:,} us/s: {exact:,.1f} %",
    )
    caveat = "More than the adapters can do: requests wait for a free one." if exact > 100 else ""
    rows = tuple(_row(TABLE_DISPATCHERS, count, rest) for count, rest in _ADAPTER_TABLE.items())
    return Outcome(round(exact, 3), "%", steps, exact=exact, rows=rows, caveat=caveat)
