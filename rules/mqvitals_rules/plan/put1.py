"""MQPUT1 or MQOPEN, MQPUT and MQCLOSE: from how many messages on the three calls cost less."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from mqvitals_rules.plan.answer import Outcome, Row
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.question import Input

TUNING = "Performance Tuning and Problem Determination"
_MOST_US = 1e9
_MEASURED = (117.0, 81.0, 72.0, 18.0)
"""CPU microseconds of MQPUT1, MQOPEN, MQPUT and MQCLOSE in the document."""
_PRINTED_CPU_US = {2: 213, 3000: 216_000}
"""What the document gives for so many puts with MQOPEN, MQPUT and MQCLOSE, where its own costs give another sum."""


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
) -> Outcome:
    """The least number of messages with less CPU by the three calls, None where there is none; the catalogue's F-18."""
    once_cpu_us, once_elapsed_us = open_cpu_us + close_cpu_us, open_elapsed_us + close_elapsed_us
    measured = (put1_cpu_us, open_cpu_us, put_cpu_us, close_cpu_us) == _MEASURED
    rows: list[Row] = []
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
        f"CPU: ({open_cpu_us:,} + {close_cpu_us:,}) / ({put1_cpu_us:,} - {put_cpu_us:,}): {_said(exact, least)}",
        f"elapsed time: {_said(None, least_elapsed)}",
    ]
    if measured:
        steps.append(
            "the document prints 213 microseconds for two puts and lets two be enough; its own costs give 81 + 2 x 72 + 18 = 243"
        )
    return Outcome(least, "messages", tuple(steps), exact=exact, rows=tuple(rows))


def _break_even(once_us: float, put1_us: float, put_us: float) -> tuple[float | None, int | None]:
    """Where both cost the same, and the first whole number past it. Exact fractions: a sum of floats may miss the equal case."""
    if put1_us <= put_us:
        return None, None
    same = Fraction(once_us) / (Fraction(put1_us) - Fraction(put_us))
    return float(same), floor(same) + 1


def _said(exact: float | None, least: int | None) -> str:
    if least is None:
        return "an MQPUT1 costs no more than an MQPUT, so the three calls never cost less"
    same = "" if exact is None else f"the same at {exact:,.2f}, "
    return f"{same}less by the three calls from {least:,} messages on"
