"""The values of one object at a past moment, made when they are looked at: a list shows few of its thousands of objects."""

from __future__ import annotations

from collections.abc import Callable, Collection, ItemsView, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
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
_NONE_MADE: Final[Mapping[int, CurrentValue | None]] = {}
_LOOKS, _PART_OF = 64, 16
"""After so many looks at a metric, and as many as a part of the objects as great as this, it is made for all of them."""

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


class CurrentRows:
    """Rows of current state: those of polls by number, those of records by number and source, each with ``cells`` of the
    metrics ``wanted``.

    ``told`` are the metrics that the rows of other probes than the poll hold, ``changed`` is when a row of a probe changed
    last (ms UTC). Rows that were read once serve every earlier moment: one that has changed since says when. So does what
    is made of them here.
    """

    __slots__ = (
        "_cells",
        "_lasting",
        "_tellers",
        "_telling",
        "_wanted",
        "_whole",
        "changed",
        "polled",
        "recorded",
        "told",
    )

    def __init__(
        self,
        polled: Mapping[int, Sequence[CurrentRow]],
        recorded: Mapping[tuple[int, int], Sequence[CurrentRow]],
        poll: str,
        cells: Sequence[str],
        wanted: Collection[str],
    ) -> None:
        """``poll`` is the probe by which the kind is polled."""
        self.polled = polled
        self.recorded = recorded
        self._cells = {name: place for place, name in enumerate(cells)}
        self._wanted = wanted
        self._tellers: dict[str, dict[int, tuple[CurrentRow, Reported] | None]] = {}
        self._telling: dict[int, tuple[CurrentRow, ...]] = {}
        self._lasting: dict[int, Mapping[str, Reported] | None] = {}
        # None: it is the whole itself, which must not refer to itself: it is to be freed at once.
        self._whole: CurrentRows | None = None
        self.changed: dict[str, int] = {}
        told: dict[str, set[str]] = {}
        for row in chain.from_iterable(polled.values()):
            self.changed[row.probe] = max(row.changed, self.changed.get(row.probe, 0))
            if row.probe != poll:
                known = told.setdefault(row.probe, set())
                if len(known) < len(wanted):
                    known.update(name for name, _ in self.reported(row))
        self.told: Mapping[str, frozenset[str]] = {probe: frozenset(names) for probe, names in told.items()}

    def only(self, numbers: Collection[int]) -> CurrentRows:
        """The rows of these objects. What is made of rows is made of all, once."""
        found = copy(self)
        found._whole = self._whole or self
        found.polled = {number: self.polled[number] for number in numbers if number in self.polled}
        found.recorded = {key: rows for key, rows in self.recorded.items() if key[0] in numbers}
        return found

    def reported(self, row: CurrentRow) -> Iterator[tuple[str, Reported]]:
        """Each metric asked for that a row is about, and what it has today."""
        yield from ((name, why) for name, why in row.absent.items() if name in self._wanted)
        yield from ((name, cell) for name, cell in zip(self._cells, row.cells, strict=True) if cell is not None)

    def tellers(self, metric: str) -> Mapping[int, tuple[CurrentRow, Reported] | None]:
        """By number the only row that is about a metric and what it has today, None: no row is; objects with several are left
        out.
        """
        whole = self._whole or self
        found = whole._tellers.get(metric)
        if found is None:
            found = whole._tellers[metric] = {}
            for number, rows in whole.polled.items():
                telling = [(row, value) for row in rows if (value := whole._told_by(row, metric)) is not None]
                if len(telling) < 2:
                    found[number] = telling[0] if telling else None
        return found

    def _told_by(self, row: CurrentRow, metric: str) -> Reported | None:
        place = self._cells.get(metric)
        value: Reported | None = None if place is None else row.cells[place]
        return value if value is not None or metric not in self._wanted else row.absent.get(metric)

    def lasting(
        self, number: int, at: int, make: Callable[[], Mapping[str, Reported] | None]
    ) -> Mapping[str, Reported] | None:
        """What ``make`` makes of the rows of an object, once for all moments since which none has changed that is about
        a metric asked for; ``at`` is one of them, ms UTC.
        """
        telling = self._telling.get(number)
        if telling is None:
            rows = self.polled.get(number, ())
            telling = self._telling[number] = tuple(row for row in rows if any(True for _ in self.reported(row)))
        if any(row.changed > at for row in telling):
            return make()
        if number not in self._lasting:
            self._lasting[number] = make()
        return self._lasting[number]


class HistoryRow(NamedTuple):
    """A row of history: its time, the ms that it covers, whether it answers the poll of the kind, and its cells."""

    ts: int
    interval_ms: int | None
    answered: bool
    cells: Sequence[Any]


@dataclass(frozen=True, slots=True)
class MomentFacts:
    """What was read of the objects of a kind for the moment ``at`` (ms UTC).

    ``last`` is the newest snapshot of their owner then. ``cells`` and ``samples`` are the metrics of rows of current state
    and of history, with their places. By number of the object, ``rows`` are those of current state, ``answered`` the newest
    answered poll by then, ``asked`` the newest one, ``records`` values of records, which are made already. ``undone`` has the
    values before later changes of definitions, ``others`` those that another probe than the poll reported, with their times;
    both by number and metric. ``wanted``: metrics asked for.
    """

    kind: Kind
    at: int
    last: int
    wanted: frozenset[str]
    cells: Mapping[str, int]
    samples: Mapping[str, int]
    rows: CurrentRows
    answered: Mapping[int, HistoryRow]
    asked: Mapping[int, HistoryRow]
    records: Mapping[int, Mapping[str, CurrentValue]] = field(default_factory=dict)
    undone: Mapping[tuple[int, str], Value] = field(default_factory=dict)
    others: Mapping[tuple[int, str], tuple[int, Value]] = field(default_factory=dict)
    _recorded: dict[str, frozenset[str]] = field(default_factory=dict)
    _absences: dict[int, tuple[Mapping[str, Absence], Sequence[_WantedAbsence]]] = field(default_factory=dict)
    _looks: dict[str, int] = field(default_factory=dict)
    _made: dict[str, Mapping[int, CurrentValue | None]] = field(default_factory=dict)

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

    def made(self, metric: str) -> Mapping[int, CurrentValue | None]:
        """What was known of a metric by number, None: nothing; of some objects it is not in here. Empty until the metric was
        asked for so often that many will ask for it: then it costs a fifth of what it costs one by one.
        """
        found = self._made.get(metric)
        if found is not None:
            return found
        looks = self._looks[metric] = self._looks.get(metric, 0) + 1
        if looks < _LOOKS or looks * _PART_OF < len(self.rows.polled):
            return _NONE_MADE
        found = self._made[metric] = self._all_of(metric)
        return found

    def _all_of(self, metric: str) -> dict[int, CurrentValue | None]:
        at, last, answered, asked = self.at, self.last, self.answered.get, self.asked.get
        place = self.samples.get(metric)
        defined = {probe: metric in self.recorded(probe) for probe in self.rows.changed}
        made: dict[int, CurrentValue | None] = {}
        rows = self.rows.polled
        for number, teller in self.rows.tellers(metric).items():
            if number not in rows or number in self.records:
                continue
            if teller is None:
                made[number] = None
                continue
            row, value = teller
            sample, poll = answered(number), asked(number)
            ts = last if sample is None else sample.ts
            # As ``ObjectThen`` finds it, which is asked about what is rare.
            if row.changed > at:
                then = None if sample is None or place is None else sample.cells[place]
                if then is None or defined[row.probe]:
                    ts, value = ObjectThen(self, number).before(row, metric, value, ts)
                else:
                    value = then
            if poll is None:
                made[number] = _AS_VALUE((value, ts, row.probe, ts, None, Source.POLL, None))
            else:
                unanswered = None if poll.answered else Absence.NO_ANSWER
                made[number] = _AS_VALUE((value, ts, row.probe, poll.ts, unanswered, Source.POLL, None))
        return made


class ObjectThen(Mapping[str, CurrentValue]):
    """The values, or the reasons of their absence, that the object with a number had."""

    __slots__ = ("_facts", "_number")

    def __init__(self, facts: MomentFacts, number: int) -> None:
        self._facts = facts
        self._number = number

    def __getitem__(self, metric: str) -> CurrentValue:
        found: CurrentValue | None = self.get(metric)
        if found is None:
            raise KeyError(metric)
        return found

    # Lists ask for some metrics of ten thousand objects: what Mapping makes of __getitem__ and __iter__ takes twice as long.

    def get(self, metric: str, default: Any = None) -> Any:
        """What was known of a metric, else ``default``."""
        number, made = self._number, self._facts.made(metric)
        found = made[number] if number in made else self._found(metric)
        return default if found is None else found

    def _found(self, metric: str) -> CurrentValue | None:
        facts, number = self._facts, self._number
        place = facts.cells.get(metric)
        found = facts.records.get(number, _NOTHING).get(metric)
        for row in facts.rows.polled.get(number, ()):
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
        facts, number = self._facts, self._number
        found = dict(facts.records.get(number, _NOTHING))
        answered, asked = facts.answered.get(number), facts.asked.get(number)
        at, last = facts.at, facts.last if answered is None else answered.ts
        unanswered = None if asked is None or asked.answered else Absence.NO_ANSWER
        # As ``_then``, with what all metrics have in common worked out once.
        for row in facts.rows.polled.get(number, ()):
            probe, later = row.probe, row.changed > at
            for metric, now in self._names(row):
                ts, value = self.before(row, metric, now, last) if later else (last, now)
                asked_ts = ts if asked is None else asked.ts
                then = _AS_VALUE((value, ts, probe, asked_ts, unanswered, Source.POLL, None))
                found[metric] = newer(found[metric], then) if metric in found else then
        return found.items()

    def polled(self) -> Mapping[str, Reported] | None:
        """The values alone, where all of them are of polls that were answered; else None."""
        facts, number = self._facts, self._number
        asked = facts.asked.get(number)
        if number in facts.records or (asked is not None and not asked.answered):
            return None
        return facts.rows.lasting(number, facts.at, self._polled)

    def _polled(self) -> Mapping[str, Reported] | None:
        facts = self._facts
        answered = facts.answered.get(self._number)
        at, last = facts.at, facts.last if answered is None else answered.ts
        found: dict[str, Reported] = {}
        for row in facts.rows.polled.get(self._number, ()):
            later = row.changed > at
            for metric, now in self._names(row):
                if metric in found:
                    # Which of two holds is decided by their times.
                    return None
                found[metric] = self.before(row, metric, now, last)[1] if later else now
        return found

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
        facts = self._facts
        answered, asked = facts.answered.get(self._number), facts.asked.get(self._number)
        ts = facts.last if answered is None else answered.ts
        value = now
        if row.changed > facts.at:
            ts, value = self.before(row, metric, now, ts)
        if asked is None:
            return _AS_VALUE((value, ts, row.probe, ts, None, Source.POLL, None))
        unanswered = None if asked.answered else Absence.NO_ANSWER
        return _AS_VALUE((value, ts, row.probe, asked.ts, unanswered, Source.POLL, None))

    def before(self, row: CurrentRow, metric: str, now: Reported, ts: int) -> tuple[int, Reported]:
        """When a metric of a row that has changed since was reported (ms UTC), and its value then; ``ts`` is when the object
        was last answered.
        """
        facts, answered = self._facts, self._facts.answered.get(self._number)
        if now.__class__ is not Absence and metric in facts.recorded(row.probe):
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
        place, answered = self._facts.samples.get(metric), self._facts.answered.get(self._number)
        if place is None or answered is None:
            return None
        value: Value | None = answered.cells[place]
        return value


def newer(before: CurrentValue | None, one: CurrentValue) -> CurrentValue:
    """Of two values the newer one; a value of any probe comes before an absence of another."""
    if before is None or isinstance(before.value, Absence):
        return one
    if isinstance(one.value, Absence) or (one.ts or 0) < (before.ts or 0):
        return before
    return one
