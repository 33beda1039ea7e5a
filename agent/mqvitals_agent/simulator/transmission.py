"""A sender channel: messages move from the transmission queue to the partner in batches.

The time of a batch is that of the documents: ``n * 10 + put + commit + wait`` microseconds with 1000 each for the put and
the commit, and for the wait the network's time and 1000 of the partner (Performance Tuning and Problem Determination, "Where is
the time spent").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

from mqvitals_agent.simulator.average import Average
from mqvitals_agent.simulator.flow import Flow
from mqvitals_agent.simulator.state import Channel, ChannelInstance

_A_MESSAGE_US, _PUT_US, _COMMIT_US, _PARTNER_US = 10, 1000, 1000, 1000
_SECOND_US = 1_000_000
_SHORT_RETRY_S = 60
_HEADER_BYTES = 480


def batch_us(messages: float, network_us: float) -> float:
    """The time of one batch of so many messages."""
    return messages * _A_MESSAGE_US + _PUT_US + _COMMIT_US + network_us + _PARTNER_US


def achieved(arriving: float, batch_size: int, network_us: float) -> float:
    """Messages of a batch when so many arrive a second: what comes while the batch before is under way, 1 to BATCHSZ."""
    fixed = batch_us(0, network_us)
    spare = _SECOND_US - arriving * _A_MESSAGE_US
    return batch_size if spare <= 0 else min(max(arriving * fixed / spare, 1.0), batch_size)


def capacity(batch_size: int, network_us: float) -> int:
    """Messages a second with full batches."""
    return int(batch_size * _SECOND_US / batch_us(batch_size, network_us))


@dataclass(slots=True)
class Sender:
    """One sender channel and its transmission queue's flow. ``network_us`` is the network's time just now."""

    channel: Channel
    flow: Flow
    usual_us: float
    network_us: float = 0.0
    partner_down: bool = False
    peer: ChannelInstance | None = None
    _network: Average = field(default_factory=Average)
    _waiting: Average = field(default_factory=Average)
    _batch: Average = field(default_factory=Average)
    _retried_s: int = 0
    _shown: bool = False
    """Whether the instance shows the averages as they are."""

    def move(self, now: int, arrived: int) -> int:
        """One second in which ``arrived`` messages came to the transmission queue; returns how many moved on."""
        instance, queue = self.channel.instances[0], self.flow.queue
        if self.partner_down:
            queue.input_handles = 0
            self._retry(instance)
            self._show(instance)
            return 0
        if instance.status == "RETRYING":
            instance.status, instance.substate = "RUNNING", "MQGET"
            instance.short_left, self._retried_s = 10, 0
        queue.input_handles = 1
        most = capacity(self.channel.batch_size, self.network_us)
        before = queue.depth
        moved = self.flow.get(min(queue.depth, most), now)
        if moved:
            full = before > most or queue.depth
            size = self.channel.batch_size if full else achieved(arrived, self.channel.batch_size, self.network_us)
            self._count(instance, moved, ceil(moved / size), now)
            self._shown = False
            self._network.add(self.network_us)
            self._batch.add(min(size, moved))
            self._waiting.add(before / max(most, 1) * _SECOND_US if full else _PUT_US)
        self._show(instance)
        return moved

    def begin_round(self, now: int) -> tuple[object, ...]:
        """As a flow does: what the channel remembers at the beginning of a round; its averages begin anew."""
        self._network, self._waiting, self._batch = Average(), Average(), Average()
        self._shown = False
        return (self._retried_s, *self.flow.begin_round(now))

    def _retry(self, instance: ChannelInstance) -> None:
        instance.status, instance.substate = "RETRYING", ""
        self._retried_s += 1
        if self._retried_s % _SHORT_RETRY_S == 0 and instance.short_left:
            instance.short_left -= 1

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
