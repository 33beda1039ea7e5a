"""The outbox: the notices that are owed, as those who deliver them see it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from mqvitals_agent.store.notice_row import NoticeOutcome, OwedNotice, StoredNotice
from mqvitals_agent.store.receiver_row import Adoption, Introduced
from mqvitals_config.receiver import Receiver

T = TypeVar("T")


class Outbox(Protocol):
    """Where owed notices are. Every method raises StoreError."""

    async def due(self, receiver: str, now: int, limit: int) -> Sequence[StoredNotice]:
        """The oldest notices owed to a receiver, in their order, up to the first that is not due at ``now`` (ms UTC)."""
        ...

    async def done(self, number: int, ts: int, outcome: NoticeOutcome, error: str) -> None:
        """A notice has been accepted, or refused for good because of ``error``."""
        ...

    async def failed(self, number: int, ts: int, error: str, next_ts: int, *, refused: bool) -> None:
        """An attempt failed at ``ts`` because of ``error``, ``refused``: of the notice; the next is due at ``next_ts``."""
        ...

    async def next_due(self, receiver: str, now: int) -> int | None:
        """When the next notice that waits at ``now`` will be due, ms UTC; None: none does."""
        ...

    async def adopt(self, receivers: Sequence[Receiver], ts: int) -> Adoption:
        """From ``ts`` (ms UTC) on these are the receivers: what others are owed is dropped, new ones are told what fires."""
        ...

    async def owed(self) -> Mapping[str, int]:
        """How many notices each receiver is owed, but for those with none."""
        ...


class Call(Protocol):
    """Runs a function on the thread that the store belongs to, and gives back what it returns or raises."""

    def __call__(self, job: Callable[[], T], /) -> Awaitable[T]:
        """``job``'s result."""
        ...


class Notices(Protocol):
    """The tables that notices are in: ``Store``, and ``ResilientStore``. As ``AlertTables`` has them; raises StoreError."""

    def due_notices(self, receiver: str, now: int, limit: int) -> Sequence[StoredNotice]: ...  # noqa: D102

    def next_notice(self, receiver: str, now: int) -> int | None: ...  # noqa: D102

    def owed_notices(self) -> Mapping[str, int]: ...  # noqa: D102

    def adopt_receivers(self, names: Sequence[str], ts: int, introduced: Introduced) -> Adoption: ...  # noqa: D102

    def notice_done(self, number: int, ts: int, outcome: NoticeOutcome, error: str = "") -> None: ...  # noqa: D102

    def notice_failed(  # noqa: D102
        self, number: int, ts: int, error: str, next_ts: int, *, refused: bool = False
    ) -> None: ...


class StoreOutbox:
    """The outbox that a store holds. ``call`` runs what is asked of it on the store's one thread.

    ``introduced`` says, on that thread, which notices new receivers are owed at a moment (ms UTC).
    """

    def __init__(
        self, store: Notices, call: Call, introduced: Callable[[Sequence[str], int], Sequence[OwedNotice]]
    ) -> None:
        self._store = store
        self._call = call
        self._introduced = introduced

    async def due(self, receiver: str, now: int, limit: int) -> Sequence[StoredNotice]:
        """The notices to be sent next. Raises StoreError."""
        return await self._call(lambda: self._store.due_notices(receiver, now, limit))

    async def done(self, number: int, ts: int, outcome: NoticeOutcome, error: str) -> None:
        """Keep how a notice ended. Raises StoreError."""
        await self._call(lambda: self._store.notice_done(number, ts, outcome, error))

    async def failed(self, number: int, ts: int, error: str, next_ts: int, *, refused: bool) -> None:
        """Keep that an attempt failed. Raises StoreError."""
        await self._call(lambda: self._store.notice_failed(number, ts, error, next_ts, refused=refused))

    async def next_due(self, receiver: str, now: int) -> int | None:
        """When the next is due. Raises StoreError."""
        return await self._call(lambda: self._store.next_notice(receiver, now))

    async def adopt(self, receivers: Sequence[Receiver], ts: int) -> Adoption:
        """Keep who the receivers are. Raises StoreError."""
        names = [str(receiver.name) for receiver in receivers]
        return await self._call(lambda: self._store.adopt_receivers(names, ts, lambda new: self._introduced(new, ts)))

    async def owed(self) -> Mapping[str, int]:
        """What waits. Raises StoreError."""
        return await self._call(self._store.owed_notices)
