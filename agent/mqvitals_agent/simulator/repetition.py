"""What has come round: a group that ends a round of its scenario as it ended the one before will live every later one alike.

Chance begins anew with each round, so how a round goes follows from how the group is at its beginning. Two rounds that began
alike differ only in totals and moments, and any number of further ones can be added by arithmetic instead of being lived.
Logs are the exception: when one is full depends on all that was ever written. They are written again, second by second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, Final

from mqvitals_agent.simulator.state import ChannelInstance, Group, Queue

_TOTALS: Final[dict[type, tuple[str, ...]]] = {
    Queue: ("put_total", "got_total"),
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
    Queue: ("last_put", "last_get", "oldest_put", "held_since"),
    ChannelInstance: ("last_message",),
}


class Repetition:
    """Compares how a group is at the beginnings of rounds, and adds rounds to it."""

    def __init__(self, group: Group) -> None:
        """Looks at what ``group`` has now; what is added to it later does not take part."""
        self._group = group
        self._moving: list[Queue | ChannelInstance] = [*group.shared_queues.values()]
        self._still: list[Any] = [*group.structures.values()]
        for member in group.members.values():
            self._moving += member.queues.values()
            self._moving += (each for channel in member.channels.values() for each in channel.instances)
            self._still += (*member.pools.values(), *member.page_sets.values())
        self._at: int | None = None
        self._state: tuple[object, ...] = ()
        self._totals: list[int] = []
        self._added: list[int] | None = None

    def whole_rounds(self, now: int, length: int, hidden: Iterable[object]) -> int:
        """How many rounds of ``length`` ms until ``now`` can be added at this beginning of one; ``hidden`` is what the group does not tell."""
        group = self._group
        if self._at != group.now:
            state, totals = (*self._visible(), *hidden), self._all_totals()
            alike = self._at is not None and state == self._state
            self._added = [new - old for new, old in zip(totals, self._totals, strict=True)] if alike else None
            self._at, self._state, self._totals = group.now, state, totals
        return 0 if self._added is None else (now - group.now) // length

    def add(self, rounds: int, length: int) -> None:
        """Add so many rounds. Only as many as ``whole_rounds`` allowed, and before anything has moved since."""
        added = iter(self._added or ())
        before = self._group.now - length
        for each in self._moving:
            for name in _TOTALS[type(each)]:
                setattr(each, name, getattr(each, name) + rounds * next(added))
            for name in _MOMENTS[type(each)]:
                moment = getattr(each, name)
                # What did not happen in the last round happens in none.
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
