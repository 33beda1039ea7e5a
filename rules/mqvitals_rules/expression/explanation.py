"""Explains verdicts: each term with its values, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from mqvitals_config.decoding.problem import shown
from mqvitals_rules.expression.compiler import LEFT_OUT
from mqvitals_rules.expression.context import Context
from mqvitals_rules.expression.evaluation import CompiledParts, ExpressionEvaluation, Missing
from mqvitals_rules.expression.names import values_of
from mqvitals_rules.expression.node import (
    PAIR,
    THIS,
    All,
    Any,
    AnyMember,
    Condition,
    Constant,
    Elapsed,
    Latest,
    MemberTally,
    MetricValue,
    NameText,
    Node,
    Not,
    Operand,
    Present,
    Rising,
    Term,
    Times,
    Unchanged,
    Window,
    children,
    walk_outside,
)
from mqvitals_rules.vocabulary.metric import Reported

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


def explain(text: str, root: Condition, parts: CompiledParts, context: Context) -> Explanation:
    """Evaluate every part of an expression and return the truth of each."""
    evaluation = ExpressionEvaluation(text, parts, context)
    truth = evaluation.verdict(root)
    terms = [
        TermVerdict(
            text[term.start : term.end],
            _fill(text, term, evaluation, term.start, term.end),
            evaluation.verdict(term),
            evaluation.truth(term) is LEFT_OUT,
        )
        for term in _terms(root)
    ]
    metrics = {
        node.metric.name if node.of == THIS else node.name: node
        for node in walk_outside(root)
        if isinstance(node, MetricValue)
    }
    return Explanation(
        truth=truth,
        terms=tuple(terms),
        values={
            name: (context.pair if metric.of == PAIR else context).value(metric.kind, metric.metric.name)
            for name, metric in metrics.items()
        },
        missing=evaluation.missing(root) if truth is None else (),
        filled=_fill(text, root, evaluation, 0, len(text)),
    )


def filled(text: str, root: Condition | Operand, parts: CompiledParts, context: Context) -> str:
    """The expression with the value of each metric, parameter and window behind it: ``free_pct [4] <= 5``."""
    return _fill(text, root, ExpressionEvaluation(text, parts, context), 0, len(text))


def _terms(node: Condition) -> Iterator[Term]:
    match node:
        case All() | Any():
            for operand in node.operands:
                yield from _terms(operand)
        case Not():
            yield from _terms(node.operand)
        case _:
            yield node


def _fill(text: str, root: Node, evaluation: ExpressionEvaluation, start: int, end: int) -> str:
    parts = []
    for node in _shown(root):
        parts += [text[start : node.end], f" [{_word(node, evaluation)}]"]
        start = node.end
    return "".join([*parts, text[start:end]])


_Shown = Constant | MetricValue | NameText | Window | MemberTally | Elapsed | Times | Latest | AnyMember


def _shown(node: Node) -> list[_Shown]:
    """The parts whose values are shown, each once, in the order of the text.

    Inside ``rising``, ``unchanged`` and ``present`` nothing is.

    Inside a function of members only what is the same for all members.
    """
    found: dict[int, _Shown] = {}
    _note_shown(node, found, inside=False)
    return [found[end] for end in sorted(found)]


def _note_shown(node: Node, found: dict[int, _Shown], *, inside: bool) -> None:
    match node:
        case Constant(parameter=True):
            found[node.end] = node
        case MetricValue() | NameText():
            if not inside:
                found[node.end] = node  # a chain's middle operand stands in two comparisons
        case Window() | Elapsed() | Times() | Latest():
            if not inside:
                found[node.end] = node
        case Present() | Rising() | Unchanged():
            return
        case AnyMember() | MemberTally():
            _note_shown(node.body, found, inside=True)
            found[node.end] = node
        case _:
            for child in children(node):
                _note_shown(child, found, inside=inside)


def _word(node: _Shown, evaluation: ExpressionEvaluation) -> str:
    if isinstance(node, AnyMember):
        return _which(node, evaluation)
    value = evaluation.value(node)
    if value is None:
        return _reasons(evaluation.missing(node))
    if isinstance(value, str):
        return shown(value)
    names = values_of(node)
    if names is not None:
        return next((name for name, number in names.items() if number == value), _number(value))
    return _number(value)


def _which(node: AnyMember, evaluation: ExpressionEvaluation) -> str:
    """The members for which a condition holds; without any, of how many."""
    members = evaluation.members(node) or ()
    holding = [member.name for member in members if member.found]
    if holding:
        more = f" and {len(holding) - _MOST_NAMED} more" if len(holding) > _MOST_NAMED else ""
        return ", ".join(map(_plain, holding[:_MOST_NAMED])) + more
    missing = evaluation.missing(node)
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
