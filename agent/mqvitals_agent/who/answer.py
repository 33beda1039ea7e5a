"""Holders as JSON text and back: what the agent writes into the store for whoever asked.

The members of an object are the fields of its class in ``holder``; the name of the queue is a list of owner, kind and name.
Members that this release does not know are ignored, and one that is missing has its default, so that an agent and a screen of
neighbouring releases understand each other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from types import NoneType, UnionType
from typing import Final, TypeVar, get_args, get_origin, get_type_hints

from mqvitals_agent.who import holder
from mqvitals_agent.who.holder import Connection, Holder, Holders, Instance, MemberHolders, UnitOfWork
from mqvitals_rules.snapshot import ObjectName

MOST: Final = 2**53
"""Numbers beyond are none that a queue manager tells, nor moments of any calendar."""
LATEST: Final = 253_402_300_799_999
"""The last moment of the year 9999, ms since 1970 UTC: calendars end there."""

_CLASSES: Final = (UnitOfWork, Connection, Instance, Holder, MemberHolders, Holders)
# The field named ``set`` hides nothing here: hints are resolved in the module's names, not in the class's.
_KINDS: Final[Mapping[object, Mapping[str, object]]] = {of: get_type_hints(of, vars(holder)) for of in _CLASSES}
_WORDS: Final[Mapping[object, str]] = {str: "a text", int: "a whole number", bool: "true or false"}
_T = TypeVar("_T")


def to_json(holders: Holders) -> str:
    """The text for the store: one line of ASCII."""
    return json.dumps(asdict(holders), separators=(",", ":"))


def from_json(text: str) -> Holders:
    """What ``to_json`` wrote. Raises ValueError, with what is wrong and where, for any other text."""
    try:
        found = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("the answer is nested too deeply") from None
    return _made(Holders, found, "the answer")


def _refuse(word: str) -> object:
    raise ValueError(f"the answer holds {word}, which is no number")


def _made(wanted: type[_T], found: object, where: str) -> _T:
    """An object of one of the classes from the members that were found."""
    if not isinstance(found, Mapping):
        raise ValueError(f"{where} must be an object")  # noqa: TRY004 - one exception for whatever is wrong with a text
    members = {}
    for name, kind in _KINDS[wanted].items():
        if name in found:
            members[name] = _read(kind, found[name], f"{where}: {name}")
    try:
        return wanted(**members)
    except TypeError:
        missing = sorted(_KINDS[wanted].keys() - members.keys())
        raise ValueError(f"{where} lacks some of {', '.join(missing)}") from None


def _read(kind: object, found: object, where: str) -> object:
    """A value of the kind that a field has."""
    if isinstance(kind, UnionType):
        if found is None:
            return None
        (kind,) = (each for each in get_args(kind) if each is not NoneType)
    if kind is ObjectName:
        return _name(found, where)
    if get_origin(kind) is tuple:
        if not isinstance(found, list):
            raise ValueError(f"{where} must be a list")
        of = get_args(kind)[0]
        return tuple(_read(of, each, f"{where}[{number}]") for number, each in enumerate(found))
    for known in _CLASSES:
        if kind is known:
            return _made(known, found, where)
    if type(found) is not kind:
        raise ValueError(f"{where} must be {_WORDS[kind]}")
    first, last = (0, LATEST) if where.endswith(": at") else (-MOST, MOST)
    if isinstance(found, int) and not first <= found <= last:
        raise ValueError(f"{where} is out of range")
    return found


def _name(found: object, where: str) -> ObjectName:
    if isinstance(found, list) and len(found) == len(ObjectName._fields):
        owner, kind, name = found
        if isinstance(owner, str) and isinstance(kind, str) and isinstance(name, str):
            return ObjectName(owner, kind, name)
    raise ValueError(f"{where} must be a list of owner, kind and name")
