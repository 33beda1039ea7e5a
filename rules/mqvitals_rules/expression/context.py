"""What an expression is judged on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mqvitals_rules.vocabulary.metric import Reported
from mqvitals_rules.windows import Point


class Context(Protocol):
    """One object at one poll: its values, those of the objects that belong to it, and their past.

    Present values are plain ``int``, ``float`` (never NaN) or ``str``; states are their MQ number.
    """

    @property
    def now(self) -> int:
        """The time of the poll, ms UTC. Windows end here."""
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
