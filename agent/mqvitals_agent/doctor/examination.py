"""Connecting to a queue manager and asking it each question once, as the agent would. What comes of it is judged elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from mqvitals_agent.clock import Clock
from mqvitals_agent.connection.connection import ConnectError, Connection, Connector
from mqvitals_agent.connection.conversation import Identity
from mqvitals_agent.connection.exchange import Exchange
from mqvitals_agent.doctor import refusal
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.answer import AnswerTracker, Reply
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import REQUEST_CCSID
from mqvitals_agent.pcf.error import PcfError
from mqvitals_agent.poll import queue, queue_manager
from mqvitals_agent.poll.command import form, mqsc
from mqvitals_agent.poll.errand import errands, errands_of_distributed
from mqvitals_agent.poll.outcome import CONNECTION_FAILURES, NO_REPLY
from mqvitals_agent.poll.probe import Answer, Question, Rows
from mqvitals_agent.poll.probes import PROBES
from mqvitals_agent.poll.selection import Selection, of_request
from mqvitals_config.collection import PollingSettings

CONNECTING_MS: Final = 60_000
"""So long a connection may take to come about, TLS and several addresses included."""
LONGEST_WAIT_MS: Final = 10_000
"""Whoever watches waits no longer for an answer, whatever ``polling.wait`` allows the agent."""
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
    }
)
"""Parameters that are looked at here, whether or not a probe wants them."""


@dataclass(frozen=True, slots=True)
class Query:
    """A request and what it is called. ``own`` marks those about the reply queue, which only the examination puts."""

    check: str
    request: bytes
    selection: Selection
    own: bool = False

    @property
    def command(self) -> int:
        """The command's number."""
        return self.selection.command

    @property
    def exact(self) -> bool:
        """Whether one object is asked for by its whole name."""
        return bool(self.selection.name) and not self.selection.name.endswith("*")


@dataclass(frozen=True, slots=True)
class Asked:
    """A query and what came of it. ``reason`` is the answer's first specific one, 0 when there was none to tell.

    ``complete`` is false while something of the answer is missing, ``damaged`` counts replies that cannot be decoded,
    ``unknown_ccsid`` is a character set of its replies that is not known, 0 when all are.
    """

    query: Query
    exchange: Exchange
    reason: int
    items: Sequence[Reply]
    complete: bool
    damaged: int
    responder: str
    unknown_ccsid: int = 0

    @property
    def broken(self) -> bool:
        """Whether the connection is of no more use."""
        return self.exchange.error is not None and self.exchange.error.reason in CONNECTION_FAILURES

    @property
    def silent(self) -> bool:
        """Whether nothing at all came."""
        error = self.exchange.error
        return error is not None and error.reason == NO_REPLY and not self.exchange.replies

    @property
    def not_put(self) -> bool:
        """Whether the request could not even be put."""
        error = self.exchange.error
        return error is not None and refusal.failed_to_put(error.reason, len(self.exchange.replies))


@dataclass(frozen=True, slots=True)
class Examined:
    """What came of connecting to ``queue_manager`` and asking it.

    ``error`` says why there is no connection, or ``timed_out`` that connecting did not end. ``identity`` is None for a
    simulated queue manager, whose queues need not be opened. ``left_out`` are the queries that were not put in the end.
    """

    queue_manager: str
    connect_ms: int
    error: ConnectError | None = None
    timed_out: bool = False
    identity: Identity | None = None
    asked: tuple[Asked, ...] = ()
    left_out: tuple[Query, ...] = ()
    rows: Rows = field(default_factory=Rows)

    @property
    def reached(self) -> bool:
        """Whether there was a connection."""
        return self.error is None and not self.timed_out


def queries(polling: PollingSettings) -> tuple[Query, ...]:
    """Every question that the agent asks by these settings, once. Raises ValueError as ``errands`` does."""
    return tuple(_query(errand.request) for errand in errands(polling))


def queries_of_distributed(polling: PollingSettings) -> tuple[Query, ...]:
    """The same for a queue manager that does not run on z/OS. Its statistics queue is left alone: reading it is destructive."""
    return tuple(_query(errand.request) for errand in errands_of_distributed(polling))


def of_member(name: str) -> Query:
    """The cheapest question to a member of the group that has no connection of its own."""
    request = queue_manager.ask_attributes(Question(scope=name))
    return Query(f"DISPLAY QMGR CMDSCOPE({name})", request, _selection(request))


def of_reply_queue(name: str, *, zos: bool = True) -> tuple[Query, ...]:
    """How the reply queue is defined, and who has it open."""
    question = Question(name, disposition=mq.MQQSGD_ALL if zos else None)
    requests = (queue.ask_definition(question), queue.ask_status(question))
    return tuple(Query(f"reply queue: {_query(each).check}", each, _selection(each), own=True) for each in requests)


def _selection(request: bytes) -> Selection:
    return of_request(Decoder().decode(request, REQUEST_CCSID))


def _query(request: bytes) -> Query:
    selection = _selection(request)
    check = mqsc(form(selection.command))
    if selection.name not in ("", "*"):
        check += f"({selection.name})"
    if selection.part == mq.MQIACF_CF_STATUS_BACKUP:
        check += " TYPE(BACKUP)"
    if selection.part == mq.MQIACF_USAGE_SMDS:
        check += " TYPE(SMDS)"
    return Query(check, request, selection)


async def examine(
    connector: Connector, wanted: Sequence[Query], clock: Clock, wait_ms: int, elsewhere: Sequence[Query] = ()
) -> Examined:
    """Connect, ask, and let go. Never raises for what MQ does.

    A queue manager that does not run on z/OS is asked what stands in ``elsewhere``.
    When nothing can be put, when no answer comes to the first question, or when the connection breaks, the rest is left out.
    """
    name, began = connector.queue_manager, clock.now()
    connecting = asyncio.ensure_future(connector.connect())
    alarm = asyncio.ensure_future(clock.sleep(CONNECTING_MS))
    both: tuple[asyncio.Future[Any], ...] = (connecting, alarm)
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        alarm.cancel()
        if not connecting.done():
            connecting.cancel()
    took = max(0, clock.now() - began)
    if not connecting.done() or connecting.cancelled():
        return Examined(name, took, timed_out=True)
    try:
        connection = connecting.result()
    except ConnectError as error:
        return Examined(name, took, error)
    identity = getattr(connection, "identity", None)
    zos = not isinstance(identity, Identity) or identity.platform == mq.MQPL_ZOS
    if not zos:
        wanted = elsewhere
    if isinstance(identity, Identity) and not identity.dynamic:
        wanted = (*wanted, *of_reply_queue(identity.reply_queue, zos=zos))
    try:
        asked, rows = await _ask_all(connection, wanted, min(wait_ms, LONGEST_WAIT_MS))
    finally:
        await connection.close()
    identity = identity if isinstance(identity, Identity) else None
    return Examined(name, took, identity=identity, asked=tuple(asked), left_out=tuple(wanted[len(asked) :]), rows=rows)


async def _ask_all(connection: Connection, wanted: Sequence[Query], wait_ms: int) -> tuple[list[Asked], Rows]:
    asked: list[Asked] = []
    rows = Rows()
    decoder = Decoder(lenient=True)
    for query in wanted:
        exchange = await connection.ask(query.command, query.request, wait_ms)
        asked.append(_read(query, exchange, decoder, rows))
        first = len(asked) == 1
        if asked[-1].broken or asked[-1].not_put or (first and asked[-1].silent):
            break
    return asked, rows


def _read(query: Query, exchange: Exchange, decoder: Decoder, rows: Rows) -> Asked:
    probe = PROBES[query.command]
    tracker = AnswerTracker()
    damaged = unknown_ccsid = 0
    for reply in exchange.replies:
        try:
            tracker.add(decoder.decode_values(reply.data, reply.ccsid, probe.wanted | _ALSO))
        except PcfError:
            damaged += 1
        unknown_ccsid = decoder.take_unknown() or unknown_ccsid
    answers = tracker.answers()
    scope = query.selection.scope
    told = next((each for each in answers if each.queue_manager == scope), None) or next(iter(answers), None)
    reason = next((each.reason for each in answers if each.reason), 0)
    if told is None:
        return Asked(
            query, exchange, reason, (), complete=False, damaged=damaged, responder="", unknown_ccsid=unknown_ccsid
        )
    if told.items and not query.own and not scope:
        distributed = rows.distributed.get(told.queue_manager, False)
        put = next((reply.put for reply in reversed(exchange.replies) if reply.put is not None), exchange.at)
        probe.read(
            Answer(
                told.queue_manager,
                query.selection,
                told.items,
                exchange.at,
                max(put, exchange.at),
                exchange.elapsed_ms,
                own=True,
                distributed=distributed,
            ),
            rows,
        )
    return Asked(query, exchange, reason, told.items, tracker.complete, damaged, told.queue_manager, unknown_ccsid)
