"""The pollers of all queue managers, and which of them is sent which query: its own, or one of the group's."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from struct import error, unpack_from

from mqvitals_agent.clock import Clock
from mqvitals_agent.connection.answer import CONNECTION_FAILURES, NO_REPLY, outcome_of_answer, read_answer
from mqvitals_agent.connection.connection import (
    Connector,
    Exchange,
    HasMqiCalls,
    HasStatisticsQueue,
    MqiCalls,
    MqiFailure,
    Query,
)
from mqvitals_agent.log import as_change, as_event, as_recovery
from mqvitals_agent.pcf.answer import TRACKED
from mqvitals_agent.pcf.constants import MQCC_FAILED, MQIACH_CURRENT_CHL, MQPL_ZOS
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.names import reason_name
from mqvitals_agent.poll.events import form_of
from mqvitals_agent.poll.queries import (
    CHANNEL_INITIATOR,
    CLIENTS,
    FILTER_REFUSED,
    LIST_REFUSED,
    STATISTICS,
    ScheduledQuery,
    clients_interval_ms,
    configured_ms,
    distributed_queries,
    retry_ms,
    zos_queries,
)
from mqvitals_agent.service.cycles.cycle_clock import QueryInterval, Schedule
from mqvitals_agent.service.cycles.poller import Poller, PollerListener, Uniform
from mqvitals_config.sections.collection import PollingSettings
from mqvitals_rules.snapshot import Outcome

_NO_ANSWER = frozenset({Outcome.REFUSED, Outcome.UNKNOWN_COMMAND})
_LITTLE_ENDIAN = 0x0F
_LITTLE = 2


def is_refused(exchange: Exchange) -> bool:
    """True when the queue manager does not know the command, or we may not use it."""
    return any(outcome_of_answer(reason) in _NO_ANSWER for reason in failure_reasons(exchange))


def failure_reasons(exchange: Exchange) -> set[int]:
    """The reasons for which the command failed.

    Of replies that the connection did not decode it reads the headers only; the collector decodes the rest.
    """
    if exchange.answer is not None:
        return {each.reason for each in exchange.answer.members if each.comp_code == MQCC_FAILED}
    found = set()
    for reply in exchange.replies:
        order = "<" if reply.encoding & _LITTLE_ENDIAN == _LITTLE else ">"
        try:
            comp_code, reason = unpack_from(f"{order}2i", reply.data, 24)
        except error:
            continue  # too short for a header: damaged, which the collector reports
        if comp_code == MQCC_FAILED:
            found.add(reason)
    return found


_IN_USE = TRACKED | {MQIACH_CURRENT_CHL}


def channels_in_use(exchange: Exchange, decoder: Decoder) -> int | None:
    """How many channels have a status, by the answer to DISPLAY CHINIT; None when it does not say."""
    items = [item for member in read_answer(exchange, decoder, _IN_USE).members for item in member.items]
    return next((count for item in items if type(count := item.get(MQIACH_CURRENT_CHL)) is int), None)


_LOG = logging.getLogger(__name__)

_NO_SUCH = MqiFailure(2, 2058)


class PollerPool:
    """Holds a poller and a schedule for each queue manager, and one schedule for the group.

    One member is sent the group's queries for as long as it answers, then the next. A queue manager that does not run
    on z/OS is no member of a group, and is sent no query that only z/OS knows.
    """

    def __init__(self, listener: PollerListener, clock: Clock, uniform: Uniform, usage_floor_ms: int) -> None:
        self._listener = listener
        self._clock = clock
        self._uniform = uniform
        self._usage_floor_ms = usage_floor_ms
        self._pollers: dict[str, Poller] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._own: dict[str, Schedule] = {}
        self._group = Schedule((), lambda _: 0)
        self._asked_of: dict[ScheduledQuery, str] = {}
        self._group_member = ""
        self._moment = 0
        self._polling = PollingSettings()
        self._own_intervals: Mapping[str, int] = {}
        self._distributed: set[str] = set()
        self._tasks: asyncio.TaskGroup | None = None
        self._others: tuple[str, ...] = ()
        self._plainer: dict[tuple[str, ScheduledQuery], ScheduledQuery] = {}
        self._decoder = Decoder(lenient=True)

    @staticmethod
    def check(polling: PollingSettings) -> None:
        """Raises ValueError when a setting names a query that does not exist."""
        zos_queries(polling)

    def plan(
        self, polling: PollingSettings, connectors: Sequence[Connector], others: Sequence[str] = (), *, anew: bool
    ) -> None:
        """Use these settings from now on; with ``anew`` every query is due. Queue managers may be added and removed.

        ``others`` are members of the group without a connector, polled through one that has one.
        """
        wanted = zos_queries(polling, others)
        self._polling = polling
        self._own_intervals = {str(question): interval for question, interval in polling.intervals.items()}
        self._others = tuple(others)
        connector_of = {each.queue_manager: each for each in connectors}
        for name, poller in list(self._pollers.items()):
            poller.answer_wait_ms, poller.interval_ms = polling.wait, polling.interval
            if connector_of.get(name) != poller.connector:
                self._remove(name)
            else:
                poller.try_again()
        for name, connector in connector_of.items():
            if name not in self._pollers:
                self._pollers[name] = self._new(connector, polling)
                if self._tasks is not None:
                    self._start(self._pollers[name], self._tasks)
        # In the order of the configuration: the group's queries go to the first.
        self._pollers = {name: self._pollers[name] for name in connector_of}
        own = [query for query in wanted if not query.of_group]
        self._own = {
            name: self._schedule(self._as_taken(name, self._queries_of(name) or own), self._own.get(name), anew=anew)
            for name in connector_of
        }
        group = [query for query in wanted if query.of_group]
        self._group = self._schedule(self._as_taken("", group), self._group, anew=anew)
        if self._group_member not in self._pollers:
            self._group_member = next(iter(self._pollers), "")

    @property
    def members(self) -> tuple[str, ...]:
        """Every monitored queue manager, those without a connector last."""
        return (*self._pollers, *self._others)

    @property
    def of_group(self) -> tuple[str, ...]:
        """The members of the group: all queue managers but those that are known not to run on z/OS."""
        return tuple(name for name in self.members if name not in self._distributed)

    async def put(self, queue_manager: str, build: Callable[[str], Query]) -> Exchange:
        """Send a query on demand to a queue manager; only the caller gets its exchange.

        ``build`` makes the query for a command scope, which is empty for a queue manager that has a connector. One
        without a connector is queried through another, the next when that cannot be reached; the exchange has the
        name of that one. The exchange of an unknown name has the error MQRC_Q_MGR_NAME_ERROR.
        """
        poller = self._pollers.get(queue_manager)
        if poller is not None:
            return await poller.ask(build(""))
        query = build(queue_manager)
        exchange = Exchange(0, self._clock.now(), 0, queue_manager, query.command, query.request, error=_NO_SUCH)
        if queue_manager not in self._others:
            return exchange
        in_turn = self._in_turn()
        # Those that are connected first.
        for each in sorted(in_turn, key=lambda each: not each.reached):
            exchange = await each.ask(query)
            if exchange.error is None or exchange.error.reason not in CONNECTION_FAILURES:
                break
        return exchange

    def start(self, tasks: asyncio.TaskGroup) -> None:
        """Run every poller in ``tasks``."""
        self._tasks = tasks
        for poller in self._pollers.values():
            self._start(poller, tasks)

    def end(self) -> None:
        """Cancel every poller: queries end, connections are closed."""
        self._tasks = None
        for task in self._running.values():
            task.cancel()
        self._running.clear()

    def holds(self, poller: Poller) -> bool:
        """Whether a poller is in use: one that was removed may still bring an exchange."""
        return self._pollers.get(poller.name) is poller

    def begin_cycle(self, moment: int) -> set[str]:
        """Hand out the queries that are due at this moment of the grid.

        Returns the queue managers whose answers the cycle waits for; not those that are busy with an earlier cycle's.
        """
        self._moment = moment
        for poller in self._pollers.values():
            failure = poller.failure
            if failure is not None and not poller.reached:
                # Every cycle reports that it cannot be reached, though attempts to connect become rare.
                self._listener.arrived(poller, None, Exchange(0, self._clock.now(), 0, poller.name, error=failure))
        idle = {name for name, poller in self._pollers.items() if not poller.busy}
        for name, poller in self._pollers.items():
            if poller.reached or poller.failure is None:
                poller.offer(self._own[name].take_due(moment))
        self._take_back()
        self._offer_group(idle)
        return {name for name in idle if self._pollers[name].busy}

    def connected(self, poller: Poller) -> bool:
        """A queue manager is connected; returns whether it has queries to answer now."""
        if not self.holds(poller):
            return False
        self._note_platform(poller)
        self._offer_group({poller.name})
        return poller.busy

    def answered(self, poller: Poller, query: ScheduledQuery, exchange: Exchange) -> None:
        """A query has ended."""
        if not self.holds(poller):
            return
        table = self._group if query.of_group else self._own[poller.name]
        error = exchange.error
        if error is not None and error.reason in CONNECTION_FAILURES:
            table.missed(query)
        else:
            # A member that is asked through another is not asked sooner: its silence would cost the other's polls.
            retry = error is not None and error.reason == NO_REPLY and not query.scope
            reason = table.answered(
                query, exchange.elapsed_ms, silent=error is not None, retry=retry, replies=len(exchange.replies)
            )
            if reason:
                _LOG.info(
                    f"{query.form} of {poller.name}: {reason}",
                    extra=as_event(
                        "question.interval",
                        queue_manager=poller.name,
                        question=query.question,
                        elapsed_ms=exchange.elapsed_ms,
                    ),
                )
        if query.question == STATISTICS:
            self._log_statistics(poller, exchange)
        if query.question == CHANNEL_INITIATOR and error is None:
            self._slow_down_clients(poller, table, query.scope, exchange)
        if error is None and self._ask_plainly(poller, table, query, exchange):
            return
        if query.of_group:
            self._asked_of.pop(query, None)
            if error is not None or is_refused(exchange):
                self._pass_on_group(poller.name)

    def _as_taken(self, name: str, queries: Sequence[ScheduledQuery]) -> list[ScheduledQuery]:
        """The queries of a queue manager (empty name: those that any member answers), without what was refused before."""
        return [self._plainer.get((name, query), query) for query in queries]

    def _ask_plainly(self, poller: Poller, table: Schedule, query: ScheduledQuery, exchange: Exchange) -> bool:
        """Ask again without the list of attributes, or the filter, that the queue manager refused; from now on always.

        Returns whether it is asked again.
        """
        plainer = query.plainer(reasons) if (reasons := failure_reasons(exchange)) else None
        if plainer is None:
            return False
        whose = "" if query.of_group else poller.name
        asked = next((first for (name, first), last in self._plainer.items() if (name, last) == (whose, query)), query)
        self._plainer[whose, asked] = plainer
        table.replace(query, plainer)
        if plainer.of_group:
            self._asked_of.pop(query, None)
            self._asked_of[plainer] = poller.name
        poller.offer([plainer])
        reason = min(reasons & (LIST_REFUSED | FILTER_REFUSED))
        _LOG.info(
            f"{query.scope or poller.name} does not know a part of {query.form} ({reason_name(reason) or reason}): it is"
            f" asked for {'all attributes' if reason in LIST_REFUSED else 'all channels together'} from now on",
            extra=as_event("question.plainer", queue_manager=poller.name, question=query.question, reason=reason),
        )
        return True

    def _slow_down_clients(self, poller: Poller, table: Schedule, scope: str, exchange: Exchange) -> None:
        """Server connections are asked for the more seldom, the more channels there are."""
        count = channels_in_use(exchange, self._decoder)
        if count is None:
            return
        reason = table.slow_down(CLIENTS, scope, lambda configured: clients_interval_ms(configured, count))
        if reason:
            _LOG.info(
                f"{scope or poller.name}: {reason}",
                extra=as_event(
                    "question.interval", queue_manager=scope or poller.name, question=CLIENTS, channels=count
                ),
            )

    def missed(self, poller: Poller, query: ScheduledQuery) -> None:
        """A query was not sent."""
        if not self.holds(poller):
            return
        if query.of_group:
            self._group_missed(query)
            self._pass_on_group(poller.name)
        else:
            self._own[poller.name].missed(query)

    def intervals(self) -> Mapping[str, Sequence[QueryInterval]]:
        """The intervals in force, by queue manager; the group's for every member, since any may be asked."""
        group = tuple(self._group.intervals())
        events = self._polling.events
        looks = () if events is None else tuple(QueryInterval(form_of(each), events.every, 0) for each in events.queues)
        return {
            name: (*table.intervals(), *looks, *(() if name in self._distributed else group))
            for name, table in self._own.items()
        }

    def calls(self) -> Mapping[str, MqiCalls]:
        """Counts of MQ calls that hung, by queue manager, where a connector counts them."""
        connectors = (poller.connector for poller in self._pollers.values())
        return {each.queue_manager: each.calls for each in connectors if isinstance(each, HasMqiCalls)}

    def _schedule(
        self, queries: Sequence[ScheduledQuery], before: Schedule | None = None, *, anew: bool = False
    ) -> Schedule:
        base, floor = self._polling.interval, self._usage_floor_ms

        def configured(question: str) -> int:
            return configured_ms(question, base, self._own_intervals, floor)

        def retry(question: str, unanswered: int) -> int:
            return retry_ms(question, base, unanswered, floor)

        return Schedule(queries, configured, before, retry_ms=retry, anew=anew)

    def _new(self, connector: Connector, polling: PollingSettings) -> Poller:
        return Poller(connector, self._listener, self._clock, self._uniform, polling.wait, polling.interval)

    def _start(self, poller: Poller, tasks: asyncio.TaskGroup) -> None:
        queue = statistics_queue(poller.connector)
        if queue:
            _LOG.info(
                f"statistics messages of {poller.name} are taken from {queue} (destructive read): they are removed from"
                " it, and no other program may read that queue",
                extra=as_event("statistics.taken", queue_manager=poller.name, queue=queue),
            )
        self._running[poller.name] = tasks.create_task(poller.run(), name=f"queue manager {poller.name}")

    def _remove(self, name: str) -> None:
        """A queue manager is no longer monitored, or has another connector."""
        del self._pollers[name]
        self._distributed.discard(name)
        self._own.pop(name, None)
        task = self._running.pop(name, None)
        if task is not None:
            task.cancel()
        for query in [query for query, asked in self._asked_of.items() if asked == name]:
            self._group_missed(query)

    def _queries_of(self, name: str) -> tuple[ScheduledQuery, ...]:
        """The queries of a distributed queue manager; none for those on z/OS, which all have the same."""
        if name not in self._distributed:
            return ()
        return distributed_queries(self._polling, statistics_queue(self._pollers[name].connector))

    def _note_platform(self, poller: Poller) -> None:
        """A queue manager that runs on another platform than expected gets the queries of that platform."""
        name = poller.name
        distributed = poller.platform not in (0, MQPL_ZOS)
        queue = statistics_queue(poller.connector)
        if queue and not distributed:
            _LOG.warning(
                f"{name} runs on z/OS, which writes no statistics messages: {queue} is not read",
                extra=as_change(f"statistics {name}", "statistics.none", queue_manager=name, queue=queue),
            )
        if distributed == (name in self._distributed):
            return
        (self._distributed.add if distributed else self._distributed.discard)(name)
        for query in poller.withdraw_all():
            if query.of_group:
                self._group_missed(query)
        wanted = self._queries_of(name) or [query for query in zos_queries(self._polling) if not query.of_group]
        self._own[name] = self._schedule(self._as_taken(name, wanted))
        if self._moment:
            poller.offer(self._own[name].take_due(self._moment))

    def _log_statistics(self, poller: Poller, exchange: Exchange) -> None:
        key, name, error = f"statistics {poller.name}", poller.name, exchange.error
        queue = statistics_queue(poller.connector)
        if error is None:
            _LOG.info(
                f"{queue} of {name} can be read again",
                extra=as_recovery(key, "statistics.read", queue_manager=name, queue=queue),
            )
        elif error.reason not in CONNECTION_FAILURES:
            _LOG.warning(
                f"{queue} of {name} cannot be read: {reason_name(error.reason) or 'an unknown reason'}; see that the queue"
                " exists, that getting is enabled and allowed, and that no other program has it open",
                extra=as_change(key, "statistics.failed", queue_manager=name, queue=queue, reason=error.reason),
            )

    def _take_back(self) -> None:
        """Take back the group's queries that wait since an earlier cycle: another member may answer sooner."""
        for query, name in list(self._asked_of.items()):
            if self._pollers[name].withdraw(query):
                self._group_missed(query)
                self._pass_on_group(name)

    def _offer_group(self, idle: set[str]) -> None:
        """Offer the group's queries that are due to the member that is sent them, or to the next that can answer."""
        in_turn = [each.name for each in self._in_turn() if each.reached]
        name = next((name for name in in_turn if name in idle), next(iter(in_turn), ""))
        if not name:
            return
        due = self._group.take_due(self._moment)
        if due:
            self._group_member = name
            self._asked_of.update(dict.fromkeys(due, name))
            self._pollers[name].offer(due)

    def _in_turn(self) -> list[Poller]:
        """The members that can answer for the group, beginning with the one that is sent its queries."""
        names = list(self._pollers)
        first = names.index(self._group_member) if names else 0
        return [self._pollers[name] for name in (*names[first:], *names[:first]) if name not in self._distributed]

    def _group_missed(self, query: ScheduledQuery) -> None:
        """A query of the group was not sent: it is due again."""
        self._asked_of.pop(query, None)
        self._group.missed(query)

    def _pass_on_group(self, name: str) -> None:
        """From now on the next member is sent the group's queries, if it was this one until now."""
        if self._group_member == name:
            names = list(self._pollers)
            self._group_member = names[(names.index(name) + 1) % len(names)]


def statistics_queue(connector: Connector) -> str:
    """The queue from which this connector takes statistics messages; empty: none."""
    return connector.statistics_queue if isinstance(connector, HasStatisticsQueue) else ""
