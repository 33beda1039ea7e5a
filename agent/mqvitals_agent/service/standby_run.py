"""A run of one of two agents for a group: it waits and follows the other, is active, and waits again when it must."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from mqvitals_agent.clock import SystemClock, with_timeout
from mqvitals_agent.errors import ExitCode
from mqvitals_agent.ingest.live_state import LiveState
from mqvitals_agent.log import LineHandler, as_change, as_event, forget
from mqvitals_agent.service.monitored_group import PollTargets
from mqvitals_agent.service.process import ServiceManager, handled_signals
from mqvitals_agent.service.reload import FileWatch, Refused, Rereading
from mqvitals_agent.service.run import AgentRun
from mqvitals_agent.service.run_log import INTERRUPTED
from mqvitals_agent.service.serving import Serving
from mqvitals_agent.standby.candidate import Candidate, GuardedConnector
from mqvitals_agent.standby.election import Role, pause_ms
from mqvitals_agent.standby.feed import AlertFeed
from mqvitals_agent.standby.follower import Follower
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.result import AgentStanding
from mqvitals_agent.store.rows.alerts.alert_feed import FeedChange
from mqvitals_agent.store.rows.journal import STANDBY, JournalEntry
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.figure import age
from mqvitals_agent.threads import ThreadWorker
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_config.decoding.secret import shown_address
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.journal import EntryKind

if TYPE_CHECKING:
    from mqvitals_agent.service.monitored_group import MonitoredGroup
    from mqvitals_agent.service.run import RunOptions
    from mqvitals_config.settings import Settings

_LOG = logging.getLogger(__name__)

_KEY: Final = "standby"
_HEARD_INTERVALS: Final = 2
"""The other agent is there if it has answered within so many intervals."""
_LONGEST_WATCH_MS: Final = 60_000


async def run_in_turn(options: RunOptions, handler: LineHandler) -> int:
    """Wait and be active in turn until a signal comes or the time is over; returns the exit code.

    Raises StoreError when the store cannot be opened.
    """
    run = StandbyRun(options, handler)
    while True:
        for turn in (run.wait, run.work):
            code = await turn()
            if code is not None:
                return code


class StandbyRun:
    """One of two agents. Created within a running event loop; ``wait`` and ``work`` are called in turn.

    ``standing`` is what it is now, ``name`` that of its machine, ``feed`` what it offers while it is active.
    """

    def __init__(self, options: RunOptions, handler: LineHandler) -> None:
        self._options = options
        self._handler = handler
        self._group = options.group
        self._manager = options.manager or ServiceManager()
        clock = self._group.clock
        self._until = None if options.for_ms is None else clock.now() + options.for_ms
        self._peer = ""
        self.name = socket.gethostname()
        self.candidate = self._new_candidate()
        self.feed: AlertFeed | None = None
        self.standing = AgentStanding("standby", clock.now(), self.candidate.standing.reason.value)

    async def wait(self) -> int | None:
        """Wait until this agent is active (None), or until its end is asked for: the exit code. Raises StoreError."""
        self._stand(Role.STANDBY)
        waiting = Waiting(self, self._options, self._manager, self._until)
        try:
            code = await waiting.run()
        except BaseException:  # raised again; a reply queue that stays open would keep the other agent waiting
            await self.candidate.release()
            raise
        self._options = waiting.options
        self._group = waiting.options.group
        self._peer = waiting.peer
        if code is not None:
            await self.candidate.release()
        return code

    async def work(self) -> int | None:
        """Be active until another agent is (None), or until the end is asked for: the exit code."""
        before = self.standing
        self._stand(Role.ACTIVE)
        now = self._group.clock.now()
        _LOG.info(
            f"active, after {age(max(now - before.since, 0))} as standby: {self.standing.reason}",
            extra=as_event("standby.taken_over", reason=self.candidate.standing.reason.name.lower(), peer=self._peer),
        )
        forget(_LOG, _KEY)
        rest = None if self._until is None else max(self._until - now, 0)
        self.feed = feed = AlertFeed(self._options.store)
        run = AgentRun(
            replace(self._options, group=self._guarded(), for_ms=rest, manager=self._manager),
            self._handler,
            feed=feed,
            standing=self.standing,
            answer=self.answer,
        )
        candidate = self.candidate
        candidate.changed = lambda: run.give_way(f"it gives way: {candidate.standing.reason.value}")
        try:
            code = await run.run()
        finally:
            self.feed = None
            await feed.close()
            await candidate.release()
        if not run.gave_way:
            return code
        inner = [each.inner for each in run.targets.connectors if isinstance(each, GuardedConnector)]
        self._group = replace(self._group, targets=PollTargets(inner, run.targets.others))
        self._options = replace(self._options, config=run.config, group=self._group)
        self.candidate = self._new_candidate()
        self.candidate.standing = replace(candidate.standing, contested={})
        _LOG.warning(
            f"gives way to another agent: {candidate.standing.reason.value}",
            extra=as_event("standby.gave_way", reason=candidate.standing.reason.name.lower()),
        )
        return None

    async def answer(self, follower: str, after: str, wait_s: float) -> bytes:
        """What another agent is told that asks; as ``AlertFeed.answer``, and who says it. Raises StoreError."""
        feed = self.feed
        changes = {} if feed is None else await feed.answer(follower, after, wait_s)
        found = {"role": self.standing.role, "name": self.name, "since": self.standing.since, **changes}
        return json.dumps(found).encode()

    def _stand(self, role: Role) -> None:
        reason = self.candidate.standing.reason.value
        self.standing = AgentStanding(role.value, self._group.clock.now(), reason, self._peer)

    def _new_candidate(self) -> Candidate:
        settings = self._options.config.settings
        return Candidate(self._group.targets.connectors, self._group.clock, settings.polling.interval)

    def _guarded(self) -> MonitoredGroup:
        """The group with connectors that tell the candidate what comes of each connection, also after a reload."""
        candidate, inner = self.candidate, self._group.targets_of

        def guarded(targets: PollTargets) -> PollTargets:
            return PollTargets(candidate.guarded(targets.connectors), targets.others)

        def targets_of(settings: Settings) -> PollTargets:
            assert inner is not None
            return guarded(inner(settings))

        return replace(
            self._group, targets=guarded(self._group.targets), targets_of=None if inner is None else targets_of
        )


class Waiting:
    """The time in which an agent waits: it tries, and follows the other one's alerts into its own store.

    ``options`` are those in force at its end: the settings may have been read again. ``peer`` names the other agent.
    """

    def __init__(self, run: StandbyRun, options: RunOptions, manager: ServiceManager, until: int | None) -> None:
        self.options = options
        self.peer = ""
        self._run = run
        self._manager = manager
        self._until = until
        self._group = options.group
        self._clock = options.group.clock
        self._worker = ThreadWorker("mqvitals-standby", self._clock)
        self._store: Store | None = None
        self._noted: AgentStanding | None = None
        self._ended = asyncio.Event()
        self._code: int | None = None
        self._bug: BaseException | None = None
        self._rereading = Rereading(options.reread_s)
        self._files = FileWatch(self._group.machine, self._reload)
        self._lock = asyncio.Lock()
        self._follower: Follower | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._serving = Serving(options.store, self._group, lambda: "", answer=run.answer, active=False)

    async def run(self) -> int | None:
        """Wait until this agent is active (None), or until its end is asked for: the exit code. Raises StoreError."""
        self._manager.starting(_LONGEST_WATCH_MS)
        self._store = await self._worker.run(self._open)
        signals = handled_signals(
            lambda: self._stop("stopped by SIGTERM", ExitCode.DONE),
            lambda: self._stop("stopped by Ctrl-C", INTERRUPTED),
            lambda: self._start(self._reload()),
        )
        try:
            with signals:
                self._start(self._manager.watch(self._await_worker, self._longest_ms, SystemClock()))
                self._start(self._watch_files())
                if self._until is not None:
                    self._start(self._end_at(self._until))
                self._serving.use(self.options.config, LiveState(), self._start)
                self._follow()
                await self._try_until_active()
        finally:
            for task in tuple(self._tasks):
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=1)
            await self._worker.run(self._store.close)
            self._worker.end()
        if self._bug is not None:
            raise self._bug
        return self._code

    async def _try_until_active(self) -> None:
        candidate = self._run.candidate
        chance = self._group.chance_of("standby")
        while not self._ended.is_set():
            interval = self.options.config.settings.polling.interval
            follower = self._follower
            candidate.peer_heard = (
                (lambda: False) if follower is None else (lambda: follower.heard(_HEARD_INTERVALS * interval / 1000))  # noqa: B023 - used at once
            )
            standing = await candidate.attempt()
            if standing.role is Role.ACTIVE:
                return
            await self._tell()
            with suppress(TimeoutError):
                await with_timeout(self._ended.wait(), self._clock, pause_ms(standing, candidate.limits, chance()))

    async def _tell(self) -> None:
        """Say in log, store and to the service manager what this agent waits for, when that has changed."""
        follower = self._follower
        now = self._run.standing
        reason = self._run.candidate.standing.reason
        follows = follower is not None and follower.follows
        self.peer = self._peer_words()
        self._run.standing = now = AgentStanding(now.role, now.since, reason.value, self.peer, follows)
        of = f" of {self.peer}" if self.peer else ""
        words = f"standby{of}: {reason.value}"
        _LOG.info(words, extra=as_change(_KEY, "standby.waiting", reason=reason.name.lower(), peer=self.peer))
        self._manager.cycle(f"{words}; {'follows its alerts' if follows else 'follows no alerts'}")
        if now != self._noted:
            try:
                await self._worker.run(self._note, now)
            except StoreError as error:
                _LOG.error(str(error), extra=as_change("standby store", "standby.store_failed"))
            else:
                self._noted = now

    def _peer_words(self) -> str:
        """The other agent: its machine's name as it said, else its address."""
        follower, standby = self._follower, self.options.config.settings.standby
        if follower is not None and follower.peer.name:
            return follower.peer.name
        address = None if standby is None else standby.peer
        return "" if address is None else shown_address(address.reveal())

    def _follow(self) -> None:
        """Follow the other agent of the settings in force."""
        standby = self.options.config.settings.standby
        if standby is None or standby.peer is None:
            _LOG.info(
                "the address of the other agent is not in the settings (standby.peer): after a takeover alerts begin anew",
                extra=as_change("the other agent", "standby.no_peer"),
            )
            return
        self._follower = Follower(standby, self._take_over)
        self._start(self._follower.run())

    async def _take_over(self, changes: Sequence[FeedChange], whole: bool) -> None:  # noqa: FBT001 - as the follower calls it
        await self._worker.run(self._take_over_now, changes, whole)

    def _take_over_now(self, changes: Sequence[FeedChange], whole: bool) -> None:  # noqa: FBT001 - the same
        if self._store is not None:
            self._store.follow(changes, self._clock.now(), whole=whole)

    def _note(self, standing: AgentStanding) -> None:
        if self._store is None:
            return
        self._store.note_standing(standing)
        if self._noted is None:
            name = self.options.config.for_group(self._group).settings.name
            first = next((each.queue_manager for each in self._group.targets.connectors), "-")
            about = ObjectName(name or first, "agent")
            self._store.note_entries([JournalEntry(standing.since, EntryKind.AGENT, about, STANDBY)])

    def _open(self) -> Store:
        settings = self.options.config.settings
        return Store.open(
            self.options.store,
            source=self._group.source,
            group=settings.name or "",
            created=self._group.began,
            mode=settings.store.mode,
            shared_with=settings.store.group or "",
        )

    def _stop(self, reason: str, code: int) -> None:
        if not self._ended.is_set():
            self._code = int(code)
            self._manager.stopping(reason)
            _LOG.info(f"{reason}: it was standby", extra=as_event("agent.ended", code=self._code))
            self._ended.set()

    async def _end_at(self, until: int) -> None:
        await self._clock.sleep(until - self._clock.now())
        self._stop(f"the {format_duration(self.options.for_ms or 0)} are over", ExitCode.DONE)

    async def _watch_files(self) -> None:
        if self.options.reread is not None and (files := self.options.config.files):
            await self._files.watch(files)
            await self._files.run()

    async def _reload(self) -> None:
        """Read the settings again; they are in force at the next try."""
        if self.options.reread is None:
            return
        async with self._lock:
            self._manager.reloading()
            try:
                before = self.options.config.for_group(self._group)
                read = await self._rereading.read(before, self._group, self.options.reread)
            finally:
                self._manager.reloaded()
            if isinstance(read, Refused):
                return
            config, targets = read
            self._group = replace(self._group, targets=targets)
            self.options = replace(self.options, config=config, group=self._group)
            self._serving.use(config, LiveState(), self._start)
            self._run.candidate.use(targets.connectors, config.settings.polling.interval)
            _LOG.info("settings have been read again", extra=as_event("agent.reloaded"))

    async def _await_worker(self) -> None:
        await self._worker.run(lambda: None)

    def _longest_ms(self) -> int:
        return 2 * self.options.config.settings.polling.interval + _LONGEST_WATCH_MS

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (bug := task.exception()) is not None:
            self._bug = self._bug or bug
            self._ended.set()
