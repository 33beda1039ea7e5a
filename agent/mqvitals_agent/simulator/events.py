"""Event queues of the simulated queue managers: which messages lie on them follows from the scenario and the time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Final, NamedTuple

from mqvitals_agent.connection.connection import MOST_EVENTS, EventQuery, EventStep, MqiFailure, Reply
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import byte_string, encode_message, group, integer, string
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.simulator.answer import CCSID, ENCODING
from mqvitals_config.decoding.scalars import DURATION_FORM, parse_duration
from mqvitals_config.decoding.schema import Convert

Length = Annotated[int, Convert(parse_duration, DURATION_FORM, raw=True)]
"""A duration, ms."""

_CATEGORIES: Final = {
    **dict.fromkeys((2053, 2224, 2225, 2226, 2227), ("SYSTEM.ADMIN.PERFM.EVENT", mq.MQCMD_PERFM_EVENT)),
    **dict.fromkeys((2367, 2368, 2369, 2370), ("SYSTEM.ADMIN.CONFIG.EVENT", mq.MQCMD_CONFIG_EVENT)),
    **dict.fromkeys((2412, 2413), ("SYSTEM.ADMIN.COMMAND.EVENT", mq.MQCMD_COMMAND_EVENT)),
    **dict.fromkeys(
        (2125, 2126, 2279, 2282, 2283, 2295, 2296, 2371, 2552, 2577, 2578),
        ("SYSTEM.ADMIN.CHANNEL.EVENT", mq.MQCMD_CHANNEL_EVENT),
    ),
}
_QMGR: Final = ("SYSTEM.ADMIN.QMGR.EVENT", mq.MQCMD_Q_MGR_EVENT)
_QUEUES: Final = frozenset(queue for queue, _ in (*_CATEGORIES.values(), _QMGR))
_ROUNDS: Final = 20
"""Messages of so many rounds lie on a queue; the site removes those of earlier ones."""
_ID_LENGTH: Final = 24


@dataclass(frozen=True, slots=True)
class ScenarioEvent:
    """An event message that comes ``at`` ms after the beginning of a round, about ``object`` (``QM01/PAY.IN``).

    A change (2368) has ``old`` and ``new`` MAXDEPTH and the ``user`` who made it, as a command (2412) has.
    """

    at: Length
    object: str
    reason: int
    qualifier: int = 0
    user: str = ""
    old: int = 0
    new: int = 0
    command: str = ""

    @property
    def queue(self) -> str:
        """The queue that it comes on."""
        return _CATEGORIES.get(self.reason, _QMGR)[0]

    def messages(self) -> Iterator[bytes]:
        """Its messages: two for a change, before and after."""
        if self.reason == mq.MQRC_CONFIG_CHANGE_OBJECT:
            yield self._message(self._configured(self.old), control=0)
            yield self._message(self._configured(self.new))
        elif self.reason == mq.MQRC_COMMAND_MQSC:
            context = group(mq.MQGACF_COMMAND_CONTEXT, self._who())
            data = group(mq.MQGACF_COMMAND_DATA, [string(mq.MQCACF_COMMAND_MQSC, self.command)])
            yield self._message([context, data])
        else:
            yield self._message([*self._named(), *self._figures()])

    def _message(self, parameters: list[Parameter], control: int = mq.MQCFC_LAST) -> bytes:
        _, category = _CATEGORIES.get(self.reason, _QMGR)
        return encode_message(
            mq.MQCFT_EVENT, category, parameters, control=control, comp_code=1, reason=self.reason, ccsid=CCSID
        )

    def _named(self) -> Iterator[Parameter]:
        owner, _, name = self.object.partition("/")
        yield string(mq.MQCA_Q_MGR_NAME, owner, 48)
        _, category = _CATEGORIES.get(self.reason, _QMGR)
        if category == mq.MQCMD_PERFM_EVENT:
            yield string(mq.MQCA_BASE_Q_NAME, name, 48)
        elif category == mq.MQCMD_CHANNEL_EVENT and name:
            yield string(mq.MQCACH_CHANNEL_NAME, name, 20)
            yield string(mq.MQCACH_CONNECTION_NAME, "192.0.2.17(1414)", 264)
        elif name:
            yield string(mq.MQCA_Q_NAME, name, 48)

    def _figures(self) -> Iterator[Parameter]:
        if self.qualifier:
            yield integer(mq.MQIACF_REASON_QUALIFIER, self.qualifier)
        if self.queue == "SYSTEM.ADMIN.PERFM.EVENT":
            yield integer(mq.MQIA_TIME_SINCE_RESET, 600)
            yield integer(mq.MQIA_HIGH_Q_DEPTH, self.new)
            yield integer(mq.MQIA_MSG_ENQ_COUNT, self.new)
            yield integer(mq.MQIA_MSG_DEQ_COUNT, 0)

    def _who(self) -> list[Parameter]:
        owner = self.object.partition("/")[0]
        return [
            string(mq.MQCACF_EVENT_USER_ID, self.user, 12),
            integer(mq.MQIACF_EVENT_ORIGIN, mq.MQEVO_CONSOLE),
            string(mq.MQCACF_EVENT_Q_MGR, owner, 48),
            byte_string(mq.MQBACF_EVENT_ACCOUNTING_TOKEN, bytes(32)),
            string(mq.MQCACF_EVENT_APPL_NAME, "CSQOREXX", 28),
        ]

    def _configured(self, depth: int) -> list[Parameter]:
        name = self.object.partition("/")[2]
        return [
            *self._who(),
            integer(mq.MQIACF_OBJECT_TYPE, mq.MQOT_Q),
            string(mq.MQCA_Q_NAME, name, 48),
            integer(mq.MQIA_MAX_Q_DEPTH, depth),
        ]


class LyingEvent(NamedTuple):
    """A message on an event queue; ``put`` is ms since 1970 UTC."""

    message_id: bytes
    put: int
    data: bytes


_NO_MESSAGE: Final = MqiFailure(mq.MQCC_FAILED, mq.MQRC_NO_MSG_AVAILABLE)
_NO_QUEUE: Final = MqiFailure(mq.MQCC_FAILED, mq.MQRC_UNKNOWN_OBJECT_NAME)


@dataclass(slots=True)
class EventQueues:
    """The event queues of all members. ``begin`` is when the scenario begins, ms since 1970 UTC; its rounds are ``length``
    ms long.
    """

    begin: int = 0
    length: int = 1
    events: tuple[ScenarioEvent, ...] = ()
    _taken: set[bytes] = field(default_factory=set)
    _pending: dict[str, list[bytes]] = field(default_factory=dict)

    def step(self, member: str, query: EventQuery, now: int) -> tuple[tuple[Reply, ...], MqiFailure | None]:
        """What a step of a member's connection finds, and why it fails. The unit of work is the member's only one."""
        match query.step:
            case EventStep.COMMIT:
                self._taken.update(self._pending.pop(member, ()))
                return (), None
            case EventStep.BACK_OUT:
                self._pending.pop(member, None)
                return (), None
        if query.queue not in _QUEUES:
            return (), _NO_QUEUE
        if query.step in (EventStep.OPEN_TO_BROWSE, EventStep.OPEN_TO_GET):
            return (), None
        lying = [each for each in self._lying(member, query.queue, now) if each.message_id not in self._taken]
        if query.after:
            place = next((place for place, each in enumerate(lying) if each.message_id == query.after), None)
            if place is None:
                return (), _NO_MESSAGE
            del lying[: place + 1]
        del lying[MOST_EVENTS:]
        if query.step is EventStep.GET:
            self._pending[member] = [each.message_id for each in lying]
        return tuple(Reply(ENCODING, CCSID, each.data, each.put, each.message_id) for each in lying), None

    def _lying(self, member: str, queue: str, now: int) -> list[LyingEvent]:
        """All messages that came and are there, the oldest first."""
        found = []
        turns = max((now - self.begin) // self.length + 1, 0)
        for turn in range(max(turns - _ROUNDS, 0), turns):
            for number, event in enumerate(self.events):
                put = self.begin + turn * self.length + event.at
                if put > now or event.queue != queue or event.object.partition("/")[0] != member:
                    continue
                for part, data in enumerate(event.messages()):
                    name = f"{member} {turn} {number} {part} {event.reason}".encode()
                    found.append(LyingEvent(sha256(name).digest()[:_ID_LENGTH], put, data))
        return sorted(found, key=lambda each: each.put)
