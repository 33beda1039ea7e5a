"""Console messages beside what they are about: on the screen of an object, and as a list."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mqvitals_agent.store.rows.messages import FREQUENT, EventQueueRow, StoredMessage
from mqvitals_agent.text.figure import clock, day, whole
from mqvitals_agent.text.styled import Line, Tone, heading, line
from mqvitals_agent.text.terminal import cells, safe, wrap
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import DAY_MS, iso
from mqvitals_rules.vocabulary.event import CONSOLE, EVENT, is_event
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader

NEEDED: Final = "needs console messages: see mqvitals help console"

_INDENT = "  "
_NEAR_MS = 120_000
"""Messages within this time before and after the start of an alert are shown with it."""
_MOST = 10
_MOST_LOOKED: Final = 500
_NAMED: Final = frozenset({"buffer_pool", "page_set", "queue", "channel", "cf_structure", "smds"})
"""Kinds of objects that messages name."""
_COMPONENTS: Final = {
    "queue_manager": "",
    "qsg": "CSQE",
    "log": "CSQJ",
    "channel_initiator": "CSQX",
}
"""Kinds that the messages of a component of MQ are about, and the prefix of their ids."""

CRITICAL: Final = frozenset(
    {
        *("CSQI005I", "CSQI047E", "CSQI053E", "CSQP004E", "CSQP011E", "CSQP014E", "CSQP016E", "CSQP020E"),
        *("CSQJ008E", "CSQJ021D", "CSQJ031D", "CSQJ110E", "CSQJ111A", "CSQJ115E", "CSQJ128E", "CSQR020I", "CSQR021D"),
        *("CSQV086E", "CSQY222E", "CSQY225E", "CSQX005E", "CSQX006E", "CSQX007E", "CSQX218E", "CSQX411I", "CSQX448E"),
        *("CSQX513E", "CSQE016E", "CSQE035E", "CSQE036E", "CSQE038E", "CSQE142I", "CSQE239I"),
        *("CSQ5003A", "CSQ5014I", "CSQ5015I", "IRA200E", "IXC585E", "event:2053", "event:2126", "event:2126:12"),
    }
)
"""The messages that matter most, whatever the type letter of their id: some are informational by it."""

_REASONS: Final = frozenset({"IEC070I", "ICH408I"})
"""Messages of z/OS that say why something near them failed: no space, no authority."""


@dataclass(frozen=True, slots=True)
class ConsoleExcerpt:
    """The console messages and events about an object, the oldest first. Not ``followed``: no console of its owner is."""

    followed: bool = False
    messages: tuple[StoredMessage, ...] = ()


_WARNINGS: Final = frozenset(
    f"{EVENT}{each}"
    for each in (
        *("2016", "2051", "2126:11", "2224", "2226", "2283:8", "2283:9", "2283:10", "2552", "2552:19"),
        *("2296:24", "2296:25", "2296:26", "2296:27", "2371:13", "2371:14", "2371:15", "2371:16"),
    )
)
"""Events that are more than news."""


def tone_of_code(code: str) -> Tone:
    """The tone of a message, by its id."""
    if code in CRITICAL:
        return Tone.CRITICAL
    if is_event(code):
        return Tone.WARNING if code in _WARNINGS else Tone.PLAIN
    return Tone.WARNING if code[-1:] in "EADS" and code[:4] != "$HAS" else Tone.PLAIN


def read_console(reader: StoreReader, name: ObjectName, alerts: Iterable[Alert], now: int) -> ConsoleExcerpt:
    """The newest messages of the last day about an object, and those near the start of its alerts.

    Raises StoreError.
    """
    of_group = KINDS[name.kind].of_group
    sources = reader.sources_followed()
    if not sources or not (of_group or name.owner in sources):
        return ConsoleExcerpt()
    followed = any(CONSOLE in each for owner, each in sources.items() if of_group or owner == name.owner)
    owners = None if of_group else (name.owner,)
    found: dict[tuple[Any, ...], StoredMessage] = {}
    begin = now - DAY_MS
    if name.kind in _NAMED:
        newest = reader.messages(owners=owners, since=begin, about=(name.kind, name.name), limit=_MOST)
        found.update((each, each) for each in newest)
    elif name.kind in _COMPONENTS:
        newest = reader.messages(owners=owners, since=begin, limit=_MOST_LOOKED)
        chosen = [
            each
            for each in newest
            if each.code not in FREQUENT and (each.code.startswith(_COMPONENTS[name.kind]) or each.kind == name.kind)
        ]
        found.update((each, each) for each in chosen[-_MOST:])
    for alert in alerts:
        if alert.started is not None and alert.ended is None:
            around = reader.messages(
                owners=owners, since=alert.since - _NEAR_MS, until=alert.started + _NEAR_MS, limit=_MOST_LOOKED
            )
            near = [each for each in around if _worth(each, name)]
            found.update((each, each) for each in near[-_MOST:])
    ordered = sorted(found.values(), key=lambda each: (each.last_ts, each.ts, each.code))
    return ConsoleExcerpt(followed, tuple(ordered[-2 * _MOST :]))


def console_lines(console: ConsoleExcerpt, kind: str, now: int, width: int, *, zos: bool = True) -> Iterator[Line]:
    """The part of an object's screen that shows its messages. ``zos``: it may be of z/OS, where consoles are."""
    expected = kind in _NAMED or kind in _COMPONENTS
    if not console.messages and not (expected and zos):
        return
    yield heading("Console", width)
    if not console.followed:
        yield line(f"{_INDENT}{NEEDED}", Tone.ABSENT)
    elif not console.messages:
        yield line(f"{_INDENT}no message about it in the last day", Tone.FAINT)
    for each in console.messages:
        for text in message_lines(each, now, width, indent=_INDENT):
            yield line(text, tone_of_code(each.code))


def message_lines(each: StoredMessage, now: int, width: int, *, indent: str = "", owner: bool = False) -> list[str]:
    """A message as lines: its time, how often it came, and the words as they are, made harmless."""
    at = clock(each.ts) if day(each.ts) == day(now) else f"{day(each.ts)} {clock(each.ts)}"
    until = f" until {clock(each.last_ts)}" if clock(each.last_ts) != clock(each.ts) else ""
    times = f" {whole(each.times)} times{until}" if each.times > 1 else ""
    head = f"{indent}{at}{times}  {f'{safe(each.owner)}  ' if owner else ''}"
    return wrap(safe(each.text), width, first=head, rest=" " * min(cells(head), width // 3))


def message_json(each: StoredMessage) -> dict[str, Any]:
    """A message as plain values."""
    return {
        "at": iso(each.ts),
        "last_at": iso(each.last_ts),
        "times": each.times,
        "queue_manager": each.owner,
        "id": each.code,
        "kind": each.kind or None,
        "object": each.name or None,
        "system": each.system or None,
        "job": each.job or None,
        "text": each.text,
    }


def message_list_lines(
    messages: Sequence[StoredMessage],
    followed: Collection[str],
    now: int,
    width: int,
    failing: Iterable[tuple[str, str]] = (),
) -> list[str]:
    """The list of ``mqvitals messages``; ``failing`` are files and queues that cannot be read, and why."""
    lines = [text for each in messages for text in message_lines(each, now, width, owner=True)]
    if not messages:
        lines = (
            ["no messages"]
            if followed
            else ["no messages: no console is followed, and no event queue is read; see mqvitals help console"]
        )
    return [*lines, *(text for path, why in failing for text in wrap(failing_words(path, why), width, rest="  "))]


def failing_words(path: str, why: str) -> str:
    """The sentence for a file that cannot be followed."""
    return f"{safe(path)} cannot be followed: {safe(why)}"


def event_queue_words(queues: Iterable[EventQueueRow]) -> Iterator[str]:
    """What there is to say about event queues: those that cannot be read, have messages that cannot, are emptied."""
    emptied: dict[str, list[str]] = {}
    for each in queues:
        if each.owner != each.via:
            continue
        name = f"event queue {safe(each.queue)} of {safe(each.via)}"
        if each.problem:
            yield f"{name} cannot be read: {safe(each.problem)}"
        if each.unreadable:
            yield f"{name}: {whole(each.unreadable)} of its messages could not be read, the last of them: {safe(each.why)}"
        if each.taken:
            emptied.setdefault(each.queue, []).append(each.via)
    for queue, members in emptied.items():
        yield f"messages are removed from {safe(queue)} when they are read (polling.events.read: get), on {safe(', '.join(members))}"


def _worth(each: StoredMessage, name: ObjectName) -> bool:
    """Whether a message near the start of an alert may explain it: about the object, or a warning about no other
    object."""
    if each.code in FREQUENT:
        return False
    if each.code in _REASONS:
        return True
    if each.kind in _NAMED and name.kind in _NAMED:
        return (each.kind, each.name) == (name.kind, name.name) or (
            each.kind != name.kind and tone_of_code(each.code) is not Tone.PLAIN
        )
    return tone_of_code(each.code) is not Tone.PLAIN
