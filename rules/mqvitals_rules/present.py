"""What a rule sees where there is nothing but an object's values of this moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mqvitals_rules.expression.context import Context
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.windows import Message, Point


class Nobody:
    """No members at all."""

    __slots__ = ("doubt", "notes")

    def __init__(self) -> None:
        self.notes: dict[object, Any] = {}
        self.doubt: Absence | None = None

    def __iter__(self) -> Iterator[tuple[Context, Mapping[str, Reported]]]:
        return iter(())


class Present:
    """The expression language's context where there is no past and nothing else: an object's values as ``lookup`` tells them."""

    __slots__ = ("_lookup", "name", "now")

    def __init__(self, lookup: Callable[[str, str], Reported], now: int, name: str = "") -> None:
        self._lookup = lookup
        self.now = now
        self.name = name

    @property
    def this(self) -> Context:
        """Itself."""
        return self

    @property
    def pair(self) -> Context:
        """One without any value."""
        return Present(lambda *_: Absence.NOT_DECLARED, self.now)

    def value(self, kind: str, metric: str) -> Reported:
        """What ``lookup`` tells."""
        return self._lookup(kind, metric)

    def points(self, kind: str, metric: str, since_ms: int) -> Sequence[Point]:  # noqa: ARG002
        """None."""
        return ()

    def last(self, kind: str, metric: str, n: int) -> Sequence[Point]:  # noqa: ARG002
        """None."""
        return ()

    def baseline(self, kind: str, metric: str, *, counter: bool) -> float | None:  # noqa: ARG002
        """None."""
        return None

    def total(self, kind: str, metric: str, window_ms: int) -> float | None:  # noqa: ARG002
        """None."""
        return None

    def members(self, kind: str) -> Nobody:  # noqa: ARG002
        """None."""
        return Nobody()

    def messages(self, ids: frozenset[str], since_ms: int) -> Sequence[Message] | None:  # noqa: ARG002
        """None."""
        return None
