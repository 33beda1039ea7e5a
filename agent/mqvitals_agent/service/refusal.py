"""Whether a queue manager refused to answer at all."""

from __future__ import annotations

from struct import error, unpack_from

from mqvitals_agent.connection.exchange import Exchange
from mqvitals_agent.pcf.constants import MQCC_FAILED
from mqvitals_agent.poll.outcome import of_answer
from mqvitals_rules.snapshot import Outcome

_NO_ANSWER = frozenset({Outcome.REFUSED, Outcome.UNKNOWN_COMMAND})
_LITTLE_ENDIAN = 0x0F
_LITTLE = 2


def refused(exchange: Exchange) -> bool:
    """True when a reply says that this queue manager does not know the command, or that we may not use it.

    Only the headers are looked at: decoding is the collector's.
    """
    for reply in exchange.replies:
        order = "<" if reply.encoding & _LITTLE_ENDIAN == _LITTLE else ">"
        try:
            comp_code, reason = unpack_from(f"{order}2i", reply.data, 24)
        except error:
            continue  # too short for a header: damaged, which the collector tells
        if comp_code == MQCC_FAILED and of_answer(reason) in _NO_ANSWER:
            return True
    return False
