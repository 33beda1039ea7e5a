"""Samples of objects as they are given to whoever asks: one by one, polls of several metrics, and as columns."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, overload

from mqvitals_rules.snapshot import ObjectName, Source

Number = int | float


class Sample(NamedTuple):
    """A poll of one metric: when, the ms that a counter's increase covers (None: unknown), the value (None: absent).

    Of a record: its end, the ms of its interval, the value.
    """

    ts: int
    interval_ms: int | None
    value: Number | None


class SampleColumns(Sequence[Sample]):
    """Samples of one metric as columns of equal length, oldest first, which makes a ``Sample`` only on access."""

    __slots__ = ("intervals", "ts", "values")

    def __init__(
        self, ts: Sequence[int] = (), intervals: Sequence[int | None] = (), values: Sequence[Number | None] = ()
    ) -> None:
        self.ts = ts
        self.intervals = intervals
        self.values = values

    def __len__(self) -> int:
        return len(self.ts)

    def __iter__(self) -> Iterator[Sample]:
        return map(_AS_SAMPLE, zip(self.ts, self.intervals, self.values, strict=True))

    @overload
    def __getitem__(self, place: int) -> Sample: ...

    @overload
    def __getitem__(self, place: slice) -> SampleColumns: ...

    def __getitem__(self, place: int | slice) -> Sample | SampleColumns:
        if isinstance(place, slice):
            return SampleColumns(self.ts[place], self.intervals[place], self.values[place])
        return Sample(self.ts[place], self.intervals[place], self.values[place])

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as a list

    def __repr__(self) -> str:
        return f"SampleColumns({list(self)})"


class Poll(NamedTuple):
    """A poll of one object: when, the ms that its counters cover, and the values of the metrics asked for.

    Of a record: its end and its interval. ``polled`` False: only other answers told of the object then.
    """

    ts: int
    object: ObjectName
    interval_ms: int | None
    values: tuple[Number | None, ...]
    source: Source = Source.POLL
    polled: bool = True


class PollColumns(NamedTuple):
    """The polls of one object as columns, oldest first: times (ms UTC), the ms that counters cover (-1: unknown), and the
    values of each metric asked for (NaN: absent). ``before`` is the time of the poll before the first, None: unknown.
    """

    ts: array[int]
    intervals: array[int]
    values: Mapping[str, array[float]]
    before: int | None


# Thousands are made at once, in half the time that the class takes.
_AS_SAMPLE: Final[Callable[[Iterable[Any]], Sample]] = partial(tuple.__new__, Sample)
