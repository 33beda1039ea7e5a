"""The code of why a condition is unknown: the first absence among what it reads."""

from __future__ import annotations

from collections.abc import Sequence

from mqvitals_rules.expression.lookups import Lookups, classes_of
from mqvitals_rules.expression.node import (
    Affix,
    Arithmetic,
    Comparison,
    Condition,
    Constant,
    Elapsed,
    Latest,
    Membership,
    MetricValue,
    NameText,
    Node,
    Operand,
    Times,
    Window,
    children,
    messages_of,
)
from mqvitals_rules.vocabulary.event import lacking
from mqvitals_rules.vocabulary.metric import Absence

UNTOLD = "None"
"""The code of a reason that only a detailed look finds."""


def why_term(lookups: Lookups, node: Comparison | Membership | Affix) -> str:
    """The code of the first absence among the metrics of a term."""
    why: list[str] = []
    metrics: tuple[MetricValue, ...] | None
    for operand in children(node):
        match operand:
            case Window(limit=None | Constant(), metric=metric) if isinstance(node, Comparison):
                return why_past(lookups, metric) if not why and isinstance(node.right, Constant) else UNTOLD
            case Elapsed() | Latest() | Times() if lookups.noting:
                # Where messages are known, one that lacks is no absence of them.
                why.append(f"{lookups.constant(lacking(messages_of(operand)))} if q else ")
                metrics = ()
            case _:
                metrics = compared(operand)
                if metrics is None:
                    return UNTOLD
        for metric in metrics:
            local = lookups.metric(metric)
            why.append(f"{_absence(local)} if {local}.__class__ not in {classes_of(metric)} else ")
    return f"({''.join(why)}{UNTOLD})"


def why_past(lookups: Lookups, metric: MetricValue) -> str:
    """The code of why there is no result of a look back: no value now either, or too short a history."""
    if not lookups.noting:
        return UNTOLD
    local = lookups.local()
    value = lookups.value_anew(metric)
    return f"({lookups.constant(Absence.WINDOW)} if ({local} := {value}).__class__ in P else {_absence(local)})"


def why_joined(reasons: Sequence[str], operands: Sequence[str], *, left_out: bool) -> str:
    """The code of why an ``and`` or ``or`` is unknown, as its first operand that is.

    ``operands``: the locals with what the operands came to; ``left_out``: where none is unknown all are left out.
    """
    first = "".join(f"{why} if {local} is None else " for why, local in zip(reasons, operands, strict=True))
    return f"({first}{'D' if left_out else UNTOLD})"


def unheard(lookups: Lookups, node: Condition | Operand) -> str:
    """The code that tests whether there are no messages at all; what is needed for them is then noted as an absence."""
    return f"q and {lookups.first_absence(lookups.constant(lacking(messages_of(node))))}"


def compared(operand: Node) -> tuple[MetricValue, ...] | None:
    """The metrics of an operand that has a value wherever they have one; None: it may lack one nevertheless."""
    match operand:
        case MetricValue():
            return (operand,)
        case Constant() | NameText():
            return ()
        case Arithmetic(operator="*" | "+" | "-", left=Constant(), right=MetricValue() as metric):
            return (metric,)
        case Arithmetic(operator="*" | "+" | "-", left=MetricValue() as metric, right=Constant()):
            return (metric,)
    return None


def _absence(local: str) -> str:
    """The code of why a local has no value: what is no absence either is nothing that was asked for."""
    return f"({local} if {local}.__class__ is A else E)"
