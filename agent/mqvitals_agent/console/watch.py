"""Follows all console files of the settings and stores their messages.

Each file is read in its own thread, so one that hangs (on a network) delays neither the others nor the cycles.
Messages and the position in the file are stored in one transaction: a restart repeats nothing and loses nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path
from typing import Final, TypeVar

from mqvitals_agent.clock import Clock
from mqvitals_agent.console.follower import FileFollower, FollowProgress, FollowStep
from mqvitals_agent.console.message import ConsoleMessage, MessageReader
from mqvitals_agent.console.tail import FilePosition
from mqvitals_agent.console.template import ONE_SYSTEM_IDS
from mqvitals_agent.log import as_change, as_event, as_recovery, forget
from mqvitals_agent.store.deletion_clock import trusted_now
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.messages import ConsoleRow, StoredMessage, message
from mqvitals_agent.store.writer import Store
from mqvitals_agent.threads import ThreadWorker
from mqvitals_config.decoding.scalars import time_zone
from mqvitals_config.sections.collection import FollowedFile
from mqvitals_config.settings import Settings

_LOG = logging.getLogger(__name__)

_T = TypeVar("_T")

LOOK_MS: Final = 2_000
"""The interval of looking at a file."""
SAVE_MS: Final = 10_000
"""The interval of storing how far a file without messages was read."""
MISSING_MS: Final = 60_000
"""A file that is being rotated may be missing for this long."""
ANSWER_S: Final = 30.0
"""A file system that does not answer within this time hangs."""
PAUSE_MS: Final = 10
"""The pause between two pieces of a file that has more."""
FORGET_MS: Final = 3_600_000
"""The interval of deleting old messages."""
_CLOSE_S: Final = 0.2


@dataclass(slots=True)
class _ConsoleFile:
    """A followed file: its state, and what the store holds of it."""

    entry: FollowedFile
    reader: MessageReader
    follower: FileFollower
    owners: set[str]
    kept: ConsoleRow
    failing_since: int | None = None
    logged: set[str] = field(default_factory=set)
    systems: dict[str, str] = field(default_factory=dict)
    """The system of each queue manager, as far as lines have shown since the start."""

    @property
    def own(self) -> str:
        """The queue manager that the settings name for the file; empty without one."""
        return str(self.entry.queue_manager or "")


class ConsoleWatch:
    """Follows the files of ``settings.console.follow`` in ``run``."""

    def __init__(
        self,
        settings: Settings,
        watched: Callable[[], Collection[str]],
        store: Callable[[], Store],
        thread: ThreadWorker,
        clock: Clock,
        *,
        worker: Callable[[], ThreadWorker] | None = None,
        answer_s: float = ANSWER_S,
    ) -> None:
        """``watched`` returns the queue managers whose messages are kept; ``worker`` makes the thread of a file.

        A file that has not answered after ``answer_s`` seconds of real time is reported.
        """
        self._answer_s = answer_s
        self._settings = settings
        self._watched = watched
        self._store = store
        self._thread = thread
        self._clock = clock
        self._worker = worker or (lambda: ThreadWorker(clock=clock))

    async def run(self) -> None:
        """Follow until cancelled. Problems of files and the store are logged."""
        entries = self._settings.console.follow
        paths = {str(entry.path) for entry in entries}
        await self._stored(lambda store: store.messages.follow(paths, self._before(store)))
        async with asyncio.TaskGroup() as tasks:
            for entry in entries:
                tasks.create_task(self._follow(entry), name=f"console {entry.path}")
            while True:
                await self._clock.sleep(FORGET_MS)
                await self._stored(lambda store: store.messages.delete_old(self._before(store)))

    def _before(self, store: Store) -> int:
        return max(trusted_now(store, self._clock.now()) - self._settings.console.keep, 0)

    async def _follow(self, entry: FollowedFile) -> None:
        path = str(entry.path)
        row, owners = await self._stored(lambda store: store.messages.console(path))
        file = self._file(entry, row, owners)
        worker = self._worker()
        try:
            while True:
                file.reader.watched = {*self._watched(), *([file.own] if file.own else ())}
                now = self._clock.now()
                step = await self._answered(file, worker.run(file.follower.step, now))
                await self._store_step(file, step, now)
                await self._clock.sleep(PAUSE_MS if step.more else LOOK_MS)
        finally:
            # The thread may hang in the file: do not wait long.
            with suppress(TimeoutError):
                await asyncio.wait_for(worker.run(file.follower.close), _CLOSE_S)
            worker.end()

    async def _answered(self, file: _ConsoleFile, step: Awaitable[FollowStep]) -> FollowStep:
        """The result of a step, however long it takes; a long one is stored and logged."""
        pending = asyncio.ensure_future(step)
        try:
            done, _ = await asyncio.wait({pending}, timeout=self._answer_s)
            if not done:
                row = file.kept._replace(problem="it does not answer: check its file system")
                await self._stored(lambda store: store.messages.add(row, [], []))
                file.kept = row
                self._log(file, FollowStep(problem=row.problem))
            return await pending
        finally:
            pending.cancel()

    def _file(self, entry: FollowedFile, row: ConsoleRow | None, owners: Iterable[str]) -> _ConsoleFile:
        progress = None
        if row is not None and row.mark:
            progress = FollowProgress(FilePosition(row.offset, row.inode, row.mark), row.state)
        reader = MessageReader(frozenset(), str(entry.queue_manager or ""))
        follower = FileFollower(
            Path(entry.path),
            reader,
            carrier=entry.carrier,
            encoding=entry.encoding,
            zone=self._zone(entry),
            # A file that was missing at the start is new when it comes.
            from_start=entry.begin == "start" or row is not None,
            progress=progress,
        )
        return _ConsoleFile(entry, reader, follower, set(owners), row or ConsoleRow(str(entry.path)))

    def _zone(self, entry: FollowedFile) -> tzinfo | None:
        zone = entry.time_zone or self._settings.time_zone_of(str(entry.queue_manager or ""))
        return None if zone is None else time_zone(zone)

    async def _store_step(self, file: _ConsoleFile, step: FollowStep, now: int) -> None:
        """Store the result of a step when there is anything to store."""
        problem = self._problem(file, step, now)
        row = file.kept._replace(problem=problem, ts=now if not step.problem else file.kept.ts)
        if step.progress is not None:
            position = step.progress.position
            row = row._replace(
                offset=position.offset, inode=position.inode, mark=position.mark, state=step.progress.state
            )
        owners = {each.queue_manager for each in step.messages if each.queue_manager}
        if file.own and step.progress is not None:
            owners.add(file.own)
        new = owners - file.owners
        moved = row._replace(ts=0) != file.kept._replace(ts=0)
        if step.messages or new or problem != file.kept.problem or (moved and now - file.kept.ts >= SAVE_MS):
            every = file.owners | owners
            file.systems.update({each.queue_manager: each.system for each in step.messages if each.system})
            messages = [stored for each in step.messages for stored in _as_stored(each, every, file.systems)]
            await self._stored(lambda store: store.messages.add(row, messages, sorted(new)))
            file.kept, file.owners = row, every
        self._log(file, step)

    def _problem(self, file: _ConsoleFile, step: FollowStep, now: int) -> str:
        """Why nothing can be read, once that has lasted."""
        if not step.problem:
            file.failing_since = None
            return ""
        file.failing_since = now if file.failing_since is None else file.failing_since
        lasted = now - file.failing_since >= MISSING_MS
        return step.problem if lasted or file.kept.problem or not file.kept.mark else ""

    def _log(self, file: _ConsoleFile, step: FollowStep) -> None:
        path = str(file.entry.path)
        key = f"console {path}"
        if file.kept.problem and step.problem:
            text = f"{path} cannot be followed: {step.problem}"
            _LOG.error(text, extra=as_change(key, "console.failed", path=path))
        else:
            _LOG.info(f"{path} can be followed again", extra=as_recovery(key, "console.recovered", path=path))
        if step.lost:
            _LOG.warning(
                f"{path} is another file than the one that was read last, and that one is not beside it: lines"
                " between the"
                " two may be missing",
                extra=as_event("console.lost", path=path),
            )
        others = file.reader.left_out - file.logged - set(file.reader.watched)
        if others:
            file.logged |= others
            _LOG.info(
                f"{path} holds messages of {', '.join(sorted(others))}, which are not monitored here: they are left out."
                " If it is a command prefix, set console.follow's queue_manager",
                extra=as_event("console.left_out", path=path),
            )

    async def _stored(self, function: Callable[[Store], _T]) -> _T:
        """The function's result, called again until the store succeeds."""
        while True:
            try:
                result = await self._thread.run(lambda: function(self._store()))
            except StoreError as error:
                text = f"console messages cannot be stored: {error}; the agent will retry"
                _LOG.error(text, extra=as_change("console store", "console.store_failed"))
                await self._clock.sleep(LOOK_MS)
            else:
                forget(_LOG, "console store")
                return result


def _as_stored(each: ConsoleMessage, owners: Iterable[str], systems: Mapping[str, str]) -> list[StoredMessage]:
    """The message as a row; one of z/OS as a row for every queue manager of the file.

    A message about one system leaves out queue managers that are known to run on others.
    """
    whose = [each.queue_manager] if each.queue_manager else sorted(owners)
    if not each.queue_manager and each.system and each.id in ONE_SYSTEM_IDS:
        whose = [owner for owner in whose if systems.get(owner, each.system) == each.system]
    return [
        message(owner, each.id, each.ts, each.text, kind=each.kind, name=each.name, system=each.system, job=each.job)
        for owner in whose
    ]
