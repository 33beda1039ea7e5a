"""Records into a store: each once, in any order and however often they come.

Parts of a sample that come from several records are merged in the store, so a file may hold some of them and the next
file the others. Applications are ranked last, when all of a file has been read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from mqvitals_agent.smf.kinds import APPLICATION
from mqvitals_agent.smf.partial_sample import GroupNames, PartialSample
from mqvitals_agent.smf.record import Record, identity_of
from mqvitals_agent.smf.restart import Restart, RestartDetector
from mqvitals_agent.smf.sampler import Sampler, UnnamedObjects, is_queue_manager
from mqvitals_agent.smf.snapshots import (
    DAY_MS,
    REST,
    TOP_APPLICATIONS,
    SampleKey,
    as_rest,
    merge_into,
    processor_time,
    reading,
    snapshots,
    top,
)
from mqvitals_agent.store.smf_row import ALONE, Part
from mqvitals_agent.store.smf_row import REST as WITHIN_REST
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import ObjectName, Snapshot

PROBE: Final = "SMF 116-1"
_AT_ONCE: Final = 40


def place(store: Store, take: Callable[[Snapshot], object], count: int) -> Iterator[None]:
    """Bring the samples of applications up to date; comes back after each end of an interval.

    ``take`` takes in a snapshot. Raises StoreError; what was done stays, and the next call goes on.
    """
    for owner, day in store.unplaced_applications(DAY_MS):
        yield from _place_day(store, take, owner, day, count)


def _place_day(store: Store, take: Callable[[Snapshot], object], owner: str, day: int, count: int) -> Iterator[None]:
    bounds = day * DAY_MS, (day + 1) * DAY_MS
    uses = store.application_uses(owner, *bounds)
    used: dict[str, int] = defaultdict(int)
    within: dict[int, list[str]] = defaultdict(list)
    for use in uses:
        used[use.name] += use.used
    first = top(used, count)
    alone: dict[int, list[str]] = defaultdict(list)
    changed: set[int] = set()
    standings: dict[int, list[tuple[str, int, int]]] = defaultdict(list)
    fallen: set[str] = set()
    for use in uses:
        standing = ALONE if use.name in first else WITHIN_REST
        if standing == WITHIN_REST:
            within[use.ts].append(use.name)
        if use.shown == standing:
            continue
        standings[use.ts].append((use.name, use.ts, standing))
        if standing == ALONE:
            alone[use.ts].append(use.name)
        else:
            changed.add(use.ts)
            if abs(use.shown) == ALONE:
                fallen.add(use.name)
        if abs(use.shown) == WITHIN_REST:
            changed.add(use.ts)
    for name in sorted(fallen):
        store.forget_records(_named(owner, name), *bounds)
        yield
    emptied = [ts for ts in sorted(changed) if not within[ts]]
    for ts in emptied:
        store.forget_records(_named(owner, REST), ts, ts + 1)
    for ts in sorted(standings):
        totals = _totals(store, owner, ts, alone[ts])
        if ts in changed:
            totals += yield from _rest(store, owner, ts, within[ts])
        _tell(take, owner, ts, totals)
        store.place_applications(owner, standings[ts])
        yield
    # Their current state went with what was taken away: what is left of them tells it.
    for name in sorted(fallen):
        newest = store.newest_part(_named(owner, name), ALONE)
        if newest is not None:
            probe, ts, data = newest
            _tell(take, owner, ts, [PartialSample.of_data(_named(owner, name), probe, ts, data)])
    rest = store.newest_rest(owner) if emptied else None
    if rest is not None:
        ts, names = rest
        _tell(take, owner, ts, (yield from _rest(store, owner, ts, names)))
    yield


def _named(owner: str, name: str) -> ObjectName:
    return ObjectName(owner, "application", name)


def _totals(store: Store, owner: str, ts: int, names: Iterable[str]) -> list[PartialSample]:
    found = store.record_parts((_named(owner, name), PROBE, ts) for name in names)
    return [PartialSample.of_data(*key, data) for key, data in found.items()]


def _rest(store: Store, owner: str, ts: int, names: Sequence[str]) -> Generator[None, None, list[PartialSample]]:
    """The sum of these applications at an end, in steps; nothing when there are none."""
    together: PartialSample | None = None
    for first in range(0, len(names), _AT_ONCE):
        for total in _totals(store, owner, ts, names[first : first + _AT_ONCE]):
            part = as_rest(total)
            together = part if together is None else together.plus(part, APPLICATION.putting_together)
        yield
    return [] if together is None else [together]


def _tell(take: Callable[[Snapshot], object], owner: str, ts: int, totals: list[PartialSample]) -> None:
    if totals:
        take(Snapshot(owner, group=False, cycle=0, ts=ts, readings=tuple(reading(total) for total in totals)))


AT_ONCE: Final = 400
"""So many records are added up before they are written."""
_TURN: Final = 20
_WAITING: Final = 2_000

Take = Callable[[Snapshot], object]


@dataclass(slots=True)
class IngestResult:
    """What came of records: how many were new, how many were known before, and what was stored of them.

    ``unnamed`` are objects that were left out for their names, ``restarts`` the restarts that the records show. ``left_out`` are queue managers whose group nothing tells, with the records that therefore wait for a later import.
    """

    new: int = 0
    known: int = 0
    readings: int = 0
    owners: set[str] = field(default_factory=set)
    left_out: dict[str, int] = field(default_factory=dict)
    unnamed: UnnamedObjects = field(default_factory=UnnamedObjects)
    restarts: list[Restart] = field(default_factory=list)


@dataclass(slots=True)
class _Waiting:
    identity: bytes
    ts: int
    totals: list[PartialSample]


class RecordIngest:
    """Takes records into ``store``; ``take`` gives a snapshot to the rules and the store.

    ``restarts`` is what records before these showed of restarts, for whoever takes in one file after another.
    """

    def __init__(
        self,
        store: Store,
        take: Take,
        groups: GroupNames,
        *,
        applications: int = TOP_APPLICATIONS,
        at_once: int = AT_ONCE,
        restarts: RestartDetector | None = None,
    ) -> None:
        self._store = store
        self._give = take
        self._groups = groups
        self._restarts = restarts if restarts is not None else RestartDetector()
        self._restarts.found = []
        self._sampler = Sampler(groups, self._restarts)
        self._applications = applications
        self._at_once = at_once
        self._buffer: dict[bytes, Record] = {}
        self._waiting: list[_Waiting] = []
        self.taken = IngestResult(unnamed=self._sampler.unnamed, restarts=self._restarts.found)

    def steps(self, records: Iterable[Record]) -> Iterator[None]:
        """Take in all of them; comes back after each small piece of work.

        Raises StoreError, and whatever reading the records raises; what was taken in stays, and coming again completes it.
        """
        yield from self.take(records)
        yield from self.finish()

    def take(self, records: Iterable[Record]) -> Iterator[None]:
        """Take in some of them, as ``steps``; ``finish`` comes behind the last."""
        for count, record in enumerate(records, 1):
            identity = identity_of(record)
            if identity in self._buffer:
                self.taken.known += 1
            self._buffer[identity] = record
            if len(self._buffer) >= self._at_once:
                yield from self._write()
            elif count % _TURN == 0:
                yield

    def finish(self) -> Iterator[None]:
        """Store what is still in hand, as ``steps``."""
        yield from self._write()
        for each in self._waiting:
            self._leave_out(each)
        self._waiting.clear()
        yield from place(self._store, self._tell, self._applications)

    def _leave_out(self, each: _Waiting) -> None:
        """It is not noted as read, so that a later import completes it."""
        member = each.totals[0].member
        self.taken.left_out[member] = self.taken.left_out.get(member, 0) + 1

    def _write(self) -> Iterator[None]:
        buffer, self._buffer = self._buffer, {}
        known = self._store.known_records(buffer)
        folded: dict[SampleKey, PartialSample] = {}
        done: list[tuple[bytes, int]] = []
        ready = self._waiting
        self._waiting = []
        covered: dict[str, tuple[int, int]] = {}
        for count, (identity, record) in enumerate(buffer.items(), 1):
            if identity in known:
                self.taken.known += 1
                self._sampler.pass_over(record)
            else:
                totals = list(self._sampler.totals(record))
                ready.append(_Waiting(identity, (record.end_us or 0) // 1000, totals))
                self.taken.new += 1
                if record.end_us is not None and is_queue_manager(record.ssid):
                    ended = record.end_us // 1000
                    first, last = covered.get(record.ssid, (ended, ended))
                    covered[record.ssid] = min(first, ended), max(last, ended)
            if count % _TURN == 0:
                yield
        for each in ready:
            placed = [self._groups.placed(total) for total in each.totals]
            whole = None not in placed
            for total in placed:
                # What one record tells alone may be told again when the rest of it has found its place; sums must not.
                if total is not None and (whole or not total.joint):
                    merge_into(folded, total)
            if whole:
                done.append((each.identity, each.ts))
            elif len(self._waiting) < _WAITING:
                self._waiting.append(each)
            else:
                self._leave_out(each)
        yield from self._store_folded(folded, done)
        # Accounting may tell nothing that has a place in the store: whose it is, is known all the same.
        self._store.keep_owners(covered)
        self.taken.owners.update(covered)

    def _store_folded(self, folded: dict[SampleKey, PartialSample], done: list[tuple[bytes, int]]) -> Iterator[None]:
        joint = [key for key, total in folded.items() if total.joint]
        for (name, probe, ts), data in self._store.record_parts(joint).items():
            merge_into(folded, PartialSample.of_data(name, probe, ts, data))
        shown = (total for total in folded.values() if total.object.kind != "application")
        for snapshot in snapshots(shown):
            self._tell(snapshot)
            yield
        # Should this fail, the same records come to the same samples once more.
        self._store.keep_records(done, [_part(folded[key]) for key in joint])
        yield

    def _tell(self, snapshot: Snapshot) -> None:
        self._give(snapshot)
        self.taken.readings += len(snapshot.readings)
        self.taken.owners.add(snapshot.owner)


def _part(total: PartialSample) -> Part:
    used = processor_time(total.fields) if total.object.kind == "application" else 0
    return Part(total.object, total.probe, total.ts, used, total.data())
