"""The overview's figures over the last hour: of each queue manager and structure the one that matters most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.view.cell import extreme_of, of_kind
from mqvitals_agent.view.rate import PER_SECOND, RATE, with_rates
from mqvitals_agent.view.situation import Situation
from mqvitals_agent.view.trend import Points
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import CHANNEL_TYPE, Absence

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader

SPAN_MS = 3_600_000

_SERVER_CONNECTION = CHANNEL_TYPE["SVRCONN"]

_WATCHED = (("buffer_pool", "free_pct", -1), ("page_set", "used_pct", 1))

MOST_STRUCTURES = 12
"""Structures whose past is read, the fullest."""


@dataclass(frozen=True, slots=True)
class Pulse:
    """``points`` are (ms UTC, value or None) by object; ``rates`` messages a second of an owner's channels."""

    points: Mapping[ObjectName, Points] = field(default_factory=dict)
    rates: Mapping[str, CurrentValue] = field(default_factory=dict)


def read_pulse(reader: StoreReader, situation: Situation) -> Pulse:
    """Read the last hour before ``situation.now``, or before its owner fell silent. Raises StoreError."""
    points: dict[ObjectName, Points] = {}
    rates: dict[str, CurrentValue] = {}
    for member in situation.members:
        # Of who has been silent: the hour before it fell silent.
        since = min(situation.now, member.last_ts) - SPAN_MS
        if member.is_group:
            found = of_kind(situation.current, member.name, "cf_structure")
            fullest = sorted(found, key=lambda name: -_number(found[name].get("entries_pct")))[:MOST_STRUCTURES]
            points |= {name: reader.trend(name, "entries_pct", since).points for name in fullest}
            continue
        for kind, metric, sign in _WATCHED:
            extreme = extreme_of(situation.current, member.name, kind, metric, sign)
            if extreme is not None:
                points[extreme.name] = reader.trend(extreme.name, metric, since).points
        rate = _messages(reader, member.name)
        if rate is not None:
            rates[member.name] = rate
    return Pulse(points, rates)


def _messages(reader: StoreReader, owner: str) -> CurrentValue | None:
    """What all message channels of a queue manager move a second, or why that is not known; None without a channel.

    Server-connection channels are left out: they count calls.
    """
    current = reader.current_by_kind(owner, "channel", (RATE["channel"], "type"))
    between = {name: values for name, values in current.items() if not _serves(values.get("type"))}
    rates = [values[PER_SECOND] for values in with_rates(reader, "channel", between).values() if PER_SECOND in values]
    told = [rate for rate in rates if not isinstance(rate.value, Absence | str)]
    if not told:
        return max(rates, key=lambda each: each.asked, default=None)
    newest = max(told, key=lambda each: each.ts or 0)
    # A channel that the newest answer does not hold moves nothing now.
    return newest._replace(value=sum(_number(each) for each in told if each.ts == newest.ts))


def _serves(told: CurrentValue | None) -> bool:
    return told is not None and told.value == _SERVER_CONNECTION


def _number(told: CurrentValue | None) -> float:
    return -1.0 if told is None or isinstance(told.value, Absence | str) else told.value
