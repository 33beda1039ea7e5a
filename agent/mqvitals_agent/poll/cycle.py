"""What one cycle collected: rows, the results of its queries, the outcome of each form of command; known objects."""

from __future__ import annotations

from dataclasses import dataclass, field

from mqvitals_agent.poll.kinds import queue
from mqvitals_agent.poll.kinds.statistics import StatisticsRecord
from mqvitals_agent.poll.probe import CycleRows, ProbePart
from mqvitals_agent.poll.selection import QueryResult
from mqvitals_rules.snapshot import ObjectName, Outcome
from mqvitals_rules.vocabulary.metric import Absence, Reported


@dataclass(slots=True)
class CommandTally:
    """What one queue manager did with one form of command in a cycle.

    ``outcome`` is the worst (the greatest number), ``reason`` belongs to it; the rest are sums.
    """

    outcome: Outcome = Outcome.OK
    reason: int = 0
    commands: int = 0
    replies: int = 0
    bytes: int = 0
    elapsed_ms: int = 0

    @property
    def answered(self) -> bool:
        """Whether every answer came whole."""
        return self.outcome in (Outcome.OK, Outcome.NOT_FOUND)

    def note(self, outcome: Outcome, reason: int) -> None:
        """Take one more outcome into account."""
        if outcome.value > self.outcome.value:
            self.outcome, self.reason = outcome, reason

    def values(self) -> dict[str, Reported]:
        """The metrics of kind ``agent`` that count something."""
        return {
            "outcome": self.outcome.value,
            "reason": self.reason,
            "commands": self.commands,
            "replies": self.replies,
            "bytes": self.bytes,
            "elapsed_ms": self.elapsed_ms,
        }


@dataclass(slots=True)
class ConnectAttempt:
    """The last attempt of the cycle to talk to a queue manager: ``reason`` is 0 when it could be reached."""

    reason: int
    at: int


@dataclass(slots=True)
class CycleData:
    """Everything that the exchanges of one cycle hold.

    ``first`` is when the first request for each owner was put, ``began`` the first of all; ``clock`` the queue
    managers' own clocks at their last reply; ``unknown_ccsids`` the CCSIDs of their answers that are not known here.
    ``for_any`` has the forms of command that any member of the group can answer, and those that were sent them.
    """

    rows: CycleRows = field(default_factory=CycleRows)
    asked: dict[tuple[ProbePart, str], list[QueryResult]] = field(default_factory=dict)
    commands: dict[str, dict[str, CommandTally]] = field(default_factory=dict)
    contacts: dict[str, ConnectAttempt] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    clock: dict[str, int] = field(default_factory=dict)
    unknown_ccsids: dict[str, int] = field(default_factory=dict)
    for_any: dict[str, set[str]] = field(default_factory=dict)
    began: int | None = None
    records: list[StatisticsRecord] = field(default_factory=list)
    """From statistics messages."""

    def tally(self, owner: str, form: str) -> CommandTally:
        """The tally of a form of command at a queue manager."""
        forms = self.commands.setdefault(owner, {})
        tally = forms.get(form)
        if tally is None:
            tally = forms[form] = CommandTally()
        return tally

    def answered_elsewhere(self, form: str, owner: str) -> bool:
        """Whether another member than this one answered a form of command that any can answer."""
        others = self.for_any.get(form, set()) - {owner}
        return any(self.commands[other][form].answered for other in others)

    def ask(self, part: ProbePart, owner: str, asked: QueryResult) -> None:
        """Note a question."""
        self.asked.setdefault((part, owner), []).append(asked)

    def asked_of(self, part: ProbePart) -> dict[str, list[QueryResult]]:
        """By owner what the queries about this part came to."""
        return {owner: asked for (each, owner), asked in self.asked.items() if each is part}

    def time_of(self, owner: str) -> int:
        """When the first request for this owner was put, else when the cycle began."""
        return self.first.get(owner, self.began or 0)

    def touch(self, owner: str, at: int) -> None:
        """Note that a request for this owner was put."""
        self.first.setdefault(owner, at)


@dataclass(slots=True)
class KnownObject:
    """An object of an earlier answer: its whole name, and when its last answered query was sent."""

    object: ObjectName
    at: int | None = None
    readers: queue.UsualReaders | None = None

    def answered(self, at: int) -> int | None:
        """Note a query sent at ``at``; returns the time since the one before, ms, None where that is not known.

        It is not known either when the clock was set back meanwhile.
        """
        before, self.at = self.at, at
        return None if before is None or at <= before else at - before

    def shift(self, by_ms: int) -> None:
        """The clock was set by ``by_ms`` since."""
        if self.at is not None:
            self.at += by_ms

    def usually_read(self, handles: Reported, at: int) -> Reported:
        """Whether a queue with these input handles is usually read, before ``at`` is noted; absent as the handles are."""
        if type(handles) is not int:
            return handles if isinstance(handles, Absence) else Absence.NOT_RETURNED
        if self.readers is None:
            self.readers = queue.UsualReaders()
            return Absence.FIRST_READING
        return int(self.readers.note(is_read=handles > 0, since_ms=0 if self.at is None else max(0, at - self.at)))
