"""Connects to a queue manager and sends each query once, as the agent does.

``diagnosis`` turns the answers into findings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from mqvitals_agent.clock import Clock, with_timeout
from mqvitals_agent.connection.answer import CONNECTION_FAILURES, NO_REPLY, outcome_of_answer, read_answer
from mqvitals_agent.connection.connection import (
    BROWSE_DEAD_LETTERS,
    OF_QUEUES,
    READ_EVENTS,
    ConnectError,
    Connection,
    Connector,
    EventQuery,
    EventStep,
    Exchange,
    Query,
)
from mqvitals_agent.connection.conversation import ConnectedQueueManager
from mqvitals_agent.doctor.finding import CheckResult
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.answer import DecodedReply
from mqvitals_agent.pcf.constants import MQRC_UNKNOWN_OBJECT_NAME
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import REQUEST_CCSID
from mqvitals_agent.poll.command_form import command_form, display_command
from mqvitals_agent.poll.events import event_query
from mqvitals_agent.poll.kinds import queue, queue_manager
from mqvitals_agent.poll.probe import CycleRows, MemberReport, QueryOptions
from mqvitals_agent.poll.queries import PROBES, distributed_queries, zos_queries
from mqvitals_agent.poll.selection import RequestSelection, selection_of
from mqvitals_config.sections.collection import PollingSettings
from mqvitals_rules.snapshot import Outcome

_REFUSED: Final = frozenset({2035, 2217, 3081})
_NOT_HERE: Final = frozenset({3007, 3014, 3015, 3047, 3212, 3222, 3227})
"""Command or parameter unknown on this platform or level, no queue-sharing group, function restricted."""
_NOTHING_ACTIVE: Final = frozenset({3065, 4064, 4091})
"""The object may exist and have no status now."""
_OF_GET: Final = frozenset({2016, 2033, 2079, 2080, 2110, 2111, 2115, 2119, 2120})

_HINTS: Final[Mapping[int, str]] = {
    2009: "The connection broke. Look in the job log of the channel initiator (CHIN) for the end of the channel.",
    2016: "Getting from the reply queue is inhibited: set GET(ENABLED) for it.",
    2042: "Another program has the reply queue open exclusively: the active one of two agents (standby), or one that needs a reply queue of its own.",
    2045: "The reply queue must be a local queue, no alias.",
    2051: "Putting to the command queue is inhibited: set PUT(ENABLED) for it.",
    2053: "The command queue is full: the command server does not read it. DISPLAY CMDSERV shows its state, START"
    " CMDSERV starts it.",
    2056: "The page set behind the command queue is full.",
    2058: "The queue manager that listens there has another name: see queue_managers[].name of the settings.",
    2059: "The queue manager is not running, or its listener or channel refuses: see the job logs of MSTR and CHIN.",
    2063: "The security manager failed, or the user id and password were not accepted.",
    2085: "There is no such queue: see command_queue, reply_queue and reply_model of the settings.",
    2161: "The queue manager is being stopped.",
    2162: "The queue manager is being stopped.",
    2192: "The page set behind the queue is full.",
    2277: "The client refuses the channel's definition: see channel, connection_names and tls of the settings.",
    2278: "The client refuses the channel's definition: see channel, connection_names and tls of the settings.",
    2381: "The key repository cannot be read: see tls.key_repository of the settings.",
    2392: "The options of TLS contradict each other: see tls of the settings.",
    2393: "TLS could not begin: the CipherSpec must be that of the channel (SSLCIPH), and the key repository must"
    " hold the signer's certificate.",
    2396: "The channel allows no TLS: its SSLCIPH is blank.",
    2397: "The partner's certificate was not accepted, or ours was not.",
    2398: "The queue manager's certificate has another name than tls.peer_name of the settings.",
    2399: "tls.peer_name of the settings is no distinguished name.",
    2400: "The client knows no CipherSpec of that name: see tls.cipher of the settings.",
    2401: "A certificate has been revoked.",
    2537: "The channel cannot be used: stopped, or MAXINST, MAXINSTC or the channel initiator's MAXCHL are reached.",
    2538: "Nothing listens at that address: see connection_names of the settings, DISPLAY CHINIT and the firewalls"
    " between.",
    2539: "The two ends of the channel do not match: a server-connection channel with the same SSLCIPH is needed.",
    2540: "There is no server-connection channel of that name: see channel of the settings.",
    3168: "The channel system is not active: START CHINIT starts the channel initiator.",
    3217: "The channel initiator is not active: START CHINIT starts it.",
    3218: "The channel initiator has a problem: see its job log.",
    3225: "The member is not active, or unknown to the queue-sharing group.",
    3237: "The user id of the request is unknown to the security manager.",
}


def result_of_call(reason: int) -> CheckResult:
    """The result of a check whose MQI call failed."""
    if reason in _REFUSED:
        return CheckResult.REFUSED
    if reason == NO_REPLY:
        return CheckResult.NO_ANSWER
    return CheckResult.MISSING if reason == MQRC_UNKNOWN_OBJECT_NAME else CheckResult.FAILED


def result_of_display(reason: int, *, exact: bool = False) -> CheckResult:
    """The result of an answer with this reason (0: none). ``exact``: the query names one object in full."""
    if reason in _REFUSED:
        return CheckResult.REFUSED
    if reason in _NOT_HERE:
        return CheckResult.NOT_HERE
    if outcome_of_answer(reason) is Outcome.NOT_FOUND:
        return CheckResult.MISSING if exact and reason not in _NOTHING_ACTIVE else CheckResult.WORKS
    return CheckResult.WORKS if reason == 0 else CheckResult.FAILED


def failed_to_put(reason: int, replies: int) -> bool:
    """Whether a command that ended with this MQI reason was never put; reasons of MQGET differ, or follow replies."""
    return replies == 0 and reason not in _OF_GET


def hint(reason: int) -> tuple[str, ...]:
    """A sentence about what to check; none where the reason's name is enough."""
    text = _HINTS.get(reason)
    return () if text is None else (text,)


CONNECTING_MS: Final = 60_000
"""The longest time for connecting, TLS and several addresses included."""
LONGEST_WAIT_MS: Final = 10_000
"""The longest wait for an answer, whatever ``polling.wait`` allows the agent."""
_ALSO: Final = frozenset(
    {
        mq.MQCA_Q_MGR_NAME,
        mq.MQCA_Q_NAME,
        mq.MQCACH_CHANNEL_NAME,
        mq.MQCA_QSG_NAME,
        mq.MQCA_VERSION,
        mq.MQIA_PLATFORM,
        mq.MQIA_COMMAND_LEVEL,
        mq.MQIA_MONITORING_Q,
        mq.MQIA_MONITORING_CHANNEL,
        mq.MQIA_MONITORING_AUTO_CLUSSDR,
        mq.MQIA_INDEX_TYPE,
        mq.MQIA_MAX_Q_DEPTH,
        mq.MQIA_SHAREABILITY,
        mq.MQIA_OPEN_INPUT_COUNT,
        mq.MQIA_CURRENT_Q_DEPTH,
        mq.MQIA_START_STOP_EVENT,
        mq.MQIA_INHIBIT_EVENT,
        mq.MQIA_LOCAL_EVENT,
        mq.MQIA_REMOTE_EVENT,
        mq.MQIA_CHANNEL_EVENT,
        mq.MQIA_SSL_EVENT,
        mq.MQIA_BRIDGE_EVENT,
        mq.MQIA_PERFORMANCE_EVENT,
        mq.MQIA_CONFIGURATION_EVENT,
        mq.MQIA_COMMAND_EVENT,
    }
)
"""Parameters that are read here, whether or not a probe reads them."""


@dataclass(frozen=True, slots=True)
class DoctorQuery:
    """A request and its name. ``own`` marks queries about the reply queue, which only the examination sends.

    ``event``: it opens an event queue instead.
    """

    check: str
    request: bytes
    selection: RequestSelection
    own: bool = False
    event: EventQuery | None = None

    @property
    def command(self) -> int:
        """The command's number."""
        return self.selection.command

    @property
    def exact(self) -> bool:
        """Whether the query names one object in full."""
        return bool(self.selection.name) and not self.selection.name.endswith("*")


@dataclass(frozen=True, slots=True)
class DoctorAnswer:
    """A query and its answer. ``reason`` is the first specific reason of the answer, 0 without one.

    ``complete`` is false while something of the answer is missing, ``damaged`` counts replies that cannot be decoded,
    ``unknown_ccsid`` is a character set of its replies that is not known, 0 when all are.
    """

    query: DoctorQuery
    exchange: Exchange
    reason: int
    items: Sequence[DecodedReply]
    complete: bool
    damaged: int
    responder: str
    unknown_ccsid: int = 0

    @property
    def broken(self) -> bool:
        """Whether the connection is unusable."""
        return self.exchange.error is not None and self.exchange.error.reason in CONNECTION_FAILURES

    @property
    def silent(self) -> bool:
        """Whether no reply came."""
        error = self.exchange.error
        return error is not None and error.reason == NO_REPLY and not self.exchange.replies

    @property
    def not_put(self) -> bool:
        """Whether the request could not even be put."""
        error = self.exchange.error
        if self.query.command in OF_QUEUES:
            return False
        return error is not None and failed_to_put(error.reason, len(self.exchange.replies))


@dataclass(frozen=True, slots=True)
class Examination:
    """The result of connecting to ``queue_manager`` and querying it.

    ``error`` says why there is no connection, or ``timed_out`` that connecting did not end. ``identity`` is None for a
    simulated queue manager, whose queues need not be opened. ``left_out`` are the queries that were not put in the end.
    """

    queue_manager: str
    connect_ms: int
    error: ConnectError | None = None
    timed_out: bool = False
    identity: ConnectedQueueManager | None = None
    asked: tuple[DoctorAnswer, ...] = ()
    left_out: tuple[DoctorQuery, ...] = ()
    rows: CycleRows = field(default_factory=CycleRows)

    @property
    def reached(self) -> bool:
        """Whether there was a connection."""
        return self.error is None and not self.timed_out


def queries(polling: PollingSettings) -> tuple[DoctorQuery, ...]:
    """Every query that the agent sends with these settings, once. Raises ValueError for invalid settings."""
    asked = (_query((each.without_list or each).request) for each in zos_queries(polling))
    return (*asked, *event_queries(polling))


def queries_of_distributed(polling: PollingSettings) -> tuple[DoctorQuery, ...]:
    """The same for a queue manager that does not run on z/OS.

    Its statistics queue is not read: reading is destructive.
    """
    return (*(_query(each.request) for each in distributed_queries(polling)), *event_queries(polling))


def event_queries(polling: PollingSettings) -> tuple[DoctorQuery, ...]:
    """Event queues are opened as the agent opens them; no message is read."""
    if polling.events is None:
        return ()
    taking = polling.events.read == "get"
    step, how = (EventStep.OPEN_TO_GET, "get") if taking else (EventStep.OPEN_TO_BROWSE, "browse")
    found = []
    for name in polling.events.queues:
        query = event_query(str(name), step)
        selection = RequestSelection(READ_EVENTS, str(name))
        found.append(DoctorQuery(f"open {name} to {how}", query.request, selection, event=query))
    return tuple(found)


def member_query(name: str) -> DoctorQuery:
    """The cheapest query to a member of the group without a connection."""
    request = queue_manager.ATTRIBUTES_PROBE.ask(QueryOptions(scope=name))
    return DoctorQuery(f"DISPLAY QMGR CMDSCOPE({name})", request, _selection(request))


def reply_queue_queries(name: str, *, zos: bool = True) -> tuple[DoctorQuery, ...]:
    """Queries for the reply queue's definition and status."""
    question = QueryOptions(name, disposition=mq.MQQSGD_ALL if zos else None)
    requests = (queue.DEFINITION_PROBE.ask(question), queue.STATUS_PROBE.ask(question))
    return tuple(
        DoctorQuery(f"reply queue: {_query(each).check}", each, _selection(each), own=True) for each in requests
    )


def _selection(request: bytes) -> RequestSelection:
    return selection_of(Decoder().decode(request, REQUEST_CCSID))


_PART_WORDS = {
    mq.MQIACF_CF_STATUS_BACKUP: "BACKUP",
    mq.MQIACF_CF_STATUS_CONNECT: "CONNECT",
    mq.MQIACF_CF_STATUS_SMDS: "SMDS",
    mq.MQIACF_USAGE_SMDS: "SMDS",
    mq.MQIACF_USAGE_DATA_SET: "DATASET",
}


def _query(request: bytes) -> DoctorQuery:
    selection = _selection(request)
    if selection.command == BROWSE_DEAD_LETTERS:
        return DoctorQuery("browse the dead-letter queue", request, selection)
    check = display_command(command_form(selection.command))
    if selection.name not in ("", "*"):
        check += f"({selection.name})"
    if selection.part in _PART_WORDS:
        check += f" TYPE({_PART_WORDS[selection.part]})"
    if selection.clients is not None:
        check += f" WHERE(CHLTYPE {'EQ' if selection.clients else 'NE'} SVRCONN)"
    return DoctorQuery(check, request, selection)


def _pcf_query(query: DoctorQuery) -> Query:
    if query.event is not None:
        return query.event
    if query.command == BROWSE_DEAD_LETTERS:
        return Query(query.command, query.request)
    return Query(query.command, query.request, PROBES[query.command].wanted | _ALSO)


async def examine(
    connector: Connector,
    wanted: Sequence[DoctorQuery],
    clock: Clock,
    wait_ms: int,
    elsewhere: Sequence[DoctorQuery] = (),
) -> Examination:
    """Connect, query and disconnect. Raises nothing that MQ can cause.

    A queue manager that does not run on z/OS gets the queries ``elsewhere``. The rest is left out when nothing can be
    put, when the first query gets no answer, or when the connection breaks.
    """
    name, began = connector.queue_manager, clock.now()

    def took_ms() -> int:
        return max(0, clock.now() - began)

    try:
        connection = await with_timeout(connector.connect(), clock, CONNECTING_MS)
    except TimeoutError:
        return Examination(name, took_ms(), timed_out=True)
    except ConnectError as error:
        return Examination(name, took_ms(), error)
    took = took_ms()
    found = getattr(connection, "identity", None)
    identity = found if isinstance(found, ConnectedQueueManager) else None
    zos = identity is None or identity.platform == mq.MQPL_ZOS
    if not zos:
        wanted = elsewhere
    if identity is not None and not identity.dynamic:
        wanted = (*wanted, *reply_queue_queries(identity.reply_queue, zos=zos))
    try:
        asked, rows = await _ask_all(connection, wanted, min(wait_ms, LONGEST_WAIT_MS))
    finally:
        await connection.close()
    return Examination(
        name, took, identity=identity, asked=tuple(asked), left_out=tuple(wanted[len(asked) :]), rows=rows
    )


async def _ask_all(
    connection: Connection, wanted: Sequence[DoctorQuery], wait_ms: int
) -> tuple[list[DoctorAnswer], CycleRows]:
    asked: list[DoctorAnswer] = []
    rows = CycleRows()
    decoder = Decoder(lenient=True)
    for query in wanted:
        exchange = await connection.ask(_pcf_query(query), wait_ms)
        asked.append(_read(query, exchange, decoder, rows))
        first = len(asked) == 1
        if asked[-1].broken or asked[-1].not_put or (first and asked[-1].silent):
            break
    return asked, rows


def _read(query: DoctorQuery, exchange: Exchange, decoder: Decoder, rows: CycleRows) -> DoctorAnswer:
    if query.command in OF_QUEUES:
        failed = exchange.error.reason if exchange.error is not None else 0
        return DoctorAnswer(query, exchange, failed, (), complete=not failed, damaged=0, responder="")
    probe = PROBES[query.command]
    decoded = read_answer(exchange, decoder, probe.wanted | _ALSO)
    answers, damaged = decoded.members, decoded.damaged
    unknown_ccsid = next((each.unknown_ccsid for each in decoded.totals.values() if each.unknown_ccsid), 0)
    scope = query.selection.scope
    answer = next((each for each in answers if each.queue_manager == scope), None) or next(iter(answers), None)
    reason = next((each.reason for each in answers if each.reason), 0)
    if answer is None:
        return DoctorAnswer(
            query, exchange, reason, (), complete=False, damaged=damaged, responder="", unknown_ccsid=unknown_ccsid
        )
    if answer.items and not query.own and not scope:
        put = next((reply.put for reply in reversed(exchange.replies) if reply.put is not None), exchange.at)
        report = MemberReport(
            answer.queue_manager,
            query.selection,
            answer.items,
            exchange.at,
            max(put, exchange.at),
            exchange.elapsed_ms,
            own=True,
            distributed=rows.distributed.get(answer.queue_manager, False),
        )
        probe.read(report, rows)
    return DoctorAnswer(
        query, exchange, reason, answer.items, decoded.complete, damaged, answer.queue_manager, unknown_ccsid
    )
