"""What a queue manager's queues have seen since they began, and what came between two looks."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from mqvitals_agent.simulator.state import Member, Queue
from mqvitals_agent.simulator.storage import PAGE_BYTES


@dataclass(slots=True)
class Pages:
    """Messages put and got through one buffer pool, and the new pages that those put took."""

    puts: int = 0
    gets: int = 0
    new: int = 0


@dataclass(slots=True)
class Traffic:
    """Messages put and got, the persistent ones among those put, bytes put; the same by buffer pool."""

    puts: int = 0
    gets: int = 0
    persistent: int = 0
    put_bytes: int = 0
    persistent_bytes: int = 0
    pools: dict[int, Pages] = field(default_factory=lambda: defaultdict(Pages))

    def since(self, before: Traffic) -> Traffic:
        """What came after ``before``."""
        pools = defaultdict(Pages)
        for number, now in self.pools.items():
            then = before.pools.get(number, Pages())
            pools[number] = Pages(now.puts - then.puts, now.gets - then.gets, now.new - then.new)
        return Traffic(
            self.puts - before.puts,
            self.gets - before.gets,
            self.persistent - before.persistent,
            self.put_bytes - before.put_bytes,
            self.persistent_bytes - before.persistent_bytes,
            pools,
        )

    def add(self, queue: Queue, puts: int, gets: int) -> None:
        """So many messages of a queue more."""
        self.puts += puts
        self.gets += gets
        self.put_bytes += puts * queue.message_bytes
        if queue.persistent:
            self.persistent += puts
            self.persistent_bytes += puts * queue.message_bytes


def private_traffic(member: Member) -> Traffic:
    """All that a queue manager's own queues have seen."""
    found = Traffic()
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
