"""The careful evaluation of a checked tree: slower than the compiled function, and it can say why.

It also stands in for the compiled function when a calculation overflows.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any as Whatever
from typing import NamedTuple, cast

from mqvitals_rules.expression.compiler import NUMBERS, PRESENT, TEXTS
from mqvitals_rules.expression.context import Context
from mqvitals_rules.expression.function import EXTREMES, WINDOW_FUNCTIONS, rising
from mqvitals_rules.expression.node import (
    Absolute,
    All,
    Any,
    Arithmetic,
    Comparison,
    Condition,
    Constant,
    Extreme,
    Membership,
    MetricValue,
    Negation,
    Not,
    Operand,
    Present,
    Rising,
    Term,
    Window,
    read_now,
)
from mqvitals_rules.expression.type import Type, type_of
from mqvitals_rules.vocabulary.metric import Absence, Value

_OPERATORS: Mapping[str, Callable[[Whatever, Whatever], Whatever]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


class Missing(NamedTuple):
    """A metric, or a calculation, that has no value, and why."""

    name: str
    absence: Absence


class Outcome(NamedTuple):
    """What a condition comes to. ``missing`` is what makes it unknown; ``left_out``: all of it is about undeclared facts."""

    truth: bool | None
    missing: tuple[Missing, ...] = ()
    left_out: bool = False


class UnknownError(Exception):
    """An operand has no value."""

    def __init__(self, missing: Iterable[Missing]) -> None:
        super().__init__()
        self.missing = tuple(missing)


class CarefulJudge:
    """Evaluates nodes of one expression on one context."""

    __slots__ = ("_context", "_text")

    def __init__(self, text: str, context: Context) -> None:
        self._text = text
        self._context = context

    def condition(self, node: Condition) -> Outcome:
        """What a condition comes to, every part of it looked at."""
        match node:
            case All():
                return _joined([self.condition(each) for each in node.operands], decides=False)
            case Any():
                return _joined([self.condition(each) for each in node.operands], decides=True)
            case Not():
                found = self.condition(node.operand)
                return found._replace(truth=None if found.truth is None else not found.truth)
        return self._term(node)

    def operand(self, node: Operand) -> Value:
        """The value of an operand. Raises UnknownError when there is none."""
        match node:
            case Constant():
                return node.value
            case MetricValue():
                return self._present(node)
            case Window():
                return self._looked_back(node)
            case Negation():
                return -self._number(node.operand)
            case Absolute():
                return abs(self._number(node.operand))
            case Extreme():
                return EXTREMES[node.function](*self._all(node.operands))
            case Arithmetic():
                return self._calculated(node)

    def _term(self, node: Term) -> Outcome:
        try:
            match node:
                case Present():
                    return Outcome(self._reported(node.metric).__class__ in PRESENT)
                case Rising():
                    metric = node.metric
                    truth = rising(self._context, metric.kind, metric.metric.name, node.rises)
                    return Outcome(truth, self._past_missing(metric) if truth is None else ())
            undeclared = self._undeclared(node)
            if undeclared:
                return Outcome(None, undeclared, left_out=True)
            if isinstance(node, Membership):
                return Outcome((self.operand(node.operand) in node.members) is not node.negated)
            left, right = self._all((node.left, node.right))
            return Outcome(_OPERATORS[node.operator](left, right))
        except UnknownError as unknown:
            return Outcome(None, unknown.missing)

    def _undeclared(self, node: Comparison | Membership) -> tuple[Missing, ...]:
        facts = {each.name: each for each in read_now(node) if each.optional}
        return tuple(
            Missing(name, Absence.NOT_DECLARED)
            for name, fact in facts.items()
            if self._reported(fact) is Absence.NOT_DECLARED
        )

    def _all(self, nodes: Iterable[Operand]) -> list[Whatever]:
        """The values of several operands; what is missing of any of them is raised together."""
        values: list[Value] = []
        missing: list[Missing] = []
        for node in nodes:
            try:
                values.append(self.operand(node))
            except UnknownError as unknown:
                missing += unknown.missing
        if missing:
            raise UnknownError(missing)
        return values

    def _number(self, node: Operand) -> float:
        value = self.operand(node)
        assert not isinstance(value, str), "the checker lets no text be calculated with"
        return value

    def _calculated(self, node: Arithmetic) -> float:
        left, right = self._all((node.left, node.right))
        try:
            value: float = _OPERATORS[node.operator](left, right)
        except ArithmeticError:
            value = float("nan")
        if value != value:
            raise UnknownError((Missing(self._text[node.start : node.end], Absence.NOTHING_TO_TELL),))
        return value

    def _present(self, node: MetricValue) -> Value:
        value = self._reported(node)
        if value.__class__ not in (TEXTS if type_of(node) is Type.TEXT else NUMBERS):
            raise UnknownError((Missing(node.name, _reason(value)),))
        return cast("Value", value)

    def _looked_back(self, node: Window) -> float:
        limit = () if node.limit is None else (self._number(node.limit),)
        metric = node.metric
        try:
            value = WINDOW_FUNCTIONS[node.function].look(
                self._context, metric.kind, metric.metric.name, node.window_ms, *limit
            )
        except ArithmeticError:
            value = None
        if value is None:
            raise UnknownError(self._past_missing(metric))
        return value

    def _past_missing(self, metric: MetricValue) -> tuple[Missing]:
        """Why a look into the past failed: the metric has no value now either, or its history is too short."""
        now = self._reported(metric)
        return (Missing(metric.name, Absence.WINDOW if now.__class__ in NUMBERS else _reason(now)),)

    def _reported(self, metric: MetricValue) -> object:
        return self._context.value(metric.kind, metric.metric.name)


def _reason(value: object) -> Absence:
    # A context that holds something else than a value of the metric's type has no value.
    return value if isinstance(value, Absence) else Absence.NOT_ASKED


def _joined(outcomes: Sequence[Outcome], *, decides: bool) -> Outcome:
    """``and`` (False decides) or ``or`` (True decides) of outcomes."""
    asked = [outcome for outcome in outcomes if not outcome.left_out]
    if not asked:
        return Outcome(None, _merged(outcomes), left_out=True)
    if any(outcome.truth is decides for outcome in asked):
        return Outcome(decides)
    unknown = [outcome for outcome in asked if outcome.truth is None]
    return Outcome(None, _merged(unknown)) if unknown else Outcome(not decides)


def _merged(outcomes: Iterable[Outcome]) -> tuple[Missing, ...]:
    return tuple(dict.fromkeys(missing for outcome in outcomes for missing in outcome.missing))
