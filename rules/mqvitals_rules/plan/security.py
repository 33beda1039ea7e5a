"""Advanced Message Security (what a policy costs, what key reuse saves), and storage of the security manager."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from mqvitals_rules.plan.formula import INTERCEPTION, MP1G, Input, Result, TableRow, formula

_MEASURED_ON = "z14 (3906-7E1), 3 processors per partition, CryptoExpress6, z/OS 2.3, IBM MQ V9.1.3"
_BASE_CPU_US = 200
"""About what an unprotected request with its reply took: the 150 microseconds more were 75 %."""
_BASE_PER_S = 1737


class _Protection(NamedTuple):
    """``added_us``: CPU added to a request with its reply.

    ``rate``: share of the unprotected rate. ``derived``: how, if so.
    """

    added_us: int
    rate: float
    derived: str


_PROTECTIONS: dict[str, _Protection] = {
    "confidentiality": _Protection(150, 0.78, ""),
    "confidentiality-two-islands": _Protection(
        150 + 110, 0.78 * 0.87, "110 microseconds and 13 % less rate than end to end"
    ),
    "privacy": _Protection(
        3 * _BASE_CPU_US, 0.25, f"four times the measured {_BASE_CPU_US} microseconds, so three times that on top"
    ),
}


@formula(
    "ams-cost",
    number="F-25",
    title="CPU of a transaction when its messages are protected",
    inputs=(
        Input("protection", "", "policy; confidentiality is with key reuse 32", words=tuple(_PROTECTIONS)),
        Input("direction", "", "of the messages", default="request-reply", words=("request-reply", "one-way")),
        Input("base_cpu_us", "microseconds", "CPU of the unprotected transaction", 1, 1e9, _BASE_CPU_US, fraction=True),
    ),
    measured_on=f"{_MEASURED_ON}; request and reply of 32 KB, non-persistent, one channel pair",
    caveat=(
        "The microseconds added do not depend on what the application itself costs; the percentages and rates do, and hold for one that"
        " does nothing else. End to end or by interception the sum is about the same: it moves to the intercepting side."
    ),
    source=f"{INTERCEPTION} · AMS Confidentiality with key reuse 32; AMS Privacy; Two data islands",
    example={"protection": "confidentiality"},
)
def ams_cost(protection: str, direction: str, base_cpu_us: float) -> Result:
    """CPU microseconds a transaction."""
    flows = 2 if direction == "request-reply" else 1
    rows: list[TableRow] = [_protection_row("unprotected", 0, 1, flows, base_cpu_us)]
    rows += [_protection_row(name, each.added_us, each.rate, flows, base_cpu_us) for name, each in _PROTECTIONS.items()]
    chosen = _PROTECTIONS[protection]
    added_us = chosen.added_us * flows / 2
    steps = []
    if chosen.derived:
        steps.append(f"{protection}: {chosen.derived}")
    if flows == 1:
        steps.append(f"one direction takes half of {chosen.added_us} = {added_us:g} CPU microseconds")
    steps.append(
        f"{base_cpu_us:,} + {added_us:g} = {base_cpu_us + added_us:,.1f} CPU microseconds ({100 * added_us / base_cpu_us:+.1f} %)"
    )
    if flows == 2:
        steps.append(f"measured rate {_BASE_PER_S:,} x {chosen.rate:.4g} = {_BASE_PER_S * chosen.rate:,.0f} per second")
    return Result(
        base_cpu_us + added_us,
        "CPU microseconds per transaction",
        tuple(steps),
        rows=tuple(rows),
        caveat=_protection_caveat(protection, flows),
    )


def _protection_row(name: str, added_us: float, rate: float, flows: int, base_cpu_us: float) -> TableRow:
    each_us = added_us * flows / 2
    return {
        "protection": name,
        "added_cpu_us": each_us,
        "cpu_us": base_cpu_us + each_us,
        "added_pct": 100 * each_us / base_cpu_us,
        "measured_rate_per_s": _BASE_PER_S * rate if flows == 2 else None,
    }


def _protection_caveat(protection: str, flows: int) -> str:
    sentences = []
    if flows == 1 and protection != "confidentiality":
        sentences.append("Half of both directions is derived: the document halves confidentiality end to end alone.")
    if protection == "privacy":
        sentences.append(
            "The document's chapter on privacy prints 75 microseconds more, which is one direction of confidentiality."
        )
    if protection == "confidentiality-two-islands":
        sentences.append(
            "With up to 50 channel pairs the second island took 100 to 140 microseconds, and up to 17 % of the rate."
        )
    return " ".join(sentences)


_SCALING: dict[str, float] = {"unprotected": 4.0, "end-to-end": 4.6, "interception": 4.3}
"""Rate of five channel pairs with privacy, in rates of one pair."""


@formula(
    "ams-channel-scaling",
    number="F-25",
    title="Rate of five channel pairs with privacy",
    inputs=(
        Input("one_pair_per_s", "per second", "transactions of one channel pair", 0, 1e9, fraction=True),
        Input("protection", "", "where messages are protected", words=tuple(_SCALING)),
    ),
    measured_on=f"{_MEASURED_ON}; request and reply of 32 KB, non-persistent, privacy",
    caveat="Measured from one to five pairs. Interception works all its cryptography on one partition.",
    source=f"{INTERCEPTION} · AMS Privacy",
    example={"one_pair_per_s": 100, "protection": "interception"},
)
def ams_channel_scaling(one_pair_per_s: float, protection: str) -> Result:
    """Transactions a second."""
    rows: list[TableRow] = [
        {"protection": name, "factor": factor, "five_pairs_per_s": one_pair_per_s * factor}
        for name, factor in _SCALING.items()
    ]
    rate = one_pair_per_s * _SCALING[protection]
    steps = (
        f"{one_pair_per_s:,} x {_SCALING[protection]} = {rate:,.1f} per second",
        "interception 4.3 against end to end 4.6 is 6.5 % less; the document gives about 5 %",
    )
    return Result(rate, "per second", steps, rows=tuple(rows))


class _Streaming(NamedTuple):
    """CPU microseconds a message, and whether 10,000 messages a second were reached (``kept``).

    ``get_us``: of each MQGET. ``least_us`` to ``most_us``: of queue manager and channel initiator.
    """

    get_us: int
    least_us: int
    most_us: int
    kept: bool


_STREAMING: dict[str, _Streaming] = {
    "none": _Streaming(0, 0, 0, kept=True),
    "integrity": _Streaming(13, 10, 14, kept=False),
    "privacy": _Streaming(14, 10, 14, kept=False),
    "confidentiality-reuse-1": _Streaming(5, 10, 14, kept=False),
    "confidentiality-reuse-32": _Streaming(5, 7, 7, kept=True),
    "confidentiality-reuse-64": _Streaming(5, 7, 7, kept=True),
    "confidentiality-reuse-unlimited": _Streaming(5, 7, 7, kept=True),
}
TARGET_PER_S = 10_000


@formula(
    "ams-streaming-cost",
    number="F-25",
    title="CPU that protection adds to a stream of messages",
    inputs=(
        Input("msgs_per_s", "per second", "messages of 2 KB, non-persistent", 0, 1e6, TARGET_PER_S, fraction=True),
        Input("protection", "", "policy with its key reuse", words=tuple(_STREAMING)),
    ),
    measured_on=f"{_MEASURED_ON}; 2 KB non-persistent messages from a distributed partner, one channel",
    caveat="Receiving side alone. For policies that missed the target the sum is the higher end of a range.",
    source=f"{INTERCEPTION} · Business Partner streaming to AMS Interception-protected Enterprise",
    example={"msgs_per_s": 10_000, "protection": "confidentiality-reuse-32"},
)
def ams_streaming_cost(msgs_per_s: float, protection: str) -> Result:
    """CPU milliseconds in each second, the higher end of a range."""
    rows: list[TableRow] = [
        {
            "protection": name,
            "get_us": each.get_us,
            "mq_least_us": each.least_us,
            "mq_most_us": each.most_us,
            "cpu_ms_per_s": msgs_per_s * (each.get_us + each.most_us) / 1000,
            "kept_10000_per_s": "yes" if each.kept else "no",
        }
        for name, each in _STREAMING.items()
    ]
    chosen = _STREAMING[protection]
    most_us = chosen.get_us + chosen.most_us
    cost = msgs_per_s * most_us / 1000
    mq_us, at_most = f"{chosen.most_us}", ""
    if chosen.least_us != chosen.most_us:
        mq_us, at_most = f"{chosen.least_us} to {chosen.most_us}", "at most "
    steps = (
        f"MQGET {chosen.get_us} + queue manager and channel initiator {mq_us} = {at_most}{most_us} CPU microseconds a message",
        f"{msgs_per_s:,} per second x {most_us} = {cost:,.1f} CPU milliseconds per second",
    )
    missed = "" if chosen.kept else f"This policy did not keep up with {TARGET_PER_S:,} messages per second."
    return Result(cost, "CPU ms/s", steps, rows=tuple(rows), caveat=missed)


@formula(
    "ams-key-reuse",
    number="F-26",
    title="Asymmetric key operations that key reuse avoids",
    inputs=(
        Input("msgs", "messages", "one after the other to the same recipients", 1, 1e15),
        Input("key_reuse", "messages", "KEYREUSE of the policy; 0 is disabled, -1 is unlimited", -1, 9_999_999),
    ),
    measured_on="arithmetic",
    caveat="Confidentiality policies alone have key reuse. For each recipient and for each application that puts or gets.",
    source=f"{INTERCEPTION} · Background",
    example={"msgs": 10, "key_reuse": 10},
)
def ams_key_reuse(msgs: int, key_reuse: int) -> Result:
    """Percent of the operations avoided."""
    rows = tuple(_reuse_row(msgs, reuse) for reuse in dict.fromkeys((0, 1, 32, 64, key_reuse, -1)))
    operations = _operations(msgs, key_reuse)
    avoided = 100 * (msgs - operations) / msgs
    how = {0: "disabled, each message takes a key of its own", -1: "unlimited, one key for all"}.get(
        key_reuse, f"{msgs:,} / {key_reuse:,} rounded up"
    )
    steps = (f"operations: {operations:,} instead of {msgs:,} ({how})", f"avoided {avoided:.2f} %")
    return Result(avoided, "%", steps, rows=rows)


def _operations(msgs: int, key_reuse: int) -> int:
    return 1 if key_reuse < 0 else -(-msgs // max(1, key_reuse))


def _reuse_row(msgs: int, key_reuse: int) -> TableRow:
    operations = _operations(msgs, key_reuse)
    return {"key_reuse": key_reuse, "operations": operations, "avoided_pct": 100 * (msgs - operations) / msgs}


MB = 2**20
TENTHS_OF_BYTES_PER_USER = 90_112
"""8.80 KB, the first resource with it; in tenths of bytes, so that the sum stays whole."""
BYTES_PER_RESOURCE = 405
REAL_PCT = 53
ABOVE_BAR = "64-bit"
REAL = "real"


@formula(
    "security-storage",
    number="F-12",
    title="Storage of the security manager for so many users",
    inputs=(
        Input("users", "users", "user ids that use MQ within the security timeout", 0, 1e9),
        Input("resources", "resources", "queues and other checked resources each of them uses", 1, 1e6, default=1),
        Input(
            "storage",
            "",
            "virtual storage above the bar, or the real storage behind it",
            default=ABOVE_BAR,
            words=(ABOVE_BAR, REAL),
        ),
    ),
    measured_on="WebSphere MQ V7.0.1, z10 EC64; CICS sign-ons, each with a put and a get",
    caveat=(
        "Averages. After the security timeout it goes back to a pool, not to z/OS; using it again took some 10 % less CPU (50,000 users with"
        " 10 resources). The share of real storage was seen with one resource a user, and z/OS may take pages away."
    ),
    source=f"{MP1G} · Security Manager",
    example={"users": 100_000, "resources": 1},
)
def security_storage(users: int, resources: int, storage: str) -> Result:
    """MB: of 64-bit storage whole blocks of 1 MB, of real storage not rounded."""
    size_bytes = users * (TENTHS_OF_BYTES_PER_USER + 10 * BYTES_PER_RESOURCE * (resources - 1)) / 10
    exact_mb = size_bytes / MB
    real_mb = exact_mb * REAL_PCT / 100
    virtual = (
        f"{users:,} users x (8.80 KB + {BYTES_PER_RESOURCE} bytes x {resources - 1:,} further resources)"
        f" = {size_bytes:,.0f} bytes = {exact_mb:,.1f} MB of 64-bit storage"
    )
    steps = (
        virtual,
        f"got in blocks of 1 MB: {ceil(exact_mb):,} MB",
        f"{REAL_PCT} % of {exact_mb:,.1f} MB = {real_mb:,.1f} MB of real storage",
    )
    if storage == REAL:
        return Result(real_mb, "MB", steps)
    return Result(ceil(exact_mb), "MB", steps, exact=exact_mb)
