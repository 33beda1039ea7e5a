"""Log data: how much persistent messages write, how fast a log fills, what slows it."""

from __future__ import annotations

from mqvitals_rules.plan.answer import Outcome, Row
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.question import Input, PlanError
from mqvitals_rules.plan.structure import HIGHLIGHTS

REPORT = "Performance Report - SupportPac MP1G WebSphere MQ for z/OS V7.0.1"
MB = 2**20
CI_BYTES = 4096
"""A control interval of the log."""
_HEADER_BYTES = {"yes": 1536, "no": 1280}
"""What a message put and got logs beside its own length, in a queue-sharing group and out of one."""

_MSG_BYTES = Input("msg_bytes", "bytes", "length of a message", 0, 104_857_600)
_MSGS_PER_S = Input("msgs_per_s", "messages/s", "persistent messages put and got", 0.001, 1e7, fraction=True)
_IN_QSG = Input("in_qsg", "", "whether the queue manager is in a queue-sharing group", words=("yes", "no"))
_CRUDE = (
    "Crude: a measured request and reply of 1 MB each, without a group, logged 2.15 MB where this says 2.00. One copy of the log; the"
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
def log_data_rate(msg_bytes: int, msgs_per_s: float, in_qsg: str) -> Outcome:
    """MB (1,048,576 bytes) a second; the catalogue's F-05."""
    rate, steps = _rate(msg_bytes, msgs_per_s, in_qsg)
    return Outcome(rate, "MB/s", steps)


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
def log_fill_time(msg_bytes: int, msgs_per_s: float, in_qsg: str, log_gb: float) -> Outcome:
    """Minutes; the catalogue's F-05."""
    rate, steps = _rate(msg_bytes, msgs_per_s, in_qsg)
    minutes = log_gb * 1024 / rate / 60
    step = f"{log_gb:,.10g} GB = {log_gb * 1024:,.0f} MB / {rate:,.3f} MB/s / 60 = {minutes:,.1f} minutes"
    return Outcome(minutes, "minutes", (*steps, step))


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
    source=f"{REPORT} · How do I know if Log Compression will help? (sample report)",
    example={"ci_writes": 5_472_360, "cis_created": 2_731_415, "interval_s": 3600},
)
def log_statistics_rate(ci_writes: int, cis_created: int, interval_s: float, copies: str) -> Outcome:
    """MB (1,048,576 bytes) a second of each copy; the catalogue's F-38."""
    ratio = ci_writes / cis_created
    inferred = copies == "inferred"
    if inferred and ci_writes and round(ratio) not in {1, 2}:
        raise PlanError(
            f"copies must be given, 1 or 2: ci-writes / cis-created is {ratio:.2f}, which does not tell (a control interval that was"
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
    return Outcome(rate, "MB/s", steps, caveat=caveat)


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
def qsg_log_rate_loss(msg_bytes: int) -> Outcome:
    """Percent of the greatest rate; the catalogue's F-39."""
    length, lost = [each for each in _LOST_PCT if each[0] <= msg_bytes][-1]
    steps = [f"{lost} % was lost with messages of {length:,} bytes"]
    if length != msg_bytes:
        steps.append(f"with {msg_bytes:,} bytes it is at most that")
    rows: tuple[Row, ...] = tuple({"msg_bytes": each, "rate_lost_pct": pct} for each, pct in _LOST_PCT)
    return Outcome(lost, "%", tuple(steps), rows=rows)


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
def unformatted_log(measure: str) -> Outcome:
    """Percent of change against a formatted log; the catalogue's F-40."""
    change = _FIRST_USE_PCT[measure]
    rows: tuple[Row, ...] = tuple(
        {"measure": each, "change_pct": pct, "of": _MEANINGS[each]} for each, pct in _FIRST_USE_PCT.items()
    )
    step = f"{measure} changes by {change:+d} % ({_MEANINGS[measure]})"
    return Outcome(change, "%", (step,), rows=rows)
