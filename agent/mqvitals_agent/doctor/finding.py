"""What an examination found, check by check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from mqvitals_agent.doctor.permission import Permission
from mqvitals_agent.pcf.names import reason_name


class Result(StrEnum):
    """How a check ended, the worst first."""

    REFUSED = "refused"
    """Not authorised: ``ask_for`` holds the candidates."""
    FAILED = "failed"
    NO_ANSWER = "no answer"
    MISSING = "missing"
    """What is named does not exist there."""
    NOT_EXAMINED = "not examined"
    ADVISED = "advised"
    """It works, and something should be set otherwise."""
    NOT_HERE = "not here"
    """This queue manager has no such thing: another platform or level, or no queue-sharing group. Nothing is wrong."""
    WORKS = "works"


RANK: Final[Mapping[Result, int]] = {result: rank for rank, result in enumerate(Result)}
FINE: Final = frozenset({Result.WORKS, Result.NOT_HERE})
"""Results that ask for nothing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check of one queue manager.

    ``reason`` is a reason code of MQ, 0 without one. ``text`` are sentences for people, ``commands`` MQSC to type.
    ``elapsed_ms`` is None where nothing was waited for. ``facts`` are what was found, for programs.
    """

    queue_manager: str
    check: str
    result: Result
    reason: int = 0
    ask_for: tuple[Permission, ...] = ()
    text: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    elapsed_ms: int | None = None
    facts: Mapping[str, object] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """As programs read it. All but the five keys that always stand there is in ``detail``."""
        detail: dict[str, object] = dict(self.facts)
        if self.reason:
            detail["reason_name"] = reason_name(self.reason)
        if self.elapsed_ms is not None:
            detail["elapsed_ms"] = self.elapsed_ms
        if self.text:
            detail["text"] = list(self.text)
        if self.commands:
            detail["commands"] = list(self.commands)
        told: dict[str, object] = {
            "queue_manager": self.queue_manager,
            "check": self.check,
            "result": str(self.result),
            "reason": self.reason,
            "ask_for": [permission.as_json() for permission in self.ask_for],
        }
        return {**told, "detail": detail} if detail else told


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """The findings by their results, those of one result in the order in which they were made."""
    return sorted(findings, key=lambda finding: RANK[finding.result])
