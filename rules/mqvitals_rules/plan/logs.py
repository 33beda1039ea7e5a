"""Logs: data and rates of logging, log compression, rates of interval records."""

from __future__ import annotations

from math import ceil

from mqvitals_rules.plan.formula import HIGHLIGHTS, MP1G, TUNING, Input, PlanError, Result, TableRow, formula

MB = 2**20
CI_BYTES = 4096
"""A control interval of the log."""
_HEADER_BYTES = {"yes": 1536, "no": 1280}
"""Log data of a message that is put and got, beyond its length: in a queue-sharing group, and outside."""

_MSG_BYTES = Input("msg_bytes", "bytes", "length of a message", 0, 104_857_600)
_MSGS_PER_S = Input("msgs_per_s", "messages/s", "persistent messages put and got", 0.001, 1e7, fraction=True)
_IN_QSG = Input("in_qsg", "", "whether the queue manager is in a queue-sharing group", words=("yes", "no"))
_CRUDE = (
    "Crude: a measured request and reply of 1 MB each, without a group, logged 2.15 MB where this gives 2.00. One copy of the log; the"
    " other of a dual log takes the same."
)


def log_bytes(msg_bytes: int, in_qsg: str) -> int:
    """Log data of a persistent message that is put and got, in bytes."""
    return msg_bytes + _HEADER_BYTES[in_qsg]


def _rate(msg_bytes: int, msgs_per_s: float, in_qsg: str) -> tuple[float, tuple[str, ...]]:
    each = log_bytes(msg_bytes, in_qsg)
    rate = msgs_per_s * each / MB
    steps = (
        f"a message logs {msg_bytes:,} + {_HEADER_BYTES[in_qsg]:,} = {each:,} bytes",
        f"{msgs_per_s:,.10g} messages/s x {each:,} bytes / {MB:,} = {rate:,.3f} MB/s",
    )
    return rate, steps


@formula(
    "log-data-rate",
    number="F-05",
    title="Log data of persistent messages",
    inputs=(_MSG_BYTES, _MSGS_PER_S, _IN_QSG),
    measured_on="arithmetic; V5.3",
    caveat=_CRUDE,
    source=f"{HIGHLIGHTS} · 4.1.1 Log record size increase for queue managers within a QSG",
    example={"msg_bytes": 1024, "msgs_per_s": 400, "in_qsg": "yes"},
)
def log_data_rate(msg_bytes: int, msgs_per_s: float, in_qsg: str) -> Result:
    """MB (1,048,576 bytes) a second."""
    rate, steps = _rate(msg_bytes, msgs_per_s, in_qsg)
    return Result(rate, "MB/s", steps)


@formula(
    "log-fill-time",
    number="F-05",
    title="How long an active log lasts at a rate of messages",
    inputs=(
        _MSG_BYTES,
        _MSGS_PER_S,
        _IN_QSG,
        Input("log_gb", "GB", "size of an active log", 0.001, 65_536, default=4, fraction=True),
    ),
    measured_on="arithmetic, derived; V5.3",
    caveat=_CRUDE,
    source=f"{HIGHLIGHTS} · 4.1.1 Log record size increase for queue managers within a QSG",
    example={"msg_bytes": 1024, "msgs_per_s": 400, "in_qsg": "yes"},
)
def log_fill_time(msg_bytes: int, msgs_per_s: float, in_qsg: str, log_gb: float) -> Result:
    """Minutes."""
    rate, steps = _rate(msg_bytes, msgs_per_s, in_qsg)
    minutes = log_gb * 1024 / rate / 60
    step = f"{log_gb:,.10g} GB = {log_gb * 1024:,.0f} MB / {rate:,.3f} MB/s / 60 = {minutes:,.1f} minutes"
    return Result(minutes, "minutes", (*steps, step))


@formula(
    "log-statistics-rate",
    number="F-38",
    title="Log rate of an interval, from the log manager's statistics",
    inputs=(
        Input("ci_writes", "control intervals", "control intervals written, all copies (SMF 115)", 0, 1e12),
        Input("cis_created", "control intervals", "control intervals created (SMF 115)", 1, 1e12),
        Input("interval_s", "s", "from the record before to this one", 1, 604_800, fraction=True),
        Input("copies", "", "copies of the log", default="inferred", words=("inferred", "1", "2")),
    ),
    measured_on="arithmetic, derived from the statistics",
    caveat="Take the time between the two records, not the interval that was asked for.",
    source=f"{MP1G} · How do I know if Log Compression will help? (sample report)",
    example={"ci_writes": 5_472_360, "cis_created": 2_731_415, "interval_s": 3600},
)
def log_statistics_rate(ci_writes: int, cis_created: int, interval_s: float, copies: str) -> Result:
    """MB (1,048,576 bytes) a second of each copy."""
    ratio = ci_writes / cis_created
    inferred = copies == "inferred"
    if inferred and ci_writes and round(ratio) not in {1, 2}:
        raise PlanError(
            f"copies must be given, 1 or 2: ci-writes / cis-created is {ratio:.2f}, which is ambiguous (a control interval that was"
            " not full is written again)"
        )
    how_many = max(1, round(ratio)) if inferred else int(copies)
    each_mb = ci_writes * CI_BYTES / how_many / MB
    rate = each_mb / interval_s
    steps = (
        f"{ci_writes:,} written / {cis_created:,} created = {ratio:.4f}",
        f"{how_many} {'copy' if how_many == 1 else 'copies'}, {'inferred from that' if inferred else 'as given'} (1: single, 2: dual log)",
        f"{ci_writes:,} x {CI_BYTES:,} bytes / {how_many} = {each_mb:,.1f} MB a copy",
        f"{each_mb:,.1f} MB / {interval_s:,.10g} s = {rate:,.3f} MB/s",
    )
    unsure = inferred and ci_writes > 0 and abs(ratio - how_many) > 0.1
    caveat = "Written / created is not near a whole number: the copies are a guess, give them." if unsure else ""
    return Result(rate, "MB/s", steps, caveat=caveat)


_LOST_PCT = ((100, 10), (1000, 7), (5000, 5), (4 * MB, 1))
"""Length of the message in bytes; loss of the greatest rate in percent."""


@formula(
    "qsg-log-rate-loss",
    number="F-39",
    title="Private persistent rate that a queue manager loses by joining a queue-sharing group",
    inputs=(Input("msg_bytes", "bytes", "length of the private persistent messages", 100, 104_857_600),),
    measured_on="V5.3; the document names no machine here",
    caveat=(
        "Of the greatest rate alone: at a usual rate nothing much changes. Archives grow by about as much. For a length between two"
        " measured ones the loss of the shorter is given, which is the greater."
    ),
    source=f"{HIGHLIGHTS} · 4.1.1 Log record size increase for queue managers within a QSG",
    example={"msg_bytes": 1000},
)
def qsg_log_rate_loss(msg_bytes: int) -> Result:
    """Percent of the greatest rate."""
    length, lost = [each for each in _LOST_PCT if each[0] <= msg_bytes][-1]
    steps = [f"{lost} % was lost with messages of {length:,} bytes"]
    if length != msg_bytes:
        steps.append(f"with {msg_bytes:,} bytes it is at most that")
    rows: tuple[TableRow, ...] = tuple({"msg_bytes": each, "rate_lost_pct": pct} for each, pct in _LOST_PCT)
    return Result(lost, "%", tuple(steps), rows=rows)


_FIRST_USE_PCT = {"data-rate": -50, "response-time": 33, "throughput": -25}
_MEANINGS = {
    "data-rate": "the greatest data rate, at worst",
    "response-time": "an application of a single thread",
    "throughput": "an application of a single thread",
}


@formula(
    "unformatted-log",
    number="F-40",
    title="What the first use of a log costs that was not formatted beforehand",
    inputs=(Input("measure", "", "what of it", default="data-rate", words=tuple(_FIRST_USE_PCT)),),
    measured_on="V5.3; the document's own DASD, machine not named here",
    caveat="Until the log was filled once. Formatting it with the job CSQ4LFMT avoids all of it.",
    source=f"{HIGHLIGHTS} · 4.1.2 Log data set pre-format",
    example={"measure": "data-rate"},
)
def unformatted_log(measure: str) -> Result:
    """Percent of change against a formatted log."""
    change = _FIRST_USE_PCT[measure]
    rows: tuple[TableRow, ...] = tuple(
        {"measure": each, "change_pct": pct, "of": _MEANINGS[each]} for each, pct in _FIRST_USE_PCT.items()
    )
    step = f"{measure} changes by {change:+d} % ({_MEANINGS[measure]})"
    return Result(change, "%", (step,), rows=rows)


_MEASURED_ON = "2097-EC64 (z10) with 3 dedicated processors, z/OS 1.9; V7.0.1"
_MEASUREMENTS = f"{MP1G} · Log Compression Measurements"


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
    source=f"{MP1G} · How do I know if Log Compression will help? (sample report)",
    example={"before_bytes": 19_788_652_806, "after_bytes": 10_272_387_011},
)
def log_compression_saved(before_bytes: int, after_bytes: int, direction: str) -> Result:
    """Percent of the uncompressed data, None where there were none."""
    if before_bytes == after_bytes == 0:
        return Result(None, "%", (f"there was no {direction}, so there is no share",))
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
    return Result(saved, "%", steps)


@formula(
    "log-compression-pieces",
    number="F-27",
    title="Pieces in which a message's log data are compressed",
    inputs=(Input("msg_bytes", "bytes", "length of a message", 1, 104_857_600),),
    measured_on="arithmetic",
    caveat="Each piece is compressed by itself: repetition that spans pieces saves nothing more.",
    source=f"{MP1G} · Log Compression",
    example={"msg_bytes": 102_400},
)
def log_compression_pieces(msg_bytes: int) -> Result:
    """Pieces of 4 KB, begun ones included."""
    exact = msg_bytes / CI_BYTES
    return Result(ceil(exact), "pieces", (f"{msg_bytes:,} bytes / {CI_BYTES:,} bytes = {exact:,.2f}",), exact=exact)


_NOT_ATTEMPTED_PER_S = 491
_THROUGHPUT = {"0": (479, -2.4), "10": (541, 10.2), "50": (844, 71.9), "90": (1550, 315.6)}
"""By how many percent the data are compressible: transactions a second, and the change the document prints."""


def _times(compressible_pct: str) -> float:
    return _THROUGHPUT[compressible_pct][0] / _NOT_ATTEMPTED_PER_S


def _throughput_rows() -> tuple[TableRow, ...]:
    first: TableRow = {
        "compressible_pct": "not attempted",
        "transactions_per_s": _NOT_ATTEMPTED_PER_S,
        "change_pct": None,
        "document_change_pct": None,
    }
    rows: list[TableRow] = [
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
def log_compression_throughput(compressible_pct: str) -> Result:
    """Percent of change against no compression."""
    per_s, printed = _THROUGHPUT[compressible_pct]
    times = _times(compressible_pct)
    change = (times - 1) * 100
    steps = [
        f"{per_s:,} / {_NOT_ATTEMPTED_PER_S} transactions/s without compression = {times:.3f} times",
        f"({times:.3f} - 1) x 100 = {change:+.2f} %",
    ]
    if abs(change - printed) > 0.1:
        steps.append(f"the document prints {printed} %: that is the ratio, not the change")
    return Result(change, "%", tuple(steps), rows=_throughput_rows())


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
def log_compression_data(compressible_pct: str) -> Result:
    """MB a transaction of two messages."""
    logged = _LOGGED_MB[compressible_pct]
    steps = (
        f"{logged:.2f} MB of log data were measured a transaction",
        f"against {_LOGGED_MB['0']:.2f} MB of data that cannot be compressed: {_saved_pct(compressible_pct):.1f} % less",
    )
    rows: tuple[TableRow, ...] = tuple(
        {"compressible_pct": int(each), "log_mb_per_transaction": mb, "saved_pct": _saved_pct(each)}
        for each, mb in _LOGGED_MB.items()
    )
    return Result(logged, "MB/transaction", steps, rows=rows)


@formula(
    "interval-rate",
    number="F-36",
    title="Rate of a counter from interval records",
    inputs=(
        Input("amount", "", "what the counter grew by, in any unit", 0, 1e18, fraction=True),
        Input("start_s", "s", "when the interval began", 0, 1e12, fraction=True),
        Input("end_s", "s", "when it ended", 0, 1e12, fraction=True),
    ),
    measured_on="arithmetic",
    caveat="Derived. Never divide by the interval that was asked for: a changed SMF interval looks like a spike of volume.",
    source=f"{TUNING} · Logging Rate Trends and Analysis - Notes",
    example={"amount": 120_266_176, "start_s": 0, "end_s": 145},
)
def interval_rate(amount: float, start_s: float, end_s: float) -> Result:
    """The amount's unit a second. Raises PlanError unless the end is after the start."""
    seconds = end_s - start_s
    if seconds <= 0:
        raise PlanError(f"end-s must be after start-s, {start_s:,}, not {end_s!r}")
    exact = amount / seconds
    steps = (
        f"{end_s:,} s - {start_s:,} s = {seconds:,} s",
        f"{amount:,} / {seconds:,} s = {exact:,.6g}/s",
    )
    return Result(exact, "/s", steps)
