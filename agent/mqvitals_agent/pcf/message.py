"""A decoded message, its header and its parameters; the error of bytes that are no PCF."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias, Union

from mqvitals_agent.errors import MqvitalsError
from mqvitals_agent.pcf.constants import MQCFC_LAST


class PcfError(MqvitalsError):
    """The bytes are not the PCF they should be.

    ``offset`` counts bytes from the beginning of the data, ``expected`` is what should have stood there in words and,
    where it helps, what did. It is the only exception that decoding raises.
    """

    def __init__(self, offset: int, expected: str) -> None:
        super().__init__(f"at byte {offset}: expected {expected}")
        self.offset = offset
        self.expected = expected


@dataclass(frozen=True, slots=True)
class FilterValue:
    """The value of a filter structure: an operator (``MQCFOP_...``) and what to compare with."""

    operator: int
    value: int | str | bytes


Value: TypeAlias = Union[  # noqa: UP007 - it refers to itself, and a string has no "|"
    int, str, bytes, tuple[int, ...], tuple[str, ...], FilterValue, tuple["Parameter", ...]
]
"""What a parameter can hold: a number, a text, bytes, a list of numbers or texts, a filter, or a group's members."""


class Parameter(NamedTuple):
    """One parameter structure: its identifier, its structure type (``MQCFT_...``) and its value."""

    id: int
    type: int
    value: Value


class Message:
    """A whole message. Never changed after it was made; equal to another with the same header and parameters.

    ``type`` is the header type (``MQCFT_XR_ITEM`` ...), ``sequence`` the position inside the response set from 1,
    ``control`` whether it is the set's last. Parameters and values are built when they are first asked for:
    some of 50 values cost no objects for the others.
    """

    __slots__ = ("_parameters", "_values", "command", "comp_code", "control", "reason", "sequence", "type")

    def __init__(
        self,
        type: int,  # noqa: A002 - IBM's name of the field
        command: int,
        sequence: int = 1,
        control: int = MQCFC_LAST,
        comp_code: int = 0,
        reason: int = 0,
        parameters: Iterable[Parameter] = (),
    ) -> None:
        self.type = type
        self.command = command
        self.sequence = sequence
        self.control = control
        self.comp_code = comp_code
        self.reason = reason
        self._parameters: tuple[Parameter, ...] | None = tuple(parameters)
        self._values: dict[int, Value] | None = None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters in order, repeats kept, groups nested."""
        parameters = self._parameters
        if parameters is None:
            parameters = self._parameters = self._make_parameters()
        return parameters

    @property
    def values(self) -> dict[int, Value]:
        """Identifier to value, for the parameters at top level; of a repeated one the first. Do not change it."""
        values = self._values
        if values is None:
            values = self._values = self._make_values()
        return values

    def get(self, id: int) -> Value | None:  # noqa: A002 - IBM calls it the parameter identifier
        """The first value at top level of that parameter, or None."""
        return self.values.get(id)

    def all(self, id: int) -> tuple[Value, ...]:  # noqa: A002
        """Every value at top level of that parameter, in order."""
        if id not in self.values:
            return ()
        return tuple(parameter.value for parameter in self.parameters if parameter.id == id)

    @property
    def last(self) -> bool:
        """True for the last message of its response set."""
        return self.control == MQCFC_LAST

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def __repr__(self) -> str:
        return (
            f"Message(type={self.type}, command={self.command}, sequence={self.sequence}, control={self.control}, "
            f"comp_code={self.comp_code}, reason={self.reason}, parameters={self.parameters!r})"
        )

    def _make_parameters(self) -> tuple[Parameter, ...]:
        raise AssertionError("a message made from parameters has them")

    def _make_values(self) -> dict[int, Value]:
        values: dict[int, Value] = {}
        for parameter in self.parameters:
            values.setdefault(parameter.id, parameter.value)
        return values

    def _compared(self) -> tuple[object, ...]:
        return (self.type, self.command, self.sequence, self.control, self.comp_code, self.reason, self.parameters)


class ParameterLayout:
    """Which parameters a column of values holds: their identifiers and structure types.

    ``places`` has the place in the column of each identifier that is there once, ``template`` all identifiers as
    keys: filling a copy of it is quicker than growing a dictionary. Compared by identity: ``parameter_layout`` makes
    one of each.
    """

    __slots__ = ("ids", "places", "repeats", "template", "types")

    def __init__(self, ids: Sequence[int], types: Sequence[int]) -> None:
        self.ids = ids
        self.types = types
        self.template: dict[int, Value] = dict.fromkeys(ids, 0)
        self.places = {number: place for place, number in enumerate(ids)}
        self.repeats = len(self.template) != len(ids)

    def values(self, column: Sequence[Value]) -> dict[int, Value]:
        """Identifier to value, the first of each."""
        if self.repeats:
            return first_and_repeated(self.ids, column)[0]
        values = self.template.copy()
        values.update(zip(self.ids, column, strict=False))
        return values


@lru_cache(maxsize=2048)
def parameter_layout(ids: tuple[int, ...], types: tuple[int, ...]) -> ParameterLayout:
    """The layout of these parameters, the same object for all shapes that differ in lengths alone."""
    return ParameterLayout(ids, types)


class DecodedMessage(Message):
    """A message as the decoder leaves it: a column of values, made into parameters on demand."""

    __slots__ = ("_column", "_layout")

    def __init__(
        self,
        type: int,  # noqa: A002
        command: int,
        sequence: int,
        control: int,
        comp_code: int,
        reason: int,
        layout: ParameterLayout,
        column: Sequence[Value],
    ) -> None:
        self.type = type
        self.command = command
        self.sequence = sequence
        self.control = control
        self.comp_code = comp_code
        self.reason = reason
        self._parameters = None
        self._values = None
        self._layout = layout
        self._column = column

    def _make_parameters(self) -> tuple[Parameter, ...]:
        return tuple(map(Parameter, self._layout.ids, self._layout.types, self._column))

    def _make_values(self) -> dict[int, Value]:
        return self._layout.values(self._column)


class MessageValues:
    """The wanted values of a message and its header; lighter than a Message.

    Usually they are a ``column`` with a ``layout`` that thousands of messages share; no parameter is in it twice. Of
    a message that was walked, or that has a parameter more than once, there is no layout, but ``values``;
    ``repeated`` are the further ones of a parameter, in order.
    """

    __slots__ = (
        "_values",
        "column",
        "command",
        "comp_code",
        "control",
        "layout",
        "reason",
        "repeated",
        "sequence",
        "type",
    )

    def __init__(
        self,
        type: int,  # noqa: A002 - IBM's name of the field
        command: int,
        sequence: int,
        control: int,
        comp_code: int,
        reason: int,
        values: dict[int, Value] | None,
        repeated: tuple[tuple[int, Value], ...] = (),
        layout: ParameterLayout | None = None,
        column: Sequence[Value] = (),
    ) -> None:
        self.type = type
        self.command = command
        self.sequence = sequence
        self.control = control
        self.comp_code = comp_code
        self.reason = reason
        self.repeated = repeated
        self.layout = layout
        self.column = column
        self._values = values

    @property
    def values(self) -> dict[int, Value]:
        """Those wanted parameters that are there, the first of each. Made when first asked for; do not change it."""
        values = self._values
        if values is None:
            assert self.layout is not None, "there is a layout where there are no values"
            values = self._values = self.layout.values(self.column)
        return values

    def get(self, id: int) -> Value | None:  # noqa: A002
        """The first value of that parameter, or None when it is absent or was not wanted."""
        if self.layout is None:
            return self.values.get(id)
        place = self.layout.places.get(id)
        return None if place is None else self.column[place]

    def all(self, id: int) -> tuple[Value, ...]:  # noqa: A002
        """Every value of that parameter, in order."""
        first = self.get(id)
        if first is None:
            return ()
        return (first, *(value for number, value in self.repeated if number == id))

    @property
    def last(self) -> bool:
        """True for the last message of its response set."""
        return self.control == MQCFC_LAST

    def __repr__(self) -> str:
        return (
            f"MessageValues(type={self.type}, command={self.command}, sequence={self.sequence}, control={self.control}, "
            f"comp_code={self.comp_code}, reason={self.reason}, values={self.values!r})"
        )


def first_and_repeated(
    ids: Sequence[int], column: Sequence[Value]
) -> tuple[dict[int, Value], tuple[tuple[int, Value], ...]]:
    """The first value of every identifier, and all later ones in order."""
    first: dict[int, Value] = {}
    repeated: list[tuple[int, Value]] = []
    for number, value in zip(ids, column, strict=True):
        if number in first:
            repeated.append((number, value))
        else:
            first[number] = value
    return first, tuple(repeated)
