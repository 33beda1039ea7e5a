"""Answers: when one is complete, and its outcome. Reason codes and their classes are those of IBM's lists."""

from __future__ import annotations

from mqvitals_agent.connection.connection import Reply
from mqvitals_agent.pcf.answer import TRACKED, AnswerTracker
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.message import PcfError
from mqvitals_rules.snapshot import Outcome

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


class AnswerEnd:
    """Follows the replies of one answer."""

    def __init__(self, decoder: Decoder) -> None:
        """``decoder`` may be kept from answer to answer: it remembers the shapes of messages."""
        self._decoder = decoder
        self._tracker = AnswerTracker()

    def reached(self, reply: Reply) -> bool:
        """Take the next reply into account; True when the answer is whole with it.

        One that cannot be decoded leaves a gap: what comes of the answer is judged by whoever reads it, and here it ends
        when no more replies come.
        """
        try:
            self._tracker.add(self._decoder.decode_values(reply.data, reply.ccsid, TRACKED))
        except PcfError:
            return False
        return self._tracker.complete
