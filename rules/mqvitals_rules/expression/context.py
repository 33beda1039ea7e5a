"""What an expression is judged on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Protocol

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
        """Of a member: the object that is judged."""
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

    def last(self, kind: str, metric: str, n: int) -> Sequence[Point]:
        """The newest ``n`` polls, oldest first, absent values included as None."""
        ...

    def baseline(self, kind: str, metric: str, *, counter: bool) -> float | None:
        """What a metric (of a ``counter`` its rate a second) usually is at this weekday and hour."""
        ...

    def total(self, kind: str, metric: str, window_ms: int) -> float | None:
        """The sum of a metric, or of its increases over a window, over all objects of the kind and owner; None: too few are known."""
        ...

    def members(self, kind: str) -> MemberSet:
        """The objects of ``kind`` that belong to the object."""
        ...

    def messages(self, ids: frozenset[str], since_ms: int) -> Sequence[ObjectMessage] | None:
        """The console messages about the object with ts > ``since_ms``, oldest first; None: no console is followed."""
        ...


class MemberSet(Protocol):
    """The members of an object, each a context with the values that it would tell of the member itself.

    A context serves until the next one is asked for.
    """

    @property
    def notes(self) -> MutableMapping[object, Any]:
        """What was worked out about them, kept as long as nothing about them can have changed."""
        ...

    @property
    def doubt(self) -> Absence | None:
        """Why it is not known who they are; None when it is known."""
        ...

    def __iter__(self) -> Iterator[tuple[Context, Mapping[str, Reported]]]: ...
