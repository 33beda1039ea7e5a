"""Changes of definitions in words: as a list, on the screen of an object, beside its alerts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from mqvitals_agent.console.message import message_inserts
from mqvitals_agent.store.rows.changes import Change
from mqvitals_agent.text.figure import clock, day, figure, object_words
from mqvitals_agent.text.styled import Line, Tone, heading, line, wrapped
from mqvitals_agent.text.terminal import safe
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import DAY_MS, iso
from mqvitals_rules.vocabulary.changes import ALTERED, is_security
from mqvitals_rules.vocabulary.event import CHANGE_IDS, CONSOLE
from mqvitals_rules.vocabulary.metric import Metric, Value
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.view.lists.related import RelatedObjects

BEFORE_ALERT_MS: Final = DAY_MS
"""Changes within this time before an alert began are shown with it."""

_MOST: Final = 10
_SHOWN_MS: Final = 30 * DAY_MS
"""So far back the screen of an object shows its changes."""

_EXPLAINING: Final = frozenset({"channel", "queue", "page_set", "buffer_pool", "cf_structure", "smds", "log"})
"""Kinds of related objects whose changes may explain an alert."""

_INDENT = "  "


_NEAR_MS: Final = 60_000
"""An event this long before or after the two answers between which a change happened may still be about it: clocks differ."""
_MOST_EVENTS: Final = 50


@dataclass(frozen=True, slots=True)
class Author:
    """Who made a change, as an event message tells it; ``at`` is when, ms UTC. Empty where it does not tell."""

    at: int
    user: str
    origin: str
    application: str
    command: str


Authors = Mapping[Change, Author]


@dataclass(frozen=True, slots=True)
class ObjectChanges:
    """The changes of an object, and those of what belongs to it in the day before one of its alerts began; oldest first.

    ``authors``: who made them, where an event tells it. ``began`` is when the last of
    these alerts did, ms UTC.
    """

    own: tuple[Change, ...] = ()
    before_alerts: tuple[Change, ...] = ()
    authors: Authors = field(default_factory=dict)
    began: int = 0


def read_authors(reader: StoreReader, changes: Iterable[Change]) -> Authors:
    """Who made the changes: of the events about the same object near in time the one that names the attribute, else the
    last. Raises StoreError.
    """
    if not any(sources - {CONSOLE} for sources in reader.sources_followed().values()):
        return {}
    groups = {each.name for each in reader.owners() if each.is_group}
    found: dict[Change, Author] = {}
    for change in changes:
        name = change.name
        told = [
            (each.last_ts, message_inserts(each.text))
            for each in reader.messages(
                # The queue managers of a group, whichever of them executed the command.
                owners=None if name.owner in groups else (name.owner,),
                codes=CHANGE_IDS,
                since=change.before - _NEAR_MS,
                until=change.ts + _NEAR_MS,
                about=(name.kind, name.name),
                limit=_MOST_EVENTS,
            )
        ]
        named = [each for each in told if _names(each[1], keyword(change))]
        for at, inserts in (named or told)[-1:]:
            found[change] = Author(
                at,
                inserts.get("user", ""),
                inserts.get("origin", ""),
                inserts.get("application", ""),
                inserts.get("command", ""),
            )
    return found


def _names(inserts: Mapping[str, str], attribute: str) -> bool:
    return f"{attribute} " in inserts.get("changed", "") or f"{attribute}(" in inserts.get("command", "").upper()


def author_words(author: Author) -> str:
    """``by OPER1 (console, CSQOREXX)``."""
    where = ", ".join(safe(each) for each in (author.origin, author.application) if each)
    return f"by {safe(author.user) or 'an unnamed user'}{f' ({where})' if where else ''}"


def keyword(change: Change) -> str:
    """The attribute: its MQSC keyword, else the metric's name."""
    metric = _metric(change)
    return metric.mqsc.split()[0] if metric is not None and metric.mqsc else change.metric


def value_words(change: Change, value: Value) -> str:
    """A value as screens have it; a blank text in quotes."""
    if isinstance(value, str):
        return safe(value.strip()) or "''"
    metric = _metric(change)
    return str(value) if metric is None else figure(value, metric)


def change_words(change: Change) -> str:
    """``MAXDEPTH 5,000 messages -> 50,000 messages``, and what there is to say about it."""
    if change.metric == ALTERED:
        return f"altered at {safe(str(change.new))}, nothing that is watched"
    words = f"{safe(keyword(change))} {value_words(change, change.old)} -> {value_words(change, change.new)}"
    if is_security(change.name.kind, change.metric, change.new):
        words += ", security"
    if change.moved:
        words += f", altered at {safe(change.altered)}"
    elif change.moved is False:
        words += f", without a new ALTDATE ({safe(change.altered)})"
    return words


def when_words(change: Change, now: int, began: int | None = None) -> str:
    """When it was seen; between which two moments it happened after a pause of more than a day, or where it was seen
    only after an alert began (``began``, ms UTC)."""
    if change.ts - change.before > DAY_MS or (began is not None and change.ts > began):
        return f"between {_at(change.before, now)} and {_at(change.ts, now)}"
    return _at(change.ts, now)


def _at(ts: int, now: int) -> str:
    return clock(ts) if day(ts) == day(now) else f"{day(ts)} {clock(ts)}"


def _metric(change: Change) -> Metric | None:
    kind = KINDS.get(change.name.kind)
    return None if kind is None else kind.metric(change.metric)


def change_json(change: Change, author: Author | None = None) -> dict[str, Any]:
    """A change as plain values; times ISO 8601 in UTC, the time of alteration as the queue manager tells it."""
    name = change.name
    return {
        "seen": iso(change.ts),
        "seen_before": iso(change.before),
        "queue_manager": name.owner,
        "kind": name.kind,
        "object": str(name),
        "metric": change.metric,
        "attribute": keyword(change),
        "old": change.old,
        "new": change.new,
        "old_words": value_words(change, change.old),
        "new_words": value_words(change, change.new),
        "altered": change.altered or None,
        "altered_moved": change.moved,
        "watched": change.metric != ALTERED,
        "security": is_security(name.kind, change.metric, change.new),
        "user": None if author is None else author.user or None,
        "by": None
        if author is None
        else {
            "at": iso(author.at),
            "user": author.user or None,
            "origin": author.origin or None,
            "application": author.application or None,
            "command": author.command or None,
        },
    }


def change_list_lines(
    changes: Sequence[Change], now: int, width: int, authors: Authors = MappingProxyType({})
) -> Iterator[Line]:
    """The list of ``mqvitals changes``, oldest first."""
    if not changes:
        yield line("no changes")
    for change in changes:
        yield from _change_lines(change, authors.get(change), now, width, named=True)


def read_changes_of(
    reader: StoreReader, name: ObjectName, related: Iterable[RelatedObjects], alerts: Iterable[Alert], now: int
) -> ObjectChanges:
    """The newest changes of an object, and what changed of related objects before its alerts. Raises StoreError."""
    own = reader.changes(objects=[name], since=now - _SHOWN_MS, limit=_MOST)
    around = explaining(name, related)
    found: dict[Change, None] = {}
    began = 0
    for alert in alerts:
        if alert.ended is None:
            found.update(dict.fromkeys(read_changes_before(reader, around, alert)))
            began = max(began, alert.since)
    before_alerts = tuple(sorted(found, key=lambda change: change.ts)[-_MOST:])
    return ObjectChanges(own, before_alerts, read_authors(reader, (*own, *before_alerts)), began)


def explaining(name: ObjectName, related: Iterable[RelatedObjects]) -> frozenset[ObjectName]:
    """The related objects whose changes may explain an alert about an object."""
    if name.kind in ("queue_manager", "qsg"):
        return frozenset()
    return frozenset(each for one in related for each, _, _ in one.objects if each != name and each.kind in _EXPLAINING)


def read_changes_before(reader: StoreReader, names: Collection[ObjectName], alert: Alert) -> tuple[Change, ...]:
    """What changed, or may have changed, of some objects in the day before an alert began, oldest first.

    Definitions are asked for less often than figures: a change that led to the alert may be seen after it. Raises
    StoreError.
    """
    if not names:
        return ()
    return reader.changes(objects=names, since=alert.since - BEFORE_ALERT_MS, possible_at=alert.since, limit=_MOST)


def object_change_lines(changes: ObjectChanges, now: int, width: int) -> Iterator[Line]:
    """The part of an object's screen that shows what changed; nothing where nothing did."""
    if changes.own:
        yield heading("Changes of its definition", width)
        for change in reversed(changes.own):
            yield from _change_lines(change, changes.authors.get(change), now, width, named=False)
    if changes.before_alerts:
        yield heading("Changed in the day before its alerts began", width)
        for change in reversed(changes.before_alerts):
            yield from _change_lines(change, changes.authors.get(change), now, width, named=True, began=changes.began)


def _change_lines(
    change: Change, author: Author | None, now: int, width: int, *, named: bool, began: int | None = None
) -> Iterator[Line]:
    lead = "" if named else _INDENT
    who = f"{object_words(change.name)}  " if named else ""
    security = is_security(change.name.kind, change.metric, change.new)
    yield from wrapped(
        f"{when_words(change, now, began)}  {who}{change_words(change)}{f', {author_words(author)}' if author else ''}",
        width,
        Tone.WARNING if security else Tone.PLAIN,
        first=lead,
        rest=lead + _INDENT,
    )
