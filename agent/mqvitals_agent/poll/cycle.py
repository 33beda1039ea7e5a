"""What one cycle collected: rows, the results of its queries, the outcome of each form of command."""

from __future__ import annotations

from dataclasses import dataclass, field

from mqvitals_agent.poll.kinds.statistics import StatisticsRecord
from mqvitals_agent.poll.probe import CycleRows, ProbePart
from mqvitals_agent.poll.selection import QueryResult
from mqvitals_rules.snapshot import Outcome
from mqvitals_rules.vocabulary.metric import Reported


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
    """

    rows: CycleRows = field(default_factory=CycleRows)
    asked: dict[tuple[ProbePart, str], list[QueryResult]] = field(default_factory=dict)
    commands: dict[str, dict[str, CommandTally]] = field(default_factory=dict)
    contacts: dict[str, ConnectAttempt] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    clock: dict[str, int] = field(default_factory=dict)
    unknown_ccsids: dict[str, int] = field(default_factory=dict)
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
