"""Applications: costs of MQI calls, dynamic queues, selectors and JMS; costs of one machine on another."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import NamedTuple

from mqvitals_rules.plan.formula import HIGHLIGHTS, MOST_PROCESSORS, MP1G, TUNING, Input, Result, TableRow, formula

_MOST_US = 1e9
_MEASURED_CALLS_US = (117.0, 81.0, 72.0, 18.0)
"""CPU microseconds of MQPUT1, MQOPEN, MQPUT and MQCLOSE in the document."""
_PRINTED_CPU_US = {2: 213, 3000: 216_000}
"""The document's figures by number of puts with MQOPEN, MQPUT and MQCLOSE, where its own costs give another sum."""


def _cost(name: str, meaning: str, default: int) -> Input:
    return Input(name, "microseconds", meaning, 0, _MOST_US, default, fraction=True)


@formula(
    "mqput1-break-even",
    number="F-18",
    title="Messages from which MQOPEN, MQPUT and MQCLOSE cost less than MQPUT1",
    inputs=(
        Input("puts", "messages", "messages that a task puts to one queue", 1, 1e9, 3000),
        _cost("put1_cpu_us", "CPU of an MQPUT1", 117),
        _cost("open_cpu_us", "CPU of an MQOPEN", 81),
        _cost("put_cpu_us", "CPU of an MQPUT", 72),
        _cost("close_cpu_us", "CPU of an MQCLOSE", 18),
        _cost("put1_elapsed_us", "elapsed time of an MQPUT1", 121),
        _cost("open_elapsed_us", "elapsed time of an MQOPEN", 84),
        _cost("put_elapsed_us", "elapsed time of an MQPUT", 74),
        _cost("close_elapsed_us", "elapsed time of an MQCLOSE", 18),
    ),
    measured_on="a customer's accounting records, 3000 messages of 80 bytes on a private queue; machine and release not named",
    caveat="On shared queues opening and closing costs more, and two messages may be enough.",
    source=f"{TUNING} · Effect of MQPUT1",
    example={"puts": 2},
)
def mqput1_break_even(
    puts: int,
    put1_cpu_us: float,
    open_cpu_us: float,
    put_cpu_us: float,
    close_cpu_us: float,
    put1_elapsed_us: float,
    open_elapsed_us: float,
    put_elapsed_us: float,
    close_elapsed_us: float,
) -> Result:
    """The least number of messages with less CPU by the three calls, None where there is none."""
    once_cpu_us, once_elapsed_us = open_cpu_us + close_cpu_us, open_elapsed_us + close_elapsed_us
    measured = (put1_cpu_us, open_cpu_us, put_cpu_us, close_cpu_us) == _MEASURED_CALLS_US
    rows: list[TableRow] = []
    for count in sorted({1, 2, 3, puts}):
        by_put1_us, by_put_us = put1_cpu_us * count, once_cpu_us + put_cpu_us * count
        rows.append(
            {
                "puts": count,
                "put1_cpu_us": by_put1_us,
                "open_put_close_cpu_us": by_put_us,
                "saved_cpu_us": by_put1_us - by_put_us,
                "document_open_put_close_cpu_us": _PRINTED_CPU_US.get(count) if measured else None,
                "put1_elapsed_us": put1_elapsed_us * count,
                "open_put_close_elapsed_us": once_elapsed_us + put_elapsed_us * count,
            }
        )
    exact, least = _break_even(once_cpu_us, put1_cpu_us, put_cpu_us)
    _, least_elapsed = _break_even(once_elapsed_us, put1_elapsed_us, put_elapsed_us)
    by_put1_us, by_put_us = put1_cpu_us * puts, once_cpu_us + put_cpu_us * puts
    steps = [
        f"CPU by MQPUT1: {put1_cpu_us:,} x {puts:,} = {by_put1_us:,.1f} microseconds",
        f"CPU by the three calls: {open_cpu_us:,} + {put_cpu_us:,} x {puts:,} + {close_cpu_us:,} = {by_put_us:,.1f} microseconds",
        f"CPU: ({open_cpu_us:,} + {close_cpu_us:,}) / ({put1_cpu_us:,} - {put_cpu_us:,}): {_break_even_words(exact, least)}",
        f"elapsed time: {_break_even_words(None, least_elapsed)}",
    ]
    if measured:
        steps.append(
            "the document prints 213 microseconds for two puts and lets two be enough; its own costs give 81 + 2 x 72 + 18 = 243"
        )
    return Result(least, "messages", tuple(steps), exact=exact, rows=tuple(rows))


def _break_even(once_us: float, put1_us: float, put_us: float) -> tuple[float | None, int | None]:
    """Where both cost the same, and the next whole number. Exact fractions: a sum of floats may miss the equal case."""
    if put1_us <= put_us:
        return None, None
    same = Fraction(once_us) / (Fraction(put1_us) - Fraction(put_us))
    return float(same), floor(same) + 1


def _break_even_words(exact: float | None, least: int | None) -> str:
    if least is None:
        return "an MQPUT1 costs no more than an MQPUT, so the three calls never cost less"
    same = "" if exact is None else f"the same at {exact:,.2f}, "
    return f"{same}less by the three calls from {least:,} messages on"


class _Verb(NamedTuple):
    """Averages of a call in microseconds (of all calls: their sums), and the differences in percent as the document
    prints them.
    """

    name: str
    temporary_cpu_us: int
    permanent_cpu_us: int
    temporary_elapsed_us: int
    permanent_elapsed_us: int
    document_cpu_pct: int | None
    document_elapsed_pct: int | None


_VERBS = (
    _Verb("open", 125, 38, 850, 39, 238, 2079),
    _Verb("close", 111, 26, 113, 26, 327, 3347),
    _Verb("put", 104, 113, 106, 115, -8, -8),
    _Verb("inquire", 17, 18, 17, 18, -5, -5),
)


@formula(
    "temporary-queue-cost",
    number="F-19",
    title="What a temporary dynamic queue costs more than a permanent one",
    inputs=(
        Input("opens", "calls", "MQOPEN calls, each of which makes a temporary queue", 1, 1e9, 1),
        Input("closes", "calls", "MQCLOSE calls", 0, 1e9, 1),
        Input("puts", "calls", "MQPUT calls", 0, 1e9, 3),
        Input("inquires", "calls", "MQINQ calls", 0, 1e9, 5),
    ),
    measured_on="one task each in accounting reports, three messages of at most 9 bytes; machine and release not named",
    caveat="Two single records, averages of few calls. Elapsed time of the open is nearly all suspension.",
    source=f"{TUNING} · Choosing the right queues",
    example={"opens": 1, "closes": 1, "puts": 3, "inquires": 5},
)
def temporary_queue_cost(opens: int, closes: int, puts: int, inquires: int) -> Result:
    """CPU microseconds more for all these calls (negative: less)."""
    calls = dict(zip((verb.name for verb in _VERBS), (opens, closes, puts, inquires), strict=True))
    rows = [_verb_row(verb, calls[verb.name]) for verb in _VERBS]
    temporary_us = sum(calls[verb.name] * verb.temporary_cpu_us for verb in _VERBS)
    permanent_us = sum(calls[verb.name] * verb.permanent_cpu_us for verb in _VERBS)
    temporary_elapsed_us = sum(calls[verb.name] * verb.temporary_elapsed_us for verb in _VERBS)
    permanent_elapsed_us = sum(calls[verb.name] * verb.permanent_elapsed_us for verb in _VERBS)
    every = _Verb("all calls", temporary_us, permanent_us, temporary_elapsed_us, permanent_elapsed_us, None, None)
    rows.append(_verb_row(every, sum(calls.values())))
    extra_us = temporary_us - permanent_us
    extra_elapsed_us = temporary_elapsed_us - permanent_elapsed_us
    steps = (
        f"CPU, temporary: {opens:,} x 125 + {closes:,} x 111 + {puts:,} x 104 + {inquires:,} x 17 = {temporary_us:,} microseconds",
        f"CPU, permanent: {opens:,} x 38 + {closes:,} x 26 + {puts:,} x 113 + {inquires:,} x 18 = {permanent_us:,} microseconds",
        f"CPU difference {extra_us:+,} microseconds ({_more_pct(temporary_us, permanent_us):+.1f} %)",
        f"elapsed {temporary_elapsed_us:,} against {permanent_elapsed_us:,} microseconds, difference {extra_elapsed_us:+,}",
        "the document prints 238 % more CPU for the open and 3347 % more elapsed time for the close; its own figures give 229 and 335 %",
    )
    return Result(extra_us, "CPU microseconds", steps, rows=tuple(rows))


def _more_pct(temporary_us: int, permanent_us: int) -> float:
    return 100 * (temporary_us - permanent_us) / permanent_us


def _verb_row(verb: _Verb, calls: int) -> TableRow:
    return {
        "verb": verb.name,
        "calls": calls,
        "temporary_cpu_us": verb.temporary_cpu_us,
        "permanent_cpu_us": verb.permanent_cpu_us,
        "cpu_difference_pct": _more_pct(verb.temporary_cpu_us, verb.permanent_cpu_us),
        "document_cpu_difference_pct": verb.document_cpu_pct,
        "temporary_elapsed_us": verb.temporary_elapsed_us,
        "permanent_elapsed_us": verb.permanent_elapsed_us,
        "elapsed_difference_pct": _more_pct(verb.temporary_elapsed_us, verb.permanent_elapsed_us),
        "document_elapsed_difference_pct": verb.document_elapsed_pct,
    }


_MEASURED_ON = "z10 EC64 (2097), z/OS 1.9, WebSphere MQ V7.0.1"
FIRST_PROPERTY_US = 12
NEXT_PROPERTY_US = 1
MEASURED_PROPERTIES = 15
PASSED_OVER_US = 10
"""CPU microseconds for a message that a get by property looks at and leaves."""


@formula(
    "property-put-cost",
    number="F-32",
    title="CPU that message properties add to an MQPUT",
    inputs=(Input("properties", "properties", "of each message", 0, 10_000),),
    measured_on=_MEASURED_ON,
    caveat="The sum is derived: the document gives the first property and each further one.",
    source=f"{MP1G} · Local Bindings using Local Queue with Single Queue Manager",
    example={"properties": 15},
)
def property_put_cost(properties: int) -> Result:
    """CPU microseconds a put."""
    if properties == 0:
        return Result(0, "CPU microseconds per put", ("no property, no cost",))
    cost_us = FIRST_PROPERTY_US + (properties - 1) * NEXT_PROPERTY_US
    step = f"{FIRST_PROPERTY_US} for the first + {properties - 1:,} x {NEXT_PROPERTY_US} = {cost_us:,} CPU microseconds"
    beyond = f"Measured up to {MEASURED_PROPERTIES} properties." if properties > MEASURED_PROPERTIES else ""
    return Result(cost_us, "CPU microseconds per put", (step,), caveat=beyond)


@formula(
    "selector-get-cost",
    number="F-32",
    title="CPU of an MQGET that selects by a property",
    inputs=(
        Input("other_msgs", "messages", "on the queue that the selector does not match", 0, 1e9),
        Input("gets_per_s", "per second", "such gets", 0, 1e6, 1, fraction=True),
    ),
    measured_on=_MEASURED_ON,
    caveat=(
        "About: the document says almost a second for 100,000 messages. Selectors of correlation or message identifier alone"
        " do not pay it. Every get reads the whole queue again."
    ),
    source=f"{MP1G} · Does the depth of the queue affect message selection rates?",
    example={"other_msgs": 100_000},
)
def selector_get_cost(other_msgs: int, gets_per_s: float) -> Result:
    """CPU microseconds a get for the messages that it passes over."""
    cost_us = other_msgs * PASSED_OVER_US
    steps = (
        f"{other_msgs:,} messages x about {PASSED_OVER_US} = {cost_us:,} CPU microseconds for a get",
        f"at {gets_per_s:,} per second: {cost_us * gets_per_s / 1e6:,.3f} processors",
    )
    return Result(cost_us, "CPU microseconds per get", steps)


@formula(
    "selector-getters-growth",
    number="F-32",
    title="How the CPU of selecting grows with the number of getters",
    inputs=(
        Input("getters_now", "getters", "that select by a property from one queue", 1, 1e6, 1),
        Input("getters_then", "getters", "that are planned", 1, 1e6),
    ),
    measured_on=f"{_MEASURED_ON}, 17 processors",
    caveat="About: the document calls the growth approximately the square. Give each getter a correlation identifier or a queue of its own.",
    source=f"{MP1G} · Local Bindings using Local Queue with Single Queue Manager",
    example={"getters_now": 1, "getters_then": 10},
)
def selector_getters_growth(getters_now: int, getters_then: int) -> Result:
    """The factor of the CPU."""
    factor = (getters_then / getters_now) ** 2
    return Result(factor, "times", (f"({getters_then:,} / {getters_now:,}) squared = {factor:,.2f} times the CPU",))


_FACTORS: dict[str, tuple[float, float]] = {
    "rule-of-thumb": (3, 4),
    "non-persistent": (5, 5),
    "persistent": (2.5, 2.5),
}
"""Least and most of each workload: non-persistent out of syncpoint, persistent with a commit after each put and get."""


@formula(
    "jms-multiplier",
    number="F-33",
    title="CPU of a message by JMS instead of the MQI",
    inputs=(
        Input("mqi_cpu_us", "microseconds", "CPU of a message, put and got, by the MQI", 0, 1e9, fraction=True),
        Input("workload", "", "what the messages are", default="rule-of-thumb", words=tuple(_FACTORS)),
    ),
    measured_on=(
        "batch programs, JDK 1.3.1 against C, WebSphere MQ V5.3, 1000-byte messages; machine not named. The rule of thumb was not verified"
    ),
    caveat="Without waiting and without page set I/O; both make the factor smaller. Newer Java and MQ differ widely: an order of magnitude.",
    source=f"{HIGHLIGHTS} · 7.0 JMS performance",
    example={"mqi_cpu_us": 100},
)
def jms_multiplier(mqi_cpu_us: float, workload: str) -> Result:
    """CPU microseconds a message, the higher one where the factor is a range."""
    rows: list[TableRow] = [
        {
            "workload": name,
            "least_factor": least,
            "most_factor": most,
            "least_cpu_us": mqi_cpu_us * least,
            "most_cpu_us": mqi_cpu_us * most,
        }
        for name, (least, most) in _FACTORS.items()
    ]
    least, most = _FACTORS[workload]
    steps = [f"{workload}: {mqi_cpu_us:,} x {most:g} = {mqi_cpu_us * most:,.1f} CPU microseconds"]
    if least != most:
        steps.append(
            f"the factor is {least:g} to {most:g}: from {mqi_cpu_us * least:,.1f} CPU microseconds; the higher one is the answer"
        )
    return Result(mqi_cpu_us * most, "CPU microseconds", tuple(steps), rows=tuple(rows))


def _ratio(name: str, machine: str, default: float | None = None) -> Input:
    return Input(name, "", f"internal throughput ratio of {machine}, mixed workload", 0.01, 1e6, default, fraction=True)


@formula(
    "lspr-translate",
    number="F-23",
    title="A CPU cost measured on one machine, on another",
    inputs=(
        Input("cost_us", "microseconds", "CPU cost on the measured machine", 0, 1e15, fraction=True),
        _ratio("target_itr", "the machine asked for"),
        Input("target_processors", "processors", "of the machine asked for", 1, MOST_PROCESSORS),
        _ratio("measured_itr", "the measured machine (default 2084-304)", 3.60),
        Input("measured_processors", "processors", "of the measured machine", 1, MOST_PROCESSORS, 4),
    ),
    measured_on="arithmetic on IBM's LSPR tables; take both ratios from the same table",
    caveat=(
        "An order of magnitude. For 2064-1C5 against 2084-304 the MP1G report has 2.45 / 5 and rounds the ratio to 0.54; the report on"
        " VSAM nodes prints a throughput ratio of 1.47 but reckons with 2.35 and comes to 0.52."
    ),
    source=f"{MP1G} · CPU cost calculations on other zSeries systems",
    example={"cost_us": 100, "target_itr": 2.45, "target_processors": 5},
)
def lspr_translate(
    cost_us: float, target_itr: float, target_processors: int, measured_itr: float, measured_processors: int
) -> Result:
    """CPU microseconds on the machine asked for."""
    target, measured = target_itr / target_processors, measured_itr / measured_processors
    ratio = target / measured
    cost = cost_us / ratio
    steps = (
        f"one processor asked for: {target_itr:g} / {target_processors} = {target:.4g}",
        f"one measured processor: {measured_itr:g} / {measured_processors} = {measured:.4g}",
        f"ratio {target:.4g} / {measured:.4g} = {ratio:.4g}",
        f"{cost_us:,} / {ratio:.4g} = {cost:,.1f} CPU microseconds",
    )
    return Result(cost, "CPU microseconds", steps)


@formula(
    "cpu-busy",
    number="F-23",
    title="How busy a CPU cost makes a machine",
    inputs=(
        Input("cost_ms_per_s", "milliseconds per second", "CPU time used in each second", 0, 1e9, fraction=True),
        Input("processors", "processors", "of the machine or partition", 1, MOST_PROCESSORS),
    ),
    measured_on="arithmetic",
    caveat="Translate the cost to this machine first (lspr-translate).",
    source=f"{MP1G} · CPU cost calculations on other zSeries systems",
    example={"cost_ms_per_s": 640, "processors": 5},
)
def cpu_busy(cost_ms_per_s: float, processors: int) -> Result:
    """Percent of all processors."""
    busy = cost_ms_per_s / (processors * 1000) * 100
    step = f"{cost_ms_per_s:,} / ({processors} x 1000) x 100 = {busy:,.2f} %"
    return Result(busy, "%", (step,), caveat="That is more than the machine has." if busy > 100 else "")
