"""Between what numbers the value of an operand lies, whatever is told: what its metrics can be, and what follows."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from mqvitals_rules.expression.node import (
    Absolute,
    Arithmetic,
    Constant,
    Elapsed,
    Extreme,
    MemberTally,
    MetricValue,
    Negation,
    Node,
    Window,
)
from mqvitals_rules.vocabulary.metric import Metric, MetricType

_COUNTED = frozenset({"count", "messages", "pages", "buffers", "blocks", "bytes", "KB", "MB", "GB"})
"""Units of what is counted; times may be told of a clock that is behind, numbers may stand for something."""


class ValueRange(NamedTuple):
    """From ``least`` to ``greatest``, both included."""

    least: float = -inf
    greatest: float = inf


UNBOUNDED = ValueRange()
_NOT_NEGATIVE = ValueRange(0, inf)


def span(node: Node) -> ValueRange:
    """The span of an operand; of anything else, and where nothing can be said, without bounds."""
    match node:
        case Constant(value=int() | float() as value):
            return ValueRange(value, value)
        case Negation():
            inner = span(node.operand)
            return ValueRange(-inner.greatest, -inner.least)
        case Absolute() | Elapsed():
            return _NOT_NEGATIVE
        case MetricValue():
            return _of_metric(node.metric)
        case Extreme():
            spans = [span(each) for each in node.operands]
            choose = min if node.function == "min" else max
            return ValueRange(choose(each.least for each in spans), choose(each.greatest for each in spans))
        case Window():
            return _of_window(node)
        case MemberTally():
            return _of_members(node)
        case Arithmetic():
            return _calculated(node)
    return UNBOUNDED


def _of_metric(metric: Metric) -> ValueRange:
    if metric.unit == "pct":
        return ValueRange(0, 100)
    counted = metric.type is MetricType.COUNTER or (metric.type is MetricType.GAUGE and metric.unit in _COUNTED)
    return _NOT_NEGATIVE if counted else UNBOUNDED


def _of_window(node: Window) -> ValueRange:
    metric = node.metric.metric
    match node.function:
        case "share":
            return ValueRange(0, 1)
        case "rate" | "delta" | "eta":
            return _NOT_NEGATIVE
        case "baseline" if metric.type is MetricType.COUNTER:
            return _NOT_NEGATIVE
    return _of_metric(metric)


def _of_members(node: MemberTally) -> ValueRange:
    if node.function == "count":
        return _NOT_NEGATIVE
    inner = span(node.body)
    if node.function == "sum":
        return _NOT_NEGATIVE if inner.least >= 0 else UNBOUNDED
    return inner


def _calculated(node: Arithmetic) -> ValueRange:
    left, right = span(node.left), span(node.right)
    if node.operator == "+":
        return ValueRange(left.least + right.least, left.greatest + right.greatest)
    if node.operator == "-":
        return ValueRange(left.least - right.greatest, left.greatest - right.least)
    # Products and quotients are followed only where nothing is negative; 0 times infinite is not a bound.
    return _NOT_NEGATIVE if left.least >= 0 and right.least >= 0 else UNBOUNDED
