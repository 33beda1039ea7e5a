"""From syntax to conditions: comparisons, membership, and, or, not. Every name is known and every type right."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from mqvitals_config.problem import did_you_mean, shown
from mqvitals_rules.expression.names import Type, described, type_of, value_names, values_of
from mqvitals_rules.expression.node import (
    All,
    Any,
    Comparison,
    Condition,
    Constant,
    Membership,
    MetricValue,
    Negation,
    Not,
    Operand,
)
from mqvitals_rules.expression.operands import CallChecker, every
from mqvitals_rules.expression.syntax import RefusedExpressionError

_ORDER: Mapping[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_EQUALITY: Mapping[type[ast.cmpop], str] = {ast.Eq: "==", ast.NotEq: "!="}


class ConditionChecker(CallChecker):
    """Checks one expression that must be true or false. Its methods raise RefusedExpressionError."""

    __slots__ = ()

    def condition(self, node: ast.expr) -> Condition:
        """A node that must be true or false."""
        match node:
            case ast.BoolOp():
                join = All if isinstance(node.op, ast.And) else Any
                return join(*self.span(node), every(self.condition, node.values))
            case ast.UnaryOp(op=ast.Not()):
                return Not(*self.span(node), self.condition(node.operand))
            case ast.Compare():
                return self._comparisons(node)
            case ast.Call():
                found = self.condition_call(node)
                if found is not None:
                    return found
        operand = self.operand(node)
        values = values_of(operand)
        remedy = f"compare it with one of its values: {value_names(values)}" if values else "compare it with something"
        raise self.refused(node, f"expected a condition, not {described(operand)}; {remedy}")

    def _comparisons(self, node: ast.Compare) -> Condition:
        """One comparison; for a chain ``a < b <= c`` all of them, joined by ``and``."""
        operands = [node.left, *node.comparators]
        pairs = list(zip(operands, node.ops, operands[1:], strict=False))
        found = every(self._pair, pairs)
        return found[0] if len(found) == 1 else All(*self.span(node), found)

    def _pair(self, pair: tuple[ast.expr, ast.cmpop, ast.expr]) -> Comparison | Membership:
        left, operator, right = pair
        start, end = self.syntax.start(left), self.syntax.end(right)
        if isinstance(operator, ast.In | ast.NotIn):
            operand = self.operand(left)
            return Membership(start, end, operand, self._members(operand, right), isinstance(operator, ast.NotIn))
        if isinstance(operator, ast.Is | ast.IsNot):
            sign = "==" if isinstance(operator, ast.Is) else "!="
            raise self.refused(left, f"'is' is not part of the rule language; write {sign}")
        first, second = self._sides(left, right)
        order = _ORDER.get(type(operator))
        if order is not None:
            for operand in (first, second):
                if type_of(operand) is not Type.NUMBER:
                    raise RefusedExpressionError.at(
                        operand.start, f"{order} compares numbers, not {described(operand)}"
                    )
            return Comparison(start, end, order, first, second)
        if type_of(first) is not type_of(second) or values_of(first) != values_of(second):
            values = values_of(first) or values_of(second)
            remedy = f"; the values are {value_names(values)}" if values else ""
            raise RefusedExpressionError.at(start, f"{described(first)} cannot equal {described(second)}{remedy}")
        return Comparison(start, end, _EQUALITY[type(operator)], first, second)

    def _sides(self, left: ast.expr, right: ast.expr) -> tuple[Operand, Operand]:
        """Both sides of a comparison; a bare name beside a state is one of its values if it can be."""
        values = self._state_values(left)
        if values and isinstance(right, ast.Name):
            return self.operand(left), self._value_or_name(right, left, values)
        values = self._state_values(right)
        if values and isinstance(left, ast.Name):
            return self._value_or_name(left, right, values), self.operand(right)
        first, second = every(self.operand, (left, right))
        return first, second

    def _state_values(self, node: ast.expr) -> Mapping[str, int] | None:
        """The values of the state that a node stands for; None when it is none, or is wrong."""
        if not isinstance(node, ast.Name | ast.Attribute | ast.Call):
            return None
        try:
            return values_of(self.operand(node))
        except RefusedExpressionError:
            return None

    def _value_or_name(self, node: ast.Name, state: ast.expr, values: Mapping[str, int]) -> Operand:
        start, end = self.span(node)
        if node.id in values:
            return Constant(start, end, values[node.id], values)
        if self.names.find(node.id, start, end) is None:
            raise self._no_value(node, self.operand(state), values)
        return self.operand(node)

    def _members(self, operand: Operand, node: ast.expr) -> frozenset[float | str]:
        if isinstance(node, ast.Name):
            if isinstance(operand, MetricValue):
                return self.names.members(node.id, operand, self.syntax.start(node))
            raise self.refused(node, "only a metric can be in a named set")
        if not isinstance(node, ast.Tuple) or not node.elts:
            raise self.refused(node, "expected the name of a set, or values in parentheses: (A, B)")
        return frozenset(every(lambda element: self._member(operand, element), node.elts))

    def _member(self, operand: Operand, node: ast.expr) -> float | str:
        values = values_of(operand)
        if values is not None and isinstance(node, ast.Name):
            if node.id not in values:
                raise self._no_value(node, operand, values)
            return values[node.id]
        found = self.operand(node)
        if type_of(found) is not type_of(operand):
            raise self.refused(node, f"{described(operand)} cannot be {described(found)}")
        match found:
            case Constant(value=value):
                return value
            case Negation(operand=Constant(value=int() | float() as value)):
                return -value
        raise self.refused(node, "expected values that are written out: (A, B)")

    def _no_value(self, node: ast.Name, state: Operand, values: Mapping[str, int]) -> RefusedExpressionError:
        close = did_you_mean(node.id, values) or f"; the values are {value_names(values)}"
        return self.refused(node, f"{shown(node.id)} is no value of {described(state)}{close}")
