"""What a rule's condition compares, as a number: so that of several intervals the worst can be told."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from mqvitals_rules.expression import ExpressionError
from mqvitals_rules.expression.context import Context
from mqvitals_rules.expression.expression import Calculation, compile_value
from mqvitals_rules.expression.syntax import parse
from mqvitals_rules.form import Form
from mqvitals_rules.vocabulary.metric import Absence, Kind, MetricType

_SIGNS: Final[Mapping[type[ast.cmpop], int]] = {ast.Lt: -1, ast.LtE: -1, ast.Gt: 1, ast.GtE: 1}


class Gauge(NamedTuple):
    """A number of an object; ``sign`` 1: the greater the worse, -1: the smaller the worse."""

    number: Calculation
    sign: int

    def badness(self, context: Context) -> float | None:
        """The greater the worse; None: it cannot be told."""
        value = self.number.value(context)
        return None if isinstance(value, Absence) else self.sign * value


class _Side(NamedTuple):
    text: str
    sign: int


def gauge_of(form: Form, kinds: Mapping[str, Kind]) -> Gauge | None:
    """The first number in a rule's condition that is compared with a limit; None where there is none.

    Which way is worse is what the condition that clears the alert says best: there it is the other way round.
    """
    cleared = {} if form.clear is None else {side.text: -side.sign for side in _sides(form.clear.source)}
    for side in _sides(form.when.source):
        try:
            number = compile_value(side.text, kinds[form.rule.scope], kinds, form.values)
        except ExpressionError:
            continue
        if any(_is_figure(kinds, kind, metric) for kind, metric in number.names):
            return Gauge(number, cleared.get(side.text, side.sign))
    return None


def _is_figure(kinds: Mapping[str, Kind], kind: str, name: str) -> bool:
    metric = kinds[kind].metric(name)
    return metric is not None and not metric.declared and metric.type in (MetricType.GAUGE, MetricType.COUNTER)


def _sides(source: str) -> Iterator[_Side]:
    """Both sides of each comparison with less or greater, in the order of the text; of a chain the last comparison first."""
    syntax = parse(source)
    for node in ast.walk(syntax.body):
        if not isinstance(node, ast.Compare):
            continue
        operands = [node.left, *node.comparators]
        for place in range(len(node.ops) - 1, -1, -1):
            sign = _SIGNS.get(type(node.ops[place]))
            if sign is not None:
                yield _Side(syntax.text(operands[place]), sign)
                yield _Side(syntax.text(operands[place + 1]), -sign)
