"""Answers: when one is complete, and its outcome. Reason codes and their classes are those of IBM's lists."""

from __future__ import annotations

from collections.abc import Iterable

from mqvitals_agent.connection.connection import Answer, Exchange, Reply, ReplyTotals
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.answer import TRACKED, AnswerTracker
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.message import MessageValues, PcfError
from mqvitals_rules.snapshot import Outcome, is_object_text, is_owner_name

NO_REPLY = 2033
"""MQRC_NO_MSG_AVAILABLE: the wait ended and the answer, or its rest, had not come."""

CONNECTION_FAILURES = frozenset(
    {
        2009,  # connection broken
        2018,  # connection handle invalid
        2019,  # object handle invalid, as after a lost connection
        2059,  # queue manager not available
        2161,  # queue manager quiescing
        2162,  # queue manager stopping
        2195,  # unexpected error inside the MQI
        2202,  # connection quiescing
        2203,  # connection stopping
        2273,  # connection error
        2528,  # connection stopped
        2537,  # channel not available
        2538,  # host not available
        2548,  # reconnecting failed
    }
)
"""Reasons of MQI calls after which only a new connection helps."""

REFUSED_REASONS = frozenset({2035, 2063, 2217})
"""Not authorized, security error, connection not authorized: RACF revokes a user id after a few wrong passwords."""
REFUSED_MS = 300_000
LONGEST_REFUSED_MS = 3_600_000


def refused_wait_ms(failures: int) -> int:
    """The wait after so many connections in a row (1 or more) were refused: 5, 10, 20 ... 60 minutes.

    Only a person can correct that.
    """
    return min(REFUSED_MS << min(failures - 1, 16), LONGEST_REFUSED_MS)


_OF_REASON = {
    0: Outcome.OK,
    2033: Outcome.INCOMPLETE,
    2035: Outcome.REFUSED,
    3081: Outcome.REFUSED,
    3007: Outcome.UNKNOWN_COMMAND,
    2085: Outcome.NOT_FOUND,
    3065: Outcome.NOT_FOUND,
    3200: Outcome.NOT_FOUND,
    3312: Outcome.NOT_FOUND,
    4032: Outcome.NOT_FOUND,
    4064: Outcome.NOT_FOUND,
    4091: Outcome.NOT_FOUND,
}


def outcome_of_answer(reason: int) -> Outcome:
    """The outcome of an answer whose first specific reason is this one; 0 is success."""
    return _OF_REASON.get(reason, Outcome.FAILED)


def outcome_of_call(reason: int) -> Outcome:
    """The outcome of a command whose MQI call failed with this reason."""
    return Outcome.UNREACHABLE if reason in CONNECTION_FAILURES else outcome_of_answer(reason)


class AnswerReader:
    """Decodes the replies to one command, each once, and follows their answer.

    A reply that cannot be decoded, or whose queue manager has a name that none can have, is a gap: the answer does
    not become complete. One that names an object with a name that none can have counts for completion, and its item
    is left out.
    """

    def __init__(
        self, decoder: Decoder, queue_manager: str, parameters: frozenset[int] = TRACKED, key: int = 0
    ) -> None:
        """``decoder`` is worth keeping from answer to answer. ``queue_manager`` sent the replies that do not name another.

        ``parameters`` and ``key`` as in ``Query``.
        """
        self._decoder = decoder
        self._queue_manager = queue_manager
        self._parameters = parameters
        self._key = key
        self._tracker = AnswerTracker()
        self._damaged = 0
        self._totals: dict[str, ReplyTotals] = {}

    @property
    def complete(self) -> bool:
        """True when nothing more is to come."""
        return self._tracker.complete

    def add(self, replies: Iterable[Reply]) -> None:
        """Take the next replies into account. Raises nothing, whatever their bytes."""
        decode, take_unknown, add = self._decoder.decode_values, self._decoder.take_unknown, self._tracker.add
        parameters, key, totals = self._parameters, self._key, self._totals
        checked = ""
        for reply in replies:
            sender = self._queue_manager
            unknown = 0
            try:
                item = decode(reply.data, reply.ccsid, parameters)
                responder = item.get(mq.MQCACF_RESPONSE_Q_MGR_NAME)
                if responder and type(responder) is str:
                    # Mostly one reply after another is of the same queue manager.
                    if responder != checked and not is_owner_name(responder):
                        raise PcfError(0, "the name of a queue manager")  # noqa: TRY301 - as damage that the decoder finds
                    sender = checked = responder
            except PcfError:
                self._damaged += 1
            else:
                if key and type(named := item.get(key)) is str and not is_object_text(named):
                    self._damaged += 1
                    item = _without_object(item)
                add(item)
                unknown = take_unknown()
            total = totals.get(sender)
            if total is None:
                total = totals[sender] = ReplyTotals()
            total.replies += 1
            total.bytes += len(reply.data)
            if unknown:
                total.unknown_ccsid = unknown
            if reply.put is not None:
                total.put = reply.put

    def answer(self) -> Answer:
        """The answer as far as it has come."""
        return Answer(self._tracker.answers(), self._tracker.complete, self._damaged, self._totals)


def read_answer(exchange: Exchange, decoder: Decoder, parameters: frozenset[int] = TRACKED, key: int = 0) -> Answer:
    """The answer of an exchange: what its connection decoded, else its replies decoded now; see ``AnswerReader``."""
    if exchange.answer is not None:
        return exchange.answer
    reader = AnswerReader(decoder, exchange.queue_manager, parameters, key)
    reader.add(exchange.replies)
    return reader.answer()


def _without_object(item: MessageValues) -> MessageValues:
    """``item`` without its object: only what belongs to the answer as a whole."""
    values = {number: value for number, value in item.values.items() if number in TRACKED}
    repeated = tuple(each for each in item.repeated if each[0] in TRACKED)
    return MessageValues(
        mq.MQCFT_XR_MSG, item.command, item.sequence, item.control, item.comp_code, item.reason, values, repeated
    )
