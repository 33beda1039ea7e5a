"""Remote write as a whole: a sender for each engine of the settings, beside the cycles."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from mqvitals_agent.clock import Clock
from mqvitals_agent.log import as_change, as_event, forget
from mqvitals_agent.remote_write.client import RemoteWriteClient
from mqvitals_agent.remote_write.outgoing import Outgoing
from mqvitals_agent.remote_write.sender import Poster, Sender
from mqvitals_agent.remote_write.state import RemoteState
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.remote_write import RemoteWriteRepository
from mqvitals_agent.threads import OnStore, WorkerEndedError
from mqvitals_config.sections.remote_write import RemoteWriteSettings

_LOG = logging.getLogger(__name__)

_RETRY_MS: Final = 5_000

MakePoster = Callable[[RemoteWriteSettings, Callable[[], int]], Poster]
"""(settings, the time now in ms UTC) -> what posts to the engine."""


class RemoteWriter:
    """Sends what is stored to all engines, until it is cancelled. Created and used on the event loop's thread.

    ``chance_of`` returns, for an engine's name, a function that returns random numbers from 0 to 1. ``anew`` is as for
    ``RemoteWriteRepository.register``.
    """

    def __init__(
        self,
        engines: Sequence[RemoteWriteSettings],
        path: Path,
        on_store: OnStore[RemoteWriteRepository],
        clock: Clock,
        chance_of: Callable[[str], Callable[[], float]],
        make: MakePoster = RemoteWriteClient,
        *,
        anew: bool = False,
    ) -> None:
        self._on_store = on_store
        self._clock = clock
        self._anew = anew
        self._senders = [
            Sender(
                str(each.name),
                Outgoing(path, str(each.name), each.external_labels, each.queue_config.max_samples_per_send),
                make(each, clock.now),
                each.queue_config,
                on_store,
                clock,
                chance_of(f"remote write {each.name}"),
                self._register,
            )
            for each in engines
        ]

    @property
    def names(self) -> list[str]:
        """The names of the engines."""
        return [each.state.name for each in self._senders]

    def states(self) -> tuple[RemoteState, ...]:
        """How it goes with each engine. Any thread may call it."""
        return tuple(each.state for each in self._senders)

    def wake(self) -> None:
        """There may be more to send. Call it after every cycle that was stored."""
        for sender in self._senders:
            sender.wake()

    async def run(self) -> None:
        """Send until cancelled."""
        await self._register()
        async with asyncio.TaskGroup() as group:
            for sender in self._senders:
                group.create_task(sender.run(), name=f"remote write {sender.state.name}")

    async def drain(self, within_s: float) -> None:
        """Wait, at most this many seconds, until all is sent to engines that do not fail; then keep the totals."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await asyncio.gather(*(sender.drain() for sender in self._senders))
        with suppress(StoreError, WorkerEndedError):
            for sender in self._senders:
                await sender.keep_totals()

    async def _register(self) -> None:
        """Note in the store which engines there are, as soon as it can be written."""
        while True:
            try:
                gone = await self._on_store(lambda rows: rows.register(self.names, anew=self._anew))
            except StoreError as error:
                _LOG.error(str(error), extra=as_change("remote write", "remote_write.store"))
                await self._clock.sleep(_RETRY_MS)
                continue
            forget(_LOG, "remote write")
            for name in gone:
                _LOG.info(
                    f"remote write {name} is no longer in the settings: nothing is sent to it any more",
                    extra=as_event("remote_write.gone", remote_write=name),
                )
            return
