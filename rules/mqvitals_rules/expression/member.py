"""What is true of the members of an object: one of them, how many, their sum, their greatest and least number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mqvitals_rules.expression.context import Context, MemberSet

Body = Callable[..., Any]
"""(context, look-up of the member's own values) -> what a member comes to; None: unknown."""


def any_member(context: Context, kind: str, body: Body, alike: bool) -> bool | None:  # noqa: FBT001
    """Whether a condition holds for one member: True decides, else one that is unknown makes it unknown."""
    company = context.members(kind)
    if company.doubt is not None:
        return None
    if not alike:
        return some(body(member, values.get) for member, values in company)
    notes = company.notes
    if body not in notes:
        notes[body] = some(body(member, values.get) for member, values in company)
    found: bool | None = notes[body]
    return found


def tally(context: Context, kind: str, body: Body, function: str, alike: bool) -> float | None:  # noqa: FBT001
    """``count``, ``sum``, ``most`` or ``least`` of what the members come to."""
    company = context.members(kind)
    if company.doubt is not None:
        return None
    if not alike:
        return _tallied(company, body, function)
    notes = company.notes
    if body not in notes:
        notes[body] = _tallied(company, body, function)
    found: float | None = notes[body]
    return found


def some(truths: Iterable[bool | None]) -> bool | None:
    """``or`` of any number of truths."""
    unknown = False
    for truth in truths:
        if truth:
            return True
        if truth is None:
            unknown = True
    return None if unknown else False


def enough(known: int, total: int) -> bool:
    """Whether so many members are known that what they come to together means something: four of five."""
    return 5 * known >= 4 * total


def _tallied(company: MemberSet, body: Body, function: str) -> float | None:
    found = [body(member, values.get) for member, values in company]
    known = [each for each in found if each is not None]
    return TALLIES[function](known) if enough(len(known), len(found)) else None


def _count(known: Sequence[Any]) -> float:
    return known.count(True)


def _sum(known: Sequence[Any]) -> float | None:
    found = sum(known)
    return found if found == found else None


def _most(known: Sequence[Any]) -> float | None:
    return max(known, default=None)


def _least(known: Sequence[Any]) -> float | None:
    return min(known, default=None)


TALLIES: Mapping[str, Callable[[Sequence[Any]], float | None]] = {
    "count": _count,
    "sum": _sum,
    "most": _most,
    "least": _least,
}
"""Functions of what is known of members; None where no member has a number."""
