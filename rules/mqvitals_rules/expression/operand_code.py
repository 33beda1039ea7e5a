"""The code of operands: the values that conditions compare, and the tests that they are present."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import cache
from math import nan
from typing import Any as Whatever

from mqvitals_rules.expression.absence_code import unheard
from mqvitals_rules.expression.context import tally
from mqvitals_rules.expression.functions import WINDOW_FUNCTIONS
from mqvitals_rules.expression.lookups import Lookups, Tests, once
from mqvitals_rules.expression.node import (
    Absolute,
    Arithmetic,
    Constant,
    Elapsed,
    Extreme,
    Latest,
    MemberTally,
    MetricValue,
    NameText,
    Negation,
    Operand,
    Times,
    Window,
    limit_metrics,
)


class OperandWriter:
    """Writes the Python expressions of operands.

    ``tallied`` compiles what is counted or summed up of members. With ``safe`` a calculation that overflows is unknown,
    and each operator is a call.
    """

    def __init__(
        self, lookups: Lookups, tallied: Callable[[MemberTally], Callable[..., Whatever]], *, safe: bool
    ) -> None:
        self._lookups = lookups
        self._tallied = tallied
        self._safe = safe

    def settled(self, node: Operand, tests: Tests) -> str:
        """The code of an operand that is known to be a number, state or text once ``tests`` hold."""
        text = self._operand(node, tests)
        if not _may_be_nan(node):
            return text
        local = self._lookups.local()
        tests.parts.append(f"({local} := {text}) == {local}")  # infinity less infinity equals nothing, not even itself
        return local

    def _operand(self, node: Operand, tests: Tests) -> str:
        constant = self._lookups.constant
        match node:
            case Constant():
                return constant(node.value)
            case MetricValue():
                return self._lookups.present(node, tests)
            case NameText():
                return "n" if self._lookups.noting and not node.of else f"{self._lookups.asked(node.of)}.name"
            case Negation():
                return f"(-{self._operand(node.operand, tests)})"
            case Absolute():
                return f"absolute({self._operand(node.operand, tests)})"
            case Extreme():
                function = "least" if node.function == "min" else "greatest"
                return f"{function}({', '.join(self.settled(each, tests) for each in node.operands)})"
            case Arithmetic():
                left = self._operand(node.left, tests)
                right = self._operand(node.right, tests)
                if node.operator == "/":
                    local = self._lookups.local()
                    tests.parts.append(f"({local} := {right}) != 0")
                    right = local
                if self._safe:
                    return f"{self._lookups.held(_OPERATORS[node.operator])}({left}, {right})"
                return f"({left} {node.operator} {right})"
            case Window():
                return self._looked_back(node, tests)
            case MemberTally():
                body = self._lookups.held(self._tallied(node))
                kind, function, alike = map(constant, (node.kind, node.function, node.alike))
                called = self._lookups.held(_or(None, tally)) if self._safe else "tally"
                return self._found(f"{called}({self._lookups.asked()}, {kind}, {body}, {function}, {alike})", tests)
            case Elapsed():
                first, second, window = map(constant, (node.first, node.second, node.window_ms))
                return self._found_of_messages(
                    f"elapsed({self._lookups.asked()}, {first}, {second}, {window})", node, tests
                )
            case Times():
                ids, window = constant(frozenset(node.messages)), constant(node.window_ms)
                return self._found_of_messages(
                    f"times({self._lookups.asked()}, {ids}, {window}, {constant(node.quiet)})", node, tests
                )
            case Latest():
                function = "latest_text" if node.as_text else "latest"
                code, insert = constant(node.message), constant(node.insert)
                return self._found_of_messages(f"{function}({self._lookups.asked()}, {code}, {insert})", node, tests)

    def _looked_back(self, node: Window, tests: Tests) -> str:
        limit = ""
        if node.limit is not None:
            parts = "".join(
                f"({self._lookups.whose(each)}, {self._lookups.address(each)}), " for each in limit_metrics(node.limit)
            )
            limit = f", {self.settled(node.limit, tests)}, ({parts})"
        function = WINDOW_FUNCTIONS[node.function].look(node.metric.metric.type)
        look = self._lookups.held(_or(None, function) if self._safe else function)
        address = f"{self._lookups.whose(node.metric)}, {self._lookups.address(node.metric)}"
        call = f"{look}({address}, {self._lookups.constant(node.window_ms)}{limit})"
        shared = self._lookups.shared_look(node)
        if shared is None:
            return self._found(call, tests)
        tests.parts.append(f"{once(shared, call)} is not None")
        return shared

    def _found_of_messages(self, call: str, node: Elapsed | Times | Latest, tests: Tests) -> str:
        if self._lookups.noting:
            tests.parts.append(f"not ({unheard(self._lookups, node)})")
        return self._found(call, tests)

    def _found(self, call: str, tests: Tests) -> str:
        """The local that holds the result of a call, which is tested to be not None."""
        local = self._lookups.local()
        tests.parts.append(f"({local} := {call}) is not None")
        return local

    # Names in the written code


@cache
def _or(otherwise: float | None, function: Callable[..., Whatever]) -> Callable[..., Whatever]:
    """The function; where a calculation overflows, it returns ``otherwise``. Each has one, so that equal code is the same."""

    def guarded(*arguments: Whatever) -> Whatever:
        try:
            return function(*arguments)
        except ArithmeticError:
            return otherwise

    return guarded


_OPERATORS: Mapping[str, Callable[..., Whatever]] = {
    "+": _or(nan, operator.add),
    "-": _or(nan, operator.sub),
    "*": _or(nan, operator.mul),
    "/": _or(nan, operator.truediv),
}
"""The operators of safe functions. Where the result overflows it is NaN, for which every calculation is tested."""


def _may_be_nan(node: Operand) -> bool:
    match node:
        case Arithmetic():
            return True
        case Negation() | Absolute():
            return _may_be_nan(node.operand)
    return False
