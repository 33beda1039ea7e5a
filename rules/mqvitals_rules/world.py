"""What is known now: the latest value of every metric of every object, and how objects belong together.

The engine's memory between snapshots. It keeps absent values with their reasons, marks values that are overdue as stale, and merges in what the
configuration declares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported, Value

STALE_AFTER = 3
"""A value is stale once it is older than this many of its usual intervals."""

_NEVER = 1 << 62

RELATIONS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("channel", "queue"): ("channel", "xmitq"),
    ("queue", "page_set"): ("queue", "page_set"),
    ("queue", "buffer_pool"): ("page_set", "buffer_pool"),
    ("page_set", "buffer_pool"): ("page_set", "buffer_pool"),
    ("queue", "cf_structure"): ("queue", "cf_structure"),
}
"""(an object's kind, the kind it is related to) -> the (kind, metric) that names the related object: the object's own, or its related one's."""


class Declared(Protocol):
    """Where declared values come from."""

    def of(self, name: ObjectName) -> Mapping[str, Value]:
        """The declared metrics of an object, defaults included."""
        ...


class Stamp:
    """When some metrics of an object were last told together, and how far apart that usually is (None: told once).

    Compared by identity, which is what makes it quick to find the few stamps of many metrics.
    """

    __slots__ = ("ts", "usual_ms")

    def __init__(self, ts: int, usual_ms: int | None) -> None:
        self.ts = ts
        self.usual_ms = usual_ms


class ObjectState:
    """One object's latest values. ``values`` is what rules read; a metric nobody has told is not in it."""

    __slots__ = ("deadline", "declared", "extra", "name", "stamps", "values")

    def __init__(self, name: ObjectName, declared: Mapping[str, Value]) -> None:
        self.name = name
        self.declared = declared
        self.values: dict[str, Reported] = dict(declared)
        self.stamps: dict[str, Stamp] = {}
        self.deadline = _NEVER
        """Until then nothing can have become stale, so that most looks cost one comparison."""
        self.extra: object = None
        """For the engine: what it has worked out about this object."""

    def learn(self, reading: Reading) -> None:
        """Take over what a reading says."""
        told = reading.values
        if not told:
            return
        ts = reading.ts
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

    def expire(self, now: int) -> None:
        """Mark what is overdue as stale."""
        if now <= self.deadline:
            return
        deadline = _NEVER
        for metric, stamp in self.stamps.items():
            if stamp.usual_ms is None:
                continue
            ends = stamp.ts + STALE_AFTER * stamp.usual_ms
            if ends >= now:
                deadline = min(deadline, ends)
            elif metric not in self.declared and not isinstance(self.values[metric], Absence):
                self.values[metric] = Absence.STALE
        self.deadline = deadline


class World:
    """The latest state of every object seen, by name."""

    def __init__(self, kinds: Mapping[str, Kind], declared: Declared) -> None:
        self._kinds = kinds
        self._declared = declared
        self._objects: dict[ObjectName, ObjectState] = {}
        self._group = ""

    def learn(self, snapshot: Snapshot) -> None:
        """Take over a snapshot.

        An answer that did not come makes the metrics of a poll absent; of what is only asked beside it (definitions) the last values stay until they are
        stale. Objects that are gone are forgotten.
        """
        if snapshot.group:
            self._group = snapshot.owner
        objects = self._objects
        for reading in snapshot.readings:
            if reading.gone:
                objects.pop(reading.object, None)
                continue
            state = objects.get(reading.object)
            if state is None:
                state = objects[reading.object] = ObjectState(reading.object, self._declared.of(reading.object))
            if reading.answered or reading.poll:
                state.learn(reading)

    def state(self, name: ObjectName) -> ObjectState | None:
        """What is known of an object; None when it was never seen or is gone."""
        return self._objects.get(name)

    def related(self, state: ObjectState, kind: str) -> ObjectState | None:
        """The one object of ``kind`` that belongs to another object.

        Itself; a single kind's object of the same owner or else of the group; what ``RELATIONS`` names. None when there is none, or it is not known.
        """
        name = state.name
        if name.kind == kind:
            return state
        if self._kinds[kind].single:
            return self._objects.get(ObjectName(name.owner, kind)) or self._objects.get(ObjectName(self._group, kind))
        rest = self.named(state, kind)
        if not rest:
            return None
        return self._objects.get(ObjectName(name.owner, kind, rest)) or self._objects.get(
            ObjectName(self._group, kind, rest)
        )

    def named(self, state: ObjectState, kind: str) -> str:
        """The last part of the name of the object of ``kind`` that ``RELATIONS`` relates to another; empty when there is none."""
        relation = RELATIONS.get((state.name.kind, kind))
        holder = None if relation is None else self.related(state, relation[0])
        value = None if relation is None or holder is None else holder.values.get(relation[1])
        if value is None or isinstance(value, Absence):
            return ""
        return str(int(value)) if isinstance(value, float) else str(value)

    def __iter__(self) -> Iterator[ObjectState]:
        return iter(self._objects.values())

    def __len__(self) -> int:
        return len(self._objects)


def relates(scope: Kind, kind: Kind) -> bool:
    """Whether objects of ``scope`` have one object of ``kind`` that belongs to them."""
    return kind.name == scope.name or kind.single or (scope.name, kind.name) in RELATIONS
