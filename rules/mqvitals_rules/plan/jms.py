"""JMS: how many times the CPU of the MQI it takes."""

from __future__ import annotations

from mqvitals_rules.plan.answer import Outcome, Row
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.question import Input
from mqvitals_rules.plan.structure import HIGHLIGHTS

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
def jms_multiplier(mqi_cpu_us: float, workload: str) -> Outcome:
    """CPU microseconds a message, the higher one where the factor is a range; the catalogue's F-33."""
    rows: list[Row] = [
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
    return Outcome(mqi_cpu_us * most, "CPU microseconds", tuple(steps), rows=tuple(rows))
