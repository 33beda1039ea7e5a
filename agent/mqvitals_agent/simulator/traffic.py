"""Messages through queues and over channels, second by second.

The time of a batch follows the documents: ``n * 10 + put + commit + wait`` microseconds, with 1000 each for the put and
the commit, and for the wait the network's time and 1000 of the partner (Performance Tuning and Problem Determination,
"Where is the time spent"). Queues and channels beyond the ordinary site follow from the time alone, so thousands cost
little.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from random import Random
from typing import Final

from mqvitals_agent.simulator.state import Average, ChannelInstance, ChannelState, QueueState

STEP_MS = 1000
_UNDER_WAY = 0.03
"""The largest share of a second's messages that is between put and get."""
_SEEN_UNDER_WAY = 0.25
"""The probability that a well-served queue is not empty."""
_FASTEST_US = 700
"""The time of a message from put to get when its consumer waits for it."""
_TENTH_EACH_WAY = 1.1 - 0.9
_TWENTIETH_EACH_WAY = 1.05 - 0.95
"""Widths of ``random.uniform``, whose call would cost more than the rest of a flow's second."""
_STUCK = 0.1
"""Below this share of the usual rate one of the consumers is stuck in a unit of work."""


@dataclass(slots=True)
class QueueFlow:
    """The applications of one queue: messages they put and could get a second, and their open handles.

    ``copies`` is the queue that gets a copy of each message. An application that is started by a trigger closes its
    queue when it was empty for ``ends_after_ms``; 0: it is always there. Those that ``close`` have the queue open only
    while messages come or are there. Each call moves the messages of so many ``seconds``.
    """

    queue: QueueState
    arrivals: float
    service: float
    readers: int = 2
    writers: int = 2
    arrival_factor: float = 1.0
    service_factor: float = 1.0
    copies: QueueFlow | None = None
    ends_after_ms: int = 0
    closes: bool = False
    seconds: int = 1
    _waiting: deque[tuple[int, int]] = field(default_factory=deque)
    """(time, messages put until then), the oldest message on the queue first."""
    _times: Average = field(default_factory=Average)
    _rest: float = 0.0

    def begin(self, now: int) -> None:
        """The applications that are there have the queue open before the first second, which begins ``now``."""
        self.queue.input_handles = self.readers if self._reads(now) else 0
        self.queue.output_handles = self.writers

    def come(self, now: int, random: Random, slowed: float = 1.0) -> int:
        """Put the messages of the second that ends ``now``; ``slowed`` is the share of the usual rate."""
        rate = self.arrivals * self.arrival_factor * slowed * self.seconds
        exact = self._rest + rate * (0.9 + _TENTH_EACH_WAY * random.random())
        count = int(exact)
        self._rest = exact - count
        count = min(count, self.queue.max_depth - self.queue.depth)
        if self.copies is not None:
            room = self.copies.queue.max_depth - self.copies.queue.depth
            count = min(count, room) if self.queue.must_duplicate else count
            self.copies.put(min(count, room), now)
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
        """Get the messages of the second that ends ``now``."""
        queue = self.queue
        queue.input_handles = self.readers if self._reads(now) else 0
        self._hold(now)
        rate = self.service * self.service_factor * self.seconds if queue.input_handles else 0.0
        able = int(rate * (0.95 + _TWENTIETH_EACH_WAY * random.random()))
        # Some of the last messages are always between put and get.
        under_way = random.randrange(2 + int(self.arrivals * _UNDER_WAY)) if random.random() < _SEEN_UNDER_WAY else 0
        return self.get(min(able, max(queue.depth - under_way, 0)), now)

    def _reads(self, now: int) -> bool:
        """Whether the consumers have the queue open."""
        queue = self.queue
        if self.service_factor <= 0 or queue.get_inhibited:
            return False
        if self.ends_after_ms:
            if queue.depth:
                # A depth trigger starts its application once.
                return queue.input_handles > 0 or queue.trigger_type != "DEPTH" or queue.depth >= queue.trigger_depth
            return queue.input_handles > 0 and queue.last_get is not None and now - queue.last_get < self.ends_after_ms
        return not self.closes or queue.depth > 0 or self.arrival_factor > 0

    def _hold(self, now: int) -> None:
        """A consumer that gets hardly any messages is stuck in a unit of work."""
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
            self._times.add(max((now - newest_gone) * 1000, _FASTEST_US), self.seconds)
            queue.times_us = self._times.pair
        queue.oldest_put = waiting[0][0] if queue.depth else None
        return count

    def begin_round(self, now: int) -> tuple[object, ...]:
        """Drop state without effect on the next round; returns the rest, without times."""
        self._rest = 0.0
        self._times = Average()
        return tuple((now - when, self.queue.put_total - until) for when, until in self._waiting)

    def add_rounds(self, later: int, more: int) -> None:
        """Shift waiting messages by ``later`` ms and ``more`` messages."""
        self._waiting = deque((when + later, until + more) for when, until in self._waiting)


_A_MESSAGE_US, _PUT_US, _COMMIT_US, _PARTNER_US = 10, 1000, 1000, 1000
_SECOND_US = 1_000_000
_SHORT_RETRY_S = 60
_HEADER_BYTES = 480


def batch_us(messages: float, network_us: float) -> float:
    """The time of one batch of ``messages``."""
    return messages * _A_MESSAGE_US + _PUT_US + _COMMIT_US + network_us + _PARTNER_US


def achieved(arriving: float, batch_size: int, network_us: float) -> float:
    """Messages of a batch: those that arrive while the batch before is under way, 1 to BATCHSZ."""
    fixed = batch_us(0, network_us)
    spare = _SECOND_US - arriving * _A_MESSAGE_US
    return batch_size if spare <= 0 else min(max(arriving * fixed / spare, 1.0), batch_size)


def capacity(batch_size: int, network_us: float) -> int:
    """Messages a second with full batches."""
    return int(batch_size * _SECOND_US / batch_us(batch_size, network_us))


def begin_counters(instance: ChannelInstance) -> None:
    """Set what is counted since the start of an instance to 0."""
    instance.messages = instance.batches = instance.bytes_sent = instance.bytes_received = 0
    instance.buffers_sent = instance.buffers_received = 0


@dataclass(slots=True)
class ChannelSender:
    """One sender channel and its transmission queue's flow. ``network_us`` is the network's current time.

    ``stuck``: the status in which it stays and sends nothing; empty: it works. It ends when nothing was to be sent for
    ``disconnect_ms`` (DISCINT; 0: never), and its trigger starts it again. It cannot run while its own channel initiator
    is down.
    """

    channel: ChannelState
    flow: QueueFlow
    usual_us: float
    network_us: float = 0.0
    partner_down: bool = False
    stuck: str = ""
    peer: ChannelInstance | None = None
    disconnect_ms: int = 0
    initiator_down: bool = False
    _network: Average = field(default_factory=Average)
    _waiting: Average = field(default_factory=Average)
    _batch: Average = field(default_factory=Average)
    _retried_s: int = 0
    _shown: bool = False
    """Whether the instance shows the current averages."""

    def begin(self) -> None:
        """A channel that runs has its transmission queue open before the first second."""
        queue = self.flow.queue
        queue.input_handles = int(self.channel.instances[0].status == "RUNNING")
        queue.output_handles = self.flow.writers

    def move(self, now: int, arrived: int) -> int:
        """One second in which ``arrived`` messages came to the transmission queue; returns how many moved on."""
        instance, queue = self.channel.instances[0], self.flow.queue
        queue.triggered = self.stuck != "INACTIVE"
        if self.initiator_down or self._disconnected(now):
            queue.input_handles = 0
            self._end(instance)
            self._show(instance)
            return 0
        if self.stuck:
            self._stay(instance)
            queue.input_handles = int(self.stuck == "RUNNING")
            self._show(instance)
            return 0
        if self.partner_down:
            queue.input_handles = 0
            self._retry(instance)
            self._show(instance)
            return 0
        if self.disconnect_ms and instance.status == "INACTIVE":
            self._start(instance, now)
        if instance.status != "RUNNING" or instance.substate != "MQGET":
            instance.status, instance.substate = "RUNNING", "MQGET"
            instance.short_left, self._retried_s = 10, 0
        queue.input_handles = 1
        seconds = self.flow.seconds
        most = capacity(self.channel.batch_size, self.network_us) * seconds
        before = queue.depth
        moved = self.flow.get(min(queue.depth, most), now)
        if moved:
            full = before > most or queue.depth
            size = (
                self.channel.batch_size
                if full
                else achieved(arrived / seconds, self.channel.batch_size, self.network_us)
            )
            self._count(instance, moved, ceil(moved / size), now)
            self._shown = False
            self._network.add(self.network_us, seconds)
            self._batch.add(min(size, moved), seconds)
            self._waiting.add(before / max(most, 1) * _SECOND_US * seconds if full else _PUT_US, seconds)
        self._show(instance)
        return moved

    def begin_round(self, now: int) -> tuple[object, ...]:
        """The channel's state at the beginning of a round, as for a flow; its averages are reset."""
        self._network, self._waiting, self._batch = Average(), Average(), Average()
        self._shown = False
        return (self._retried_s, *self.flow.begin_round(now))

    def _disconnected(self, now: int) -> bool:
        """Whether it has nothing to send, and had nothing for its disconnect interval."""
        instance = self.channel.instances[0]
        if not self.disconnect_ms or self.flow.queue.depth or self.stuck:
            return False
        if instance.status == "INACTIVE":
            return True
        return not self.partner_down and now - (instance.last_message or instance.started) >= self.disconnect_ms

    def _end(self, instance: ChannelInstance) -> None:
        for each in (instance, self.peer):
            if each is not None:
                each.status, each.substate = "INACTIVE", ""

    def _start(self, instance: ChannelInstance, now: int) -> None:
        """A new instance at both ends: its counters begin with 0."""
        instance.started = now
        begin_counters(instance)
        if self.peer is not None:
            self.peer.status, self.peer.substate, self.peer.started = "RUNNING", "RECEIVE", now
            begin_counters(self.peer)

    def _stay(self, instance: ChannelInstance) -> None:
        """A running channel hangs in the network, one that starts does not get through; others do nothing."""
        instance.status = self.stuck
        instance.substate = {"RUNNING": "SEND", "BINDING": "NETCONNECT"}.get(self.stuck, "")

    def _retry(self, instance: ChannelInstance) -> None:
        instance.status, instance.substate = "RETRYING", ""
        before, self._retried_s = self._retried_s, self._retried_s + self.flow.seconds
        attempts = self._retried_s // _SHORT_RETRY_S - before // _SHORT_RETRY_S
        instance.short_left = max(instance.short_left - attempts, 0)

    def _count(self, instance: ChannelInstance, moved: int, batches: int, now: int) -> None:
        size = self.flow.queue.message_bytes + _HEADER_BYTES
        for each, sent in ((instance, True), *([(self.peer, False)] if self.peer else [])):
            each.messages += moved
            each.batches += batches
            each.last_message = now
            each.current_sequence += moved
            each.last_sequence = each.current_sequence
            if sent:
                each.bytes_sent += moved * size
                each.bytes_received += batches * 28
                each.buffers_sent += moved
                each.buffers_received += batches
            else:
                each.bytes_received += moved * size
                each.bytes_sent += batches * 28
                each.buffers_received += moved
                each.buffers_sent += batches

    def _show(self, instance: ChannelInstance) -> None:
        instance.waiting = self.flow.queue.depth
        if self._shown:
            return
        self._shown = True
        instance.network_us = self._network.pair
        instance.transmission_us = self._waiting.pair
        instance.batch_size = self._batch.pair
        instance.exit_us = (0, 0)


_BUSY_S, _CYCLE_S = 60, 120
"""A busy minute has three times the messages of the calm one after it."""
_SLOWEST, _RATES = 2, 23
"""The slowest moves two messages in a calm second, so every object moves in every second."""
_EVERY_S: Final = (1, 1, 1, 2, 3)
"""The seconds between two gets; with 1 the queue is always empty."""
_TIMES_US: Final = {1: (700, 700), 2: (500_000, 500_000), 3: (1_000_000, 1_000_000)}
"""The average time of a message on the queue, by the seconds between gets."""
_RECEIVED_BYTES, _SENT_BYTES = 1000, 300


def calm_seconds(second: int) -> int:
    """The number of calm seconds with as many messages as all seconds until ``second``."""
    cycles, part = divmod(second, _CYCLE_S)
    busy = min(part, _BUSY_S)
    return cycles * (4 * _BUSY_S) + 3 * busy + (part - busy)


class BackgroundTraffic:
    """The traffic of the added queues and channels: two of five queues and every second channel move."""

    def __init__(self, begin: int, queues: Sequence[QueueState], instances: Sequence[ChannelInstance]) -> None:
        """``begin``: when all is as it is now, ms since 1970 UTC."""
        self._begin = begin
        # Each: the object, its messages in a calm second, its place in the cycle, its total at the cycle's beginning.
        self._queues: list[tuple[QueueState, int, int, int, int]] = []
        self._instances: list[tuple[ChannelInstance, int, int, int]] = []
        for place, queue in enumerate(queue for number, queue in enumerate(queues) if number % 5 in (1, 3)):
            calm, phase = _SLOWEST + place % _RATES, place % _CYCLE_S
            begun = queue.put_total - calm * calm_seconds(phase)
            self._queues.append((queue, calm, phase, begun, _EVERY_S[place % len(_EVERY_S)]))
            queue.output_handles = max(queue.output_handles, 1)
        for place, instance in enumerate(instances[1::2]):
            calm, phase = _SLOWEST + place % _RATES, place % _CYCLE_S
            self._instances.append((instance, calm, phase, instance.messages - calm * calm_seconds(phase)))

    def move(self, now: int) -> None:
        """Set all objects to their state at ``now``, a whole number of seconds after the beginning."""
        if not self._queues and not self._instances:
            return
        second = (now - self._begin) // STEP_MS
        put = [calm_seconds(second + phase) for phase in range(_CYCLE_S)]
        # By seconds between gets: the time of the last get, and the messages got until then.
        last = {every: second - second % every for every in _EVERY_S}
        got = {every: [calm_seconds(at + phase) for phase in range(_CYCLE_S)] for every, at in last.items()}
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
