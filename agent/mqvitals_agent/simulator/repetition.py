"""Rounds of a scenario that are alike: a group that ends a round in the state in which it began goes through the next
one alike.

Each round has the same random numbers, so it depends only on the state at its beginning. Like rounds differ only in
totals and times, and further ones are added by arithmetic instead of being simulated. Logs are the exception: when one
is full depends on everything written before, so they are written again, second by second. One round is recorded, and
the seconds of later ones are replayed from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import partial
from operator import attrgetter
from typing import Any, Final

from mqvitals_agent.simulator.state import ChannelInstance, GroupState, QueueState

_TOTALS: Final[dict[type, tuple[str, ...]]] = {
    QueueState: ("put_total", "got_total"),
    ChannelInstance: (
        "messages",
        "bytes_sent",
        "bytes_received",
        "buffers_sent",
        "buffers_received",
        "batches",
        "current_sequence",
        "last_sequence",
    ),
}
_MOMENTS: Final[dict[type, tuple[str, ...]]] = {
    QueueState: ("last_put", "last_get", "oldest_put", "held_since"),
    ChannelInstance: ("last_message",),
}


class Repetition:
    """Compares the states of a group at the beginnings of rounds, and adds rounds to it."""

    def __init__(self, group: GroupState) -> None:
        """Covers the objects that ``group`` has now, not those added later."""
        self._group = group
        self._moving: list[QueueState | ChannelInstance] = [*group.shared_queues.values()]
        self._still: list[Any] = [*group.structures.values()]
        for member in group.members.values():
            self._moving += member.queues.values()
            self._moving += (each for channel in member.channels.values() for each in channel.instances)
            self._still += (*member.pools.values(), *member.page_sets.values())
        self._at: int | None = None
        self._state: tuple[object, ...] = ()
        self._totals: list[int] = []
        self._added: list[int] | None = None

    @property
    def alike(self) -> bool:
        """Whether the round that begins now is like the last one, as of the last call of ``whole_rounds``."""
        return self._added is not None and self._at == self._group.now

    def record(self) -> RecordedRound:
        """An empty recording of the round that begins now."""
        return RecordedRound(self._group, [*self._moving, *self._still])

    def whole_rounds(self, now: int, length: int, hidden: Iterable[object]) -> int:
        """The number of rounds of ``length`` ms until ``now`` that can be added here; ``hidden`` is state outside the
        group.
        """
        group = self._group
        if self._at != group.now:
            state, totals = (*self._visible(), *hidden), self._all_totals()
            alike = self._at is not None and state == self._state
            self._added = [new - old for new, old in zip(totals, self._totals, strict=True)] if alike else None
            self._at, self._state, self._totals = group.now, state, totals
        return 0 if self._added is None else (now - group.now) // length

    def add(self, rounds: int, length: int) -> None:
        """Add rounds: at most as many as ``whole_rounds`` returned, and before anything else has changed."""
        added = iter(self._added or ())
        before = self._group.now - length
        for each in self._moving:
            for name in _TOTALS[type(each)]:
                setattr(each, name, getattr(each, name) + rounds * next(added))
            for name in _MOMENTS[type(each)]:
                moment = getattr(each, name)
                # Times that did not change in the last round change in none.
                if moment is not None and moment > before:
                    setattr(each, name, moment + rounds * length)
        self._group.now += rounds * length
        self._at, self._totals = self._group.now, self._all_totals()

    def _all_totals(self) -> list[int]:
        return [getattr(each, name) for each in self._moving for name in _TOTALS[type(each)]]

    def _visible(self) -> list[object]:
        found: list[object] = []
        for each in self._moving:
            left_out = (*_TOTALS[type(each)], *_MOMENTS[type(each)])
            found += [getattr(each, field.name) for field in fields(each) if field.name not in left_out]
            found += [getattr(each, name) is None for name in _MOMENTS[type(each)]]
        for each in self._still:
            found += [getattr(each, field.name) for field in fields(each)]
        return found


class RecordedRound:
    """The state of a group at each second of a round, for replay in later like rounds."""

    def __init__(self, group: GroupState, objects: Iterable[Any]) -> None:
        """Second 0 is now. ``objects`` are those that change; logs are not among them."""
        self._group = group
        self._recorded_at = self._begun_at = group.now
        self._columns: list[tuple[Any, str]] = []
        self._totals: set[int] = set()
        self._moments: set[int] = set()
        self._looks: list[Callable[[], tuple[Any, ...]]] = []
        for each in objects:
            self._watch(each, [field.name for field in fields(each)])
        for member in group.members.values():
            self._watch(member, ["name", "shared_handles"])
        self._watch(group, ["name", "faults", "dead_letters"])
        self.seconds = 0
        self._first = self._values()
        self._course: dict[int, list[Any]] = {}
        """Place among the columns -> the value at each second, of those that ever change."""
        self._replayed: list[tuple[Any, str, list[Any]]] = []
        self._replayed_totals: list[tuple[Any, str, list[int], int]] = []
        self._replayed_moments: list[tuple[Any, str, list[int | None], int | None]] = []
        """The changing attributes of the round under way: object, name, course, and what it began with."""

    def add(self) -> None:
        """Record the group's state now as the next second."""
        values, course = self._values(), self._course
        for place, (first, value) in enumerate(zip(self._first, values, strict=True)):
            if value != first and place not in course:
                course[place] = [first] * (self.seconds + 1)
        for place, column in course.items():
            # Equal columns are kept once: there are hundreds, and most change seldom.
            column.append(column[-1] if column[-1] == values[place] else values[place])
        self.seconds += 1

    def begin(self) -> None:
        """Start the replay of a like round now."""
        self._begun_at = self._group.now
        self._replayed, self._replayed_totals, self._replayed_moments = [], [], []
        for place, column in self._course.items():
            each, name = self._columns[place]
            if place in self._totals:
                self._replayed_totals.append((each, name, column, getattr(each, name) - column[0]))
            elif place in self._moments:
                self._replayed_moments.append((each, name, column, getattr(each, name)))
            else:
                self._replayed.append((each, name, column))

    def play(self, second: int) -> None:
        """Set everything but ``group.now`` to its state at a second of the replayed round."""
        for each, name, column in self._replayed:
            setattr(each, name, column[second])
        for each, name, totals, added in self._replayed_totals:
            setattr(each, name, totals[second] + added)
        later = self._begun_at - self._recorded_at
        for each, name, moments, at_begin in self._replayed_moments:
            moment = moments[second]
            if moment is not None:
                # A time before the round keeps its distance from the round's beginning.
                moment = at_begin if moment == moments[0] else moment + later
            setattr(each, name, moment)

    def _watch(self, each: Any, names: Sequence[str]) -> None:
        self._looks.append(partial(attrgetter(*names), each))
        for name in names:
            if name in _TOTALS.get(type(each), ()):
                self._totals.add(len(self._columns))
            elif name in _MOMENTS.get(type(each), ()):
                self._moments.add(len(self._columns))
            self._columns.append((each, name))

    def _values(self) -> list[Any]:
        return [value for look in self._looks for value in look()]
