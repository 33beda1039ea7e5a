"""What one cycle gathered, until it is made into snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mqvitals_agent.poll.command import Tally
from mqvitals_agent.poll.probe import Part, Rows
from mqvitals_agent.poll.selection import Selection
from mqvitals_agent.poll.statistics import Record
from mqvitals_rules.vocabulary.metric import Absence


@dataclass(slots=True)
class Asked:
    """One question that was put to an owner, and what of its answer: ``absence`` None means that it came whole.

    ``failed`` are the objects that the answer names without being able to tell about them.
    """

    selection: Selection
    absence: Absence | None
    failed: frozenset[str] = frozenset()


@dataclass(slots=True)
class Contact:
    """The last attempt of the cycle to talk to a queue manager: ``reason`` is 0 when it could be reached."""

    reason: int
    at: int


@dataclass(slots=True)
class Cycle:
    """Everything that the exchanges of one cycle told.

    ``first`` is when the first request for each owner was put, ``began`` the first of all; ``clock`` the queue managers' own
    clocks at their last reply; ``unknown_ccsids`` the CCSIDs of their answers that are not known here.
    """

    rows: Rows = field(default_factory=Rows)
    asked: dict[tuple[Part, str], list[Asked]] = field(default_factory=dict)
    commands: dict[str, dict[str, Tally]] = field(default_factory=dict)
    contacts: dict[str, Contact] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    clock: dict[str, int] = field(default_factory=dict)
    unknown_ccsids: dict[str, int] = field(default_factory=dict)
    began: int | None = None
    records: list[Record] = field(default_factory=list)
    """What statistics messages told."""

    def tally(self, owner: str, form: str) -> Tally:
        """The tally of a form of command at a queue manager."""
        forms = self.commands.setdefault(owner, {})
        tally = forms.get(form)
        if tally is None:
            tally = forms[form] = Tally()
        return tally

    def ask(self, part: Part, owner: str, asked: Asked) -> None:
        """Note a question."""
        self.asked.setdefault((part, owner), []).append(asked)

    def touch(self, owner: str, at: int) -> None:
        """Note that a request for this owner was put."""
        self.first.setdefault(owner, at)


def verdict(name: str, questions: Sequence[Asked], default: Absence | None) -> Absence | None:
    """Why nothing was told of an object: None when a whole answer would have; NOT_ASKED when nobody asked."""
    found = default or Absence.NOT_ASKED
    whole = False
    for asked in questions:
        if name in asked.failed:
            return asked.absence or Absence.NO_ANSWER
        if not asked.selection.selects(name):
            continue
        if asked.absence is None:
            whole = True
        elif found is not Absence.UNREACHABLE:
            found = asked.absence
    return None if whole else found
