"""What became of our own commands: one object of kind ``agent`` for each queue manager and form of command."""

from __future__ import annotations

from dataclasses import dataclass

from mqvitals_agent.pcf.names import command_name
from mqvitals_rules.snapshot import Outcome
from mqvitals_rules.vocabulary.metric import Reported


def form(command: int, scope: str = "") -> str:
    """``INQUIRE_ARCHIVE``, ``INQUIRE_CHANNEL_STATUS CMDSCOPE(*)``; the number where the command has no known name."""
    name = command_name(command) or f"COMMAND {command}"
    return f"{name} CMDSCOPE({scope})" if scope else name


@dataclass(slots=True)
class Tally:
    """What one queue manager did with one form of command in a cycle.

    ``outcome`` is the worst (the greatest number), ``reason`` belongs to it; the rest are sums.
    """

    outcome: Outcome = Outcome.OK
    reason: int = 0
    commands: int = 0
    replies: int = 0
    bytes: int = 0
    elapsed_ms: int = 0

    def judge(self, outcome: Outcome, reason: int) -> None:
        """Take one more outcome into account."""
        if outcome.value > self.outcome.value:
            self.outcome, self.reason = outcome, reason

    def values(self) -> dict[str, Reported]:
        """The metrics of kind ``agent``."""
        return {
            "outcome": self.outcome.value,
            "reason": self.reason,
            "commands": self.commands,
            "replies": self.replies,
            "bytes": self.bytes,
            "elapsed_ms": self.elapsed_ms,
        }
