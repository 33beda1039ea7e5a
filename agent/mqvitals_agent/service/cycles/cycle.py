"""What a cycle of polls is before and after it is stored, and when its samples are dated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mqvitals_agent.connection.connection import Exchange, MqiCalls
from mqvitals_agent.service.agent_meters import LimitOutlook
from mqvitals_agent.service.cycles.cycle_clock import QueryInterval
from mqvitals_agent.store.error import StoreError, StoreIncident, StoreState
from mqvitals_rules.snapshot import Reading, Snapshot, Source

ExchangeTap = Callable[[Exchange], None]
"""Gets every exchange in the order of ``at`` (unless the clock was set back), in the worker's thread."""


@dataclass(frozen=True, slots=True)
class CycleExchanges:
    """The exchanges of one cycle, which began at ``began`` (ms UTC), and the intervals in force by queue manager.

    ``calls`` counts calls of MQ that hung, by queue manager. ``lead``, ``correction`` and ``shift`` are those of
    ``CycleClock``, ms. With a ``lead`` the whole cycle is stored as of ``began``.
    """

    number: int
    began: int
    exchanges: tuple[Exchange, ...]
    intervals: Mapping[str, Sequence[QueryInterval]]
    lead: int = 0
    calls: Mapping[str, MqiCalls] = field(default_factory=dict)
    correction: int = 0
    shift: int = 0


@dataclass(frozen=True, slots=True)
class StoredCycle:
    """The result of a cycle: how many snapshots and readings were stored, how many alerts fire now, and what failed.

    ``unwatched`` are queue managers, or former names of the group, that this cycle marked as gone in the store.
    ``state`` is that of the store now, ``incidents`` are files that could not be used any longer, ``refused`` counts
    values that the store does not accept, by kind, ``outlook`` is what its limit does to samples.
    """

    number: int
    began: int
    exchanges: int
    snapshots: int
    readings: int
    firing: int
    errors: tuple[StoreError, ...]
    unwatched: tuple[str, ...]
    state: StoreState
    incidents: tuple[StoreIncident, ...]
    refused: Mapping[str, int]
    outlook: LimitOutlook | None = None


def in_order(exchanges: Iterable[Exchange], began: int) -> tuple[Exchange, ...]:
    """The exchanges by time, none dated before their cycle, which began at ``began``."""
    dated = (each if each.at >= began else replace(each, at=began) for each in exchanges)
    return tuple(sorted(dated, key=lambda each: each.at))


def shifted(reading: Reading, by: int) -> Reading:
    """A polled reading ``by`` ms later, never before the first moment; a record keeps its time."""
    return replace(reading, ts=max(reading.ts + by, 1)) if reading.source is Source.POLL else reading


def dated_at(snapshot: Snapshot, ts: int) -> Snapshot:
    """The snapshot as of ``ts``. Intervals and ages stay, and records of other sources keep their time."""
    readings = (replace(each, ts=ts) if each.source is Source.POLL else each for each in snapshot.readings)
    return replace(snapshot, ts=ts, readings=tuple(readings))
