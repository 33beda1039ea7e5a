"""Expressions made from text: conditions are checked, so that every name is known and every type right, and compiled."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mqvitals_config.decoding.problem import LocatedText, Problem, did_you_mean, shown
from mqvitals_rules.expression.calls import CallChecker
from mqvitals_rules.expression.compiler import (
    Evaluate,
    compile_condition,
    compile_operand,
)
from mqvitals_rules.expression.context import Context
from mqvitals_rules.expression.doubts import doubts
from mqvitals_rules.expression.evaluation import CompiledParts, ExpressionEvaluation, Missing
from mqvitals_rules.expression.explanation import Explanation, explain, filled
from mqvitals_rules.expression.functions import WindowUse
from mqvitals_rules.expression.names import Names, Type, described, type_of, value_names, values_of
from mqvitals_rules.expression.node import (
    PAIR,
    THIS,
    All,
    Any,
    AnyMember,
    Comparison,
    Condition,
    Constant,
    Latest,
    Membership,
    MembersKnown,
    MemberTally,
    MetricValue,
    Negation,
    Node,
    Not,
    Operand,
    Rising,
    Unchanged,
    Window,
    limit_metrics,
    messages_of,
    walk,
    walk_outside,
)
from mqvitals_rules.expression.operands import every
from mqvitals_rules.expression.syntax import ExpressionError, RefusedExpressionError, located, parse, problems
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported

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


_NOTHING: Mapping[str, Reported] = MappingProxyType({})
_NO_PARAMETERS: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class MemberUse:
    """What an expression reads of the members of a kind: the (kind, metric) of each of them, and where in the text."""

    kind: str
    names: frozenset[tuple[str, str]]
    start: int


class Expression:
    """A condition that was checked and compiled. Make it with ``compile_expression``.

    ``source`` is its text. ``names`` are the (kind, metric) it reads of the object and what belongs to it, ``windows``
    those it reads of the past, ``members`` what it reads of members, ``messages`` the ids of console messages,
    ``inserts`` the (id, insert) that it reads of them, ``pairs`` the metrics of the object's pair, ``shares`` the kinds of which it takes the sum over all objects.
    ``evaluate`` is the compiled condition, for thousands of objects: as ``truth`` with the ``get`` of its values, but it
    raises ArithmeticError where a calculation overflows; ``truth`` handles that.
    """

    __slots__ = (
        "_parts",
        "evaluate",
        "inserts",
        "members",
        "messages",
        "names",
        "pairs",
        "root",
        "shares",
        "source",
        "windows",
    )

    def __init__(self, source: LocatedText, root: Condition) -> None:
        self.source = source
        self.root = root
        self.evaluate: Evaluate = self._evaluate_first
        self._parts = CompiledParts()
        self.names = names_of(root)
        self.pairs = pairs_of(root)
        self.members = members_of(root)
        self.messages = messages_of(root)
        self.inserts = inserts_of(root)
        self.shares = shares_of(root)
        self.windows = windows_of(root)

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    @property
    def text(self) -> str:
        """Its part of ``source``: all of it, unless it is one of the ``parts`` of another."""
        return self.source[self.root.start : self.root.end]

    def parts(self) -> tuple[Expression, ...]:
        """Itself, and every operand of its ``and`` and ``or``, also of inner ones: each can be evaluated by itself."""
        match self.root:
            case All(operands=operands) | Any(operands=operands):
                return (self, *(part for operand in operands for part in Expression(self.source, operand).parts()))
            case Not(operand=operand):
                return (self, *Expression(self.source, operand).parts()[1:])
        return (self,)

    def truth(self, context: Context, values: Mapping[str, Reported] = _NOTHING) -> bool | None:
        """True, False, or None for unknown.

        ``values`` may hold the context's values of the object itself, metric -> value: that is quicker. A metric that
        is absent there, or not in it, is looked up in the context.
        """
        try:
            return self.evaluate(context, values.get)
        except ArithmeticError:  # an overflow: the safe functions show whether it matters
            return ExpressionEvaluation(self.source, self._parts, context, values).verdict(self.root)

    def _evaluate_first(self, context: Context, value_of: Callable[[str], Reported | None]) -> bool | None:
        """Compile on first use: that takes longer than all the rest of loading, and most programs
        evaluate few rules.
        """
        self.evaluate = compile_condition(self.root)
        return self.evaluate(context, value_of)

    def explain(self, context: Context) -> Explanation:
        """The truth again, with every term's values and, for an unknown verdict, what is missing."""
        return explain(self.source, self.root, self._parts, context)

    def reason(self, context: Context, values: Mapping[str, Reported] = _NOTHING) -> Absence | None:
        """Why the verdict is unknown: the first absence that makes it so.

        None when it is known. ``values`` as for ``truth``.
        """
        return None if self.truth(context, values) is not None else self.why_unknown(context, values)

    def why_unknown(self, context: Context, values: Mapping[str, Reported] = _NOTHING) -> Absence | None:
        """The same where the verdict is known to be unknown."""
        return ExpressionEvaluation(self.source, self._parts, context, values).reason(self.root)

    def filled(self, context: Context) -> str:
        """The text with the value of each metric, parameter and window in brackets behind it: ``free_pct [4] <= 5``."""
        return filled(self.source, self.root, self._parts, context)

    def sides(self) -> dict[tuple[str, str], bool | None]:
        """(kind, metric) of each metric that is compared by itself -> whether low values fulfil the condition.

        None: neither side alone does.
        """
        found: dict[tuple[str, str], bool | None] = {}
        for metric, low in sides_of(self.root):
            key = (metric.kind, metric.metric.name)
            found[key] = low if found.get(key, low) is low else None
        return found

    def doubts(self) -> tuple[Problem, ...]:
        """Comparisons that can never hold, or always do, because of what a metric can be."""
        return problems(self.source, doubts(self.root))


class Calculation:
    """A number calculated from metrics. Make it with ``compile_value``."""

    __slots__ = ("_compiled", "_parts", "_root", "members", "names", "source", "windows")

    def __init__(self, source: LocatedText, root: Operand) -> None:
        self.source = source
        self._root = root
        self._parts = CompiledParts()
        self._compiled: Callable[..., float | None] | None = None
        self.names = names_of(root)
        self.members = members_of(root)
        self.windows = windows_of(root)

    def number(self, context: Context, value_of: Callable[[str], Reported | None] = _NOTHING.get) -> float | None:
        """The number, or None; compiled, for callers that need it thousands of times.

        ``value_of``: as for ``evaluate``.
        """
        if self._compiled is None:
            self._compiled = compile_operand(self._root)
        try:
            return self._compiled(context, value_of)
        except ArithmeticError:
            found: float | None = self._parts.function(self._root)(context, value_of)
            return found

    def value(self, context: Context) -> float | Absence:
        """The number, or why there is none."""
        evaluation = ExpressionEvaluation(self.source, self._parts, context)
        value = evaluation.value(self._root)
        assert not isinstance(value, str), "the checker lets only numbers be calculated"
        return evaluation.missing(self._root)[0].absence if value is None else value

    def missing(self, context: Context) -> tuple[Missing, ...]:
        """What makes it unknown; empty where there is a number."""
        return ExpressionEvaluation(self.source, self._parts, context).missing(self._root)


def compile_expression(
    text: str,
    scope: Kind,
    kinds: Mapping[str, Kind],
    parameters: Mapping[str, float] = _NO_PARAMETERS,
    *,
    quiet: bool = False,
) -> Expression:
    """A condition on objects of the kind ``scope``. ``parameters`` are the rule's thresholds by name.

    ``quiet``: messages written while their queue manager starts or stops do not count.

    Raises ExpressionError with every problem found, each at its column (and in its file, for a LocatedText).
    """
    source = located(text)
    try:
        syntax = parse(source)
        root = ConditionChecker(syntax, Names(scope, kinds, parameters, quiet=quiet)).condition(syntax.body)
        if not (names_of(root) or pairs_of(root) or members_of(root) or messages_of(root)):
            raise RefusedExpressionError.at(0, "the condition looks at no metric")
    except RefusedExpressionError as refused:
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
    except RefusedExpressionError as refused:
        raise ExpressionError(problems(source, refused.mistakes)) from None
    return Calculation(source, root)


def names_of(root: Node) -> frozenset[tuple[str, str]]:
    """The (kind, metric) of every metric in a tree, but for those of members and of a pair."""
    return frozenset(
        (node.kind, node.metric.name)
        for node in walk_outside(root)
        if isinstance(node, MetricValue) and node.of != PAIR
    )


def sides_of(root: Node, *, opposite: bool = False) -> Iterator[tuple[MetricValue, bool | None]]:
    """Each metric of the object, or of what belongs to it, that is compared: with whether low values fulfil the
    comparison.
    """
    match root:
        case Comparison(operator=operator, left=left, right=right):
            low = {"<": True, "<=": True, ">": False, ">=": False}.get(operator)
            for side, fulfils in ((left, low), (right, None if low is None else not low)):
                if isinstance(side, MetricValue) and not side.of:
                    yield side, fulfils if fulfils is None else fulfils is not opposite
        case Membership(operand=MetricValue(of="") as operand):
            yield operand, None
        case Not(operand=operand):
            yield from sides_of(operand, opposite=not opposite)
        case All(operands=operands) | Any(operands=operands):
            for each in operands:
                yield from sides_of(each, opposite=opposite)


def pairs_of(root: Node) -> frozenset[str]:
    """The metrics that a tree reads of the object's pair."""
    return frozenset(
        node.metric.name for node in walk_outside(root) if isinstance(node, MetricValue) and node.of == PAIR
    )


def members_of(root: Node) -> tuple[MemberUse, ...]:
    """What a tree reads of members, in the order of the text."""
    found = []
    for node in walk(root):
        if isinstance(node, AnyMember | MemberTally):
            metrics = (each for each in walk(node.body) if isinstance(each, MetricValue) and each.of != THIS)
            found.append(MemberUse(node.kind, frozenset((each.kind, each.metric.name) for each in metrics), node.start))
        elif isinstance(node, MembersKnown):
            found.append(MemberUse(node.kind, frozenset(), node.start))
    return tuple(found)


def inserts_of(root: Node) -> frozenset[tuple[str, str]]:
    """The (id, insert) of the console messages that a tree reads an insert of."""
    return frozenset((node.message, node.insert) for node in walk(root) if isinstance(node, Latest))


def shares_of(root: Node) -> frozenset[str]:
    """The kinds of which a tree takes the sum over all objects."""
    return frozenset(node.metric.kind for node in walk(root) if isinstance(node, Window) and node.function == "share")


def windows_of(root: Node) -> tuple[WindowUse, ...]:
    """Every window of a tree, each once."""
    found: dict[WindowUse, None] = {}
    for node in walk(root):
        if isinstance(node, Window):
            limits = () if node.limit is None else limit_metrics(node.limit)
            looks_back = node.window_ms or node.function == "baseline"
            for metric in (node.metric, *limits) if looks_back else ():
                found[WindowUse(node.function, metric.kind, metric.metric.name, node.window_ms, 0)] = None
        elif isinstance(node, Rising):
            metric = node.metric
            found[WindowUse("rising", metric.kind, metric.metric.name, 0, node.rises + 1)] = None
        elif isinstance(node, Unchanged):
            metric = node.metric
            found[WindowUse("unchanged", metric.kind, metric.metric.name, node.window_ms, 0)] = None
    return tuple(found)
