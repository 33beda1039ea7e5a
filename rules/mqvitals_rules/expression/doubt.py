"""Terms that say nothing: a number compared with one that it cannot reach, what cannot hold together, a division by zero."""

from __future__ import annotations

from collections.abc import Iterator

from mqvitals_rules.expression.contradiction import MIRRORED, contradictions
from mqvitals_rules.expression.error import Mistake
from mqvitals_rules.expression.node import (
    Arithmetic,
    Comparison,
    Condition,
    Constant,
    MetricValue,
    Negation,
    Operand,
    walk,
)
from mqvitals_rules.expression.span import span


def doubts(root: Condition) -> Iterator[Mistake]:
    """What is probably not meant: comparisons that are the same whatever is told, contradictions, and divisions by zero."""
    yield from contradictions(root)
    for node in walk(root):
        if isinstance(node, Arithmetic) and node.operator == "/" and _number(node.right) == 0:
            yield Mistake(node.right.start, "this divides by 0, so the result can never be known")
        if not isinstance(node, Comparison):
            continue
        percentage = False
        sides = ((node.left, node.operator, node.right), (node.right, MIRRORED[node.operator], node.left))
        for metric, operator, other in sides:
            limit = _number(other)
            if isinstance(metric, MetricValue) and metric.metric.unit == "pct" and limit is not None:
                percentage = True
                holds = _always(operator, limit)
                if holds is not None:
                    word = "always holds" if holds else "can never hold"
                    yield Mistake(node.start, f"{metric.name} is between 0 and 100: this {word}")
        if not percentage:
            yield from _unreachable(node)


def _unreachable(node: Comparison) -> Iterator[Mistake]:
    """A comparison whose sides cannot be what it asks for, or always are. A parameter may be meant to let everything through."""
    left, right = span(node.left), span(node.right)
    parameter = any(isinstance(each, Constant) and each.parameter for each in (node.left, node.right))
    if all(isinstance(each, Constant) for each in (node.left, node.right)):
        return
    match node.operator:
        case "<":
            never, always = left.least >= right.greatest, left.greatest < right.least
        case "<=":
            never, always = left.least > right.greatest, left.greatest <= right.least
        case ">":
            never, always = left.greatest <= right.least, left.least > right.greatest
        case ">=":
            never, always = left.greatest < right.least, left.least >= right.greatest
        case _:
            apart = left.least > right.greatest or left.greatest < right.least
            never, always = apart and node.operator == "==", apart and node.operator == "!="
    if never:
        yield Mistake(node.start, "this can never hold, whatever is told: one side is always beyond the other")
    elif always and not parameter:
        yield Mistake(node.start, "this always holds, whatever is told: one side is always beyond the other")


def _number(operand: Operand) -> float | None:
    match operand:
        case Constant(value=int() | float() as value):
            return value
        case Negation(operand=Constant(value=int() | float() as value)):
            return -value
    return None


def _always(operator: str, limit: float) -> bool | None:
    """Whether ``x operator limit`` holds for every x from 0 to 100 (True), for none (False), or for some (None)."""
    match operator:
        case "<":
            return True if limit > 100 else False if limit <= 0 else None
        case "<=":
            return True if limit >= 100 else False if limit < 0 else None
        case ">":
            return True if limit < 0 else False if limit >= 100 else None
        case ">=":
            return True if limit <= 0 else False if limit > 100 else None
    inside = 0 <= limit <= 100
    return None if inside else operator == "!="
