"""Queues and the messages on them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from mqstandin import numbers as mq
from mqstandin.descriptor import NO_ID, Stored


@dataclass(frozen=True, slots=True)
class Selection:
    """Which message an MQGET asks for; None: any."""

    msg_id: bytes | None = None
    correl_id: bytes | None = None

    @classmethod
    def of(cls, match: int, msg_id: bytes, correl_id: bytes) -> Selection:
        """From MatchOptions and the MQMD; an identifier of NULs matches any."""
        return cls(
            msg_id if match & mq.MQMO_MATCH_MSG_ID and msg_id != NO_ID else None,
            correl_id if match & mq.MQMO_MATCH_CORREL_ID and correl_id != NO_ID else None,
        )

    def takes(self, message: Stored) -> bool:
        """The message is one of these."""
        return (self.correl_id is None or self.correl_id == message.correl_id) and (
            self.msg_id is None or self.msg_id == message.msg_id
        )


@dataclass(slots=True)
class Queue:
    """A queue. ``kind``: local, model, temporary or permanent (made from a model, deleted when asked for).

    ``shareable`` False allows one opener for input at a time. ``waiting`` are called when a message comes.
    """

    name: str
    kind: str = "local"
    shareable: bool = True
    max_depth: int = 999_999_999
    max_length: int = 4_194_304
    messages: deque[Stored] = field(default_factory=deque)
    inputs: int = 0
    outputs: int = 0
    exclusive: bool = False
    waiting: list[Callable[[], None]] = field(default_factory=list)

    def cannot_open(self, options: int) -> int:
        """The reason why these open options are refused now, or 0."""
        if not options & mq.MQOO_INPUT:
            return 0
        alone = self.alone(options)
        return mq.MQRC_OBJECT_IN_USE if self.exclusive or (alone and self.inputs) else 0

    def alone(self, options: int) -> bool:
        """Opened with these options the queue is nobody else's for input."""
        return bool(options & mq.MQOO_INPUT) and (bool(options & mq.MQOO_INPUT_EXCLUSIVE) or not self.shareable)

    def cannot_take(self, length: int, persistence: int) -> int:
        """The reason why such a message cannot be put here now, or 0."""
        if persistence == mq.MQPER_PERSISTENT and self.kind == "temporary":
            return mq.MQRC_PERSISTENT_NOT_ALLOWED
        if length > self.max_length:
            return mq.MQRC_MSG_TOO_BIG_FOR_Q
        return mq.MQRC_Q_FULL if len(self.messages) >= self.max_depth else 0

    def put(self, messages: list[Stored]) -> None:
        """Put these at the end, and let those who wait look."""
        self.messages.extend(messages)
        for look in tuple(self.waiting):
            look()

    def put_back(self, messages: list[Stored]) -> None:
        """Put these, which were taken from here, at the front again."""
        self.messages.extendleft(reversed(messages))

    def find(self, selection: Selection, now: float) -> int | None:
        """The place of the first message of the selection that has not expired; expired ones before it go away."""
        messages = self.messages
        place = 0
        while place < len(messages):
            message = messages[place]
            if message.expires is not None and message.expires <= now:
                del messages[place]
            elif selection.takes(message):
                return place
            else:
                place += 1
        return None

    def take(self, place: int) -> Stored:
        """The message at that place, which is gone from the queue then."""
        if place == 0:
            return self.messages.popleft()
        message = self.messages[place]
        del self.messages[place]
        return message

    def take_run(self, selection: Selection, now: float, most: int, longest: int) -> list[Stored]:
        """Messages at the front of the queue that the selection takes, one after another, none longer than that."""
        run: list[Stored] = []
        messages = self.messages
        while messages and len(run) < most:
            first = messages[0]
            if not selection.takes(first) or len(first.data) > longest:
                break
            if first.expires is not None and first.expires <= now:
                break
            run.append(messages.popleft())
        return run
