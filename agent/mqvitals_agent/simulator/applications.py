"""The applications of a simulated queue manager, and which of them have a queue open.

CICS tasks, IMS regions, batch jobs, clients, and MQ's own address spaces: all follow from the seed, names and state, so
one simulated time has one answer. Every name is made up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from mqvitals_agent.simulator.state import ChannelInstance, ChannelState, GroupState, MemberState, QueueState

_OWN_QUEUES: Final = "SYSTEM."
_FROM_AFAR: Final = "REMOTE."
"""Parts of the names of queues that receiver channels put to."""
_ANSWERS: Final = ("REPLY", "RESPONSE", "OUT")
"""Last parts of the names of queues that clients get from; they put to others."""
_BATCH: Final = "BATCH"
"""A part of the names of queues that jobs use."""
_STEM: Final = 3
_TASKS_IN_REGION: Final = 4


class ApplicationKind(Enum):
    """What an application is: APPLTYPE."""

    CICS = "CICS"
    BATCH = "BATCH"
    IMS = "IMS"
    RRS_BATCH = "RRSBATCH"
    CHINIT = "CHINIT"
    SYSTEM = "SYSTEM"


_KINDS: Final = (
    ApplicationKind.CICS,
    ApplicationKind.CICS,
    ApplicationKind.BATCH,
    ApplicationKind.IMS,
    ApplicationKind.RRS_BATCH,
)


@dataclass(frozen=True, slots=True)
class Application:
    """One connection. ``identifier`` is its own 8 bytes (CONN).

    ``unconfirmed`` is the time of the last message that its channel has not confirmed (ms since 1970 UTC), or None.
    """

    name: str
    kind: ApplicationKind
    user: str
    asid: str
    identifier: bytes
    description: str = ""
    channel: str = ""
    connection_name: str = ""
    transaction: str = ""
    task: str = ""
    psb: str = ""
    region: str = ""
    unconfirmed: int | None = None


Running = tuple[ChannelState, ChannelInstance]


class Applications:
    """The applications of one member, by the queue that they have open and their number there."""

    def __init__(self, seed: int, member: MemberState) -> None:
        self._seed = seed
        self._member = member
        self._movers: dict[str, list[Running]] = {}
        self._clients: list[Running] = []
        self._clients_by_part: dict[str, list[Running]] = {}
        self._receivers: list[Running] = []
        # Without a channel initiator no channel runs.
        for channel in member.channels.values() if member.chinit_running else ():
            for instance in channel.instances:
                if not instance.active:
                    continue
                if instance.transmission_queue:
                    self._movers.setdefault(instance.transmission_queue, []).append((channel, instance))
                elif channel.client:
                    self._clients.append((channel, instance))
                    for part in channel.name.split("."):
                        self._clients_by_part.setdefault(part, []).append((channel, instance))
                elif channel.kind == "RECEIVER":
                    self._receivers.append((channel, instance))

    def readers(self, queue: QueueState, count: int) -> Iterator[Application]:
        """Those that get from a queue."""
        movers = self._movers.get(queue.name, ()) if queue.usage == "XMITQ" else ()
        for place, (channel, instance) in enumerate(movers[:count]):
            yield self._through(queue, "get", place, channel, instance)
        yield from self._several(
            queue, "get", count, len(movers), self._clients_of(queue) if _holds_answers(queue) else []
        )

    def writers(self, queue: QueueState, count: int) -> Iterator[Application]:
        """Those that put to a queue."""
        through: list[Running] = []
        if queue.name.startswith(_FROM_AFAR):
            through = self._receivers
        elif queue.usage != "XMITQ" and not _holds_answers(queue):
            through = self._clients_of(queue)
        yield from self._several(queue, "put", count, 0, through)

    def _several(
        self, queue: QueueState, side: str, count: int, done: int, through: list[Running]
    ) -> Iterator[Application]:
        for place in range(done, count):
            if queue.name.startswith(_OWN_QUEUES):
                yield self._own(queue, side, place)
            elif through:
                yield self._through(queue, side, place, *through[place % len(through)])
            else:
                yield self._local(queue, side, place)

    def _clients_of(self, queue: QueueState) -> list[Running]:
        """Instances of a channel with a part of the queue's name; else, for some queues, of any channel."""
        parts = queue.name.split(".")
        own = next((self._clients_by_part[part] for part in parts if part in self._clients_by_part), [])
        if own or not self._clients or self._number(queue.name, "client") % 3:
            return own
        return [self._clients[self._number(queue.name, "channel") % len(self._clients)]]

    def _own(self, queue: QueueState, side: str, place: int) -> Application:
        name = f"{self._member.name}MSTR"
        return Application(
            name, ApplicationKind.SYSTEM, "MQMSTR", self._asid(name), self._identifier(queue, side, place)
        )

    def _through(
        self, queue: QueueState, side: str, place: int, channel: ChannelState, instance: ChannelInstance
    ) -> Application:
        """The channel initiator for a channel: z/OS reports its name, not that of the partner's program."""
        name = f"{self._member.name}CHIN"
        identifier = self._identifier(queue, f"{side} {channel.name} {instance.connection_name}", place)
        return Application(
            name,
            ApplicationKind.CHINIT,
            "MQCHIN",
            self._asid(name),
            identifier,
            description="Channel initiator",
            channel=channel.name,
            connection_name=instance.connection_name,
            unconfirmed=instance.last_message if instance.indoubt or instance.current_messages else None,
        )

    def _local(self, queue: QueueState, side: str, place: int) -> Application:
        stem = _stem(queue.name)
        gets = side == "get"
        serves = gets is not _holds_answers(queue)  # what gets requests puts the answers
        kind = _KINDS[self._number(stem, "serves" if serves else "asks", "application") % len(_KINDS)]
        if _BATCH in queue.name.split("."):
            kind = ApplicationKind.BATCH
        number = self._number(self._member.name, queue.name, side, place)
        identifier = self._identifier(queue, side, place)
        match kind:
            case ApplicationKind.CICS:
                name = f"CICS{stem[0]}{'A' if serves else 'T'}{place // _TASKS_IN_REGION % 99 + 1:02}"
                found = Application(
                    name,
                    kind,
                    "CICSUSER",
                    self._asid(name),
                    identifier,
                    transaction=f"{stem}{'G' if gets else 'P'}",
                    task=f"{number % 99_999 + 1:07}",
                )
            case ApplicationKind.IMS:
                name = f"IMS{stem}{'G' if gets else 'P'}{place // _TASKS_IN_REGION % 9 + 1}"
                psb, region = f"{stem}PSB{'G' if gets else 'P'}", f"{number % 9_999 + 1:04}"
                found = Application(name, kind, "IMSUSER", self._asid(name), identifier, psb=psb, region=region)
            case _:
                name = f"{stem}{'JOB' if gets else 'PUT'}{place % 99 + 1}"
                # Every job has an address space of its own, also where two have the same name.
                asid = self._asid(f"{name} {queue.name} {place}")
                found = Application(name, kind, f"{stem}USER", asid, identifier)
        return found

    def _identifier(self, queue: QueueState, side: str, place: int) -> bytes:
        parts = (self._member.name, queue.name, side, place)
        return self._number(*parts, "connection").to_bytes(8, "big")

    def _asid(self, name: str) -> str:
        return f"{self._number(self._member.name, name, 'asid') % 0x3FF + 0x20:04X}"

    def _number(self, *parts: object) -> int:
        return _number(self._seed, *parts)


@lru_cache(50_000)
def _number(*parts: object) -> int:
    """A pseudo-random number of 64 bits, the same for the same seed and parts."""
    return int.from_bytes(blake2b("/".join(map(str, parts)).encode(), digest_size=8).digest(), "big")


def _holds_answers(queue: QueueState) -> bool:
    return queue.name.rpartition(".")[2].startswith(_ANSWERS)


def _stem(name: str) -> str:
    """Three letters of the first alphabetic part of a queue's name."""
    part = next((part for part in name.split(".") if part.isalpha() and len(part) >= _STEM), "APPL")
    return part[:_STEM].upper()


_STUCK_MS: Final = 120_000
"""A consumer that gets none of the messages that have been there for this long still holds the one before."""
_LIVELY_MS: Final = 2_000
"""A queue has active units of work when a message has moved within this time."""
_ONE_OF: Final = 3
"""The number of applications of a busy queue that share one visible unit of work."""


@dataclass(frozen=True, slots=True)
class QueueHolder:
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


def open_counts(queue: QueueState, member: MemberState) -> tuple[int, int]:
    """The handles for input and for output that one member has of a queue: IPPROCS and OPPROCS."""
    if queue.structure:
        return member.shared_handles.get(queue.name, (0, 0))
    return queue.input_handles, queue.output_handles


def holders(
    group: GroupState, member: MemberState, queue: QueueState, applications: Applications | None = None
) -> tuple[QueueHolder, ...]:
    """The holders of a queue at one member, those that get first. ``applications`` are the member's, if at hand."""
    who = applications or Applications(group.seed, member)
    inputs, outputs = open_counts(queue, member)
    held = _held(group, member, queue)
    found: list[QueueHolder] = []
    for place, application in enumerate(who.readers(queue, inputs)):
        began = held if place == 0 and held is not None else _under_way(application, queue.last_get, group.now)
        # A consumer that waits is inside MQGET; a stuck one is not.
        waits = held is None or place > 0
        found.append(
            QueueHolder(
                queue.name, application, gets=True, exclusive=not queue.shareable, active=waits, unit_began=began
            )
        )
    for place, application in enumerate(who.writers(queue, outputs)):
        began = _under_way(application, queue.last_put, group.now)
        if place == 0 and queue.uncommitted and held is None:
            began = queue.last_put
        found.append(QueueHolder(queue.name, application, gets=False, active=began is not None, unit_began=began))
    return tuple(found)


def all_holders(group: GroupState, member: MemberState) -> Iterator[QueueHolder]:
    """Every handle at one member, queue by queue: these are also its connections."""
    applications = Applications(group.seed, member)
    for queue in (*member.queues.values(), *group.shared_queues.values()):
        yield from holders(group, member, queue, applications)


def _held(group: GroupState, member: MemberState, queue: QueueState) -> int | None:
    """The time since which the first consumer holds a unit of work, of a shared queue at one member; None: it does
    not.
    """
    if queue.structure:
        first = min((name for name, each in group.members.items() if open_counts(queue, each)[0]), default=None)
        if member.name != first:
            return None
    if queue.held_since is not None:
        return queue.held_since
    moved = max(queue.last_get or 0, queue.oldest_put or 0)
    if queue.depth and queue.last_get is not None and group.now - moved > _STUCK_MS:
        return queue.last_get
    return None


def _under_way(application: Application, last: int | None, now: int) -> int | None:
    """The begin of an application's active unit of work; None: it has none."""
    if application.unconfirmed is not None:
        return application.unconfirmed
    if last is None or now - last > _LIVELY_MS:
        return None
    chance = int.from_bytes(application.identifier[:4], "big") + now // 1000 * 7
    return max(last - chance % 1_500, 0) if chance % _ONE_OF == 0 else None
