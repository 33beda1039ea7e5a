"""A condition of the rule language as a PromQL expression, where PromQL can say it.

The result has a sample for each object of which the condition is true, with the labels of that object. What is unknown
has none: an absent value is an absent sample, and a comparison with it has no result in either language. For that
reason ``not`` is pushed down to the comparisons, where the opposite of unknown is unknown again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import reduce

from mqvitals_agent.openmetrics.names import name_labels
from mqvitals_agent.promql.number import NotCarriedError, Number, Numbers, duration
from mqvitals_rules.expression.node import (
    Affix,
    All,
    Any,
    Comparison,
    Condition,
    Constant,
    Membership,
    MetricValue,
    NameText,
    Not,
    Operand,
    Present,
    Rising,
    Term,
    Unchanged,
    children,
)
from mqvitals_rules.vocabulary.metric import Kind, MetricType

Truth = str | bool | None
"""The PromQL of a part; or what it is for every object; None: it is left out, as it asks for a fact that need not be
declared."""

_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_SWAPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


class Translation:
    """Translates conditions on objects of the kind ``scope``: first a rule's own, then what is asked where that holds.

    ``notes`` are what they only nearly say.
    """

    def __init__(self, scope: Kind) -> None:
        self._scope = scope
        self.notes: dict[str, None] = {}
        self._numbers = Numbers(scope, self.notes)
        self._anchor: str | None = None

    def condition(self, root: Condition) -> str:
        """The PromQL of a condition. Raises NotCarriedError with the reason where PromQL cannot say it."""
        self._anchor = self._anchor_of(root) or self._anchor
        truth = self._truth(root, holds=True)
        if isinstance(truth, str):
            return truth
        if truth:
            raise NotCarriedError("it holds whatever is measured")
        raise NotCarriedError("without a fact that only the configuration has it never holds")

    def _truth(self, node: Condition, *, holds: bool) -> Truth:
        """A part, or with ``holds`` False its opposite."""
        match node:
            case Not(operand=operand):
                return self._truth(operand, holds=not holds)
            case All(operands=operands) | Any(operands=operands):
                if isinstance(node, All) is holds:
                    return self._every(operands, holds=holds)
                return _either([self._truth(each, holds=holds) for each in operands])
        return self._term(node, holds=holds)

    def _every(self, operands: tuple[Condition, ...], *, holds: bool) -> Truth:
        """All of some parts. Those that say that a value is absent take objects away from the others."""
        found, without = [], []
        for each in operands:
            asked = _absent(each, holds=holds)
            if asked is None or asked.metric.declared:
                found.append(self._truth(each, holds=holds))
            else:
                without.append(self._there(asked))
        parts = list(dict.fromkeys(each for each in found if isinstance(each, str)))
        if False in found:
            return False
        if without and not parts:
            parts = [self._anchored("a value is absent")]
        if not parts:
            return True if True in found else None
        joined = parts[0] if len(parts) == 1 and not without else " and ".join(map(_bracketed, parts))
        return "".join((joined, *(f" unless {_bracketed(each)}" for each in without)))

    def _term(self, node: Term, *, holds: bool) -> Truth:
        if isinstance(node, Comparison | Membership | Affix) and any(each.optional for each in _facts(node)):
            return None
        match node:
            case Comparison(operator=operator, left=left, right=right):
                return self._comparison(operator if holds else _OPPOSITE[operator], left, right)
            case Membership(operand=operand, members=members, negated=negated):
                return self._membership(operand, members, apart=negated is holds)
            case Affix(function=function, text=NameText(of=""), affix=Constant(value=str() as text)):
                pattern = f"{_pattern_of(text)}.*" if function == "startswith" else f".*{_pattern_of(text)}"
                return self._named("=~" if holds else "!~", pattern)
            case Present(metric=metric):
                if metric.metric.declared:
                    return not holds
                there = self._there(metric)
                return there if holds else f"{self._anchored('a value is absent')} unless {_bracketed(there)}"
            case Unchanged(metric=metric, window_ms=window_ms):
                series, window = self._numbers.series(metric), duration(window_ms)
                if metric.metric.type is MetricType.COUNTER:
                    raise NotCarriedError("it asks whether increases stayed the same")
                changes = f"changes({series}[{window}]) {'==' if holds else '>'} 0"
                return f"{changes} and {series} offset {window}" if holds else changes
            case Rising():
                raise NotCarriedError("it counts polls in a row that each rise, and PromQL knows no polls")
        raise NotCarriedError(_reason(node))

    def _comparison(self, operator: str, left: Operand, right: Operand) -> Truth:
        if isinstance(left, NameText) or isinstance(right, NameText):
            text = right if isinstance(left, NameText) else left
            if operator not in ("==", "!=") or not isinstance(text, Constant):
                raise NotCarriedError("it compares names with something else than a text")
            return self._named("=" if operator == "==" else "!=", str(text.value))
        first, second = self._numbers.of(left), self._numbers.of(right)
        if first.constant is not None and second.constant is not None:
            return _compared(operator, first.constant, second.constant)
        if first.constant is not None:
            first, second, operator = second, first, _SWAPPED.get(operator, operator)
        return self._of_object(first, second, operator)

    def _of_object(self, first: Number, second: Number, operator: str) -> str:
        first, second = self._numbers.alike(first, second)
        text = self._numbers.joined(first, operator, second)
        if self._scope.name in (first.kind, second.kind):
            return text
        owner = self._numbers.owner
        return f"{self._anchored('only another object is asked')} and on ({owner}) ({text})"

    def _membership(self, operand: Operand, members: frozenset[float | str], *, apart: bool) -> Truth:
        """``apart``: the value must be none of the members."""
        if isinstance(operand, NameText):
            pattern = "|".join(sorted(_pattern_of(str(each)) for each in members))
            return self._named("!~" if apart else "=~", pattern)
        if any(isinstance(each, str) for each in members):
            raise NotCarriedError("it reads a text, and samples are numbers")
        number = self._numbers.of(operand)
        values = sorted(float(each) for each in members)
        if number.constant is not None:
            return (number.constant in values) is not apart
        each = [self._of_object(number, Number(constant=value), "!=" if apart else "==") for value in values]
        return _conjoined(each) if apart else _either(each)

    def _named(self, operator: str, text: str) -> str:
        labels = name_labels(self._scope.name)
        if len(labels) != 1:
            raise NotCarriedError("no label has the whole name of the object")
        return f"{self._anchored('a name says nothing alone')}{{{labels[0]}{operator}{json.dumps(text)}}}"

    def _there(self, metric: MetricValue) -> str:
        series = self._numbers.series(metric)
        if metric.kind == self._scope.name:
            return series
        return f"{self._anchored('only another object is asked')} and on ({self._numbers.owner}) {series}"

    def _anchored(self, why: str) -> str:
        """The metric that each object has of which the condition is true."""
        if self._anchor is None:
            raise NotCarriedError(f"{why}, and no metric is there whenever the condition holds")
        return self._anchor

    def _anchor_of(self, root: Condition) -> str | None:
        needed = root.operands if isinstance(root, All) else (root,)
        for each in needed:
            term = each.operand if isinstance(each, Not) else each
            if not isinstance(term, Comparison | Membership) or any(fact.optional for fact in _facts(term)):
                continue
            for metric in _read(term):
                if metric.kind == self._scope.name and not metric.of and not metric.metric.declared:
                    try:
                        return self._numbers.series(metric)
                    except NotCarriedError:
                        continue
        return None


def _either(truths: Sequence[Truth]) -> Truth:
    if True in truths:
        return True
    parts = list(dict.fromkeys(each for each in truths if isinstance(each, str)))
    if not parts:
        return False if False in truths else None
    return parts[0] if len(parts) == 1 else " or ".join(_bracketed(each) for each in parts)


def _conjoined(parts: list[str]) -> str:
    return reduce(lambda left, right: f"{_bracketed(left)} and {_bracketed(right)}", parts)


def _bracketed(part: str) -> str:
    """A part as an operand of a set operator, which binds less than comparisons do."""
    return f"({part})" if re.search(r" (and|or|unless) ", part) else part


def _absent(node: Condition, *, holds: bool) -> MetricValue | None:
    """The metric of a part that only says that it is absent."""
    while isinstance(node, Not):
        node, holds = node.operand, not holds
    return node.metric if isinstance(node, Present) and not holds else None


def _read(node: Term | Operand) -> Iterator[MetricValue]:
    """The metrics whose latest values a term needs."""
    if isinstance(node, MetricValue):
        yield node
    elif type(node).__name__ not in ("Window", "MemberTally"):
        for each in children(node):
            yield from _read(each)  # type: ignore[arg-type]


def _facts(node: Term) -> Iterator[MetricValue]:
    return (each for each in _read(node) if each.metric.declared)


def _compared(operator: str, left: float, right: float) -> bool:
    return {
        "==": left == right,
        "!=": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }[operator]


def _pattern_of(text: str) -> str:
    """A text as a pattern of RE2 that it alone fits."""
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)


_REASONS = {
    "Seen": "it reads console or event messages, which are no samples",
    "Open": "it reads console or event messages, which are no samples",
    "AnyMember": "it looks at all members of an object",
    "MembersKnown": "it asks whether the members of an object are known",
    "Affix": "it reads a text, and samples are numbers",
}


def _reason(node: Term) -> str:
    return _REASONS[type(node).__name__]
