"""What a rule sees when it judges one object: the object's values, those of related objects, and their past."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, Reported
from mqvitals_rules.windows import Point, Windows
from mqvitals_rules.world import ObjectState, World


def untold(metric: Metric) -> Absence:
    """Why a metric has no value that nothing has told yet."""
    if metric.needs_smf:
        return Absence.NEEDS_SMF
    if metric.needs_statistics:
        return Absence.NEEDS_STATISTICS
    return Absence.NOT_DECLARED if metric.declared else Absence.NOT_ASKED


_BEHIND = 16
"""So many records at most come at once and are judged one after another."""


class Scene:
    """The expression language's context. One serves many objects: ``enter`` moves it to the next.

    ``absence`` is the reason of the first value that was looked up in vain since it was last set to None: after an unknown verdict, why.
    """

    __slots__ = ("_kind", "_related", "_state", "_untold", "_values", "_windows", "_world", "absence", "now")

    def __init__(self, kinds: Mapping[str, Kind], world: World, windows: Windows) -> None:
        self._world = world
        self._windows = windows
        self._untold = {(kind.name, metric.name): untold(metric) for kind in kinds.values() for metric in kind.metrics}
        self._state: ObjectState | None = None
        self._values: dict[str, Reported] = {}
        self._kind = ""
        self._related: dict[str, ObjectState | None] = {}
        self.now = 0
        self.absence: Absence | None = None

    def enter(self, state: ObjectState, now: int) -> None:
        """Look at another object, or at the same at another time."""
        self._state = state
        self._kind = state.name.kind
        self.now = now
        if now > state.deadline:
            state.expire(now)
        self._values = state.values
        if self._related:
            self._related = {}

    def value(self, kind: str, metric: str) -> Reported:
        """The latest value of a metric of the object, or of the one object of another kind that belongs to it."""
        if kind == self._kind:
            value = self._values.get(metric)
        else:
            state = self._other(kind)
            value = None if state is None else state.values.get(metric)
        if value is None:
            value = self._untold[kind, metric]
        if value.__class__ is Absence and self.absence is None:
            self.absence = value
        return value

    def points(self, kind: str, metric: str, since_ms: int) -> Sequence[Point]:
        """The polls of a metric with a time greater than ``since_ms``, oldest first.

        Of a metric whose value is a record's: its records, as if the newest that is known ended now, while it is fresh. So a window
        holds what is believed, however long the interval of records is, and a late record sees nothing of what came after it.
        """
        state = self._state if kind == self._kind else self._other(kind)
        if state is None:
            return ()
        if metric not in state.from_records:
            return self._windows.points(state.name, metric, since_ms)
        told = state.recorded[metric]
        if told.fresh_until < self.now:
            return ()
        behind = self.now - told.ts
        points = self._windows.points(state.name, metric, since_ms - behind)
        return [point._replace(ts=point.ts + behind) for point in points if point.ts <= told.ts]

    def last(self, kind: str, metric: str, n: int) -> Sequence[Point]:
        """The newest ``n`` polls of a metric, oldest first; of a metric whose value is a record's its records."""
        state = self._state if kind == self._kind else self._other(kind)
        if state is None:
            return ()
        if metric not in state.from_records:
            return self._windows.last(state.name, metric, n)
        told = state.recorded[metric]
        points = self._windows.last(state.name, metric, n + _BEHIND)
        return [point for point in points if point.ts <= told.ts][-n:] if n > 0 else []

    def _other(self, kind: str) -> ObjectState | None:
        if kind not in self._related:
            assert self._state is not None, "a scene looks at nothing before enter()"
            state = self._world.related(self._state, kind)
            if state is not None and self.now > state.deadline:
                state.expire(self.now)
            self._related[kind] = state
        return self._related[kind]


class Present:
    """The expression language's context where there is no past: an object's values as ``lookup`` tells them."""

    __slots__ = ("_lookup", "now")

    def __init__(self, lookup: Callable[[str, str], Reported], now: int) -> None:
        self._lookup = lookup
        self.now = now

    def value(self, kind: str, metric: str) -> Reported:
        """What ``lookup`` tells."""
        return self._lookup(kind, metric)

    def points(self, kind: str, metric: str, since_ms: int) -> Sequence[Point]:  # noqa: ARG002
        """None."""
        return ()

    def last(self, kind: str, metric: str, n: int) -> Sequence[Point]:  # noqa: ARG002
        """None."""
        return ()
