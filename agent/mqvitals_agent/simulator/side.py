"""The queues and channels that a group has beyond the ordinary site, many of them busy.

How each is follows from the moment alone, so thousands cost no more than a look: nothing is lived through in between. An application
puts at a rate that changes between busy and calm minutes; another gets all that is there every few seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mqvitals_agent.simulator.flow import STEP_MS
from mqvitals_agent.simulator.state import ChannelInstance, Queue

_BUSY_S, _CYCLE_S = 60, 120
"""One minute is busy, with three times the messages of the calm one after it."""
_SLOWEST, _RATES = 2, 23
"""The slowest moves two messages in a second of the calm minute: each moves in every second."""
_EVERY_S: Final = (1, 1, 1, 2, 3)
"""The seconds between two gets; with 1 nothing is ever found on the queue."""
_TIMES_US: Final = {1: (700, 700), 2: (500_000, 500_000), 3: (1_000_000, 1_000_000)}
"""By seconds between gets: the average time of a message on the queue."""
_RECEIVED_BYTES, _SENT_BYTES = 1000, 300


def moved(second: int) -> int:
    """How many seconds of a calm minute bring as many messages as come until ``second``."""
    cycles, part = divmod(second, _CYCLE_S)
    busy = min(part, _BUSY_S)
    return cycles * (4 * _BUSY_S) + 3 * busy + (part - busy)


class Sides:
    """Two of five queues and every second channel of those that were added move."""

    def __init__(self, begin: int, queues: Sequence[Queue], instances: Sequence[ChannelInstance]) -> None:
        """``begin``: when all is as it is now, ms since 1970 UTC."""
        self._begin = begin
        # Each: the object, its messages in a calm second, its place in the cycle, its total at the cycle's beginning.
        self._queues: list[tuple[Queue, int, int, int, int]] = []
        self._instances: list[tuple[ChannelInstance, int, int, int]] = []
        for place, queue in enumerate(queue for number, queue in enumerate(queues) if number % 5 in (1, 3)):
            calm, phase = _SLOWEST + place % _RATES, place % _CYCLE_S
            begun = queue.put_total - calm * moved(phase)
            self._queues.append((queue, calm, phase, begun, _EVERY_S[place % len(_EVERY_S)]))
            queue.output_handles = max(queue.output_handles, 1)
        for place, instance in enumerate(instances[1::2]):
            calm, phase = _SLOWEST + place % _RATES, place % _CYCLE_S
            self._instances.append((instance, calm, phase, instance.messages - calm * moved(phase)))

    def move(self, now: int) -> None:
        """Put all of them as they are ``now``, a whole number of seconds after the beginning."""
        if not self._queues and not self._instances:
            return
        second = (now - self._begin) // STEP_MS
        put = [moved(second + phase) for phase in range(_CYCLE_S)]
        # By seconds between gets: when they got last, and what they had got by then.
        last = {every: second - second % every for every in _EVERY_S}
        got = {every: [moved(at + phase) for phase in range(_CYCLE_S)] for every, at in last.items()}
        for queue, calm, phase, begun, every in self._queues:
            queue.put_total = begun + calm * put[phase]
            queue.got_total = begun + calm * got[every][phase]
            queue.depth = queue.put_total - queue.got_total
            queue.last_put = now
            got_at = self._begin + last[every] * STEP_MS
            if last[every]:
                queue.last_get = got_at
            queue.oldest_put = got_at + STEP_MS if queue.depth else None
            queue.times_us = _TIMES_US[every]
        for instance, calm, phase, begun in self._instances:
            count = begun + calm * put[phase]
            instance.messages = instance.buffers_received = instance.buffers_sent = count
            instance.bytes_received = count * _RECEIVED_BYTES
            instance.bytes_sent = count * _SENT_BYTES
            instance.last_message = now
