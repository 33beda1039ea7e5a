"""What if: the documents' formulas with the latest values of an object."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from mqvitals_agent.plan_inputs.reading import KnownValue, ObjectValues, find_inputs
from mqvitals_agent.text.figure import counted, duration_us, number, whole
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
_BESIDE: Mapping[str, str] = {"cf_structure": "type", "channel_initiator": "adapters_started"}
_LEFT_OUT = ("messages",)
"""Inputs from the history of counters, which these lines do not need."""


class WhatIfInputs(NamedTuple):
    """The known inputs of the formulas of an object, by the formula's name, and its metric beside them, if known."""

    formulas: Mapping[str, Mapping[str, Given]] = {}
    beside: float | str | None = None


def read_what_if(values: ObjectValues) -> WhatIfInputs:
    """What the lines of an object are made from. Raises StoreError."""
    kind = values.name.kind
    formulas = {
        formula.name: {
            each.input.name: each.value
            for each in find_inputs(formula, values, given=_LEFT_OUT)
            if each.value is not None
        }
        for formula in _FORMULAS.get(kind, ())
    }
    beside = values.known(kind, _BESIDE[kind]) if kind in _BESIDE else None
    return WhatIfInputs(formulas, beside.value if isinstance(beside, KnownValue) else None)


def what_if_lines(kind: str, inputs: WhatIfInputs, width: int) -> Iterator[Line]:
    """A few lines, or none where the values are absent or stale."""
    lines = _SENTENCES[kind](inputs) if inputs.formulas else ()
    if not lines:
        return
    *sentences, formula = lines
    yield heading("What if", width)
    for sentence in sentences:
        for each in wrap(sentence, width, first=_INDENT, rest=_INDENT * 2):
            yield line(each)
    for each in wrap(f"mqvitals plan {formula}", width, first=_INDENT, rest=_INDENT * 2):
        yield line(each, Tone.FAINT)


def _channel(inputs: WhatIfInputs) -> tuple[str, ...]:
    """The transfer time of a thousand messages with other batch sizes and the measured round trip."""
    found = _inputs(batch_transfer_time, inputs, {"batch_msgs", "wait_us"})
    if found is None:
        return ()
    now = int(found["batch_msgs"])
    times = []
    for size in sorted({now, *_BATCHES}):
        answer = batch_transfer_time(**{**found, "messages": _MOVED, "batch_msgs": min(size, MOST_BATCH_MSGS)})
        times.append(f"BATCHSZ {size}{' (now)' if size == now else ''} {duration_us(answer.value or 0)}")
    wait = duration_us(float(found["wait_us"]))
    return (
        f"{whole(_MOVED)} messages in full batches with a wait of {wait} (NETTIME and the partner) each: {', '.join(times)}",
        _source(batch_transfer_time),
    )


def _structure(inputs: WhatIfInputs) -> tuple[str, ...]:
    """The number of further messages of average length that fit, and the size for twice as many."""
    if inputs.beside not in (None, 0):
        return ()
    grown = _inputs(cf_structure_size, inputs, {"msg_bytes", "max_msgs"})
    held = _inputs(cf_structure_messages, inputs, {"size_kb", "user_bytes"})
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


def _page_set(inputs: WhatIfInputs) -> tuple[str, ...]:
    """The number of messages of average length that it holds at its current size."""
    found = _inputs(page_set_capacity, inputs, {"pages", "msg_bytes"})
    most = None if found is None else _value(page_set_capacity, found)
    if found is None or most is None:
        return ()
    return (
        (
            f"with {whole(float(found['msg_bytes']))} bytes a message, as last put on average, its {whole(float(found['pages']))} pages "
            f"hold {whole(most)} messages"
        ),
        _source(page_set_capacity),
    )


def _initiator(inputs: WhatIfInputs) -> tuple[str, ...]:
    """The recommended number of adapters and the current one."""
    found = _inputs(chiadaps, inputs, {"processors"})
    most = None if found is None else _value(chiadaps, found)
    if found is None or most is None or inputs.beside is None:
        return ()
    return (
        (
            f"CHIADAPS {number(most)} for persistent messages or AMS interception on"
            f" {counted(round(float(found['processors'])), 'processor')}; {counted(round(float(inputs.beside)), 'adapter')} now"
        ),
        _source(chiadaps),
    )


def _inputs(formula: Formula, inputs: WhatIfInputs, needed: set[str]) -> Mapping[str, Given] | None:
    """A formula's inputs that are known; None without one of those that are ``needed``."""
    found = inputs.formulas[formula.name]
    return found if needed <= set(found) else None


def _value(formula: Formula, inputs: Mapping[str, Given]) -> float | None:
    """The answer's value; None where an input exceeds its limit."""
    try:
        return formula(**inputs).value
    except PlanError:
        return None


def _source(formula: Formula) -> str:
    return f"{formula.name} --help shows more; {formula.source}"


_SENTENCES: Mapping[str, Callable[[WhatIfInputs], tuple[str, ...]]] = {
    "channel": _channel,
    "cf_structure": _structure,
    "page_set": _page_set,
    "channel_initiator": _initiator,
}
"""The sentences of a kind of object, and the formula to ask for more; empty where an input is missing."""
