"""Queries queue managers for the handles of a queue and joins each handle with its connections and channel instances.

Queue managers are queried concurrently, the commands of one of them one after another. An answer of handles does not
name the connection of each. A connection may belong to a handle when everything that both report is equal. When
several fit, their number and the most urgent unit of work are kept: in doubt first, then states without a name, then
ACTIVE; of equals the oldest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias, TypeVar

from mqvitals_agent.clock import Clock
from mqvitals_agent.connection.connection import Exchange, Query
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.text.figure import counted
from mqvitals_agent.who.holder import (
    HandleConnection,
    HandleInstance,
    Holder,
    Holders,
    MemberHolders,
    MemberUnits,
    ReportedConnection,
    ReportedInstance,
    UnitOfWork,
    UnitsOfWork,
)
from mqvitals_agent.who.reading import (
    MOST_QUERIES,
    HolderQueryResult,
    ask_connections,
    ask_handles,
    ask_instances,
    ask_units,
    is_exact,
    read_all_connections,
    read_connections,
    read_handles,
    read_instances,
)
from mqvitals_rules.snapshot import ObjectName

_TRAITS: Final = 9
_IN_DOUBT: Final = frozenset({"PREPARED", "UNRESOLVED"})
_INPUT: Final = ("EXCL", "SHARED")
_LAST: Final = "~"  # after every digit

_Traits = tuple[Hashable, ...]


def joined(
    holders: Iterable[Holder], connections: Sequence[ReportedConnection], instances: Sequence[ReportedInstance]
) -> tuple[Holder, ...]:
    """Every handle once, with the connections and instances that it may belong to, in the order they are shown."""
    their, theirs = _ConnectionIndex(connections), _InstanceIndex(instances)
    return ordered(replace(each, connection=_connection(their.of(each)), instance=theirs.of(each)) for each in holders)


def ordered(holders: Iterable[Holder]) -> tuple[Holder, ...]:
    """Exclusive input first, then shared input, output, others; in each active handles first, then by application."""
    return tuple(sorted(holders, key=_place))


def _place(each: Holder) -> tuple[object, ...]:
    rank = _INPUT.index(each.input) if each.input in _INPUT else 2 if each.output else 3
    who = each.application, each.user, each.asid, each.channel, each.connection_name, each.task, each.region
    return (rank, each.state != "ACTIVE", *who, each.process or 0, each.thread or 0)


class _ConnectionIndex:
    """Finds the connections that fit a handle by an index: there may be thousands of both."""

    def __init__(self, connections: Sequence[ReportedConnection]) -> None:
        self._connections = connections
        self._by_trait: list[dict[Hashable, list[int]]] = [{} for _ in range(_TRAITS)]
        for number, each in enumerate(connections):
            for trait, numbers in zip(_traits(each), self._by_trait, strict=True):
                numbers.setdefault(trait, []).append(number)
        self._found: dict[tuple[object, ...], tuple[ReportedConnection, ...]] = {}

    def of(self, holder: Holder) -> tuple[ReportedConnection, ...]:
        """The connections that the handle may belong to."""
        traits = _traits(holder)
        key = traits, holder.channel, holder.connection_name
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = tuple(each for each in self._candidates(traits) if _fits(holder, traits, each))
        return found

    def _candidates(self, traits: _Traits) -> Iterable[ReportedConnection]:
        """Those that have the same value of one trait, or none: of the trait with the fewest."""
        fewest: Sequence[int] = range(len(self._connections))
        for trait, numbers in zip(traits, self._by_trait, strict=True):
            if trait is not None:
                same, silent = numbers.get(trait, []), numbers.get(None, [])
                if len(same) + len(silent) < len(fewest):
                    fewest = sorted(same + silent)
        return (self._connections[number] for number in fewest)


class _InstanceIndex:
    """The instances of the channels, found by channel and partner."""

    def __init__(self, instances: Iterable[ReportedInstance]) -> None:
        self._of: dict[str, list[ReportedInstance]] = {}
        for each in instances:
            self._of.setdefault(each.channel, []).append(each)
        self._found: dict[tuple[str, str], HandleInstance | None] = {}

    def of(self, holder: Holder) -> HandleInstance | None:
        """The instances that the handle may come through."""
        if not holder.channel:
            return None
        key = holder.channel, holder.connection_name
        if key not in self._found:
            self._found[key] = _instance(
                [
                    each
                    for each in self._of.get(holder.channel, ())
                    if _same_partner(each.connection_name, holder.connection_name)
                ]
            )
        return self._found[key]


def _traits(each: Holder | ReportedConnection) -> _Traits:
    """The values to compare, None when not reported. Addresses are without ports, as in some answers."""
    return (
        each.application or None,
        each.user or None,
        each.asid or None,
        _host(each.connection_name) or None,
        each.transaction or None,
        each.task or None,
        each.region or None,
        each.process,
        each.thread,
    )


def _fits(holder: Holder, traits: _Traits, connection: ReportedConnection) -> bool:
    """Whether nothing that both report differs, and something is equal."""
    if connection.channel is not None and connection.channel != holder.channel:
        return False
    if not _same_partner(holder.connection_name, connection.connection_name):
        return False
    both = [pair for pair in zip(traits, _traits(connection), strict=True) if None not in pair]
    return bool(both) and all(one == other for one, other in both)


def _host(address: str) -> str:
    return address.partition("(")[0]


def _same_partner(one: str, other: str) -> bool:
    """True for equal addresses, for equal hosts when one has no port, and when either is not reported."""
    if not one or not other:
        return True
    return one == other or (_host(one) == _host(other) and not ("(" in one and "(" in other))


def _connection(found: Sequence[ReportedConnection]) -> HandleConnection | None:
    if not found:
        return None
    units = [each.unit_of_work for each in found if each.unit_of_work is not None]
    return HandleConnection(
        len(found), found[0].identifier if len(found) == 1 else "", min(units, key=_urgency) if units else None
    )


def _urgency(unit: UnitOfWork) -> tuple[int, str, str, str]:
    rank = 0 if unit.state in _IN_DOUBT else 2 if unit.state == "ACTIVE" else 1
    return rank, unit.began or unit.log_began or _LAST, unit.state, unit.type


def _instance(found: Sequence[ReportedInstance]) -> HandleInstance | None:
    if not found:
        return None
    newest = max(found, key=lambda each: each.began)
    return HandleInstance(
        len(found),
        newest.status,
        newest.substate,
        newest.msgs,
        newest.last_message,
        newest.remote_application,
        newest.user,
    )


Put: TypeAlias = Callable[[str, Callable[[str], Query]], Awaitable[Exchange]]
"""Sends a query: (queue manager, a function that builds the query for a command scope, empty: the queue manager itself)
-> the exchange, which also holds failures."""

_T = TypeVar("_T")

_PARAMETER: Final = frozenset({mq.MQRCCF_CFIN_PARM_ID_ERROR, mq.MQRCCF_CFIL_PARM_ID_ERROR})
"""An optional parameter, or an attribute of a list, is unknown on this platform or level: query again without it."""


async def ask_holders(queue: ObjectName, queue_managers: Sequence[str], put: Put, clock: Clock) -> Holders:
    """The holders of the queue at each queue manager.

    Failures are sentences in the result; raises what ``put`` raises.
    """
    if not is_exact(queue.name, mq.MQ_Q_NAME_LENGTH):
        now = clock.now()
        problem = f"{queue.name!r} is not the name of a queue"
        return Holders(queue, tuple(MemberHolders(name, now, 0, problem=problem) for name in queue_managers))
    members = await asyncio.gather(*(_MemberQuery(queue.name, name, put).run(clock) for name in queue_managers))
    return Holders(queue, tuple(members))


async def ask_units_of_work(of: ObjectName, queue_managers: Sequence[str], put: Put, clock: Clock) -> UnitsOfWork:
    """The units of work of each queue manager, the oldest first.

    Failures are sentences in the result; raises what ``put`` raises.
    """

    async def member(name: str) -> MemberUnits:
        began = clock.now()
        result = read_all_connections(await put(name, ask_units), name, Decoder(lenient=True))
        units = tuple(sorted(result.items, key=_age_of_unit))
        took = max(0, clock.now() - began)
        return MemberUnits(name, began, took, units, result.problem, (result.note,) if result.note else ())

    return UnitsOfWork(of, tuple(await asyncio.gather(*map(member, queue_managers))))


def _age_of_unit(each: ReportedConnection) -> tuple[bool, str, str]:
    """Those with log records first, by the first of them; the others by their beginning."""
    unit = each.unit_of_work
    if unit is None:
        return True, _LAST, each.application
    return not unit.log_began, unit.log_began or unit.began or _LAST, each.application


class _MemberQuery:
    """The queries to one queue manager."""

    def __init__(self, queue: str, queue_manager: str, put: Put) -> None:
        self._queue = queue
        self._queue_manager = queue_manager
        self._put = put
        self._decoder = Decoder(lenient=True)
        self._notes: list[str] = []
        self._distributed: bool | None = None

    async def run(self, clock: Clock) -> MemberHolders:
        """Everything that this queue manager reports."""
        began = clock.now()
        result = await self._handles()
        self._note(result)
        holders = ordered(result.items)
        connections: tuple[ReportedConnection, ...] = ()
        instances: tuple[ReportedInstance, ...] = ()
        if holders:
            self._distributed = any(each.process is not None for each in holders)
            applications = _distinct(each.application for each in holders)
            channels = _distinct(each.channel for each in holders)
            channels = [each for each in channels if is_exact(each, mq.MQ_CHANNEL_NAME_LENGTH)]
            connections = await self._each(applications, self._connections, "connections", "application")
            instances = await self._each(channels, self._instances, "channel instances", "channel")
        return MemberHolders(
            self._queue_manager,
            began,
            max(0, clock.now() - began),
            joined(holders, connections, instances),
            result.problem,
            tuple(self._notes),
        )

    async def _each(
        self, keys: Sequence[str], ask: Callable[[str], Awaitable[HolderQueryResult[_T]]], what: str, of: str
    ) -> tuple[_T, ...]:
        """The items of one query for each key. A note says of how many keys nothing is known."""
        found: list[_T] = []
        for number, key in enumerate(keys):
            if number == MOST_QUERIES:
                self._notes.append(f"the {what} of {counted(len(keys) - number, f'more {of}')} were not asked for")
                break
            result = await ask(key)
            found += result.items
            self._note(result)
            if result.problem:
                # The others would most likely fail too, and the user waits.
                self._notes.append(f"the {what} of handles are not known: {result.problem}")
                break
        return tuple(found)

    async def _handles(self) -> HolderQueryResult[Holder]:
        for disposition in (True, False):
            exchange = await self._put(self._queue_manager, partial(ask_handles, self._queue, disposition=disposition))
            result = read_handles(exchange, self._queue_manager, self._queue, self._decoder)
            if not result.problem or result.reason not in _PARAMETER:
                break
        return result

    async def _connections(self, application: str) -> HolderQueryResult[ReportedConnection]:
        result = await self._ask_connections(application)
        if result.problem and result.reason in _PARAMETER:
            self._distributed = None
            result = await self._ask_connections(application)
        return result

    async def _ask_connections(self, application: str) -> HolderQueryResult[ReportedConnection]:
        ask = partial(ask_connections, application, distributed=self._distributed)
        exchange = await self._put(self._queue_manager, ask)
        return read_connections(exchange, self._queue_manager, application, self._decoder)

    async def _instances(self, channel: str) -> HolderQueryResult[ReportedInstance]:
        exchange = await self._put(self._queue_manager, partial(ask_instances, channel))
        return read_instances(exchange, self._queue_manager, channel, self._decoder)

    def _note(self, result: HolderQueryResult[_T]) -> None:
        if result.note and result.note not in self._notes:
            self._notes.append(result.note)


def _distinct(texts: Iterable[str]) -> list[str]:
    """The texts without duplicates and empty ones, in order."""
    return [text for text in dict.fromkeys(texts) if text]
