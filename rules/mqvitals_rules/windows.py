"""The past that rules look at. The store implements it; nothing here reads or writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from mqvitals_rules.snapshot import ObjectName


class Point(NamedTuple):
    """One poll: when (ms UTC), the value (None: absent), and the ms since the poll before (None: unknown).

    Of a record: its end, the value, and the length of its own interval.
    """

    ts: int
    value: float | None
    interval_ms: int | None


class Windows(Protocol):
    """History of single metrics, as far back as the rules need.

    All points of an answer come from one source (``preference``): where a metric has both, polls and records are not mixed.
    """

    def points(self, object_name: ObjectName, metric: str, since: int) -> Sequence[Point]:
        """Every poll of the object with ts > ``since``, oldest first, absent values included as None."""
        ...

    def last(self, object_name: ObjectName, metric: str, count: int) -> Sequence[Point]:
        """The newest ``count`` polls, oldest first, absent values included as None."""
        ...
