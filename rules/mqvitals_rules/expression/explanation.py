"""Why an expression comes to what it comes to: every term with its values, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from mqvitals_config.suggestion import shown
from mqvitals_rules.expression.context import Context
from mqvitals_rules.expression.judge import CarefulJudge, Missing, UnknownError
from mqvitals_rules.expression.node import (
    All,
    Any,
    Comparison,
    Condition,
    Constant,
    Membership,
    MetricValue,
    Node,
    Not,
    Operand,
    Present,
    Rising,
    Term,
    Window,
    children,
    walk,
)
from mqvitals_rules.expression.type import values_of
from mqvitals_rules.vocabulary.metric import Reported

_TOO_LONG = 1e15
"""Numbers from here on are not written out."""

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

    ``values`` holds every metric it names (``metric``, ``kind.metric``) as it is now. ``missing`` holds what makes the whole
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
    metrics = {node.name: node for node in walk(root) if isinstance(node, MetricValue)}
    return Explanation(
        truth=outcome.truth,
        terms=tuple(terms),
        values={name: context.value(metric.kind, metric.metric.name) for name, metric in metrics.items()},
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
        case Comparison() | Membership() | Present() | Rising():
            yield node


def _fill(text: str, root: Node, judge: CarefulJudge, start: int, end: int) -> str:
    parts = []
    for node in _shown(root):
        parts += [text[start : node.end], f" [{_word(node, judge)}]"]
        start = node.end
    return "".join([*parts, text[start:end]])


def _shown(node: Node) -> list[Constant | MetricValue | Window]:
    """The parts whose values are shown, each once, in the order of the text. Inside ``rising`` and ``present`` nothing is."""
    found: dict[int, Constant | MetricValue | Window] = {}

    def visit(node: Node) -> None:
        match node:
            case Constant(parameter=True) | MetricValue() | Window():
                found[node.end] = node  # a chain's middle operand stands in two comparisons
            case Present() | Rising():
                return
            case _:
                for child in children(node):
                    visit(child)

    visit(node)
    return [found[end] for end in sorted(found)]


def _word(node: Constant | MetricValue | Window, judge: CarefulJudge) -> str:
    try:
        value = judge.operand(node)
    except UnknownError as unknown:
        return ", ".join(dict.fromkeys(missing.absence.value for missing in unknown.missing))
    if isinstance(value, str):
        return shown(value)
    names = values_of(node)
    if names is not None:
        return next((name for name, number in names.items() if number == value), _number(value))
    return _number(value)


def _number(value: float) -> str:
    size = abs(value)
    if size == inf:
        return "infinite"
    if size >= _TOO_LONG:
        return f"{value:.3e}" if isinstance(value, float) else "very large"
    if value == int(value):
        return str(int(value))
    return f"{value:.2f}" if size >= _EXACTLY else f"{value:.6g}"
