"""From syntax to numbers, states and texts: literals, names, arithmetic and calls. Nothing else is let through."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from mqvitals_config.duration import parse_duration
from mqvitals_config.suggestion import did_you_mean, shown
from mqvitals_rules.expression.error import Mistake, RefusedError
from mqvitals_rules.expression.function import (
    EXTREMES,
    FUNCTIONS,
    LONGEST_WINDOW_MS,
    MOST_RISES,
    SHORTEST_WINDOW_MS,
    USUAL_WINDOW,
    WINDOW_FUNCTIONS,
    WindowFunction,
)
from mqvitals_rules.expression.name import Names
from mqvitals_rules.expression.node import (
    Absolute,
    Arithmetic,
    Constant,
    Extreme,
    MetricValue,
    Negation,
    Operand,
    Present,
    Rising,
    Window,
)
from mqvitals_rules.expression.syntax import LARGEST_NUMBER, Syntax
from mqvitals_rules.expression.type import Type, described, type_of
from mqvitals_rules.vocabulary.metric import MetricType

_ARITHMETIC: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}

_FORMS: Mapping[type[ast.expr], str] = {
    ast.IfExp: "'if ... else'",
    ast.Lambda: "'lambda'",
    ast.Subscript: "'[...]'",
    ast.Dict: "'{...}'",
    ast.Set: "'{...}'",
    ast.List: "'[...]'",
    ast.Tuple: "a list of values without 'in' before it",
    ast.JoinedStr: "an f-string",
    ast.NamedExpr: "':='",
    ast.Starred: "'*'",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
}

Source = TypeVar("Source")
Result = TypeVar("Result")


def every(check: Callable[[Source], Result], sources: Iterable[Source]) -> tuple[Result, ...]:
    """Check all of them; when some are refused, all their mistakes are raised together."""
    results: list[Result] = []
    mistakes: list[Mistake] = []
    for source in sources:
        try:
            results.append(check(source))
        except RefusedError as refused:
            mistakes.extend(refused.mistakes)
    if mistakes:
        raise RefusedError(mistakes)
    return tuple(results)


class OperandChecker:
    """Checks the operands of one expression. Its methods raise RefusedError."""

    __slots__ = ("names", "syntax")

    def __init__(self, syntax: Syntax, names: Names) -> None:
        self.syntax = syntax
        self.names = names

    def number(self, node: ast.expr) -> Operand:
        """A node that must be a number."""
        operand = self.operand(node)
        if type_of(operand) is not Type.NUMBER:
            raise self.refused(node, f"expected a number, not {described(operand)}")
        return operand

    def operand(self, node: ast.expr) -> Operand:
        """A node that must be a number, a state or a text."""
        start, end = self.span(node)
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name():
                self._check_spelling(node)
                return self.names.resolve(node.id, start, end)
            case ast.Attribute(value=ast.Name() as kind):
                self._check_spelling(kind)
                return self.names.related(kind.id, node.attr, start, end)
            case ast.Attribute():
                raise self.refused(node, "expected metric or kind.metric")
            case ast.UnaryOp(op=ast.USub()):
                return Negation(start, end, self.number(node.operand))
            case ast.BinOp(op=operator) if type(operator) in _ARITHMETIC:
                left, right = every(self.number, (node.left, node.right))
                return Arithmetic(start, end, _ARITHMETIC[type(operator)], left, right)
            case ast.BinOp() | ast.UnaryOp(op=ast.UAdd() | ast.Invert()):
                raise self.refused(node, "of the arithmetic operators there are + - * / only")
            case ast.Call():
                return self._call(node)
            case ast.BoolOp() | ast.Compare() | ast.UnaryOp():
                raise self.refused(node, "expected a number, not a condition")
        raise self.refused(node, f"{_FORMS.get(type(node), 'this')} is not part of the rule language")

    def present(self, node: ast.Call) -> Present:
        """``present(metric)``."""
        metric, _ = self._metric_first(node, "present(metric)", 1)
        return Present(*self.span(node), metric)

    def rising(self, node: ast.Call) -> Rising:
        """``rising(gauge, n)``."""
        usage = f"rising(gauge, n) with n from 1 to {MOST_RISES}"
        metric, rises = self._metric_first(node, usage, 2)
        if metric.metric.type is not MetricType.GAUGE:
            raise _wrong_type("rising", MetricType.GAUGE, metric)
        _check_past(metric)
        value = rises.value if isinstance(rises, ast.Constant) else None
        if type(value) is not int or not 1 <= value <= MOST_RISES:
            raise self.refused(rises, f"expected {usage}, written out")
        return Rising(*self.span(node), metric, value)

    def span(self, node: ast.expr) -> tuple[int, int]:
        """The characters that a node stands for."""
        return self.syntax.start(node), self.syntax.end(node)

    def refused(self, node: ast.expr, message: str) -> RefusedError:
        """What to raise about a node."""
        return RefusedError.at(self.syntax.start(node), message)

    def _constant(self, node: ast.Constant) -> Constant:
        value = node.value
        if isinstance(value, str):
            return Constant(*self.span(node), value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            word = "..." if value is Ellipsis else shown(repr(value))
            raise self.refused(node, f"{word} is not part of the rule language")
        if value > LARGEST_NUMBER:
            raise self.refused(node, "a number greater than 1e18")
        return Constant(*self.span(node), value)

    def _check_spelling(self, node: ast.Name) -> None:
        # The parser takes look-alikes of letters for the letters themselves.
        start, end = self.span(node)
        if end - start != len(node.id) or not self.syntax.text(node).isascii():
            raise self.refused(node, "a name has letters a to z, digits and _ only")

    def _call(self, node: ast.Call) -> Operand:
        if not isinstance(node.func, ast.Name):
            raise self.refused(node, "the only functions are those of the rule language")
        name = node.func.id
        if name in ("present", "rising"):
            raise self.refused(node, f"expected a number, and {name}(...) is a condition")
        if name not in FUNCTIONS:
            known = did_you_mean(name, FUNCTIONS) or f"; there are {', '.join(FUNCTIONS)}"
            raise self.refused(node, f"there is no function {shown(name)}{known}")
        self._check_arguments(node)
        if name == "abs":
            if len(node.args) != 1:
                raise self.refused(node, "abs takes one number: abs(x)")
            return Absolute(*self.span(node), self.number(node.args[0]))
        if name in EXTREMES and len(node.args) > 1 and not _is_text(node.args[1]):
            return Extreme(*self.span(node), name, every(self.number, node.args))
        return self._window(node, WINDOW_FUNCTIONS[name])

    def _window(self, node: ast.Call, function: WindowFunction) -> Window:
        most = 3 if function.takes_limit else 2
        if not most - 1 <= len(node.args) <= most:
            raise self.refused(node, f"expected {function.usage}")
        metric = self._metric(node.args[0], function.usage)
        type_ = metric.metric.type
        switch = function.on_switches and type_ is MetricType.STATE and set(metric.metric.values.values()) == {0, 1}
        if type_ is not function.type and not switch:
            raise _wrong_type(function.name, function.type, metric)
        _check_past(metric)
        limit = self.number(node.args[1]) if function.takes_limit else None
        window_ms = self._duration(node.args[-1], function) if len(node.args) == most else parse_duration(USUAL_WINDOW)
        return Window(*self.span(node), function.name, metric, window_ms, limit, metric.values if switch else None)

    def _duration(self, node: ast.expr, function: WindowFunction) -> int:
        text = node.value if isinstance(node, ast.Constant) else None
        if not isinstance(text, str):
            raise self.refused(node, f"expected a window written out, as in {function.usage}")
        try:
            window_ms = parse_duration(text)
        except ValueError as error:
            raise self.refused(node, f"{shown(text)} is no window: {error}") from None
        if not SHORTEST_WINDOW_MS <= window_ms <= LONGEST_WINDOW_MS:
            raise self.refused(node, "a window is 1s to 366d long")
        return window_ms

    def _metric_first(self, node: ast.Call, usage: str, count: int) -> tuple[MetricValue, ast.expr]:
        """The metric that is a call's first of ``count`` arguments, and the last argument."""
        self._check_arguments(node)
        if len(node.args) != count:
            raise self.refused(node, f"expected {usage}")
        return self._metric(node.args[0], usage), node.args[-1]

    def _metric(self, node: ast.expr, usage: str) -> MetricValue:
        operand = self.operand(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if not isinstance(operand, MetricValue):
            raise self.refused(node, f"expected the name of a metric: {usage}")
        return operand

    def _check_arguments(self, node: ast.Call) -> None:
        if node.keywords:
            raise self.refused(node, "arguments have no names here")
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                raise self.refused(argument, "'*' is not part of the rule language")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _wrong_type(function: str, wanted: MetricType, metric: MetricValue) -> RefusedError:
    message = f"{function} needs a {wanted.value}, and {metric.name} is a {metric.metric.type.value}"
    if metric.metric.type is MetricType.COUNTER:
        message += f'; rate and delta look back on it: rate({metric.name}, "5m")'
    return RefusedError.at(metric.start, message)


def _check_past(metric: MetricValue) -> None:
    if metric.metric.declared:
        raise RefusedError.at(metric.start, f"{metric.name} is declared in the configuration and has no history")
