"""Evaluates the parts of an expression on one object, and says why a part has no value.

Truths and values are those of the compiled functions; the tree is read only for what is absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any as Whatever
from typing import NamedTuple, cast

from mqvitals_rules.expression.absence_code import compared
from mqvitals_rules.expression.compiler import LEFT_OUT, compile_operand, compile_part
from mqvitals_rules.expression.context import Context, enough
from mqvitals_rules.expression.lookups import NUMBERS, PRESENT, TEXTS
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
    Latest,
    Membership,
    MemberTally,
    MetricValue,
    NameText,
    Negation,
    Node,
    Not,
    Open,
    Operand,
    Present,
    Rising,
    Seen,
    Times,
    Unchanged,
    Window,
    children,
    messages_of,
    read_now,
    walk,
)
from mqvitals_rules.vocabulary.event import lacking
from mqvitals_rules.vocabulary.metric import Absence, MetricType, Reported, Value

Look = Callable[[str], Reported | None]
"""Look-up of the object's own values, as for ``Expression.evaluate``."""

_JOINS = (All, Any)
_TERMS = (Comparison, Membership, Affix)
_OF_VALUES = (*_TERMS, *_JOINS, Not, Present, MetricValue, Constant, Negation, Absolute, Extreme, Arithmetic)
"""Parts whose truth, and what is missing for it, follow from the latest values of metrics alone."""
_NO_VALUES: Mapping[str, Reported] = MappingProxyType({})


class Missing(NamedTuple):
    """A metric, or a calculation, that has no value, and why."""

    name: str
    absence: Absence


class MemberOutcome(NamedTuple):
    """The result of a member, and its name. What is unknown is None."""

    name: str
    found: Value | None
    missing: tuple[Missing, ...] = ()


class CompiledParts:
    """The functions of an expression's parts, each compiled when it is first asked for. They never raise."""

    __slots__ = ("_compared", "_deciding", "_functions", "_optional")

    def __init__(self) -> None:
        self._deciding: dict[Node, tuple[MetricValue, ...] | None] = {}
        self._functions: dict[Node, Callable[[Context, Look], Whatever]] = {}
        self._optional: dict[Node, tuple[MetricValue, ...]] = {}
        self._compared: dict[Node, tuple[MetricValue, ...]] = {}

    def function(self, node: Node) -> Callable[[Context, Look], Whatever]:
        """Of a condition: True, False, None, or ``LEFT_OUT``. Of an operand: its value, None where it is unknown."""
        found = self._functions.get(node)
        if found is None:
            found = compile_operand(node, safe=True) if isinstance(node, Operand) else compile_part(node)
            self._functions[node] = found
        return found

    def optional(self, node: Comparison | Membership | Affix) -> tuple[MetricValue, ...]:
        """The facts without which a term is left out, each once."""
        found = self._optional.get(node)
        if found is None:
            found = tuple({each.name: each for each in read_now(node) if each.optional}.values())
            self._optional[node] = found
        return found

    def compared(self, node: Condition) -> tuple[MetricValue, ...]:
        """The metrics of a term that is unknown only where one of them is absent, in the order of the text; none of
        other conditions.
        """
        found = self._compared.get(node)
        if found is None:
            found = ()
            if isinstance(node, _TERMS) and not self.optional(node):
                operands = [compared(each) for each in children(node)]
                if None not in operands:
                    found = tuple(metric for each in operands for metric in each or ())
            self._compared[node] = found
        return found

    def deciding(self, node: Node) -> tuple[MetricValue, ...] | None:
        """The metrics whose latest values alone decide what a part comes to and what it is missing; None: more does."""
        if node not in self._deciding:
            every = tuple(walk(node))
            alone = all(isinstance(each, _OF_VALUES) for each in every)
            metrics = tuple(each for each in every if isinstance(each, MetricValue))
            self._deciding[node] = metrics if alone and not any(each.of == PAIR for each in metrics) else None
        return self._deciding[node]


class ExpressionEvaluation:
    """An expression's parts on one context; ``kind``: of the member that the context is, where it is one."""

    __slots__ = ("_context", "_kind", "_known", "_lacking", "_outcomes", "_parts", "_text", "_values")

    def __init__(
        self,
        text: str,
        parts: CompiledParts,
        context: Context,
        values: Mapping[str, Reported] = _NO_VALUES,
        kind: str = "",
    ) -> None:
        self._text = text
        self._parts = parts
        self._context = context
        self._values = values
        self._kind = kind
        self._known: dict[Node, object] = {}
        self._outcomes: dict[Node, tuple[MemberOutcome, ...] | None] = {}
        self._lacking: dict[Node, tuple[Missing, ...]] = {}

    def truth(self, node: Condition) -> object:
        """True, False, None for unknown, or ``LEFT_OUT``. Terms are compiled; ``and``, ``or`` and ``not`` join them."""
        if isinstance(node, _JOINS):
            return self._joined(node.operands, decides=isinstance(node, Any))
        if isinstance(node, Not):
            truth = self.truth(node.operand)
            return truth if truth is None or truth is LEFT_OUT else not truth
        return self._found(node)

    def verdict(self, node: Condition) -> bool | None:
        """The same, but None where the whole is left out."""
        truth = self.truth(node)
        return None if truth is LEFT_OUT else cast("bool | None", truth)

    def _joined(self, operands: Iterable[Condition], *, decides: bool) -> object:
        joined: object = LEFT_OUT
        for each in operands:
            truth = self.truth(each)
            if truth is decides:
                return decides
            if truth is None or joined is LEFT_OUT:
                joined = truth
        return joined

    def value(self, node: Operand) -> Value | None:
        """The value of an operand; None where it is unknown."""
        match node:
            case Constant():
                return node.value
            case NameText():
                return self._of(node.of).name
            case MetricValue():
                value = self._reported(node)
                return cast("Value", value) if value.__class__ in _classes(node) else None
        return cast("Value | None", self._found(node))

    def _found(self, node: Node) -> object:
        """The result of the function of a part, which is called once."""
        known = self._known
        if node not in known:
            known[node] = self._parts.function(node)(self._context, self._values.get)
        return known[node]

    def reason(self, node: Condition) -> Absence | None:
        """The first absence that makes an unknown condition unknown: only the operands before it are evaluated."""
        if isinstance(node, _JOINS):
            left_out = True
            for each in node.operands:
                truth = self.truth(each)
                if truth is None:
                    return self.reason(each)
                left_out = left_out and truth is LEFT_OUT
            return Absence.NOT_DECLARED if left_out else None
        if isinstance(node, Not):
            return self.reason(node.operand)
        # Usually: of thousands of new objects much is unknown.
        for metric in self._parts.compared(node):
            value = self._reported(metric)
            if value.__class__ not in _classes(metric):
                return _absence(value)
        missing = self.missing(node)
        return missing[0].absence if missing else None

    def missing(self, node: Node) -> tuple[Missing, ...]:
        """What makes an unknown condition, or an unknown operand, unknown."""
        match node:
            case Comparison() | Membership() | Affix():
                return self._of_term(node)
            case All() | Any():
                truths = [(each, self.truth(each)) for each in node.operands]
                # Where every operand is left out, so is the whole.
                unknown = [each for each, truth in truths if truth is None] or node.operands
                return _merged(self.missing(each) for each in unknown)
            case Not():
                return self.missing(node.operand)
            case Rising() | Unchanged():
                return self._of_past(node.metric)
            case AnyMember() | MemberTally():
                return self._of_members(node)
            case Seen() | Open():
                return self._of_text(node, lacking(messages_of(node)))
        return self._of_operand(node)

    def members(self, node: AnyMember | MemberTally) -> tuple[MemberOutcome, ...] | None:
        """The result of each member, unknown of an object that may be one; None where the members are not known."""
        if node not in self._outcomes:
            self._outcomes[node] = self._members(node)
        return self._outcomes[node]

    def _members(self, node: AnyMember | MemberTally) -> tuple[MemberOutcome, ...] | None:
        members = self._context.members(node.kind)
        if members.doubt is not None:
            return None
        if not node.alike:
            return tuple(self._each_member(node))
        # Other rules ask for the same: the function is the same for the same code, and names are those of the text.
        notes, body = members.notes, node.body
        key = MemberOutcome, self._parts.function(body), self._text[body.start : body.end]
        if key not in notes:
            notes[key] = tuple(self._each_member(node))
        found: tuple[MemberOutcome, ...] = notes[key]
        return found

    def _each_member(self, node: AnyMember | MemberTally) -> Iterator[MemberOutcome]:
        body = node.body
        function, deciding = self._parts.function(body), self._parts.deciding(body)
        members = self._context.members(node.kind)
        # Thousands of members lack the same.
        alike: dict[tuple[object, ...], tuple[Missing, ...]] = {}
        for member, values in members:
            found = function(member, values.get)
            if found is None or found is LEFT_OUT:
                unknown = ExpressionEvaluation(self._text, self._parts, member, values, node.kind)
                if deciding is None:
                    missing = unknown.missing(body)
                else:
                    key = tuple([unknown._reported(metric) for metric in deciding])
                    known = alike.get(key)
                    missing = alike[key] = unknown.missing(body) if known is None else known
                yield MemberOutcome(member.name, None, missing)
            else:
                yield MemberOutcome(member.name, found)
        for each in members.unplaced:
            yield MemberOutcome("", None, (Missing(*each),))

    def _of_term(self, node: Comparison | Membership | Affix) -> tuple[Missing, ...]:
        optional = self._parts.optional(node)
        undeclared = [fact for fact in optional if self._reported(fact) is Absence.NOT_DECLARED] if optional else ()
        if undeclared:
            return tuple(self._missing(fact, Absence.NOT_DECLARED) for fact in undeclared)
        match node:
            case Comparison():
                return self._of_operand(node.left) + self._of_operand(node.right)
            case Affix():
                return self._of_operand(node.text) + self._of_operand(node.affix)
        return self._of_operand(node.operand)

    def _of_operand(self, node: Node) -> tuple[Missing, ...]:
        """What an operand is missing; empty where it has a value."""
        match node:
            case MetricValue():
                value = self._reported(node)
                return () if value.__class__ in _classes(node) else (self._missing(node, _absence(value)),)
            case Constant():
                return ()
            case Negation() | Absolute():
                return self._of_operand(node.operand)
            case Extreme():
                return tuple(missing for each in node.operands for missing in self._of_operand(each))
            case Arithmetic():
                below = self._of_operand(node.left) + self._of_operand(node.right)
                return below or self._of_unknown(node, lambda: self._of_text(node, Absence.NOTHING_TO_TELL))
            case Window():
                limit = () if node.limit is None else self._of_operand(node.limit)
                return limit or self._of_unknown(node, lambda: self._of_past(node.metric))
            case MemberTally():
                return self._of_unknown(node, lambda: self._of_members(node))
            case Elapsed() | Times() | Latest():
                return self._of_unknown(node, lambda: self._of_text(node, self._no_message(node)))
        return ()

    def _of_unknown(self, node: Operand, missing: Callable[[], tuple[Missing, ...]]) -> tuple[Missing, ...]:
        return missing() if self.value(node) is None else ()

    def _of_members(self, node: AnyMember | MemberTally) -> tuple[Missing, ...]:
        if node not in self._lacking:
            self._lacking[node] = self._lacking_of(node)
        return self._lacking[node]

    def _lacking_of(self, node: AnyMember | MemberTally) -> tuple[Missing, ...]:
        found = self.members(node)
        if found is None:
            return (Missing(node.kind, self._context.members(node.kind).doubt or Absence.NOT_ASKED),)
        unknown = [each for each in found if each.found is None]
        if isinstance(node, MemberTally) and enough(len(found) - len(unknown), len(found)):
            return self._of_text(node, Absence.NOTHING_TO_TELL)
        return _merged(each.missing for each in unknown)

    def _of_past(self, metric: MetricValue) -> tuple[Missing, ...]:
        """Why a window has no result: the metric has no value now either, or its history is too short."""
        now = self._reported(metric)
        return (self._missing(metric, Absence.WINDOW if now.__class__ in PRESENT else _absence(now)),)

    def _of_text(self, node: Node, absence: Absence) -> tuple[Missing, ...]:
        return (Missing(self._text[node.start : node.end], absence),)

    def _no_message(self, node: Elapsed | Times | Latest) -> Absence:
        """Why there is no such message or pair: none was seen, or nothing is followed that would hold it."""
        wanted = messages_of(node)
        followed = self._context.messages(wanted, self._context.now) is not None
        return Absence.NOTHING_TO_TELL if followed else lacking(wanted)

    def _reported(self, metric: MetricValue) -> object:
        return self._of(metric.of).value(metric.kind, metric.metric.name)

    def _of(self, of: str) -> Context:
        """The context that a metric or a name is looked up in."""
        return self._context.this if of == THIS else self._context.pair if of == PAIR else self._context

    def _missing(self, metric: MetricValue, absence: Absence) -> Missing:
        """A missing metric, named from the evaluated object. Of an undeclared pair, the pair is missing."""
        own, name = metric.own, metric.name
        if metric.of == THIS:
            name = metric.metric.name
        elif metric.of == PAIR and absence is Absence.NOT_DECLARED and not metric.metric.declared:
            own, name = True, PAIR
        return Missing(f"{self._kind}.{name}" if self._kind and own else name, absence)


def _classes(metric: MetricValue) -> frozenset[type]:
    return TEXTS if metric.metric.type is MetricType.TEXT else NUMBERS


def _absence(value: object) -> Absence:
    # A context that holds something else than a value of the metric's type has no value.
    return value if isinstance(value, Absence) else Absence.NOT_ASKED


def _merged(found: Iterable[tuple[Missing, ...]]) -> tuple[Missing, ...]:
    """Each missing value once."""
    # Mostly they are the same objects, and a reason is slow to hash.
    different = {id(each): each for each in found}
    return tuple(dict.fromkeys(missing for each in different.values() for missing in each))
