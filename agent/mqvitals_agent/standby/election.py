"""Which of two agents is active: a pure decision from what the queue managers answered when the reply queue was opened.

Nobody but the queue managers decides: a reply queue that is open for exclusive input is the one agent's. A standby agent
that gets some reply queues but not all gives them back at once. An active one that finds a reply queue taken knows that
either a standby agent holds it for the length of a try, or another agent is active; so it goes on until that has lasted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final

LONGEST_TRY_MS: Final = 10_000
"""A standby agent tries at least so often."""
PATIENCE_TRIES: Final = 2
"""An active agent that does not hold the first reply queue lets another have one for so many tries before it gives way."""
LONG_PATIENCE_TRIES: Final = 4
"""The same of the one that holds the first: of two active agents that hold reply queues the other gives way first."""
ALONE_INTERVALS: Final = 2
"""Where no queue manager is reached, and the other agent is not either, somebody must say so after this many intervals."""


class Role(Enum):
    """What an agent is."""

    STANDBY = "standby"
    ACTIVE = "active"


class OpenOutcome(Enum):
    """What came of opening the reply queue of a queue manager."""

    HELD = "it is ours"
    IN_USE = "it is open elsewhere"
    UNREACHED = "the queue manager cannot be reached"


class Reason(Enum):
    """Why an agent is what it is."""

    BEGINS = "it has not tried yet"
    WAITS = "another agent holds the reply queue"
    DIVIDED = "another agent holds some reply queues: those that were free have been given back"
    UNREACHED = "no queue manager can be reached"
    TAKEN = "it holds the reply queue of every queue manager that it reaches"
    ALONE = "neither a queue manager nor the other agent can be reached"
    HOLDS = "it holds reply queues"
    CUT_OFF = "it is active, and no queue manager can be reached now"
    CONTESTED = "it holds reply queues, and goes on trying for those that are open elsewhere"
    LOST = "it had lost every connection, and another agent holds a reply queue since"
    GIVES_WAY = "another agent keeps a reply queue open: two would be active"


@dataclass(frozen=True, slots=True)
class Limits:
    """Lengths in ms that follow from the polling ``interval``."""

    interval: int

    @property
    def try_ms(self) -> int:
        """The time from one try of a standby agent to the next."""
        return min(self.interval // 2, LONGEST_TRY_MS)

    @property
    def answer_ms(self) -> int:
        """How long a queue manager is waited for in a try until the next is asked beside it."""
        return max(self.try_ms // 2, 500)


@dataclass(frozen=True, slots=True)
class Standing:
    """What an agent is, and what it must remember for the next decision; times are ms of elapsed time.

    ``contested`` is since when each answer of a queue manager was that its reply queue is open elsewhere, ``unreached``
    since when no queue manager was reached.
    """

    role: Role = Role.STANDBY
    reason: Reason = Reason.BEGINS
    contested: Mapping[str, int] = field(default_factory=dict)
    unreached: int | None = None


def decide(
    standing: Standing, answers: Mapping[str, OpenOutcome], now: int, limits: Limits, *, peer_heard: bool = False
) -> Standing:
    """What an agent is after these ``answers``, by queue manager in the order of the settings, at ``now`` (elapsed ms).

    A standby agent gives the answers of one try, in which it may not have come to all; an active one the last answer of
    each. ``peer_heard``: the other agent has answered within the last two intervals. An agent that is standby afterwards
    holds nothing any more.
    """
    held = [name for name, answer in answers.items() if answer is OpenOutcome.HELD]
    taken = [name for name, answer in answers.items() if answer is OpenOutcome.IN_USE]
    contested = {name: standing.contested.get(name, now) for name in taken}
    unreached = (standing.unreached if standing.unreached is not None else now) if not held and not taken else None
    after = replace(standing, contested=contested, unreached=unreached)
    if standing.role is Role.ACTIVE:
        return _active(after, held, taken, tuple(answers), now, limits)
    if taken:
        return replace(after, reason=Reason.DIVIDED if held else Reason.WAITS, contested={})
    if held:
        return replace(after, role=Role.ACTIVE, reason=Reason.TAKEN)
    if unreached is not None and now - unreached >= ALONE_INTERVALS * limits.interval and not peer_heard:
        return replace(after, role=Role.ACTIVE, reason=Reason.ALONE)
    return replace(after, reason=Reason.UNREACHED)


def _active(
    after: Standing, held: list[str], taken: list[str], order: tuple[str, ...], now: int, limits: Limits
) -> Standing:
    if not taken:
        return replace(after, reason=Reason.HOLDS if held else Reason.CUT_OFF)
    if not held:
        return replace(after, role=Role.STANDBY, reason=Reason.LOST, contested={})
    first = min((*held, *taken), key=order.index)
    tries = LONG_PATIENCE_TRIES if first in held else PATIENCE_TRIES
    if any(now - after.contested[name] >= tries * limits.try_ms for name in taken):
        return replace(after, role=Role.STANDBY, reason=Reason.GIVES_WAY, contested={})
    return replace(after, reason=Reason.CONTESTED)


def pause_ms(standing: Standing, limits: Limits, chance: float) -> float:
    """How long a standby agent waits until its next try, ms; ``chance`` is from 0 to 1.

    After a try that was divided it is a random time: of two that each hold a part one comes first the next time.
    """
    if standing.reason in (Reason.DIVIDED, Reason.GIVES_WAY):
        return limits.try_ms * (0.2 + 0.8 * chance)
    return float(limits.try_ms)
