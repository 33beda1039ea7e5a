"""Channels over an interval: messages, batches, bytes, network times (116/10), and the work they make for the channel initiator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from mqvitals_agent.simulator.smf.channel_initiator_tables import QCST
from mqvitals_agent.simulator.smf.moment import coarse, stamp
from mqvitals_agent.simulator.state import Channel, ChannelInstance, Member

NEVER: Final = 0x8FFF_FFFF
"""The shortest time when none was measured."""
ENDED: Final = frozenset({"INACTIVE", "STOPPED"})
"""States in which a channel has no dispatcher."""
_SENDING: Final = frozenset({"SENDER", "SERVER", "CLUSSDR"})
_TYPES: Final = {"SENDER": 1, "SERVER": 2, "RECEIVER": 3, "REQUESTER": 4, "SVRCONN": 7, "CLUSRCVR": 8, "CLUSSDR": 9}
_STATES: Final = {
    "INACTIVE": 0,
    "BINDING": 1,
    "STARTING": 2,
    "RUNNING": 3,
    "STOPPING": 4,
    "RETRYING": 5,
    "STOPPED": 6,
    "REQUESTING": 7,
    "PAUSED": 8,
    "DISCONNECTED": 9,
    "INITIALIZING": 13,
    "SWITCHING": 14,
}
_PRIVATE: Final = 4
_STATISTICS_MEDIUM: Final = 33
_DATA_LIMIT_KB: Final = 5000
_PARTNER_VERSION: Final = "09040000"
_CLIENT_APPLICATION: Final = 28
"""Of a client's application, the end is told: so many characters."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What went through a channel's instance in the interval. ``gets`` and ``puts`` are MQI calls for messages.

    ``network_us`` is the network time of each message and batch, summed. ``retries``: how often it tried to reach its partner again.
    """

    place: int
    messages: int
    batches: int
    buffers: int
    sends: bool
    client: bool
    network_us: int
    retries: int
    active: bool


@dataclass(slots=True)
class _Mark:
    channel: Channel
    instance: ChannelInstance
    totals: tuple[int, ...] = ()
    messages: int = 0
    batches: int = 0
    short_left: int = 0
    full: int = 0
    empty: int = 0
    retries: int = 0
    weight: int = 0
    network_sum: int = 0
    shortest: int = NEVER
    longest: int = 0
    longest_at: int | None = None
    held: int = 0


class ChannelMeter:
    """Follows the channels that a queue manager has now, second by second."""

    def __init__(self, member: Member) -> None:
        self._member = member
        ordered = sorted(member.channels.values(), key=lambda each: each.name)
        self._marks = [_Mark(channel, instance) for channel in ordered for instance in channel.instances]
        for mark in self._marks:
            mark.totals = _totals(mark.instance)
            mark.messages, mark.batches = mark.instance.messages, mark.instance.batches
            mark.short_left = mark.instance.short_left
        # Clients have neither batches nor a network time: their totals at both ends say all.
        self._in_batches = [mark for mark in self._marks if mark.channel.kind != "SVRCONN"]

    def second(self, now: int) -> None:
        """One second has passed, until ``now``."""
        for mark in self._in_batches:
            instance = mark.instance
            moved, batches = instance.messages - mark.messages, instance.batches - mark.batches
            mark.retries += max(mark.short_left - instance.short_left, 0)
            mark.messages, mark.batches, mark.short_left = instance.messages, instance.batches, instance.short_left
            if not batches:
                continue
            size = mark.channel.batch_size
            # As few batches as could be: all but the last one were full.
            full = moved // size if batches == -(-moved // size) else 0
            mark.full += full
            if mark.channel.kind in _SENDING:
                mark.empty += batches - full
                if instance.network_us is not None:
                    _measure(mark, instance.network_us[0], batches, now)
                    mark.held += instance.network_us[0] * (moved + batches)

    def moved(self) -> list[Moved]:
        """What went through each instance; its place is that among all of the queue manager."""
        found = []
        for place, mark in enumerate(self._marks):
            messages, batches, sent, received, *_ = self._since(mark)
            found.append(
                Moved(
                    place,
                    messages,
                    batches,
                    sent + received,
                    mark.channel.kind in _SENDING,
                    mark.channel.kind == "SVRCONN",
                    mark.held,
                    mark.retries,
                    mark.instance.status not in ENDED,
                )
            )
        return found

    def sections(self, now: int, level: int, dispatchers: Mapping[int, int]) -> Iterator[bytes]:
        """A section for each instance; ``dispatchers``: by its place, the dispatcher it runs on."""
        for place, mark in enumerate(self._marks):
            yield QCST.pack(self._values(mark, now, dispatchers.get(place, 0)), level)

    def _values(self, mark: _Mark, now: int, dispatcher: int) -> dict[str, int | str]:
        channel, instance = mark.channel, mark.instance
        messages, batches, buffers_sent, buffers_received, bytes_sent, bytes_received = self._since(mark)
        client, sends = channel.kind == "SVRCONN", channel.kind in _SENDING
        queue = self._member.queues.get(instance.transmission_queue)
        size = queue.message_bytes if queue else 0
        if not client and not sends:
            size = max(bytes_received // messages if messages else 0, 0)
        partner = instance.partner[-_CLIENT_APPLICATION:] if client else instance.partner
        return {
            "collected": stamp(now),
            "channel": channel.name,
            "disposition": _PRIVATE,
            "type": _TYPES[channel.kind],
            "status": _STATES.get(instance.status, 3),
            "statistics": _STATISTICS_MEDIUM,
            "connection": instance.connection_name,
            "started": coarse(instance.started),
            "last_message": coarse(instance.last_message),
            "batch_size": 1 if client else channel.batch_size,
            "messages": messages,
            "persistent": 0 if client else messages,
            "batches": batches,
            "full_batches": mark.full,
            "buffers_sent": buffers_sent,
            "buffers_received": buffers_received,
            "conversations": instance.conversations,
            "message_bytes": 0 if client else messages * size,
            "persistent_bytes": 0 if client else messages * size,
            "bytes_sent": bytes_sent,
            "bytes_received": bytes_received,
            "exit_shortest": NEVER,
            "network_average": _mean(mark),
            "network_shortest": mark.shortest,
            "network_longest": mark.longest,
            "network_longest_at": stamp(mark.longest_at),
            "partner": partner,
            "queue_empty": mark.empty,
            "batch_interval": channel.batch_interval_ms if sends else 0,
            "data_limit": _DATA_LIMIT_KB,
            "dispatcher": dispatcher,
            "product": "MQJB" if client else "MQMV",
            "version": _PARTNER_VERSION,
        }

    @staticmethod
    def _since(mark: _Mark) -> tuple[int, ...]:
        return tuple(now - then for now, then in zip(_totals(mark.instance), mark.totals, strict=True))


def _totals(instance: ChannelInstance) -> tuple[int, ...]:
    return (
        instance.messages,
        instance.batches,
        instance.buffers_sent,
        instance.buffers_received,
        instance.bytes_sent,
        instance.bytes_received,
    )


def _measure(mark: _Mark, us: int, batches: int, now: int) -> None:
    """So many batches took this network time, as the channel's indicator tells it."""
    mark.weight += batches
    mark.network_sum += us * batches
    mark.shortest = min(mark.shortest, us)
    if us > mark.longest:
        mark.longest, mark.longest_at = us, now


def _mean(mark: _Mark) -> int:
    return mark.network_sum // mark.weight if mark.weight else 0
