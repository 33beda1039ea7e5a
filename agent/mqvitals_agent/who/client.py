"""Sends a query for holders to the running agent: writes the request into the agent's store and waits for the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from mqvitals_agent.errors import MqvitalsError
from mqvitals_agent.store.requests import WHO, RequestClient
from mqvitals_agent.store.store_file import may_be_written
from mqvitals_agent.who.holder import Holders, MemberHolders, from_json
from mqvitals_rules.snapshot import ObjectName

PATIENCE_S = 20.0
"""The agent looks for questions once a second and gives the queue managers 15 s: after that nothing comes."""
LOOK_S = 0.15
"""How often the store is looked at for the answer."""
_WRITER_S = 2.0
"""How often it is looked at whether the agent still runs."""

Pause = Callable[[float], bool]
"""Waits for so many seconds; True when whoever asked has gone."""


class NoAgentAnswer(MqvitalsError):  # noqa: N818 - nothing is wrong with the program or the store
    """Nobody answered. ``message`` says why, ``hint`` what to do next; the text of the exception is both."""


def ask_agent(
    store: Path,
    queues: Sequence[ObjectName],
    now: Callable[[], int],
    pause: Pause,
    *,
    patience_s: float = PATIENCE_S,
    time_s: Callable[[], float] = time.monotonic,
) -> tuple[Holders, ...] | None:
    """Who has each of the queues open, in their order; None when ``pause`` said that nobody waits any more.

    ``now`` is the machine's time, ms since 1970 UTC, ``time_s`` a clock that runs evenly. A queue of which no answer came
    has a problem in the place of holders, where others were answered. Raises StoreError where no question can be put, and
    NoAnswer where no agent runs or none of the queues was answered within ``patience_s``. Call it in a thread of its own:
    it waits.
    """
    with RequestClient.open(store) as book:
        _require_agent(store)
        began, asked = time_s(), now()
        numbers = {book.ask(WHO, queue, asked): queue for queue in queues}
        answers: dict[ObjectName, Holders] = {}
        looked = began
        while True:
            for number in [each for each, queue in numbers.items() if queue not in answers]:
                text = book.answer(number)
                if text is not None:
                    answers[numbers[number]] = _read(text, numbers[number], asked)
            if len(answers) == len(numbers):
                break
            moment = time_s()
            if moment - began >= patience_s:
                break
            if moment - looked >= _WRITER_S:
                looked = moment
                _require_agent(store)
            if pause(LOOK_S):
                return None
    problem = f"no answer within {patience_s:g} s"
    if not answers:
        raise NoAgentAnswer(f"{problem}: the agent that writes the store {store} is busy", "ask again in a moment")
    return tuple(answers[each] if each in answers else _unanswered(each, asked, problem) for each in queues)


def _require_agent(store: Path) -> None:
    if not may_be_written(store):
        raise NoAgentAnswer(
            f"no agent writes the store {store}, and only a running agent can ask queue managers",
            "start 'mqvitals agent'",
        )


def _read(text: str, queue: ObjectName, asked: int) -> Holders:
    try:
        return from_json(text)
    except ValueError as error:
        return _unanswered(queue, asked, f"the agent's answer cannot be read ({error}): is it of another version?")


def _unanswered(queue: ObjectName, asked: int, problem: str) -> Holders:
    return Holders(queue, (MemberHolders(queue.owner, asked, 0, problem=problem),))
