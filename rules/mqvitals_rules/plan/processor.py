"""Processors: costs of one machine on another, and how busy they make it."""

from __future__ import annotations

from mqvitals_rules.plan.answer import Outcome
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.question import Input
from mqvitals_rules.plan.selector import MP1G

MOST_PROCESSORS = 256


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
) -> Outcome:
    """CPU microseconds on the machine asked for; the catalogue's F-23."""
    target, measured = target_itr / target_processors, measured_itr / measured_processors
    ratio = target / measured
    cost = cost_us / ratio
    steps = (
        f"one processor asked for: {target_itr:g} / {target_processors} = {target:.4g}",
        f"one measured processor: {measured_itr:g} / {measured_processors} = {measured:.4g}",
        f"ratio {target:.4g} / {measured:.4g} = {ratio:.4g}",
        f"{cost_us:,} / {ratio:.4g} = {cost:,.1f} CPU microseconds",
    )
    return Outcome(cost, "CPU microseconds", steps)


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
def cpu_busy(cost_ms_per_s: float, processors: int) -> Outcome:
    """Percent of all processors; the catalogue's F-23."""
    busy = cost_ms_per_s / (processors * 1000) * 100
    step = f"{cost_ms_per_s:,} / ({processors} x 1000) x 100 = {busy:,.2f} %"
    return Outcome(busy, "%", (step,), caveat="That is more than the machine has." if busy > 100 else "")
