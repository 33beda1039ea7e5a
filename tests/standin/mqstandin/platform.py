"""The kinds of queue managers: what differs between them in the MQI and in the names of their queues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mqstandin import numbers as mq


@dataclass(frozen=True, slots=True)
class Platform:
    """A kind of queue manager: its number (``MQIA_PLATFORM``), how it writes data and the queues that it comes with.

    ``models`` says of each model queue whether the queues made from it can be shared. ``queues`` are further local ones.
    """

    number: int
    encoding: int
    ccsid: int
    command_queue: str
    models: tuple[tuple[str, bool], ...]
    queues: tuple[str, ...] = ()


ZOS: Final = Platform(
    number=mq.MQPL_ZOS,
    encoding=mq.MQENC_S390,
    ccsid=500,
    command_queue="SYSTEM.COMMAND.INPUT",
    models=(("SYSTEM.COMMAND.REPLY.MODEL", True), ("SYSTEM.DEFAULT.MODEL.QUEUE", False)),
)

UNIX: Final = Platform(
    number=mq.MQPL_UNIX,
    encoding=mq.MQENC_REVERSED,
    ccsid=1208,
    command_queue="SYSTEM.ADMIN.COMMAND.QUEUE",
    models=(("SYSTEM.DEFAULT.MODEL.QUEUE", False),),
    queues=("SYSTEM.ADMIN.STATISTICS.QUEUE",),
)
