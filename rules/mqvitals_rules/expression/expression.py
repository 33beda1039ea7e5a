"""Expressions ready to be judged, and how to make them from text."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mqvitals_config.problem import LocatedText, Problem
from mqvitals_rules.expression.check import ConditionChecker
from mqvitals_rules.expression.compiler import compile_condition
from mqvitals_rules.expression.context import Context
from mqvitals_rules.expression.doubt import doubts
from mqvitals_rules.expression.error import ExpressionError, RefusedError, located, problems
from mqvitals_rules.expression.explanation import Explanation, explain, filled
from mqvitals_rules.expression.function import WindowUse
from mqvitals_rules.expression.judge import CarefulJudge, UnknownError
from mqvitals_rules.expression.name import Names
from mqvitals_rules.expression.node import Condition, MetricValue, Node, Operand, Rising, Window, walk
from mqvitals_rules.expression.syntax import parse
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported

_NOTHING: Mapping[str, Reported] = MappingProxyType({})
_NO_PARAMETERS: Mapping[str, float] = MappingProxyType({})


class Expression:
    """A condition that was checked and compiled. Make it with ``compile_expression``.

    ``source`` is its text. ``names`` are the (kind, metric) it mentions, ``windows`` its looks into the past.
    """

    __slots__ = ("_judge", "_root", "names", "source", "windows")

    def __init__(self, source: LocatedText, root: Condition) -> None:
        self.source = source
        self._root = root
        self._judge = compile_condition(root)
        self.names = names_of(root)
        self.windows = windows_of(root)

    def __repr__(self) -> str:
        return f"Expression({str(self.source)!r})"

    def truth(self, context: Context, values: Mapping[str, Reported] = _NOTHING) -> bool | None:
        """True, False, or None for unknown.

        ``values`` may hold what the context would say of the object itself, metric -> value: looking there first is quicker.
        A metric that is absent there, or not there at all, is asked of the context.
        """
        try:
            return self._judge(context, values.get)
        except ArithmeticError:  # an overflow somewhere: only a careful look tells whether it matters
            return CarefulJudge(self.source, context).condition(self._root).truth

    def explain(self, context: Context) -> Explanation:
        """The truth again, with every term's values and, for an unknown verdict, what is missing."""
        return explain(self.source, self._root, context)

    def reason(self, context: Context) -> Absence | None:
        """Why the verdict is unknown: the first absence that makes it so. None when it is known."""
        missing = CarefulJudge(self.source, context).condition(self._root).missing
        return missing[0].absence if missing else None

    def filled(self, context: Context) -> str:
        """The text with the value of each metric, parameter and window in brackets behind it: ``free_pct [4] <= 5``."""
        return filled(self.source, self._root, context)

    def doubts(self) -> tuple[Problem, ...]:
        """Comparisons that can never hold, or always do, because of what a metric can be."""
        return problems(self.source, doubts(self._root))


class Calculation:
    """A number worked out from metrics. Make it with ``compile_value``."""

    __slots__ = ("_root", "names", "source", "windows")

    def __init__(self, source: LocatedText, root: Operand) -> None:
        self.source = source
        self._root = root
        self.names = names_of(root)
        self.windows = windows_of(root)

    def value(self, context: Context) -> float | Absence:
        """The number, or why there is none."""
        try:
            value = CarefulJudge(self.source, context).operand(self._root)
        except UnknownError as unknown:
            return unknown.missing[0].absence
        assert not isinstance(value, str), "the checker lets only numbers be calculated"
        return value


def compile_expression(
    text: str,
    scope: Kind,
    kinds: Mapping[str, Kind],
    parameters: Mapping[str, float] = _NO_PARAMETERS,
) -> Expression:
    """A condition on objects of the kind ``scope``. ``parameters`` are the rule's thresholds by name.

    Raises ExpressionError with every problem found, each at its column (and in its file, for a LocatedText).
    """
    source = located(text)
    try:
        syntax = parse(source)
        root = ConditionChecker(syntax, Names(scope, kinds, parameters)).condition(syntax.body)
        if not names_of(root):
            raise RefusedError.at(0, "the condition looks at no metric")
    except RefusedError as refused:
        raise ExpressionError(problems(source, refused.mistakes)) from None
    return Expression(source, root)


def compile_value(
    text: str,
    scope: Kind,
    kinds: Mapping[str, Kind],
    parameters: Mapping[str, float] = _NO_PARAMETERS,
) -> Calculation:
    """A number about objects of the kind ``scope``. Raises ExpressionError as ``compile_expression`` does."""
    source = located(text)
    try:
        syntax = parse(source)
        root = ConditionChecker(syntax, Names(scope, kinds, parameters)).number(syntax.body)
    except RefusedError as refused:
        raise ExpressionError(problems(source, refused.mistakes)) from None
    return Calculation(source, root)


def names_of(root: Node) -> frozenset[tuple[str, str]]:
    """The (kind, metric) of every metric in a tree."""
    return frozenset((node.kind, node.metric.name) for node in walk(root) if isinstance(node, MetricValue))


def windows_of(root: Node) -> tuple[WindowUse, ...]:
    """Every look into the past in a tree, each once."""
    found: dict[WindowUse, None] = {}
    for node in walk(root):
        if isinstance(node, Window):
            metric = node.metric
            found[WindowUse(node.function, metric.kind, metric.metric.name, node.window_ms, 0)] = None
        elif isinstance(node, Rising):
            metric = node.metric
            found[WindowUse("rising", metric.kind, metric.metric.name, 0, node.rises + 1)] = None
    return tuple(found)
