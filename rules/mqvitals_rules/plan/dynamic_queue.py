"""Temporary dynamic queues: what they cost more than permanent ones."""

from __future__ import annotations

from typing import NamedTuple

from mqvitals_rules.plan.answer import Outcome, Row
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.put1 import TUNING
from mqvitals_rules.plan.question import Input


class _Verb(NamedTuple):
    """Averages of a call in microseconds, and the differences in percent as the document prints them."""

    name: str
    temporary_cpu_us: int
    permanent_cpu_us: int
    temporary_elapsed_us: int
    permanent_elapsed_us: int
    document_cpu_pct: int
    document_elapsed_pct: int


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
def temporary_queue_cost(opens: int, closes: int, puts: int, inquires: int) -> Outcome:
    """CPU microseconds more for all these calls (negative: less); the catalogue's F-19."""
    calls = dict(zip((verb.name for verb in _VERBS), (opens, closes, puts, inquires), strict=True))
    rows: list[Row] = [
        _row(verb.name, calls[verb.name], *verb[1:5], verb.document_cpu_pct, verb.document_elapsed_pct)
        for verb in _VERBS
    ]
    temporary_us = sum(calls[verb.name] * verb.temporary_cpu_us for verb in _VERBS)
    permanent_us = sum(calls[verb.name] * verb.permanent_cpu_us for verb in _VERBS)
    temporary_elapsed_us = sum(calls[verb.name] * verb.temporary_elapsed_us for verb in _VERBS)
    permanent_elapsed_us = sum(calls[verb.name] * verb.permanent_elapsed_us for verb in _VERBS)
    rows.append(
        _row(
            "all calls",
            sum(calls.values()),
            temporary_us,
            permanent_us,
            temporary_elapsed_us,
            permanent_elapsed_us,
            None,
            None,
        )
    )
    extra_us = temporary_us - permanent_us
    extra_elapsed_us = temporary_elapsed_us - permanent_elapsed_us
    steps = (
        f"CPU, temporary: {opens:,} x 125 + {closes:,} x 111 + {puts:,} x 104 + {inquires:,} x 17 = {temporary_us:,} microseconds",
        f"CPU, permanent: {opens:,} x 38 + {closes:,} x 26 + {puts:,} x 113 + {inquires:,} x 18 = {permanent_us:,} microseconds",
        f"CPU difference {extra_us:+,} microseconds ({_pct(temporary_us, permanent_us):+.1f} %)",
        f"elapsed {temporary_elapsed_us:,} against {permanent_elapsed_us:,} microseconds, difference {extra_elapsed_us:+,}",
        "the document prints 238 % more CPU for the open and 3347 % more elapsed time for the close; its own figures give 229 and 335 %",
    )
    return Outcome(extra_us, "CPU microseconds", steps, rows=tuple(rows))


def _pct(temporary_us: int, permanent_us: int) -> float:
    return 100 * (temporary_us - permanent_us) / permanent_us


def _row(
    verb: str,
    calls: int,
    temporary_cpu_us: int,
    permanent_cpu_us: int,
    temporary_elapsed_us: int,
    permanent_elapsed_us: int,
    document_cpu_pct: int | None,
    document_elapsed_pct: int | None,
) -> Row:
    """Of a verb: a call's average. Of all calls: their sums."""
    return {
        "verb": verb,
        "calls": calls,
        "temporary_cpu_us": temporary_cpu_us,
        "permanent_cpu_us": permanent_cpu_us,
        "cpu_difference_pct": _pct(temporary_cpu_us, permanent_cpu_us),
        "document_cpu_difference_pct": document_cpu_pct,
        "temporary_elapsed_us": temporary_elapsed_us,
        "permanent_elapsed_us": permanent_elapsed_us,
        "elapsed_difference_pct": _pct(temporary_elapsed_us, permanent_elapsed_us),
        "document_elapsed_difference_pct": document_elapsed_pct,
    }
