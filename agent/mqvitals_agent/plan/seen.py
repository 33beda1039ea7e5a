"""A formula's inputs as far as what was seen of an object tells them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from mqvitals_agent.plan.take import Take, Told
from mqvitals_agent.plan.takes import TAKES
from mqvitals_rules.plan.formula import Formula
from mqvitals_rules.plan.question import Given, Input, PlanError
from mqvitals_rules.vocabulary.metric import Absence

Known = Told | Absence
"""What is known of a metric, or why nothing is."""


class Seen(NamedTuple):
    """An input that was not given: its value with the words of the metrics it is from and the oldest moment of them, or why there is none."""

    input: Input
    value: Given | None
    words: str
    ts: int | None = None
    silent: str = ""


def kinds_of(formula: str) -> tuple[str, ...]:
    """The kinds of object that tell something a formula asks."""
    return tuple(kind for kind, takes in TAKES.get(formula, {}).items() if takes)


def metrics_of(formula: str, kind: str) -> frozenset[str]:
    """The metrics that a formula's inputs are taken from."""
    return frozenset(metric for take in TAKES.get(formula, {}).get(kind, ()) for metric in take.metrics)


def see(formula: Formula, kind: str, told: Mapping[str, Known], given: Collection[str] = ()) -> tuple[Seen, ...]:
    """Each input that is not ``given`` and that an object of ``kind`` tells, or that is asked and nothing tells.

    ``told`` is what is known of the metrics. The first way to an input that gives an allowed value is taken.
    """
    takes = TAKES.get(formula.name, {}).get(kind, ())
    found = []
    for each in formula.inputs:
        if each.name in given:
            continue
        ways = [take for take in takes if take.input == each.name]
        tried = [_one(each, take, told) for take in ways]
        best = next((seen for seen in tried if seen.value is not None), None)
        if best is not None:
            found.append(best)
        elif tried:
            found.append(tried[0])
        elif each.default is None:
            found.append(Seen(each, None, "it is not seen"))
    return tuple(found)


def _one(each: Input, take: Take, told: Mapping[str, Known]) -> Seen:
    known: list[Told] = []
    for metric in take.metrics:
        one = told.get(metric, Absence.NOT_ASKED)
        if isinstance(one, Absence):
            return Seen(each, None, f"{metric}: {one.value}")
        known.append(one)
    value = take.of(*(one.value for one in known))
    if value is None:
        return Seen(each, None, f"{take.words} says nothing now")
    try:
        checked = each.checked(value if each.fraction or isinstance(value, str) else round(value))
    except PlanError as error:
        return Seen(each, None, f"{take.words}: {error}")
    moments = [one.ts for one in known if one.ts is not None]
    silent = next((one.silent for one in known if one.silent), "")
    return Seen(each, checked, take.words, min(moments, default=None), silent)
