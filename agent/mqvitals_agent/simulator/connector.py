"""Connections to the simulated queue managers of a group, and the command server behind each: bytes in, messages
out.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from random import Random
from typing import Final, NamedTuple, Protocol

from mqvitals_agent.clock import Clock
from mqvitals_agent.connection.connection import (
    BROWSE_DEAD_LETTERS,
    MOST_DEAD_LETTERS,
    ConnectError,
    EventQuery,
    Exchange,
    MqiCalls,
    MqiFailure,
    Query,
    Reply,
)
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.codepage import codec
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import REQUEST_CCSID, string
from mqvitals_agent.pcf.message import PcfError
from mqvitals_agent.pcf.structures import read_header
from mqvitals_agent.simulator.answer import (
    CCSID,
    ENCODING,
    RESPONSE_ID_LENGTH,
    accepted_set,
    completed_set,
    dead_letter_header,
    failure_set,
    item_set,
)
from mqvitals_agent.simulator.answers.commands import SupportedCommand, parse_request
from mqvitals_agent.simulator.answers.common import (
    CommandRefusedError,
    CommandRequest,
    ReplyItem,
    filtered,
    wanted_attributes,
)
from mqvitals_agent.simulator.group_folder import GroupFolder, ReplyQueueLock
from mqvitals_agent.simulator.state import GroupState, MemberState


class CommandReplies(NamedTuple):
    """The messages that come, and whether these are all: when not, one waits for the rest in vain."""

    messages: list[bytes]
    whole: bool


_DECODER: Final = Decoder()


@lru_cache(1024)
def _parsed(request: bytes) -> tuple[SupportedCommand, CommandRequest]:
    """The agent asks the same each cycle. Raises PcfError and CommandRefusedError."""
    return parse_request(_DECODER.decode(request, REQUEST_CCSID))


class CommandServer:
    """Answers for the queue manager ``name``, and forwards scoped commands to other members of the group."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._sets = 0

    def answer(self, request: bytes, group: GroupState) -> CommandReplies:
        """The answer to a request put now. KeyError when the group has no member of this name.

        A request that is no message at all is never answered; one that has a header and no sound body is refused.
        """
        member = group.members[self.name]
        try:
            command, wanted = _parsed(request)
        except (PcfError, CommandRefusedError) as error:
            return self._refused(request, error)
        if command.name in group.fault(self.name).silent:
            return CommandReplies([], whole=False)
        if wanted.scope:
            return self._scoped(command, wanted, group)
        return self._own(command, wanted, group, member, self._set_id())

    def _refused(self, request: bytes, error: PcfError | CommandRefusedError) -> CommandReplies:
        try:
            number = read_header(request, 0).command
        except PcfError:
            return CommandReplies([], whole=False)
        reason: int = mq.MQRCCF_MSG_LENGTH_ERROR
        named: ReplyItem = ()
        if isinstance(error, CommandRefusedError):
            reason, named = error.reason, error.named
        return CommandReplies(failure_set(self.name, number, self._set_id(), reason, named), whole=True)

    def _scoped(self, command: SupportedCommand, wanted: CommandRequest, group: GroupState) -> CommandReplies:
        """Accepted, then each member's answer, then completed."""
        scope = wanted.scope
        members = [
            member for name, member in sorted(group.members.items()) if scope in ("*", name) and group.is_up(name)
        ]
        if not members:
            named = (string(mq.MQCACF_COMMAND_SCOPE, scope),)
            failed = failure_set(self.name, wanted.command, self._set_id(), mq.MQRCCF_COMMAND_SCOPE_ERROR, named)
            return CommandReplies(failed, whole=True)
        first, closing = self._set_id(), self._set_id()
        sets = [self._set_id() for _ in members]
        found = accepted_set(self.name, wanted.command, first, [*sets, closing], len(members))
        whole = True
        for member, set_id in zip(members, sets, strict=True):
            own = self._own(command, wanted, group, member, set_id)
            found += own.messages
            whole = whole and own.whole
        if whole:
            found += completed_set(self.name, wanted.command, closing)
        return CommandReplies(found, whole)

    def _own(
        self, command: SupportedCommand, wanted: CommandRequest, group: GroupState, member: MemberState, set_id: bytes
    ) -> CommandReplies:
        """One member's response set, or its refusal."""
        fault = group.fault(member.name)
        if command.name in fault.silent:
            return CommandReplies([], whole=False)
        if command.name in fault.refuse:
            messages = failure_set(member.name, wanted.command, set_id, mq.MQRC_NOT_AUTHORIZED)
        else:
            try:
                items = self._items(command, wanted, group, member)
                messages = item_set(member.name, wanted.command, set_id, items)
            except CommandRefusedError as refusal:
                messages = failure_set(member.name, wanted.command, set_id, refusal.reason, refusal.named)
        if command.name in fault.truncate:
            return CommandReplies(messages[: len(messages) // 2], whole=False)
        return CommandReplies(messages, whole=True)

    def _items(
        self, command: SupportedCommand, wanted: CommandRequest, group: GroupState, member: MemberState
    ) -> Iterable[ReplyItem]:
        items: list[ReplyItem] = list(command.items(wanted, group, member))
        for number, condition in wanted.filters:
            items = filtered(items, number, condition, command.sometimes)
        if not items:
            reason = command.missing(wanted, group, member)
            if reason:
                raise CommandRefusedError(
                    reason, [string(number, wanted.text(number)) for number in command.needs[-1:]]
                )
        return wanted_attributes(items, wanted.values.get(command.attributes), command.always)

    def _set_id(self) -> bytes:
        """An identifier that no set of this queue manager had before, of the form that z/OS gives them."""
        self._sets += 1
        page = codec(CCSID)
        who = page.encode("CSQ ") + page.encode(self.name[:4].ljust(4))
        return (who + self._sets.to_bytes(8, "big")).ljust(RESPONSE_ID_LENGTH, b"\0")


_CONNECTING_MS: Final = 20
_SHORTEST_MS, _LONGEST_MS = 2.0, 6.0
_A_MESSAGE_MS: Final = 0.03
"""The time that one message adds to an answer."""
_HUNDREDTHS_MS: Final = 10
"""The descriptor of a message keeps the time to hundredths of a second."""
_NO_MESSAGE: Final = MqiFailure(mq.MQCC_FAILED, mq.MQRC_NO_MSG_AVAILABLE)
_REFUSED: Final = MqiFailure(mq.MQCC_FAILED, mq.MQRC_NOT_AUTHORIZED)
_BROKEN: Final = MqiFailure(mq.MQCC_FAILED, mq.MQRC_CONNECTION_BROKEN)
_NO_CONNECTION: Final = MqiFailure(mq.MQCC_FAILED, mq.MQRC_HCONN_ERROR)
_NOT_AVAILABLE: Final = MqiFailure(mq.MQCC_FAILED, mq.MQRC_Q_MGR_NOT_AVAILABLE)
_IN_USE: Final = MqiFailure(mq.MQCC_FAILED, mq.MQRC_OBJECT_IN_USE)
_REPLY_QUEUE: Final = "MQVITALS.REPLY"


class GroupSource(Protocol):
    """A group that can be advanced to a time."""

    def advance(self, now: int) -> GroupState:
        """The group as of ``now``, ms since 1970 UTC. ``now`` must not decrease between calls."""
        ...


class SimulatedConnector:
    """Connects to one queue manager of the group. ``seed`` decides on the times between request and answer.

    With a ``folder`` each connection opens the reply queue there for itself alone.
    """

    def __init__(
        self,
        simulation: GroupSource,
        queue_manager: str,
        clock: Clock,
        seed: int = 1,
        folder: GroupFolder | None = None,
    ) -> None:
        self._simulation = simulation
        self._queue_manager = queue_manager
        self._clock = clock
        self._random = Random(f"{seed} {queue_manager}")  # noqa: S311 - a believable time, not a secret
        self._server = CommandServer(queue_manager)
        self._folder = folder

    @property
    def queue_manager(self) -> str:
        """The queue manager's name."""
        return self._queue_manager

    @property
    def calls(self) -> MqiCalls:
        """No call hangs: there is no MQ client."""
        return MqiCalls()

    async def connect(self) -> SimulatedConnection:
        """A new connection. Raises ConnectError: the queue manager is down, or is none of the group (2059); its reply queue is
        open elsewhere (2042).
        """
        await self._clock.sleep(_CONNECTING_MS)
        group = self._simulation.advance(self._clock.now())
        if self._queue_manager not in group.members:
            raise ConnectError(_NOT_AVAILABLE, "the simulated group has no such queue manager")
        if not group.is_up(self._queue_manager):
            raise ConnectError(_NOT_AVAILABLE)
        queue = None
        if self._folder is not None and (queue := self._folder.open_reply_queue(self._queue_manager)) is None:
            text = f"the reply queue {_REPLY_QUEUE} is open elsewhere"
            raise ConnectError(_IN_USE, text, call="MQOPEN", queue=_REPLY_QUEUE)
        return SimulatedConnection(self._simulation, self._server, self._clock, self._random, queue)


class SimulatedConnection:
    """A connection to one simulated queue manager; ``SimulatedConnector.connect`` makes it."""

    def __init__(
        self,
        simulation: GroupSource,
        server: CommandServer,
        clock: Clock,
        random: Random,
        queue: ReplyQueueLock | None = None,
    ) -> None:
        self._simulation = simulation
        self._server = server
        self._clock = clock
        self._random = random
        self._queue = queue
        self._open = True

    async def ask(self, query: Query, wait_ms: int) -> Exchange:
        """The answer as of now, after a believable time; 2033 when it, or the rest of it, takes longer than the wait.

        2009 when the queue manager goes down meanwhile; then, and after ``close``, there is no connection any more.
        """
        began = self._clock.now()
        if not self._open:
            return self._exchange(query, began, 0, error=_NO_CONNECTION)
        group = self._simulation.advance(began)
        if self._down(group):
            return self._break(query, began, 0)
        if isinstance(query, EventQuery):
            refused = "EVENTS" in group.fault(self._server.name).refuse
            replies, error = ((), _REFUSED) if refused else group.events.step(self._server.name, query, began)
            return self._exchange(query, began, 1, replies, error)
        if query.command == BROWSE_DEAD_LETTERS:
            return self._exchange(query, began, 1, _dead_letters(group, self._server.name))
        messages, whole = self._server.answer(query.request, group)
        took = self._random.uniform(_SHORTEST_MS, _LONGEST_MS) + _A_MESSAGE_MS * len(messages)
        slow = group.fault(self._server.name).slow_ms
        late = bool(messages) and took + slow > wait_ms
        waited = 0.0 if late or not messages else took + slow
        if late or not whole:
            waited += wait_ms
        await self._clock.sleep(waited)
        if self._down(self._simulation.advance(self._clock.now())):
            return self._break(query, began, waited)
        # The queue manager puts its messages one by one; only their transport is slow.
        step = took / max(len(messages), 1)
        replies = tuple(
            Reply(ENCODING, CCSID, data, _hundredths(began + step * place))
            for place, data in enumerate(() if late else messages, start=1)
        )
        error = _NO_MESSAGE if late or not whole else None
        return self._exchange(query, began, waited, replies, error)

    async def close(self) -> None:
        """End the connection. A second call does nothing."""
        self._end()

    def _down(self, group: GroupState) -> bool:
        return not group.is_up(self._server.name)

    def _break(self, query: Query, began: int, waited: float) -> Exchange:
        self._end()
        return self._exchange(query, began, waited, error=_BROKEN)

    def _end(self) -> None:
        self._open = False
        if self._queue is not None:
            self._queue.close()

    def _exchange(
        self,
        query: Query,
        began: int,
        waited: float,
        replies: tuple[Reply, ...] = (),
        error: MqiFailure | None = None,
    ) -> Exchange:
        # The time of the simulated queue manager, not of this process: with an accelerated clock a few ms of work
        # would count as seconds.
        return Exchange(0, began, round(waited), self._server.name, query.command, query.request, replies, error)


def _dead_letters(group: GroupState, name: str) -> tuple[Reply, ...]:
    """The headers of what is on a member's dead-letter queue, the oldest first."""
    letters = sorted(group.dead_letters.get(name, ()), key=lambda each: -each.age_ms)
    headers = [
        dead_letter_header(name, each.reason, each.queue, group.now - each.age_ms)
        for each in letters
        for _ in range(each.messages)
    ]
    return tuple(Reply(ENCODING, CCSID, header) for header in headers[:MOST_DEAD_LETTERS])


def connectors(
    simulation: GroupSource, clock: Clock, *, seed: int = 1, folder: GroupFolder | None = None
) -> tuple[SimulatedConnector, ...]:
    """A connector for each queue manager of the group, in the order of their names; ``folder`` as of each of them."""
    group = simulation.advance(clock.now())
    return tuple(SimulatedConnector(simulation, name, clock, seed, folder) for name in sorted(group.members))


def _hundredths(moment: float) -> int:
    return int(moment) // _HUNDREDTHS_MS * _HUNDREDTHS_MS
