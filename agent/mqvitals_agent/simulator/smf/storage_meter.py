"""Buffer pools and page sets over an interval: the lowest of what was free, what was written and read (115/215, 115/201)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mqvitals_agent.simulator.smf.moment import duration
from mqvitals_agent.simulator.smf.queue_manager_tables import QIS1, QPST
from mqvitals_agent.simulator.smf.traffic import Traffic
from mqvitals_agent.simulator.state import Member, PageSet, Pool

PAGES_A_WRITE: Final = 16
"""A deferred write carries so many pages; the tasks that put write theirs one by one."""
_DEFERRED_US, _SYNCHRONOUS_US, _READ_US = 1_600, 850, 600
"""The time of one I/O."""
_ABOVE, _FIXED = 0x8000_0000, 0x4000_0000
_EXPAND: Final = {"USER": 1, "SYSTEM": 2, "NONE": 3}
_CHANGED: Final = 10
"""Of so many requests that wait for a buffer, one finds its place in the pool changed afterwards."""


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
    """Follows a queue manager's pools and page sets from now on, second by second."""

    def __init__(self, member: Member) -> None:
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
            # The deferred write task ends when it has written its share, and is started anew while there is more.
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

    def pools(self, traffic: Traffic) -> list[bytes]:
        """A section for each pool; ``traffic``: of the interval."""
        return [self._pool(pool, traffic) for _, pool in sorted(self._member.pools.items())]

    def _pool(self, pool: Pool, traffic: Traffic) -> bytes:
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

    def _page_set(self, page_set: PageSet) -> bytes:
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
                "deferred_time": duration(mark.deferred_writes * _DEFERRED_US),
                "synchronous_writes": mark.synchronous_pages,
                "synchronous_pages": mark.synchronous_pages,
                "synchronous_time": duration(mark.synchronous_pages * _SYNCHRONOUS_US),
                "reads": mark.read_pages,
                "pages_read": mark.read_pages,
                "read_time": duration(mark.read_pages * _READ_US),
                "expansions": page_set.expand_count - mark.expansions,
                "stripes": 1,
                "expand_type": _EXPAND[page_set.expand_type],
            }
        )


def _used(page_set: PageSet) -> int:
    return page_set.persistent + page_set.nonpersistent
