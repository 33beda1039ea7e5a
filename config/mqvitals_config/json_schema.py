"""The settings as a JSON Schema, for editors that complete and check YAML while it is written."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from mqvitals_config.doc import Doc
from mqvitals_config.problem import LocatedNumber, LocatedText
from mqvitals_config.shape import SECRET, Convert, hints_of, key_of, optional, words_of

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SIMPLE: Mapping[Any, str] = {
    str: "string",
    LocatedText: "string",
    int: "integer",
    float: "number",
    LocatedNumber: "number",
    bool: "boolean",
}


def json_schema(root: Any) -> dict[str, Any]:
    """The schema of a file that writes the dataclass ``root``. What only mqvitals can judge, such as the form of a duration, it leaves open."""
    return {"$schema": _DIALECT, "title": "Settings of mqvitals", **_schema(root)}


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
        return _object(hint)
    if origin in (tuple, list, Sequence):
        # Left empty, a list or a mapping is one without entries.
        return {"type": ["array", "null"], "items": _schema(arguments[0])}
    if origin in (dict, Mapping):
        return {"type": ["object", "null"], "additionalProperties": _schema(arguments[1])}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": list(words_of(hint))}
    return {"type": "string" if hint in SECRET else _SIMPLE[hint]}


def _annotated(hint: Any) -> dict[str, Any]:
    base, *metadata = get_args(hint)
    doc = next((item for item in metadata if isinstance(item, Doc)), None)
    convert = next((item for item in metadata if isinstance(item, Convert)), None)
    if convert is None:
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
        key = key_of(item, hints)
        properties[key] = _schema(hints[item.name])
        if not optional(item):
            required.append(key)
        elif item.default is not MISSING and isinstance(item.default, bool):
            properties[key]["default"] = item.default
    found: dict[str, Any] = {
        "type": "object" if required else ["object", "null"],
        "properties": properties,
        "additionalProperties": False,
    }
    if required:
        found["required"] = required
    return found


def _any_of(members: list[dict[str, Any]], *, null: bool) -> dict[str, Any]:
    if len(members) == 1 and "type" in members[0] and null:
        only = members[0]
        kinds = only["type"] if isinstance(only["type"], list) else [only["type"]]
        return {**only, "type": list(dict.fromkeys([*kinds, "null"]))}
    return {"anyOf": [*members, {"type": "null"}]} if null else {"anyOf": members}
