"""What others put into the store while the agent runs: requests, which are answered, and what people do about alerts.

Both are looked for each second by the machine's clock. Requests are sent on demand, never polled; equal ones are answered
together, also those that arrive while the first one is under way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from mqvitals_agent.clock import Clock, with_timeout
from mqvitals_agent.connection.answer import NO_REPLY
from mqvitals_agent.connection.connection import Exchange, MqiFailure, Query
from mqvitals_agent.log import as_change, as_event, as_recovery
from mqvitals_agent.service.cycles.poller_pool import PollerPool
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.resilient import ResilientStore
from mqvitals_agent.store.rows.alerts.actions import Actions, AuditEntry
from mqvitals_agent.store.rows.requests import ANSWER_WAIT_MS, UNITS, WHO, StoredRequest
from mqvitals_agent.store.writer import Store
from mqvitals_agent.threads import ThreadWorker
from mqvitals_agent.who.holder import Holders, MemberHolders, MemberUnits, UnitsOfWork, to_json
from mqvitals_agent.who.query import ask_holders, ask_units_of_work
from mqvitals_rules.snapshot import ObjectName

_LOG = logging.getLogger(__name__)

LOOK_MS = 1_000
"""How often the store is read."""
DEADLINE_MS = 15_000
"""A request is answered after this time, with what is known until then."""
MOST = 8
"""Requests under way at once; the others wait."""
_FORGET_MS = 60_000
"""How often old requests are deleted from the store: their answers name people."""

_TOO_LATE = MqiFailure(2, NO_REPLY)


def queue_managers_to_ask(
    question: str, about: ObjectName, members: PollerPool, name: str, groups: frozenset[str]
) -> tuple[tuple[str, ...], str]:
    """The queue managers to ask, or none and a sentence why not.

    ``name`` is the group's in the settings (may be empty), ``groups`` are the groups in the store.
    """
    if question == UNITS:
        if about.owner in members.members:
            return (about.owner,), ""
        return (), f"{about.owner} is not monitored by this agent"
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
        return tuple(members.of_group), "" if members.of_group else "no member of the group is monitored"
    return (), f"{about.owner} is not monitored by this agent"


class OnDemandRequests:
    """Reads requests from the store and answers them, in ``run``.

    ``group`` is the group's name in the settings, empty when it has none. ``clock`` is the machine's, by which people
    wait; ``samples`` dates the exchanges. A request is answered after ``deadline_ms`` at the latest; ``most`` of them
    are under way at once.
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
        """Answer requests until cancelled. Requests that then wait get no answer."""
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
        """What to ask now; requests for what is under way join it."""
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
            # Other requests may join while the answer is being written.
            written: set[int] = set()
            while numbers - written:
                waiting = numbers - written
                if not await self._written(frozenset(waiting), text):
                    return
                written |= waiting
        finally:
            del self._under_way[question, about]

    async def _found(self, question: str, about: ObjectName) -> Holders | UnitsOfWork:
        groups: frozenset[str] = frozenset()
        if about.owner not in self._members.members:
            try:
                groups = await self._thread.run(lambda: self._store().groups())
            except StoreError as error:
                return self._nothing(question, about, f"the agent cannot read its store: {error}")
        names, problem = queue_managers_to_ask(question, about, self._members, self._group, groups)
        if problem:
            return self._nothing(question, about, problem)
        ends = self._steady_ms() + self._deadline_ms

        async def put(queue_manager: str, build: Callable[[str], Query]) -> Exchange:
            """As ``PollerPool.put``; what is not answered by the deadline has no reply."""
            began, left = self._samples.now(), ends - self._steady_ms()
            try:
                return await with_timeout(self._members.put(queue_manager, build), self._clock, max(left, 0))
            except TimeoutError:
                query, elapsed = build(""), max(0, self._samples.now() - began)
                return Exchange(0, began, elapsed, queue_manager, query.command, query.request, error=_TOO_LATE)

        ask = ask_units_of_work if question == UNITS else ask_holders
        return await ask(about, names, put, self._samples)

    def _steady_ms(self) -> float:
        return self._clock.steady_s() * 1000

    def _nothing(self, question: str, about: ObjectName, problem: str) -> Holders | UnitsOfWork:
        now = self._samples.now()
        if question == UNITS:
            return UnitsOfWork(about, (MemberUnits(about.owner, now, 0, problem=problem),))
        return Holders(about, (MemberHolders(about.owner, now, 0, problem=problem),))

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
        """Log once that the store fails, and once that it works again."""
        key = f"requests {what}"
        if problem:
            _LOG.error(f"requests cannot be {what}: {problem}", extra=as_change(key, "questions.failed"))
        else:
            _LOG.info(f"requests can be {what} again", extra=as_recovery(key, "questions.recovered"))


class ActionWatch:
    """Looks for what people do about alerts, in ``run``: logs it, and calls ``changed`` with all that is in the store.

    ``changed`` is called on the event loop, first with what the store holds at the start. ``clock`` is the machine's.
    """

    def __init__(
        self,
        store: Callable[[], ResilientStore],
        thread: ThreadWorker,
        clock: Clock,
        changed: Callable[[Actions], None] = lambda _: None,
        *,
        look_ms: int = LOOK_MS,
    ) -> None:
        self._store = store
        self._thread = thread
        self._clock = clock
        self._changed = changed
        self._look_ms = look_ms
        self._known: Actions | None = None

    async def run(self) -> None:
        """Look until cancelled. While the store cannot be read, what is known stays."""
        while True:
            try:
                actions, entries = await self._thread.run(self._look)
            except StoreError as error:
                _LOG.error(
                    f"what people do about alerts cannot be read: {error}",
                    extra=as_change("actions read", "actions.failed"),
                )
            else:
                _LOG.info(
                    "what people do about alerts can be read again",
                    extra=as_recovery("actions read", "actions.recovered"),
                )
                for each in entries:
                    _log_action(each)
                if actions is not self._known:
                    self._known = actions
                    self._changed(actions)
            await self._clock.sleep(self._look_ms)

    def _look(self) -> tuple[Actions, Sequence[AuditEntry]]:
        """Everything, and what was done since the last look."""
        store = self._store()
        actions = store.read_actions()
        if self._known is None or actions is self._known:
            return actions, ()
        return actions, store.file.actions.audit(self._known.last)


def _log_action(entry: AuditEntry) -> None:
    facts = {"author": entry.author, "action": entry.action, "about": entry.about}
    if entry.detail:
        facts["detail"] = entry.detail
    _LOG.info(f"{entry.author}: {entry.action}, {entry.about}", extra=as_event("alert.action", **facts))
