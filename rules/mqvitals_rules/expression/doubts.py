"""Doubtful conditions: comparisons out of reach, terms that contradict each other, divisions by zero.

``span`` gives the range of an operand, from what its metrics can be.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import fields
from math import inf
from typing import NamedTuple

from mqvitals_rules.expression.node import (
    Absolute,
    All,
    Any,
    Arithmetic,
    Comparison,
    Condition,
    Constant,
    Elapsed,
    Extreme,
    Membership,
    MemberTally,
    MetricValue,
    Negation,
    Node,
    Not,
    Operand,
    Times,
    Window,
    walk,
)
from mqvitals_rules.expression.syntax import Mistake
from mqvitals_rules.vocabulary.metric import Metric, MetricType

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
"""The equivalent operator with its sides exchanged."""

_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


class _Room:
    """What an operand may still be, after some comparisons: an interval, and where it is listed, some values."""

    def __init__(self, listed: frozenset[float | str] | None) -> None:
        self.least, self.greatest = -inf, inf
        self.least_too = self.greatest_too = True
        self.listed = listed
        self.excluded: set[float | str] = set()

    def narrow(self, operator: str, value: float | str) -> None:
        """Take ``operator value`` into account."""
        if operator == "==":
            self.list(frozenset((value,)))
        elif operator == "!=":
            self.excluded.add(value)
        elif isinstance(value, str):
            return
        elif operator in ("<", "<="):
            too = operator == "<="
            if value < self.greatest or (value == self.greatest and not too):
                self.greatest, self.greatest_too = value, too
        elif value > self.least or (value == self.least and operator == ">"):
            self.least, self.least_too = value, operator == ">="

    def list(self, values: frozenset[float | str]) -> None:
        """It is one of these."""
        self.listed = values if self.listed is None else self.listed & values

    @property
    def empty(self) -> bool:
        """Whether nothing is left."""
        if self.listed is not None:
            return not any(self._has(value) for value in self.listed)
        touching = self.least_too and self.greatest_too
        return self.least > self.greatest or (self.least == self.greatest and not touching)

    def _has(self, value: float | str) -> bool:
        if value in self.excluded:
            return False
        if isinstance(value, str):
            return True
        above = value > self.least or (value == self.least and self.least_too)
        return above and (value < self.greatest or (value == self.greatest and self.greatest_too))


def contradictions(root: Condition) -> Iterator[Mistake]:
    """Every ``and`` whose parts cannot all hold, and every ``or`` of whose parts one always does."""
    reported = set()
    for node in walk(root):
        if isinstance(node, All | Any):
            place = _contradiction(node)
            if place is not None and place not in reported:
                reported.add(place)
                what = "can never hold together" if isinstance(node, All) else "always holds, one way or the other"
                yield Mistake(place, f"this and the earlier comparison of the same value {what}")


def _contradiction(node: All | Any) -> int | None:
    """Where the part stands that leaves nothing; None when something is left.

    Of an ``or`` it is what makes all its parts false.
    """
    rooms: dict[Hashable, _Room] = {}
    for term, opposite in _parts(node, opposite=isinstance(node, Any)):
        for operand, operator, value in _readings(term):
            known = _key(operand)
            if known not in rooms:
                rooms[known] = _Room(_values(operand))
            room = rooms[known]
            if isinstance(value, frozenset):
                if (operator == "in") is not opposite:
                    room.list(value)
                else:
                    room.excluded |= value
            else:
                room.narrow(_OPPOSITE[operator] if opposite else operator, value)
            if room.empty:
                return term.start
    return None


def _parts(node: Condition, *, opposite: bool) -> Iterator[tuple[Comparison | Membership, bool]]:
    """The terms that must all hold for ``node`` to hold (``opposite``: not to hold), each with whether it must not."""
    match node:
        case All() if not opposite:
            for each in node.operands:
                yield from _parts(each, opposite=opposite)
        case Any() if opposite:
            for each in node.operands:
                yield from _parts(each, opposite=opposite)
        case Not():
            yield from _parts(node.operand, opposite=not opposite)
        case Comparison() | Membership():
            yield node, opposite


def _readings(term: Comparison | Membership) -> Iterator[tuple[Operand, str, float | str | frozenset[float | str]]]:
    """A term as something about an operand: compared with a constant, or in a set of them."""
    if isinstance(term, Membership):
        yield term.operand, "not in" if term.negated else "in", term.members
        return
    for operand, operator, other in (
        (term.left, term.operator, term.right),
        (term.right, MIRRORED[term.operator], term.left),
    ):
        if isinstance(other, Constant) and not isinstance(operand, Constant):
            yield operand, operator, other.value


def _values(operand: Operand) -> frozenset[float | str] | None:
    """All that a state can be."""
    values = operand.values if isinstance(operand, MetricValue) else None
    return None if values is None else frozenset(values.values())


def _key(node: Node) -> Hashable:
    """What is equal for two operands that are always the same."""
    if isinstance(node, MetricValue):
        return "metric", node.of, node.kind, node.metric.name
    found: list[Hashable] = [type(node).__name__]
    for item in fields(node):
        if item.name not in ("start", "end", "values"):
            value = getattr(node, item.name)
            found.append(_plain(value))
    return tuple(found)


def _plain(value: object) -> Hashable:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, str | int | float | bool | frozenset | Metric | None):
        return value if not isinstance(value, Metric) else value.name
    return _key(value)  # type: ignore[arg-type]  # what else a node holds is a node


_COUNTED = frozenset({"count", "messages", "pages", "buffers", "blocks", "bytes", "KB", "MB", "GB"})
"""Units of counts, which are never negative. Times can come from a slow clock, numbers can be codes."""


class ValueRange(NamedTuple):
    """From ``least`` to ``greatest``, both included."""

    least: float = -inf
    greatest: float = inf


UNBOUNDED = ValueRange()
_NOT_NEGATIVE = ValueRange(0, inf)


def span(node: Node) -> ValueRange:
    """The range of an operand; without bounds where none is known, and for other nodes."""
    match node:
        case Constant(value=int() | float() as value):
            return ValueRange(value, value)
        case Negation():
            inner = span(node.operand)
            return ValueRange(-inner.greatest, -inner.least)
        case Absolute() | Elapsed() | Times():
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
    return _NOT_NEGATIVE if counted and not metric.signed else UNBOUNDED


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


def doubts(root: Condition) -> Iterator[Mistake]:
    """What is probably not meant: comparisons with the same result for all values, contradictions,
    divisions by zero.
    """
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
                holds = _always(operator, span(metric), ValueRange(limit, limit))
                if holds is not None:
                    word = "always holds" if holds else "can never hold"
                    yield Mistake(node.start, f"{metric.name} is between 0 and 100: this {word}")
        if not percentage:
            yield from _unreachable(node)


def _unreachable(node: Comparison) -> Iterator[Mistake]:
    """A comparison whose sides cannot be what it asks for, or always are.

    A parameter may be meant to let everything through.
    """
    if all(isinstance(each, Constant) for each in (node.left, node.right)):
        return
    parameter = any(isinstance(each, Constant) and each.parameter for each in (node.left, node.right))
    holds = _always(node.operator, span(node.left), span(node.right))
    if holds is False:
        yield Mistake(node.start, "this can never hold, whatever is reported: one side is always beyond the other")
    elif holds and not parameter:
        yield Mistake(node.start, "this always holds, whatever is reported: one side is always beyond the other")


def _number(operand: Operand) -> float | None:
    match operand:
        case Constant(value=int() | float() as value):
            return value
        case Negation(operand=Constant(value=int() | float() as value)):
            return -value
    return None


def _always(operator: str, left: ValueRange, right: ValueRange) -> bool | None:
    """Whether a comparison holds for all values in two ranges (True), for none (False), or for some (None)."""
    match operator:
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
            never, always = apart and operator == "==", apart and operator == "!="
    return False if never else True if always else None
