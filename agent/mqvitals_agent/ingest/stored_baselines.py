"""What metrics usually are, from the hours that a store holds: those of the hour that comes are read a little in each cycle.

A baseline compares with one hour of each of some weeks. Which these are is known before the hour begins, so that no
cycle has to wait for all of them: of ten thousand queues a single one takes some 30 ms. When a process begins, they are spread
over its first cycles. Until all hours of a baseline are read it is not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from mqvitals_agent.store.older import PastReader
from mqvitals_rules.history import ZoneOf, hours
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import HOUR_MS, WEEK_MS

_Key = tuple[str, str, tuple[int, ...]]
"""Kind, metric, and the begins of the hours that are compared with, ms UTC."""

_ONE_CYCLE_MS: Final = 1_000
"""Snapshots that are less than this apart are of one cycle."""
_MOST_VALUES: Final = 10_000
"""No hour is begun in a cycle once so many values have been read in it: each takes some 3 us."""
_LEAST_VALUES: Final = 100
"""An hour counts for so many at least: a query that finds nothing takes its time too."""


class FurtherHours(Protocol):
    """Where hours are known that the store does not hold."""

    def hour(self, kind: str, metric: str, hour: int) -> Mapping[ObjectName, float] | None:
        """The means of the hour that began at ``hour`` (ms UTC) by object; None: it is to be asked again. It never waits."""
        ...


class ComparedHours:
    """Knows which hours that of a time is compared with: mostly thousands of objects of an owner ask at one time."""

    def __init__(self, zone_of: ZoneOf) -> None:
        self.zone_of = zone_of
        self._last: tuple[tuple[str, int], tuple[int, ...]] = ("", -1), ()

    def of(self, owner: str, now: int) -> tuple[int, ...]:
        """Their begins, the newest first; all are ms UTC."""
        if self._last[0] != (owner, now):
            self._last = (owner, now), hours(now, self.zone_of(owner))
        return self._last[1]


@dataclass(slots=True)
class _Means:
    """What is known of the hours of a key by object, the hours that have not been read yet, and those that the store does not
    hold and that are waited for.
    """

    missing: list[int]
    by_object: dict[ObjectName, list[float]] = field(default_factory=dict)
    awaited: list[int] = field(default_factory=list)


class StoredBaselines:
    """Knows the means of hours, for whom asks in order of time. What was asked for in an hour is read ahead for the next.

    An hour of which the store has nothing of any object is asked of ``further``; until that knows it, it is not there.
    """

    def __init__(self, older: PastReader, compared: ComparedHours, further: FurtherHours | None = None) -> None:
        self._older = older
        self._further = further
        self._compared = compared
        self._known: dict[_Key, _Means] = {}
        self._used: dict[str, set[tuple[str, str]]] = {}
        """By owner, the kinds and metrics that were asked for."""
        self._cycle = 0
        """When the cycle began, ms UTC."""
        self._left = _MOST_VALUES
        """Values that may still be read in this cycle."""

    def means(self, name: ObjectName, metric: str, now: int) -> Sequence[float]:
        """The means of the hours that are compared with that of ``now`` (ms UTC); none until all are read. Raises StoreError."""
        if now != self._cycle:
            self._begin_cycle(now)
        key = name.kind, metric, self._compared.of(name.owner, now)
        found = self._known.get(key)
        if found is None or found.missing:
            self._used.setdefault(name.owner, set()).add((name.kind, metric))
            found = found or _Means(list(key[2]))
            self._read(key, found, len(found.missing))
            if found.missing:
                return ()
        return found.by_object.get(name, ())

    def _begin_cycle(self, now: int) -> None:
        distance = now - self._cycle
        if 0 <= distance < _ONE_CYCLE_MS:
            return
        self._cycle = now
        self._left = _MOST_VALUES
        self._forget(now)
        self._await()
        self._read_ahead(now, distance)

    def _read_ahead(self, now: int, distance: int) -> None:
        """Of what is used, read what is left of the hours that this hour is compared with; then some of those of the next hour:
        no more than is needed to have them in time. ``distance`` are the ms since the cycle before.
        """
        for key in self._keys(now):
            # After a pause nothing was read ahead: this hour comes before the next one all the same.
            means = self._known.get(key) or _Means(list(key[2]))
            self._read(key, means, len(means.missing))
        keys = self._keys(now + HOUR_MS)
        coming = {key: self._known.setdefault(key, _Means(list(key[2]))) for key in keys}
        missing = sum(len(each.missing) for each in coming.values())
        # After a pause, or once the clock was set, one is read.
        cycles = max((HOUR_MS - now % HOUR_MS) // distance, 1) if 0 < distance < HOUR_MS else max(missing, 1)
        pieces = -(-missing // cycles)
        for key, means in coming.items():
            count = min(pieces, len(means.missing))
            if count:
                self._read(key, means, count)
                pieces -= count

    def _keys(self, now: int) -> list[_Key]:
        """What is used of the hours that the hour of ``now`` is compared with."""
        return sorted(
            {
                (kind, metric, hours(now, self._compared.zone_of(owner)))
                for owner, used in self._used.items()
                for kind, metric in used
            }
        )

    def _read(self, key: _Key, means: _Means, count: int) -> None:
        """Read ``count`` hours of a key, as far as this cycle may."""
        self._known[key] = means
        for hour in means.missing[:count]:
            if self._left <= 0:
                return
            found = self._older.hour_means(key[0], key[1], [hour])
            if self._older.failing:
                # A later answer may have more.
                del self._known[key]
                self._left = 0
                return
            for name, values in found.items():
                means.by_object.setdefault(name, []).extend(values)
            means.missing.remove(hour)
            if not found and self._further is not None:
                self._ask_further(key, means, (hour,))
            self._left -= max(len(found), _LEAST_VALUES)

    def _await(self) -> None:
        """Take what has come of the hours that the store does not hold."""
        for key, means in self._known.items():
            awaited, means.awaited = means.awaited, []
            self._ask_further(key, means, awaited)

    def _ask_further(self, key: _Key, means: _Means, begun: Sequence[int]) -> None:
        for hour in begun:
            found = None if self._further is None else self._further.hour(key[0], key[1], hour)
            if found is None:
                means.awaited.append(hour)
                continue
            for name, value in found.items():
                means.by_object.setdefault(name, []).append(value)
            self._left -= len(found)

    def _forget(self, now: int) -> None:
        """Forget what neither this hour nor the next one is compared with, whatever the zone."""
        near = range(now - WEEK_MS - 3 * HOUR_MS, now - WEEK_MS + 3 * HOUR_MS)
        for key in [key for key in self._known if key[2][0] not in near]:
            del self._known[key]
