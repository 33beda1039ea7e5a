"""The latest value of every metric of every object, and the relations between objects.

Absent values keep their reasons, overdue values become stale, declared facts are merged in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from mqvitals_rules.snapshot import ObjectName, Outcome, Reading, Snapshot, Source, fresh_until
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported, Value

STALE_AFTER = 3
"""A value is stale once it is older than this many of its usual intervals."""

_NEVER = 1 << 62

_POLL = Source.POLL

_LOST = frozenset({Absence.NO_ANSWER, Absence.UNREACHABLE, Absence.STALE})
"""A metric of polls that is absent for these reasons is absent to a rule, whatever an older record has."""

_LOWEST = ("worst_free_pct", ("free_pct", "low_pct"))
"""A metric that is the lowest of others: of polls now, and of the interval of records."""

_COMMAND = "COMMAND"
"""The probe of outcomes of commands."""

_ANSWERED = (Outcome.OK.value, Outcome.NOT_FOUND.value)

_GONE_MS = 86_400_000
"""How long an object's end is kept, for records that come later and are about the time before."""

RELATIONS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("channel", "queue"): ("channel", "xmitq"),
    ("queue", "page_set"): ("queue", "page_set"),
    ("queue", "buffer_pool"): ("page_set", "buffer_pool"),
    ("page_set", "buffer_pool"): ("page_set", "buffer_pool"),
    ("queue", "cf_structure"): ("queue", "cf_structure"),
    ("queue", "channel"): ("queue", "fed_by"),
    ("application", "queue"): ("application", "base_name"),
    ("application", "page_set"): ("application", "page_set"),
    ("application", "buffer_pool"): ("application", "buffer_pool"),
}
"""(kind, related kind) -> the (kind, metric) that names the related object: of the object, or of one related to it."""


_LINKS: Mapping[str, frozenset[str]] = {
    kind: frozenset(metric for of, metric in RELATIONS.values() if of == kind)
    for kind in {of for of, _ in RELATIONS.values()}
}
"""Kind -> its metrics that name the object to which it belongs."""

UNDECIDED = frozenset({Absence.NOT_ASKED, Absence.NO_ANSWER, Absence.UNREACHABLE, Absence.STALE})
"""Absences that leave open which object a metric names. Any other absence means that it names none."""

_NO_LINKS: frozenset[str] = frozenset()

_SHARED = frozenset({"adapter", "dispatcher", "ssl_task", "dns_task"})
"""Kinds of which there are several, and which serve all of their owner."""


class Declared(Protocol):
    """Where declared values come from."""

    def of(self, name: ObjectName) -> Mapping[str, Value]:
        """The declared metrics of an object, defaults included."""
        ...


class Stamp:
    """When some metrics of an object were last reported together, and their usual interval (None: reported once).

    Compared by identity, which makes it quick to find the few stamps of many metrics.
    """

    __slots__ = ("ts", "usual_ms")

    def __init__(self, ts: int, usual_ms: int | None) -> None:
        self.ts = ts
        self.usual_ms = usual_ms


class Recorded(NamedTuple):
    """The value of a metric in its newest record: with the end of the record, and until when it is fresh."""

    value: Reported
    ts: int
    fresh_until: int


class LatestState:
    """One object's latest values. ``values`` is what rules read; a metric that was never reported is not in it.

    ``stamps`` are those of polled metrics, ``recorded`` has the values of records, and ``from_records`` the metrics
    whose value is a record's.
    """

    __slots__ = (
        "_linked",
        "_links",
        "_records",
        "_reported_links",
        "_together",
        "deadline",
        "declared",
        "extra",
        "from_records",
        "name",
        "recorded",
        "stamps",
        "turn",
        "values",
    )

    def __init__(self, name: ObjectName, declared: Mapping[str, Value]) -> None:
        self.name = name
        self.declared = declared
        self.values: dict[str, Reported] = dict(declared)
        self.stamps: dict[str, Stamp] = {}
        self._together: tuple[str, ...] = ()
        """The metrics of the last reading, which have one stamp."""
        self._links = _LINKS.get(name.kind, _NO_LINKS)
        self._reported_links = _NO_LINKS
        """Those of ``_together``."""
        self._linked: dict[str, Reported] = {}
        """Link metric -> the value reported last."""
        self._records: dict[str, Reading] = {}
        self.recorded: dict[str, Recorded] = {}
        self.from_records: frozenset[str] = frozenset()
        self.turn = 0
        """Counts what changes ``recorded`` or ``from_records``."""
        self.deadline = _NEVER
        """Until then nothing can become stale, so that most checks cost one comparison."""
        self.extra: object = None
        """For the engine: its own state of this object."""

    def learn(self, reading: Reading) -> None:
        """Take over the values of a reading."""
        told = reading.values
        if not told:
            return
        ts = reading.ts
        metrics = tuple(told)
        if metrics == self._together and self._learn_again(told, ts):
            return
        before = set(map(self.stamps.get, told))
        before.discard(None)
        usual = None
        if before:
            # The metrics of one answer may come at different rates (a structure's backup every few minutes): the slowest sets the pace.
            oldest = before.pop() if len(before) == 1 else min(filter(None, before), key=lambda stamp: stamp.ts)
            assert oldest is not None
            interval, usual = ts - oldest.ts, oldest.usual_ms
            if interval > 0:
                # One outage must not make the next one invisible.
                usual = interval if usual is None or interval < 2 * usual else 2 * usual
            ends = _NEVER if usual is None else ts + STALE_AFTER * usual
            if ends < self.deadline:
                self.deadline = ends
        stamp = Stamp(ts, usual)
        self.values.update(told)
        if self.declared:
            self.values.update(self.declared)
        self.stamps.update(dict.fromkeys(told, stamp))
        self._together = metrics
        if self._links:
            self._reported_links = self._links.intersection(metrics)
            self._note_links(self._reported_links)
        if self.recorded:
            if not self.recorded.keys().isdisjoint(told):
                self._merge(told.keys() & self.recorded.keys(), polled=True)
            self._take_lowest()

    def _learn_again(self, told: Mapping[str, Reported], ts: int) -> bool:
        """Take over the same metrics as last time, which is the usual case and quicker. False where that is not enough."""
        stamp = self.stamps[self._together[0]]
        interval = ts - stamp.ts
        if interval <= 0 or self.recorded:
            return False
        usual = stamp.usual_ms
        stamp.ts = ts
        stamp.usual_ms = usual = interval if usual is None or interval < 2 * usual else 2 * usual
        self.deadline = min(self.deadline, ts + STALE_AFTER * usual)
        self.values.update(told)
        if self.declared:
            self.values.update(self.declared)
        if self._reported_links:
            self._note_links(self._reported_links)
        return True

    def link(self, metric: str) -> Reported | None:
        """The value of a metric that names another object; while it is not known, the one reported last.

        So an outage takes no queue from its page set. The reason of the absence when no value was reported before it.
        """
        value = self.values.get(metric)
        return self._linked.get(metric, value) if value in UNDECIDED else value

    def _note_links(self, metrics: Iterable[str]) -> None:
        values, linked = self.values, self._linked
        for metric in metrics:
            value = values[metric]
            if value.__class__ is not Absence:
                linked[metric] = value
            elif value not in UNDECIDED:
                linked.pop(metric, None)

    def learn_record(self, record: Reading) -> bool:
        """Take over a record where nothing newer is known. False when it is not newer than its probe's last record."""
        known = self._records.get(record.probe)
        if known is not None and (record.ts < known.ts or (record.ts == known.ts and record.values == known.values)):
            return False
        self._records[record.probe] = record
        before = self.recorded
        self.recorded = _merged(self._records.values())
        for metric in before.keys() - self.recorded.keys():
            if metric in self.from_records:
                # The probe no longer reports it. The value of an earlier poll has been replaced.
                self.values[metric] = Absence.NOT_RETURNED
                self._linked.pop(metric, None)
        self._merge(self.recorded.keys(), polled=False)
        self._take_lowest()
        return True

    def shift(self, by_ms: int) -> None:
        """Shift the dates of polled values by ``by_ms``, as the clock was corrected: ages follow the elapsed time."""
        for stamp in set(self.stamps.values()):
            stamp.ts += by_ms
        for metric in self.from_records:
            # By the wrong clock a record may have been stale.
            self.values[metric] = self.recorded[metric].value
        self.deadline = -1

    def fresh_until_of(self, metrics: Iterable[str]) -> int:
        """Until when all of these metrics that have a record's value are fresh."""
        return min(
            (self.recorded[metric].fresh_until for metric in metrics if metric in self.from_records), default=_NEVER
        )

    def _merge(self, metrics: Iterable[str], *, polled: bool) -> None:
        """Give each of these metrics of records the record's value, or keep the poll's.

        ``polled``: a poll just reported them.
        """
        from_records = set(self.from_records & self.recorded.keys())
        for metric in metrics:
            if metric in self.declared:
                continue
            told, stamp = self.recorded[metric], self.stamps.get(metric)
            asked = polled or metric not in from_records
            if asked and stamp is not None and _poll_counts(self.values[metric], stamp.ts, told):
                from_records.discard(metric)
                continue
            from_records.add(metric)
            self.values[metric] = told.value
            self.deadline = min(self.deadline, told.fresh_until)
        if not polled or from_records != self.from_records:
            self.from_records = frozenset(from_records)
            self.turn += 1
        if self._links:
            self._note_links(self._links & from_records)

    def expire(self, now: int) -> None:
        """Mark what is overdue as stale."""
        if now <= self.deadline:
            return
        deadline = _NEVER
        # Nearly always nothing is overdue: metrics that were reported together are checked once.
        stamps = set(self.stamps.values())
        fresh = [stamp.ts + STALE_AFTER * stamp.usual_ms for stamp in stamps if stamp.usual_ms is not None]
        overdue = bool(fresh) and min(fresh) < now
        if fresh and not overdue:
            deadline = min(fresh)
        for metric, stamp in self.stamps.items() if overdue else ():
            if stamp.usual_ms is None:
                continue
            ends = stamp.ts + STALE_AFTER * stamp.usual_ms
            if ends >= now:
                deadline = min(deadline, ends)
            elif (
                metric not in self.declared
                and metric not in self.from_records
                and not isinstance(self.values[metric], Absence)
            ):
                self.values[metric] = Absence.STALE
        for metric in self.from_records:
            ends = self.recorded[metric].fresh_until
            if ends >= now:
                deadline = min(deadline, ends)
            elif not isinstance(self.values[metric], Absence):
                self.values[metric] = Absence.STALE
        self.deadline = deadline
        if self.recorded:
            self._take_lowest()

    def _take_lowest(self) -> None:
        """The worst known value is the lower of a poll's and of a record's that is still fresh."""
        metric, parts = _LOWEST
        if isinstance(self.values.get(metric), int | float):
            known = [value for value in map(self.values.get, parts) if isinstance(value, int | float)]
            if known:
                self.values[metric] = min(known)


def _poll_counts(polled: Reported, ts: int, told: Recorded) -> bool:
    """Whether a poll's value of ``ts`` counts, rather than a record's: the newer one, but a value before an absence."""
    if ts >= told.ts:
        return not isinstance(polled, Absence) or polled in _LOST
    return isinstance(told.value, Absence) and not isinstance(polled, Absence)


def _merged(records: Iterable[Reading]) -> dict[str, Recorded]:
    """The newest records of all probes together: of each metric the newest value, else the newest absence."""
    found: dict[str, Recorded] = {}
    for record in sorted(records, key=lambda each: (each.ts, each.probe)):
        believed = fresh_until(record.ts, record.interval_ms)
        for metric, value in record.values.items():
            before = found.get(metric)
            if before is None or not isinstance(value, Absence) or isinstance(before.value, Absence):
                found[metric] = Recorded(value, record.ts, believed)
    return found


class LatestValues:
    """The latest state of every object seen, by name."""

    def __init__(self, kinds: Mapping[str, Kind], declared: Declared) -> None:
        self._kinds = kinds
        self._declared = declared
        self._objects: dict[ObjectName, LatestState] = {}
        self._gone: dict[ObjectName, int] = {}
        self.group = ""
        """The owner of what belongs to the queue-sharing group; empty until it is known."""
        self.turn = 0
        """Counts what changes any value."""
        self.population: dict[str, int] = {}
        """Counts the objects of each owner that came and went."""
        self._reported: set[tuple[str, str]] = set()
        """(owner, kind) of which something was ever reported, if only that there is none."""
        self._probes: dict[str, list[str]] = {}
        channel = kinds["channel"].metric("type") if "channel" in kinds else None
        self._channel_types: Mapping[str, int] = channel.values if channel else {}
        for kind in kinds.values():
            self._probes.setdefault(kind.poll, []).append(kind.name)

    def shift(self, by_ms: int) -> None:
        """Shift every date by ``by_ms``, as the clock was corrected."""
        self.turn += 1
        for state in self._objects.values():
            state.shift(by_ms)
        self._gone = {name: ts + by_ms for name, ts in self._gone.items()}

    def learn(self, snapshot: Snapshot) -> None:
        """Take over a snapshot.

        A reply that did not come makes the metrics of a poll absent; of other probes (definitions) the last values
        stay until they are stale. Objects that are gone are dropped.
        """
        for record in self.learn_polls(snapshot):
            self.learn_record(record)

    def learn_polls(self, snapshot: Snapshot) -> list[Reading]:
        """Take over the polls of a snapshot, and return its records, which are for ``learn_record``."""
        self.turn += 1
        if snapshot.group:
            self.group = snapshot.owner
        objects = self._objects
        records = []
        for reading in snapshot.readings:
            if reading.source is not _POLL:
                records.append(reading)
                continue
            if reading.gone:
                if objects.pop(reading.object, None) is not None:
                    self._count(reading.object.owner)
                    self._note_gone(reading)
                continue
            state = objects.get(reading.object)
            if state is None:
                state = objects[reading.object] = self._new(reading.object)
            if reading.answered or reading.poll:
                state.learn(reading)
                if reading.probe == _COMMAND:
                    self._note_answer(reading)
        return records

    def _note_answer(self, reading: Reading) -> None:
        """A complete reply to the probe of a kind is a report of it, also when it found nothing."""
        if reading.values.get("outcome") in _ANSWERED:
            owner, _, form = reading.object
            self._reported.update((owner, kind) for kind in self._probes.get(form.partition(" ")[0], ()))

    def reported(self, owners: Iterable[str], kind: str) -> bool:
        """Whether one of these owners ever reported a kind of objects; a reply without any is a report."""
        return any((owner, kind) in self._reported for owner in owners)

    def learn_record(self, record: Reading) -> bool:
        """Take over a record of an object. False when nothing in it is new.

        That is so after a newer record of its probe, and for a time before the object was found to be gone.
        """
        name = record.object
        state = self._objects.get(name)
        if state is None:
            gone = self._gone.get(name)
            if gone is not None and record.ts - (record.interval_ms or 0) < gone:
                return False
            state = self._objects[name] = self._new(name)
        self.turn += 1
        return state.learn_record(record)

    def _new(self, name: ObjectName) -> LatestState:
        self._count(name.owner)
        self._reported.add((name.owner, name.kind))
        return LatestState(name, self._declared.of(name))

    def _count(self, owner: str) -> None:
        self.population[owner] = self.population.get(owner, 0) + 1

    def _note_gone(self, reading: Reading) -> None:
        gone = self._gone
        gone.pop(reading.object, None)
        gone[reading.object] = reading.ts
        # In the order in which they went: the first ones are the oldest.
        while (oldest := next(iter(gone))) != reading.object and gone[oldest] < reading.ts - _GONE_MS:
            del gone[oldest]

    def state(self, name: ObjectName) -> LatestState | None:
        """The latest state of an object; None when it was never seen or is gone."""
        return self._objects.get(name)

    def related(self, state: LatestState, kind: str) -> LatestState | None:
        """The one object of ``kind`` that belongs to another object.

        Itself; a single kind's object of the same owner or else of the group; what ``RELATIONS`` names. None when
        there is none, or it is not known.
        """
        name = state.name
        if name.kind == kind:
            return state
        if self._kinds[kind].single:
            return self._objects.get(ObjectName(name.owner, kind)) or self._objects.get(ObjectName(self.group, kind))
        rest = self.named(state, kind)
        if not rest:
            return None
        return self._objects.get(ObjectName(name.owner, kind, rest)) or self._objects.get(
            ObjectName(self.group, kind, rest)
        )

    def pair(self, state: LatestState) -> LatestState | None:
        """The other queue of a declared pair: of the same owner, or else of the group.

        None when there is none, or it is not known.
        """
        name = state.name
        other = state.values.get("pair")
        if not isinstance(other, str):
            return None
        return self._objects.get(ObjectName(name.owner, name.kind, other)) or self._objects.get(
            ObjectName(self.group, name.kind, other)
        )

    def owners(self) -> tuple[str, ...]:
        """Every owner of an object that is or was known."""
        return tuple(self.population)

    def named(self, state: LatestState, kind: str) -> str:
        """The last part of the name of the object of ``kind`` that ``RELATIONS`` relates to another; empty when there
        is none.
        """
        relation = RELATIONS.get((state.name.kind, kind))
        holder = None if relation is None else self.related(state, relation[0])
        value = None if relation is None or holder is None else holder.values.get(relation[1])
        if value is None or isinstance(value, Absence):
            return ""
        return str(int(value)) if isinstance(value, float) else str(value)

    def touches(self, one: ObjectName, other: ObjectName) -> bool | None:
        """Whether a fault of one object can affect another; None while it is not known.

        They are the same, one belongs to the other, or one is shared by all objects of the owner, such as its log.
        """
        if one == other:
            return True
        if one.owner != other.owner:
            return False
        if any(name.kind in _SHARED or self._kinds[name.kind].single for name in (one, other)):
            return True
        ways = self._belongs(one, other), self._belongs(other, one)
        return True if True in ways else None if None in ways else False

    def leads_to(self, channel: ObjectName, other: ObjectName) -> bool | None:
        """Whether a channel leads to another queue manager; None while that is not known, as during an outage.

        The channel's status names its partner. Before the channel has ever started, a sender leads to the queue
        manager that its transmission queue is named after, and a cluster-sender called TO.QM02 to QM02.
        """
        if channel.kind != "channel" or other.kind != "queue_manager" or channel.owner == other.owner:
            return False
        state = self._objects.get(channel)
        if state is None:
            return None
        partner = state.values.get("remote_queue_manager")
        if isinstance(partner, Absence) and partner in _LOST:
            return None
        if isinstance(partner, str) and partner.strip():
            return partner.strip() == other.owner
        type_ = state.values.get("type")
        if type_ == self._channel_types.get("CLUSSDR"):
            return channel.name == f"TO.{other.owner}"
        return type_ in (self._channel_types.get("SDR"), self._channel_types.get("SVR")) and (
            state.values.get("xmitq") == other.owner
        )

    def _belongs(self, one: ObjectName, other: ObjectName) -> bool | None:
        if (one.kind, other.kind) not in RELATIONS:
            return False
        state = self._objects.get(one)
        name = "" if state is None else self.named(state, other.kind)
        return name == other.name if name else None

    def __iter__(self) -> Iterator[LatestState]:
        return iter(self._objects.values())

    def __len__(self) -> int:
        return len(self._objects)


def relates(scope: Kind, kind: Kind) -> bool:
    """Whether objects of ``scope`` have one object of ``kind`` that belongs to them."""
    return kind.name == scope.name or kind.single or (scope.name, kind.name) in RELATIONS
