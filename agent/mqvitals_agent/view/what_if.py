"""What if: the documents' formulas with the latest values of an object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mqvitals_agent.plan_inputs import KnownMetric, KnownValue, find_inputs, metrics_of
from mqvitals_agent.text.figure import duration_us, number, whole
from mqvitals_agent.text.styled import Line, Tone, heading, line
from mqvitals_agent.text.terminal import wrap
from mqvitals_rules.plan.channel_initiator import chiadaps
from mqvitals_rules.plan.channels import MOST_BATCH_MSGS, batch_transfer_time
from mqvitals_rules.plan.formula import Formula, Given, PlanError
from mqvitals_rules.plan.page_sets import page_set_capacity
from mqvitals_rules.plan.structures import cf_structure_messages, cf_structure_size

_INDENT = "  "
_MOVED = 1000
"""The number of messages whose transfer time is shown."""
_BATCHES = (50, 100, 200)
_FORMULAS: Mapping[str, tuple[Formula, ...]] = {
    "channel": (batch_transfer_time,),
    "cf_structure": (cf_structure_size, cf_structure_messages),
    "page_set": (page_set_capacity,),
    "channel_initiator": (chiadaps,),
}
_BESIDE: Mapping[str, tuple[str, ...]] = {"cf_structure": ("type",), "channel_initiator": ("adapters_started",)}
_LEFT_OUT = frozenset({"msgs"})
"""Inputs from the history of counters, which these lines do not need."""


def what_if_metrics(kind: str) -> frozenset[str]:
    """The metrics that the lines of a kind of object are made from."""
    asked = {metric for each in _FORMULAS.get(kind, ()) for metric in metrics_of(each.name, kind)}
    return frozenset({*asked, *_BESIDE.get(kind, ())} - _LEFT_OUT)


def what_if_lines(kind: str, inputs: Mapping[str, KnownMetric], width: int) -> Iterator[Line]:
    """A few lines, or none where the values are absent or stale."""
    found = {name: each for name, each in inputs.items() if isinstance(each, KnownValue) and not each.silent}
    match kind:
        case "channel":
            said = _channel(found)
        case "cf_structure":
            said = _structure(found)
        case "page_set":
            said = _page_set(found)
        case "channel_initiator":
            said = _initiator(found)
        case _:
            return
    if not said:
        return
    *sentences, formula = said
    yield heading("What if", width)
    for sentence in sentences:
        for each in wrap(sentence, width, first=_INDENT, rest=_INDENT * 2):
            yield line(each)
    for each in wrap(f"mqvitals plan {formula}", width, first=_INDENT, rest=_INDENT * 2):
        yield line(each, Tone.FAINT)


def _channel(known: Mapping[str, KnownMetric]) -> tuple[str, ...]:
    """The transfer time of a thousand messages with other batch sizes and the measured round trip."""
    inputs = _inputs(batch_transfer_time, "channel", known, {"batch_msgs", "wait_us"})
    if inputs is None:
        return ()
    now = int(inputs.pop("batch_msgs"))
    inputs["messages"] = _MOVED
    times = []
    for size in sorted({now, *_BATCHES}):
        answer = batch_transfer_time(**inputs, batch_msgs=min(size, MOST_BATCH_MSGS))
        times.append(f"BATCHSZ {size}{' (now)' if size == now else ''} {duration_us(answer.value or 0)}")
    wait = duration_us(float(inputs["wait_us"]))
    return (
        f"{whole(_MOVED)} messages in full batches with a wait of {wait} (NETTIME and the partner) each: {', '.join(times)}",
        _source(batch_transfer_time),
    )


def _structure(known: Mapping[str, KnownMetric]) -> tuple[str, ...]:
    """The number of further messages of average length that fit, and the size for twice as many."""
    of_group = known.get("type")
    if isinstance(of_group, KnownValue) and of_group.value != 0:
        return ()
    grown = _inputs(cf_structure_size, "cf_structure", known, {"msg_bytes", "max_msgs"})
    held = _inputs(cf_structure_messages, "cf_structure", known, {"size_kb", "user_bytes"})
    if grown is None or held is None:
        return ()
    now = int(grown["max_msgs"])
    twice = _value(cf_structure_size, {**grown, "max_msgs": 2 * now})
    most = _value(cf_structure_messages, held)
    if twice is None or most is None:
        return ()
    return (
        (
            f"with {whole(float(grown['msg_bytes']))} bytes a message, as now on average, it holds about {whole(most)} messages: "
            f"room for {whole(max(most - now, 0))} more"
        ),
        f"twice as many as now, {whole(2 * now)}, need INITSIZE {whole(twice)} KB; it has {whole(float(held['size_kb']))} KB",
        _source(cf_structure_size),
    )


def _page_set(known: Mapping[str, KnownMetric]) -> tuple[str, ...]:
    """The number of messages of average length that it holds at its current size."""
    inputs = _inputs(page_set_capacity, "page_set", known, {"pages", "msg_bytes"})
    most = None if inputs is None else _value(page_set_capacity, inputs)
    if inputs is None or most is None:
        return ()
    return (
        (
            f"with {whole(float(inputs['msg_bytes']))} bytes a message, as last put on average, its {whole(float(inputs['pages']))} pages "
            f"hold {whole(most)} messages"
        ),
        _source(page_set_capacity),
    )


def _initiator(known: Mapping[str, KnownMetric]) -> tuple[str, ...]:
    """The recommended number of adapters and the current one."""
    inputs = _inputs(chiadaps, "channel_initiator", known, {"processors"})
    now = known.get("adapters_started")
    most = None if inputs is None else _value(chiadaps, inputs)
    if inputs is None or most is None or not isinstance(now, KnownValue):
        return ()
    return (
        (
            f"CHIADAPS {number(most)} for persistent messages or AMS interception on {inputs['processors']} processors; "
            f"{whole(float(now.value))} adapters now"
        ),
        _source(chiadaps),
    )


def _inputs(formula: Formula, kind: str, known: Mapping[str, KnownMetric], needed: set[str]) -> dict[str, Given] | None:
    """A formula's inputs that are known; None without one of those that are ``needed``."""
    found = {each.input.name: each.value for each in find_inputs(formula, kind, known) if each.value is not None}
    return found if needed <= set(found) else None


def _value(formula: Formula, inputs: Mapping[str, Given]) -> float | None:
    """The answer's value; None where an input exceeds its limit."""
    try:
        return formula(**inputs).value
    except PlanError:
        return None


def _source(formula: Formula) -> str:
    return f"{formula.name} --help shows more; {formula.source}"
