"""YAML text to frozen dataclasses, every problem at once.

``decode(path, text, T)`` walks the nodes of the text along the type hints of ``T``:

==========================  =====================================================================================
a dataclass                 a mapping; unknown, duplicate and missing keys are problems. A field's key is its name,
                            or ``field(metadata={"key": ...})``. A ValueError of ``__post_init__`` is a problem
``tuple[T, ...], list[T]``  a list
``Mapping[str, T], dict``   a mapping with any keys
``str``                     a string; what YAML 1.1 takes for something else (``no``, ``12:30``, ``014``) must be quoted
``LocatedText``             a string that keeps its place
``int``, ``float``, ``bool``  a number in decimal notation; a boolean
``Literal[...]``            one of these words
an ``Enum``                 one of its values when these are words, else one of its names in lower case
``X | None``                X, or left empty
``X | Y``                   whichever of them fits: at most one takes a mapping and one a list
``Annotated[T, Convert]``   what the converter makes of the text; a plain callable is called with the decoded value
``Annotated[T, WrittenAs]``  what its function makes of a value of another type
``Annotated[T, ByType]``    a mapping, of the subclass of T that its key ``type`` names
``SecretFile``              a secret is never written in the file: ``password_file: SecretFile`` names the file of it
==========================  =====================================================================================

A mapping or list that is left empty counts as one without entries, so that all keys of a section can be commented out.
"""

from __future__ import annotations

import re
import types
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass
from enum import Enum
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, cast, get_args, get_origin

from mqvitals_config.decoding.node import (
    MOST_PROBLEMS,
    BrokenNode,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    compose,
    described,
    too_many_problems,
)
from mqvitals_config.decoding.problem import (
    ConfigError,
    LocatedNumber,
    LocatedText,
    Place,
    Problem,
    did_you_mean,
    listing,
    shown,
    word_of,
)
from mqvitals_config.decoding.schema import (
    SIMPLE,
    ByType,
    Convert,
    WrittenAs,
    former_keys_of,
    hints_of,
    is_optional,
    key_of,
    keys_of,
    node_type,
    type_name,
    words_of,
)

__all__ = ["Convert", "Decoded", "decode", "decode_located", "decode_word"]

T = TypeVar("T")

MOST_ITEMS = 10_000
"""Entries of one list or mapping."""

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})(\.[0-9]{0,40})?([eE][-+]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class Decoded(Generic[T]):
    """A decoded file, and the place of each of its values by dotted key (``store.path``, ``facts.queues[0].role``)."""

    value: T
    places: Mapping[str, Place]


def decode(path: str, text: str, shape: type[T]) -> T:
    """The value of type ``shape`` that ``text`` writes in YAML. ``path`` is named in messages, not read.

    Raises ConfigError with every problem. TypeError means that ``shape`` itself cannot be decoded.
    """
    return decode_located(path, text, shape).value


def decode_located(path: str, text: str, shape: type[T]) -> Decoded[T]:
    """As ``decode``, with the place of every value."""
    root, problems = compose(path, text)
    decoder = _SettingsDecoder(problems)
    value: Any = _NOTHING
    try:
        if root is not None:
            value = decoder.value(root, shape, "")
        elif not problems:
            value = decoder.empty_file(Place(path), shape)
    except _EnoughError:
        problems.append(too_many_problems(path))
    if problems:
        raise ConfigError(problems)
    return Decoded(cast("T", value), decoder.places)


def decode_word(place: Place, key: str, text: str, shape: Any) -> Any:
    """The value of type ``shape`` that a single word from elsewhere than a file says (a flag, an environment variable).

    Raises ConfigError; its problems are at ``place`` and name ``key``.
    """
    problems: list[Problem] = []
    # The word is a string, whatever YAML would take it for; numbers and booleans are recognised all the same.
    tag = "bool" if text.lower() in _BOOLEANS else "int" if _NUMBER.fullmatch(text) else "str"
    value = _SettingsDecoder(problems, words=True).value(ScalarNode(place, text, tag), shape, key)
    if problems:
        raise ConfigError(problems)
    return value


class _EnoughError(Exception):
    """There are too many problems to list."""


class _Nothing:
    """The result of a refused value; what holds it is refused too, without another problem."""


_NOTHING = _Nothing()

_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class _SettingsDecoder:
    def __init__(self, problems: list[Problem], *, words: bool = False) -> None:
        self.problems = problems
        self.places: dict[str, Place] = {}
        self.words = words

    def refuse(self, place: Place, key: str, message: str) -> _Nothing:
        self.problems.append(Problem(place, key, message))
        if len(self.problems) >= MOST_PROBLEMS:
            raise _EnoughError
        return _NOTHING

    def empty_file(self, place: Place, shape: Any) -> Any:
        if is_dataclass(shape):
            required = [key_of(item) for item in fields(shape) if not is_optional(item)]
            if required:
                return self.refuse(place, "", f"the file is empty; it must hold {listing(required)}")
        return self.value(ScalarNode(place, "", "null"), shape, "")

    def value(self, node: Node, hint: Any, key: str) -> Any:
        """What ``node`` says, as ``hint`` wants it; _NOTHING when it was refused."""
        if isinstance(node, BrokenNode):
            return _NOTHING
        if key:
            self.places[key] = node.place
        origin = get_origin(hint)
        if origin is Annotated:
            return self.annotated(node, hint, key)
        if origin in (Union, types.UnionType):
            return self.union(node, get_args(hint), key)
        if is_dataclass(hint):
            return self.struct(node, hint, key)
        if origin in (tuple, list, Sequence):
            return self.sequence(node, hint, key)
        if origin in (dict, Mapping):
            return self.mapping(node, hint, key)
        return self.scalar(node, hint, key)

    def annotated(self, node: Node, hint: Any, key: str) -> Any:
        base, *metadata = get_args(hint)
        converters = [item for item in metadata if isinstance(item, Convert)]
        if converters:
            return self.converted(node, converters[0], key)
        for item in metadata:
            if isinstance(item, ByType):
                return self.by_type(node, base, item.shapes, key)
        written = next((item for item in metadata if isinstance(item, WrittenAs)), None)
        if written is not None:
            given = self.value(node, written.shape, key)
            return given if isinstance(given, _Nothing) else written.function(given)
        value = self.value(node, base, key)
        for item in metadata:
            if callable(item) and not isinstance(value, _Nothing):
                try:
                    value = item(value)
                except ValueError as error:
                    return self.refuse(node.place, key, str(error))
        return value

    def converted(self, node: Node, converter: Convert, key: str) -> Any:
        if not isinstance(node, ScalarNode) or node.tag == "null" or not (converter.raw or self.is_text(node)):
            return self.mismatch(node, converter.expected, key, text=True)
        try:
            return converter.function(node.located)
        except ValueError as error:
            return self.refuse(node.place, key, str(error))

    def union(self, node: Node, members: Sequence[Any], key: str) -> Any:
        if isinstance(node, ScalarNode) and node.tag == "null" and type(None) in members:
            return None
        members = [member for member in members if member is not type(None)]
        fitting = [member for member in members if node_type(member) is type(node)]
        if isinstance(node, ScalarNode) and node.tag == "null":
            # Left empty, a mapping or list is one without entries, whatever else it might be.
            fitting = [member for member in members if node_type(member) is not ScalarNode] or fitting
        if len(fitting) == 1:
            return self.value(node, fitting[0], key)
        if fitting and not isinstance(node, ScalarNode):
            raise TypeError(f"{key}: {listing(map(type_name, fitting))} cannot be distinguished")
        for member in fitting:
            trial = _SettingsDecoder([], words=self.words)
            value = trial.value(node, member, key)
            if not trial.problems:
                return value
        return self.mismatch(node, " or ".join(map(type_name, members)), key)

    def struct(self, node: Node, shape: Any, key: str) -> Any:
        pairs = self.pairs(node, key)
        if pairs is None:
            return _NOTHING
        hints, known = hints_of(shape), keys_of(shape)
        arguments: dict[str, Any] = {}
        for key_node, word, value_node in pairs:
            former = former_keys_of(shape).get(word)
            item = known.get(word, former)
            inner = f"{key}.{word_of(word)}" if key else word_of(word)
            if item is None:
                self.unknown_key(key_node, word, inner, known)
            elif item.name in arguments:
                now = key_of(item)
                old = next(name for name, other in former_keys_of(shape).items() if other is item)
                self.refuse(key_node.place, inner, f"{old} is the former name of {now}: write {now} alone")
            else:
                arguments[item.name] = self.value(value_node, hints[item.name], inner)
                if former is not None and inner in self.places:
                    self.places[f"{key}.{key_of(former)}".lstrip(".")] = self.places.pop(inner)
        for word, item in known.items():
            if item.name not in arguments and not is_optional(item):
                self.refuse(node.place, f"{key}.{word}" if key else word, "this key is missing")
                arguments[item.name] = _NOTHING
        if any(isinstance(value, _Nothing) for value in arguments.values()):
            return _NOTHING
        try:
            return shape(**arguments)
        except ValueError as error:
            return self.refuse(node.place, key, str(error))

    def by_type(self, node: Node, base: Any, shapes: Mapping[str, Any], key: str) -> Any:
        """The mapping as the dataclass that its key ``type`` names: without it, what its other keys mean is unknown."""
        word: Any = next(iter(shapes))
        if isinstance(node, MappingNode):
            words = (value for name, value in node.items if isinstance(name, ScalarNode) and name.text == "type")
            named = next(words, None)
            if named is not None:
                word = self.value(named, hints_of(base)["type"], f"{key}.type")
        return _NOTHING if isinstance(word, _Nothing) else self.struct(node, shapes[word], key)

    def unknown_key(self, node: Node, word: str, key: str, known: Mapping[str, Field[Any]]) -> None:
        if f"{word}_file" in known:
            message = (
                f"a secret is never written in this file; write it into a file of its own and name that as {word}_file"
            )
        else:
            message = "unknown key" + (did_you_mean(word, known) or f"; there is {listing(known)}")
        self.refuse(node.place, key, message)

    def pairs(self, node: Node, key: str) -> list[tuple[ScalarNode, str, Node]] | None:
        """The keys of a mapping and their values, each once; None when ``node`` is no mapping."""
        if isinstance(node, ScalarNode) and node.tag == "null":
            return []
        if not isinstance(node, MappingNode):
            self.mismatch(node, "a mapping", key)
            return None
        first: dict[str, Place] = {}
        pairs = []
        for key_node, value_node in node.items:
            if isinstance(key_node, BrokenNode):
                continue
            if not isinstance(key_node, ScalarNode):
                self.refuse(key_node.place, key, f"a key must be a single word, not {described(key_node)}")
                continue
            word = key_node.text
            inner = f"{key}.{word_of(word)}" if key else word_of(word)
            if key_node.tag == "merge":
                self.refuse(key_node.place, inner, "merge keys are not allowed; write the keys out")
            elif word in first:
                self.refuse(key_node.place, inner, f"duplicate key; it stands first on line {first[word].line}")
            else:
                first[word] = key_node.place
                pairs.append((key_node, word, value_node))
        return pairs

    def sequence(self, node: Node, hint: Any, key: str) -> Any:
        member, *rest = get_args(hint)
        if rest and rest != [...]:
            raise TypeError(f"{key}: tuples of a fixed length are not decoded")
        items: list[Node] = []
        if isinstance(node, SequenceNode):
            items = node.items
            if len(items) > MOST_ITEMS:
                return self.refuse(node.place, key, f"the list has {len(items):,} entries; it can have {MOST_ITEMS:,}")
        elif not (isinstance(node, ScalarNode) and node.tag == "null"):
            return self.mismatch(node, "a list", key)
        values = [self.value(item, member, f"{key}[{index}]") for index, item in enumerate(items)]
        if any(isinstance(value, _Nothing) for value in values):
            return _NOTHING
        return values if get_origin(hint) is list else tuple(values)

    def mapping(self, node: Node, hint: Any, key: str) -> Any:
        if isinstance(node, MappingNode) and len(node.items) > MOST_ITEMS:
            return self.refuse(node.place, key, f"there are {len(node.items):,} entries; there can be {MOST_ITEMS:,}")
        pairs = self.pairs(node, key)
        if pairs is None:
            return _NOTHING
        key_hint, value_hint = get_args(hint)
        values: dict[Any, Any] = {}
        failed = False
        for key_node, word, value_node in pairs:
            inner = f"{key}.{word_of(word)}" if key else word_of(word)
            decoded_key = self.value(key_node, key_hint, inner)
            value = self.value(value_node, value_hint, inner)
            failed = failed or isinstance(decoded_key, _Nothing) or isinstance(value, _Nothing)
            if not failed:
                values[decoded_key] = value
        return _NOTHING if failed else values

    def scalar(self, node: Node, hint: Any, key: str) -> Any:
        if get_origin(hint) is Literal:
            return self.choice(node, {str(choice): choice for choice in get_args(hint)}, key)
        if isinstance(hint, type) and issubclass(hint, Enum):
            return self.choice(node, words_of(hint), key)
        if hint not in SIMPLE:
            raise TypeError(f"{key}: {hint!r} is not decoded")
        if not isinstance(node, ScalarNode):
            return self.mismatch(node, type_name(hint), key)
        if hint is str or hint is LocatedText:
            if not self.is_text(node):
                return self.mismatch(node, type_name(hint), key)
            return node.located if hint is LocatedText else node.text
        if hint is bool:
            return _BOOLEANS[node.text.lower()] if node.tag == "bool" else self.mismatch(node, type_name(hint), key)
        # A quoted number is a string. YAML 1.1 takes 1e3 for a string too; here it is a number.
        unquoted = not node.style
        pattern = _INTEGER if hint is int else _NUMBER
        if not unquoted or not pattern.fullmatch(node.text):
            return self.mismatch(node, type_name(hint), key)
        if hint is int:
            return int(node.text)
        number = float(node.text)
        if abs(number) >= _LARGEST:
            return self.refuse(node.place, key, "this number is too large")
        return LocatedNumber(number, node.place) if hint is LocatedNumber else number

    def choice(self, node: Node, choices: Mapping[str, Any], key: str) -> Any:
        if not isinstance(node, ScalarNode) or node.tag == "null":
            return self.mismatch(node, f"one of {listing(choices, 'or')}", key)
        if node.text not in choices:
            message = f"{shown(node.text)} is not one of {listing(choices)}{did_you_mean(node.text, choices)}"
            return self.refuse(node.place, key, message)
        return choices[node.text]

    def is_text(self, node: ScalarNode) -> bool:
        # "=" and "<<" have a meaning of their own in YAML 1.1 that is not expected here.
        return self.words or node.tag in ("str", "value", "merge")

    def mismatch(self, node: Node, expected: str, key: str, *, text: bool = False) -> _Nothing:
        """Refuse ``node``; ``text`` says that a quoted text would be taken."""
        message = f"expected {expected}, got {described(node)}"
        if isinstance(node, ScalarNode) and not self.words:
            if (text or expected.endswith("a string")) and node.tag not in ("str", "null"):
                message += "; quote it"
            elif node.tag == "str" and node.style and _NUMBER.fullmatch(node.text):
                message += "; remove the quotes"
            elif expected in (type_name(int), type_name(float)) and node.tag == "int":
                message += "; write it in plain decimal digits"
            elif expected == type_name(float) and node.tag == "float":
                message += "; it must be finite, in plain decimal digits"
        return self.refuse(node.place, key, message)


_LARGEST = 1e300
