"""Names in expressions, and the types of operands: numbers, states, texts. Conditions are no operands."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from mqvitals_config.decoding.problem import did_you_mean, shown
from mqvitals_rules.expression.node import PAIR, THIS, Constant, Latest, MetricValue, NameText, Operand, Window
from mqvitals_rules.expression.syntax import LARGEST_NUMBER, RefusedExpressionError
from mqvitals_rules.vocabulary.metric import Kind, MetricType

NAME = "name"
"""What the object's own name is called, unless its kind has a metric of that name."""


class Names:
    """The names that one expression, or its part about members, may use.

    ``outer`` are the names of the evaluated object where the scope is a kind of members. ``quiet``: messages written
    while their queue manager starts or stops do not count.
    """

    __slots__ = ("_kinds", "_metrics", "_parameters", "outer", "quiet", "scope")

    def __init__(
        self,
        scope: Kind,
        kinds: Mapping[str, Kind],
        parameters: Mapping[str, float],
        outer: Names | None = None,
        *,
        quiet: bool = False,
    ) -> None:
        self.quiet = quiet
        self.scope = scope
        self.outer = outer
        self._kinds = {**kinds, scope.name: scope}
        self._parameters = parameters
        self._metrics = {metric.name: metric for metric in scope.metrics}

    def inside(self, kind_name: str, start: int) -> Names:
        """The names for members of a kind. Raises RefusedExpressionError when there is no such kind."""
        return Names(self._kind(kind_name, start), self._kinds, self._parameters, outer=self, quiet=self.quiet)

    def find(self, name: str, start: int, end: int) -> MetricValue | NameText | Constant | None:
        """The metric of the scope, its name, or the parameter called ``name``; None when there is neither."""
        metric = self._metrics.get(name)
        if metric is not None:
            return MetricValue(start, end, self.scope.name, metric, own=True)
        if name == NAME:
            return NameText(start, end)
        value = self._parameters.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST_NUMBER:
            raise RefusedExpressionError.at(start, f"the parameter {name} is no number up to 1e18")
        return Constant(start, end, value, parameter=True)

    def is_kind(self, name: str) -> bool:
        """Whether it is the name of a kind of object, and of no metric or parameter."""
        return name in self._kinds and name not in self._metrics and name not in self._parameters

    def resolve(self, name: str, start: int, end: int) -> MetricValue | NameText | Constant:
        """The metric or parameter called ``name``. Raises RefusedExpressionError with what may have been meant."""
        found = self.find(name, start, end)
        if found is None:
            raise RefusedExpressionError.at(start, self._unknown(name))
        return found

    def related(self, whose: str, metric_name: str, start: int, end: int) -> MetricValue | NameText:
        """The metric of another kind, of ``this`` or of the ``pair``.

        Raises RefusedExpressionError with what may have been meant.
        """
        if whose == THIS:
            if self.outer is None:
                raise RefusedExpressionError.at(
                    start, f"{THIS} stands inside any, count, sum, most or least; write {metric_name}"
                )
            if metric_name == NAME and NAME not in self.outer._metrics:
                return NameText(start, end, THIS)
            kind = self.outer.scope
        elif whose == PAIR:
            if PAIR not in self._metrics:
                raise RefusedExpressionError.at(start, f"a {self.scope.name} has no {PAIR}; a queue can have one")
            kind = self.scope
        else:
            kind = self._kind(whose, start)
        metric = kind.metric(metric_name)
        if metric is None:
            close = did_you_mean(metric_name, [each.name for each in kind.metrics])
            raise RefusedExpressionError.at(start, f"{kind.name} has no metric {metric_name!r}{close}")
        if whose in (THIS, PAIR):
            return MetricValue(start, end, kind.name, metric, own=False, of=whose)
        return MetricValue(start, end, kind.name, metric, own=kind.name == self.scope.name)

    def members(self, name: str, operand: MetricValue, start: int) -> frozenset[float | str]:
        """The numbers of the values in a named set of the operand's kind.

        Raises RefusedExpressionError when it has no such set.
        """
        kind = self._kinds[operand.kind]
        found = kind.sets.get(name)
        if found is None:
            values = operand.values or {}
            if name in values:
                raise RefusedExpressionError.at(
                    start, f"{name} is one value, not a set; write {operand.name} == {name}"
                )
            known = f"; {kind.name} has the sets {', '.join(kind.sets)}" if kind.sets else ""
            raise RefusedExpressionError.at(start, f"there is no set {name!r}{did_you_mean(name, kind.sets) or known}")
        metric_name, value_names = found
        if metric_name != operand.metric.name:
            raise RefusedExpressionError.at(start, f"{name} is a set of values of {metric_name}, not of {operand.name}")
        return frozenset(operand.metric.values[value] for value in value_names)

    def _kind(self, name: str, start: int) -> Kind:
        kind = self._kinds.get(name)
        if kind is None:
            raise RefusedExpressionError.at(
                start, f"there is no kind of object {name!r}{did_you_mean(name, self._kinds)}"
            )
        return kind

    def _unknown(self, name: str) -> str:
        if self.outer is not None and self.outer.scope.metric(name) is not None:
            return f"{self.scope.name} has no metric {name!r}; did you mean '{THIS}.{name}'?"
        for metric in self.scope.metrics:
            if metric.type is MetricType.STATE and name in metric.values:
                return f"{name} is a value of {metric.name} and stands beside it; write {metric.name} == {name}"
        for kind in self._kinds.values():
            if kind is not self.scope and kind.metric(name) is not None:
                return f"{self.scope.name} has no metric {name!r}; did you mean '{kind.name}.{name}'?"
        if name in self._kinds:
            return f"{name} is a kind of object; write {name}.metric"
        if name in self.scope.sets:
            metric_name = self.scope.sets[name][0]
            return f"{name} is a set of values; write {metric_name} in {name}"
        close = did_you_mean(name, [*self._metrics, *self._parameters])
        return f"{self.scope.name} has no metric {name!r}, and the rule no parameter of that name{close}"


_MOST_NAMED = 12


class Type(Enum):
    """What an operand is."""

    NUMBER = "number"
    STATE = "state"
    TEXT = "text"


def type_of(operand: Operand) -> Type:
    """The type of an operand."""
    if values_of(operand) is not None:
        return Type.STATE
    match operand:
        case Constant(value=str()) | NameText() | Latest(as_text=True):
            return Type.TEXT
        case MetricValue() if operand.metric.type is MetricType.TEXT:
            return Type.TEXT
    return Type.NUMBER


def values_of(operand: Operand) -> Mapping[str, int] | None:
    """The named values that a state can have; None for what is no state."""
    return operand.values if isinstance(operand, Constant | MetricValue | Window) else None


def described(operand: Operand) -> str:
    """An operand in words: ``the state status``, ``the text 'A'``, ``a number``."""
    match operand:
        case MetricValue():
            kind = type_of(operand)
            return f"the {operand.metric.type.value if kind is Type.NUMBER else kind.value} {operand.name}"
        case NameText():
            return "the text name"
        case Latest(as_text=True):
            return f"the text {operand.insert} of {operand.message}"
        case Window(values=values) if values is not None:
            return f"the state {operand.metric.name}"
        case Constant(value=str(text)):
            return f"the text {shown(text)}"
        case Constant(values=values, value=value) if values is not None:
            name = next(name for name, number in values.items() if number == value)
            return f"the state value {name}"
    return "a number"


def value_names(values: Mapping[str, int]) -> str:
    """The names of a state's values for a message, the first dozen of them."""
    names = list(values)
    return ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
