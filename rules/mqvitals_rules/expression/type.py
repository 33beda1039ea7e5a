"""The types of the language: numbers, states, texts. Conditions are apart: they are not compared or added."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from mqvitals_config.problem import shown
from mqvitals_rules.expression.node import Constant, MetricValue, NameText, Operand, Window
from mqvitals_rules.vocabulary.metric import MetricType

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
        case Constant(value=str()) | NameText():
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
