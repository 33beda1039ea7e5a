"""Rates of interval records."""

from __future__ import annotations

from mqvitals_rules.plan.answer import Outcome
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.question import Input, PlanError


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
    source="Performance Tuning and Problem Determination · Logging Rate Trends and Analysis - Notes",
    example={"amount": 120_266_176, "start_s": 0, "end_s": 145},
)
def interval_rate(amount: float, start_s: float, end_s: float) -> Outcome:
    """The amount's unit a second; the catalogue's F-36. Raises PlanError unless the end is after the start."""
    seconds = end_s - start_s
    if seconds <= 0:
        raise PlanError(f"end-s must be after start-s, {start_s:,}, not {end_s!r}")
    exact = amount / seconds
    steps = (
        f"{end_s:,} s - {start_s:,} s = {seconds:,} s",
        f"{amount:,} / {seconds:,} s = {exact:,.6g}/s",
    )
    return Outcome(exact, "/s", steps)
