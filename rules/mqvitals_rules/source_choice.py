"""Which source answers for the past of a metric that several sources have.

Polls and records count the same events, so increases of two sources over the same time must never be added up: every
look into the past takes the points of one source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from mqvitals_rules.snapshot import Source


class SourcePoint(Protocol):
    """A value of a source: the end of its interval (ms UTC), the interval's length (None: unknown), and the number."""

    @property
    def ts(self) -> int:
        """The end, ms UTC."""
        ...

    @property
    def interval_ms(self) -> int | None:
        """The length, ms."""
        ...

    @property
    def value(self) -> float | None:
        """The number; None: absent."""
        ...


AS_WELL = 0.8
"""A source that covers this share of what the best one covers is as good: a missed poll is no reason to change."""

_NEVER = -(1 << 62)

T = TypeVar("T", bound=SourcePoint)


def covering(by_source: Mapping[Source, Sequence[T]], since: int) -> tuple[Source, Sequence[T]]:
    """The first source, polls before records, whose values cover the time after ``since`` about as well as any source's.

    So the records of a queue manager answer for hours without polls, and its polls for all others.
    """
    covered = {source: _covered(points, since) for source, points in sorted(by_source.items())}
    most = max(covered.values(), default=0)
    if most > 0:
        chosen = next(source for source, ms in covered.items() if ms >= AS_WELL * most)
    else:
        chosen = _first_present(by_source)
    return chosen, by_source.get(chosen, ())


def newest(by_source: Mapping[Source, Sequence[T]]) -> tuple[Source, Sequence[T]]:
    """The source with the newest value, as current state takes it; of equal ones the first, polls before records."""
    last = {source: _last(points) for source, points in sorted(by_source.items())}
    latest = max(last.values(), default=_NEVER)
    chosen = Source.POLL if latest == _NEVER else next(source for source, ts in last.items() if ts == latest)
    return chosen, by_source.get(chosen, ())


def _first_present(by_source: Mapping[Source, Sequence[T]]) -> Source:
    """Without intervals: the first source that has any value, else the polls, whose absences have reasons."""
    return next((source for source in sorted(by_source) if _last(by_source[source]) != _NEVER), Source.POLL)


def _covered(points: Sequence[SourcePoint], since: int) -> int:
    return sum(
        min(point.interval_ms, point.ts - since)
        for point in points
        if point.value is not None and point.interval_ms is not None
    )


def _last(points: Sequence[SourcePoint]) -> int:
    return next((point.ts for point in reversed(points) if point.value is not None), _NEVER)
