"""The tasks of a channel initiator over an interval: which had how much to do (115/231)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from zlib import crc32

from mqvitals_agent.simulator.smf.channel_meter import Moved
from mqvitals_agent.simulator.smf.moment import duration

_GET_US, _PUT_US, _CALL_US, _COMMIT_US = 26.0, 38.0, 55.0, 110.0
"""How long an adapter is busy with one request: a message got or put for a channel, a client's call, the end of a batch."""
_CPU_SHARE: Final = 0.6
"""Of that time, what is processor time; the rest is waiting, mostly for the log."""
_HELD: Final = 0.02
"""While a batch is under way to the partner it holds its locks: each further call waits for this share of the network's time."""
_BUFFER_US, _BUFFER_CPU_US = 14.0, 12.5
"""How long a dispatcher is busy with one buffer that is sent or received, and its processor time."""
_RESOLVE_US, _RESOLVE_CPU_US = 2_400.0, 90.0
_FIRST_TASK: Final = 0x8C_0000
_BETWEEN_TASKS: Final = 0x298


@dataclass(frozen=True, slots=True)
class Work:
    """Requests of an interval, their processor time and the time that tasks were busy with them (microseconds)."""

    requests: int = 0
    cpu_us: float = 0.0
    busy_us: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(self.requests + other.requests, self.cpu_us + other.cpu_us, self.busy_us + other.busy_us)


def adapter_work(moved: Moved) -> Work:
    """What a channel's instance asked of adapters."""
    if moved.client:
        return Work(moved.messages, moved.messages * _CALL_US * _CPU_SHARE, moved.messages * _CALL_US)
    own_us = moved.messages * (_GET_US if moved.sends else _PUT_US) + moved.batches * _COMMIT_US
    return Work(moved.messages + moved.batches, own_us * _CPU_SHARE, own_us + moved.network_us * _HELD)


def dispatcher_work(moved: Moved) -> Work:
    """What a channel's instance asked of its dispatcher."""
    return Work(moved.buffers, moved.buffers * _BUFFER_CPU_US, moved.buffers * _BUFFER_US)


def resolver_work(moved: Sequence[Moved]) -> Work:
    """What channels asked of the DNS task: the address of a partner whom they try to reach again."""
    retries = sum(each.retries for each in moved)
    return Work(retries, retries * _RESOLVE_CPU_US, retries * _RESOLVE_US)


def spread(work: Work, tasks: int, length_us: int) -> list[Work]:
    """The work of an interval over so many tasks, of which a request takes the first that is free.

    The share of each is what overflows from those before it less what overflows from it (Erlang's loss formula); what all of
    them together cannot take at once waits, and comes to each alike. All requests are given to some task.
    """
    load = work.busy_us / length_us if length_us else 0.0
    lost = [1.0]
    for number in range(1, tasks + 1):
        lost.append(load * lost[-1] / (number + load * lost[-1]))
    shares = [before - after + lost[-1] / tasks for before, after in pairwise(lost)]
    found, given, reached = [], 0, 0.0
    for number, share in enumerate(shares, start=1):
        reached += share
        until = work.requests if number == tasks else round(work.requests * reached)
        requests, given = until - given, until
        part = requests / work.requests if work.requests else 0.0
        found.append(Work(requests, work.cpu_us * part, min(work.busy_us * part, length_us)))
    return found


def values(work: Work, length_us: int, member: str, kind: str, number: int) -> dict[str, int | str]:
    """What a task's section tells; busy and waiting make up the interval exactly."""
    whole, busy = duration(length_us), duration(min(work.busy_us, length_us))
    return {
        "task": address(member, kind, number),
        "requests": work.requests,
        "cpu": min(duration(work.cpu_us), whole),
        "elapsed": busy,
        "wait": whole - busy,
    }


def address(member: str, kind: str, number: int) -> int:
    """A task is told by the address of its control block."""
    return _FIRST_TASK + (crc32(f"{member}/{kind}".encode()) & 0xFFF8) - number * _BETWEEN_TASKS


def longest_us(work: Work) -> float:
    """The longest of the DNS task's requests; all take the same time."""
    return work.busy_us / work.requests if work.requests else 0.0
