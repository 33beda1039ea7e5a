"""Console messages by the object that they name, sorted once for all objects that are judged at the same moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter

from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Kind
from mqvitals_rules.windows import Message, Windows
from mqvitals_rules.world import World

_when = attrgetter("ts")
_EVERY = ("", "")
_NONE: frozenset[str] = frozenset()
_About = Mapping[tuple[str, ...], Sequence[Message]]


class MessageIndex:
    """Finds the messages about an object. Thousands of queues ask for the same ones in turn."""

    def __init__(self, kinds: Mapping[str, Kind], world: World, windows: Windows) -> None:
        self._kinds = kinds
        self._world = world
        self._windows = windows
        self._now = -1
        self._told: dict[tuple[str, frozenset[str], int], _About] = {}

    def about(self, name: ObjectName, ids: frozenset[str], since: int, now: int) -> Sequence[Message] | None:
        """The messages after ``since`` and up to ``now`` that name the object, oldest first; of a single kind all of its owner.

        Of the group they are those of all members. None: no console is followed.
        """
        if now != self._now:
            self._now = now
            self._told.clear()
        key = name.owner, ids, since
        told = self._told.get(key)
        if told is None:
            told = self._sorted(name.owner, ids, since)
            if told is None:
                return None
            self._told[key] = told
        return told.get(_EVERY if self._kinds[name.kind].single else name[1:], ())

    def followed(self, owner: str, now: int) -> bool:
        """Whether a console is followed whose messages are about objects of an owner."""
        owners = self._world.owners() if owner == self._world.group else (owner,)
        return any(self._windows.messages(each, _NONE, now) is not None for each in owners)

    def _sorted(self, owner: str, ids: frozenset[str], since: int) -> _About | None:
        told = (
            [self._windows.messages(owner, ids, since)]
            if owner != self._world.group
            else [self._windows.messages(each, ids, since) for each in self._world.owners()]
        )
        if told.count(None) == len(told):
            return None
        # The group may tell what its members tell.
        found = dict.fromkeys(each for messages in told for each in messages or () if each.ts <= self._now)
        ordered = sorted(found, key=_when)
        about: dict[tuple[str, ...], list[Message]] = {_EVERY: ordered}
        for each in ordered:
            if each.object is not None:
                about.setdefault(each.object[1:], []).append(each)
        return about
