"""Gets by an identifier: what an index on it saves."""

from __future__ import annotations

from mqvitals_rules.plan.answer import Outcome, Row
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.put1 import TUNING
from mqvitals_rules.plan.question import Input

_SKIPPED = 125
"""Messages passed over by each measured get without an index."""
_INDEXED_CPU_US, _NOT_INDEXED_CPU_US = 99, 369
_INDEXED_ELAPSED_US, _NOT_INDEXED_ELAPSED_US = 105, 384


@formula(
    "index-benefit",
    number="F-20",
    title="CPU that an index saves for gets by an identifier",
    inputs=(
        Input("gets", "calls", "MQGET calls by message, correlation or group identifier or token", 1, 1e12, 27),
        Input("skipped_per_get", "messages", "passed over by a get without an index", 0, 1e9, _SKIPPED, fraction=True),
    ),
    measured_on="two accounting records of 80-byte messages, depth up to 258; machine and release not named",
    caveat=(
        "Derived: the difference is taken to grow evenly with the messages passed over. A benefit was seen from depths of 5 to 10"
        " messages on. Very deep indexes make each get dearer, which is not in here."
    ),
    source=f"{TUNING} · Indexed vs Non-indexed - Comparison",
    example={"gets": 27, "skipped_per_get": 125},
)
def index_benefit(gets: int, skipped_per_get: float) -> Outcome:
    """CPU microseconds saved; the catalogue's F-20."""
    cpu = _row("cpu", _INDEXED_CPU_US, _NOT_INDEXED_CPU_US, gets, skipped_per_get, 272)
    elapsed = _row("elapsed", _INDEXED_ELAPSED_US, _NOT_INDEXED_ELAPSED_US, gets, skipped_per_get, 252)
    saved_us = (_NOT_INDEXED_CPU_US - _INDEXED_CPU_US) * gets * skipped_per_get / _SKIPPED
    skipped_us = (_NOT_INDEXED_CPU_US - _INDEXED_CPU_US) / _SKIPPED
    steps = (
        f"a message passed over takes ({_NOT_INDEXED_CPU_US} - {_INDEXED_CPU_US}) / {_SKIPPED} = {skipped_us:.2f} CPU microseconds",
        f"CPU: {gets:,} x {_INDEXED_CPU_US} = {cpu['indexed_us']:,} microseconds with the index, {cpu['not_indexed_us']:,.1f} without",
        f"elapsed time {elapsed['indexed_us']:,} and {elapsed['not_indexed_us']:,.1f} microseconds",
        "the document prints 252 % as the difference in elapsed time of 27 gets; (10,368 - 2,835) / 2,835 is 265.7 %",
    )
    return Outcome(saved_us, "CPU microseconds", steps, rows=(cpu, elapsed))


def _row(measure: str, indexed_us: int, not_indexed_us: int, gets: int, skipped: float, document_pct: int) -> Row:
    with_us = indexed_us * gets
    more_us = (not_indexed_us - indexed_us) * gets * skipped / _SKIPPED
    return {
        "measure": measure,
        "indexed_us": with_us,
        "not_indexed_us": with_us + more_us,
        "difference_pct": 100 * more_us / with_us,
        "document_difference_pct": document_pct if skipped == _SKIPPED else None,
    }
