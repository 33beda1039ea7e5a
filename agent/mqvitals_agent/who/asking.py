"""Asks queue managers who has a queue open: the handles, then the connections and the channel instances they may belong to.

Queue managers are asked side by side, the commands of one of them one after another: a question never takes more than one
place in the line of a connection. When connections or instances cannot be had, the handles are told all the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Final, TypeAlias, TypeVar

from mqvitals_agent.clock import Clock
from mqvitals_agent.connection.exchange import Exchange
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.who.holder import Holder, Holders, MemberHolders
from mqvitals_agent.who.match import joined, ordered
from mqvitals_agent.who.question import MOST, ask_connections, ask_handles, ask_instances, is_exact
from mqvitals_agent.who.reading import Told, read_connections, read_handles, read_instances
from mqvitals_agent.who.told import ToldConnection, ToldInstance
from mqvitals_rules.snapshot import ObjectName

Put: TypeAlias = Callable[[str, int, Callable[[str], bytes]], Awaitable[Exchange]]
"""Puts a command: for which queue manager, the command's number, and what makes the request for a command scope (empty: the
queue manager that gets the request). What fails is told in the exchange."""

_T = TypeVar("_T")

_PARAMETER: Final = frozenset({mq.MQRCCF_CFIN_PARM_ID_ERROR, mq.MQRCCF_CFIL_PARM_ID_ERROR})
"""An optional parameter, or an attribute of a list, is not known on this platform or level: ask again without it."""


async def ask_holders(queue: ObjectName, queue_managers: Sequence[str], put: Put, clock: Clock) -> Holders:
    """Who has the queue open at each of the queue managers. Failures are sentences in the answer; raises what ``put`` raises."""
    if not is_exact(queue.name, mq.MQ_Q_NAME_LENGTH):
        now = clock.now()
        problem = f"{queue.name!r} is not the name of a queue"
        return Holders(queue, tuple(MemberHolders(name, now, 0, problem=problem) for name in queue_managers))
    members = await asyncio.gather(*(_Inquiry(queue.name, name, put).run(clock) for name in queue_managers))
    return Holders(queue, tuple(members))


class _Inquiry:
    """The commands to one queue manager."""

    def __init__(self, queue: str, queue_manager: str, put: Put) -> None:
        self._queue = queue
        self._queue_manager = queue_manager
        self._put = put
        self._decoder = Decoder(lenient=True)
        self._notes: list[str] = []

    async def run(self, clock: Clock) -> MemberHolders:
        """All that this queue manager tells."""
        began = clock.now()
        told = await self._handles()
        self._note(told)
        holders = ordered(told.items)
        connections: tuple[ToldConnection, ...] = ()
        instances: tuple[ToldInstance, ...] = ()
        if holders:
            connections = await self._connections(holders)
            instances = await self._instances(holders)
        return MemberHolders(
            self._queue_manager,
            began,
            max(0, clock.now() - began),
            joined(holders, connections, instances),
            told.problem,
            tuple(self._notes),
        )

    async def _handles(self) -> Told[Holder]:
        told = await self._ask_handles(disposition=True)
        return await self._ask_handles(disposition=False) if told.problem and told.reason in _PARAMETER else told

    async def _ask_handles(self, *, disposition: bool) -> Told[Holder]:
        exchange = await self._put(
            self._queue_manager,
            mq.MQCMD_INQUIRE_Q_STATUS,
            partial(ask_handles, self._queue, disposition=disposition),
        )
        return read_handles(exchange, self._queue_manager, self._queue, self._decoder)

    async def _connections(self, holders: Sequence[Holder]) -> tuple[ToldConnection, ...]:
        distributed: bool | None = any(each.process is not None for each in holders)
        found: list[ToldConnection] = []
        applications = _distinct(each.application for each in holders)
        for number, application in enumerate(applications):
            if number == MOST:
                self._note_left(
                    len(applications) - number, "the connections of {} more application{} were not asked for"
                )
                break
            told = await self._ask_connections(application, distributed=distributed)
            if told.problem and told.reason in _PARAMETER:
                distributed = None
                told = await self._ask_connections(application, distributed=distributed)
            found += told.items
            self._note(told)
            if told.problem:
                # The others would most likely fail as well, and whoever asked waits meanwhile.
                self._notes.append(f"the connections of handles are not known: {told.problem}")
                break
        return tuple(found)

    async def _ask_connections(self, application: str, *, distributed: bool | None) -> Told[ToldConnection]:
        exchange = await self._put(
            self._queue_manager,
            mq.MQCMD_INQUIRE_CONNECTION,
            partial(ask_connections, application, distributed=distributed),
        )
        return read_connections(exchange, self._queue_manager, application, self._decoder)

    async def _instances(self, holders: Sequence[Holder]) -> tuple[ToldInstance, ...]:
        found: list[ToldInstance] = []
        channels = [
            each for each in _distinct(each.channel for each in holders) if is_exact(each, mq.MQ_CHANNEL_NAME_LENGTH)
        ]
        for number, channel in enumerate(channels):
            if number == MOST:
                self._note_left(len(channels) - number, "the instances of {} more channel{} were not asked for")
                break
            exchange = await self._put(
                self._queue_manager,
                mq.MQCMD_INQUIRE_CHANNEL_STATUS,
                partial(ask_instances, channel),
            )
            told = read_instances(exchange, self._queue_manager, channel, self._decoder)
            found += told.items
            self._note(told)
            if told.problem:
                self._notes.append(f"the channel instances of handles are not known: {told.problem}")
                break
        return tuple(found)

    def _note(self, told: Told[_T]) -> None:
        if told.note and told.note not in self._notes:
            self._notes.append(told.note)

    def _note_left(self, count: int, sentence: str) -> None:
        self._notes.append(sentence.format(count, "" if count == 1 else "s"))


def _distinct(texts: Iterable[str]) -> list[str]:
    """Every text once, in order, without the empty one."""
    return [text for text in dict.fromkeys(texts) if text]
