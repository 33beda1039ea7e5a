"""What an expression can look up, and the truth about members: any, how many, sum, greatest and least."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from mqvitals_rules.history import ObjectMessage, Point
from mqvitals_rules.vocabulary.metric import Absence, Reported


class Context(Protocol):
    """One object at one poll: its values, those of the objects that belong to it, and their past.

    Present values are plain ``int``, ``float`` (never NaN) or ``str``; states are their MQ number.
    """

    @property
    def now(self) -> int:
        """The time of the poll, ms UTC. Windows end here."""
        ...

    @property
    def name(self) -> str:
        """The last part of the object's name."""
        ...

    @property
    def this(self) -> Context:
        """Of a member: the object that is evaluated."""
        ...

    @property
    def pair(self) -> Context:
        """The other queue of the declared pair; without one, a context in which everything is absent."""
        ...

    def value(self, kind: str, metric: str) -> Reported:
        """A metric of the object (``kind`` is then the expression's scope) or of the related object of another kind."""
        ...

    def points(self, kind: str, metric: str, since_ms: int) -> Sequence[Point]:
        """Every poll with ts > ``since_ms``, oldest first, absent values included as None."""
        ...

    def covered(self, kind: str, metric: str, window_ms: int) -> Sequence[float]:
        """The values of the newest ``window_ms``, oldest first; none when they do not cover that time."""
        ...

    def last(self, kind: str, metric: str, n: int) -> Sequence[Point]:
        """The newest ``n`` polls, oldest first, absent values included as None."""
        ...

    def baseline(self, kind: str, metric: str, *, counter: bool) -> float | None:
        """What a metric (of a ``counter`` its rate a second) usually is at this weekday and hour."""
        ...

    def total(self, kind: str, metric: str, window_ms: int) -> float | None:
        """The sum of a metric, or of its increases over a window, over all objects of the kind and owner; None: too
        few are known.
        """
        ...

    def members(self, kind: str) -> MemberSet:
        """The objects of ``kind`` that belong to the object."""
        ...

    def messages(self, ids: frozenset[str], since_ms: int, *, quiet: bool = False) -> Sequence[ObjectMessage] | None:
        """The console messages about the object with ts > ``since_ms``, oldest first; None: no console is followed.

        ``quiet``: without those written while their queue manager started or stopped.
        """
        ...


class Unplaced(NamedTuple):
    """An object of which it is not known whether it is a member: the metric (``queue.page_set``) that names where it
    belongs, and why that is absent.
    """

    link: str
    absence: Absence


class MemberSet(Protocol):
    """The members of an object, each a context with its values of the member itself.

    A context is valid until the next one.
    """

    notes: dict[object, Any]
    """A cache of results about them, kept until something about them may have changed."""
    doubt: Absence | None
    """Why it is not known who they are; None when it is known."""
    unplaced: Sequence[Unplaced]
    """Other objects that may be members too."""

    def __iter__(self) -> Iterator[tuple[Context, Mapping[str, Reported]]]: ...

    def named(self, name: str) -> Iterable[tuple[Context, Mapping[str, Reported]]]:
        """Those whose name has this last part."""
        ...


Body = Callable[..., Any]
"""(context, look-up of the member's own values) -> the result of a member; None: unknown."""


def any_member(context: Context, kind: str, body: Body, alike: bool) -> bool | None:  # noqa: FBT001
    """Whether a condition holds for one member: True decides, else one that is unknown makes it unknown."""
    found: bool | None = _of_members(context, kind, body, alike, "any")
    return found


def any_named(context: Context, kind: str, body: Body, of: str, metric: str) -> bool | None:
    """As ``any_member`` for a condition that is false for every member but those that a metric of the object names."""
    members = context.members(kind)
    if members.doubt is not None:
        return None
    name = context.value(of, metric)
    if not isinstance(name, str):
        return _any(members, body)
    return _any_called(members, body, name)


def any_called(context: Context, kind: str, body: Body, name: str) -> bool | None:
    """As ``any_member`` for a condition that is false for every member of another name."""
    members = context.members(kind)
    return None if members.doubt is not None else _any_called(members, body, name)


def tally(context: Context, kind: str, body: Body, function: str, alike: bool) -> float | None:  # noqa: FBT001
    """``count``, ``sum``, ``most`` or ``least`` of what the members come to."""
    found: float | None = _of_members(context, kind, body, alike, function)
    return found


def _of_members(context: Context, kind: str, body: Body, alike: bool, function: str) -> Any:  # noqa: FBT001
    """The result about all members, cached where it is the same for every object that has them; None: unknown."""
    members = context.members(kind)
    if members.doubt is not None:
        return None
    if not alike:
        return _joined(members, body, function)
    notes, key = members.notes, (function, body)
    if key not in notes:
        notes[key] = _joined(members, body, function)
    return notes[key]


def _joined(members: MemberSet, body: Body, function: str) -> bool | float | None:
    return _any(members, body) if function == "any" else _tallied(TALLIES[function], members, body)


def _any(members: MemberSet, body: Body) -> bool | None:
    unknown = False
    for member, values in members:
        truth = body(member, values.get)
        if truth:
            return True
        if truth is None:
            unknown = True
    return None if unknown or members.unplaced else False


def _any_called(members: MemberSet, body: Body, name: str) -> bool | None:
    found = some(body(member, values.get) for member, values in members.named(name))
    return None if found is False and members.unplaced else found


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
    """Whether enough members are known for a result about all: four of five."""
    return 5 * known >= 4 * total


def _tallied(function: Callable[[Sequence[Any]], float | None], members: MemberSet, body: Body) -> float | None:
    found = [body(member, values.get) for member, values in members]
    known = [each for each in found if each is not None]
    return function(known) if enough(len(known), len(found) + len(members.unplaced)) else None


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
