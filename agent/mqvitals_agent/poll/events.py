"""Steps of reading event queues, as queries, and what their exchanges count as: one form of command for each queue.

No command is answered. What the messages say goes to the store as console messages do (``console/event_watch.py``).
"""

from __future__ import annotations

from dataclasses import replace

from mqvitals_agent.connection.connection import READ_EVENTS, EventQuery, EventStep, Exchange
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf import encoder
from mqvitals_agent.poll.command_form import command_form


def event_query(queue: str, step: EventStep, after: bytes = b"") -> EventQuery:
    """A step with an event queue; ``after`` as of ``EventQuery``."""
    request = encoder.request(READ_EVENTS, (encoder.string(mq.MQCA_Q_NAME, queue),))
    return EventQuery(READ_EVENTS, request, queue=queue, step=step, after=after)


def form_of(queue: str) -> str:
    """``EVENTS SYSTEM.ADMIN.QMGR.EVENT``, what the exchanges about that queue count as; ``EVENTS`` about any (``*``)."""
    name = command_form(READ_EVENTS)
    return name if queue == "*" else f"{name} {queue}"


def without_text(exchange: Exchange) -> Exchange:
    """The exchange to be counted and recorded: its messages without what they say, which may be commands and users."""
    replies = tuple(replace(reply, data=bytes(len(reply.data))) for reply in exchange.replies)
    return replace(exchange, replies=replies)
