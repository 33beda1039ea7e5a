"""A simulated world whose queue managers misbehave as tests order, beside what befalls them in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from mqvitals_agent.simulator.state import Fault, GroupState


class Moving(Protocol):
    """A world that is moved to a moment by being asked for it."""

    def advance(self, now: int) -> GroupState:
        """The group as of ``now``, ms since 1970 UTC."""
        ...


class OrderedWorld:
    """Shared by the queue managers of a group, so that each also answers for what was ordered to the others."""

    def __init__(self, world: Moving) -> None:
        self._world = world
        self._ordered: dict[str, Fault] = {}

    def ordered(self, queue_manager: str) -> Fault:
        """What was ordered to that queue manager; change it as you like."""
        return self._ordered.setdefault(queue_manager, Fault())

    def forget_commands(self, queue_manager: str) -> None:
        """Let it answer all commands again, as far as orders are concerned."""
        fault = self.ordered(queue_manager)
        fault.refuse = fault.silent = fault.truncate = frozenset()

    def advance(self, now: int) -> GroupState:
        """The group as of ``now``, its world's troubles and the ordered ones together."""
        group = self._world.advance(now)
        faults = dict(group.faults)
        for name, ordered in self._ordered.items():
            faults[name] = _both(faults.get(name), ordered)
        return replace(group, faults=faults)


def _both(befallen: Fault | None, ordered: Fault) -> Fault:
    if befallen is None:
        return ordered
    return Fault(
        befallen.down or ordered.down,
        befallen.refuse | ordered.refuse,
        befallen.silent | ordered.silent,
        befallen.truncate | ordered.truncate,
        befallen.slow_ms + ordered.slow_ms,
    )
