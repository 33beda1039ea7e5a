"""The context in which rules are evaluated: values of one object, those of related objects, and their past.

``InstantContext`` has only the values of one moment; a formula needs no more. ``MessageIndex`` sorts console messages once by the object that
they name, for all objects that are evaluated at the same moment.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

from mqvitals_rules.expression.context import Context, Unplaced, enough
from mqvitals_rules.expression.expression import compile_value
from mqvitals_rules.expression.functions import EVER, delta
from mqvitals_rules.history import MetricHistory, ObjectMessage, Point
from mqvitals_rules.latest import LatestValues
from mqvitals_rules.latest_state import LatestState
from mqvitals_rules.members import MemberGroup, MemberIndex
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.event import lacking
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType, Reported


class NoMembers:
    """No members at all."""

    __slots__ = ("doubt", "notes", "unplaced")

    def __init__(self) -> None:
        self.notes: dict[object, Any] = {}
        self.doubt: Absence | None = None
        self.unplaced: Sequence[Unplaced] = ()

    def __iter__(self) -> Iterator[tuple[Context, Mapping[str, Reported]]]:
        return iter(())

    def named(self, name: str) -> Iterable[tuple[Context, Mapping[str, Reported]]]:  # noqa: ARG002
        """None."""
        return ()


class InstantContext:
    """The context without a past and without other objects: an object's values, from ``lookup``."""

    __slots__ = ("_lookup", "name", "now")

    def __init__(self, lookup: Callable[[str, str], Reported], now: int, name: str = "") -> None:
        self._lookup = lookup
        self.now = now
        self.name = name

    @property
    def this(self) -> Context:
        """Itself."""
        return self

    @property
    def pair(self) -> Context:
        """One without any value."""
        return InstantContext(lambda *_: Absence.NOT_DECLARED, self.now)

    def value(self, kind: str, metric: str) -> Reported:
        """The value that ``lookup`` returns."""
        return self._lookup(kind, metric)

    def points(self, kind: str, metric: str, since_ms: int) -> Sequence[Point]:  # noqa: ARG002
        """None."""
        return ()

    def last(self, kind: str, metric: str, n: int) -> Sequence[Point]:  # noqa: ARG002
        """None."""
        return ()

    def baseline(self, kind: str, metric: str, *, counter: bool) -> float | None:  # noqa: ARG002
        """None."""
        return None

    def total(self, kind: str, metric: str, window_ms: int) -> float | None:  # noqa: ARG002
        """None."""
        return None

    def members(self, kind: str) -> NoMembers:  # noqa: ARG002
        """None."""
        return NoMembers()

    def messages(
        self,
        ids: frozenset[str],  # noqa: ARG002
        since_ms: int,  # noqa: ARG002
        *,
        quiet: bool = False,  # noqa: ARG002
    ) -> Sequence[ObjectMessage] | None:
        """None."""
        return None


Formula = Callable[[Callable[[str], Reported]], float | Absence]
"""From a lookup of values by name to the number calculated from them, or why there is none."""
_NOTHING_ELSE = InstantContext(lambda *_: Absence.NOT_RETURNED, now=0)


def compile_formula(text: str, names: Iterable[str]) -> Formula:
    """Arithmetic in the rule language on values that are called ``names``, such as the fields of a record.

    There is no number when a value is absent, or none (the reason of the first one), or after a division by zero.
    Raises ExpressionError: the text is malformed, or uses another name.
    """
    metrics = tuple(Metric(name, "", MetricType.GAUGE, "") for name in names)
    calculation = compile_value(text, Kind("formula", "", "", metrics), {})
    used = tuple(metric.name for metric in metrics if ("formula", metric.name) in calculation.names)

    def calculate(value_of: Callable[[str], Reported]) -> float | Absence:
        number = calculation.number(_NOTHING_ELSE, value_of)
        if number is not None:
            return number
        # With every operand present, only a division by zero has no result.
        return next((value for name in used if isinstance(value := value_of(name), Absence)), Absence.NOTHING_TO_TELL)

    return calculate


_when = attrgetter("ts")
_EVERY = ("", "")
_NONE: frozenset[str] = frozenset()
_About = Mapping[tuple[str, ...], Sequence[ObjectMessage]]


_STARTING, _STARTED, _STOPPING, _STOPPED = "CSQY000I", "CSQY022I", "CSQY002I", "CSQ3104I"
RESTART_IDS: Final = frozenset((_STARTING, _STARTED, _STOPPING, _STOPPED))
_SETTLING_MS: Final = 300_000
"""Channels and connections are restored for so long after a start is complete."""
_LONGEST_RESTART_MS: Final = 4 * 3_600_000
"""A start or stop of which no end is seen is taken to be over after this time."""

_Period = tuple[int, int]
"""First and last moment, ms UTC."""


def restarts(messages: Iterable[ObjectMessage]) -> Sequence[_Period]:
    """When a queue manager started or stopped, by its messages with ``RESTART_IDS`` in the order of time."""
    found: list[_Period] = []
    began: int | None = None
    for message in messages:
        if began is not None:
            ends = message.ts + (_SETTLING_MS if message.id == _STARTED else 0)
            found.append((began, min(ends, began + _LONGEST_RESTART_MS)))
            if message.id == _STARTED:
                found.append((message.ts, ends))
        elif message.id == _STARTED:
            found.append((message.ts, message.ts + _SETTLING_MS))
        began = message.ts if message.id in (_STARTING, _STOPPING) else None
    if began is not None:
        found.append((began, began + _LONGEST_RESTART_MS))
    return found


class MessageIndex:
    """Finds the messages about an object. Thousands of queues need the same ones in turn."""

    def __init__(self, kinds: Mapping[str, Kind], latest: LatestValues, windows: MetricHistory) -> None:
        self._kinds = kinds
        self._latest = latest
        self._windows = windows
        self._now = -1
        self._known: dict[tuple[str, frozenset[str], int, bool], _About] = {}
        self._lasting: dict[tuple[str, frozenset[str]], tuple[list[Sequence[ObjectMessage]], _About]] = {}
        self._restarts: dict[str, tuple[Sequence[ObjectMessage], Sequence[_Period]]] = {}

    def about(
        self, name: ObjectName, ids: frozenset[str], since: int, now: int, *, quiet: bool = False
    ) -> Sequence[ObjectMessage] | None:
        """The messages after ``since`` and up to ``now`` that name the object, oldest first; of a single kind all of
        its owner.

        Of the group they are those of all members. None: no console is followed. ``quiet``: without those written
        while their queue manager started or stopped.
        """
        if now != self._now:
            self._now = now
            self._known.clear()
        key = name.owner, ids, since, quiet
        found = self._known.get(key)
        if found is None:
            found = self._sorted(name.owner, ids, since, quiet=quiet)
            if found is None:
                return None
            self._known[key] = found
        return found.get(_EVERY if self._kinds[name.kind].single else name[1:], ())

    def followed(self, owner: str, now: int) -> bool:
        """Whether a console is followed, or events are read, whose messages are about objects of an owner."""
        return any(self._windows.messages(each, _NONE, now) is not None for each in self._owners(owner))

    def _owners(self, owner: str) -> Iterable[str]:
        """The owners whose consoles are about objects of an owner: of a group its queue managers."""
        if owner not in self._latest.groups:
            return (owner,)
        return (each for each in self._latest.owners() if self._latest.group_of(each) == owner)

    def _sorted(self, owner: str, ids: frozenset[str], since: int, *, quiet: bool) -> _About | None:
        by_owner: list[Sequence[ObjectMessage]] = []
        for each in self._owners(owner):
            messages = self._windows.messages(each, ids, since)
            if messages is not None:
                by_owner.append(self._undisturbed(each, messages) if quiet and messages else messages)
        if not by_owner:
            return None
        if since != EVER or quiet:
            return self._by_object(by_owner)
        # What lasts is mostly what it was at the poll before.
        before = self._lasting.get((owner, ids))
        if before is not None and len(before[0]) == len(by_owner) and all(map(operator.is_, before[0], by_owner)):
            return before[1]
        found = self._by_object(by_owner)
        if all(messages[-1].ts <= self._now for messages in by_owner if messages):
            self._lasting[owner, ids] = by_owner, found
        return found

    def _undisturbed(self, owner: str, messages: Sequence[ObjectMessage]) -> Sequence[ObjectMessage]:
        """The messages that were not written while the queue manager started or stopped."""
        told = self._windows.messages(owner, RESTART_IDS, EVER) or ()
        known = self._restarts.get(owner)
        if known is None or known[0] is not told:
            known = self._restarts[owner] = told, restarts(told)
        periods = known[1]
        if not periods:
            return messages
        return [each for each in messages if not any(begin <= each.ts <= end for begin, end in periods)]

    def _by_object(self, by_owner: Iterable[Sequence[ObjectMessage]]) -> _About:
        # The group and its members may have the same message.
        found = dict.fromkeys(each for messages in by_owner for each in messages if each.ts <= self._now)
        ordered = sorted(found, key=_when)
        about: dict[tuple[str, ...], list[ObjectMessage]] = {_EVERY: ordered}
        for each in ordered:
            if each.object is not None:
                about.setdefault(each.object[1:], []).append(each)
        return about


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
        "_messages",
        "_related",
        "_state",
        "_unreported",
        "_values",
        "_windows",
        "absence",
        "now",
        "silent",
        "this",
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
        self.now = 0
        self.silent = ""
        self.absence: Absence | None = None

    def enter(self, state: LatestState, now: int) -> None:
        """Look at another object, or at the same at another time."""
        self._state = state
        self._kind = state.name.kind
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
    def name(self) -> str:
        """The last part of the object's name."""
        return self._entered().name.name

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
        self._note(group.absence)
        return ContextMembers(group, self)

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

    @property
    def unheard(self) -> bool:
        """Whether no messages about the object are known: neither a console nor an event queue of its owner is followed."""
        return self._entered().name[0] == self.silent

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
        return [point._replace(ts=point.ts + behind) for point in points if point.ts <= record.ts]

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

    def __iter__(self) -> Iterator[tuple[EvalContext, Mapping[str, Reported]]]:
        return self._context.through(self._group, self._group.states)

    def named(self, name: str) -> Iterator[tuple[EvalContext, Mapping[str, Reported]]]:
        """Those whose name has this last part."""
        return self._context.through(self._group, self._group.named(name))
