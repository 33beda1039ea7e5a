"""A made-up group as readings: four queue managers, 10,000 queues, 2,000 channels and all that belongs to them, cycle after cycle.

Values vary a little from poll to poll; some objects have something wrong with them, the same ones all the time. Every metric that an answer
can hold is in its reading. Nothing is random: a moment is made from its number alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from answers import (
    BEGIN,
    DEFINITIONS_EVERY,
    GROUP,
    HOUR_MS,
    INTERVAL_MS,
    POOLS,
    QUEUE_MANAGERS,
    STRUCTURES,
    channel_defined,
    channel_first,
    channel_now,
    of_group,
    of_queue_manager,
    queue_defined,
    queue_first,
    queue_name,
    queue_now,
    queues_of,
    records,
    structure,
    unsaid,
)
from mqvitals_rules.ruleset.facts import Fact, Facts
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Reported, Value
from mqvitals_rules.vocabulary.tables import KINDS


class Group:
    """Makes the snapshots of a cycle."""

    def __init__(self) -> None:
        self._queues: dict[str, list[tuple[ObjectName, dict[str, Reported]]]] = {}
        self._channels: dict[str, list[tuple[ObjectName, dict[str, Reported]]]] = {}
        for owner in (*QUEUE_MANAGERS, GROUP):
            names = [ObjectName(owner, "queue", queue_name(owner, each)) for each in range(queues_of(owner))]
            self._queues[owner] = [(name, queue_first(place)) for place, name in enumerate(names)]
        for owner in QUEUE_MANAGERS:
            names = [ObjectName(owner, "channel", f"CHANNEL.{each:04d}") for each in range(500)]
            self._channels[owner] = [(name, channel_first(place)) for place, name in enumerate(names)]

    def snapshots(self, cycle: int) -> list[Snapshot]:
        """What each queue manager, and the group, reports in a cycle; cycle 0 reports all definitions first."""
        ts = BEGIN + cycle * INTERVAL_MS
        return [
            Snapshot(owner, owner == GROUP, cycle + 1, ts, tuple(self._readings(owner, cycle, ts)))
            for owner in (GROUP, *QUEUE_MANAGERS)
        ]

    def _readings(self, owner: str, cycle: int, ts: int) -> Iterator[Reading]:
        interval = INTERVAL_MS if cycle else None
        for name, base in self._queues[owner]:
            yield Reading(name, "INQUIRE_Q_STATUS", ts, queue_now(base, name, cycle), interval)
        for name, base in self._channels.get(owner, ()):
            yield Reading(name, "INQUIRE_CHANNEL_STATUS", ts, channel_now(base, cycle), interval)
        others = of_group(cycle) if owner == GROUP else of_queue_manager(owner, cycle)
        for name, probe, values in others:
            yield Reading(name, probe, ts, values, interval)
        if cycle % DEFINITIONS_EVERY == 0:
            every = DEFINITIONS_EVERY * INTERVAL_MS if cycle else None
            for name, probe, values in self._definitions(owner):
                yield Reading(name, probe, ts, values, every, poll=False)
        if owner != GROUP and cycle and cycle % (DEFINITIONS_EVERY * 2) == 1:
            for name, values in records(owner, cycle):
                yield Reading(name, "SMF", ts - 1, values, HOUR_MS, poll=False, source=Source.SMF)

    def _definitions(self, owner: str) -> Iterator[tuple[ObjectName, str, dict[str, Reported]]]:
        for place, (name, _) in enumerate(self._queues[owner]):
            yield name, "INQUIRE_Q", queue_defined(owner, place)
        for place, (name, _) in enumerate(self._channels.get(owner, ())):
            yield name, "INQUIRE_CHANNEL", channel_defined(place)
        if owner == GROUP:
            for place in range(STRUCTURES):
                values = unsaid("cf_structure", "INQUIRE_CF_STRUC") | {
                    "cflevel": 5,
                    "recover": place % 2,
                    "offload": place % 3,
                }
                yield structure(place), "INQUIRE_CF_STRUC", values
            return
        values = unsaid("queue_manager", "INQUIRE_Q_MGR")
        values |= {
            "command_level": 940,
            "platform": 1,
            "monq": 33,
            "monchl": 33,
            "message_protection": 1,
            "statchl": 33,
        }
        values |= {"expiry_interval_s": 0, "qsg_name": GROUP}
        yield ObjectName(owner, "queue_manager"), "INQUIRE_Q_MGR", values
        values = unsaid("channel_initiator", "INQUIRE_Q_MGR") | {"chiadaps": 30, "chidisps": 20, "receive_timeout": 0}
        yield ObjectName(owner, "channel_initiator"), "INQUIRE_Q_MGR", values
        yield ObjectName(owner, "log"), "INQUIRE_SYSTEM", {"logload": 500_000, "qindxbld": 0}


def facts() -> Facts:
    """What the site declares: of some objects much, of most nothing."""
    purposes = {place: 5 if place < 12 else 6 for place in range(3, POOLS)}
    pools = [(f"*/buffer_pool/{place}", "purpose", purpose) for place, purpose in purposes.items()]
    queues: list[tuple[str, str, Value]] = [
        ("*/queue/APPL.QUEUE.1*", "role", 1),
        ("*/queue/APPL.QUEUE.12*", "lifetime", 0),
        ("*/queue/APPL.QUEUE.13*", "lifetime", 1),
        ("*/queue/APPL.QUEUE.2*", "role", 5),
        ("*/queue/APPL.QUEUE.05*", "ams_policy", 2),
        ("*/queue/APPL.QUEUE.06*", "flow_instances", 3),
        ("*/queue/APPL.QUEUE.07*", "flow_idle_close_s", 30),
        ("*/queue/APPL.QUEUE.1101", "pair", "APPL.QUEUE.1102"),
    ]
    channels = [
        ("*/channel/CHANNEL.01*", "ping_us", 100),
        ("*/channel/CHANNEL.02*", "partner_ams", 1),
        ("*/channel/CHANNEL.03*", "peak_msgs_per_s", 900),
    ]
    single = [
        ("*/queue_manager", "processors", 8),
        ("*/queue_manager", "cpu_busy_pct", 60),
        ("*/page_set/*", "limit_gb", 64),
    ]
    declared: Iterable[tuple[str, str, Value]] = chain(pools, queues, channels, single)
    return Facts(KINDS, [Fact(ObjectPattern.parse(objects), metric, value) for objects, metric, value in declared])
