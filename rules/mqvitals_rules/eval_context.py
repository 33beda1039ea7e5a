"""The context in which rules are evaluated: values of one object, those of related objects, and their past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mqvitals_rules.expression.context import Context, enough
from mqvitals_rules.expression.functions import delta
from mqvitals_rules.history import MetricHistory, ObjectMessage, Point, covered_values
from mqvitals_rules.instant_context import InstantContext
from mqvitals_rules.latest import LatestValues
from mqvitals_rules.latest_state import LatestState
from mqvitals_rules.members import MemberGroup, MemberIndex
from mqvitals_rules.message_index import MessageIndex
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.event import lacking
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, Reported


def unreported_reason(metric: Metric) -> Absence:
    """Why a metric is absent before anything reported it."""
    if metric.needs_smf:
        return Absence.NEEDS_SMF
    if metric.needs_statistics:
        return Absence.NEEDS_STATISTICS
    return Absence.NOT_DECLARED if metric.declared else Absence.NOT_ASKED


_BEHIND = 16
"""Most records that come at once and are evaluated one after another."""


class EvalContext:
    """The expression language's context. One serves many objects: ``enter`` moves it to the next.

    ``absence`` is the reason of the first absent value since it was last set to None: after an unknown verdict, why.
    ``of`` is the context of the evaluated object, for one that goes through its members. ``silent`` may be set to an
    owner without a followed console or event queue, to skip the look-up for thousands of objects.
    """

    __slots__ = (
        "_beside",
        "_index",
        "_kind",
        "_kinds",
        "_latest",
        "_member",
        "_members",
        "_messages",
        "_related",
        "_state",
        "_unreported",
        "_values",
        "_windows",
        "absence",
        "name",
        "now",
        "silent",
        "this",
        "unheard",
    )

    def __init__(
        self, kinds: Mapping[str, Kind], latest: LatestValues, windows: MetricHistory, *, of: EvalContext | None = None
    ) -> None:
        self._kinds = kinds
        self._latest = latest
        self._windows = windows
        if of is None:
            self._unreported = {
                kind.name: {metric.name: unreported_reason(metric) for metric in kind.metrics}
                for kind in kinds.values()
            }
            self._index = MemberIndex(kinds, latest)
            self._messages = MessageIndex(kinds, latest, windows)
        else:
            self._unreported = of._unreported
            self._index = of._index
            self._messages = of._messages
        self.this: EvalContext = self if of is None else of
        self._member: EvalContext | None = None
        self._beside: EvalContext | None = None
        self._state: LatestState | None = None
        self._values: dict[str, Reported] = {}
        self._kind = ""
        self._related: dict[str, LatestState | None] = {}
        self._members: ContextMembers | None = None
        """Those that were asked for last."""
        self.name = ""
        """The last part of the object's name."""
        self.now = 0
        self.silent = ""
        self.unheard = False
        """Whether no messages about the object are known: neither a console nor an event queue of its owner is followed."""
        self.absence: Absence | None = None

    def close(self) -> None:
        """Let go of the other contexts, when nothing more is read: they refer to each other, and would keep all that is known
        until a full collection of the garbage collector.
        """
        for other in (self._member, self._beside):
            if other is not None:
                other.close()
        self._member = self._beside = None
        self._members = None
        del self.this

    def enter(self, state: LatestState, now: int) -> None:
        """Look at another object, or at the same at another time."""
        self._state = state
        owner, self._kind, self.name = state.name
        self.unheard = owner == self.silent
        self.now = now
        if now > state.deadline:
            state.expire(now)
        self._values = state.values
        if self._related:
            self._related = {}

    def unreported(self, kind: str) -> Mapping[str, Absence]:
        """By metric of a kind, why it is absent before anything reported it."""
        return self._unreported[kind]

    @property
    def pair(self) -> Context:
        """The other queue of the declared pair."""
        state = self._entered()
        other = self._latest.pair(state)
        if other is None:
            absence = Absence.NOT_ASKED if isinstance(state.values.get("pair"), str) else Absence.NOT_DECLARED
            self._note(absence)
            return InstantContext(lambda *_: absence, self.now)
        if self._beside is None:
            self._beside = self._another()
        self._beside.enter(other, self.now)
        return self._beside

    def members(self, kind: str) -> ContextMembers:
        """The objects of ``kind`` that belong to the object."""
        group = self._index.of(self._entered(), kind, self.now)
        if self.absence is None:
            self.absence = group.absence
        found = self._members
        if found is None or not found.are(group):
            # Thousands of objects have the same members, or none.
            found = self._members = ContextMembers(group, self)
        return found

    def member_values(self, kind: str) -> Sequence[tuple[ObjectName, Mapping[str, Reported]]] | Absence:
        """The members of a kind with their latest values; the reason where it is not known which they are."""
        group = self._index.of(self._entered(), kind, self.now)
        if group.doubt is not None or (group.unplaced and not group.states):
            return group.doubt or group.unplaced[0].absence
        for state in group.states:
            if self.now > state.deadline:
                state.expire(self.now)
        return [(state.name, state.values) for state in group.states]

    def total(self, kind: str, metric: str, window_ms: int) -> float | None:
        """The sum of a metric, or of its increases over a window, over all objects of the kind and owner.

        None when fewer than four of five are known.
        """
        state = self._state if kind == self._kind else self._other(kind)
        if state is None:
            return None
        group = self._index.alike(state.name, self.now)
        key = metric, window_ms
        if key not in group.notes:
            group.notes[key] = self._summed(group, kind, metric, window_ms)
        found: float | None = group.notes[key]
        return found

    def baseline(self, kind: str, metric: str, *, counter: bool) -> float | None:
        """What a metric (of a ``counter`` its rate a second) usually is at this weekday and hour."""
        state = self._state if kind == self._kind else self._other(kind)
        return None if state is None else self._windows.baseline(state.name, metric, self.now, counter)

    def note_followed(self, owner: str, now: int) -> None:
        """Note until the next call whether a console or event queue of the owner is followed."""
        self.silent = "" if self._messages.followed(owner, now) else owner

    def messages(self, ids: frozenset[str], since_ms: int, *, quiet: bool = False) -> Sequence[ObjectMessage] | None:
        """The console messages up to now that name the object; of a single kind, all of its owner.

        Of the group, all members' messages.
        """
        assert self._state is not None, "a context reads nothing before enter()"
        name = self._state.name
        if name[0] != self.silent:
            found = self._messages.about(name, ids, since_ms, self.now, quiet=quiet)
            if found is not None:
                return found
        if self.absence is None:
            self.absence = lacking(ids)
        return None

    def value(self, kind: str, metric: str) -> Reported:
        """The latest value of a metric of the object, or of the one object of another kind that belongs to it."""
        if kind == self._kind:
            value = self._values.get(metric)
        else:
            state = self._other(kind)
            value = None if state is None else state.values.get(metric)
        if value is None:
            value = self._unreported[kind][metric]
        if value.__class__ is Absence and self.absence is None:
            self.absence = value
        return value

    def points(self, kind: str, metric: str, since_ms: int) -> Sequence[Point]:
        """The polls of a metric with a time greater than ``since_ms``, oldest first.

        Of a metric whose value is a record's: its records, shifted as if the newest ended now, while it is fresh. So
        a window holds fresh values, however long the interval of records is, and a late record sees nothing of what
        came after it.
        """
        state = self._state if kind == self._kind else self._other(kind)
        if state is None:
            return ()
        if metric not in state.from_records:
            return self._windows.points(state.name, metric, since_ms)
        record = state.recorded[metric]
        if record.fresh_until < self.now:
            return ()
        behind = self.now - record.ts
        points = self._windows.points(state.name, metric, since_ms - behind)
        return [Point(ts + behind, value, interval) for ts, value, interval in points if ts <= record.ts]

    def covered(self, kind: str, metric: str, window_ms: int) -> Sequence[float]:
        """The values of the newest ``window_ms``, as ``points``; none when they do not cover that time."""
        state = self._state if kind == self._kind else self._other(kind)
        if state is None:
            return ()
        since = self.now - window_ms
        if metric not in state.from_records:
            return self._windows.covered(state.name, metric, since, window_ms)
        return covered_values(self.points(kind, metric, since), since, window_ms)

    def record_end(self, metric: str) -> int | None:
        """When the record ended that has the value of a metric of the object, ms UTC; None: no record has it."""
        state = self._entered()
        return state.recorded[metric].ts if metric in state.from_records else None

    def last(self, kind: str, metric: str, n: int) -> Sequence[Point]:
        """The newest ``n`` polls of a metric, oldest first; of a metric whose value is a record's its records."""
        state = self._state if kind == self._kind else self._other(kind)
        if state is None:
            return ()
        if metric not in state.from_records:
            return self._windows.last(state.name, metric, n)
        record = state.recorded[metric]
        points = self._windows.last(state.name, metric, n + _BEHIND)
        return [point for point in points if point.ts <= record.ts][-n:] if n > 0 else []

    def _other(self, kind: str) -> LatestState | None:
        if kind not in self._related:
            state = self._latest.related(self._entered(), kind)
            if state is not None and self.now > state.deadline:
                state.expire(self.now)
            self._related[kind] = state
        return self._related[kind]

    def through(
        self, group: MemberGroup, states: Iterable[LatestState]
    ) -> Iterator[tuple[EvalContext, Mapping[str, Reported]]]:
        """Go through some members of a group: one context, which enters one after another."""
        if self._member is None:
            self._member = self._another()
        return self._through(group, states, self._member)

    def _through(
        self, group: MemberGroup, states: Iterable[LatestState], context: EvalContext
    ) -> Iterator[tuple[EvalContext, Mapping[str, Reported]]]:
        context.absence = None
        context.silent = self.silent
        now = self.now
        try:
            for state in states:
                context.enter(state, now)
                yield context, state.values
        finally:
            if group.absence is None:
                group.absence = context.absence
            self._note(context.absence)

    def _summed(self, group: MemberGroup, kind: str, metric: str, window_ms: int) -> float | None:
        found = []
        # A context of its own: this may run while others go through members.
        for context, _ in self._through(group, group.states, self._another()):
            if window_ms:
                value: Reported | None = delta(context.points(kind, metric, self.now - window_ms))
            else:
                value = context.value(kind, metric)
            if isinstance(value, int | float):
                found.append(value)
        return sum(found) if enough(len(found), len(group.states)) else None

    def _another(self) -> EvalContext:
        return EvalContext(self._kinds, self._latest, self._windows, of=self)

    def _entered(self) -> LatestState:
        assert self._state is not None, "a context reads nothing before enter()"
        return self._state

    def _note(self, absence: Absence | None) -> None:
        if self.absence is None:
            self.absence = absence


class ContextMembers:
    """The members of an object, iterated by its context."""

    __slots__ = ("_context", "_group", "doubt", "notes", "unplaced")

    def __init__(self, group: MemberGroup, context: EvalContext) -> None:
        self._group = group
        self._context = context
        self.notes = group.notes
        self.doubt = group.doubt
        self.unplaced = group.unplaced

    def are(self, group: MemberGroup) -> bool:
        """Whether they are this group as it is now."""
        return group is self._group and group.notes is self.notes and group.doubt is self.doubt

    def __iter__(self) -> Iterator[tuple[EvalContext, Mapping[str, Reported]]]:
        states = self._group.states
        return self._context.through(self._group, states) if states else iter(())

    def named(self, name: str) -> Iterator[tuple[EvalContext, Mapping[str, Reported]]]:
        """Those whose name has this last part."""
        return self._context.through(self._group, self._group.named(name))
