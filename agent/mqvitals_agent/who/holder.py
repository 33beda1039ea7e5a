"""Handles that are open for a queue, as queue managers report them, and their JSON form in the store.

States have the names of DISPLAY QSTATUS, DISPLAY CONN and DISPLAY CHSTATUS; a number without a name is its digits.
Texts are MQ's without trailing blanks, empty when MQ reports none. Times of MQ are local to the queue manager and
stay as MQ wrote them. In JSON an object's members are the fields of its class. Unknown members are ignored and
missing ones get their defaults, so neighbouring releases understand each other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import NoneType, UnionType
from typing import Final, TypeVar, get_args, get_origin, get_type_hints

from mqvitals_rules.snapshot import ObjectName


@dataclass(frozen=True, slots=True)
class UnitOfWork:
    """A unit of work of a connection (DISPLAY CONN: UOWSTATE, URTYPE, UOWSTDA and UOWSTTI, UOWLOGDA and UOWLOGTI).

    ``id`` is QMURID in hexadecimal, on z/OS the log position where it began; empty when it has none.
    """

    state: str
    type: str
    began: str
    log_began: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class HandleConnection:
    """The connections that a handle may belong to: ``count`` of them cannot be told apart.

    ``identifier`` is CONN in hexadecimal where there is one only, else empty. ``unit_of_work`` is one in doubt if
    there is any, else one that is under way; of several the one that began first.
    """

    count: int
    identifier: str
    unit_of_work: UnitOfWork | None


@dataclass(frozen=True, slots=True)
class HandleInstance:
    """The current instances of a channel that a handle may come through, ``count`` of them; the rest is of the newest.

    ``status`` and ``substate`` as CHSTATUS names them, ``msgs`` messages (MQI calls of a server-connection) since it
    began, ``remote_application`` is RAPPLTAG, ``user`` MCAUSER.
    """

    count: int
    status: str
    substate: str
    msgs: int | None
    last_message: str
    remote_application: str
    user: str


@dataclass(frozen=True, slots=True)
class Holder:
    """One open handle (DISPLAY QSTATUS TYPE(HANDLE)).

    ``input`` is NO, SHARED or EXCL. ``output``, ``browse``, ``inquire`` and ``set``: what it was opened for; None
    where the queue manager did not say. ``state`` is ACTIVE while a call is in progress. ``process`` and ``thread``
    exist on distributed queue managers alone. ``connection`` and ``instance`` are None where nothing fits, or nothing
    could be asked.
    """

    application: str
    application_type: str
    description: str
    user: str
    asid: str
    channel: str
    connection_name: str
    transaction: str
    task: str
    psb: str
    region: str
    process: int | None
    thread: int | None
    input: str
    output: bool | None
    browse: bool | None
    inquire: bool | None
    set: bool | None
    state: str
    async_state: str
    connection: HandleConnection | None = None
    instance: HandleInstance | None = None


@dataclass(frozen=True, slots=True)
class MemberHolders:
    """What one queue manager reports: queried at ``at`` (ms since 1970 UTC, our clock), all answers within ``took_ms``.

    ``problem`` is why nothing is known of its handles, a sentence; then ``holders`` is empty, which does not mean
    that no application has the queue open. ``notes`` are sentences about what else is unknown, such as the
    connections.
    """

    queue_manager: str
    at: int
    took_ms: int
    holders: tuple[Holder, ...] = ()
    problem: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Holders:
    """The holders of ``queue``: one entry for each queried queue manager, in the order of the configuration."""

    queue: ObjectName
    members: tuple[MemberHolders, ...]


@dataclass(frozen=True, slots=True)
class ReportedConnection:
    """One connection (DISPLAY CONN).

    Texts are empty when not reported; ``channel`` is then None, and empty for a local one. ``identifier`` is CONN in
    hexadecimal. ``unit_of_work`` is None where none is under way.
    """

    identifier: str
    application: str
    user: str
    asid: str
    channel: str | None
    connection_name: str
    transaction: str
    task: str
    region: str
    process: int | None
    thread: int | None
    unit_of_work: UnitOfWork | None


@dataclass(frozen=True, slots=True)
class ReportedInstance:
    """One current instance of a channel (DISPLAY CHSTATUS), begun at the local time ``began``."""

    channel: str
    connection_name: str
    began: str
    status: str
    substate: str
    msgs: int | None
    last_message: str
    remote_application: str
    user: str


@dataclass(frozen=True, slots=True)
class MemberUnits:
    """The connections of one queue manager that have a unit of work, the oldest first; else as ``MemberHolders``."""

    queue_manager: str
    at: int
    took_ms: int
    units: tuple[ReportedConnection, ...] = ()
    problem: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitsOfWork:
    """The units of work of a queue manager, which ``object`` or its log is."""

    object: ObjectName
    members: tuple[MemberUnits, ...]


MOST_NUMBER: Final = 2**53
"""No queue manager reports greater numbers, and no calendar has later times."""
LATEST: Final = 253_402_300_799_999
"""The end of the year 9999, where calendars end, ms since 1970 UTC."""

_CLASSES: Final = (
    UnitOfWork,
    HandleConnection,
    HandleInstance,
    Holder,
    MemberHolders,
    Holders,
    ReportedConnection,
    MemberUnits,
    UnitsOfWork,
)
# A field is named ``set``: hints are resolved in the module's names, not in the class's.
_KINDS: Final[Mapping[object, Mapping[str, object]]] = {of: get_type_hints(of, globals()) for of in _CLASSES}
_WORDS: Final[Mapping[object, str]] = {str: "a text", int: "a whole number", bool: "true or false"}
_T = TypeVar("_T")


def to_json(answer: Holders | UnitsOfWork) -> str:
    """The JSON for the store: one line of ASCII."""
    return json.dumps(asdict(answer), separators=(",", ":"))


def from_json(text: str) -> Holders:
    """The holders that ``to_json`` wrote. Raises ValueError, with what is wrong and where, for any other text."""
    return _parsed(Holders, text)


def units_from_json(text: str) -> UnitsOfWork:
    """The units of work that ``to_json`` wrote. Raises ValueError as ``from_json``."""
    return _parsed(UnitsOfWork, text)


def _parsed(wanted: type[_T], text: str) -> _T:
    try:
        found = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("the answer is nested too deeply") from None
    return _made(wanted, found, "the answer")


def _refuse(word: str) -> object:
    raise ValueError(f"the answer holds {word}, which is no number")


def _made(wanted: type[_T], found: object, where: str) -> _T:
    """An object of one of the classes, made of its JSON members."""
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
    """A value of a field's type."""
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
    first, last = (0, LATEST) if where.endswith(": at") else (-MOST_NUMBER, MOST_NUMBER)
    if isinstance(found, int) and not first <= found <= last:
        raise ValueError(f"{where} is out of range")
    return found


def _name(found: object, where: str) -> ObjectName:
    if isinstance(found, list) and len(found) == len(ObjectName._fields):
        owner, kind, name = found
        if isinstance(owner, str) and isinstance(kind, str) and isinstance(name, str):
            return ObjectName(owner, kind, name)
    raise ValueError(f"{where} must be a list of owner, kind and name")
