"""Requests that programs put into the store, answered while the cycles go on: sent on demand, never polled.

Equal requests are answered together, also those that arrive while the first one is under way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from mqvitals_agent.clock import Clock
from mqvitals_agent.connection.answer import NO_REPLY
from mqvitals_agent.connection.connection import Exchange, MqiFailure, Query
from mqvitals_agent.log import as_change, as_recovery
from mqvitals_agent.service.poller_pool import PollerPool
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.requests import ANSWER_WAIT_MS, WHO, StoredRequest
from mqvitals_agent.store.writer import Store
from mqvitals_agent.threads import ThreadWorker
from mqvitals_agent.who.holder import Holders, MemberHolders, to_json
from mqvitals_agent.who.query import ask_holders
from mqvitals_rules.snapshot import ObjectName

_LOG = logging.getLogger(__name__)

_T = TypeVar("_T")

LOOK_MS = 1_000
"""How often the store is looked into."""
DEADLINE_MS = 15_000
"""A request is answered after this time, with what is known until then."""
MOST = 8
"""Questions under way at once; the others wait."""
_FORGET_MS = 60_000
"""How often old questions are taken out of the store: their answers name people."""

_TOO_LATE = MqiFailure(2, NO_REPLY)


def queue_managers_to_ask(
    question: str, about: ObjectName, members: PollerPool, name: str, groups: frozenset[str]
) -> tuple[tuple[str, ...], str]:
    """The queue managers to ask, or none and a sentence why not.

    ``name`` is the group's in the settings (may be empty), ``groups`` are the groups in the store.
    """
    if question != WHO:
        return (
            (),
            f"this agent does not know the question {question}: is it older than the program that asks?",
        )
    if about.kind != "queue":
        return (), f"{about} is no queue: only a queue can be held open"
    if about.owner in members.members:
        return (about.owner,), ""
    if about.owner == name if name else about.owner in groups:
        return tuple(members.of_group), "" if members.of_group else "no member of the group is watched"
    return (), f"{about.owner} is not watched by this agent"


class OnDemandRequests:
    """Looks for questions in the store and answers them, in ``run``.

    ``group`` is the group's name in the settings, empty where it has none. ``clock`` is the machine's, by which
    people ask and wait; ``samples`` the one that exchanges are dated by. A question is answered after ``deadline_ms``
    at the latest, ``most`` of them are under way at once.
    """

    def __init__(
        self,
        members: PollerPool,
        store: Callable[[], Store],
        thread: ThreadWorker,
        group: str,
        clock: Clock,
        samples: Clock,
        *,
        look_ms: int = LOOK_MS,
        deadline_ms: int = DEADLINE_MS,
        most: int = MOST,
    ) -> None:
        self._members = members
        self._store = store
        self._thread = thread
        self._group = group
        self._clock = clock
        self._samples = samples
        self._look_ms = look_ms
        self._deadline_ms = deadline_ms
        self._most = most
        self._under_way: dict[tuple[str, ObjectName], set[int]] = {}

    async def run(self) -> None:
        """Answer questions. Ends by being cancelled: those who wait then get no answer. Raises what is a mistake."""
        async with asyncio.TaskGroup() as tasks:
            forgotten = 0
            while True:
                if forgotten <= 0:
                    forgotten = _FORGET_MS
                    await self._forget()
                forgotten -= self._look_ms
                for question, about in self._begun(await self._waiting()):
                    tasks.create_task(self._answer(question, about), name=f"{question} {about}")
                await self._clock.sleep(self._look_ms)

    async def _waiting(self) -> tuple[StoredRequest, ...]:
        now = self._clock.now()
        try:
            found = await self._thread.run(lambda: self._store().requests.waiting(now))
        except StoreError as error:
            self._log_store("read", str(error))
            return ()
        self._log_store("read", "")
        return found

    async def _forget(self) -> None:
        now = self._clock.now()
        try:
            await self._thread.run(lambda: self._store().requests.delete_old(now))
        except StoreError as error:
            self._log_store("removed", str(error))
        else:
            self._log_store("removed", "")

    def _begun(self, requests: Sequence[StoredRequest]) -> list[tuple[str, ObjectName]]:
        """What is to be asked now; requests for what is under way join it."""
        new = []
        for request in requests:
            key = request.question, request.object
            numbers = self._under_way.get(key)
            if numbers is not None:
                numbers.add(request.id)
            elif len(self._under_way) < self._most:
                self._under_way[key] = {request.id}
                new.append(key)
        return new

    async def _answer(self, question: str, about: ObjectName) -> None:
        numbers = self._under_way[question, about]
        try:
            text = to_json(await self._found(question, about))
            # Others may join while the answer is being written: as long as they do, the question is not done with.
            written: set[int] = set()
            while numbers - written:
                waiting = numbers - written
                if not await self._written(frozenset(waiting), text):
                    return
                written |= waiting
        finally:
            del self._under_way[question, about]

    async def _found(self, question: str, about: ObjectName) -> Holders:
        groups: frozenset[str] = frozenset()
        if about.owner not in self._members.members:
            try:
                groups = await self._thread.run(lambda: self._store().groups())
            except StoreError as error:
                return self._nothing(about, f"the agent cannot read its store: {error}")
        names, problem = queue_managers_to_ask(question, about, self._members, self._group, groups)
        if problem:
            return self._nothing(about, problem)

        deadline = asyncio.create_task(self._clock.sleep(self._deadline_ms))
        try:
            return await ask_holders(about, names, _Patient(self._members, self._samples, deadline).put, self._samples)
        finally:
            deadline.cancel()

    def _nothing(self, about: ObjectName, problem: str) -> Holders:
        return Holders(about, (MemberHolders(about.owner, self._samples.now(), 0, problem=problem),))

    async def _written(self, numbers: frozenset[int], text: str) -> bool:
        """Write an answer, trying again until the request is too old; returns whether it was written."""
        for _ in range(0, ANSWER_WAIT_MS, self._look_ms):
            now = self._clock.now()
            try:
                await self._thread.run(lambda: self._store().requests.answer(numbers, text, now))  # noqa: B023 - used at once
            except StoreError as error:
                self._log_store("answered", str(error))
            else:
                self._log_store("answered", "")
                return True
            await self._clock.sleep(self._look_ms)
        return False

    def _log_store(self, what: str, problem: str) -> None:
        """Tell of a failing store once, and once that it is well again."""
        key = f"questions {what}"
        if problem:
            _LOG.error(f"questions cannot be {what}: {problem}", extra=as_change(key, "questions.failed"))
        else:
            _LOG.info(f"questions can be {what} again", extra=as_recovery(key, "questions.recovered"))


class _Patient:
    """Puts commands until the deadline. What is not answered by then counts as an answer that did not come."""

    def __init__(self, members: PollerPool, clock: Clock, deadline: asyncio.Task[None]) -> None:
        self._members = members
        self._clock = clock
        self._deadline = deadline

    async def put(self, queue_manager: str, build: Callable[[str], Query]) -> Exchange:
        """As ``PollerPool.put``."""
        began = self._clock.now()
        exchange = await _before(self._deadline, self._members.put(queue_manager, build))
        if exchange is not None:
            return exchange
        elapsed = max(0, self._clock.now() - began)
        query = build("")
        return Exchange(0, began, elapsed, queue_manager, query.command, query.request, error=_TOO_LATE)


async def _before(deadline: asyncio.Task[None], call: Coroutine[Any, Any, _T]) -> _T | None:
    """What the call returns, None when the deadline comes first."""
    work = asyncio.create_task(call)
    try:
        await asyncio.wait({work, deadline}, return_when=asyncio.FIRST_COMPLETED)
        return work.result() if work.done() else None
    finally:
        work.cancel()
