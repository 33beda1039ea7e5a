"""The thresholds of an object's metrics, taken from the conditions of its rules, and how near a condition is to holding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.expression.explanation import Explanation, TermVerdict
from mqvitals_rules.expression.node import (
    Absolute,
    All,
    Any,
    Arithmetic,
    Comparison,
    Condition,
    Constant,
    Extreme,
    MetricValue,
    Negation,
    Node,
    Not,
    Window,
    walk,
)
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.rule import RuleKind
from mqvitals_rules.vocabulary.metric import NO_LIMIT, MetricType, Reported

NEAR: Final = 0.8
"""The share of its threshold from which a value comes near to it."""

_SAME: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {("buffer_pool", "worst_free_pct"): ("free_pct", "low_pct")}
"""By kind and metric the metrics whose worst value it is: what bounds it bounds each of them."""

_HOLDING: Final = frozenset({"min", "max", "avg", "median"})
"""Functions of a window that give a value of the metric itself, not a change of it."""

_LOW: Final[Mapping[str, bool]] = {"<": True, "<=": True, ">": False, ">=": False}


class Threshold(NamedTuple):
    """A bound of a metric of the object itself: from ``value`` on, downwards where ``low_is_bad``, ``rule`` can fire.

    ``value`` has the unit of the metric; ``severity`` is that of the alert at least. ``beyond``: only past the value.
    ``idle``: the object's value is on the bad side, and the rule's condition does not hold all the same.
    """

    metric: str
    value: float
    low_is_bad: bool
    severity: Severity
    rule: str
    beyond: bool = False
    idle: bool = False

    def reached_by(self, value: float) -> bool:
        """Whether a value lies on the bad side."""
        if value == self.value:
            return not self.beyond
        return (value < self.value) is self.low_is_bad


def thresholds_of(rules: Iterable[CompiledRule], kind: str, values: Mapping[str, Reported]) -> tuple[Threshold, ...]:
    """The thresholds of the operational rules of an object, in the rules' order, each once.

    ``values`` are those of the object, by metric: a bound may be a share of another metric, such as ``max_depth``. A rule
    has thresholds of the figures that its summary names; what needs more than ``values`` is left out, as is a
    comparison that only says where another rule of the family begins, or that there is anything at all.
    """
    operational = [each for each in rules if each.rule.kind is RuleKind.OPERATIONAL]
    bad = low_is_bad(operational, kind)
    found = (threshold for each in operational for threshold in _of_rule(each, kind, values))
    return tuple(dict.fromkeys(each for each in found if bad.get(each.metric, each.low_is_bad) is each.low_is_bad))


def low_is_bad(rules: Iterable[CompiledRule], kind: str) -> dict[str, bool]:
    """By metric of ``kind`` whether low values are the bad ones, as the rules have it that measure their alerts by it.

    Of rules that contradict each other the first decides; a metric by which nothing is measured is not in it.
    """
    found: dict[str, bool] = {}
    for rule in rules:
        figure = rule.figure
        if figure is not None and figure.kind == kind and figure.low_is_bad is not None:
            for name in bounded_with(kind, figure.metric.name):
                found.setdefault(name, figure.low_is_bad)
    return found


_REST: Final = frozenset({"free", "left", "unused", "remaining", "idle"})
"""Words in the names of metrics that count what is left."""


def low_end_is_bad(rules: Iterable[CompiledRule], kind: str, metric: str) -> bool:
    """Which end of a metric is the bad one: as ``low_is_bad`` has it, else whether the metric counts what is left."""
    return low_is_bad(rules, kind).get(metric, not _REST.isdisjoint(metric.split("_")))


def bounded_with(kind: str, metric: str) -> tuple[str, ...]:
    """The metrics that a bound of a metric is about: itself, and those whose worst value it is."""
    return (metric, *_SAME.get((kind, metric), ()))


def bounding(kind: str, metric: str) -> tuple[str, ...]:
    """The metrics whose bounds are about a metric: itself, and those that are the worst value of it."""
    return (metric, *(worst for (of_kind, worst), same in _SAME.items() if of_kind == kind and metric in same))


def _of_rule(rule: CompiledRule, kind: str, values: Mapping[str, Reported]) -> Iterator[Threshold]:
    told = {metric.name for of_kind, metric in rule.summary.metrics if of_kind == kind}
    cases = [(rule.when.root, rule.rule.severity), *((when.root, worse) for when, worse in rule.severity_if)]
    for root, severity in cases:
        for metric, low, bound, beyond in _bounds(root):
            name = metric.metric.name
            measured = rule.figure is not None and rule.figure.metric.name == name
            # Of two figures that are compared with each other only one measures the alert.
            meant = name in told and (measured or not any(isinstance(each, MetricValue) for each in walk(bound)))
            value = _number(bound, values) if meant else None
            guard = value == 0 and not low and metric.metric.type is MetricType.GAUGE
            if value is not None and not guard:
                for each in bounded_with(kind, name):
                    yield Threshold(each, value, low, severity, rule.id, beyond)


def _bounds(root: Condition) -> Iterator[tuple[MetricValue, bool, Node, bool]]:
    """Each metric of the object that must lie on one side of something: whether that is the low one, of what, and
    whether beyond it."""
    match root:
        case Comparison(operator=operator, left=left, right=right) if operator in _LOW:
            for side, low, bound in ((left, _LOW[operator], right), (right, not _LOW[operator], left)):
                metric = side.metric if isinstance(side, Window) and side.function in _HOLDING else side
                if isinstance(metric, MetricValue) and metric.own:
                    yield metric, low, bound, operator in ("<", ">")
        case All(operands=operands) | Any(operands=operands):
            for each in operands:
                yield from _bounds(each)


def _number(node: Node, values: Mapping[str, Reported]) -> float | None:
    """What an operand is with these values; None where it needs more than numbers among them, or has no limit."""
    match node:
        case Constant(value=int() | float() as value, values=None):
            return value
        case MetricValue():
            known = values.get(node.name)
            unlimited = known == NO_LIMIT and node.metric.type is MetricType.GAUGE
            return known if isinstance(known, int | float) and not unlimited else None
        case Negation(operand=operand):
            inner = _number(operand, values)
            return None if inner is None else -inner
        case Absolute(operand=operand):
            inner = _number(operand, values)
            return None if inner is None else abs(inner)
        case Extreme(function=function, operands=operands):
            known_ones = [number for each in operands if (number := _number(each, values)) is not None]
            if len(known_ones) < len(operands):
                return None
            return min(known_ones) if function == "min" else max(known_ones)
        case Arithmetic(operator=operator, left=left, right=right):
            return _calculated(operator, _number(left, values), _number(right, values))
    return None


def _calculated(operator: str, left: float | None, right: float | None) -> float | None:
    if left is None or right is None:
        return None
    try:
        match operator:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case _:
                return left / right
    except ArithmeticError:
        return None


def applies(rule: CompiledRule, found: Explanation) -> bool:
    """Whether nothing but figures keeps the condition from holding: not what the object is, or is set to.

    A rule of transmission queues has no threshold for another queue, nor one of queues without a reader for one that
    has readers.
    """
    root = rule.when.root
    terms = iter(found.terms)
    for each in root.operands if isinstance(root, All) else ():
        part = _look(each, terms, found.values)
        if part is not None and part.truth is False and not any(True for _ in _bounds(each)):
            return False
    return True


def nearness(rule: CompiledRule, found: Explanation) -> float:
    """How near the condition of a rule is to holding, from 0 to 1: of what must hold together the farthest part.

    A comparison of two positive numbers has come as far as the lesser is of the greater; any other part that does not
    hold, or is unknown, has not begun.
    """
    part = _look(rule.when.root, iter(found.terms), found.values)
    return 0.0 if part is None else part.near


def comes_near(rule: CompiledRule, found: Explanation) -> bool:
    """Whether the condition does not hold, but each figure that keeps it from holding has come near to its threshold."""
    return found.truth is False and NEAR <= nearness(rule, found) < 1


class _Nearness(NamedTuple):
    truth: bool | None
    near: float


def _look(node: Condition, terms: Iterator[TermVerdict], values: Mapping[str, Reported]) -> _Nearness | None:
    """A part of a condition, whose terms are the next ones of ``terms``; None for what is left out."""
    match node:
        case All(operands=operands) | Any(operands=operands):
            found = [_look(each, terms, values) for each in operands]
            parts = [each for each in found if each is not None]
            if not parts:
                return None
            every = isinstance(node, All)
            truths = {each.truth for each in parts}
            # What decides by itself: one that does not hold of all, one that holds of any.
            truth = (not every) if (not every) in truths else None if None in truths else every
            return _Nearness(truth, (min if every else max)(each.near for each in parts))
        case Not(operand=operand):
            inner = _look(operand, terms, values)
            if inner is None or inner.truth is None:
                return inner and _Nearness(None, 0.0)
            return _Nearness(not inner.truth, float(not inner.truth))
    term = next(terms)
    if term.left_out:
        return None
    if term.truth or term.truth is None or not isinstance(node, Comparison) or node.operator not in _LOW:
        return _Nearness(term.truth, 1.0 if term.truth else 0.0)
    left, right = _number(node.left, values), _number(node.right, values)
    if left is None or right is None or min(left, right) <= 0 or left == right:
        return _Nearness(term.truth, 0.0)
    return _Nearness(term.truth, min(left, right) / max(left, right))
