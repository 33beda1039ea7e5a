"""What metrics usually are, from the hours that a store holds: those of the hour that comes are read a little in each cycle.

A baseline compares with one hour of each of some weeks. Which these are is known before the hour begins, so that no
cycle has to wait for all of them: of ten thousand queues a single one takes some 30 ms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from mqvitals_agent.store.older import PastReader
from mqvitals_rules.history import ZoneOf, hours
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import HOUR_MS, WEEK_MS

_Key = tuple[str, str, tuple[int, ...]]
"""Kind, metric, and the begins of the hours that are compared with, ms UTC."""

_ONE_CYCLE_MS: Final = 1_000
"""Snapshots that are less than this apart are of one cycle."""


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
    """What is known of the hours of a key by object, and the hours that have not been read yet."""

    missing: list[int]
    by_object: dict[ObjectName, list[float]] = field(default_factory=dict)


class StoredBaselines:
    """Knows the means of hours, for whom asks in order of time. What was asked for in an hour is read ahead for the next."""

    def __init__(self, older: PastReader, compared: ComparedHours) -> None:
        self._older = older
        self._compared = compared
        self._known: dict[_Key, _Means] = {}
        self._used: dict[str, set[tuple[str, str]]] = {}
        """By owner, the kinds and metrics that were asked for."""
        self._cycle = 0
        """When hours were last read ahead, ms UTC."""

    def means(self, name: ObjectName, metric: str, now: int) -> Sequence[float]:
        """The means of the hours that are compared with that of ``now`` (ms UTC). Raises StoreError."""
        if now != self._cycle:
            self._read_ahead(now)
        key = name.kind, metric, self._compared.of(name.owner, now)
        found = self._known.get(key)
        if found is None or found.missing:
            self._used.setdefault(name.owner, set()).add((name.kind, metric))
            found = self._known.get(key) or _Means(list(key[2]))
            self._read(key, found, len(found.missing))
        return found.by_object.get(name, ())

    def _read_ahead(self, now: int) -> None:
        """Read of what is used now some of the hours that the next hour is compared with: once a cycle, and no more than is
        needed to have them in time.
        """
        distance = now - self._cycle
        if 0 <= distance < _ONE_CYCLE_MS:
            return
        self._cycle = now
        self._forget(now)
        keys = {
            (kind, metric, hours(now + HOUR_MS, self._compared.zone_of(owner)))
            for owner, used in self._used.items()
            for kind, metric in used
        }
        coming = {key: self._known.setdefault(key, _Means(list(key[2]))) for key in sorted(keys)}
        missing = sum(len(each.missing) for each in coming.values())
        # After a pause, or once the clock was set, one is read.
        cycles = max((HOUR_MS - now % HOUR_MS) // distance, 1) if 0 < distance < HOUR_MS else max(missing, 1)
        pieces = -(-missing // cycles)
        for key, means in coming.items():
            count = min(pieces, len(means.missing))
            if count:
                self._read(key, means, count)
                pieces -= count

    def _read(self, key: _Key, means: _Means, count: int) -> None:
        part = means.missing[:count]
        found = self._older.hour_means(key[0], key[1], part)
        for name, values in found.items():
            means.by_object.setdefault(name, []).extend(values)
        del means.missing[:count]
        if self._older.failing:
            # A later answer may have more.
            self._known.pop(key, None)
        else:
            self._known[key] = means

    def _forget(self, now: int) -> None:
        """Forget what neither this hour nor the next one is compared with, whatever the zone."""
        near = range(now - WEEK_MS - 3 * HOUR_MS, now - WEEK_MS + 3 * HOUR_MS)
        for key in [key for key in self._known if key[2][0] not in near]:
            del self._known[key]
