"""The past that rules look at. The store implements it; nothing here reads or writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from mqvitals_rules.snapshot import ObjectName


class Point(NamedTuple):
    """One poll: when (ms UTC), the value (None: absent), and the ms since the poll before (None: unknown).

    Of a record: its end, the value, and the length of its own interval.
    """

    ts: int
    value: float | None
    interval_ms: int | None


@dataclass(frozen=True, slots=True)
class Message:
    """A console message of a queue manager: when (ms UTC), its id (``CSQP020E``), and the object that it names, if it names one."""

    ts: int
    id: str
    object: ObjectName | None = None


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

    def baseline(self, object_name: ObjectName, metric: str, now: int, counter: bool) -> float | None:  # noqa: FBT001
        """What the metric usually is at this weekday and hour (UTC): the median of the hour's means in the weeks before.

        Of a ``counter`` the means are increases a second. None with fewer than three such hours.
        """
        ...

    def messages(self, owner: str, ids: frozenset[str], since: int) -> Sequence[Message] | None:
        """The console messages of an owner with one of ``ids`` and ts > ``since``, oldest first; None: no console of it is followed."""
        ...
