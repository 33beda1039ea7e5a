"""Explains verdicts: each term with its values, and why a condition is unknown.

``DetailedEvaluator`` gives every absence and takes a hundred times as long as ``reason_of``, which is compiled and
looks only at the one term that decides: an agent that begins with 10,000 queues needs the reason of every unknown
verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any as Whatever
from typing import NamedTuple

from mqvitals_config.problem import shown
from mqvitals_rules.expression.compiler import LEFT_OUT, NUMBERS, TEXTS, compile_part
from mqvitals_rules.expression.context import Context
from mqvitals_rules.expression.functions import WINDOW_FUNCTIONS, Look
from mqvitals_rules.expression.judge import DetailedEvaluator, Missing, UnknownError
from mqvitals_rules.expression.names import Type, type_of, values_of
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
    MemberTally,
    MetricValue,
    NameText,
    Negation,
    Node,
    Not,
    Operand,
    Present,
    Rising,
    Seen,
    Term,
    Window,
    children,
    walk_outside,
)
from mqvitals_rules.vocabulary.metric import Absence, Reported

_TOO_LONG = 1e15
"""Numbers from here on are not written out."""

_MOST_NAMED = 3
"""So many members are named at most."""

_EXACTLY = 1e4
"""Below, a number keeps six digits, so that it does not look equal to a threshold that it has not reached."""


class TermVerdict(NamedTuple):
    """One term: as written, with its values filled in, and its truth. ``left_out``: its fact is not declared."""

    source: str
    filled: str
    truth: bool | None
    left_out: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """The truth of an expression, and why.

    ``values`` holds every metric it names (``metric``, ``kind.metric``, ``pair.metric``) as it is now, but for those
    of members. ``missing`` holds what makes the whole unknown: empty for a verdict that is known in spite of absent
    values.
    """

    truth: bool | None
    terms: tuple[TermVerdict, ...]
    values: Mapping[str, Reported]
    missing: tuple[Missing, ...]
    filled: str


def explain(text: str, root: Condition, context: Context) -> Explanation:
    """Evaluate every part of an expression and return the truth of each."""
    judge = DetailedEvaluator(text, context)
    outcome = judge.condition(root)
    terms = []
    for term in _terms(root):
        verdict = judge.condition(term)
        filled = _fill(text, term, judge, term.start, term.end)
        terms.append(TermVerdict(text[term.start : term.end], filled, verdict.truth, verdict.left_out))
    metrics = {
        node.metric.name if node.of == THIS else node.name: node
        for node in walk_outside(root)
        if isinstance(node, MetricValue)
    }
    return Explanation(
        truth=outcome.truth,
        terms=tuple(terms),
        values={
            name: (context.pair if metric.of == PAIR else context).value(metric.kind, metric.metric.name)
            for name, metric in metrics.items()
        },
        missing=outcome.missing,
        filled=_fill(text, root, judge, 0, len(text)),
    )


def filled(text: str, root: Condition | Operand, context: Context) -> str:
    """The expression with the value of each metric, parameter and window behind it: ``free_pct [4] <= 5``."""
    return _fill(text, root, DetailedEvaluator(text, context), 0, len(text))


def _terms(node: Condition) -> Iterator[Term]:
    match node:
        case All() | Any():
            for operand in node.operands:
                yield from _terms(operand)
        case Not():
            yield from _terms(node.operand)
        case _:
            yield node


def _fill(text: str, root: Node, judge: DetailedEvaluator, start: int, end: int) -> str:
    parts = []
    for node in _shown(root):
        parts += [text[start : node.end], f" [{_word(node, judge)}]"]
        start = node.end
    return "".join([*parts, text[start:end]])


_Shown = Constant | MetricValue | NameText | Window | MemberTally | Elapsed | AnyMember


def _shown(node: Node) -> list[_Shown]:
    """The parts whose values are shown, each once, in the order of the text.

    Inside ``rising`` and ``present`` nothing is.

    Inside a function of members only what is the same for all members.
    """
    found: dict[int, _Shown] = {}

    def visit(node: Node, *, inside: bool = False) -> None:
        match node:
            case Constant(parameter=True):
                found[node.end] = node
            case MetricValue() | NameText():
                if not inside:
                    found[node.end] = node  # a chain's middle operand stands in two comparisons
            case Window() | Elapsed():
                if not inside:
                    found[node.end] = node
            case Present() | Rising():
                return
            case AnyMember() | MemberTally():
                visit(node.body, inside=True)
                found[node.end] = node
            case _:
                for child in children(node):
                    visit(child, inside=inside)

    visit(node)
    return [found[end] for end in sorted(found)]


def _word(node: _Shown, judge: DetailedEvaluator) -> str:
    if isinstance(node, AnyMember):
        return _which(node, judge)
    try:
        value = judge.operand(node)
    except UnknownError as unknown:
        return _reasons(unknown.missing)
    if isinstance(value, str):
        return shown(value)
    names = values_of(node)
    if names is not None:
        return next((name for name, number in names.items() if number == value), _number(value))
    return _number(value)


def _which(node: AnyMember, judge: DetailedEvaluator) -> str:
    """The members for which a condition holds; without any, of how many."""
    try:
        members = judge.members(node)
    except UnknownError as unknown:
        return _reasons(unknown.missing)
    holding = [member.name for member in members if member.found]
    if holding:
        more = f" and {len(holding) - _MOST_NAMED} more" if len(holding) > _MOST_NAMED else ""
        return ", ".join(map(_plain, holding[:_MOST_NAMED])) + more
    missing = judge.condition(node).missing
    return _reasons(missing) if missing else f"none of {len(members)}"


def _reasons(missing: Iterable[Missing]) -> str:
    return ", ".join(dict.fromkeys(each.absence.value for each in missing))


def _plain(name: str) -> str:
    return shown(name)[1:-1]


def _number(value: float) -> str:
    size = abs(value)
    if size == inf:
        return "infinite"
    if size >= _TOO_LONG:
        return f"{value:.3e}" if isinstance(value, float) else "very large"
    if value == int(value):
        return str(int(value))
    return f"{value:.2f}" if size >= _EXACTLY else f"{value:.6g}"


Reason = Callable[[Context, Callable[[str], Whatever]], Absence | None]
"""(context, look-up of the object's own values) -> the reason; called only where the condition is unknown.

Raises ArithmeticError.
"""

_PLAIN = (Comparison, Membership, Affix, Constant, MetricValue, NameText, Negation, Absolute, Arithmetic, Extreme)
"""What needs nothing but the values of metrics."""


def reason_of(text: str, root: Condition) -> Reason:
    """The function that finds the reason of an unknown condition."""
    match root:
        case All() | Any():
            return _of_first(text, root.operands)
        case Not():
            return reason_of(text, root.operand)
    return _of_term(text, root)


def _of_first(text: str, operands: tuple[Condition, ...]) -> Reason:
    """The reason of the first operand that is unknown. Where none is, all are about undeclared facts."""
    parts = [(compile_part(each), reason_of(text, each)) for each in operands]

    def reason(context: Context, value_of: Callable[[str], Whatever]) -> Absence | None:
        left_out = True
        for judge, why in parts:
            found = judge(context, value_of)
            if found is None:
                return why(context, value_of)
            left_out = left_out and found is LEFT_OUT
        return Absence.NOT_DECLARED if left_out else None

    return reason


def _of_term(text: str, term: Term) -> Reason:
    if isinstance(term, Seen):
        return _no_console

    def careful(context: Context, _: Callable[[str], Whatever]) -> Absence | None:
        missing = DetailedEvaluator(text, context).condition(term).missing
        return missing[0].absence if missing else None

    looks = _looks(term)
    if not looks or any(isinstance(each, MetricValue) and each.optional for each in looks):
        return careful
    read = tuple(_read(each) for each in looks)

    def reason(context: Context, value_of: Callable[[str], Whatever]) -> Absence | None:
        for metric, classes, look, window_ms in read:
            of, kind, name = metric
            whose = context if not of else context.this if of == THIS else context.pair
            if look is None:
                value = whose.value(kind, name)
                if value.__class__ not in classes:
                    return value if isinstance(value, Absence) else Absence.NOT_ASKED
            elif look(whose, kind, name, window_ms) is None:
                value = whose.value(kind, name)
                if value.__class__ in NUMBERS:
                    return Absence.WINDOW
                return value if isinstance(value, Absence) else Absence.NOT_ASKED
        return careful(context, value_of)

    return reason


def _read(node: MetricValue | Window) -> tuple[tuple[str, str, str], frozenset[type], Look | None, int]:
    """What is asked: of whom, kind and metric; the classes of a present value; for a window how it is worked out, and
    its length.
    """
    metric = node.metric if isinstance(node, Window) else node
    address = metric.of, metric.kind, metric.metric.name
    if isinstance(node, Window):
        return address, NUMBERS, WINDOW_FUNCTIONS[node.function].look(metric.metric.type), node.window_ms
    return address, TEXTS if type_of(metric) is Type.TEXT else NUMBERS, None, 0


def _no_console(context: Context, value_of: Callable[[str], Whatever]) -> Absence:  # noqa: ARG001
    return Absence.NEEDS_CONSOLE


def _looks(node: Node) -> list[MetricValue | Window] | None:
    """The metrics and windows of a term in the order of the text; None where it needs more than these."""
    if isinstance(node, Window):
        return [node] if node.limit is None else None
    if not isinstance(node, _PLAIN):
        return None
    found: list[MetricValue | Window] = [node] if isinstance(node, MetricValue) else []
    for child in children(node):
        below = _looks(child)
        if below is None:
            return None
        found += below
    return found
