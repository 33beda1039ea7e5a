"""Why an expression comes to what it comes to: every term with its values, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from mqvitals_config.problem import shown
from mqvitals_rules.expression.context import Context
from mqvitals_rules.expression.judge import CarefulJudge
from mqvitals_rules.expression.node import (
    PAIR,
    THIS,
    All,
    Any,
    AnyMember,
    Condition,
    Constant,
    Elapsed,
    MemberTally,
    MetricValue,
    NameText,
    Node,
    Not,
    Operand,
    Present,
    Rising,
    Term,
    Window,
    children,
    walk_outside,
)
from mqvitals_rules.expression.outcome import Missing, UnknownError
from mqvitals_rules.expression.type import values_of
from mqvitals_rules.vocabulary.metric import Reported

_TOO_LONG = 1e15
"""Numbers from here on are not written out."""

_MOST_NAMED = 3
"""So many members are named at most."""

_EXACTLY = 1e4
"""Below, a number keeps six digits, so that it does not look equal to a threshold that it has not reached."""


class TermVerdict(NamedTuple):
    """One term: as written, with its values filled in, and what it comes to. ``left_out``: about a fact nobody declared."""

    source: str
    filled: str
    truth: bool | None
    left_out: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """What an expression comes to, and why.

    ``values`` holds every metric it names (``metric``, ``kind.metric``, ``pair.metric``) as it is now, but for those of members. ``missing`` holds what makes the whole
    unknown: empty for a verdict that is known in spite of absent values.
    """

    truth: bool | None
    terms: tuple[TermVerdict, ...]
    values: Mapping[str, Reported]
    missing: tuple[Missing, ...]
    filled: str


def explain(text: str, root: Condition, context: Context) -> Explanation:
    """Evaluate every part of an expression and say what each comes to."""
    judge = CarefulJudge(text, context)
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
    """The expression with the value of each metric, parameter and window in brackets behind it: ``free_pct [4] <= 5``."""
    return _fill(text, root, CarefulJudge(text, context), 0, len(text))


def _terms(node: Condition) -> Iterator[Term]:
    match node:
        case All() | Any():
            for operand in node.operands:
                yield from _terms(operand)
        case Not():
            yield from _terms(node.operand)
        case _:
            yield node


def _fill(text: str, root: Node, judge: CarefulJudge, start: int, end: int) -> str:
    parts = []
    for node in _shown(root):
        parts += [text[start : node.end], f" [{_word(node, judge)}]"]
        start = node.end
    return "".join([*parts, text[start:end]])


_Shown = Constant | MetricValue | NameText | Window | MemberTally | Elapsed | AnyMember


def _shown(node: Node) -> list[_Shown]:
    """The parts whose values are shown, each once, in the order of the text. Inside ``rising`` and ``present`` nothing is.

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


def _word(node: _Shown, judge: CarefulJudge) -> str:
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


def _which(node: AnyMember, judge: CarefulJudge) -> str:
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
