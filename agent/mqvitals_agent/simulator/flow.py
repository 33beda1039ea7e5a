"""Messages through a queue: what applications put and get each second, and what follows for depth, age and times."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from random import Random

from mqvitals_agent.simulator.average import Average
from mqvitals_agent.simulator.state import Queue

STEP_MS = 1000
_UNDER_WAY = 0.03
"""The share of a second's messages that is on its way to a consumer, at most."""
_SEEN_UNDER_WAY = 0.25
"""How often a look at a queue that is well served finds something on it."""
_FASTEST_US = 700
"""What a message takes from put to get when its consumer waits for it."""
_TENTH_EACH_WAY = 1.1 - 0.9
_TWENTIETH_EACH_WAY = 1.05 - 0.95
"""Widths of what ``random.uniform`` would give: its call costs more than all else in a second of a flow."""
_STUCK = 0.1
"""With a smaller share of its usual speed one of the consumers is stuck in a unit of work."""


@dataclass(slots=True)
class Flow:
    """The applications of one queue: messages they put and could get a second, and their open handles."""

    queue: Queue
    arrivals: float
    service: float
    readers: int = 2
    writers: int = 2
    arrival_factor: float = 1.0
    service_factor: float = 1.0
    _waiting: deque[tuple[int, int]] = field(default_factory=deque)
    """(when, how many were put until then), the oldest that is still there first."""
    _times: Average = field(default_factory=Average)
    _rest: float = 0.0

    def come(self, now: int, random: Random, slowed: float = 1.0) -> int:
        """What applications put in the second that ends ``now``; ``slowed`` is their share of the usual speed."""
        exact = self._rest + self.arrivals * self.arrival_factor * slowed * (0.9 + _TENTH_EACH_WAY * random.random())
        count = int(exact)
        self._rest = exact - count
        count = min(count, self.queue.max_depth - self.queue.depth)
        self.put(count, now)
        return count

    def put(self, count: int, now: int) -> None:
        """So many messages are put."""
        queue = self.queue
        queue.output_handles = self.writers
        if count > 0:
            queue.put_total += count
            queue.depth += count
            queue.last_put = now
            self._waiting.append((now, queue.put_total))
            queue.oldest_put = self._waiting[0][0]

    def go(self, now: int, random: Random) -> int:
        """What the consumers get in the second that ends ``now``."""
        queue = self.queue
        queue.input_handles = self.readers if self.service_factor > 0 else 0
        self._hold(now)
        able = int(self.service * self.service_factor * (0.95 + _TWENTIETH_EACH_WAY * random.random()))
        # Of what came last, some is still between put and get whenever anyone looks.
        under_way = random.randrange(2 + int(self.arrivals * _UNDER_WAY)) if random.random() < _SEEN_UNDER_WAY else 0
        return self.get(min(able, max(queue.depth - under_way, 0)), now)

    def _hold(self, now: int) -> None:
        """A consumer that hardly gets any more keeps what it got in a unit of work that it does not end."""
        queue = self.queue
        if not 0 < self.service_factor < _STUCK:
            queue.held_since, queue.uncommitted = None, 0
        elif queue.held_since is None:
            queue.held_since, queue.uncommitted = now, 1

    def get(self, count: int, now: int) -> int:
        """So many messages are got, the oldest first; returns how many."""
        queue, waiting = self.queue, self._waiting
        if count > 0:
            queue.got_total = got = queue.got_total + count
            queue.depth -= count
            queue.last_get = now
            newest_gone = now
            while waiting and waiting[0][1] <= got:
                newest_gone = waiting.popleft()[0]
            if waiting and queue.depth:
                newest_gone = min(newest_gone, waiting[0][0])
            self._times.add(max((now - newest_gone) * 1000, _FASTEST_US))
            queue.times_us = self._times.pair
        queue.oldest_put = waiting[0][0] if queue.depth else None
        return count

    def begin_round(self, now: int) -> tuple[object, ...]:
        """Forget what is of no weight at the beginning of a round; returns what is remembered, apart from when it was."""
        self._rest = 0.0
        self._times = Average()
        return tuple((now - when, self.queue.put_total - until) for when, until in self._waiting)

    def add_rounds(self, later: int, more: int) -> None:
        """What waits came ``later`` ms, and ``more`` messages had been put."""
        self._waiting = deque((when + later, until + more) for when, until in self._waiting)
