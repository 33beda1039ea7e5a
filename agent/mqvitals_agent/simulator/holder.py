"""Who has the queues of a simulated group open: as many handles as the state counts, each of a connection of its own.

A function of seed and state alone: whoever asks at one simulated moment gets one answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mqvitals_agent.simulator.application import Application, Applications
from mqvitals_agent.simulator.state import Group, Member, Queue

_STUCK_MS: Final = 120_000
"""Whoever has not got a message from a queue that holds some for so long holds on to the one before."""
_LIVELY_MS: Final = 2_000
"""Where a message moved within this time, there are units of work under way."""
_ONE_OF: Final = 3
"""So many applications of a lively queue share one unit of work that is seen under way."""


@dataclass(frozen=True, slots=True)
class Holder:
    """A handle and its connection. It either gets or puts; ``active`` while a call is in progress.

    ``unit_began`` is when the connection's unit of work began (ms since 1970 UTC), None without one.
    """

    queue: str
    application: Application
    gets: bool
    exclusive: bool = False
    active: bool = False
    unit_began: int | None = None

    @property
    def puts(self) -> bool:
        """True for a handle that puts."""
        return not self.gets


def open_counts(queue: Queue, member: Member) -> tuple[int, int]:
    """The handles for input and for output that one member has of a queue: IPPROCS and OPPROCS."""
    if queue.structure:
        return member.shared_handles.get(queue.name, (0, 0))
    return queue.input_handles, queue.output_handles


def holders(group: Group, member: Member, queue: Queue, applications: Applications | None = None) -> tuple[Holder, ...]:
    """The holders of a queue at one member, those that get first. ``applications`` are the member's, if at hand."""
    who = applications or Applications(group.seed, member)
    inputs, outputs = open_counts(queue, member)
    held = _held(group, member, queue)
    found: list[Holder] = []
    for place, application in enumerate(who.readers(queue, inputs)):
        began = held if place == 0 and held is not None else _under_way(application, queue.last_get, group.now)
        # One that waits for messages is inside MQGET; one that does not come back to MQ is not.
        waits = held is None or place > 0
        found.append(
            Holder(queue.name, application, gets=True, exclusive=not queue.shareable, active=waits, unit_began=began)
        )
    for place, application in enumerate(who.writers(queue, outputs)):
        began = _under_way(application, queue.last_put, group.now)
        if place == 0 and queue.uncommitted and held is None:
            began = queue.last_put
        found.append(Holder(queue.name, application, gets=False, active=began is not None, unit_began=began))
    return tuple(found)


def all_holders(group: Group, member: Member) -> Iterator[Holder]:
    """Every handle at one member, queue after queue: these are also its connections."""
    applications = Applications(group.seed, member)
    for queue in (*member.queues.values(), *group.shared_queues.values()):
        yield from holders(group, member, queue, applications)


def _held(group: Group, member: Member, queue: Queue) -> int | None:
    """Since when the first that gets has held on to a unit of work; None when it does not. Of a shared queue at one member."""
    if queue.structure:
        first = min((name for name, each in group.members.items() if open_counts(queue, each)[0]), default=None)
        if member.name != first:
            return None
    if queue.held_since is not None:
        return queue.held_since
    if queue.depth and queue.last_get is not None and group.now - queue.last_get > _STUCK_MS:
        return queue.last_get
    return None


def _under_way(application: Application, last: int | None, now: int) -> int | None:
    """When the unit of work began that an application has just now; None when it has none."""
    if application.unconfirmed is not None:
        return application.unconfirmed
    if last is None or now - last > _LIVELY_MS:
        return None
    chance = int.from_bytes(application.identifier[:4], "big") + now // 1000 * 7
    return max(last - chance % 1_500, 0) if chance % _ONE_OF == 0 else None
