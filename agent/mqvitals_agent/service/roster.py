"""The queue managers and who is asked what: each its own things, one of them the group's."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from mqvitals_agent.clock import Clock
from mqvitals_agent.connection.connection import Calls, Connector, CountsCalls
from mqvitals_agent.connection.exchange import Exchange
from mqvitals_agent.journal import Journal
from mqvitals_agent.poll.errand import Errand, errands
from mqvitals_agent.poll.outcome import CONNECTION_FAILURES
from mqvitals_agent.poll.schedule import configured_ms
from mqvitals_agent.service.backoff import Uniform
from mqvitals_agent.service.poller import Desk, Poller
from mqvitals_agent.service.refusal import refused
from mqvitals_agent.service.timetable import Interval, Timetable
from mqvitals_config.polling import PollingSettings


class Roster:
    """Holds a poller and a timetable for each queue manager, and one timetable for the group.

    The group's things are asked of one member for as long as it answers, then of the next.
    """

    def __init__(self, desk: Desk, clock: Clock, uniform: Uniform, journal: Journal, usage_floor_ms: int) -> None:
        self._desk = desk
        self._clock = clock
        self._uniform = uniform
        self._journal = journal
        self._usage_floor_ms = usage_floor_ms
        self._pollers: dict[str, Poller] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._own: dict[str, Timetable] = {}
        self._group = Timetable((), lambda _: 0)
        self._asked_of: dict[Errand, str] = {}
        self._spokesman = ""
        self._moment = 0
        self._tasks: asyncio.TaskGroup | None = None

    @staticmethod
    def check(polling: PollingSettings) -> None:
        """Raises ValueError when the settings ask for what cannot be asked."""
        errands(polling)

    def plan(
        self, polling: PollingSettings, connectors: Sequence[Connector], others: Sequence[str] = (), *, anew: bool
    ) -> None:
        """Ask by these settings from now on; with ``anew`` everything is due. Queue managers come and go.

        ``others`` are members of the group that have no connector: they are asked about through one that has.
        """

        intervals = {str(question): interval for question, interval in polling.intervals.items()}

        def configured(question: str) -> int:
            return configured_ms(question, polling.interval, intervals, self._usage_floor_ms)

        wanted = errands(polling, others)
        connector_of = {each.queue_manager: each for each in connectors}
        for name, poller in list(self._pollers.items()):
            poller.answer_wait_ms, poller.interval_ms = polling.wait, polling.interval
            if connector_of.get(name) != poller.connector:
                self._leave(name)
            else:
                poller.try_again()
        for name, connector in connector_of.items():
            if name not in self._pollers:
                self._pollers[name] = self._new(connector, polling)
                if self._tasks is not None:
                    self._start(self._pollers[name], self._tasks)
        # In the order of the configuration: the first is the first to speak for the group.
        self._pollers = {name: self._pollers[name] for name in connector_of}
        own = [errand for errand in wanted if not errand.of_group]
        self._own = {name: Timetable(own, configured, self._own.get(name), anew=anew) for name in connector_of}
        group = [errand for errand in wanted if errand.of_group]
        self._group = Timetable(group, configured, self._group, anew=anew)
        if self._spokesman not in self._pollers:
            self._spokesman = next(iter(self._pollers), "")

    def start(self, tasks: asyncio.TaskGroup) -> None:
        """Begin to connect."""
        self._tasks = tasks
        for poller in self._pollers.values():
            self._start(poller, tasks)

    def end(self) -> None:
        """Cancel every poller: running questions end, connections are closed."""
        self._tasks = None
        for task in self._running.values():
            task.cancel()
        self._running.clear()

    def holds(self, poller: Poller) -> bool:
        """Whether a poller is one of those in force: one that was left may still bring something."""
        return self._pollers.get(poller.name) is poller

    def begin_cycle(self, moment: int) -> set[str]:
        """Hand out what is due at this moment of the grid; returns the queue managers whose answers the cycle waits for.

        One that is still busy with an earlier cycle's questions is not waited for.
        """
        self._moment = moment
        for poller in self._pollers.values():
            failure = poller.failure
            if failure is not None and not poller.reached:
                # Nothing came of it since: every cycle says so, though attempts become rare.
                self._desk.arrived(poller, None, Exchange(0, self._clock.now(), 0, poller.name, error=failure))
        idle = {name for name, poller in self._pollers.items() if not poller.busy}
        for name, poller in self._pollers.items():
            if poller.reached or poller.failure is None:
                poller.offer(self._own[name].take_due(moment))
        self._take_back()
        self._offer_group(idle)
        return {name for name in idle if self._pollers[name].busy}

    def connected(self, poller: Poller) -> bool:
        """A queue manager has been reached; returns whether it was given something to do."""
        if not self.holds(poller):
            return False
        self._offer_group({poller.name})
        return poller.busy

    def answered(self, poller: Poller, errand: Errand, exchange: Exchange) -> None:
        """An errand has come to its end."""
        if not self.holds(poller):
            return
        table = self._group if errand.of_group else self._own[poller.name]
        error = exchange.error
        if error is not None and error.reason in CONNECTION_FAILURES:
            table.missed(errand)
        else:
            reason = table.answered(errand, exchange.elapsed_ms, silent=error is not None)
            if reason:
                self._journal.say(
                    "question.interval",
                    f"{errand.form} of {poller.name}: {reason}",
                    queue_manager=poller.name,
                    question=errand.question,
                    elapsed_ms=exchange.elapsed_ms,
                )
        if errand.of_group:
            self._asked_of.pop(errand, None)
            if self._spokesman == poller.name and (error is not None or refused(exchange)):
                self._spokesman = self._after(poller.name)

    def missed(self, poller: Poller, errand: Errand) -> None:
        """An errand was not put."""
        if not self.holds(poller):
            return
        if errand.of_group:
            self._asked_of.pop(errand, None)
            self._group.missed(errand)
            if self._spokesman == poller.name:
                self._spokesman = self._after(poller.name)
        else:
            self._own[poller.name].missed(errand)

    def intervals(self) -> Mapping[str, Sequence[Interval]]:
        """The intervals in force, by queue manager; the group's for every member, since any may be asked."""
        group = tuple(self._group.intervals())
        return {name: (*table.intervals(), *group) for name, table in self._own.items()}

    def calls(self) -> Mapping[str, Calls]:
        """The calls of MQ that hung, by queue manager, where they can."""
        connectors = (poller.connector for poller in self._pollers.values())
        return {each.queue_manager: each.calls for each in connectors if isinstance(each, CountsCalls)}

    def _new(self, connector: Connector, polling: PollingSettings) -> Poller:
        return Poller(connector, self._desk, self._clock, self._uniform, self._journal, polling.wait, polling.interval)

    def _start(self, poller: Poller, tasks: asyncio.TaskGroup) -> None:
        self._running[poller.name] = tasks.create_task(poller.run(), name=f"queue manager {poller.name}")

    def _leave(self, name: str) -> None:
        """A queue manager is no longer asked, or by another way."""
        del self._pollers[name]
        self._own.pop(name, None)
        task = self._running.pop(name, None)
        if task is not None:
            task.cancel()
        for errand in [errand for errand, asked in self._asked_of.items() if asked == name]:
            del self._asked_of[errand]
            self._group.missed(errand)

    def _take_back(self) -> None:
        """Group questions that wait behind another question since an earlier cycle: somebody else may answer them sooner."""
        for errand, name in list(self._asked_of.items()):
            if self._pollers[name].withdraw(errand):
                del self._asked_of[errand]
                self._group.missed(errand)
                if self._spokesman == name:
                    self._spokesman = self._after(name)

    def _offer_group(self, idle: set[str]) -> None:
        """Ask the group's questions that are due of the member that speaks for it, or the next one that can."""
        names = list(self._pollers)
        if not names:
            return
        first = names.index(self._spokesman)
        in_turn = [name for name in (*names[first:], *names[:first]) if self._pollers[name].reached]
        name = next((name for name in in_turn if name in idle), next(iter(in_turn), ""))
        if not name:
            return
        due = self._group.take_due(self._moment)
        if due:
            self._spokesman = name
            self._asked_of.update(dict.fromkeys(due, name))
            self._pollers[name].offer(due)

    def _after(self, name: str) -> str:
        names = list(self._pollers)
        return names[(names.index(name) + 1) % len(names)]
