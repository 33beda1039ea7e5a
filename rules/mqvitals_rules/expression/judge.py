"""Evaluates a condition with every detail: its truth, and all that makes it unknown.

It also stands in for the compiled function when a calculation overflows.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any as Whatever
from typing import NamedTuple, cast

from mqvitals_rules.expression.compiler import NUMBERS, PRESENT, TEXTS
from mqvitals_rules.expression.context import TALLIES, Context, MemberSet, enough, some
from mqvitals_rules.expression.functions import EXTREMES, WINDOW_FUNCTIONS, elapsed, rising, seen
from mqvitals_rules.expression.names import Type, type_of
from mqvitals_rules.expression.node import (
    PAIR,
    THIS,
    Absolute,
    Affix,
    All,
    Any,
    AnyMember,
    Arithmetic,
    Comparison,
    Condition,
    Constant,
    Elapsed,
    Extreme,
    Membership,
    MembersKnown,
    MemberTally,
    MetricValue,
    NameText,
    Negation,
    Not,
    Operand,
    Present,
    Rising,
    Seen,
    Term,
    Window,
    limit_metrics,
    read_now,
)
from mqvitals_rules.vocabulary.metric import Absence, Value


class Missing(NamedTuple):
    """A metric, or a calculation, that has no value, and why."""

    name: str
    absence: Absence


class TruthOutcome(NamedTuple):
    """The truth of a condition.

    ``missing``: what makes it unknown; ``left_out``: all of it is about undeclared facts.
    """

    truth: bool | None
    missing: tuple[Missing, ...] = ()
    left_out: bool = False


class UnknownError(Exception):
    """An operand has no value."""

    def __init__(self, missing: Iterable[Missing]) -> None:
        super().__init__()
        self.missing = tuple(missing)


class MemberOutcome(NamedTuple):
    """The result of a member, and its name. A number that is unknown is None."""

    name: str
    found: Value | None
    missing: tuple[Missing, ...] = ()


def joined(outcomes: Sequence[TruthOutcome], *, decides: bool) -> TruthOutcome:
    """``and`` (False decides) or ``or`` (True decides) of outcomes."""
    counted = [outcome for outcome in outcomes if not outcome.left_out]
    if not counted:
        return TruthOutcome(None, merged(outcomes), left_out=True)
    if any(outcome.truth is decides for outcome in counted):
        return TruthOutcome(decides)
    unknown = [outcome for outcome in counted if outcome.truth is None]
    return TruthOutcome(None, merged(unknown)) if unknown else TruthOutcome(not decides)


def missing_of(members: Iterable[MemberOutcome]) -> tuple[Missing, ...]:
    """What makes members unknown, each once."""
    return tuple(dict.fromkeys(missing for member in members if member.found is None for missing in member.missing))


def merged(outcomes: Iterable[TruthOutcome]) -> tuple[Missing, ...]:
    """What makes outcomes unknown, each once."""
    return tuple(dict.fromkeys(missing for outcome in outcomes for missing in outcome.missing))


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


class DetailedEvaluator:
    """Evaluates nodes of one expression on one context; ``kind``: of the member that the context is,
    where it is one.
    """

    __slots__ = ("_context", "_kind", "_text")

    def __init__(self, text: str, context: Context, kind: str = "") -> None:
        self._text = text
        self._context = context
        self._kind = kind

    def condition(self, node: Condition) -> TruthOutcome:
        """The truth of a condition, with every part of it evaluated."""
        match node:
            case All():
                return joined([self.condition(each) for each in node.operands], decides=False)
            case Any():
                return joined([self.condition(each) for each in node.operands], decides=True)
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
            case NameText():
                return self._of(node.of).name
            case MemberTally():
                return self._tallied(node)
            case Elapsed():
                return self._elapsed(node)
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

    def _term(self, node: Term) -> TruthOutcome:
        try:
            match node:
                case Present():
                    return TruthOutcome(self._reported(node.metric).__class__ in PRESENT)
                case MembersKnown():
                    return TruthOutcome(self._context.members(node.kind).doubt is None)
                case Rising():
                    metric = node.metric
                    truth = rising(self._of(metric.of), metric.kind, metric.metric.name, node.rises)
                    return TruthOutcome(truth, self._past_missing(metric) if truth is None else ())
                case AnyMember():
                    return self._any(node)
                case Seen():
                    truth = seen(self._context, frozenset((node.message,)), node.window_ms)
                    return TruthOutcome(truth, self._no_console(node) if truth is None else ())
            undeclared = self._undeclared(node)
            if undeclared:
                return TruthOutcome(None, undeclared, left_out=True)
            if isinstance(node, Membership):
                return TruthOutcome((self.operand(node.operand) in node.members) is not node.negated)
            if isinstance(node, Affix):
                text, affix = self._all((node.text, node.affix))
                return TruthOutcome(text.startswith(affix) if node.function == "startswith" else text.endswith(affix))
            left, right = self._all((node.left, node.right))
            return TruthOutcome(_OPERATORS[node.operator](left, right))
        except UnknownError as unknown:
            return TruthOutcome(None, unknown.missing)

    def members(self, node: AnyMember | MemberTally) -> tuple[MemberOutcome, ...]:
        """The result of each member. Raises UnknownError when the members are not known."""
        company = self._context.members(node.kind)
        if company.doubt is not None:
            raise UnknownError((Missing(node.kind, company.doubt),))
        if not node.alike:
            return tuple(self._of_members(node, company))
        notes = company.notes
        if node not in notes:
            notes[node] = tuple(self._of_members(node, company))
        found: tuple[MemberOutcome, ...] = notes[node]
        return found

    def _of_members(self, node: AnyMember | MemberTally, company: MemberSet) -> Iterator[MemberOutcome]:
        for member, _ in company:
            judge = DetailedEvaluator(self._text, member, node.kind)
            if isinstance(node, AnyMember) or node.function == "count":
                outcome = judge.condition(cast("Condition", node.body))
                yield MemberOutcome(member.name, outcome.truth, outcome.missing)
            else:
                try:
                    yield MemberOutcome(member.name, judge.operand(cast("Operand", node.body)))
                except UnknownError as unknown:
                    yield MemberOutcome(member.name, None, unknown.missing)

    def _any(self, node: AnyMember) -> TruthOutcome:
        found = self.members(node)
        truth = some(cast("bool | None", each.found) for each in found)
        return TruthOutcome(truth, missing_of(found) if truth is None else ())

    def _tallied(self, node: MemberTally) -> float:
        found = self.members(node)
        known = [each.found for each in found if each.found is not None]
        if not enough(len(known), len(found)):
            raise UnknownError(missing_of(found))
        try:
            value = TALLIES[node.function](known)
        except ArithmeticError:
            value = None
        if value is None:
            raise UnknownError(self._nothing(node))
        return value

    def _elapsed(self, node: Elapsed) -> float:
        took = elapsed(self._context, node.first, node.second, node.window_ms)
        if took is None:
            followed = self._context.messages(frozenset((node.first,)), self._context.now - node.window_ms) is not None
            raise UnknownError(self._nothing(node) if followed else self._no_console(node))
        return took

    def _no_console(self, node: Seen | Elapsed) -> tuple[Missing]:
        return (Missing(self._text[node.start : node.end], Absence.NEEDS_CONSOLE),)

    def _nothing(self, node: Operand) -> tuple[Missing]:
        return (Missing(self._text[node.start : node.end], Absence.NOTHING_TO_TELL),)

    def _undeclared(self, node: Comparison | Membership | Affix) -> tuple[Missing, ...]:
        facts = {each.name: each for each in read_now(node) if each.optional}
        return tuple(
            self._missing(fact, Absence.NOT_DECLARED)
            for fact in facts.values()
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
            raise UnknownError(self._nothing(node))
        return value

    def _present(self, node: MetricValue) -> Value:
        value = self._reported(node)
        if value.__class__ not in (TEXTS if type_of(node) is Type.TEXT else NUMBERS):
            raise UnknownError((self._missing(node, _reason(value)),))
        return cast("Value", value)

    def _looked_back(self, node: Window) -> float:
        limit: tuple[Whatever, ...] = ()
        if node.limit is not None:
            parts = [(self._of(each.of), each.kind, each.metric.name) for each in limit_metrics(node.limit)]
            limit = (self._number(node.limit), parts)
        metric = node.metric
        look = WINDOW_FUNCTIONS[node.function].look(metric.metric.type)
        try:
            value = look(self._of(metric.of), metric.kind, metric.metric.name, node.window_ms, *limit)
        except ArithmeticError:
            value = None
        if value is None:
            raise UnknownError(self._past_missing(metric))
        return value

    def _past_missing(self, metric: MetricValue) -> tuple[Missing]:
        """Why a window has no result: the metric has no value now either, or its history is too short."""
        now = self._reported(metric)
        return (self._missing(metric, Absence.WINDOW if now.__class__ in NUMBERS else _reason(now)),)

    def _reported(self, metric: MetricValue) -> object:
        return self._of(metric.of).value(metric.kind, metric.metric.name)

    def _of(self, of: str) -> Context:
        """The context that a metric or name is looked up in."""
        return self._context.this if of == THIS else self._context.pair if of == PAIR else self._context

    def _missing(self, metric: MetricValue, absence: Absence) -> Missing:
        """A missing metric, named from the evaluated object. Of an undeclared pair, the pair is missing."""
        own, name = metric.own, metric.name
        if metric.of == THIS:
            name = metric.metric.name
        elif metric.of == PAIR and absence is Absence.NOT_DECLARED and not metric.metric.declared:
            own, name = True, PAIR
        return Missing(f"{self._kind}.{name}" if self._kind and own else name, absence)


def _reason(value: object) -> Absence:
    # A context that holds something else than a value of the metric's type has no value.
    return value if isinstance(value, Absence) else Absence.NOT_ASKED
