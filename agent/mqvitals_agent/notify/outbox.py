"""The outbox: the notices that are owed, as those who deliver them see it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from mqvitals_agent.store.notice_row import NoticeOutcome, StoredNotice
from mqvitals_agent.store.writer import Store

T = TypeVar("T")


class Outbox(Protocol):
    """Where owed notices are. Every method raises StoreError."""

    async def due(self, receiver: str, now: int, limit: int) -> Sequence[StoredNotice]:
        """The oldest notices owed to a receiver, in their order, up to the first that is not due at ``now`` (ms UTC)."""
        ...

    async def done(self, number: int, ts: int, outcome: NoticeOutcome, error: str) -> None:
        """A notice has been accepted, or refused for good because of ``error``."""
        ...

    async def failed(self, number: int, error: str, next_ts: int) -> None:
        """An attempt failed because of ``error``; the next is due at ``next_ts``, ms UTC."""
        ...


class Call(Protocol):
    """Runs a function on the thread that the store belongs to, and gives back what it returns or raises."""

    def __call__(self, job: Callable[[], T], /) -> Awaitable[T]:
        """``job``'s result."""
        ...


class StoreOutbox:
    """The outbox that a store holds. ``call`` runs what is asked of it on the store's one thread."""

    def __init__(self, store: Store, call: Call) -> None:
        self._store = store
        self._call = call

    async def due(self, receiver: str, now: int, limit: int) -> Sequence[StoredNotice]:
        """The notices to be sent next. Raises StoreError."""
        return await self._call(lambda: self._store.due_notices(receiver, now, limit))

    async def done(self, number: int, ts: int, outcome: NoticeOutcome, error: str) -> None:
        """Keep how a notice ended. Raises StoreError."""
        await self._call(lambda: self._store.notice_done(number, ts, outcome, error))

    async def failed(self, number: int, error: str, next_ts: int) -> None:
        """Keep that an attempt failed. Raises StoreError."""
        await self._call(lambda: self._store.notice_failed(number, error, next_ts))
