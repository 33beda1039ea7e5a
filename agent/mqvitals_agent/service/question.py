"""What people want to know of a queue manager now: it waits in a line of its own, and its answer goes to them alone."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

from mqvitals_agent.clock import Clock
from mqvitals_agent.connection.exchange import Exchange, MqiFailure

PATIENCE_MS = 15_000
"""Nobody who asks waits longer: a longer wait for the answer would only keep errands waiting."""
IN_A_ROW = 8
"""So many questions are put one after another before an errand that waits has its turn."""


@dataclass(eq=False, slots=True)
class Question:
    """A request, and whoever waits for its exchange."""

    command: int
    request: bytes
    answer: asyncio.Future[Exchange]

    def tell(self, exchange: Exchange) -> None:
        """Give the exchange to whoever waits, who may have gone meanwhile."""
        if not self.answer.done():
            self.answer.set_result(exchange)


class QuestionLine:
    """The questions that wait for their turn at one queue manager."""

    def __init__(self, queue_manager: str, clock: Clock) -> None:
        self._queue_manager = queue_manager
        self._clock = clock
        self._waiting: deque[Question] = deque()
        self._in_a_row = 0

    def __bool__(self) -> bool:
        """True while a question waits."""
        return bool(self._waiting)

    def add(self, command: int, request: bytes) -> Question:
        """A new question, the last in the line."""
        question = Question(command, request, asyncio.get_running_loop().create_future())
        self._waiting.append(question)
        return question

    def withdraw(self, question: Question) -> None:
        """Take a question back, unless its turn has come already."""
        if question in self._waiting:
            self._waiting.remove(question)

    def take(self, *, errands: bool) -> Question | None:
        """The next question to be put; None where there is none, or ``errands`` wait and have waited long enough."""
        if self._waiting and not (errands and self._in_a_row >= IN_A_ROW):
            self._in_a_row += 1
            return self._waiting.popleft()
        self._in_a_row = 0
        return None

    def refuse(self, failure: MqiFailure) -> None:
        """Tell all who wait that nothing can be asked."""
        while self._waiting:
            question = self._waiting.popleft()
            question.tell(self.unasked(question.command, question.request, failure))

    def unasked(self, command: int, request: bytes, failure: MqiFailure) -> Exchange:
        """The exchange of a request that was not put."""
        return Exchange(0, self._clock.now(), 0, self._queue_manager, command, request, error=failure)
