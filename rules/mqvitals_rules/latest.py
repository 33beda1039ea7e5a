"""The latest state of every object, and the relations between objects: what the engine knows between snapshots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from mqvitals_rules.latest_state import LOST, RELATIONS, LatestState
from mqvitals_rules.snapshot import ObjectName, Outcome, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Kind, Value

_POLL = Source.POLL

_COMMAND = "COMMAND"
"""The probe of outcomes of commands."""

_ANSWERED = (Outcome.OK.value, Outcome.NOT_FOUND.value)

_GONE_MS = 86_400_000
"""How long an object's end is kept, for records that come later and are about the time before."""

_SHARED = frozenset({"adapter", "dispatcher", "ssl_task", "dns_task"})
"""Kinds of which there are several, and which serve all of their owner."""

_HOLDINGS: Mapping[str, tuple[str, str]] = {
    "page_set": ("total_pages", "unused_pages"),
    "buffer_pool": ("total", "free"),
    "cf_structure": ("entries_used", ""),
}
"""Kind of storage -> its metrics of all that it can hold, and of what is free; empty where the first is what is used."""


class Declared(Protocol):
    """Where declared values come from."""

    def of(self, name: ObjectName) -> Mapping[str, Value]:
        """The declared metrics of an object, defaults included."""
        ...


class LatestValues:
    """The latest state of every object seen, by name."""

    def __init__(
        self, kinds: Mapping[str, Kind], declared: Declared, group_of: Callable[[str], str | None] = lambda _: None
    ) -> None:
        """``group_of``: the queue-sharing group of a queue manager, where it is known from elsewhere than its values."""
        self._kinds = kinds
        self._declared = declared
        self._objects: dict[ObjectName, LatestState] = {}
        self._gone: dict[ObjectName, int] = {}
        self._group_named = group_of
        self.groups: set[str] = set()
        """Every queue-sharing group that reported: SMF data of one system may hold records of several."""
        self.turn = 0
        """Counts what changes any value."""
        self._singles: dict[tuple[str, str], LatestState | None] = {}
        """(owner, single kind) -> its object, found since the last change: thousands of objects read it."""
        self.population: dict[str, int] = {}
        """Counts the objects of each owner that came and went."""
        self._reported: set[tuple[str, str]] = set()
        """(owner, kind) of which something was ever reported, if only that there is none."""
        self._probes: dict[str, list[str]] = {}
        channel = kinds["channel"].metric("type") if "channel" in kinds else None
        self._channel_types: Mapping[str, int] = channel.values if channel else {}
        usage = kinds["queue"].metric("usage") if "queue" in kinds else None
        self._transmits = usage.values.get("XMITQ") if usage else None
        dead_letter = kinds["queue"].metric("dead_letter") if "queue" in kinds else None
        self._yes = dead_letter.values.get("YES") if dead_letter else None
        self._readers: Mapping[tuple[str, str], list[ObjectName]] = {}
        self._readers_turn = -1
        for kind in kinds.values():
            self._probes.setdefault(kind.poll_command, []).append(kind.name)

    def shift(self, by_ms: int) -> None:
        """Shift every date by ``by_ms``, as the clock was corrected."""
        self._change()
        for state in self._objects.values():
            state.shift(by_ms)
        self._gone = {name: ts + by_ms for name, ts in self._gone.items()}

    def learn(self, snapshot: Snapshot) -> None:
        """Take over a snapshot.

        A reply that did not come makes the metrics of a poll absent; of other probes (definitions) the last values
        stay until they are stale. Objects that are gone are dropped.
        """
        records, _ = self.learn_polls(snapshot)
        for record in records:
            self.learn_record(record)

    def learn_polls(self, snapshot: Snapshot) -> tuple[list[Reading], list[LatestState]]:
        """Take over the polls of a snapshot. Returns its records, which are for ``learn_record``, and the objects that it
        polled and that are still there, each as often as it was polled.
        """
        self._change()
        if snapshot.group:
            self.groups.add(snapshot.owner)
        objects = self._objects
        records: list[Reading] = []
        polled: list[LatestState] = []
        gone = False
        for reading in snapshot.readings:
            if reading.source is not _POLL:
                records.append(reading)
                continue
            if reading.gone:
                gone = True
                if objects.pop(reading.object, None) is not None:
                    self._count(reading.object.owner)
                    self._note_gone(reading)
                continue
            state = objects.get(reading.object)
            if state is None:
                state = objects[reading.object] = self._new(reading.object)
            if reading.poll:
                polled.append(state)
            elif not reading.answered:
                continue
            state.learn(reading)
            if reading.probe == _COMMAND:
                self._note_answer(reading)
        if gone:
            polled = [state for state in polled if objects.get(state.name) is state]
        return records, polled

    def _note_answer(self, reading: Reading) -> None:
        """A complete reply to the probe of a kind is a report of it, also when it found nothing."""
        if reading.values.get("outcome") in _ANSWERED:
            owner, _, command = reading.object
            self._reported.update((owner, kind) for kind in self._probes.get(command.partition(" ")[0], ()))

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
        self._change()
        return state.learn_record(record)

    def _change(self) -> None:
        self.turn += 1
        self._singles.clear()

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

    def group_of(self, owner: str) -> str | None:
        """The queue-sharing group of an owner, of a group itself; empty: it is in none; None: not known."""
        if owner in self.groups:
            return owner
        state = self._objects.get(ObjectName(owner, "queue_manager"))
        named = None if state is None else state.link("qsg_name")
        if named is Absence.NOT_ON_DISTRIBUTED or (isinstance(named, str) and not named.strip()):
            return ""
        if len(self.groups) < 2:
            # The configuration may name it otherwise than the queue manager does.
            return next(iter(self.groups), "")
        return named.strip() if isinstance(named, str) and named.strip() in self.groups else self._group_named(owner)

    def _find(self, owner: str, kind: str, rest: str = "") -> LatestState | None:
        """An object of an owner, or else of its group."""
        own = self._objects.get(ObjectName(owner, kind, rest))
        return own or self._objects.get(ObjectName(self.group_of(owner) or "", kind, rest))

    def related(self, state: LatestState, kind: str) -> LatestState | None:
        """The one object of ``kind`` that belongs to another object.

        Itself; a single kind's object of the same owner or else of the group; what ``RELATIONS`` names. None when
        there is none, or it is not known.
        """
        name = state.name
        if name.kind == kind:
            return state
        if self._kinds[kind].single:
            key = name.owner, kind
            if key not in self._singles:
                self._singles[key] = self._find(name.owner, kind)
            return self._singles[key]
        rest = self.named(state, kind)
        return self._find(name.owner, kind, rest) if rest else None

    def pair(self, state: LatestState) -> LatestState | None:
        """The other queue of a declared pair: of the same owner, or else of the group.

        None when there is none, or it is not known.
        """
        name = state.name
        other = state.values.get("pair")
        return self._find(name.owner, name.kind, other) if isinstance(other, str) else None

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

        They are the same, one belongs to the other, or one is shared by all objects of the owner, such as its log. A
        queue is affected by its initiation queue and by the queue for its copies, a dead-letter queue by the dead letters
        on it.
        """
        if one == other:
            return True
        if one.owner != other.owner:
            return False
        if any(name.kind in _SHARED or self._kinds[name.kind].single for name in (one, other)):
            return True
        if one.kind == other.kind == "queue":
            state = self._objects.get(one)
            if state is None:
                return None
            return other.name in (state.values.get("initiation_queue"), state.values.get("stream_queue"))
        if one.kind == "queue" and other.kind == "dead_letter":
            state = self._objects.get(one)
            return None if state is None else state.values.get("dead_letter") == self._yes
        ways = self._belongs(one, other), self._belongs(other, one)
        return True if True in ways else None if None in ways else False

    def leads_to(self, channel: ObjectName, other: ObjectName) -> bool | None:
        """Whether a channel, or a transmission queue, leads to another queue manager; None while that is not known, as
        during an outage.

        A shared transmission queue also leads to the members' channels that read it, and a group to the one member that
        has failed.

        The channel's status names its partner. Before the channel has ever started, a sender leads to the queue
        manager that its transmission queue is named after, and a cluster-sender called TO.QM02 to QM02. A transmission
        queue leads where its channels do, and without any to the queue manager of its name; an entry of the cluster cache
        to the queue manager that it is about, and to the entries that others have of the same cluster.
        """
        if channel.kind == "queue" and other.kind == "channel":
            return self._is_read_by(channel, other)
        if channel.kind == other.kind == "cluster_queue_manager":
            return channel.name.partition("/")[0] == other.name.partition("/")[0]
        if other.kind != "queue_manager" or channel.owner == other.owner:
            return False
        if channel.kind == "queue":
            return self._queue_leads_to(channel, other)
        if channel.kind == "qsg":
            state = self._objects.get(channel)
            failed = Absence.NOT_ASKED if state is None else state.link("failed_members")
            return None if failed is None or isinstance(failed, Absence) else failed == other.owner
        if channel.kind == "cluster_queue_manager":
            return channel.name.partition("/")[2] == other.owner
        if channel.kind != "channel":
            return False
        state = self._objects.get(channel)
        if state is None:
            return None
        partner = state.values.get("remote_queue_manager")
        if isinstance(partner, Absence) and partner in LOST:
            return None
        if isinstance(partner, str) and partner.strip():
            return partner.strip() == other.owner
        type_ = state.values.get("type")
        if type_ == self._channel_types.get("CLUSSDR"):
            return channel.name == f"TO.{other.owner}"
        return type_ in (self._channel_types.get("SDR"), self._channel_types.get("SVR")) and (
            state.values.get("xmitq") == other.owner
        )

    def _is_read_by(self, queue: ObjectName, channel: ObjectName) -> bool | None:
        """Whether a channel of a member reads a shared transmission queue; None while the channel's queue is not known."""
        state = self._objects.get(channel)
        xmitq = None if state is None else state.link("xmitq")
        if xmitq is None or (isinstance(xmitq, Absence) and xmitq in LOST):
            return None
        return xmitq == queue.name and self.group_of(channel.owner) == queue.owner

    def _queue_leads_to(self, queue: ObjectName, other: ObjectName) -> bool | None:
        state = self._objects.get(queue)
        usage = None if state is None else state.values.get("usage")
        if usage is None or (isinstance(usage, Absence) and usage in LOST):
            return None
        if usage != self._transmits:
            return False
        owners = {queue.owner}
        if queue.owner in self.groups:
            owners.update(owner for owner in self.population if self.group_of(owner) == queue.owner)
        if self._readers_turn != self.turn:
            self._readers_turn, self._readers = self.turn, self._channels_by_queue()
        channels = [channel for owner in owners for channel in self._readers.get((owner, queue.name), ())]
        if not channels:
            return queue.name == other.owner
        ways = [self.leads_to(channel, other) for channel in channels if channel.owner != other.owner]
        return True if True in ways else None if None in ways else False

    def _channels_by_queue(self) -> Mapping[tuple[str, str], list[ObjectName]]:
        """(owner, transmission queue) -> its channels."""
        found: dict[tuple[str, str], list[ObjectName]] = {}
        for name, state in self._objects.items():
            if name.kind == "channel" and isinstance(queue := state.link("xmitq"), str) and queue.strip():
                found.setdefault((name.owner, queue), []).append(name)
        return found

    def weighs(self, queue: ObjectName, storage: ObjectName, share: float) -> bool | None:
        """Whether the messages of a queue are at least a ``share`` (0 to 1) of what a page set, buffer pool or structure
        holds; None while that is not known. True for other objects.

        A message takes ``avg_msg_pages``, where records tell it, else a page; and an entry of a structure.
        """
        if queue.kind != "queue" or storage.kind not in _HOLDINGS:
            return True
        one, other = self._objects.get(queue), self._objects.get(storage)
        if one is None or other is None:
            return None
        depth = _number(one, "depth")
        pages = 1.0 if storage.kind == "cf_structure" else _number(one, "avg_msg_pages") or 1.0
        all_, unused = _HOLDINGS[storage.kind]
        held, free = _number(other, all_), _number(other, unused) if unused else 0.0
        if depth is None or held is None or free is None:
            return None
        return depth > 0 and depth * pages >= share * (held - free)

    def _belongs(self, one: ObjectName, other: ObjectName) -> bool | None:
        if (one.kind, other.kind) not in RELATIONS:
            return False
        state = self._objects.get(one)
        name = "" if state is None else self.named(state, other.kind)
        return name == other.name if name else None

    def all(self) -> list[LatestState]:
        """The states of all objects. Another thread than the one that writes may call it."""
        return list(self._objects.values())

    def __iter__(self) -> Iterator[LatestState]:
        return iter(self._objects.values())

    def __len__(self) -> int:
        return len(self._objects)


def _number(state: LatestState, metric: str) -> float | None:
    value = state.values.get(metric)
    return float(value) if isinstance(value, int | float) else None


def relates(scope: Kind, kind: Kind) -> bool:
    """Whether objects of ``scope`` have one object of ``kind`` that belongs to them."""
    return kind.name == scope.name or kind.single or (scope.name, kind.name) in RELATIONS
