"""The numbers of a condition in PromQL: metrics, their past, and what is calculated from them.

Samples are in base units, thresholds in those of the vocabulary. A number goes along with its scale, so that mostly the
threshold is converted and the sample stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from mqvitals_agent.openmetrics.names import Family, family_of, owner_label
from mqvitals_rules.expression.node import (
    Absolute,
    Arithmetic,
    Constant,
    Extreme,
    MetricValue,
    Negation,
    Operand,
    Window,
)
from mqvitals_rules.vocabulary.metric import Kind, MetricType
from mqvitals_rules.vocabulary.tables import KINDS


class NotCarriedError(Exception):
    """PromQL cannot say a condition; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number in PromQL: ``text``, which is ``scale`` times the number of the rule; or a ``constant``.

    ``kind``: whose labels its samples have; empty of a constant. ``simple``: it needs no brackets as an operand.
    """

    text: str = ""
    scale: float = 1.0
    kind: str = ""
    constant: float | None = None
    simple: bool = True

    def at(self, scale: float) -> str:
        """The constant at another scale."""
        assert self.constant is not None
        return fraction(_times(self.constant, scale))

    @property
    def operand(self) -> str:
        """Its text as an operand."""
        return self.text if self.simple else f"({self.text})"


_OVER_TIME: Mapping[str, Callable[[str], str]] = {
    "min": lambda series: f"min_over_time({series})",
    "max": lambda series: f"max_over_time({series})",
    "avg": lambda series: f"avg_over_time({series})",
    "median": lambda series: f"quantile_over_time(0.5, {series})",
    "rate": lambda series: f"rate({series})",
    "delta": lambda series: f"increase({series})",
}

_EXTRAPOLATED = "rate and increase are drawn out to the ends of their window; the rule takes the increases as they are"
_NO_WORDS = "a value that stands for a word, such as auto, is no sample"
_MESSAGES = "it reads console or event messages, which are no samples"
_REASONS = {
    "MemberTally": "it counts or sums the members of an object",
    "Elapsed": _MESSAGES,
    "Times": _MESSAGES,
    "Latest": _MESSAGES,
    "NameText": "it reads a name as a text",
    "eta": "it looks ahead along the trend since its limit changed last",
    "baseline": "it compares with what is usual at this hour, which the store knows",
    "share": "it compares with the sum over all objects",
}


class Numbers:
    """Translates the numbers of conditions on objects of the kind ``scope``; notes what PromQL only nearly says."""

    def __init__(self, scope: Kind, notes: dict[str, None]) -> None:
        self._scope = scope
        self._notes = notes
        self.owner = owner_label(scope.name)

    def of(self, node: Operand) -> Number:
        """The number of an operand. Raises NotCarriedError."""
        match node:
            case Constant(value=value):
                if isinstance(value, str):
                    raise NotCarriedError("it reads a text, and samples are numbers")
                return Number(constant=float(value))
            case MetricValue():
                return self._metric(node)
            case Negation(operand=operand):
                return self._with(self.of(operand), lambda text: f"-{text}", lambda value: -value)
            case Absolute(operand=operand):
                return self._with(self.of(operand), lambda text: f"abs({text})", abs)
            case Arithmetic(operator=operator, left=left, right=right):
                return self._calculated(operator, self.of(left), self.of(right))
            case Extreme(function=function, operands=operands):
                found = [self.of(each) for each in operands]
                first = found[0]
                for each in found[1:]:
                    first = self._extreme(function, first, each)
                return first
            case Window():
                return self._window(node)
        raise NotCarriedError(_REASONS[type(node).__name__])

    def series(self, metric: MetricValue) -> str:
        """The name of a metric's samples. Raises NotCarriedError."""
        return self._family(metric).sample

    def _family(self, metric: MetricValue) -> Family:
        if metric.of:
            raise NotCarriedError("it compares two objects that a site declares as a pair")
        kind = KINDS[metric.kind]
        if metric.kind != self._scope.name and (
            not kind.single or owner_label(metric.kind) != self.owner or kind.of_group != self._scope.of_group
        ):
            raise NotCarriedError(f"no label leads to the {metric.kind.replace('_', ' ')} that belongs to the object")
        if metric.metric.declared:
            raise NotCarriedError(f"{metric.metric.name} is a fact that only the configuration has")
        family = family_of(kind, metric.metric)
        if family is None:
            raise NotCarriedError(f"{metric.metric.name} is a text, and samples are numbers")
        if family.numbers:
            raise NotCarriedError(f"{family.sample} has other numbers")
        if family.no_amounts:
            self._notes[_NO_WORDS] = None
        return family

    def _metric(self, metric: MetricValue) -> Number:
        if (
            metric.metric.declared
            and isinstance(default := metric.metric.default, int | float)
            and not (metric.metric.defaults or metric.metric.layouts)
        ):
            self._notes[f"{metric.metric.name}, a fact, is taken as what it is where nothing is declared"] = None
            return Number(constant=float(default))
        family = self._family(metric)
        if metric.metric.type is MetricType.COUNTER:
            raise NotCarriedError(
                f"it asks how much {metric.metric.name} increased in one interval, and PromQL knows no intervals"
            )
        return Number(family.sample, family.scale, metric.kind)

    def _window(self, node: Window) -> Number:
        over_time = _OVER_TIME.get(node.function)
        if over_time is None or not node.window_ms:
            raise NotCarriedError(_REASONS[node.function])
        family, window = self._family(node.metric), duration(node.window_ms)
        text = over_time(f"{family.sample}[{window}]")
        if node.metric.metric.type is MetricType.COUNTER:
            self._notes[_EXTRAPOLATED] = None
            return Number(text, family.scale, node.metric.kind)
        # A window that is not covered is unknown in the rule.
        return Number(f"({text} and {family.sample} offset {window})", family.scale, node.metric.kind)

    def _with(self, number: Number, text: Callable[[str], str], value: Callable[[float], float]) -> Number:
        if number.constant is not None:
            return Number(constant=value(number.constant))
        return replace(number, text=text(number.operand), simple=False)

    def alike(self, first: Number, second: Number) -> tuple[Number, Number]:
        """Two numbers with the same scale."""
        if first.constant is not None and second.constant is not None:
            return first, second
        if first.constant is not None:
            return Number(first.at(second.scale), second.scale), second
        if second.constant is not None:
            return first, Number(second.at(first.scale), first.scale)
        if first.scale == second.scale:
            return first, second
        return _at_one(first), _at_one(second)

    def joined(self, first: Number, operator: str, second: Number) -> str:
        """Two numbers with an operator between them: each object's with its own, or with its queue manager's."""
        return f"{first.operand} {operator} {self._matching(first, second)}{second.operand}"

    def _matching(self, first: Number, second: Number) -> str:
        kinds = (first.kind, second.kind)
        if not all(kinds) or kinds == (self._scope.name, self._scope.name):
            return ""
        if kinds[0] == self._scope.name:
            return f"on ({self.owner}) group_left () "
        return f"on ({self.owner}) group_right () " if kinds[1] == self._scope.name else f"on ({self.owner}) "

    def _calculated(self, operator: str, first: Number, second: Number) -> Number:
        if first.constant is not None and second.constant is not None:
            return Number(constant=_calculate(operator, first.constant, second.constant))
        kind = self._kind_of(first, second)
        if operator in "+-":
            first, second = self.alike(first, second)
            scale = first.scale
        else:
            scale = first.scale * second.scale if operator == "*" else first.scale / second.scale
            if operator == "/" and second.constant is None:
                # Nothing is divided by 0: the result is unknown.
                second = replace(second, text=f"{second.operand} != 0", simple=False)
            first, second = (
                replace(each, text=fraction(each.constant)) if each.constant is not None else each
                for each in (first, second)
            )
        return Number(self.joined(first, operator, second), scale, kind, simple=False)

    def _extreme(self, function: str, first: Number, second: Number) -> Number:
        if first.constant is not None and second.constant is not None:
            return Number(constant=(min if function == "min" else max)(first.constant, second.constant))
        if first.constant is not None:
            first, second = second, first
        if second.constant is not None:
            clamp = "clamp_max" if function == "min" else "clamp_min"
            return Number(f"{clamp}({first.text}, {second.at(first.scale)})", first.scale, first.kind)
        if first.kind != second.kind:
            raise NotCarriedError("it takes the least or greatest value of several objects")
        first, second = self.alike(first, second)
        # Where one of them is absent there is neither.
        before, after = ("<=", "<") if function == "min" else (">=", ">")
        text = f"({first.operand} {before} {second.operand} or {second.operand} {after} {first.operand})"
        return Number(text, first.scale, first.kind)

    def _kind_of(self, first: Number, second: Number) -> str:
        kinds = {first.kind, second.kind} - {""}
        return self._scope.name if self._scope.name in kinds else min(kinds)


def _at_one(number: Number) -> Number:
    if number.scale == 1:
        return number
    factor = f"/ {fraction(number.scale)}" if number.scale > 1 else f"* {fraction(_times(1, 1 / number.scale))}"
    return replace(number, text=f"{number.operand} {factor}", scale=1.0, simple=False)


def _times(value: float, scale: float) -> float:
    """As exported values are made of stored ones, so that equal numbers stay equal."""
    return value * scale if scale >= 1 else value / round(1 / scale, 9)


def _calculate(operator: str, left: float, right: float) -> float:
    if operator == "/" and right == 0:
        raise NotCarriedError("it divides by 0")
    return {"+": left + right, "-": left - right, "*": left * right, "/": left / right if right else 0.0}[operator]


def fraction(value: float) -> str:
    """A number as it is written."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


_UNITS_MS = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1))


def duration(ms: int) -> str:
    """A duration as Prometheus writes it: ``5m``."""
    return next(f"{ms // size}{unit}" for unit, size in _UNITS_MS if ms % size == 0 and ms >= size)
