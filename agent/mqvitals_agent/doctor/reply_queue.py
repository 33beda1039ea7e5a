"""The reply queue: what IBM's documents say for and against each kind, applied to the one that is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mqvitals_agent.doctor.monitoring import Advice
from mqvitals_agent.pcf import constants as mq

_NOT_SHAREABLE: Final = 0  # MQQA_NOT_SHAREABLE
_ROOM: Final = 2
"""A reply queue should hold so many times the longest answer: an answer given up may still lie there."""


@dataclass(frozen=True, slots=True)
class ReplyQueue:
    """The reply queue as it is defined and used. None: the queue manager did not tell.

    ``dynamic`` ones need nothing else. ``largest_answer`` is in messages; ``waiting`` is its
    depth; ``openers`` is IPPROCS, our own open included.
    """

    name: str
    dynamic: bool
    index_type: int | None = None
    max_depth: int | None = None
    shareability: int | None = None
    openers: int | None = None
    waiting: int | None = None
    largest_answer: int = 0


def advice(queue: ReplyQueue, *, zos: bool = True) -> tuple[Advice, ...]:
    """What speaks against the queue as it is; nothing when all is well."""
    if queue.dynamic:
        return (
            Advice(
                f"Answers come to a dynamic queue ({queue.name}). It is made and deleted with every connection, its made-up name"
                " is checked by the security manager each time, and its definition is that of the model, MAXDEPTH included."
                " For an agent that runs for long, define a queue once, one for each agent, and name it as reply_queue in the"
                " settings; 'mqvitals help zos-setup' has the definition.",
            ),
        )
    name = queue.name
    found = []
    if zos and queue.index_type is not None and queue.index_type != mq.MQIT_CORREL_ID:
        found.append(
            Advice(
                f"{name} has no index for getting by CorrelId: each get searches the queue, which is slow when many"
                " replies lie on it, and the queue manager complains (CSQI004I). Best changed while the queue is empty and no"
                " program has it open.",
                (f"ALTER QLOCAL('{name}') INDXTYPE(CORRELID)",),
            )
        )
    need = _ROOM * queue.largest_answer
    if queue.max_depth is not None and queue.max_depth < need:
        found.append(
            Advice(
                f"{name} holds {queue.max_depth} messages, and the longest answer just now had {queue.largest_answer}:"
                " replies that find no room are lost.",
                (f"ALTER QLOCAL('{name}') MAXDEPTH({max(10_000, need)})",),
            )
        )
    if queue.shareability == _NOT_SHAREABLE:
        found.append(
            Advice(
                f"{name} is defined NOSHARE: after a connection was lost, it cannot be opened again (2042) until the queue"
                " manager has noticed the loss, which can take as long as the channel's heartbeat.",
                (f"ALTER QLOCAL('{name}') SHARE",),
            )
        )
    if queue.openers is not None and queue.openers > 1:
        found.append(
            Advice(
                f"{queue.openers} programs have {name} open for input (IPPROCS), this one included. If another agent uses"
                " it, give each its own; if the agent of these settings is running, that is the other one.",
                (f"DISPLAY QSTATUS('{name}') TYPE(HANDLE) OPENTYPE(INPUT) ALL",),
            )
        )
    if queue.waiting:
        found.append(
            Advice(
                f"{queue.waiting} messages lie on {name}: answers to an agent that is at work just now, or what one that was"
                " killed has left there. An agent throws away what it finds when it begins; if they come again without one,"
                " another program uses the queue.",
            )
        )
    return tuple(found)
