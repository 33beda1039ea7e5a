"""The metrics of what belongs to the agent: its store, with its growth and limits, receivers of alerts, and engines."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from mqvitals_agent.remote_write.state import RemoteState
from mqvitals_agent.store.error import StoreError, StoreState
from mqvitals_agent.store.retention import Retention
from mqvitals_agent.store.rows.alerts.receivers import ReceiverRow
from mqvitals_agent.store.rows.tables import text
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.agent import RECEIVER_KIND, REMOTE_WRITE_KIND, STORE_KIND
from mqvitals_rules.vocabulary.metric import Absence, Reported

MEASURE_MS: Final = 60_000
"""How often they are measured, at most; receivers also when one begins or ends to fail."""
_STORE_PROBE: Final = STORE_KIND.poll
_RECEIVER_PROBE: Final = RECEIVER_KIND.poll
_REMOTE_WRITE_PROBE: Final = REMOTE_WRITE_KIND.poll

_WINDOW_MS: Final = 24 * HOUR_MS
_APART_MS: Final = 300_000
"""Growth is calculated from measurements this far apart, as each new one reads a day of them."""
_LEAST_MS: Final = 2 * HOUR_MS
_LEAST_POINTS: Final = 10
"""Growth is not calculated from less than this, as one large transaction would be taken for the rule."""

_PATIENCE, _LONG_PATIENCE = 3, 20
"""Cycles to wait for the first snapshot of a group, and for the next one of the known owner."""

_FAR_S: Final = 366 * 86_400
_NO, _YES = 0, 1


class DiskSpace(NamedTuple):
    """A file system, bytes: its size, and what an ordinary user may still write."""

    size: int
    free: int


class SizePoint(NamedTuple):
    """A measurement: when (ms UTC), pages in use, and free space on the disk (bytes)."""

    ts: int
    data: int
    free: int | None


def disk_space(path: Path) -> DiskSpace:
    """The file system that a file is on. Raises OSError."""
    found = os.statvfs(path)
    return DiskSpace(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize)


class LimitOutlook(NamedTuple):
    """What the limit of the store (bytes) does to its samples: when it is reached before they are as old as they are to be
    kept (ms UTC; None: it is not), and whether it has cost some that were younger.
    """

    limit: int
    reached: int | None
    missed: bool


class StoreMeter:
    """Measures ``store``, whose retention is ``retention``. Use it in the thread of the store.

    It continues the measurements of earlier runs that the store holds. ``disk`` returns the file system of a file.
    """

    def __init__(self, store: Store, retention: Retention, *, disk: Callable[[Path], DiskSpace] = disk_space) -> None:
        self._store = store
        self._retention = retention
        self._disk = disk
        self._points: deque[SizePoint] | None = None
        self._last: int | None = None
        self._owner: str | None = None
        self._former: str | None = None
        self._missed = 0
        self._reported: Mapping[str, Reported] = {}
        self._waits = ""
        self.outlook: LimitOutlook | None = None
        """As of the last measurement; None: there is no limit, or not enough is known."""

    def go_on(self, store: Store, retention: Retention) -> None:
        """Measure another file at the same path from now on."""
        self._store, self._retention = store, retention
        self._points = self._last = None

    @property
    def owner(self) -> str | None:
        """To which queue manager or group the store belongs; None while that is not known."""
        return self._owner

    def added(
        self, snapshots: tuple[Snapshot, ...], state: StoreState | None = None, waits: str = ""
    ) -> tuple[Snapshot, ...]:
        """The snapshots of a cycle, one of them with the metrics of the store when those are due. Raises StoreError.

        ``state`` is that of the store (None: it can be written), ``waits`` why old rows are not deleted now. The
        store belongs to the group; without a snapshot of one, to the first queue manager, until there is one.
        """
        owner = self._choose(snapshots)
        self._waits = waits
        readings: dict[str, Reading] = {}
        for snapshot in snapshots:
            name = ObjectName(snapshot.owner, STORE_KIND.name)
            if snapshot.owner == owner and (self._is_due(snapshot.ts) or self._is_news(state, snapshot.ts)):
                readings[snapshot.owner] = self._reading(name, snapshot.ts, state or StoreState())
            elif snapshot.owner == self._former:
                self._former = None
                readings[snapshot.owner] = Reading(name, _STORE_PROBE, snapshot.ts, {}, gone=True)
        return tuple(
            replace(each, readings=(*each.readings, readings[each.owner])) if each.owner in readings else each
            for each in snapshots
        )

    def _choose(self, snapshots: tuple[Snapshot, ...]) -> str | None:
        """Whose snapshot holds the readings of the store."""
        if self._owner is None and not self._missed:
            with self._store.database.reading() as connection:
                found = connection.execute(
                    "SELECT owner FROM object WHERE kind = ? AND gone_ts IS NULL ORDER BY id DESC", (STORE_KIND.name,)
                ).fetchone()
            self._owner = None if found is None else text(found[0])
        group = next((each.owner for each in snapshots if each.group), None)
        wanted = group if group is not None else self._owner
        if wanted not in {each.owner for each in snapshots}:
            self._missed += 1
            if self._missed < (_PATIENCE if self._owner is None else _LONG_PATIENCE):
                return None
            wanted = next((each.owner for each in snapshots), None)
        if wanted is not None:
            self._missed = 1
            if self._owner not in (None, wanted):
                self._former, self._points, self._last = self._owner, None, None
            self._owner = wanted
        return wanted

    def _is_due(self, now: int) -> bool:
        return self._last is None or not 0 <= now - self._last < MEASURE_MS

    def _is_news(self, state: StoreState | None, now: int) -> bool:
        return state is not None and self._of_state(state, now) != self._reported

    def _reading(self, name: ObjectName, now: int, state: StoreState) -> Reading:
        self._reported = reported = self._of_state(state, now)
        try:
            measured = self.measure(name, now)
        except StoreError:
            # The file cannot be read.
            return Reading(name, _STORE_PROBE, now, reported)
        return replace(measured, values={**measured.values, **reported})

    def _of_state(self, state: StoreState, now: int) -> dict[str, Reported]:
        return {**_of_state(state, now), "deletion_waits": self._waits or Absence.NOTHING_TO_TELL}

    def measure(self, name: ObjectName, now: int) -> Reading:
        """The metrics of the store, as the object ``name``, at ``now`` (ms UTC). Raises StoreError."""
        if self._points is None:
            self._points = deque()
            for point in self._earlier(name, now - _WINDOW_MS):
                self._note(self._points, point)
        interval = None if self._last is None or now <= self._last else now - self._last
        self._last = now
        size, oldest, policy = self._retention.size(), self._retention.oldest(), self._retention.policy
        try:
            disk = self._disk(self._store.path)
        except OSError:
            disk = None
        points = self._points
        while points and points[-1].ts >= now:
            points.pop()  # measured by a clock that was set back since
        self._note(points, SizePoint(now, size.data, None if disk is None else disk.free))
        while points[0].ts < now - _WINDOW_MS:
            points.popleft()
        growth = slope((each.ts, each.data) for each in points)
        fill = slope((each.ts, -each.free) for each in points if each.free is not None)
        held = Absence.NOTHING_TO_TELL if oldest is None else max(now - oldest, 0) // 1000
        limit = policy.limit
        since = self._retention.sealed_since(now)
        lasting: Reported = Absence.WINDOW
        if since is not None:
            lasting = slope((each.ts, each.data) for each in points if each.ts >= since)
        reached = Absence.NOTHING_TO_TELL if limit is None else _until(limit - size.total, lasting)
        missed = policy.keep.raw.default is not None and self._retention.limited(now)
        ahead = self._limit_ahead(held, reached)
        self.outlook = None
        if limit is not None and ahead is not Absence.WINDOW:
            # No date in a far future is worth a line, nor one that no calendar has.
            near = ahead == _YES and isinstance(reached, int | float) and reached < _FAR_S
            at = now + int(reached * 1000) if near and isinstance(reached, int | float) else None
            self.outlook = LimitOutlook(limit, at, missed)
        values: dict[str, Reported] = {
            "used_bytes": size.total,
            "data_bytes": size.data,
            "file_bytes": size.files,
            "limit_bytes": Absence.NOTHING_TO_TELL if limit is None else limit,
            "limit_used_pct": Absence.NOTHING_TO_TELL if limit is None else 100 * size.total / limit,
            "keep_s": Absence.NOTHING_TO_TELL if policy.keep.raw.default is None else policy.keep.raw.default // 1000,
            "held_s": held,
            "growth_bytes_per_h": growth,
            "keep_missed": int(missed),
            "limit_ahead": ahead,
            "limit_reached_s": reached,
            **_of_disk(disk, fill),
        }
        return Reading(name, _STORE_PROBE, now, values, interval)

    @staticmethod
    def _note(points: deque[SizePoint], point: SizePoint) -> None:
        """Keep the newest point, and of the older ones one in each ``_APART_MS``."""
        if len(points) > 1 and points[-1].ts - points[-2].ts < _APART_MS:
            points.pop()
        points.append(point)

    def _limit_ahead(self, held: Reported, reached: Reported) -> Reported:
        keep = self._retention.policy.keep.raw.default
        if keep is None or self._retention.policy.limit is None:
            return _NO  # the settings ask for as much as fits
        if reached is Absence.WINDOW:
            return Absence.WINDOW
        if isinstance(reached, Absence | str) or isinstance(held, Absence | str):
            return _NO
        # From then on what is older than ``keep`` is deleted, and growth ends.
        return _YES if reached < keep / 1000 - held else _NO

    def _earlier(self, name: ObjectName, first: int) -> Iterable[SizePoint]:
        table = self._store.tables[STORE_KIND.name].history
        with self._store.database.reading() as connection:
            rows = connection.execute(
                f"SELECT ts, data_bytes, disk_free_bytes FROM {table} WHERE ts >= ? AND data_bytes IS NOT NULL"  # noqa: S608
                " AND object_id = (SELECT id FROM object WHERE owner = ? AND kind = ? AND name = ?) ORDER BY ts",
                (first, *name),
            ).fetchall()
        points = [SizePoint(*row) for row in rows]
        if any(type(cell) is not int for point in points for cell in point if cell is not None):
            raise StoreError(f"the store {self._store.path} holds sizes that are no whole numbers")
        return points


def _of_state(state: StoreState, now: int) -> dict[str, Reported]:
    """The metrics of what could not be written."""
    anew = state.last_incident
    return {
        "unwritable": _NO if state.trouble is None else _YES,
        "trouble": Absence.NOTHING_TO_TELL if state.trouble is None else state.trouble.message,
        "dropped_snapshots": state.dropped,
        "begun_anew": int(anew is not None and now - anew.ts < 24 * HOUR_MS),
        "incident": Absence.NOTHING_TO_TELL if anew is None else anew.text,
    }


def slope(points: Iterable[tuple[int, int]]) -> Reported:
    """How much a figure grows an hour: the slope of the least-squares line through (ms UTC, figure).

    Absent (``WINDOW``) when there are fewer than ten points, or they cover less than two hours.
    """
    known = list(points)
    if len(known) < _LEAST_POINTS or known[-1][0] - known[0][0] < _LEAST_MS:
        return Absence.WINDOW
    times = [(ts - known[0][0]) / HOUR_MS for ts, _ in known]
    figures = [figure - known[0][1] for _, figure in known]
    middle, level = sum(times) / len(times), sum(figures) / len(figures)
    spread = sum((time - middle) ** 2 for time in times)
    return sum((time - middle) * (figure - level) for time, figure in zip(times, figures, strict=True)) / spread


def _until(left: int, growth: Reported) -> Reported:
    """Seconds until ``left`` bytes are used; absent when nothing grows, or growth is unknown."""
    if isinstance(growth, Absence | str):
        return growth
    return max(left, 0) / growth * 3600 if growth > 0 else Absence.NOTHING_TO_TELL


def _of_disk(disk: DiskSpace | None, fill: Reported) -> dict[str, Reported]:
    if disk is None or disk.size <= 0:
        metrics = (
            "disk_bytes",
            "disk_free_bytes",
            "disk_free_pct",
            "disk_fill_bytes_per_h",
            "disk_filling",
            "disk_full_s",
        )
        return dict.fromkeys(metrics, Absence.NO_ANSWER)
    return {
        "disk_bytes": disk.size,
        "disk_free_bytes": disk.free,
        "disk_free_pct": 100 * disk.free / disk.size,
        "disk_fill_bytes_per_h": fill,
        "disk_filling": fill if isinstance(fill, Absence | str) else int(fill > 0),
        "disk_full_s": _until(disk.free, fill),
    }


class ReceiverMeter:
    """Adds readings of receivers to the snapshots of those to whom the store belongs. Use it in the thread of the store."""

    def __init__(self) -> None:
        self._known: set[ObjectName] = set()
        self._states: tuple[object, ...] = ()
        self._ts: int | None = None

    def remember(self, name: ObjectName) -> None:
        """The store knows this receiver from an earlier run."""
        self._known.add(name)

    def added(
        self, snapshots: tuple[Snapshot, ...], owner: str | None, rows: Sequence[ReceiverRow]
    ) -> tuple[Snapshot, ...]:
        """The snapshots of a cycle, that of ``owner`` with readings of the receivers ``rows`` when those are due."""
        return tuple(
            replace(each, readings=(*each.readings, *readings))
            if (readings := tuple(self._readings(each, owner, rows)))
            else each
            for each in snapshots
        )

    def _readings(self, snapshot: Snapshot, owner: str | None, rows: Sequence[ReceiverRow]) -> Iterable[Reading]:
        now, present = snapshot.ts, frozenset(row.name for row in rows)
        for name in sorted(self._known):
            if name.owner == snapshot.owner and (name.owner != owner or name.name not in present):
                self._known.discard(name)
                yield Reading(name, _RECEIVER_PROBE, now, {}, gone=True)
        if snapshot.owner != owner:
            return
        states = tuple((row.name, row.failing, row.error, row.refused > 0) for row in rows)
        if states == self._states and self._ts is not None and 0 <= now - self._ts < MEASURE_MS:
            return
        self._states, self._ts = states, now
        for row in rows:
            name = ObjectName(snapshot.owner, RECEIVER_KIND.name, row.name)
            self._known.add(name)
            yield Reading(name, _RECEIVER_PROBE, now, receiver_values(row, now))


class RemoteWriteMeter:
    """Adds readings of engines to the snapshots of those to whom the store belongs. Use it in the thread of the store."""

    def __init__(self) -> None:
        self._known: set[ObjectName] = set()
        self._before: dict[str, RemoteState] = {}
        self._ts: int | None = None

    def remember(self, name: ObjectName) -> None:
        """The store knows this engine from an earlier run."""
        self._known.add(name)

    def added(
        self,
        snapshots: tuple[Snapshot, ...],
        owner: str | None,
        states: Sequence[RemoteState],
        names: Collection[str],
    ) -> tuple[Snapshot, ...]:
        """The snapshots of a cycle, that of ``owner`` with readings of the engines when those are due.

        ``names`` are those of the settings: before the first cycle is stored nothing is known of them yet.
        """
        return tuple(
            replace(each, readings=(*each.readings, *readings))
            if (readings := tuple(self._readings(each, owner, states, names)))
            else each
            for each in snapshots
        )

    def _readings(
        self, snapshot: Snapshot, owner: str | None, states: Sequence[RemoteState], names: Collection[str]
    ) -> Iterable[Reading]:
        now = snapshot.ts
        for name in sorted(self._known):
            if name.owner == snapshot.owner and (name.owner != owner or name.name not in names):
                self._known.discard(name)
                yield Reading(name, _REMOTE_WRITE_PROBE, now, {}, gone=True)
        if snapshot.owner != owner or not states:
            return
        failing = {state.name: bool(state.error) for state in states}
        news = failing != {name: bool(state.error) for name, state in self._before.items()}
        if not news and self._ts is not None and 0 <= now - self._ts < MEASURE_MS:
            return
        interval = None if self._ts is None or now <= self._ts else now - self._ts
        for state in states:
            name = ObjectName(snapshot.owner, REMOTE_WRITE_KIND.name, state.name)
            self._known.add(name)
            values = remote_write_values(state, self._before.get(state.name), now)
            yield Reading(name, _REMOTE_WRITE_PROBE, now, values, interval)
        self._before = {state.name: state for state in states}
        self._ts = now


def remote_write_values(state: RemoteState, before: RemoteState | None, now: int) -> dict[str, Reported]:
    """The metrics of an engine at ``now`` (ms UTC); ``before`` is how it went at the reading before."""

    def increase(total: Callable[[RemoteState], int]) -> Reported:
        if before is None:
            return Absence.FIRST_READING
        grown = total(state) - total(before)
        return grown if grown >= 0 else Absence.RESET

    return {
        "failing_s": 0 if state.failing_since is None else _seconds(now - state.failing_since),
        "accepted_ago_s": Absence.NOTHING_TO_TELL if state.accepted_at is None else _seconds(now - state.accepted_at),
        "pending": state.pending,
        "oldest_pending_s": Absence.NOTHING_TO_TELL if state.oldest is None else _seconds(now - state.oldest),
        "sent": increase(lambda each: each.sent),
        "sent_bytes": increase(lambda each: each.sent_bytes),
        "samples_missed": increase(lambda each: each.missed),
        "samples_refused": increase(lambda each: each.refused),
        "trouble": state.error or Absence.NOTHING_TO_TELL,
    }


def receiver_values(row: ReceiverRow, now: int) -> dict[str, Reported]:
    """The metrics of a receiver at ``now`` (ms UTC)."""
    return {
        "failing_s": 0 if row.failing is None else _seconds(now - row.failing),
        "accepted_ago_s": Absence.NOTHING_TO_TELL if row.accepted is None else _seconds(now - row.accepted),
        "pending": row.waiting,
        "oldest_pending_s": Absence.NOTHING_TO_TELL if row.oldest is None else _seconds(now - row.oldest),
        "refused": row.refused,
        "trouble": (row.error or row.refusal) or Absence.NOTHING_TO_TELL,
    }


def _seconds(ms: int) -> int:
    return max(ms, 0) // 1000
