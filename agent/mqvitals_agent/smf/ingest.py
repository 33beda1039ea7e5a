"""Records into a store: each once, in any order and however often they come.

Parts of a sample that come from several records are merged in the store, so a file may hold some of them and the next
file the others. Applications are ranked last, when all of a file has been read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import BinaryIO, Final

from mqvitals_agent.smf.kinds import APPLICATION
from mqvitals_agent.smf.measured import WORKLOAD, AddressSpaces, Systems, measured_samples, recall_systems
from mqvitals_agent.smf.partial_sample import GroupNames, PartialSample
from mqvitals_agent.smf.reader import ReadCounts, open_smf, read_error, records
from mqvitals_agent.smf.record import Record, SmfError, identity_of
from mqvitals_agent.smf.restart import Restart, RestartDetector
from mqvitals_agent.smf.rmf import TYPES as RMF_TYPES
from mqvitals_agent.smf.sampler import Sampler, UnnamedObjects, is_queue_manager
from mqvitals_agent.smf.snapshots import (
    REST,
    TOP_APPLICATIONS,
    SampleKey,
    as_rest,
    merge_into,
    processor_time,
    reading,
    snapshots,
)
from mqvitals_agent.store.rows.samples.smf_records import ALONE, WAITING, SmfPart
from mqvitals_agent.store.rows.samples.smf_records import REST as WITHIN_REST
from mqvitals_agent.store.writer import Store
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.snapshot import ObjectName, Snapshot
from mqvitals_rules.timestamps import DAY_MS
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS

AT_ONCE: Final = 400
"""The number of records that are merged before they are written."""
PROBE: Final = "SMF 116-1"
_MOST_MEASURED: Final = 2_000
"""The number of RMF's records that may wait for one of MQ's to say whose they are."""
_RECORDS_A_STEP: Final = 20
_NAMES_AT_ONCE: Final = 40

WriteSnapshot = Callable[[Snapshot], object]
"""Evaluates the rules for a snapshot and stores it."""

PassOn = Callable[[str, BinaryIO, Iterable[Record]], Iterable[Record]]
"""Gets the path of a file, the open file and its records, and passes these on."""


@dataclass(slots=True)
class IngestResult:
    """How many records were new and how many known before, and how many readings of which owners were stored.

    ``unnamed`` are objects left out because of their names, ``restarts`` the restarts that the records show.
    ``left_out`` counts the samples that wait for the name of their group, by queue manager; ``strange`` the records of RMF
    from systems of which no queue manager and no structure is known. ``damage`` are records of RMF with impossible figures,
    ``unseen`` sentences about declared classes of address spaces that RMF's records do not have.
    """

    new: int = 0
    known: int = 0
    readings: int = 0
    owners: set[str] = field(default_factory=set)
    left_out: dict[str, int] = field(default_factory=dict)
    strange: Counter[str] = field(default_factory=Counter)
    damage: list[SmfError] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    unnamed: UnnamedObjects = field(default_factory=UnnamedObjects)
    restarts: list[Restart] = field(default_factory=list)


def strange_words(system: str, count: int) -> str:
    """That records of RMF could not be placed, and what to do."""
    return (
        f"RMF's records of {system} belong to no known queue manager or structure: {count:,}; import them together with SMF"
        " 115 records of the queue managers there"
    )


class RecordIngest:
    """Stores the samples of records, each snapshot with ``write``: ``add`` records, and call ``finish`` after the last.

    Both yield after each small piece of work and raise StoreError; what was written stays, and the next call completes
    it. ``write`` None: all parts are kept, not only those that other records complete, and nothing else is stored;
    ``stored_snapshots`` returns them in the order of time. ``restarts`` has seen the records before these, where
    several files are read one after another; None: restarts are not detected. ``systems`` knows from them who runs where. ``facts`` say
    which class holds which address space. ``on_new`` gets the records that were not known before.
    """

    def __init__(
        self,
        store: Store,
        write: WriteSnapshot | None,
        groups: GroupNames,
        *,
        applications: int = TOP_APPLICATIONS,
        at_once: int = AT_ONCE,
        restarts: RestartDetector | None = None,
        systems: Systems | None = None,
        facts: Facts | None = None,
        on_new: Callable[[Sequence[Record]], object] | None = None,
    ) -> None:
        self._store = store
        self._write = write
        self._groups = groups
        self._sampler = Sampler(groups, restarts)
        self._applications = applications
        self._at_once = at_once
        self._on_new = on_new
        self._buffer: dict[bytes, Record] = {}
        self._waiting = set(store.smf.waiting())
        self._systems = Systems() if systems is None else systems
        self._spaces = AddressSpaces(Facts(KINDS) if facts is None else facts)
        self._measured: dict[bytes, Record] = {}
        self.result = IngestResult(unnamed=self._sampler.unnamed)
        if restarts is not None:
            restarts.found = self.result.restarts

    @property
    def takes_measured(self) -> bool:
        """Whether records of RMF are wanted: where snapshots are written, not in a report on MQ's own records."""
        return self._write is not None

    def add(self, records: Iterable[Record]) -> Iterator[None]:
        """Store some of the records. Raises also what reading them raises."""
        for count, record in enumerate(records, 1):
            # The records of all other classes are not kept, not even as waiting for a queue manager.
            if record.type == WORKLOAD and not self._spaces.takes(record):
                if count % _RECORDS_A_STEP == 0:
                    yield
                continue
            identity = identity_of(record)
            if identity in self._buffer:
                self.result.known += 1
            self._buffer[identity] = record
            if len(self._buffer) >= self._at_once:
                yield from self._write_buffer()
            elif count % _RECORDS_A_STEP == 0:
                yield

    def finish(self) -> Iterator[None]:
        """Store the rest, and rank the applications."""
        yield from self._write_buffer()
        yield from self._write_measured(last=True)
        self.result.left_out = self._store.smf.waiting() if self._waiting else {}
        if self._write is not None:
            yield from rank_applications(self._store, self._write_snapshot, self._applications)

    def _write_buffer(self) -> Iterator[None]:
        buffer, self._buffer = self._buffer, {}
        known = self._store.smf.known(buffer)
        self.result.known += len(known)
        for identity in [identity for identity, record in buffer.items() if record.type in RMF_TYPES]:
            record = buffer.pop(identity)
            if identity not in known:
                self._measured[identity] = record
        for record in buffer.values():
            self._systems.learn(record)
        new: dict[bytes, Record] = {}
        samples: list[PartialSample] = []
        for count, (identity, record) in enumerate(buffer.items(), 1):
            if identity in known:
                self._sampler.skip(record)
            else:
                new[identity] = record
                samples += self._sampler.partial_samples(record)
            if count % _RECORDS_A_STEP == 0:
                yield
        self.result.new += len(new)
        if self._on_new is not None:
            self._on_new(tuple(new.values()))
        yield from self._place_waiting()
        done = [(identity, (record.end_us or 0) // 1000) for identity, record in new.items()]
        yield from self._store_samples(map(self._with_group, samples), done)
        # A record without samples still says that its queue manager writes records.
        covered: dict[str, tuple[int, int]] = {}
        for record in new.values():
            if record.end_us is not None and is_queue_manager(record.ssid):
                ended = record.end_us // 1000
                first, last = covered.get(record.ssid, (ended, ended))
                covered[record.ssid] = min(first, ended), max(last, ended)
        self._store.keep_owners(covered)
        self.result.owners.update(covered)
        if len(self._measured) >= self._at_once:
            yield from self._write_measured(last=False)

    def _write_measured(self, *, last: bool) -> Iterator[None]:
        """Store what RMF measured. ``last``: no more records come that could say whose it is."""
        waiting, self._measured = self._measured, {}
        if waiting or (last and self._spaces.seen):
            recall_systems(self._systems, self._store)
            for in_mq, group in self._groups.named():
                self._systems.name_group(in_mq, group)
        samples: list[PartialSample] = []
        done: list[tuple[bytes, int]] = []
        for identity, record in waiting.items():
            try:
                found = measured_samples(record, self._systems, self._spaces)
            except SmfError as error:
                self.result.damage.append(error)
                continue
            if found:
                samples += found
                done.append((identity, (record.end_us or 0) // 1000))
            elif last or len(waiting) >= _MOST_MEASURED:
                # A class is one of the whole sysplex: it may hold no address space on this system.
                if record.type != WORKLOAD or not self._systems.queue_managers(record.sysid):
                    self.result.strange[record.sysid] += 1
            else:
                self._measured[identity] = record
        self.result.new += len(done)
        if last:
            samples += filter(self._is_news, self._spaces.undeclared(self._systems))
            self.result.unseen = list(self._spaces.unseen(self._systems))
        if done or samples:
            yield from self._store_samples(samples, done)

    def _is_news(self, sample: PartialSample) -> bool:
        """Whether the store does not know yet that there are no figures."""
        return any(
            self._store.value_now(sample.object, metric) is not value
            for metric, value in reading(sample).values.items()
            if isinstance(value, Absence)
        )

    def _with_group(self, sample: PartialSample) -> PartialSample:
        """The sample with its group as owner; it waits under its queue manager while the group is unknown."""
        assigned = self._groups.assign(sample)
        if assigned is not None:
            return assigned
        self._waiting.add(sample.member)
        return sample.of_group(WAITING + sample.member)

    def _place_waiting(self) -> Iterator[None]:
        """Give the samples that wait to their groups, as far as these are known now."""
        for member in sorted(self._waiting):
            group = self._groups.of(member)
            if group is None:
                continue
            while parts := self._store.smf.waiting_parts(member, self._at_once):
                samples = (PartialSample.from_json(*key, data).of_group(group) for key, data in parts.items())
                yield from self._store_samples(samples, placed=parts)
            self._waiting.remove(member)

    def _store_samples(
        self,
        samples: Iterable[PartialSample],
        done: Iterable[tuple[bytes, int]] = (),
        placed: Iterable[SampleKey] = (),
    ) -> Iterator[None]:
        """Merge samples with the parts in the store, write them, and note the records as done and parts as placed."""
        merged: dict[SampleKey, PartialSample] = {}
        for sample in samples:
            merge_into(merged, sample)
        kept = [key for key, each in merged.items() if each.joint or self._write is None or _waits(each)]
        for key, data in self._store.smf.parts(kept).items():
            added, merged[key] = merged[key], PartialSample.from_json(*key, data)
            merge_into(merged, added)
        if self._write is not None:
            shown = (each for each in merged.values() if each.object.kind != "application" and not _waits(each))
            for snapshot in snapshots(shown):
                self._write_snapshot(snapshot)
                yield
        # If this fails, the same records make the same samples again.
        self._store.smf.add_records(done, [_part(merged[key]) for key in kept], placed)
        yield

    def _write_snapshot(self, snapshot: Snapshot) -> None:
        assert self._write is not None
        self._write(snapshot)
        self.result.readings += len(snapshot.readings)
        self.result.owners.add(snapshot.owner)


def _waits(sample: PartialSample) -> bool:
    return sample.object.owner.startswith(WAITING)


def _part(sample: PartialSample) -> SmfPart:
    used = processor_time(sample.fields) if sample.object.kind == "application" else 0
    return SmfPart(sample.object, sample.probe, sample.ts, used, sample.to_json())


def ingest_file(
    path: str,
    ingest: RecordIngest,
    counts: ReadCounts,
    now_us: int | None,
    progress: PassOn | None = None,
) -> str:
    """Store the records of a file; returns why it cannot be read to its end, empty when it can. Raises StoreError.

    ``now_us``: as for ``reader.records``. ``progress`` sees the records of the open file on their way.
    """
    reason = ""
    try:
        with open_smf(path) as stream:
            found = records(stream, counts, now_us, measured=ingest.takes_measured)
            for _ in ingest.add(found if progress is None else progress(path, stream, found)):
                pass
    except (OSError, SmfError) as error:
        reason = read_error(error)
    for _ in ingest.finish():
        pass
    return reason


def stored_snapshots(store: Store, count: int = TOP_APPLICATIONS) -> Iterator[Snapshot]:
    """All samples of an ingest that kept every part, the oldest first; those that wait for their group are left out.

    Raises StoreError. ``count`` applications of a queue manager and day stand by themselves.
    """
    day, first = -1, dict[str, frozenset[str]]()
    for ts, each in groupby(store.smf.parts_in_order(), key=itemgetter(0)):
        if ts // DAY_MS != day:
            day = ts // DAY_MS
            first.clear()
        merged: dict[SampleKey, PartialSample] = {}
        for _, name, probe, data in each:
            part = PartialSample.from_json(name, probe, ts, data)
            if _waits(part):
                continue
            if name.kind == "application":
                if name.owner not in first:
                    first[name.owner] = _top_applications(store, name.owner, day, count)
                if name.name not in first[name.owner]:
                    part = as_rest(part)
            merge_into(merged, part)
        yield from snapshots(merged.values())


def _top_applications(store: Store, owner: str, day: int, count: int) -> frozenset[str]:
    return store.smf.top_applications(owner, day * DAY_MS, (day + 1) * DAY_MS, count)


def rank_applications(store: Store, write: WriteSnapshot, count: int) -> Iterator[None]:
    """Bring the samples of applications up to date; yields after each end of an interval.

    Raises StoreError; what was written stays, and the next call goes on from there.
    """
    for owner, day in store.smf.unplaced_applications(DAY_MS):
        yield from _rank_day(store, write, owner, day, count)


def _rank_day(store: Store, write: WriteSnapshot, owner: str, day: int, count: int) -> Iterator[None]:
    bounds = day * DAY_MS, (day + 1) * DAY_MS
    first = _top_applications(store, owner, day, count)
    within: dict[int, list[str]] = defaultdict(list)
    alone: dict[int, list[str]] = defaultdict(list)
    changed: set[int] = set()
    standings: dict[int, list[tuple[str, int, int]]] = defaultdict(list)
    fallen: set[str] = set()
    for use in store.smf.application_uses(owner, *bounds):
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
