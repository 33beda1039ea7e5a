"""Buffer pools and page sets under the backlog of their queues, and the log under what is written to it.

A message that stays on its queue occupies a page of its page set and, until it is written there, a buffer of its pool.
From 85 % in use the deferred write task writes pages out and their buffers become free; from 95 % every task that puts
writes its pages itself, which slows it down.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mqvitals_agent.simulator.state import BufferPoolState, MemberState, PageSetState, QueueState

DEFERRED, SYNCHRONOUS = 0.85, 0.95
PAGE_BYTES = 4096
_MESSAGE_OVERHEAD = 500
_DEFERRED_PAGES = 200
"""Pages that the deferred write task writes in a second."""
_SYNCHRONOUS_PAGES = 80
"""Pages that the putting tasks write in addition."""
SLOWED = 0.75
"""The share of the usual put rate while tasks write pages."""
_EXPANDS_AT = 0.9
_LOG_OVERHEAD = 900
_ARCHIVE_S = 12


@dataclass(slots=True)
class Storage:
    """The buffer pools, page sets and log of one queue manager, for the queues that it has now. Each call moves so many
    ``seconds``.
    """

    member: MemberState
    seconds: int = 1
    _base_buffers: dict[int, int] = field(default_factory=dict)
    _base_pages: dict[int, int] = field(default_factory=dict)
    _written: dict[int, float] = field(default_factory=dict)
    _archived_s: int = 0
    _to_write: int = 0
    _seconds: list[tuple[int, bool]] = field(default_factory=list)
    _last_round: list[tuple[int, bool]] = field(default_factory=list)
    _queues: list[tuple[QueueState, int, int]] = field(default_factory=list)
    _calm_pools: set[int] = field(default_factory=set)
    _calm_page_sets: set[int] = field(default_factory=set)
    """Page sets that are and were empty: another such second does not change them."""

    def __post_init__(self) -> None:
        for pool in self.member.pools.values():
            self._base_buffers[pool.number] = pool.buffers - pool.free
        for page_set in self.member.page_sets.values():
            self._base_pages[page_set.number] = page_set.persistent
        for queue in self.member.queues.values():
            number = self.member.storage_classes.get(queue.storage_class)
            if number in self._base_pages:
                self._queues.append((queue, number, queue.message_bytes + _MESSAGE_OVERHEAD))

    def slowed(self, storage_class: str) -> float:
        """The share of the usual put rate for queues of a storage class."""
        page_set = self.member.page_sets.get(self.member.storage_classes.get(storage_class, -1))
        pool = None if page_set is None else self.member.pools.get(page_set.pool)
        return SLOWED if pool is not None and pool.writing == 2 else 1.0

    @property
    def slows_anything(self) -> bool:
        """Whether any queue has a reduced put rate."""
        return any(pool.writing == 2 for pool in self.member.pools.values())

    def move(self) -> None:
        """One second: page sets hold the backlog, pools the part of it that is not yet written."""
        pages = dict.fromkeys(self.member.page_sets, 0)
        for queue, number, size in self._queues:
            if queue.depth:
                pages[number] += queue.depth * size // PAGE_BYTES
        waiting = dict.fromkeys(self.member.pools, 0)
        for page_set in self.member.page_sets.values():
            held = pages[page_set.number]
            if held or page_set.number not in self._calm_page_sets:
                self._fill(page_set, held)
                waiting[page_set.pool] = waiting.get(page_set.pool, 0) + held
        for number, pool in self.member.pools.items():
            if waiting[number] or number not in self._calm_pools:
                self._use(pool, waiting[number])

    def _fill(self, page_set: PageSetState, pages: int) -> None:
        page_set.persistent = min(self._base_pages[page_set.number] + pages, page_set.total)
        if page_set.persistent > _EXPANDS_AT * page_set.total and page_set.expand_type != "NONE":
            page_set.total += page_set.total // 10
            page_set.expand_count += 1
            self._calm_page_sets.discard(page_set.number)
        elif pages:
            self._calm_page_sets.discard(page_set.number)
        else:
            self._calm_page_sets.add(page_set.number)

    def _use(self, pool: BufferPoolState, pages: int) -> None:
        base = self._base_buffers[pool.number]
        before = self._written.get(pool.number, 0.0)
        written = min(before, pages)  # the messages of the rest have been got
        taken = int(before) - int(written)
        used = base + pages - written
        share = used / pool.buffers
        pool.writing = 2 if share >= SYNCHRONOUS else 1 if share >= DEFERRED else 0
        pool.deferred_pages = pool.synchronous_pages = 0
        # Before any page is written, each page of this second needs a buffer.
        pool.waits = max(0, round(used - pool.buffers))
        lowest = max(0, int(pool.buffers - used))
        if pool.writing:
            # Written no further than down to the threshold; and no pool holds more than all its buffers.
            unwritten = int(written)
            most = (_DEFERRED_PAGES + (_SYNCHRONOUS_PAGES if pool.writing == 2 else 0)) * self.seconds
            written += min(most, max(used - DEFERRED * pool.buffers, 0))
            written = max(written, base + pages - 0.985 * pool.buffers)
            pages_written = int(written) - unwritten
            pool.deferred_pages = min(pages_written, _DEFERRED_PAGES * self.seconds)
            pool.synchronous_pages = pages_written - pool.deferred_pages
        elif pages and written:
            before = written
            written -= min(written, 0.05 * written + 1)  # gets read pages back
            taken += int(before) - int(written)
        pool.read_pages = taken
        self._written[pool.number] = written
        if pages or before or written or pool.writing:
            self._calm_pools.discard(pool.number)
        else:
            self._calm_pools.add(pool.number)
        pool.free = max(0, round(pool.buffers - (base + pages - written)))
        pool.lowest = min(lowest, pool.free)

    def log(self, messages: int, message_bytes: int) -> None:
        """So many persistent messages of that size are to be logged in this second."""
        self._to_write += messages * (message_bytes + _LOG_OVERHEAD)

    def end_second(self, *, stopped: bool) -> None:
        """Write the second's messages to the log, and offload; ``stopped``: archiving is stopped."""
        self._second(self._to_write, stopped)
        self._seconds.append((self._to_write, stopped))
        self._to_write = 0

    def begin_round(self) -> tuple[object, ...]:
        """What is remembered at the beginning of a round; the log's way is remembered from here on."""
        self._last_round, self._seconds = self._seconds or self._last_round, []
        return (*self._written.items(), tuple(self._last_round))

    def add_rounds(self, rounds: int) -> None:
        """Write the log of the last round again, ``rounds`` times."""
        for _ in range(rounds):
            for count, stopped in self._last_round:
                self._second(count, stopped)

    def write_again(self, first: int, last: int) -> None:
        """Write the log of the last round from the end of its second ``first`` to that of ``last``."""
        for count, stopped in self._last_round[first:last]:
            self._second(count, stopped)

    def _second(self, count: int, stopped: bool) -> None:  # noqa: FBT001 - called for every second of days
        log = self.member.log
        before = log.rba // log.log_bytes
        log.rba += count
        switches = log.rba // log.log_bytes - before
        if switches:
            log.full_logs = min(log.full_logs + switches, log.total_logs - 1)
            log.checkpoint_rba = log.rba
        log.archiving = bool(log.full_logs) and not stopped
        if not log.archiving:
            self._archived_s = 0
            return
        # A full log takes some seconds to offload.
        self._archived_s += self.seconds
        if self._archived_s >= _ARCHIVE_S:
            log.full_logs = max(log.full_logs - self._archived_s // _ARCHIVE_S, 0)
            self._archived_s = 0
