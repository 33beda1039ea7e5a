"""What the type hints of settings say: how a value is written in a file, what it is called, what its documentation is.

From them come the decoder's expectations, the table of all settings, and the JSON Schema for editors.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from mqvitals_config.decoding.node import MappingNode, ScalarNode, SequenceNode
from mqvitals_config.decoding.problem import LocatedNumber, LocatedText, listing
from mqvitals_config.decoding.scalars import DURATION_FORM, parse_duration
from mqvitals_config.decoding.secret import Secret


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


@dataclass(frozen=True, slots=True, eq=False)
class WrittenAs:
    """Metadata of ``Annotated[T, ...]``: the file gives a value of type ``shape``, and ``function`` makes a T of it."""

    shape: Any
    function: Callable[[Any], Any]


def matching(pattern: str, message: str, expected: str = "a string") -> Convert:
    """Takes a text that matches the regular expression ``pattern`` as a whole; ``message`` refuses another."""
    compiled = re.compile(pattern)

    def checked(text: LocatedText) -> LocatedText:
        if not compiled.fullmatch(text):
            raise ValueError(message)
        return text

    return Convert(checked, expected)


LONGEST_DURATION_MS = 10**18
"""Longer than any that can be written."""


def duration_within(least_ms: int, most_ms: int, message: str) -> Convert:
    """Takes a duration from ``least_ms`` to ``most_ms``; ``message`` refuses another."""

    def checked(text: LocatedText) -> int:
        duration = parse_duration(text)
        if not least_ms <= duration <= most_ms:
            raise ValueError(message)
        return duration

    return Convert(checked, DURATION_FORM, raw=True)


SIMPLE: Mapping[Any, tuple[str, str]] = {
    str: ("a string", "string"),
    LocatedText: ("a string", "string"),
    int: ("a whole number", "integer"),
    float: ("a number", "number"),
    LocatedNumber: ("a number", "number"),
    bool: ("true or false", "boolean"),
}
"""Types of a single value: in words, and in JSON Schema."""

Duration = Annotated[int, Convert(parse_duration, expected=DURATION_FORM)]
"""A duration, ms."""

SecretFile = Annotated[Secret, Convert(Secret.in_file, expected="the path of a file")]
"""A secret, which is never written among the settings: they name the file that holds it."""


@dataclass(frozen=True, slots=True, eq=False)
class ByType:
    """Metadata of ``Annotated[Base, ...]``: the mapping is of the dataclass that its key ``type`` names.

    ``shapes`` are subclasses of ``Base``, which has the field ``type``; the first is meant when the key is absent.
    """

    shapes: Mapping[str, type[Any]]


@cache
def hints_of(shape: Any) -> dict[str, Any]:
    """The type hints of a dataclass by field."""
    return get_type_hints(shape, include_extras=True)


def key_of(item: Field[Any]) -> str:
    """The key of a field in a file."""
    return str(item.metadata.get("key", item.name))


@cache
def keys_of(shape: Any) -> Mapping[str, Field[Any]]:
    """The fields of a dataclass that a file may give, by key."""
    return {key_of(item): item for item in fields(shape) if item.init}


@cache
def former_keys_of(shape: Any) -> Mapping[str, Field[Any]]:
    """The fields of a dataclass by the keys that they had in former versions, which are still read."""
    hints = hints_of(shape)
    return {
        doc.former: item
        for item in keys_of(shape).values()
        for doc in get_args(hints[item.name])[1:]
        if isinstance(doc, Doc) and doc.former
    }


def is_optional(item: Field[Any]) -> bool:
    """True when the key may be left out."""
    return not item.init or item.default is not MISSING or item.default_factory is not MISSING


@cache
def words_of(choices: type[Enum]) -> Mapping[str, Enum]:
    """What may be written for each member of an enum."""
    if all(isinstance(member.value, str) for member in choices):
        return {str(member.value): member for member in choices}
    return {member.name.lower(): member for member in choices}


def _as_written(hint: Any) -> Any:
    """The type of what a file gives for a type."""
    metadata = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((item.shape for item in metadata if isinstance(item, WrittenAs)), hint)


def node_type(hint: Any) -> type[Any]:
    """The kind of node a type is written as."""
    if get_origin(hint) is Annotated:
        if (written := _as_written(hint)) is not hint:
            return node_type(written)
        base, *metadata = get_args(hint)
        return ScalarNode if any(isinstance(item, Convert) for item in metadata) else node_type(base)
    if is_dataclass(hint) or get_origin(hint) in (dict, Mapping):
        return MappingNode
    return SequenceNode if get_origin(hint) in (tuple, list, Sequence) else ScalarNode


def type_name(hint: Any) -> str:
    """What a person calls a type."""
    if (written := _as_written(hint)) is not hint:
        return type_name(written)
    if get_origin(hint) is Annotated:
        base, *metadata = get_args(hint)
        return next((item.expected for item in metadata if isinstance(item, Convert)), "") or type_name(base)
    if get_origin(hint) is Literal:
        return listing(map(str, get_args(hint)), "or")
    if isinstance(hint, type) and issubclass(hint, Enum):
        return listing(words_of(hint), "or")
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(type_name(member) for member in get_args(hint) if member is not type(None))
    if hint in SIMPLE:
        return SIMPLE[hint][0]
    return {MappingNode: "a mapping", SequenceNode: "a list"}[node_type(hint)]


@dataclass(frozen=True, slots=True)
class Doc:
    """What a setting is: a sentence or two, and where else than in the file it can be given.

    ``former`` and ``former_environment`` are the names that it had in former versions, which are still read.
    """

    text: str
    environment: str = ""
    flag: str = ""
    default: str = ""  # in words, where the default's own form says too little
    former: str = ""
    former_environment: str = ""


BEGIN = "<!-- every setting: made by `python -m mqvitals_config docs/configuration.md` -->"
END = "<!-- end of every setting -->"


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: its dotted key (``[]`` for each entry of a list), its form, its default in words, its meaning.

    ``hint`` is the type that the decoder takes; ``short``: a single word may say what several keys below it do.
    """

    key: str
    form: str
    default: str
    text: str
    environment: str
    flag: str
    hint: Any
    former_environment: str = ""
    short: bool = False


@cache
def settings_of(root: Any) -> tuple[Setting, ...]:
    """Every setting of the dataclass ``root``, sections before what is in them, in the order of the file."""
    found: dict[str, Setting] = {}
    for entry in _entries(root, "", set()):
        found.setdefault(entry.key, entry)
    return tuple(found.values())


def _entries(shape: Any, prefix: str, seen: set[Any]) -> Iterator[Setting]:
    """The settings of a dataclass. One that occurs twice is described where it occurs first; ``seen`` collects them."""
    seen.add(shape)
    hints = hints_of(shape)
    for item in fields(shape):
        hint, doc = _split(hints[item.name])
        key = prefix + key_of(item)
        # A variable or a flag speaks for one setting, not for each in a list.
        one = "[]" not in prefix
        environment, flag, former = (doc.environment, doc.flag, doc.former_environment) if one else ("", "", "")
        yield Setting(
            key,
            type_name(hint),
            _default(item, doc),
            doc.text,
            environment,
            flag,
            hint,
            former,
            _as_written(hint) is not hint,
        )
        for inner in _inside(hint):
            if inner not in seen:
                yield from _entries(inner, f"{key}[]." if get_origin(hint) is tuple else f"{key}.", seen)


def _split(hint: Any) -> tuple[Any, Doc]:
    """A field's type and its Doc."""
    return _bare(hint), next(item for item in get_args(hint)[1:] if isinstance(item, Doc))


def _bare(hint: Any) -> Any:
    """A field's type without its Doc."""
    if get_origin(hint) is not Annotated:
        return hint
    base, *metadata = get_args(hint)
    others = tuple(item for item in metadata if not isinstance(item, Doc))
    return Annotated[(base, *others)] if others else base


def _inside(hint: Any) -> tuple[Any, ...]:
    """The dataclasses whose keys stand under this one."""
    hint = _as_written(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if is_dataclass(hint):
        return (hint,)
    if origin is tuple:
        return _inside(arguments[0])
    if origin is Annotated:
        return next((tuple(item.shapes.values()) for item in arguments[1:] if isinstance(item, ByType)), ())
    if origin in (Union, types.UnionType):
        return tuple(member for member in arguments if is_dataclass(member))
    return ()


def _default(item: Field[Any], doc: Doc) -> str:
    if item.default is MISSING:
        return "" if item.default_factory is not MISSING else "required"
    return doc.default or ("none" if item.default in (None, ()) else str(item.default))


def settings_table(root: Any) -> str:
    """Every setting of ``root`` as a table in Markdown, the keys as they nest in the file."""
    lines = ["| Key | What it is | Form | Default | Elsewhere |", "| --- | --- | --- | --- | --- |"]
    for entry in settings_of(root):
        elsewhere = ", ".join(f"`{name}`" for name in (entry.flag, entry.environment) if name)
        cells = (f"`{entry.key}`", entry.text, entry.form, entry.default, elsewhere)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def with_settings_table(page: str, root: Any) -> str:
    """``page`` with the table of ``root`` between its two markers made anew; raises ValueError without markers."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"the page has no {BEGIN} and {END}")
    return f"{before}{begin}\n{settings_table(root)}{end}{after}"


_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(root: Any) -> dict[str, Any]:
    """The schema of a file that writes the dataclass ``root``.

    It leaves open what only mqvitals can check, such as the form of a duration.
    """
    definitions = {shape.__name__: _object(shape) for shape in _all_inside(root) if _holds_itself(shape)}
    return {"$schema": _DIALECT, "title": "Settings of mqvitals", **_schema(root), "$defs": definitions}


@cache
def _all_inside(shape: Any) -> tuple[Any, ...]:
    """Every dataclass whose keys stand somewhere under those of ``shape``."""
    found: dict[Any, None] = {}
    ahead = [shape]
    while ahead:
        for hint in hints_of(ahead.pop()).values():
            new = [inner for inner in _inside(_bare(hint)) if inner not in found]
            found.update(dict.fromkeys(new))
            ahead += new
    return tuple(found)


def _holds_itself(shape: Any) -> bool:
    return shape in _all_inside(shape)


def _schema(hint: Any) -> dict[str, Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(hint)
    if origin in (Union, types.UnionType):
        return _any_of(
            [_schema(member) for member in arguments if member is not type(None)], null=type(None) in arguments
        )
    if origin is Literal:
        return {"enum": list(arguments)}
    if is_dataclass(hint) and isinstance(hint, type):
        return {"$ref": f"#/$defs/{hint.__name__}"} if _holds_itself(hint) else _object(hint)
    if origin in (tuple, list, Sequence):
        # Left empty, a list or a mapping is one without entries.
        return {"type": ["array", "null"], "items": _schema(arguments[0])}
    if origin in (dict, Mapping):
        return {"type": ["object", "null"], "additionalProperties": _schema(arguments[1])}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": list(words_of(hint))}
    return {"type": SIMPLE[hint][1]}


def _annotated(hint: Any) -> dict[str, Any]:
    base, *metadata = get_args(hint)
    doc = next((item for item in metadata if isinstance(item, Doc)), None)
    convert = next((item for item in metadata if isinstance(item, Convert)), None)
    by_type = next((item for item in metadata if isinstance(item, ByType)), None)
    if (written := _as_written(hint)) is not hint:
        found = _schema(written)
    elif by_type is not None:
        found = _object_by_type(by_type)
    elif convert is None:
        found = _schema(base)
    else:
        # The characters of the file count, whatever YAML takes them for: 0600 and 30 are numbers to it.
        found = {"type": ["string", "number"] if convert.raw else "string"}
        if convert.expected not in ("", "a string"):
            found["description"] = convert.expected
    if doc is not None:
        default = f" Default: {doc.default}." if doc.default else ""
        found["description"] = f"{doc.text}{default}"
    return found


def _object(shape: Any) -> dict[str, Any]:
    hints = hints_of(shape)
    properties: dict[str, Any] = {}
    required = []
    for item in fields(shape):
        if not item.init:
            continue
        key = key_of(item)
        properties[key] = _schema(hints[item.name])
        if not is_optional(item):
            required.append(key)
        elif item.default is not MISSING and isinstance(item.default, bool):
            properties[key]["default"] = item.default
    for former, item in former_keys_of(shape).items():
        properties[former] = {**properties[key_of(item)], "deprecated": True}
    found: dict[str, Any] = {
        "type": "object" if required else ["object", "null"],
        "properties": properties,
        "additionalProperties": False,
    }
    if required:
        found["required"] = required
    return found


def _object_by_type(by_type: ByType) -> dict[str, Any]:
    default, *others = by_type.shapes
    found = _object(by_type.shapes[default])
    for word in others:
        named = {"required": ["type"], "properties": {"type": {"const": word}}}
        found = {"if": named, "then": _object(by_type.shapes[word]), "else": found}
    return found


def _any_of(members: list[dict[str, Any]], *, null: bool) -> dict[str, Any]:
    if len(members) == 1 and "$ref" in members[0] and null:
        return members[0]  # each of its keys is optional, so it may be left empty anyway
    if len(members) == 1 and "type" in members[0] and null:
        only = members[0]
        kinds = only["type"] if isinstance(only["type"], list) else [only["type"]]
        return {**only, "type": list(dict.fromkeys([*kinds, "null"]))}
    return {"anyOf": [*members, {"type": "null"}]} if null else {"anyOf": members}
