"""Why a condition is unknown: the first absence that makes it so, found without looking at every part of it.

``CarefulJudge`` says the same and more, and takes a hundred times as long. An agent that begins with 10,000 queues asks for
the reason of every unknown verdict of each: what decides is compiled, and only the one term that is unknown is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Whatever

from mqvitals_rules.expression.compiler import LEFT_OUT, NUMBERS, TEXTS, compile_part
from mqvitals_rules.expression.context import Context
from mqvitals_rules.expression.function import WINDOW_FUNCTIONS, Look
from mqvitals_rules.expression.judge import CarefulJudge
from mqvitals_rules.expression.node import (
    THIS,
    Absolute,
    Affix,
    All,
    Any,
    Arithmetic,
    Comparison,
    Condition,
    Constant,
    Extreme,
    Membership,
    MetricValue,
    NameText,
    Negation,
    Node,
    Not,
    Seen,
    Term,
    Window,
    children,
)
from mqvitals_rules.expression.type import Type, type_of
from mqvitals_rules.vocabulary.metric import Absence

Reason = Callable[[Context, Callable[[str], Whatever]], Absence | None]
"""(context, look-up of the object's own values) -> the reason; called only where the condition is unknown. Raises ArithmeticError."""

_PLAIN = (Comparison, Membership, Affix, Constant, MetricValue, NameText, Negation, Absolute, Arithmetic, Extreme)
"""What needs nothing but the values of metrics."""


def reason_of(text: str, root: Condition) -> Reason:
    """The function that finds the reason of an unknown condition."""
    match root:
        case All() | Any():
            return _of_first(text, root.operands)
        case Not():
            return reason_of(text, root.operand)
    return _of_term(text, root)


def _of_first(text: str, operands: tuple[Condition, ...]) -> Reason:
    """The reason of the first operand that is unknown. Where none is, all are about facts that nobody declared."""
    parts = [(compile_part(each), reason_of(text, each)) for each in operands]

    def reason(context: Context, value_of: Callable[[str], Whatever]) -> Absence | None:
        left_out = True
        for judge, why in parts:
            found = judge(context, value_of)
            if found is None:
                return why(context, value_of)
            left_out = left_out and found is LEFT_OUT
        return Absence.NOT_DECLARED if left_out else None

    return reason


def _of_term(text: str, term: Term) -> Reason:
    if isinstance(term, Seen):
        return _no_console

    def careful(context: Context, _: Callable[[str], Whatever]) -> Absence | None:
        missing = CarefulJudge(text, context).condition(term).missing
        return missing[0].absence if missing else None

    looks = _looks(term)
    if not looks or any(isinstance(each, MetricValue) and each.optional for each in looks):
        return careful
    read = tuple(_read(each) for each in looks)

    def reason(context: Context, value_of: Callable[[str], Whatever]) -> Absence | None:
        for metric, classes, look, window_ms in read:
            of, kind, name = metric
            whose = context if not of else context.this if of == THIS else context.pair
            if look is None:
                value = whose.value(kind, name)
                if value.__class__ not in classes:
                    return value if isinstance(value, Absence) else Absence.NOT_ASKED
            elif look(whose, kind, name, window_ms) is None:
                value = whose.value(kind, name)
                if value.__class__ in NUMBERS:
                    return Absence.WINDOW
                return value if isinstance(value, Absence) else Absence.NOT_ASKED
        return careful(context, value_of)

    return reason


def _read(node: MetricValue | Window) -> tuple[tuple[str, str, str], frozenset[type], Look | None, int]:
    """What is asked: of whom, kind and metric; the classes of a present value; for a window how it is worked out, and its length."""
    metric = node.metric if isinstance(node, Window) else node
    address = metric.of, metric.kind, metric.metric.name
    if isinstance(node, Window):
        return address, NUMBERS, WINDOW_FUNCTIONS[node.function].look(metric.metric.type), node.window_ms
    return address, TEXTS if type_of(metric) is Type.TEXT else NUMBERS, None, 0


def _no_console(context: Context, value_of: Callable[[str], Whatever]) -> Absence:  # noqa: ARG001
    return Absence.NEEDS_CONSOLE


def _looks(node: Node) -> list[MetricValue | Window] | None:
    """The metrics and windows of a term in the order of the text; None where it needs more than these."""
    if isinstance(node, Window):
        return [node] if node.limit is None else None
    if not isinstance(node, _PLAIN):
        return None
    found: list[MetricValue | Window] = [node] if isinstance(node, MetricValue) else []
    for child in children(node):
        below = _looks(child)
        if below is None:
            return None
        found += below
    return found
