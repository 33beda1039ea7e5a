"""Checks operands: constants, metrics, arithmetic; ``calls`` has the calls of functions."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from mqvitals_config.decoding.problem import shown
from mqvitals_rules.expression.names import Names, Type, described, type_of
from mqvitals_rules.expression.node import (
    Arithmetic,
    Condition,
    Constant,
    Negation,
    Operand,
)
from mqvitals_rules.expression.syntax import LARGEST_NUMBER, Mistake, RefusedExpressionError, Syntax

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
        except RefusedExpressionError as refused:
            mistakes.extend(refused.mistakes)
    if mistakes:
        raise RefusedExpressionError(mistakes)
    return tuple(results)


class OperandChecker(ABC):
    """Checks the operands of one expression, but for calls. Its methods raise RefusedExpressionError."""

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
                return self.call(node)
            case ast.BoolOp() | ast.Compare() | ast.UnaryOp():
                raise self.refused(node, "expected a number, not a condition")
        raise self.refused(node, f"{_FORMS.get(type(node), 'this')} is not part of the rule language")

    def text(self, node: ast.expr) -> Operand:
        """A node that must be a text."""
        operand = self.operand(node)
        if type_of(operand) is not Type.TEXT:
            raise self.refused(node, f"expected a text, not {described(operand)}")
        return operand

    @abstractmethod
    def condition(self, node: ast.expr) -> Condition:
        """A node that must be true or false."""

    @abstractmethod
    def call(self, node: ast.Call) -> Operand:
        """A call that must be a number."""

    def span(self, node: ast.expr) -> tuple[int, int]:
        """The characters that a node stands for."""
        return self.syntax.start(node), self.syntax.end(node)

    def refused(self, node: ast.expr, message: str) -> RefusedExpressionError:
        """What to raise about a node."""
        return RefusedExpressionError.at(self.syntax.start(node), message)

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


def is_text(node: ast.expr) -> bool:
    """Whether a node is a text in quotes."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
