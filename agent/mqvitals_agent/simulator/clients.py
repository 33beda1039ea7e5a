"""Clients that connect to a server-connection channel and should not: a flood from twelve addresses, and a leak."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from mqvitals_agent.simulator.scenario import IncidentKind, ScenarioIncident
from mqvitals_agent.simulator.state import ChannelInstance

FLOOD_MS: Final = 120_000
"""Within this time all clients of a flood connect."""
ADDRESSES: Final = 12
GREEDY_PART: Final = 8 / 15
"""The part of a flood that comes from one address, as one pool that is far too large."""
_HOUR_MS: Final = 3_600_000
_FIRST_PORT: Final = 50_000


def flood(began: int, lasted: int, incident: ScenarioIncident) -> tuple[ChannelInstance, ...]:
    """The instances that an incident has led to ``lasted`` ms after it ``began`` (ms since 1970 UTC)."""
    if incident.what is IncidentKind.CLIENT_LEAK:
        return _leaked(began, int(incident.value), int(incident.value * lasted / _HOUR_MS))
    count = int(incident.value)
    return _flooded(began, count, min(count, count * lasted // FLOOD_MS))


@lru_cache(maxsize=16)
def _flooded(began: int, count: int, connected: int) -> tuple[ChannelInstance, ...]:
    greedy = round(count * GREEDY_PART)
    places = _turns(greedy, count)
    return tuple(
        _client(began + place * FLOOD_MS // count, f"10.60.0.{next(places)}", place, "batchpool")
        for place in range(connected)
    )


def _turns(greedy: int, count: int) -> Iterator[int]:
    """Which address connects next: ``greedy`` of ``count`` times the first one, else each of the others in turn."""
    given = 0
    for place in range(1, count + 1):
        if given * count < greedy * place:
            given += 1
            yield 1
        else:
            yield 2 + (place - given) % (ADDRESSES - 1)


@lru_cache(maxsize=16)
def _leaked(began: int, an_hour: int, connected: int) -> tuple[ChannelInstance, ...]:
    return tuple(
        _client(began + place * _HOUR_MS // an_hour, "10.60.1.7", place, "reports") for place in range(connected)
    )


def _client(started: int, address: str, place: int, application: str) -> ChannelInstance:
    return ChannelInstance(
        started,
        f"{address}({_FIRST_PORT + place})",
        application,
        substate="RECEIVE",
        last_message=started,
        messages=3,
        conversations=1,
    )
