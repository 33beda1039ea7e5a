"""What a condition comes to when it is looked at with care: its truth, and what makes it unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mqvitals_rules.vocabulary.metric import Absence, Value


class Missing(NamedTuple):
    """A metric, or a calculation, that has no value, and why."""

    name: str
    absence: Absence


class TruthOutcome(NamedTuple):
    """What a condition comes to. ``missing`` is what makes it unknown; ``left_out``: all of it is about undeclared facts."""

    truth: bool | None
    missing: tuple[Missing, ...] = ()
    left_out: bool = False


class UnknownError(Exception):
    """An operand has no value."""

    def __init__(self, missing: Iterable[Missing]) -> None:
        super().__init__()
        self.missing = tuple(missing)


class MemberOutcome(NamedTuple):
    """What is asked of a member comes to, and the member's name. A number that is unknown is None."""

    name: str
    found: Value | None
    missing: tuple[Missing, ...] = ()


def joined(outcomes: Sequence[TruthOutcome], *, decides: bool) -> TruthOutcome:
    """``and`` (False decides) or ``or`` (True decides) of outcomes."""
    asked = [outcome for outcome in outcomes if not outcome.left_out]
    if not asked:
        return TruthOutcome(None, merged(outcomes), left_out=True)
    if any(outcome.truth is decides for outcome in asked):
        return TruthOutcome(decides)
    unknown = [outcome for outcome in asked if outcome.truth is None]
    return TruthOutcome(None, merged(unknown)) if unknown else TruthOutcome(not decides)


def missing_of(members: Iterable[MemberOutcome]) -> tuple[Missing, ...]:
    """What makes members unknown, each once."""
    return tuple(dict.fromkeys(missing for member in members if member.found is None for missing in member.missing))


def merged(outcomes: Iterable[TruthOutcome]) -> tuple[Missing, ...]:
    """What makes outcomes unknown, each once."""
    return tuple(dict.fromkeys(missing for outcome in outcomes for missing in outcome.missing))
