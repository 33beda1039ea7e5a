"""What MQINQ answers about the queue manager and its queues."""

from __future__ import annotations

from struct import pack, unpack

from mqstandin import numbers as mq
from mqstandin.descriptor import padded
from mqstandin.queue_manager import QueueManager
from mqstandin.queues import Queue


def attributes(manager: QueueManager, queue: Queue | None, selectors: bytes, room: int) -> tuple[bytes, bytes] | None:
    """The integers and the characters (at most ``room`` bytes) for the selectors, each in their order.

    None when there is no such attribute of the queue, or of the queue manager when there is no queue.
    """
    integers: list[int] = []
    characters = b""
    for selector in unpack(f"<{len(selectors) // 4}i", selectors):
        value = manager.inquire(selector) if queue is None else _of_queue(queue).get(selector)
        if value is None:
            return None
        if isinstance(value, int):
            integers.append(value)
        else:
            characters += padded(value, mq.LENGTHS[selector])
    return pack(f"<{len(integers)}i", *integers), characters[:room]


def _of_queue(queue: Queue) -> dict[int, int | str]:
    return {
        mq.MQIA_CURRENT_Q_DEPTH: len(queue.messages),
        mq.MQIA_MAX_MSG_LENGTH: queue.max_length,
        mq.MQIA_MAX_Q_DEPTH: queue.max_depth,
        mq.MQIA_OPEN_INPUT_COUNT: queue.inputs,
        mq.MQIA_OPEN_OUTPUT_COUNT: queue.outputs,
        mq.MQIA_Q_TYPE: mq.MQQT_LOCAL,
        mq.MQCA_Q_NAME: queue.name,
    }
