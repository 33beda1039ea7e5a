"""The state of a simulated group as its queue managers report it. The model changes it, the answers read it.

Times are ms since 1970 UTC, None for never. Totals count since the object's start and only grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from mqvitals_agent.simulator.events import EventQueues

_SENDING = frozenset({"SENDER", "SERVER", "CLUSSDR"})
_NOT_ACTIVE = frozenset({"RETRYING", "STOPPED", "INACTIVE"})
_SHORT, _LONG = 0.2, 0.002
"""The weight of one second's value: half of a change shows after three seconds, and after six minutes."""


@cache
def _weights(seconds: int) -> tuple[float, float]:
    """The weights of a value that stands for several seconds."""
    return (_SHORT, _LONG) if seconds == 1 else (1 - (1 - _SHORT) ** seconds, 1 - (1 - _LONG) ** seconds)


@dataclass(slots=True)
class Average:
    """Both averages; None before the first value."""

    short: float | None = None
    long: float = 0.0

    def add(self, value: float, seconds: int = 1) -> None:
        """Add the value of a second, or of several."""
        if self.short is None:
            self.short = self.long = value
            return
        short, long = _weights(seconds)
        self.short += (value - self.short) * short
        self.long += (value - self.long) * long

    @property
    def pair(self) -> tuple[int, int] | None:
        """Both as whole numbers."""
        return None if self.short is None else (round(self.short), round(self.long))


@dataclass(slots=True)
class BufferPoolState:
    """A buffer pool. ``writing`` 0: none, 1: deferred writes run (85 % full), 2: synchronous writes (95 % full).

    Of the last second alone: the fewest buffers that were free (None: as many as now), requests that found none, pages
    written by the deferred write task and by the tasks that put, pages read back.
    """

    number: int
    buffers: int
    free: int
    location: str = "ABOVE"
    page_class: str = "FIXED4KB"
    writing: int = 0
    lowest: int | None = None
    waits: int = 0
    deferred_pages: int = 0
    synchronous_pages: int = 0
    read_pages: int = 0


@dataclass(slots=True)
class PageSetState:
    """A page set; unused pages are ``total`` less the two used ones."""

    number: int
    pool: int
    total: int
    persistent: int = 0
    nonpersistent: int = 0
    expand_count: int = 0
    expand_type: str = "USER"


@dataclass(slots=True)
class LogState:
    """The recovery log: bytes written since the beginning (its RBA), logs of ``log_bytes`` each, those not yet
    offloaded.

    ``start_rba`` is where it stood when the queue manager started.
    """

    total_logs: int = 8
    full_logs: int = 0
    log_bytes: int = 1_000_000_000
    rba: int = 0x1A00000000
    copies: int = 2
    suspended: bool = False
    archiving: bool = False
    checkpoint_rba: int = 0x19F0000000
    start_rba: int = 0x1900000000


@dataclass(slots=True)
class QueueState:
    """A local queue. ``structure`` names the coupling facility structure of a shared one, empty for a private one.

    ``times_us`` are the short-term and long-term average of a message's time on the queue. ``held_since`` is the time
    since which a consumer holds a unit of work. A queue that is not ``shareable`` is open to one consumer at a time.
    A queue that is ``triggered`` starts its application by ``trigger_type`` and ``initiation_queue``, a transmission
    queue its channel. It was ``created`` when it was last ``altered``, unless another time is given. A copy of each message goes to ``stream_queue``; without room there, puts fail where
    ``must_duplicate``.
    """

    name: str
    description: str = ""
    usage: str = "NORMAL"  # or XMITQ
    storage_class: str = "DEFAULT"
    structure: str = ""
    max_depth: int = 999_999_999
    high_pct: int = 80
    low_pct: int = 40
    persistent: bool = True
    message_bytes: int = 1000
    altered: int = 0
    created: int | None = None
    get_inhibited: bool = False
    monitoring: str = "MEDIUM"
    depth: int = 0
    put_total: int = 0
    got_total: int = 0
    input_handles: int = 0
    output_handles: int = 0
    shareable: bool = True
    triggered: bool = False
    trigger_type: str = "NONE"
    trigger_depth: int = 1
    initiation_queue: str = ""
    process: str = ""
    backout_queue: str = ""
    stream_queue: str = ""
    must_duplicate: bool = False
    uncommitted: int = 0
    held_since: int | None = None
    last_put: int | None = None
    last_get: int | None = None
    oldest_put: int | None = None
    times_us: tuple[int, int] | None = None


@dataclass(slots=True)
class ChannelInstance:
    """A current instance of a channel. Pairs are short-term and long-term averages."""

    started: int
    connection_name: str
    partner: str = ""
    transmission_queue: str = ""
    status: str = "RUNNING"
    substate: str = "MQGET"
    indoubt: bool = False
    stop_requested: bool = False
    last_message: int | None = None
    messages: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0
    buffers_sent: int = 0
    buffers_received: int = 0
    batches: int = 0
    current_messages: int = 0
    current_sequence: int = 0
    last_sequence: int = 0
    short_left: int = 10
    long_left: int = 999_999_999
    conversations: int = 0
    waiting: int = 0
    network_us: tuple[int, int] | None = None
    exit_us: tuple[int, int] | None = None
    transmission_us: tuple[int, int] | None = None
    batch_size: tuple[int, int] | None = None

    @property
    def active(self) -> bool:
        """False while it waits to retry, is stopped or inactive."""
        return self.status not in _NOT_ACTIVE


@dataclass(slots=True)
class ChannelState:
    """A channel's definition and its current instances; without one, or while all are INACTIVE, it is inactive."""

    name: str
    kind: str  # SENDER, RECEIVER, SVRCONN, CLUSSDR, CLUSRCVR
    description: str = ""
    connection_name: str = ""
    transmission_queue: str = ""
    batch_size: int = 50
    batch_interval_ms: int = 0
    heartbeat_s: int = 300
    max_message_bytes: int = 4_194_304
    monitoring: str = "MEDIUM"
    altered: int = 0
    most_instances: int = 999_999_999
    most_of_an_address: int = 999_999_999
    instances: list[ChannelInstance] = field(default_factory=list)

    @property
    def sends(self) -> bool:
        """Whether it sends from a transmission queue."""
        return self.kind in _SENDING

    @property
    def client(self) -> bool:
        """Whether clients connect through it."""
        return self.kind == "SVRCONN"


@dataclass(slots=True)
class StructureState:
    """A coupling facility structure, of the whole group. ``kind`` is ADMIN or APPL; sizes in KB."""

    name: str
    kind: str = "APPL"
    status: str = "ACTIVE"
    size_max_kb: int = 524_288
    size_used_kb: int = 0
    entries_max: int = 250_000
    entries_used: int = 0
    level: int = 5
    recover: bool = True
    offload: str = "NONE"  # or SMDS
    backup_started: int | None = None
    backup_ended: int | None = None
    backup_size_mb: int = 0
    smds_total_blocks: int = 0
    smds_used_blocks: int = 0


@dataclass(slots=True)
class SubscriptionState:
    """A durable subscription: its name, the queue that it fills, and its owner."""

    name: str
    destination: str
    user: str


@dataclass(slots=True)
class MemberState:
    """A queue manager. ``zone_ms`` is its local time minus UTC.

    ``tasks`` are the channel initiator's, by kind (adapters, dispatchers, ssl, dns): started and configured.
    """

    name: str
    number: int
    zone_ms: int = 0
    started: int = 0
    command_level: int = 940
    chinit_running: bool = True
    chinit_started: int = 0
    tasks: dict[str, tuple[int, int]] = field(
        default_factory=lambda: {"adapters": (8, 8), "dispatchers": (5, 5), "ssl": (4, 4), "dns": (1, 1)}
    )
    max_channels: int = 200
    max_active_channels: int = 200
    log: LogState = field(default_factory=LogState)
    pools: dict[int, BufferPoolState] = field(default_factory=dict)
    page_sets: dict[int, PageSetState] = field(default_factory=dict)
    storage_classes: dict[str, int] = field(default_factory=dict)
    bridges: dict[str, str] = field(default_factory=dict)
    """By storage class: the XCF member to which its queues are a bridge."""
    queues: dict[str, QueueState] = field(default_factory=dict)
    channels: dict[str, ChannelState] = field(default_factory=dict)
    subscriptions: list[SubscriptionState] = field(default_factory=list)
    security_off: frozenset[str] = frozenset()
    """Security switches that are off, such as ``COMMAND``."""
    shared_handles: dict[str, tuple[int, int]] = field(default_factory=dict)
    """This member's input and output handles of shared queues."""

    def channels_by_name(self) -> list[ChannelState]:
        """The channels in the order of their names."""
        return [channel for _, channel in sorted(self.channels.items())]


@dataclass(frozen=True, slots=True)
class HeldUnit:
    """A unit of work that is not committed: ``age_ms`` since its first log record, ``bytes`` were logged since then."""

    age_ms: int
    bytes: int
    in_doubt: bool = False


@dataclass(slots=True)
class ClusterState:
    """A cluster: its queue managers in all, those with a full repository, and what a partial one knows besides these."""

    name: str
    queue_managers: tuple[str, ...]
    repositories: tuple[str, ...]
    partial: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class Fault:
    """A queue manager's current fault.

    ``down``: connecting fails (2059) and open connections break (2009); ``failed``: the group knows that it failed.
    ``db2_lost``: it has no connection to Db2. ``refuse``: commands (``INQUIRE_ARCHIVE``) that
    it refuses (2035); ``silent``: those it never answers; ``truncate``: those whose answer stops half way; ``slow_ms``:
    the delay of every answer. ``log_suspended``: no update is made; ``rba_offset``: how much further its log positions
    are; ``units``: units of work that stay open. ``data_sets``: by shared message data set (``APPL2/QM02``) what is wrong with it for this
    queue manager, or with the data set itself for the group: ``ERROR``, ``STOPPED``, ``NOT_EXPANDED``, ``FAILED``.
    ``suspended``: it is suspended from its clusters; ``no_repository``: it has no full repository any more.
    ``clients``: instances of server-connection channels beyond the usual ones, by channel.
    ``pubsub_error``: its publish/subscribe engine has ended in error.
    """

    down: bool = False
    refuse: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    truncate: frozenset[str] = frozenset()
    slow_ms: int = 0
    failed: bool = False
    db2_lost: bool = False
    data_sets: dict[str, str] = field(default_factory=dict)
    log_suspended: bool = False
    rba_offset: int = 0
    units: tuple[HeldUnit, ...] = ()
    suspended: bool = False
    no_repository: bool = False
    clients: dict[str, tuple[ChannelInstance, ...]] = field(default_factory=dict)
    pubsub_error: bool = False


_NO_FAULT = Fault()


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Messages on a dead-letter queue: why, for which queue, how many, and how long ago they were put there, ms."""

    reason: int
    queue: str
    messages: int
    age_ms: int


@dataclass(slots=True)
class GroupState:
    """The whole group as of ``now``. Applications and the like follow from ``seed``."""

    site: str
    name: str
    now: int
    members: dict[str, MemberState] = field(default_factory=dict)
    structures: dict[str, StructureState] = field(default_factory=dict)
    shared_queues: dict[str, QueueState] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)
    clusters: dict[str, ClusterState] = field(default_factory=dict)
    dead_letters: dict[str, tuple[DeadLetter, ...]] = field(default_factory=dict)
    """By member: what is on its dead-letter queue."""
    events: EventQueues = field(default_factory=EventQueues)
    seed: int = 1

    def fault(self, member: str) -> Fault:
        """The current fault of a member; one without effect where it has none."""
        return self.faults.get(member, _NO_FAULT)

    def instances(self, member: MemberState, channel: ChannelState) -> Sequence[ChannelInstance]:
        """The current instances of a channel, with those of clients that should not be there."""
        more = self.fault(member.name).clients.get(channel.name)
        return [*channel.instances, *more] if more else channel.instances

    def is_up(self, member: str) -> bool:
        """Whether a member is up."""
        return not self.fault(member).down

    def ordered_structures(self) -> list[StructureState]:
        """The administration structure first, then the others in the order of their names."""
        return sorted(self.structures.values(), key=lambda each: (each.kind != "ADMIN", each.name))

    def messages_in(self, structure: str) -> int:
        """The messages on the shared queues of a structure."""
        return sum(queue.depth for queue in self.shared_queues.values() if queue.structure == structure)
