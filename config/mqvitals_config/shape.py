"""What a type hint means for the decoder: how it is written in a file, and what people call it."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, is_dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from mqvitals_config.node import MappingNode, ScalarNode, SequenceNode
from mqvitals_config.problem import LocatedNumber, LocatedText
from mqvitals_config.secret import Secret
from mqvitals_config.wording import listing


@dataclass(frozen=True, slots=True)
class Convert:
    """Metadata of ``Annotated``: the value is ``function(text)``; its ValueError says what is wrong.

    ``expected`` names the form, for when something else than a single value stands there. With ``raw`` the function
    gets the characters of the file whatever YAML 1.1 takes them for (``0600``, ``+10:00``); without, a text that YAML
    takes for something else must be quoted. The text is a LocatedText.
    """

    function: Callable[[LocatedText], Any]
    expected: str = "a string"
    raw: bool = False


SIMPLE: dict[Any, str] = {
    str: "a string",
    LocatedText: "a string",
    int: "a whole number",
    float: "a number",
    LocatedNumber: "a number",
    bool: "true or false",
}

SECRET = (Secret, Secret | None)
SECRET_FILE = Annotated[Secret, Convert(Secret.in_file, expected="the path of a file")]


def hints_of(shape: Any) -> dict[str, Any]:
    """The type hints of a dataclass by field."""
    return _hints(shape)


@cache
def _hints(shape: Any) -> dict[str, Any]:
    return get_type_hints(shape, include_extras=True)


def key_of(item: Field[Any], hints: Mapping[str, Any] | None = None) -> str:
    """The key of a field; that of a secret, when the hints are given, names the file that holds it."""
    key = str(item.metadata.get("key", item.name))
    return f"{key}_file" if hints and hints[item.name] in SECRET else key


def optional(item: Field[Any]) -> bool:
    """True when the key may be left out."""
    return not item.init or item.default is not MISSING or item.default_factory is not MISSING


def words_of(choices: type[Enum]) -> dict[str, Enum]:
    """What may be written for each member of an enum."""
    if all(isinstance(member.value, str) for member in choices):
        return {str(member.value): member for member in choices}
    return {member.name.lower(): member for member in choices}


def takes(hint: Any) -> type[Any]:
    """The kind of node a type is written as."""
    if get_origin(hint) is Annotated:
        base, *metadata = get_args(hint)
        return ScalarNode if any(isinstance(item, Convert) for item in metadata) else takes(base)
    if is_dataclass(hint) or get_origin(hint) in (dict, Mapping):
        return MappingNode
    return SequenceNode if get_origin(hint) in (tuple, list, Sequence) else ScalarNode


def type_name(hint: Any) -> str:
    """What a person calls a type."""
    if get_origin(hint) is Annotated:
        base, *metadata = get_args(hint)
        return next((item.expected for item in metadata if isinstance(item, Convert)), "") or type_name(base)
    if get_origin(hint) is Literal:
        return listing(map(str, get_args(hint)), "or")
    if isinstance(hint, type) and issubclass(hint, Enum):
        return listing(words_of(hint), "or")
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(type_name(member) for member in get_args(hint) if member is not type(None))
    return SIMPLE.get(hint) or {MappingNode: "a mapping", SequenceNode: "a list"}[takes(hint)]
