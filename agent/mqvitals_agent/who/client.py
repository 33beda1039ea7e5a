"""Asks the running agent for holders or units of work: writes a request into the agent's store and waits for the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from mqvitals_agent.errors import MqvitalsError
from mqvitals_agent.store.file.store_file import may_be_written
from mqvitals_agent.store.rows.requests import UNITS, WHO, RequestClient
from mqvitals_agent.who.holder import Holders, MemberHolders, MemberUnits, UnitsOfWork, from_json, units_from_json
from mqvitals_rules.snapshot import ObjectName

TIMEOUT_S = 20.0
"""The longest wait: the agent looks for requests once a second and gives the queue managers 15 s."""
POLL_S = 0.15
"""The interval of looking for the answer in the store."""
_AGENT_CHECK_S = 2.0
"""The interval of checking that the agent still runs."""

Pause = Callable[[float], bool]
"""Waits for this many seconds; True when no one waits for the answer any more."""


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Question(Generic[_T]):
    """What can be asked: its name in the store, how the answer is read, and what stands for a missing answer."""

    name: str
    read: Callable[[str], _T]
    unanswered: Callable[[ObjectName, int, str], _T]


def _no_holders(queue: ObjectName, asked: int, problem: str) -> Holders:
    return Holders(queue, (MemberHolders(queue.owner, asked, 0, problem=problem),))


def _no_units(of: ObjectName, asked: int, problem: str) -> UnitsOfWork:
    return UnitsOfWork(of, (MemberUnits(of.owner, asked, 0, problem=problem),))


HOLDERS = Question(WHO, from_json, _no_holders)
"""Who has a queue open."""
UNITS_OF_WORK = Question(UNITS, units_from_json, _no_units)
"""The units of work of a queue manager."""


class NoAgentAnswer(MqvitalsError):  # noqa: N818 - nothing is wrong with the program or the store
    """No answer came. ``message`` says why, ``hint`` what to do next; the text of the exception is both."""


def ask_agent(
    store: Path,
    queues: Sequence[ObjectName],
    now: Callable[[], int],
    pause: Pause,
    *,
    timeout_s: float = TIMEOUT_S,
    time_s: Callable[[], float] = time.monotonic,
) -> tuple[Holders, ...] | None:
    """The holders of each queue, in their order; None when ``pause`` returned True.

    A queue without an answer has a problem instead of holders when others were answered. ``now``, ``pause`` and what is
    raised as for ``ask_of``.
    """
    return ask_of(store, HOLDERS, queues, now, pause, timeout_s=timeout_s, time_s=time_s)


def ask_of(
    store: Path,
    question: Question[_T],
    objects: Sequence[ObjectName],
    now: Callable[[], int],
    pause: Pause,
    *,
    timeout_s: float = TIMEOUT_S,
    time_s: Callable[[], float] = time.monotonic,
) -> tuple[_T, ...] | None:
    """The answer about each object, in their order; None when ``pause`` returned True.

    ``now`` returns the machine's time, ms since 1970 UTC, ``time_s`` a monotonic time. Raises StoreError when no request can be written, and
    NoAgentAnswer when no agent runs or nothing was answered within ``timeout_s``. It waits, so call it in a thread
    of its own.
    """
    with RequestClient.open(store) as book:
        _require_agent(store)
        began, asked = time_s(), now()
        numbers = {book.ask(question.name, each, asked): each for each in objects}
        answers: dict[ObjectName, _T] = {}
        looked = began
        while True:
            for number in [each for each, about in numbers.items() if about not in answers]:
                text = book.answer(number)
                if text is not None:
                    answers[numbers[number]] = _read(question, text, numbers[number], asked)
            if len(answers) == len(numbers):
                break
            moment = time_s()
            if moment - began >= timeout_s:
                break
            if moment - looked >= _AGENT_CHECK_S:
                looked = moment
                _require_agent(store)
            if pause(POLL_S):
                return None
    problem = f"no answer within {timeout_s:g} s"
    if not answers:
        raise NoAgentAnswer(f"{problem}: the agent that writes the store {store} is busy", "ask again in a moment")
    return tuple(answers[each] if each in answers else question.unanswered(each, asked, problem) for each in objects)


def _require_agent(store: Path) -> None:
    if not may_be_written(store):
        raise NoAgentAnswer(
            f"no agent writes the store {store}, and only a running agent can ask queue managers",
            "start 'mqvitals agent'",
        )


def _read(question: Question[_T], text: str, about: ObjectName, asked: int) -> _T:
    try:
        return question.read(text)
    except ValueError as error:
        problem = f"the agent's answer cannot be read ({error}): is it of another version?"
        return question.unanswered(about, asked, problem)
