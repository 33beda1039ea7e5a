"""Which messages are about an object: the console messages and events of its owner, sorted once by the object that they name
for all objects that are evaluated at the same moment; and which came while a queue manager started or stopped.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final

from mqvitals_rules.expression.functions import EVER
from mqvitals_rules.history import MetricHistory, ObjectMessage
from mqvitals_rules.latest import LatestValues
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Kind

_when = attrgetter("ts")
_EVERY = ("", "")
_NONE: frozenset[str] = frozenset()
_About = Mapping[tuple[str, ...], Sequence[ObjectMessage]]


_STARTING, _STARTED, _STOPPING, _STOPPED = "CSQY000I", "CSQY022I", "CSQY002I", "CSQ3104I"
RESTART_IDS: Final = frozenset((_STARTING, _STARTED, _STOPPING, _STOPPED))
_SETTLING_MS: Final = 300_000
"""Channels and connections are restored for so long after a start is complete."""
_LONGEST_RESTART_MS: Final = 4 * 3_600_000
"""A start or stop of which no end is seen is taken to be over after this time."""

_Period = tuple[int, int]
"""First and last moment, ms UTC."""


def restarts(messages: Iterable[ObjectMessage]) -> Sequence[_Period]:
    """When a queue manager started or stopped, by its messages with ``RESTART_IDS`` in the order of time."""
    found: list[_Period] = []
    began: int | None = None
    for message in messages:
        if began is not None:
            ends = message.ts + (_SETTLING_MS if message.id == _STARTED else 0)
            found.append((began, min(ends, began + _LONGEST_RESTART_MS)))
            if message.id == _STARTED:
                found.append((message.ts, ends))
        elif message.id == _STARTED:
            found.append((message.ts, message.ts + _SETTLING_MS))
        began = message.ts if message.id in (_STARTING, _STOPPING) else None
    if began is not None:
        found.append((began, began + _LONGEST_RESTART_MS))
    return found


class MessageIndex:
    """Finds the messages about an object. Thousands of queues need the same ones in turn."""

    def __init__(self, kinds: Mapping[str, Kind], latest: LatestValues, windows: MetricHistory) -> None:
        self._kinds = kinds
        self._latest = latest
        self._windows = windows
        self._now = -1
        self._known: dict[tuple[str, frozenset[str], int, bool], _About] = {}
        self._lasting: dict[tuple[str, frozenset[str]], tuple[list[Sequence[ObjectMessage]], _About]] = {}
        self._restarts: dict[str, tuple[Sequence[ObjectMessage], Sequence[_Period]]] = {}

    def about(
        self, name: ObjectName, ids: frozenset[str], since: int, now: int, *, quiet: bool = False
    ) -> Sequence[ObjectMessage] | None:
        """The messages after ``since`` and up to ``now`` that name the object, oldest first; of a single kind all of
        its owner.

        Of the group they are those of all members. None: no console is followed. ``quiet``: without those written
        while their queue manager started or stopped.
        """
        if now != self._now:
            self._now = now
            self._known.clear()
        key = name.owner, ids, since, quiet
        found = self._known.get(key)
        if found is None:
            found = self._sorted(name.owner, ids, since, quiet=quiet)
            if found is None:
                return None
            self._known[key] = found
        return found.get(_EVERY if self._kinds[name.kind].single else name[1:], ())

    def followed(self, owner: str, now: int) -> bool:
        """Whether a console is followed, or events are read, whose messages are about objects of an owner."""
        return any(self._windows.messages(each, _NONE, now) is not None for each in self._owners(owner))

    def _owners(self, owner: str) -> Iterable[str]:
        """The owners whose consoles are about objects of an owner: of a group its queue managers."""
        if owner not in self._latest.groups:
            return (owner,)
        return (each for each in self._latest.owners() if self._latest.group_of(each) == owner)

    def _sorted(self, owner: str, ids: frozenset[str], since: int, *, quiet: bool) -> _About | None:
        by_owner: list[Sequence[ObjectMessage]] = []
        for each in self._owners(owner):
            messages = self._windows.messages(each, ids, since)
            if messages is not None:
                by_owner.append(self._undisturbed(each, messages) if quiet and messages else messages)
        if not by_owner:
            return None
        if since != EVER or quiet:
            return self._by_object(by_owner)
        # What lasts is mostly what it was at the poll before.
        before = self._lasting.get((owner, ids))
        if before is not None and len(before[0]) == len(by_owner) and all(map(operator.is_, before[0], by_owner)):
            return before[1]
        found = self._by_object(by_owner)
        if all(messages[-1].ts <= self._now for messages in by_owner if messages):
            self._lasting[owner, ids] = by_owner, found
        return found

    def _undisturbed(self, owner: str, messages: Sequence[ObjectMessage]) -> Sequence[ObjectMessage]:
        """The messages that were not written while the queue manager started or stopped."""
        told = self._windows.messages(owner, RESTART_IDS, EVER) or ()
        known = self._restarts.get(owner)
        if known is None or known[0] is not told:
            known = self._restarts[owner] = told, restarts(told)
        periods = known[1]
        if not periods:
            return messages
        return [each for each in messages if not any(begin <= each.ts <= end for begin, end in periods)]

    def _by_object(self, by_owner: Iterable[Sequence[ObjectMessage]]) -> _About:
        # The group and its members may have the same message.
        found = dict.fromkeys(each for messages in by_owner for each in messages if each.ts <= self._now)
        ordered = sorted(found, key=_when)
        about: dict[tuple[str, ...], list[ObjectMessage]] = {_EVERY: ordered}
        for each in ordered:
            if each.object is not None:
                about.setdefault(each.object[1:], []).append(each)
        return about
