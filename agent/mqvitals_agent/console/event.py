"""Event messages: from their bytes to what console messages are, an id, words with inserts, and the object that they name.

Words and qualifiers are data, ``event_words.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Final

from mqvitals_agent.connection.connection import Reply
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.message import Message, Parameter, PcfError, Value
from mqvitals_agent.pcf.names import command_name, parameter_name, reason_name
from mqvitals_config.decoding.decoder import decode
from mqvitals_rules.snapshot import is_object_name
from mqvitals_rules.vocabulary.event import EVENT
from mqvitals_rules.vocabulary.tables import KINDS

_FILE: Final = "event_words.yaml"
_LONGEST: Final = 300
"""Characters of an insert that are kept."""
_LONGEST_COMMAND: Final = 2_000
_MOST_CHANGED: Final = 12
_CHANGED: Final = mq.MQRC_CONFIG_CHANGE_OBJECT
_CONFIGURATION: Final = frozenset({2367, 2368, 2369, 2370})
_NOT_LAST: Final = 0
_QMGR: Final = 5

_INSERTS: Final[tuple[tuple[str, int], ...]] = (
    ("queue", mq.MQCA_BASE_Q_NAME),
    ("queue", mq.MQCA_Q_NAME),
    ("channel", mq.MQCACH_CHANNEL_NAME),
    ("conn", mq.MQCACH_CONNECTION_NAME),
    ("xmitq", mq.MQCACH_XMIT_Q_NAME),
    ("xmitq", mq.MQCA_XMIT_Q_NAME),
    ("remote_queue", mq.MQCA_REMOTE_Q_NAME),
    ("partner", mq.MQCA_REMOTE_Q_MGR_NAME),
    ("partner", 3023),  # MQCACF_OBJECT_Q_MGR_NAME
    ("structure", mq.MQCA_CF_STRUC_NAME),
    ("storage_class", mq.MQCA_STORAGE_CLASS),
    ("bridge", mq.MQCACF_BRIDGE_NAME),
    ("ssl_rc", mq.MQIACH_SSL_RETURN_CODE),
    ("ssl_peer", mq.MQCACH_SSL_PEER_NAME),
    ("user", mq.MQCACF_EVENT_USER_ID),
    ("user", mq.MQCACF_USER_IDENTIFIER),
    ("user", 3567),  # MQCACH_CLIENT_USER_ID
    ("application", mq.MQCACF_EVENT_APPL_NAME),
    ("application", 3024),  # MQCACF_APPL_NAME
    ("since_reset_s", mq.MQIA_TIME_SINCE_RESET),
    ("high_depth", mq.MQIA_HIGH_Q_DEPTH),
    ("puts", mq.MQIA_MSG_ENQ_COUNT),
    ("gets", mq.MQIA_MSG_DEQ_COUNT),
)
"""Insert and parameter; of an insert's parameters the first that is there. Those without a constant come in events only."""

_OF_OBJECT: Final[Mapping[int, tuple[str, str]]] = {
    1: ("queue", "queue"), 5: ("queue_manager", ""), 6: ("channel", "channel"), 10: ("cf_structure", "structure"),
}  # fmt: skip
"""Object type of a configuration event -> kind, and the insert with its name."""


@dataclass(frozen=True, slots=True)
class EventWords:
    """What is known of a reason: its ``text``, the ``kind`` of object that it is about, and its qualifiers' words."""

    reason: int
    text: str
    kind: str = ""
    qualifiers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _EventWordFile:
    """What ``event_words.yaml`` holds."""

    origins: Mapping[str, str]
    objects: Mapping[str, str]
    events: tuple[EventWords, ...]


@cache
def _word_file() -> _EventWordFile:
    text = files("mqvitals_agent.console").joinpath(_FILE).read_text("utf-8")
    return decode(_FILE, text, _EventWordFile)


@cache
def event_words() -> Mapping[int, EventWords]:
    """What is known, by reason."""
    return {each.reason: each for each in _word_file().events}


@dataclass(frozen=True, slots=True)
class Event:
    """An event message. ``queue_manager`` is the one that it is of; ``text`` begins with the id ``code``.

    ``image`` has the attributes of a configuration event's object. ``before``: as they were before a change, of which
    another message tells how they are.
    """

    code: str
    reason: int
    queue_manager: str
    kind: str
    name: str
    inserts: Mapping[str, str]
    words: str
    image: Mapping[int, Value] = field(default_factory=dict)
    before: bool = False

    @property
    def text(self) -> str:
        """``event:2283:8 MQRC_CHANNEL_STOPPED: the channel stopped, an error; channel=A.TO.B, conn=10.1.1.1``."""
        named = ", ".join(f"{insert}={text}" for insert, text in self.inserts.items())
        return f"{self.code} {self.words}{f'; {named}' if named else ''}"


def read_event(reply: Reply, decoder: Decoder) -> Event:
    """The event in a message of an event queue. Raises PcfError for whatever is none."""
    message = decoder.decode(reply.data, reply.ccsid)
    if message.type != mq.MQCFT_EVENT:
        raise PcfError(0, f"the header type {mq.MQCFT_EVENT} of an event, not {message.type}")
    if not 1000 <= message.reason <= 9999:
        raise PcfError(32, f"the reason of an event, not {message.reason}")
    values = dict(_flat(message.parameters))
    qualifier = values.get(mq.MQIACF_REASON_QUALIFIER)
    known = event_words().get(message.reason)
    code = f"{EVENT}{message.reason}"
    part = str(qualifier) if isinstance(qualifier, int) and 0 <= qualifier <= 9999 else ""
    if part:
        code += f":{part}"
    inserts = _inserts(message, values)
    kind, name = _object(message.reason, known, values, inserts)
    return Event(
        code,
        message.reason,
        _text(values.get(mq.MQCA_Q_MGR_NAME)) or _text(values.get(mq.MQCACF_EVENT_Q_MGR)),
        kind,
        name,
        inserts,
        _words(message.reason, known, part),
        values if message.reason in _CONFIGURATION else {},
        before=message.reason == _CHANGED and message.control == _NOT_LAST,
    )


def with_differences(event: Event, before: Event) -> Event:
    """The event of a change, with the attributes that were others ``before`` as the insert ``changed``."""
    found = []
    for number, value in event.image.items():
        old = before.image.get(number)
        if old is not None and old != value and number not in _NO_ATTRIBUTES:
            found.append(f"{_keyword(number)} {_shown(old)} -> {_shown(value)}")
    if not found:
        return event
    more = f" and {len(found) - _MOST_CHANGED} more" if len(found) > _MOST_CHANGED else ""
    return replace(event, inserts={**event.inserts, "changed": "; ".join(found[:_MOST_CHANGED]) + more})


_NO_ATTRIBUTES: Final = frozenset({2027, 2028, *range(1010, 1021), *range(3045, 3052), 7001})
"""Parameters that differ in every two messages: times of alteration, who made the change."""


def _flat(parameters: Iterable[Parameter]) -> Iterator[tuple[int, Value]]:
    """Every parameter, those of groups too; of several with one number the first."""
    seen: set[int] = set()
    for each in _members(parameters):
        if each.id not in seen:
            seen.add(each.id)
            yield each.id, each.value


def _members(parameters: Iterable[Parameter]) -> Iterator[Parameter]:
    for each in parameters:
        if each.type == mq.MQCFT_GROUP and isinstance(each.value, tuple):
            yield from _members(member for member in each.value if isinstance(member, Parameter))
        else:
            yield each


def _inserts(message: Message, values: Mapping[int, Value]) -> dict[str, str]:
    found: dict[str, str] = {}
    for insert, number in _INSERTS:
        text = _text(values.get(number))
        if text and insert not in found and not (insert == "queue" and message.reason in _CONFIGURATION):
            found[insert] = text
    if message.reason in _CONFIGURATION and (queue := _text(values.get(mq.MQCA_Q_NAME))):
        found = {"queue": queue, **found}
    error = values.get(mq.MQIACF_ERROR_IDENTIFIER)
    if type(error) is int and error:
        found["error"] = f"{error & 0xFFFFFFFF:08X}"
    word_file = _word_file()
    for insert, number, names in (
        ("origin", mq.MQIACF_EVENT_ORIGIN, word_file.origins),
        ("object_type", mq.MQIACF_OBJECT_TYPE, word_file.objects),
    ):
        value = values.get(number)
        if type(value) is int:
            found[insert] = names.get(str(value), str(value))
    command = values.get(mq.MQIACF_COMMAND)
    if type(command) is int and (verb := command_name(command)):
        found["verb"] = verb
    if message.reason == mq.MQRC_COMMAND_MQSC and (words := _line(values.get(mq.MQCACF_COMMAND_MQSC))):
        found["command"] = words[:_LONGEST_COMMAND]
    return found


def _object(
    reason: int, known: EventWords | None, values: Mapping[int, Value], inserts: Mapping[str, str]
) -> tuple[str, str]:
    """Kind and name of the object that an event is about; both empty where that is none that is monitored."""
    kind = "" if known is None else known.kind
    insert = kind
    if reason in _CONFIGURATION:
        object_type = values.get(mq.MQIACF_OBJECT_TYPE)
        kind, insert = _OF_OBJECT.get(object_type, ("", "")) if isinstance(object_type, int) else ("", "")
    elif reason == mq.MQRC_COMMAND_MQSC:
        return _object_of_command(inserts.get("command", ""))
    elif reason == mq.MQRC_COMMAND_PCF:
        kind = insert = next((each for each in ("queue", "channel") if each in inserts), "")
    if not kind or KINDS[kind].single:
        return kind, ""
    name = inserts.get(insert, "")
    return (kind, name) if is_object_name(name) else ("", "")


_COMMAND: Final = re.compile(
    r"\s*\w+\s+(?P<what>Q(?:UEUE)?|QL(?:OCAL)?|QA(?:LIAS)?|QR(?:EMOTE)?|QM(?:ODEL)?|CHL|CHANNEL|CFSTRUCT|QMGR)\b"
    r"(?:\s*\(\s*(?:'(?P<quoted>[^']{1,48})'|(?P<name>[^'()\s]{1,48}))\s*\))?",
    re.IGNORECASE,
)


def _object_of_command(command: str) -> tuple[str, str]:
    """The object of ``ALTER QLOCAL(X) ...``; both empty where it is none that is monitored, or several."""
    found = _COMMAND.match(command)
    if found is None:
        return "", ""
    what = found["what"].upper()
    if what == "QMGR":
        return "queue_manager", ""
    kind = "queue" if what[0] == "Q" else "channel" if what in ("CHL", "CHANNEL") else "cf_structure"
    name = found["quoted"] or (found["name"] or "").upper()
    return (kind, name) if is_object_name(name) and "*" not in name else ("", "")


def _words(reason: int, known: EventWords | None, qualifier: str) -> str:
    name = reason_name(reason) or f"reason {reason}"
    if known is None:
        return name
    more = known.qualifiers.get(qualifier, "")
    return f"{name}: {known.text}{f', {more}' if more else ''}"


@cache
def _keywords() -> Mapping[str, str]:
    return {
        metric.pcf: metric.mqsc.split()[0]
        for kind in KINDS.values()
        for metric in kind.metrics
        if metric.mqsc and metric.pcf
    }


def _keyword(number: int) -> str:
    """The MQSC keyword of an attribute, else the name of its parameter."""
    name = parameter_name(number, mq.MQCFT_INTEGER) or str(number)
    return _keywords().get(name, name)


def _shown(value: Value) -> str:
    text = _text(value) if isinstance(value, str | int) else "..."
    return text[:60] or "''"


def _text(value: Value | None) -> str:
    """A value as an insert, without a separator of inserts within it."""
    return _line(value).replace(", ", ",")[:_LONGEST]


def _line(value: Value | None) -> str:
    """A value in one line; empty for bytes and lists."""
    return " ".join(str(value).replace("\0", " ").split()) if isinstance(value, str | int) else ""
