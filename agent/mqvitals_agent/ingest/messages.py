"""The console messages that rules look at: the newest of each id and queue manager in memory, read once from the store.

Of each id that a rule asks for, the newest rows of the store are kept, and beyond these the newest one about each
object, so that what began long ago is known for as long as the store has it. Later looks read only what is new.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final

from mqvitals_agent.console.message import message_inserts
from mqvitals_agent.store.older import PastReader
from mqvitals_agent.store.rows.messages import MESSAGE_BURST_MS, StoredMessage, burst
from mqvitals_rules.history import ObjectMessage
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.event import are_followed
from mqvitals_rules.vocabulary.tables import KINDS

MOST_KEPT: Final = 2_000
"""Rows of one id and queue manager in memory, besides the newest about each object."""
_SLACK: Final = 500
"""So many more may gather before they are sorted out."""
_MOST_OBJECTS: Final = 10_000
_NEVER: Final = 1 << 62

_when = attrgetter("ts")
_Key = tuple[str, str, int, int]


_LOOK_MS: Final = 600_000
"""The interval of looking for the newest message of an id."""


class NewestMessage:
    """The text of the newest message with an id, by queue manager. What comes only at a start is looked for seldom."""

    def __init__(self, reader: PastReader | None, code: str) -> None:
        self._reader = reader
        self._code = code
        self._known: dict[str, tuple[int, str]] = {}
        """By queue manager: when it was looked for (ms UTC), and the text."""

    def text(self, owner: str, now: int) -> str:
        """The text; empty without such a message. Raises StoreError."""
        if self._reader is None:
            return ""
        looked, found = self._known.get(owner, (-_LOOK_MS, ""))
        # Also after a clock was set back.
        if abs(now - looked) >= _LOOK_MS:
            messages = self._reader.messages(owners=(owner,), codes=(self._code,), limit=1)
            found = messages[-1].text if messages else ""
            self._known[owner] = now, found
        return found


class _KeptMessages:
    """The messages with one id of one queue manager."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Iterable[StoredMessage]) -> None:
        self._rows: dict[_Key, StoredMessage] = {}
        for row in rows:
            self.put(row)

    def put(self, row: StoredMessage) -> bool:
        """Take in a row, or what became of one; False when it is known."""
        key = row.kind, row.name, *burst(row)
        if self._rows.get(key) == row:
            return False
        self._rows[key] = row
        if len(self._rows) > MOST_KEPT + _SLACK:
            self._forget()
        return True

    def _forget(self) -> None:
        """Keep the newest, and of what is older the newest about each object."""
        kept: dict[_Key, StoredMessage] = {}
        objects: set[tuple[str, str]] = set()
        for key, row in sorted(self._rows.items(), key=lambda item: item[1].last_ts, reverse=True):
            if len(kept) < MOST_KEPT or ((row.kind, row.name) not in objects and len(objects) < _MOST_OBJECTS):
                kept[key] = row
            objects.add((row.kind, row.name))
        self._rows = kept

    def messages(self, group: str) -> list[ObjectMessage]:
        """All of them, in no order. ``group`` owns the objects of a group."""
        return [message for row in self._rows.values() for message in _as_messages(row, group)]


class MessageWindow:
    """Implements ``messages`` of ``mqvitals_rules.history.MetricHistory`` over a store; without one
    nothing is followed.
    """

    def __init__(self, reader: PastReader | None) -> None:
        self._reader = reader
        self._followed: Mapping[str, frozenset[str]] | None = None
        self._groups: frozenset[str] = frozenset()
        self._members: tuple[str, ...] = ()
        self._kept: dict[tuple[str, str], _KeptMessages] = {}
        self._sorted: dict[tuple[str, frozenset[str]], Sequence[ObjectMessage]] = {}
        self._read = 0, 0
        """The highest number, and the newest time (ms UTC), of the rows read so far."""
        self._generation = 0

    def renew(self) -> None:
        """Look into the store again from now on: another snapshot is evaluated."""
        self._followed = None

    def messages(self, owner: str, ids: frozenset[str], since: int) -> Sequence[ObjectMessage] | None:
        """The messages of an owner with one of ``ids`` and ts > ``since``, oldest first.

        None: no console of it is followed, or a queue of such events is not read; without ids, none of all.
        Those of the group are those of its members. The result is the same object until there is something new, when
        no message is too old. Raises StoreError.
        """
        if self._reader is None:
            return None
        if self._followed is None:
            self._look(self._reader)
        followed = self._followed or {}
        of_group = owner in self._groups
        if not are_followed(followed.get(owner, ()), ids) and not (
            of_group and any(are_followed(sources, ids) for sources in followed.values())
        ):
            return None
        known = self._sorted.get((owner, ids))
        if known is None:
            members = self._members if of_group else (owner,)
            group = min(self._groups, default="")
            kept = [self._load(self._reader, member, code) for member in members for code in ids]
            known = sorted((message for each in kept for message in each.messages(group)), key=_when)
            if not self._reader.failing:
                self._sorted[owner, ids] = known
        return known if not known or known[0].ts > since else known[bisect_right(known, since, key=_when) :]

    def _look(self, reader: PastReader) -> None:
        """Find out whose consoles are followed, and read what is new."""
        self._followed = followed = reader.sources_followed()
        # Where no console is followed at all, as at most sites, it does not matter who the group is.
        owners = reader.owners() if followed else ()
        groups = frozenset(each.name for each in owners if each.is_group)
        members = tuple(sorted({*followed, *(each.name for each in owners if not each.is_group)}))
        if (groups, members) != (self._groups, self._members):
            self._groups, self._members = groups, members
            self._sorted.clear()
        if not self._kept:
            return
        if reader.generation != self._generation:
            # Another file counts its rows from 1. What the former one held stays known.
            self._read, self._generation = (0, 0), reader.generation
        number, newest = self._read
        found = reader.new_messages(number, newest - MESSAGE_BURST_MS)
        if found.highest < number:
            # The last rows were deleted, and their numbers are given again.
            found = reader.new_messages(0, newest)
        if not reader.failing:
            self._read = found.highest, found.newest
        for row in found.rows:
            kept = self._kept.get((row.owner, row.code))
            if kept is not None and kept.put(row):
                self._sorted.clear()

    def _load(self, reader: PastReader, owner: str, code: str) -> _KeptMessages:
        """The messages of a queue manager with an id, which are read once from the store."""
        kept = self._kept.get((owner, code))
        if kept is None:
            if not self._kept:
                last = reader.new_messages(_NEVER, _NEVER)
                self._read = last.highest, last.newest
                self._generation = reader.generation
            rows = reader.messages(owners=(owner,), codes=(code,), limit=MOST_KEPT)
            older = reader.newest_messages(owner, code) if len(rows) == MOST_KEPT else ()
            kept = _KeptMessages((*older, *rows))
            if not reader.failing:
                self._kept[owner, code] = kept
        return kept


def _as_messages(row: StoredMessage, group: str) -> list[ObjectMessage]:
    """The message, or the first and the last half of those that are counted together."""
    about = None
    if row.kind:
        kind = KINDS.get(row.kind)
        about = ObjectName(group if kind is not None and kind.of_group and group else row.owner, row.kind, row.name)
    inserts = tuple(message_inserts(row.text).items())
    if row.ts == row.last_ts:
        return [ObjectMessage(row.ts, row.code, about, row.times, inserts)]
    first = row.times // 2
    return [
        ObjectMessage(row.ts, row.code, about, first, inserts),
        ObjectMessage(row.last_ts, row.code, about, row.times - first, inserts),
    ]
