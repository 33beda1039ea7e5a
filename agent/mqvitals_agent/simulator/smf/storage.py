"""A queue manager's traffic, log, buffer pools and page sets over an interval (115 subtypes 1, 201 and 215)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final
from zlib import crc32

from mqvitals_agent.simulator.smf.records import QIS1, QJST, QPST, tod_duration, tod_stamp
from mqvitals_agent.simulator.state import BufferPoolState, LogState, MemberState, PageSetState, QueueState
from mqvitals_agent.simulator.storage import PAGE_BYTES


@dataclass(slots=True)
class PoolTraffic:
    """Messages put and got through one buffer pool, and the new pages that those put took."""

    puts: int = 0
    gets: int = 0
    new: int = 0


@dataclass(slots=True)
class QueueTraffic:
    """Messages put and got, the persistent ones among those put, bytes put; the same by buffer pool."""

    puts: int = 0
    gets: int = 0
    persistent: int = 0
    put_bytes: int = 0
    persistent_bytes: int = 0
    pools: dict[int, PoolTraffic] = field(default_factory=lambda: defaultdict(PoolTraffic))

    def since(self, before: QueueTraffic) -> QueueTraffic:
        """The traffic since ``before``."""
        pools = defaultdict(PoolTraffic)
        for number, now in self.pools.items():
            then = before.pools.get(number, PoolTraffic())
            pools[number] = PoolTraffic(now.puts - then.puts, now.gets - then.gets, now.new - then.new)
        return QueueTraffic(
            self.puts - before.puts,
            self.gets - before.gets,
            self.persistent - before.persistent,
            self.put_bytes - before.put_bytes,
            self.persistent_bytes - before.persistent_bytes,
            pools,
        )

    def add(self, queue: QueueState, puts: int, gets: int) -> None:
        """Add messages of a queue."""
        self.puts += puts
        self.gets += gets
        self.put_bytes += puts * queue.message_bytes
        if queue.persistent:
            self.persistent += puts
            self.persistent_bytes += puts * queue.message_bytes


def private_traffic(member: MemberState) -> QueueTraffic:
    """The traffic of a queue manager's private queues so far."""
    found = QueueTraffic()
    page_sets, classes = member.page_sets, member.storage_classes
    pools = {name: page_sets[number].pool for name, number in classes.items() if number in page_sets}
    for queue in member.queues.values():
        found.add(queue, queue.put_total, queue.got_total)
        pool = pools.get(queue.storage_class)
        if pool is not None:
            pages = found.pools[pool]
            pages.puts += queue.put_total
            pages.gets += queue.got_total
            pages.new += queue.put_total * -(-queue.message_bytes // PAGE_BYTES)
    return found


INTERVAL_BYTES: Final = 4096
"""A control interval of the log."""
_INTERVALS_A_WRITE: Final = 8
_REWRITTEN_OF: Final = 100
"""One of this many control intervals is written again because it was on disk before it was full."""
_SINGLE_US, _MULTIPLE_US = 320, 700
_SLOWEST_US: Final = 900
"""The longest I/O of a second is longer than the others by less than this."""
_FIRST_ONLY: Final = 2
"""The first two of the four groups of I/Os are those of the first copy: of one control interval, of several."""


class LogMeter:
    """Measures a queue manager's log, second by second."""

    def __init__(self, member: MemberState) -> None:
        self._name = member.name
        self._log = member.log
        self._began_rba = self._rba = member.log.rba
        self._full_logs = member.log.full_logs
        self._single = self._multiple = self._written = 0
        self._buffer_waits = self._offloads = 0
        self._longest = [0, 0]
        self._longest_at: list[int | None] = [None, None]

    def second(self, now: int) -> None:
        """One second has passed, until ``now``."""
        log = self._log
        made = log.rba // INTERVAL_BYTES - self._rba // INTERVAL_BYTES
        switches = log.rba // log.log_bytes - self._rba // log.log_bytes
        if log.archiving:
            self._offloads += max(0, switches - (log.full_logs - self._full_logs))
        if log.full_logs >= log.total_logs - 1:
            # No log is free when this one is full: writers wait for a buffer.
            self._buffer_waits += made
        self._rba, self._full_logs = log.rba, log.full_logs
        if not made:
            return
        single, multiple = -(-made // _REWRITTEN_OF), -(-made // _INTERVALS_A_WRITE)
        self._single += single
        self._multiple += multiple
        self._written += made
        for kind, usual in enumerate((_SINGLE_US, _MULTIPLE_US)):
            longest = usual + crc32(f"{self._name}/{now}/{kind}".encode()) % _SLOWEST_US
            if longest > self._longest[kind]:
                self._longest[kind], self._longest_at[kind] = longest, now

    def section(self, puts: int, length_ms: int) -> bytes:
        """The section; ``puts``: persistent messages of the interval, which has ``length_ms``."""
        log = self._log
        busy_us = self._single * _SINGLE_US + self._multiple * _MULTIPLE_US
        switches = log.rba // log.log_bytes - self._began_rba // log.log_bytes
        forced = min(self._single + self._multiple, puts)
        squares = self._single * _SINGLE_US**2 + self._multiple * _MULTIPLE_US**2
        values: dict[str, int | str] = {
            "not_waited": 2 * puts,
            "forced": forced,
            "buffer_waits": self._buffer_waits,
            "bootstrap": 2 * switches,
            "intervals_made": log.rba // INTERVAL_BYTES - self._began_rba // INTERVAL_BYTES,
            "write_calls": self._single + self._multiple,
            "archives_written": self._offloads * log.copies,
            "intervals_offloaded": self._offloads * (log.log_bytes // INTERVAL_BYTES),
            "checkpoints": switches,
            "suspends": forced,
            "writes": log.copies * (self._single + self._multiple),
            "intervals_written": log.copies * (self._single + self._written),
            "serial_writes": self._single if log.copies > 1 else 0,
            "idle_us": max(length_ms * 1000 - busy_us, 0),
            "squares_high": squares >> 64,
            "squares": squares & 0xFFFFFFFF_FFFFFFFF,
            "new_logs_1": switches,
            "new_logs_2": switches if log.copies > 1 else 0,
        }
        for group in range(_FIRST_ONLY * min(log.copies, 2)):
            values |= self._group(group, log)
        return QJST.pack(values)

    def _group(self, group: int, log: LogState) -> dict[str, int | str]:
        copy, kind = divmod(group, 2)
        count, usual = ((self._single, _SINGLE_US), (self._multiple, _MULTIPLE_US))[kind]
        number = log.rba // log.log_bytes % log.total_logs + 1
        found: dict[str, int | str] = {
            f"count_{group}": count,
            f"intervals_{group}": self._written if kind else self._single,
            f"time_{group}": tod_duration(count * usual),
            f"suspended_{group}": tod_duration(count * usual),
        }
        if self._longest_at[kind] is not None:
            found |= {
                f"longest_{group}": tod_duration(self._longest[kind]),
                f"longest_at_{group}": tod_stamp(self._longest_at[kind]),
                f"longest_log_{group}": f"PY{copy + 1}.DS{number:02}",
            }
        return found


PAGES_A_WRITE: Final = 16
"""The number of pages of a deferred write; putting tasks write pages one by one."""
_DEFERRED_US, _SYNCHRONOUS_US, _READ_US = 1_600, 850, 600
"""The time of one I/O."""
_ABOVE, _FIXED = 0x8000_0000, 0x4000_0000
_EXPAND: Final = {"USER": 1, "SYSTEM": 2, "NONE": 3}
_CHANGED: Final = 10
"""One of this many requests that wait for a buffer finds the pool changed afterwards."""


@dataclass(slots=True)
class _Pool:
    lowest: int
    deferred_starts: int = 0
    synchronous_hits: int = 0
    waits: int = 0
    deferred_pages: int = 0
    deferred_writes: int = 0
    synchronous_pages: int = 0
    read_pages: int = 0


@dataclass(slots=True)
class _PageSet:
    used: int
    expansions: int
    full: int = 0
    deferred_pages: int = 0
    deferred_writes: int = 0
    synchronous_pages: int = 0
    read_pages: int = 0


class StorageMeter:
    """Measures a queue manager's pools and page sets, second by second."""

    def __init__(self, member: MemberState) -> None:
        self._member = member
        self._pools = {number: _Pool(pool.free) for number, pool in member.pools.items()}
        self._page_sets = {
            number: _PageSet(_used(each), each.expand_count) for number, each in member.page_sets.items()
        }

    @property
    def read_pages(self) -> int:
        """Pages read back from page sets so far."""
        return sum(each.read_pages for each in self._pools.values())

    def second(self) -> None:
        """One second has passed."""
        for number, pool in self._member.pools.items():
            mark = self._pools[number]
            mark.lowest = min(mark.lowest, pool.free if pool.lowest is None else pool.lowest)
            if not (pool.writing or pool.read_pages):
                continue
            # The deferred write task ends after its share, and starts again while pages are left.
            mark.deferred_starts += pool.writing >= 1
            mark.synchronous_hits += pool.writing == 2
            mark.waits += pool.waits
            writes = -(-pool.deferred_pages // PAGES_A_WRITE)
            for each in (mark, self._busiest(number)):
                if each is not None:
                    each.deferred_pages += pool.deferred_pages
                    each.deferred_writes += writes
                    each.synchronous_pages += pool.synchronous_pages
                    each.read_pages += pool.read_pages
        for number, page_set in self._member.page_sets.items():
            self._page_sets[number].full += _used(page_set) >= page_set.total

    def _busiest(self, pool: int) -> _PageSet | None:
        """The page set that the pages of a pool go to: the one that changed most in this interval."""
        page_sets = self._member.page_sets
        numbers = [number for number, each in sorted(page_sets.items()) if each.pool == pool]
        if not numbers:
            return None
        return self._page_sets[
            max(numbers, key=lambda number: abs(_used(page_sets[number]) - self._page_sets[number].used))
        ]

    def pools(self, traffic: QueueTraffic) -> list[bytes]:
        """A section for each pool; ``traffic``: of the interval."""
        return [self._pool(pool, traffic) for _, pool in sorted(self._member.pools.items())]

    def _pool(self, pool: BufferPoolState, traffic: QueueTraffic) -> bytes:
        mark, pages = self._pools[pool.number], traffic.pools[pool.number]
        flags = (_ABOVE if pool.location == "ABOVE" else 0) | (_FIXED if pool.page_class == "FIXED4KB" else 0)
        return QPST.pack(
            {
                "pool": pool.number,
                "buffers": pool.buffers,
                "lowest": mark.lowest,
                "free": pool.free,
                "old_pages": pages.puts + pages.gets,
                "new_pages": pages.new,
                "reads": mark.read_pages,
                "updates": pages.puts + pages.gets,
                "pages_written": mark.deferred_pages + mark.synchronous_pages,
                "writes": mark.deferred_writes + mark.synchronous_pages,
                "synchronous_pages": mark.synchronous_pages,
                "deferred_starts": mark.deferred_starts,
                "synchronous_hits": mark.synchronous_hits,
                "steals": pages.new + mark.read_pages,
                "changed_steals": mark.waits // _CHANGED,
                "waits": mark.waits,
                "flags": flags,
            }
        )

    def page_sets(self) -> list[bytes]:
        """A section for each page set."""
        return [self._page_set(each) for _, each in sorted(self._member.page_sets.items())]

    def _page_set(self, page_set: PageSetState) -> bytes:
        mark = self._page_sets[page_set.number]
        return QIS1.pack(
            {
                "page_set": page_set.number,
                "pool": page_set.pool,
                "total": page_set.total,
                "unused": page_set.total - _used(page_set),
                "persistent": page_set.persistent,
                "nonpersistent": page_set.nonpersistent,
                "full": mark.full,
                "deferred_writes": mark.deferred_writes,
                "deferred_pages": mark.deferred_pages,
                "deferred_time": tod_duration(mark.deferred_writes * _DEFERRED_US),
                "synchronous_writes": mark.synchronous_pages,
                "synchronous_pages": mark.synchronous_pages,
                "synchronous_time": tod_duration(mark.synchronous_pages * _SYNCHRONOUS_US),
                "reads": mark.read_pages,
                "pages_read": mark.read_pages,
                "read_time": tod_duration(mark.read_pages * _READ_US),
                "expansions": page_set.expand_count - mark.expansions,
                "stripes": 1,
                "expand_type": _EXPAND[page_set.expand_type],
            }
        )


def _used(page_set: PageSetState) -> int:
    return page_set.persistent + page_set.nonpersistent
