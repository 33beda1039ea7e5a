"""The values of one object at a past moment, made when they are looked at: a list shows few of its thousands of objects."""

from __future__ import annotations

from collections.abc import Callable, Collection, ItemsView, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

from mqvitals_agent.store.result import CurrentValue
from mqvitals_rules.snapshot import Source
from mqvitals_rules.vocabulary.changes import RECORDED
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported, Value

LASTING: Final = frozenset(
    {
        Absence.NOT_COLLECTED,
        Absence.NOT_ON_ZOS,
        Absence.NOT_ON_DISTRIBUTED,
        Absence.NEEDS_SMF,
        Absence.NEEDS_STATISTICS,
        Absence.NEEDS_CONSOLE,
        Absence.NEEDS_EVENTS,
        Absence.NOT_LIVE,
        Absence.NOT_DECLARED,
    }
)
"""Reasons of now that also hold for a moment of the past without a value."""

_INACTIVE: Final = 0
"""The status of a channel without an instance."""

_OLDEST: Final = "oldest_msg_age_s"
_OFF: Final = 0
"""The level of monitoring of a queue without it."""

_NOTHING: Final[Mapping[str, CurrentValue]] = {}

_AS_VALUE: Final[Callable[[tuple[Any, ...]], CurrentValue]] = partial(tuple.__new__, CurrentValue)
"""Tens of thousands are made for a list, in half the time that the class takes."""


def saying_why(kind: str, wanted: Collection[str]) -> frozenset[str]:
    """The metrics of a kind whose values say why others of those ``wanted`` are absent."""
    if kind == "channel":
        return frozenset({"status"})
    return frozenset({"depth", "monq"}) if kind == "queue" and _OLDEST in wanted else frozenset()


_WantedAbsence = tuple[str, int | None, Absence]
"""A metric, the place of its cell in rows of current state, and why it is absent."""


class CurrentRow(NamedTuple):
    """A row of current state: its probe, when it changed last (ms UTC), why metrics are absent, its cells."""

    probe: str
    changed: int
    absent: Mapping[str, Absence]
    cells: Sequence[Any]


class HistoryRow(NamedTuple):
    """A row of history: its time, the ms that it covers, whether it answers the poll of the kind, and its cells."""

    ts: int
    interval_ms: int | None
    answered: bool
    cells: Sequence[Any]


@dataclass(frozen=True, slots=True)
class MomentFacts:
    """What the objects of a kind have in common at the moment ``at`` (ms UTC).

    ``last`` is the newest snapshot of their owner then. ``cells`` and ``samples`` are the metrics of rows of current state
    and of history, with their places. ``undone`` has the values before later changes of definitions, ``others`` those that
    another probe than the poll reported, with their times; both by number and metric. ``wanted``: metrics asked for.
    """

    kind: Kind
    at: int
    last: int
    wanted: frozenset[str]
    cells: Mapping[str, int]
    samples: Mapping[str, int]
    undone: Mapping[tuple[int, str], Value] = field(default_factory=dict)
    others: Mapping[tuple[int, str], tuple[int, Value]] = field(default_factory=dict)
    _recorded: dict[str, frozenset[str]] = field(default_factory=dict)
    _absences: dict[int, tuple[Mapping[str, Absence], Sequence[_WantedAbsence]]] = field(default_factory=dict)

    def recorded(self, probe: str) -> frozenset[str]:
        """The metrics of a definition that a probe reports."""
        found = self._recorded.get(probe)
        if found is None:
            found = self._recorded[probe] = RECORDED.get(self.kind.name, {}).get(probe, frozenset())
        return found

    def absences(self, absent: Mapping[str, Absence]) -> Sequence[_WantedAbsence]:
        """Those of a row's absences that are asked for: thousands of rows share one mapping of them."""
        found = self._absences.get(id(absent))
        if found is None:
            wanted = tuple((name, self.cells.get(name), why) for name, why in absent.items() if name in self.wanted)
            # It is held, so that no other one takes its place.
            found = self._absences[id(absent)] = absent, wanted
        return found[1]


class ObjectThen(Mapping[str, CurrentValue]):
    """The values, or the reasons of their absence, that an object had.

    ``rows`` are those of current state, ``answered`` the newest answered poll by then, ``asked`` the newest one,
    ``records`` values of records, which are made already.
    """

    __slots__ = ("_answered", "_asked", "_facts", "_last", "_number", "_records", "_rows")

    def __init__(
        self,
        facts: MomentFacts,
        number: int,
        rows: Sequence[CurrentRow],
        answered: HistoryRow | None,
        asked: HistoryRow | None,
        records: Mapping[str, CurrentValue] = _NOTHING,
    ) -> None:
        self._facts = facts
        self._number = number
        self._rows = rows
        self._answered = answered
        self._asked = asked
        self._records = records
        self._last: tuple[str, CurrentValue | None] = "", None

    def __getitem__(self, metric: str) -> CurrentValue:
        found: CurrentValue | None = self.get(metric)
        if found is None:
            raise KeyError(metric)
        return found

    # Lists ask for some metrics of ten thousand objects: what Mapping makes of __getitem__ and __iter__ takes twice as long.

    def get(self, metric: str, default: Any = None) -> Any:
        """What was known of a metric, else ``default``."""
        asked, found = self._last
        if asked != metric:
            # Who orders a list asks several times for the same metric of thousands, one after another.
            found = self._found(metric)
            self._last = metric, found
        return default if found is None else found

    def _found(self, metric: str) -> CurrentValue | None:
        facts = self._facts
        place = facts.cells.get(metric)
        found = self._records.get(metric) if self._records else None
        for row in self._rows:
            now = None if place is None else row.cells[place]
            if now is None:
                now = row.absent.get(metric) if metric in facts.wanted else None
                if now is None:
                    continue
            then = self._then(row, metric, now)
            found = then if found is None else newer(found, then)
        return found

    def __contains__(self, metric: object) -> bool:
        return isinstance(metric, str) and self.get(metric) is not None

    def items(self) -> ItemsView[str, CurrentValue]:
        """Each metric with what was known of it."""
        found = dict(self._records)
        facts, answered, asked = self._facts, self._answered, self._asked
        at, last = facts.at, facts.last if answered is None else answered.ts
        unanswered = None if asked is None or asked.answered else Absence.NO_ANSWER
        # As ``_then``, with what all metrics have in common worked out once.
        for row in self._rows:
            probe, later = row.probe, row.changed > at
            recorded = facts.recorded(probe)
            for metric, now in self._names(row):
                ts, value = self._before(row, metric, now, last, recorded) if later else (last, now)
                asked_ts = ts if asked is None else asked.ts
                then = _AS_VALUE((value, ts, probe, asked_ts, unanswered, Source.POLL, None))
                found[metric] = newer(found[metric], then) if metric in found else then
        return found.items()

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self.items()))

    def __len__(self) -> int:
        return len(self.items())

    def _names(self, row: CurrentRow) -> Iterator[tuple[str, Reported]]:
        """The metrics that a row is about, and what it has today."""
        cells = row.cells
        for name, place, why in self._facts.absences(row.absent):
            value = None if place is None else cells[place]
            yield name, why if value is None else value
        for name, place in self._facts.cells.items():
            if cells[place] is not None and name not in row.absent:
                yield name, cells[place]

    def _then(self, row: CurrentRow, metric: str, now: Reported) -> CurrentValue:
        answered, asked = self._answered, self._asked
        ts = self._facts.last if answered is None else answered.ts
        value = now
        if row.changed > self._facts.at:
            ts, value = self._before(row, metric, now, ts, self._facts.recorded(row.probe))
        if asked is None:
            return _AS_VALUE((value, ts, row.probe, ts, None, Source.POLL, None))
        unanswered = None if asked.answered else Absence.NO_ANSWER
        return _AS_VALUE((value, ts, row.probe, asked.ts, unanswered, Source.POLL, None))

    def _before(
        self, row: CurrentRow, metric: str, now: Reported, ts: int, recorded: frozenset[str]
    ) -> tuple[int, Reported]:
        """When a metric of a row that has changed since was reported (ms UTC), and its value then; ``recorded`` are the metrics
        of a definition that its probe reports.
        """
        facts, answered = self._facts, self._answered
        if metric in recorded and now.__class__ is not Absence:
            return ts, facts.undone.get((self._number, metric), now) if facts.undone else now
        if answered is not None:
            place = facts.samples.get(metric)
            value: Value | None = None if place is None else answered.cells[place]
            if value is not None:
                return ts, value
        other = facts.others.get((self._number, metric)) if facts.others else None
        if other is not None:
            return other
        told = self._reason(metric) if row.probe == facts.kind.poll else None
        if told is not None:
            return ts, told
        return ts, now if isinstance(now, Absence) and now in LASTING else Absence.NOT_KEPT

    def _reason(self, metric: str) -> Absence | None:
        """Why the poll had no value of a metric, where other figures of the same answer say so."""
        kind = self._facts.kind.name
        if kind == "channel" and self._sampled("status") == _INACTIVE:
            return Absence.INACTIVE
        if kind == "queue" and metric == _OLDEST and self._sampled("depth") == 0:
            return Absence.NOT_COLLECTED if self._sampled("monq") == _OFF else Absence.NOTHING_TO_TELL
        return None

    def _sampled(self, metric: str) -> Value | None:
        place = self._facts.samples.get(metric)
        if place is None or self._answered is None:
            return None
        value: Value | None = self._answered.cells[place]
        return value


def newer(before: CurrentValue | None, one: CurrentValue) -> CurrentValue:
    """Of two values the newer one; a value of any probe comes before an absence of another."""
    if before is None or isinstance(before.value, Absence):
        return one
    if isinstance(one.value, Absence) or (one.ts or 0) < (before.ts or 0):
        return before
    return one
