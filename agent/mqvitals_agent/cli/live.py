"""One run of the living agent: the service, those who tell receivers, signals, the first line of the log and the last."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from mqvitals_agent import __version__
from mqvitals_agent.bounded_call import BoundedCall, NoAnswerError
from mqvitals_agent.cli.agent_settings import InForce, told
from mqvitals_agent.cli.record import Recorder
from mqvitals_agent.cli.service_manager import ServiceManager
from mqvitals_agent.cli.settings_watch import SettingsWatch
from mqvitals_agent.cli.smf_writing import write_smf
from mqvitals_agent.cli.watched import Roll, Watched
from mqvitals_agent.clock import SystemClock, VirtualClock
from mqvitals_agent.commandline.failure import ExitCode, Failure
from mqvitals_agent.connection.exchange import Exchange
from mqvitals_agent.connection.header import RecordingError
from mqvitals_agent.gc_tuning import fewer_collections, freeze_long_lived
from mqvitals_agent.journal import Journal
from mqvitals_agent.notify.delivery import Notifier
from mqvitals_agent.notify.outbox import Outbox
from mqvitals_agent.service.keeper import Stored
from mqvitals_agent.service.service import Service
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.writer import Store
from mqvitals_agent.thread_worker import ThreadWorker, WorkerEndedError
from mqvitals_config.problem import ConfigError, LocatedText, Place
from mqvitals_config.scalars import format_duration
from mqvitals_config.settings import Settings
from mqvitals_rules.timestamps import iso

INTERRUPTED = 130

_GRACE_S = 5.0
"""When the time is over, what is due at receivers that do not fail is sent for so long."""

_GRACE_OF_SIGNAL_S = 0.5
"""The same when a signal ends the run, from the signal on: it is to end within a second."""

_REREAD_S = 30.0
"""Settings, rules and what they name are read again within so long, or not at all."""

_LAST_S = 10.0
"""Whatever hangs, the process ends so long after the first signal that asks for it."""

_LAST_OF_SECOND_S = 2.0
"""The same after a second signal."""

_STORING_MS = 60_000
"""A cycle of the largest group is judged and stored within seconds, also on a slow disk."""

_LAG_S = 1.0
"""Virtual time that ends behind its pace by less is not worth a word."""

_FAREWELL_S = 0.2
"""Tasks that were cancelled may take so long to end."""


def claim(path: Path, settings: Settings, watched: Watched, journal: Journal | None = None) -> None:
    """Make the store, or see that it can be written. Raises Failure: another agent has it, it is no store, no permission.

    A new one remembers as its beginning that of the scenario. What had to be repaired goes to the log.
    """
    try:
        store = Store.open(
            path,
            source=watched.source,
            group=settings.name or watched.site,
            created=watched.began,
            mode=settings.store.mode,
            shared_with=settings.store.group or "",
        )
    except StoreError as error:
        raise Failure(error.message, hint=error.hint) from error
    if store.repaired and journal is not None:
        rows = ", ".join(f"{table} {count:,}" for table, count in store.repaired.items())
        journal.say(
            "store.repaired",
            f"rows of the store that were dated outside any calendar have been dropped or put right: {rows}",
            level="warning",
            rows=sum(store.repaired.values()),
        )
    store.close()


class Run:
    """One run, from the first line of the log to the last."""

    def __init__(
        self,
        in_force: InForce,
        watched: Watched,
        path: Path,
        journal: Journal,
        *,
        for_ms: int | None,
        reread: Callable[[], InForce] | None,
        recorder: Recorder | None = None,
        reread_s: float = _REREAD_S,
        manager: ServiceManager | None = None,
    ) -> None:
        """``reread`` gives the settings and rules as they are now, or raises ConfigError; None: they stay. Made within a running loop.

        ``manager`` is the service manager that wants to know how the agent is.
        """
        self._in_force = named(in_force, watched.site)
        self._watched = watched
        self._path = path
        self._journal = journal
        self._for_ms = for_ms
        self._reread = reread
        self._recorder = recorder
        self._manager = manager or ServiceManager()
        self._reread_s = reread_s
        self._reading = BoundedCall()
        self._reason = ""
        self._code = int(ExitCode.DONE)
        self._cycles = self._exchanges = self._snapshots = self._firing = 0
        self._until: int | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._telling: set[asyncio.Task[None]] = set()
        self._worker = ThreadWorker(clock=watched.clock)
        self._notifier: Notifier | None = None
        self._leave_by: float | None = None
        self._mistake: BaseException | None = None
        self._rereading = asyncio.Lock()
        self._refused = ""
        self._files = SettingsWatch(watched.machine, self._reload)
        settings = self._in_force.settings
        self._outbox = Outbox(
            lambda: self._service.ledger,
            self._worker.call,
            settings.receivers,
            self._in_force.judging.rules,
            settings.name or "",
        )

    async def live(self) -> int:
        """Work until a signal comes or the time is over; returns the exit code. Says itself what kept it from working."""
        watched = self._watched
        roll = watched.roll
        self._service = Service(
            self._in_force.settings,
            self._in_force.judging,
            self._path,
            roll.connectors,
            watched.clock,
            self._journal,
            source=watched.source,
            owed=self._outbox.pending,
            tap=None if self._recorder is None else self._record,
            stored=self._stored,
            uniform=watched.uniform,
            usage_floor_ms=watched.usage_floor_ms,
            worker=self._worker,
            farewell=self._farewell,
            others=roll.others,
            asking=watched.machine,
        )
        self._first_line()
        self._manager.starting(self._longest_cycle())
        self._start(self._manager.watch(self._worker_answers, self._longest_cycle, SystemClock()))
        if isinstance(watched.clock, VirtualClock):
            watched.clock.caught_up = self._caught_up
        self._work = asyncio.create_task(self._service.run(), name="service")
        if self._for_ms is not None:
            self._start(self._end_after(self._for_ms))
        if self._reread is not None and (files := self._in_force.files):
            self._start(self._watch_files(files))
        if watched.smf is not None:
            self._start(write_smf(watched.smf, watched.clock, self._journal))
        with self._signals(), fewer_collections():
            try:
                await self._work
            except asyncio.CancelledError:
                if not self._reason:
                    raise
            except StoreError as error:
                self._fail(error)
            except BaseExceptionGroup as group:
                foreseen, mistakes = group.split((StoreError, RecordingError))
                if mistakes is not None or foreseen is None:
                    raise
                self._fail(_first(foreseen))
            finally:
                await self._end_tasks()
            self._count_missing()
            left = self._service.left
            if self._code == ExitCode.DONE and (left.incidents or left.waiting or left.dropped or left.unwritten):
                self._code = int(ExitCode.FOUND)
            self._last_line()
        if self._mistake is not None:
            raise self._mistake
        return self._code

    def stop(self, reason: str, code: int = ExitCode.DONE, *, at_once: bool = True) -> None:
        """End in order because of ``reason``, ``at_once``: within a second. At a second call what is under way is given up."""
        if self._reason:
            self._work.cancel()
            return
        self._reason, self._code = reason, code
        self._manager.stopping(reason)
        if at_once:
            self._leave_by = time.monotonic() + _GRACE_OF_SIGNAL_S
        self._service.stop()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Within, signals are events of the loop and raise nothing."""
        loop = asyncio.get_running_loop()
        actions: dict[int, Callable[[], None]] = {
            signal.SIGTERM: lambda: self.stop("stopped by SIGTERM"),
            signal.SIGINT: lambda: self.stop("stopped by Ctrl-C", INTERRUPTED),
            signal.SIGHUP: self._hang_up,
        }
        before = {number: signal.getsignal(number) for number in actions}
        taken = [number for number in actions if before[number] != signal.SIG_IGN]
        if threading.current_thread() is not threading.main_thread():
            taken = []
        deadline = Deadline()
        for number in taken:
            loop.add_signal_handler(number, actions[number])
            if number != signal.SIGHUP:
                # The loop learns of the signal by its file descriptor; this runs also while something holds the loop up.
                signal.signal(number, deadline.on_signal)
        try:
            yield
        finally:
            deadline.over()
            for number in taken:
                loop.remove_signal_handler(number)
                signal.signal(number, before[number])

    async def _watch_files(self, files: Sequence[str]) -> None:
        await self._files.watch(files)
        await self._files.run()

    def _hang_up(self) -> None:
        self._start(self._reload())

    def _start(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _end_after(self, for_ms: int) -> None:
        until = self._watched.clock.now() + for_ms
        await self._watched.clock.sleep(for_ms)
        if not self._reason:
            self._until = until
            self.stop(f"the {format_duration(for_ms)} are over", at_once=False)

    async def _farewell(self) -> None:
        """All is stored and the store still open: send what can be sent, and say what waits for the next run."""
        if self._notifier is None:
            return
        rest = _GRACE_S if self._leave_by is None else max(self._leave_by - time.monotonic(), 0)
        await self._notifier.drain(rest)
        self._notifier.close()
        if self._telling:
            await asyncio.wait(self._telling, timeout=_FAREWELL_S)
        try:
            owed = await self._outbox.counts()
        except StoreError:
            # It has been told of already, by whoever wrote last.
            return
        count = sum(owed.values())
        if count:
            whose = ", ".join(f"{number} to {name}" for name, number in sorted(owed.items()))
            self._journal.say(
                "notices.wait", f"notices that wait for the next run: {whose}", level="warning", notices=count
            )

    async def _end_tasks(self) -> None:
        """End what runs beside the service; what was under way to a receiver is sent again by the next run."""
        if self._notifier is not None:
            self._notifier.close()
        tasks = set(self._tasks)
        for task in tasks - self._telling:
            task.cancel()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_FAREWELL_S)
            for task in late:
                task.cancel()

    def _record(self, exchange: Exchange) -> None:
        """In the worker's thread."""
        if self._recorder is not None:
            self._recorder.write(exchange, self._service.header)

    def _stored(self, stored: Stored) -> None:
        """A cycle has been stored: the store is open, and there may be news for receivers."""
        self._cycles += 1
        if self._cycles == 1:
            # All objects are known now. Another halt, but a short one as long as there is little else to look at.
            freeze_long_lived()
            self._start(self._show_refused())
        self._exchanges += stored.exchanges
        self._snapshots += stored.snapshots
        self._firing = stored.firing
        self._manager.cycle(self._status(stored))
        if self._notifier is None:
            self._begin_telling()
        else:
            self._notifier.wake()

    def _status(self, stored: Stored) -> str:
        """How the agent is, for the service manager."""
        if stored.errors:
            return f"the cycle of {iso(stored.began)} could not be stored: {stored.errors[0]}"
        asked = len(self._watched.roll.connectors) + len(self._watched.roll.others)
        return f"queue managers watched: {asked}; alerts that fire: {stored.firing}; last cycle: {iso(stored.began)}"

    def _longest_cycle(self) -> int:
        """From the end of one cycle to that of the next it may take so long, ms."""
        return 2 * self._in_force.settings.polling.interval + _STORING_MS

    async def _worker_answers(self) -> None:
        """Return when the thread that judges and stores has come round to it."""
        with suppress(WorkerEndedError):
            await self._worker.call(lambda: None)

    def _begin_telling(self) -> None:
        self._notifier = Notifier(self._outbox, self._watched.clock, self._journal, self._watched.chance_of)
        telling = self._start(self._notifier.run())
        self._telling.add(telling)
        telling.add_done_callback(self._told)

    def _told(self, telling: asyncio.Task[None]) -> None:
        """Nobody is told any more: in the end, after a reload, or by a mistake, which must not go unnoticed."""
        self._telling.discard(telling)
        if telling.cancelled() or (mistake := telling.exception()) is None:
            return
        # Whoever comes with an answer after the store was closed comes too late, which is no mistake.
        others = mistake.split(WorkerEndedError)[1] if isinstance(mistake, BaseExceptionGroup) else mistake
        if others is not None and not isinstance(others, WorkerEndedError):
            self._mistake = mistake
            self.stop("receivers can no longer be told", ExitCode.FAILED)

    async def _reload(self) -> None:
        """Read settings and rules again; with a mistake in them nothing changes."""
        if self._reread is None:
            self._journal.say("agent.reload_refused", "a recording keeps its settings to the end", level="warning")
            return
        async with self._rereading:
            # Before they are read: what changes while they are is then seen.
            await self._files.watch(self._in_force.files)
            self._manager.reloading()
            try:
                self._refused, places = await self._read_again()
                await self._files.watch_too((*self._in_force.files, *places))
                await self._show_refused()
            finally:
                self._manager.reloaded()

    async def _show_refused(self) -> None:
        """Let those who look into the store see what is wrong with the settings."""
        refused = self._refused
        with suppress(StoreError, WorkerEndedError):
            await self._worker.call(lambda: self._service.ledger.note_refused(refused))

    async def _read_again(self) -> tuple[str, tuple[str, ...]]:
        """Go on by the settings and rules of now; returns what is wrong with them and the files that it is in."""
        assert self._reread is not None
        try:
            with self._watched.clock.hold():
                in_force, roll = await self._reading.run(self._now_in_force, self._reread_s)
        except NoAnswerError:
            text = (
                f"the settings ({self._in_force.path}) or a file that they name could not be read within"
                f" {self._reread_s:g} s: see to its file system, then send SIGHUP"
            )
            self._journal.say("agent.reload_refused", f"{text}; the settings from before stay in force", level="error")
            return text, ()
        except Failure as error:
            text = f"{error}: the settings from before stay in force"
            self._journal.say("agent.reload_refused", text, level="error")
            return str(error), ()
        except ConfigError as error:
            for problem in error.problems:
                place = problem.place
                self._journal.say(
                    "config.problem", str(problem), level="error", file=place.path, line=place.line, column=place.column
                )
            self._journal.say(
                "agent.reload_refused",
                f"{told(error.problems)} in the settings: those from before stay in force",
                level="error",
                problems=len(error.problems),
            )
            return _in_short(error), tuple(problem.place.path for problem in error.problems)
        if self._reason:
            return "", ()
        self._service.reload(in_force.settings, in_force.judging, roll.connectors, roll.others)
        self._in_force = in_force
        settings = in_force.settings
        self._outbox.configure(settings.receivers, in_force.judging.rules, settings.name or "")
        self._watched = replace(self._watched, roll=roll)
        self._journal.set(form=in_force.settings.log.format, level=in_force.settings.log.level)
        if self._notifier is not None:
            self._notifier.close()
            self._begin_telling()
        self._journal.say(
            "agent.reloaded",
            f"settings and rules have been read again; from the next cycle on: {self._in_words()}",
            interval_ms=in_force.settings.polling.interval,
            receivers=len(in_force.settings.receivers),
        )
        return "", ()

    def _now_in_force(self) -> tuple[InForce, Roll]:
        """The settings of now and who is asked by them. In a thread. Raises Failure and ConfigError."""
        assert self._reread is not None
        in_force = named(self._reread(), self._watched.site)
        if in_force.empty and not self._in_force.empty:
            # As an editor or a copy leaves it for a moment, or for good on a full disk: nobody takes all receivers away so.
            raise Failure(f"{in_force.path} is empty, or all of it is commented out")
        roll_of = self._watched.roll_of
        return in_force, self._watched.roll if roll_of is None else roll_of(in_force.settings)

    def _in_words(self) -> str:
        settings = self._in_force.settings
        rules = self._in_force.judging.rules
        return f"every {format_duration(settings.polling.interval)}, {len(rules.rules) - len(rules.disabled)} rules"

    def _first_line(self) -> None:
        settings = self._in_force.settings
        roll = self._watched.roll
        names = [*(connector.queue_manager for connector in roll.connectors), *roll.others]
        self._journal.say(
            "agent.begins",
            f"mqvitals {__version__} watches {f'{settings.name}, ' if settings.name else ''}{len(names)} queue managers, {self._in_words()}",
            version=__version__,
            group=settings.name or "",
            queue_managers=",".join(names),
            interval_ms=settings.polling.interval,
            receivers=len(settings.receivers),
            config=self._in_force.path or "",
            store=str(self._path),
            source=self._watched.source,
        )

    def _caught_up(self) -> None:
        self._journal.say("clock.at_now", "the agent's time has reached now: from here on it goes at life's pace")

    def _count_missing(self) -> None:
        """A run that was to last so long stores every cycle of that time, or says how many are missing."""
        if self._until is None or self._code != ExitCode.DONE:
            return
        left_out, left = self._service.left_out(self._until), self._service.left
        unstored = left.dropped + left.waiting
        if not left_out and not unstored and self._snapshots:
            return
        self._code = int(ExitCode.FOUND)
        self._journal.say(
            "agent.cycles_missing",
            f"of the cycles of {format_duration(self._for_ms or 0)}, {left_out:,} did not begin because the one before took too long;"
            f" snapshots that could not be stored: {unstored:,}; snapshots stored: {self._snapshots:,}",
            level="error",
            left_out=left_out,
            unstored=unstored,
        )

    def _lag(self) -> str:
        """How fast a run was that could not be as fast as it was asked to be."""
        clock = self._watched.clock
        if not isinstance(clock, VirtualClock) or clock.pace is None or clock.lag_s < _LAG_S:
            return ""
        return f"; {clock.speed:.3g} times as fast as life, not {clock.pace:g} times, as cycles took longer"

    def _last_line(self) -> None:
        self._journal.say(
            "agent.ended",
            f"{self._reason}: {self._cycles:,} cycles, {self._exchanges:,} exchanges and {self._snapshots:,} snapshots;"
            f" alerts that fire: {self._firing}{self._lag()}",
            level="info" if self._code in (ExitCode.DONE, INTERRUPTED) else "error",
            code=self._code,
            cycles=self._cycles,
            exchanges=self._exchanges,
            snapshots=self._snapshots,
            firing=self._firing,
        )

    def _fail(self, error: BaseException) -> None:
        self._journal.say("agent.failed", str(error), level="error")
        self._reason, self._code = "it could not go on", int(ExitCode.FAILED)


class Deadline:
    """Ends the process some time after a signal that asks for its end, whatever keeps it from ending in order.

    What the store has not got by then is lost as in a power failure.
    """

    def __init__(
        self, first_s: float = _LAST_S, second_s: float = _LAST_OF_SECOND_S, leave: Callable[[int], object] = os._exit
    ) -> None:
        """``leave`` ends the process with an exit code."""
        self._after = [first_s, second_s]
        self._leave = leave
        self._over = threading.Event()

    def on_signal(self, number: int, _: object) -> None:
        """Begin to wait, less long at the second signal."""
        if self._after:
            threading.Thread(target=self._wait, args=(self._after.pop(0), number), daemon=True).start()

    def over(self) -> None:
        """It ends in order."""
        self._over.set()

    def _wait(self, limit_s: float, number: int) -> None:
        if not self._over.wait(limit_s):
            self._leave(128 + number)


def _in_short(error: ConfigError) -> str:
    """The first problem with its place, and how many more there are."""
    first, *others = error.problems
    return f"{first} (and {len(others)} more)" if others else str(first)


def named(in_force: InForce, site: str) -> InForce:
    """With the site's name where the settings give the group none."""
    if in_force.settings.name is not None or not site:
        return in_force
    return replace(in_force, settings=replace(in_force.settings, name=LocatedText(site, Place("scenario"))))


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first of the errors that a group, and the groups in it, hold."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
