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
    top_names,
)
from mqvitals_agent.store.rows.smf_records import ALONE, SmfPart
from mqvitals_agent.store.rows.smf_records import REST as WITHIN_REST
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import ObjectName, Snapshot

PROBE: Final = "SMF 116-1"
_NAMES_AT_ONCE: Final = 40

WriteSnapshot = Callable[[Snapshot], object]
"""Evaluates the rules for a snapshot and stores it."""


def rank_applications(store: Store, write: WriteSnapshot, count: int) -> Iterator[None]:
    """Bring the samples of applications up to date; yields after each end of an interval.

    Raises StoreError; what was written stays, and the next call goes on from there.
    """
    for owner, day in store.smf.unplaced_applications(DAY_MS):
        yield from _rank_day(store, write, owner, day, count)


def _rank_day(store: Store, write: WriteSnapshot, owner: str, day: int, count: int) -> Iterator[None]:
    bounds = day * DAY_MS, (day + 1) * DAY_MS
    uses = store.smf.application_uses(owner, *bounds)
    used: dict[str, int] = defaultdict(int)
    within: dict[int, list[str]] = defaultdict(list)
    for use in uses:
        used[use.name] += use.used
    first = top_names(used, count)
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
        samples = _stored_samples(store, owner, ts, alone[ts])
        if ts in changed:
            samples += yield from _rest(store, owner, ts, within[ts])
        _write_samples(write, owner, ts, samples)
        store.smf.place_applications(owner, standings[ts])
        yield
    # The current state went with the deleted samples: write it again from the newest sample that is left.
    for name in sorted(fallen):
        newest = store.smf.newest_part(_named(owner, name), ALONE)
        if newest is not None:
            probe, ts, data = newest
            _write_samples(write, owner, ts, [PartialSample.from_json(_named(owner, name), probe, ts, data)])
    rest = store.smf.newest_rest(owner) if emptied else None
    if rest is not None:
        ts, names = rest
        _write_samples(write, owner, ts, (yield from _rest(store, owner, ts, names)))
    yield


def _named(owner: str, name: str) -> ObjectName:
    return ObjectName(owner, "application", name)


def _stored_samples(store: Store, owner: str, ts: int, names: Iterable[str]) -> list[PartialSample]:
    found = store.smf.parts((_named(owner, name), PROBE, ts) for name in names)
    return [PartialSample.from_json(*key, data) for key, data in found.items()]


def _rest(store: Store, owner: str, ts: int, names: Sequence[str]) -> Generator[None, None, list[PartialSample]]:
    """The sum of these applications at one end of an interval, in steps; empty when there are none."""
    together: PartialSample | None = None
    for first in range(0, len(names), _NAMES_AT_ONCE):
        for sample in _stored_samples(store, owner, ts, names[first : first + _NAMES_AT_ONCE]):
            part = as_rest(sample)
            together = part if together is None else together.merge(part, APPLICATION.merge_rules)
        yield
    return [] if together is None else [together]


def _write_samples(write: WriteSnapshot, owner: str, ts: int, samples: list[PartialSample]) -> None:
    if samples:
        write(Snapshot(owner, group=False, cycle=0, ts=ts, readings=tuple(map(reading, samples))))


AT_ONCE: Final = 400
"""The number of records that are merged before they are written."""
_RECORDS_A_STEP: Final = 20
_MOST_WAITING: Final = 2_000


@dataclass(slots=True)
class IngestResult:
    """How many records were new and how many known before, and how many readings of which owners were stored.

    ``unnamed`` are objects left out because of their names, ``restarts`` the restarts that the records show.
    ``left_out`` are queue managers of an unknown group, with the number of records that wait for a later import.
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
    samples: list[PartialSample]


class RecordIngest:
    """Writes the samples of records into ``store``, each snapshot with ``write``.

    ``restarts`` has seen the records before these, where several files are read one after another.
    """

    def __init__(
        self,
        store: Store,
        write: WriteSnapshot,
        groups: GroupNames,
        *,
        applications: int = TOP_APPLICATIONS,
        at_once: int = AT_ONCE,
        restarts: RestartDetector | None = None,
    ) -> None:
        self._store = store
        self._write = write
        self._groups = groups
        self._restarts = restarts if restarts is not None else RestartDetector()
        self._restarts.found = []
        self._sampler = Sampler(groups, self._restarts)
        self._applications = applications
        self._at_once = at_once
        self._buffer: dict[bytes, Record] = {}
        self._waiting: list[_Waiting] = []
        self.result = IngestResult(unnamed=self._sampler.unnamed, restarts=self._restarts.found)

    def ingest(self, records: Iterable[Record]) -> Iterator[None]:
        """Write all records; yields after each small piece of work.

        Raises StoreError, and what reading the records raises; what was written stays, and the next call completes it.
        """
        yield from self.add(records)
        yield from self.finish()

    def add(self, records: Iterable[Record]) -> Iterator[None]:
        """Write some of the records, as ``ingest`` does; call ``finish`` after the last."""
        for count, record in enumerate(records, 1):
            identity = identity_of(record)
            if identity in self._buffer:
                self.result.known += 1
            self._buffer[identity] = record
            if len(self._buffer) >= self._at_once:
                yield from self._write_buffer()
            elif count % _RECORDS_A_STEP == 0:
                yield

    def finish(self) -> Iterator[None]:
        """Write the rest, as ``ingest`` does."""
        yield from self._write_buffer()
        for each in self._waiting:
            self._leave_out(each)
        self._waiting.clear()
        yield from rank_applications(self._store, self._write_snapshot, self._applications)

    def _leave_out(self, each: _Waiting) -> None:
        """Count it, but do not note it as read: a later import completes it."""
        member = each.samples[0].member
        self.result.left_out[member] = self.result.left_out.get(member, 0) + 1

    def _write_buffer(self) -> Iterator[None]:
        buffer, self._buffer = self._buffer, {}
        known = self._store.smf.known(buffer)
        merged: dict[SampleKey, PartialSample] = {}
        done: list[tuple[bytes, int]] = []
        ready = self._waiting
        self._waiting = []
        covered: dict[str, tuple[int, int]] = {}
        for count, (identity, record) in enumerate(buffer.items(), 1):
            if identity in known:
                self.result.known += 1
                self._sampler.skip(record)
            else:
                samples = list(self._sampler.partial_samples(record))
                ready.append(_Waiting(identity, (record.end_us or 0) // 1000, samples))
                self.result.new += 1
                if record.end_us is not None and is_queue_manager(record.ssid):
                    ended = record.end_us // 1000
                    first, last = covered.get(record.ssid, (ended, ended))
                    covered[record.ssid] = min(first, ended), max(last, ended)
            if count % _RECORDS_A_STEP == 0:
                yield
        for each in ready:
            assigned = [self._groups.assign(sample) for sample in each.samples]
            whole = None not in assigned
            for sample in assigned:
                # A sample of one record may be written again once the rest of the record has its group; a merged one
                # may not.
                if sample is not None and (whole or not sample.joint):
                    merge_into(merged, sample)
            if whole:
                done.append((each.identity, each.ts))
            elif len(self._waiting) < _MOST_WAITING:
                self._waiting.append(each)
            else:
                self._leave_out(each)
        yield from self._store_merged(merged, done)
        # A record without samples still says that its queue manager writes records.
        self._store.keep_owners(covered)
        self.result.owners.update(covered)

    def _store_merged(self, merged: dict[SampleKey, PartialSample], done: list[tuple[bytes, int]]) -> Iterator[None]:
        joint = [key for key, sample in merged.items() if sample.joint]
        for (name, probe, ts), data in self._store.smf.parts(joint).items():
            merge_into(merged, PartialSample.from_json(name, probe, ts, data))
        shown = (sample for sample in merged.values() if sample.object.kind != "application")
        for snapshot in snapshots(shown):
            self._write_snapshot(snapshot)
            yield
        # If this fails, the same records make the same samples again.
        self._store.smf.add_records(done, [_part(merged[key]) for key in joint])
        yield

    def _write_snapshot(self, snapshot: Snapshot) -> None:
        self._write(snapshot)
        self.result.readings += len(snapshot.readings)
        self.result.owners.add(snapshot.owner)


def _part(sample: PartialSample) -> SmfPart:
    used = processor_time(sample.fields) if sample.object.kind == "application" else 0
    return SmfPart(sample.object, sample.probe, sample.ts, used, sample.to_json())
