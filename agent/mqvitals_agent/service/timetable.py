"""What is to be asked of one queue manager, or of the group: which of it is due, under way, and asked less often."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from mqvitals_agent.poll.errand import Errand
from mqvitals_agent.poll.schedule import Stretch, is_due, stretched


class Interval(NamedTuple):
    """How often a form of command is sent, ms, and how many times that was doubled."""

    form: str
    interval_ms: int
    doubled: int


_NOT_STRETCHED = Stretch()


@dataclass(slots=True)
class _Entry:
    errand: Errand
    configured_ms: int
    asked: int | None = None
    under_way: bool = False
    stretch: Stretch = _NOT_STRETCHED


class Timetable:
    """Remembers when each errand was asked last. A question that is still under way is not asked a second time."""

    def __init__(
        self,
        errands: Iterable[Errand],
        configured: Callable[[str], int],
        before: Timetable | None = None,
        *,
        anew: bool = False,
    ) -> None:
        """``configured`` tells the usual interval of a question, ms. What stays the same goes on as in ``before``.

        With ``anew`` everything is due, but for what is under way.
        """
        self._entries = {errand: _Entry(errand, configured(errand.question)) for errand in errands}
        for errand, old in () if before is None else before._entries.items():
            entry = self._entries.get(errand)
            if entry is not None:
                entry.under_way = old.under_way
                entry.asked = None if anew and not old.under_way else old.asked
                if entry.configured_ms == old.configured_ms:
                    entry.stretch = old.stretch

    def take_due(self, moment: int) -> tuple[Errand, ...]:
        """What is due at this moment of the grid, in its order; from now on it is under way."""
        found = []
        for entry in self._entries.values():
            if not entry.under_way and is_due(moment, entry.asked, entry.stretch.of(entry.configured_ms)):
                entry.asked, entry.under_way = moment, True
                found.append(entry.errand)
        return tuple(found)

    def answered(self, errand: Errand, elapsed_ms: int, *, silent: bool) -> str:
        """It was answered, or the wait for an answer ended (``silent``); returns why it is asked at another pace, if so."""
        entry = self._entries.get(errand)
        if entry is None:
            return ""  # what a reload has taken away may still be under way
        entry.under_way = False
        entry.stretch, reason = stretched(entry.stretch, entry.configured_ms, elapsed_ms, silent=silent)
        return reason

    def missed(self, errand: Errand) -> None:
        """It could not be asked: it stays due."""
        entry = self._entries.get(errand)
        if entry is not None:
            entry.under_way, entry.asked = False, None

    def intervals(self) -> Iterator[Interval]:
        """The interval in force of each form of command: the shortest of its questions'."""
        found: dict[str, Interval] = {}
        for entry in self._entries.values():
            form = entry.errand.form
            interval = Interval(form, entry.stretch.of(entry.configured_ms), entry.stretch.doubled)
            before = found.get(form)
            if before is None or interval.interval_ms < before.interval_ms:
                found[form] = interval
        return iter(found.values())
