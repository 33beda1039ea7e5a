"""Texts of z/OS that somebody else's command printed, as readings: what ``D XCF`` says of structures, NETSTAT of channels.

A connection is a channel's where its partner's address is; where several channels have that address, the port decides. A channel
with several connections has the figures of the worst of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple

from mqvitals_agent.console.netstat import TcpConnection
from mqvitals_agent.console.xcf import XcfStructure
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported

PlaceOf = Callable[[str], tuple[str, str] | None]
"""From a structure's name in z/OS to its group and its name in MQ; None: it is of no known group."""


def xcf_snapshots(
    structures: Iterable[XcfStructure], place: PlaceOf, at_ms: int, every_ms: int
) -> tuple[list[Snapshot], list[str]]:
    """A snapshot of each group as of ``at_ms``, and the structures of no known group.

    ``every_ms``: how often such a text is imported; the figures count for twice that time.
    """
    found: dict[str, list[Reading]] = {}
    strange: list[str] = []
    shown = datetime.fromtimestamp(at_ms // 1000, UTC).strftime("%Y-%m-%d %H.%M")
    for structure in structures:
        where = place(structure.name)
        if where is None:
            strange.append(structure.name)
            continue
        values = {**structure.values, "policy_measured": f"by D XCF, {shown} UTC"}
        name = ObjectName(where[0], "cf_structure", where[1])
        found.setdefault(where[0], []).append(
            Reading(name, "D XCF", at_ms, values, every_ms, poll=False, source=Source.IMPORT)
        )
    return [
        Snapshot(group, group=True, cycle=0, ts=at_ms, readings=tuple(readings))
        for group, readings in sorted(found.items())
    ], strange


_ADDRESS: Final = re.compile(r"\s*([^\s(),]+)(?:\((\d+)\))?")
"""An address of CONNAME or LOCLADDR, with or without a port."""
_LOWEST: Final = {
    "tcp_send_window": "sndwnd",
    "tcp_congestion_window": "congestionwindow",
    "tcp_send_buffer": "sendbuffersize",
    "tcp_receive_buffer": "receivebuffersize",
}
_HIGHEST: Final = {"tcp_rtt_us": "trip_us"}
_SUMS: Final = {"tcp_receive_queued": "receivedataqueued", "tcp_send_queued": "senddataqueued"}
_TOTALS: Final = {
    "tcp_retransmits": ("tcp_retransmits_total", ("rexmt", "rexmtcount")),
    "tcp_dup_acks": ("tcp_dup_acks_total", ("dupacks",)),
}
"""Increase -> the total since the connections began, and the labels that count it: the greater one, as both count retransmissions."""
_LONGEST_IDENTITY: Final = 4000
"""Characters. Of very many connections the first ones show whether they are the same."""


class ChannelAddresses(NamedTuple):
    """A channel, the addresses of its partners (CONNAME) and its own (LOCLADDR), of all its instances."""

    name: ObjectName
    partners: tuple[str, ...]
    own: tuple[str, ...] = ()


def netstat_snapshot(
    connections: Iterable[TcpConnection],
    channels: Iterable[ChannelAddresses],
    before: Callable[[ObjectName], Mapping[str, Reported]],
    owner: str,
    at_ms: int,
    every_ms: int,
) -> tuple[Snapshot, list[TcpConnection]]:
    """The channels of a queue manager with their connections as of ``at_ms``, and the connections of no one channel.

    ``before``: the values of the import before; increases are from it to this one, where the connections are the same.
    """
    known = tuple(channels)
    found: dict[ObjectName, list[TcpConnection]] = {}
    strange: list[TcpConnection] = []
    for connection in connections:
        name = channel_of(connection, known)
        if name is None:
            strange.append(connection)
        else:
            found.setdefault(name, []).append(connection)
    readings = tuple(
        Reading(name, "NETSTAT", at_ms, _figures(each, before(name)), every_ms, poll=False, source=Source.IMPORT)
        for name, each in sorted(found.items())
    )
    return Snapshot(owner, group=False, cycle=0, ts=at_ms, readings=readings), strange


def channel_of(connection: TcpConnection, channels: Iterable[ChannelAddresses]) -> ObjectName | None:
    """The one channel that a connection belongs to; None where there is none, or several might be meant."""
    address, port = connection.foreign
    exact, without_port = [], []
    for channel in channels:
        places = [found.groups() for each in channel.partners if (found := _ADDRESS.match(each.lower()))]
        if (address, port) in places:
            exact.append(channel)
        elif (address, None) in places:
            without_port.append(channel)
    fitting = exact or without_port
    if len(fitting) > 1:
        local = connection.local
        fitting = [
            each
            for each in fitting
            if local in [found.groups() for own in each.own if (found := _ADDRESS.match(own.lower()))]
        ]
    return fitting[0].name if len(fitting) == 1 else None


def _figures(connections: list[TcpConnection], before: Mapping[str, Reported]) -> dict[str, Reported]:
    values: dict[str, Reported] = {"tcp_connections": len(connections)}
    for chosen, names in ((min, _LOWEST), (max, _HIGHEST), (sum, _SUMS)):
        for metric, label in names.items():
            figures = [each.figures[label] for each in connections if label in each.figures]
            values[metric] = chosen(figures) if figures else Absence.NOT_RETURNED
    shrunk = [
        max(each.figures["maxsndwnd"] - each.figures["sndwnd"], 0)
        for each in connections
        if each.figures.keys() >= {"maxsndwnd", "sndwnd"}
    ]
    values["tcp_window_lost"] = max(shrunk) if shrunk else Absence.NOT_RETURNED
    same = "; ".join(sorted(each.identity for each in connections))[:_LONGEST_IDENTITY]
    for increase, (total, labels) in _TOTALS.items():
        counts = [
            max(each.figures[label] for label in labels if label in each.figures)
            for each in connections
            if any(label in each.figures for label in labels)
        ]
        values[total] = sum(counts) if counts else Absence.NOT_RETURNED
        earlier = before.get(total)
        if not counts:
            values[increase] = Absence.NOT_RETURNED
        elif before.get("tcp_sockets") != same or not isinstance(earlier, int | float):
            values[increase] = Absence.FIRST_READING
        else:
            values[increase] = sum(counts) - earlier if sum(counts) >= earlier else Absence.RESET
    values["tcp_sockets"] = same
    return {metric: int(value) if isinstance(value, float) else value for metric, value in values.items()}
