"""Sends to one engine, round by round, until it is cancelled; an outage of one engine is none of another."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final, Protocol, TypeVar

from mqvitals_agent.clock import Clock
from mqvitals_agent.log import as_change, as_event, as_recovery
from mqvitals_agent.remote_write.client import Meaning, PostOutcome
from mqvitals_agent.remote_write.outgoing import Batch, Outgoing, Round
from mqvitals_agent.remote_write.protocol import compress
from mqvitals_agent.remote_write.refusals import Refusals, parts_of, says_it_has_it
from mqvitals_agent.remote_write.state import RemoteState
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.remote_write import RemoteWriteRepository
from mqvitals_agent.threads import OnStore, ThreadWorker, WorkerEndedError
from mqvitals_config.sections.remote_write import QueueSettings

_LOG = logging.getLogger(__name__)

_T = TypeVar("_T")

TOTALS_MS: Final = 300_000
"""So much of samples' time lies between two places as of which running totals are stored."""


class Poster(Protocol):
    """Posts bodies to an engine."""

    async def post(self, body: bytes) -> PostOutcome:
        """Post one; raises nothing that the engine or the network can cause."""
        ...

    async def aclose(self) -> None:
        """Close the connection."""
        ...


def pause_of(failures: int, chance: float, queue: QueueSettings, retry_after: int | None = None) -> int:
    """The pause after so many failures in a row (1 or more), ms.

    It doubles up to the longest; ``chance`` (0 to 1, random) takes up to half of it, so that senders do not come back together.
    What the engine asks for, ``retry_after`` ms, is the least.
    """
    span = min(queue.min_backoff * 2 ** min(failures - 1, 32), queue.max_backoff)
    return max(int(span * (1 - chance / 2)), retry_after or 0, 1)


class Sender:
    """Sends what ``outgoing`` reads to the engine of ``poster``; its place is stored after each round.

    ``chance`` returns random numbers from 0 to 1. ``register`` notes the engine in the file of the store where that is new.
    """

    def __init__(
        self,
        name: str,
        outgoing: Outgoing,
        poster: Poster,
        queue: QueueSettings,
        on_store: OnStore[RemoteWriteRepository],
        clock: Clock,
        chance: Callable[[], float],
        register: Callable[[], Awaitable[None]],
    ) -> None:
        self._register = register
        self._name = name
        self._outgoing = outgoing
        self._poster = poster
        self._queue = queue
        self._on_store = on_store
        self._clock = clock
        self._chance = chance
        self._reader = ThreadWorker("mqvitals-remote-write", clock)
        self._news = asyncio.Event()
        self._settled = asyncio.Event()
        self._closing = False
        self._failures = 0
        self._totals_ts: int | None = None
        self._last_ts = 0
        self._kept = False
        self._missed: int | None = None
        self.state = RemoteState(name)

    def wake(self) -> None:
        """There may be more to send. Call it on the event loop's thread."""
        self._news.set()
        if not self._failures:
            self._settled.clear()

    async def drain(self) -> None:
        """Wait until all is sent, or the engine fails; nothing waits to become more from now on."""
        self._closing = True
        self.wake()
        await self._settled.wait()

    async def run(self) -> None:
        """Send until cancelled."""
        try:
            while True:
                self._news.clear()
                found = await self._from_store(self._outgoing.begin)
                if found is None:
                    await self._rest()
                else:
                    await self._send(found)
        finally:
            with suppress(WorkerEndedError):
                await self._reader.run(self._outgoing.close)
            self._reader.end()
            await self._poster.aclose()

    async def keep_totals(self) -> None:
        """Store the running totals as of the place, so that the next run need not add them up. Raises StoreError."""
        kept = await self._reader.run(self._outgoing.kept)
        if kept is not None:
            place, totals = kept
            await self._on_store(lambda rows: rows.advance(self._name, place, place, 0, 0, totals))

    async def _rest(self) -> None:
        """Wait for more; a little of it waits for more still."""
        if not await self._from_store(self._look):
            await self._register()
        if not self._news.is_set():
            self._settled.set()
        await self._news.wait()
        if not self._closing:
            await self._clock.sleep(self._queue.batch_send_deadline)

    async def _send(self, found: Round) -> None:
        refusals = Refusals()
        waiting = sum(each.samples for each in found.commits)
        self.state = replace(self.state, pending=max(self.state.pending, waiting), oldest=found.first)
        while True:
            try:
                batch = await self._reader.run(self._outgoing.next)
                if batch is None:
                    missed = await self._reader.run(self._outgoing.missed)
                    break
            except StoreError as error:
                # The round begins anew.
                await self._store_fails(error)
                return
            await self._deliver(batch, refusals, again=found.again)
        if not await self._advance(found, missed, refusals):
            # The file is another one.
            await self._reader.run(self._outgoing.close)
            return
        if refusals.samples:
            _LOG.warning(
                f"remote write {self._name} has refused {refusals.samples:,} samples: {'; '.join(refusals.named)}",
                extra=as_event("remote_write.refused", remote_write=self._name, samples=refusals.samples),
            )
        await self._from_store(self._look)

    def _look(self) -> bool:
        """Look what waits, and what was missed; False: the engine is not registered. On the reader's thread."""
        seen = self._outgoing.look()
        if seen is None:
            return False
        place, pending = seen
        self.state = replace(
            self.state, missed=place.missed, refused=place.refused, pending=pending.samples, oldest=pending.oldest
        )
        if self._missed is not None and place.missed > self._missed:
            missed = place.missed - self._missed
            _LOG.warning(
                f"remote write {self._name}: {missed:,} samples were deleted from the store before they could be sent",
                extra=as_event("remote_write.missed", remote_write=self._name, samples=missed),
            )
        self._missed = place.missed
        return True

    async def _deliver(self, batch: Batch, refusals: Refusals, *, again: bool) -> None:
        """Send a batch until the engine has taken what it takes of it."""
        parts = [batch]
        while parts:
            part = refusals.rest(parts.pop())
            if not part.series:
                continue
            answer, unknown = await self._answered(part)
            if answer.meaning is Meaning.TAKEN:
                continue
            if part.samples > 1:
                older, newer = parts_of(part)
                parts += [newer, older]
            elif (again or unknown) and says_it_has_it(answer.text):
                # What became of an attempt before is not known: it has come through.
                continue
            else:
                refusals.note(part.series[0], answer.text)
            # What of the whole came through before is not known of its parts either.
            again = again or unknown

    async def _answered(self, part: Batch) -> tuple[PostOutcome, bool]:
        """The first answer that says something about these samples; and whether it may have taken them before."""
        body = await self._reader.run(compress, [each.data for each in part.series])
        unknown = False
        while True:
            with self._clock.hold():
                answer = await self._poster.post(body)
            if answer.meaning is not Meaning.AGAIN:
                self._on_answer(answer, part, len(body))
                return answer, unknown
            unknown = unknown or answer.unknown
            await self._on_failure(answer)

    def _on_answer(self, answer: PostOutcome, part: Batch, size: int) -> None:
        self._failures = 0
        self._kept = False
        now = self._clock.now()
        taken = answer.meaning is Meaning.TAKEN
        self.state = replace(
            self.state,
            sent=self.state.sent + (part.samples if taken else 0),
            sent_bytes=self.state.sent_bytes + (size if taken else 0),
            accepted_at=now if taken else self.state.accepted_at,
            failing_since=None,
            error="",
        )
        if taken:
            _LOG.info(
                f"remote write {self._name}: {answer.text}",
                extra=as_recovery(self._key, "remote_write.back", remote_write=self._name),
            )

    async def _on_failure(self, answer: PostOutcome) -> None:
        self._failures += 1
        self._settled.set()
        since = self._clock.now() if self.state.failing_since is None else self.state.failing_since
        self.state = replace(self.state, failing_since=since, error=answer.text)
        _LOG.error(
            f"remote write {self._name}: {answer.text}; samples wait in the store until it takes them",
            extra=as_change(self._key, "remote_write.failing", remote_write=self._name),
        )
        if not self._kept:
            # What is deleted meanwhile cannot be added up later.
            with suppress(StoreError):
                await self.keep_totals()
                self._kept = True
        with suppress(StoreError):
            await self._reader.run(self._look)
        await self._clock.sleep(pause_of(self._failures, self._chance(), self._queue, answer.retry_after))

    async def _advance(self, found: Round, missed: int, refusals: Refusals) -> bool:
        """Store how far the engine is; False: the file is another one."""
        due = self._totals_ts is None or not 0 <= found.last - self._totals_ts < TOTALS_MS
        # A clock was set back: what it took from the store cannot be added up again.
        due = due or found.last < self._last_ts
        self._last_ts = found.last
        totals = await self._reader.run(self._outgoing.totals) if due else None
        while True:
            try:
                moved = await self._on_store(
                    lambda rows: rows.advance(self._name, found.before, found.place, missed, refusals.samples, totals)
                )
            except StoreError as error:
                await self._store_fails(error)
                continue
            break
        if moved:
            await self._reader.run(self._outgoing.done)
            if due:
                self._totals_ts = found.last
        return moved

    async def _from_store(self, function: Callable[[], _T]) -> _T:
        """What ``function`` returns, called on the reader's thread until the store can be read."""
        while True:
            try:
                return await self._reader.run(function)
            except StoreError as error:
                await self._store_fails(error)

    async def _store_fails(self, error: StoreError) -> None:
        self._failures += 1
        self._settled.set()
        _LOG.error(str(error), extra=as_change(self._key, "remote_write.store", remote_write=self._name))
        await self._clock.sleep(pause_of(self._failures, self._chance(), self._queue))

    @property
    def _key(self) -> str:
        return f"remote write {self._name}"
