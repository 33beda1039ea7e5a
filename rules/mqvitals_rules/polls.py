"""Polls of one metric as columns. Rules look back on thousands of metrics a cycle, most of them only to add up or to find the greatest value."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import overload

from mqvitals_rules.windows import Point

UNKNOWN_MS = 1 << 61
"""A gap longer than this reaches back to the beginning: there was no poll before."""


class Polls(Sequence[Point]):
    """A sequence of points that makes one only for who asks for it.

    ``values`` has NaN for what is absent. ``intervals`` are as reported, negative where unknown; None: each is the time since the poll before, the
    first one's since ``before``.
    """

    __slots__ = ("before", "intervals", "ts", "values")

    def __init__(self, ts: array[int], values: array[float], intervals: array[int] | None, before: int) -> None:
        self.ts = ts
        self.values = values
        self.intervals = intervals
        self.before = before

    @property
    def whole(self) -> bool:
        """Whether there are values, and none is absent."""
        total = sum(self.values)
        return total == total and len(self.values) > 0

    @property
    def known(self) -> Sequence[float]:
        """The values that are there."""
        return [value for value in self.values if value == value]

    @property
    def gaps(self) -> Sequence[int]:
        """The ms since the poll before of each poll; negative, or ``UNKNOWN_MS`` and more, where that is not known."""
        if self.intervals is not None:
            return self.intervals
        return [ts - before for ts, before in zip(self.ts, chain((self.before,), self.ts), strict=False)]

    def covered_ms(self, since: int) -> int:
        """The time after ``since`` for which polls stand that are whole, each for the time since the poll before it, where that is known."""
        ends = self.ts[-1]
        return ends - (max(self.before, since) if self.ts[0] - self.before < UNKNOWN_MS else self.ts[0])

    def __len__(self) -> int:
        return len(self.ts)

    def __iter__(self) -> Iterator[Point]:
        for ts, value, gap in zip(self.ts, self.values, self.gaps, strict=True):
            yield Point(ts, value if value == value else None, gap if 0 <= gap < UNKNOWN_MS else None)

    @overload
    def __getitem__(self, place: int) -> Point: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Point]: ...

    def __getitem__(self, place: int | slice) -> Point | Sequence[Point]:
        return list(self)[place]

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as a list
