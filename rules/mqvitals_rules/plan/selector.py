"""Message properties and selectors: what they cost."""

from __future__ import annotations

from mqvitals_rules.plan.answer import Outcome
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.question import Input

MP1G = "Performance Report - SupportPac MP1G WebSphere MQ for z/OS V7.0.1"
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
def property_put_cost(properties: int) -> Outcome:
    """CPU microseconds a put; the catalogue's F-32."""
    if properties == 0:
        return Outcome(0, "CPU microseconds per put", ("no property, no cost",))
    cost_us = FIRST_PROPERTY_US + (properties - 1) * NEXT_PROPERTY_US
    step = f"{FIRST_PROPERTY_US} for the first + {properties - 1:,} x {NEXT_PROPERTY_US} = {cost_us:,} CPU microseconds"
    beyond = f"Measured up to {MEASURED_PROPERTIES} properties." if properties > MEASURED_PROPERTIES else ""
    return Outcome(cost_us, "CPU microseconds per put", (step,), caveat=beyond)


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
def selector_get_cost(other_msgs: int, gets_per_s: float) -> Outcome:
    """CPU microseconds a get for the messages that it passes over; the catalogue's F-32."""
    cost_us = other_msgs * PASSED_OVER_US
    steps = (
        f"{other_msgs:,} messages x about {PASSED_OVER_US} = {cost_us:,} CPU microseconds for a get",
        f"at {gets_per_s:,} per second: {cost_us * gets_per_s / 1e6:,.3f} processors",
    )
    return Outcome(cost_us, "CPU microseconds per get", steps)


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
def selector_getters_growth(getters_now: int, getters_then: int) -> Outcome:
    """The factor of the CPU; the catalogue's F-32."""
    factor = (getters_then / getters_now) ** 2
    return Outcome(factor, "times", (f"({getters_then:,} / {getters_now:,}) squared = {factor:,.2f} times the CPU",))
