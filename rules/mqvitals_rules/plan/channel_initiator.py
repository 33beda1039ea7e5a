"""The channel initiator: adapter and dispatcher tasks, and channels with SSL or TLS."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from mqvitals_rules.plan.formula import (
    HIGHLIGHTS,
    INTERCEPTION,
    MOST_PROCESSORS,
    MOST_US,
    TUNING,
    Input,
    PlanError,
    Result,
    TableRow,
    formula,
)

DEFAULT_ADAPTERS = 8
MOST_TASKS = 9999
ADAPTER_CPU_US = 35
REQUESTS_PER_TRANSACTION = 3.03
"""Adapter requests of one transaction. With it rate, elapsed time and busy share of both tables agree."""
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
"""By dispatchers: transactions a second, CPU us of a transaction, average elapsed us and busy percent of adapters."""
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
_TASKS_MEASURED_ON = "z14 (3906-7E1), 3 processors a system, V9.1.3, 50 channel pairs, AMS interception, confidentiality with key reuse 32, 32 KB non-persistent"


def _busy_pct(requests_per_s: float, avg_elapsed_us: float, adapters: int) -> float:
    return requests_per_s * avg_elapsed_us / (adapters * 1e6) * 100


def _task_row(dispatchers: int, adapters: int, rest: tuple[int, int, int, int]) -> dict[str, int | float]:
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
def chiadaps(processors: int) -> Result:
    """Adapter tasks, 30 to 120."""
    more = max(0, processors - 4)
    wanted = 30 + 8 * more
    steps = [f"30 for up to 4 processors + 8 x {more:,} more = {wanted:,} adapters"]
    if wanted > 120:
        steps.append("at most 120; no harm was seen from so many where fewer would do")
    return Result(min(120, wanted), "adapters", tuple(steps))


@formula(
    "chidisps",
    number="F-22",
    title="Most dispatchers that make sense, and what their number did in a measurement",
    inputs=(Input("processors", "processors", "processors of the LPAR", 1, MOST_PROCESSORS),),
    measured_on=_TASKS_MEASURED_ON,
    caveat=(
        "An upper bound: as few as possible, as long as none is used at capacity. With AMS interception the best rate came with 2 to 3; fewer may"
        " hold up other channels."
    ),
    source=(f"{TUNING} · Chinit Statistics - Dispatchers; {INTERCEPTION} · Varying the number of dispatchers"),
    example={"processors": 3},
)
def chidisps(processors: int) -> Result:
    """Dispatcher tasks, no more than processors; the table is that of F-22."""
    rows: tuple[TableRow, ...] = tuple(
        {
            **_task_row(dispatchers, TABLE_ADAPTERS, rest),
            "adapter_avg_cpu_us": ADAPTER_CPU_US,
            "adapter_wait_us": rest[2] - ADAPTER_CPU_US,
        }
        for dispatchers, rest in _DISPATCHER_TABLE.items()
    )
    steps = (
        f"no more dispatchers than processors: {processors:,}",
        f"measured with {TABLE_ADAPTERS} adapters: more dispatchers than 3 only made adapters wait longer",
    )
    return Result(processors, "dispatchers", steps, rows=rows)


@formula(
    "adapter-wait",
    number="F-22",
    title="Wait in an adapter request",
    inputs=(
        Input("avg_elapsed_us", "us", "average elapsed time of a request", 0, MOST_US, fraction=True),
        Input("avg_cpu_us", "us", "average CPU time of a request", 0, MOST_US, fraction=True),
    ),
    measured_on=_TASKS_MEASURED_ON,
    caveat=(
        "Waits for log writes, message selection, a full buffer pool, the local lock or cryptographic hardware; where processors are short, for"
        " those too."
    ),
    source=f"{INTERCEPTION} · Varying the number of dispatchers",
    example={"avg_elapsed_us": 242, "avg_cpu_us": 35},
)
def adapter_wait(avg_elapsed_us: float, avg_cpu_us: float) -> Result:
    """Microseconds a request. Raises PlanError for more CPU than elapsed time."""
    if avg_cpu_us > avg_elapsed_us:
        raise PlanError(f"avg-cpu-us must be at most avg-elapsed-us, {avg_elapsed_us:,} us, not {avg_cpu_us!r}")
    wait = avg_elapsed_us - avg_cpu_us
    return Result(wait, "us", (f"{avg_elapsed_us:,} us elapsed - {avg_cpu_us:,} us CPU = {wait:,.6g} us",))


@formula(
    "adapter-busy",
    number="F-22",
    title="How busy the adapters are, and what their number did in a measurement",
    inputs=(
        Input("requests_per_s", "requests/s", "adapter requests of all tasks", 0, 1e9, fraction=True),
        Input("avg_elapsed_us", "us", "average elapsed time of a request", 0, MOST_US, fraction=True),
        Input("adapters", "adapters", "adapter tasks (CHIADAPS)", 1, MOST_TASKS),
    ),
    measured_on=_TASKS_MEASURED_ON,
    caveat=(
        "Derived, an average over all tasks. Elapsed time is taken to stay as it is: more adapters may wait longer for the local lock, more"
        f" requests longer for the log. The table's derived column takes {REQUESTS_PER_TRANSACTION} requests a transaction."
    ),
    source=f"{INTERCEPTION} · Varying the number of adapters",
    example={"requests_per_s": 44_194, "avg_elapsed_us": 102, "adapters": 5},
)
def adapter_busy(requests_per_s: float, avg_elapsed_us: float, adapters: int) -> Result:
    """Percent of the adapters' time."""
    exact = _busy_pct(requests_per_s, avg_elapsed_us, adapters)
    steps = (
        f"{requests_per_s:,} requests/s x {avg_elapsed_us:,} us = {requests_per_s * avg_elapsed_us:,.0f} us/s",
        f"{adapters:,} adapters have {adapters * 1_000_000:,} us/s: {exact:,.1f} %",
    )
    caveat = "More than the adapters can do: requests wait for a free one." if exact > 100 else ""
    rows = tuple(_task_row(TABLE_DISPATCHERS, count, rest) for count, rest in _ADAPTER_TABLE.items())
    return Result(round(exact, 3), "%", steps, exact=exact, rows=rows, caveat=caveat)


CHANNEL_KB = 210
FREE_MESSAGE_KB = 32
"""Up to this a channel's 210 KB hold its message too."""
MOST_MESSAGE_KB = 102_400


@formula(
    "ssl-channels",
    number="F-06",
    title="Most SSL channels of a channel initiator",
    inputs=(
        Input("max_msg_kb", "KB", "the longest message of these channels", 0, MOST_MESSAGE_KB, fraction=True),
        Input("epvt_kb", "KB", "extended private region of the channel initiator", 1, 2_097_152, default=1_600_000),
    ),
    measured_on="V5.3; the machine is not named",
    caveat=(
        "An old release: replace it by the storage that the channel initiator reports. All channels are taken to move the longest message at"
        " the same time."
    ),
    source=f"{HIGHLIGHTS} · 5.3 What is the maximum number of SSL channels?",
    example={"epvt_kb": 1_600_000, "max_msg_kb": 4000},
)
def ssl_channels(max_msg_kb: float, epvt_kb: int) -> Result:
    """Whole channels."""
    message_kb = max_msg_kb if max_msg_kb > FREE_MESSAGE_KB else 0
    each_kb = CHANNEL_KB + message_kb
    exact = epvt_kb / each_kb
    why = f"{max_msg_kb:,} KB of message" if message_kb else f"nothing for messages of at most {FREE_MESSAGE_KB} KB"
    steps = [
        f"a channel takes {CHANNEL_KB} KB and {why}: {each_kb:,} KB",
        f"{epvt_kb:,} KB / {each_kb:,} KB = {exact:,.1f} channels",
    ]
    if not message_kb:
        steps.append("the document gives around 7500 for 1.6 GB: 1,600,000 KB give 7,619, and 1,677,721 KB give 7,989")
    return Result(floor(exact), "channels", tuple(steps), exact=exact)


@dataclass(frozen=True, slots=True)
class _End:
    """CPU of a message at one end, in ms."""

    constant: float
    per_kb: float

    def cost(self, msg_kb: float) -> float:
        return round(self.constant + self.per_kb * msg_kb, 9)


@dataclass(frozen=True, slots=True)
class _Cipher:
    """``ccf``: for machines with the Cryptographic Coprocessor Feature or without; ``any`` where that makes no
    difference.
    """

    name: str
    ccf: str
    sender: _End
    receiver: _End
    printed: _End | None = None


_CIPHERS = (
    _Cipher("NULL_MD5", "any", _End(0.15, 0.045), _End(0.12, 0.049), printed=_End(0.12, 0.49)),
    _Cipher("RC4_MD5_EXPORT", "any", _End(0.15, 0.1), _End(0.2, 0.105)),
    _Cipher("TRIPLE_DES_SHA_US", "yes", _End(0.2, 0.14), _End(0.2, 0.144)),
    _Cipher("TRIPLE_DES_SHA_US", "no", _End(0.5, 0.89), _End(0.5, 0.9)),
)


def _row(cipher: _Cipher, msg_kb: float) -> TableRow:
    printed = cipher.printed
    return {
        "cipherspec": cipher.name,
        "ccf": cipher.ccf,
        "sender_constant_ms": cipher.sender.constant,
        "sender_ms_per_kb": cipher.sender.per_kb,
        "receiver_constant_ms": cipher.receiver.constant,
        "receiver_ms_per_kb": cipher.receiver.per_kb,
        "document_receiver_ms_per_kb": printed.per_kb if printed else None,
        "sender_ms": cipher.sender.cost(msg_kb),
        "receiver_ms": cipher.receiver.cost(msg_kb),
        "document_receiver_ms": printed.cost(msg_kb) if printed else None,
    }


@formula(
    "ssl-cpu",
    number="F-07",
    title="CPU that SSL adds to a message",
    inputs=(
        Input("msg_kb", "KB", "length of the message", 0, MOST_MESSAGE_KB, fraction=True),
        Input("cipherspec", "", "SSLCIPH", words=("NULL_MD5", "RC4_MD5_EXPORT", "TRIPLE_DES_SHA_US")),
        Input(
            "ccf",
            "",
            "Cryptographic Coprocessor Feature; it matters for triple DES alone",
            words=("yes", "no"),
            default="yes",
        ),
        Input(
            "end",
            "",
            "sender: put and send; receiver: receive and get; both: their sum",
            words=("both", "sender", "receiver"),
            default="both",
        ),
    ),
    measured_on="V5.3; the machine is not named; FRW1 cryptographic coprocessor where there is one",
    caveat="Historical: these cipherspecs and machines are obsolete. What still holds is that algorithm, hardware and length decide.",
    source=f"{HIGHLIGHTS} · 5.2 Moving Messages",
    example={"msg_kb": 5, "cipherspec": "RC4_MD5_EXPORT", "end": "sender"},
)
def ssl_cpu(msg_kb: float, cipherspec: str, ccf: str, end: str) -> Result:
    """CPU milliseconds for a message."""
    cipher = next(each for each in _CIPHERS if each.name == cipherspec and each.ccf in {"any", ccf})
    ends = [
        (name, side)
        for name, side in (("sender", cipher.sender), ("receiver", cipher.receiver))
        if end in {name, "both"}
    ]
    steps = [
        f"{name}: {side.constant} ms + {side.per_kb} ms/KB x {msg_kb:,} KB = {side.cost(msg_kb):,.6g} CPU ms"
        for name, side in ends
    ]
    value = round(sum(side.cost(msg_kb) for _, side in ends), 9)
    if len(ends) > 1:
        steps.append(f"both ends: {value:,.6g} CPU ms")
    caveat = ""
    if cipher.printed and end != "sender":
        caveat = (
            f"The document prints {cipher.printed.per_kb} ms/KB for the receiver, ten times the sender's: {cipher.printed.cost(msg_kb):,.6g} CPU ms"
            f" there. {cipher.receiver.per_kb} is what is suspected."
        )
    return Result(value, "CPU ms", tuple(steps), rows=tuple(_row(each, msg_kb) for each in _CIPHERS), caveat=caveat)
