"""The administration structure of a queue-sharing group: how many queue managers it has room for."""

from __future__ import annotations

from math import floor

from mqvitals_rules.plan.answer import Outcome
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.question import Input, PlanError
from mqvitals_rules.plan.structure import HIGHLIGHTS

ENTRIES_EACH = 1000
"""Entries to allow for each queue manager of the group."""


@formula(
    "csq-admin-queue-managers",
    number="F-03",
    title="Queue managers that CSQ_ADMIN has entries for",
    inputs=(
        Input("entries_max", "entries", "ENTSMAX of DISPLAY CFSTATUS(CSQ_ADMIN)", 1, 1e9),
        Input("entries_used", "entries", "ENTSUSED of the same; 0 leaves the share in use out", 0, 1e9, default=0),
    ),
    measured_on="arithmetic; the example is a coupling facility at CFCC level 10",
    caveat=(
        "The document's allowance, not a limit the product enforces. A higher CFCC level keeps slightly more for itself, so ENTSMAX"
        " of a structure of the same size falls with each upgrade: look again after one."
    ),
    source=f"{HIGHLIGHTS} · 2.2.2.1 CSQ_ADMIN",
    example={"entries_max": 9362, "entries_used": 53},
)
def csq_admin_queue_managers(entries_max: int, entries_used: int) -> Outcome:
    """Whole queue managers; the catalogue's F-03."""
    if entries_used > entries_max:
        raise PlanError(f"entries-used must be at most entries-max ({entries_max:,}), not {entries_used:,}")
    exact = entries_max / ENTRIES_EACH
    steps = [f"{entries_max:,} entries / {ENTRIES_EACH:,} for each queue manager = {exact:,.3f}"]
    if entries_used:
        share = entries_used / entries_max * 100
        steps.append(f"in use: {entries_used:,} of {entries_max:,} entries = {share:.2f} %")
    return Outcome(floor(exact), "queue managers", tuple(steps), exact=exact)
