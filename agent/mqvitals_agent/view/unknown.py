"""Verdicts that are unknown: those that are trouble of this moment, and those that nothing polled could ever tell."""

from __future__ import annotations

from collections.abc import Sequence

from mqvitals_agent.text.figure import number
from mqvitals_rules.vocabulary.metric import Absence

Counts = Sequence[tuple[Absence, int]]

_NEEDS = {
    Absence.NEEDS_SMF: ("needs SMF records", "need SMF records"),
    Absence.NEEDS_STATISTICS: ("needs statistics messages", "need statistics messages"),
    Absence.NEEDS_CONSOLE: ("needs console messages", "need console messages"),
    Absence.WINDOW: ("needs more history", "need more history"),
    Absence.NOTHING_TO_TELL: ("has nothing to judge by yet", "have nothing to judge by yet"),
    Absence.RESTARTED: ("is about a queue manager restarted lately", "are about queue managers restarted lately"),
    Absence.OFFLINE: ("is about what is offline", "are about what is offline"),
    Absence.NOT_IN_USE: ("is about what is not in use", "are about what is not in use"),
    Absence.NOT_DECLARED: ("needs a declaration", "need declarations"),
    Absence.NOT_LIVE: ("is about living connections", "are about living connections"),
    Absence.NOT_ON_ZOS: ("is not for z/OS", "are not for z/OS"),
    Absence.NOT_ON_DISTRIBUTED: ("is for z/OS only", "are for z/OS only"),
}
"""What is so for good, or as long as nothing happens, and so no trouble: as the words of one verdict and of several."""


def troubling(unknown: Counts) -> tuple[tuple[Absence, int], ...]:
    """The reasons, with their numbers, that are trouble of this moment."""
    return tuple((reason, count) for reason, count in unknown if reason not in _NEEDS)


def without_answer(unknown: Counts) -> str:
    """In words how many verdicts nothing polled can tell, by reason; empty when there are none."""
    told = [(_NEEDS[reason], count) for reason, count in unknown if reason in _NEEDS and count]
    parts = [f"{number(count)} {words[count != 1]}" for words, count in told]
    if not parts:
        return ""
    first, _, rest = parts[0].partition(" ")
    return ", ".join([f"{first} verdict{'' if told[0][1] == 1 else 's'} {rest}", *parts[1:]])
