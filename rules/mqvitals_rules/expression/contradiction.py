"""Comparisons that cannot hold together: ``x > 5 and x < 3``, ``status == RUNNING and status in (STOPPED, PAUSED)``."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import fields
from math import inf

from mqvitals_rules.expression.error import Mistake
from mqvitals_rules.expression.node import (
    All,
    Any,
    Comparison,
    Condition,
    Constant,
    Membership,
    MetricValue,
    Node,
    Not,
    Operand,
    walk,
)
from mqvitals_rules.vocabulary.metric import Metric

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
"""The operator that says the same with its sides exchanged."""

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
    told = set()
    for node in walk(root):
        if isinstance(node, All | Any):
            place = _contradiction(node)
            if place is not None and place not in told:
                told.add(place)
                what = "can never hold together" if isinstance(node, All) else "always holds, one way or the other"
                yield Mistake(place, f"this and what is said of the same before it {what}")


def _contradiction(node: All | Any) -> int | None:
    """Where the part stands that leaves nothing; None when something is left. Of an ``or`` it is what makes all its parts false."""
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
