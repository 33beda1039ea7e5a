"""Records into a store: each once, in whatever order and however often they come.

A record that was read before changes nothing. What several records tell together is added up in the store, so that a
file may hold some of them and the next file the others. Applications are placed last, when all of a file has been read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from mqvitals_agent.smf.application import processor_time
from mqvitals_agent.smf.groups import Groups
from mqvitals_agent.smf.identity import identity_of
from mqvitals_agent.smf.ranking import place
from mqvitals_agent.smf.record import Record
from mqvitals_agent.smf.restart import Restart, Restarts
from mqvitals_agent.smf.sample import TOP, Key, add, snapshots
from mqvitals_agent.smf.teller import Sampler, Unnamed, is_queue_manager
from mqvitals_agent.smf.total import Total
from mqvitals_agent.store.smf_row import Part
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import Snapshot

AT_ONCE: Final = 400
"""So many records are added up before they are written."""
_TURN: Final = 20
_WAITING: Final = 2_000

Take = Callable[[Snapshot], object]


@dataclass(slots=True)
class Taken:
    """What came of records: how many were new, how many were known before, and what was stored of them.

    ``unnamed`` are objects that were left out for their names, ``restarts`` the restarts that the records show. ``left_out`` are queue managers whose group nothing tells, with the records that therefore wait for a later import.
    """

    new: int = 0
    known: int = 0
    readings: int = 0
    owners: set[str] = field(default_factory=set)
    left_out: dict[str, int] = field(default_factory=dict)
    unnamed: Unnamed = field(default_factory=Unnamed)
    restarts: list[Restart] = field(default_factory=list)


@dataclass(slots=True)
class _Waiting:
    identity: bytes
    ts: int
    totals: list[Total]


class RecordIntake:
    """Takes records into ``store``; ``take`` gives a snapshot to the rules and the store.

    ``restarts`` is what records before these showed of restarts, for whoever takes in one file after another.
    """

    def __init__(
        self,
        store: Store,
        take: Take,
        groups: Groups,
        *,
        applications: int = TOP,
        at_once: int = AT_ONCE,
        restarts: Restarts | None = None,
    ) -> None:
        self._store = store
        self._give = take
        self._groups = groups
        self._restarts = restarts if restarts is not None else Restarts()
        self._restarts.found = []
        self._sampler = Sampler(groups, self._restarts)
        self._applications = applications
        self._at_once = at_once
        self._buffer: dict[bytes, Record] = {}
        self._waiting: list[_Waiting] = []
        self.taken = Taken(unnamed=self._sampler.unnamed, restarts=self._restarts.found)

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
        folded: dict[Key, Total] = {}
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
                    add(folded, total)
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

    def _store_folded(self, folded: dict[Key, Total], done: list[tuple[bytes, int]]) -> Iterator[None]:
        joint = [key for key, total in folded.items() if total.joint]
        for (name, probe, ts), data in self._store.record_parts(joint).items():
            add(folded, Total.of_data(name, probe, ts, data))
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


def _part(total: Total) -> Part:
    used = processor_time(total.fields) if total.object.kind == "application" else 0
    return Part(total.object, total.probe, total.ts, used, total.data())
