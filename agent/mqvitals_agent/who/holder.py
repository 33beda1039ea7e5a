"""Who has a queue open, as its queue managers told it: one entry for each open handle. Data, made by ``reading`` and ``match``.

States are named as DISPLAY QSTATUS, DISPLAY CONN and DISPLAY CHSTATUS name them; a number without a name is its digits.
Texts are MQ's, without trailing blanks, and empty where MQ told none. Times of MQ are local to the queue manager and are
kept as it wrote them (``2026-11-21 09.12.44``).
"""

from __future__ import annotations

from dataclasses import dataclass

from mqvitals_rules.snapshot import ObjectName


@dataclass(frozen=True, slots=True)
class UnitOfWork:
    """A unit of work of a connection (DISPLAY CONN: UOWSTATE, URTYPE, UOWSTDA and UOWSTTI, UOWLOGDA and UOWLOGTI)."""

    state: str
    type: str
    began: str
    log_began: str


@dataclass(frozen=True, slots=True)
class Connection:
    """The connections that a handle may belong to: ``count`` of them look alike to whoever asks.

    ``identifier`` is CONN in hexadecimal where there is one only, else empty. ``unit_of_work`` is one in doubt if
    there is any, else one that is under way; of several the one that began first.
    """

    count: int
    identifier: str
    unit_of_work: UnitOfWork | None


@dataclass(frozen=True, slots=True)
class Instance:
    """The current instances of a channel that a handle may come through, ``count`` of them; the rest is of the newest.

    ``status`` and ``substate`` as CHSTATUS names them, ``msgs`` messages (MQI calls of a server-connection) since it began,
    ``remote_application`` is RAPPLTAG, ``user`` MCAUSER.
    """

    count: int
    status: str
    substate: str
    msgs: int | None
    last_message: str
    remote_application: str
    user: str


@dataclass(frozen=True, slots=True)
class Holder:
    """One open handle (DISPLAY QSTATUS TYPE(HANDLE)).

    ``input`` is NO, SHARED or EXCL. ``output``, ``browse``, ``inquire`` and ``set``: what it was opened for; None where the
    queue manager did not say. ``state`` is ACTIVE while a call is in progress. ``process`` and ``thread`` exist on distributed
    queue managers alone. ``connection`` and ``instance`` are None where nothing fits, or nothing could be asked.
    """

    application: str
    application_type: str
    description: str
    user: str
    asid: str
    channel: str
    connection_name: str
    transaction: str
    task: str
    psb: str
    region: str
    process: int | None
    thread: int | None
    input: str
    output: bool | None
    browse: bool | None
    inquire: bool | None
    set: bool | None
    state: str
    async_state: str
    connection: Connection | None = None
    instance: Instance | None = None


@dataclass(frozen=True, slots=True)
class MemberHolders:
    """What one queue manager told: asked at ``at`` (ms since 1970 UTC, our clock), all answers within ``took_ms``.

    ``problem`` is why nothing is known of its handles, a sentence; then ``holders`` is empty, which does not mean that nobody
    has the queue open. ``notes`` are sentences about what else could not be learnt, such as the connections.
    """

    queue_manager: str
    at: int
    took_ms: int
    holders: tuple[Holder, ...] = ()
    problem: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Holders:
    """Who has ``queue`` open: one entry for each queue manager that was asked, in the order of the configuration."""

    queue: ObjectName
    members: tuple[MemberHolders, ...]
