"""Telling, reply by reply, whether an answer is whole. Most replies are only looked at as far as that needs."""

from __future__ import annotations

from mqvitals_agent.connection.exchange import Reply
from mqvitals_agent.pcf.answer import TRACKED, AnswerTracker
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.error import PcfError


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
