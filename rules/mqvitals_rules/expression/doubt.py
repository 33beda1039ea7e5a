"""Terms that say nothing: a percentage against a number that it cannot reach, a division by zero."""

from __future__ import annotations

from collections.abc import Iterator

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

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def doubts(root: Condition) -> Iterator[Mistake]:
    """What is probably not meant: comparisons that are the same whatever a percentage between 0 and 100 is, and divisions by zero."""
    for node in walk(root):
        if isinstance(node, Arithmetic) and node.operator == "/" and _number(node.right) == 0:
            yield Mistake(node.right.start, "this divides by 0, so the result can never be known")
        if not isinstance(node, Comparison):
            continue
        sides = ((node.left, node.operator, node.right), (node.right, _MIRRORED[node.operator], node.left))
        for metric, operator, other in sides:
            limit = _number(other)
            if isinstance(metric, MetricValue) and metric.metric.unit == "pct" and limit is not None:
                holds = _always(operator, limit)
                if holds is not None:
                    word = "always holds" if holds else "can never hold"
                    yield Mistake(node.start, f"{metric.name} is between 0 and 100: this {word}")


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
