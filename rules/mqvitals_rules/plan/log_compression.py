"""Log compression: what it saves, and what it does to throughput."""

from __future__ import annotations

from math import ceil

from mqvitals_rules.plan.answer import Outcome, Row
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.log_data import CI_BYTES, REPORT
from mqvitals_rules.plan.question import Input, PlanError

_MEASURED_ON = "2097-EC64 (z10) with 3 dedicated processors, z/OS 1.9; V7.0.1"
_MEASUREMENTS = f"{REPORT} · Log Compression Measurements"


@formula(
    "log-compression-saved",
    number="F-27",
    title="What compression saved of the log data, from the statistics",
    inputs=(
        Input("before_bytes", "bytes", "Before of the statistics", 0, 1e18),
        Input("after_bytes", "bytes", "After of the statistics", 0, 1e18),
        Input("direction", "", "which line of them", default="compression", words=("compression", "decompression")),
    ),
    measured_on="arithmetic; the example is a workload of 100 KB messages about half compressible, V7.0.1",
    caveat="Below zero: the data grew. The report cuts off the fraction: it prints 48 for 48.09 % and 44 for 44.53 %.",
    source=f"{REPORT} · How do I know if Log Compression will help? (sample report)",
    example={"before_bytes": 19_788_652_806, "after_bytes": 10_272_387_011},
)
def log_compression_saved(before_bytes: int, after_bytes: int, direction: str) -> Outcome:
    """Percent of the uncompressed data, None where there were none; the catalogue's F-27."""
    if before_bytes == after_bytes == 0:
        return Outcome(None, "%", (f"there was no {direction}, so there is no share",))
    if not before_bytes or not after_bytes:
        empty = "after-bytes" if before_bytes else "before-bytes"
        raise PlanError(f"{empty} cannot be 0 alone: both are 0, where there was no {direction}, or neither")
    packed, plain = (after_bytes, before_bytes) if direction == "compression" else (before_bytes, after_bytes)
    left = packed / plain * 100
    saved = 100 * (1 - packed / plain)
    steps = (
        f"{packed:,} bytes compressed / {plain:,} bytes plain = {left:.2f} % of the size",
        f"100 - {left:.2f} = {saved:.2f} % saved",
    )
    return Outcome(saved, "%", steps)


@formula(
    "log-compression-pieces",
    number="F-27",
    title="Pieces in which a message's log data are compressed",
    inputs=(Input("msg_bytes", "bytes", "length of a message", 1, 104_857_600),),
    measured_on="arithmetic",
    caveat="Each piece is compressed by itself: repetition that spans pieces saves nothing more.",
    source=f"{REPORT} · Log Compression",
    example={"msg_bytes": 102_400},
)
def log_compression_pieces(msg_bytes: int) -> Outcome:
    """Pieces of 4 KB, begun ones included; the catalogue's F-27."""
    exact = msg_bytes / CI_BYTES
    return Outcome(ceil(exact), "pieces", (f"{msg_bytes:,} bytes / {CI_BYTES:,} bytes = {exact:,.2f}",), exact=exact)


_NOT_ATTEMPTED_PER_S = 491
_THROUGHPUT = {"0": (479, -2.4), "10": (541, 10.2), "50": (844, 71.9), "90": (1550, 315.6)}
"""By how many percent the data are compressible: transactions a second, and the change the document prints."""


def _times(compressible_pct: str) -> float:
    return _THROUGHPUT[compressible_pct][0] / _NOT_ATTEMPTED_PER_S


def _throughput_rows() -> tuple[Row, ...]:
    first: Row = {
        "compressible_pct": "not attempted",
        "transactions_per_s": _NOT_ATTEMPTED_PER_S,
        "change_pct": None,
        "document_change_pct": None,
    }
    rows: list[Row] = [
        {
            "compressible_pct": int(each),
            "transactions_per_s": per_s,
            "change_pct": (_times(each) - 1) * 100,
            "document_change_pct": printed,
        }
        for each, (per_s, printed) in _THROUGHPUT.items()
    ]
    return (first, *rows)


@formula(
    "log-compression-throughput",
    number="F-27",
    title="What compression does to the rate of persistent 100 KB messages that the log limits",
    inputs=(
        Input(
            "compressible_pct", "", "percent of the data that compression saves", default="50", words=tuple(_THROUGHPUT)
        ),
    ),
    measured_on=_MEASURED_ON,
    caveat=(
        "Where the DASD of the log was the limit. Where CPU is, compression can lower the rate: trying costs about the same whether"
        " or not the data can be compressed. A transaction is a request and a reply."
    ),
    source=_MEASUREMENTS,
    example={"compressible_pct": "90"},
)
def log_compression_throughput(compressible_pct: str) -> Outcome:
    """Percent of change against no compression; the catalogue's F-27."""
    per_s, printed = _THROUGHPUT[compressible_pct]
    times = _times(compressible_pct)
    change = (times - 1) * 100
    steps = [
        f"{per_s:,} / {_NOT_ATTEMPTED_PER_S} transactions/s without compression = {times:.3f} times",
        f"({times:.3f} - 1) x 100 = {change:+.2f} %",
    ]
    if abs(change - printed) > 0.1:
        steps.append(f"the document prints {printed} %: that is the ratio, not the change")
    return Outcome(change, "%", tuple(steps), rows=_throughput_rows())


_LOGGED_MB = {"0": 2.15, "50": 1.14, "90": 0.33}
HEADERS_KB = 0.33


def _saved_pct(compressible_pct: str) -> float:
    return (1 - _LOGGED_MB[compressible_pct] / _LOGGED_MB["0"]) * 100


@formula(
    "log-compression-data",
    number="F-28",
    title="Log data of a request and reply of 1 MB each, compressed",
    inputs=(
        Input(
            "compressible_pct", "", "percent of the data that compression saves", default="50", words=tuple(_LOGGED_MB)
        ),
    ),
    measured_on=_MEASURED_ON,
    caveat=f"Small messages that cannot be compressed still save {HEADERS_KB} KB a transaction, of MQ's headers.",
    source=_MEASUREMENTS,
    example={"compressible_pct": "50"},
)
def log_compression_data(compressible_pct: str) -> Outcome:
    """MB a transaction of two messages; the catalogue's F-28."""
    logged = _LOGGED_MB[compressible_pct]
    steps = (
        f"{logged:.2f} MB of log data were measured a transaction",
        f"against {_LOGGED_MB['0']:.2f} MB of data that cannot be compressed: {_saved_pct(compressible_pct):.1f} % less",
    )
    rows: tuple[Row, ...] = tuple(
        {"compressible_pct": int(each), "log_mb_per_transaction": mb, "saved_pct": _saved_pct(each)}
        for each, mb in _LOGGED_MB.items()
    )
    return Outcome(logged, "MB/transaction", steps, rows=rows)
