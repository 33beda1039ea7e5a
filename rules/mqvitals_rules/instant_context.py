"""The context of one moment: an object's values, without a past and without other objects. Formulas need no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from mqvitals_rules.expression.context import Context, Unplaced
from mqvitals_rules.expression.expression import compile_value
from mqvitals_rules.history import ObjectMessage, Point, covered_values
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType, Reported


class NoMembers:
    """No members at all."""

    __slots__ = ("doubt", "notes", "unplaced")

    def __init__(self) -> None:
        self.notes: dict[object, Any] = {}
        self.doubt: Absence | None = None
        self.unplaced: Sequence[Unplaced] = ()

    def __iter__(self) -> Iterator[tuple[Context, Mapping[str, Reported]]]:
        return iter(())

    def named(self, name: str) -> Iterable[tuple[Context, Mapping[str, Reported]]]:  # noqa: ARG002
        """None."""
        return ()


class InstantContext:
    """The context without a past and without other objects: an object's values, from ``lookup``."""

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
        return InstantContext(lambda *_: Absence.NOT_DECLARED, self.now)

    def value(self, kind: str, metric: str) -> Reported:
        """The value that ``lookup`` returns."""
        return self._lookup(kind, metric)

    def points(self, kind: str, metric: str, since_ms: int) -> Sequence[Point]:  # noqa: ARG002
        """None."""
        return ()

    def covered(self, kind: str, metric: str, window_ms: int) -> Sequence[float]:
        """The values of those points that cover the window."""
        since = self.now - window_ms
        return covered_values(self.points(kind, metric, since), since, window_ms)

    def last(self, kind: str, metric: str, n: int) -> Sequence[Point]:  # noqa: ARG002
        """None."""
        return ()

    def baseline(self, kind: str, metric: str, *, counter: bool) -> float | None:  # noqa: ARG002
        """None."""
        return None

    def total(self, kind: str, metric: str, window_ms: int) -> float | None:  # noqa: ARG002
        """None."""
        return None

    def members(self, kind: str) -> NoMembers:  # noqa: ARG002
        """None."""
        return NoMembers()

    def messages(
        self,
        ids: frozenset[str],  # noqa: ARG002
        since_ms: int,  # noqa: ARG002
        *,
        quiet: bool = False,  # noqa: ARG002
    ) -> Sequence[ObjectMessage] | None:
        """None."""
        return None


Formula = Callable[[Callable[[str], Reported]], float | Absence]
"""From a lookup of values by name to the number calculated from them, or why there is none."""
_NOTHING_ELSE = InstantContext(lambda *_: Absence.NOT_RETURNED, now=0)


def compile_formula(text: str, names: Iterable[str]) -> Formula:
    """Arithmetic in the rule language on values that are called ``names``, such as the fields of a record.

    There is no number when a value is absent, or none (the reason of the first one), or after a division by zero.
    Raises ExpressionError: the text is malformed, or uses another name.
    """
    metrics = tuple(Metric(name, "", MetricType.GAUGE, "") for name in names)
    calculation = compile_value(text, Kind("formula", "", "", metrics), {})
    used = tuple(metric.name for metric in metrics if ("formula", metric.name) in calculation.names)

    def calculate(value_of: Callable[[str], Reported]) -> float | Absence:
        number = calculation.number(_NOTHING_ELSE, value_of)
        if number is not None:
            return number
        # With every operand present, only a division by zero has no result.
        return next((value for name in used if isinstance(value := value_of(name), Absence)), Absence.NOTHING_TO_TELL)

    return calculate
